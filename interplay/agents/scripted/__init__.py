"""Hand-written players, one module a task: of Atari games, from the pixels alone, of the block world (`blocks`), and for games
of several seats (`together`)."""

from interplay.agents.scripted.blocks import BLOCK_BRAINS, BlockPlayer, has_block_player
from interplay.agents.scripted.by_task import ScriptedAgent
from interplay.agents.scripted.player import BRAINS, ScriptedPlayer
from interplay.agents.scripted.together import PARTNERS, Partner
from interplay.tasks import Task


def has_player(task: Task) -> bool:
    """Whether somebody wrote a player for a task."""
    return has_block_player(task) or task.env.id in (BRAINS if len(task.seats) == 1 else PARTNERS)


__all__ = ["BLOCK_BRAINS", "BRAINS", "PARTNERS", "BlockPlayer", "Partner", "ScriptedAgent", "ScriptedPlayer", "has_player"]

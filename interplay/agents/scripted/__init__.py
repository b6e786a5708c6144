"""Hand-written players, one module a task: of Atari games, from the pixels alone, and of the block world (`blocks`)."""

from interplay.agents.scripted.blocks import BLOCK_BRAINS, BlockPlayer
from interplay.agents.scripted.by_task import ScriptedAgent
from interplay.agents.scripted.player import BRAINS, ScriptedPlayer

__all__ = ["BLOCK_BRAINS", "BRAINS", "BlockPlayer", "ScriptedAgent", "ScriptedPlayer"]

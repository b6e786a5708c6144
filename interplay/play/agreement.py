"""May a person's game be compared with others? They are asked when it ends; until they say yes, no judge sees it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from interplay.errors import InterplayError
from interplay.record import Owner
from interplay.store import Database, entrants
from interplay.tasks import Task


class AgreementError(InterplayError):
    """Nothing that could be agreed to."""


def can_be_compared(task: Task, seed: int, outcome: str, owners: Iterable[Owner]) -> bool:
    """Whether a game may be compared once everybody in it agrees, so that they should be asked.

    Every person in it must be one whom the database knows, or they could never agree.
    """
    if seed not in task.held_out_seeds or outcome in entrants.NOT_ENDED:
        return False
    return all(owner.kind != "human" or owner.participant_id is not None for owner in owners)


def agree(database: Database, *, episode_id: str | None, participant_id: int | None, agreed: bool, now: datetime) -> bool:
    """Keep what a person said about a game of theirs; the last answer counts.

    Args:
        episode_id: Of the game; None where nothing was recorded.
        participant_id: Of the person; None where a program played for the operator.
    Returns:
        Whether judges may be shown the game from now on.
    Raises:
        AgreementError: If there is no recorded game, or no person.
    """
    if episode_id is None:
        raise AgreementError("this game was not recorded, so there is nothing to compare")
    if participant_id is None:
        raise AgreementError("nobody is asked about games that an operator has opened")
    with database.write() as session:
        return entrants.agree(session, episode_id=episode_id, participant_id=participant_id, agreed=agreed, now=now)

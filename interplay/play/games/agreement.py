"""Games that may be compared with others: some games are played on held-out seeds, and the people in them must agree.

May a person's game be compared with others? The person is asked when the game ends, and later on the page of the episode. No
judge sees the game before the person says yes, or after they have withdrawn.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from interplay.errors import InterplayError
from interplay.record import Owner
from interplay.store import Database, EpisodeRow, entrants
from interplay.tasks import Task

HELD_OUT_SHARE = 0.25
"""Default share of people's games on held-out seeds. These games can be compared, and are not used as demonstrations."""
_SEEDS = 2**31
_FINENESS = 2**20


def held_out_share(task: Task, of_server: float | None) -> float:
    """Return the share of people's games of a task that are on held-out seeds: the operator's value, else the task's, else one
    in four. A task whose share is 1 has only held-out seeds, so the operator's value is ignored."""
    if task.held_out_share == 1:
        return 1.0
    chosen = task.held_out_share if of_server is None else of_server
    return HELD_OUT_SHARE if chosen is None else chosen


def draw_seed(task: Task, *, held_out_share: float = 0.0) -> int:
    """Draw a seed for one game. `held_out_share`: probability (0 to 1) of one of the task's held-out seeds; otherwise the seed
    is not held out."""
    if secrets.randbelow(_FINENESS) < held_out_share * _FINENESS:
        return secrets.choice(task.held_out_seeds)
    while (seed := secrets.randbelow(_SEEDS)) in task.held_out_seeds:
        pass
    return seed


class AgreementError(InterplayError):
    """An agreement about a game that cannot be compared."""


def can_be_compared(task: Task, seed: int, outcome: str, owners: Iterable[Owner]) -> bool:
    """Whether a game may be compared if everybody in it agrees. If so, they should be asked.

    Every person in the game must be known to the database; an unknown person could never agree.
    """
    if seed not in task.held_out_seeds or outcome in entrants.NOT_ENDED:
        return False
    return all(owner.kind != "human" or owner.participant_id is not None for owner in owners)


class Said(NamedTuple):
    """A person's answer about their game. `agreed`: None before the first answer. `is_compared`: whether everybody in the game
    agreed."""

    agreed: bool | None
    is_compared: bool


def said(database: Database, *, episode_id: str, participant_id: int | None) -> Said | None:
    """Return a person's answer about an episode. None if they are not asked: it is not their game, or it cannot be compared."""
    with database.read() as session:
        row = session.get(EpisodeRow, episode_id)
        people = [] if row is None else [seat.participant_id for seat in row.seats if seat.actor_kind == "human"]
        if row is None or participant_id is None or participant_id not in people or None in people:
            return None
        if entrants.not_comparable(row, entrants.held_out_seeds(session, row.task_hash), agreed=True):
            return None
        agreed = entrants.agreements(session, episode_id)
        return Said(agreed.get(participant_id), bool(entrants.agreed_games(session, [episode_id])))


def agree(database: Database, *, episode_id: str | None, participant_id: int | None, agreed: bool, now: datetime) -> bool:
    """Store a person's answer about their game; only the last answer counts. Return whether judges may see the game from now
    on. Raises `AgreementError` if the game was not recorded (`episode_id` None), or was played by no person (`participant_id`
    None: a program of the operator)."""
    if episode_id is None:
        raise AgreementError("this game was not recorded, so there is nothing to compare")
    if participant_id is None:
        raise AgreementError("games that an operator opened are not compared")
    with database.write() as session:
        return entrants.agree(session, episode_id=episode_id, participant_id=participant_id, agreed=agreed, now=now)

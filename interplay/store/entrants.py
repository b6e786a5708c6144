"""Entrants are ranked: agents, people, uploads and published agents. A row is one entrant in one task.

Entrants are proposed, approved or declined, withdrawn and restored. An agent's own episodes have its name. Episodes of people,
or selected episodes of an agent, are entered one by one; episodes of people need their agreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import Update, func, select, update
from sqlalchemy.orm import Session

from interplay.errors import InterplayError
from interplay.store.judging import brought, release_showing
from interplay.store.locks import lock
from interplay.store.models import Entrant, EntrantEpisode, EpisodeRow, EpisodeSeat, JudgingAgreement, TaskRow
from interplay.store.participants import PEOPLE

EntrantState = Literal["approved", "waiting", "declined", "withdrawn"]
Origin = Literal["agent", "person", "people", "upload", "published"]
_OF_PEOPLE = ("person", "people")
NOT_ENDED = {"interrupted": "a fault ended the game", "left": "the player left before the end"}
"""Outcome of an episode that cannot be compared -> reason."""
_PER_STATEMENT = 500


class EntrantError(InterplayError):
    """The name already belongs to another kind of entrant."""


def state(entrant: Entrant) -> EntrantState:
    """Return the state of an entrant in one task; only `approved` entrants are shown to judges."""
    if entrant.withdrawn_at is not None:
        return "withdrawn"
    if entrant.approved_at is not None:
        return "approved"
    return "waiting" if entrant.declined_at is None else "declined"


def admit(
    session: Session,
    *,
    name: str,
    task: str,
    kind: str,
    now: datetime,
    description: str = "",
    origin: Origin = "agent",
    participant_id: int | None = None,
) -> Entrant:
    """Add an approved entrant to one task, so that judges may see it. An entrant that was withdrawn returns with its history.

    Args:
        name: Name on the leaderboard; an agent's episodes have it as `actor`.
        kind: `agent`, `human` or `model`, or a more exact word (such as `scripted` or `bc`).
        description: An empty text leaves an existing description unchanged.
        origin: Source of the episodes; an existing entrant keeps its origin.
        participant_id: Id of the participant, if the origin is `person`.
    Raises:
        EntrantError: If people would get the name of an agent, or an agent the name of people.
    """
    lock_name(session, name)  # or two admissions of one new entrant at once would meet in the unique constraint
    check_name(session, name, origin)
    entrant = _one(session, name, task) or _new(session, name, task, kind, now, origin=origin, participant_id=participant_id)
    entrant.kind, entrant.withdrawn_at, entrant.declined_at = kind, None, None
    entrant.approved_at = entrant.approved_at or now
    entrant.description = description or entrant.description
    session.flush()
    return entrant


def lock_name(session: Session, *names: str) -> None:
    """Let only this transaction enter anything under these names, which are free or taken in all ways of writing them."""
    lock(session, "entrant", *(name.lower() for name in names))


def check_name(session: Session, name: str, origin: Origin) -> None:
    """Raise `EntrantError` if people would get the name of an agent, or an agent the name of people, in any task."""
    of_people = origin in _OF_PEOPLE
    origins = session.scalars(select(Entrant.origin).where(Entrant.name == name).distinct())
    if any((known in _OF_PEOPLE) != of_people for known in origins):
        whose = "an agent" if of_people else "people"
        raise EntrantError(f"{name!r} is the name of {whose} on the leaderboard\nChoose another name.")


def propose(
    session: Session, *, name: str, task: str, kind: str, description: str, proposed_by: str | None, now: datetime
) -> Entrant:
    """Propose an agent, which then waits for a moderator. An existing agent keeps state and proposer; its description changes.

    Args:
        proposed_by: Name of the API token; None for the operator.
    """
    lock_name(session, name)
    agent = _one(session, name, task) or _new(session, name, task, kind, now, proposed_by, origin="upload")
    agent.kind, agent.description = kind, description
    session.flush()
    return agent


def is_name_taken(session: Session, name: str) -> bool:
    """Return whether an agent or an episode has this name, in upper or lower case.

    Names in episodes count, because an agent with the name of a player would bring that player's episodes to judges.
    """
    for column in (Entrant.name, EpisodeRow.actor, EpisodeSeat.actor):
        if session.scalar(select(column).where(func.lower(column) == name.lower()).limit(1)) is not None:
            return True
    return False


def num_waiting(session: Session, proposed_by: str) -> int:
    waiting = (Entrant.approved_at.is_(None), Entrant.declined_at.is_(None), Entrant.withdrawn_at.is_(None))
    return session.scalar(select(func.count(Entrant.name.distinct())).where(Entrant.proposed_by == proposed_by, *waiting)) or 0


def approve(session: Session, *, name: str, now: datetime, task: str | None = None) -> int:
    """Approve an agent that waits or was declined, in one task or all; return the number of tasks."""
    waiting = update(Entrant).where(Entrant.name == name, Entrant.approved_at.is_(None), Entrant.withdrawn_at.is_(None))
    return _change(session, waiting, task, approved_at=now, declined_at=None, declined_because="")


def decline(session: Session, *, name: str, reason: str, now: datetime, task: str | None = None) -> int:
    """Decline an agent that waits, in one task or all; return the number of tasks. Its episodes are kept."""
    waiting = update(Entrant).where(Entrant.name == name, Entrant.approved_at.is_(None), Entrant.declined_at.is_(None))
    return _change(session, waiting, task, declined_at=now, declined_because=reason)


def withdraw(session: Session, *, name: str, now: datetime, task: str | None = None) -> int:
    """Withdraw an agent from matchmaking, in one task or all; return the number of tasks. Answers about it stay."""
    shown = update(Entrant).where(Entrant.name == name, Entrant.withdrawn_at.is_(None))
    return _change(session, shown, task, withdrawn_at=now)


def restore(session: Session, *, name: str, task: str | None = None) -> int:
    withdrawn = update(Entrant).where(Entrant.name == name, Entrant.withdrawn_at.is_not(None))
    return _change(session, withdrawn, task, withdrawn_at=None)


def entrants(session: Session, task: str | None = None, *, name: str | None = None) -> Sequence[Entrant]:
    """Return all entrants that were ever admitted or proposed, in one task or all, sorted by name."""
    query = select(Entrant).order_by(Entrant.name, Entrant.task)
    if name is not None:
        query = query.where(Entrant.name == name)
    return session.scalars(query if task is None else query.where(Entrant.task == task)).all()


def episodes_of(session: Session, name: str, task: str) -> Sequence[EpisodeRow]:
    """Return the episodes of an entrant in one task, by seed, without statistics; games that a fault cut short are left out."""
    ids = brought([EpisodeRow.id], Entrant.name == name, Entrant.task == task, EpisodeRow.outcome != "interrupted")
    query = select(EpisodeRow).where(EpisodeRow.id.in_(ids))
    return session.scalars(query.order_by(EpisodeRow.seed, EpisodeRow.created_at, EpisodeRow.id)).all()


# Episodes that are entered one by one


def held_out_seeds(session: Session, task_hash: str) -> frozenset[int]:
    definition = session.scalar(select(TaskRow.definition).where(TaskRow.content_hash == task_hash))
    return frozenset() if definition is None else frozenset(definition["held_out_seeds"])


def not_comparable(row: EpisodeRow, held_out: Collection[int], *, agreed: bool) -> str:
    """Return the reason why an episode cannot be entered, in words for a list; the text is empty if it can be entered.

    Args:
        held_out: Held-out seeds of the task version that the episode was recorded under.
        agreed: Whether all people in the episode agreed.
    """
    if row.seed not in held_out:
        return "not on a held-out seed"
    if row.outcome in NOT_ENDED:
        return NOT_ENDED[row.outcome]
    if has_people(row) and not agreed:
        return "the player did not agree" if len(row.seats) == 1 else "not every player agreed"
    return ""


def has_people(row: EpisodeRow) -> bool:
    return any(seat.actor_kind == "human" for seat in row.seats)


class SeatOfEpisode(NamedTuple):
    """One seat in one episode."""

    episode: str
    seat: str


def seats_of_people(row: EpisodeRow, participant_id: int | None = None) -> list[SeatOfEpisode]:
    held = [one for one in _alone(row) if one.actor_kind == "human" and participant_id in (None, one.participant_id)]
    return [SeatOfEpisode(row.id, seat) for seat in dict.fromkeys(one.seat for one in held)]


def _alone(row: EpisodeRow) -> list[EpisodeSeat]:
    """Return the owners who held a seat from the first step to the last; shared seats are left out."""
    shared = Counter(one.seat for one in row.seats if one.num_steps > 0)
    return [one for one in row.seats if shared[one.seat] <= 1 and (one.num_steps > 0 or not shared[one.seat])]


def seats_of_agent(row: EpisodeRow, name: str) -> list[SeatOfEpisode]:
    held = [one for one in _alone(row) if one.actor_kind != "human" and one.actor == name]
    return [SeatOfEpisode(row.id, seat) for seat in dict.fromkeys(one.seat for one in held)]


def enter(session: Session, entrant: Entrant, seats: Iterable[SeatOfEpisode], now: datetime) -> list[SeatOfEpisode]:
    """Enter seats of episodes for an entrant; return those that were not entered before."""
    query = select(EntrantEpisode.episode_id, EntrantEpisode.seat).where(EntrantEpisode.entrant_id == entrant.id)
    there = {SeatOfEpisode(*row) for row in session.execute(query)}
    new = [one for one in dict.fromkeys(seats) if one not in there]
    session.add_all(EntrantEpisode(entrant_id=entrant.id, episode_id=one.episode, seat=one.seat, added_at=now) for one in new)
    session.flush()
    return new


def agree(session: Session, *, episode_id: str, participant_id: int, agreed: bool, now: datetime) -> bool:
    """Store whether a person agrees that a game is compared; enter the game into `people` when all its players have agreed. If
    the person does not agree, open matches with the game are released; an answer that a judge sends later is still stored.

    Returns:
        Whether the game may be shown to judges now. Earlier answers about the game stay.
    """
    lock(session, "episode", episode_id)  # or two who agree at once would each miss the other's yes
    said = JudgingAgreement(episode_id=episode_id, participant_id=participant_id, agreed=agreed, created_at=now)
    session.merge(said)
    session.flush()
    if not agreed:
        release_showing(session, episode_id, now)
    return agreed and enter_people(session, episode_id, now)


def agreements(session: Session, episode_id: str) -> dict[int, bool]:
    query = select(JudgingAgreement.participant_id, JudgingAgreement.agreed).where(JudgingAgreement.episode_id == episode_id)
    return {participant: agreed for participant, agreed in session.execute(query)}


def agreed_games(session: Session, episode_ids: Sequence[str]) -> set[str]:
    """Return the given episodes with people that may be compared, because every person in the episode agreed."""
    found: set[str] = set()
    for start in range(0, len(episode_ids), _PER_STATEMENT):
        query = (
            select(EpisodeSeat.episode_id, func.count(), func.count(JudgingAgreement.participant_id))
            .outerjoin(
                JudgingAgreement,
                (JudgingAgreement.episode_id == EpisodeSeat.episode_id)
                & (JudgingAgreement.participant_id == EpisodeSeat.participant_id)
                & JudgingAgreement.agreed,
            )
            .where(EpisodeSeat.episode_id.in_(episode_ids[start : start + _PER_STATEMENT]), EpisodeSeat.actor_kind == "human")
            .group_by(EpisodeSeat.episode_id)
        )
        found |= {episode for episode, num_people, num_agreed in session.execute(query) if num_people == num_agreed}
    return found


def enter_people(session: Session, episode_id: str, now: datetime) -> bool:
    """Enter a game into `people` of its task, if it is in the catalogue, can be compared, and all its players agreed.

    If the operator has withdrawn `people`, that stays so. The transaction must hold the lock of the episode.
    """
    row = session.get(EpisodeRow, episode_id)
    if row is None or not has_people(row) or not agreed_games(session, [episode_id]):
        return False
    if not_comparable(row, held_out_seeds(session, row.task_hash), agreed=True):
        return False
    if any(one.origin != "people" for one in entrants(session, name=PEOPLE)):
        return False  # an agent of an old data folder is called so
    lock_name(session, PEOPLE)
    people = _one(session, PEOPLE, row.task)
    if people is None:
        people = admit(session, name=PEOPLE, task=row.task, kind=PEOPLE, now=now, origin="people")
    enter(session, people, seats_of_people(row), now)
    return True


def _one(session: Session, name: str, task: str) -> Entrant | None:
    return session.scalar(select(Entrant).where(Entrant.name == name, Entrant.task == task))


def _new(
    session: Session, name: str, task: str, kind: str, now: datetime, proposed_by: str | None = None, **fields: Any
) -> Entrant:
    """Return a new entrant in one more task; it belongs to the proposer of the entrant's first task."""
    first = session.scalar(select(Entrant).where(Entrant.name == name).order_by(Entrant.id).limit(1))
    owner = proposed_by if first is None else first.proposed_by
    entrant = Entrant(name=name, task=task, kind=kind, created_at=now, proposed_by=owner, **fields)
    session.add(entrant)
    return entrant


def _change(session: Session, statement: Update, task: str | None, **values: Any) -> int:
    """Change rows and return their number; loaded objects are not refreshed."""
    statement = statement if task is None else statement.where(Entrant.task == task)
    result = session.execute(statement.values(**values), execution_options={"synchronize_session": False})
    return result.rowcount  # type: ignore[attr-defined]


class Brought(NamedTuple):
    """An episode of an entrant: its seed, its file if there is one, and the seats that the entrant held."""

    seed: int
    episode: str
    path: str
    seats: tuple[str, ...]


def episodes_of_entrants(session: Session, names: Iterable[str]) -> dict[tuple[str, str], list[Brought]]:
    """Map entrant and task to the entrant's episodes by seed, in one query; episodes that a fault cut short are left out."""
    columns = [EpisodeRow.seed, EpisodeRow.created_at, EpisodeRow.id, EpisodeRow.path, Entrant.name, Entrant.task]
    query = brought(columns, Entrant.name.in_(list(names)), EpisodeRow.outcome != "interrupted", with_seat=True)
    seats: dict[tuple[Any, ...], list[str]] = {}
    for *episode, seat in sorted(map(tuple, session.execute(query))):
        seats.setdefault(tuple(episode), []).append(seat)
    found: dict[tuple[str, str], list[Brought]] = {}
    for (seed, _, episode, path, name, task), held in seats.items():
        found.setdefault((name, task), []).append(Brought(seed, episode, path, tuple(held)))
    return found

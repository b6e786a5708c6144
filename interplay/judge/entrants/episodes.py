"""Put recorded episodes on the leaderboard under one name: episodes of people, or selected episodes of an agent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from interplay.errors import InterplayError
from interplay.record.catalogue import parse_condition
from interplay.store import Database, EpisodeRow
from interplay.store import entrants as store
from interplay.store import episodes as queries
from interplay.store.participants import GIVEN_NAME, PEOPLE, is_given_name, judge_name, one_spelling


class EntrantsError(InterplayError):
    """The chosen episodes cannot become an entrant."""


@dataclass(frozen=True)
class Choice:
    """Recorded episodes to put on the leaderboard, and the name that they get there.

    Attributes:
        participant: Number of a person; None for everybody.
        where: Conditions as in `Archive.episodes`; an episode must meet all of them.
        name: Name on the leaderboard; None for the default: `people`, or the name of the person or of the agent.
    """

    participant: int | None = None
    agent: str | None = None
    task: str | None = None
    where: Sequence[str] = ()
    name: str | None = None


@dataclass(frozen=True)
class EnteredTask:
    """Result for the episodes of one task.

    Attributes:
        entered: Ids of the episodes that the entrant did not have before.
        seats: Seat -> number of these episodes in which this seat is judged; a game of two people counts for both seats.
        num_there: Number of chosen episodes that were entered before.
        left_out: Reason -> number of episodes that were not entered for this reason.
    """

    task: str
    entered: tuple[str, ...]
    seats: dict[str, int]
    num_there: int
    left_out: dict[str, int]


@dataclass(frozen=True)
class Entry:
    """Result of `add_episodes`: the entrant's name, its `origin` as in `store.Entrant`, and the result for each task."""

    name: str
    origin: store.Origin
    tasks: tuple[EnteredTask, ...]


def add_episodes(database: Database, choice: Choice, now: datetime) -> Entry:
    """Put recorded episodes on held-out seeds on the leaderboard. All people in an episode must have agreed to comparison.

    Each episode is entered for every seat that the chosen players held. A second call adds only new episodes. Judges see an
    episode as soon as it is filmed.

    Raises:
        EntrantsError: If no episode fits, if the name is invalid or belongs to somebody else, or if a selection of an agent's
            episodes has no name of its own.
        EntrantError: If people would get the name of an agent, or an agent a name of people.
        NotFoundError: If no agent of this name has played, or a condition names a value that no episode has.
        RecordingError: If a condition cannot be read.
    """
    origin: store.Origin = "agent" if choice.agent is not None else "people" if choice.participant is None else "person"
    name = _name(choice, origin)
    with database.write() as session:
        store.lock_name(session, name)  # the name must be free until the entrant has it
        rows = _chosen(session, choice)
        store.check_name(session, name, origin)
        if choice.name is not None and _is_of_others(session, name, origin, choice):
            raise EntrantsError(f"{name!r} is the name of another agent or person\nChoose another name:  --as NAME")
        by_task: defaultdict[str, list[EpisodeRow]] = defaultdict(list)
        for row in rows:
            by_task[row.task].append(row)
        agreed = store.agreed_games(session, [row.id for row in rows])
        seeds = {task_hash: store.held_out_seeds(session, task_hash) for task_hash in {row.task_hash for row in rows}}
        tasks = []
        for task, here in sorted(by_task.items()):
            why = {row.id: store.not_comparable(row, seeds[row.task_hash], agreed=row.id in agreed) for row in here}
            wanted = [row for row in here if not why[row.id]]
            seats = _enter(session, task, wanted, name, origin, choice, now) if wanted else []
            entered = tuple(dict.fromkeys(one.episode for one in seats))
            left_out = Counter(reason for reason in why.values() if reason)
            in_seats = dict(Counter(one.seat for one in seats))
            tasks.append(EnteredTask(task, entered, in_seats, len(wanted) - len(entered), dict(left_out)))
    return Entry(name, origin, tuple(tasks))


def _name(choice: Choice, origin: store.Origin) -> str:
    if choice.agent is not None and choice.where and choice.name in (None, choice.agent):
        raise EntrantsError(
            f"{choice.agent!r} means all episodes of this agent; selected episodes need another name\n"
            "Give them a name:  --as NAME"
        )
    if choice.name is None:
        own = PEOPLE if choice.participant is None else judge_name(choice.participant)
        return choice.agent or own
    name = one_spelling(choice.name)
    if not is_given_name(name) and not (name == PEOPLE and origin == "people"):
        raise EntrantsError(f"{name!r} cannot be a name on the leaderboard\nUse {GIVEN_NAME}.")
    return name


def _chosen(session: Session, choice: Choice) -> list[EpisodeRow]:
    names = [*queries.statistic_names(session), *queries.seat_names(session)] if choice.where else []
    where = [parse_condition(text, names) for text in choice.where]
    if choice.participant is not None:
        where.append(queries.Condition("seat.participant_id", "=", choice.participant))
    actor = "human" if choice.agent is None else None
    query = queries.EpisodeQuery(task=choice.task, actor=actor, agent=choice.agent, where=where, with_uploads=False)
    rows = queries.find_episodes(session, query)
    if not rows:
        who = choice.agent or "people" if choice.participant is None else judge_name(choice.participant)
        raise EntrantsError(
            f"no recorded episode of {who} was found\nSee all:  interplay episodes list --actor {choice.agent or 'human'}"
        )
    return rows


def _is_of_others(session: Session, name: str, origin: store.Origin, choice: Choice) -> bool:
    known = store.entrants(session, name=name)
    if not known:
        return name != choice.agent and store.is_name_taken(session, name)
    has_played = name != choice.agent and queries.count_episodes(session, queries.EpisodeQuery(actor=name)) > 0
    return has_played or any((one.origin, one.participant_id) != (origin, choice.participant) for one in known)


def _enter(
    session: Session, task: str, wanted: list[EpisodeRow], name: str, origin: store.Origin, choice: Choice, now: datetime
) -> list[store.SeatOfEpisode]:
    """Admit the entrant to a task and enter its seats. Return the seats that judges can be shown now, but not before."""
    if choice.agent is None:
        seats = [one for row in wanted for one in store.seats_of_people(row, choice.participant)]
    else:
        seats = [one for row in wanted for one in store.seats_of_agent(row, choice.agent)]
    if name == choice.agent:  # an agent's own episodes carry its name
        known = store.entrants(session, task, name=name)
        if known and store.state(known[0]) == "approved":
            return []
        store.admit(session, name=name, task=task, kind=known[0].kind if known else origin, now=now)
        return seats
    entrant = store.admit(session, name=name, task=task, kind=origin, now=now, origin=origin, participant_id=choice.participant)
    return store.enter(session, entrant, seats, now)

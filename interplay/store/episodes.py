"""Query the episode catalogue."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from sqlalchemy import ColumnElement, Integer, Select, and_, cast, column, delete, false, func, or_, select, table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from interplay.store.models import (
    Enrolment,
    Entrant,
    EpisodeRow,
    EpisodeSeat,
    EpisodeStatistic,
    Participant,
    PlaySession,
    SavedQueryEpisode,
    SeatStatistic,
    TaskRow,
)

_Select = TypeVar("_Select", bound=Select)

ACTOR_KINDS = ("human", "agent", "model")
UPLOADED = "uploaded"
"""Value of `EpisodeRow.frames` for an episode that is only a video."""

NUMBER_COLUMNS = {
    "seed": EpisodeRow.seed,
    "num_steps": EpisodeRow.num_steps,
    "duration_s": EpisodeRow.duration_s,
    "total_reward": EpisodeRow.total_reward,
    "score": EpisodeRow.total_reward,
    "size_bytes": EpisodeRow.size_bytes,
    "participant_id": EpisodeRow.participant_id,
    "held_out": cast(EpisodeRow.held_out, Integer),
}
TEXT_COLUMNS = {
    "actor": EpisodeRow.actor,
    "actor_kind": EpisodeRow.actor_kind,
    "env": EpisodeRow.env,
    "frames": EpisodeRow.frames,
    "outcome": EpisodeRow.outcome,
    "task": EpisodeRow.task,
    "task_hash": EpisodeRow.task_hash,
}

WITHHELD = table("withheld_seats", column("episode_id"), column("seat"), column("actor"))
"""Seats of people who did not agree to the release of their games. It is a view, so that all SQL queries have the same rule."""

SEAT = "seat."
"""Prefix of names of values in `episode_seats`: `seat.<column>` for any seat, `seat.<seat>.<column>` for one seat."""
SEAT_NUMBERS = {
    "num_steps": EpisodeSeat.num_steps,
    "total_reward": EpisodeSeat.total_reward,
    "participant_id": EpisodeSeat.participant_id,
}
SEAT_TEXTS = {"actor": EpisodeSeat.actor, "actor_kind": EpisodeSeat.actor_kind}

_MAX_IDS = 500
"""Largest number of ids in one database query (SQLite takes 32,766), and of games in a sitting."""

Operator = Literal["=", "!=", "<", "<=", ">", ">="]
_COMPARED: dict[Operator, Callable[[Any, Any], ColumnElement[bool]]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """One comparison: a column or statistic, an operator, and a number or a text."""

    name: str
    operator: Operator
    value: float | str


@dataclass(frozen=True)
class EpisodeQuery:
    """Conditions on episodes; all given conditions must hold.

    `released` keeps only episodes whose people agreed to a release, by the view `withheld_seats`; all code that gives episodes
    to others sets it. `saved` names a saved query and its version. `actor` is a kind (`ACTOR_KINDS`) or a name in any seat,
    `agent` a name in any seat. `with_uploads` includes episodes that are only a video; `with_waiting` includes agents that no
    moderator has approved. In tasks of `kept_back`, only episodes that a participant of `own` played are listed.
    `without_withheld` keeps only episodes of `own` participants and episodes that may be released. Episodes of studies in
    `not_of` are left out.
    """

    ids: Collection[str] | None = None
    saved: tuple[str, int] | None = None
    task: str | None = None
    task_hash: str | None = None
    actor: str | None = None
    agent: str | None = None
    seeds: Sequence[int] | None = None
    outcome: str | None = None
    where: Sequence[Condition] = ()
    with_uploads: bool = True
    with_waiting: bool = True
    kept_back: Collection[str] = ()
    own: Collection[int] = ()
    not_of: Collection[str] = ()
    without_withheld: bool = False
    released: bool = False
    newest_first: bool = False
    limit: int | None = None
    offset: int = 0


def _holds(condition: Condition) -> ColumnElement[bool]:
    """Return a condition in SQL. Numbers match only numbers, texts only texts; an episode without the value never matches."""
    numeric, compared = not isinstance(condition.value, str), _COMPARED[condition.operator]
    *seats, name = condition.name.removeprefix(SEAT).split(".")
    known = SEAT_NUMBERS if numeric else SEAT_TEXTS
    if condition.name.startswith(SEAT) and name in known:  # else a statistic that is called so
        return _held(compared(known[name], condition.value), *(EpisodeSeat.seat == seat for seat in seats))
    column = (NUMBER_COLUMNS if numeric else TEXT_COLUMNS).get(condition.name)
    if column is not None:
        return compared(column, condition.value)
    value = EpisodeStatistic.number if numeric else EpisodeStatistic.text
    of_episode = (
        select(EpisodeStatistic.episode_id)
        .where(
            EpisodeStatistic.episode_id == EpisodeRow.id,
            EpisodeStatistic.name == condition.name,
            compared(value, condition.value),
        )
        .exists()
    )
    if not numeric:
        return of_episode
    of_seat = (
        select(SeatStatistic.episode_id)
        .where(
            SeatStatistic.episode_id == EpisodeRow.id,
            SeatStatistic.name == name,
            compared(SeatStatistic.number, condition.value),
            *(SeatStatistic.seat == seat for seat in seats),
        )
        .exists()
    )
    return or_(of_episode, of_seat)


def _held(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    return select(EpisodeSeat.episode_id).where(EpisodeSeat.episode_id == EpisodeRow.id, *conditions).exists()


def _waits() -> ColumnElement[bool]:
    waiting = (Entrant.name == EpisodeRow.actor, Entrant.task == EpisodeRow.task, Entrant.approved_at.is_(None))
    return and_(EpisodeRow.frames == UPLOADED, select(Entrant.id).where(*waiting).exists())


def _matching(statement: _Select, query: EpisodeQuery) -> _Select:
    if query.released:
        statement = statement.where(EpisodeRow.id.not_in(select(WITHHELD.c.episode_id)))
    if query.ids is not None:
        statement = statement.where(EpisodeRow.id.in_(list(query.ids)))
    if query.saved is not None:
        name, version = query.saved
        listed = select(SavedQueryEpisode.episode_id).where(SavedQueryEpisode.name == name)
        statement = statement.where(EpisodeRow.id.in_(listed.where(SavedQueryEpisode.version == version)))
    if query.task is not None:
        statement = statement.where(EpisodeRow.task == query.task)
    if query.task_hash is not None:
        statement = statement.where(EpisodeRow.task_hash == query.task_hash)
    if query.actor is not None:
        column = EpisodeSeat.actor_kind if query.actor in ACTOR_KINDS else EpisodeSeat.actor
        statement = statement.where(_held(column == query.actor))
    if query.agent is not None:
        statement = statement.where(_held(EpisodeSeat.actor == query.agent, EpisodeSeat.actor_kind != "human"))
    if query.seeds is not None:
        statement = statement.where(EpisodeRow.seed.in_(list(query.seeds)))
    if query.outcome is not None:
        statement = statement.where(EpisodeRow.outcome == query.outcome)
    if not query.with_uploads:
        statement = statement.where(EpisodeRow.frames != UPLOADED)
    if not query.with_waiting:
        statement = statement.where(~_waits())
    is_own = _held(EpisodeSeat.participant_id.in_(query.own)) if query.own else false()
    if query.kept_back:
        statement = statement.where(or_(EpisodeRow.task.not_in(query.kept_back), is_own))
    if query.not_of:
        played = select(PlaySession.episode_id).join(Enrolment, PlaySession.enrolment_id == Enrolment.id)
        played = played.where(Enrolment.study.in_(list(query.not_of)), PlaySession.episode_id.is_not(None))
        statement = statement.where(EpisodeRow.id.not_in(played))
    if query.without_withheld:
        statement = statement.where(or_(EpisodeRow.id.not_in(select(WITHHELD.c.episode_id)), is_own))
    return statement.where(*(_holds(condition) for condition in query.where))


def count_episodes(session: Session, query: EpisodeQuery) -> int:
    return session.scalar(_matching(select(func.count()).select_from(EpisodeRow), query)) or 0


def find_episodes(session: Session, query: EpisodeQuery) -> list[EpisodeRow]:
    """Return the matching rows with their statistics, oldest first by default."""
    statement = _matching(select(EpisodeRow), query)
    order = (EpisodeRow.created_at, EpisodeRow.id)
    statement = statement.order_by(*(column.desc() if query.newest_first else column for column in order))
    return list(session.scalars(statement.limit(query.limit).offset(query.offset or None)))


def episodes_by_id(session: Session, ids: Sequence[str]) -> list[EpisodeRow]:
    found: list[EpisodeRow] = []
    for start in range(0, len(ids), _MAX_IDS):
        found += session.scalars(select(EpisodeRow).where(EpisodeRow.id.in_(ids[start : start + _MAX_IDS])))
    return found


def get_episode(session: Session, episode_id: str) -> EpisodeRow | None:
    return session.get(EpisodeRow, episode_id)


def episode_ids(session: Session, *, prefix: str = "", limit: int | None = None) -> list[str]:
    query = select(EpisodeRow.id)
    if prefix:
        query = query.where(EpisodeRow.id.startswith(prefix, autoescape=True))
    return list(session.scalars(query.limit(limit)))


def statistic_names(session: Session) -> list[str]:
    names = [
        *session.scalars(select(EpisodeStatistic.name).distinct()),
        *session.scalars(select(SeatStatistic.name).distinct()),
    ]
    return list(dict.fromkeys(names))


def seat_names(session: Session) -> list[str]:
    seats = ["", *(f"{seat}." for seat in session.scalars(select(EpisodeSeat.seat).distinct()))]
    statistics = session.scalars(select(SeatStatistic.name).distinct())
    return [f"{SEAT}{seat}{name}" for name in (*SEAT_NUMBERS, *SEAT_TEXTS, *statistics) for seat in seats]


def task_ids(session: Session) -> list[str]:
    return list(session.scalars(select(TaskRow.task).distinct().order_by(TaskRow.task)))


def statistic_values(session: Session, name: str, task: str | None = None) -> dict[str, float]:
    """Map each episode of a task (or of all tasks) that has a numeric statistic to its value."""
    query = select(EpisodeStatistic.episode_id, EpisodeStatistic.number).where(
        EpisodeStatistic.name == name, EpisodeStatistic.number.is_not(None)
    )
    if task is not None:
        query = query.join(EpisodeRow, EpisodeRow.id == EpisodeStatistic.episode_id).where(EpisodeRow.task == task)
    return {episode: number for episode, number in session.execute(query) if number is not None}


def add_task(session: Session, row: TaskRow) -> None:
    """Store a task version, unless it is stored; other transactions may store the same version at the same time."""
    if session.get(TaskRow, row.content_hash) is None:
        values = {one.name: getattr(row, one.name) for one in TaskRow.__table__.columns}
        dialect = {"postgresql": postgresql, "sqlite": sqlite}[session.get_bind().dialect.name]
        session.execute(dialect.insert(TaskRow).values(values).on_conflict_do_nothing())


def save_episode(session: Session, row: EpisodeRow, task: TaskRow) -> None:
    """Add an episode to the catalogue, or replace its entry; a task version is stored once.

    A participant that this database does not know (the file came from elsewhere, or the database was lost) is left out.
    """
    add_task(session, task)
    for known in (row, *row.seats):
        if known.participant_id is not None and session.get(Participant, known.participant_id) is None:
            known.participant_id = None
    if session.get(EpisodeRow, row.id) is not None:
        session.merge(row)
    else:
        session.add(row)


def save_measures(session: Session, episode_id: str, measures: Iterable[SeatStatistic]) -> None:
    """Store statistics of an episode; stored statistics of the same names are replaced, for all owners of all seats."""
    rows = list(measures)
    names = {row.name for row in rows}
    session.execute(delete(SeatStatistic).where(SeatStatistic.episode_id == episode_id, SeatStatistic.name.in_(names)))
    session.add_all(rows)


def measures_of(session: Session, episode_ids: Sequence[str]) -> dict[str, list[SeatStatistic]]:
    found: dict[str, list[SeatStatistic]] = {}
    for start in range(0, len(episode_ids), _MAX_IDS):
        ids = episode_ids[start : start + _MAX_IDS]
        statement = select(SeatStatistic).where(SeatStatistic.episode_id.in_(ids))
        for row in session.scalars(statement.order_by(SeatStatistic.seat, SeatStatistic.actor, SeatStatistic.name)):
            found.setdefault(row.episode_id, []).append(row)
    return found


def statistics_of_sitting(
    session: Session, *, task: str, participant_id: int, before: datetime, gap: timedelta
) -> list[list[SeatStatistic]]:
    """Return a participant's statistics in each game of one sitting of a task, newest game first.

    Args:
        before: Time of the next game; only earlier games count.
        gap: Longest pause between the end of a game and the next game of the same sitting.
    """
    played = (
        select(EpisodeRow.id, EpisodeRow.created_at, EpisodeRow.duration_s, EpisodeSeat.seat, EpisodeSeat.actor)
        .join(EpisodeSeat, EpisodeSeat.episode_id == EpisodeRow.id)
        .where(EpisodeRow.task == task, EpisodeSeat.participant_id == participant_id, EpisodeRow.created_at < before)
        .order_by(EpisodeRow.created_at.desc(), EpisodeRow.id.desc())
        .limit(_MAX_IDS)
    )
    found: dict[str, list[SeatStatistic]] = {}
    own = set()
    for episode, created_at, duration_s, seat, actor in session.execute(played):
        if before - created_at - timedelta(seconds=duration_s) > gap:
            break
        before = created_at
        found[episode] = []
        own.add((episode, seat, actor))
    for rows in measures_of(session, list(found)).values():
        for row in rows:
            if (row.episode_id, row.seat, row.actor) in own:
                found[row.episode_id].append(row)
    return list(found.values())


def count_by_task(session: Session, query: EpisodeQuery) -> dict[str, int]:
    """Map each task id to the number of matching episodes that can be seen: recorded, or uploaded as a video."""
    found = _matching(select(EpisodeRow.task, func.count()).where(EpisodeRow.path != ""), query)
    return {task: count for task, count in session.execute(found.group_by(EpisodeRow.task))}


def agent_names(session: Session, *, with_waiting: bool = False) -> list[str]:
    """Return the names of agents and models that held a seat; with `with_waiting` also those that only wait for a moderator."""
    query = select(EpisodeSeat.actor).distinct().join(EpisodeRow, EpisodeRow.id == EpisodeSeat.episode_id)
    query = query.where(EpisodeSeat.actor_kind != "human")
    return sorted(session.scalars(query if with_waiting else query.where(~_waits())))

"""Collected data in numbers: hours by day, and the quality of people's games. The database computes the sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Integer, SelectBase, Subquery, case, cast, exists, func, literal, select
from sqlalchemy.orm import Session

from interplay.store.episodes import UPLOADED, EpisodeQuery, _held, _matching
from interplay.store.models import (
    Enrolment,
    EpisodeRow,
    EpisodeSeat,
    EpisodeStatistic,
    EpisodeVerdict,
    PlaySession,
    SeatStatistic,
    TaskRow,
)

AGENTS, NO_STUDY = "agents", "no study"
"""Used in place of a channel: for games without people, and for games of people in no study."""
OUTLIERS_OF_TASK = 3
"""Largest number of the most unusual episodes of a task that are examined."""
NUM_BINS = 24


class Hours(NamedTuple):
    """Games of one day, task and channel; `day` is YYYY-MM-DD in UTC, `hours` counts hours of play by the recording clock."""

    day: str
    task: str
    channel: str
    hours: float
    num_episodes: int


class Spread(NamedTuple):
    """Spread of values: their number, and the 5th, 25th, 50th, 75th and 95th percentiles (nearest rank)."""

    num: int
    p5: float
    p25: float
    p50: float
    p75: float
    p95: float


class Extreme(NamedTuple):
    """An episode with one of the most extreme values of its task."""

    task: str
    episode: str
    value: float


class Totals(NamedTuple):
    """Sums over all episodes of a query."""

    num_episodes: int
    hours: float
    num_participants: int
    num_steps: int
    size_bytes: int


class Bins(NamedTuple):
    """A histogram: counts in equal intervals from `low` to `high`."""

    low: float
    high: float
    counts: list[int]


def hours_by_day(session: Session, *, study: str | None = None) -> list[Hours]:
    given = _given()
    day = _day(session)
    people = case((given.c.channel.is_not(None), given.c.channel), (_of_people(), NO_STUDY), else_=AGENTS)
    query = (
        select(day.label("day"), EpisodeRow.task, people.label("came_by"), func.sum(EpisodeRow.duration_s), func.count())
        .select_from(EpisodeRow)
        .join(given, given.c.episode_id == EpisodeRow.id, isouter=True)
        .where(EpisodeRow.frames != UPLOADED)
        .group_by("day", EpisodeRow.task, "came_by")
        .order_by("day", EpisodeRow.task, "came_by")
    )
    if study is not None:
        query = query.where(given.c.study == study)
    return [
        Hours(str(at), task, channel, float(seconds or 0) / 3600, n) for at, task, channel, seconds, n in session.execute(query)
    ]


def measures(session: Session, *, study: str | None = None) -> dict[str, dict[str, Spread]]:
    """Map measure -> task -> spread over people's games (see `_MEASURES`); for active time and score, over people's seats."""
    return {name: spreads(session, make(study)) for name, make in _MEASURES.items()}


def extremes(session: Session, *, study: str | None = None) -> dict[str, list[Extreme]]:
    found = {}
    for name, make in _MEASURES.items():
        values = make(study).subquery()
        order = values.c.value.asc() if name == "active_share" else values.c.value.desc()
        place = func.row_number().over(partition_by=values.c.part, order_by=(order, values.c.episode)).label("place")
        placed = select(values.c.part, values.c.episode, values.c.value, place).subquery()
        query = select(placed.c.part, placed.c.episode, placed.c.value).where(placed.c.place <= OUTLIERS_OF_TASK)
        found[name] = [Extreme(*row) for row in session.execute(query.order_by(placed.c.part, placed.c.place))]
    return found


def spreads(session: Session, values: SelectBase) -> dict[str, Spread]:
    """Map each part to its spread, for a query with the columns `part` and `value`."""
    inner = values.subquery()
    place = func.row_number().over(partition_by=inner.c.part, order_by=inner.c.value).label("place")
    total = func.count().over(partition_by=inner.c.part).label("total")
    ranked = select(inner.c.part, inner.c.value, place, total).where(inner.c.value.is_not(None)).subquery()
    at = [func.min(case((ranked.c.place >= ranked.c.total * share, ranked.c.value))) for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    query = select(ranked.c.part, func.max(ranked.c.total), *at).group_by(ranked.c.part).order_by(ranked.c.part)
    rows: Iterable[tuple[Any, ...]] = map(tuple, session.execute(query))
    return {part: Spread(num, *map(float, rest)) for part, num, *rest in rows}


def outcomes(session: Session, *, study: str | None = None) -> dict[str, dict[str, int]]:
    query = select(EpisodeRow.task, EpisodeRow.outcome, func.count()).where(_of_people(), *_in_study(study))
    found: dict[str, dict[str, int]] = {}
    for task, outcome, count in session.execute(query.group_by(EpisodeRow.task, EpisodeRow.outcome).order_by(EpisodeRow.task)):
        found.setdefault(task, {})[outcome] = count
    return found


def verdicts(session: Session, *, study: str | None = None) -> tuple[int, int, int]:
    """Return numbers of people's games: equal in their newest verification, different in it, and never verified."""
    of_it = select(cast(EpisodeVerdict.is_equal, Integer)).where(EpisodeVerdict.episode_id == EpisodeRow.id)
    newest = of_it.order_by(EpisodeVerdict.id.desc()).limit(1).scalar_subquery()
    state = func.coalesce(newest, -1).label("state")
    query = select(state, func.count()).where(EpisodeRow.frames != UPLOADED, _of_people(), *_in_study(study)).group_by("state")
    found = {value: count for value, count in session.execute(query)}
    return found.get(1, 0), found.get(0, 0), found.get(-1, 0)


def different(session: Session, *, study: str | None = None, limit: int = 20) -> list[tuple[str, str]]:
    newest = select(func.max(EpisodeVerdict.id)).group_by(EpisodeVerdict.episode_id)
    query = select(EpisodeVerdict.episode_id, EpisodeVerdict.reason).join(
        EpisodeRow, EpisodeRow.id == EpisodeVerdict.episode_id
    )
    query = query.where(EpisodeVerdict.id.in_(newest), EpisodeVerdict.is_equal.is_(False), _of_people(), *_in_study(study))
    return [(name, reason) for name, reason in session.execute(query.order_by(EpisodeVerdict.id.desc()).limit(limit))]


def add_verdicts(session: Session, rows: Sequence[EpisodeVerdict]) -> None:
    session.add_all(row for row in rows if session.get(EpisodeRow, row.episode_id) is not None)
    session.flush()


def totals(session: Session, query: EpisodeQuery) -> Totals:
    """Return sums over all episodes of a query, without its limit."""
    fits = _matching(select(EpisodeRow.id), query)
    sums = (func.count(), func.sum(EpisodeRow.duration_s), func.sum(EpisodeRow.num_steps), func.sum(EpisodeRow.size_bytes))
    count, seconds, steps, size = session.execute(_matching(select(*sums), query)).one()
    people = select(func.count(EpisodeSeat.participant_id.distinct())).where(EpisodeSeat.episode_id.in_(fits))
    return Totals(count, float(seconds or 0) / 3600, session.scalar(people) or 0, int(steps or 0), int(size or 0))


def bins(session: Session, query: EpisodeQuery, column: Any) -> Bins | None:
    """Return the histogram of a column over the episodes of a query; None if there are fewer than two different values."""
    low, high = session.execute(_matching(select(func.min(column), func.max(column)), query)).one()
    if low is None or low == high:
        return None
    part: ColumnElement[Any] = cast(func.floor((column - low) * (NUM_BINS / (high - low)) * (1 - 1e-9)), Integer).label("part")
    counts = [0] * NUM_BINS
    for place, count in session.execute(_matching(select(part, func.count()), query).group_by("part")):
        counts[min(max(place, 0), NUM_BINS - 1)] += count
    return Bins(float(low), float(high), counts)


def _day(session: Session) -> ColumnElement[str]:
    if session.get_bind().dialect.name == "sqlite":
        return func.strftime("%Y-%m-%d", EpisodeRow.created_at)
    return func.to_char(func.timezone("UTC", EpisodeRow.created_at), "YYYY-MM-DD")


def _of_people() -> ColumnElement[bool]:
    return _held(EpisodeSeat.actor_kind == "human")


def _given() -> Subquery:
    return (
        select(
            PlaySession.episode_id,
            func.min(Enrolment.study).label("study"),
            func.min(Enrolment.channel).label("channel"),
        )
        .join(Enrolment, Enrolment.id == PlaySession.enrolment_id)
        .where(PlaySession.episode_id.is_not(None))
        .group_by(PlaySession.episode_id)
        .subquery()
    )


def _in_study(study: str | None) -> tuple[ColumnElement[bool], ...]:
    if study is None:
        return ()
    given = exists().where(
        PlaySession.episode_id == EpisodeRow.id, Enrolment.id == PlaySession.enrolment_id, Enrolment.study == study
    )
    return (given,)


def _rate() -> ColumnElement[float]:
    return TaskRow.definition["frame_rate_hz"].as_float()


def _latency(study: str | None) -> SelectBase:
    return (
        select(EpisodeRow.task.label("part"), EpisodeRow.id.label("episode"), EpisodeStatistic.number.label("value"))
        .join(EpisodeStatistic, EpisodeStatistic.episode_id == EpisodeRow.id)
        .where(EpisodeStatistic.name == "latency_ms", _of_people(), *_in_study(study))
    )


def _lost(study: str | None) -> SelectBase:
    """Select the share of a game's frame times in which no step was made; worlds that wait for their players are left out."""
    wanted = EpisodeRow.duration_s * _rate()
    lost = case((EpisodeRow.num_steps < wanted, 1 - EpisodeRow.num_steps / wanted), else_=0.0)
    return (
        select(EpisodeRow.task.label("part"), EpisodeRow.id.label("episode"), lost.label("value"))
        .join(TaskRow, TaskRow.content_hash == EpisodeRow.task_hash)
        .where(
            EpisodeRow.frames != UPLOADED,
            EpisodeRow.duration_s > 0,
            func.coalesce(TaskRow.definition["pace"].as_string(), "") != "turns",
            _of_people(),
            *_in_study(study),
        )
    )


def _active(study: str | None) -> SelectBase:
    return (
        select(
            EpisodeRow.task.label("part"),
            EpisodeRow.id.label("episode"),
            (SeatStatistic.number * _rate() / EpisodeSeat.num_steps).label("value"),
        )
        .join(TaskRow, TaskRow.content_hash == EpisodeRow.task_hash)
        .join(EpisodeSeat, EpisodeSeat.episode_id == EpisodeRow.id)
        .join(
            SeatStatistic,
            (SeatStatistic.episode_id == EpisodeRow.id)
            & (SeatStatistic.seat == EpisodeSeat.seat)
            & (SeatStatistic.actor == EpisodeSeat.actor),
        )
        .where(
            SeatStatistic.name == "active_time",
            EpisodeSeat.actor_kind == "human",
            EpisodeSeat.num_steps > 0,
            *_in_study(study),
        )
    )


def _score(study: str | None) -> SelectBase:
    return (
        select(EpisodeRow.task.label("part"), EpisodeRow.id.label("episode"), EpisodeSeat.total_reward.label("value"))
        .join(EpisodeSeat, EpisodeSeat.episode_id == EpisodeRow.id)
        .where(EpisodeSeat.actor_kind == "human", EpisodeRow.frames != UPLOADED, *_in_study(study))
    )


def _length(study: str | None) -> SelectBase:
    return select(
        EpisodeRow.task.label("part"), EpisodeRow.id.label("episode"), (EpisodeRow.duration_s + literal(0.0)).label("value")
    ).where(EpisodeRow.frames != UPLOADED, _of_people(), *_in_study(study))


_MEASURES = {"latency_ms": _latency, "lost_share": _lost, "active_share": _active, "score": _score, "length_s": _length}
"""Measures of people's games: median input latency, share of lost frame times, share of time with active input, score, and
length in seconds."""

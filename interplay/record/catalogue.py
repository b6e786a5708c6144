"""Convert between episodes and their rows in the database, read conditions of `where`, and make pages of the catalogue."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import cast

from interplay.envs.base import FramePolicy
from interplay.envs.info import recordable
from interplay.errors import MisuseError, NotFoundError, unknown_name
from interplay.record.errors import RecordingError
from interplay.record.sealed.episode import OUTCOME_CHECK_SUCCESS, Episode, SeatHeld
from interplay.statistics import Measure
from interplay.statistics.statistic import Kind
from interplay.store import Database, EpisodeRow, EpisodeSeat, EpisodeStatistic, SeatStatistic, releases
from interplay.store.episodes import (
    NUMBER_COLUMNS,
    SEAT,
    SEAT_NUMBERS,
    SEAT_TEXTS,
    TEXT_COLUMNS,
    Condition,
    EpisodeQuery,
    Operator,
    agent_names,
    count_by_task,
    count_episodes,
    find_episodes,
)
from interplay.store.places.blobs import Blobs
from interplay.tasks import Task

_SAME = (
    "id", "task_hash", "env", "seed", "actor", "actor_kind", "participant_id", "num_steps", "total_reward", "terminated",
    "truncated", "outcome", "duration_s", "created_at",
)  # fmt: skip
"""Fields that an episode and its row have under the same name."""
_CONDITION = re.compile(r"\s*([A-Za-z_][\w.\-]*)\s*(<=|>=|!=|==|=|<|>)\s*(.+?)\s*", re.DOTALL)


def parse_condition(text: str, names: Iterable[str] | None = ()) -> Condition:
    """Read one comparison of the form `name operator value`.

    A value that is a number is compared as a number. Any other value, and any value in quotes, is compared as text.

    Args:
        text: For example `score >= 200`, `lives = 0`, `outcome = quit`, `skin = "7"`.
        names: Names of statistics and of values of seats that are allowed in addition to the catalogue's columns. None allows
            every name; use it if there is no catalogue to ask.
    Raises:
        ConditionError: If the text is not such a comparison.
        NotFoundError: If the name is unknown; the error offers the nearest name.

    >>> parse_condition("num_steps < 1e3")
    Condition(name='num_steps', operator='<', value=1000.0)
    """
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise _bad(text, "it is not of the form NAME OPERATOR VALUE")
    name, operator, raw = match.groups()
    value: float | str
    if raw[0] in "'\"":
        if len(raw) < 2 or raw[-1] != raw[0]:
            raise _bad(text, "the quotes do not match")
        value = raw[1:-1]
    else:
        try:
            value = float(raw)
        except ValueError:
            value = raw
            if re.search(r"[<>=!]", raw):
                raise _bad(text, f"{raw!r} is not a value; if you mean this text, put it in quotes") from None
        else:
            if math.isnan(value):
                raise _bad(text, "no value can be compared with nan")
    known = {*NUMBER_COLUMNS, *TEXT_COLUMNS, *(names or ())}
    if names is not None and name not in known:
        if name == OUTCOME_CHECK_SUCCESS:
            raise NotFoundError(
                f"no episode here has {name!r}: outcome checks look at the world at the end of a game that is played here, "
                "so imported recordings of people have no outcome check\n"
                "Leave the condition out, or choose games that ESC or death ended:  --where 'outcome = terminated'"
            )
        raise unknown_name("episode value", name, known, hint="Values of one episode:  interplay episodes show ID")
    of_seat = name.rpartition(".")[2] if name.startswith(SEAT) else ""
    if isinstance(value, str) and (name in NUMBER_COLUMNS or of_seat in SEAT_NUMBERS):
        raise _bad(text, f"{name} is a number and {value!r} is not")
    if not isinstance(value, str) and (name in TEXT_COLUMNS or of_seat in SEAT_TEXTS):
        value = raw  # an actor may be called "7"
    return Condition(name, cast(Operator, "=" if operator == "==" else operator), value)


class ConditionError(RecordingError, MisuseError):
    """A comparison cannot be read."""


def _bad(text: str, problem: str) -> ConditionError:
    return ConditionError(
        f"cannot read the condition {text!r}: {problem}.\n"
        "Write a name, one of = != < <= > >= and a value:  --where 'score >= 200' --where 'outcome = quit'"
    )


def to_row(episode: Episode, root: Path, *, held_out: bool = False) -> EpisodeRow:
    return EpisodeRow(
        **{name: getattr(episode, name) for name in _SAME},
        task=episode.task_id,
        frames=episode.frame_policy,
        path=key_of(episode, root),
        size_bytes=episode.size_bytes or 0,
        sha256=episode.sha256 or "",
        held_out=held_out,
        seats=[EpisodeSeat(**asdict(held), position=position) for position, held in enumerate(episode.seats)],
        statistics=[
            EpisodeStatistic(name=name, text=value)
            if isinstance(value, str)
            else EpisodeStatistic(name=name, number=float(value))
            for name, value in recordable(episode.statistics).items()  # earlier files may hold what no database takes
            if value is not None
        ],
    )


def key_of(episode: Episode, root: Path) -> str:
    """Return the path of an episode's file relative to the data folder."""
    return episode.place.relative_to(root).as_posix()


def from_row(row: EpisodeRow, blobs: Blobs, uploaded_task: Task | None = None) -> Episode:
    """Return the episode of a catalogue row; its file is not opened yet.

    Args:
        uploaded_task: The task of a row that is only a video.
    """
    statistics: dict[str, float | str] = {}
    for item in row.statistics:
        if item.number is not None:
            statistics[item.name] = item.number
        elif item.text is not None:
            statistics[item.name] = item.text
    return Episode(
        **{name: getattr(row, name) for name in _SAME},
        task_id=row.task,
        frame_policy=cast(FramePolicy, row.frames),
        statistics=statistics,
        place=blobs.root / (row.path or f"media/{row.id}.mp4"),
        blobs=blobs,
        sha256=row.sha256 if row.path else None,
        size_bytes=row.size_bytes if row.path else None,
        uploaded_task=uploaded_task,
        seats=tuple(SeatHeld(**{item.name: getattr(held, item.name) for item in fields(SeatHeld)}) for held in row.seats),
    )


def to_measure_rows(episode_id: str, measures: Iterable[Measure]) -> list[SeatStatistic]:
    return [
        SeatStatistic(
            episode_id=episode_id,
            seat=one.seat,
            actor=one.actor,
            name=one.name,
            kind=one.kind,
            number=None if one.value is None else float(one.value),
            counts=dict(one.counts),
        )
        for one in measures
    ]


def from_measure_row(row: SeatStatistic) -> Measure:
    value = int(row.number) if row.kind == "int" and row.number is not None else row.number
    return Measure(row.seat, row.actor, row.name, cast(Kind, row.kind), value, row.counts)


@dataclass(frozen=True)
class EpisodePage:
    """One page of a list of episodes.

    Attributes:
        total: Number of episodes on all pages.
        page: Number of this page, from 1.
        num_pages: Number of pages, at least 1.
        actors: Names of agents and models, for a filter.
        tasks: Ids of the tasks that have episodes, for a filter.
    """

    rows: Sequence[EpisodeRow]
    total: int
    page: int
    num_pages: int
    actors: list[str]
    tasks: list[str]


def episodes_by_task(database: Database, wanted: EpisodeQuery) -> dict[str, int]:
    with database.read() as session:
        return count_by_task(session, wanted)


def listed(database: Database, wanted: EpisodeQuery) -> Sequence[EpisodeRow]:
    with database.read() as session:
        return find_episodes(session, wanted)


def withheld(database: Database, ids: Sequence[str], *, own: Collection[int] = ()) -> set[str]:
    """Return which of the given ids belong to withheld episodes: a person in such an episode has not agreed to a release.
    The result leaves out episodes that a participant in `own` played, because players may see their own episodes."""
    with database.look() as session:
        return releases.withheld_of(session, ids, own=own)


def episode_page(database: Database, wanted: EpisodeQuery, page: int, rows_per_page: int) -> EpisodePage:
    with database.read() as session:
        total = count_episodes(session, wanted)
        num_pages = max(1, math.ceil(total / rows_per_page))
        page = min(page, num_pages)
        rows = find_episodes(session, replace(wanted, limit=rows_per_page, offset=(page - 1) * rows_per_page))
        actors = agent_names(session, with_waiting=wanted.with_waiting)
        tasks = sorted(count_by_task(session, replace(wanted, task=None, actor=None, kept_back=())))
    return EpisodePage(rows, total, page, num_pages, actors, tasks)


def is_there(database: Database, wanted: EpisodeQuery) -> bool:
    with database.read() as session:
        return count_episodes(session, wanted) > 0

"""Store and read videos and answers that came from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from interplay.store.episodes import UPLOADED
from interplay.store.judging import STANDS
from interplay.store.models import Answer, Ban, EpisodeRow, EpisodeSeat, Match, TaskRow

IDS_AT_ONCE = 500
"""Largest number of ids in one `IN (...)`: SQLite takes 32,766 values per statement, older builds 999."""


def task_definitions(session: Session, task_hashes: Iterable[str]) -> dict[str, dict[str, Any]]:
    wanted = sorted(set(task_hashes))
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(wanted), IDS_AT_ONCE):
        query = select(TaskRow.content_hash, TaskRow.definition).where(
            TaskRow.content_hash.in_(wanted[start : start + IDS_AT_ONCE])
        )
        found |= dict(session.execute(query).all())
    return found


def newest_definitions(session: Session) -> dict[str, dict[str, Any]]:
    query = select(TaskRow.task, TaskRow.definition).order_by(TaskRow.created_at, TaskRow.content_hash)
    return dict(session.execute(query).all())


# Episodes that are a video only


def uploaded_files(session: Session) -> dict[str, str]:
    """Map each episode that is only a video to its path in the data folder; the path is empty if the video is missing."""
    return dict(session.execute(select(EpisodeRow.id, EpisodeRow.path).where(EpisodeRow.frames == UPLOADED)).all())


def episodes_of_agent(session: Session, agent: str, tasks: Iterable[str] | None = None) -> Sequence[EpisodeRow]:
    query = select(EpisodeRow).where(EpisodeRow.actor == agent).order_by(EpisodeRow.task, EpisodeRow.seed, EpisodeRow.id)
    return session.scalars(query if tasks is None else query.where(EpisodeRow.task.in_(list(tasks)))).all()


def put_episode(session: Session, row: EpisodeRow) -> None:
    """Add a video to the catalogue, or add the video to an entry that has none yet."""
    session.merge(row)
    session.flush()


# Imported answers


def insert_rows(
    session: Session, model: type[EpisodeRow | EpisodeSeat | Match | Answer | Ban], rows: Sequence[dict[str, Any]]
) -> None:
    """Insert many rows in order; answers get their sequence numbers in this order."""
    if rows:
        session.execute(insert(model.__table__), list(rows))  # type: ignore[arg-type]


def imported(session: Session, dataset: str) -> Iterator[tuple[str, dict[str, Any], str, dict[str, Any]]]:
    """Yield match id, `source`, reason and viewing of every answer that was imported under a name."""
    query = select(Answer.match_id, Answer.source, Answer.reason, Answer.viewing)
    query = query.where(Answer.source["dataset"].as_string() == dataset)
    for match, source, reason, viewing in session.execute(query, execution_options={"yield_per": IDS_AT_ONCE}):
        assert source is not None
        yield match, source, reason, viewing


def imported_agents(session: Session, dataset: str) -> set[str]:
    query = select(Answer.left_agent, Answer.right_agent).where(Answer.source["dataset"].as_string() == dataset).distinct()
    return {agent for pair in session.execute(query) for agent in pair}


class ExportedAnswer(NamedTuple):
    """An answer and its match, with the fields that exports need; they are those of `Answer` and `Match`."""

    sequence: int
    match_id: str
    task: str
    task_hash: str
    seed: int
    seat: str
    left_agent: str
    right_agent: str
    left_episode_id: str
    right_episode_id: str
    outcome: str
    responses: dict[str, Any]
    reason: str
    judge: str
    served_at: datetime
    created_at: datetime
    duration_s: float
    viewing: dict[str, Any]
    study: str | None
    purpose: str
    judge_kind: str
    source: dict[str, Any] | None
    left_segment_id: int | None
    right_segment_id: int | None

    @property
    def segments(self) -> tuple[int, int]:
        assert self.left_segment_id is not None
        assert self.right_segment_id is not None
        return self.left_segment_id, self.right_segment_id


def exported(session: Session, *, dataset: str | None = None, task: str | None = None) -> Iterator[ExportedAnswer]:
    """Yield every answer of the log that was not taken back, in order, from one imported set or all, about one task or all."""
    of_match = {"task_hash", "seat", "served_at"}
    of_match |= {f"{side}_{what}_id" for side in ("left", "right") for what in ("episode", "segment")}
    columns = [getattr(Match if name in of_match else Answer, name) for name in ExportedAnswer._fields]
    query = select(*columns).join(Match, Match.id == Answer.match_id).where(STANDS).order_by(Answer.sequence)
    if dataset is not None:
        query = query.where(Answer.source["dataset"].as_string() == dataset)
    if task is not None:
        query = query.where(Answer.task == task)
    for row in session.execute(query, execution_options={"yield_per": IDS_AT_ONCE}):
        yield ExportedAnswer(*row)


def datasets(session: Session) -> dict[str, int]:
    name = Answer.source["dataset"].as_string()
    query = select(name, func.count()).where(name.is_not(None)).group_by(name).order_by(name)
    return {str(dataset): count for dataset, count in session.execute(query)}


def bans_for(session: Session, reason: str) -> set[str]:
    return set(session.scalars(select(Ban.judge).where(Ban.reason == reason)))

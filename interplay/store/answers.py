"""Answers whole, as reports read them: with what the judge said to every question, and why."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from interplay.store.judging import BY_MODELS, COUNTS
from interplay.store.models import Answer, Match, TaskRow

_ANSWERS_PER_FETCH = 1000
_COUNT = {"people": COUNTS, "models": BY_MODELS, "all": or_(COUNTS, BY_MODELS)}


class FullAnswer(NamedTuple):
    """One answer of the log and the two episodes it is about; fields as in `models.Answer`.

    `dataset` is the name that an imported answer came under; it is empty for an answer given here.
    """

    sequence: int
    task: str
    seed: int
    left: str
    right: str
    outcome: str
    responses: dict[str, Any]
    reason: str
    judge: str
    created_at: datetime
    duration_s: float | None
    viewing: dict[str, Any]
    left_episode: str = ""
    right_episode: str = ""
    dataset: str = ""


def full_answers(
    session: Session, task: str | None = None, *, judges: Literal["people", "models", "all"] = "people"
) -> Iterator[FullAnswer]:
    """Every answer that counts, in the order of the log, of one task or of all; people's, if not said otherwise.

    Reports are made from what this yields and from nothing else, so whatever is left out here is in no table.
    """
    query = select(
        Answer.sequence,
        Answer.task,
        Answer.seed,
        Answer.left_agent,
        Answer.right_agent,
        Answer.outcome,
        Answer.responses,
        Answer.reason,
        Answer.judge,
        Answer.created_at,
        Answer.duration_s,
        Answer.viewing,
        Match.left_episode_id,
        Match.right_episode_id,
        func.coalesce(Answer.source["dataset"].as_string(), ""),
    )
    query = query.join(Match, Match.id == Answer.match_id).where(_COUNT[judges]).order_by(Answer.sequence)
    if task is not None:
        query = query.where(Answer.task == task)
    for row in session.execute(query, execution_options={"yield_per": _ANSWERS_PER_FETCH}):
        yield FullAnswer._make(row)


def num_full_answers(session: Session, task: str | None = None) -> int:
    """How many answers `full_answers` yields at most; for progress bars."""
    query = select(func.count()).select_from(Answer).where(COUNTS)
    return session.scalar(query if task is None else query.where(Answer.task == task)) or 0


def judged_definitions(session: Session) -> dict[str, dict[str, Any]]:
    """Task id -> `Task.to_json()` of its newest version that answers are about."""
    judged = select(Match.task_hash).join(Answer, Answer.match_id == Match.id).distinct()
    rows = session.execute(
        select(TaskRow.task, TaskRow.definition)
        .where(TaskRow.content_hash.in_(judged))
        .order_by(TaskRow.created_at, TaskRow.content_hash)
    )
    return {task: definition for task, definition in rows}  # the last of a task wins

"""Read answers for leaderboards, agents' pages and reports."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, func, or_, select, true
from sqlalchemy.orm import Session

from interplay.store.judging import BY_MODELS, COUNTS, LOGGED, LoggedAnswer
from interplay.store.models import Answer, Match, TaskRow

WATCHED_FOR = timedelta(hours=1)
"""Time after the last heartbeat of the judge's page for which a match without an answer stays open."""
_ANSWERS_PER_FETCH = 5000


class Verdict(NamedTuple):
    """An answer seen from one agent: its opponent, its side, and the outcome."""

    task: str
    is_left: bool
    opponent: str
    outcome: str
    responses: dict[str, Any]


class Reason(NamedTuple):
    """A judge's words about an agent; `verdict` is `won`, `drew` or `lost`, and `side` is the agent's side."""

    task: str
    opponent: str
    side: str
    verdict: str
    text: str
    created_at: datetime


def model_answers(session: Session) -> Iterator[LoggedAnswer]:
    """Yield the answers of model judges in order; they are shown beside people's answers and never counted among them."""
    query = LOGGED.where(BY_MODELS)
    for row in session.execute(query, execution_options={"yield_per": _ANSWERS_PER_FETCH}):
        yield LoggedAnswer(*row)


def has_model_answers(session: Session) -> bool:
    return session.scalar(select(Answer.sequence).where(BY_MODELS).limit(1)) is not None


def verdicts(session: Session, agent: str, *, up_to: int | None = None) -> Iterator[Verdict]:
    """Yield every answer about an agent that counts, in order, up to a sequence number or to the end of the log."""
    query = select(Answer.task, Answer.left_agent, Answer.right_agent, Answer.outcome, Answer.responses)
    query = query.where(COUNTS, _up_to(up_to), or_(Answer.left_agent == agent, Answer.right_agent == agent))
    query = query.order_by(Answer.sequence)
    for task, left, right, outcome, responses in session.execute(query, execution_options={"yield_per": _ANSWERS_PER_FETCH}):
        yield Verdict(task, left == agent, right if left == agent else left, outcome, responses)


def last_reasons(session: Session, agent: str, *, limit: int, without: set[str], up_to: int | None = None) -> list[Reason]:
    """Return judges' last words about an agent, newest first, from answers that count; tasks in `without` are left out."""
    query = (
        select(Answer.task, Answer.left_agent, Answer.right_agent, Answer.outcome, Answer.reason, Answer.created_at)
        .where(COUNTS, _up_to(up_to), or_(Answer.left_agent == agent, Answer.right_agent == agent))
        .where(Answer.reason != "", Answer.task.not_in(without))
        .order_by(Answer.sequence.desc())
        .limit(limit)
    )
    reasons = []
    for task, left, right, outcome, text, created_at in session.execute(query):
        side, opponent = ("left", right) if left == agent else ("right", left)
        verdict = "drew" if outcome == "draw" else "won" if outcome == side else "lost"
        reasons.append(Reason(task, opponent, side, verdict, text, created_at))
    return reasons


def _up_to(sequence: int | None) -> ColumnElement[bool]:
    return true() if sequence is None else Answer.sequence <= sequence


def watched_tasks(session: Session, judge: str, now: datetime) -> set[str]:
    """Return the tasks in which a judge has an unanswered match whose page may still answer, even after it was inactive."""
    query = select(Match.task).where(Match.judge == judge, Match.answered_at.is_(None), Match.seen_at > now - WATCHED_FOR)
    return set(session.scalars(query.distinct()))


_FULL_PER_FETCH = 1000
_COUNT = {"people": COUNTS, "models": BY_MODELS, "all": or_(COUNTS, BY_MODELS)}


class FullAnswer(NamedTuple):
    """One answer of the log and its two episodes; its fields are those of `models.Answer`.
    `dataset` is the name under which the answer was imported, or empty."""

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
    """Yield every answer that counts, in the order of the log, of one task or all; by default only people's answers.

    Reports use only these answers, so an answer that is left out here is in no table.
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
    for row in session.execute(query, execution_options={"yield_per": _FULL_PER_FETCH}):
        yield FullAnswer._make(row)


def num_full_answers(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(Answer).where(COUNTS)) or 0


def judged_definitions(session: Session) -> dict[str, dict[str, Any]]:
    """Map each task id to `Task.to_json()` of the newest task version that has answers."""
    judged = select(Match.task_hash).join(Answer, Answer.match_id == Match.id).distinct()
    rows = session.execute(
        select(TaskRow.task, TaskRow.definition)
        .where(TaskRow.content_hash.in_(judged))
        .order_by(TaskRow.created_at, TaskRow.content_hash)
    )
    return {task: definition for task, definition in rows}  # the last of a task wins

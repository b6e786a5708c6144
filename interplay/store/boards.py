"""What the leaderboard and the pages of agents ask of the log beside ratings: answers by agent, by factor, and in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, or_, select, true
from sqlalchemy.orm import Session

from interplay.store.judging import BY_MODELS, COUNTS, LOGGED, LoggedAnswer
from interplay.store.models import Answer, Match

WATCHED_FOR = timedelta(hours=1)
"""A match without an answer is before its judge for so long after the last sign of life of their page."""
_ANSWERS_PER_FETCH = 5000


class Verdict(NamedTuple):
    """An answer as one agent sees it: about whom, on which side it was, and what was said."""

    task: str
    is_left: bool
    opponent: str
    outcome: str
    responses: dict[str, Any]


class Reason(NamedTuple):
    """What a judge wrote about an agent; `verdict` is `won`, `drew` or `lost`, `side` where the agent was shown."""

    task: str
    opponent: str
    side: str
    verdict: str
    text: str
    created_at: datetime


def model_answers(session: Session) -> Iterator[LoggedAnswer]:
    """Answers of model judges, in order; they are shown beside people's and never counted among them."""
    query = LOGGED.where(BY_MODELS)
    for row in session.execute(query, execution_options={"yield_per": _ANSWERS_PER_FETCH}):
        yield LoggedAnswer(*row)


def has_model_answers(session: Session) -> bool:
    """Whether any model judge has answered."""
    return session.scalar(select(Answer.sequence).where(BY_MODELS).limit(1)) is not None


def verdicts(session: Session, agent: str, *, up_to: int | None = None) -> Iterator[Verdict]:
    """Every answer that counts about an agent, in order, up to a sequence number or to the end of the log."""
    query = select(Answer.task, Answer.left_agent, Answer.right_agent, Answer.outcome, Answer.responses)
    query = query.where(COUNTS, _up_to(up_to), or_(Answer.left_agent == agent, Answer.right_agent == agent))
    query = query.order_by(Answer.sequence)
    for task, left, right, outcome, responses in session.execute(query, execution_options={"yield_per": _ANSWERS_PER_FETCH}):
        yield Verdict(task, left == agent, right if left == agent else left, outcome, responses)


def last_reasons(session: Session, agent: str, *, limit: int, without: set[str], up_to: int | None = None) -> list[Reason]:
    """What was last written about an agent, newest first, in answers that count; tasks of `without` are left out."""
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
    """Tasks of which a judge has a pair before them that they have not answered; a page that slept may still answer."""
    query = select(Match.task).where(Match.judge == judge, Match.answered_at.is_(None), Match.seen_at > now - WATCHED_FOR)
    return set(session.scalars(query.distinct()))

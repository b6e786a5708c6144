"""Store answers of model judges, and read the people's answers and episodes that these judges learn from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from interplay.store.judging import BY_MODELS, COUNTS
from interplay.store.locks import lock
from interplay.store.models import Answer, Match


class JudgedPair(NamedTuple):
    """One answer of a person, and the episodes that it is about."""

    left_episode: str
    right_episode: str
    left_agent: str
    right_agent: str
    seed: int
    outcome: str
    responses: dict[str, Any]
    judge: str


class LoggedOpinion(NamedTuple):
    """One answer of a model judge in the log; `probabilities`: outcome -> probability, None if the judge gave none."""

    pair: JudgedPair
    probabilities: dict[str, float] | None


class LoggedJudge(NamedTuple):
    """A model judge, the number of its answers about a task, and the sequence number of any judge's last answer about it."""

    judge: str
    task: str
    num_answers: int
    last_sequence: int


class ModelAnswer(NamedTuple):
    """Answer of a model judge about a pair. `match_id` is made from judge, episodes and seat, so no answer is stored twice."""

    match_id: str
    task_hash: str
    seed: int
    seat: str
    left_episode: str
    right_episode: str
    left_agent: str
    right_agent: str
    outcome: str
    responses: dict[str, Any]
    reason: str
    viewing: dict[str, Any]


_PAIRS = (
    select(
        Match.left_episode_id,
        Match.right_episode_id,
        Answer.left_agent,
        Answer.right_agent,
        Answer.seed,
        Answer.outcome,
        Answer.responses,
        Answer.judge,
    )
    .join(Match, Match.id == Answer.match_id)
    .order_by(Answer.sequence)
)
"""Query for answers with the columns of `JudgedPair`."""


def judged_pairs(session: Session, task: str) -> list[JudgedPair]:
    """Return the answers of people about a task that count for ratings, in the order of the log; programs are left out."""
    query = _PAIRS.where(Answer.task == task, Answer.judge_kind == "person", COUNTS)
    return [JudgedPair(*row) for row in session.execute(query)]


def logged_judges(session: Session) -> list[LoggedJudge]:
    newest = select(Answer.task, func.max(Answer.sequence)).group_by(Answer.task)
    last = {task: sequence for task, sequence in session.execute(newest)}
    query = select(Answer.judge, Answer.task, func.count()).where(BY_MODELS)
    query = query.group_by(Answer.judge, Answer.task).order_by(Answer.judge, Answer.task)
    return [LoggedJudge(judge, task, num, last[task]) for judge, task, num in session.execute(query)]


def opinions(session: Session, judge: str, task: str) -> list[LoggedOpinion]:
    query = _PAIRS.add_columns(Answer.viewing).where(Answer.task == task, Answer.judge == judge, BY_MODELS)
    return [LoggedOpinion(JudgedPair(*row), _probabilities(viewing)) for *row, viewing in session.execute(query)]


def _probabilities(viewing: dict[str, Any]) -> dict[str, float] | None:
    """Return the probabilities of the three outcomes; None if they are missing or invalid: programs may send anything."""
    given = viewing.get("probabilities")
    if not isinstance(given, dict) or set(given) != {"left", "draw", "right"}:
        return None
    values = given.values()
    if any(isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1 for value in values):
        return None
    return {outcome: float(value) for outcome, value in given.items()} if abs(sum(values) - 1) < 1e-3 else None


def add_model_answers(session: Session, *, judge: str, task: str, answers: Sequence[ModelAnswer], now: datetime) -> int:
    """Append answers of a model judge, without those already stored; return the number of new answers."""
    lock(session, "judge", judge)
    known = answered_matches(session, judge, task)
    new = [answer for answer in answers if answer.match_id not in known]
    if not new:
        return 0
    who = {"task": task, "judge": judge, "judge_kind": "model", "purpose": "rating"}
    session.execute(
        insert(Match),
        [
            who
            | {"id": one.match_id, "task_hash": one.task_hash, "seed": one.seed, "seat": one.seat}
            | {"left_episode_id": one.left_episode, "right_episode_id": one.right_episode}
            | {"left_agent": one.left_agent, "right_agent": one.right_agent}
            | {"served_at": now, "seen_at": now, "answered_at": now}
            for one in new
        ],
    )
    lock(session, "log", "answers")
    session.execute(
        insert(Answer),
        [
            who
            | {"match_id": one.match_id, "seed": one.seed, "left_agent": one.left_agent, "right_agent": one.right_agent}
            | {"outcome": one.outcome, "responses": one.responses, "reason": one.reason, "viewing": one.viewing}
            | {"created_at": now, "duration_s": 0.0}
            for one in new
        ],
    )
    return len(new)


def answered_matches(session: Session, judge: str, task: str) -> set[str]:
    return set(session.scalars(select(Answer.match_id).where(Answer.judge == judge, Answer.task == task)))

"""The append-only log of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, exists, func, insert, select
from sqlalchemy.orm import Session, aliased

from interplay.store.judging.matches import STANDS, mark_answered
from interplay.store.locks import lock
from interplay.store.models import Answer, Ban, EpisodeStatistic, Match, Retraction

# Statements of every serve and every answer are built once, here: building one takes longer than running it. They run on the
# session's connection, because rows as objects that are watched for changes cost three times as much as rows.

_ANSWERS_PER_FETCH = 5000
MAX_NEWS = 500
"""Largest number of answers that `log_news` reads."""
_ANSWERED_ABOUT = (
    select(Answer.left_agent, Answer.right_agent)
    .where(Answer.judge == bindparam("judge"), Answer.purpose == "rating", STANDS)
    .where(Answer.task.op("||")("") == bindparam("task"))
)
_ADD_ANSWER = insert(Answer).returning(Answer.sequence)
_BY_JUDGE = select(func.count()).select_from(Answer).where(Answer.judge == bindparam("judge"), STANDS)
_BY_JUDGE_IN_STUDY = _BY_JUDGE.where(Answer.study.op("||")("") == bindparam("study"))
_TIMES_BY_JUDGE = (
    select(Answer.created_at)
    .where(Answer.judge == bindparam("judge"), Answer.created_at > bindparam("since"), STANDS)
    .order_by(Answer.created_at.desc())
)
_PURPOSES = (
    select(Answer.purpose)
    .where(Answer.judge == bindparam("judge"), Answer.study.op("||")("") == bindparam("study"), STANDS)
    .order_by(Answer.sequence)
)
BANNED = select(Ban.judge).where(Ban.lifted_at.is_(None))
"""Judges whose answers do not count at present."""
_IS_BANNED = exists().where(Ban.judge == bindparam("judge"), Ban.lifted_at.is_(None))
_UNANSWERED = exists().where(Match.judge == bindparam("judge"), Match.answered_at.is_(None))
_STATE = (_IS_BANNED, _UNANSWERED.where(Match.released_at.is_(None)), _UNANSWERED.where(Match.draft.is_not(None)))
_JUDGE_STATE = select(_BY_JUDGE.scalar_subquery(), *_STATE)
_JUDGE_STATE_IN_STUDY = select(_BY_JUDGE_IN_STUDY.scalar_subquery(), *_STATE)
_RATES = and_(Answer.purpose == "rating", Answer.judge.not_in(BANNED), STANDS)
COUNTS = and_(Answer.judge_kind != "model", _RATES)
"""Condition for answers that ratings use: no checks, no model judges, no banned judges, no answers that were taken back."""
BY_MODELS = and_(Answer.judge_kind == "model", _RATES)
"""Condition for answers of model judges: no checks, no banned judges, no answers that were taken back."""
LOGGED = select(
    Answer.sequence,
    Answer.task,
    Answer.left_agent,
    Answer.right_agent,
    Answer.outcome,
    Answer.judge,
    Answer.created_at,
    Answer.study,
).order_by(Answer.sequence)
"""Query for every answer in the order of the log, with the columns of `LoggedAnswer`."""
_LOG = LOGGED.where(Answer.sequence > bindparam("after"), COUNTS).limit(_ANSWERS_PER_FETCH)
_LOG_OF_TASK = _LOG.where(Answer.task == bindparam("task"))
_LOG_STATE = select(
    select(func.max(Answer.sequence)).scalar_subquery(),
    select(func.count(Ban.id)).scalar_subquery(),  # not the last one: two may be entered at once
    select(func.count(Ban.lifted_at)).scalar_subquery(),
    select(func.count(Retraction.sequence)).scalar_subquery(),
)
_NOW = _LOG_STATE.subquery()
_NEWS = (
    select(*_NOW.c, *LOGGED.selected_columns)
    .select_from(_NOW.outerjoin(Answer, and_(Answer.sequence > bindparam("after"), COUNTS)))
    .order_by(Answer.sequence)
    .limit(MAX_NEWS)
)


class LoggedAnswer(NamedTuple):
    """One answer of the log, with the fields that ratings need."""

    sequence: int
    task: str
    left: str
    right: str
    outcome: str
    judge: str
    created_at: datetime
    study: str | None = None


LogRevision = tuple[int, ...]
"""Value that grows when earlier answers start or stop counting; readers that continue from an earlier answer must then start
again from the first."""


class LogState(NamedTuple):
    """The sequence number of the last answer (even of one that does not count), and the `LogRevision`."""

    last_sequence: int
    revision: LogRevision


class JudgeState(NamedTuple):
    """State of a judge.

    Attributes:
        num_answers: Number of answers given, in one study or in all, checks included.
        is_banned: Whether the judge is banned, so that the answers do not count.
        has_open: Whether the judge has an open match.
        has_draft: Whether the judge has a draft for a match without an answer.
    """

    num_answers: int
    is_banned: bool
    has_open: bool
    has_draft: bool


def times_answered_about(session: Session, judge: str, task: str) -> Counter[frozenset[str]]:
    """Return how often this judge has answered about each pair of agents of a task, without checks."""
    rows = session.connection().execute(_ANSWERED_ABOUT, {"judge": judge, "task": task})
    return Counter(frozenset((left, right)) for left, right in rows)


def purposes_answered(session: Session, judge: str, study: str) -> list[str]:
    return list(session.connection().scalars(_PURPOSES, {"judge": judge, "study": study}))


def append_answer(session: Session, match: Match, **fields: Any) -> int | None:
    """Add the answer to a match to the log and return its sequence number. The transaction must hold the lock of the judge.

    Answers become visible in the order of their `sequence`, on which readers rely that continue from the last one: from here to
    the end of the transaction, no other transaction can add an answer.

    Nothing is added and None is returned if the match already has an answer, or if its judge has answered about the same two
    episodes since it was served (`has_answered_since`). `fields` are the columns of `Answer` that the match does not have.
    """
    if not mark_answered(session, match, fields["created_at"]):
        return None
    values = {
        "match_id": match.id,
        "task": match.task,
        "seed": match.seed,
        "left_agent": match.left_agent,
        "right_agent": match.right_agent,
        "judge": match.judge,
        "study": match.study,
        "purpose": match.purpose,
        "judge_kind": match.judge_kind,
    }
    lock(session, "log", "answers")
    return session.connection().scalar(_ADD_ANSWER, values | fields)


def last_answer_of(session: Session, judge: str, study: str | None) -> Answer | None:
    """Return a judge's last answer in a study, or outside of studies; None if that answer was taken back."""
    there = Answer.study.is_(None) if study is None else Answer.study == study
    last = select(func.max(Answer.sequence)).where(Answer.judge == judge, there)
    return session.scalar(select(Answer).where(Answer.sequence == last.scalar_subquery(), STANDS))


def retract(session: Session, sequence: int, now: datetime) -> None:
    session.add(Retraction(sequence=sequence, created_at=now))
    session.flush()


def log_state(session: Session) -> LogState:
    return _state(*session.connection().execute(_LOG_STATE).one())


def log_news(session: Session, after: int) -> tuple[LogState, tuple[LoggedAnswer, ...]]:
    """Return `log_state` and the first `MAX_NEWS` answers that count after a sequence number, in one statement."""
    rows = [tuple(row) for row in session.connection().execute(_NEWS, {"after": after})]
    found = tuple(LoggedAnswer._make(row[4:]) for row in rows if row[4] is not None)
    return _state(*rows[0][:4]), found


def _state(last_sequence: int | None, *revision: int) -> LogState:
    return LogState(last_sequence or 0, revision)


def answers(session: Session, task: str | None = None, *, after: int = 0) -> Iterator[LoggedAnswer]:
    """Yield the answers that count, in order, in one task or all, from the answer after sequence number `after` on.

    Every rating is computed only from these answers. Answers to checks, answers of model judges or banned judges, and answers
    that were taken back are left out. The revision in `log_state` changes when this changes for earlier answers.
    """
    statement, values = (_LOG, {}) if task is None else (_LOG_OF_TASK, {"task": task})
    connection = session.connection()
    while True:  # page by page: a cursor of the server would be opened and closed for the one answer there mostly is
        rows = connection.execute(statement, values | {"after": after}).all()
        yield from (LoggedAnswer(*row) for row in rows)
        if len(rows) < _ANSWERS_PER_FETCH:
            return
        after = rows[-1].sequence


def answers_where_one_side_leads(
    session: Session, statistic: str, task: str | None = None, *, up_to: int | None = None
) -> tuple[int, int]:
    """Return how often judges chose the side with the larger value of a statistic.
    Only answers that count and name a side are used, in one task or all, up to a sequence number or to the end of the log;
    episodes with equal values are left out.

    Returns:
        Number of such answers, and the number of those that name the side with the larger value.
    """
    left, right = aliased(EpisodeStatistic), aliased(EpisodeStatistic)
    query = (
        select(Answer.outcome, left.number > right.number, func.count())
        .join(Match, Match.id == Answer.match_id)
        .join(left, and_(left.episode_id == Match.left_episode_id, left.name == statistic))
        .join(right, and_(right.episode_id == Match.right_episode_id, right.name == statistic))
        .where(left.number != right.number, Answer.outcome.in_(("left", "right")), COUNTS)
        .group_by(Answer.outcome, left.number > right.number)
    )
    if up_to is not None:
        query = query.where(Answer.sequence <= up_to)
    counts = session.execute(query if task is None else query.where(Answer.task == task)).all()
    agreed = sum(count for outcome, is_left, count in counts if (outcome == "left") == bool(is_left))
    return sum(count for *_, count in counts), agreed


def answers_for_review(session: Session, study: str | None = None) -> Iterator[Any]:
    """Yield facts about how carefully every answer was given, in one study or all.
    Each tuple has: judge, kind of judge, study, purpose, outcome, the outcome that a check expects, and the seconds from
    serving to answering. Then, as the page reported them (None or any text): seconds watched and length of the left video,
    and of the right video."""
    seconds = [Answer.viewing[side, name].as_string() for side in ("left", "right") for name in ("watched_s", "length_s")]
    query = select(
        Answer.judge,
        Answer.judge_kind,
        Answer.study,
        Answer.purpose,
        Answer.outcome,
        Match.expected,
        Answer.duration_s,
        *seconds,
    ).join(Match, Match.id == Answer.match_id)
    query = query.where(STANDS) if study is None else query.where(STANDS, Answer.study == study)
    yield from session.execute(query.order_by(Answer.sequence), execution_options={"yield_per": _ANSWERS_PER_FETCH})


def num_answers_by(session: Session, judge: str, study: str | None = None) -> int:
    if study is None:
        return session.connection().scalar(_BY_JUDGE, {"judge": judge}) or 0
    return session.connection().scalar(_BY_JUDGE_IN_STUDY, {"judge": judge, "study": study}) or 0


def answered_since(session: Session, judge: str, since: datetime, study: str | None) -> list[datetime]:
    """Return the times since `since` at which this judge answered in a study, or outside of studies; newest first."""
    there = Answer.study.is_(None) if study is None else Answer.study == study
    return list(session.connection().scalars(_TIMES_BY_JUDGE.where(there), {"judge": judge, "since": since}))


def judge_state(session: Session, judge: str, study: str | None) -> JudgeState:
    statement = _JUDGE_STATE if study is None else _JUDGE_STATE_IN_STUDY
    return JudgeState(*session.connection().execute(statement, {"judge": judge, "study": study}).one())

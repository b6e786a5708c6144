"""What judging asks of the database: agents in the pool, open matches, and the append-only log of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import String, and_, bindparam, func, insert, inspect, null, or_, select, text, union_all, update
from sqlalchemy.orm import Session, aliased

from interplay.store.models import (
    Agent,
    Answer,
    Ban,
    EpisodeRow,
    EpisodeStatistic,
    Match,
    StudyRow,
    StudyVersion,
    TaskRow,
)

_LOCK_KEY = 0x696E746572706C79
"""Key of PostgreSQL's advisory lock: the letters `interply`."""
_ANSWERS_PER_FETCH = 5000

_IN_POOL = and_(Agent.approved_at.is_not(None), Agent.withdrawn_at.is_(None))
_IS_OPEN = and_(Match.answered_at.is_(None), Match.released_at.is_(None))

# Statements of every serve and every answer are built once, here: building one takes longer than running it. They run on the
# session's connection, because rows as objects that are watched for changes cost three times as much as rows.

_JUDGED_TASKS = select(Agent.task).where(_IN_POOL).group_by(Agent.task).having(func.count() > 1).order_by(Agent.task)
_POOL_STATE = select(
    Agent.name,
    select(func.count()).select_from(EpisodeRow).where(EpisodeRow.task == bindparam("task")).scalar_subquery(),
    # Of all tasks: an index holds its answer, while that of one task would be looked for row by row at every serve.
    select(func.max(EpisodeRow.created_at)).scalar_subquery(),
).where(Agent.task == bindparam("task"), _IN_POOL)
_POOL_VERSIONS = (
    select(EpisodeRow.task_hash)
    .distinct()
    .join(Agent, and_(Agent.task == EpisodeRow.task, Agent.name == EpisodeRow.actor))
    .where(EpisodeRow.task == bindparam("task"), _IN_POOL)
    .order_by(EpisodeRow.task_hash)
)
_OF_AGENTS_IN_POOL = (
    select(
        Agent.name,
        EpisodeRow.task_hash,
        EpisodeRow.seed,
        EpisodeRow.id,
        EpisodeRow.num_steps,
        (EpisodeRow.outcome == "time_limit").label("was_cut"),
    )
    .join(EpisodeRow, and_(EpisodeRow.task == Agent.task, EpisodeRow.actor == Agent.name))
    .where(Agent.task == bindparam("task"), _IN_POOL)
)
_EPISODE = _OF_AGENTS_IN_POOL.where(EpisodeRow.id == bindparam("episode_id"))
_POOL = (
    _OF_AGENTS_IN_POOL.where(
        EpisodeRow.task_hash == bindparam("task_hash"), EpisodeRow.seed.in_(bindparam("seeds", expanding=True))
    )
    .where(EpisodeRow.outcome != "interrupted")  # something broke; it says nothing about the agent
    .order_by(EpisodeRow.id)
)
_OPEN_PAIRS = (
    select(Match.left_agent, Match.right_agent, Match.left_episode_id, Match.right_episode_id, Match.purpose)
    .where(Match.task == bindparam("task"), _IS_OPEN)
    .order_by(Match.served_at, Match.id)
)
_SHOWN_TO = select(Match.seed, Match.left_episode_id, Match.right_episode_id).where(
    Match.judge == bindparam("judge"),
    # Not compared as it is: SQLite would take the index on tasks, and read everybody's matches instead of one judge's.
    Match.task.op("||")("") == bindparam("task"),
)
_ANSWERED_ABOUT = (
    select(Answer.left_agent, Answer.right_agent)
    .where(Answer.judge == bindparam("judge"), Answer.purpose == "rating")
    .where(Answer.task.op("||")("") == bindparam("task"))
)
_SHOWN_OF_AGENTS = select(Match.left_episode_id, Match.right_episode_id).where(Match.task == bindparam("task"))
# Two searches of one index each: with OR and GROUP BY this takes SQLite five times as long.
_TIMES_SHOWN = union_all(
    _SHOWN_OF_AGENTS.where(Match.left_agent == bindparam("a"), Match.right_agent == bindparam("b")),
    _SHOWN_OF_AGENTS.where(Match.left_agent == bindparam("b"), Match.right_agent == bindparam("a")),
)
_OPEN_OF_JUDGE = select(Match.id).where(Match.judge == bindparam("judge"), _IS_OPEN).order_by(Match.served_at.desc()).limit(1)
_MATCH = select(*Match.__table__.columns).where(Match.id == bindparam("match_id"))
_HAS_TO_GO_ON_WITH = (
    select(Match.id)
    .where(Match.judge == bindparam("judge"), Match.answered_at.is_(None))
    .where(or_(Match.released_at.is_(None), Match.draft.is_not(None)))
    .limit(1)
)
_DRAFTED_OF_JUDGE = (
    select(Match.id)
    .where(Match.judge == bindparam("judge"), Match.draft.is_not(None), Match.answered_at.is_(None))
    .where(
        Match.released_at.is_not(None), func.coalesce(Match.study, "") == func.coalesce(bindparam("study", type_=String), "")
    )
    .order_by(Match.served_at.desc())
    .limit(1)
)
_TOUCH = (
    update(Match)
    .where(Match.id == bindparam("match_id"), Match.judge == bindparam("of_judge"), _IS_OPEN)
    .where(
        or_(
            Match.judge_kind != "person",
            func.coalesce(Match.study, "") == func.coalesce(bindparam("of_study", type_=String), ""),
        )
    )
    .values(seen_at=bindparam("now"))
)
_TOUCH_WITH_DRAFT = _TOUCH.values(draft=bindparam("new_draft", type_=Match.draft.type))
_RELEASE = (
    update(Match)
    .where(Match.id == bindparam("match_id"))
    .values(
        released_at=func.coalesce(Match.released_at, bindparam("now", type_=Match.released_at.type)),
        seen_at=bindparam("now"),
        draft=null(),
    )
)
_RELEASE_UNSEEN = update(Match).where(_IS_OPEN, Match.seen_at < bindparam("seen_before")).values(released_at=bindparam("now"))
_OTHER = aliased(Match)
_ANSWERED_SINCE = (
    select(_OTHER.id)
    .where(_OTHER.judge == bindparam("of_judge"), _OTHER.id != bindparam("match_id"), _OTHER.answered_at > bindparam("since"))
    .where(
        or_(
            and_(_OTHER.left_episode_id == bindparam("left"), _OTHER.right_episode_id == bindparam("right")),
            and_(_OTHER.left_episode_id == bindparam("right"), _OTHER.right_episode_id == bindparam("left")),
        )
    )
    .limit(1)
)
_ADD_MATCH = insert(Match)
_ADD_ANSWER = insert(Answer).returning(Answer.sequence)
_MARK_ANSWERED = (
    update(Match)
    .where(Match.id == bindparam("match_id"), Match.answered_at.is_(None), ~_ANSWERED_SINCE.exists())
    .values(answered_at=bindparam("now"), draft=null())
)
_NUM_BY_JUDGE = select(func.count()).select_from(Answer).where(Answer.judge == bindparam("judge"))
_NUM_BY_JUDGE_IN_STUDY = _NUM_BY_JUDGE.where(Answer.study.op("||")("") == bindparam("study"))
_PURPOSES = (
    select(Answer.purpose)
    .where(Answer.judge == bindparam("judge"), Answer.study.op("||")("") == bindparam("study"))
    .order_by(Answer.sequence)
)
_BANNED = select(Ban.judge).where(Ban.lifted_at.is_(None))
COUNTS = and_(Answer.purpose == "rating", Answer.judge_kind != "model", Answer.judge.not_in(_BANNED))
"""What ratings are made of: checks, automatic judges and banned judges are left out."""
_LOG = (
    select(
        Answer.sequence,
        Answer.task,
        Answer.left_agent,
        Answer.right_agent,
        Answer.outcome,
        Answer.judge,
        Answer.created_at,
        Answer.study,
    )
    .where(Answer.sequence > bindparam("after"), COUNTS)
    .order_by(Answer.sequence)
)
_LOG_OF_TASK = _LOG.where(Answer.task == bindparam("task"))
_LOG_STATE = select(
    select(func.max(Answer.sequence)).scalar_subquery(),
    select(func.max(Ban.id)).scalar_subquery(),
    select(func.count(Ban.lifted_at)).scalar_subquery(),
)
_STUDY = select(StudyRow.content_hash, StudyRow.closed_at).where(StudyRow.id == bindparam("study"))


class JudgedStudy(NamedTuple):
    """A study's version, and when it was closed."""

    content_hash: str
    closed_at: datetime | None


class PoolEpisode(NamedTuple):
    """An episode that may be shown to judges."""

    agent: str
    task_hash: str
    seed: int
    episode_id: str
    num_steps: int
    was_cut: bool


PoolState = frozenset[tuple[str, int, datetime | None]]
"""Agent, episodes of the task, newest episode."""


class OpenPair(NamedTuple):
    """A match that is before a judge now; the answer to one that `informs` will rate."""

    left: str
    right: str
    episodes: frozenset[str]
    informs: bool


class LoggedAnswer(NamedTuple):
    """One answer of the log, as ratings need it."""

    sequence: int
    task: str
    left: str
    right: str
    outcome: str
    judge: str
    created_at: datetime
    study: str | None = None


LogRevision = tuple[int, int]
"""Changes when answers of before begin or cease to count: whoever carries on from the last answer seen starts over then."""


class LogState(NamedTuple):
    """The last answer there is, whether it counts or not, and the revision of what counts."""

    last_sequence: int
    revision: LogRevision


def lock(session: Session) -> None:
    """Let one transaction at a time serve or answer matches, until this one ends; call it first in the transaction.

    On SQLite `Database.write()` is that lock already. On PostgreSQL it is an advisory lock, held over every connection
    and server process: no two judges can be given one pair, and answers become visible in the order of their `sequence`,
    which readers that carry on from the last sequence rely on.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})


# Studies and the pool


def study(session: Session, study_id: str) -> JudgedStudy | None:
    """What judging knows of a study; None if none of this id was opened here."""
    row = session.connection().execute(_STUDY, {"study": study_id}).first()
    return None if row is None else JudgedStudy(*row)


def study_definition(session: Session, content_hash: str) -> dict[str, Any]:
    """What one version of a study says; it may hold pictures, so ask once."""
    return session.get_one(StudyVersion, content_hash).definition


def studies(session: Session) -> list[str]:
    """Ids of all studies that were opened here."""
    return list(session.scalars(select(StudyRow.id).order_by(StudyRow.id)))


def judged_tasks(session: Session) -> list[str]:
    """Tasks with two or more agents to compare, by id."""
    return list(session.connection().scalars(_JUDGED_TASKS))


def task_definition(session: Session, task_hash: str) -> dict[str, Any] | None:
    """`Task.to_json()` of one version of a task."""
    return session.scalar(select(TaskRow.definition).where(TaskRow.content_hash == task_hash))


def pool_state(session: Session, task: str) -> PoolState:
    """What changes when the pool of a task does: the agents in it, how many episodes there are, and when the last one was
    entered, be it a new one or the video of one that had none."""
    return frozenset((row[0], row[1], row[2]) for row in session.connection().execute(_POOL_STATE, {"task": task}))


def pool_versions(session: Session, task: str) -> list[str]:
    """Content hashes under which agents of the pool were recorded in a task."""
    return list(session.scalars(_POOL_VERSIONS, {"task": task}))


def pool(session: Session, task: str, task_hash: str, seeds: Sequence[int]) -> list[PoolEpisode]:
    """Episodes of agents that may be judged, recorded under one version of a task on the given seeds and not interrupted."""
    rows = session.execute(_POOL, {"task": task, "task_hash": task_hash, "seeds": list(seeds)})
    return [PoolEpisode(*row) for row in rows]


def pool_episode(session: Session, task: str, episode_id: str) -> PoolEpisode | None:
    """One episode of a task by its id, on whichever seed; None if its agent was never let in, or is withdrawn."""
    row = session.connection().execute(_EPISODE, {"task": task, "episode_id": episode_id}).first()
    return None if row is None else PoolEpisode(*row)


# What judges were shown


def open_pairs(session: Session, task: str) -> list[OpenPair]:
    """Open matches of a task, oldest first."""
    rows = session.connection().execute(_OPEN_PAIRS, {"task": task})
    return [
        OpenPair(left, right, frozenset((left_id, right_id)), purpose == "rating")
        for left, right, left_id, right_id, purpose in rows
    ]


def is_pair_open(session: Session, match: Match) -> bool:
    """Whether the two episodes of this match are before any judge now."""
    left, right = match.left_episode_id, match.right_episode_id
    same = or_(
        and_(Match.left_episode_id == left, Match.right_episode_id == right),
        and_(Match.left_episode_id == right, Match.right_episode_id == left),
    )
    return session.scalar(select(Match.id).where(_IS_OPEN, same).limit(1)) is not None


def pairs_shown_to(session: Session, judge: str, task: str) -> list[tuple[int, frozenset[str]]]:
    """Seed and the two episodes of every match this judge was ever served in a task."""
    rows = session.connection().execute(_SHOWN_TO, {"judge": judge, "task": task})
    return [(seed, frozenset((left, right))) for seed, left, right in rows]


def times_answered_about(session: Session, judge: str, task: str) -> Counter[frozenset[str]]:
    """How often this judge has answered about each two agents of a task, checks left out."""
    rows = session.connection().execute(_ANSWERED_ABOUT, {"judge": judge, "task": task})
    return Counter(frozenset((left, right)) for left, right in rows)


def times_shown(session: Session, task: str, a: str, b: str) -> Counter[frozenset[str]]:
    """How often each pair of episodes of two agents was served to anyone."""
    rows = session.connection().execute(_TIMES_SHOWN, {"task": task, "a": a, "b": b})
    return Counter(frozenset((left, right)) for left, right in rows)


def first_task_of(session: Session, judge: str, study: str) -> str | None:
    """The task of the first match this judge was served in a study."""
    query = select(Match.task).where(Match.judge == judge, Match.study == study).order_by(Match.served_at, Match.id)
    return session.scalar(query.limit(1))


def purposes_answered(session: Session, judge: str, study: str) -> list[str]:
    """Purpose of every answer this judge gave in a study, in order."""
    return list(session.connection().scalars(_PURPOSES, {"judge": judge, "study": study}))


def last_match_of(session: Session, judge: str, study: str) -> Match | None:
    """The match this judge was served last in a study."""
    query = select(Match).where(Match.judge == judge, Match.study == study)
    return session.scalar(query.order_by(Match.served_at.desc(), Match.id).limit(1))


def matches_to_repeat(session: Session, judge: str, study: str) -> list[tuple[Match, str]]:
    """Rating matches this judge answered in a study and has not answered again, oldest first, each with the outcome given."""
    again = aliased(Match)
    query = (
        select(Match, Answer.outcome)
        .join(Answer, Answer.match_id == Match.id)
        .where(Match.judge == judge, Match.study == study, Match.purpose == "rating")
        .where(
            ~select(again.id).where(again.repeat_of == Match.id, again.judge == judge, again.answered_at.is_not(None)).exists()
        )
        .order_by(Answer.sequence)
    )
    return [(match, outcome) for match, outcome in session.execute(query)]


# Matches


def match_by_id(session: Session, match_id: str) -> Match | None:
    """One match, to be changed."""
    return session.get(Match, match_id)


def match_to_read(session: Session, match_id: str) -> Match | None:
    """One match as it is now; changes to what is returned go nowhere."""
    row = session.connection().execute(_MATCH, {"match_id": match_id}).first()
    return None if row is None else Match(**row._mapping)


def add_match(session: Session, match: Match) -> None:
    """Open a match. The transaction must hold `lock`."""
    values = {column.key: getattr(match, column.key) for column in inspect(Match).column_attrs}
    # What is not there is left out: a JSON column given None would hold JSON's null, which is something.
    values = {name: value for name, value in values.items() if value is not None}
    session.connection().execute(_ADD_MATCH, values)


def open_match_of(session: Session, judge: str) -> Match | None:
    """The match this judge has before them."""
    return _match(session, session.connection().scalar(_OPEN_OF_JUDGE, {"judge": judge}))


def has_match_to_go_on_with(session: Session, judge: str) -> bool:
    """Whether this judge has a match before them, or wrote something for one that was released."""
    return session.connection().scalar(_HAS_TO_GO_ON_WITH, {"judge": judge}) is not None


def drafted_match_of(session: Session, judge: str, study: str | None) -> Match | None:
    """The released match of a study this judge last wrote something for."""
    return _match(session, session.connection().scalar(_DRAFTED_OF_JUDGE, {"judge": judge, "study": study}))


def _match(session: Session, match_id: str | None) -> Match | None:
    return None if match_id is None else session.get(Match, match_id)


def touch(
    session: Session, match_id: str, judge: str, study: str | None, now: datetime, draft: dict[str, Any] | None = None
) -> bool:
    """Note a sign of life of an open match, and what was filled in so far if anything is given; False if there is no such
    open match of this judge, a person's being one of the study they work in."""
    values: dict[str, Any] = {"match_id": match_id, "of_judge": judge, "of_study": study, "now": now}
    if draft is None:
        return _rowcount(session, _TOUCH, values) == 1
    return _rowcount(session, _TOUCH_WITH_DRAFT, values | {"new_draft": draft}) == 1


def release(session: Session, match: Match, now: datetime) -> None:
    """Give back a match that is not answered, see `was_given_back`. Its draft goes, or it would be served again for what was
    written."""
    _rowcount(session, _RELEASE, {"match_id": match.id, "now": now})


def was_given_back(match: Match) -> bool:
    """Whether its judge gave this match back, which is a sign of life; one released by silence had its last one before."""
    return match.released_at is not None and match.seen_at >= match.released_at


def release_unseen(session: Session, *, seen_before: datetime, now: datetime) -> int:
    """Release every open match without a sign of life since `seen_before`; returns how many."""
    return _rowcount(session, _RELEASE_UNSEEN, {"seen_before": seen_before, "now": now})


def has_answered_since(session: Session, match: Match) -> bool:
    """Whether the judge of this match answered another one about the same two episodes after this one was served."""
    return session.connection().scalar(_ANSWERED_SINCE, _about(match)) is not None


def _about(match: Match) -> dict[str, Any]:
    """What `_ANSWERED_SINCE` asks for."""
    return {
        "of_judge": match.judge,
        "match_id": match.id,
        "since": match.served_at,
        "left": match.left_episode_id,
        "right": match.right_episode_id,
    }


# The log


def append_answer(session: Session, match: Match, **fields: Any) -> int | None:
    """Add the answer to a match to the log; returns its sequence number. The transaction must hold `lock`.

    None, and nothing is added, if the match has its answer by now, or its judge has answered about the same two episodes since
    it was served (`has_answered_since`).

    Args:
        match: The match.
        fields: The other columns of `Answer`; what the match knows is taken from it.
    """
    if _rowcount(session, _MARK_ANSWERED, _about(match) | {"now": fields["created_at"]}) == 0:
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
    return session.connection().scalar(_ADD_ANSWER, values | fields)


def log_state(session: Session) -> LogState:
    """Where the log ends, and the revision of what counts in it."""
    last_sequence, last_ban, num_lifted = session.connection().execute(_LOG_STATE).one()
    return LogState(last_sequence or 0, (last_ban or 0, num_lifted))


def log_revision(session: Session) -> LogRevision:
    """What changes when answers of before begin or cease to count (a ban, or its end), in whichever process."""
    return log_state(session).revision


def answers(session: Session, task: str | None = None, *, after: int = 0) -> Iterator[LoggedAnswer]:
    """The answers that count, in order, in one task or all, from the answer behind sequence number `after` on.

    Every rating is computed from what this yields and from nothing else, so whatever is left out here has never been: answers
    to checks, of automatic judges, and of banned judges. `log_revision` tells when that changes for answers of before.
    """
    statement, values = (_LOG, {"after": after}) if task is None else (_LOG_OF_TASK, {"after": after, "task": task})
    for row in session.connection().execute(statement, values, execution_options={"yield_per": _ANSWERS_PER_FETCH}):
        yield LoggedAnswer(*row)


def answers_where_one_side_leads(session: Session, statistic: str, task: str | None = None) -> tuple[int, int]:
    """Of the answers that count and name a side, about two episodes with unequal values of a statistic, in one task or all.

    Returns:
        How many there are, and how many of them name the side with the larger value.
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
    counts = session.execute(query if task is None else query.where(Answer.task == task)).all()
    agreed = sum(count for outcome, is_left, count in counts if (outcome == "left") == bool(is_left))
    return sum(count for *_, count in counts), agreed


def answers_for_review(session: Session, study: str | None = None) -> Iterator[Any]:
    """Of every answer, in one study or all, what tells how carefully it was given: tuples of judge, their kind, study, purpose,
    outcome, the outcome a check expects, and the time from serving to answering in seconds."""
    query = select(
        Answer.judge, Answer.judge_kind, Answer.study, Answer.purpose, Answer.outcome, Match.expected, Answer.duration_s
    ).join(Match, Match.id == Answer.match_id)
    if study is not None:
        query = query.where(Answer.study == study)
    yield from session.execute(query.order_by(Answer.sequence), execution_options={"yield_per": _ANSWERS_PER_FETCH})


def num_answers_by(session: Session, judge: str, study: str | None = None) -> int:
    """How many answers a judge has given, checks included, in one study or at all."""
    if study is None:
        return session.connection().scalar(_NUM_BY_JUDGE, {"judge": judge}) or 0
    return session.connection().scalar(_NUM_BY_JUDGE_IN_STUDY, {"judge": judge, "study": study}) or 0


def num_answers(session: Session, task: str | None = None) -> int:
    """How many answers the log holds, of one task or of all."""
    query = select(func.count()).select_from(Answer)
    return session.scalar(query if task is None else query.where(Answer.task == task)) or 0


def _rowcount(session: Session, statement: Any, values: dict[str, Any]) -> int:
    """Rows a change touched; objects the session already holds are not told of it."""
    return session.connection().execute(statement, values).rowcount

"""What judging asks of the database: agents in the pool, open matches, and the append-only log of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import and_, func, or_, select, text, update
from sqlalchemy.orm import Session

from interplay.store.models import Agent, Answer, EpisodeRow, Match, TaskRow

_LOCK_KEY = 0x696E746572706C79
"""Key of PostgreSQL's advisory lock: the letters `interply`."""
_ANSWERS_PER_FETCH = 5000

_IS_OPEN = and_(Match.answered_at.is_(None), Match.released_at.is_(None))


class PoolEpisode(NamedTuple):
    """An episode that may be shown to judges."""

    agent: str
    task_hash: str
    seed: int
    episode_id: str


class LoggedAnswer(NamedTuple):
    """One answer of the log, as ratings need it."""

    sequence: int
    task: str
    left: str
    right: str
    outcome: str
    judge: str
    created_at: datetime


def lock(session: Session) -> None:
    """Let one transaction at a time serve or answer matches, until this one ends; call it first in the transaction.

    On SQLite `Database.write()` is that lock already. On PostgreSQL it is an advisory lock, held over every connection
    and server process: no two judges can be given one pair, and answers become visible in the order of their `sequence`,
    which readers that carry on from the last sequence rely on.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})


# Agents


def admit(session: Session, *, name: str, task: str, kind: str, now: datetime) -> Agent:
    """Let an agent be judged in one task; one that was withdrawn comes back with its history.

    Args:
        name: The agent's name, which its episodes carry as `actor`.
        task: Task id.
        kind: `agent`, `human` or `model`, or any finer word for what it is (such as `scripted` or `bc`).
        now: UTC.
    """
    lock(session)  # or two admissions of one new agent at once would meet in the unique constraint
    agent = session.scalar(select(Agent).where(Agent.name == name, Agent.task == task))
    if agent is None:
        agent = Agent(name=name, task=task, kind=kind, created_at=now)
        session.add(agent)
    agent.kind, agent.withdrawn_at = kind, None
    session.flush()
    return agent


def withdraw(session: Session, *, name: str, now: datetime, task: str | None = None) -> int:
    """Take an agent out of matchmaking, in one task or all; its answers stay. Returns in how many tasks it was in."""
    query = update(Agent).where(Agent.name == name, Agent.withdrawn_at.is_(None)).values(withdrawn_at=now)
    return _rowcount(session, query if task is None else query.where(Agent.task == task))


def agents(session: Session, task: str | None = None) -> Sequence[Agent]:
    """Every agent that was ever admitted, in one task or all, by name."""
    query = select(Agent).order_by(Agent.name, Agent.task)
    return session.scalars(query if task is None else query.where(Agent.task == task)).all()


def judged_tasks(session: Session) -> list[str]:
    """Tasks with two or more agents to compare, by id."""
    query = select(Agent.task).where(Agent.withdrawn_at.is_(None)).group_by(Agent.task).having(func.count() > 1)
    return list(session.scalars(query.order_by(Agent.task)))


def task_definition(session: Session, task_hash: str) -> dict[str, Any] | None:
    """`Task.to_json()` of one version of a task."""
    return session.scalar(select(TaskRow.definition).where(TaskRow.content_hash == task_hash))


# The pool


def pool_versions(session: Session, task: str) -> list[str]:
    """Content hashes under which agents of the pool were recorded in a task."""
    query = select(EpisodeRow.task_hash).distinct().where(EpisodeRow.task == task)
    query = query.join(Agent, and_(Agent.task == EpisodeRow.task, Agent.name == EpisodeRow.actor))
    return list(session.scalars(query.where(Agent.withdrawn_at.is_(None)).order_by(EpisodeRow.task_hash)))


def pool(session: Session, task: str, task_hash: str, seeds: Sequence[int]) -> list[PoolEpisode]:
    """Episodes of agents that may be judged, recorded under one version of a task on the given seeds."""
    query = (
        select(Agent.name, EpisodeRow.task_hash, EpisodeRow.seed, EpisodeRow.id)
        .join(EpisodeRow, and_(EpisodeRow.task == Agent.task, EpisodeRow.actor == Agent.name))
        .where(Agent.task == task, Agent.withdrawn_at.is_(None))
        .where(EpisodeRow.task_hash == task_hash, EpisodeRow.seed.in_(seeds))
        .order_by(EpisodeRow.id)
    )
    return [PoolEpisode(*row) for row in session.execute(query)]


def open_pairs(session: Session, task: str) -> list[tuple[str, str, frozenset[str]]]:
    """Open matches of a task, oldest first: left agent, right agent, their two episodes."""
    columns = select(Match.left_agent, Match.right_agent, Match.left_episode_id, Match.right_episode_id)
    rows = session.execute(columns.where(Match.task == task, _IS_OPEN).order_by(Match.served_at, Match.id))
    return [(left, right, frozenset((left_id, right_id))) for left, right, left_id, right_id in rows]


def is_pair_open(session: Session, match: Match) -> bool:
    """Whether the two episodes of this match are before any judge now."""
    return session.scalar(select(Match.id).where(_IS_OPEN, _same_episodes(match)).limit(1)) is not None


def pairs_shown_to(session: Session, judge: str, task: str) -> list[tuple[int, frozenset[str]]]:
    """Seed and the two episodes of every match this judge was ever served in a task."""
    rows = session.execute(
        select(Match.seed, Match.left_episode_id, Match.right_episode_id).where(Match.judge == judge, Match.task == task)
    )
    return [(seed, frozenset(pair)) for seed, *pair in rows]


def times_shown(session: Session, task: str, a: str, b: str) -> Counter[frozenset[str]]:
    """How often each pair of episodes of two agents was served to anyone."""
    both = or_(and_(Match.left_agent == a, Match.right_agent == b), and_(Match.left_agent == b, Match.right_agent == a))
    rows = session.execute(
        select(Match.left_episode_id, Match.right_episode_id, func.count())
        .where(Match.task == task, both)
        .group_by(Match.left_episode_id, Match.right_episode_id)
    )
    counts: Counter[frozenset[str]] = Counter()
    for left, right, count in rows:
        counts[frozenset((left, right))] += count
    return counts


# Matches


def match_by_id(session: Session, match_id: str) -> Match | None:
    """One match."""
    return session.get(Match, match_id)


def open_match_of(session: Session, judge: str) -> Match | None:
    """The match this judge has before them."""
    return session.scalar(select(Match).where(Match.judge == judge, _IS_OPEN).order_by(Match.served_at.desc()).limit(1))


def touch(session: Session, match_id: str, judge: str, now: datetime) -> bool:
    """Note a sign of life of an open match; False if there is no such open match of this judge."""
    return (
        _rowcount(session, update(Match).where(Match.id == match_id, Match.judge == judge, _IS_OPEN).values(seen_at=now)) == 1
    )


def release_unseen(session: Session, *, seen_before: datetime, now: datetime) -> int:
    """Release every open match without a sign of life since `seen_before`; returns how many."""
    return _rowcount(session, update(Match).where(_IS_OPEN, Match.seen_at < seen_before).values(released_at=now))


def has_answered_since(session: Session, match: Match) -> bool:
    """Whether the judge of this match answered about the same two episodes in a match served later."""
    query = select(Match.id).where(
        Match.judge == match.judge,
        Match.answered_at.is_not(None),
        Match.served_at >= match.served_at,
        Match.id != match.id,
        _same_episodes(match),
    )
    return session.scalar(query.limit(1)) is not None


def _same_episodes(match: Match):
    left, right = match.left_episode_id, match.right_episode_id
    return or_(
        and_(Match.left_episode_id == left, Match.right_episode_id == right),
        and_(Match.left_episode_id == right, Match.right_episode_id == left),
    )


# The log


def append_answer(session: Session, answer: Answer) -> int:
    """Add an answer to the log; returns its sequence number. The transaction must hold `lock`."""
    session.add(answer)
    session.flush()
    return answer.sequence


def answers(session: Session, task: str | None = None, *, after: int = 0) -> Iterator[LoggedAnswer]:
    """The log in order, in one task or all, from the answer behind sequence number `after` on.

    Every rating is computed from what this yields and from nothing else, so whatever is left out here has never been.
    """
    columns = select(
        Answer.sequence, Answer.task, Answer.left_agent, Answer.right_agent, Answer.outcome, Answer.judge, Answer.created_at
    )
    query = columns.where(Answer.sequence > after).order_by(Answer.sequence)
    if task is not None:
        query = query.where(Answer.task == task)
    for row in session.execute(query, execution_options={"yield_per": _ANSWERS_PER_FETCH}):
        yield LoggedAnswer(*row)


def num_answers(session: Session, *, task: str | None = None, judge: str | None = None) -> int:
    """How many answers the log holds, of one task or judge or of all."""
    query = select(func.count()).select_from(Answer)
    if task is not None:
        query = query.where(Answer.task == task)
    if judge is not None:
        query = query.where(Answer.judge == judge)
    return session.scalar(query) or 0


def _rowcount(session: Session, statement: Any) -> int:
    """Rows a change touched."""
    return session.execute(statement, execution_options={"synchronize_session": False}).rowcount  # type: ignore[attr-defined]

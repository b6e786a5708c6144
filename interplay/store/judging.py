"""What judging asks of the database: agents in the pool, open matches, and the append-only log of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, func, insert, or_, select, text, update
from sqlalchemy.orm import Session, aliased

from interplay.store.models import Agent, Answer, EpisodeRow, EpisodeStatistic, Match, TaskRow

_LOCK_KEY = 0x696E746572706C79
"""Key of PostgreSQL's advisory lock: the letters `interply`."""
_ANSWERS_PER_FETCH = 5000

_IS_OPEN = and_(Match.answered_at.is_(None), Match.released_at.is_(None))

# Statements of every serve and every answer are built once, here: building one takes longer than running it.

_JUDGED_TASKS = (
    select(Agent.task).where(Agent.withdrawn_at.is_(None)).group_by(Agent.task).having(func.count() > 1).order_by(Agent.task)
)
_POOL_VERSIONS = (
    select(EpisodeRow.task_hash)
    .distinct()
    .join(Agent, and_(Agent.task == EpisodeRow.task, Agent.name == EpisodeRow.actor))
    .where(EpisodeRow.task == bindparam("task"), Agent.withdrawn_at.is_(None))
    .order_by(EpisodeRow.task_hash)
)
_POOL = (
    select(
        Agent.name,
        EpisodeRow.task_hash,
        EpisodeRow.seed,
        EpisodeRow.id,
        EpisodeRow.num_steps,
        (EpisodeRow.outcome == "time_limit").label("was_cut"),
    )
    .join(EpisodeRow, and_(EpisodeRow.task == Agent.task, EpisodeRow.actor == Agent.name))
    .where(Agent.task == bindparam("task"), Agent.withdrawn_at.is_(None))
    .where(EpisodeRow.task_hash == bindparam("task_hash"), EpisodeRow.seed.in_(bindparam("seeds", expanding=True)))
    .where(EpisodeRow.outcome != "interrupted")  # something broke; it says nothing about the agent
    .order_by(EpisodeRow.id)
)
_OPEN_PAIRS = (
    select(Match.left_agent, Match.right_agent, Match.left_episode_id, Match.right_episode_id)
    .where(Match.task == bindparam("task"), _IS_OPEN)
    .order_by(Match.served_at, Match.id)
)
_SHOWN_TO = select(Match.seed, Match.left_episode_id, Match.right_episode_id).where(
    Match.judge == bindparam("judge"), Match.task == bindparam("task")
)
_TIMES_SHOWN = (
    select(Match.left_episode_id, Match.right_episode_id, func.count())
    .where(
        Match.task == bindparam("task"),
        or_(
            and_(Match.left_agent == bindparam("a"), Match.right_agent == bindparam("b")),
            and_(Match.left_agent == bindparam("b"), Match.right_agent == bindparam("a")),
        ),
    )
    .group_by(Match.left_episode_id, Match.right_episode_id)
)
_OPEN_OF_JUDGE = select(Match).where(Match.judge == bindparam("judge"), _IS_OPEN).order_by(Match.served_at.desc()).limit(1)
_TOUCH = (
    update(Match)
    .where(Match.id == bindparam("match_id"), Match.judge == bindparam("of_judge"), _IS_OPEN)
    .values(seen_at=bindparam("now"))
)
_RELEASE_UNSEEN = update(Match).where(_IS_OPEN, Match.seen_at < bindparam("seen_before")).values(released_at=bindparam("now"))
_MARK_ANSWERED = update(Match).where(Match.id == bindparam("match_id")).values(answered_at=bindparam("now"))
_NUM_BY_JUDGE = select(func.count()).select_from(Answer).where(Answer.judge == bindparam("judge"))
_LOG = (
    select(Answer.sequence, Answer.task, Answer.left_agent, Answer.right_agent, Answer.outcome, Answer.judge, Answer.created_at)
    .where(Answer.sequence > bindparam("after"))
    .order_by(Answer.sequence)
)
_LOG_OF_TASK = _LOG.where(Answer.task == bindparam("task"))


class PoolEpisode(NamedTuple):
    """An episode that may be shown to judges."""

    agent: str
    task_hash: str
    seed: int
    episode_id: str
    num_steps: int
    was_cut: bool


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
    agent.kind, agent.withdrawn_at, agent.declined_at = kind, None, None
    agent.approved_at = agent.approved_at or now
    session.flush()
    return agent


def withdraw(session: Session, *, name: str, now: datetime, task: str | None = None) -> int:
    """Take an agent out of matchmaking, in one task or all; its answers stay. Returns out of how many tasks it went."""
    query = update(Agent).where(Agent.name == name, Agent.withdrawn_at.is_(None)).values(withdrawn_at=now)
    return _rowcount(session, query if task is None else query.where(Agent.task == task))


def agents(session: Session, task: str | None = None) -> Sequence[Agent]:
    """Every agent that was ever admitted, in one task or all, by name."""
    query = select(Agent).order_by(Agent.name, Agent.task)
    return session.scalars(query if task is None else query.where(Agent.task == task)).all()


def judged_tasks(session: Session) -> list[str]:
    """Tasks with two or more agents to compare, by id."""
    return list(session.scalars(_JUDGED_TASKS))


def task_definition(session: Session, task_hash: str) -> dict[str, Any] | None:
    """`Task.to_json()` of one version of a task."""
    return session.scalar(select(TaskRow.definition).where(TaskRow.content_hash == task_hash))


# The pool


def pool_versions(session: Session, task: str) -> list[str]:
    """Content hashes under which agents of the pool were recorded in a task."""
    return list(session.scalars(_POOL_VERSIONS, {"task": task}))


def pool(session: Session, task: str, task_hash: str, seeds: Sequence[int]) -> list[PoolEpisode]:
    """Episodes of agents that may be judged, recorded under one version of a task on the given seeds and not interrupted."""
    rows = session.execute(_POOL, {"task": task, "task_hash": task_hash, "seeds": list(seeds)})
    return [PoolEpisode(*row) for row in rows]


def open_pairs(session: Session, task: str) -> list[tuple[str, str, frozenset[str]]]:
    """Open matches of a task, oldest first: left agent, right agent, their two episodes."""
    rows = session.execute(_OPEN_PAIRS, {"task": task})
    return [(left, right, frozenset((left_id, right_id))) for left, right, left_id, right_id in rows]


def is_pair_open(session: Session, match: Match) -> bool:
    """Whether the two episodes of this match are before any judge now."""
    return session.scalar(select(Match.id).where(_IS_OPEN, _same_episodes(match)).limit(1)) is not None


def pairs_shown_to(session: Session, judge: str, task: str) -> list[tuple[int, frozenset[str]]]:
    """Seed and the two episodes of every match this judge was ever served in a task."""
    return [(seed, frozenset(pair)) for seed, *pair in session.execute(_SHOWN_TO, {"judge": judge, "task": task})]


def times_shown(session: Session, task: str, a: str, b: str) -> Counter[frozenset[str]]:
    """How often each pair of episodes of two agents was served to anyone."""
    counts: Counter[frozenset[str]] = Counter()
    for left, right, count in session.execute(_TIMES_SHOWN, {"task": task, "a": a, "b": b}):
        counts[frozenset((left, right))] += count
    return counts


# Matches


def match_by_id(session: Session, match_id: str) -> Match | None:
    """One match."""
    return session.get(Match, match_id)


def add_match(session: Session, match: Match) -> None:
    """Open a match. The transaction must hold `lock`."""
    session.add(match)
    session.flush()


def open_match_of(session: Session, judge: str) -> Match | None:
    """The match this judge has before them."""
    return session.scalar(_OPEN_OF_JUDGE, {"judge": judge})


def touch(session: Session, match_id: str, judge: str, now: datetime) -> bool:
    """Note a sign of life of an open match; False if there is no such open match of this judge."""
    return _rowcount(session, _TOUCH, {"match_id": match_id, "of_judge": judge, "now": now}) == 1


def release_unseen(session: Session, *, seen_before: datetime, now: datetime) -> int:
    """Release every open match without a sign of life since `seen_before`; returns how many."""
    return _rowcount(session, _RELEASE_UNSEEN, {"seen_before": seen_before, "now": now})


def has_answered_since(session: Session, match: Match) -> bool:
    """Whether the judge of this match answered another one about the same two episodes after this one was served."""
    query = select(Match.id).where(
        Match.judge == match.judge,
        Match.answered_at > match.served_at,
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


def append_answer(session: Session, match: Match, **fields: Any) -> int:
    """Add the answer to a match to the log; returns its sequence number. The transaction must hold `lock`.

    Args:
        match: The match, not answered yet.
        fields: The other columns of `Answer`; what the match knows is taken from it.
    """
    values = {
        "match_id": match.id,
        "task": match.task,
        "seed": match.seed,
        "left_agent": match.left_agent,
        "right_agent": match.right_agent,
        "judge": match.judge,
    }
    sequence = session.scalar(insert(Answer).returning(Answer.sequence), values | fields)
    _rowcount(session, _MARK_ANSWERED, {"match_id": match.id, "now": fields["created_at"]})
    assert sequence is not None  # RETURNING gives one row or raises
    return sequence


def answers(session: Session, task: str | None = None, *, after: int = 0) -> Iterator[LoggedAnswer]:
    """The log in order, in one task or all, from the answer behind sequence number `after` on.

    Every rating is computed from what this yields and from nothing else, so whatever is left out here has never been.
    """
    statement, values = (_LOG, {"after": after}) if task is None else (_LOG_OF_TASK, {"after": after, "task": task})
    for row in session.execute(statement, values, execution_options={"yield_per": _ANSWERS_PER_FETCH}):
        yield LoggedAnswer(*row)


def answers_where_one_side_leads(session: Session, statistic: str, task: str | None = None) -> tuple[int, int]:
    """Of the answers that name a side, about two episodes with unequal values of a statistic, in one task or all.

    Returns:
        How many there are, and how many of them name the side with the larger value.
    """
    left, right = aliased(EpisodeStatistic), aliased(EpisodeStatistic)
    query = (
        select(Answer.outcome, left.number > right.number, func.count())
        .join(Match, Match.id == Answer.match_id)
        .join(left, and_(left.episode_id == Match.left_episode_id, left.name == statistic))
        .join(right, and_(right.episode_id == Match.right_episode_id, right.name == statistic))
        .where(left.number != right.number, Answer.outcome.in_(("left", "right")))
        .group_by(Answer.outcome, left.number > right.number)
    )
    counts = session.execute(query if task is None else query.where(Answer.task == task)).all()
    agreed = sum(count for outcome, is_left, count in counts if (outcome == "left") == bool(is_left))
    return sum(count for *_, count in counts), agreed


def num_answers_by(session: Session, judge: str) -> int:
    """How many answers a judge has given."""
    return session.scalar(_NUM_BY_JUDGE, {"judge": judge}) or 0


def num_answers(session: Session, task: str | None = None) -> int:
    """How many answers the log holds, of one task or of all."""
    query = select(func.count()).select_from(Answer)
    return session.scalar(query if task is None else query.where(Answer.task == task)) or 0


def _rowcount(session: Session, statement: Any, values: dict[str, Any] | None = None) -> int:
    """Rows a change touched; objects the session already holds are not told of it."""
    result = session.execute(statement, values, execution_options={"synchronize_session": False})
    return result.rowcount  # type: ignore[attr-defined]

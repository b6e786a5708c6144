"""Agents that may be judged: proposed, approved or declined, withdrawn and back; a row is one agent in one task."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Update, func, select, update
from sqlalchemy.orm import Session

from interplay.store.judging import lock
from interplay.store.models import Agent, EpisodeRow

AgentState = Literal["approved", "waiting", "declined", "withdrawn"]


def state(agent: Agent) -> AgentState:
    """Where an agent stands in one task; only `approved` ones are shown to judges."""
    if agent.withdrawn_at is not None:
        return "withdrawn"
    if agent.approved_at is not None:
        return "approved"
    return "waiting" if agent.declined_at is None else "declined"


def admit(session: Session, *, name: str, task: str, kind: str, now: datetime, description: str = "") -> Agent:
    """Let an agent be judged in one task at once; one that was withdrawn comes back with its history.

    Args:
        name: The agent's name, which its episodes carry as `actor`.
        task: Task id.
        kind: `agent`, `human` or `model`, or any finer word for what it is (such as `scripted` or `bc`).
        now: UTC.
        description: Kept as it was where empty.
    """
    lock(session)  # or two admissions of one new agent at once would meet in the unique constraint
    agent = _one(session, name, task) or _new(session, name, task, kind, now)
    agent.kind, agent.withdrawn_at, agent.declined_at = kind, None, None
    agent.approved_at = agent.approved_at or now
    agent.description = description or agent.description
    session.flush()
    return agent


def propose(
    session: Session, *, name: str, task: str, kind: str, description: str, proposed_by: str | None, now: datetime
) -> Agent:
    """Enter an agent that waits for a moderator; one that is there already keeps its state and takes the new description.

    Args:
        proposed_by: Name of the API token; None for the operator. An agent that is there already stays with whoever brought it.
    """
    lock(session)
    agent = _one(session, name, task) or _new(session, name, task, kind, now, proposed_by)
    agent.kind, agent.description = kind, description
    session.flush()
    return agent


def is_name_taken(session: Session, name: str) -> bool:
    """Whether an agent or an episode carries this name, whatever its capitals.

    Episodes count, because whoever claims the name of their player would bring them before judges.
    """
    for column in (Agent.name, EpisodeRow.actor):
        if session.scalar(select(column).where(func.lower(column) == name.lower()).limit(1)) is not None:
            return True
    return False


def num_waiting(session: Session, proposed_by: str) -> int:
    """How many agents of a token wait for a moderator."""
    waiting = (Agent.approved_at.is_(None), Agent.declined_at.is_(None), Agent.withdrawn_at.is_(None))
    return session.scalar(select(func.count(Agent.name.distinct())).where(Agent.proposed_by == proposed_by, *waiting)) or 0


def approve(session: Session, *, name: str, now: datetime, task: str | None = None) -> int:
    """Let an agent that waits or was declined into matchmaking, in one task or all; returns in how many."""
    waiting = update(Agent).where(Agent.name == name, Agent.approved_at.is_(None), Agent.withdrawn_at.is_(None))
    return _change(session, waiting, task, approved_at=now, declined_at=None, declined_because="")


def decline(session: Session, *, name: str, reason: str, now: datetime, task: str | None = None) -> int:
    """Refuse an agent that waits, in one task or all; returns in how many. What it brought is kept."""
    waiting = update(Agent).where(Agent.name == name, Agent.approved_at.is_(None), Agent.declined_at.is_(None))
    return _change(session, waiting, task, declined_at=now, declined_because=reason)


def withdraw(session: Session, *, name: str, now: datetime, task: str | None = None) -> int:
    """Take an agent out of matchmaking, in one task or all; its answers stay. Returns out of how many tasks it went."""
    shown = update(Agent).where(Agent.name == name, Agent.withdrawn_at.is_(None))
    return _change(session, shown, task, withdrawn_at=now)


def restore(session: Session, *, name: str, task: str | None = None) -> int:
    """Undo a withdrawal, in one task or all: the agent is what it was before. Returns in how many tasks it is back."""
    withdrawn = update(Agent).where(Agent.name == name, Agent.withdrawn_at.is_not(None))
    return _change(session, withdrawn, task, withdrawn_at=None)


def agents(session: Session, task: str | None = None, *, name: str | None = None) -> Sequence[Agent]:
    """Every agent that was ever admitted or proposed, in one task or all, by name."""
    query = select(Agent).order_by(Agent.name, Agent.task)
    if name is not None:
        query = query.where(Agent.name == name)
    return session.scalars(query if task is None else query.where(Agent.task == task)).all()


def episodes_of(session: Session, name: str, task: str) -> Sequence[EpisodeRow]:
    """What an agent brought in one task, by seed, statistics not loaded; without what a fault cut short."""
    query = select(EpisodeRow).where(EpisodeRow.actor == name, EpisodeRow.task == task, EpisodeRow.outcome != "interrupted")
    return session.scalars(query.order_by(EpisodeRow.seed, EpisodeRow.created_at, EpisodeRow.id)).all()


def _one(session: Session, name: str, task: str) -> Agent | None:
    return session.scalar(select(Agent).where(Agent.name == name, Agent.task == task))


def _new(session: Session, name: str, task: str, kind: str, now: datetime, proposed_by: str | None = None) -> Agent:
    """An agent in one more task; it belongs to whoever brought it first."""
    first = session.scalar(select(Agent).where(Agent.name == name).order_by(Agent.id).limit(1))
    owner = proposed_by if first is None else first.proposed_by
    agent = Agent(name=name, task=task, kind=kind, created_at=now, proposed_by=owner)
    session.add(agent)
    return agent


def _change(session: Session, statement: Update, task: str | None, **values: Any) -> int:
    """Rows changed; objects the session already holds are not told of it."""
    statement = statement if task is None else statement.where(Agent.task == task)
    result = session.execute(statement.values(**values), execution_options={"synchronize_session": False})
    return result.rowcount  # type: ignore[attr-defined]

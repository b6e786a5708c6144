"""Invented episodes and answers for tests and benchmarks, with the columns of the real tables.

Each function returns the columns of one row, for `EpisodeRow(**values)` or for `insert(EpisodeRow)` of many rows. A caller
names only the columns that matter.

>>> from interplay.tasks import find
>>> left, right = (episode_values(find("atari/qbert"), actor, 9001) for actor in ("ada", "bob"))
>>> match = match_values(left, right, "eve")
>>> (left["id"], match["right_agent"], answer_values(match, "draw")["outcome"])
('qbert-ada-9001', 'bob', 'draw')
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from interplay.store import Answer, EpisodeRow, Match, TaskRow

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from interplay.tasks import Task

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
"""The time of every event for which no other time is given."""
Values = dict[str, Any]
"""Column -> value."""


def add_task(session: Session, task: Task) -> None:
    if session.get(TaskRow, task.content_hash) is None:
        session.add(TaskRow(content_hash=task.content_hash, task=task.id, definition=task.to_json(), created_at=START))


def episode_values(task: Task, actor: str, seed: int, **changes: Any) -> Values:
    """Columns of an `EpisodeRow`: an agent played to the end. The default `id` joins task name, actor and seed."""
    name = changes.get("id", f"{task.name}-{actor}-{seed}")
    return {
        "id": name,
        "task": task.id,
        "task_hash": task.content_hash,
        "env": task.env.id,
        "seed": seed,
        "actor": actor,
        "actor_kind": "agent",
        "num_steps": 100,
        "duration_s": 5.0,
        "total_reward": 0.0,
        "terminated": True,
        "truncated": False,
        "outcome": "terminated",
        "frames": "indexed",
        "created_at": START,
        "path": f"episodes/{name}.parquet",
        "size_bytes": 1,
        "sha256": "0" * 64,
    } | changes


def match_values(left: Mapping[str, Any], right: Mapping[str, Any], judge: str, **changes: Any) -> Values:
    """Columns of an answered `Match` of two episodes, given by their columns.
    The default `id` joins the episodes and the judge."""
    return {
        "id": f"{left['id']}-{right['id']}-{judge}",
        "task": left["task"],
        "task_hash": left["task_hash"],
        "seed": left["seed"],
        "left_episode_id": left["id"],
        "right_episode_id": right["id"],
        "left_agent": left["actor"],
        "right_agent": right["actor"],
        "judge": judge,
        "served_at": START,
        "seen_at": START,
        "answered_at": START,
    } | changes


def answer_values(match: Mapping[str, Any], outcome: str = "left", **changes: Any) -> Values:
    """Columns of the `Answer` to a match, given within a minute and without a reason in words."""
    shared = ("task", "seed", "left_agent", "right_agent", "judge", "judge_kind", "purpose", "study")
    return {
        "match_id": match["id"],
        **{name: match[name] for name in shared if name in match},
        "outcome": outcome,
        "responses": {},
        "reason": "",
        "created_at": match["answered_at"],
        "duration_s": 60.0,
    } | changes


def add_answers(session: Session, answers: list[tuple[Values, Values]]) -> None:
    """Insert matches with their answers, in this order; their episodes must exist."""
    for match, answer in answers:
        session.add(Match(**match))
        session.flush()
        session.add(Answer(**answer))
        session.flush()


def add_episode(session: Session, task: Task, actor: str, seed: int, **changes: Any) -> Values:
    """Insert an episode, and its task if that is new; return the columns of the episode (see `episode_values`)."""
    values = episode_values(task, actor, seed, **changes)
    add_task(session, task)
    if session.get(EpisodeRow, values["id"]) is None:
        session.add(EpisodeRow(**values))
        session.flush()
    return values

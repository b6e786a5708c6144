"""The synthetic answers as the store would hand them over, and an archive that holds them."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from report_answers import full_answers

import interplay.record
from interplay.store import Answer, EpisodeRow, Match, TaskRow
from interplay.store.answers import FullAnswer
from interplay.tasks import builtin_suites


@pytest.fixture(scope="session")
def forms():
    """Task id -> questions of every built-in task."""
    return {task.id: task.questions for suite in builtin_suites() for task in suite.tasks}


@pytest.fixture(scope="session")
def answers(forms) -> list[FullAnswer]:
    """The 3,049 synthetic answers in the order they were given."""
    return full_answers(forms)


@pytest.fixture(scope="session")
def answered_archive(answers, tmp_path_factory):
    """A data folder whose log holds the first 400 of them, through the real tables."""
    archive = interplay.record.open(tmp_path_factory.mktemp("answered"))
    start = datetime(2026, 1, 1, tzinfo=UTC)
    tasks = {task.id: task for suite in builtin_suites() for task in suite.tasks if suite.id == "basalt"}
    with archive.database.write() as session:
        for task in tasks.values():
            session.add(TaskRow(content_hash=task.content_hash, task=task.id, definition=task.to_json(), created_at=start))
        episodes = set()
        for answer in answers[:400]:
            task, ids = tasks[answer.task], []
            for agent in (answer.left, answer.right):
                id = f"{task.name}-{agent}-{answer.seed}"
                ids.append(id)
                if id not in episodes:
                    episodes.add(id)
                    session.add(_episode(id, task, agent, answer.seed, start))
            session.flush()
            match_id = f"match-{answer.sequence}"
            session.add(
                Match(
                    id=match_id,
                    task=task.id,
                    task_hash=task.content_hash,
                    seed=answer.seed,
                    left_episode_id=ids[0],
                    right_episode_id=ids[1],
                    left_agent=answer.left,
                    right_agent=answer.right,
                    judge=answer.judge,
                    served_at=answer.created_at,
                    seen_at=answer.created_at,
                    answered_at=answer.created_at,
                )
            )
            session.flush()
            session.add(
                Answer(
                    match_id=match_id,
                    task=task.id,
                    seed=answer.seed,
                    left_agent=answer.left,
                    right_agent=answer.right,
                    outcome=answer.outcome,
                    responses=answer.responses,
                    reason=answer.reason,
                    judge=answer.judge,
                    created_at=answer.created_at,
                    duration_s=answer.duration_s,
                )
            )
    yield archive
    archive.close()


def _episode(id: str, task, agent: str, seed: int, start: datetime) -> EpisodeRow:
    return EpisodeRow(
        id=id,
        task=task.id,
        task_hash=task.content_hash,
        env=task.env.id,
        seed=seed,
        actor=agent,
        actor_kind="agent",
        num_steps=100,
        duration_s=5.0,
        total_reward=0.0,
        terminated=True,
        truncated=False,
        outcome="terminated",
        frames="indexed",
        created_at=start,
        path=f"episodes/{id}.parquet",
        size_bytes=1,
        sha256="0" * 64,
    )

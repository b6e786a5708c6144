"""A log of many answers about many agents, without anybody having watched anything."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from sqlalchemy import insert

from interplay.store import Answer, EpisodeRow, Match, TaskRow
from interplay.store.agents import admit
from interplay.tasks import find

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NAMES = (
    "human1", "human2", "GoUp", "UniTeam", "voggite", "JustATry", "TheRealMiners", "yamato.kataoka", "corianas", "Li_and_Ivan",
    "KAIROS", "Miner007", "KABasalt", "cheese_wizards", "BC-Baseline", "Random", "Crafter-v2",
)  # fmt: skip
REASON = "The left player kept moving towards the goal while the other one stood in its corner and turned. <b>Clear.</b>"


def fill(
    archive, *, tasks: Sequence[str], agents: Sequence[str] = NAMES, num_answers: int = 500, num_judges: int = 20,
    judge_kind: str = "person", seed: int = 0,
) -> None:  # fmt: skip
    """Agents, episodes without files, and answers drawn by Bradley-Terry: the first name is the best, the last the worst."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(1.6, -1.6, len(agents)) if len(agents) > 1 else np.zeros(1)
    episodes, matches, answers = [], [], []
    with archive.database.write() as session:
        for task_id in tasks:
            task = find(task_id)
            if session.get(TaskRow, task.content_hash) is None:
                session.add(TaskRow(content_hash=task.content_hash, task=task.id, definition=task.to_json(), created_at=START))
            for agent in agents:
                admit(session, name=agent, task=task_id, kind="human" if agent.startswith("human") else "agent", now=START)
                episodes += [_episode(task, agent, one) for one in task.held_out_seeds[:2]]
        session.flush()
        known = {row for (row,) in session.query(EpisodeRow.id)}
        fresh = [row for row in episodes if row["id"] not in known]
        if fresh:
            session.execute(insert(EpisodeRow), fresh)
        for number in range(num_answers):
            task = find(tasks[number % len(tasks)])
            a, b = rng.choice(len(agents), 2, replace=False)
            difference = strength[a] - strength[b]
            outcome = "draw" if rng.random() < 0.12 else "left" if rng.random() < 1 / (1 + np.exp(-difference)) else "right"
            one = task.held_out_seeds[number % 2]
            judge = (
                f"participant-{number % num_judges + 1}" if judge_kind == "person" else f"{judge_kind}:{number % num_judges}"
            )
            key = f"{judge_kind}-{seed}-{number:06d}"
            matches.append(_match(task, agents[a], agents[b], one, judge, judge_kind, key, START + timedelta(minutes=number)))
            answers.append(_answer(task, matches[-1], outcome, rng))
        if matches:
            session.execute(insert(Match), matches)
            session.execute(insert(Answer), answers)


def _episode(task, agent: str, seed: int) -> dict:
    return {
        "id": f"{task.name}-{agent}-{seed}", "task": task.id, "task_hash": task.content_hash, "env": task.env.id, "seed": seed,
        "actor": agent, "actor_kind": "agent", "num_steps": 100, "duration_s": 5.0, "total_reward": 1.0, "terminated": True,
        "truncated": False, "outcome": "terminated", "frames": "indexed", "created_at": START,
        "path": f"episodes/{task.name}-{agent}-{seed}.parquet", "size_bytes": 1, "sha256": "0" * 64,
    }  # fmt: skip


def _match(task, left: str, right: str, seed: int, judge: str, judge_kind: str, key: str, now: datetime) -> dict:
    return {
        "id": key, "task": task.id, "task_hash": task.content_hash, "seed": seed,
        "left_episode_id": f"{task.name}-{left}-{seed}", "right_episode_id": f"{task.name}-{right}-{seed}",
        "left_agent": left, "right_agent": right, "judge": judge, "judge_kind": judge_kind, "purpose": "rating",
        "served_at": now, "seen_at": now, "answered_at": now,
    }  # fmt: skip


def _answer(task, match: dict, outcome: str, rng) -> dict:
    responses = {}
    for question in task.questions:
        if question.kind == "direct":
            responses[question.id] = {"left": bool(rng.random() < 0.6), "right": bool(rng.random() < 0.4)}
        elif question.kind == "comparative":
            responses[question.id] = outcome if rng.random() < 0.7 else ["left", "draw", "right", "na"][rng.integers(4)]
    return {
        "match_id": match["id"], "outcome": outcome, "responses": responses, "reason": REASON, "created_at": match["served_at"],
        "duration_s": 60.0, "viewing": {},
        **{name: match[name] for name in ("task", "seed", "left_agent", "right_agent", "judge", "judge_kind", "purpose")},
    }  # fmt: skip

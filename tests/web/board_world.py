"""A log of many answers about many agents, without anybody having watched anything."""

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from sqlalchemy import insert

from interplay import testing
from interplay.store import Answer, EpisodeRow, Match
from interplay.store.entrants import admit
from interplay.tasks import find
from interplay.testing import START

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
            testing.add_task(session, task)
            for agent in sorted(agents, key=str.lower):  # the order in which their names are locked
                admit(session, name=agent, task=task_id, kind="human" if agent.startswith("human") else "agent", now=START)
                episodes += [testing.episode_values(task, agent, one) for one in task.held_out_seeds[:2]]
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
            times = dict.fromkeys(("served_at", "seen_at", "answered_at"), START + timedelta(minutes=number))
            left, right = (testing.episode_values(task, agents[place], one) for place in (a, b))
            more = {"id": key, "judge_kind": judge_kind, "purpose": "rating", **times}
            matches.append(testing.match_values(left, right, judge, **more))
            answers.append(_answer(task, matches[-1], outcome, rng))
        if matches:
            session.execute(insert(Match), matches)
            session.execute(insert(Answer), answers)


def _answer(task, match: dict, outcome: str, rng) -> dict:
    responses = {}
    for question in task.questions:
        if question.kind == "direct":
            responses[question.id] = {"left": bool(rng.random() < 0.6), "right": bool(rng.random() < 0.4)}
        elif question.kind == "comparative":
            responses[question.id] = outcome if rng.random() < 0.7 else ["left", "draw", "right", "na"][rng.integers(4)]
    return testing.answer_values(match, outcome, responses=responses, reason=REASON, viewing={})

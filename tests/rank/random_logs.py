"""Random logs for the tests of ranking."""

from datetime import UTC, datetime, timedelta

import numpy as np

from interplay.rank import Comparison

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def random_log(
    seed: int, num_answers: int = 3049, num_agents: int = 17, *, num_tasks: int = 4, num_judges: int = 65, draws: float = 0.12
) -> list[Comparison]:
    """Answers about agents of different skill, an hour apart."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(25, 6, num_agents)
    log = []
    for number in range(num_answers):
        a, b = rng.choice(num_agents, 2, replace=False).tolist()
        outcome = "draw" if rng.random() < draws else "left" if rng.normal(skill[a] - skill[b], 6) > 0 else "right"
        task, judge = f"task-{rng.integers(num_tasks)}", f"judge-{rng.integers(num_judges):02}"
        log.append(Comparison(f"agent-{a:02}", f"agent-{b:02}", outcome, task, judge, BEGIN + timedelta(hours=number)))
    return log

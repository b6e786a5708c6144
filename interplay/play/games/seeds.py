"""The seed of a game: mostly a new one, now and then one on which everybody is compared."""

from __future__ import annotations

import secrets

from interplay.tasks import Task

HELD_OUT_SHARE = 0.25
"""Of people's games: on these seeds a game can be judged beside those of others, and is not a demonstration."""
_SEEDS = 2**31
_FINENESS = 2**20


def held_out_share(task: Task, of_server: float | None) -> float:
    """Share of a task's games of people that are on held-out seeds: that of the operator, else of the task, else one in four. A
    task that says 1 has no other seeds, whatever the operator says."""
    if task.held_out_share == 1:
        return 1.0
    chosen = task.held_out_share if of_server is None else of_server
    return HELD_OUT_SHARE if chosen is None else chosen


def draw_seed(task: Task, *, held_out_share: float = 0.0) -> int:
    """A seed for one game. `held_out_share`: how often it is one of the task's held-out seeds, 0 to 1; otherwise it is never
    one of them."""
    if secrets.randbelow(_FINENESS) < held_out_share * _FINENESS:
        return secrets.choice(task.held_out_seeds)
    while (seed := secrets.randbelow(_SEEDS)) in task.held_out_seeds:
        pass
    return seed

"""Which actions most algorithms learn: whole numbers, one a step."""

from __future__ import annotations

from typing import Any

import gymnasium

from interplay.agents.composed import is_composed
from interplay.learn.transitions import TransitionError
from interplay.tasks import Task

NOT_LEARNED = "No algorithm here learns such actions. An agent of your own can play them; docs/agents.md shows one."


def require_discrete(space: gymnasium.Space[Any], task: Task, algorithm: str) -> gymnasium.spaces.Discrete:
    """The space of a seat's actions, if an algorithm can learn them.

    Raises:
        TransitionError: Saying which one can.
    """
    if isinstance(space, gymnasium.spaces.Discrete):
        return space
    if is_composed(space):
        raise TransitionError(
            f"the actions of {task.id} are keys and a camera; {algorithm} needs one whole number per step\n"
            f"Learn from first-person games with:  interplay learn clone --task {task.id} --out NAME"
        )
    raise TransitionError(f"task {task.id} has actions in {space}; {algorithm} needs discrete ones\n{NOT_LEARNED}")

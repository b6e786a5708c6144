"""`try_out`: whether a task's keys and statistics suit the environment that it names."""

from __future__ import annotations

import difflib
import warnings
from typing import Any

import gymnasium
import numpy as np

from interplay import statistics
from interplay.envs import make
from interplay.errors import InterplayError
from interplay.record.format.schema import seat_spaces
from interplay.tasks import Task, TaskError
from interplay.tasks.keys import MAX_TURN


def try_out(task: Task) -> None:
    """Build the environment and play one step; an error names the key or statistic that does not fit it."""
    env = make(task)
    try:
        _, info = env.reset(seed=task.held_out_seeds[0])
        for spec in task.statistics:
            try:
                statistics.try_out(spec, task.setting, info, env.readings())
            except InterplayError as error:
                raise TaskError(f"statistics: {spec.name!r} cannot be computed: {error}\nRemedy: leave it out.") from None
        env.view()
        noops = {}
        for seat, space in seat_spaces(env).items():
            keys, noops[seat] = task.keys.of(seat), task.keys.of(seat).noop
            if keys.compose:
                _compare_entries(task, space)
            if keys.axes:
                _compare_axes(task, space)
            for combination, action in keys.actions.items():
                if not _has(space, action):
                    name = f"keys.seats.{seat}" if seat in task.keys.seats else "keys.actions"
                    whose = f" for its seat {seat}" if len(task.seats) > 1 else ""
                    own = f"; write keys.seats.{seat} where this seat has its own" if len(task.seats) > 1 else ""
                    raise TaskError(
                        f"{name}.{'+'.join(sorted(combination))!r}: {action!r} is not an action of {task.env.id}{whose}\n"
                        f"Remedy: actions lie in {space}{own}."
                    )
        env.step(noops)
    finally:
        env.close()


def _has(space: gymnasium.Space, action: Any) -> bool:
    if _has_truth(space, action):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lists, which a task file has for arrays
        return space.contains(action)


def _has_truth(space: gymnasium.Space | None, action: Any) -> bool:
    """Whether true or false stands where a number belongs: Python counts True as 1."""
    match space:
        case gymnasium.spaces.MultiBinary():
            return False
        case gymnasium.spaces.Dict() if isinstance(action, dict):
            parts = [(space.spaces.get(name), part) for name, part in action.items()]
        case gymnasium.spaces.Tuple() if isinstance(action, list | tuple):
            parts = list(zip(space.spaces, action, strict=False))
        case _:
            parts = [(None, part) for part in action] if isinstance(action, list | tuple) else []
    return isinstance(action, bool) or any(_has_truth(*one) for one in parts)


def _compare_axes(task: Task, space: gymnasium.Space) -> None:
    axes = task.keys.axes
    if not isinstance(space, gymnasium.spaces.Box) or space.shape != (len(axes),) or space.dtype != np.float32:
        raise TaskError(
            f"keys.axes: actions of {task.env.id} are not a Box of {len(axes)} float32 but lie in {space}\n"
            "Remedy: give each number of the action an axis; wrap the environment where its Box has another type."
        )
    for place, axis in enumerate(axes):
        for end in axis.values:
            if not space.low[place] <= end <= space.high[place]:
                raise TaskError(
                    f"keys.axes[{place}].values: {end:g} is not an action of {task.env.id}\n"
                    f"Remedy: this number lies between {space.low[place]:g} and {space.high[place]:g}."
                )


def _compare_entries(task: Task, space: gymnasium.Space) -> None:
    keys = task.keys
    if not isinstance(space, gymnasium.spaces.Dict):
        raise TaskError(
            f"keys.compose: actions of {task.env.id} are not a Dict but lie in {space}\nRemedy: write keys.actions instead."
        )
    for entry in (*keys.entries, *([keys.pointer] if keys.pointer is not None else [])):
        key = "keys.pointer" if entry == keys.pointer else "keys.buttons"
        if entry not in space.spaces:
            near = difflib.get_close_matches(entry, space.spaces, n=1)
            remedy = f"did you mean {near[0]!r}" if near else f"entries are {', '.join(space.spaces)}"
            raise TaskError(f"{key}: the action of {task.env.id} has no entry {entry!r}\nRemedy: {remedy}.")
        part = space.spaces[entry]
        if entry == keys.pointer:
            if not all(part.contains(np.array(turn, np.float32)) for turn in ((MAX_TURN, -MAX_TURN), (-MAX_TURN, MAX_TURN))):
                raise TaskError(
                    f"keys.pointer: {entry!r} of {task.env.id} does not take every (pitch, yaw) from -{MAX_TURN:g} to "
                    f"{MAX_TURN:g} degrees: {part}\n"
                    f"Remedy: wrap the environment so that it is Box(-{MAX_TURN:g}, {MAX_TURN:g}, (2,), float32)."
                )
        elif not isinstance(part, gymnasium.spaces.Discrete) or part.n != 2 or part.start != 0:
            raise TaskError(
                f"keys.buttons: {entry!r} of {task.env.id} is not 0 or 1 but {part}\n"
                "Remedy: name entries of Discrete(2) only; wrap the environment where others are needed."
            )
    missing = [name for name in space.spaces if name not in keys.entries and name != keys.pointer]
    if missing:
        raise TaskError(
            f"keys.buttons: the action of {task.env.id} has the entry {missing[0]!r}, and no button sets it\n"
            f"Remedy: add {missing[0]!r} to the buttons; it needs no key."
        )

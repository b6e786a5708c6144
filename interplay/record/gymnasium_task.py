"""Make the task of an episode from facts of a Gymnasium environment that has no task file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec as GymnasiumSpec

from interplay.record.errors import RecordingError
from interplay.tables import is_name
from interplay.tasks import EnvSpec, KeyMap, Task

ENDLESS = 2**31 - 1
"""Step limit of an environment without a limit: the largest step number of an episode."""


def task_of(
    env_id: str,
    *,
    deterministic: bool = True,
    task_id: str = "rehearsal/environment",
    kwargs: Mapping[str, Any] | None = None,
    frame_rate_hz: float = 30,
    max_steps: int = 100_000,
) -> Task:
    """Return a task that is only a Gymnasium environment: it has nothing that playing or judging needs.

    Args:
        env_id: Id in the form that `gymnasium.make` takes.
        deterministic: Whether seed and actions alone decide the course of an episode.
        kwargs: Arguments of `gymnasium.make`, JSON values.
    """
    options: dict[str, Any] = {} if deterministic else {"deterministic": False}
    return Task(
        id=task_id,
        title=env_id,
        goal="Nothing.",
        instructions="Nothing.",
        env=EnvSpec(f"gym:{env_id}", options | ({"kwargs": dict(kwargs)} if kwargs else {})),
        frame_rate_hz=frame_rate_hz,
        max_steps=max_steps,
        held_out_seeds=(0,),
        keys=KeyMap((), {}, {frozenset(): None}),
        questions=(),
    )


def task_of_spec(
    spec: GymnasiumSpec, *, deterministic: bool, task_id: str | None = None, frame_rate_hz: float | None = None
) -> Task:
    """Return the task of an environment that Gymnasium has made, or would make, from this spec.

    Args:
        task_id: `suite/name`; by default `gymnasium/<the environment's id>`.
        frame_rate_hz: Steps per second in videos; 30 by default.
    Raises:
        RecordingError: If `task_id` is not a valid task name.
    """
    module = spec.entry_point.partition(":")[0].partition(".")[0] if isinstance(spec.entry_point, str) else "gymnasium"
    env_id = spec.id if module in ("gymnasium", "interplay") else f"{module}:{spec.id}"  # importing it registers the id
    suite, slash, name = (task_id or "gymnasium/" + re.sub("[^a-z0-9_-]+", "-", spec.id.lower())[:60]).partition("/")
    if not slash or not is_name(suite) or not is_name(name):
        raise RecordingError(
            f"a task is called SUITE/NAME, in lower-case letters, digits, _ and -; got {task_id!r}\n"
            'For example:  Recording(env, "interplay-data", task="mine/cartpole", actor="me")'
        )
    return task_of(
        env_id,
        deterministic=deterministic,
        task_id=f"{suite}/{name}",
        kwargs=_kwargs(spec) if why_not_replayed(spec) == "" else None,
        frame_rate_hz=frame_rate_hz or 30,
        max_steps=ENDLESS if spec.max_episode_steps is None else spec.max_episode_steps,
    )


def is_of(task: Task, spec: GymnasiumSpec) -> bool:
    if task.env.backend != "gym" or task.env.name.rpartition(":")[2] != spec.id or spec.id not in gymnasium.registry:
        return False
    return {**gymnasium.registry[spec.id].kwargs, **task.env.options.get("kwargs", {})} == _kwargs(spec)


def why_not_replayed(spec: GymnasiumSpec | None) -> str:
    """Say why an environment cannot be made again from a recording; the text is empty if it can."""
    if spec is None or spec.id not in gymnasium.registry:
        return "Gymnasium has no registered environment of this id"
    if not isinstance(gymnasium.registry[spec.id].entry_point, str):
        return f"{spec.id} is registered by this program alone"
    if spec.nondeterministic:
        return f"{spec.id} is registered as nondeterministic"
    if spec.additional_wrappers:
        return f"{spec.id} is wrapped by {', '.join(wrapper.name for wrapper in spec.additional_wrappers)}"
    try:
        if json.loads(json.dumps(_kwargs(spec))) == _kwargs(spec):
            return ""
    except (TypeError, ValueError):
        pass
    return f"{spec.id} was made with arguments that JSON cannot hold"


def _kwargs(spec: GymnasiumSpec) -> dict[str, Any]:
    return {name: value for name, value in spec.kwargs.items() if name != "render_mode"}


def spec_of(task: Task) -> GymnasiumSpec | None:
    """Return Gymnasium's spec of a task's environment; None for other backends and for ids that are not registered here."""
    name = task.env.name.rpartition(":")[2]
    if task.env.backend != "gym" or name not in gymnasium.registry:
        return None
    registered = gymnasium.registry[name]
    kwargs = {**registered.kwargs, **task.env.options.get("kwargs", {})}
    limit = None if task.max_steps == ENDLESS else task.max_steps
    return replace(registered, kwargs=kwargs, max_episode_steps=limit)

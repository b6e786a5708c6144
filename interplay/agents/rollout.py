"""Let an agent play one episode and record it."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from interplay.agents.base import Agent, AgentError, Insider
from interplay.envs import make, pipeline
from interplay.record import RecordingError
from interplay.tasks import Task

if TYPE_CHECKING:
    from interplay.envs import PlayableEnv
    from interplay.record import Archive, Episode, Recorder


def rollout(
    archive: Archive,
    task: Task,
    agent: Agent,
    seed: int,
    *,
    rng: np.random.Generator,
    max_steps: int | None = None,
) -> Episode:
    """Play one episode, recorded in native frames, and seal it.

    The agent decides when its pipeline says so and its action is held in between; every native step is recorded, with a
    clock that runs as if the game were played at its own frame rate. The same seed and generator give the same episode.

    Args:
        archive: Where the episode goes.
        task: What is played.
        agent: Who plays; it is reset with `rng`.
        seed: Seed of the environment.
        rng: The agent's generator.
        max_steps: Stop earlier than the task does: the last step is then marked truncated, the outcome is `time_limit`.
    Raises:
        AgentError: If the agent cannot play this task or returns what is no action. Steps already recorded are sealed, with
            outcome `interrupted`.
    """
    if max_steps is not None and max_steps < 1:
        raise ValueError(f"max_steps must be at least 1, got {max_steps}")
    limit = task.max_steps if max_steps is None else min(max_steps, task.max_steps)
    agent.reset(task, rng=rng)  # first: an agent that cannot play this task should leave no trace
    world = make(task)
    if isinstance(agent, Insider):
        agent.attach(world)
    try:
        recorder = archive.recorder(task, world, seed=seed, actor=agent.name, actor_kind="agent")
        try:
            outcome = _play(recorder, task, world, agent, seed, limit)
        except BaseException:
            with suppress(RecordingError):  # the first error is the one to tell; what is on disk stays either way
                archive.seal(recorder.finish("interrupted"))
            raise
        return archive.seal(recorder.finish(outcome))
    finally:
        world.close()


def _play(recorder: Recorder, task: Task, world: PlayableEnv, agent: Agent, seed: int, limit: int) -> str:
    """Play to the end or the limit; returns the outcome."""
    view = pipeline(agent.observation)
    recorder.start(*world.reset(seed=seed))
    observation: np.ndarray | None = view.reset(world.view())
    action = None
    for num_steps in count(1):
        if observation is not None:
            action = agent.act(observation)
            if not world.action_space.contains(action):
                raise AgentError(f"agent {agent.name!r} chose {action!r} at step {num_steps - 1}, not in {world.action_space}")
        result = world.step(action)
        if num_steps >= limit and not result[2]:
            result = (*result[:3], True, result[4])
        recorder.step(action, result, clock_us=round(num_steps / task.frame_rate_hz * 1e6))
        if result[2] or result[3]:
            return "terminated" if result[2] else "time_limit"
        observation = view.push(world.view(), ended=False)
    raise AssertionError("unreachable: count() does not end")

"""Real environments, a real archive in a temporary folder, and episodes recorded from them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import interplay.record
from interplay.envs import FramePolicy, make
from interplay.record import Archive, Episode, InputTiming
from interplay.tasks import Task, find, parse_suite

CARTPOLE = """
[suite]
id = "lab"
title = "Lab"

[[task]]
name = "cartpole"
title = "Cart pole"
goal = "Keep the pole up."
instructions = "Push left or right."
frame_rate_hz = 50
time_limit_s = {time_limit_s}
held_out_seeds = [1]

[task.env]
id = "{env_id}"
options = {{ deterministic = {deterministic} }}

[task.keys]
buttons = ["LEFT", "RIGHT"]
bindings = {{ ArrowLeft = "LEFT", ArrowRight = "RIGHT" }}
actions = {{ "" = 0, "LEFT" = 0, "RIGHT" = 1 }}

[[task.questions]]
id = "overall"
factor = "overall"
kind = "overall"
text = "Who played better?"
"""


def cartpole_task(*, deterministic: bool = True, time_limit_s: float = 4, env_id: str = "gym:CartPole-v1") -> Task:
    """CartPole with pictures for people and numbers for agents."""
    return parse_suite(
        CARTPOLE.format(deterministic=str(deterministic).lower(), time_limit_s=time_limit_s, env_id=env_id)
    ).tasks[0]


class Played(NamedTuple):
    """An episode and what its environment showed while it was recorded."""

    episode: Episode
    views: list[np.ndarray]
    observations: list[Any]
    results: list[tuple[Any, ...]]
    actions: list[Any]


def play(
    archive: Archive,
    task: Task,
    *,
    num_steps: int,
    seed: int = 3,
    policy: FramePolicy | None = None,
    actor: str = "tester",
    actor_kind: str = "agent",
    timed: bool = False,
    outcome: str | None = None,
) -> Played:
    """Record held random actions until the world ends or `num_steps` are made, and seal."""
    env = make(task, frames=policy)
    recorder = archive.recorder(task, env, seed=seed, actor=actor, actor_kind=actor_kind)
    rng = np.random.default_rng(seed)
    observed, info = env.reset(seed=seed)
    space = env.action_space["player"]
    space.seed(seed)
    recorder.start(observed, info)
    views, observations, results, actions = [env.view().pixels.copy()], [observed["player"]], [], []
    action = 0
    for step in range(num_steps):
        if step % 7 == 0:
            action = int(space.sample())
        result = env.step({"player": action})
        timing = InputTiming(step, step * 20.0, step * 20_000, 1, float(rng.uniform(10, 30))) if timed and step % 3 else None
        recorder.step({"player": action}, result, timing={"player": timing}, clock_us=round(step * 1e6 / task.frame_rate_hz))
        views.append(env.view().pixels.copy())
        observations.append(result[0]["player"])
        results.append((result[0]["player"], result[1]["player"], *result[2:]))
        actions.append(action)
        if result[2] or result[3]:
            break
    if outcome is None:
        last = results[-1] if results else (None, 0.0, False, False, {})
        outcome = "terminated" if last[2] else "time_limit" if last[3] else "quit"
    episode = archive.seal(recorder.finish(outcome))
    env.close()
    return Played(episode, views, observations, results, actions)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Archive]:
    """Another data folder, to import to."""
    archive = interplay.record.open(tmp_path / "other")
    yield archive
    archive.close()


@pytest.fixture
def invaders() -> Task:
    return find("atari/space_invaders")


@pytest.fixture
def cartpole() -> Task:
    return cartpole_task()


@pytest.fixture
def record(archive: Archive) -> Callable[..., Played]:
    """Records an episode in the archive of this test: `record(task, num_steps=...)`."""
    return lambda task, **options: play(archive, task, **options)


@pytest.fixture
def cartpole_text() -> Callable[..., str]:
    """The task file of cart pole, or with its environment changed: `cartpole_text(env_id="gym:Taxi-v4")`."""
    return lambda env_id: CARTPOLE.format(deterministic="true", time_limit_s=4, env_id=env_id)


@pytest.fixture
def make_cartpole() -> Callable[..., Task]:
    return cartpole_task

"""What every block world keeps to, ours and the real ones: `check_block_world(env)`."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from interplay.envs import EnvError, PlayableEnv, SingleAgentEnv
from interplay.envs.minerl_actions import CAMERA, KEYS

BAD_ACTIONS = [
    ({"jmp": 1}, "did you mean 'jump'"),
    ({"attack": 2}, "key attack is 0 or 1, got 2"),
    ({"attack": 0.5}, "key attack is 0 or 1"),
    ({"attack": "yes"}, "key attack is 0 or 1, got 'yes'"),
    ({"attack": None}, "key attack is 0 or 1"),
    ({"attack": [1, 0]}, "key attack is 0 or 1"),
    ({CAMERA: [float("nan"), 0.0]}, "finite degrees"),
    ({CAMERA: [0.0, float("-inf")]}, "finite degrees"),
    ({CAMERA: [1.0]}, r"camera is a pair \(pitch, yaw\)"),
    ({CAMERA: "left"}, r"camera is a pair \(pitch, yaw\)"),
]


def idle(**keys: Any) -> dict[str, Any]:
    """The action of no key, with some changed."""
    return {name: 0 for name in KEYS} | {CAMERA: np.zeros(2, np.float32)} | keys


def check_block_world(world: PlayableEnv, *, esc_ends: bool = True) -> None:
    """Spaces, one step of each key, ESC, time limit, bad actions, and what recording needs.

    Args:
        world: Before its first reset, with a task of at least 30 steps.
        esc_ends: Whether ESC ends an episode of it.
    """
    env = SingleAgentEnv(world)
    max_steps = world.task.max_steps
    assert max_steps >= 30

    assert isinstance(env.action_space, gymnasium.spaces.Dict)
    assert env.action_space.spaces == {
        **{name: gymnasium.spaces.Discrete(2) for name in KEYS},
        CAMERA: gymnasium.spaces.Box(-180.0, 180.0, (2,), np.float32),
    }
    assert isinstance(env.observation_space, gymnasium.spaces.Dict)
    assert set(env.observation_space.spaces) == {"pov"}
    pov = env.observation_space["pov"]
    assert pov.dtype == np.uint8
    assert pov.shape is not None
    assert pov.shape[2:] == (3,)
    assert env.observes_view
    assert env.deterministic == (env.frame_policy == "replay")
    assert all(isinstance(text, str) for text in env.versions().values())

    with pytest.raises(EnvError, match="call reset"):
        env.step(idle())

    def check_seen(observation: Any) -> None:
        """The observation is in its space and is what a person sees."""
        assert env.observation_space.contains(observation)
        np.testing.assert_array_equal(env.view().pixels, observation["pov"])
        np.testing.assert_array_equal(env.view().rgb(), env.render())

    def check_step(action: dict[str, Any]) -> tuple[bool, bool]:
        observation, reward, terminated, truncated, info = env.step(action)
        check_seen(observation)
        assert type(reward) is float
        assert (type(terminated), type(truncated)) == (bool, bool)
        kept = env.info_to_record(info)
        assert all(isinstance(value, bool | int | float | str) for value in kept.values())
        return terminated, truncated

    observation, info = env.reset(seed=14169)
    assert isinstance(info, dict)
    check_seen(observation)
    first = observation["pov"].copy()
    for name in KEYS:
        if name != "ESC":
            assert check_step(idle(**{name: 1})) == (False, False), name
    np.testing.assert_array_equal(observation["pov"], first, "an observation changed after its step")

    # ESC, in an episode without a screen in the way; then nothing until the next reset.
    env.reset(seed=14169)
    assert check_step(idle(ESC=1)) == (esc_ends, False)
    if esc_ends:
        with pytest.raises(EnvError, match="the episode has ended; call reset"):
            env.step(idle())

    # Bad actions are errors that do not count as steps; numbers of every kind, missing keys and far turns are fine.
    env.reset()
    for action, message in BAD_ACTIONS:
        with pytest.raises(EnvError, match=message):
            env.step(idle() | action)
    with pytest.raises(EnvError, match="an action must be a mapping such as"):
        env.step(3)
    fine = [{}, {"jump": True}, {"jump": np.int64(1)}, {"jump": np.array([1])}, {CAMERA: [0, 4000]}, {CAMERA: (-0.5, 0.5)}]
    ends = [check_step(action) for action in [*fine, *[idle()] * (max_steps - len(fine))]]
    assert ends == [(False, False)] * (max_steps - 1) + [(False, True)]
    with pytest.raises(EnvError, match="the episode has ended; call reset"):
        env.step(idle())

    snapshot = env.snapshot()
    if snapshot is None:
        with pytest.raises(EnvError, match="cannot restore snapshots"):
            env.restore(b"")
    env.close()

"""How CrowdPlay stores an episode and reads it again: a list of steps with RGB pictures, pickled and compressed with bz2.

A baseline for other benches; nothing of ours reads or writes this format, but for the import of what was published in it.
"""

from __future__ import annotations

import bz2
import copy
import pickle  # the baseline's format
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from interplay.envs import make
from interplay.envs.pictures import PALETTE
from interplay.record import Episode

AGENT = "game_0>player_0"


def stored(steps: list[dict[str, Any]]) -> bytes:
    """A file's bytes."""
    return bz2.compress(pickle.dumps(steps))


def steps_of(
    frames: Iterable[np.ndarray], memories: Iterable[bytes], actions: Sequence[int], rewards: Sequence[float]
) -> list[dict[str, Any]]:
    """The steps as CrowdPlay keeps them until the episode ends, a copy of each.

    Args:
        frames: T pictures of palette indices, uint8, shape (210, 160): before each step.
        memories: T times the console's 128 bytes of memory, after each step.
    """
    return [
        copy.deepcopy(
            {
                "prev_obs": {AGENT: OrderedDict(image=PALETTE[frame])},
                "action": {AGENT: {"game": int(action)}},
                "action_step_iter": {AGENT: step},
                "reward": {AGENT: reward},
                "done": {AGENT: False, "__all__": False},
                "info": {AGENT: {"ale.lives": 3, "RAM": list(memory)}},
                "step_iter": step + 1,
                "user_type": {AGENT: 1},
                "task_callables": {"Score": {AGENT: 0.0}},
                "episode_callables": {"Score": {AGENT: 0.0}},
            }
        )
        for step, (frame, memory, action, reward) in enumerate(zip(frames, memories, actions, rewards, strict=False))
    ]


def played_again(episode: Episode, num_steps: int) -> tuple[list[np.ndarray], list[bytes]]:
    """The first T pictures of an Atari episode, and the console's memory after each of its first T steps."""
    frames, memories = [], []
    env = make(episode.task)
    env.reset(seed=episode.seed)
    seats = episode.header.seats
    for joint in zip(*(episode.actions(seat)[:num_steps].tolist() for seat in seats), strict=True):
        frames.append(env.view().pixels.copy())
        env.step(dict(zip(seats, joint, strict=True)))
        memories.append(env.readings()["ram"]())
    env.close()
    return frames, memories


def storing_us_per_step(episode: Episode, num_steps: int) -> float:
    """Processor time to keep, pickle and compress the first steps of an episode, microseconds a step."""
    seat = episode.header.seats[0]
    given = (*played_again(episode, num_steps), episode.actions(seat).tolist(), episode.rewards(seat).tolist())
    begun_s = time.process_time()
    stored(steps_of(*given))
    return (time.process_time() - begun_s) / len(given[0]) * 1e6


def loaded(data: bytes) -> list[dict[str, Any]]:
    """The steps in a file's bytes."""
    return pickle.loads(bz2.decompress(data))  # noqa: S301 (made by `stored` in the same run)


def learned_from(steps: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What its processed trajectory has of one step in four: grey pictures of the maximum of two frames, uint8, shape
    (P, 84, 84); actions; and rewards since the one before."""
    import cv2

    pictures, actions, rewards, reward = [], [], [], 0.0
    for number, step in enumerate(steps):
        reward += step["reward"][AGENT]
        if number % 4 == 0:
            before = steps[max(number - 1, 0)]["prev_obs"][AGENT]["image"]
            largest = np.maximum(before, step["prev_obs"][AGENT]["image"])
            grey = cv2.cvtColor(largest, cv2.COLOR_RGB2GRAY)
            pictures.append(cv2.resize(grey, (84, 84), interpolation=cv2.INTER_AREA))
            actions.append(step["action"][AGENT]["game"])
            rewards.append(reward)
            reward = 0.0
    return np.stack(pictures), np.array(actions), np.array(rewards)

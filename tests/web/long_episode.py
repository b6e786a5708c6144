"""Three minutes of the block world in its true size, recorded without waiting for 3,600 pictures."""

from dataclasses import replace

import numpy as np

from interplay.envs import Frame
from interplay.envs.minerl_actions import CAMERA, KEYS
from interplay.envs.voxel import VoxelEnv
from interplay.record import Archive, Episode
from interplay.tasks import find

NUM_STEPS = 3600
DRAWN_EVERY = 37
"""Of these steps the picture is drawn and its hash recorded. The others repeat the picture before, so only their hashes are not
what a replay shows; their actions, rewards and snapshots are true."""


class SeldomDrawn(VoxelEnv):
    """A block world that draws each 37th step: 3,600 steps take 5 seconds instead of 90."""

    def view_of(self, seat: str) -> Frame:
        if self._num_steps % DRAWN_EVERY == 0 or self._seen is None:
            self._seen = super().view_of(seat).pixels
        return Frame(self._seen)

    _seen: np.ndarray | None = None


def walk(step: int, rng: np.random.Generator, pitch: float) -> dict:
    """A walker who jumps over what is in the way, and looks around."""
    keys = dict.fromkeys(KEYS, 0) | {"forward": 1, "jump": int(step % 8 < 4), "attack": int(step % 50 < 10)}
    return keys | {CAMERA: np.array([rng.normal(0, 1) - pitch / 20, rng.normal(1, 4)], np.float32)}


def record_long_episode(
    archive: Archive, *, num_steps: int = NUM_STEPS, snapshots: bool = True, task_id: str = "basalt/find_cave"
) -> Episode:
    """Play and seal one.

    Args:
        num_steps: How long it is; three minutes by default.
        snapshots: Whether snapshots are kept, as today; else there are none.
        task_id: Of the block world.
    """
    task = find(task_id)
    options = {**task.env.options, "difficulty": "peaceful", "kind": "plains"}
    task = replace(task, env=replace(task.env, options=options))
    env = SeldomDrawn(task)
    if not snapshots:
        env.snapshot = lambda: None
    recorder = archive.recorder(task, env, seed=14169, actor="walker", actor_kind="agent")
    observation, info = env.reset(seed=14169)
    recorder.start(observation, info)
    rng = np.random.default_rng(0)
    for step in range(num_steps):
        action = walk(step, rng, env.world.player.pitch)
        result = env.step({"player": action})
        recorder.step({"player": action}, result, clock_us=step * 55_000)  # of a machine that was a tenth too slow
        assert not result[2], f"the walker died at step {step}"
    env.close()
    return archive.seal(recorder.finish("time_limit"))

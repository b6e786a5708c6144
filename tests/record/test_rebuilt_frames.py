"""Frames rebuilt by playing again: what a jump costs, and that it shows what was recorded."""

from dataclasses import replace

import numpy as np
import pytest

import interplay.record
from interplay.agents import rollout
from interplay.agents.simple import RandomAgent
from interplay.envs.voxel import VoxelEnv
from interplay.record import Archive, Episode
from interplay.record.format.schema import frame_hash
from interplay.record.sealed.frames import ReplaySource
from interplay.record.verification.verify import verify
from interplay.tasks import find

NUM_STEPS = 450


class CountingEnv(VoxelEnv):
    """A block world that knows what it was asked to do."""

    num_drawn = num_resets = 0

    def reset(self, **options):
        self.num_resets += 1
        return super().reset(**options)

    def view_of(self, seat):
        self.num_drawn += seat not in self._pictures
        return super().view_of(seat)


@pytest.fixture(scope="module")
def walked(tmp_path_factory) -> Episode:
    """Some twenty seconds of the block world in tiny pictures."""
    archive: Archive = interplay.record.open(tmp_path_factory.mktemp("walked"))
    task = find("basalt/sandbox")
    task = replace(task, env=replace(task.env, options={**task.env.options, "kind": "flat", "size": [64, 36]}))
    return rollout(archive, task, RandomAgent(), 3, rng=np.random.default_rng(0), max_steps=NUM_STEPS)


def source(episode: Episode, snapshots: dict[int, bytes]) -> tuple[ReplaySource, CountingEnv]:
    env = CountingEnv(episode.task)
    return ReplaySource(env, episode.seed, episode.joint_actions(), snapshots), env


def show(replay: ReplaySource, step: int) -> int:
    for _ in replay.approach(step):
        pass
    return frame_hash(replay.view())


def test_the_block_world_keeps_a_snapshot_in_each_ten_seconds(walked):
    assert walked.num_steps == NUM_STEPS
    assert sorted(walked.snapshots()) == [200, 400]


def test_snapshots_of_games_that_begin_together_come_by_turns(walked, tmp_path, monkeypatch):
    monkeypatch.setattr(VoxelEnv, "snapshot_steps", 5)
    archive = interplay.record.open(tmp_path)
    env = VoxelEnv(walked.task)
    recorder = archive.recorder(walked.task, env, seed=3, actor="tester", actor_kind="agent")
    recorder.snapshots_at = 7
    recorder.start(*env.reset(seed=3))
    for step, action in enumerate(walked.actions()[:14]):
        recorder.step({"player": action}, env.step({"player": action}), clock_us=step * 50_000)
    episode = archive.seal(recorder.finish("quit"))
    assert sorted(episode.snapshots()) == [2, 7, 12]
    assert verify(episode).equal
    archive.close()


def test_a_jump_begins_at_the_nearest_snapshot_and_draws_nothing_on_its_way(walked):
    replay, env = source(walked, walked.snapshots())
    hashes = walked.steps().column("frame_hash").to_pylist()
    for step in (431, 399, 200, 7, 450):
        assert show(replay, step) == hashes[step]
    assert env.num_resets == 1  # for step 7, before the first snapshot
    assert env.num_drawn == 5 + env.num_resets


def test_an_episode_without_snapshots_is_played_from_its_start_once(walked):
    replay, env = source(walked, {})
    hashes = walked.steps().column("frame_hash").to_pylist()
    for step in (449, 410, 205, 448):
        assert show(replay, step) == hashes[step]
    assert env.num_resets == 1


def test_a_jump_that_is_broken_off_leaves_the_next_one_right(walked):
    replay, _ = source(walked, {})
    hashes = walked.steps().column("frame_hash").to_pylist()
    for _ in zip(range(3), replay.approach(440), strict=False):
        pass
    assert show(replay, 300) == hashes[300]
    assert show(replay, 20) == hashes[20]

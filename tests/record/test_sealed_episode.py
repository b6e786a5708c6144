"""What goes in comes out: T actions, T + 1 observations, everything beside them."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from interplay.envs import observation
from interplay.record import Episode, RecordingError


def same_frames(episode, views):
    assert len(episode.frames) == len(views) == episode.num_steps + 1
    for frame, view in zip(episode.frames, views, strict=True):
        np.testing.assert_array_equal(frame.pixels, view)


@pytest.mark.parametrize("policy", ["indexed", "replay"])
def test_every_frame_action_and_reward_comes_back(record, invaders, policy):
    played = record(invaders, num_steps=700, policy=policy, timed=True)
    episode = Episode.open(played.episode.path)
    same_frames(episode, played.views)
    np.testing.assert_array_equal(episode.actions(), played.actions)
    np.testing.assert_array_equal(episode.rewards(), [result[1] for result in played.results])
    table = episode.steps()
    assert table.num_rows == episode.num_steps + 1
    assert table.column("step").to_pylist() == list(range(episode.num_steps + 1))
    last = table.slice(episode.num_steps).to_pylist()[0]
    assert last["action.player"] is None
    assert last["reward.player"] is None
    assert last["terminated"] is None
    assert json.loads(last["info"])["lives"] == played.results[-1][4]["lives"]
    assert table.column("input.player.painted_step").to_pylist()[:4] == [None, 1, 2, None]
    assert table.column("owner.player").to_pylist()[0] == "tester"


def test_catalogue_and_file_tell_the_same(record, archive, invaders):
    played = record(invaders, num_steps=50, timed=True)
    by_catalogue, by_file = archive.get(played.episode.id), Episode.open(played.episode.path)
    assert by_catalogue.to_json() == by_file.to_json()
    assert by_catalogue.task == invaders
    assert by_catalogue.size_bytes == by_catalogue.path.stat().st_size
    assert by_catalogue.statistics["score"] == by_file.total_reward
    assert 10 <= by_catalogue.statistics["latency_ms"] <= 30
    assert by_catalogue.statistics["lives"] == 3


def test_frames_are_found_in_any_order(record, invaders):
    for policy in ("indexed", "replay"):
        played = record(invaders, num_steps=1300, policy=policy, seed=5)
        frames = Episode.open(played.episode.path).frames
        for index in [*np.random.default_rng(0).integers(len(frames), size=9).tolist(), 0, -1, len(frames) - 1]:
            np.testing.assert_array_equal(frames[index].pixels, played.views[index])
        np.testing.assert_array_equal(frames.stack(300), np.stack(played.views[297:301]))
        np.testing.assert_array_equal(frames.stack(1), np.stack([played.views[0]] * 3 + [played.views[1]]))
        np.testing.assert_array_equal([frame.pixels for frame in frames[118:123]], played.views[118:123])
        with pytest.raises(IndexError):
            frames[len(frames)]


def test_agents_see_the_recording_as_they_saw_the_game(record, invaders):
    played = record(invaders, num_steps=203)
    live = observation.observe(
        observation.pipeline("dqn"), [type(played.episode.frames[0])(view, observation.PALETTE) for view in played.views]
    )
    recorded = played.episode.observations("dqn")
    for (step, seen), (expected_step, expected) in zip(recorded, live, strict=True):
        assert step == expected_step
        np.testing.assert_array_equal(seen, expected)


def test_numbers_that_are_not_the_view_are_kept(record, cartpole):
    played = record(cartpole, num_steps=60)
    episode = played.episode
    assert episode.frame_policy == "replay"
    np.testing.assert_array_equal(episode.raw_observations(), np.stack(played.observations))
    assert episode.raw_observations().dtype == np.float32
    assert "frame" not in episode.schema.names
    same_frames(episode, played.views)


def test_a_terminated_episode_keeps_its_last_reward(record, cartpole):
    episode = record(cartpole, num_steps=500).episode
    assert (episode.terminated, episode.truncated, episode.outcome) == (True, False, "terminated")
    table = episode.steps()
    assert table.column("terminated").to_pylist()[-2:] == [True, None]
    assert episode.rewards()[-1] == 1.0
    assert episode.total_reward == episode.num_steps


def test_a_truncated_episode_keeps_its_last_reward(record, make_cartpole):
    episode = record(make_cartpole(time_limit_s=0.1), num_steps=500).episode
    assert (episode.num_steps, episode.terminated, episode.truncated, episode.outcome) == (5, False, True, "time_limit")
    assert episode.rewards().tolist() == [1.0] * 5
    assert episode.steps().column("truncated").to_pylist() == [False] * 4 + [True, None]


def test_a_player_who_quits_leaves_a_truncated_episode(record, invaders):
    episode = record(invaders, num_steps=10).episode
    assert (episode.terminated, episode.truncated, episode.outcome) == (False, True, "quit")
    assert episode.steps().column("truncated").to_pylist() == [False] * 9 + [True, None]


@pytest.mark.parametrize("num_steps", [0, 1])
def test_the_shortest_episodes(record, invaders, num_steps):
    played = record(invaders, num_steps=num_steps)
    same_frames(played.episode, played.views)
    assert played.episode.actions().shape == (num_steps,)
    assert played.episode.truncated


def test_a_row_group_boundary_loses_nothing(record, invaders):
    for num_steps in (118, 119, 120, 121):  # T + 1 rows against row groups of 120
        played = record(invaders, num_steps=num_steps)
        same_frames(played.episode, played.views)


def test_video_frames_look_like_the_recorded_ones(record, make_cartpole):
    played = record(make_cartpole(deterministic=False, time_limit_s=4), num_steps=150, policy="video")
    episode = Episode.open(played.episode.path)
    assert len(episode.frames) == len(played.views)
    for frame, view in zip(episode.frames, played.views, strict=True):
        assert np.abs(frame.rgb().astype(int) - view).mean() < 2
    np.testing.assert_array_equal(episode.frames[7].pixels, list(episode.frames)[7].pixels)
    assert episode.path.stat().st_size < 0.01 * sum(view.nbytes for view in played.views)


def test_the_file_is_plain_parquet(record, invaders):
    played = record(invaders, num_steps=130)
    table = pq.read_table(played.episode.path)
    assert table.num_rows == 131
    assert table.column("frame")[130].as_py() == played.views[130].tobytes()
    facts = json.loads(pq.read_metadata(played.episode.path).metadata[b"interplay"])
    assert facts["header"]["task"]["id"] == "atari/space_invaders"
    assert facts["header"]["env_versions"]["ale-py"]


def test_a_view_without_palette_cannot_be_indexed(record, cartpole):
    with pytest.raises(RecordingError, match="needs a view with a palette"):
        record(cartpole, num_steps=3, policy="indexed")


def test_an_unknown_seat_names_the_seats(record, cartpole):
    with pytest.raises(RecordingError, match="has no seat 'left'; seats are player"):
        record(cartpole, num_steps=3).episode.actions("left")


def test_observations_that_are_the_view_point_to_frames(record, invaders):
    with pytest.raises(RecordingError, match=r"use episode\.frames"):
        record(invaders, num_steps=3).episode.raw_observations()


def test_many_episodes_can_be_read_with_few_file_handles(record, cartpole):
    import os

    path = record(cartpole, num_steps=5).episode.path
    episodes = [Episode.open(path) for _ in range(200)]
    before = len(os.listdir("/proc/self/fd"))
    for episode in episodes:
        assert len(episode.actions()) == episode.num_steps
        assert len(episode.frames[0].rgb()) == 400
    assert len(os.listdir("/proc/self/fd")) - before <= 70
    episodes[0].close()
    assert len(episodes[0].rewards()) == episodes[0].num_steps

"""Streams hold every reward and every end of their episodes, and are read once."""

import resource
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import interplay.record
from interplay.envs import make
from interplay.learn import BCConfig, TransitionError, load, train
from interplay.learn.dagger import game_of
from interplay.record import Episode, Owner, RecordedEpisode, RecordingError
from interplay.tasks import EnvSpec, find

ALL = (0, 1, 2, 3)
LAKE = find("gymnasium/frozen_lake")


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """Breakout played to the end of the game, so that the world ends it, at step numbers that no skip divides."""
    archive = interplay.record.open(tmp_path_factory.mktemp("ended") / "data")
    episodes = [play(archive, find("atari/breakout"), seed, 4000, lambda rng: int(rng.choice([1, 3, 4]))) for seed in (1, 2)]
    yield episodes
    archive.close()


def play(archive, task, seed, max_steps, choose):
    env = make(task)
    recorder = archive.recorder(task, env, seed=seed, owners={"player": Owner("dice", "agent")})
    played = RecordedEpisode(env, recorder, max_steps=max_steps)
    played.start(seed)
    rng = np.random.default_rng(seed)
    while played.outcome is None:
        played.step({"player": choose(rng)})
    env.close()
    return archive.seal(recorder.finish(played.outcome))


def test_every_stream_holds_the_end_and_the_return_of_its_episode(ended):
    assert all(episode.terminated for episode in ended)
    assert any(episode.num_steps % 4 for episode in ended)
    assert sum(episode.total_reward for episode in ended) > 0
    data = load(ended, offsets=ALL)
    for index, episode in enumerate(ended):
        for offset in ALL:
            stream = data.only((data.episodes == index) & (data.offsets == offset))
            assert stream.terminated.tolist() == [False] * (len(stream) - 1) + [True]
            assert not stream.truncated.any()
            assert stream.rewards.sum() == episode.total_reward
            assert stream.held.sum() == episode.num_steps
    assert data.returns().tolist() == [episode.total_reward for episode in ended]


def test_the_acting_action_gets_the_rewards_of_its_own_steps(ended):
    (episode, *_) = ended
    rewards = episode.rewards()
    for offset in ALL:
        data = load([episode], offsets=[offset])
        for index in range(len(data)):
            start = data.steps[index]
            assert data.rewards[index] == rewards[start : start + data.held[index]].sum()
            assert data.held[index] == (4 if start >= offset else offset) or index == len(data) - 1


def test_what_was_seen_next_is_what_the_next_decision_sees(ended):
    data = load(ended[:1], offsets=ALL)
    before, after = data.pairs(np.arange(len(data)))
    same = np.flatnonzero(~(data.terminated | data.truncated))
    np.testing.assert_array_equal(after[same], before[same + 1])
    episode = ended[0]
    (*_, (_, final)) = episode.observations("dqn")
    of_first = np.flatnonzero(data.offsets == 0)
    np.testing.assert_array_equal(after[of_first[-1]], final)


def test_an_episode_that_was_cut_off_is_truncated_and_not_terminated(archive):
    data = load(archive.episodes(seeds=[2]), offsets=ALL)
    ends = np.flatnonzero(data.truncated)
    assert len(ends) == 4
    assert not data.terminated.any()


def test_what_was_read_is_kept_and_mapped_again(archive, tmp_path):
    episodes = archive.episodes(actor="scripted")
    seen = []
    first = load(episodes, cache=tmp_path, on_episode=seen.append)
    again = load(episodes, cache=tmp_path, on_episode=seen.append)
    assert seen == [1, 2, 3, 4], "read once"
    assert isinstance(again.pictures, np.memmap)
    which = np.arange(len(first))
    np.testing.assert_array_equal(again.observations(which), load(episodes).observations(which))
    load(episodes[:2], cache=tmp_path)
    load(episodes, offsets=(1,), cache=tmp_path)
    assert len(list(tmp_path.glob("*/index.json"))) == 3, "another query is kept apart"


def test_a_reading_that_was_killed_leaves_nothing_that_counts(archive, tmp_path):
    def stop(done):
        raise KeyboardInterrupt

    episodes = archive.episodes(seeds=[1, 2])
    with pytest.raises(KeyboardInterrupt):
        load(episodes, cache=tmp_path, on_episode=stop)
    assert not list(tmp_path.glob("*/index.json"))
    part = next(tmp_path.glob("*.lock")).with_suffix("")
    (tmp_path / f".{part.name}.part").mkdir()  # as after a SIGKILL
    (tmp_path / f".{part.name}.part" / "pictures.raw").write_bytes(b"half")
    assert len(load(episodes, cache=tmp_path)) == 50 + 31
    assert not list(tmp_path.glob(".*part"))


def test_a_full_disk_says_so_and_leaves_nothing(archive, tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, before[1]))  # forty pictures
    try:
        with pytest.raises(TransitionError, match=r"the disk is full: there is no room in .*\nFree some space"):
            load(archive.episodes(seeds=[1, 2]), cache=tmp_path / "cache")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]


def test_numbers_of_a_world_are_observations_too(tmp_path):
    archive = interplay.record.open(tmp_path / "data")
    episode = play(archive, LAKE, 1, 500, lambda rng: int(rng.integers(4)))
    data = load([episode], observation="state", offsets=ALL)
    assert data.observation_shape == (16,)
    places = np.eye(16)[episode.raw_observations()]
    np.testing.assert_array_equal(data.observations(np.arange(len(data))), places[:-1])
    np.testing.assert_array_equal(data.pairs(np.array([len(data) - 1]))[1][0], places[-1])
    assert data.terminated.tolist() == [False] * (episode.num_steps - 1) + [True]
    archive.close()


def test_a_world_without_numbers_says_what_to_choose(archive):
    with pytest.raises(TransitionError, match=r"keeps pictures but no numbers.*\nChoose a pipeline of pictures, such as dqn"):
        load(archive.episodes(seeds=[1]), observation="state")


def test_each_seat_has_its_own_actions_rewards_and_owners(tmp_path):
    archive = interplay.record.open(tmp_path / "data")
    task = find("overcooked/cramped_room")
    env = make(task)
    owners = {"first": Owner("ann", "human"), "second": Owner("bot", "agent")}
    recorder = archive.recorder(task, env, seed=1, owners=owners)
    played = RecordedEpisode(env, recorder, max_steps=9)
    played.start(1)
    for step in range(9):
        played.step({"first": step % 3, "second": 4})
    env.close()
    episode = archive.seal(recorder.finish("quit"))
    first, second = (load([episode], observation="native", seat=seat) for seat in task.seats)
    assert first.actions.tolist() == [0, 1, 2] * 3
    assert second.actions.tolist() == [4] * 9
    assert (first.names, second.names) == ((("ann", "human"),), (("bot", "agent"),))
    with pytest.raises(TransitionError, match="hold no step"):
        load([episode], observation="native", seat="second", actor="human")
    archive.close()


def test_what_a_seat_did_ends_with_its_own_game(tmp_path, monkeypatch):
    """Of three runners the first falls, the second is cut off, and the world's limit cuts off the third."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "envs")
    task = replace(LAKE, env=EnvSpec("pettingzoo:relay_race:relay_race-v0"), seats=("x", "y", "z"))
    env = make(task)
    archive = interplay.record.open(tmp_path / "data")
    experts = dict.fromkeys(task.seats, "careful")
    recorder = archive.recorder(task, env, seed=1, actor="random", actor_kind="agent", experts=experts)
    played = RecordedEpisode(env, recorder)
    played.start(1)
    while played.outcome is None:
        played.step(dict.fromkeys(task.seats, 1), labels=dict.fromkeys(task.seats, int(played.num_steps >= 2)))
    episode = archive.seal(recorder.finish(played.outcome))
    assert episode.terminated, "as every game in which somebody terminated"
    for seat, num_steps, terminated in (("x", 2, True), ("y", 3, False), ("z", 5, False)):
        data = load([episode], observation="state", seat=seat)
        assert (data.terminated[-1], data.truncated[-1], len(data)) == (terminated, not terminated, num_steps)
        assert data.pairs(np.array([num_steps - 1]))[1].tolist() == [env.state_of(seat).tolist()], "its own numbers alone"
        game = game_of(episode, seat, "random", num_steps)
        assert (game.num_own, game.num_matched) == (num_steps, num_steps - 2), "a round of an expert counts these steps alone"
    archive.close()


def test_recordings_of_an_older_release_are_learned_from(tmp_path):
    """Those that `tests/record/data` holds: one that the world ended, one that a person quit, one of numbers."""
    folder = Path(__file__).parents[1] / "record" / "data" / "schema-2"
    old = {name: Episode.open(folder / f"{name}.parquet") for name in ("breakout", "invaders", "cartpole")}
    for name, observation, earned, terminated, truncated in (
        ("breakout", "dqn", 2.0, True, False), ("invaders", "dqn", 0.0, False, True), ("cartpole", "state", 9.0, True, False),
    ):  # fmt: skip
        data = load([old[name]], observation=observation)
        assert data.returns().tolist() == [earned], name
        assert (data.terminated[-1], data.truncated[-1]) == (terminated, truncated), name
        assert data.held.sum() == old[name].num_steps, name
    with closing(interplay.record.open(tmp_path / "data")) as archive:
        settings = BCConfig("atari/space_invaders", updates=2, batch_size=8, threads=1)
        result = train(archive, settings, "from-before", episodes=[old["invaders"]])
        assert result.num_decisions == 75


def test_pictures_of_different_sizes_are_refused(archive):
    lake = play(archive, LAKE, 1, 5, lambda rng: 0)
    with pytest.raises(TransitionError, match=r"of different sizes, \(210, 160, 3\) and \(256, 256, 3\)\n.*such as dqn"):
        load([*archive.episodes(seeds=[2], task="atari/space_invaders"), lake], observation="native")


def test_a_seat_that_is_not_there_is_named(archive):
    with pytest.raises(RecordingError, match="has no seat 'second'; seats are player"):
        load(archive.episodes(seeds=[2]), seat="second")

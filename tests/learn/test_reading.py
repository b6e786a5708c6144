"""Transitions are what the live agent would have seen, the action that was held, and what it brought."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from toy_transitions import make_transitions

from interplay.envs import make, pipeline
from interplay.envs.info import SeatEnd
from interplay.envs.observation import observe
from interplay.learn import TransitionError, load
from interplay.learn.reading import held_actions
from interplay.record import Owner, RecordedEpisode
from interplay.tasks import find

TASK = find("atari/space_invaders")


def test_every_stack_is_the_observation_of_its_step(archive):
    episodes = archive.episodes(actor="scripted")
    data = load(episodes)
    position = 0
    for index, episode in enumerate(episodes):
        for step, observation in episode.observations("dqn"):
            if step == episode.num_steps:
                continue  # nothing was done after the last frame
            np.testing.assert_array_equal(data.observations(np.array([position]))[0], observation)
            assert data.actions[position] == episode.actions()[step]  # the scripted player decides on these very frames
            assert data.episodes[position] == index
            position += 1
    assert position == len(data)


def test_a_last_decision_with_fewer_steps_is_kept(archive):
    data = load(archive.episodes(actor="scripted", seeds=[1, 2, 3]))
    assert [(count.num_steps, count.num_decisions) for count in data.counts] == [(200, 50), (121, 31), (183, 46)]


def test_each_picture_is_kept_once(archive):
    data = load(archive.episodes(actor="scripted"))
    assert len(data.pictures) == len(data) + len(data.counts)  # and how each episode ended
    assert data.pictures.dtype == np.uint8


def test_offsets_read_the_decisions_between(archive):
    (episode,) = archive.episodes(seeds=[2])
    data = load([episode], offsets=(0, 1, 2, 3))
    assert np.bincount(data.offsets).tolist() == [31, 31, 31, 31]  # 121 steps; a first decision lasts to the offset
    frames, actions = list(episode.frames), episode.actions()
    of_2 = data.only(data.offsets == 2)
    assert of_2.steps[:3].tolist() == [0, 2, 6]
    assert of_2.held[[0, 1, -1]].tolist() == [2, 4, 3]
    first = pipeline("dqn").reset(frames[0])[-1]
    expected = [np.stack([first] * 4)]
    for _, seen in observe(pipeline("dqn"), frames[2:]):  # from its frame on what an episode that begins there would show
        expected.append(np.stack([*expected[-1][1:], seen[-1]]))
    np.testing.assert_array_equal(of_2.observations(np.arange(31)), expected[:-1])
    np.testing.assert_array_equal(of_2.pairs(np.arange(31))[1], expected[1:])
    np.testing.assert_array_equal(of_2.actions[1:], held_actions(actions[2:], np.arange(0, 119, 4)))


def test_the_label_is_the_action_held_longest_and_ties_go_to_the_first():
    assert held_actions(np.array([3, 3, 4, 4, 4, 3, 4, 4, 9, 8, 8, 9, 1, 2]), np.arange(0, 14, 4)).tolist() == [3, 4, 9, 1]
    assert held_actions(np.array([5]), np.array([0])).tolist() == [5]


def test_an_episode_of_one_step_is_one_decision(archive):
    from interplay.agents import find as find_agent
    from interplay.agents import rollout

    episode = rollout(archive, TASK, find_agent("noop"), 9, rng=np.random.default_rng(0), max_steps=1)
    data = load([episode], offsets=(0, 1, 3))
    assert (data.actions.tolist(), data.truncated.tolist()) == ([0] * 3, [True] * 3), "each stream holds the end"
    for place in range(3):
        before, after = data.pairs(np.array([place]))
        np.testing.assert_array_equal(before[0], after[0][[0, 0, 0, 2]])


def test_splitting_keeps_episodes_together():
    data = make_transitions(np.zeros((50, 1), np.float32), np.zeros(50), 5)
    training, validation = data.split(0.2, rng=np.random.default_rng(0))
    assert (len(training), len(validation)) == (40, 10)
    assert not set(data.episodes[training]) & set(data.episodes[validation])
    assert len(data.split(0.01, rng=np.random.default_rng(0))[1]) == 10  # at least one episode
    assert len(data.split(0.9, rng=np.random.default_rng(0))[0]) == 10  # and at least one to learn from
    assert len(data.split(0.0, rng=np.random.default_rng(0))[1]) == 0


def test_nothing_to_learn_from_is_an_error():
    with pytest.raises(TransitionError, match="hold no step"):
        load([])
    with pytest.raises(ValueError, match=r"offsets must lie between 0 and 3, got \(4,\)"):
        load([], offsets=(4,))


def test_actions_that_are_no_whole_numbers_are_refused(archive):
    class Continuous:
        id, task_id, sha256 = "e1", "mine/pendulum", "0"
        header = SimpleNamespace(seats=("player",), action_spaces={"player": gymnasium.spaces.Box(-2, 2)})

        def actions(self, seat):
            return np.zeros((5, 1), np.float32)

        def rewards(self, seat):
            return np.zeros(5)

        def ended(self, seat):
            return 5, (False, True)

    with pytest.raises(TransitionError, match=r"has actions in Box\(-2.0, 2.0.*needs one whole number per step"):
        load([Continuous()])


def test_recorded_pictures_equal_those_of_a_live_world(archive):
    (episode,) = archive.episodes(seeds=[3])
    env = make(TASK)
    env.reset(seed=3)
    view = pipeline("dqn")
    live = [view.reset(env.view())]
    for action in episode.actions():
        env.step({"player": action})
        observation = view.push(env.view(), ended=False)
        if observation is not None:
            live.append(observation)
    data = load([episode])
    np.testing.assert_array_equal(data.observations(np.arange(len(data))), live[: len(data)])


def test_what_an_agent_did_at_a_shared_wheel_is_nobodys_demonstration(archive):
    env = make(TASK)
    recorder = archive.recorder(TASK, env, seed=77, owners={"player": Owner("ann", "human")})
    played = RecordedEpisode(env, recorder)
    played.start(77)
    for step in range(100):
        owner = "scripted" if 30 <= step < 61 else "ann"
        played.step({"player": 3 if owner == "ann" else 4}, owners={"player": owner})
    episode = archive.seal(recorder.finish("quit"))
    env.close()
    everyone, ann, scripted = (load([episode], actor=actor) for actor in (None, "human", "scripted"))
    assert [len(one) for one in (everyone, ann, scripted)] == [25, 7 + 9, 7]  # steps 28 to 31 and 60 to 63 are of both
    assert set(ann.actions) == {3}
    assert set(scripted.actions) == {4}
    wanted = [*range(7), *range(16, 25)]
    np.testing.assert_array_equal(ann.observations(np.arange(16)), everyone.observations(np.array(wanted)))


@pytest.mark.parametrize(
    ("name", "keep"), [("pictures.raw", 0.9), ("rewards.npy", 0.5), ("index.json", 0.5), ("steps.npy", None)]
)
def test_what_was_read_is_read_again_where_a_file_lost_its_end_or_is_missing(archive, tmp_path, name, keep):
    episodes = archive.episodes(seeds=[2])
    whole = load(episodes, cache=tmp_path)
    (path,) = tmp_path.glob(f"*/{name}")
    data = path.read_bytes()
    path.unlink()
    if keep is not None:
        path.write_bytes(data[: int(len(data) * keep)])
    again = load(episodes, cache=tmp_path)
    np.testing.assert_array_equal(again.pictures, whole.pictures)
    np.testing.assert_array_equal(again.rewards, whole.rewards)
    assert path.read_bytes() == data


def test_an_observation_that_is_no_number_is_named():
    class Blind:
        id, task_id, seed, sha256, seats = "e1", "mine/cart", 9, "0", ()
        header = SimpleNamespace(
            observation_space=Box(-np.inf, np.inf, (2,)), seats=("player",), action_spaces={"player": Discrete(2)}
        )

        def actions(self, seat):
            return np.zeros(4, np.int64)

        def labels(self, seat):
            return None

        def ended(self, seat):
            return 4, SeatEnd(False, True)

        def raw_observations(self):
            return [np.array([0, np.nan if step == 2 else 1], np.float32) for step in range(5)]

    said = r"episode e1 of mine/cart has NaN or an infinite number in the observation of step 2\nMend .*'seed != 9'"
    with pytest.raises(TransitionError, match=said):
        load([Blind()], observation="state")

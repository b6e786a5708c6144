"""`Recording`: any environment of one agent, in the user's own loop."""

import signal
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from warm_process import WarmProcess

from interplay.envs import make
from interplay.record import Recording, RecordingError, verify


class Walk(gymnasium.Env):
    """Ends at the fourth step; uses its arrays again, and is registered nowhere."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 10}
    action_space = spaces.Box(-1, 1, (2,), np.float32)
    observation_space = spaces.Dict({"place": spaces.Box(-9, 9, (2,), np.float32), "phase": spaces.Discrete(5)})

    def __init__(self, render_mode: str | None = "rgb_array") -> None:
        self.render_mode = render_mode
        self.place = np.zeros(2, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place[:] = (options or {}).get("start", 0)
        self.phase = 0
        return self._seen(), {"phase": 0}

    def step(self, action):
        self.place += action
        self.phase += 1
        return self._seen(), float(action[0]), self.phase == 4, False, {"phase": self.phase}

    def _seen(self):
        return {"place": self.place, "phase": self.phase}

    def render(self):
        return np.full((32, 48, 3), 40 * self.phase, np.uint8)


def play(env, seed=None, num_steps=10_000):
    """Random actions until the end; what was given and what came of it."""
    observation, _ = env.reset(seed=seed)
    actions, results = [], [(observation,)]
    for _ in range(num_steps):
        actions.append(env.action_space.sample())
        results.append(env.step(actions[-1]))
        if results[-1][2] or results[-1][3]:
            break
    return actions, results


def test_each_episode_of_a_loop_is_sealed_and_replays(archive):
    """Nothing was drawn: verify compares what CartPole returned, and the frames are drawn again."""
    with Recording(gymnasium.make("CartPole-v1"), archive, actor="me", task="mine/cartpole") as env:
        env.action_space.seed(1)
        played = [play(env, seed=7), play(env), play(env)]
    episodes = archive.episodes(task="mine/cartpole", actor="me")
    assert episodes[0].seed == 7
    assert len({episode.seed for episode in episodes}) == 3
    for episode, (actions, results) in zip(episodes, played, strict=True):
        assert episode.actions().tolist() == [int(action) for action in actions]
        assert episode.rewards().tolist() == [result[1] for result in results[1:]]
        np.testing.assert_array_equal(episode.raw_observations(), np.stack([result[0] for result in results]))
        assert (episode.outcome, episode.terminated, episode.truncated) == ("terminated", True, False)
        assert episode.steps().column("frame_hash").null_count == episode.num_steps + 1
        assert verify(episode).equal
        assert verify(episode).replayed
    assert episodes[0].frames[3].pixels.shape == (400, 600, 3)
    assert list(archive.journal_folder.iterdir()) == []


def test_seeds_that_are_drawn_follow_from_the_one_that_was_given(archive):
    """As with Gymnasium's own generator: `reset(seed=3)`, then `reset()`, is the same run again."""
    seeds = []
    for _ in range(2):
        with Recording(gymnasium.make("CartPole-v1"), archive, actor="me") as env:
            for seed in (3, None):
                play(env, seed, num_steps=1)
                env.reset()
                seeds.append(env.episode.seed)
    assert seeds[:2] == seeds[2:]
    assert seeds[0] == 3


def test_the_time_limit_truncates_and_the_picture_is_hashed_where_one_is_drawn(archive):
    env = Recording(gymnasium.make("Pendulum-v1", render_mode="rgb_array", max_episode_steps=5), archive, actor="me")
    play(env, seed=1)
    env.close()
    assert (env.episode.num_steps, env.episode.terminated, env.episode.truncated) == (5, False, True)
    assert env.episode.outcome == "time_limit"
    assert env.episode.steps().column("frame_hash").null_count == 0
    assert verify(env.episode).equal


def test_an_action_of_another_dtype_is_given_as_it_is_recorded(archive):
    """float64 would move a pendulum otherwise than the float32 that is kept."""
    env = Recording(gymnasium.make("Pendulum-v1"), archive, actor="me")
    env.reset(seed=5)
    action = np.array([0.1], np.float64)
    for _ in range(20):
        env.step(action)
        action *= -1.01  # the loop uses its array again
    env.close()
    assert np.sign(env.episode.actions()[:, 0]).tolist() == [1, -1] * 10
    assert verify(env.episode).equal


def test_what_cannot_be_played_again_keeps_observations_and_pictures(archive):
    with Recording(Walk(), archive, actor="me", task="mine/walk") as env:
        env.reset(options={"start": 3})
        for _ in range(4):
            env.step([0.5, -0.5])
    (episode,) = archive.episodes(task="mine/walk")
    assert (episode.frame_policy, episode.outcome, episode.num_steps) == ("video", "terminated", 4)
    assert [seen["place"].tolist() for seen in episode.raw_observations()] == [[3 + n / 2, 3 - n / 2] for n in range(5)]
    assert [round(frame.pixels.mean(), -1) for frame in episode.frames] == [0, 40, 80, 120, 160]
    assert episode.statistics["phase"] == 4
    assert verify(episode).equal
    assert not verify(episode).replayed


def test_a_world_of_interplay_is_recorded_under_its_own_task(archive):
    env = Recording(make("atari/breakout"), archive, actor="me", actor_kind="human")
    play(env, seed=2, num_steps=30)
    env.close()
    assert (env.episode.task_id, env.episode.actor_kind, env.episode.outcome) == ("atari/breakout", "human", "quit")
    assert verify(env.episode).equal


def test_reset_and_close_in_the_middle_keep_what_was_played_as_truncated(archive):
    env = Recording(gymnasium.make("CartPole-v1"), archive, actor="me")
    env.reset(seed=1)
    env.reset(seed=2)  # no step was made: no episode
    env.step(0)
    env.reset(seed=3)
    env.step(1)
    env.close()
    env.close()
    episodes = archive.episodes()
    assert [(one.seed, one.num_steps, one.terminated, one.truncated, one.outcome) for one in episodes] == [
        (2, 1, False, True, "quit"),
        (3, 1, False, True, "quit"),
    ]
    assert all(verify(episode).equal for episode in episodes)


def test_a_killed_loop_leaves_what_the_journal_has(archive):
    loop = WarmProcess([str(Path(__file__).with_name("recording_loop.py")), str(archive.root)])
    assert loop.stdout is not None
    steps = []
    for line in loop.stdout:
        steps.append((int(line.split()[0]), float(line.split()[1])))
        if len(steps) == 120:
            break
    loop.kill()
    loop.stdout.close()
    assert loop.wait() == -signal.SIGKILL
    owed = max(step for step, when in steps if steps[-1][1] - when > 1.0)
    (episode,) = archive.repair().sealed
    assert episode.num_steps >= owed > 20
    assert (episode.actor, episode.outcome, episode.truncated) == ("victim", "interrupted", True)
    assert verify(episode).equal


def test_misuse_is_said_in_words(archive):
    env = Recording(gymnasium.make("CartPole-v1"), archive, actor="me")
    with pytest.raises(RecordingError, match=r"no episode is running: call env.reset\(\) before env.step\(action\)"):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(RecordingError, match=r"the action 2 is not in Discrete\(2\); nothing was done or recorded"):
        env.step(2)
    with pytest.raises(RecordingError, match="recorded already, and the steps of two recordings would be mixed"):
        Recording(env, archive, actor="other")
    while not any(env.step(1)[2:4]):
        pass
    with pytest.raises(RecordingError, match=rf"the last one, {env.episode.id}, has ended and is sealed; call env.reset\(\)"):
        env.step(0)
    with pytest.raises(RecordingError, match=r"so reset takes no options; got \{'low': -0.1\}"):
        env.reset(options={"low": -0.1})
    env.close()
    with pytest.raises(RecordingError, match="this recording is closed; wrap the environment again"):
        env.reset()


@pytest.mark.parametrize(
    ("env", "options", "error"),
    [
        (lambda: Walk("human"), {}, r"Walk was made with render_mode='human', but a recording needs 'rgb_array' or none"),
        (lambda: Walk(), {"deterministic": True}, "Say that it is not deterministic:  Recording"),
        (lambda: gymnasium.make("CartPole-v1"), {"task": "CartPole"}, "a task is called SUITE/NAME"),
        (lambda: make("together/cooperative_pong"), {}, "has the seats left, right, and a Recording is for one agent"),
        (lambda: make("atari/breakout"), {"task": "atari/qbert"}, "the environment plays atari/breakout; leave out task="),
    ],
)
def test_an_environment_that_cannot_be_recorded_is_refused_at_once(archive, env, options, error):
    with pytest.raises(RecordingError, match=error):
        Recording(env(), archive, actor="me", **options)


def test_a_task_of_another_environment_is_refused(archive, cartpole):
    with pytest.raises(
        RecordingError, match=r"task lab/cartpole is played in gym:CartPole-v1, and the environment is Pendulum"
    ):
        Recording(gymnasium.make("Pendulum-v1"), archive, actor="me", task=cartpole)
    with pytest.raises(RecordingError, match="or has other arguments"):
        Recording(gymnasium.make("CartPole-v1", sutton_barto_reward=True), archive, actor="me", task=cartpole)
    with Recording(gymnasium.make("CartPole-v1"), archive, actor="me", task=cartpole) as env:
        play(env, num_steps=3)
    assert env.episode.task_hash == cartpole.content_hash


def test_a_space_that_cannot_be_recorded_is_refused_at_once(archive):
    env = Walk()
    env.observation_space = spaces.Sequence(spaces.Discrete(2))  # type: ignore[assignment]
    with pytest.raises(RecordingError, match="Wrap the environment so that its actions and observations use those"):
        Recording(env, archive, actor="me")


class Given(gymnasium.Env):
    """Observes what a test gives it, step by step."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 10}
    action_space = spaces.Discrete(2)

    def __init__(self, space, values, render_mode="rgb_array"):
        self.observation_space, self.values, self.render_mode = space, values, render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.values[0], {}

    def step(self, action):
        self.steps += 1
        return self.values[self.steps], 1.0, False, self.steps == len(self.values) - 1, {}

    def render(self):
        return np.zeros((16, 16, 3), np.uint8)


def test_a_value_that_would_be_changed_ends_the_episode_with_what_came_before(archive):
    space = spaces.Box(0, 255, (1,), np.uint8)
    values = [[1], [2], [3], np.array([300]), [5]]
    with Recording(Given(space, [np.array(value) for value in values]), archive, actor="me", deterministic=False) as env:
        env.reset(seed=1)
        env.step(0)
        env.step(1)
        with pytest.raises(RecordingError, match=r"300 is not a value of Box.*, and uint8 would change it\nCorrect the space"):
            env.step(0)
        with pytest.raises(RecordingError, match="no episode is running"):
            env.step(0)
    (episode,) = archive.episodes()
    assert (episode.raw_observations().ravel().tolist(), episode.outcome) == ([1, 2, 3], "interrupted")


def test_an_observation_without_elements_and_keys_that_are_numbers_are_recorded(archive):
    space = spaces.Dict(
        {1: spaces.Box(0, 1, (0,), np.uint8), 2: spaces.Dict(), 3: spaces.Box(0, 1, (2, 0)), 4: spaces.Discrete(9)}
    )
    values = [{1: np.zeros(0, np.uint8), 2: {}, 3: np.zeros((2, 0), np.float32), 4: step} for step in range(4)]
    with Recording(Given(space, values), archive, actor="me", deterministic=False) as env:
        play(env, seed=1)
    (episode,) = archive.episodes()
    assert episode.header.observation_space == space
    assert [value[4] for value in episode.raw_observations()] == [0, 1, 2, 3]
    assert episode.raw_observations()[0][3].shape == (2, 0)
    assert verify(episode).equal


def test_a_seed_that_no_catalogue_holds_is_refused_at_reset(archive):
    with Recording(gymnasium.make("CartPole-v1"), archive, actor="me") as env:
        with pytest.raises(RecordingError, match=r"from 0 to 2\*\*63 - 1, got 9223372036854775808\nTake its remainder"):
            env.reset(seed=2**63)
        env.reset(seed=2**63 - 1)
        env.step(0)
    assert archive.episodes()[0].seed == 2**63 - 1

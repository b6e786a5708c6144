"""The one loop over an episode: limits, seats, and what is counted when something fails."""

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest

from interplay.envs import Frame, PlayableEnv, make
from interplay.record import RecordedEpisode, RecordingError
from interplay.tasks import find


class Rope(PlayableEnv):
    """Two seats pull a knot along a rope of eleven places; it ends when the knot is at an end."""

    deterministic = True
    frame_policy = "replay"

    def __init__(self, task) -> None:
        self.task = task
        self.action_space = gymnasium.spaces.Dict({seat: gymnasium.spaces.Discrete(2) for seat in task.seats})
        self.observation_space = gymnasium.spaces.Dict({seat: gymnasium.spaces.Discrete(11) for seat in task.seats})
        self.knot = 5

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        self.knot = 5
        return dict.fromkeys(self.task.seats, self.knot), {"knot": self.knot}

    def step(self, action):
        first, second = self.task.seats
        if action[first] not in (0, 1):
            raise ValueError(f"no such pull: {action[first]}")
        self.knot += int(action[second]) - int(action[first])
        rewards = {first: float(5 - self.knot), second: float(self.knot - 5)}
        return dict.fromkeys(self.task.seats, self.knot), rewards, self.knot in (0, 10), False, {"knot": self.knot}

    def view(self) -> Frame:
        picture = np.zeros((8, 11, 3), np.uint8)
        picture[:, self.knot] = 255
        return Frame(picture)


@pytest.fixture
def rope() -> Rope:
    return Rope(replace(find("atari/breakout"), id="lab/rope", seats=("left", "right"), max_steps=40))


@pytest.mark.parametrize(("given", "expected"), [(None, 20), (7, 7), (100, 20)])
def test_the_step_limit_cuts_off_in_one_place(given, expected):
    """The nearer limit counts, of the task or of the caller."""
    with_limit = replace(find("atari/breakout"), max_steps=20)
    episode = RecordedEpisode(make(with_limit), max_steps=given)
    episode.start(seed=1)
    while episode.outcome is None:
        step = episode.step({"player": 0})
        assert step.truncated == (episode.num_steps == expected)
    assert (episode.num_steps, episode.outcome, step.terminated) == (expected, "time_limit", False)


def test_a_limit_below_one_step_is_refused():
    with pytest.raises(ValueError, match="max_steps must be at least 1, got 0"):
        RecordedEpisode(make("atari/breakout"), max_steps=0)


def test_the_last_allowed_step_may_still_terminate(rope):
    """Gymnasium's rule: what the world ended is not cut off."""
    episode = RecordedEpisode(rope, max_steps=5)
    episode.start(seed=0)
    for _ in range(5):
        step = episode.step({"left": 0, "right": 1})
    assert (step.terminated, step.truncated, episode.outcome) == (True, False, "terminated")


def test_several_seats_act_at_once_and_earn_apart(rope):
    episode = RecordedEpisode(rope)
    observation, info = episode.start(seed=0)
    assert (observation, info) == ({"left": 5, "right": 5}, {"knot": 5})
    assert episode.step({"left": 0, "right": 1}).rewards == {"left": -1.0, "right": 1.0}
    assert episode.step({"left": 1, "right": 1}).observations == {"left": 6, "right": 6}


def test_a_shared_reward_is_the_sum_for_each_seat(rope):
    """By hand: the knot at 6 gives -1 and 1, which is 0 for both; alone, each keeps their own."""
    together = Rope(replace(rope.task, reward="shared"))
    episode = RecordedEpisode(together)
    episode.start(seed=0)
    assert episode.step({"left": 0, "right": 1}).rewards == {"left": 0.0, "right": 0.0}


@pytest.mark.parametrize("joint_action", [{}, {"left": 0}, {"left": 0, "right": 0, "middle": 0}, {"player": 1}])
def test_a_step_without_an_action_of_each_seat_is_refused(rope, joint_action):
    episode = RecordedEpisode(rope)
    episode.start(seed=0)
    with pytest.raises(RecordingError, match=r"lab/rope needs one action for each seat \(left, right\); got actions for"):
        episode.step(joint_action)
    assert (episode.num_steps, rope.knot) == (0, 5)


def test_an_error_of_the_world_counts_no_step(rope):
    episode = RecordedEpisode(rope)
    episode.start(seed=0)
    with pytest.raises(ValueError, match="no such pull"):
        episode.step({"left": 9, "right": 0})
    assert episode.num_steps == 0


def test_what_is_stepped_is_what_is_recorded(archive, invaders):
    """Actions, rewards and the clock of a game at its own frame rate, and the cut at the limit."""
    env = make(invaders)
    recorder = archive.recorder(invaders, env, seed=3, actor="tester", actor_kind="agent")
    episode = RecordedEpisode(env, recorder, max_steps=90)
    episode.start(seed=3)
    rewards = []
    while episode.outcome is None:
        rewards.append(episode.step({"player": episode.num_steps // 7 % 6}).rewards["player"])
    sealed = archive.seal(recorder.finish(episode.outcome))
    assert sealed.actions().tolist() == [step // 7 % 6 for step in range(90)]
    assert sealed.rewards().tolist() == rewards
    assert (sealed.num_steps, sealed.truncated, sealed.terminated, sealed.outcome) == (90, True, False, "time_limit")
    assert sealed.steps().column("time_us").to_pylist()[:3] == [16_667, 33_333, 50_000]

"""Every agent keeps the protocol; names lead to agents or to a helpful error; rollouts record what the agent saw."""

import sys

import numpy as np
import pytest

from interplay import agents, envs
from interplay.agents import AgentError, check_agent, find, rollout
from interplay.agents.scripted import BRAINS, ScriptedPlayer
from interplay.errors import NotFoundError
from interplay.tasks import builtin_suites, parse_suite
from interplay.tasks import find as find_task

TASK = find_task("atari/space_invaders")
ATARI = [task for suite in builtin_suites() if suite.id == "atari" for task in suite.tasks]

CART_POLE = parse_suite("""
suite = { id = "mine", title = "Mine" }
[[task]]
name = "pole"
title = "Pole"
goal = "Balance."
instructions = "Balance."
frame_rate_hz = 30
time_limit_s = 2
held_out_seeds = [1]
env.id = "gym:CartPole-v1"
keys.buttons = ["LEFT", "RIGHT"]
keys.bindings = { ArrowLeft = "LEFT", ArrowRight = "RIGHT" }
keys.actions = { "" = 0, "LEFT" = 0, "RIGHT" = 1 }
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who?" }]
""").tasks[0]


@pytest.fixture
def archive(new_archive, tmp_path):
    archive = new_archive(tmp_path / "data")
    yield archive
    archive.close()


class Watcher:
    """Draws actions and remembers what it saw."""

    name = "watcher"
    observation = "dqn"

    def reset(self, task, *, rng):
        self.rng, self.seen = rng, []

    def act(self, observation):
        self.seen.append(observation.copy())
        return int(self.rng.integers(18))


@pytest.mark.parametrize("name", ["random", "noop"])
@pytest.mark.parametrize("task", [TASK, CART_POLE], ids=lambda task: task.id)
def test_simple_agents_keep_the_protocol(name, task):
    check_agent(find(name), task)


@pytest.mark.parametrize("task", ATARI, ids=lambda task: task.name)
def test_every_atari_game_has_a_scripted_player_that_keeps_the_protocol(task):
    assert task.env.id in BRAINS
    check_agent(find("scripted"), task, num_decisions=400)


def test_random_holds_each_draw_for_four_frames():
    agent = find("random")
    agent.reset(TASK, rng=np.random.default_rng(3))
    drawn = np.array([agent.act(np.zeros((210, 160), np.uint8)) for _ in range(4000)]).reshape(-1, 4)
    assert (drawn == drawn[:, :1]).all()
    assert set(drawn[:, 0].tolist()) == set(range(18))


def test_random_draws_each_action_alike_though_two_keys_give_the_same():
    agent = find("random")
    agent.reset(CART_POLE, rng=np.random.default_rng(0))
    drawn = [agent.act(np.zeros((1, 1), np.uint8)) for _ in range(4000)]
    assert 0.4 < np.mean(drawn) < 0.6  # "" and LEFT are one action


@pytest.mark.slow
def test_scripted_space_invaders_is_far_above_random(archive):
    def mean_return(name):
        played = [rollout(archive, TASK, find(name), seed, rng=np.random.default_rng(seed)) for seed in (1, 2, 3)]
        return np.mean([episode.total_reward for episode in played])

    assert mean_return("scripted") >= 2 * mean_return("random")


def test_scripted_player_needs_a_task_it_knows():
    with pytest.raises(AgentError, match=r"no scripted player for gym:CartPole-v1 \(task mine/pole\)"):
        ScriptedPlayer(CART_POLE)
    with pytest.raises(AgentError, match="call reset"):
        ScriptedPlayer().act(np.zeros((210, 160), np.uint8))


# Names


def test_builtin_agents_are_listed(archive):
    assert [known.name for known in agents.names(archive)] == ["random", "noop", "scripted"]


def test_a_mistyped_name_offers_the_nearest():
    with pytest.raises(NotFoundError, match="unknown agent 'scriptd'; did you mean 'scripted'"):
        find("scriptd")


@pytest.fixture
def my_agents(tmp_path, monkeypatch):
    """A module of one's own."""
    (tmp_path / "my_agents.py").write_text(
        "from interplay.agents import RandomAgent\n"
        "class Good(RandomAgent):\n    name = 'good'\n"
        "class Nameless(RandomAgent):\n    name = ''\n"
        "class Blind(RandomAgent):\n    observation = 'dqm'\n"
        "class Idle:\n    name = 'idle'\n    observation = 'dqn'\n    def reset(self, task, *, rng): pass\n"
        "def fails():\n    raise RuntimeError('no weights here')\n"
        "number = 3\n"
    )
    (tmp_path / "broken_agents.py").write_text("import a_package_nobody_has\n")
    (tmp_path / "wrong_agents.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in ("my_agents", "broken_agents", "wrong_agents"):
        sys.modules.pop(name, None)


def test_module_and_factory_name_an_agent_of_ones_own(my_agents):
    agent = find("my_agents:Good")
    assert agent.name == "good"
    check_agent(agent, TASK)


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("no_such_module:agent", AgentError, "there is no module 'no_such_module'"),
        ("broken_agents:agent", AgentError, "needs 'a_package_nobody_has', which is not installed"),
        ("wrong_agents:agent", AgentError, "importing 'wrong_agents' failed: ZeroDivisionError"),
        ("my_agents:Goood", NotFoundError, "did you mean 'Good'"),
        ("my_agents:number", AgentError, "number is int, which cannot be called"),
        ("my_agents:fails", AgentError, r"fails\(\) failed: RuntimeError: no weights here"),
        ("my_agents:Nameless", AgentError, "Nameless.name must be a text, got ''"),
        ("my_agents:Idle", AgentError, "Idle has no method 'act'"),
        ("my_agents:Blind", NotFoundError, "unknown observation pipeline 'dqm'; did you mean 'dqn'"),
    ],
)
def test_factories_that_give_no_agent_say_why(my_agents, name, error, text):
    with pytest.raises(error, match=text):
        find(name)


# The contract


class Forgetful(Watcher):
    """Draws from a generator of its own."""

    own = np.random.default_rng(0)

    def act(self, observation):
        return int(self.own.integers(18))


class Scribbler(Watcher):
    def act(self, observation):
        observation[:] = 0
        return 0


class Wild(Watcher):
    def act(self, observation):
        return 18


@pytest.mark.parametrize(
    ("agent", "text"), [(Forgetful(), "not repeatable"), (Scribbler(), "changed its observation"), (Wild(), "chose 18")]
)
def test_check_agent_finds_broken_promises(agent, text):
    with pytest.raises(AgentError, match=text):
        check_agent(agent, TASK)


# Rollouts


def test_a_rollout_records_what_the_agent_saw_and_did(archive):
    agent = Watcher()
    episode = rollout(archive, TASK, agent, 7, rng=np.random.default_rng(1), max_steps=50)
    assert (episode.actor, episode.actor_kind, episode.seed, episode.num_steps) == ("watcher", "agent", 7, 50)
    actions = episode.actions()
    assert len(agent.seen) == 13  # decisions at steps 0, 4, ..., 48
    recorded = dict(episode.observations("dqn"))
    for decision, seen in enumerate(agent.seen):
        np.testing.assert_array_equal(recorded[4 * decision], seen)
        assert len(set(actions[4 * decision : 4 * decision + 4].tolist())) == 1
    assert episode.duration_s == pytest.approx(50 / 60, abs=1e-3)  # as if it had been played live


def test_the_same_seeds_give_the_same_rollout(archive):
    first, second = (rollout(archive, TASK, find("scripted"), 5, rng=np.random.default_rng(2), max_steps=400) for _ in range(2))
    other = rollout(archive, TASK, find("scripted"), 5, rng=np.random.default_rng(3), max_steps=400)
    np.testing.assert_array_equal(first.actions(), second.actions())
    assert not np.array_equal(first.actions(), other.actions())


def test_a_live_client_that_sees_only_frames_plays_as_the_rollout_does(archive):
    episode = rollout(archive, TASK, find("scripted"), 5, rng=np.random.default_rng(2), max_steps=300)
    player = ScriptedPlayer(TASK, rng=np.random.default_rng(2))
    env = envs.make(TASK)
    env.reset(seed=5)
    for action in episode.actions():
        assert player.act(env.view().pixels) == action
        env.step(action)


def test_an_agent_that_fails_keeps_what_was_recorded(archive):
    class Faints(Watcher):
        def act(self, observation):
            if len(self.seen) == 5:
                raise RuntimeError("out of ideas")
            return super().act(observation)

    with pytest.raises(RuntimeError, match="out of ideas"):
        rollout(archive, TASK, Faints(), 1, rng=np.random.default_rng(0))
    (episode,) = archive.episodes()
    assert (episode.num_steps, episode.outcome, episode.truncated) == (20, "interrupted", True)
    with pytest.raises(AgentError, match="chose 18 at step 0"):
        rollout(archive, TASK, Wild(), 2, rng=np.random.default_rng(0))


def test_an_agent_that_cannot_play_the_task_leaves_no_trace(archive):
    with pytest.raises(AgentError, match="no scripted player"):
        rollout(archive, CART_POLE, find("scripted"), 1, rng=np.random.default_rng(0))
    assert list(archive.journal_folder.iterdir()) == []


def test_any_gymnasium_task_can_be_played(archive):
    episode = rollout(archive, CART_POLE, find("random"), 3, rng=np.random.default_rng(0))
    assert episode.terminated
    assert 5 < episode.num_steps <= 60

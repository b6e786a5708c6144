"""Every agent keeps the protocol; names lead to agents or to a helpful error; rollouts record what the agent saw."""

import sys

import numpy as np
import pytest

from interplay import agents, envs
from interplay.agents import AgentError, Decision, SeatedAgent, check_agent, decide, find, rollout
from interplay.agents.base import as_agent
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


def test_every_atari_game_has_a_scripted_player_that_keeps_the_protocol():
    for task in ATARI:
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


@pytest.mark.long_proof
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


# The full form


class Counter:
    """Sees the whole scene, counts its decisions in the game's state, and holds each action for a while."""

    name = "counter"
    observation = "scene"

    def __init__(self, hold_steps=7):
        self.hold_steps = hold_steps
        self.seen = []

    def begin(self, task, *, rng):
        return {"rng": rng, "decisions": 0}

    def decide(self, observations, states):
        decisions = []
        for observation, state in zip(observations, states, strict=True):
            self.seen.append(observation)
            state["decisions"] += 1
            decisions.append(Decision((state["decisions"] + int(state["rng"].integers(3))) % 18, self.hold_steps))
        return decisions


def test_an_agent_in_the_full_form_sees_parts_and_holds_its_actions(archive):
    agent = Counter()
    check_agent(agent, TASK)
    agent.seen.clear()
    episode = rollout(archive, TASK, agent, 7, rng=np.random.default_rng(1), max_steps=50)
    assert len(agent.seen) == 8  # decisions at steps 0, 7, ..., 49
    actions = episode.actions()
    for start in range(0, 50, 7):
        assert len(set(actions[start : start + 7].tolist())) == 1
    first = agent.seen[0]
    assert list(first) == ["picture", "info", "text"]
    assert (first["picture"].shape, first["picture"].dtype) == ((210, 160, 3), np.uint8)
    assert (first["info"]["lives"].dtype, int(first["info"]["lives"])) == (np.int64, 3)
    assert first["text"] == TASK.instructions


def test_an_action_that_is_held_ends_with_the_first_observation_after_it(archive):
    agent = Counter(hold_steps=6)
    agent.observation = "dqn"  # an observation every fourth step: 6 steps become 8
    episode = rollout(archive, TASK, agent, 7, rng=np.random.default_rng(1), max_steps=40)
    assert [set(observation) for observation in agent.seen] == [{"picture"}] * 5
    actions = episode.actions()
    assert all(len(set(actions[start : start + 8].tolist())) == 1 for start in range(0, 40, 8))


class Muddled(Counter):
    """Keeps the count of all games in one place."""

    def begin(self, task, *, rng):
        self.decisions = 0
        return super().begin(task, rng=rng)

    def decide(self, observations, states):
        self.decisions += len(states)
        return [Decision(self.decisions % 18) for _ in states]


class Answers(Counter):
    """Decides as it was told."""

    def __init__(self, decisions):
        super().__init__()
        self.decisions = decisions

    def decide(self, observations, states):
        return self.decisions


class Painter(Counter):
    def decide(self, observations, states):
        observations[0]["info"]["lives"][...] = 99
        return super().decide(observations, states)


def test_check_agent_finds_broken_promises_of_the_full_form():
    for agent, text in [
        (Muddled(), "beside another game\nKeep what belongs to a game in the state that begin"),
        (Answers([3]), r"answered 3 at step 0, expected a Decision\(action, hold_steps\)"),
        (Answers([Decision(18)]), "chose 18 at step 0, which is not in"),
        (Answers([Decision(0, 0)]), "holds its action for 0 steps at step 0; expected 1 or more"),
        (Answers([Decision(0, 1.5)]), "holds its action for 1.5 steps"),
        (Answers([]), "made 0 decisions for 1 games"),
        (Painter(), "changed its observation at decision 0"),
    ]:
        with pytest.raises(AgentError, match=text):
            check_agent(agent, TASK)


def test_an_agent_in_the_full_form_needs_both_methods():
    class Half:
        name, observation = "half", "scene"

        def decide(self, observations, states):
            return []

    with pytest.raises(AgentError, match="Half has no method 'begin'"):
        check_agent(Half(), TASK)


def test_a_simple_agent_plays_one_game_at_a_time():
    agent = as_agent(find("random"))
    first = agent.begin(TASK, rng=np.random.default_rng(0))
    second = agent.begin(TASK, rng=np.random.default_rng(0))
    black = {"picture": np.zeros((210, 160), np.uint8)}
    assert agent.decide([black], [second])[0].hold_steps == 1
    for states in ([first], [first, second]):
        with pytest.raises(AgentError, match="agent 'random' plays one game at a time; build another one for each game"):
            agent.decide([black] * len(states), states)


def test_one_call_decides_for_one_agent():
    games = []
    for agent in (Counter(), Counter()):
        env = envs.make(TASK)
        _, info = env.reset(seed=1)
        seated = SeatedAgent(agent, TASK, rng=np.random.default_rng(0))
        seated.sit(env, "player", info)
        games.append(seated)
    with pytest.raises(AgentError, match="these seats have different agents"):
        decide(games)
    decide(games[:1])
    decide(games[:1])  # nothing waits any more
    assert len(games[0].agent.seen) == 1


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
        env.step({"player": action})


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

"""Environments of others: seats with actions of their own, late agents, one agent and many; odd pictures and rewards."""

from pathlib import Path

import gymnasium
import numpy as np
import odd_games
import pytest

import interplay.record
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.cli import main
from interplay.envs import EnvError, make
from interplay.record import Recording, verify
from interplay.record.gymnasium_task import task_of
from interplay.tasks import Task, TaskError
from interplay.tasks.load import parse_suite

SUITE = """
[suite]
id = "odd"
title = "Odd"
[defaults]
goal = "Play."
instructions = "Play."
frame_rate_hz = 10
time_limit_s = 6
held_out_seeds = [1, 2]
questions = [ { id = "overall", factor = "overall", kind = "overall", text = "Who?" } ]
[[task]]
name = "late"
title = "Late"
env.id = "pettingzoo:odd_games:odd_seats-v0"
seats = ["a", "b", "c"]
[task.keys]
buttons = ["A", "B"]
bindings = { KeyA = "A", KeyB = "B" }
actions = { "" = 1, "A" = 2, "B" = 3 }
[task.keys.seats]
a = { "" = [0, 0], "A" = [1, 2] }
c = { "" = { m = [0, 0] } }
"""
ALIKE = """
[[task]]
name = "many"
title = "Many"
env.id = "pettingzoo:odd_games:odd_seats-v0"
env.options = { kwargs = { agents = 12 } }
seats = ["NAMES"]
keys = { buttons = ["A"], bindings = { KeyA = "A" }, actions = { "" = 0, "A" = 1 } }
""".replace("NAMES", '", "'.join(f"s{number}" for number in range(12)))


@pytest.fixture
def late():
    return parse_suite(SUITE).tasks[0]


@pytest.mark.filterwarnings("ignore:.*Casting input x")
def test_a_seat_is_idle_until_its_agent_joins(late, archive):
    env = make(late)
    observation, _ = env.reset(seed=3)
    assert observation["c"] == {"x": pytest.approx([0, 0]), "n": 0}
    action = {"a": np.array([1, 1]), "b": 1, "c": {"m": np.zeros(2, np.float32)}}
    rewards = [env.step(action)[1] for _ in range(4)]
    assert [one["c"] for one in rewards] == [0.0, 0.0, 3.5, 4.5]  # it observes, and earns, from step 3 on
    env.close()
    for agent in ("random", "noop"):
        episode = rollout(archive, late, {seat: find_agent(agent) for seat in "abc"}, 5, rng=np.random.default_rng(1))
        assert (episode.num_steps, verify(episode).equal, verify(episode).replayed) == (8, True, True)


def test_the_keys_of_a_seat_are_its_own(late):
    assert late.keys.of("a").table[0b01] == [1, 2]
    assert late.keys.of("b").table[0b10] == 3
    assert Task.from_json(late.to_json()) == late
    assert late.setting.plain_noop("b") == 1
    assert late.setting.noops["a"] == [0, 0]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("[task.keys.seats]\na", "[task.keys.seats]\nd", "keys.seats.d: is not a seat of this task"),
        ('a = { "" = [0, 0], ', "a = { ", "seats.a: has no action for the case that no key is held"),
        ('"A" = [1, 2]', '"C" = [1, 2]', "seats.a.'C': 'C' is not a button of this task"),
    ],
)
def test_keys_of_a_seat_that_cannot_be_meant_are_refused(old, new, error):
    with pytest.raises(TaskError, match=error):
        parse_suite(SUITE.replace(old, new))


@pytest.mark.parametrize("agents", [1, 12])
def test_a_game_has_one_agent_or_many(archive, agents):
    names = [f"s{number}" for number in range(agents)]
    task = parse_suite((SUITE.partition("[[task]]")[0] + ALIKE).replace("agents = 12", f"agents = {agents}")).tasks[0]
    task = Task.from_json(task.to_json() | {"seats": names})
    seated = {seat: find_agent("random") for seat in names}
    episode = rollout(archive, task, seated if agents > 1 else seated["s0"], 1, rng=np.random.default_rng(1))
    assert [held.total_reward for held in episode.seats] == [36 + 2 * place for place in range(agents)]
    assert verify(episode).equal
    assert verify(episode).replayed


@pytest.mark.filterwarnings("ignore:.*Casting input x")
def test_a_module_that_ends_the_program_is_a_fault_of_its_task(tmp_path, capsys, monkeypatch):
    (tmp_path / "ending.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = (Path(interplay.__file__).parent / "tasks" / "gymnasium.toml").read_text(encoding="utf-8")
    (tmp_path / "my.toml").write_text(
        text.replace('id = "gymnasium"', 'id = "my"', 1).replace("gym:FrozenLake-v1", "gym:ending:A-v0")
    )
    with pytest.raises(SystemExit) as ended:
        main(["tasks", "check", str(tmp_path / "my.toml")])
    assert ended.value.code == 1
    assert "SystemExit" in capsys.readouterr().err


def test_check_compares_each_seat_and_reports_all_tasks(tmp_path, capsys):
    file = tmp_path / "odd.toml"
    file.write_text(SUITE + ALIKE, encoding="utf-8")
    with pytest.raises(SystemExit, match="0"):
        main(["tasks", "check", str(file), "--steps", "10"])
    assert "odd.toml: 2 tasks, all good." in capsys.readouterr().out
    bad = SUITE.replace("c = {", "x = {").replace("x = {", "#") + ALIKE.replace('"A" = 1', '"A" = 7')
    file.write_text(bad, encoding="utf-8")
    with pytest.raises(SystemExit, match="1"):
        main(["tasks", "check", str(file), "--steps", "10"])
    said = capsys.readouterr().err
    assert "task late: keys.actions.'': 1 is not an action of pettingzoo:odd_games:odd_seats-v0 for its seat c" in said
    assert "write keys.seats.c where this seat has its own" in said
    assert "task many: keys.actions.'A': 7 is not an action of pettingzoo:odd_games:odd_seats-v0 for its seat s0" in said


@pytest.mark.parametrize(("picture", "value"), [("float", 128), ("opaque", 255), ("whole", 200)])
def test_pictures_become_colours_from_0_to_255(picture, value):
    env = make(task_of("odd_games:Drawn-v0", kwargs={"picture": picture}))
    env.reset(seed=1)
    assert np.array_equal(env.view().pixels, np.full((16, 16, 3), value, np.uint8))
    env.close()


def test_pictures_and_rewards_that_would_be_changed_are_refused():
    for options, error in [
        ({"picture": "clear"}, r"draws pictures of uint8 with shape \(16, 16, 4\), from 7 to 7; expected uint8 with shape"),
        ({"picture": "huge"}, r"draws pictures of float64 with shape \(16, 16, 3\), from 450 to 450; expected"),
        (
            {"picture": "growing"},
            r"drew a picture of shape \(16, 16, 3\) and then one of \(17, 16, 3\); their size must not change",
        ),
        ({"reward": "two"}, r"the reward is array\(\[1., 1.\]\), expected one number"),
        ({"reward": "text"}, "the reward is 'much', expected one number"),
    ]:
        env = make(task_of("odd_games:Drawn-v0", kwargs=options))
        with pytest.raises(EnvError, match=error):
            _ = env.reset(seed=1), env.step({"player": 0})
        env.close()


def test_a_reward_may_be_an_array_of_one_or_missing(archive):
    with Recording(gymnasium.make("Drawn-v0", reward="none"), archive, actor="me") as env:
        env.reset(seed=1)
        rewards = [env.step(0)[1] for _ in range(4)]
    assert np.isnan(rewards).all()
    (episode,) = archive.episodes()
    assert (episode.total_reward, episode.statistics["nonfinite_rewards"]) == (0, 4)
    assert verify(episode).equal


def test_an_environment_that_draws_nothing_and_cannot_be_made_again_keeps_observations(archive):
    for env in (gymnasium.wrappers.FlattenObservation(gymnasium.make("CartPole-v1")), odd_games.Drawn(reward="array")):
        with Recording(env, archive, actor="me", task="mine/walk") as recording:
            recording.reset(seed=1)
            seen = [recording.step(recording.action_space.sample())[0] for _ in range(3)]
        episode = archive.episodes(task="mine/walk", newest_first=True)[0]
        assert np.array_equal(episode.raw_observations()[1:], seen)
        verdict = verify(episode)
        assert (verdict.equal, verdict.replayed) == (True, False)
        assert verdict.reason == "the file equals the recording; no replay, because the environment is not deterministic"
        assert episode.frames[1].pixels.shape == (64, 64, 3)

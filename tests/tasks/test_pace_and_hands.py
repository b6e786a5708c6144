"""Tasks that wait for their players, and tasks that are steered by a number."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.agents import NoopAgent, RandomAgent, check_agent
from interplay.cli import main
from interplay.tasks import KeyMap, Task, TaskError, find, parse_suite
from interplay.tasks.keys import Axis

TURNS = """
[suite]
id = "mine"
title = "Mine"

[[task]]
name = "lake"
title = "Lake"
goal = "Cross."
instructions = "Walk."
env.id = "gym:FrozenLake-v1"
pace = "turns"
frame_rate_hz = 8
max_turns = 100
held_out_seeds = [1, 2]
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who was better?" }]
[task.keys]
buttons = ["LEFT", "DOWN"]
bindings = { ArrowLeft = "LEFT", ArrowDown = "DOWN" }
actions = { "" = 0, LEFT = 0, DOWN = 1 }
"""
STEERED = (
    TURNS.replace('pace = "turns"\n', "")
    .replace("max_turns = 100", "time_limit_s = 10")
    .replace("gym:FrozenLake-v1", "gym:Pendulum-v1")
    .replace(
        'actions = { "" = 0, LEFT = 0, DOWN = 1 }', 'axes = [{ pointer = "x", values = [2, -2], buttons = ["LEFT", "DOWN"] }]'
    )
)
KEYS = KeyMap(
    ("LEFT", "RIGHT", "UP", "DOWN"),
    {"KeyA": "LEFT"},
    {},
    axes=(Axis("y", (0.1, 1.0), ("DOWN", "UP")), Axis("x", (2.0, -2.0), ("LEFT", "RIGHT"))),
)


def test_a_task_of_turns_is_read_and_comes_back_from_json():
    task = parse_suite(TURNS).tasks[0]
    assert (task.pace, task.takes_turns, task.max_steps, task.frame_rate_hz) == ("turns", True, 100, 8)
    assert Task.from_json(json.loads(json.dumps(task.to_json()))) == task
    by_clock = parse_suite(TURNS.replace('pace = "turns"', "").replace("max_turns = 100", "time_limit_s = 12.5")).tasks[0]
    assert (by_clock.pace, by_clock.max_steps, "pace" in by_clock.to_json()) == ("clock", 100, False)
    assert by_clock.content_hash != task.content_hash
    assert (task.setting.noop, by_clock.setting.noop) == (None, 0)  # of turns, no step is without an action


def test_a_task_whose_world_has_a_clock_keeps_its_hash():
    assert find("atari/breakout").content_hash == "7dad62b5d0df8e72"


def test_what_cannot_be_meant_is_refused_with_file_key_and_remedy():
    for text, old, new, message in [
        (TURNS, '"turns"', '"turn"', r"task\[0\].pace: 'turn' is not known\nRemedy: did you mean 'turns'"),
        (TURNS, "max_turns = 100\n", "", r"task\[0\].max_turns: is missing"),
        (TURNS, "max_turns = 100", "max_turns = 0", "max_turns: must lie between 1 and 1000000, got 0"),
        (TURNS, "max_turns = 100", "max_turns = 100\ntime_limit_s = 10", "time_limit_s: has no use in a task of turns"),
        (STEERED, "time_limit_s = 10", "time_limit_s = 10\nmax_turns = 5", 'max_turns: needs pace = "turns", too'),
        (STEERED, "time_limit_s = 10", 'pace = "turns"\nmax_turns = 10', "pace: 'turns' needs keys that have actions"),
        (STEERED, 'pointer = "x"', 'pointer = "z"', r"keys.axes\[0\].pointer: 'z' is not known\nRemedy: write x or y"),
        (STEERED, "[2, -2]", "[2, 2]", r"keys.axes\[0\].values: must be two different finite numbers, got \[2, 2\]"),
        (STEERED, "[2, -2]", "[2, inf]", "values: must be two different finite numbers"),
        (STEERED, "[2, -2]", "[2]", r"values: must be two numbers, got \[2\]\nRemedy: write \[-1, 1\]"),
        (STEERED, 'buttons = ["LEFT", "DOWN"] }', 'buttons = ["LEFT", "LEFT"] }', "buttons: must be two different buttons"),
        (STEERED, 'buttons = ["LEFT", "DOWN"] }', 'buttons = ["LEFT", "UP"] }', "buttons: must be two different buttons"),
        (STEERED, ', buttons = ["LEFT", "DOWN"] }', " }", "keys.buttons: 'LEFT' belongs to no axis"),
        (STEERED, "-2]", '-2] }, { pointer = "x", values = [0, 1]', "'x' moves another axis already"),
        (STEERED, "axes =", 'actions = { "" = 0 }\naxes =', "keys.actions: cannot be combined with axes"),
    ]:
        assert old in text
        with pytest.raises(TaskError, match=message) as caught:
            parse_suite(text.replace(old, new), source="my.toml")
        assert str(caught.value).startswith("my.toml: task[0].")
        assert "\nRemedy: " in str(caught.value)


def test_a_press_counts_with_what_is_held_where_that_has_an_action():
    keys = find("atari/space_invaders").keys
    fire, left, right = (keys.mask({name}) for name in ("FIRE", "LEFT", "RIGHT"))
    assert keys.chosen(left | fire, fire) == left | fire
    assert keys.chosen(left | right, right) == right  # both have no action of their own
    assert keys.chosen(0, fire) == fire  # let go of before its step


def test_a_button_holds_an_end_and_both_buttons_leave_it_to_the_pointer():
    def values(*held: str, wanted: tuple[float, float] = (0.5, 0.75)) -> list[float]:
        return KEYS.action(KEYS.mask(set(held)), wanted).tolist()

    assert values() == [0.75, 0.5]
    assert values("LEFT", "UP") == [1.0, 2.0]
    assert values("RIGHT", "LEFT", "DOWN") == [float(np.float32(0.1)), 0.5]
    assert values(wanted=(-7.0, 7.0)) == [1.0, -2.0]
    assert KEYS.noop.tolist() == [float(np.float32(0.1)), 0.0]  # at rest: 0, or what is nearest to it
    assert KEYS.noop.dtype == np.float32
    with pytest.raises(TypeError, match="has no table of actions"):
        _ = KEYS.table


@given(
    st.tuples(
        st.floats(float(np.float32(0.1)), 1.0, width=32),
        st.floats(-2.0, 2.0, width=32),
    )
)
def test_a_program_can_ask_for_every_action_exactly(values: tuple[float, float]):
    action = np.array(values, np.float32)
    again = KEYS.action(KEYS.mask_of_action(action), KEYS.turn_of_action(action))
    assert again.tobytes() == action.tobytes()


@pytest.mark.parametrize("impossible", [[0.5], [0.0, 0.0], [0.5, 2.5], [0.5, float("nan")]])
def test_what_is_no_action_of_the_axes_has_no_values(impossible):
    with pytest.raises(KeyError):
        KEYS.turn_of_action(np.array(impossible, np.float32))


def test_axes_come_back_from_json():
    task = parse_suite(STEERED).tasks[0]
    assert task.keys.axes == (Axis("x", (2.0, -2.0), ("LEFT", "DOWN")),)
    assert Task.from_json(json.loads(json.dumps(task.to_json()))) == task


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", "1 task, all good"),
        (
            "[2, -2]",
            "[2.5, -2]",
            "keys.axes[0].values: 2.5 is not an action of gym:Pendulum-v1 Remedy: this number lies between",
        ),
        (
            "Pendulum-v1",
            "FrozenLake-v1",
            "keys.axes: actions of gym:FrozenLake-v1 are not a Box of 1 float32 but lie in Discrete(4)",
        ),
    ],
)
def test_check_compares_the_axes_with_the_world(tmp_path, capsys, old, new, message):
    file = tmp_path / "my.toml"
    file.write_text(STEERED.replace(old, new))
    with pytest.raises(SystemExit) as ended:
        main(["tasks", "check", str(file), "--steps", "3"])
    captured = capsys.readouterr()
    assert message in " ".join((captured.out + captured.err).split())
    assert bool(ended.value.code) == bool(old)


@pytest.mark.parametrize("task", ["gymnasium/pendulum", "gymnasium/frozen_lake"])
@pytest.mark.parametrize("agent", [RandomAgent(), NoopAgent()], ids=lambda agent: agent.name)
def test_the_simple_agents_play(agent, task):
    check_agent(agent, find(task))


def test_the_random_agent_uses_all_of_a_range():
    agent = RandomAgent(hold=1)
    agent.reset(parse_suite(STEERED).tasks[0], rng=np.random.default_rng(0))
    values = np.array([agent.act(np.zeros(1)) for _ in range(200)])
    assert values.dtype == np.float32
    assert (np.abs(values) <= 2.0).all()
    assert values.min() < -1.5  # missed with probability 0.875 ** 200, 3e-12
    assert values.max() > 1.5

"""Keys that compose a Dict action: the rule, its inverse, what a file may say, and that table maps stayed as they were."""

import json
from multiprocessing.reduction import ForkingPickler

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.agents import NoopAgent, RandomAgent, check_agent
from interplay.cli import main
from interplay.tasks import KeyMap, Task, TaskError, builtin_suites, find, parse_suite

GOOD = """
[suite]
id = "mine"
title = "My tasks"

[[task]]
name = "look"
title = "Look"
goal = "Look around."
instructions = "Turn."
env.id = "gym:ComposedKeys-v0"
frame_rate_hz = 20
time_limit_s = 10
held_out_seeds = [1, 2]
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who looked better?" }]

[task.keys]
compose = true
buttons = ["forward", "back", "left", "right", "attack", "hotbar.1", "ESC"]
bindings = { KeyW = "forward", KeyS = "back", KeyA = "left", KeyD = "right", MouseLeft = "attack", ArrowLeft = "look_left", ArrowDown = "look_down" }
pointer = "camera"
pointer_degrees = 0.25
turns = { look_left = [0, -5], look_down = [2.5, 0] }
opposites = [["left", "right"], ["forward", "back"]]
"""  # noqa: E501 (an inline table of TOML is one line)

SPACE = gymnasium.spaces.Dict(
    {name: gymnasium.spaces.Discrete(2) for name in ("forward", "back", "left", "right", "attack", "hotbar.1", "ESC")}
    | {"camera": gymnasium.spaces.Box(-180, 180, (2,), np.float32)}
)


class ComposedKeys(gymnasium.Env):
    """Takes the actions of `GOOD` and draws nothing of interest."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    observation_space = gymnasium.spaces.Box(0, 1, (1,), np.float32)

    def __init__(self, render_mode=None, **changed):
        self.render_mode = render_mode
        parts = dict(SPACE.spaces)
        if "add" in changed:
            parts[changed["add"]] = gymnasium.spaces.Discrete(2)
        if "drop" in changed:
            del parts[changed["drop"]]
        if "three" in changed:
            parts[changed["three"]] = gymnasium.spaces.Discrete(3)
        if "narrow" in changed:
            parts["camera"] = gymnasium.spaces.Box(-10, 10, (2,), np.float32)
        self.action_space = gymnasium.spaces.Dict(parts)
        if "flat" in changed:
            self.action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        assert self.action_space.contains(action)
        return np.zeros(1, np.float32), 0.0, False, False, {}

    def render(self):
        return np.zeros((4, 4, 3), np.uint8)


gymnasium.register("ComposedKeys-v0", ComposedKeys, disable_env_checker=True)

TASK = parse_suite(GOOD).tasks[0]
KEYS = TASK.keys


def entries(action) -> dict:
    """An action as plain values, the camera as a tuple."""
    return {name: tuple(value.tolist()) if name == "camera" else value for name, value in action.items()}


def action(*pressed: str, camera=(0.0, 0.0)) -> dict:
    return {name: int(name in pressed) for name in KEYS.entries} | {"camera": camera}


def test_turns_are_buttons_after_the_others_and_no_entries():
    assert KEYS.buttons == (*KEYS.entries, "look_left", "look_down")
    assert (KEYS.pointer, KEYS.pointer_degrees, KEYS.compose) == ("camera", 0.25, True)
    assert KEYS.turns == {"look_left": (0.0, -5.0), "look_down": (2.5, 0.0)}
    assert KEYS.actions == {}
    with pytest.raises(TypeError, match="a composed or steered map has no table"):
        _ = KEYS.table


def test_held_buttons_and_the_mouse_compose_an_action():
    for held, turn, expected in [
        ((), (0.0, 0.0), action()),
        (("forward", "attack"), (0.0, 0.0), action("forward", "attack")),
        (("left", "right", "attack"), (0.0, 0.0), action("attack")),
        (("look_left",), (0.0, 0.0), action(camera=(0.0, -5.0))),
        (("look_left", "look_down", "ESC"), (1.0, 2.0), action("ESC", camera=(3.5, -3.0))),
        ((), (-500.0, 179.5), action(camera=(-180.0, 179.5))),
        (("look_left",), (0.0, -178.0), action(camera=(0.0, -180.0))),
    ]:
        composed = KEYS.action(KEYS.mask(set(held)), turn)
        assert entries(composed) == expected
        assert SPACE.contains(composed)
        assert composed["camera"].dtype == np.float32
        assert entries(KEYS.resolve(KEYS.mask(set(held)), turn)) == expected


def test_the_noop_is_new_each_time_and_lies_in_the_space():
    first = KEYS.noop
    first["camera"][0] = 9.0
    assert entries(KEYS.noop) == action()
    assert SPACE.contains(KEYS.noop)


@given(st.integers(0, 2**7 - 1), st.tuples(*[st.floats(-180, 180, width=32)] * 2))
def test_mask_and_turn_of_an_action_give_exactly_that_action(mask, turn):
    composed = KEYS.action(mask, turn)
    again = KEYS.action(KEYS.mask_of_action(composed), KEYS.turn_of_action(composed))
    assert entries(again) == entries(composed)
    # The same through a recording, whose values are NumPy's.
    stored = {name: value if name == "camera" else np.int64(value) for name, value in composed.items()}
    assert entries(KEYS.action(KEYS.mask_of_action(stored), KEYS.turn_of_action(stored))) == entries(composed)


def test_an_action_no_keys_give_has_no_mask():
    for impossible in [
        action("left", "right"),
        action() | {"forward": 2},
        action() | {"fly": 1},
        {name: value for name, value in action().items() if name != "ESC"},
        {name: value for name, value in action().items() if name != "camera"},
    ]:
        with pytest.raises(KeyError):
            KEYS.mask_of_action(impossible)


@pytest.mark.parametrize("camera", [(0.0, 181.0), (float("nan"), 0.0), (1.0, 2.0, 3.0)])
def test_a_turn_no_step_makes_is_none(camera):
    with pytest.raises(KeyError):
        KEYS.turn_of_action(action(camera=camera))


def test_a_task_that_was_played_goes_to_other_processes():
    task = find("basalt/find_cave")
    before = len(ForkingPickler.dumps(task))
    task.keys.resolve(1)
    assert len(ForkingPickler.dumps(task)) >= before  # it raises if one cannot be


def test_a_composed_task_survives_json():
    document = json.loads(json.dumps(TASK.to_json()))
    assert "actions" not in document["keys"]
    copy = Task.from_json(document)
    assert copy.content_hash == TASK.content_hash
    assert copy.keys == KEYS
    assert Task.from_json(document | {"keys": document["keys"] | {"pointer_degrees": 1.0}}).content_hash != TASK.content_hash


def test_atari_tasks_have_the_hashes_they_had_before_maps_were_composed():
    hashes = {task.id: task.content_hash for suite in builtin_suites() for task in suite.tasks if suite.id == "atari"}
    assert hashes == {  # written down at commit 6225709
        "atari/space_invaders": "61d711babee9ac60",
        "atari/riverraid": "7ac3fd6d1abd9ab2",
        "atari/montezuma_revenge": "494c8041cdca3ee5",
        "atari/qbert": "ecc38ddeb9a8a545",
        "atari/breakout": "7dad62b5d0df8e72",
        "atari/beam_rider": "96b188f0e562777f",
    }


def test_a_document_from_before_maps_were_composed_is_read():
    keys = find("atari/breakout").keys
    document = keys.to_json()
    assert set(document) == {"buttons", "bindings", "labels", "opposites", "actions"}
    assert KeyMap.from_json(document) == keys
    assert keys.action(0b11 | 1 << 30) == keys.table[0b11]
    assert keys.turn_of_action(3) == (0.0, 0.0)


def test_without_a_pointer_only_buttons_are_composed():
    text = GOOD.replace(
        'pointer = "camera"\npointer_degrees = 0.25\nturns = { look_left = [0, -5], look_down = [2.5, 0] }\n', ""
    )
    text = text.replace(', ArrowLeft = "look_left", ArrowDown = "look_down"', "")
    keys = parse_suite(text).tasks[0].keys
    assert keys.action(1, (3.0, 4.0)) == {name: int(name == "forward") for name in keys.entries}
    assert keys.mask_of_action(keys.action(1)) == 1


def test_32_buttons_have_a_bit_each():
    names = [f"button_{number}" for number in range(32)]
    keys = KeyMap(tuple(names), {}, {}, compose=True)
    assert keys.mask({"button_31"}) == 1 << 31
    assert keys.action(1 << 31)["button_31"] == 1
    assert keys.full_mask == 2**32 - 1


def test_what_cannot_be_composed_is_refused_with_file_key_and_remedy():
    for old, new, message in [
        ("compose = true", "compose = 1", "keys.compose: must be true or false, got 1"),
        ("compose = true", 'compose = true\nactions = { "" = 0 }', "keys.actions: cannot be combined with compose = true"),
        ("compose = true", 'actions = { "" = 0 }', "keys.pointer: needs compose = true, too"),
        ('pointer = "camera"\n', "", 'keys.pointer_degrees: needs pointer = "<the entry that turns>", too'),
        ('pointer = "camera"\npointer_degrees = 0.25', "", 'keys.turns: needs pointer = "<the entry that turns>", too'),
        ('pointer = "camera"', 'pointer = "attack"', "keys.pointer: 'attack' must not be empty or a button"),
        ("pointer_degrees = 0.25", "pointer_degrees = 0", "keys.pointer_degrees: must lie between 0.001 and 45, got 0"),
        ("look_left = [0, -5]", "look_left = [0, -181]", r"keys.turns.look_left: must be \[pitch, yaw\] in degrees per step"),
        ("look_left = [0, -5]", "look_left = [0, nan]", "keys.turns.look_left: must be"),
        ("look_left = [0, -5]", "look_left = 5", "keys.turns.look_left: must be"),
        ("look_left = [0, -5]", "look_left = [0, -5], attack = [0, 5]", "keys.turns.attack: is already an entry of the action"),
        (', ArrowLeft = "look_left"', "", "keys.bindings: no key presses 'look_left'"),
        ('"look_left", Arrow', '"lok_left", Arrow', "did you mean 'look_left'"),
        ("MouseLeft", "MouseLeftt", "is not a key's name\nRemedy: did you mean 'MouseLeft'"),
        ('"ESC"]', '"ESC", "ESC"]', "keys.buttons: must be 1 to 32 different names"),
        (
            '"ESC"]',
            '"ESC", ' + ", ".join(f'"b{number}"' for number in range(24)) + "]",
            "keys.turns: makes 33 buttons with the action's; at most 32 are allowed",
        ),
    ]:
        assert old in GOOD
        with pytest.raises(TaskError, match=message) as caught:
            parse_suite(GOOD.replace(old, new), source="my.toml")
        assert str(caught.value).startswith("my.toml: task[0].keys.")
        assert "\nRemedy: " in str(caught.value)


def check(tmp_path, capsys, text: str) -> tuple[int, str]:
    """Exit code and words of `tasks check`."""
    file = tmp_path / "my.toml"
    file.write_text(text)
    with pytest.raises(SystemExit) as ended:
        main(["tasks", "check", str(file)])
    captured = capsys.readouterr()
    return int(ended.value.code or 0), " ".join((captured.out + captured.err).split())


def test_check_accepts_a_map_that_fits_its_world(tmp_path, capsys):
    code, words = check(tmp_path, capsys, GOOD)
    assert code == 0, words
    assert "1 task, all good" in words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('add = "jump"', "has the entry 'jump', and no button sets it Remedy: add 'jump' to the buttons"),
        ('drop = "attack"', "keys.buttons: the action of gym:ComposedKeys-v0 has no entry 'attack'"),
        ('drop = "camera"', "keys.pointer: the action of gym:ComposedKeys-v0 has no entry 'camera'"),
        ('three = "attack"', "keys.buttons: 'attack' of gym:ComposedKeys-v0 is not 0 or 1 but Discrete(3)"),
        ("narrow = true", "keys.pointer: 'camera' of gym:ComposedKeys-v0 does not take every (pitch, yaw)"),
        ("flat = true", "keys.compose: actions of gym:ComposedKeys-v0 are not a Dict but lie in Discrete(3)"),
    ],
)
def test_check_compares_every_entry_with_the_world(tmp_path, capsys, options, message):
    kwargs = f"env.options.kwargs = {{ {options} }}\nframe_rate_hz"
    code, words = check(tmp_path, capsys, GOOD.replace("frame_rate_hz", kwargs))
    assert code == 1
    assert message in words
    assert "Remedy: " in words


@pytest.mark.parametrize("agent", [RandomAgent(), NoopAgent()], ids=lambda agent: agent.name)
def test_the_simple_agents_play_composed_keys(agent):
    check_agent(agent, TASK)

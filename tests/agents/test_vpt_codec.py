"""VPT's actions are the published code's, bit for bit (golden values: tools/vpt_golden.py)."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from interplay.agents.vpt.codec import (
    BUTTONS,
    INVENTORY,
    NUM_BUTTONS,
    NUM_CAMERA,
    STILL,
    TURNS,
    Joint,
    Pushed,
    decode,
    encode,
    from_minerl,
    to_bins,
    to_minerl,
)
from interplay.envs import EnvError
from interplay.envs.minerl_actions import action_space

ROOT = Path(__file__).parent.parent.parent
GOLDEN = runpy.run_path(str(ROOT / "tools" / "vpt_golden.py"))


@pytest.fixture(scope="module")
def expected():
    return json.loads((ROOT / "tests" / "agents" / "data" / "vpt_codec.json").read_text())


@pytest.fixture(scope="module")
def everything():
    """All joint actions."""
    return Joint(*np.indices((NUM_BUTTONS, NUM_CAMERA)).reshape(2, -1))


def test_all_actions_are_decoded_as_the_published_code_does(expected, everything):
    assert list(BUTTONS) == expected["buttons"]
    assert [float(one).hex() for one in TURNS] == expected["turns"]
    pushed = decode(everything)
    assert len(pushed.buttons) == 8641 * 121
    assert GOLDEN["digest"](*pushed) == expected["decoded_sha256"]


def test_random_actions_are_encoded_as_the_published_code_does(expected):
    joint = encode(Pushed(*GOLDEN["random_actions"]()))
    assert len(joint.buttons) == 100_000
    assert [part[:200].tolist() for part in joint] == expected["encoded_begin"]
    assert GOLDEN["digest"](*joint) == expected["encoded_sha256"]
    assert [len(np.unique(part)) for part in joint] == expected["num_different"]


def test_what_was_decoded_is_encoded_to_the_same_again(everything):
    """But for turns that the combination does not make, for one that turns by nothing, and for `inventory`."""
    again = encode(decode(everything))
    turns = everything.buttons % 2 == 1
    is_inventory = everything.buttons == INVENTORY
    plain = ~is_inventory & turns & (everything.camera != STILL)
    np.testing.assert_array_equal(again.buttons[plain], everything.buttons[plain])
    np.testing.assert_array_equal(again.camera[plain], everything.camera[plain])
    still = ~is_inventory & ~plain
    np.testing.assert_array_equal(again.buttons[still], everything.buttons[still] // 2 * 2)
    assert set(again.camera[still | is_inventory].tolist()) == {STILL}
    assert set(again.buttons[is_inventory].tolist()) == {INVENTORY}


def test_the_action_of_minerl_that_is_nearest():
    for action, buttons in [
        ({}, 0),
        ({"attack": 1, "camera": (0, 3)}, 5),
        ({"forward": 1}, 288),
        ({"forward": 1, "back": 1, "left": 1, "right": 1}, 0),
        ({"sprint": 1, "sneak": 1}, encode(from_minerl([{"sneak": 1}])).buttons[0]),  # the later one
        ({"hotbar.1": 1, "hotbar.9": 1}, 9 * 864),
        ({"inventory": 1, "forward": 1, "camera": (5, 5)}, INVENTORY),
        ({"ESC": 1, "pickItem": 1, "swapHands": 1}, 0),  # no place for these
    ]:
        assert encode(from_minerl([action])).buttons.tolist() == [buttons]


def test_actions_go_to_minerl_and_back():
    rng = np.random.default_rng(0)
    joint = Joint(rng.integers(NUM_BUTTONS, size=300), rng.integers(NUM_CAMERA, size=300))
    actions = to_minerl(decode(joint))
    assert all(action_space().contains(action) for action in actions)
    pushed = decode(joint)
    again = from_minerl(actions)
    np.testing.assert_array_equal(again.buttons, pushed.buttons)
    np.testing.assert_array_equal(again.camera, pushed.camera.astype(np.float32))
    np.testing.assert_array_equal(encode(again), encode(pushed))


def test_what_is_no_action_is_refused():
    with pytest.raises(ValueError, match="buttons must be below 8641 and turns below 121"):
        decode(Joint(np.array([NUM_BUTTONS]), np.array([0])))
    with pytest.raises(ValueError, match="a turn of the camera must be a number, got NaN"):
        to_bins(np.array([[0.0, np.nan]]))
    with pytest.raises(EnvError, match="did you mean 'jump'"):
        from_minerl([{"jmp": 1}])
    assert encode(from_minerl([])).buttons.shape == (0,)

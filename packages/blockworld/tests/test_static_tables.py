"""The static tables of a scene say what the ray-caster's tables say, in one small file."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from blockworld.registry.blocks import NUM_STATES, parse
from blockworld.render import renderer
from blockworld.render.models import models
from blockworld.render.textures import atlas, texture
from blockworld.scene import packing
from blockworld.scene.tables import static_tables


@pytest.fixture(scope="module")
def unpacked():
    return packing.unpack(packing.inflate(static_tables().data))


def faces_of(states):
    halves = np.stack([states[:, 1:4] & 0xFFFF, states[:, 1:4] >> 16], -1).reshape(-1, 6)
    return halves.astype(np.uint16).view(np.int16)


def pixels(document, arrays, number):
    """The first level of a texture."""
    return arrays["pages"][: document["textures"] * 256].reshape(-1, 16, 16, 4)[number]


def test_the_file_is_small_and_named_by_its_hash():
    file = static_tables()
    assert len(file.data) <= 500_000
    assert file.digest == hashlib.sha256(file.data).hexdigest()[:16]
    assert static_tables() is file


def test_states_have_the_numbers_of_the_ray_caster(unpacked):
    _, arrays = unpacked
    info, _, ranges, _, _, height, glow, _, _ = renderer.tables()
    states = arrays["states"]
    assert states.shape == (NUM_STATES, 8)
    np.testing.assert_array_equal(states[:, 0], info)
    np.testing.assert_array_equal(states[:, 4] & 0xFFFFFF, ranges["start"])
    np.testing.assert_array_equal(states[:, 4] >> 24, ranges["number"])
    np.testing.assert_array_equal(states[:, 5:7].copy().view(np.float32), np.stack([height, glow], -1))


@pytest.mark.parametrize("name", ["grass_block", "oak_log[axis=x]", "water", "poppy", "furnace[facing=west]"])
def test_faces_show_the_textures_of_the_atlas(unpacked, name):
    document, arrays = unpacked
    state = parse(name)
    for number, place in zip(faces_of(arrays["states"])[state], models().faces[state], strict=True):
        np.testing.assert_array_equal(pixels(document, arrays, number), atlas()[place])


def test_boxes_have_their_corners_and_faces(unpacked):
    document, arrays = unpacked
    look = models()
    rows = arrays["boxes"]
    np.testing.assert_array_equal(rows[:, [0, 1, 2, 4, 5, 6]], look.boxes)
    faces = rows[:, [3, 7, 8, 9, 10, 11]].astype(int)
    np.testing.assert_array_equal(faces == -1, look.box_faces == -1)
    for box in range(0, len(rows), 997):
        for number, place in zip(faces[box], look.box_faces[box], strict=True):
            if place >= 0:
                np.testing.assert_array_equal(pixels(document, arrays, number), atlas()[place])


def test_cracks_are_textures_in_the_order_of_their_stages(unpacked):
    document, arrays = unpacked
    for stage, number in enumerate(document["cracks"]):
        np.testing.assert_array_equal(pixels(document, arrays, number), atlas()[texture(f"crack_{stage}")])


def test_all_levels_are_there_and_the_scenery_is_near(unpacked):
    document, arrays = unpacked
    assert len(arrays["pages"]) == document["textures"] * (256 + 64 + 16 + 4 + 1)
    for name, exact in zip(("land", "clouds", "ripples"), renderer.scenery(), strict=True):
        values = arrays[name].cumsum(0, dtype=np.uint8).cumsum(1, dtype=np.uint8)
        near = document[name]["offset"] + document[name]["scale"] * values / 255
        assert arrays[name].shape == exact.shape
        assert np.abs(near - exact).max() <= document[name]["scale"] / 255 * 0.51


def test_smaller_textures_are_what_differs_from_the_larger(unpacked):
    document, arrays = unpacked
    num, pages, end = document["textures"], arrays["pages"], document["textures"] * 256
    full = pages[:end].reshape(num, 16, 16, 4)
    means = full.reshape(num, 8, 2, 8, 2, 4).sum((2, 4), dtype=np.uint16) >> 2
    half = pages[end : end + num * 64].reshape(num, 8, 8, 4) + means.astype(np.uint8)
    exact, starts = renderer.pyramid(full)
    np.testing.assert_array_equal(half.reshape(-1, 4), exact.view(np.uint8).reshape(-1, 4)[starts[1] : starts[2]])


@pytest.mark.long_proof
def test_the_file_does_not_depend_on_what_was_painted_before():
    code = "from blockworld.render.textures import texture; texture('diamond_block'); texture('sand@90')\n"
    code += "from blockworld.scene.tables import static_tables; print(static_tables().digest)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == static_tables().digest

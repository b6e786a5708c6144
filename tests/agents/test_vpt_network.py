"""VPT's network says what the published code says, picture by picture and in chunks (golden values: tools/vpt_golden.py)."""

import os
import runpy
from functools import cache
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from interplay.agents.vpt.checkpoint import build  # noqa: E402
from interplay.agents.vpt.network import VPT, WIDTHS, Architecture  # noqa: E402

ROOT = Path(__file__).parent.parent.parent
GOLDEN = runpy.run_path(str(ROOT / "tools" / "vpt_golden.py"))
FRAMES_1X = int(os.environ.get("INTERPLAY_VPT_FRAMES", "5"))
"""Frames of 1x that are compared; 300 are there, each a third of a second."""
NUM_FRAMES = 200
"""Frames that pass in chunks: more than the memory holds."""


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def expected():
    with np.load(ROOT / "tests" / "agents" / "data" / "vpt_network.npz") as file:
        return dict(file)


def shapes_of(architecture):
    with torch.device("meta"):
        return {name: tuple(tensor.shape) for name, tensor in VPT(architecture).state_dict().items()}


@cache
def network(name):
    """One of the networks of the golden values."""
    sizes = GOLDEN["NETWORKS"][name]
    architecture = Architecture(**sizes | {"img_shape": tuple(sizes["img_shape"]), "temperature": GOLDEN["TEMPERATURE"]})
    weights = GOLDEN["weights"](shapes_of(architecture))
    return build(architecture, {key: torch.from_numpy(array) for key, array in weights.items()}, where="formula")


def pictures(net, frames):
    """uint8, shape (1, T, H, W, 3)."""
    height, width, _ = net.architecture.img_shape
    return torch.from_numpy(np.stack([GOLDEN["picture"](number, height, width) for number in frames])[None])


def check(name, expected, num_frames):
    """Go through the frames one at a time and compare everything that was written down."""
    net, found = network(name), {}
    state = net.initial_state(1)
    with torch.inference_mode():
        for number in range(num_frames):
            output, state = net(pictures(net, [number]), state, torch.tensor([number in GOLDEN["FIRST_FRAMES"]]))
            latents, buttons, camera = (part[0, 0].numpy() for part in output[:3])
            for key, row in GOLDEN["frame_values"](number, latents, buttons, camera, output.value.item()):
                found.setdefault(key, []).append(row)
            if number in GOLDEN["MEMORY_FRAMES"]:
                blocks = [tuple(part[0].numpy() for part in memory) for memory in state]
                for key, row in GOLDEN["memory_values"](number, blocks):
                    found.setdefault(key, []).append(row)
    assert len(found) == 8
    for key, rows in found.items():
        golden = expected[f"{name}_{key}"][: len(rows)]
        if golden.dtype == np.float32:
            np.testing.assert_allclose(np.stack(rows), golden, rtol=0, atol=1e-4, err_msg=key)
        else:
            np.testing.assert_array_equal(np.stack(rows), golden, err_msg=key)


@pytest.mark.long_proof
def test_the_tiny_network_equals_the_published_code_over_300_pictures_and_three_episodes(expected):
    assert len(expected["tiny_value"]) == GOLDEN["NUM_FRAMES"] == 300
    assert len(GOLDEN["FIRST_FRAMES"]) == 2
    check("tiny", expected, 300)


def test_1x_equals_the_published_code(expected):
    """The first pictures, with the beginning of an episode among them; INTERPLAY_VPT_FRAMES=300 compares all."""
    assert min(GOLDEN["FIRST_FRAMES"]) < FRAMES_1X
    check("1x", expected, FRAMES_1X)


def test_golden_values_look_everywhere_and_at_what_differs(expected):
    rows = np.arange(300)
    seen = {int(one) for number in rows for one in GOLDEN["picks"](number, 8641, 32)}
    assert len(seen) > 8641 * 0.6
    for name in ("tiny", "1x"):
        assert len(np.unique(expected[f"{name}_likeliest"][:, 0])) > 8
        assert np.ptp(expected[f"{name}_value"]) > 0.5
        assert expected[f"{name}_is_there"].sum(axis=(1, 2)).tolist() == [4 * 2, 4 * 128]  # 2 pictures since frame 3; all


@pytest.mark.parametrize("length", [1, 7, 64, 128])
def test_chunks_of_any_length_give_the_same_latents_and_memories(length):
    net = network("tiny")
    state, found = net.initial_state(1), []
    with torch.inference_mode():
        for start in range(0, NUM_FRAMES, length):
            latents, state = net.latents(pictures(net, range(start, min(NUM_FRAMES, start + length))), state)
            found.append(latents)
        found = torch.cat(found, dim=1)
    whole, whole_state = in_one_chunk()
    torch.testing.assert_close(found, whole, rtol=0, atol=5e-4)
    for one, other in zip(state, whole_state, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=5e-4)


@cache
def in_one_chunk():
    net = network("tiny")
    with torch.inference_mode():
        return net.latents(pictures(net, range(NUM_FRAMES)), net.initial_state(1))


def test_an_episode_that_begins_in_a_batch_forgets_alone():
    net = network("tiny")
    with torch.inference_mode():
        _, state = net.latents(pictures(net, range(10)).repeat(2, 1, 1, 1, 1), net.initial_state(2))
        both, _ = net.latents(pictures(net, [10, 11]).repeat(2, 1, 1, 1, 1), state, torch.tensor([True, False]))
        fresh, _ = net.latents(pictures(net, [10, 11]), net.initial_state(1))
        on, _ = net.latents(pictures(net, range(12)), net.initial_state(1))
    torch.testing.assert_close(both[:1], fresh, rtol=0, atol=1e-4)
    torch.testing.assert_close(both[1:], on[:, 10:], rtol=0, atol=1e-4)
    assert (both[0] - both[1]).abs().max() > 0.1


@pytest.mark.parametrize(("width", "num_parameters"), [("1x", 70_998_654), ("2x", 248_495_294), ("3x", 532_504_318)])
def test_the_published_sizes_have_134_tensors_and_as_many_parameters_as_published(width, num_parameters):
    shapes = shapes_of(WIDTHS[width])
    assert len(shapes) == 134
    assert sum(int(np.prod(shape)) for shape in shapes.values()) == num_parameters

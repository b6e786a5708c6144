"""Convolutions with fewer multiplications: equal to PyTorch's for every size that the networks have."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from tiny_vpt import tiny_network  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from interplay.agents.vpt import winograd  # noqa: E402
from interplay.agents.vpt.network import _Residual, _Stack  # noqa: E402

BOUND = 2e-4
"""Of numbers with a spread of about 1."""


@pytest.fixture(autouse=True)
def chance():
    with torch.random.fork_rng(devices=[]), torch.inference_mode():
        torch.manual_seed(0)
        yield


def numbers(num, channels, size):
    """Numbers as they lie between two layers, whose mean is not 0, and as PyTorch has them."""
    raw = torch.randn(num, size, size, channels) + 0.5
    x = winograd._numbers(num, size, size, channels)
    x.raw[...] = raw
    x.sums[...] = torch.stack([raw.sum((1, 2)), raw.square().sum((1, 2))], dim=1)
    return x, raw.permute(0, 3, 1, 2)


def with_chance(module):
    for parameter in module.parameters():
        parameter.copy_(torch.randn_like(parameter) * (0.05 if parameter.ndim > 1 else 0.3))
    return module


def assert_close(found, expected):
    error = np.abs(found - expected.permute(0, 2, 3, 1).numpy()).max()
    assert error < BOUND * max(1.0, float(expected.std()))


@pytest.mark.parametrize(
    ("num", "channels", "size"),
    [(1, 64, 64), (2, 128, 32), (3, 128, 16), (1, 256, 16), (1, 192, 32), (5, 16, 4), (1, 48, 12)],
)
def test_a_residual_block_is_that_of_pytorch(num, channels, size):
    x, expected = numbers(num, channels, size)
    block = with_chance(_Residual(channels))
    inner, outer = (winograd._layer(unit) for unit in (block.conv0, block.conv1))
    found = winograd._convolved(winograd._convolved(x, inner), outer, x)
    expected = block(expected)
    assert_close(found.raw, expected)
    sums = np.stack([found.raw.sum((1, 2)), np.square(found.raw).sum((1, 2))], axis=1)
    np.testing.assert_allclose(found.sums, sums, rtol=1e-3, atol=1e-2 * size)  # what the next normalisation is made of


def test_numbers_that_hardly_differ_are_normalised_to_numbers():
    """The variance comes from sums, and may round to less than nothing."""
    x, _ = numbers(50, 16, 16)
    raw = 1000 + torch.randn(50, 16, 16, 16) * 0.01
    x.raw[...] = raw
    x.sums[...] = torch.stack([raw.sum((1, 2)), raw.square().sum((1, 2))], dim=1)
    assert np.isfinite(winograd._normed(x, np.ones(16, np.float32), np.zeros(16, np.float32)).factors).all()


@pytest.mark.parametrize(("num", "inputs", "outputs", "size"), [(1, 64, 128, 64), (3, 128, 128, 32), (3, 16, 32, 8)])
def test_a_convolution_and_its_pooling_are_those_of_pytorch(num, inputs, outputs, size):
    x, expected = numbers(num, inputs, size)
    stack = with_chance(_Stack(inputs, outputs, is_first=False))
    pooled = winograd._pooled(x, winograd._layer(stack.firstconv), np.zeros(outputs, np.float32))
    assert_close(pooled.raw, F.max_pool2d(stack.firstconv(expected), 3, stride=2, padding=1))


@pytest.mark.parametrize(("size", "num_threads"), [(32, 1), (64, 3), (96, 1)])
def test_a_network_sees_the_same_in_chunks_of_any_length(size, num_threads):
    network = tiny_network(impala_chans=(16, 32, 32), img_shape=(size, size, 3))
    for norm in (module for module in network.modules() if isinstance(module, torch.nn.GroupNorm | torch.nn.LayerNorm)):
        norm.bias.add_(torch.randn_like(norm.bias) * 0.3)  # not 0, where padding must be
    pictures = torch.randint(0, 256, (1, 130, size, size, 3), dtype=torch.uint8)
    expected, _ = network.latents(pictures, network.initial_state(1))
    assert winograd.quicken(network)
    before = torch.get_num_threads()
    torch.set_num_threads(num_threads)
    try:
        for chunk in (1, 7, 64, 128):
            state, found = network.initial_state(1), []
            for part in pictures.split(chunk, dim=1):
                latents, state = network.latents(part, state)
                found.append(latents)
            assert (torch.cat(found, dim=1) - expected).abs().max() < 5e-4
        assert torch.get_num_threads() == num_threads
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("sizes", [{"img_shape": (36, 32, 3)}, {"img_shape": (16, 16, 3)}, {"impala_chans": (16, 24, 32)}])
def test_a_network_of_other_sizes_is_left_as_it_is(sizes):
    network = tiny_network(**({"impala_chans": (16, 32, 32)} | sizes))
    before = network.net.img_process
    assert not winograd.quicken(network)
    assert network.net.img_process is before

"""VPT's convolutions with a quarter of the multiplications, for many pictures on a CPU.

Source: Lavin & Gray 2016, "Fast Algorithms for Convolutional Neural Networks" (arXiv 1509.09308), F(4x4, 3x3): six times six
numbers of a channel, mixed, meet 36 numbers of a filter, mixed before, and become four times four numbers of the result. So a
layer is: mix (`_spread`), 36 products of matrices (PyTorch's), mix back (`_gather`). What stands between convolutions is done
on the way: normalisation where numbers are read, rectifier, sum and the sums of the next normalisation where they are written.
Results differ from those of `network` by rounding, some ten times as much as one order of adding up differs from another.

Kernels hold 16 channels at a time in one value (`Lanes`), which the compiler makes of what registers there are; loops over
channels in arrays would be checked for overlap each time, or stay scalar.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import torch
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, models, overload, register_model
from torch import nn

from interplay.agents.vpt.network import VPT

_LANES = 16
"""Channels that are worked on together."""
_SIDE, _STEP = 6, 4
"""Numbers across that one tile reads, and that it makes."""
_TILES = 128
"""Tiles that pass the products together: what is made of them stays in the cache."""
_PICTURES = 8
"""Pictures that pass all layers together."""
_ROWS = 8
"""Rows of the first pooled layer that are made together."""
_EPSILON = 1e-5
"""Of PyTorch's normalisations."""
_FILTER = np.array(
    [
        [1 / 4, 0, 0],
        [-1 / 6, -1 / 6, -1 / 6],
        [-1 / 6, 1 / 6, -1 / 6],
        [1 / 24, 1 / 12, 1 / 6],
        [1 / 24, -1 / 12, 1 / 6],
        [0, 0, 1],
    ]
)
"""How the three numbers of a filter become six (G of the paper)."""


def quicken(network: VPT) -> bool:
    """Let a network on the CPU, ready to act, see pictures so; it can do nothing else with pictures from then on.

    Returns:
        False, and leaves it as it is, where its sizes do not suit: pictures must halve to multiples of four in every stack, and
        channels be multiples of 16, as in the published networks.
    """
    if isinstance(network.net.img_process, _Quick):
        return True
    architecture = network.architecture
    smallest = _STEP << len(architecture.impala_chans)
    is_uneven = any(size % smallest for size in architecture.img_shape[:2])
    if is_uneven or any(channels * architecture.impala_width % _LANES for channels in architecture.impala_chans):
        return False
    network.net.register_module("img_process", _Quick(network.net.img_process))
    return True


def compile_once() -> None:
    """Compile the kernels if they have not been compiled on this machine, and say that there is something to wait for."""
    if all(kernel._cache._cache_file._load_index() for kernel in (_columns, _pool, _norm, _spread, _gather)):
        return
    print("Compiling VPT's convolutions once, about 5 seconds ...", file=sys.stderr, flush=True)
    columns, per_channel = np.empty(64 * 27 + _LANES, np.float32), np.ones(_LANES, np.float32)
    wide, x = np.zeros((8, 8, _LANES), np.float32), _numbers(1, 4, 4, _LANES)
    _columns(np.zeros((8, 8, 3), np.uint8), 0, 8, columns)
    _pool(wide, 0, 0, per_channel, x.raw[0], x.sums[0])
    filters = torch.zeros(_SIDE * _SIDE, _LANES, _LANES)
    _convolved(x, _Layer(filters, per_channel, per_channel), None)


class _Layer(NamedTuple):
    """A convolution and the normalisation before it.

    Attributes:
        filters: Mixed; float32, shape (36, inputs, outputs).
        scale, shift: Of the normalisation; float32, shape (inputs,).
    """

    filters: torch.Tensor
    scale: np.ndarray
    shift: np.ndarray


class _Stack(NamedTuple):
    """Convolution and pooling, normalisation, two residual blocks.

    Attributes:
        first: The convolution before pooling; None in the first stack, where it has three channels.
        bias: Of that convolution; float32, shape (channels,).
        scale, shift: Of the normalisation; float32, shape (channels,).
        layers: Two for each block.
    """

    first: _Layer | None
    bias: np.ndarray
    scale: np.ndarray
    shift: np.ndarray
    layers: list[_Layer]


class _Quick(nn.Module):
    """In place of `network._Picture`: from pictures, uint8, shape (B, T, H, W, 3), to float32, shape (B, T, hidsize)."""

    def __init__(self, slow: Any) -> None:
        super().__init__()
        self._stacks = [_stack(stack) for stack in slow.cnn.stacks]
        weight = slow.cnn.stacks[0].firstconv.layer.weight
        self._first = (weight.permute(2, 3, 1, 0).flatten(0, 2) / 255.0).contiguous()
        self.dense, self.linear = slow.cnn.dense, slow.linear
        norm, layer = self.dense.norm, self.dense.layer
        for tensor in (norm.weight, norm.bias, layer.weight):  # channels lie last here
            by_channel = tensor.data.unflatten(-1, (len(self._stacks[-1].bias), -1))
            tensor.data = by_channel.transpose(-1, -2).flatten(-2).contiguous()

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        flat = pictures.flatten(0, 1).contiguous().numpy()
        parts = [flat[begin : begin + _PICTURES] for begin in range(0, len(flat), _PICTURES)]
        num_threads = torch.get_num_threads()
        if num_threads == 1:
            seen = [self._seen(part) for part in parts]
        else:
            torch.set_num_threads(1)  # in each of ours
            try:
                with ThreadPoolExecutor(num_threads) as pool:
                    seen = list(pool.map(self._seen, parts))
            finally:
                torch.set_num_threads(num_threads)
        return self.linear(self.dense(torch.cat(seen))).unflatten(0, pictures.shape[:2])

    def _seen(self, pictures: np.ndarray) -> torch.Tensor:
        """What all stacks make of pictures, shape (N, H * W * C)."""
        x = self._begun(pictures)
        for stack in self._stacks:
            if stack.first is not None:
                x = _pooled(x, stack.first, stack.bias)
            x = _normed(x, stack.scale, stack.shift)
            for number in range(0, len(stack.layers), 2):
                x = _convolved(_convolved(x, stack.layers[number]), stack.layers[number + 1], x)
        return torch.from_numpy(x.raw).flatten(1)

    def _begun(self, pictures: np.ndarray) -> _Numbers:
        """The first stack's convolution, of three channels, and its pooling, some rows at a time."""
        num, height, width, _ = pictures.shape
        bias = self._stacks[0].bias
        x = _numbers(num, height // 2, width // 2, len(bias))
        size = (2 * _ROWS + 1) * width
        columns, made = np.empty(size * 27 + _LANES, np.float32), torch.empty(size, len(bias))
        for number in range(num):
            for row in range(0, height // 2, _ROWS):
                begin, end = max(0, 2 * row - 1), min(height, 2 * (row + _ROWS))
                count = (end - begin) * width
                _columns(pictures[number], begin, end, columns)
                torch.mm(torch.from_numpy(columns[: count * 27].reshape(count, 27)), self._first, out=made[:count])
                wide = made[:count].numpy().reshape(end - begin, width, -1)
                _pool(wide, begin, row, bias, x.raw[number, row : row + _ROWS], x.sums[number])
        return x


class _Numbers(NamedTuple):
    """What lies between two layers: `raw * factors[:, 0] + factors[:, 1]`.

    Attributes:
        raw: float32, shape (N, H, W, C).
        sums: Of `raw` and of its squares over H and W; float32, shape (N, 2, C).
        factors: float32, shape (N, 2, C).
    """

    raw: np.ndarray
    sums: np.ndarray
    factors: np.ndarray


def _numbers(num: int, height: int, width: int, channels: int) -> _Numbers:
    factors = np.zeros((num, 2, channels), np.float32)
    factors[:, 0] = 1.0
    return _Numbers(np.empty((num, height, width, channels), np.float32), np.zeros((num, 2, channels), np.float32), factors)


def _normed(x: _Numbers, scale: np.ndarray, shift: np.ndarray) -> _Numbers:
    """All the numbers of a picture, of mean 0 and variance 1, then scaled by channel."""
    factors = np.empty_like(x.factors)
    _norm(x.sums, x.factors, scale, shift, x.raw.shape[1] * x.raw.shape[2], factors)
    return x._replace(factors=factors)


def _pooled(x: _Numbers, layer: _Layer, bias: np.ndarray) -> _Numbers:
    """A convolution and its pooling, as many pictures at a time as fill the products."""
    num, height, width, _ = x.raw.shape
    y = _numbers(num, height // 2, width // 2, len(bias))
    together = max(1, _TILES * _STEP * _STEP // (height * width))
    for begin in range(0, num, together):
        some = _Numbers(*(part[begin : begin + together] for part in x))
        for number, wide in enumerate(_convolved(some, layer).raw, begin):
            _pool(wide, 0, 0, bias, y.raw[number], y.sums[number])
    return y


def _convolved(x: _Numbers, layer: _Layer, beside: _Numbers | None = None) -> _Numbers:
    """Normalisation, convolution, rectifier; `beside` is added to them."""
    num, height, width, inputs = x.raw.shape
    outputs = layer.filters.shape[2]
    factors = _normed(x, layer.scale, layer.shift).factors
    y = _numbers(num, height, width, outputs)
    tiles = num * (height // _STEP) * (width // _STEP)
    spread = torch.empty(_SIDE * _SIDE, _TILES, inputs)
    products = torch.empty(_SIDE * _SIDE, _TILES, outputs)
    added = y if beside is None else beside
    for begin in range(0, tiles, _TILES):
        count = min(_TILES, tiles - begin)
        _spread(x.raw, factors, begin, count, spread.numpy())
        torch.bmm(spread[:, :count], layer.filters, out=products[:, :count])
        _gather(products.numpy(), begin, count, added.raw, added.factors, beside is not None, y.raw, y.sums)
    return y


def _stack(slow: Any) -> _Stack:
    first, norm = slow.firstconv, slow.n
    bias = first.layer.bias
    return _Stack(
        None if first.norm is None else _layer(first),
        np.zeros(norm.num_channels, np.float32) if bias is None else bias.numpy(),
        norm.weight.numpy(),
        norm.bias.numpy(),
        [_layer(unit) for block in slow.blocks for unit in (block.conv0, block.conv1)],
    )


def _layer(unit: Any) -> _Layer:
    mixed = np.einsum("ai,ocij,bj->abco", _FILTER, unit.layer.weight.double().numpy(), _FILTER)
    filters = torch.from_numpy(mixed.reshape(-1, *mixed.shape[2:]).astype(np.float32))
    return _Layer(filters.contiguous(), unit.norm.weight.numpy(), unit.norm.bias.numpy())


class Lanes(types.Type):
    """16 numbers, float32, that are worked on as one."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


_lanes = Lanes()
_inside: Any = intrinsic  # whose arguments are not those of the function that is made
_SIXTEEN = ir.VectorType(ir.FloatType(), _LANES)


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _SIXTEEN)


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _SIXTEEN.as_pointer())


@_inside
def _load(typing: Any, array: Any, at: Any) -> Any:
    """The 16 numbers of a flat array from `at` on."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        found = builder.load(_place(context, builder, signature.args[0], *values), typ=_SIXTEEN)
        found.align = 4
        return found

    return _lanes(array, types.intp), generate


@_inside
def _store(typing: Any, array: Any, at: Any, lanes: Any) -> Any:
    """Write 16 numbers to a flat array, from `at` on."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        to, where, what = values
        builder.store(what, _place(context, builder, signature.args[0], to, where)).align = 4
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes), generate


@_inside
def _all(typing: Any, number: Any) -> Any:
    """16 times the same number."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        nothing, places = ir.Constant(_SIXTEEN, ir.Undefined), ir.VectorType(ir.IntType(32), _LANES)
        one = builder.insert_element(nothing, values[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(one, nothing, ir.Constant(places, [0] * _LANES))

    return _lanes(types.float32), generate


@_inside
def _larger(typing: Any, a: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *values), *values)

    return _lanes(_lanes, _lanes), generate


def _operation(name: str) -> Callable[..., Any]:
    @_inside
    def of_lanes(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return getattr(builder, name)(*values, flags=("contract",))

        return _lanes(_lanes, _lanes), generate

    def chosen(a, b):
        return (lambda a, b: of_lanes(a, b)) if isinstance(a, Lanes) and isinstance(b, Lanes) else None

    return chosen


for _operator, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    overload(_operator)(_operation(_name))

_compiled: Any = njit(nogil=True, cache=True, error_model="numpy")


@_compiled
def _into_six(a, b, c, d, e, f, two, four, five):
    """Six numbers, mixed (the transposed B of the paper)."""
    p, q, r, s = e - four * c, d - four * b, e - c, two * (d - b)
    return four * a - five * c + e, p + q, p - q, r + s, r - s, four * b - five * d + f


@_compiled
def _into_four(a, b, c, d, e, f, two, four, eight):
    """Four numbers of six (the transposed A of the paper)."""
    p, q, r, s = b + c, b - c, d + e, d - e
    return a + p + r, q + two * s, p + four * r, q + eight * s + f


@_compiled
def _read(x, at, scale, shift):
    return _load(x, at) * scale + shift


@_compiled
def _read_row(x, at, step, has_left, has_right, scale, shift, zero, two, four, five):
    a = f = zero
    if has_left:
        a = _read(x, at - step, scale, shift)
    if has_right:
        f = _read(x, at + 4 * step, scale, shift)
    b, c = _read(x, at, scale, shift), _read(x, at + step, scale, shift)
    d, e = _read(x, at + 2 * step, scale, shift), _read(x, at + 3 * step, scale, shift)
    return _into_six(a, b, c, d, e, f, two, four, five)


@_compiled
def _spread(x, factors, begin, count, to):
    """Normalise tiles and mix their numbers; `to` has shape (36, at least `count`, C)."""
    height, width, channels = x.shape[1:]
    down, across, step = height // 4, width // 4, to.shape[1] * channels
    numbers, factor, mixed = x.reshape(-1), factors.reshape(-1), to.reshape(-1)
    zero, two = _all(np.float32(0)), _all(np.float32(2))
    four, five = _all(np.float32(4)), _all(np.float32(5))
    nothing = (zero, zero, zero, zero, zero, zero)
    line = width * channels
    for tile in range(count):
        picture, place = divmod(begin + tile, down * across)
        row, column = divmod(place, across)
        left, right = column > 0, column < across - 1
        for channel in range(0, channels, 16):
            scale = _load(factor, 2 * picture * channels + channel)
            shift = _load(factor, (2 * picture + 1) * channels + channel)
            at = ((picture * height + 4 * row) * width + 4 * column) * channels + channel
            a = f = nothing
            if row > 0:
                a = _read_row(numbers, at - line, channels, left, right, scale, shift, zero, two, four, five)
            b = _read_row(numbers, at, channels, left, right, scale, shift, zero, two, four, five)
            c = _read_row(numbers, at + line, channels, left, right, scale, shift, zero, two, four, five)
            d = _read_row(numbers, at + 2 * line, channels, left, right, scale, shift, zero, two, four, five)
            e = _read_row(numbers, at + 3 * line, channels, left, right, scale, shift, zero, two, four, five)
            if row < down - 1:
                f = _read_row(numbers, at + 4 * line, channels, left, right, scale, shift, zero, two, four, five)
            where = tile * channels + channel
            for j in range(6):
                six = _into_six(a[j], b[j], c[j], d[j], e[j], f[j], two, four, five)
                for i in range(6):
                    _store(mixed, where + (6 * i + j) * step, six[i])


@_compiled
def _gather_column(mixed, at, step, two, four, eight):
    a, b, c = _load(mixed, at), _load(mixed, at + 6 * step), _load(mixed, at + 12 * step)
    d, e, f = _load(mixed, at + 18 * step), _load(mixed, at + 24 * step), _load(mixed, at + 30 * step)
    return _into_four(a, b, c, d, e, f, two, four, eight)


@_compiled
def _gather(products, begin, count, beside, factors, has_beside, to, sums):
    """Mix tiles back, rectify them, add what is beside, and add up what was written."""
    height, width, channels = to.shape[1:]
    down, across, step = height // 4, width // 4, products.shape[1] * channels
    mixed, added, factor = products.reshape(-1), beside.reshape(-1), factors.reshape(-1)
    written, sum_of = to.reshape(-1), sums.reshape(-1)
    zero, two = _all(np.float32(0)), _all(np.float32(2))
    four, eight = _all(np.float32(4)), _all(np.float32(8))
    for tile in range(count):
        picture, place = divmod(begin + tile, down * across)
        row, column = divmod(place, across)
        for channel in range(0, channels, 16):
            where = tile * channels + channel
            a = _gather_column(mixed, where, step, two, four, eight)
            b = _gather_column(mixed, where + step, step, two, four, eight)
            c = _gather_column(mixed, where + 2 * step, step, two, four, eight)
            d = _gather_column(mixed, where + 3 * step, step, two, four, eight)
            e = _gather_column(mixed, where + 4 * step, step, two, four, eight)
            f = _gather_column(mixed, where + 5 * step, step, two, four, eight)
            of_sum = 2 * picture * channels + channel
            scale, shift = _load(factor, of_sum), _load(factor, of_sum + channels)
            total = square = zero
            for i in range(4):
                at = ((picture * height + 4 * row + i) * width + 4 * column) * channels + channel
                four_of = _into_four(a[i], b[i], c[i], d[i], e[i], f[i], two, four, eight)
                for j in range(4):
                    value = _larger(four_of[j], zero)
                    if has_beside:
                        value = value + (_load(added, at + j * channels) * scale + shift)
                    _store(written, at + j * channels, value)
                    total = total + value
                    square = square + value * value
            _store(sum_of, of_sum, _load(sum_of, of_sum) + total)
            _store(sum_of, of_sum + channels, _load(sum_of, of_sum + channels) + square)


@_compiled
def _columns(picture, begin, end, to):
    """The 27 numbers that each pixel of some rows meets, by row, column and colour, one pixel's behind those of the last."""
    height, width = picture.shape[:2]
    line = (width + 2) * 3
    padded = np.zeros((end - begin + 2) * line + 16, np.float32)
    for row in range(max(begin - 1, 0), min(end + 1, height)):
        at, numbers = (row - begin + 1) * line + 3, picture[row].reshape(-1)
        for place in range(3 * width):
            padded[at + place] = numbers[place]
    for row in range(end - begin):
        for column in range(width):
            for i in range(3):  # what is written too far is overwritten
                _store(to, (row * width + column) * 27 + 9 * i, _load(padded, (row + i) * line + 3 * column))


@_compiled
def _pool(x, top, first, bias, to, sums):
    """The largest of each 3x3, two apart, plus bias, rectified, and what they add up to.

    Args:
        x: Rows from `top` on.
        first: Which of the pooled rows is the first of `to`.
    """
    rows, width, channels = x.shape
    numbers, written, sum_of = x.reshape(-1), to.reshape(-1), sums.reshape(-1)
    zero = _all(np.float32(0))
    for row in range(to.shape[0]):
        middle = 2 * (first + row) - top
        for column in range(to.shape[1]):
            for channel in range(0, channels, 16):
                value = _load(numbers, (middle * width + 2 * column) * channels + channel)
                for i in range(max(middle - 1, 0), min(middle + 2, rows)):
                    at = (i * width + 2 * column) * channels + channel
                    value = _larger(_larger(value, _load(numbers, at)), _load(numbers, at + channels))
                    if column > 0:
                        value = _larger(value, _load(numbers, at - channels))
                value = _larger(value + _load(bias, channel), zero)
                _store(written, (row * to.shape[1] + column) * channels + channel, value)
                _store(sum_of, channel, _load(sum_of, channel) + value)
                _store(sum_of, channel + channels, _load(sum_of, channel + channels) + value * value)


@_compiled
def _norm(sums, inner, scale, shift, num, to):
    """The factors that make all `num` numbers of each channel, times `inner`, of mean 0 and variance 1 together, then scale."""
    for picture in range(len(sums)):
        total = square = 0.0
        for channel in range(len(scale)):
            of, of_square = np.float64(sums[picture, 0, channel]), np.float64(sums[picture, 1, channel])
            a, b = np.float64(inner[picture, 0, channel]), np.float64(inner[picture, 1, channel])
            total += a * of + b * num
            square += a * a * of_square + 2 * a * b * of + b * b * num
        mean = total / (num * len(scale))
        spread = np.sqrt(max(square / (num * len(scale)) - mean * mean, 0.0) + _EPSILON)
        for channel in range(len(scale)):
            factor = scale[channel] / spread
            to[picture, 0, channel] = inner[picture, 0, channel] * factor
            to[picture, 1, channel] = (inner[picture, 1, channel] - mean) * factor + shift[channel]

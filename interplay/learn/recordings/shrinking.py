"""Video frames to VPT's size without their whole picture in colours, to the same bytes as the long way.

The long way turns a frame of 640x360 into colours (FFmpeg's converter) and makes it small (OpenCV's `INTER_LINEAR`). Of it the
small picture holds every fifth column and two rows for each of its own, so it is enough to convert those. The converter's
arithmetic is read from the converter: it is asked for all pairs of brightness and colour once, and the factors that come of it
are tried on a frame of chance. Where it does not hold, where a frame has another form, or without Numba, the long way is taken.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interplay.learn.recordings.pictures import NOWHERE, SIZE, Place

if TYPE_CHECKING:
    from av import VideoFrame

WIDTH, HEIGHT = 640, 360
"""Of the frames that can be made small so."""
_STEP, _FIRST = WIDTH // SIZE, WIDTH // SIZE // 2
"""Columns of a frame that small pictures have: with five to one, each is the middle of its five, and no neighbour counts."""
_FORMAT = "yuv420p"


class _Factors(NamedTuple):
    """What the converter makes of brightness (y) and colour (u, v).

    Each is a whole number as `(slope * value + offset) >> 16`: slopes and offsets, int32. A colour is the sum of brightness and
    its parts, cut to 0 to 255.
    """

    luma: tuple[np.int32, np.int32]
    red_of_v: tuple[np.int32, np.int32]
    green_of_u: tuple[np.int32, np.int32]
    green_of_v: tuple[np.int32, np.int32]
    blue_of_u: tuple[np.int32, np.int32]

    def colours(self, y: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        luma, red_v, green_u, green_v, blue_u = (
            (values.astype(np.int64) * slope + offset) >> 16
            for values, (slope, offset) in zip((y, v, u, v, u), self, strict=True)
        )
        return np.stack([luma + red_v, luma + green_u + green_v, luma + blue_u], axis=-1).clip(0, 255)


def shrunk(frame: VideoFrame, cursor: Place | None) -> np.ndarray | None:
    """A frame as VPT sees it: uint8, shape (128, 128, 3), RGB; None where the long way must be taken.

    Args:
        cursor: Where the cursor is drawn before the frame becomes small; None where it is not.
    """
    if (frame.width, frame.height, frame.format.name) != (WIDTH, HEIGHT, _FORMAT):
        return None
    factors, kernel = _factors(int(frame.colorspace), int(frame.color_range)), _kernel()
    if factors is None or kernel is None:
        return None
    small = np.empty((SIZE, SIZE, 3), np.uint8)
    kernel(*_planes(frame), *_rows(), *factors, *(cursor or NOWHERE), small)
    return small


def _planes(frame: VideoFrame) -> list[np.ndarray]:
    """Brightness and the two colours as they lie, with what is beside the picture."""
    return [np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size) for plane in frame.planes]  # type: ignore[arg-type]


@cache
def _rows() -> tuple[np.ndarray, np.ndarray]:
    """Of each row of the small picture: the upper of its two rows, and the share of the lower one in 2048."""
    at = (np.arange(SIZE) + 0.5) * (HEIGHT / SIZE) - 0.5
    upper = np.floor(at).astype(np.int64)
    return upper, np.rint((at - upper).astype(np.float32) * np.float32(2048)).astype(np.int32)


@cache
def _factors(colorspace: int, color_range: int) -> _Factors | None:
    """Those of a kind of frame; None where the converter does not compute so."""
    every = np.arange(256, dtype=np.uint8)
    down, across = np.repeat(every, 256).reshape(256, 256), np.tile(every, (256, 1))
    middle = np.full((256, 256), 128, np.uint8)

    def convert(y: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return _converted(y, u, v, colorspace, color_range).astype(np.int64)

    of_u, of_v = convert(down, across, middle), convert(down, middle, across)
    green_u, green_v = of_u[128, :, 1] - of_u[128, 128, 1], of_v[128, :, 1] - of_v[128, 128, 1]
    # Where nothing is cut off: dark with the greenest colour, bright with the least green.
    luma = np.where(every < 128, of_v[:, 0, 1] - green_v[0], of_v[:, 255, 1] - green_v[255])
    red_v, blue_u = (_part(both, luma) for both in (of_v[..., 0], of_u[..., 2]))
    found = [_line(values) for values in (luma, red_v, green_u, green_v, blue_u)]
    if None in found:
        return None
    made = _Factors(*found)  # type: ignore[arg-type]
    y, u, v = np.random.default_rng(0).integers(0, 256, (3, 256, 256), np.uint8)
    is_right = all(np.array_equal(made.colours(*one), convert(*one)) for one in ((y, u, v), (down, across, across)))
    return made if is_right else None


def _part(both: np.ndarray, luma: np.ndarray) -> np.ndarray:
    """What a colour adds to brightness, by the colour; `both` by brightness and colour, cut to 0 to 255."""
    row = np.abs(both - 128).argmin(axis=0)  # the brightness at which it is cut off the least
    return both[row, np.arange(256)] - luma[row]


def _line(values: np.ndarray) -> tuple[np.int32, np.int32] | None:
    """Slope and offset with which `(slope * x + offset) >> 16` are these 256 values; None if there are none."""
    every = np.arange(256)
    about = round(int(values[-1] - values[0]) * 65536 / 255)
    for slope in range(about - 512, about + 513):  # the ends are rounded by less than one each
        lowest = (values << 16) - slope * every  # of all offsets
        if lowest.max() - lowest.min() < 65536:
            return np.int32(slope), np.int32(lowest.max())
    return None


def _converted(y: np.ndarray, u: np.ndarray, v: np.ndarray, colorspace: int, color_range: int) -> np.ndarray:
    """Colours of brightness and colour, each uint8, shape (256, 256): a frame of which each four pixels are the same."""
    import av

    frame = av.VideoFrame(512, 512, _FORMAT)
    frame.colorspace, frame.color_range = colorspace, color_range
    for plane, values in zip(frame.planes, (y.repeat(2, 0).repeat(2, 1), u, v), strict=True):
        rows = np.zeros((plane.height, plane.line_size), np.uint8)
        rows[:, : plane.width] = values
        plane.update(rows.tobytes())
    return frame.to_ndarray(format="rgb24")[::2, ::2]


@cache
def _kernel() -> Any:
    """`_shrink`, compiled; None without Numba."""
    try:
        import numba
    except ModuleNotFoundError:
        return None
    return numba.njit(nogil=True, cache=True)(_shrink)


def _shrink(lumas, us, vs, upper, shares, luma, red_of_v, green_of_u, green_of_v, blue_of_u, top, left, cursor, rest, small):
    """Write the small picture: convert the two pixels of each of its own, draw the cursor, and mix them as OpenCV does.

    Many short loops, each over arrays of its own and in 32 bits: the compiler makes eight columns at a time of them.
    """
    y, u, v = np.empty(SIZE, np.int32), np.empty(SIZE, np.int32), np.empty(SIZE, np.int32)
    red_part, green_part, blue_part = np.empty(SIZE, np.int32), np.empty(SIZE, np.int32), np.empty(SIZE, np.int32)
    parts = red_part, green_part, blue_part
    colours = np.empty((2, SIZE), np.int32), np.empty((2, SIZE), np.int32), np.empty((2, SIZE), np.int32)
    mixed = np.empty(SIZE, np.uint8), np.empty(SIZE, np.uint8), np.empty(SIZE, np.uint8)
    colour_row = -1
    for row in range(SIZE):
        for which in range(2):
            at = min(upper[row] + which, HEIGHT - 1)
            pixels = lumas[at]
            for column in range(SIZE):
                y[column] = pixels[column * _STEP + _FIRST]
            for column in range(SIZE):
                y[column] = np.int32(y[column] * luma[0] + luma[1]) >> 16
            if at >> 1 != colour_row:  # two rows of brightness share one of colour
                colour_row = at >> 1
                row_u, row_v = us[colour_row], vs[colour_row]
                for column in range(SIZE):
                    u[column] = row_u[(column * _STEP + _FIRST) >> 1]
                    v[column] = row_v[(column * _STEP + _FIRST) >> 1]
                for column in range(SIZE):
                    red_part[column] = np.int32(v[column] * red_of_v[0] + red_of_v[1]) >> 16
                    blue_part[column] = np.int32(u[column] * blue_of_u[0] + blue_of_u[1]) >> 16
                    green_u = np.int32(u[column] * green_of_u[0] + green_of_u[1]) >> 16
                    green_part[column] = green_u + (np.int32(v[column] * green_of_v[0] + green_of_v[1]) >> 16)
            for channel in range(3):
                part, colour = parts[channel], colours[channel][which]
                for column in range(SIZE):
                    colour[column] = min(max(np.int32(y[column] + part[column]), np.int32(0)), np.int32(255))
                if top <= at < top + len(cursor):
                    for column in range(SIZE):
                        x = column * _STEP + _FIRST - left
                        if 0 <= x < cursor.shape[1]:
                            colour[column] = np.uint8(colour[column] * rest[at - top, x, 0] + cursor[at - top, x, 0])
        low = shares[row]
        high = np.int32(2048 - low)
        for channel in range(3):
            first, second, both = colours[channel][0], colours[channel][1], mixed[channel]
            for column in range(SIZE):
                both[column] = (np.int32(first[column] * high >> 9) + np.int32(second[column] * low >> 9) + 2) >> 2
        red, green, blue = mixed
        for column in range(SIZE):
            small[row, column, 0], small[row, column, 1], small[row, column, 2] = red[column], green[column], blue[column]

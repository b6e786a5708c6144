"""Video frames to VPT's size without their whole picture in colours, to the same bytes as the long way.

The long way turns a frame of 640x360 into colours (FFmpeg's converter) and makes it small (OpenCV's `INTER_LINEAR`). Of it the
small picture holds every fifth column and two rows for each of its own, so it is enough to convert those. The converter's
arithmetic is read from the converter: it is asked for all pairs of brightness and colour once, and the factors that come of it
are tried on a frame of chance. Where it does not hold, where a frame has another form, or without Numba, the long way is taken.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.learn.recordings.pictures import NOWHERE, SIZE, Place

if TYPE_CHECKING:
    from av import VideoFrame

WIDTH, HEIGHT = 640, 360
"""Of the frames that can be made small so."""
_STEP, _FIRST = WIDTH // SIZE, WIDTH // SIZE // 2
"""Columns of a frame that small pictures have: with five to one, each is the middle of its five, and no neighbour counts."""
_BAND, _BAND_ROWS = 16, HEIGHT * 16 // SIZE
"""Rows of the small picture, and of the frame, after which the places of the one in the other are the same again."""
_COLOUR_ROWS = _BAND_ROWS // 2 + 1
"""Rows of colour, of which two of brightness share one, that a band meets."""
_FORMAT = "yuv420p"


def shrink(frame: VideoFrame, cursor: Place | None, small: np.ndarray) -> bool:
    """Write a frame as VPT sees it; returns False, and writes nothing, where the long way must be taken.

    Args:
        cursor: Where the cursor is drawn before the frame becomes small; None where it is not.
        small: Where to; uint8, shape (128, 128, 3), RGB, in C order.
    """
    if (frame.width, frame.height, frame.format.name) != (WIDTH, HEIGHT, _FORMAT):
        return False
    factors, kernel = _factors(int(frame.colorspace), int(frame.color_range)), _kernel()
    if factors is None or kernel is None:
        return False
    kernel(*_planes(frame), *_rows(), factors, *(cursor or NOWHERE), small)
    return True


def _planes(frame: VideoFrame) -> list[np.ndarray]:
    """Brightness and the two colours as they lie, with what is beside the picture."""
    return [np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size) for plane in frame.planes]  # type: ignore[arg-type]


@cache
def _rows() -> tuple[np.ndarray, np.ndarray]:
    """Of each row of a band of the small picture: the upper of its two rows in the frame, and the share of the lower in 32."""
    at = (np.arange(_BAND) + 0.5) * (HEIGHT / SIZE) - 0.5
    upper = np.floor(at).astype(np.int64)
    return upper, ((at - upper) * 32).astype(np.int16)


@cache
def _factors(colorspace: int, color_range: int) -> np.ndarray | None:
    """What the converter makes of brightness (y) and colour (u, v) of a kind of frame; None where it does not compute so.

    Returns:
        int32, shape (5, 2): slope and offset of a whole number each, `(slope * value + offset) >> 16`: brightness, red of v,
        green of u, green of v, and blue of u. A colour is the sum of brightness and its parts, cut to 0 to 255.
    """
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
    factors = np.array(found, np.int32)
    chance = np.random.default_rng(0).integers(0, 256, (3, 256, 256), np.uint8)
    is_right = all(np.array_equal(_colours(factors, *one), convert(*one)) for one in (chance, (down, across, across)))
    return factors if is_right else None


def _colours(factors: np.ndarray, y: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    luma, red_v, green_u, green_v, blue_u = (
        (values.astype(np.int64) * slope + offset) >> 16
        for values, (slope, offset) in zip((y, v, u, v, u), factors, strict=True)
    )
    return np.stack([luma + red_v, luma + green_u + green_v, luma + blue_u], axis=-1).clip(0, 255)


def _part(both: np.ndarray, luma: np.ndarray) -> np.ndarray:
    """What a colour adds to brightness, by the colour; `both` by brightness and colour, cut to 0 to 255."""
    row = np.abs(both - 128).argmin(axis=0)  # the brightness at which it is cut off the least
    return both[row, np.arange(256)] - luma[row]


def _line(values: np.ndarray) -> tuple[int, int] | None:
    """Slope and offset with which `(slope * x + offset) >> 16` are these 256 values; None if there are none."""
    every = np.arange(256)
    about = round(int(values[-1] - values[0]) * 65536 / 255)
    for slope in range(about - 512, about + 513):  # the ends are rounded by less than one each
        lowest = (values << 16) - slope * every  # of all offsets
        if lowest.max() - lowest.min() < 65536:
            return slope, int(lowest.max())
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


def _shrink(lumas, us, vs, upper, shares, factors, top, left, cursor, rest, small):
    """Write the small picture: convert the two pixels of each of its own, draw the cursor, and mix them as OpenCV does.

    Many short loops over arrays in a row, in as few bits as their numbers need: the compiler makes 8 to 64 at a time of them.
    OpenCV mixes in 2048ths; here all of its shares are whole 32nds.
    """
    y, luma = np.empty(2 * _BAND * SIZE, np.uint8), np.empty(2 * _BAND * SIZE, np.int16)
    u, v = np.empty(_COLOUR_ROWS * SIZE, np.uint8), np.empty(_COLOUR_ROWS * SIZE, np.uint8)
    parts = np.empty((3, _COLOUR_ROWS * SIZE), np.int16)
    colours = np.empty((3, 2 * _BAND * SIZE), np.uint8)
    mixed = np.empty((3, _BAND * SIZE), np.uint8)
    red_part, green_part, blue_part = parts
    red, green, blue = mixed
    (of_y, from_y), (red_of_v, red_from), (green_of_u, green_from_u), (green_of_v, green_from_v), (blue_of_u, blue_from) = (
        factors
    )
    for band in range(SIZE // _BAND):
        first = band * _BAND_ROWS
        for row in range(2 * _BAND):
            pixels, taken = lumas[first + upper[row >> 1] + (row & 1)], y[row * SIZE : (row + 1) * SIZE]
            for column in range(SIZE):
                taken[column] = pixels[column * _STEP + _FIRST]
        for row in range(_COLOUR_ROWS):
            for pixels, all_taken in ((us[(first >> 1) + row], u), (vs[(first >> 1) + row], v)):
                taken = all_taken[row * SIZE : (row + 1) * SIZE]
                for pair in range(SIZE // 2):
                    taken[2 * pair] = pixels[pair * _STEP + _FIRST // 2]
                    taken[2 * pair + 1] = pixels[pair * _STEP + (_STEP + _FIRST) // 2]
        for at in range(len(y)):
            luma[at] = np.int32(y[at] * of_y + from_y) >> 16
        for at in range(len(u)):
            red_part[at] = np.int32(v[at] * red_of_v + red_from) >> 16
        for at in range(len(u)):
            green_u = np.int32(u[at] * green_of_u + green_from_u) >> 16
            green_part[at] = green_u + (np.int32(v[at] * green_of_v + green_from_v) >> 16)
        for at in range(len(u)):
            blue_part[at] = np.int32(u[at] * blue_of_u + blue_from) >> 16
        for row in range(2 * _BAND):
            line = first + upper[row >> 1] + (row & 1)
            bright, of_colour = luma[row * SIZE : (row + 1) * SIZE], ((line >> 1) - (first >> 1)) * SIZE
            for channel in range(3):
                part, colour = parts[channel, of_colour : of_colour + SIZE], colours[channel, row * SIZE : (row + 1) * SIZE]
                for column in range(SIZE):
                    colour[column] = min(max(np.int16(bright[column] + part[column]), np.int16(0)), np.int16(255))
                if top <= line < top + len(cursor):
                    for column in range(SIZE):
                        x = column * _STEP + _FIRST - left
                        if 0 <= x < cursor.shape[1]:
                            colour[column] = np.uint8(colour[column] * rest[line - top, x, 0] + cursor[line - top, x, 0])
        for row in range(_BAND):
            low, high = shares[row], np.int16(32 - shares[row])
            for channel in range(3):
                both = mixed[channel, row * SIZE : (row + 1) * SIZE]
                above = colours[channel, 2 * row * SIZE : (2 * row + 1) * SIZE]
                below = colours[channel, (2 * row + 1) * SIZE : (2 * row + 2) * SIZE]
                for column in range(SIZE):
                    part_above, part_below = np.int16(above[column] * high) >> 3, np.int16(below[column] * low) >> 3
                    both[column] = np.int16(part_above + part_below + 2) >> 2
        written = small[band * _BAND : (band + 1) * _BAND].reshape(-1)
        for at in range(len(red)):
            written[3 * at], written[3 * at + 1], written[3 * at + 2] = red[at], green[at], blue[at]

"""Video frames to VPT's size without their whole picture in colours, to the same bytes as the long way.

The long way turns a frame of 640x360 into colours (FFmpeg's converter) and makes it small (OpenCV's `INTER_LINEAR`). Of it the
small picture holds every fifth column and two rows for each of its own, so it is enough to convert those. The converter's
arithmetic is read from the converter: it is asked for all pairs of brightness and colour once, and the table that comes of it
is tried on a frame of chance. Where it does not hold, where a frame has another form, or without Numba, the long way is taken.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interplay.learn.recordings.pictures import SIZE

if TYPE_CHECKING:
    from av import VideoFrame

WIDTH, HEIGHT = 640, 360
"""Of the frames that can be made small so."""
_STEP, _FIRST = WIDTH // SIZE, WIDTH // SIZE // 2
"""Columns of a frame that small pictures have: with five to one, each is the middle of its five, and no neighbour counts."""
_FORMAT = "yuv420p"


class _Tables(NamedTuple):
    """What the converter makes of brightness (y) and colour (u, v).

    Attributes:
        red, blue: uint8, shape (256, 256): by y and v, by y and u.
        luma, of_u, of_v: int16, shape (256,): their sum, cut to 0 to 255, is green.
    """

    red: np.ndarray
    blue: np.ndarray
    luma: np.ndarray
    of_u: np.ndarray
    of_v: np.ndarray

    def green(self, y: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.clip(self.luma[y] + self.of_u[u] + self.of_v[v], 0, 255)


def shrunk(frame: VideoFrame) -> np.ndarray | None:
    """A frame as VPT sees it: uint8, shape (128, 128, 3), RGB; None where the long way must be taken."""
    if (frame.width, frame.height, frame.format.name) != (WIDTH, HEIGHT, _FORMAT):
        return None
    tables, kernel = _tables(int(frame.colorspace), int(frame.color_range)), _kernel()
    if tables is None or kernel is None:
        return None
    small = np.empty((SIZE, SIZE, 3), np.uint8)
    kernel(*_planes(frame), *_rows(), *tables, small)
    return small


def _planes(frame: VideoFrame) -> list[np.ndarray]:
    """Brightness and the two colours as they lie, with what is beside the picture."""
    return [np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size) for plane in frame.planes]  # type: ignore[arg-type]


@cache
def _rows() -> tuple[np.ndarray, np.ndarray]:
    """Of each row of the small picture: the upper of its two rows, and the share of the lower one in 2048."""
    at = (np.arange(SIZE) + 0.5) * (HEIGHT / SIZE) - 0.5
    upper = np.floor(at).astype(np.int64)
    return upper, np.rint((at - upper).astype(np.float32) * np.float32(2048)).astype(np.int64)


@cache
def _tables(colorspace: int, color_range: int) -> _Tables | None:
    """Those of a kind of frame; None where the converter does not compute so."""
    every = np.arange(256, dtype=np.uint8)
    down, across = np.repeat(every, 256).reshape(256, 256), np.tile(every, (256, 1))
    middle = np.full((256, 256), 128, np.uint8)

    def convert(y: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return _converted(y, u, v, colorspace, color_range).astype(np.int16)

    both, of_u, of_v = convert(down, across, across), convert(down, across, middle), convert(down, middle, across)
    change_u = of_u[128, :, 1] - of_u[128, 128, 1]
    change_v = of_v[128, :, 1] - of_v[128, 128, 1]
    # Where nothing is cut off: dark with the greenest colour, bright with the least green.
    luma = np.where(every < 128, of_v[:, 0, 1] - change_v[0], of_v[:, 255, 1] - change_v[255])
    made = _Tables(both[..., 0].astype(np.uint8), both[..., 2].astype(np.uint8), luma, change_u, change_v)
    y, u, v = np.random.default_rng(0).integers(0, 256, (3, 256, 256), np.uint8)
    colours = np.stack([made.red[y, v], made.green(y, u, v), made.blue[y, u]], axis=-1)
    return made if np.array_equal(colours, convert(y, u, v)) else None


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


def _shrink(lumas, us, vs, upper, shares, red, blue, luma, of_u, of_v, small):
    """Write the small picture: convert the two pixels of each of its own, and mix them as OpenCV does."""
    for row in range(SIZE):
        first = upper[row]
        second = min(first + 1, HEIGHT - 1)
        low = shares[row]
        high = 2048 - low
        for column in range(SIZE):
            x = column * _STEP + _FIRST
            y0, u0, v0 = lumas[first, x], us[first >> 1, x >> 1], vs[first >> 1, x >> 1]
            y1, u1, v1 = lumas[second, x], us[second >> 1, x >> 1], vs[second >> 1, x >> 1]
            g0 = min(max(luma[y0] + of_u[u0] + of_v[v0], 0), 255)
            g1 = min(max(luma[y1] + of_u[u1] + of_v[v1], 0), 255)
            small[row, column, 0] = (((red[y0, v0] * high) >> 9) + ((red[y1, v1] * low) >> 9) + 2) >> 2
            small[row, column, 1] = (((g0 * high) >> 9) + ((g1 * low) >> 9) + 2) >> 2
            small[row, column, 2] = (((blue[y0, u0] * high) >> 9) + ((blue[y1, u1] * low) >> 9) + 2) >> 2

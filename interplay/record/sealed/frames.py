"""The frames of a sealed episode as a lazy sequence; stored, replayed or decoded frames are all read as `frames[i]`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, overload

import numpy as np
import pyarrow.parquet as pq

from interplay.envs.base import Frame, PlayableEnv, Scene
from interplay.record.errors import RecordingError
from interplay.record.format.spaces import binary_to_numpy


class Source(Protocol):
    """Source of frames. `read(start, stop)` yields the pixels of frames start to stop - 1; each is valid until the next one."""

    def read(self, start: int, stop: int) -> Iterator[np.ndarray]: ...


class Frames(Sequence[Frame]):
    """T + 1 frames: `frames[t]` is what the player saw before action t; the last one is the final view."""

    def __init__(self, length: int, palette: np.ndarray | None, source: Callable[[], Source]) -> None:
        self._length = length
        self._palette = palette
        self._make = source
        self._source: Source | None = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> list[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | list[Frame]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            return [self[position] for position in range(start, stop, step)] if step != 1 else list(self.range(start, stop))
        position = index + self._length if index < 0 else index
        if not 0 <= position < self._length:
            raise IndexError(f"frame {index} of an episode with {self._length} frames")
        return next(self.range(position, position + 1))

    def __iter__(self) -> Iterator[Frame]:
        return self.range(0, self._length)

    def range(self, start: int, stop: int) -> Iterator[Frame]:
        """Yield frames start to stop - 1 in order: the fast way to read many frames."""
        stop = min(stop, self._length)
        block = 40  # 28 MB of the block world
        for first in range(start, stop, block):  # the lock is let go between blocks, and while the caller works
            with self._lock:
                if self._source is None:
                    self._source = self._make()
                pixels = [picture.copy() for picture in self._source.read(first, min(first + block, stop))]
            for picture in pixels:
                yield Frame(picture, self._palette)
        if start == 0 and stop == self._length:  # read through: whoever goes over many episodes should not keep them all
            with self._lock:
                self._source = None

    def passing(self, start: int, stop: int) -> Iterator[Frame]:
        """Yield frames as `range` does, for readers that use each frame once: its pixels are valid until the next frame."""
        with self._lock:
            source = self._source = self._source or self._make()
        if not isinstance(source, IndexedSource):
            yield from self.range(start, stop)
            return
        for pixels in source.read(start, min(stop, self._length)):
            yield Frame(pixels, self._palette)

    def stack(self, index: int, n: int = 4) -> np.ndarray:
        """Return the n frames up to `index`, oldest first: uint8, shape (n, H, W), or (n, H, W, 3) for RGB views.

        If there are fewer than n frames, the first frame is repeated.
        """
        first = max(0, index - n + 1)
        pictures = [frame.pixels for frame in self.range(first, index + 1)]
        return np.stack([pictures[0]] * (n - len(pictures)) + pictures)


class IndexedSource:
    """Palette indices that are stored in the file, read one row group at a time."""

    def __init__(self, file: pq.ParquetFile, shape: tuple[int, int]) -> None:
        self._file = file
        self._shape = shape
        counts = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._held = -1, np.zeros((0, *shape), np.uint8)

    def read(self, start: int, stop: int) -> Iterator[np.ndarray]:
        while start < stop:
            group = int(np.searchsorted(self._starts, start, side="right")) - 1
            held, pixels = self._held
            if group != held:
                column = self._file.read_row_group(group, columns=["frame"], use_threads=False).column(0)
                array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()  # which copies even one chunk
                pixels = binary_to_numpy(array).reshape(-1, *self._shape)
                self._held = group, pixels
            first, end = int(self._starts[group]), min(stop, int(self._starts[group + 1]))
            yield from pixels[start - first : end - first]
            start = end


STEPS_AT_ONCE = 50
"""Number of steps that `ReplaySource.approach` makes between two results; in the block world they take some 25 ms."""


class ReplaySource:
    """Frames rebuilt by replaying the recorded actions from the nearest snapshot. `draw` draws only the requested frames.

    New snapshots are taken during the replay if the recording has none nearby, so that going back is quick.
    """

    def __init__(
        self,
        env: PlayableEnv,
        seed: int,
        actions: Sequence[Any],
        snapshots: dict[int, bytes],
        draw: Callable[[PlayableEnv, int], None] | None = None,
    ) -> None:
        self._env = env
        self._seed = seed
        self._actions = actions
        self._snapshots = snapshots
        self._takes_snapshots = True
        self._draw = draw
        self._position: int | None = None
        self._scenes: dict[str, Scene] = {}

    def read(self, start: int, stop: int) -> Iterator[np.ndarray]:
        for index in range(start, stop):
            for _ in self.approach(index):
                pass
            yield self.view()

    def approach(self, index: int) -> Iterator[int]:
        """Step to frame `index`, from the present step or a nearer snapshot; yield the reached step now and then."""
        best = max((step for step in self._snapshots if step <= index), default=0)
        if self._position is None or self._position > index or self._position < best:
            self._position = None  # until it stands somewhere again
            self._scenes.clear()
            if best:
                self._env.restore(self._snapshots[best])
            else:
                self._env.reset(seed=self._seed)
            self._position = best
            yield best
        while self._position < index:
            for _ in range(min(STEPS_AT_ONCE, index - self._position)):
                self._forward()
            yield self._position

    def view(self) -> np.ndarray:
        if self._draw is not None and self._position is not None:
            self._draw(self._env, self._position)
        return self._env.view().pixels

    def scene(self, seat: str, *, fresh: bool) -> tuple[bytes, bool]:
        """Return the deflated payload of a scene frame: the present step seen from a seat, for a browser that has the land.

        Args:
            fresh: Whether the browser has only the land; otherwise it also has the last scene returned for this seat.
        Returns:
            The payload, and whether it is complete (for example, after a jump back): then the browser needs only the land.
        Raises:
            RecordingError: If browsers cannot draw replays of this world.
        """
        scene = self._scenes.get(seat) or self._env.replayed_scene_of(seat)
        if scene is None:
            raise self._undrawable
        fresh, self._scenes[seat] = fresh or seat not in self._scenes, scene
        return scene.scene(fresh, turned=False), fresh

    def land(self) -> Iterator[bytes]:
        """Yield the deflated payloads of land frames with all of the generated land; the first payload gives its `size`."""
        for _ in self.approach(self._position or 0):
            pass
        is_empty = True
        for part in self._env.land():
            is_empty = False
            yield part
        if is_empty:
            raise self._undrawable

    def tables(self) -> bytes:
        """Return the deflated tables with which browsers draw the world; `RecordingError` if browsers cannot draw it."""
        tables = self._env.scene_tables()
        if tables is None:
            raise self._undrawable
        return tables

    @property
    def _undrawable(self) -> RecordingError:
        return RecordingError(f"browsers cannot draw replays of {self._env.task.env.id}")

    def close(self) -> None:
        self._env.close()

    def _forward(self) -> None:
        assert self._position is not None
        position, self._position = self._position, None
        self._env.step_unseen(self._actions[position])
        self._position = position = position + 1
        if position % self._env.snapshot_steps == 0 and position not in self._snapshots and self._takes_snapshots:
            snapshot = self._env.snapshot()
            if snapshot is None:
                self._takes_snapshots = False
            else:
                self._snapshots[position] = snapshot

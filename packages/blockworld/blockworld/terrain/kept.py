"""A cache of lands in a folder, shared by processes: making a land takes half a second, reading a land a tenth of this time.

A file contains a compressed land with its light, and a checksum. A file is used only if it contains the wanted land, made by
the same code that runs now. The folder belongs to the operator: files are checked for damage, not for manipulation. So code
that checks recordings of other people must make its lands again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
import zstandard

from blockworld.grid.grid import Grid
from blockworld.state import Position
from blockworld.terrain.generate import Land
from blockworld.terrain.villages import Village

MOST = 32
"""Largest number of lands in a folder, 2 MB each; if there are more, the least recently used lands are removed."""
_TORN_S = 600
"""Age in seconds from which an unfinished file is treated as left by a killed process."""
_MAX_BYTES = 1 << 26
"""Largest accepted size of a land in memory (normally 34 MB), because a damaged file may state any size."""
_LEVEL = 1


class _Kept(msgspec.Struct, frozen=True):
    """Contents of a file: a land and its grid, with arrays as bytes."""

    name: str
    spawn: Position
    villages: tuple[Village, ...]
    cave_mouths: tuple[Position, ...]
    size: tuple[int, int, int]
    biomes: memoryview
    heights: memoryview
    blocks: memoryview
    light: memoryview
    skip: memoryview


class KeptLands:
    """Lands in a folder, which several processes may share; file errors are never raised.

    Args:
        folder: The folder, created when the first land is stored; its parent folder must exist.
        made_by: Digest of the code that makes lands (letters and digits); lands made by other code are removed.
    """

    def __init__(self, folder: Path, made_by: str) -> None:
        self._folder = folder
        self._ending = f"-{made_by}.land"

    def read(self, seed: int, kind: str) -> tuple[Land, Grid] | None:
        """Return a stored land and its frozen grid; None if it is not stored or cannot be read."""
        name = self._name(seed, kind)
        try:
            packed = (self._folder / name).read_bytes()
            if zstandard.frame_content_size(packed) > _MAX_BYTES:
                return None
            kept = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(packed, allow_extra_data=False), type=_Kept)
            if kept.name != name:
                return None
            sx, sy, sz = kept.size
            blocks = np.require(np.frombuffer(kept.blocks, np.uint16).reshape(sx, sz, sy), requirements="A")
            light, skip = (np.frombuffer(part, np.uint8).reshape(sx, sz, sy) for part in (kept.light, kept.skip))
            biomes = np.frombuffer(kept.biomes, np.uint8).reshape(sx, sz).copy()
            heights = np.frombuffer(kept.heights, np.int16).reshape(sx, sz).copy()
        except (OSError, ValueError, zstandard.ZstdError, msgspec.DecodeError):
            return None
        with suppress(OSError):
            os.utime(self._folder / name)  # it was used now
        grid = Grid.of((blocks, light, skip)).frozen()
        return Land(seed, kind, grid.blocks, biomes, heights, kept.spawn, kept.villages, kept.cave_mouths), grid

    def keep(self, land: Land, grid: Grid) -> None:
        """Store a land with its grid; do nothing if that fails."""
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
        if not os.access(self._folder, os.W_OK | os.X_OK):
            return
        name = self._name(land.seed, land.kind)
        arrays = (land.biomes, land.heights, grid.blocks, grid.light, grid.skip)
        kept = _Kept(name, land.spawn, land.villages, land.cave_mouths, grid.size, *(array.data.cast("B") for array in arrays))
        packed = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(msgspec.msgpack.encode(kept))
        part = self._folder / f".{name}.{os.getpid()}-{os.urandom(4).hex()}.part"
        with suppress(OSError):
            try:
                part.write_bytes(packed)
                part.replace(self._folder / name)
            finally:
                part.unlink(missing_ok=True)
            self._remove_others()

    def _name(self, seed: int, kind: str) -> str:
        return f"{kind}-{seed:x}{self._ending}"

    def _remove_others(self) -> None:
        """Remove lands made by other code, lands beyond the limit, and unfinished files of killed processes."""
        lands = sorted(self._found("*.land"), reverse=True)
        others = [path for number, (_, path) in enumerate(lands) if number >= MOST or not path.name.endswith(self._ending)]
        torn = [path for used_s, path in self._found(".*.land.*.part") if used_s < time.time() - _TORN_S]
        for path in others + torn:
            path.unlink(missing_ok=True)

    def _found(self, pattern: str) -> Iterator[tuple[float, Path]]:
        for path in self._folder.glob(pattern):
            with suppress(FileNotFoundError):  # another process has removed it
                yield path.stat().st_mtime, path

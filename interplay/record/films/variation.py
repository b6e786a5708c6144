"""Serve an mp4 with other bytes than its file has: the length is random, the pictures are the same, and nothing is encoded.

A `free` box, which players skip, is inserted after the first box. The index says where in the file each picture is, so its
numbers are changed. Nothing is written to the disk: only the head is made, and the rest is read unchanged from the file.
"""

from __future__ import annotations

import functools
import hashlib
import struct
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LEAST_FREE = 512
_MOST_FREE = 32 * 1024
"""Largest size of the box in bytes, without the part that grows with the file (a 64th of its size)."""
_LARGEST_INDEX = 16 * 1024 * 1024
_KEPT = 128
"""Number of heads that are cached: enough for some sixty judges who watch at the same time; a head has about 100 kB."""
_CONTAINERS = frozenset({b"trak", b"mdia", b"minf", b"stbl"})


@dataclass(frozen=True)
class Variation:
    """A file as it is served: pieces, one after the other.

    Attributes:
        pieces: Bytes, or a part of the file on the disk: (first byte, byte after the last).
    """

    pieces: tuple[bytes | tuple[int, int], ...]
    size_bytes: int

    def read(self, path: Path, first: int, stop: int, chunk: int) -> Iterator[bytes]:
        """Yield the bytes from `first` up to `stop`, in pieces of at most `chunk` bytes."""
        with path.open("rb") as file:
            place = 0
            for piece in self.pieces:
                length = len(piece) if isinstance(piece, bytes) else piece[1] - piece[0]
                begin, end = max(first - place, 0), min(stop - place, length)
                place += length
                if isinstance(piece, bytes):
                    if begin < end:
                        yield piece[begin:end]
                    continue
                file.seek(piece[0] + begin) if begin < end else None
                while begin < end:
                    part = file.read(min(chunk, end - begin))
                    if not part:
                        return
                    begin += len(part)
                    yield part


def vary(path: Path, secret: bytes) -> Variation:
    """Return a video as one match serves it. The same secret gives the same bytes; another one gives another length and hash.

    Args:
        path: An mp4. If its structure differs from ours (fragments, or damage), the box is put at the end.
        secret: At least 16 bytes that nobody who watches can guess.
    Raises:
        FileNotFoundError: If the file is missing.
    """
    stat = path.stat()
    return _vary(path, secret, stat.st_size, stat.st_mtime_ns)


def stated_length_s(path: Path) -> float | None:
    """Length of a video in seconds as its index states it; None if there is no index or no length, as in fragmented files."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start, stop = next(((start, stop) for name, start, stop in walk_boxes(file, 0, size) if name == b"moov"), (0, 0))
        head = next((at for name, at, _ in walk_boxes(file, start + 8, stop) if name == b"mvhd"), None)
        if head is None:
            return None
        file.seek(head)
        box = file.read(40)
    at, kind = (20, ">II") if box[8:9] == b"\0" else (28, ">IQ")
    try:
        scale, units = struct.unpack_from(kind, box, at)
    except struct.error:  # cut short
        return None
    return units / scale if scale and units else None


@functools.lru_cache(_KEPT)
def _vary(path: Path, secret: bytes, size: int, _changed_ns: int) -> Variation:
    stream = hashlib.shake_256(secret).digest(4)
    length = _LEAST_FREE + int.from_bytes(stream, "big") % (_MOST_FREE + size // 64)
    free = struct.pack(">I4s", length, b"free") + hashlib.shake_256(secret + b"free").digest(length - 8)
    with path.open("rb") as file:
        boxes = list(walk_boxes(file, 0, size))
        names = [name for name, _, _ in boxes]
        usual = bool(boxes) and names[0] == b"ftyp" and names.count(b"moov") == 1 and b"moof" not in names
        index = next(((start, stop) for name, start, stop in boxes if name == b"moov"), None)
        if not usual or index is None or index[1] - index[0] > _LARGEST_INDEX:
            return Variation(((0, size), free), size + length)
        file.seek(index[0])
        moov = bytearray(file.read(index[1] - index[0]))
        ftyp_end = boxes[0][2]
        file.seek(0)
        ftyp = file.read(ftyp_end)
    try:
        _move(moov, length, is_after=lambda offset: offset >= ftyp_end)
    except (struct.error, ValueError, IndexError, OverflowError):
        return Variation(((0, size), free), size + length)
    pieces = (ftyp + free, (ftyp_end, index[0]), bytes(moov), (index[1], size))
    if ftyp_end == index[0]:
        pieces = (ftyp + free + bytes(moov), (index[1], size))
    return Variation(pieces, size + length)


def walk_boxes(file, place: int, size: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield each box from `place` on: its name, its first byte, the byte after its last. Stop at the first invalid box."""
    while place < size:
        file.seek(place)
        head = file.read(16)
        if len(head) < 8:
            return
        length, name = struct.unpack(">I4s", head[:8])
        if length == 1 and len(head) == 16:
            (length,) = struct.unpack(">Q", head[8:])
        elif length == 0:
            length = size - place
        if length < 8 or place + length > size:
            return
        yield name, place, place + length
        place += length


def _move(moov: bytearray, by: int, *, is_after) -> None:
    """Add `by` to the file position of every picture in an index for which `is_after` is true."""
    waiting = [(8, len(moov))]
    while waiting:
        place, end = waiting.pop()
        while place + 8 <= end:
            length, name = struct.unpack_from(">I4s", moov, place)
            if length < 8 or place + length > end:
                raise ValueError("a box of the index is longer than the index")
            if name in _CONTAINERS:
                waiting.append((place + 8, place + length))
            elif name in (b"stco", b"co64"):
                (count,) = struct.unpack_from(">I", moov, place + 12)
                places = array("I" if name == b"stco" else "Q")
                stop = place + 16 + count * places.itemsize
                if stop > place + length:
                    raise ValueError("an index names more places than it holds")
                places.frombytes(bytes(moov[place + 16 : stop]))
                if sys.byteorder == "little":
                    places.byteswap()
                moved = array(places.typecode, [one + by if is_after(one) else one for one in places])
                if sys.byteorder == "little":
                    moved.byteswap()
                moov[place + 16 : stop] = moved.tobytes()
            place += length

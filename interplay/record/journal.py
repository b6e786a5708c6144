"""The journal of a running episode: an Arrow IPC stream in segments `<episode>.<n>.arrows`.

One `write` call writes each batch, with a checksum. So if the writer is killed, every batch before the last is readable. The
reader stops at the first torn or damaged batch, before any code parses that batch. The writer holds a lock on its file while it
lives, so a journal without a lock is abandoned. A segment that is written after a resume may begin at a step that an earlier
segment already has: the later segment replaces it.
"""

from __future__ import annotations

import errno
import fcntl
import io
import json
import mmap
import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow as pa
import xxhash

from interplay.record.errors import OtherVersionError, RecordingError
from interplay.record.format.schema import METADATA_KEY, Header, journal_schema
from interplay.statistics import Measure

_OPTIONS = pa.ipc.IpcWriteOptions(compression=pa.Codec("lz4"), use_threads=False)
_SMALL_BYTES = 1 << 15
"""Batches up to this size are not compressed.
They hold frames, which the recorder has already compressed, and some 20 buffers of 200 bytes. Compressing these with LZ4 takes
eight times as long as writing them; zstd, or a thread pool on a busy machine, takes even longer."""
_CONTINUES = b"\xff\xff\xff\xff"
END_OF_STREAM = _CONTINUES + bytes(4)
_CHECK = struct.Struct("<8sQQ")
_MARK = b"\x8eIPXXH3\n"
"""Last part of a message's metadata, skipped by Arrow readers: this mark, the body's size, and the XXH3-64 of other bytes."""
DAMAGED = "damaged_journal"
"""Name of the statistic that marks an episode with unreadable parts; its journal's files are kept as `<name>.damaged`."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers that mean that there is no space left."""
NEWBORN_S = 60.0
"""Seconds for which a file without a lock is left alone, because its writer may be about to lock it."""
_OUTCOME, _OUTCOME_CHECK, _STATISTICS = "outcome", "automatic", "statistics"


class End(NamedTuple):
    """The end marker: why the episode ended, the values of `PlayableEnv.outcome_check`, and the statistics computed live."""

    outcome: str
    outcome_check: dict[str, bool | int | float | str]
    measures: Sequence[Measure] = ()


class JournalWriter:
    """Appends batches to one new segment.
    If the disk is full or the file cannot be written, `RecordingError` is raised and earlier batches stay readable."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.schema = journal_schema(header)
        self._size = 0
        self._rows = 0
        self._fd = -1
        # Under another name until it is locked: nobody may take a newborn journal for an abandoned one.
        newborn = path.with_name(f".{path.name}.{os.getpid()}.new")
        try:
            self._fd = os.open(newborn, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            self._messages = Messages(self.schema)
            self._append(self._messages.schema)
            if path.exists():
                raise FileExistsError(path)
            os.rename(newborn, path)
        except OSError as error:
            self.close()
            if isinstance(error, FileExistsError):
                raise RecordingError(
                    f"{path} exists already: another recorder writes this episode, or its name was used before"
                ) from None
            raise _cannot_write(path, 0, error) from error
        finally:
            newborn.unlink(missing_ok=True)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch. When this returns, the batch has left the process."""
        self._check_open()
        self._append(self._messages.batch(batch))
        self._rows += batch.num_rows

    def finish(self, end: End) -> None:
        """Write the end marker (an empty batch that carries it), make sure that the file is on disk, and close it."""
        self._check_open()
        empty = pa.RecordBatch.from_pylist([], schema=self.schema)
        measures = json.dumps([one.to_json() for one in end.measures])
        metadata = {_OUTCOME: end.outcome, _OUTCOME_CHECK: json.dumps(end.outcome_check), _STATISTICS: measures}
        self._append(self._messages.batch(empty, metadata) + END_OF_STREAM)
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise _cannot_write(self.path, self._rows, error) from error
        finally:
            self.close()

    def close(self) -> None:
        """Close the file and release its lock. Without `finish` the journal counts as abandoned."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _check_open(self) -> None:
        if self._fd < 0:
            raise RecordingError(f"{self.path} is closed; this recorder has finished or failed before")

    def _append(self, data: bytes) -> None:
        try:
            done = 0
            while done < len(data):
                done += os.write(self._fd, memoryview(data)[done:])
        except OSError as error:
            with suppress(OSError):  # a reader stops at a torn batch anyway
                os.ftruncate(self._fd, self._size)  # drop it: giving space back works on a full disk
            self.close()
            raise _cannot_write(self.path, self._rows, error) from error
        self._size += len(data)


class Messages:
    """Makes the messages of a segment, each with a checksum."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = _with_check(schema.serialize().to_pybytes())
        self._sink = io.BytesIO()
        self._stream = pa.ipc.new_stream(self._sink, schema, options=_OPTIONS)
        self._stream.write_batch(pa.RecordBatch.from_pylist([], schema=schema))  # it writes the schema before its first batch
        self._take()

    def batch(self, batch: pa.RecordBatch, metadata: Mapping[str, str] | Mapping[bytes, bytes] | None = None) -> bytes:
        if not metadata and batch.nbytes <= _SMALL_BYTES:
            return _with_check(batch.serialize().to_pybytes())
        self._stream.write_batch(batch, custom_metadata=metadata)
        return _with_check(self._take())

    def _take(self) -> bytes:
        data = self._sink.getvalue()
        self._sink.seek(0)
        self._sink.truncate()
        return data


def _with_check(message: bytes) -> bytes:
    body = 8 + int.from_bytes(message[4:8], "little")
    size = (body - 8 + _CHECK.size).to_bytes(4, "little")
    head = b"".join((_CONTINUES, size, message[8:body], _MARK, (len(message) - body).to_bytes(8, "little")))
    rest = memoryview(message)[body:]
    return b"".join((head, _digest(head, rest), rest))


def _digest(head: bytes | memoryview, body: bytes | memoryview) -> bytes:
    digest = xxhash.xxh3_64(head)
    digest.update(body)
    return digest.intdigest().to_bytes(8, "little")


class Segment:
    """Reads one segment up to the first torn or damaged message; call `close` afterwards.

    A segment without checksums is read in a separate process, because damage may crash Arrow.

    Attributes:
        is_whole: Whether the whole file was readable; known when all batches have been read.
    Raises:
        RecordingError: If the file is empty, not a journal, of another version, or its header is cut off or damaged.
    """

    closed = False

    def __init__(self, path: Path) -> None:
        self.is_whole = False
        self._file: BinaryIO | None = None
        try:
            self._file = path.open("rb")
            if _lacks_checksums(self._file):
                self._file.close()
                self._file = io.BytesIO(_copied(path, path.stat().st_mtime_ns))
            self._rewind()
            self.schema = pa.ipc.read_schema(pa.py_buffer(self._message()))
            self.header = Header.from_json(json.loads((self.schema.metadata or {})[METADATA_KEY]))
        except OtherVersionError:
            self.close()
            raise
        except (pa.ArrowException, OSError, KeyError, ValueError, TypeError) as error:
            self.close()
            raise unreadable(path, error) from error

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[tuple[pa.RecordBatch, End | None]]:
        """Yield the readable batches in order; the end marker comes as an empty batch."""
        included = None if columns is None else [self.schema.names.index(name) for name in columns]
        self._rewind()
        stream = pa.ipc.open_stream(self, options=pa.ipc.IpcReadOptions(included_fields=included, use_threads=False))
        while True:
            try:
                batch, metadata = stream.read_next_batch_with_custom_metadata()
            except (StopIteration, OSError):
                return
            yield batch, _end_of(metadata) if metadata and _OUTCOME in metadata else None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _rewind(self) -> None:
        assert self._file is not None
        self._left = self._file.seek(0, os.SEEK_END)
        self._file.seek(0)
        self._ready = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Return bytes of undamaged messages; Arrow calls this, and its reads do not cross the end of a message."""
        if not self._ready:
            self._ready = memoryview(self._message())
        taken, self._ready = self._ready[:size], self._ready[size:]
        return bytes(taken)

    def _message(self) -> bytes:
        assert self._file is not None
        prefix = self._file.read(8)
        size = int.from_bytes(prefix[4:], "little")
        if prefix == END_OF_STREAM:
            self._left -= 8
        elif prefix[:4] == _CONTINUES and _CHECK.size < size <= self._left - 8:
            metadata = self._file.read(size)
            mark, body_size, _ = _CHECK.unpack(metadata[-_CHECK.size :])
            if mark == _MARK and body_size <= self._left - 8 - size:
                body = self._file.read(body_size)
                if _digest(prefix + metadata[:-8], body) == metadata[-8:]:
                    self._left -= 8 + size + body_size
                    return b"".join((prefix, metadata, body))
        self.is_whole = self._left == 0
        return b""


def _lacks_checksums(file: BinaryIO) -> bool:
    if file.read(4) != _CONTINUES or _MARK in file.read(1 << 16):
        return False
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(_MARK) < 0


@lru_cache(8)
def _copied(path: Path, changed_ns: int) -> bytes:
    """Return the undamaged part of a segment without checksums, with checksums; a zero byte follows if a part is missing."""
    command = [sys.executable, "-m", "interplay.record.old_journal", str(path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout + bytes(done.returncode != 0)


def _cannot_write(path: Path, rows: int, error: OSError) -> RecordingError:
    cause = "the disk is full" if error.errno in FULL else error.strerror or str(error)
    kept = f"The {rows} observations written before are kept" if rows else "Nothing of this episode was written yet"
    return RecordingError(
        f"cannot write {path}: {cause} ({errno.errorcode.get(error.errno or 0, error.errno)}).\n{kept}; "
        f"free some space, then seal what is there:  interplay episodes repair --data {path.parent.parent}"
    )


def remove_newborn(folder: Path) -> None:
    """Remove the files of writers that were killed before their journal got its name; these files hold no recorded step."""
    for path in folder.glob(".*.arrows.*.new"):
        with suppress(FileNotFoundError):  # it has its name by now
            if time.time() - path.stat().st_mtime > NEWBORN_S and not is_live(path):
                path.unlink()


def segments(folder: Path, episode_id: str) -> list[Path]:
    """Return the segment files of an episode, oldest first."""
    found = [path for path in folder.glob(f"{episode_id}.*.arrows") if path.name.split(".")[-2].isdigit()]
    return sorted(found, key=lambda path: int(path.name.split(".")[-2]))


def episode_of(path: Path) -> str:
    return path.name.rsplit(".", 2)[0]


def is_live(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


@contextmanager
def claim(paths: Sequence[Path]) -> Iterator[None]:
    """Hold the locks of segments that nobody writes, so that no other process seals or continues them.
    `RecordingError` is raised if a running process holds a lock."""
    with ExitStack() as stack:
        for path in paths:
            file = stack.enter_context(path.open("rb"))
            for attempt in range(5):
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if attempt == 4:
                        raise RecordingError(
                            f"{path} is in use by a running process (recorded, sealed or resumed); wait for it or stop it first"
                        ) from None
                    time.sleep(0.02)  # another process may just be asking whether it is live
        yield


def read_header(path: Path) -> Header:
    """Return the header of a segment (RecordingError: as for `Segment`)."""
    with closing(Segment(path)) as segment:
        return segment.header


def remove(paths: Sequence[Path], *, keep: bool) -> None:
    """Remove segments.
    A segment with an unreadable part (with `keep`, every segment) is renamed instead, so that no reader finds it."""
    for path in reversed(paths):
        if keep or not _is_whole(path):
            path.rename(path.with_name(f"{path.name}.damaged"))
        else:
            path.unlink()


def _is_whole(path: Path) -> bool:
    try:
        with closing(Segment(path)) as segment:
            ends = [end for _, end in segment.batches(["step"])]
            return segment.is_whole or any(ends[-1:])
    except RecordingError:  # in one or two words nothing was recorded
        return path.stat().st_size <= len(END_OF_STREAM)


def unreadable(path: Path, error: Exception) -> RecordingError:
    size = path.stat().st_size if path.exists() else 0
    found = "an empty file" if size == 0 else f"{size} bytes that do not begin like a journal, or are damaged there"
    return RecordingError(
        f"{path}: {found}; expected an Arrow stream written by Interplay ({type(error).__name__}).\n"
        "Its writer was stopped before the first observation, or the disk changed it. Set it aside with:  "
        f"interplay episodes repair --data {path.parent.parent}"
    )


def holds_steps(paths: Sequence[Path]) -> bool:
    """Return whether more than the first observation can be read."""
    try:
        batches = Journal(paths).batches(["step"])
        return sum(batch.num_rows for batch, _ in zip(batches, range(2), strict=False)) > 1
    except RecordingError:
        return False


def holds_observations(paths: Sequence[Path]) -> bool:
    for path in paths:
        try:
            if any(batch.num_rows for batch, _ in read_batches(path, ["step"])):
                return True
        except RecordingError:
            continue
    return False


def read_batches(path: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[pa.RecordBatch, End | None]]:
    with closing(Segment(path)) as segment:
        yield from segment.batches(columns)


def _end_of(metadata: Mapping[bytes | str, bytes]) -> End:
    """Read the content of an end marker; markers of earlier releases have fewer fields."""
    check = json.loads(metadata[_OUTCOME_CHECK]) if _OUTCOME_CHECK in metadata else {}
    measures = json.loads(metadata[_STATISTICS]) if _STATISTICS in metadata else []
    return End(metadata[_OUTCOME].decode(), check, [Measure(**one) for one in measures])


class Journal:
    """All segments of one episode, oldest first, read as one journal.

    Attributes:
        end: The end marker, known when all batches have been read; None if a part before it is damaged.
        is_damaged: Whether a recorded part could not be read; known when all batches have been read.
    Raises:
        RecordingError: If the first segment cannot be read. A later segment that is unreadable counts as not written.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        if not paths:
            raise RecordingError("there is no journal to read")
        self.header = read_header(paths[0])
        self.paths = list(paths)
        self.end: End | None = None
        self.is_damaged = False
        self._ends: list[int] = []
        """For each segment, the step at which a later segment replaces it."""
        for index in range(len(paths)):
            later = [read_header(path).first_step for path in paths[index + 1 :] if holds_observations([path])]
            self._ends.append(min(later, default=2**31 - 1))

    @property
    def next_path(self) -> Path:
        return self.paths[-1].with_name(f"{self.header.episode}.{int(self.paths[-1].name.split('.')[-2]) + 1}.arrows")

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield batches of these columns over all segments up to the first missing step, each step from its latest segment."""
        names = ["step", *(name for name in columns if name != "step")]
        num_rows, self.is_damaged = 0, False
        for path, end in zip(self.paths, self._ends, strict=True):
            try:
                segment = Segment(path)
            except RecordingError:
                self.is_damaged |= not _is_whole(path)
                continue
            with closing(segment):
                for batch, self.end in segment.batches(names):
                    steps = batch.column("step").to_numpy()
                    if len(steps) and steps[0] > num_rows:
                        self.is_damaged, self.end = True, None
                        return
                    batch = batch.slice(0, int((steps < end).sum()))
                    if batch.num_rows:
                        num_rows, self.is_damaged = int(steps[batch.num_rows - 1]) + 1, False  # who resumed went on from here
                        yield batch.select(list(columns))
                self.is_damaged |= not segment.is_whole and self.end is None
        if self.is_damaged:
            self.end = None

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all columns but the frames (or the named columns) as one table in memory; this sets `end`."""
        schema = journal_schema(self.header)
        names = [name for name in schema.names if name != "frame"] if columns is None else list(columns)
        return pa.Table.from_batches(list(self.batches(names)), pa.schema([schema.field(name) for name in names]))


def write_end(paths: Sequence[Path], outcome: str) -> str:
    """Add the end marker that a killed writer could not write, as a new segment. Call `claim` on the segments first.

    Args:
        paths: The segments, oldest first.
        outcome: Why the episode ended, for the case that neither an end marker nor the world's last step says so.
    Returns:
        Why the episode ended.
    """
    journal = Journal(paths)
    rows = journal.table(["terminated", "truncated"])
    if journal.end is not None:
        return journal.end.outcome
    for name, why in (("terminated", "terminated"), ("truncated", "time_limit")):
        if rows.column(name)[-1].as_py():
            return why
    JournalWriter(journal.next_path, journal.header).finish(End(outcome, {}))
    return outcome

"""The journal of a running episode: an Arrow IPC stream in segments `<episode>.<n>.arrows`.

Each batch is one `write` of whole bytes, so whatever kills the writer, every batch before the last is readable; the reader
stops at the first torn one. The writer holds a lock on its file while it lives, which tells abandoned journals from running
ones. A segment written after a resume may begin at a step that an earlier one already has: the later one wins.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from interplay.record.errors import RecordingError
from interplay.record.schema import METADATA_KEY, Header, journal_schema, names_now
from interplay.statistics import Measure

_OPTIONS = pa.ipc.IpcWriteOptions(compression=pa.Codec("lz4"), use_threads=False)
_SMALL_BYTES = 1 << 15
"""A batch of no more is not compressed: it is frames, which the recorder has compressed, and some 20 buffers of 200 bytes, on
which LZ4 spends eight times as long as on writing them, and zstd, or a pool of threads on a busy machine, more than that."""
NEWBORN_S = 60.0
"""A file without a lock is left alone so long: its writer may be about to lock it."""
_OUTCOME, _OUTCOME_CHECK, _STATISTICS = "outcome", "automatic", "statistics"


class End(NamedTuple):
    """The end marker: why the episode ended, what the outcome check says of it (`PlayableEnv.outcome_check`), and the
    statistics that were computed live."""

    outcome: str
    outcome_check: dict[str, bool | int | float | str]
    measures: Sequence[Measure] = ()


class JournalWriter:
    """Appends batches to one segment.

    Args:
        path: The segment; must not exist.
        header: Written first.
    Raises:
        RecordingError: When the disk is full or the file cannot be written; what was written stays readable.
    """

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
            self._sink = _Collect()
            self._stream = pa.ipc.new_stream(self._sink, self.schema, options=_OPTIONS)
            self._commit()
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
        """Append a batch; when this returns it has left the process."""
        self._check_open()
        if self._rows and batch.nbytes <= _SMALL_BYTES:
            self._sink.write(batch.serialize().to_pybytes())
        else:
            self._stream.write_batch(batch)  # after the schema, where it is the first
        self._commit()
        self._rows += batch.num_rows

    def finish(self, end: End) -> None:
        """Write the end marker (an empty batch that carries it) and close, on disk for good."""
        self._check_open()
        empty = pa.RecordBatch.from_pylist([], schema=self.schema)
        measures = json.dumps([one.to_json() for one in end.measures])
        metadata = {_OUTCOME: end.outcome, _OUTCOME_CHECK: json.dumps(end.outcome_check), _STATISTICS: measures}
        self._stream.write_batch(empty, custom_metadata=metadata)
        self._stream.close()
        self._commit()
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise _cannot_write(self.path, self._rows, error) from error
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the file and its lock; without `finish` the journal counts as abandoned."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _check_open(self) -> None:
        if self._fd < 0:
            raise RecordingError(f"{self.path} is closed; this recorder has finished or failed before")

    def _commit(self) -> None:
        """Write out what the stream produced since the last call, or leave the file as it was."""
        data = self._sink.take()
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


class _Collect:
    """A sink for Arrow that keeps bytes until they are written in one go."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing to do: `take` decides when bytes leave."""

    def close(self) -> None:
        self.closed = True

    def take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


def _cannot_write(path: Path, rows: int, error: OSError) -> RecordingError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    cause = "the disk is full" if full else error.strerror or str(error)
    kept = f"The {rows} observations written before are kept" if rows else "Nothing of this episode was written yet"
    return RecordingError(
        f"cannot write {path}: {cause} ({errno.errorcode.get(error.errno or 0, error.errno)}).\n{kept}; "
        f"free some space, then seal what is there:  interplay episodes repair --data {path.parent.parent}"
    )


def remove_newborn(folder: Path) -> None:
    """Remove what writers left that were killed before their journal had its name: nothing was recorded there."""
    for path in folder.glob(".*.arrows.*.new"):
        with suppress(FileNotFoundError):  # it has its name by now
            if time.time() - path.stat().st_mtime > NEWBORN_S and not is_live(path):
                path.unlink()


def segments(folder: Path, episode_id: str) -> list[Path]:
    """The segment files of an episode, oldest first."""
    found = [path for path in folder.glob(f"{episode_id}.*.arrows") if path.name.split(".")[-2].isdigit()]
    return sorted(found, key=lambda path: int(path.name.split(".")[-2]))


def episode_of(path: Path) -> str:
    """The episode a segment belongs to."""
    return path.name.rsplit(".", 2)[0]


def is_live(path: Path) -> bool:
    """Whether a running process holds this segment open for writing."""
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
    """Hold the locks of segments nobody writes, so that nobody seals or continues them meanwhile.

    Raises:
        RecordingError: If a running process holds one.
    """
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
    """The header of a segment.

    Raises:
        RecordingError: If the file is empty, cut off before its header ended, or no journal.
    """
    try:
        with pa.OSFile(str(path)) as file:
            return _header_of(pa.ipc.open_stream(file).schema)
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError) as error:
        raise unreadable(path, error) from error


def _header_of(schema: pa.Schema) -> Header:
    return Header.from_json(json.loads((schema.metadata or {})[METADATA_KEY]))


def unreadable(path: Path, error: Exception) -> RecordingError:
    """The error for a file that is not a journal."""
    size = path.stat().st_size if path.exists() else 0
    found = "an empty file" if size == 0 else f"{size} bytes that do not begin like a journal"
    return RecordingError(
        f"{path}: {found}; expected an Arrow stream written by Interplay ({type(error).__name__}).\n"
        "Its writer was probably stopped before the first observation. Set it aside with:  "
        f"interplay episodes repair --data {path.parent.parent}"
    )


def holds_steps(paths: Sequence[Path]) -> bool:
    """Whether more than the first observation was recorded.

    Raises:
        RecordingError: If the first segment cannot be read.
    """
    batches = Journal(paths).batches(["step"])
    return sum(batch.num_rows for batch, _ in zip(batches, range(2), strict=False)) > 1


def holds_observations(paths: Sequence[Path]) -> bool:
    """Whether anything was recorded in any of these segments."""
    for path in paths:
        try:
            if any(batch.num_rows for batch, _ in read_batches(path, ["step"])):
                return True
        except RecordingError:
            continue
    return False


def read_batches(path: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[pa.RecordBatch, End | None]]:
    """The whole batches of a segment, in order; the end marker is an empty one. Stops at a torn one."""
    with pa.OSFile(str(path)) as file:
        try:
            schema = pa.ipc.open_stream(file).schema
            file.seek(0)
            header = _header_of(schema)
            names = names_now(schema.names, header)
            included = None if columns is None else [names.index(name) for name in columns]
            options = pa.ipc.IpcReadOptions(included_fields=included, use_threads=False)
            stream = pa.ipc.open_stream(file, options=options)
        except (pa.ArrowException, OSError, KeyError, ValueError, TypeError) as error:
            raise unreadable(path, error) from error
        while True:
            try:
                batch, metadata = stream.read_next_batch_with_custom_metadata()
            except (StopIteration, pa.ArrowException, OSError):
                return
            if names != schema.names:
                batch = batch.rename_columns(names_now(batch.schema.names, header))
            yield batch, _end_of(metadata) if metadata and _OUTCOME in metadata else None


def _end_of(metadata: Mapping[bytes | str, bytes]) -> End:
    """What an end marker says; those of earlier releases say less."""
    check = json.loads(metadata[_OUTCOME_CHECK]) if _OUTCOME_CHECK in metadata else {}
    measures = json.loads(metadata[_STATISTICS]) if _STATISTICS in metadata else []
    return End(metadata[_OUTCOME].decode(), check, [Measure(**one) for one in measures])


class Journal:
    """All segments of one episode, read as one.

    Args:
        paths: Segments, oldest first.

    Attributes:
        end: The end marker, once all batches have been read.
    Raises:
        RecordingError: If the first one cannot be read. A later unreadable one counts as not written.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        if not paths:
            raise RecordingError("there is no journal to read")
        self.header = read_header(paths[0])
        self.paths = [paths[0]]
        self._newest = paths[-1]
        firsts = [self.header.first_step]
        for path in paths[1:]:
            try:
                firsts.append(read_header(path).first_step)
            except RecordingError:
                continue
            self.paths.append(path)
        self.end: End | None = None
        self._ends: list[int] = []
        """For each segment the step at which a later one takes over."""
        for index in range(len(self.paths)):
            later = [firsts[other] for other in range(index + 1, len(self.paths)) if holds_observations([self.paths[other]])]
            self._ends.append(min(later, default=2**31 - 1))

    @property
    def next_path(self) -> Path:
        """The segment that whoever goes on with the episode writes."""
        return self._newest.with_name(f"{self.header.episode}.{int(self._newest.name.split('.')[-2]) + 1}.arrows")

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Batches of these columns over all segments, without what later segments replace."""
        names = ["step", *(name for name in columns if name != "step")]
        for path, end in zip(self.paths, self._ends, strict=True):
            for batch, self.end in read_batches(path, names):
                steps = batch.column("step").to_numpy()
                if len(steps) and steps[-1] >= end:
                    batch = batch.slice(0, int((steps < end).sum()))
                if batch.num_rows:
                    yield batch.select(list(columns))

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Everything but frames (or the named columns) as one table in memory; sets `end`."""
        schema = journal_schema(self.header)
        names = [name for name in schema.names if name != "frame"] if columns is None else list(columns)
        return pa.Table.from_batches(list(self.batches(names)), pa.schema([schema.field(name) for name in names]))


def write_end(paths: Sequence[Path], outcome: str) -> str:
    """Add the end marker that a killed writer could not, as a segment of its own. Hold their locks: `claim`.

    Args:
        paths: Segments of an episode of which something was recorded, oldest first.
        outcome: Why it ended, where neither an end marker nor the world's last step says so.
    Returns:
        Why it ended.
    Raises:
        RecordingError: If the disk is full, or the first segment cannot be read.
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

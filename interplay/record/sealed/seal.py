"""Turn a journal into a sealed episode: one pass for the facts, one for the frames, then an atomic rename.

Rewards that are NaN or infinite are summed as `docs/episode-format.md`, "Rewards", says.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import xxhash
import zstandard

from interplay.files import remove_parts, replacing
from interplay.record.errors import RecordingError, SealError
from interplay.record.format.picture_changes import unpacked
from interplay.record.format.schema import DIGESTS_KEY, METADATA_KEY, Header, sealed_schema, step_columns
from interplay.record.format.video import encode_group
from interplay.record.journal import DAMAGED, FULL, End, Journal
from interplay.record.sealed.episode import Episode, SeatHeld

GROUP_ROWS = {"indexed": 120, "replay": 1200, "video": 120}
"""Rows of a Parquet row group: one random access reads one row group."""

_LEVEL = 3
"""Compression level of zstd: 11 us for a palette frame, 80 to 130 bytes.
Level 9 halves the bytes but takes four times as long, which would slow down the games that still run on the same server."""


def seal(paths: list[Path], target: Path) -> Episode:
    """Write the sealed file of a journal, given by its segments, oldest first; the journal stays.

    Returns:
        The episode, with `sha256` and `size_bytes` set.
    Raises:
        RecordingError: If the journal holds no observation, or the disk is full; no target file is left then.

    A damaged journal is read as far as possible; the statistic `damaged_journal` then says that a part is missing.
    """
    journal = Journal(paths)
    table = journal.table()
    if table.num_rows == 0:
        raise RecordingError(
            f"the journal of episode {journal.header.episode} holds no observation yet; there is nothing to seal"
        )
    facts, rows = _shift(journal.header, table, journal.end)
    facts["statistics"] |= {DAMAGED: 1} if journal.is_damaged else {}
    episode = Episode(**facts, place=target)
    check = {} if journal.end is None else journal.end.outcome_check
    measures = [] if journal.end is None else [one.to_json() for one in journal.end.measures]
    metadata = {
        "header": journal.header.to_json(),
        "summary": episode.to_json(),
        "automatic": check,
        "statistics": measures,
    }
    try:
        remove_parts(target)
        with replacing(target) as part:
            file = HashingFile(part)
            try:
                _write(file, sealed_schema(journal.header), metadata, rows, journal)
            finally:
                file.close()
    except OSError as error:
        deed = "free some space" if error.errno in FULL else "remove the cause"
        raise SealError(
            f"cannot seal episode {episode.id} as {target}: {error.strerror or error}.\n"
            f"Its journal is whole and stays; {deed}, then:  interplay episodes repair --data {paths[0].parent.parent}"
        ) from error
    return Episode(**facts, place=target, sha256=file.hexdigest(), size_bytes=file.tell())


def _shift(header: Header, table: pa.Table, end: End | None) -> tuple[dict[str, Any], pa.Table]:
    """Return the facts of the episode, and its rows as learners read them: each step beside the observation before it."""
    num_steps = table.num_rows - 1
    for name in step_columns(header):
        index = table.schema.get_field_index(name)
        column = table.column(name).combine_chunks()
        moved = pa.concat_arrays([column.slice(1), pa.nulls(1, column.type)])
        table = table.set_column(index, table.schema.field(index), moved)
    terminated = bool(num_steps and table.column("terminated")[num_steps - 1].as_py())
    truncated = bool(num_steps and table.column("truncated")[num_steps - 1].as_py())
    if end is None:  # no end marker: the writer died, perhaps just after the last step of the world
        end = End("terminated" if terminated else "time_limit" if truncated else "interrupted", {})
    if not terminated and not truncated:  # stopped by us: the player left, or a crash
        truncated = True
        if num_steps:
            flags = table.column("truncated").to_pylist()
            flags[num_steps - 1] = True
            table = table.set_column(
                table.schema.get_field_index("truncated"), table.schema.field("truncated"), pa.array(flags, pa.bool_())
            )
    if header.frames != "replay":
        table = table.drop_columns("snapshot")
    if header.statistics:
        table = table.drop_columns("statistics")
    earned = table.column(f"reward.{header.seats[0]}").slice(0, num_steps).to_numpy()
    times = table.column("time_us").slice(0, num_steps).to_numpy()
    duration_s = float(times[-1] - times[0]) / 1e6 + 1 / header.task.frame_rate_hz if num_steps else 0.0
    total_reward = total_of(earned)
    num_nonfinite = int(np.count_nonzero(~np.isfinite(earned)))
    first = header.owners[header.seats[0]]
    facts = {
        "id": header.episode,
        "task_id": header.task.id,
        "task_hash": header.task.content_hash,
        "env": header.task.env.id,
        "seed": header.seed,
        "actor": first.name,
        "actor_kind": first.kind,
        "participant_id": first.participant_id,
        "num_steps": num_steps,
        "total_reward": total_reward,
        "terminated": terminated,
        "truncated": truncated,
        "outcome": end.outcome,
        "duration_s": duration_s,
        "frame_policy": header.frames,
        "created_at": header.created_at,
        "statistics": _statistics(table, num_steps, total_reward, duration_s)
        | ({NONFINITE_REWARDS: num_nonfinite} if num_nonfinite else {})
        | {f"automatic_{name}": _plain(value) for name, value in end.outcome_check.items()},
        "seats": tuple(held for seat in header.seats for held in _held(header, seat, table.slice(0, num_steps))),
    }
    return facts, table


def _held(header: Header, seat: str, steps: pa.Table) -> Iterator[SeatHeld]:
    names = steps.column(f"owner.{seat}")
    rewards = steps.column(f"reward.{seat}").to_numpy()
    for name in dict.fromkeys([header.owners[seat].name, *pc.unique(names).to_pylist()]):  # type: ignore[attr-defined]
        owner = header.owner_called(name)
        own = pc.equal(names, name).to_numpy()  # type: ignore[attr-defined]
        yield SeatHeld(seat, owner.name, owner.kind, owner.participant_id, int(own.sum()), total_of(rewards[own]))


def _statistics(table: pa.Table, num_steps: int, total_reward: float, duration_s: float) -> dict[str, float | int | str]:
    result: dict[str, float | int | str] = {}
    for text in pc.unique(table.column("info")).to_pylist():  # type: ignore[attr-defined]
        for name in json.loads(text):
            result.setdefault(name, "")
    last = json.loads(table.column("info")[-1].as_py())
    for name in list(result):
        value = last.get(name)
        if value is None or isinstance(value, list | dict):
            del result[name]
        else:
            result[name] = _plain(value)
    result |= {"score": total_reward, "num_steps": num_steps, "duration_s": duration_s}
    parts = [table.column(name).drop_null().to_numpy() for name in table.column_names if name.endswith(".latency_ms")]
    latencies = np.concatenate(parts)
    latencies = latencies[np.isfinite(latencies)]
    if len(latencies):
        result["latency_ms"] = float(np.median(latencies))
    return result


def _plain(value: float | str) -> float | int | str:
    return int(value) if isinstance(value, bool) else value


def _frames(journal: Journal, size: int) -> Iterator[pa.Array | pa.ChunkedArray]:
    """Yield the frame column, `size` rows at a time; an array is valid until the next one."""
    header = journal.header
    if header.frames == "video":
        yield from _regroup((batch.column(0) for batch in journal.batches(["frame"])), size)
        return
    num_pixels = header.height * header.width
    pixels = np.empty((size, num_pixels), np.uint8)  # used again: fresh memory costs more than what is written to it
    group = pa.FixedSizeBinaryArray.from_buffers(pa.binary(num_pixels), size, [None, pa.py_buffer(pixels)])
    last = np.zeros(num_pixels, np.uint8)
    count = 0
    for batch in journal.batches(["frame"]):
        for picture in islice(pictures(batch, last), batch.num_rows):
            pixels[count] = picture
            count += 1
            if count == size:
                yield group
                count = 0
    if count:
        yield group.slice(0, count)


def pictures(batch: pa.RecordBatch, last: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the pictures of a journal's batch; each is valid until the next one.
    `last` holds the picture before the batch and is overwritten with each picture."""
    block = zstandard.ZstdDecompressor().decompressobj().decompress(batch.column(0)[0].as_py())
    return unpacked(block, last)


class HashingFile:
    """A file that computes the SHA-256 of all its bytes, and the XXH3-64 of the bytes since the last mark."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb", buffering=1 << 20)
        self._sha256 = hashlib.sha256()
        self._since_mark = xxhash.xxh3_64()
        self._size = 0
        self.marks: list[tuple[int, str]] = []

    @property
    def closed(self) -> bool:
        return self._file.closed

    def write(self, data: bytes) -> int:
        self._sha256.update(data)
        self._since_mark.update(data)
        self._size += len(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        self._file.flush()

    def mark(self) -> None:
        self.marks.append((self._size, self._since_mark.hexdigest()))
        self._since_mark.reset()

    def close(self) -> None:
        self._file.close()

    def hexdigest(self) -> str:
        return self._sha256.hexdigest()


def episode_writer(file: HashingFile, schema: pa.Schema) -> pq.ParquetWriter:
    """Return a writer of row groups for a sealed file; mark the file after each row group."""
    return pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        compression_level=_LEVEL,
        write_page_checksum=True,
        write_statistics=False,  # they would double the footer; the catalogue answers what they are for
        use_dictionary=[name for name in schema.names if name == "info" or name.startswith("owner.")],  # type: ignore[arg-type]
        column_encoding=dict.fromkeys(("step", "time_us"), "DELTA_BINARY_PACKED"),
        data_page_size=1 << 24,
    )


def _write(file: HashingFile, schema: pa.Schema, metadata: dict[str, Any], rows: pa.Table, journal: Journal) -> None:
    header = journal.header
    group_rows = GROUP_ROWS[header.frames]
    frames = None if header.frames == "replay" else _frames(journal, group_rows)
    with episode_writer(file, schema) as writer:
        for start in range(0, rows.num_rows, group_rows):
            group = rows.slice(start, group_rows)
            if frames is not None and header.frames == "video":
                packets, hashes = encode_group(next(frames), header)
                group = group.append_column("video_hash", hashes).append_column("frame", packets)
            elif frames is not None:
                group = group.append_column("frame", next(frames))
            writer.write_table(group.cast(schema), row_group_size=group_rows)
            file.mark()
        writer.add_key_value_metadata({METADATA_KEY: json.dumps(metadata), DIGESTS_KEY: json.dumps(file.marks)})


def _regroup(arrays: Iterator[pa.Array], size: int) -> Iterator[pa.ChunkedArray]:
    waiting: list[pa.Array] = []
    count = 0
    for array in arrays:
        while len(array):
            taken = array.slice(0, size - count)
            waiting.append(taken)
            count += len(taken)
            array = array.slice(len(taken))
            if count == size:
                yield pa.chunked_array(waiting)
                waiting, count = [], 0
    if waiting:
        yield pa.chunked_array(waiting)


NONFINITE_REWARDS = "nonfinite_rewards"
"""Statistic of an episode with rewards that are NaN or infinite: the number of such rewards of the first seat."""


def total_of(rewards: np.ndarray) -> float:
    """Return the sum of the rewards that are finite numbers; the sum is finite too.

    >>> total_of(np.array([1.0, np.nan, np.inf, 2.0]))
    3.0
    """
    with np.errstate(over="ignore"):  # of rewards near the largest number there is
        return float(np.nan_to_num(rewards[np.isfinite(rewards)].sum()))


def counted(reward: float) -> float:
    """Return a reward as it counts towards a total: 0 if it is NaN or infinite."""
    return reward if math.isfinite(reward) else 0.0

"""Prove that a sealed episode is unchanged since recording, and that a replay shows the same.

First, the bytes of the file are compared with those that were sealed. The catalogue has the SHA-256 of the file, and the file
has a digest of each row group, so a changed byte can be traced to its row group or to the footer. Then the episode is replayed,
and frames, rewards, endings, infos and observations of the new run are compared with the recording.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from interplay.envs import make
from interplay.envs.base import PlayableEnv
from interplay.errors import InterplayError
from interplay.record.errors import RecordingError
from interplay.record.format import spaces
from interplay.record.format.schema import DIGESTS_KEY, frame_hash, of_column
from interplay.record.format.spaces import binary_to_numpy, plain_action
from interplay.record.format.video import decode, plane_hash
from interplay.record.recorder import info_text
from interplay.record.sealed.episode import Episode
from interplay.record.stepper import RecordedEpisode
from interplay.wording import amount


@dataclass(frozen=True)
class Verdict:
    """Result of verifying one episode.

    Attributes:
        equal: Whether the file and its replay match the recording.
        step: First step that differs (or the first step of the damaged part, if only that is known); None if equal.
        reason: The result in one sentence.
        replayed: Whether the episode was replayed; this is not possible in worlds that are not deterministic.
        intact: Whether the file is the one that was sealed. If so and the replay differs, a backup does not help.
    """

    episode: str
    equal: bool
    step: int | None
    reason: str
    replayed: bool
    intact: bool = False


@dataclass(frozen=True)
class _Difference:
    """The first step that differs, and how; `in_replay` says that only the replay differs from the recording."""

    step: int
    reason: str
    in_replay: bool = False


def verify(episode: Episode) -> Verdict:
    """Compare a sealed episode with its catalogue entry and with a new run."""
    return verify_file(episode.path, episode.id, episode.sha256)


def verify_file(path: Path, episode_id: str, sha256: str | None) -> Verdict:
    """Compare a file as `verify` does.

    Args:
        path: A sealed file; or an mp4, if the episode is only a video: then only its bytes are compared.
        sha256: Hash in the catalogue; None if it has no hash: then the footer is trusted.
    """
    if path.suffix == ".mp4":
        return _verify_video(path, episode_id, sha256)

    def different(step: int, reason: str, *, replayed: bool = False) -> Verdict:
        return Verdict(episode_id, False, step, reason, replayed)

    try:
        with path.open("rb") as file:
            intact = sha256 is None or hashlib.file_digest(file, "sha256").hexdigest() == sha256
        episode = Episode.open(path)
        num_rows = episode.num_steps + 1
        damaged = _damaged_group(path)
        file = pq.ParquetFile(path, page_checksum_verification=False)
        if not intact if damaged is None else damaged >= file.num_row_groups:
            return different(0, "the file's footer (task, seed, facts, layout) is not the one that was sealed")
        if file.metadata.num_rows != num_rows:
            return different(0, f"the file has {file.metadata.num_rows} rows where {num_rows} were sealed")
        if episode.id != episode_id:
            return different(0, f"the file holds episode {episode.id}")
    except (RecordingError, OSError, pa.ArrowException) as error:
        return different(0, str(error).splitlines()[0])
    except Exception as error:  # a changed byte in the footer can make any reader stumble, in any way
        return different(0, f"the file's footer cannot be read: {type(error).__name__}: {error}")
    replay = None
    try:
        replay = _Replay(episode) if episode.header.deterministic else None
        found = _first_difference(episode, file, damaged, replay)
    except InterplayError as error:
        reason = f"the replay could not run: {str(error).splitlines()[0]}"
        return Verdict(episode_id, False, 0, reason, False, intact)
    finally:
        if replay is not None:
            replay.close()
    if found is not None:
        return Verdict(episode_id, False, found.step, found.reason, replay is not None, intact and found.in_replay)
    reason = "file and replay equal the recording"
    if replay is None:
        reason = "the file equals the recording; no replay, because the environment is not deterministic"
    elif not replay.same_pictures:
        reason = (
            f"the file equals the recording, and {replay.compared()} of the replay too; pictures were not compared, because "
            f"another version draws them differently{replay.other_versions()}"
        )
    return Verdict(episode_id, True, None, reason, replay is not None, True)


def _verify_video(path: Path, episode_id: str, sha256: str | None) -> Verdict:
    if sha256 is None:
        return Verdict(episode_id, True, None, "its video was not imported, so there is nothing to compare", False)
    try:
        with path.open("rb") as file:
            equal = hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError as error:
        return Verdict(episode_id, False, 0, f"{path}: {error.strerror or error}", False)
    if not equal:
        return Verdict(episode_id, False, 0, "the video is not the one that was uploaded", False)
    return Verdict(episode_id, True, None, "the video is the one that was uploaded; it is a video only, so no replay", False)


def _damaged_group(path: Path) -> int | None:
    """Return the first row group whose bytes do not match their digest in the footer; None if all match."""
    digests = json.loads((pq.read_metadata(path).metadata or {})[DIGESTS_KEY])
    with path.open("rb") as file:
        for group, (end, digest) in enumerate(digests):
            if xxhash.xxh3_64_hexdigest(file.read(end - file.tell())) != digest:
                return group
    return None


def _first_difference(
    episode: Episode, file: pq.ParquetFile, damaged: int | None, replay: _Replay | None
) -> _Difference | None:
    if damaged == 0 and episode.num_steps == 0:
        return _Difference(0, "the bytes of the only row group were changed")
    start = 0
    for group in range(file.num_row_groups):
        try:
            table = file.read_row_group(group)
            found = _compare(episode, table, start, replay)
        except Exception as error:
            if group != damaged:
                raise
            return _Difference(start, f"row group {group} (steps from {start}) does not decode: {str(error).splitlines()[0]}")
        if found is not None:
            return found
        if group == damaged:
            return _Difference(start, f"bytes of row group {group} (steps from {start}) were changed, where no replay shows it")
        start += table.num_rows
    return None


def _compare(episode: Episode, table: pa.Table, start: int, replay: _Replay | None) -> _Difference | None:
    if table.column("step").to_pylist() != list(range(start, start + table.num_rows)):
        return _Difference(start, "the step numbers do not count up")
    hashes = table.column("frame_hash").to_pylist()
    stored = _stored_differences(episode, table, hashes)
    for row, difference in enumerate(_replayed(table, start, hashes, replay)):
        if stored is not None and stored[0] == row:
            return _Difference(start + row, stored[1])
        if difference is not None:
            return difference
    return None


def _stored_differences(episode: Episode, table: pa.Table, hashes: list[int | None]) -> tuple[int, str] | None:
    if episode.frame_policy == "indexed":
        pictures = binary_to_numpy(table.column("frame").combine_chunks())
        for row, (picture, expected) in enumerate(zip(pictures, hashes, strict=True)):
            if frame_hash(picture) != expected:
                return row, "the stored frame is not the one that was recorded"
    elif episode.frame_policy == "video":
        row = 0
        expected_hashes = table.column("video_hash").to_pylist()
        try:
            for frame in decode(table.column("frame").to_pylist()):
                if plane_hash(frame) != expected_hashes[row]:
                    return row, "the stored video frame is not the one that was sealed"
                row += 1
        except RecordingError as error:
            return row, str(error)
        if row < len(hashes):
            return row, "the stored video ends early"
    return None


def _replayed(table: pa.Table, start: int, hashes: list[int | None], replay: _Replay | None) -> Iterator[_Difference | None]:
    if replay is None:
        yield from [None] * table.num_rows
        return
    rows = replay.columns(table)
    for row in range(table.num_rows):
        reason = replay.differs(rows, row, hashes[row], start + row)
        yield None if reason is None else _Difference(start + row, reason + replay.other_versions(), in_replay=True)


class _Replay:
    """Replays the episode; the replay is one step behind the rows that it is compared with."""

    def __init__(self, episode: Episode) -> None:
        header = episode.header
        self._episode = episode
        self._header = header
        self._env = make(header.task)
        self._beside: PlayableEnv | None = None
        self._num_states = 0
        self.same_pictures = self._env.draws_as(header.env_versions)
        self._again = RecordedEpisode(self._env)
        self._observations: Mapping[str, Any] | None
        self._observations, self._info = self._again.start(header.seed)

    def close(self) -> None:
        self._env.close()
        if self._beside is not None:
            self._beside.close()

    def compared(self) -> str:
        states = f"{amount(self._num_states, 'kept state')}, " if self._num_states else ""
        return f"{states}rewards, endings and infos"

    def _is_in_state(self, snapshot: bytes) -> bool:
        if self._beside is None:
            self._beside = make(self._header.task)
        self._beside.restore(snapshot)
        self._num_states += 1
        return self._beside.snapshot() == self._env.snapshot()

    def other_versions(self) -> str:
        now = self._env.versions()
        changed = [
            f"{name} {old}, now {now.get(name)}" for name, old in self._header.env_versions.items() if now.get(name) != old
        ]
        return f" (recorded with {'; '.join(changed)})" if changed else ""

    def columns(self, table: pa.Table) -> dict[str, Any]:
        header = self._header
        kept = ("terminated", "truncated", "info", *(["snapshot"] if "snapshot" in table.column_names else []))
        result: dict[str, Any] = {name: table.column(name).to_pylist() for name in kept}
        acted = min(table.num_rows, self._episode.num_steps - table.column("step")[0].as_py())
        for seat, space in header.action_spaces.items():
            column = table.column(f"action.{seat}").combine_chunks().slice(0, acted)
            if column.null_count:
                raise RecordingError("an action is missing")
            result[f"action.{seat}"] = spaces.from_arrow(space, column)
            result[f"reward.{seat}"] = table.column(f"reward.{seat}").to_pylist()
        if header.view is not None:
            result["view_height"] = table.column("view_height").to_pylist()
        if header.observation_space is not None:
            result["observation"] = table.column("observation").to_pylist()
        return result

    def differs(self, rows: dict[str, Any], row: int, recorded_hash: int | None, step: int) -> str | None:
        if self._header.view is not None:
            self._env.draw_for(self._header.view, rows["view_height"][row])
        if self.same_pictures and recorded_hash is not None:
            if frame_hash(self._env.view().pixels) != recorded_hash:
                return "the replay shows another frame than the recorded one"
        elif rows.get("snapshot") and rows["snapshot"][row] is not None and not self._is_in_state(rows["snapshot"][row]):
            return "the replay is in another state than the recorded one"
        header = self._header
        if header.observation_space is not None:
            try:
                seen = of_column(header.seats, self._observations)  # type: ignore[arg-type]
                seen = spaces.to_arrow(header.observation_space, [seen])[0].as_py()
            except RecordingError as error:  # earlier releases kept something else instead
                return f"the replay gives a value that no recording can hold: {str(error).splitlines()[0]}"
            if not _same(seen, rows["observation"][row]):
                return "the replay gives another observation than the recorded one"
        if info_text(self._env.info_to_record(self._info)) != rows["info"][row]:
            return "the replay gives another info than the recorded one"
        if step == self._episode.num_steps:
            return None
        last = step == self._episode.num_steps - 1
        actions = {seat: plain_action(rows[f"action.{seat}"][row]) for seat in header.seats}
        try:
            result = self._again.step(actions, is_seen=header.observation_space is not None)
        except Exception as error:  # an action no recording could hold
            return f"the world refuses the recorded action: {str(error).splitlines()[0]}"
        self._observations, self._info = result.observations, result.info
        for seat, reward in result.rewards.items():
            earned = rows[f"reward.{seat}"][row]
            if not _same(reward, earned):
                return f"the replay gives reward {reward:g}, the recording {earned}"
        # The last step may be truncated by us (a player who left, a shorter limit): the world has no part in that.
        ours = last and rows["truncated"][row]
        if result.terminated != rows["terminated"][row] or (result.truncated != rows["truncated"][row] and not ours):
            return "the replay ends at another step than the recording"
        return None


def _same(first: Any, second: Any) -> bool:
    """Return whether two values are equal, where NaN equals NaN."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_same(first[key], second[key]) for key in first)
    return first == second or (isinstance(first, float) and isinstance(second, float) and np.isnan(first) and np.isnan(second))

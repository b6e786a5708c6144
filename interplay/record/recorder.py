"""The recorder: take steps as they happen, and write them to the journal in batches before the oldest is a second old."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gymnasium
import numpy as np
import pyarrow as pa
import zstandard

from interplay.envs.base import PlayableEnv
from interplay.envs.info import clean_text, recordable
from interplay.record.errors import RecordingError
from interplay.record.format import spaces
from interplay.record.format.picture_changes import Change, PictureChanges, packed
from interplay.record.format.schema import Header, InputTiming, Owner, PaintedPicture, frame_hash, of_column, seat_spaces
from interplay.record.journal import End, JournalWriter
from interplay.statistics import Collection, StatisticSpec

log = logging.getLogger("interplay.record")

BATCH_STEPS = 120
BATCH_US = 800_000

_NO_INPUT = (None,) * len(InputTiming._fields)
_NOT_PAINTED = (None,) * len(PaintedPicture._fields)

JPEG_QUALITY = 95
_CONSTANT = {int, bool, str, float}
"""Types whose objects cannot change."""
_WINDOW_LOG = 18
"""Compression window: 2**18 bytes, several pictures of an Atari game, in a buffer that stays in the cache.
Pictures repeat long parts of earlier ones. A small table, which finds only long parts, takes a quarter less time."""


def new_header(
    env: PlayableEnv,
    *,
    episode: str,
    seed: int,
    owners: Mapping[str, Owner],
    session_id: str | None,
    created_at: datetime | None = None,
    statistics: tuple[StatisticSpec, ...] = (),
    experts: Mapping[str, str] = MappingProxyType({}),
) -> Header:
    """Return the header of an episode that is about to start; `Recorder.start` fills in the size of the view."""
    return Header(
        episode=episode,
        task=env.task,
        env_versions=env.versions(),
        seed=seed,
        owners=owners,
        session_id=session_id,
        created_at=created_at or datetime.now(UTC),
        frames=env.frame_policy,
        deterministic=env.deterministic,
        height=0,
        width=0,
        palette=None,
        action_spaces=seat_spaces(env),
        observation_space=None if env.observes_view else of_column(env.task.seats, env.observation_space),  # type: ignore[arg-type]
        view=env.drawn_for,
        has_painted=env.drawn_for is not None and env.scene_tables() is not None,
        has_options=env.task.keys.pointer is not None,
        statistics=statistics,
        experts=dict(experts),
    )


class Recorder:
    """Writes one episode (or the rest of one, after a resume) to a journal.

    Call `start` after `env.reset`, `step` after each `env.step`, then `finish`. A step is written at most 0.8 s later, by the
    clock that `step` is given. Call `flush` before a pause.

    Args:
        path: The segment to write.
        env: The environment; its `view()` and `snapshot()` are read after each step.
        header: The result of `new_header`, or the header of the journal that is continued.
        num_steps: Number of steps made before this recorder takes over.

    Attributes:
        oldest_us: Time of the oldest step that is not written yet, on `step`'s clock; None when all steps are written.
        collection: The statistics of the episode; `RecordedEpisode` gives them its steps.
        snapshots_at: One step that has a snapshot; there is a snapshot every `env.snapshot_steps` steps.
    """

    def __init__(self, path: Path, env: PlayableEnv, header: Header, *, num_steps: int = 0) -> None:
        self.path = path
        self.episode_id = header.episode
        self.num_steps = num_steps
        self.snapshots_at = 0
        self._env = env
        self._header = header
        self._seats = header.seats
        self._asked = [seat for seat in header.seats if seat in header.experts]
        self._owners = tuple(header.owners[seat].name for seat in header.seats)
        self.collection = Collection(header.statistics, header.task.setting, dict(zip(header.seats, self._owners, strict=True)))
        self._writer: JournalWriter | None = None
        self._columns: list[tuple[pa.DataType, gymnasium.Space | None]] = []  # what `_rows` hold
        self._rows: list[list[Any]] = []
        self._palette: np.ndarray | None = None
        self._changes: PictureChanges | None = None
        self._last_change: tuple[np.ndarray, Change] | None = None  # the last picture, and where it differs from the one before
        parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=_WINDOW_LOG, hash_log=12, min_match=7)
        self._zstd = zstandard.ZstdCompressor(compression_params=parameters)
        self._pictures: list[bytes] = []  # of `_rows`, as `packed` makes them
        self.oldest_us: int | None = None
        self._left_out: set[str] = set()
        self._kept, self._info_text = "{}", "{}"
        self._last_info: tuple[Any, ...] = ()  # what `_last_ids` are of, so that nothing else gets these
        self._last_ids: list[int] | None = None

    def start(self, observations: Mapping[str, Any], info: dict[str, Any]) -> None:
        """Open the journal and record the first observation of each seat; both reach the disk at once.

        Raises:
            RecordingError: If the view does not fit the frame storage, or the file cannot be written.
        """
        if self._writer is not None:
            raise RecordingError(f"episode {self.episode_id} has been started already")
        observation = self._held(observations)
        self.open()
        self.collection.begin(info, self._env.readings())
        nothing = (None,) * len(self._seats)
        inputs = (None,) * len(self._asked) + _NO_INPUT * len(self._seats)
        if self._header.has_painted:
            inputs += self._of_painted(None)
        if self._header.has_options:
            inputs += nothing
        self._add(nothing, nothing, None, None, nothing, inputs, None, observation, info, is_seen=True)
        self.flush()

    def open(self) -> None:
        """Look at the view, then open the journal. A resumed recorder starts here, without a first observation."""
        frame = self._env.view()
        self._palette = frame.palette
        if self._header.frames == "indexed" and frame.palette is None:
            raise RecordingError(
                f"task {self._header.task.id}: frames='indexed' needs a view with a palette, and this one is RGB; "
                "use frames='replay' or 'video'"
            )
        height, width = frame.pixels.shape[:2]
        if self._header.frames == "indexed":
            self._changes = PictureChanges(height, width)
            self._changes.take(frame.pixels)  # who goes on with an episode records what changes from here on
        header = replace(self._header, height=height, width=width, palette=frame.palette)
        self._header = header
        self._is_indexed, self._has_view = header.frames == "indexed", header.view is not None
        self._has_observation, self._has_statistics = header.observation_space is not None, bool(header.statistics)
        self._writer = JournalWriter(self.path, header)
        kept = [field for field in self._writer.schema if field.name != "frame" or header.frames != "indexed"]
        self._columns = [(field.type, self._space_of(field.name)) for field in kept]

    def step(
        self,
        actions: Mapping[str, Any],
        result: tuple[Mapping[str, Any] | None, Mapping[str, float], bool, bool, dict[str, Any]],
        *,
        owners: Mapping[str, str] | None = None,
        labels: Mapping[str, Any] | None = None,
        timing: Mapping[str, InputTiming | None] | None = None,
        painted: Mapping[str, PaintedPicture | None] | None = None,
        options: Mapping[str, str] | None = None,
        clock_us: int,
        is_seen: bool = True,
    ) -> None:
        """Record one step and the view that it led to.

        Args:
            actions: Seat -> action, as given to `env.step`.
            result: The return value of `env.step`: observations and rewards by seat, terminated, truncated, info.
            owners: Seat -> name of its owner; by default its first owner.
            labels: Seat -> action of its expert, for each seat of `Header.experts`.
            timing: Seat -> the player's input that was in force.
            painted: Seat -> the last picture that the player's browser has painted, if the browser draws the world itself.
            options: Seat -> the settings of the player's page from this step on, as JSON.
            clock_us: Time of the step on the caller's clock, in microseconds; it decides when a batch is written.
            is_seen: Whether the view was drawn; if not, its hash is missing. False requires frame storage `replay`.
        Raises:
            RecordingError: If the journal cannot be written, or an action or the observation cannot be stored unchanged.
                Earlier steps are kept.
        """
        observations, earned, terminated, truncated, info = result
        observation, seats = self._held(observations), self._seats
        acted = tuple(spaces.held(self._header.action_spaces[seat], actions[seat]) for seat in seats)
        rewards = tuple(float(earned[seat]) for seat in seats)
        held, timings = owners or {}, timing or {}
        names = tuple(held.get(seat) or first for seat, first in zip(seats, self._owners, strict=True))
        inputs = tuple(part for seat in seats for part in timings.get(seat) or _NO_INPUT)
        self.num_steps += 1
        if self._header.has_painted:
            inputs = *inputs, *self._of_painted(painted)
        if self._header.has_options:
            inputs = *inputs, *map((options or {}).get, self._seats)
        if self._asked:
            inputs = tuple((labels or {}).get(seat) for seat in self._asked) + inputs
        self._add(acted, rewards, terminated, truncated, names, inputs, clock_us, observation, info, is_seen=is_seen)
        if self.oldest_us is None:
            self.oldest_us = clock_us
        if len(self._rows) >= BATCH_STEPS or clock_us - self.oldest_us >= BATCH_US:
            self.flush()

    def _held(self, observations: Mapping[str, Any] | None) -> Any:
        space = self._header.observation_space
        return None if space is None else spaces.held(space, of_column(self._seats, observations))  # type: ignore[arg-type]

    def _of_painted(self, painted: Any) -> tuple[Any, ...]:
        painted = painted or {}
        return tuple(part for seat in self._seats for part in painted.get(seat) or _NOT_PAINTED)

    def _add(self, actions, rewards, terminated, truncated, owners, inputs, clock_us, observation, info, *, is_seen) -> None:
        if self._writer is None:
            raise RecordingError(f"episode {self.episode_id} has not been started; call recorder.start after env.reset")
        env, num_steps = self._env, self.num_steps
        frame = env.view() if is_seen and env.draws else None
        is_kept = num_steps > 0 and (num_steps - self.snapshots_at) % env.snapshot_steps == 0
        row = [
            num_steps,
            *actions,
            *rewards,
            terminated,
            truncated,
            *owners,
            *inputs,
            clock_us,
            None if frame is None else frame_hash(frame.pixels),
            self._recorded(info),
        ]
        if self._has_view:
            row.append(env.drawn_height)
        if self._has_observation:
            row.append(observation)
        row.append(env.snapshot() if is_kept else None)
        if self._has_statistics:
            row.append(self.collection.state() if is_kept and self.collection.num_steps == num_steps else None)
        if frame is None:
            assert self._header.frames == "replay"
        elif self._is_indexed:
            self._add_picture(*frame)
        elif self._header.frames == "video":
            row.append(_jpeg(frame.rgb()))
        self._rows.append(row)

    def _add_picture(self, pixels: np.ndarray, palette: np.ndarray | None) -> None:
        changes = self._changes
        assert changes is not None
        if palette is not self._palette and not np.array_equal(palette, self._palette):  # type: ignore[arg-type]
            raise RecordingError(f"task {self._header.task.id} changed its palette; record it with frames='video' or 'replay'")
        if pixels.shape != changes.last.shape:
            raise RecordingError(
                f"task {self._header.task.id} changed the size of its pictures; record it with frames='replay'"
            )
        change = changes.take(pixels)
        self._pictures.append(packed(pixels, change, whole=self._last_change is None))
        self._last_change = pixels, change

    def change_of(self, pixels: np.ndarray) -> Change | None:
        """Return how the last step's picture differs from the one before; None if these pixels are not that picture."""
        return self._last_change[1] if self._last_change is not None and self._last_change[0] is pixels else None

    def _recorded(self, info: Any) -> str:
        """Return the recorded part of an info. Log once which names are left out, unless the environment itself chose."""
        # Most steps repeat the last one's info: where it holds the same objects, and those cannot change, its text is at hand.
        if type(info) is dict:
            held = *info, *info.values()
            if [*map(id, held)] == self._last_ids:
                return self._info_text
            is_constant = _CONSTANT.issuperset(map(type, held))
            self._last_info, self._last_ids = (held, [*map(id, held)]) if is_constant else ((), None)
        else:
            self._last_ids = None
        kept = self._env.info_to_record(info)
        if isinstance(info, Mapping) and len(kept) < len(info) and type(self._env).info_to_record is PlayableEnv.info_to_record:
            named = {clean_text(str(name)) for name, value in info.items() if value is not None}
            left_out = named - kept.keys() - self._left_out
            if left_out:
                self._left_out |= left_out
                log.warning("%s: these infos are not recorded: %s", self._header.task.env.id, ", ".join(sorted(left_out)))
        if (key := repr(kept)) != self._kept:  # most steps repeat the last one's; `==` takes 1 for True and 0.0 for -0.0
            self._kept, self._info_text = key, info_text(kept)
        return self._info_text

    def flush(self) -> None:
        """Write all waiting steps, so that they survive the end of this process."""
        if not self._rows or self._writer is None:
            return
        rows, self._rows = self._rows, []
        self.oldest_us = None
        self._writer.write(self._batch(rows))

    def _batch(self, rows: list[list[Any]]) -> pa.RecordBatch:
        assert self._writer is not None
        arrays = [
            _column(values, kind) if space is None else spaces.to_arrow(space, values, kind)
            for values, (kind, space) in zip(zip(*rows, strict=True), self._columns, strict=True)
        ]
        if self._is_indexed:
            block = self._zstd.compress(b"".join(self._pictures))
            self._pictures.clear()
            arrays.append(pa.array([block, *[None] * (len(rows) - 1)], pa.binary()))
        return pa.RecordBatch.from_arrays(arrays, schema=self._writer.schema)

    def _space_of(self, column: str) -> gymnasium.Space | None:
        kind, _, seat = column.partition(".")
        if kind in ("action", "label"):
            return self._header.action_spaces[seat]
        return self._header.observation_space if column == "observation" else None

    def finish(self, outcome: str) -> Path:
        """Write the end marker with the world's outcome check, and return the journal's path for `Archive.seal`.

        Args:
            outcome: `terminated`, `time_limit`, `quit`, `left` or `interrupted`.
        Raises:
            RecordingError: If the recorder has not been started, or the disk is full.
        """
        if self._writer is None:
            raise RecordingError(f"episode {self.episode_id} has not been started; there is nothing to finish")
        self.flush()
        # Whoever records steps without `RecordedEpisode` has no statistics of them.
        measures = self.collection.measures() if self.collection.num_steps == self.num_steps else []
        self._writer.finish(End(outcome, self._checked(), measures))
        return self.path

    def _checked(self) -> dict[str, bool | int | float | str]:
        """Return the outcome check, or an empty one if it fails: the recording matters more than its outcome check."""
        try:
            answers = recordable(self._env.outcome_check())
            return {name: value for name, value in answers.items() if value is not None and not isinstance(value, list)}
        except Exception:
            log.exception("the outcome check of episode %s failed", self.episode_id)
            return {}

    def abandon(self) -> None:
        self._rows.clear()
        if self._writer is not None:
            self._writer.close()


def _column(values: tuple[Any, ...], kind: pa.DataType) -> pa.Array:
    """Return one column of a batch in the fastest way: this runs for some 15 columns, twice a second for each player."""
    if None in values:
        return _repeated(None, kind, len(values)) if values.count(None) == len(values) else pa.array(values, kind)
    dtype = _NUMPY.get(kind)
    if dtype is not None:
        return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.array(values, dtype))])
    first = values[0]
    if (first.__class__ in _REPEATED or (first.__class__ is str and len(first) < 200)) and values.count(first) == len(values):
        return _repeated(first, kind, len(values))
    return pa.array(values, kind)


@lru_cache(1024, typed=True)
def _repeated(value: Any, kind: pa.DataType, number: int) -> pa.Array:
    """Return an array that repeats a value; it is cached, because most batches repeat names, ends and missing values."""
    return pa.nulls(number, kind) if value is None else pa.repeat(pa.scalar(value, kind), number)


_REPEATED = {bool, int}


_NUMPY = {kind: kind.to_pandas_dtype() for kind in (pa.int32(), pa.int64(), pa.uint32(), pa.float32(), pa.float64())}


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def info_text(kept: dict[str, Any]) -> str:
    """Convert the result of `PlayableEnv.info_to_record` to JSON text; `envs.info` tells how unusual values are written."""
    try:
        return _encode(kept)
    except (TypeError, ValueError, RecursionError):
        return _encode(recordable(kept))


def _jpeg(rgb: np.ndarray) -> bytes:
    import simplejpeg

    return simplejpeg.encode_jpeg(rgb, quality=JPEG_QUALITY, colorsubsampling="444")

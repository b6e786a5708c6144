"""A sealed episode: a Parquet file whose parts are read only when they are needed."""

from __future__ import annotations

import json
import threading
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.envs.base import FramePolicy, PlayableEnv
from interplay.envs.info import SeatEnd, seat_end
from interplay.record.errors import MissingFileError, RecordingError
from interplay.record.format import spaces
from interplay.record.format.schema import METADATA_KEY, Header, check_version
from interplay.record.format.video import VideoSource
from interplay.record.sealed.frames import Frames, IndexedSource, ReplaySource
from interplay.statistics import Measure
from interplay.store.places.blobs import Blobs
from interplay.tasks import Task

_NOT_IN_FILE = ("place", "blobs", "sha256", "size_bytes", "uploaded_task")
OUTCOME_CHECK_SUCCESS = "automatic_success"
"""Statistic of an episode whose world can tell whether the task was achieved: 1 or 0."""


@dataclass(frozen=True)
class SeatHeld:
    """One owner's part in one seat of an episode; `total_reward` is the sum of the finite rewards of these steps."""

    seat: str
    actor: str
    actor_kind: str
    participant_id: int | None
    num_steps: int
    total_reward: float


@dataclass(frozen=True, eq=False)
class Episode:
    """One recorded episode. Its facts are known at once; steps, frames and observations are read when needed.

    An episode may also be a video from elsewhere (`is_video_only`). Then its facts describe the video, and reading its
    steps raises `RecordingError`.

    Attributes:
        id: Unique name, also of the file.
        task_id, task_hash, env: The task, the hash of its whole definition, and its environment.
        actor, actor_kind: Name and kind (`human`, `agent` or `model`) of the first seat's owner at the start.
        total_reward: Sum of the first seat's rewards that are finite numbers.
        terminated, truncated: Whether the world ended the episode, or it was cut off (time limit, player left, crash).
        outcome: `terminated`, `time_limit`, `quit`, `left` or `interrupted`; `unknown` if there is only a video.
        duration_s: Time from the first to the last step by the recording clock, plus the time of one frame.
        frame_policy: Frame storage: `replay`, `indexed` or `video`; `uploaded` if there is only a video.
        statistics: Name -> final number or text (score, num_steps, lives, ...).
        place: Local place of the Parquet file, or of the mp4 if there is only a video; see `path`.
        blobs: The store that has the file; None if it is at `place`.
        sha256, size_bytes: Values in the catalogue; None if the file was opened by path, or a video is missing here.
        uploaded_task: The task, if there is only a video.
        seats: One entry for each owner of each seat: in the order of the seats, then in the order in which owners came.
    """

    id: str
    task_id: str
    task_hash: str
    env: str
    seed: int
    actor: str
    actor_kind: str
    participant_id: int | None
    num_steps: int
    total_reward: float
    terminated: bool
    truncated: bool
    outcome: str
    duration_s: float
    frame_policy: FramePolicy | Literal["uploaded"]
    created_at: datetime
    statistics: Mapping[str, float | int | str] = field(repr=False)
    place: Path = field(repr=False)
    sha256: str | None = field(default=None, repr=False)
    size_bytes: int | None = field(default=None, repr=False)
    uploaded_task: Task | None = field(default=None, repr=False)
    blobs: Blobs | None = field(default=None, repr=False)
    seats: tuple[SeatHeld, ...] = field(default=(), repr=False)

    @classmethod
    def open(cls, path: Path | str) -> Episode:
        """Open a sealed file without a catalogue.
        Raises RecordingError if it is missing, empty, cut off, no episode, or of another version."""
        file = Path(path)
        parquet = _open(file)
        metadata = _metadata(parquet, file)
        check_version(metadata["header"], file)
        summary = metadata["summary"]
        seats = tuple(SeatHeld(**held) for held in summary["seats"])
        created_at = datetime.fromisoformat(summary["created_at"])
        document: dict[str, Any] = {**summary, "created_at": created_at, "seats": seats}
        return cls(**document, place=file)

    def to_json(self) -> dict[str, Any]:
        facts = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in _NOT_IN_FILE}
        return facts | {
            "created_at": self.created_at.isoformat(),
            "statistics": dict(self.statistics),
            "seats": [asdict(held) for held in self.seats],
        }

    @property
    def path(self) -> Path:
        """The Parquet file, or the mp4 if there is only a video; it does not exist if the file is lost."""
        return self.place if self.blobs is None else self.blobs.path(self.place.relative_to(self.blobs.root).as_posix())

    @property
    def is_lost(self) -> bool:
        """Whether the file is gone, as far as can be told without asking a store."""
        if self.blobs is None:
            return not self.place.exists()
        return self.blobs.is_lost(self.place.relative_to(self.blobs.root).as_posix())

    @property
    def is_video_only(self) -> bool:
        """Whether this is a video from elsewhere, without any recorded step."""
        return self.frame_policy == "uploaded"

    @cached_property
    def _file(self) -> pq.ParquetFile:
        if self.is_video_only:
            raise RecordingError(
                f"episode {self.id} is a video only: nothing was recorded step by step, so there are no actions, rewards or\n"
                f"observations of it. Get the video with:  interplay episodes replay {self.id} --out {self.id}.mp4"
            )
        file = _open(self.path)
        _remember(self)
        return file

    def close(self) -> None:
        """Close the file and forget what was read from it; later reads open the file again.

        This is needed only to close the file at once: of all episodes, only the last 64 opened stay open.
        """
        for name in ("_file", "_steps", "frames", "observed"):
            self.__dict__.pop(name, None)

    @cached_property
    def header(self) -> Header:
        return Header.from_json(_metadata(self._file, self.place)["header"])

    @property
    def task(self) -> Task:
        return self.header.task if self.uploaded_task is None else self.uploaded_task

    @property
    def schema(self) -> pa.Schema:
        return self._file.schema_arrow.remove_metadata()

    @cached_property
    def _steps(self) -> pa.Table:
        names = [name for name in self._file.schema_arrow.names if name not in ("frame", "snapshot", "video_hash")]
        return read(self._file, self.place, names)

    def steps(self) -> pa.Table:
        """Return all columns except frames and snapshots: T + 1 rows; the last row holds only the final observation."""
        return self._steps

    def _column(self, name: str) -> pa.ChunkedArray:
        """Return one column of `steps`. It is read alone unless all are loaded: a learner needs two of some twenty."""
        if "_steps" in self.__dict__:
            return self._steps.column(name)
        return read(self._file, self.place, [name]).column(0)

    @property
    def outcome_check(self) -> dict[str, bool | int | float | str]:
        """Result of `PlayableEnv.outcome_check` at the end; in `statistics`, these names begin with `automatic_`."""
        if self.is_video_only:
            return {}
        return _metadata(self._file, self.place).get("automatic", {})  # files of before say nothing

    @property
    def live_measures(self) -> tuple[Measure, ...]:
        """Statistics that were computed during play, of each owner of each seat; empty in files of earlier releases.
        `Archive.measures` also has statistics that were computed later."""
        if self.is_video_only:
            return ()
        return tuple(Measure(**one) for one in _metadata(self._file, self.place).get("statistics", ()))

    def actions(self, seat: str | None = None) -> np.ndarray:
        """Return the actions of a seat (by default the first), shape (T, ...), in the dtype of its space."""
        seat = self._seat(seat)
        column = self._column(f"action.{seat}").combine_chunks().slice(0, self.num_steps)
        return spaces.from_arrow(self.header.action_spaces[seat], column)

    def action_parts(self, seat: str | None = None) -> dict[str, np.ndarray]:
        """Return the composed actions of a seat (by default the first), entry by entry: each of shape (T, ...).
        Raises RecordingError if they are not a mapping."""
        seat = self._seat(seat)
        space = self.header.action_spaces[seat]
        if not isinstance(space, gymnasium.spaces.Dict):
            raise RecordingError(f"episode {self.id} has actions in {space}, expected a mapping of keys")
        column = self._column(f"action.{seat}").combine_chunks().slice(0, self.num_steps)
        children = zip(space.spaces.items(), column.flatten(), strict=True)
        return {name: spaces.from_arrow(part, values) for (name, part), values in children}

    def labels(self, seat: str | None = None) -> np.ndarray | None:
        """Return the actions of a seat's expert (by default the first seat's), as `actions` does; None without an expert."""
        seat = self._seat(seat)
        if seat not in self.header.experts:
            return None
        column = self._column(f"label.{seat}").combine_chunks().slice(0, self.num_steps)
        return spaces.from_arrow(self.header.action_spaces[seat], column)

    def rewards(self, seat: str | None = None) -> np.ndarray:
        """Return the rewards of a seat (by default the first), float64, shape (T,)."""
        return self._column(f"reward.{self._seat(seat)}").slice(0, self.num_steps).to_numpy()

    def ended(self, seat: str | None = None) -> tuple[int, SeatEnd]:
        """Return the number of steps until a seat's game (default: the first seat) ended, and how; other seats may continue."""
        seat, seats = self._seat(seat), self.header.seats
        how = {"seats": seats, "terminated": self.terminated, "truncated": not self.terminated}
        if len(seats) == 1:
            return self.num_steps, seat_end(seat, {}, **how)
        texts = self._column("info").slice(1, self.num_steps).to_pylist()
        # Few infos say who is done: the others are not parsed.
        said = ((step, json.loads(text)) for step, text in enumerate(texts, 1) if text and '"seats_done"' in text)
        num_steps = next((step for step, info in said if seat in info.get("seats_done", ())), self.num_steps)
        return num_steps, seat_end(seat, json.loads((texts and texts[-1]) or "{}"), **how)

    def raw_observations(self) -> np.ndarray:
        """Return the observations of the environment, shape (T + 1, ...), for worlds whose observation is not the view.
        Raises RecordingError if the observation is the view; use `frames`."""
        if self.header.observation_space is None:
            raise RecordingError(f"episode {self.id}: observations of {self.env} are its view; use episode.frames")
        return spaces.from_arrow(self.header.observation_space, self._steps.column("observation").combine_chunks())

    def _seat(self, seat: str | None) -> str:
        seats = self.header.seats
        if seat is None:
            return seats[0]
        if seat not in seats:
            raise RecordingError(f"episode {self.id} has no seat {seat!r}; seats are {', '.join(seats)}")
        return seat

    @cached_property
    def frames(self) -> Frames:
        """Pictures that the player saw: T + 1 frames, read or rebuilt when needed."""
        header = self.header

        def source() -> Any:
            if self.frame_policy == "indexed":
                return IndexedSource(self._file, (header.height, header.width))
            if self.frame_policy == "video":
                return VideoSource(self._file)
            return self.replay_source()

        return Frames(self.num_steps + 1, header.palette, source)

    @cached_property
    def observed(self) -> Frames:
        """Pictures for an agent in the player's place: like `frames`, but in full size with on-screen bars sized for agents."""
        if self.header.view is None:
            return self.frames
        return Frames(self.num_steps + 1, self.header.palette, lambda: self.replay_source(for_people=False))

    def replay_source(self, *, for_people: bool = True) -> ReplaySource:
        """Return a new world that can go to any step of this episode (frame storage `replay`).
        It draws what the player saw (`for_people`) or what agents see."""
        from interplay.envs import make

        view = self.header.view if for_people else None
        heights = [] if view is None else self._steps.column("view_height").to_pylist()

        def draw(env: PlayableEnv, step: int) -> None:
            env.draw_for(view, heights[step])

        return ReplaySource(
            make(self.header.task), self.seed, self.joint_actions(), self.snapshots(), None if view is None else draw
        )

    def joint_actions(self) -> list[dict[str, Any]]:
        by_seat = {}
        for seat in self.header.seats:
            actions = self.actions(seat)
            by_seat[seat] = actions.tolist() if actions.ndim == 1 and actions.dtype != object else list(actions)
        return [dict(zip(by_seat, row, strict=True)) for row in zip(*by_seat.values(), strict=True)]

    def snapshots(self) -> dict[int, bytes]:
        if "snapshot" not in self._file.schema_arrow.names:
            return {}
        rows = read(self._file, self.place, ["step", "snapshot"]).drop_null()
        return dict(zip(rows.column("step").to_pylist(), rows.column("snapshot").to_pylist(), strict=True))

    def observations(self, pipeline: str = "dqn") -> Iterator[tuple[int, np.ndarray]]:
        """Yield `(t, observation)` at each decision of an agent that uses this observation pipeline."""
        from interplay.envs.observation import observe
        from interplay.envs.observation import pipeline as find

        return observe(find(pipeline), self.observed, ended=self.terminated or self.truncated)


def no_video(episode: Episode) -> RecordingError:
    if episode.sha256 is None:
        return RecordingError(
            f"episode {episode.id}: answers about it were imported, its video was not\n"
            "Bring the videos:  interplay judge import FILE --videos DIR"
        )
    return RecordingError(
        f"{episode.place}: the video is gone; it was moved or deleted outside Interplay. Restore it from a backup."
    )


_MAX_OPEN = 64
_recent: deque[weakref.ref[Episode]] = deque()
_recent_lock = threading.Lock()


def _remember(episode: Episode) -> None:
    """Remember an open episode; close the episode opened longest ago, so that long loops do not run out of files or memory."""
    with _recent_lock:
        _recent.append(weakref.ref(episode))
        oldest = _recent.popleft()() if len(_recent) > _MAX_OPEN else None
    if oldest is not None and oldest is not episode:
        oldest.close()


def read(file: pq.ParquetFile, path: Path, columns: list[str]) -> pa.Table:
    try:
        return file.read(columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> RecordingError:
    return RecordingError(
        f"{path} is damaged: {str(error).splitlines()[0]}\n"
        "To see from which step on, and what can still be read:  "
        f"interplay episodes verify {path.stem} --data DIR"
    )


def missing(path: Path) -> MissingFileError:
    return MissingFileError(
        f"{path}: no such file; the episode was moved or deleted outside Interplay, or another server recorded it.\n"
        "List what is left with:  interplay episodes repair --data DIR",
        path.stem,
    )


def _open(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, memory_map=True, page_checksum_verification=True)
    except FileNotFoundError:
        raise missing(path) from None
    except (pa.ArrowException, OSError) as error:
        size = path.stat().st_size
        found = (
            "is an empty file"
            if not size
            else f"({size} bytes) has no readable footer; it was cut off or is not a Parquet file"
        )
        raise RecordingError(
            f"{path} {found}: {str(error).splitlines()[0]}\n"
            "Restore the file from a backup; to see what else is affected:  interplay episodes verify --all --data DIR"
        ) from error


def _metadata(file: pq.ParquetFile, path: Path) -> dict[str, Any]:
    try:
        return json.loads((file.metadata.metadata or {})[METADATA_KEY])
    except (KeyError, ValueError) as error:
        raise RecordingError(
            f"{path} is a Parquet file but holds no Interplay episode ({type(error).__name__}).\n"
            "Move it out of the episodes folder, or restore it from a backup."
        ) from error

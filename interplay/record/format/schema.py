"""Header and columns of a recording. `docs/episode-format.md` is the page for readers.

A journal row is written when an observation arrives: row k is observation k together with the step that led to it. So any
prefix of a journal is a whole episode (k actions, k + 1 observations). A sealed row is a step as learners read it: row t is
observation t and the action taken on it; the last row holds the final observation alone.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pyarrow as pa
import xxhash

from interplay.envs.base import FramePolicy, PlayableEnv
from interplay.envs.pictures import PALETTE
from interplay.record.errors import OtherVersionError, RecordingError
from interplay.record.format import spaces
from interplay.statistics import StatisticSpec
from interplay.tasks import Task

SCHEMA_VERSION = 2
"""The only one that is read. Version 1 knew one actor an episode; only development versions wrote it."""
METADATA_KEY = b"interplay"
PSEUDONYM = re.compile(r"(imported/)?person-[0-9a-f]{16}")
"""Names of people in data sets, and once these are imported."""

CHANGES = {b"coding": b"changes"}
"""Metadata of a journal's field `frame` that holds what changes from picture to picture."""
DIGESTS_KEY = b"interplay.digests"
"""Footer entry of a sealed file: for each row group the offset where it ends and the XXH3-64 of its bytes."""


class InputTiming(NamedTuple):
    """The input that was in force during a step.

    Attributes:
        painted_step: Step of the frame the player had on screen when the input was made.
        client_ms: The browser's clock when it was made, in ms.
        received_us: The server's clock when it arrived, in microseconds.
        buttons: Pressed buttons as a bit mask.
        latency_ms: From painting to taking effect as measured, or None.
    """

    painted_step: int
    client_ms: float
    received_us: int
    buttons: int
    latency_ms: float | None


class PaintedPicture(NamedTuple):
    """The last picture that the player's own browser has painted, as it reports, where it draws the world itself.

    Attributes:
        yaw, pitch: Direction of view, degrees.
        width, height: Of the picture, pixels of the screen.
        fps: Pictures a second.
        input_ms: From a press until the first picture of a step that used it, as the browser measured; None before the first.
    """

    yaw: float
    pitch: float
    width: int
    height: int
    fps: float
    input_ms: float | None


@dataclass(frozen=True)
class Owner:
    """Player of a seat.

    Attributes:
        name: As in recordings: an agent's name, or `participant-<id>`.
        kind: `human`, `agent` or `model`.
        participant_id: Of a person the database knows.
    """

    name: str
    kind: str
    participant_id: int | None = None


@dataclass(frozen=True)
class Header:
    """Facts that are known when an episode starts; the metadata of journal and sealed file.

    Attributes:
        owners: Seat -> its owner when the episode starts.
        height, width: Of the player's view.
        palette: uint8, shape (256, 3), or None for RGB views.
        action_spaces: Seat -> space.
        observation_space: Of the column `observation` (`of_column`); None when the observation is the view itself.
        first_step: Step of the first row of this journal segment; 0 but for resumed episodes.
        view: How pictures were drawn for the person who played, see `PlayableEnv.people_see`; None as agents see them.
        has_options: Whether there are columns of what players set on their page, where the mouse turns their view.
        has_painted: Whether there are columns of what players' browsers painted, where they draw the world themselves.
        statistics: Computed while it is recorded.
        experts: Seat -> name of an agent that is asked at each step what it would do there.
    """

    episode: str
    task: Task
    env_versions: Mapping[str, str]
    seed: int
    owners: Mapping[str, Owner]
    session_id: str | None
    created_at: datetime
    frames: FramePolicy
    deterministic: bool
    height: int
    width: int
    palette: np.ndarray | None
    action_spaces: Mapping[str, gymnasium.Space]
    observation_space: gymnasium.Space | None
    first_step: int = 0
    view: Mapping[str, Any] | None = None
    has_painted: bool = False
    has_options: bool = False
    statistics: tuple[StatisticSpec, ...] = ()
    experts: Mapping[str, str] = field(default_factory=dict)

    @property
    def seats(self) -> tuple[str, ...]:
        return self.task.seats

    def owner_called(self, name: str) -> Owner:
        """The owner of this name. One who took a seat over later is a person if the name is a participant's or a pseudonym,
        else an agent."""
        for owner in self.owners.values():
            if owner.name == name:
                return owner
        number = name.removeprefix("participant-")
        if number != name and number.isdecimal():
            return Owner(name, "human", int(number))
        return Owner(name, "human" if PSEUDONYM.fullmatch(name) else "agent")

    def to_json(self) -> dict[str, Any]:
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        return {"schema_version": SCHEMA_VERSION, **plain} | {
            "task": self.task.to_json(),
            "task_hash": self.task.content_hash,
            "env": self.task.env.id,
            "env_versions": dict(self.env_versions),
            "seats": list(self.seats),
            "owners": {seat: asdict(owner) for seat, owner in self.owners.items()},
            "created_at": self.created_at.isoformat(),
            "palette": None if self.palette is None else base64.b64encode(self.palette.tobytes()).decode(),
            "action_spaces": {seat: spaces.to_json(space) for seat, space in self.action_spaces.items()},
            "observation_space": None if self.observation_space is None else spaces.to_json(self.observation_space),
            "statistics": [spec.to_json() for spec in self.statistics],
            "experts": dict(self.experts),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Header:
        """The inverse of `to_json`; `OtherVersionError` as `check_version`."""
        check_version(document)
        palette = None
        if document["palette"] is not None:
            palette = np.frombuffer(base64.b64decode(document["palette"]), np.uint8).reshape(256, 3)
            if np.array_equal(palette, PALETTE):
                palette = PALETTE  # pipelines know the console's own table by identity
        observation = document["observation_space"]
        values = {item.name: document[item.name] for item in fields(cls) if item.name in document}  # the last five came later
        return cls(
            **values
            | {
                "task": Task.from_json(document["task"]),
                "owners": {seat: Owner(**owner) for seat, owner in document["owners"].items()},
                "created_at": datetime.fromisoformat(document["created_at"]),
                "palette": palette,
                "action_spaces": {seat: spaces.from_json(space) for seat, space in document["action_spaces"].items()},
                "observation_space": None if observation is None else spaces.from_json(observation),
                "statistics": tuple(map(StatisticSpec.from_json, document.get("statistics", ()))),
            }
        )


def seat_spaces(env: PlayableEnv) -> dict[str, gymnasium.Space]:
    seats = env.task.seats
    if not isinstance(env.action_space, gymnasium.spaces.Dict) or set(env.action_space.spaces) != set(seats):
        raise RecordingError(
            f"task {env.task.id} has seats {', '.join(seats)}, so its environment's action space must be a Dict with "
            f"those keys; got {env.action_space}"
        )
    return {seat: env.action_space.spaces[seat] for seat in seats}


def of_column(seats: Sequence[str], values: Mapping[str, Any]) -> Any:
    """Value of the column `observation` for observations by seat (or its space for spaces by seat): the mapping itself, or with
    one seat its value alone."""
    return values if len(seats) > 1 else values[seats[0]]


def by_seat(seats: Sequence[str], value: Any) -> Mapping[str, Any]:
    """The inverse of `of_column`."""
    return value if len(seats) > 1 else {seats[0]: value}


def columns(header: Header) -> list[pa.Field]:
    """Every column but `frame` and `snapshot`, of journal and sealed file alike."""
    result = [pa.field("step", pa.int32())]
    result += [pa.field(f"action.{seat}", spaces.arrow_type(space)) for seat, space in header.action_spaces.items()]
    result += [pa.field(f"reward.{seat}", pa.float64()) for seat in header.seats]
    result += [pa.field("terminated", pa.bool_()), pa.field("truncated", pa.bool_())]
    result += [pa.field(f"owner.{seat}", pa.string()) for seat in header.seats]
    result += [pa.field(f"label.{seat}", spaces.arrow_type(header.action_spaces[seat])) for seat in _asked(header)]
    # A mask of composed keys has up to 32 bits. Table maps keep the type that journals already on disk have.
    buttons = pa.uint32() if header.task.keys.compose else pa.int32()
    timing = InputTiming(pa.int32(), pa.float64(), pa.int64(), buttons, pa.float32())
    result += [pa.field(f"input.{seat}.{part}", kind) for seat in header.seats for part, kind in timing._asdict().items()]
    if header.has_painted:
        painted = PaintedPicture(pa.float32(), pa.float32(), pa.int32(), pa.int32(), pa.float32(), pa.float32())
        result += [
            pa.field(f"painted.{seat}.{part}", kind) for seat in header.seats for part, kind in painted._asdict().items()
        ]
    result += [pa.field(f"options.{seat}", pa.string()) for seat in header.seats if header.has_options]
    result += [
        pa.field("time_us", pa.int64()),
        pa.field("frame_hash", pa.uint32()),
        pa.field("info", pa.string()),
    ]
    if header.view is not None:
        result.append(pa.field("view_height", pa.int32()))
    if header.observation_space is not None:
        result.append(pa.field("observation", spaces.arrow_type(header.observation_space)))
    return result


def step_columns(header: Header) -> list[str]:
    """Columns that belong to the step, not to the observation: they move up by one row when a journal is sealed."""
    return [
        *(f"action.{seat}" for seat in header.seats),
        *(f"reward.{seat}" for seat in header.seats),
        "terminated",
        "truncated",
        *(f"owner.{seat}" for seat in header.seats),
        *(f"label.{seat}" for seat in _asked(header)),
        *(f"input.{seat}.{part}" for seat in header.seats for part in InputTiming._fields),
        *(f"painted.{seat}.{part}" for seat in header.seats for part in PaintedPicture._fields if header.has_painted),
        *(f"options.{seat}" for seat in header.seats if header.has_options),
        "time_us",
    ]


def check_version(header: Mapping[str, Any], what: object = "the recording") -> None:
    """Refuse a header, as a document, of another schema version with `OtherVersionError`, which names the remedy."""
    version = header.get("schema_version")
    if version != SCHEMA_VERSION:
        is_old = isinstance(version, int) and version < SCHEMA_VERSION
        remedy = "Read it with the version that wrote it." if is_old else "Upgrade:  pip install --upgrade interplay"
        raise OtherVersionError(
            f"{what} has schema version {version}; this Interplay reads version {SCHEMA_VERSION}. It stays as it is.\n{remedy}"
        )


def _asked(header: Header) -> list[str]:
    return [seat for seat in header.seats if seat in header.experts]


def journal_schema(header: Header) -> pa.Schema:
    """Columns of a journal; snapshots come now and then.

    `statistics` says beside each snapshot where their collectors stand. `frame` is a JPEG a row (`video`), or (`indexed`) in
    the first row of each batch all its pictures, zstd-compressed: what changed in each, as `picture_changes` packs it.
    """
    kinds = [*columns(header), pa.field("snapshot", pa.binary())]
    if header.statistics:
        kinds.append(pa.field("statistics", pa.string()))
    if header.frames != "replay":
        kinds.append(pa.field("frame", pa.binary(), metadata=CHANGES if header.frames == "indexed" else None))
    return pa.schema(kinds, {METADATA_KEY: json.dumps(header.to_json()).encode()})


def sealed_schema(header: Header) -> pa.Schema:
    """Columns of a sealed episode: frames are palette indices (`indexed`) or H.264 access units (`video`)."""
    kinds = columns(header)
    if header.frames == "replay":
        kinds.append(pa.field("snapshot", pa.binary()))
    elif header.frames == "indexed":
        kinds.append(pa.field("frame", pa.binary(header.height * header.width)))
    else:
        kinds += [pa.field("video_hash", pa.uint32()), pa.field("frame", pa.binary())]
    return pa.schema(kinds)


def frame_hash(pixels: np.ndarray) -> int:
    """The low 32 bits of XXH3 over the pixels of a view, row-major."""
    return xxhash.xxh3_64_intdigest(np.ascontiguousarray(pixels).data) & 0xFFFFFFFF

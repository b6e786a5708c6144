"""Define the header and columns of a recording. Readers find the format in `docs/episode-format.md`.

A journal row is written when an observation arrives: row k has observation k and the step that led to it. So any prefix of a
journal is a complete episode (k actions, k + 1 observations). A sealed file has rows as learners read them: row t has
observation t and the action that followed; the last row has only the final observation.
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
"""The only version that is read. Version 1 had one actor per episode; only development versions wrote it."""
METADATA_KEY = b"interplay"
PSEUDONYM = re.compile(r"(imported/)?person-[0-9a-f]{16}")
"""Pattern of people's names in data sets, and of the same names after an import."""

CHANGES = {b"coding": b"changes"}
"""Metadata of a journal's field `frame` that holds changes from picture to picture."""
DIGESTS_KEY = b"interplay.digests"
"""Key of the footer entry of a sealed file that has, for each row group, its end offset and the XXH3-64 of its bytes."""


class InputTiming(NamedTuple):
    """The input that was in force during a step.

    Attributes:
        painted_step: Step of the frame that was on the player's screen when the input was made.
        client_ms: Time of the input on the browser's clock, in ms.
        received_us: Time of arrival on the server's clock, in microseconds.
        buttons: Pressed buttons as a bit mask.
        latency_ms: Measured time from the painting of the frame to the effect of the input, or None.
    """

    painted_step: int
    client_ms: float
    received_us: int
    buttons: int
    latency_ms: float | None


class PaintedPicture(NamedTuple):
    """The last picture that the player's browser reports as painted, if the browser draws the world itself.

    Attributes:
        yaw, pitch: Direction of view in degrees.
        width, height: Size of the picture in screen pixels.
        fps: Pictures per second.
        input_ms: Time from a press to the first picture of a step that used it, measured by the browser; None if not yet known.
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
        name: Name in recordings: an agent's name, or `participant-<id>`.
        kind: `human`, `agent` or `model`.
        participant_id: Id of a person whom the database knows; otherwise None.
    """

    name: str
    kind: str
    participant_id: int | None = None


@dataclass(frozen=True)
class Header:
    """Facts that are known when an episode starts: the metadata of journal and sealed file.

    Attributes:
        owners: Seat -> its owner when the episode starts.
        height, width: Size of the player's view.
        palette: uint8, shape (256, 3), or None for RGB views.
        action_spaces: Seat -> space.
        observation_space: Space of the column `observation` (see `of_column`); None if the observation is the view itself.
        first_step: Step of the first row of this journal segment; 0 except in resumed episodes.
        view: How pictures were drawn for the person who played, see `PlayableEnv.people_see`; None if drawn as for agents.
        has_options: Whether there are columns for settings of the player's page, for worlds where the mouse turns the view.
        has_painted: Whether there are columns for pictures that browsers painted, for worlds that browsers draw themselves.
        statistics: Statistics that are computed during recording.
        experts: Seat -> name of an agent that is asked at each step which action it would choose there.
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
        """Return the owner of this name.
        An owner who took over a seat later is a person if the name is a participant's or a pseudonym, else an agent."""
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
        """Read a header from JSON values, the inverse of `to_json`; raises `OtherVersionError` as `check_version` does."""
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
    """Return the value of the column `observation` for observations by seat, or its space for spaces by seat.
    This is the mapping itself, or, if there is only one seat, the value of that seat."""
    return values if len(seats) > 1 else values[seats[0]]


def by_seat(seats: Sequence[str], value: Any) -> Mapping[str, Any]:
    """Return the values by seat of a value of the column `observation`; the inverse of `of_column`."""
    return value if len(seats) > 1 else {seats[0]: value}


def columns(header: Header) -> list[pa.Field]:
    """Return every column except `frame` and `snapshot`; journal and sealed file have the same columns."""
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
    """Return the columns that belong to the step and not to the observation: sealing moves them up by one row."""
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
    """Raise `OtherVersionError`, which says what to do, if a header's JSON values have another schema version."""
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
    """Return the columns of a journal. Only some rows have a snapshot.

    A row with a snapshot also has the state of the collectors in `statistics`. With storage `video`, `frame` is one JPEG per
    row. With `indexed`, the first row of each batch has the changes of all its pictures (`picture_changes`), zstd-compressed.
    """
    kinds = [*columns(header), pa.field("snapshot", pa.binary())]
    if header.statistics:
        kinds.append(pa.field("statistics", pa.string()))
    if header.frames != "replay":
        kinds.append(pa.field("frame", pa.binary(), metadata=CHANGES if header.frames == "indexed" else None))
    return pa.schema(kinds, {METADATA_KEY: json.dumps(header.to_json()).encode()})


def sealed_schema(header: Header) -> pa.Schema:
    """Return the columns of a sealed episode; frames are palette indices (`indexed`) or H.264 access units (`video`)."""
    kinds = columns(header)
    if header.frames == "replay":
        kinds.append(pa.field("snapshot", pa.binary()))
    elif header.frames == "indexed":
        kinds.append(pa.field("frame", pa.binary(header.height * header.width)))
    else:
        kinds += [pa.field("video_hash", pa.uint32()), pa.field("frame", pa.binary())]
    return pa.schema(kinds)


def frame_hash(pixels: np.ndarray) -> int:
    """Return the low 32 bits of XXH3 over the pixels of a view, row-major."""
    return xxhash.xxh3_64_intdigest(np.ascontiguousarray(pixels).data) & 0xFFFFFFFF

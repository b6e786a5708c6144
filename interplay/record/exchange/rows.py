"""Convert an episode to rows, one for each step, with numbers, owners, hashes and pictures; and convert rows back.

A separate document, `Description`, has the task, the spaces and the palette.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np

from interplay.envs.base import Frame, PlayableEnv
from interplay.record.errors import RecordingError
from interplay.record.exchange.columns import NOT_NUMERIC, from_row, is_numeric, to_rows
from interplay.record.exchange.importer import EPISODE_ID, Brought, Look, Spaces, check_names, imported_name, same, why_not_made
from interplay.record.exchange.playback import Taken
from interplay.record.exchange.pseudonyms import Pseudonyms
from interplay.record.exchange.writer import ExportError
from interplay.record.format import spaces
from interplay.record.format.schema import Owner, by_seat, frame_hash, of_column
from interplay.record.sealed.episode import Episode
from interplay.tasks import Task

FORMAT_VERSION = 1
Pictures = Literal["video", "images", "none"]
"""Form in which pictures are kept."""
NO_HASH = -1
_MAX_PIXELS = 8192
"""Largest height or width of a picture that is read, because a larger picture could claim too much memory."""


@dataclass(frozen=True)
class Description:
    """Facts that all episodes of a data set share.

    Attributes:
        action_spaces: Seat -> space.
        observation_space: Space of the environment's observations; None if they are its picture or hold texts.
        palette: Colours of pictures that consist of indices, uint8, shape (256, 3).
        height, width: Size of the pictures that agents see.
    """

    task: Task
    action_spaces: Mapping[str, gymnasium.Space]
    observation_space: gymnasium.Space | None
    palette: np.ndarray | None
    height: int
    width: int
    pictures: Pictures
    env_versions: Mapping[str, str]

    @classmethod
    def of(cls, episode: Episode, pictures: Pictures) -> Description:
        header = episode.header
        for space in header.action_spaces.values():
            if not is_numeric(space):
                raise ExportError(f"episode {episode.id}: {NOT_NUMERIC.format(space)}")
        observed = header.observation_space
        first = episode.observed[0].pixels.shape if header.view is not None else (header.height, header.width)
        return cls(
            task=episode.task,
            action_spaces=header.action_spaces,
            observation_space=observed if observed is not None and is_numeric(observed) else None,
            palette=header.palette,
            height=first[0],
            width=first[1],
            pictures=pictures,
            env_versions=header.env_versions,
        )

    def check(self, episode: Episode) -> None:
        """Check that an episode fits into the same data set: its spaces and pictures must be the same."""
        mine, its = self.to_json(), Description.of(episode, self.pictures).to_json()
        for name in ("action_spaces", "observation_space", "palette", "height", "width"):
            if mine[name] != its[name]:
                raise ExportError(
                    f"episode {episode.id} has another {name.replace('_', ' ')} than earlier episodes, but a data set has one\n"
                    "Choose episodes that are alike, by --where."
                )

    def to_json(self) -> dict[str, Any]:
        return {
            "format_version": FORMAT_VERSION,
            "task": self.task.to_json(),
            "task_hash": self.task.content_hash,
            "action_spaces": {seat: spaces.to_json(space) for seat, space in self.action_spaces.items()},
            "observation_space": None if self.observation_space is None else spaces.to_json(self.observation_space),
            "palette": None if self.palette is None else base64.b64encode(self.palette.tobytes()).decode(),
            "height": self.height,
            "width": self.width,
            "pictures": self.pictures,
            "env_versions": dict(self.env_versions),
        }

    @classmethod
    def read(cls, path: Path) -> Description:
        try:
            said = json.loads(path.read_text("utf-8"))
            if said["format_version"] != FORMAT_VERSION:
                raise ValueError(f"format_version is {said['format_version']}, and this release reads {FORMAT_VERSION}")
            palette = said["palette"]
            description = cls(
                task=Task.from_json(said["task"]),
                action_spaces={seat: spaces.from_json(space) for seat, space in said["action_spaces"].items()},
                observation_space=None if said["observation_space"] is None else spaces.from_json(said["observation_space"]),
                palette=None if palette is None else np.frombuffer(base64.b64decode(palette), np.uint8).reshape(256, 3),
                height=int(said["height"]),
                width=int(said["width"]),
                pictures=said["pictures"],
                env_versions=dict(said["env_versions"]),
            )
            if set(description.action_spaces) != set(description.task.seats):
                raise ValueError("its seats are not those of its task")
            if not (1 <= description.height <= _MAX_PIXELS and 1 <= description.width <= _MAX_PIXELS):
                raise ValueError(f"its pictures have {description.height} x {description.width} pixels")
        except (OSError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise RecordingError(
                f"{path} describes no data set that Interplay wrote: {error}\nExport it again, or fetch all its files."
            ) from error
        check_names(description.task)
        return description

    def column(self, name: str, seat: str) -> str:
        """Return the name of a seat's column: `action` if there is only one seat, else for example `action.left`."""
        return name if len(self.task.seats) == 1 else f"{name}.{seat}"


@dataclass(frozen=True)
class Rows:
    """The T steps and T + 1 observations of one episode.

    Attributes:
        actions: Seat -> numbers, shape (T, size).
        rewards: Seat -> float64, shape (T,).
        terminated, truncated: bool, shape (T,).
        owners: Seat -> T names; people have pseudonyms.
        observations: Observations that the environment returned, shape (T + 1, size), or None.
        frame_hashes: Hash of each picture that agents see, int64, shape (T + 1,); `NO_HASH` if a picture was not drawn.
        facts: Facts of the whole episode, as JSON values.
    """

    actions: Mapping[str, np.ndarray]
    rewards: Mapping[str, np.ndarray]
    terminated: np.ndarray
    truncated: np.ndarray
    owners: Mapping[str, Sequence[str]]
    observations: np.ndarray | None
    frame_hashes: np.ndarray
    facts: Mapping[str, Any]

    @property
    def num_steps(self) -> int:
        return len(self.terminated)


def walk(
    episode: Episode, description: Description, pseudonyms: Pseudonyms, show: Callable[[Frame], None] | None = None
) -> Rows:
    """Return the rows of an episode, and show its pictures one after the other.

    Args:
        show: Called with each of the T + 1 pictures that agents see. Without it, pictures are drawn only if neither
            their hashes nor the environment's observations are known: then only the pictures can prove a later replay.
    Raises:
        ExportError: If the episode does not fit the description, or its actions are not numbers.
    """
    description.check(episode)
    header, table = episode.header, episode.steps()
    steps = table.slice(0, episode.num_steps)
    recorded = table.column("frame_hash") if header.view is None and "frame_hash" in table.column_names else None
    if show is None and recorded is not None and not recorded.null_count:
        hashes = recorded.to_numpy().astype(np.int64)
    elif show is None and description.observation_space is not None:
        hashes = np.full(episode.num_steps + 1, NO_HASH)
    else:
        found = []
        for frame in episode.observed:
            found.append(frame_hash(frame.pixels))
            if show is not None:
                show(frame)
        hashes = np.array(found, np.int64)
    observed = None
    if description.observation_space is not None:
        observed = to_rows(description.observation_space, episode.raw_observations())
    return Rows(
        actions={seat: to_rows(space, episode.actions(seat)) for seat, space in header.action_spaces.items()},
        rewards={seat: episode.rewards(seat) for seat in header.seats},
        terminated=steps.column("terminated").to_numpy(),
        truncated=steps.column("truncated").to_numpy(),
        owners={seat: _owners(episode, seat, pseudonyms) for seat in header.seats},
        observations=observed,
        frame_hashes=hashes,
        facts=facts_of(episode, pseudonyms),
    )


def _owners(episode: Episode, seat: str, pseudonyms: Pseudonyms) -> list[str]:
    names = episode.steps().column(f"owner.{seat}").slice(0, episode.num_steps).to_pylist()
    shown = {name: pseudonyms.player(name, episode.header.owner_called(name).kind) for name in set(names)}
    return [shown[name] for name in names]


def facts_of(episode: Episode, pseudonyms: Pseudonyms) -> dict[str, Any]:
    return {
        "episode": episode.id,
        "task": episode.task_id,
        "task_hash": episode.task_hash,
        "seed": episode.seed,
        "outcome": episode.outcome,
        "created_at": episode.created_at.isoformat(),
        "num_steps": episode.num_steps,
        "score": episode.total_reward,
        "owners": {
            seat: {"name": pseudonyms.player(owner.name, owner.kind), "kind": owner.kind}
            for seat, owner in episode.header.owners.items()
        },
        "seats": [
            {
                "seat": held.seat,
                "actor": pseudonyms.player(held.actor, held.actor_kind),
                "actor_kind": held.actor_kind,
                "num_steps": held.num_steps,
                "score": held.total_reward,
            }
            for held in episode.seats
        ],
        "statistics": dict(episode.statistics),
    }


def brought(
    description: Description, rows: Rows, pictures: Callable[[], Iterable[Frame]] | None, *, are_exact: bool
) -> Brought:
    """Return an episode of a data set, to be proved or kept.

    Args:
        pictures: Reads the T + 1 pictures; None if the data set has no pictures.
        are_exact: Whether the pictures are exactly those that were seen; pictures of a video are not exact.
    Raises:
        RecordingError: If the rows do not fit the description.
    """
    task, facts = description.task, rows.facts
    name = str(facts.get("episode"))
    if not EPISODE_ID.fullmatch(name):
        raise RecordingError(f"an episode is called {name[:100]!r}, which is not an id\nExport it again.")
    try:
        steps = list(_steps(description, rows))
        if not steps or len(rows.frame_hashes) != len(steps) + 1:
            raise ValueError(f"it has {len(steps)} steps and {len(rows.frame_hashes)} observations; expected one more")
        observations = None
        if description.observation_space is not None and rows.observations is not None:
            observations = [by_seat(task.seats, from_row(description.observation_space, row)) for row in rows.observations]
        names = _names(rows)
        owners = {seat: Owner(names[said["name"]], str(said["kind"])) for seat, said in facts["owners"].items()}
        created_at, seed = datetime.fromisoformat(str(facts["created_at"])), int(facts["seed"])
    except (ValueError, KeyError, TypeError) as error:
        raise RecordingError(f"episode {name} cannot be read: {type(error).__name__}: {error}\nExport it again.") from error
    if observations is not None:
        assert description.observation_space is not None
        observed: dict[str, gymnasium.Space] = dict(by_seat(task.seats, description.observation_space))
    else:
        colours = () if _is_indexed(description, are_exact) else (3,)
        picture = gymnasium.spaces.Box(0, 255, (description.height, description.width, *colours), np.uint8)
        observed = dict.fromkeys(task.seats, picture)
    return Brought(
        id=name,
        task=task,
        seed=None if seed < 0 else seed,
        owners=owners,
        outcome=str(facts.get("outcome", "")),
        created_at=created_at,
        why_not=why_not_made(task) or ("its seed is not known" if seed < 0 else ""),
        steps=steps,
        observations=lambda: _seen(task, name, pictures) if observations is None else observations,
        look=lambda: _look(rows, description.observation_space),
        spaces=Spaces(gymnasium.spaces.Dict(dict(description.action_spaces)), gymnasium.spaces.Dict(observed)),
        palette=description.palette if pictures is not None and _is_indexed(description, are_exact) else None,
        pictures=None if observations is None else pictures,
    )


def _is_indexed(description: Description, are_exact: bool) -> bool:
    return are_exact and description.palette is not None


def _steps(description: Description, rows: Rows) -> Iterator[Taken]:
    names, seats = _names(rows), description.task.seats
    for step in range(rows.num_steps):
        yield Taken(
            {seat: from_row(space, rows.actions[seat][step]) for seat, space in description.action_spaces.items()},
            {seat: float(rows.rewards[seat][step]) for seat in seats},
            bool(rows.terminated[step]),
            bool(rows.truncated[step]),
            {seat: names[rows.owners[seat][step]] for seat in seats},
        )


def _names(rows: Rows) -> dict[str, str]:
    """Map each player's name in the data set to a name for this archive, where participants have other numbers."""
    kinds = {str(held["actor"]): str(held["actor_kind"]) for held in rows.facts["seats"]}
    kinds |= {str(said["name"]): str(said["kind"]) for said in rows.facts["owners"].values()}
    found = {*kinds, *(name for owners in rows.owners.values() for name in owners)}
    return {name: imported_name(str(name)[:100], kinds.get(name, "agent")) for name in found}


def _seen(task: Task, name: str, pictures: Callable[[], Iterable[Frame]] | None) -> list[Any]:
    if pictures is None:
        raise RecordingError(
            f"episode {name} cannot be played again, and the data set holds neither its pictures nor its observations\n"
            "Export it with pictures:  --pictures images"
        )
    return [dict.fromkeys(task.seats, frame.pixels) for frame in pictures()]


def _look(rows: Rows, space: gymnasium.Space | None) -> Look:
    """Return a function that compares a replay with the data set: the hash of its picture and any stored observation."""

    def look(env: PlayableEnv, observations: Any, step: int, ended: bool) -> bool:
        wanted = int(rows.frame_hashes[step])
        is_same = wanted == NO_HASH or frame_hash(env.view().pixels) == wanted
        if space is None or rows.observations is None:
            return is_same
        seen = of_column(env.task.seats, observations)
        return is_same and same(to_rows(space, [seen])[0], rows.observations[step])

    return look

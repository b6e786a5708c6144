"""Import Minari data sets: replay and prove each episode if possible, otherwise keep it as it is."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from interplay.envs.base import PlayableEnv
from interplay.envs.observation import pipeline
from interplay.errors import InterplayError
from interplay.record.archive import Archive
from interplay.record.datasets import minari_places as places
from interplay.record.datasets.minari_export import ENVIRONMENT
from interplay.record.errors import RecordingError
from interplay.record.exchange.importer import (
    EPISODE_ID,
    Brought,
    Imported,
    Importing,
    Spaces,
    check_names,
    imported_name,
    register_atari,
    same,
    why_not_made,
)
from interplay.record.exchange.playback import Taken
from interplay.record.format.schema import Owner
from interplay.record.gymnasium_task import task_of_spec, why_not_replayed
from interplay.tasks import Task

_MOST_PACKED = 1100
"""Upper limit of the bytes that one byte of a deflated file can stand for (RFC 1951: 1032)."""


def num_steps_in(place: str) -> int:
    return sum(int(places.metadata(folder).get("total_steps", 0)) for folder in places.find(place)[0])


def import_data_sets(archive: Archive, place: str, *, advance: Callable[[int], None] | None = None) -> Imported:
    """Import the episodes of every data set in a place. A second import adds nothing.

    Each seat of a game has its own data set. Episodes of different data sets are one game if they have the same original id.

    Args:
        place: An id, a data set's folder, or a folder of data sets.
    Raises:
        RecordingError: If there is no data set, or no episode can be made of any data set. No episode is entered in part.
    """
    places.require_minari()
    with Importing.to(archive) as importing:
        by_game: dict[tuple[str, str], dict[str, _Source]] = {}
        folders, refused = places.find(place)
        importing.result.refused.update(refused)
        for folder in folders:
            try:
                source = _Source(folder)
            except InterplayError as error:
                importing.result.refused[str(places.metadata(folder)["dataset_id"])] = str(error)
                continue
            version = source.id.rpartition("-v")[2] if len(source.task.seats) > 1 else source.id
            by_game.setdefault((source.task.content_hash, version), {})[source.seat] = source
        for sources in by_game.values():
            _import_game(importing, sources, advance)
    return importing.result


class _Source:
    """One data set, which holds one seat of a task; `RecordingError` if no episode can be made of it."""

    def __init__(self, folder: Path) -> None:
        from minari import MinariDataset

        said = places.metadata(folder)
        self.id = str(said["dataset_id"])
        if not {"observation_space", "action_space"} <= said.keys():
            raise RecordingError(
                "it does not state its spaces (as before Minari 0.4.3)\nWrite it again with a newer Minari first."
            )
        try:
            _check_sizes(folder, said)
            self.dataset = MinariDataset(folder)
        except (ValueError, KeyError, TypeError, AssertionError, NotImplementedError, ImportError, OSError) as error:
            raise RecordingError(f"Minari cannot read it: {error}\nFetch or export it again.") from error
        self.is_lossy = bool(said.get("jpeg_encoding", True))
        ours = said.get("interplay")
        self.is_ours = isinstance(ours, dict)
        self.palette: np.ndarray | None = None
        if isinstance(ours, dict):
            self._of_ours(ours)
        else:
            self._of_others(said)
        check_names(self.task)

    def _of_ours(self, ours: dict[str, Any]) -> None:
        try:
            self.task = Task.from_json(ours["task"])
            self.seat, self.observations = str(ours["seat"]), str(ours["observations"])
            frame_skip = int(ours["frame_skip"])
            if ours["palette"] is not None:
                self.palette = np.frombuffer(base64.b64decode(ours["palette"]), np.uint8).reshape(256, 3)
        except (KeyError, TypeError, ValueError) as error:
            raise RecordingError(f"its part about Interplay cannot be read: {error}\nExport it again.") from error
        if frame_skip != 1:
            raise RecordingError(
                f"the data set has only one decision for every {frame_skip} steps ({self.observations}), but an episode "
                "needs every step\n"
                "Export the episodes again with:  --observations pixels"
            )
        self.actor, self.why_not = "imported", why_not_made(self.task)

    def _of_others(self, said: dict[str, Any]) -> None:
        """Read a data set that another program wrote; its environment must be registered here."""
        spec = self.dataset.env_spec
        if spec is None:
            raise RecordingError("it does not say which environment it comes from, so no task can be made for it")
        register_atari(spec.id)
        if spec.id not in gymnasium.registry:
            needs = ", ".join(said.get("requirements", [])) or f"the package that brings {spec.id}"
            raise RecordingError(f"its environment {spec.id!r} is not registered here\nInstall what it needs first:  {needs}")
        self.why_not = why_not_replayed(spec)
        self.task = task_of_spec(spec, deterministic=not self.why_not)
        self.why_not = self.why_not or why_not_made(self.task)
        self.seat, self.observations = self.task.seats[0], ENVIRONMENT
        self.actor = str(said.get("algorithm_name") or self.id)[:100]


def _check_sizes(folder: Path, said: dict[str, Any]) -> None:
    """Refuse data whose stated size is larger than its file can hold; no data is read before this check."""
    import h5py

    def look(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.nbytes > (1 << 20) + _MOST_PACKED * (stored := item.id.get_storage_size()):
            raise ValueError(f"{name} has the shape {item.shape}, {item.nbytes:,} bytes, but only {stored:,} bytes are stored")

    held = sum(1 for _ in folder.glob(f"*/{places.METADATA}"))
    if (path := folder / "main_data.hdf5").exists():
        with h5py.File(path) as file:
            held = len(file)
            file.visititems(look)
    if not 0 <= (count := int(said["total_episodes"])) <= held:
        raise ValueError(f"it states {count:,} episodes, but holds {held:,}")


def _import_game(importing: Importing, sources: dict[str, _Source], advance: Callable[[int], None] | None) -> None:
    first = next(iter(sources.values()))
    if missing := [seat for seat in first.task.seats if seat not in sources]:
        for source in sources.values():
            importing.result.refused[source.id] = (
                f"it is the seat {source.seat} of a game, but there is no data set of {', '.join(missing)}\n"
                "Give the folder that holds the data sets of all seats."
            )
        return
    sources = {seat: sources[seat] for seat in first.task.seats}
    numbers = {seat: _numbers(source) for seat, source in sources.items()}
    for name in numbers[first.task.seats[0]]:
        num_steps = 0

        def read(name: str = name) -> Brought:
            nonlocal num_steps
            if any(name not in of_seat for of_seat in numbers.values()):
                raise RecordingError("not every seat has this episode; export all seats together")
            parts = {seat: _Part(source, numbers[seat][name]) for seat, source in sources.items()}
            num_steps = sum(part.num_steps for part in parts.values())
            return _brought(parts)

        if importing.take(f"{first.id} episode {name}", read) and advance is not None:
            advance(num_steps)


def _numbers(source: _Source) -> dict[str, int]:
    indices = [int(index) for index in source.dataset.episode_indices]
    if len(source.task.seats) == 1:
        return {str(index): index for index in indices}
    said = source.dataset.storage.get_episode_metadata(indices)
    return {str(one.get("interplay", {}).get("episode", index)): index for index, one in zip(indices, said, strict=True)}


class _Part:
    """One seat of one episode, in memory.

    Raises:
        RecordingError: If the episode has no step, or the number of observations is not the number of actions plus one.
    """

    def __init__(self, source: _Source, number: int) -> None:
        self.source = source
        self.number = number
        storage = source.dataset.storage
        self.said: dict[str, Any] = next(iter(storage.get_episode_metadata([number])))
        try:
            data = next(iter(storage.get_episodes([number])))
        except (OSError, KeyError, ValueError, TypeError, AssertionError) as error:
            raise RecordingError(f"it cannot be read: {error}\nFetch or export the data set again.") from error
        spaces = source.dataset.observation_space, source.dataset.action_space
        self.rewards = np.asarray(data["rewards"], np.float64)
        self.terminations, self.truncations = np.asarray(data["terminations"], bool), np.asarray(data["truncations"], bool)
        self.num_steps = len(self.rewards)
        self.observations = list(_values(spaces[0], data["observations"]))
        self.actions = list(_values(spaces[1], data["actions"]))
        if not self.num_steps:
            raise RecordingError("it has no step")
        if (len(self.observations), len(self.actions)) != (self.num_steps + 1, self.num_steps):
            raise RecordingError(
                f"it has {self.num_steps} rewards, {len(self.actions)} actions and {len(self.observations)} observations; "
                "expected as many actions as rewards and one observation more"
            )


def _values(space: gymnasium.Space, data: Any) -> Iterator[Any]:
    if isinstance(space, gymnasium.spaces.Dict):
        parts = {name: _values(part, data[name]) for name, part in space.spaces.items()}
        return (dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True))
    if isinstance(space, gymnasium.spaces.Tuple):
        return zip(*(_values(part, data[index]) for index, part in enumerate(space.spaces)), strict=True)
    if isinstance(space, gymnasium.spaces.Discrete):
        return (int(value) for value in data)
    if isinstance(space, gymnasium.spaces.Text):
        return iter(data)
    return (np.asarray(value, space.dtype) for value in data)


def _brought(parts: dict[str, _Part]) -> Brought:
    first = next(iter(parts.values()))
    source, said = first.source, first.said
    ours = said.get("interplay", {}) if source.is_ours else {}
    name = str(ours.get("episode", ""))
    if not EPISODE_ID.fullmatch(name):
        digest = hashlib.sha256(f"{source.id} {first.number}".encode())
        digest.update(first.rewards.tobytes() + json.dumps([str(action) for action in first.actions]).encode())
        name = f"minari-{digest.hexdigest()[:24]}"
    owners = {}
    for seat, part in parts.items():
        who = part.said.get("interplay", {}) if source.is_ours else {}
        kind = str(who.get("actor_kind", "agent"))
        actor = str(who.get("actor") or part.source.actor)[:100]
        owners[seat] = Owner(imported_name(actor, kind), kind)
    created = str(ours.get("created_at", ""))
    reason = source.why_not
    seed = said.get("seed")
    if seed is None or int(seed) < 0:
        reason, seed = reason or "the data set does not say its seed", None
    elif said.get("options"):
        reason = reason or "it was reset with options"
    elif (
        source.is_lossy
        and first.observations
        and isinstance(first.observations[0], np.ndarray)
        and first.observations[0].ndim > 1
    ):
        reason = reason or "its pictures are JPEG, so they are not exact"
    by_seat = {seat: part.source.dataset for seat, part in parts.items()}
    spaces = Spaces(
        gymnasium.spaces.Dict({seat: one.action_space for seat, one in by_seat.items()}),
        gymnasium.spaces.Dict({seat: one.observation_space for seat, one in by_seat.items()}),
    )
    steps = list(_steps(parts))
    seen = zip(*(part.observations for part in parts.values()), strict=True)
    observations = [dict(zip(parts, row, strict=True)) for row in seen]
    return Brought(
        id=name,
        task=source.task,
        seed=None if seed is None else int(seed),
        owners=owners,
        outcome=str(ours.get("outcome", "")),
        created_at=datetime.fromisoformat(created) if re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", created) else None,
        why_not=reason,
        steps=steps,
        observations=lambda: observations,
        look=lambda: _Seen(source.task, source.observations, observations),
        spaces=spaces,
        palette=source.palette,
    )


def _steps(parts: dict[str, _Part]) -> Iterator[Taken]:
    first = next(iter(parts.values()))
    if any(part.num_steps != first.num_steps for part in parts.values()):
        raise RecordingError("its seats have different numbers of steps; export all seats together")
    for step in range(first.num_steps):
        yield Taken(
            {seat: part.actions[step] for seat, part in parts.items()},
            {seat: float(part.rewards[step]) for seat, part in parts.items()},
            bool(first.terminations[step]),
            bool(first.truncations[step]),
        )


class _Seen:
    """Compares the observations of a replay, made by the data set's pipeline, with those of the data set.
    A pipeline gives all seats the same observation. Without a pipeline, the world's own observations are compared."""

    def __init__(self, task: Task, observations: str, seen: list[Any]) -> None:
        self._seats = task.seats
        self._pipeline = None if observations == ENVIRONMENT else pipeline(observations)
        self._seen = seen

    def __call__(self, env: PlayableEnv, observations: Any, step: int, ended: bool) -> bool:
        if self._pipeline is not None:
            frame = env.view()
            picture = self._pipeline.push(frame, ended=ended) if step else self._pipeline.reset(frame)
            observations = dict.fromkeys(self._seats, picture)
        return same(observations, self._seen[step])

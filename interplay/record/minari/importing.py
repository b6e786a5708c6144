"""Data sets of Minari to episodes: played again and proved where that is possible, otherwise kept as they are.

A file decides no code that runs: environments are made by ids that are registered here, never by the entry points it names.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from interplay.envs import make
from interplay.envs.base import EnvError, PlayableEnv
from interplay.envs.observation import pipeline
from interplay.errors import InterplayError
from interplay.record.archive import Archive
from interplay.record.errors import RecordingError
from interplay.record.gymnasium_task import task_of_spec, why_not_replayed
from interplay.record.minari import places
from interplay.record.minari.exporting import ENVIRONMENT
from interplay.record.minari.played_back import Held, PlayedBack
from interplay.record.recorder import Recorder
from interplay.record.schema import Owner
from interplay.record.sealed import Episode
from interplay.record.stepper import RecordedEpisode
from interplay.store import episodes as queries
from interplay.tables import is_name
from interplay.tasks import Task, builtin_suites

UNKNOWN_SEED = -1
"""Seed of an episode whose data set does not say it; no replay proves such a one."""
_EPISODE_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{7,63}")


@dataclass(frozen=True)
class Imported:
    """What `import_data_sets` did.

    Attributes:
        proved: Episodes that were played again and gave every observation, reward and end of the data set.
        kept: Id -> why it was not proved, of episodes that hold the observations of the data set.
        there_already: Ids that the catalogue had.
        refused: Data set, or data set and number of an episode -> why nothing was made of it.
    """

    proved: list[Episode] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    there_already: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def num_steps_in(place: str) -> int:
    """Steps of all data sets in a place.

    Raises:
        RecordingError: If there is none.
    """
    return sum(int(places.metadata(folder).get("total_steps", 0)) for folder in places.find(place))


def import_data_sets(archive: Archive, place: str, *, advance: Callable[[int], None] | None = None) -> Imported:
    """Make episodes of every data set in a place. Importing again adds nothing.

    The seats of a game are data sets of their own; they are put together by the ids of the episodes that they came from.

    Args:
        place: An id, a data set's folder, or a folder of data sets.
        advance: Called with numbers of steps that are done.
    Raises:
        RecordingError: If there is no data set, or nothing can be made of any; an episode is entered whole or not at all.
    """
    places.require_minari()
    result = Imported()
    by_game: dict[tuple[str, str], dict[str, _Source]] = {}
    for folder in places.find(place):
        try:
            source = _Source(folder)
        except InterplayError as error:
            result.refused[str(places.metadata(folder)["dataset_id"])] = str(error)
            continue
        version = source.id.rpartition("-v")[2] if len(source.task.seats) > 1 else source.id
        by_game.setdefault((source.task.content_hash, version), {})[source.seat] = source
    with tempfile.TemporaryDirectory(
        prefix=".import-", dir=archive.root
    ) as scratch:  # `repair` seals no half episode from here
        for sources in by_game.values():
            _import_game(archive, sources, Path(scratch), result, advance)
    if result.refused and not (result.proved or result.kept or result.there_already):
        raise RecordingError("\n".join(f"{name}: {reason}" for name, reason in result.refused.items()))
    return result


class _Source:
    """One data set: a seat of a task.

    Raises:
        RecordingError: If no episode can be made of it.
    """

    def __init__(self, folder: Path) -> None:
        from minari import MinariDataset

        said = places.metadata(folder)
        self.id = str(said["dataset_id"])
        if not {"observation_space", "action_space"} <= said.keys():
            raise RecordingError(
                "it does not say its spaces, as data sets of Minari before 0.4.3 may\nWrite it again with a newer Minari first."
            )
        try:
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
        if not all(map(is_name, [*self.task.id.split("/"), *self.task.seats])) or self.task.id.count("/") != 1:
            raise RecordingError(f"its task is called {self.task.id!r}; expected SUITE/NAME\nExport it again.")

    def _of_ours(self, ours: dict[str, Any]) -> None:
        """What Interplay wrote."""
        try:
            self.task = Task.from_json(ours["task"])
            self.seat, self.observations = str(ours["seat"]), str(ours["observations"])
            frame_skip = int(ours["frame_skip"])
            if ours["palette"] is not None:
                self.palette = np.frombuffer(base64.b64decode(ours["palette"]), np.uint8).reshape(256, 3)
        except (KeyError, TypeError, ValueError) as error:
            raise RecordingError(f"what it says about Interplay cannot be read: {error}\nExport it again.") from error
        if frame_skip != 1:
            raise RecordingError(
                f"it holds one decision in {frame_skip} steps ({self.observations}), and an episode has every step\n"
                "Export the episodes again with:  --observations pixels"
            )
        self.actor, self.why_not = "imported", _why_not_made(self.task)

    def _of_others(self, said: dict[str, Any]) -> None:
        """What any other program wrote: its environment must be known here."""
        spec = self.dataset.env_spec
        if spec is None:
            raise RecordingError("it does not say which environment it is of, so no task can be made of it")
        _register_atari(spec.id)
        if spec.id not in gymnasium.registry:
            needs = ", ".join(said.get("requirements", [])) or f"the package that brings {spec.id}"
            raise RecordingError(f"its environment {spec.id!r} is not registered here\nInstall what it needs first:  {needs}")
        self.why_not = why_not_replayed(spec)
        self.task = task_of_spec(spec, deterministic=not self.why_not)
        self.why_not = self.why_not or _why_not_made(self.task)
        self.seat, self.observations = self.task.seats[0], ENVIRONMENT
        self.actor = str(said.get("algorithm_name") or self.id)[:100]


def _why_not_made(task: Task) -> str:
    """Why the world of a task that a file brings is not made; empty where it is.

    Ids of modules, and options of the block world, may name code; a file that came from elsewhere must not.
    """
    module, _, name = task.env.name.rpartition(":")
    if task.env.backend == "gym":
        _register_atari(name)
        registered = gymnasium.registry.get(name)
        if registered is None or (module and module != str(registered.entry_point).partition(":")[0].partition(".")[0]):
            return f"{task.env.name} is not registered here"
        is_ours = name.startswith("interplay/")
        return f"{name} has other options" if is_ours and task.env.options.get("kwargs") != registered.kwargs else ""
    known = {task.content_hash for suite in builtin_suites() for task in suite.tasks}
    if task.content_hash in known or (task.env.backend in ("ale", "pettingzoo") and not module):
        return ""
    return f"a world of {task.env.id} is made for built-in tasks only"


def _register_atari(name: str) -> None:
    if name.startswith("ALE/"):
        with suppress(ModuleNotFoundError):
            import ale_py  # noqa: F401


@dataclass(frozen=True)
class _Facts:
    """What is known of one episode beside its steps."""

    id: str
    seed: int | None
    owners: Mapping[str, Owner]
    outcome: str
    created_at: datetime | None
    why_not: str


def _import_game(
    archive: Archive, sources: dict[str, _Source], scratch: Path, result: Imported, advance: Callable[[int], None] | None
) -> None:
    """The data sets of all seats of one task, episode by episode."""
    first = next(iter(sources.values()))
    if missing := [seat for seat in first.task.seats if seat not in sources]:
        for source in sources.values():
            result.refused[source.id] = (
                f"it is the seat {source.seat} of a game, and there is no data set of {', '.join(missing)}\n"
                "Give the folder that holds all of them."
            )
        return
    sources = {seat: sources[seat] for seat in first.task.seats}
    numbers = {seat: _numbers(source) for seat, source in sources.items()}
    with archive.database.read() as session:
        known = set(queries.episode_ids(session))
    for name in numbers[first.task.seats[0]]:
        label = f"{first.id} episode {name}"
        try:
            if any(name not in of_seat for of_seat in numbers.values()):
                raise RecordingError("not every seat has it; export all seats together")
            parts = {seat: _Part(source, numbers[seat][name]) for seat, source in sources.items()}
            facts = _facts(parts)
            if facts.id in known:
                result.there_already.append(facts.id)
            else:
                _import_one(archive, parts, facts, scratch, result)
            known.add(facts.id)
        except InterplayError as error:
            result.refused[label] = str(error)
            continue
        if advance is not None:
            advance(sum(part.num_steps for part in parts.values()))


def _numbers(source: _Source) -> dict[str, int]:
    """What an episode is called in the data sets of all seats -> its number in this one."""
    indices = [int(index) for index in source.dataset.episode_indices]
    if len(source.task.seats) == 1:
        return {str(index): index for index in indices}
    said = source.dataset.storage.get_episode_metadata(indices)
    return {str(one.get("interplay", {}).get("episode", index)): index for index, one in zip(indices, said, strict=True)}


class _Part:
    """One seat of one episode, in memory.

    Raises:
        RecordingError: If it has no step, or not one observation more than actions.
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
    """The values of a space one after the other, as environments give them."""
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


def _facts(parts: dict[str, _Part]) -> _Facts:
    """What the data sets say of an episode."""
    first = next(iter(parts.values()))
    source, said = first.source, first.said
    ours = said.get("interplay", {}) if source.is_ours else {}
    name = str(ours.get("episode", ""))
    if not _EPISODE_ID.fullmatch(name):
        digest = hashlib.sha256(f"{source.id} {first.number}".encode())
        digest.update(first.rewards.tobytes() + json.dumps([str(action) for action in first.actions]).encode())
        name = f"minari-{digest.hexdigest()[:24]}"
    owners = {}
    for seat, part in parts.items():
        who = part.said.get("interplay", {}) if source.is_ours else {}
        kind = str(who.get("actor_kind", "agent"))
        actor = str(who.get("actor") or part.source.actor)[:100]
        # A participant's number means somebody else in this data folder.
        owners[seat] = Owner(f"imported/{actor}" if kind == "human" and "/" not in actor else actor, kind)
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
        reason = reason or "its pictures are JPEG, and so not those that were seen"
    return _Facts(
        id=name,
        seed=None if seed is None else int(seed),
        owners=owners,
        outcome=str(ours.get("outcome", "")),
        created_at=datetime.fromisoformat(created) if re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", created) else None,
        why_not=reason,
    )


def _import_one(archive: Archive, parts: dict[str, _Part], facts: _Facts, scratch: Path, result: Imported) -> None:
    """Prove one episode, or keep it."""
    reason = facts.why_not
    if not reason:
        proved = _proved(archive, parts, facts, scratch)
        if isinstance(proved, Episode):
            result.proved.append(proved)
            return
        reason = proved
    first = next(iter(parts.values())).source
    held = list(_held(parts))
    action_space, observation_space = first.dataset.action_space, first.dataset.observation_space
    if len(parts) > 1:
        by_seat = {seat: part.source.dataset for seat, part in parts.items()}
        action_space = gymnasium.spaces.Dict({seat: one.action_space for seat, one in by_seat.items()})
        observation_space = gymnasium.spaces.Dict({seat: one.observation_space for seat, one in by_seat.items()})
    world = PlayedBack(first.task, action_space, observation_space, held, first.palette)
    played = RecordedEpisode(world, _recorder(archive, world, facts, scratch))
    episode = _record(archive, played, facts, held, None)
    assert isinstance(episode, Episode)
    result.kept[episode.id] = reason


def _held(parts: dict[str, _Part]) -> Iterator[Held]:
    """The steps of all seats together."""
    first = next(iter(parts.values()))

    def seen(step: int) -> Any:
        each = {seat: part.observations[step] for seat, part in parts.items()}
        return each if len(each) > 1 else each.popitem()[1]

    if any(part.num_steps != first.num_steps for part in parts.values()):
        raise RecordingError("its seats have different numbers of steps; export all seats together")
    yield Held(seen(0), {}, {}, False, False)
    for step in range(first.num_steps):
        yield Held(
            seen(step + 1),
            {seat: part.actions[step] for seat, part in parts.items()},
            {seat: float(part.rewards[step]) for seat, part in parts.items()},
            bool(first.terminations[step]),
            bool(first.truncations[step]),
        )


def _proved(archive: Archive, parts: dict[str, _Part], facts: _Facts, scratch: Path) -> Episode | str:
    """The episode as its replay recorded it; or why the replay is not the data set."""
    first = next(iter(parts.values())).source
    try:
        env = make(first.task)
    except EnvError as error:
        return str(error).splitlines()[0]
    try:
        if not env.deterministic:
            return f"{first.task.env.id} is not deterministic"
        played = RecordedEpisode(env, _recorder(archive, env, facts, scratch))
        return _record(archive, played, facts, list(_held(parts)), _Seen(env, first.observations))
    finally:
        env.close()


def _recorder(archive: Archive, env: PlayableEnv, facts: _Facts, scratch: Path) -> Recorder:
    seed = UNKNOWN_SEED if facts.seed is None else facts.seed
    return archive.recorder(
        env.task, env, seed=seed, owners=facts.owners, episode_id=facts.id, created_at=facts.created_at, folder=scratch
    )


class _Seen:
    """What a replay shows, by the pipeline of the data set; the same for all seats unless it is what the world returned."""

    def __init__(self, env: PlayableEnv, observations: str) -> None:
        self._env = env
        self._pipeline = None if observations == ENVIRONMENT else pipeline(observations)
        self._is_first = True

    def __call__(self, observation: Any, *, ended: bool) -> Any:
        if self._pipeline is None:
            return observation
        frame = self._env.view()
        picture = self._pipeline.reset(frame) if self._is_first else self._pipeline.push(frame, ended=ended)
        self._is_first = False
        return picture if len(self._env.task.seats) == 1 else dict.fromkeys(self._env.task.seats, picture)


def _record(archive: Archive, played: RecordedEpisode, facts: _Facts, held: list[Held], seen: _Seen | None) -> Episode | str:
    """Step a world through what is held and seal it; with `seen` the first difference ends it, and is returned."""
    assert played.recorder is not None
    try:
        observation, _ = played.start(UNKNOWN_SEED if facts.seed is None else facts.seed)
        for step, (now, coming) in enumerate(zip(held, chain(held[1:], [None]), strict=True)):
            if seen is not None and not _same(seen(observation, ended=coming is None), now.observation):
                return f"the replay shows another observation at step {step}"
            if coming is None:
                break
            if played.outcome is not None:
                return f"the replay ends at step {step}, the data set later"
            given = played.step(coming.actions)
            observation = given.observation
            if seen is None:
                continue
            if not _same(dict(given.rewards), dict(coming.rewards)):
                return f"the replay gives another reward at step {step}"
            is_last = step == len(held) - 2
            if given.terminated != coming.terminated or (
                given.truncated != coming.truncated and not (is_last and coming.truncated)
            ):
                return f"the replay ends otherwise at step {step}"
        outcome = played.outcome or "quit"
        if outcome != "terminated" and facts.outcome in ("quit", "left", "interrupted"):
            outcome = facts.outcome
        return archive.seal(played.recorder.finish(outcome))
    except InterplayError:
        raise
    except Exception as error:  # whatever a world says of an action that is not its own
        if seen is None:
            raise RecordingError(f"it cannot be recorded: {type(error).__name__}: {error}") from error
        return f"the world refuses it: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    finally:
        played.recorder.abandon()
        played.recorder.path.unlink(missing_ok=True)


def _same(first: Any, second: Any) -> bool:
    """Equality of values of a space, where NaN equals NaN."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(_same(first[name], second[name]) for name in first)
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    one, other = np.asarray(first), np.asarray(second)
    if one.shape != other.shape:
        return False
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f"))

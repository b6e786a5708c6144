"""Write episodes as Minari data sets: one data set for each seat, without loss, one episode after the other."""

from __future__ import annotations

import base64
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from interplay.envs.base import PlayableEnv
from interplay.envs.observation import observe, pipeline, pipeline_names
from interplay.errors import unknown_name
from interplay.files import write_json
from interplay.record.datasets.minari_places import METADATA, is_id, metadata, own_folder, require_minari
from interplay.record.exchange.pseudonyms import Pseudonyms
from interplay.record.exchange.writer import Advance, DataSet, Exported, ExportError, by_task, new_folder
from interplay.record.format.schema import by_seat
from interplay.record.format.spaces import is_void
from interplay.record.gymnasium_task import spec_of
from interplay.record.sealed.episode import Episode
from interplay.tasks import Task

if TYPE_CHECKING:
    from minari.dataset.minari_storage import MinariStorage

ENVIRONMENT = "environment"
"""Value of the option `observations`: export what the environment itself returned, if that is not its picture.
All other values are names of pipelines."""
_CHUNK_BYTES = 64_000_000
_STAND_IN = gymnasium.spaces.Discrete(1)
"""Placeholder for the observation space while a data set is written.
The space of pictures holds two numbers per pixel, and Minari reads and writes the description several times per episode."""


def export(
    episodes: Sequence[Episode],
    out: str,
    *,
    seat: str | None = None,
    observations: str = "pixels",
    pseudonyms: Pseudonyms,
    advance: Advance | None = None,
) -> Exported:
    """Write episodes as Minari data sets, one for each seat of each task.

    An episode has T + 1 observations and T actions. If the pipeline has only one decision in several steps, T counts decisions:
    the action is that of the decision's step, and the reward is the sum over the steps until the next decision.

    Args:
        out: A folder, for data sets `suite/task/seat-v0`; or an id in Minari's own folder, `name-v0`, for one task.
        observations: Name of a pipeline, for the observations of an agent in the player's place; or `environment`.
    Raises:
        ExportError: If the episodes make no data set, or one exists already; nothing is written then.
        NotFoundError: For an unknown seat or pipeline.
        RecordingError: If an episode cannot be read or a file cannot be written; complete data sets stay.
    """
    require_minari()
    if observations not in (known := [*pipeline_names(), ENVIRONMENT]):
        raise unknown_name("observations", observations, known)
    of_task, left_out = by_task(episodes)
    result = Exported(left_out=left_out)
    for dataset_id, root, task, its_seat in _plan(of_task, out, seat):
        with new_folder(root / dataset_id, dataset_id) as folder:
            writer = _Writer(folder / "data", dataset_id, its_seat, observations, pseudonyms)
            for episode in of_task[task.id]:
                writer.add(episode, advance)
                episode.close()
            writer.close()
        result.datasets.append(DataSet(dataset_id, root, task.id, its_seat, len(of_task[task.id]), writer.num_steps))
    return result


def _plan(of_task: dict[str, list[Episode]], out: str, seat: str | None) -> list[tuple[str, Path, Task, str]]:
    """Return id, root, task and seat of each data set; every mistake is found before anything is written."""
    plan = []
    named = is_id(out)
    if named and len(of_task) > 1:
        raise ExportError(
            f"--out {out} names one data set, but the episodes are of {len(of_task)} tasks: {', '.join(sorted(of_task))}\n"
            "Choose one with --task, or give a folder:  --out ./minari"
        )
    all_seats = {name for episodes in of_task.values() for name in episodes[0].task.seats}
    if seat is not None and seat not in all_seats:
        raise unknown_name("seat", seat, all_seats)
    for task_id, episodes in of_task.items():
        task = episodes[0].task
        for name in task.seats if seat is None else [one for one in task.seats if one == seat]:
            if not named:
                plan.append((f"{task_id}/{name}-v0", Path(out).resolve(), task, name))  # Minari fails on relative ones
                continue
            stem, _, version = out.rpartition("-v")
            plan.append((out if len(task.seats) == 1 else f"{stem}/{name}-v{version}", own_folder(), task, name))
    for dataset_id, root, _, _ in plan:
        if (root / dataset_id).exists():
            raise ExportError(
                f"the data set {dataset_id} is in {root} already, and is not replaced\n"
                f"Give another folder, or a new version:  --out {dataset_id.rpartition('-v')[0]}-v"
                f"{int(dataset_id.rpartition('-v')[2]) + 1}"
            )
    return plan


class _Writer:
    """Writes one data set; its spaces are known after the first observation."""

    def __init__(self, folder: Path, dataset_id: str, seat: str, observations: str, pseudonyms: Pseudonyms) -> None:
        self._folder = folder
        self._id = dataset_id
        self._seat = seat
        self._observations = observations
        self._pseudonyms = pseudonyms
        self._storage: MinariStorage | None = None
        self._space: gymnasium.Space | None = None
        self.num_steps = self._num_episodes = 0

    def add(self, episode: Episode, advance: Advance | None) -> None:
        from minari.data_collector import EpisodeBuffer

        decisions, find_space = _decisions(episode, self._seat, self._observations)
        times = np.array([*range(0, episode.num_steps, _frame_skip(self._observations)), episode.num_steps], np.int64)
        first = next(decisions)
        space = find_space()  # of pictures it is known with the first
        if self._storage is None:
            self._storage = self._open(episode, space)
        elif space != self._space:
            raise ExportError(
                f"episode {episode.id} has observations of {space}, but earlier episodes have observations of {self._space}\n"
                "Choose episodes whose pictures have one size, by --where."
            )
        storage = self._storage
        steps = _steps(episode, self._seat, times)
        infos = _infos(episode, times)
        num_steps, index = len(times) - 1, self._num_episodes
        size = first.nbytes if isinstance(first, np.ndarray) else 64
        at_once = max(1, min(num_steps, _CHUNK_BYTES // max(1, size)))
        action_space = episode.header.action_spaces[self._seat]
        for start in range(0, num_steps, at_once):
            stop = min(start + at_once, num_steps)
            seen_to = stop + (stop == num_steps)  # the last chunk brings the final observation
            seen = list(islice(decisions, seen_to - start - (start == 0)))
            seen = [first, *seen] if start == 0 else seen
            buffer = EpisodeBuffer(
                id=None if start == 0 else index,
                seed=episode.seed if start == 0 else None,
                observations=stacked(space, seen),
                actions=stacked(action_space, steps["actions"][start:stop]),
                infos={name: values[start:seen_to] for name, values in infos.items()},
                **{name: steps[name][start:stop] for name in ("rewards", "terminations", "truncations")},
            )
            storage.update_episodes([buffer])
            if advance is not None:
                advance(int(times[stop] - times[start]))
        storage.update_episode_metadata([_facts(episode, self._seat, self._pseudonyms) | {"total_steps": num_steps}], [index])
        self.num_steps += num_steps
        self._num_episodes += 1

    def close(self) -> None:
        from minari.serialization import serialize_space

        assert self._space is not None
        document = metadata(self._folder) | {"observation_space": serialize_space(self._space)}
        write_json(self._folder / METADATA, document, indent=None)

    def _open(self, episode: Episode, space: gymnasium.Space) -> MinariStorage:
        from minari import __version__
        from minari.dataset.minari_storage import MinariStorage

        header, task = episode.header, episode.task
        palette = header.palette if self._observations == "pixels" else None
        self._space = space
        for kind, one in (("an observation", space), ("an action", header.action_spaces[self._seat])):
            if said := _not_held(one):
                raise ExportError(f"{task.id}: {kind} has a part {said}\nExport it to another format:  --format hugging-face")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of environments that JSON cannot hold: then there is none in the data set
            storage = MinariStorage.new(
                self._folder, _STAND_IN, header.action_spaces[self._seat], spec_of(task), jpeg_encoding=False
            )
        storage.update_metadata(
            {
                "dataset_id": self._id,
                "minari_version": __version__,
                "description": f"{task.title}, seat {self._seat}, recorded with Interplay; observations: {self._observations}",
                "interplay": {
                    "task": task.to_json(),
                    "seat": self._seat,
                    "observations": self._observations,
                    "frame_skip": _frame_skip(self._observations),
                    "palette": None if palette is None else base64.b64encode(palette.tobytes()).decode(),
                    "env_versions": dict(header.env_versions),
                },
            }
        )
        return storage


def _frame_skip(observations: str) -> int:
    return 1 if observations == ENVIRONMENT else pipeline(observations).frame_skip


def _decisions(episode: Episode, seat: str, observations: str) -> tuple[Iterator[Any], Callable[[], gymnasium.Space]]:
    """Return an iterator of the observations, and a function that returns their space after the first observation."""
    header = episode.header
    if observations == ENVIRONMENT:
        if header.observation_space is None:
            raise ExportError(
                f"episode {episode.id}: {episode.env}'s observations are its pictures\nExport it with:  --observations pixels"
            )
        space = by_seat(header.seats, header.observation_space)[seat]
        return (by_seat(header.seats, value)[seat] for value in episode.raw_observations()), lambda: space
    view = pipeline(observations)
    frames = episode.observed
    if seat != header.seats[0] and not _one_view(episode):
        raise ExportError(
            f"episode {episode.id}: a recording of {episode.env} keeps only what its first seat saw, {header.seats[0]}\n"
            f"Export that seat:  --seat {header.seats[0]}"
        )
    return (picture for _, picture in observe(view, frames)), view.space


def _one_view(episode: Episode) -> bool:
    from interplay.envs import make

    with closing(make(episode.task)) as env:
        return type(env).view_of is PlayableEnv.view_of


def _not_held(space: gymnasium.Space) -> str:
    """Describe the first part of a space that Minari does not preserve; the text is empty if there is no such part."""
    is_dict = isinstance(space, gymnasium.spaces.Dict)
    if is_void(space) or (is_dict and not all(isinstance(key, str) for key in space.spaces)):
        return f"in {space}, which Minari's files cannot hold"
    parts: Any = space.spaces if isinstance(space, gymnasium.spaces.Dict | gymnasium.spaces.Tuple) else ()
    for key, part in parts.items() if isinstance(parts, dict) else enumerate(parts):
        if "/" in str(key) or key in ("", "."):
            return f"called {key!r}, and in Minari's files such a name is a folder"
        if said := _not_held(part):
            return said
    return ""


def stacked(space: gymnasium.Space, values: Any) -> Any:
    if isinstance(space, gymnasium.spaces.Dict):
        return {name: stacked(part, [value[name] for value in values]) for name, part in space.spaces.items()}
    if isinstance(space, gymnasium.spaces.Tuple):
        return tuple(stacked(part, [value[index] for value in values]) for index, part in enumerate(space.spaces))
    if isinstance(space, gymnasium.spaces.Text):
        return [str(value) for value in values]
    return np.asarray(values, space.dtype)


def _steps(episode: Episode, seat: str, times: np.ndarray) -> dict[str, Any]:
    table = episode.steps().slice(0, episode.num_steps)
    starts = times[:-1]
    rewards = episode.rewards(seat)
    native = len(starts) == len(rewards)
    return {
        "actions": episode.actions(seat)[starts],
        "rewards": rewards if native else np.add.reduceat(rewards, starts),
        "terminations": np.logical_or.reduceat(table.column("terminated").to_numpy(), starts),
        "truncations": np.logical_or.reduceat(table.column("truncated").to_numpy(), starts),
    }


def _infos(episode: Episode, times: np.ndarray) -> dict[str, Any]:
    """Map each name to T + 1 values: integers, booleans, texts, or floats (NaN for a missing number); else JSON text."""
    texts = episode.steps().column("info").to_pylist()
    rows = [json.loads(texts[step]) for step in times]
    names = dict.fromkeys(name for row in rows for name in row)
    result: dict[str, Any] = {}
    for name in names:
        values = [row.get(name) for row in rows]
        kinds = {type(value) for value in values}
        kept_name = name.replace("/", "|")  # a slash would make a folder in HDF5
        if kinds == {bool} or kinds == {int}:
            result[kept_name] = np.array(values)
        elif kinds <= {int, float, type(None)}:
            result[kept_name] = np.array([np.nan if value is None else value for value in values], np.float64)
        elif kinds == {str}:
            result[kept_name] = values
        else:
            result[kept_name] = ["" if value is None else json.dumps(value) for value in values]
    return result


def _facts(episode: Episode, seat: str, pseudonyms: Pseudonyms) -> dict[str, Any]:
    """Return facts of an episode as attributes of its group; Minari reads the slashes in names as nested tables."""
    held = next(one for one in episode.seats if one.seat == seat)
    facts = {
        "interplay/episode": episode.id,
        "interplay/actor": pseudonyms.player(held.actor, held.actor_kind),
        "interplay/actor_kind": held.actor_kind,
        "interplay/outcome": episode.outcome,
        "interplay/created_at": episode.created_at.isoformat(),
    }
    return facts | {f"statistics/{name.replace('/', '|')}": value for name, value in episode.statistics.items()}

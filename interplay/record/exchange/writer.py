"""Write data sets of any format: choose their episodes, and let a folder appear only when it is complete."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from interplay.errors import MisuseError
from interplay.files import part_of, to_disk
from interplay.record.errors import RecordingError
from interplay.record.sealed.episode import Episode
from interplay.store.releases import content_hash

Advance = Callable[[int], None]
"""Function that is called with numbers of finished steps."""


class ExportError(RecordingError, MisuseError):
    """The requested export is not possible."""


@dataclass(frozen=True)
class DataSet:
    """One data set that was written.

    Attributes:
        id: Its path below `root`.
        seat: The only seat that it holds; empty if it holds all seats.
        is_new: Whether it was written now; False if the same data set existed.
    """

    id: str
    root: Path
    task: str
    seat: str
    num_episodes: int
    num_steps: int
    is_new: bool = True


@dataclass(frozen=True)
class Exported:
    """Result of an export: the data sets, and for each episode that is in no data set: id -> reason."""

    datasets: list[DataSet] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def by_task(episodes: Sequence[Episode]) -> tuple[dict[str, list[Episode]], dict[str, str]]:
    """Group episodes by task id, sorted; also return id -> reason for the episodes that no data set can hold.

    Raises:
        ExportError: If no episode is left, or the episodes of a task belong to several versions of the task.
    """
    found: dict[str, list[Episode]] = {}
    left_out: dict[str, str] = {}
    for episode in episodes:
        if reason := _why_left_out(episode):
            left_out[episode.id] = reason
        else:
            found.setdefault(episode.task_id, []).append(episode)
    if not found:
        raise ExportError("there is no episode with a step to export\nSee what there is:  interplay episodes list")
    for task_id, of_task in found.items():
        versions = {episode.task_hash for episode in of_task}
        if len(versions) > 1:
            raise ExportError(
                f"the episodes of {task_id} are of {len(versions)} versions of the task, but a data set has one environment\n"
                f"Choose one version:  --where 'task_hash = {sorted(versions)[0]}'"
            )
    return dict(sorted(found.items())), left_out


def _why_left_out(episode: Episode) -> str:
    if episode.is_video_only:
        return "it is only a video: nothing was recorded step by step"
    return "" if episode.num_steps else "it has no step"


@contextmanager
def new_folder(target: Path, name: str) -> Iterator[Path]:
    """Yield a temporary folder for a data set. It becomes `target` when the block ends, or is removed if the block raises."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = part_of(target)
        try:
            part.mkdir()
            yield part
            for path in part.rglob("*"):
                to_disk(path)
            part.rename(target)
            to_disk(target.parent)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise RecordingError(
            f"cannot write the data set {name} to {target.parent}: {error.strerror or error}\n"
            "Nothing of it is left; the episodes are safe. Give another place with --out, or free some space."
        ) from error


def write_each(
    episodes: Sequence[Episode], out: str, settings: object, document: str, write: Callable[[Path, list[Episode], str], int]
) -> Exported:
    """Write a data set for each task, `OUT/suite/task/`, one after the other. If one fails, the earlier ones stay.

    A stopped export continues when it is called again: an existing data set made from the same episodes is not written again.

    Args:
        document: The file in a data set whose `made_of` identifies its content.
        write: Writes episodes to a new folder, together with the value of `made_of`, and returns the number of steps.
    Raises:
        ExportError: If the episodes make no data set, or other data is in its place; nothing is written then.
    """
    of_task, left_out = by_task(episodes)
    places = {task_id: Path(out).resolve() / task_id for task_id in of_task}
    made = {task_id: _made_of(of_task[task_id], settings) for task_id in places}
    there = {task_id for task_id, place in places.items() if place.exists()}
    for task_id in there:
        if _said_of(places[task_id] / document) != made[task_id]:
            raise ExportError(
                f"{places[task_id]} is there already, and is not replaced\nGive another folder for {task_id}:  --out FOLDER"
            )
    result = Exported(left_out=left_out)
    for task_id, place in places.items():
        its_episodes = of_task[task_id]
        num_steps = sum(episode.num_steps for episode in its_episodes)
        if task_id not in there:
            with new_folder(place, task_id) as folder:
                num_steps = write(folder, its_episodes, made[task_id])
        its = DataSet(place.name, place.parent, task_id, "", len(its_episodes), num_steps, task_id not in there)
        result.datasets.append(its)
    return result


def _made_of(episodes: Sequence[Episode], settings: object) -> str:
    """Return the hash that identifies a data set by its episodes and by the settings of the export."""
    of_episodes = content_hash((episode.id, episode.sha256 or "") for episode in episodes)
    return hashlib.sha256(f"{of_episodes} {settings}".encode()).hexdigest()


def _said_of(document: Path) -> str | None:
    try:
        return str(json.loads(document.read_text("utf-8"))["made_of"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None

"""Read folders of videos, `<task>/seed_<n>.mp4`: find the task and seed of each file, and the faults of all other files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from interplay.errors import unknown_name
from interplay.tasks import Task
from interplay.tasks.task import published_names

_SEED_FILE = re.compile(r"seed_(-?\d+)\.mp4")
_OTHER_VIDEOS = frozenset({".avi", ".gif", ".m4v", ".mkv", ".mov", ".mpeg", ".mpg", ".ogv", ".webm", ".wmv"})
_MAX_LISTED = 6


@dataclass(frozen=True)
class FoundVideo:
    """A video file, with the task and the seed that its path names."""

    task: Task
    seed: int
    path: Path


@dataclass
class Found:
    """Contents of a folder: videos, problems, and notes on ignored files."""

    videos: list[FoundVideo] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def task_names(tasks: Iterable[Task]) -> dict[str, Task]:
    """Map each accepted name to its task: the full id, the short name if only one task has it, and published BASALT names."""
    all_tasks = list(tasks)
    names: dict[str, Task] = {}
    by_name: defaultdict[str, list[Task]] = defaultdict(list)
    for task in all_tasks:
        names[task.id] = task
        by_name[task.name].append(task)
        names |= dict.fromkeys(published_names(task), task)
    return names | {name: same[0] for name, same in by_name.items() if len(same) == 1}


def find_videos(folder: Path, names: Mapping[str, Task]) -> Found:
    """Find the videos `folder/<task>/seed_<n>.mp4`. `names` is from `task_names`; a slash in an id means a nested folder."""
    found = Found()
    if not folder.is_dir():
        found.problems.append(f"{folder}: no such folder\nGive the folder that holds one folder for each task.")
        return found
    suites = {task.suite for task in names.values()}
    others: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if not path.is_dir():
            if path.suffix.lower() == ".mp4" or path.suffix.lower() in _OTHER_VIDEOS:
                found.problems.append(
                    f"{path}: lies beside the folders of the tasks\nMove it to {folder}/TASK/seed_<number>.mp4."
                )
            else:
                others.append(path)
        elif path.name in names:
            _look_into(path, names[path.name], found, others)
        elif path.name in suites and any(part.is_dir() for part in path.iterdir()):
            for part in sorted(path.iterdir()):
                if part.is_dir():
                    _known_or_problem(part, f"{path.name}/{part.name}", names, found, others)
                elif not part.name.startswith("."):
                    others.append(part)
        else:
            _known_or_problem(path, path.name, names, found, others)
    _check_seeds(found)
    if others:
        listed = ", ".join(str(path.relative_to(folder)) for path in others[:_MAX_LISTED])
        more = f" and {len(others) - _MAX_LISTED} more" if len(others) > _MAX_LISTED else ""
        found.notes.append(f"not videos, ignored: {listed}{more}")
    return found


def _known_or_problem(path: Path, name: str, names: Mapping[str, Task], found: Found, others: list[Path]) -> None:
    if name in names:
        _look_into(path, names[name], found, others)
        return
    short = [one for one in names if not one.startswith("MineRL") or name.startswith("MineRL")]
    error = unknown_name("task", name, short, hint="All tasks:  interplay tasks list; tasks of your own: --suite FILE.toml")
    found.problems.append(f"{path}: {error}")


def _look_into(folder: Path, task: Task, found: Found, others: list[Path]) -> None:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        match = _SEED_FILE.fullmatch(path.name)
        if match and path.is_file():
            found.videos.append(FoundVideo(task, int(match[1]), path))
        elif match:
            kind = "a folder" if path.is_dir() else "a link to nothing" if not path.exists() else "no file"
            found.problems.append(f"{path}: is {kind}, not a video\nPut the mp4 itself there.")
        elif path.suffix.lower() == ".mp4":
            found.problems.append(f"{path}: is not called seed_<number>.mp4\nName it after the seed on which it was made.")
        elif path.suffix.lower() in _OTHER_VIDEOS:
            found.problems.append(
                f"{path}: is not an mp4\nConvert it:  ffmpeg -i {path.name} -c:v libx264 -pix_fmt yuv420p -movflags +faststart "
                f"{path.stem}.mp4"
            )
        else:
            others.append(path)


def _check_seeds(found: Found) -> None:
    first: dict[tuple[str, int], Path] = {}
    for video in found.videos:
        held_out = video.task.held_out_seeds
        if video.seed not in held_out:
            listed = ", ".join(map(str, held_out[:20])) + (", ..." if len(held_out) > 20 else "")
            found.problems.append(f"{video.path}: {video.seed} is not a held-out seed of {video.task.id}\nHeld-out: {listed}.")
        other = first.setdefault((video.task.id, video.seed), video.path)
        if other != video.path:
            found.problems.append(f"{video.path}: {other} is of the same task and seed\nKeep one of them.")

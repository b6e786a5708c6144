"""What is in the starter set, and whether it is whole and of today's tasks."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from interplay.tasks import Task, builtin_suites, index

FOLDER = Path(__file__).parent
ANSWERS = FOLDER / "answers.csv"
"""Answers of programs about the set, and below results of scripted models, for the boards of a data folder without others."""
RUNS = FOLDER / "runs.json"
REMEDY = "Make it again:  python tools/make_starter.py"


@dataclass(frozen=True)
class Shipped:
    """One episode of the set: its recording and its film.

    Attributes:
        id: Of the episode, the same in every data folder.
        task, task_hash: The task, and the version of it that was played.
        agent: Who played; admitted to judging in this task.
        world: `blockworld.VERSION` it was played in; empty of other worlds.
        episode_sha256, episode_bytes, film_sha256, film_bytes: Of the two files.
    """

    id: str
    task: str
    task_hash: str
    agent: str
    seed: int
    num_steps: int
    world: str
    episode_sha256: str
    episode_bytes: int
    film_sha256: str
    film_bytes: int

    @property
    def recording(self) -> Path:
        """The sealed episode."""
        return FOLDER.joinpath("episodes", *self.task.split("/"), f"{self.id}.parquet")

    @property
    def film(self) -> Path:
        """The mp4."""
        return FOLDER / "films" / f"{self.id}.mp4"

    def to_json(self) -> dict[str, Any]:
        """Its entry in the manifest."""
        return asdict(self)

    def is_of(self, task: Task | None) -> bool:
        """Whether this is the version of the task that was played."""
        return task is not None and task.content_hash == self.task_hash

    def faults(self) -> list[str]:
        """What is wrong with its files, a line each; nothing where they are those that were made."""
        found = []
        for path, sha256 in ((self.recording, self.episode_sha256), (self.film, self.film_sha256)):
            if not path.exists():
                found.append(f"{path} is missing")
            elif hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
                found.append(f"{path} is not the file that was made")
        return found


@cache
def episodes() -> tuple[Shipped, ...]:
    """The set as its manifest lists it."""
    return read()


def read() -> tuple[Shipped, ...]:
    """As `episodes`, from the disk."""
    try:
        document = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    except FileNotFoundError:  # a checkout in which it was not made
        return ()
    return tuple(Shipped(**entry) for entry in document["episodes"])


def example(task_id: str) -> Shipped | None:
    """The episode that shows best what a task is about; None if there is none of it."""
    of_task = [shipped for shipped in episodes() if shipped.task == task_id]
    return next((shipped for shipped in of_task if shipped.agent == "scripted"), None)


def faults() -> list[str]:
    """What is wrong with the set, a line each: of other versions of the tasks, or not the files that were made."""
    tasks = index(builtin_suites())
    found = []
    for shipped in episodes():
        if not shipped.is_of(tasks.get(shipped.task)):
            found.append(f"{shipped.id} was played in another version of {shipped.task}. {REMEDY}")
        found += shipped.faults()
    return found

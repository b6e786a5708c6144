"""The starter set: episodes of the built-in agents that ship with the package, so that a new data folder is not empty.

`manifest.json` lists the episodes; `episodes/` holds the recordings, `films/` an mp4 of each. `answers.csv` and `runs.json`
are examples for leaderboards: only pages read them, and they never enter a database. `tools/make_starter.py` makes all these
files; run it again when a task, the world or a built-in agent changes.

>>> from interplay import starter
>>> sorted({shipped.agent for shipped in starter.episodes()} | {"random", "scripted"})
['random', 'scripted']
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from interplay.files import remove_parts, replacing
from interplay.record import Archive, Episode
from interplay.store import entrants as store
from interplay.store.episodes import episode_ids
from interplay.store.locks import lock
from interplay.tasks import Suite, Task, builtin_suites, index

FOLDER = Path(__file__).parent
ANSWERS = FOLDER / "answers.csv"
"""Example answers by programs (here) and example runs of models (`RUNS`), for the pages of data folders that have none."""
RUNS = FOLDER / "runs.json"
EXAMPLES = "examples"
"""Name of a file that `enter` makes in a data folder; with it, pages show example answers and runs until real ones exist."""
REMEDY = "Make it again:  python tools/make_starter.py"


@dataclass(frozen=True)
class Shipped:
    """One episode of the set: its recording and its film.

    Attributes:
        id: Id of the episode, which is the same in every data folder.
        task, task_hash: Id of the task, and hash of the version that was played.
        agent: Name of the agent that played; `enter` admits it to judging in this task.
        world: `blockworld.VERSION` when it was played; empty for other worlds.
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
        return FOLDER.joinpath("episodes", *self.task.split("/"), f"{self.id}.parquet")

    @property
    def film(self) -> Path:
        return FOLDER / "films" / f"{self.id}.mp4"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def is_of(self, task: Task | None) -> bool:
        return task is not None and task.content_hash == self.task_hash

    def faults(self) -> list[str]:
        """Return the faults of both files (missing or changed), one line for each."""
        found = []
        for path, sha256 in ((self.recording, self.episode_sha256), (self.film, self.film_sha256)):
            if not path.exists():
                found.append(f"{path} is missing")
            elif hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
                found.append(f"{path} has changed since it was made")
        return found


@cache
def episodes() -> tuple[Shipped, ...]:
    return read()


def read() -> tuple[Shipped, ...]:
    """Read the list of episodes from the disk; `episodes` keeps this list in memory."""
    try:
        document = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    except FileNotFoundError:  # a checkout in which it was not made
        return ()
    return tuple(Shipped(**entry) for entry in document["episodes"])


def example(task_id: str) -> Shipped | None:
    """Return the episode that shows best what a task is about; None if the set has none."""
    of_task = [shipped for shipped in episodes() if shipped.task == task_id]
    return next((shipped for shipped in of_task if shipped.agent == "scripted"), None)


def faults() -> list[str]:
    """Return the faults of the set, one line for each: episodes of old versions of tasks, and changed or missing files."""
    tasks = index(builtin_suites())
    found = []
    for shipped in episodes():
        if not shipped.is_of(tasks.get(shipped.task)):
            found.append(f"{shipped.id} was played in another version of {shipped.task}. {REMEDY}")
        found += shipped.faults()
    return found


def enter(
    archive: Archive,
    suites: Iterable[Suite] | None = None,
    *,
    report: Callable[[Path], None] = lambda path: None,
) -> int:
    """Add the set's episodes to a data folder without other episodes, in tasks to which no agent was admitted or proposed.

    If the process is killed, the next call finishes the work: the catalogue gets all episodes in one transaction after the
    files are copied, and existing files are left as they are.

    Args:
        suites: Tasks on offer; by default the built-in tasks. Episodes of other versions of these tasks are left out.
    Returns:
        Number of episodes that were added.
    Raises:
        OSError: If a file cannot be written. Then no episode is added, and copied files are removed.
    """
    tasks = index(builtin_suites() if suites is None else suites)
    with archive.database.read() as session:
        if set(episode_ids(session)) - {shipped.id for shipped in episodes()}:
            return 0
        taken = {agent.task for agent in store.entrants(session)}
    new = [shipped for shipped in episodes() if shipped.is_of(tasks.get(shipped.task)) and shipped.task not in taken]
    if not new:
        return 0
    _copy(archive, new, report)
    with archive.database.write() as session:
        lock(session, "episode", *(shipped.id for shipped in new))
        now = datetime.now(UTC)
        for shipped in new:
            target = archive.episode_path(shipped.task, shipped.id)
            episode = replace(Episode.open(target), sha256=shipped.episode_sha256, size_bytes=shipped.episode_bytes)
            archive.enter(session, episode)
            episode.close()
        store.lock_name(session, *(shipped.agent for shipped in new))
        for name, task in sorted({(shipped.agent, shipped.task) for shipped in new}):
            store.admit(session, name=name, task=task, kind="agent", now=now)
    (archive.root / EXAMPLES).touch()
    return len(new)


def _copy(archive: Archive, new: list[Shipped], report: Callable[[Path], None]) -> None:
    """Copy the files, durably; existing files stay. If one cannot be written (OSError), remove all copies."""
    targets = {archive.episode_path(one.task, one.id): one.recording for one in new}
    targets |= {archive.video_place(one.id): one.film for one in new}
    placed: list[Path] = []
    try:
        for target, source in targets.items():
            remove_parts(target)  # of a start that was killed
            if target.exists():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target) as part:
                shutil.copyfile(source, part)
            placed.append(target)
            report(target)
        for target in targets:
            archive.put(target)
        archive.enter_videos(one.id for one in new)
    except OSError:
        for target in placed:
            target.unlink(missing_ok=True)
        raise

"""Add agents from folders of videos. All videos of a folder are checked first; then all of them are stored, or none."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.orm import Session

from interplay.errors import InterplayError
from interplay.judge.entrants.video_folder import FoundVideo, find_videos, task_names
from interplay.judge.entrants.video_staging import Placement, Progress, StagedVideo, UploadError, all_wrong, placing, stage
from interplay.record import Archive
from interplay.record.films.mp4 import Mp4, probe
from interplay.store import Database
from interplay.store import entrants as entrant_store
from interplay.store import uploads as store
from interplay.store.episodes import UPLOADED
from interplay.store.participants import GIVEN_NAME, is_given_name, one_spelling
from interplay.tasks import Suite, Task, builtin_suites, index
from interplay.wording import amount

__all__ = ["AddedAgent", "AddedTask", "UploadError", "add_agent", "add_video", "check_videos", "known_tasks"]


@dataclass(frozen=True)
class AddedTask:
    """Videos of an agent in one task, after an upload.

    Attributes:
        episodes: Seed -> id of the episode that was added.
        kept_seeds: Held-out seeds that had a video before the upload; the earlier video stays.
        missing_seeds: Held-out seeds without a video.
    """

    task: str
    episodes: Mapping[int, str]
    kept_seeds: tuple[int, ...] = ()
    missing_seeds: tuple[int, ...] = ()


@dataclass(frozen=True)
class AddedAgent:
    """Result of `add_agent`; `notes` are warnings."""

    name: str
    kind: str
    tasks: tuple[AddedTask, ...]
    notes: tuple[str, ...] = ()


def add_agent(
    archive: Archive,
    name: str,
    folder: Path,
    *,
    kind: str = "agent",
    description: str = "",
    suites: Iterable[Suite] | None = None,
    replace_missing: bool = False,
    on_progress: Progress = lambda what, done, total: None,
) -> AddedAgent:
    """Add an agent from its videos, `folder/<task>/seed_<n>.mp4`.

    Args:
        folder: Folder with one folder for each task; `video_folder.task_names` returns the names that a task's folder may have.
        kind: `agent`, `human`, `model`, or a more precise word such as `bc`.
        suites: Suites of the available tasks; None for the built-in suites. Tasks in the database are available, too.
        replace_missing: Add the missing videos of an existing agent, instead of refusing the agent. Existing videos stay.
    Raises:
        UploadError: If the name, the folder or a video has a fault; the text lists all faults. Nothing was stored.
    """
    name = _checked_name(name)
    tasks = known_tasks(archive.database, suites)
    with archive.database.read() as session:
        _refuse_taken_name(session, name, replace_missing=replace_missing)
    found = find_videos(folder, task_names(tasks.values()))
    problems = list(found.problems)
    checked, more = check_videos(found.videos, on_progress)
    problems += more
    if problems:
        raise all_wrong(folder, problems)
    if not checked:
        raise UploadError(
            f"there are no videos in {folder}\nName them {folder}/TASK/seed_<number>.mp4; TASK is, for example, FindCave."
        )
    staged = stage(archive, name, checked, on_progress)
    try:
        with archive.database.write() as session:
            entrant_store.lock_name(session, name)
            _refuse_taken_name(session, name, replace_missing=replace_missing)
            with placing(archive, session, name, kind, staged) as placed:
                there = {agent.task for agent in entrant_store.entrants(session, name=name)}  # these keep their kind and state
                for task in sorted({video.task.id for video in staged} - there):
                    now = datetime.now(UTC)
                    entrant_store.admit(
                        session, name=name, task=task, kind=kind, now=now, description=description, origin="upload"
                    )
        placed.finish(archive)
    finally:
        for video in staged:
            video.part.unlink(missing_ok=True)
    notes = [*found.notes, *_notes(checked)]
    return AddedAgent(name, kind, tuple(_added(archive, name, staged, placed)), tuple(notes))


def add_video(archive: Archive, task: Task, agent: str, seed: int, path: Path) -> str:
    """Add one video of an agent and return the id of its episode. Adding the same video again returns the same id.

    This does not admit the agent to the leaderboard.

    Raises:
        UploadError: If the seed is not held out, the name is invalid, or the seed has another video.
        RecordingError: If the video cannot be played by every browser.
    """
    agent = _checked_name(agent)
    if seed not in task.held_out_seeds:
        raise UploadError(
            f"{seed} is not a held-out seed of {task.id}; its held-out seeds: {', '.join(map(str, task.held_out_seeds[:20]))}\n"
            "Agents are compared on held-out seeds only."
        )
    checked = [(FoundVideo(task, seed, path), probe(path))]
    staged = stage(archive, agent, checked)
    try:
        with archive.database.write() as session:
            entrant_store.lock_name(session, agent)
            kinds = {row.kind for row in entrant_store.entrants(session, task.id, name=agent)}
            with placing(archive, session, agent, kinds.pop() if kinds else "agent", staged) as placed:
                if placed.kept and (task.id, seed) not in placed.episodes:
                    raise UploadError(
                        f"{agent} already has another video of seed {seed} of {task.id}, and it is not replaced\n"
                        "Add a changed agent under another name."
                    )
        placed.finish(archive)
    finally:
        staged[0].part.unlink(missing_ok=True)
    return placed.episodes[task.id, seed]


def known_tasks(database: Database, suites: Iterable[Suite] | None) -> dict[str, Task]:
    """Return all known tasks by id: the tasks of the suites, and other tasks in the database."""
    tasks = index(builtin_suites() if suites is None else suites)
    with database.read() as session:
        for task_id, definition in store.newest_definitions(session).items():
            if task_id not in tasks:
                tasks[task_id] = Task.from_json(definition)
    return tasks


def check_videos(
    found: Sequence[FoundVideo], on_progress: Progress = lambda what, done, total: None
) -> tuple[list[tuple[FoundVideo, Mp4]], list[str]]:
    """Read every video to its end. Return the playable videos with their facts, and the problems of the others."""
    checked, problems = [], []
    for number, video in enumerate(found):
        on_progress("checking videos", number, len(found))
        try:
            checked.append((video, probe(video.path)))
        except InterplayError as error:
            problems.append(str(error))
    on_progress("checking videos", len(found), len(found))
    return checked, problems


def _checked_name(name: str) -> str:
    name = one_spelling(name)
    if not is_given_name(name):
        raise UploadError(f"{name!r} cannot be an agent's name\nUse {GIVEN_NAME}.")
    return name


def _refuse_taken_name(session: Session, name: str, *, replace_missing: bool) -> None:
    taken = entrant_store.is_name_taken(session, name)
    is_same = bool(entrant_store.entrants(session, name=name)) or bool(store.episodes_of_agent(session, name))
    if not taken or (replace_missing and is_same):
        return
    if not is_same:
        raise UploadError(f"there is an agent whose name differs from {name!r} only in capital letters\nChoose another name.")
    tasks = sorted({agent.task for agent in entrant_store.entrants(session, name=name)})
    where = f" in {', '.join(tasks[:6])}{', ...' if len(tasks) > 6 else ''}" if tasks else ""
    raise UploadError(
        f"there is an agent {name!r} already{where}; its videos are not replaced, because they may have been judged\n"
        "Add a changed agent under another name, or add only the missing videos with --replace-missing."
    )


def _notes(checked: Sequence[tuple[FoundVideo, Mp4]]) -> list[str]:
    notes = []
    copies = [sha256 for sha256, count in Counter(facts.sha256 for _, facts in checked).items() if count > 1]
    if copies:
        twins = [str(video.path) for video, facts in checked if facts.sha256 == copies[0]]
        more = f"; {len(copies) - 1} other videos have several names, too" if len(copies) > 1 else ""
        notes.append(f"the same video has {len(twins)} names, {', '.join(twins[:4])}{more}")
    rates: defaultdict[tuple[str, float, float], int] = defaultdict(int)
    for video, facts in checked:
        if abs(facts.frame_rate_hz / video.task.frame_rate_hz - 1) > 0.02:
            rates[video.task.id, round(facts.frame_rate_hz, 2), video.task.frame_rate_hz] += 1
    for (task, rate, usual), count in rates.items():
        notes.append(
            f"{amount(count, 'video')} of {task}: {rate:g} frames a second where the task has {usual:g}; "
            "single steps on the judge page use the task's rate"
        )
    return notes


def _added(archive: Archive, name: str, staged: Sequence[StagedVideo], placed: Placement) -> list[AddedTask]:
    tasks = {video.task.id: video.task for video in staged}
    with archive.database.read() as session:
        rows = store.episodes_of_agent(session, name, list(tasks))
    have = {(row.task, row.seed) for row in rows if row.frames != UPLOADED or row.path}
    return [
        AddedTask(
            task_id,
            {
                seed: episode
                for (one, seed), episode in placed.episodes.items()
                if one == task_id and (one, seed) not in placed.kept
            },
            tuple(seed for one, seed in placed.kept if one == task_id),
            tuple(seed for seed in task.held_out_seeds if (task_id, seed) not in have),
        )
        for task_id, task in sorted(tasks.items())
    ]

"""Enter checked videos into the catalogue: all of them or none, even if the process is killed at any time.

Videos are first copied under temporary names. One transaction then gives the copies final names, computed from their content,
and enters them. If the process is killed before the end, unused files stay; the next attempt writes the same files.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from interplay.errors import InterplayError
from interplay.files import part_of
from interplay.judge.entrants.video_folder import FoundVideo
from interplay.record import Archive
from interplay.record.films.mp4 import Mp4, copy_to_stream
from interplay.store import EpisodeRow, TaskRow
from interplay.store import uploads as store
from interplay.store.episodes import ACTOR_KINDS, UPLOADED, add_task
from interplay.tasks import Task
from interplay.wording import amount

NO_WORLD = "video:none"
"""`EpisodeRow.env` of an upload, because the world of an uploaded video is unknown."""
_STALE_S = 3600.0
"""Age in seconds after which an unfinished copy counts as abandoned and is deleted."""

_MAX_PROBLEMS = 20

Progress = Callable[[str, int, int], None]
"""Function that is called with the name of the present step, the amount that is done, and the total amount."""


class UploadError(InterplayError):
    """Videos cannot be added; the text lists all faults."""


@dataclass(frozen=True)
class StagedVideo:
    """A video that was checked and copied into the data folder, but is not visible yet.

    Attributes:
        part: The copy, under its temporary name.
        source_sha256: Hash of the original file. The final name follows from it, so the same video gets the same name again.
    """

    task: Task
    seed: int
    part: Path
    facts: Mp4
    source_sha256: str


@dataclass
class Placement:
    """Result of placing staged videos.

    Attributes:
        episodes: Task id and seed -> id of the episode that has the video now.
        kept: Task id and seed of each entry that had a video already.
        new_files: Files with their final names; no entry refers to them before the transaction ends.
        later: (temporary copy, final path) of each file that is moved after the transaction.
        came: Ids of the episodes whose videos are shown after the transaction.
    """

    episodes: dict[tuple[str, int], str] = field(default_factory=dict)
    kept: list[tuple[str, int]] = field(default_factory=list)
    new_files: list[Path] = field(default_factory=list)
    later: list[tuple[Path, Path]] = field(default_factory=list)
    came: list[str] = field(default_factory=list)

    def finish(self, archive: Archive) -> None:
        """Move the videos of earlier entries to their final paths, and put all new ones into the store. Call this after the
        transaction."""
        for part, target in self.later:
            os.replace(part, target)
        for name in self.came:
            archive.keep_video(name)


def all_wrong(folder: Path, problems: Sequence[str]) -> UploadError:
    head = f"{folder} cannot be added, {amount(len(problems), 'thing')} to correct; nothing was stored:"
    shown = ["- " + problem.replace("\n", "\n  ") for problem in problems[:_MAX_PROBLEMS]]
    if len(problems) > _MAX_PROBLEMS:
        shown.append(f"... and {len(problems) - _MAX_PROBLEMS} more")
    return UploadError("\n".join([head, *shown]))


def stage(
    archive: Archive,
    agent: str,
    checked: Sequence[tuple[FoundVideo, Mp4]],
    on_progress: Progress = lambda what, done, total: None,
) -> list[StagedVideo]:
    """Copy videos into the data folder under temporary names.
    Raises UploadError if the disk has no room, RecordingError if a video cannot be copied."""
    media = archive.root / "media"
    _sweep(media)
    size, free = sum(facts.size_bytes for _, facts in checked), shutil.disk_usage(media).free
    if size > free:
        raise UploadError(
            f"the videos of {agent} need {size / 1e6:,.0f} MB, but {media} has {free / 1e6:,.0f} MB left; nothing was added\n"
            "Free some space, or choose another folder with --data."
        )
    staged: list[StagedVideo] = []
    try:
        for number, (video, facts) in enumerate(checked):
            on_progress("copying videos", number, len(checked))
            name = episode_id(video.task, agent, video.seed, facts.sha256)
            part = part_of(archive.video_place(name))
            copied = copy_to_stream(video.path, facts, part)
            staged.append(StagedVideo(video.task, video.seed, part, copied, facts.sha256))
    except BaseException:
        for video in staged:
            video.part.unlink(missing_ok=True)
        raise
    on_progress("copying videos", len(checked), len(checked))
    return staged


@contextmanager
def placing(archive: Archive, session: Session, agent: str, kind: str, staged: Sequence[StagedVideo]) -> Iterator[Placement]:
    """Enter staged videos of one agent into the catalogue, inside a write transaction that holds `lock`.

    A new entry gets its file at once, because nothing refers to the file until the transaction ends. An earlier entry without
    a video is visible already; it gets its file afterwards, by `Placement.finish`. If the block raises, new files are deleted.
    """
    placed = Placement()
    rows = store.episodes_of_agent(session, agent, {video.task.id for video in staged})
    there: defaultdict[tuple[str, int], list[EpisodeRow]] = defaultdict(list)
    for row in rows:
        if row.outcome != "interrupted":
            there[row.task_hash, row.seed].append(row)
    try:
        for video in staged:
            _place(archive, session, agent, kind, video, there[video.task.content_hash, video.seed], placed)
        yield placed
    except BaseException:
        for path in placed.new_files:
            path.unlink(missing_ok=True)
        raise


def _place(
    archive: Archive,
    session: Session,
    agent: str,
    kind: str,
    video: StagedVideo,
    rows: Sequence[EpisodeRow],
    placed: Placement,
) -> None:
    key = (video.task.id, video.seed)
    same = [row for row in rows if row.frames == UPLOADED and row.path and row.sha256 == video.facts.sha256]
    empty = [row for row in rows if row.frames == UPLOADED and not row.path]
    if same:
        placed.episodes[key] = same[0].id
        placed.kept.append(key)
        if not archive.videos_made([same[0].id], session):  # it was lost, or somebody was killed before `finish`
            placed.later.append((video.part, archive.video_place(same[0].id)))
            placed.came.append(same[0].id)
        return
    if len(rows) > len(empty):
        placed.kept.append(key)
        return
    add_task(session, task_row(video.task))
    name = empty[0].id if empty else episode_id(video.task, agent, video.seed, video.source_sha256)
    target = archive.video_place(name)
    placed.came.append(name)
    if empty:
        placed.later.append((video.part, target))
    else:
        placed.new_files.append(target)
        os.replace(video.part, target)
    own_kind = empty[0].actor_kind if empty else actor_kind(kind)
    values = episode_values(name, video.task, video.seed, agent, own_kind, datetime.now(UTC), video.facts)
    store.put_episode(session, EpisodeRow(**values, held_out=video.seed in video.task.held_out_seeds))
    placed.episodes[key] = name


def task_row(task: Task) -> TaskRow:
    return TaskRow(content_hash=task.content_hash, task=task.id, definition=task.to_json(), created_at=datetime.now(UTC))


def episode_id(task: Task, agent: str, seed: int, sha256: str) -> str:
    """Return the id of an uploaded episode. The same video gives the same id; `sha256` is empty if there is no video."""
    text = "\n".join((task.content_hash, agent, str(seed), sha256))
    return f"upload-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def episode_values(
    name: str, task: Task, seed: int, actor: str, kind: str, now: datetime, facts: Mp4 | None = None
) -> dict[str, Any]:
    """Return the columns of the `EpisodeRow` of an upload. Without `facts` the row says that its video is missing."""
    return {
        "id": name,
        "task": task.id,
        "task_hash": task.content_hash,
        "env": NO_WORLD,
        "seed": seed,
        "actor": actor,
        "actor_kind": kind,
        "num_steps": facts.num_frames - 1 if facts else 0,
        "duration_s": facts.duration_s if facts else 0.0,
        "total_reward": 0.0,
        "terminated": False,
        "truncated": False,
        "outcome": "unknown",
        "frames": UPLOADED,
        "created_at": now,
        "path": f"media/{name}.mp4" if facts else "",
        "size_bytes": facts.size_bytes if facts else 0,
        "sha256": facts.sha256 if facts else "",
    }


def actor_kind(kind: str) -> str:
    """Return the general kind of an actor for an agent's kind, which may be more precise (such as `bc`).

    >>> actor_kind("bc"), actor_kind("human")
    ('agent', 'human')
    """
    return kind if kind in ACTOR_KINDS else "agent"


def _sweep(media: Path) -> None:
    for path in media.glob(".upload-*.part"):
        try:
            if time.time() - path.stat().st_mtime > _STALE_S:
                path.unlink()
        except OSError:  # gone, or somebody else's
            continue

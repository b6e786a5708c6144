"""The archive: a data folder, its catalogue, and what moves episodes between them."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from interplay.envs.base import PlayableEnv
from interplay.errors import unknown_name
from interplay.record import catalogue, journal
from interplay.record.errors import RecordingError
from interplay.record.recorder import Recorder, new_header
from interplay.record.seal import seal
from interplay.record.sealed import Episode, no_video
from interplay.store import Database, EpisodeRow, TaskRow
from interplay.store import episodes as queries
from interplay.store.uploads import task_definitions, uploaded_files
from interplay.tasks import Task

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

MAX_COMPARED = 200
"""Ids an unknown one is compared with, at most: strangers may ask for any."""


def open(data: str | Path = "interplay-data", database: str | None = None) -> Archive:
    """Open a data folder, making it where it is missing.

    Args:
        data: The folder.
        database: SQLAlchemy address; SQLite inside the folder by default.
    Raises:
        StoreError: If the database cannot be opened.
        RecordingError: If the folder cannot be made.
    """
    root = Path(data)
    try:
        for name in ("journal", "episodes", "media", "models"):
            (root / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(
            f"cannot use {root} as a data folder: {error.strerror or error}.\nChoose another one with --data."
        ) from error
    return Archive(root, Database.open(database or f"sqlite:///{(root / 'interplay.db').resolve()}"))


@dataclass(frozen=True)
class Repair:
    """What `Archive.repair` did.

    Attributes:
        sealed: Episodes made from abandoned journals.
        catalogued: Sealed files entered into the catalogue.
        set_aside: Episode id -> why its journal was renamed: nothing in it can be read.
        failed: Episode id -> why it could not be sealed or entered; its file stays as it is.
        missing: Ids in the catalogue whose file is gone.
    """

    sealed: list[Episode] = field(default_factory=list)
    catalogued: list[Episode] = field(default_factory=list)
    set_aside: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


class Archive:
    """Episodes on disk and their catalogue; safe to share between threads.

    Attributes:
        root: The data folder: `journal/`, `episodes/`, `media/`, `models/`.
        database: The catalogue's database.
    """

    def __init__(self, root: Path, database: Database) -> None:
        self.root = root
        self.database = database

    def episodes(
        self,
        *,
        task: str | Task | None = None,
        actor: str | None = None,
        agent: str | None = None,
        seeds: Iterable[int] | None = None,
        outcome: str | None = None,
        where: Sequence[str] = (),
        task_hash: str | None = None,
        with_uploads: bool = False,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> list[Episode]:
        """Sealed episodes, oldest first; their files are opened when read.

        Args:
            task: Task id.
            actor: `human`, `agent` or `model` is a kind of actor, anything else a name.
            agent: Name of an agent or model.
            where: Comparisons over numbers and statistics, `score >= 200`; all must hold.
            task_hash: Only this version of the task.
            with_uploads: Also those that are a video only and have no steps (`Episode.is_video_only`).
        Raises:
            RecordingError: If a condition cannot be read.
            NotFoundError: If it names a value that no episode has.
        """
        with self.database.read() as session:
            names = queries.statistic_names(session) if where else []
            query = queries.EpisodeQuery(
                task=task.id if isinstance(task, Task) else task,
                task_hash=task_hash,
                actor=actor,
                agent=agent,
                seeds=None if seeds is None else list(seeds),
                outcome=outcome,
                where=[catalogue.parse_condition(text, names) for text in where],
                with_uploads=with_uploads,
                newest_first=newest_first,
                limit=limit,
            )
            rows = queries.find_episodes(session, query)
            tasks = self._uploaded_tasks(session, rows)
            return [catalogue.from_row(row, self.root, tasks.get(row.id)) for row in rows]

    def get(self, episode_id: str) -> Episode:
        """One episode by id, recorded here or a video only.

        Raises:
            NotFoundError: With the nearest id of the same day.
        """
        with self.database.read() as session:
            row = queries.get_episode(session, episode_id)
            if row is None:
                hint = "All episodes:  interplay episodes list --data " + str(self.root)
                same_day = queries.episode_ids(session, prefix=episode_id[:8], limit=MAX_COMPARED)
                raise unknown_name("episode", episode_id[:100], same_day, hint=hint)
            return catalogue.from_row(row, self.root, self._uploaded_tasks(session, [row]).get(row.id))

    def _uploaded_tasks(self, session: Session, rows: Sequence[EpisodeRow]) -> dict[str, Task]:
        """Id -> task, of those rows that are a video only; files of the others say it."""
        uploads = [row for row in rows if row.frames == queries.UPLOADED]
        definitions = task_definitions(session, {row.task_hash for row in uploads})
        tasks = {task_hash: Task.from_json(definition) for task_hash, definition in definitions.items()}
        return {row.id: tasks[row.task_hash] for row in uploads if row.task_hash in tasks}

    def recorder(
        self,
        task: Task,
        env: PlayableEnv,
        *,
        seed: int,
        actor: str,
        actor_kind: str,
        participant_id: int | None = None,
        session_id: str | None = None,
        episode_id: str | None = None,
    ) -> Recorder:
        """A recorder for one new episode; call its `start` after `env.reset(seed=seed)`.

        Args:
            task: The task of `env`.
            actor: Name of who sits in the first seat.
            actor_kind: `human`, `agent` or `model`.
        """
        if task.content_hash != env.task.content_hash:
            raise RecordingError(f"the environment plays {env.task.id}, not {task.id}; make it with interplay.envs.make(task)")
        if actor_kind not in queries.ACTOR_KINDS:
            raise RecordingError(f"actor_kind must be one of {', '.join(queries.ACTOR_KINDS)}, got {actor_kind!r}")
        header = new_header(
            env,
            episode=episode_id or new_episode_id(),
            seed=seed,
            actor=actor,
            actor_kind=actor_kind,
            participant_id=participant_id,
            session_id=session_id,
        )
        return Recorder(self.journal_folder / f"{header.episode}.0.arrows", env, header)

    @property
    def journal_folder(self) -> Path:
        """Where episodes are written while they run."""
        return self.root / "journal"

    def episode_path(self, task_id: str, episode_id: str) -> Path:
        """Where a sealed episode lies: `episodes/<suite>/<task>/<id>.parquet`."""
        return self.root.joinpath("episodes", *task_id.split("/"), f"{episode_id}.parquet")

    def seal(self, path: Path) -> Episode:
        """Turn a journal into a sealed episode in the catalogue; the journal is removed when both are safe.

        Args:
            path: Any segment of the journal.
        Raises:
            RecordingError: If it holds nothing, or the disk is full; the journal then stays.
        """
        paths = journal.segments(path.parent, journal.episode_of(path))
        if not paths:
            raise RecordingError(f"{path}: no such journal; perhaps it was sealed before:  interplay episodes list")
        with journal.claim(paths):
            header = journal.read_header(paths[0])
            target = self.episode_path(header.task.id, header.episode)
            target.parent.mkdir(parents=True, exist_ok=True)
            episode = seal(paths, target)
            self.catalogue(episode)
            for segment in reversed(paths):
                segment.unlink(missing_ok=True)
        return episode

    def catalogue(self, episode: Episode) -> None:
        """Enter a sealed episode into the database, or bring its entry up to date."""
        task = episode.task
        with self.database.write() as session:
            row = TaskRow(
                content_hash=episode.task_hash, task=episode.task_id, definition=task.to_json(), created_at=datetime.now(UTC)
            )
            queries.save_episode(session, catalogue.to_row(episode, self.root), row)

    def abandoned(self) -> list[str]:
        """Ids of episodes whose journal no running process writes."""
        ids = {journal.episode_of(path) for path in self.journal_folder.glob("*.arrows")}
        return sorted(name for name in ids if not any(map(journal.is_live, journal.segments(self.journal_folder, name))))

    def recover(self) -> list[Episode]:
        """Seal every abandoned journal as far as it can be read; ones that hold nothing readable stay where they are."""
        return self.repair(catalogue_files=False).sealed

    def repair(self, *, catalogue_files: bool = True) -> Repair:
        """Bring the folder in order after a crash: seal abandoned journals, enter files the catalogue does not know.

        Nothing is deleted: a journal in which no observation can be read is renamed to `<name>.unreadable`.

        Args:
            catalogue_files: Also look through `episodes/` for files without an entry, which is how a lost database is rebuilt.
        """
        result = Repair()
        for name in self.abandoned():
            paths = journal.segments(self.journal_folder, name)
            if not paths:  # sealed by someone else a moment ago
                continue
            try:
                result.sealed.append(self._seal_or_say(paths[0]))
            except RecordingError as error:
                if not catalogue_files or journal.holds_observations(paths):
                    result.failed[name] = str(error)
                    continue
                for path in paths:
                    path.rename(path.with_name(path.name + ".unreadable"))
                result.set_aside[name] = str(error)
        if catalogue_files:
            self._catalogue_files(result)
        return result

    def _seal_or_say(self, path: Path) -> Episode:
        """Seal; whatever a damaged journal makes a reader stumble over is a `RecordingError`, so that the others go on."""
        try:
            return self.seal(path)
        except RecordingError:
            raise
        except Exception as error:
            raise RecordingError(
                f"{path.name} is damaged and cannot be sealed: {type(error).__name__}: {error}\nIt stays as it is."
            ) from error

    def _catalogue_files(self, result: Repair) -> None:
        """Compare the files with the catalogue, both ways."""
        with self.database.read() as session:
            uploads = uploaded_files(session)
            known = set(queries.episode_ids(session)) - set(uploads)
        seen = set()
        for path in sorted((self.root / "episodes").rglob("*.parquet")):
            if path.name.startswith("."):
                continue
            seen.add(path.stem)
            if path.stem in known:
                continue
            try:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                episode = replace(_open_or_say(path), sha256=digest, size_bytes=path.stat().st_size)
                self.catalogue(episode)
            except RecordingError as error:
                result.failed[path.stem] = str(error)
            else:
                result.catalogued.append(episode)
        lost = {name for name, path in uploads.items() if path and not (self.root / path).exists()}
        result.missing.extend(sorted((known - seen) | lost))

    def video_path(self, episode_id: str) -> Path:
        """Where the mp4 of an episode lies once it is made."""
        return self.root / "media" / f"{episode_id}.mp4"

    def video(self, episode: Episode | str) -> Path:
        """The mp4 of an episode, made when missing.

        Raises:
            RecordingError: If it cannot be written; or if there is only the video of it, which is not here.
        """
        if isinstance(episode, str):
            episode = self.get(episode)
        path = self.video_path(episode.id)
        if not path.exists():
            if episode.is_video_only:
                raise no_video(episode)
            from interplay.record.export import write_mp4

            write_mp4(episode, path)
        return path

    def close(self) -> None:
        """Close the database's connections."""
        self.database.close()


def _open_or_say(path: Path) -> Episode:
    """Open a sealed file; whatever a damaged one makes a reader stumble over is a `RecordingError`."""
    try:
        return Episode.open(path)
    except RecordingError:
        raise
    except Exception as error:
        raise RecordingError(f"{path} is damaged: {type(error).__name__}: {error}\nIt stays as it is.") from error


def new_episode_id() -> str:
    """A fresh name that sorts by time: `20260131T120000-3f9c21ab`."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"

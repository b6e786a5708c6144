"""The archive: a data folder, its catalogue, and the functions that move episodes between the two."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from interplay.envs.base import PlayableEnv
from interplay.errors import InterplayError, unknown_name
from interplay.files import sha256_of
from interplay.record import catalogue, journal
from interplay.record.errors import OtherVersionError, RecordingError, SealError
from interplay.record.format.schema import Header, Owner
from interplay.record.recorder import Recorder, new_header
from interplay.record.sealed.episode import Episode
from interplay.record.sealed.seal import seal
from interplay.statistics import Collection, Measure, Sitting, Statistic, StatisticSpec, defaults, together, total
from interplay.store import Database, EpisodeRow, TaskRow, check_place, entrants, games
from interplay.store import episodes as queries
from interplay.store.locks import lock
from interplay.store.places import media
from interplay.store.places.blobs import BlobExistsError, Blobs, BlobsAddressError, BlobsError, check_blobs_address, open_blobs
from interplay.store.uploads import task_definitions, uploaded_files
from interplay.tasks import Task

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

DATABASE = "interplay.db"
"""File name of the catalogue in a data folder, unless another database is named."""
DESCRIPTIONS = ("model.json", "vpt.json")
"""A model in `models/NAME` is finished when it has one of these files."""
SITTING_GAP = timedelta(minutes=30)
"""If a player starts no game of a task for longer than this, the next game begins a new sitting."""
MAX_COMPARED = 200
"""At most so many ids are compared with an unknown id; strangers may ask for any id, so the comparison must be short."""


def open(data: str | Path = "interplay-data", database: str | None = None, blobs: str | None = None) -> Archive:
    """Open a data folder. A new folder gets mode 700 (for its owner alone); an existing folder keeps its mode.

    Args:
        database: SQLAlchemy address; SQLite inside the folder by default.
        blobs: Address of the S3-compatible store for episodes, films and models, such as `s3://BUCKET/PREFIX`. The database
            notes it, so that it need be given only once. By default the noted one, or the data folder.
    Raises:
        StoreError: If the database cannot be opened.
        BlobsError: If the store cannot be used, or the files are in another place.
        RecordingError: If the folder cannot be made.
    """
    root = Path(data)
    check_place(str(root.absolute()))
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("journal", "episodes", "media", "models"):
            (root / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(
            f"cannot use {root} as a data folder: {error.strerror or error}.\nChoose another one with --data."
        ) from error
    opened = Database.open(database or f"sqlite:///{(root / DATABASE).resolve()}")
    archive = Archive(root, opened, open_blobs(root, _blobs_address(opened, blobs)))
    if archive.blobs.address is None and next(_films_in(root / "media"), None) is not None:
        with opened.look() as session:
            has_rows = media.names_films(session)
        if not has_rows:  # a folder of an earlier release
            archive.find_videos()
    return archive


def _blobs_address(database: Database, given: str | None) -> str | None:
    """Return the address of the store that has the files of a database; the first address that is given is noted."""
    with database.look() as session:
        noted = media.blobs_address(session)
    if given is None:
        return noted
    given = check_blobs_address(given)
    if given == noted:
        return noted
    with database.write() as session:
        noted = media.blobs_address(session)
        if noted not in (None, given) or (noted is None and media.names_files(session)):
            raise BlobsAddressError(
                f"the files of this database are in {noted or 'its data folder'}, not in {given}\n"
                f"Leave --blobs out, or bring everything over:  interplay data move --blobs {given}"
            )
        media.note_blobs(session, given)
    return given


@dataclass(frozen=True)
class Repair:
    """Outcome of `Archive.repair`.

    Attributes:
        sealed: Episodes that were made from abandoned journals.
        catalogued: Episodes whose sealed files were missing in the catalogue and were entered.
        empty: Ids of episodes that ended before their first step; their journals were removed.
        set_aside: Episode id -> why its journal was renamed: no step in the journal can be read.
        failed: Episode id -> why the episode could not be sealed or entered; its file stays as it is.
        missing: Ids in the catalogue whose files are gone.
    """

    sealed: list[Episode] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    catalogued: list[Episode] = field(default_factory=list)
    set_aside: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


class Released(NamedTuple):
    """One part of the episodes that may be released (after an offset, up to a limit), and the number of all such episodes.
    `num_withheld` is the number of episodes that are left out because a person in them did not agree."""

    episodes: list[Episode]
    num_released: int
    num_withheld: int


class Archive:
    """Episodes on disk and their catalogue; safe to share between threads.
    `statistics` are computed in every episode recorded here, in addition to the statistics of its world and its task."""

    def __init__(self, root: Path, database: Database, blobs: Blobs | None = None) -> None:
        self.root = root
        self.database = database
        self.blobs = blobs or Blobs(root)
        self.statistics: tuple[StatisticSpec, ...] = ()
        self._made: set[str] = set()
        """Films that rows name; a row seldom goes away, so that each is read once."""

    def statistics_of(self, task: Task) -> tuple[StatisticSpec, ...]:
        """Return the statistics computed in a task's episodes: those of its world, of the task, and of this archive."""
        return together(defaults(task.env.id, takes_turns=task.takes_turns), task.statistics, self.statistics)

    def collected(self, task: Task) -> list[Statistic]:
        return Collection(self.statistics_of(task), task.setting, dict.fromkeys(task.seats, "")).statistics

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
        """Return sealed episodes, oldest first; each file is opened only when it is read.

        Args:
            actor: A kind of actor (`human`, `agent` or `model`) or an actor's name, in any seat.
            agent: Name of an agent or model in any seat.
            where: Conditions on numbers, statistics, seats, such as `score >= 200`, `seat.left.actor = random`; all must hold.
            task_hash: Only this version of the task.
            with_uploads: Whether to include episodes that are only a video, without steps (`Episode.is_video_only`).
        Raises:
            RecordingError: If a condition cannot be read.
            NotFoundError: If a condition names a value that no episode has.
        """
        with self.database.read() as session:
            query = queries.EpisodeQuery(
                task=task.id if isinstance(task, Task) else task,
                task_hash=task_hash,
                actor=actor,
                agent=agent,
                seeds=None if seeds is None else list(seeds),
                outcome=outcome,
                where=conditions(session, where),
                with_uploads=with_uploads,
                newest_first=newest_first,
                limit=limit,
            )
            return self._found(session, query)

    def released(
        self,
        *,
        ids: Sequence[str] | None = None,
        task: str | None = None,
        where: Sequence[str] = (),
        saved: tuple[str, int] | None = None,
        with_uploads: bool = False,
        limit: int | None = None,
        offset: int = 0,
    ) -> Released:
        """Return the episodes that may leave this data folder, oldest first: all people in them agreed, or no people played.

        All code that gives episodes to others calls this method. The database applies the rule, so no condition can avoid it.

        Args:
            saved: Name and version of a saved query; only its episodes are returned.
        Raises:
            RecordingError, NotFoundError: As `episodes`; NotFoundError also for an unknown id.
        """
        for name in ids or ():
            self.get(name)  # or a mistyped id would look like one that is withheld
        with self.database.read() as session:
            query = queries.EpisodeQuery(
                ids=ids, saved=saved, task=task, where=conditions(session, where), with_uploads=with_uploads
            )
            released = replace(query, released=True, limit=limit, offset=offset)
            num_released = queries.count_episodes(session, released)
            episodes = self._found(session, released)
            return Released(episodes, num_released, queries.count_episodes(session, query) - num_released)

    def _found(self, session: Session, query: queries.EpisodeQuery) -> list[Episode]:
        rows = queries.find_episodes(session, query)
        tasks = self._uploaded_tasks(session, rows)
        return [catalogue.from_row(row, self.blobs, tasks.get(row.id)) for row in rows]

    def tasks(self) -> list[str]:
        with self.database.read() as session:
            return queries.task_ids(session)

    def knows(self, task: Task) -> bool:
        with self.database.read() as session:
            return bool(task_definitions(session, [task.content_hash]))

    def get(self, episode_id: str) -> Episode:
        """Return the episode of this id, a recording or only a video. `NotFoundError` names the nearest id of the same day."""
        with self.database.read() as session:
            row = queries.get_episode(session, episode_id)
            if row is None:
                hint = "All episodes:  interplay episodes list --data " + str(self.root)
                same_day = queries.episode_ids(session, prefix=episode_id[:8], limit=MAX_COMPARED)
                raise unknown_name("episode", episode_id[:100], same_day, hint=hint)
            return catalogue.from_row(row, self.blobs, self._uploaded_tasks(session, [row]).get(row.id))

    def complete(self, episode_id: str) -> Episode | None:
        """Return the episode of this id if it was recorded to its end."""
        with self.database.read() as session:
            row = queries.get_episode(session, episode_id)
            return None if row is None or row.outcome == "interrupted" else catalogue.from_row(row, self.blobs)

    def _uploaded_tasks(self, session: Session, rows: Sequence[EpisodeRow]) -> dict[str, Task]:
        """Map the id of each row that is only a video to its task; the files of other episodes name their task themselves."""
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
        actor: str = "",
        actor_kind: str = "",
        participant_id: int | None = None,
        owners: Mapping[str, Owner] | None = None,
        experts: Mapping[str, str] = MappingProxyType({}),
        session_id: str | None = None,
        episode_id: str | None = None,
        created_at: datetime | None = None,
        folder: Path | None = None,
        attempt: str = "",
    ) -> Recorder:
        """Return a recorder for one new episode; call its `start` after `env.reset(seed=seed)`.

        Args:
            actor: Name of the owner, if one owner holds all seats; `actor_kind` and `participant_id` describe the same owner.
            actor_kind: `human`, `agent` or `model`.
            owners: Seat -> its owner; use it instead of `actor`.
            experts: Seat -> name of an agent that is asked at each step which action it would choose.
            created_at: Start of the episode, UTC; the current time by default.
            folder: Folder of the journal. `repair` seals only journals in `journal_folder`.
            attempt: Name of one of several attempts to record the same episode; each has its own journal.
        Raises:
            RecordingError: If the environment plays another task, or a seat has no owner.
        """
        if task.content_hash != env.task.content_hash:
            raise RecordingError(f"the environment plays {env.task.id}, not {task.id}; make it with interplay.envs.make(task)")
        if owners is None:
            owners = dict.fromkeys(task.seats, Owner(actor, actor_kind, participant_id))
        if owners.keys() != set(task.seats):
            raise RecordingError(
                f"task {task.id} has the seats {', '.join(task.seats)}; owners were given for {', '.join(owners) or 'none'}"
            )
        for owner in owners.values():
            if owner.kind not in queries.ACTOR_KINDS:
                raise RecordingError(f"actor_kind must be one of {', '.join(queries.ACTOR_KINDS)}, got {owner.kind!r}")
        header = new_header(
            env,
            episode=episode_id or new_episode_id(),
            seed=seed,
            owners=owners,
            session_id=session_id,
            created_at=created_at,
            statistics=self.statistics_of(task),
            experts=experts,
        )
        name = f"{header.episode}~{attempt}" if attempt else header.episode
        recorder = Recorder((folder or self.journal_folder) / f"{name}.0.arrows", env, header)
        recorder.collection.sittings = self.sittings(header)
        return recorder

    def sittings(self, header: Header) -> dict[str, Sitting]:
        """Map each seat to the games of the task that its person has played in this sitting before this episode."""
        found = {}
        for seat, owner in header.owners.items():
            if owner.participant_id is not None and header.statistics:
                sitting = self.sitting(header.task, owner.participant_id, at=header.created_at)
                if sitting.num_games:
                    found[seat] = sitting
        return found

    def sitting(self, task: Task, participant_id: int, *, at: datetime | None = None) -> Sitting:
        """Return a participant's games of a task in the sitting that includes the time `at` (now by default).
        Pauses between these games are not longer than `SITTING_GAP`. `sitting_values` computes statistics of the sitting."""
        with self.database.read() as session:
            games = queries.statistics_of_sitting(
                session, task=task.id, participant_id=participant_id, before=at or datetime.now(UTC), gap=SITTING_GAP
            )
            counts: dict[str, list[Mapping[str, float]]] = {}
            for row in (row for rows in games for row in rows):
                counts.setdefault(row.name, []).append(row.counts)
        alike = {name: [one for one in parts if one.keys() == parts[0].keys()] for name, parts in counts.items()}
        return Sitting(len(games), {name: total(parts) for name, parts in alike.items()})

    def sitting_values(self, task: Task, sitting: Sitting) -> dict[str, int | float | None]:
        return Collection(self.statistics_of(task), task.setting, dict.fromkeys(task.seats, "")).sitting_values(sitting)

    @property
    def journal_folder(self) -> Path:
        return self.root / "journal"

    def episode_path(self, task_id: str, episode_id: str) -> Path:
        """Path of a sealed episode: `episodes/<suite>/<task>/<id>.parquet`."""
        return self.root.joinpath("episodes", *task_id.split("/"), f"{episode_id}.parquet")

    def seal(self, path: Path, *, held_as: games.Lease | None = None) -> Episode:
        """Turn a journal into a sealed episode in the catalogue. The journal is removed when the file and the entry are safe;
        while a store does not answer, this waits up to ten minutes.
        If another attempt has recorded the episode to its end, that episode stays, and this journal is removed.

        If the journal is damaged, the part before the damage is sealed, and the journal's files are kept as `<name>.damaged`.

        Args:
            path: Any segment of the journal.
            held_as: How the server that seals holds the game; None for a journal that no running game has.
        Raises:
            RecordingError: If the journal holds no observation, the disk is full, or another server continues the game; the
                journal then stays.
            BlobsError: If the store did not take the file; the journal then stays.
        """
        paths = journal.segments(path.parent, journal.episode_of(path))
        if not paths:
            raise RecordingError(f"{path}: no such journal; perhaps it was sealed before:  interplay episodes list")
        with journal.claim(paths):
            header = journal.read_header(paths[0])
            target = self.episode_path(header.task.id, header.episode)
            target.parent.mkdir(parents=True, exist_ok=True)
            with self.database.read() as session:
                earlier = self._sealed_before(session, paths, held_as)
                if earlier is not None:
                    return earlier
            episode = seal(paths, target)
            may_replace = held_as is not None or journal.episode_of(path) != header.episode
            is_in_the_way = not self._put_if_new(target, may_replace=may_replace)
            with self.database.write() as session:  # until it ends, no other server can take the game
                if not games.may_seal(session, header.episode, held_as):  # taken while it was sealed
                    target.unlink()
                    raise _held_elsewhere(paths[0])
                if is_in_the_way:
                    self.blobs.replace(target.relative_to(self.root).as_posix(), target)
                self.enter(session, episode)
                games.end(session, [header.episode])
            journal.remove(paths, keep=journal.DAMAGED in episode.statistics)
        return episode

    def _put_if_new(self, target: Path, *, may_replace: bool) -> bool:
        """Put a sealed episode; with `may_replace`, return False if the store has other bytes: of a server that lost the game
        while it sealed, or of an attempt that was cut. After another error the file is removed: a cache has what was put."""
        try:
            self.put(target)
        except BlobsError as error:
            if may_replace and isinstance(error, BlobExistsError):
                return False
            target.unlink()
            raise
        return True

    def _sealed_before(self, session: Session, paths: list[Path], held_as: games.Lease | None) -> Episode | None:
        """Return the episode if another journal of it was sealed before, so that this one is not needed; it is removed, or
        set aside if the episode's file is not here to compare. Raise `RecordingError` if another server continues the game."""
        header = journal.read_header(paths[0])
        row = queries.get_episode(session, header.episode)
        may_seal = games.may_seal(session, header.episode, held_as)
        if row is None:
            if not may_seal:
                raise _held_elsewhere(paths[0])
            return None
        is_attempt = journal.episode_of(paths[0]) != header.episode
        if is_attempt and row.outcome == "interrupted":
            return None  # a whole attempt replaces one that was cut
        if not is_attempt and not self.database.is_shared:
            return None  # it is sealed again, as after a crash in the middle
        if is_attempt or self.blobs.path(row.path).exists():
            num_steps = journal.Journal(paths).table(["step"]).num_rows - 1
            if not is_attempt and may_seal and num_steps > row.num_steps:
                return None  # a game that was continued after it had been sealed by hand
            journal.remove(paths, keep=False)
        else:
            journal.remove(paths, keep=True)
        return catalogue.from_row(row, self.blobs, header.task)

    def keep(self, path: Path, *, held_as: games.Lease | None = None) -> Episode | None:
        """Seal a journal as `seal` does, or remove it and return None if it has no step and so is no episode."""
        paths = journal.segments(path.parent, journal.episode_of(path))
        if paths and journal.holds_observations(paths) and not journal.holds_steps(paths):
            with journal.claim(paths):
                record = journal.Journal(paths)
                if record.table(["step"]).num_rows == 1:  # nor was another one made meanwhile
                    if record.is_damaged:
                        raise RecordingError(
                            f"{paths[0]} is damaged after its first observation: none of its steps can be read.\n"
                            f"Set it aside with:  interplay episodes repair --data {self.root}"
                        )
                    journal.remove(paths, keep=False)
                    return None
        return self.seal(path, held_as=held_as)

    def url_of(self, episode: Episode, *, seconds: float) -> str | None:
        """Return a signed address of an episode's file in the store, for the operator; None if the data folder has the file."""
        return self.blobs.url(catalogue.key_of(episode, self.root), seconds)

    def put(self, file: Path) -> None:
        """Put a complete file of the data folder into the store (errors as `Blobs.put`)."""
        self.blobs.put(file.relative_to(self.root).as_posix(), file)

    def catalogue(self, episode: Episode) -> None:
        """Put a sealed episode into the store, and enter it into the database, or update its entry."""
        self.put(episode.place)
        with self.database.write() as session:
            self.enter(session, episode)

    def enter(self, session: Session, episode: Episode) -> None:
        """Enter a sealed episode that was put as `catalogue` does, but in a transaction of the caller."""
        lock(session, "episode", episode.id)  # or whoever agrees while the game is sealed would be missed
        task = episode.task
        row = TaskRow(
            content_hash=episode.task_hash,
            task=episode.task_id,
            definition=task.to_json(),
            created_at=datetime.now(UTC),
        )
        held_out = episode.seed in task.held_out_seeds
        queries.save_episode(session, catalogue.to_row(episode, self.root, held_out=held_out), row)
        session.flush()
        queries.save_measures(session, episode.id, catalogue.to_measure_rows(episode.id, episode.live_measures))
        entrants.enter_people(session, episode.id, datetime.now(UTC))  # whoever played may have agreed already

    def measures(self, episodes: Iterable[Episode | str]) -> dict[str, list[Measure]]:
        """Map each episode id to its statistics by seat and owner, from play or from later; ids without any are left out."""
        ids = [one if isinstance(one, str) else one.id for one in episodes]
        with self.database.read() as session:
            found = queries.measures_of(session, ids)
            return {name: list(map(catalogue.from_measure_row, rows)) for name, rows in found.items()}

    def readable_measures(self, episode: Episode) -> list[tuple[str, list[str]]]:
        """Return an episode's statistics as a table: each row has a title and a readable value for each of `episode.seats`."""
        found = {(one.seat, one.actor, one.name): one.value for one in self.measures([episode]).get(episode.id, [])}
        known = {one.name: one for one in self.collected(episode.task)} if found else {}
        rows = []
        for name in dict.fromkeys([*known, *(name for _, _, name in found)]):
            statistic = known.get(name, Statistic(name, name.replace("_", " ").capitalize()))
            keys = [(held.seat, held.actor, name) for held in episode.seats]
            if any(key in found for key in keys):
                rows.append((statistic.title, [statistic.readable(found.get(key)) for key in keys]))
        return rows

    def add_measures(self, episode_id: str, measures: Iterable[Measure]) -> None:
        with self.database.write() as session:
            queries.save_measures(session, episode_id, catalogue.to_measure_rows(episode_id, measures))

    def abandoned(self) -> list[str]:
        """Return the ids of episodes whose journal no running process writes. Files that never became a journal are removed."""
        journal.remove_newborn(self.journal_folder)
        ids = {journal.episode_of(path) for path in self.journal_folder.glob("*.arrows")}
        return sorted(name for name in ids if not any(map(journal.is_live, journal.segments(self.journal_folder, name))))

    def repair(self) -> Repair:
        """Put the folder in order after a crash: seal abandoned journals, and enter sealed files that the catalogue lacks.

        No recorded step is deleted: a journal in which no step can be read is renamed to `<name>.unreadable`.
        A lost database is rebuilt from the files in `episodes/`.
        """
        result = Repair()
        for name in self.abandoned():
            paths = journal.segments(self.journal_folder, name)
            if not paths:  # sealed by someone else a moment ago
                continue
            try:
                episode = self.keep(paths[0])
                if episode is None:
                    result.empty.append(name)
                else:
                    result.sealed.append(episode)
            except Exception as error:  # whatever a damaged journal makes a reader stumble over: the others go on
                reason = _said(paths[0], error)
                try:
                    if isinstance(error, OtherVersionError) or journal.holds_steps(paths):
                        result.failed[name] = reason
                        continue
                    for path in paths:
                        path.rename(path.with_name(path.name + ".unreadable"))
                except Exception as second:
                    result.failed[name] = f"{reason}\nIt could not be set aside: {second}"
                else:
                    result.set_aside[name] = reason
        self._catalogue_files(result)
        return result

    def _catalogue_files(self, result: Repair) -> None:
        with self.database.read() as session:
            uploads = uploaded_files(session)
            known = set(queries.episode_ids(session)) - set(uploads)
            played = games.all_held(session)
        files = {PurePosixPath(key).stem: key for key in self.blobs.keys("episodes") if key.endswith(".parquet")}
        for name in sorted(files.keys() - known - played):  # what is played will be sealed by its server
            path = self.root / files[name]
            try:
                path = self.blobs.path(files[name])
                episode = replace(Episode.open(path), sha256=sha256_of(path), size_bytes=path.stat().st_size)
                self.catalogue(episode)
            except Exception as error:  # whatever is wrong with this file: the others go on
                result.failed[path.stem] = _said(path, error)
            else:
                result.catalogued.append(episode)
        videos = self.blobs.keys("media")
        lost = {name for name, path in uploads.items() if path and path not in videos}
        result.missing.extend(sorted((known - files.keys()) | lost))

    def put_model(self, folder: Path) -> None:
        """Put the files of a finished model in `models/NAME` into the store (errors as `Blobs.put`)."""
        files = [file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")]
        for file in sorted(files, key=lambda file: (file.name in DESCRIPTIONS, file.name)):
            self.put(file)

    # Films: `name` is an episode's id, the name of a clip, or of a second file of one of them

    def video_place(self, name: str) -> Path:
        """Path at which a film is made, and at which it is a local file."""
        return self.root / _video_key(name)

    def video_path(self, name: str) -> Path:
        """Return the local file of a film; it does not exist if the film was never made, or was lost.
        Raises BlobsAwayError if it would have to be fetched and the store does not answer."""
        path = self.blobs.path(_video_key(name))
        if name in self._made and not path.exists():  # somebody deleted it: it may be made again
            self._made.discard(name)
            with self.database.write() as session:
                media.forget(session, name)
        return path

    def videos_noted(self, names: Iterable[str], session: Session | None = None) -> set[str]:
        """Return which of these films were made, as rows say."""
        wanted = set(names)
        if new := wanted - self._made:
            with nullcontext(session) if session is not None else self.database.look() as looking:
                self._made |= media.made(looking, new)
        return wanted & self._made

    def videos_made(self, names: Iterable[str], session: Session | None = None) -> set[str]:
        """Return which of these films were made and were not deleted from the data folder since; no store is asked."""
        return {name for name in self.videos_noted(names, session) if not self.blobs.is_lost(_video_key(name))}

    def has_video(self, name: str) -> bool:
        return bool(self.videos_made([name]))

    def keep_video(self, name: str) -> None:
        """Put a film that was made at its `video_place` into the store, and enter it. If another server has put one meanwhile,
        this one is dropped: the two may differ in their bytes."""
        self._put_video(name)
        self.enter_videos([name])

    def _put_video(self, name: str) -> None:
        place = self.video_place(name)
        try:
            self.put(place)
        except BlobExistsError:
            place.unlink()

    def enter_videos(self, names: Iterable[str]) -> None:
        with self.database.write() as session:
            media.note_made(session, names, datetime.now(UTC))

    def find_videos(self) -> None:
        """Enter films that lie in the data folder without a row: of earlier releases, and films that somebody put there."""
        there = set(_films_in(self.root / "media"))
        with self.database.look() as session:
            new = there - media.made(session, there)
        for name in new:
            self._put_video(name)
        if new:
            self.enter_videos(new)  # all or none: a folder with some rows is not read again

    def close(self) -> None:
        self.database.close()


def _video_key(name: str) -> str:
    return f"media/{name}.mp4"


def _films_in(folder: Path) -> Iterator[str]:
    """Yield the names of all films, clips and second files in a folder `media`."""
    for pattern in ("", "twins/", "clips/", "clips/twins/"):
        for path in folder.glob(f"{pattern}*.mp4"):
            if not path.name.startswith("."):
                yield pattern + path.stem


def _held_elsewhere(path: Path) -> RecordingError:
    return RecordingError(
        f"{path} is not sealed: a running server holds this game\n"
        "It seals the game itself. If it is stopped for good, seal the journal with:  interplay episodes repair"
    )


def conditions(session: Session, where: Sequence[str]) -> list[queries.Condition]:
    names = [*queries.statistic_names(session), *queries.seat_names(session)] if where else []
    return [catalogue.parse_condition(text, names) for text in where]


def _said(path: Path, error: Exception) -> str:
    """Say why a file could not be repaired and what to do; the file stays as it is."""
    if isinstance(error, OSError):
        return f"{path}: {error.strerror or error}\nMake the file readable, or free space on the disk, and repair again."
    what, _, remedy = str(error).partition("\n")
    if not isinstance(error, InterplayError):
        what = f"{path} is damaged or not an episode: {type(error).__name__}: {what}"
    elif isinstance(error, SealError) or "interplay episodes" not in remedy:
        return str(error)  # the remedy of others is the command that has just failed
    return f"{what}\nRestore the file from a backup and repair again. Without a backup, move the file out of the data folder."


def derived_episode_id(created_at: datetime, *facts: Any) -> str:
    """Return an id that is the same for the same time and facts (JSON): all attempts at one recording make one episode."""
    known = json.dumps([created_at.isoformat(), *facts], sort_keys=True)
    return f"{created_at:%Y%m%dT%H%M%S}-{hashlib.sha256(known.encode()).hexdigest()[:12]}"


def new_episode_id() -> str:
    """Return a new name that sorts by time, such as `20260131T120000-3f9c21ab`."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"

"""Import a published evaluation set: all of its valid rows or nothing, with a report of every row that was dropped."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from interplay.files import write_json
from interplay.judge.bans import read_banned
from interplay.judge.entrants.uploads import check_videos, known_tasks
from interplay.judge.entrants.video_folder import FoundVideo, find_videos, task_names
from interplay.judge.entrants.video_staging import (
    Progress,
    StagedVideo,
    UploadError,
    actor_kind,
    all_wrong,
    episode_id,
    episode_values,
    placing,
    stage,
    task_row,
)
from interplay.judge.published.report import import_report
from interplay.judge.published.row import DatasetError, PublishedAnswer, ReadItems, item_of, load_json, read_items, source_of
from interplay.record import Archive
from interplay.store import Answer, EpisodeRow, EpisodeSeat, Match
from interplay.store import entrants as entrant_store
from interplay.store import uploads as store
from interplay.store.episodes import UPLOADED, add_task
from interplay.store.judging import bans as ban_store
from interplay.store.locks import lock
from interplay.tasks import Suite

_NAME = re.compile(r"[a-z0-9][a-z0-9_.\-]{0,39}")
_KINDS = (
    ("human", re.compile(r"human[ _-]?\d*", re.I)),
    ("random", re.compile(r"random", re.I)),
    ("bc", re.compile(r"bc\b.*", re.I)),
)


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise DatasetError(f"{name!r} cannot be the name of a set\nUse up to 40 lower-case letters, digits, '_', '.' and '-'.")


def import_answers(
    archive: Archive,
    file: Path,
    *,
    name: str = "bedd",
    banned: Path | None = None,
    videos: Path | None = None,
    suites: Iterable[Suite] | None = None,
    on_progress: Progress = lambda what, done, total: None,
) -> dict[str, Any]:
    """Import the answers and the agents of a published file. A second import of the same file adds nothing.

    Args:
        file: A JSON list, newest first, see docs/dataset.md.
        name: Name of the set on this server; the names of its judges become `name/worker`.
        banned: File with a JSON list of `{"workerId": ...}`. The answers of these workers are stored but do not count.
        videos: Folder with `<agent>/<task>/seed_<n>.mp4`, as in `uploads.add_agent`. Without videos the new agents cannot be
            shown to judges.
    Returns:
        The report, which is also written to `imports/<name>-report.json` in the data folder; see `report.import_report`.
    Raises:
        DatasetError: If the file cannot be read, or the name is invalid.
        BanFileError: If the file of banned workers is invalid.
        UploadError: If a video cannot be used; lists all faults. Nothing was stored.
    """
    check_name(name)
    names = task_names(known_tasks(archive.database, suites).values())
    document = load_json(file)
    on_progress("reading answers", 0, 1)
    read = read_items(document, names, str(file))
    on_progress("reading answers", 1, 1)
    if document and not read.answers:
        row, _, reason = read.dropped[0]
        raise DatasetError(
            f"{file}: none of its {len(document)} rows is an answer in the published format; row {row} {reason}\n"
            "docs/dataset.md describes the rows; for answers about tasks of your own, add --suite FILE.toml."
        )
    workers = [] if banned is None else read_banned(banned)
    agents = {agent for answer in read.answers for agent in (answer.left, answer.right)}
    found, notes = _videos(videos, names, agents)
    checked = {agent: _checked(agent, here, on_progress) for agent, here in found.items()}
    staged: dict[str, list[StagedVideo]] = {}
    try:
        for agent, here in checked.items():
            staged[agent] = stage(archive, agent, here, on_progress)
        on_progress("storing answers", 0, len(read.answers))
        with ExitStack() as stack:
            session = stack.enter_context(archive.database.write())
            entrant_store.lock_name(session, *agents, *staged)  # another import of this set has the same agents
            now = datetime.now(UTC)
            outcome = _Import(session, archive, name, len(document), now)
            joined = outcome.joined(agents)
            placed = [stack.enter_context(placing(archive, session, one, kind_of(one), here)) for one, here in staged.items()]
            outcome.agents(read.answers, staged)
            num_bans = outcome.bans(workers)
            outcome.answers(read)
        for one in placed:
            one.finish(archive)
        on_progress("storing answers", len(read.answers), len(read.answers))
    finally:
        for here in staged.values():
            for video in here:
                video.part.unlink(missing_ok=True)
    path = archive.root / "imports" / f"{name}-report.json"
    report = import_report(
        name=name,
        file=file,
        sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
        num_rows=len(document),
        read=read,
        conflicts=outcome.conflicts,
        num_imported=outcome.num_imported,
        banned=workers,
        num_new_bans=num_bans,
        videos={agent: [(video.task.id, video.seed) for video in here] for agent, here in staged.items()},
        video_notes=notes,
        order=outcome.order,
        joined=sorted({*joined, *_joined_before(path)}),
    )
    _write_report(path, report)
    return report


def kind_of(agent: str) -> str:
    """Return the kind of an agent of the published set, which follows from its name.

    >>> kind_of("Human2"), kind_of("BC-Baseline"), kind_of("Random"), kind_of("GoUp")
    ('human', 'bc', 'random', 'agent')
    """
    return next((kind for kind, pattern in _KINDS if pattern.fullmatch(agent)), "agent")


class _Import:
    """One import, which does all its work inside one transaction."""

    def __init__(self, session: Session, archive: Archive, dataset: str, num_rows: int, now: datetime) -> None:
        self._session, self._archive, self._dataset, self._num_rows, self._now = session, archive, dataset, num_rows, now
        self._episodes: dict[tuple[str, str, int], str] = {}
        self.conflicts: list[tuple[int, str, str]] = []
        self.num_imported = 0
        self.order = ""

    def joined(self, agents: set[str]) -> set[str]:
        """Return the set's agents that this server already had from elsewhere; the imported answers count for them, too."""
        others = agents - store.imported_agents(self._session, self._dataset)
        named = {agent.name for agent in entrant_store.entrants(self._session)}
        return {agent for agent in others if agent in named or store.episodes_of_agent(self._session, agent)}

    def agents(self, answers: Sequence[PublishedAnswer], staged: Mapping[str, Sequence[StagedVideo]]) -> None:
        """Enter tasks, agents, and one episode for each agent, task and seed. Existing entries stay as they are."""
        tasks = {answer.task.id: answer.task for answer in answers}
        wanted = {(agent, answer.task.id, answer.seed) for answer in answers for agent in (answer.left, answer.right)}
        shown = {(agent, video.task.id) for agent, here in staged.items() for video in here}
        for task in tasks.values():
            add_task(self._session, task_row(task))
        there = defaultdict(set)
        for agent in entrant_store.entrants(self._session):
            there[agent.name].add(agent.task)
        for agent, task in sorted({(agent, task) for agent, task, _ in wanted} | shown):
            if task not in there[agent]:
                entrant_store.admit(
                    self._session, name=agent, task=task, kind=kind_of(agent), now=self._now, origin="published"
                )
        for agent in sorted({agent for agent, _, _ in wanted}):
            for row in store.episodes_of_agent(self._session, agent, tasks):
                is_theirs = row.frames == UPLOADED and row.task_hash == tasks[row.task].content_hash
                if is_theirs and (row.path or (agent, row.task, row.seed) not in self._episodes):
                    self._episodes[agent, row.task, row.seed] = row.id
        rows = []
        for key in sorted(wanted - self._episodes.keys()):
            agent, task_id, seed = key
            self._episodes[key] = episode_id(tasks[task_id], agent, seed, "")
            kind = actor_kind(kind_of(agent))
            rows.append(episode_values(self._episodes[key], tasks[task_id], seed, agent, kind, self._now))
        store.insert_rows(self._session, EpisodeRow, rows)
        held = ("actor", "actor_kind", "num_steps", "total_reward")
        in_seats = [
            {"episode_id": row["id"], "seat": "player", "position": 0} | {name: row[name] for name in held} for row in rows
        ]
        store.insert_rows(self._session, EpisodeSeat, in_seats)

    def answers(self, read: ReadItems) -> None:
        there = {
            match: item_of(source, reason, viewing)
            for match, source, reason, viewing in store.imported(self._session, self._dataset)
        }
        matches, answers = [], []
        for answer in self._oldest_first(read.answers):
            match_id = match_id_of(self._dataset, answer.key)
            if match_id in there:
                if there[match_id] != answer.item:
                    reason = "was imported before with another content, and answers are never changed; use another --name"
                    self.conflicts.append((answer.row, answer.key, reason))
                continue
            matches.append(self._match(match_id, answer))
            answers.append(self._answer(match_id, answer))
        store.insert_rows(self._session, Match, matches)
        lock(self._session, "log", "answers")
        store.insert_rows(self._session, Answer, answers)
        self.num_imported = len(answers)

    def _oldest_first(self, answers: Sequence[PublishedAnswer]) -> list[PublishedAnswer]:
        """Return the answers, oldest first: in reverse order if the file is newest first, otherwise sorted by their time."""
        backwards = list(reversed(answers))
        created = [str(answer.item.get("created_at")) for answer in backwards]
        for times in (created, [answer.answered_at.isoformat() for answer in backwards]):
            if all(first <= second for first, second in pairwise(times)):
                self.order = "reverse order of the file, which is newest first"
                return backwards
        self.order = "by the time of the answer; the file is not newest first"
        return sorted(backwards, key=lambda answer: answer.answered_at)

    def _of_both(self, answer: PublishedAnswer) -> dict[str, Any]:
        """Return the columns that a match and its answer share."""
        return {
            "task": answer.task.id,
            "seed": answer.seed,
            "left_agent": answer.left,
            "right_agent": answer.right,
            "judge": judge_of(self._dataset, answer.worker),
            "purpose": "rating",
            "judge_kind": "person",
        }

    def _match(self, match_id: str, answer: PublishedAnswer) -> dict[str, Any]:
        left, right = (self._episodes[agent, answer.task.id, answer.seed] for agent in (answer.left, answer.right))
        return self._of_both(answer) | {
            "id": match_id,
            "task_hash": answer.task.content_hash,
            "left_episode_id": left,
            "right_episode_id": right,
            "served_at": answer.started_at,
            "seen_at": answer.answered_at,
            "answered_at": answer.answered_at,
        }

    def _answer(self, match_id: str, answer: PublishedAnswer) -> dict[str, Any]:
        return self._of_both(answer) | {
            "match_id": match_id,
            "outcome": answer.outcome,
            "responses": answer.responses,
            "reason": answer.reason,
            "created_at": answer.answered_at,
            "duration_s": answer.duration_s,
            "viewing": answer.viewing,
            "source": source_of(answer, self._dataset, self._num_rows),
        }

    def bans(self, workers: Sequence[str]) -> int:
        """Ban these workers, except workers whose ban was lifted here. Return the number of new bans."""
        reason = f"banned in {self._dataset}"
        before = store.bans_for(self._session, reason)
        judges = [judge_of(self._dataset, worker) for worker in workers]
        lock(self._session, "judge", *judges)
        return sum(
            ban_store.ban(self._session, judge=judge, reason=reason, now=self._now) for judge in judges if judge not in before
        )


def judge_of(dataset: str, worker: str) -> str:
    return f"{dataset}/{worker}"


def match_id_of(dataset: str, key: str) -> str:
    digest = hashlib.sha256(f"{dataset}\n{key}".encode()).hexdigest()
    return f"import-{digest[:24]}"


def _videos(folder: Path | None, names: Mapping[str, Any], agents: set[str]) -> tuple[dict[str, list[FoundVideo]], list[str]]:
    """Return the videos of each agent, and notes. The case of folder names does not matter (`BC-baseline`)."""
    if folder is None:
        return {}, []
    if not folder.is_dir():
        raise DatasetError(f"{folder}: no such folder\nGive the folder that contains a folder for each agent.")
    by_lower = {agent.lower(): agent for agent in agents}
    found: dict[str, list[FoundVideo]] = {}
    notes: list[str] = []
    problems: list[str] = []
    for path in sorted(folder.iterdir()):
        agent = by_lower.get(path.name.lower())
        if path.name.startswith("."):
            continue
        if agent is None or not path.is_dir():
            notes.append(f"{path.name} is not an agent in the answers and is ignored (add it with:  interplay judge add-agent)")
            continue
        here = find_videos(path, names)
        found.setdefault(agent, []).extend(here.videos)
        notes += here.notes
        problems += here.problems
    if problems:
        raise all_wrong(folder, problems)
    if not found:
        raise UploadError(f"{folder} has no folder of an agent in the answers\nThe agents: {', '.join(sorted(agents)[:20])}.")
    return found, notes


def _checked(agent: str, videos: Sequence[FoundVideo], on_progress: Progress) -> list[Any]:
    checked, problems = check_videos(videos, lambda _, done, total: on_progress(f"checking videos of {agent}", done, total))
    if problems:
        raise all_wrong(Path(agent), problems)
    return checked


def _joined_before(path: Path) -> list[str]:
    """Return the `joined` agents in the report of an earlier import, so that the new report lists these agents, too."""
    try:
        return list(json.loads(path.read_bytes())["joined_agents"])
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _write_report(path: Path, report: Mapping[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, report, indent=2)
    except OSError as error:
        raise DatasetError(
            f"cannot write {path}: {error.strerror or error}\nThe answers are stored; import the file again to get the report."
        ) from error

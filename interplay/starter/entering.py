"""Enter the starter set into a data folder: files first, then one transaction that makes all of them known."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from interplay.files import remove_parts, replacing
from interplay.record import Archive, Episode
from interplay.starter.shipped import Shipped, episodes
from interplay.store import entrants as store
from interplay.store.episodes import episode_ids
from interplay.tasks import Suite, builtin_suites, index

log = logging.getLogger("interplay.starter")
EXAMPLES = "examples"
"""File of a data folder whose pages show example answers and runs until there are others; made with the set."""


def enter(
    archive: Archive,
    suites: Iterable[Suite] | None = None,
    *,
    report: Callable[[Path], None] = lambda path: None,
) -> int:
    """Fill a new data folder: one without episodes of anybody else, in tasks to which no agent was ever admitted or proposed.

    A start that was killed half way is finished by the next: until the transaction nothing is known of the files, and a file
    that is there already is left as it is.

    Args:
        suites: Tasks on offer; the built-in ones when not given. Episodes of other versions of them are left out.
        report: Called with each file that was put in place.
    Returns:
        How many episodes were entered.
    Raises:
        OSError: If a file cannot be written; nothing is entered then, and what was copied goes.
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
        now = datetime.now(UTC)
        for shipped in new:
            target = archive.episode_path(shipped.task, shipped.id)
            episode = replace(Episode.open(target), sha256=shipped.episode_sha256, size_bytes=shipped.episode_bytes)
            archive.enter(session, episode)
            episode.close()
        for name, task in sorted({(shipped.agent, shipped.task) for shipped in new}):
            store.admit(session, name=name, task=task, kind="agent", now=now)
    (archive.root / EXAMPLES).touch()
    return len(new)


def _copy(archive: Archive, new: list[Shipped], report: Callable[[Path], None]) -> None:
    """Put the files in place, whole and on disk for good; what is there stays."""
    placed: list[Path] = []
    try:
        _place(archive, new, report, placed)
    except OSError:
        for target in placed:  # of a full disk, all of it
            target.unlink(missing_ok=True)
        raise


def _place(archive: Archive, new: list[Shipped], report: Callable[[Path], None], placed: list[Path]) -> None:
    targets = {archive.episode_path(one.task, one.id): one.recording for one in new}
    targets |= {archive.video_path(one.id): one.film for one in new}
    for target, source in targets.items():
        remove_parts(target)  # of a start that was killed
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            shutil.copyfile(source, part)
        placed.append(target)
        report(target)

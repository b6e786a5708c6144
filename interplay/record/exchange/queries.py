"""Saved queries and people's choices about release: the service that owns their transactions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from interplay.errors import MisuseError, unknown_name
from interplay.record.archive import Archive
from interplay.record.errors import RecordingError
from interplay.store import SavedQuery, releases
from interplay.store.episodes import episodes_by_id
from interplay.store.participants import judge_name, participant_number
from interplay.store.releases import ReleaseCounts
from interplay.tables import is_name

EVERYBODY = "open-play"
"""Word that is used instead of a participant's name, to mean all games in open play (games outside of studies)."""


class QueryError(RecordingError, MisuseError):
    """A saved query or a release choice cannot be made."""


@dataclass(frozen=True)
class Saved:
    """One version of a saved query. `sha256` is the hash of its episodes' ids and file hashes; a paper cites it."""

    name: str
    version: int
    task: str | None
    where: tuple[str, ...]
    sha256: str
    num_episodes: int
    created_at: datetime

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"


@dataclass(frozen=True)
class Choice:
    """A note of the operator about the release of games of one participant (`participant-<id>`) or of `open-play`."""

    who: str
    may_release: bool
    note: str
    created_at: datetime


class Queries:
    """Saved queries and release choices of one data folder."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def save(self, name: str, *, task: str | None = None, where: Sequence[str] = ()) -> tuple[Saved, bool, int]:
        """Save the episodes that match and may be released, as a named query. The same episodes make no new version.

        Returns:
            The version, whether it is new, and the number of episodes that match but are withheld.
        Raises:
            QueryError: If the name is invalid, or there is no episode.
            RecordingError, NotFoundError: As `Archive.episodes`.
        """
        if not is_name(name):
            raise QueryError(
                f"{name[:100]!r} is not a name of a query\nWrite small letters, digits, _ and -, such as good_games."
            )
        released = self._archive.released(task=task, where=where, with_uploads=True)
        ids = [episode.id for episode in released.episodes if episode.sha256]
        if not ids:
            kept = f"; {released.num_withheld} match, but may not be released" if released.num_withheld else ""
            raise QueryError(f"no episode can be saved{kept}\nSee what there is:  interplay episodes list")
        with self._archive.database.write() as session:
            rows = episodes_by_id(session, ids)
            row, is_new = releases.save_query(session, name=name, task=task, conditions=where, rows=rows, now=datetime.now(UTC))
            return _saved(row), is_new, released.num_withheld

    def find(self, label: str) -> Saved:
        """Return the saved query `name@version`; `name` alone means its newest version.

        Raises:
            QueryError: If the label has neither form.
            NotFoundError: If there is no such query; the error offers the nearest name.
        """
        match = re.fullmatch(r"([^@]{1,100})(?:@(\d{1,9}))?", label)
        if match is None:
            raise QueryError(f"{label[:100]!r} names no saved query\nWrite NAME, or NAME@VERSION, such as good_games@2.")
        with self._archive.database.read() as session:
            row = releases.find_query(session, match[1], None if match[2] is None else int(match[2]))
            if row is None:
                known = [f"{one.name}@{one.version}" for one in releases.all_queries(session)]
                raise unknown_name("saved query", label[:100], known, hint="All of them:  interplay episodes query list")
            return _saved(row)

    def all(self) -> list[Saved]:
        with self._archive.database.read() as session:
            return [_saved(row) for row in releases.all_queries(session)]

    def episodes(self, saved: Saved) -> dict[str, str]:
        with self._archive.database.read() as session:
            row = session.get(SavedQuery, (saved.name, saved.version))
            assert row is not None
            return releases.episodes_of_query(session, row)

    def changed(self, saved: Saved) -> dict[str, str]:
        """Map each changed episode of a saved query to its change: missing, another file, or release no longer allowed."""
        wanted = self.episodes(saved)
        released = self._archive.released(saved=(saved.name, saved.version), with_uploads=True)
        here = {episode.id: episode.sha256 for episode in released.episodes}
        result = {name: "it has another file now" for name, sha256 in wanted.items() if here.get(name, sha256) != sha256}
        with self._archive.database.read() as session:
            known = {row.id for row in episodes_by_id(session, list(wanted))}
        for name in sorted(wanted.keys() - here.keys()):
            result[name] = "somebody in it does not agree to a release any more" if name in known else "it is not here"
        return result

    # People's choices

    def counts(self) -> ReleaseCounts:
        with self._archive.database.read() as session:
            return releases.counts(session)

    def choices(self) -> list[Choice]:
        with self._archive.database.read() as session:
            return [
                Choice(
                    EVERYBODY if row.participant_id is None else judge_name(row.participant_id),
                    row.may_release,
                    row.note,
                    row.created_at,
                )
                for row in releases.choices(session)
            ]

    def choose(self, who: str, *, may_release: bool, note: str = "") -> None:
        """Record whether games may be released: a participant's games, as this person chose, or all games in open play."""
        number = None if who == EVERYBODY else participant_number(who)
        if number is None and who != EVERYBODY:
            raise QueryError(f"{who[:100]!r} is not a participant\nWrite {EVERYBODY}, or a name such as participant-7.")
        with self._archive.database.write() as session:
            if not releases.add_choice(
                session, participant_id=number, may_release=may_release, note=note, now=datetime.now(UTC)
            ):
                raise QueryError(f"there is no {who} in this data folder\nSee who played:  interplay episodes list")


def _saved(row: SavedQuery) -> Saved:
    return Saved(
        row.name, row.version, row.task, tuple(json.loads(row.conditions)), row.sha256, row.num_episodes, row.created_at
    )

"""`Pauses`: the service that pauses and resumes a study, or all new games of a server. Running games continue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from interplay.errors import unknown_name
from interplay.store import Database
from interplay.store.study import studies as store
from interplay.store.study.studies import study_row, study_rows

MAX_NOTE_CHARS = 500


@dataclass(frozen=True)
class PauseState:
    """A pause; `note` is shown to people who come during the pause, and may be empty."""

    note: str
    since: datetime


class Pauses:
    """The pauses of one database, shared by all processes."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))

    def all(self) -> dict[str | None, PauseState]:
        """Return current pauses by study id; the key None stands for all new games of the server."""
        with self._database.look() as session:
            return {study: PauseState(one.note, one.created_at) for study, one in store.current_pauses(session).items()}

    def of(self, study: str | None) -> PauseState | None:
        return self.all().get(study)

    def pause(self, study: str | None = None, *, note: str = "", hint: str = "") -> None:
        """Pause a study for new people, or, with None, all new games (NotFoundError if the study is unknown).
        People who come during the pause read the note."""
        self._say(study, is_paused=True, note=note, hint=hint)

    def resume(self, study: str | None = None, *, hint: str = "") -> None:
        self._say(study, is_paused=False, note="", hint=hint)

    def _say(self, study: str | None, *, is_paused: bool, note: str, hint: str) -> None:
        with self._database.write() as session:
            if study is not None and study_row(session, study) is None:
                raise unknown_name("study", study[:100], [one.id for one in study_rows(session)], hint=hint)
            if (study in store.current_pauses(session)) or is_paused:
                store.add_pause(
                    session, study=study, is_paused=is_paused, note=note.strip()[:MAX_NOTE_CHARS], now=self._clock()
                )

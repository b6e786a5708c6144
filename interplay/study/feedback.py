"""`FeedbackBox`: feedback that people write about pages and games.

A report is stored with its context: the page, the game on the page, the study or class, the browser, the version. The network
address is not stored, nor is any part of the page's address that could be a token.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta

from interplay.store import Database, FeedbackRow
from interplay.store import participants as store
from interplay.study.errors import StudyError

KINDS = {"problem": "A problem", "idea": "An idea", "other": "Something else"}
"""Kind of feedback -> its text on the page."""
MAX_CHARS = 2000
MAX_OF_PERSON = 20
"""Largest number of messages that one person may send in a day."""
MAX_OF_ALL = 2000
"""Largest number of messages from all people in a day, in case a program sends them."""
_DAY = timedelta(days=1)
_LENGTHS = {"page": 200, "episode": 100, "study": 100, "browser": 300}
_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class FeedbackError(StudyError):
    """Feedback cannot be stored; the text is for the person who wrote it."""


class TooMuchFeedbackError(FeedbackError):
    """One person, or all people together, wrote more feedback than allowed in a day."""


@dataclass(frozen=True)
class Feedback:
    """One piece of feedback; attributes as the columns of `FeedbackRow`."""

    at: datetime
    kind: str
    words: str
    page: str
    episode: str = ""
    study: str = ""
    browser: str = ""
    version: str = ""
    participant: int | None = None


class FeedbackBox:
    """The feedback of one database."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))

    def add(
        self,
        *,
        kind: str,
        words: str,
        page: str,
        episode: str = "",
        study: str = "",
        browser: str = "",
        version: str = "",
        participant: int | None = None,
    ) -> Feedback:
        """Check and store one piece of feedback (FeedbackError if it is invalid, TooMuchFeedbackError after too many today)."""
        text = _HIDDEN.sub("", words.replace("\r\n", "\n")).strip()
        if kind not in KINDS:
            raise FeedbackError(f"choose the kind of feedback: {', '.join(KINDS.values())}")
        if not text:
            raise FeedbackError("please write a few words")
        if len(text) > MAX_CHARS:
            raise FeedbackError(f"please write at most {MAX_CHARS:,} characters; you wrote {len(text):,}")
        context = {"page": page.partition("?")[0].partition("#")[0], "episode": episode, "study": study, "browser": browser}
        context = {name: _HIDDEN.sub("", value)[: _LENGTHS[name]] for name, value in context.items()}
        now = self._clock()
        with self._database.write() as session:
            of_person = 0 if participant is None else store.count_since(session, participant, now - _DAY)
            if of_person >= MAX_OF_PERSON or store.count_since(session, None, now - _DAY) >= MAX_OF_ALL:
                raise TooMuchFeedbackError("thank you; that was enough for today. Please write again tomorrow")
            row = store.add_feedback(
                session, kind=kind, words=text, version=version, participant_id=participant, created_at=now, **context
            )
            return _feedback(row)

    def all(self, *, limit: int | None = None) -> list[Feedback]:
        with self._database.read() as session:
            return [_feedback(row) for row in store.feedback(session, limit=limit)]


def feedback_csv(known: Iterable[Feedback]) -> str:
    """Return feedback as CSV. A cell that a spreadsheet would read as a formula gets an apostrophe in front."""
    text = io.StringIO()
    names = [field.name for field in fields(Feedback)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for one in known:
        row = asdict(one) | {"at": one.at.isoformat()}
        writer.writerow([plain_cell(row[name]) for name in names])
    return text.getvalue()


def plain_cell(value: object) -> str:
    """Return a text for a table cell, changed so that no spreadsheet reads it as a formula.

    >>> plain_cell("=HYPERLINK(1)"), plain_cell("fine"), plain_cell(None)
    ("'=HYPERLINK(1)", 'fine', '')
    """
    text = "" if value is None else str(value)
    return f"'{text}" if text[:1] in tuple("=+-@\t\n") else text


def _feedback(row: FeedbackRow) -> Feedback:
    return Feedback(
        row.created_at, row.kind, row.words, row.page, row.episode, row.study, row.browser, row.version, row.participant_id
    )

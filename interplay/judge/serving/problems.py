"""Problems with a pair that a judge can report. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from interplay.judge.errors import FieldError, InvalidAnswerError
from interplay.judge.form import can_be_stored
from interplay.wording import num_visible_chars

MAX_CHARS = 2000
KINDS = {
    "does_not_play": "A video does not play",
    "broken_picture": "A picture is black, frozen or broken",
    "not_alike": "The two do not show the same task or the same start",
    "recognised": "I know who one of the players is",
    "unpleasant": "I would rather not watch this",
    "other": "Something else",
}
"""What it is -> in the page's words."""


class Report(NamedTuple):
    """A problem: one of `KINDS`, and the judge's words, which may be empty except for `other`."""

    kind: str
    words: str


def check_problem(problem: Any) -> Report:
    """Check a report that came in as `{"kind", "words"}` (InvalidAnswerError naming every fault)."""
    errors: list[FieldError] = []
    if not isinstance(problem, dict):
        raise InvalidAnswerError([FieldError("problem", 'expected an object: {"kind": "does_not_play", "words": ""}')])
    kind, words = problem.get("kind"), problem.get("words", "")
    if not isinstance(kind, str) or kind not in KINDS:
        errors.append(FieldError("problem.kind", f"choose one of {', '.join(KINDS)}"))
    if not isinstance(words, str) or not can_be_stored(words):
        errors.append(FieldError("problem.words", "expected text"))
    elif len(words) > MAX_CHARS:
        errors.append(FieldError("problem.words", f"please keep it under {MAX_CHARS:,} characters; there are {len(words):,}"))
    elif kind == "other" and not num_visible_chars(words):
        errors.append(FieldError("problem.words", "please say in a few words what is wrong"))
    if errors:
        raise InvalidAnswerError(errors)
    return Report(str(kind), words.strip())

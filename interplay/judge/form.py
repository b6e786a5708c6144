"""Check the data that a judge's page sends, field by field: the form, its draft, and reports of problems. Pure functions."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from interplay.judge.errors import FieldError, InvalidAnswerError
from interplay.judge.viewing import Lengths, implausible, watched_shares
from interplay.rank import OUTCOMES, Outcome
from interplay.tasks import Question
from interplay.wording import BLANK, num_visible_chars

MIN_REASON_CHARS = 100
MAX_REASON_CHARS = 10_000
MAX_VIEWING_BYTES = 64 * 1024
MAX_DRAFT_BYTES = 128 * 1024
COMPARATIVE_CHOICES = ("left", "draw", "right", "na")
MAX_PROBLEM_CHARS = 2000
PROBLEMS = {
    "does_not_play": "A video does not play",
    "broken_picture": "A picture is black, frozen or broken",
    "not_alike": "The two videos do not show the same task or the same start",
    "recognised": "I know who one of the players is",
    "unpleasant": "I would rather not watch this",
    "other": "Something else",
}
"""Kind of problem with a pair -> its text on the page."""
_OUTCOME: dict[str, Outcome] = {outcome: outcome for outcome in OUTCOMES}


@dataclass(frozen=True)
class Form:
    """A checked form.

    Attributes:
        outcome: The overall answer; no other answer changes ratings. For segments it may also be `na` (cannot tell).
        responses: Question id -> `{"left": bool, "right": bool}` (direct) or one of `COMPARATIVE_CHOICES`.
    """

    outcome: Outcome | Literal["na"]
    responses: dict[str, Any]
    reason: str
    viewing: dict[str, Any]


@dataclass(frozen=True)
class Watching:
    """The viewing that is required before an answer, the seconds since serving, and the lengths of the videos.

    Attributes:
        min_share: Share of each video that must have been played, from 0 to 1.
    """

    min_share: float
    elapsed_s: float
    lengths: Lengths = field(default_factory=Lengths)


def check_form(
    questions: Sequence[Question],
    *,
    outcome: Any,
    responses: Any,
    reason: Any,
    viewing: Any,
    min_reason_chars: int = MIN_REASON_CHARS,
    watching: Watching | None = None,
    may_be_na: bool = False,
) -> Form:
    """Return the form if every field is valid. `responses` may repeat the overall question with the same answer as `outcome`.

    Args:
        min_reason_chars: Smallest number of visible characters in a reason.
        watching: Required viewing, to which `viewing` is compared; None if no viewing is required.
        may_be_na: Whether `na` (cannot tell) is a valid outcome, as it is for segments.
    Raises:
        InvalidAnswerError: If the form has faults; lists all of them.
    """
    errors: list[FieldError] = []
    allowed: dict[str, Outcome | Literal["na"]] = {**_OUTCOME, "na": "na"} if may_be_na else {**_OUTCOME}
    checked_outcome = allowed.get(outcome) if isinstance(outcome, str) else None
    if checked_outcome is None:
        choices = "left, right, draw or na" if may_be_na else "left, right or draw"
        errors.append(FieldError("outcome", f"choose {choices}; got {_shown(outcome)}"))
    checked_responses = _check_responses(questions, outcome, responses, errors)
    checked_reason = _check_reason(reason, min_reason_chars, errors)
    checked_viewing = _check_viewing(viewing, errors)
    if watching is not None and watching.min_share > 0:
        _check_watched(checked_viewing, watching, errors)
    if errors or checked_outcome is None:
        raise InvalidAnswerError(errors)
    return Form(checked_outcome, checked_responses, checked_reason, checked_viewing)


def check_draft(draft: Any) -> dict[str, Any]:
    """Return the draft of a form as the page sent it: any object of limited size (InvalidAnswerError otherwise)."""
    errors: list[FieldError] = []
    checked = _plain_object("draft", draft, MAX_DRAFT_BYTES, errors)
    if errors:
        raise InvalidAnswerError(errors)
    return checked


def check_problem(problem: Any) -> dict[str, str]:
    """Return a valid report of a problem: its `kind` (a key of `PROBLEMS`), and `words`, required only for the kind `other`.

    Raises:
        InvalidAnswerError: If the report has faults; lists all of them.
    """
    errors: list[FieldError] = []
    if not isinstance(problem, dict):
        raise InvalidAnswerError([FieldError("problem", 'expected an object: {"kind": "does_not_play", "words": ""}')])
    kind, words = problem.get("kind"), problem.get("words", "")
    if not isinstance(kind, str) or kind not in PROBLEMS:
        errors.append(FieldError("problem.kind", f"choose one of {', '.join(PROBLEMS)}"))
    if not isinstance(words, str) or not can_be_stored(words):
        errors.append(FieldError("problem.words", "expected text"))
    elif len(words) > MAX_PROBLEM_CHARS:
        errors.append(
            FieldError("problem.words", f"please keep it under {MAX_PROBLEM_CHARS:,} characters; there are {len(words):,}")
        )
    elif kind == "other" and not num_visible_chars(words):
        errors.append(FieldError("problem.words", "please say in a few words what is wrong"))
    if errors:
        raise InvalidAnswerError(errors)
    return {"kind": str(kind), "words": words.strip()}


def says_nothing(text: str) -> bool:
    """Whether a text has no letters, or only one letter repeated.

    >>> says_nothing("x" * 100), says_nothing("!! 12 !!"), says_nothing("Left was better."), says_nothing("I")
    (True, True, False, False)
    """
    letters = [char for char in BLANK.sub("", unicodedata.normalize("NFC", text)).casefold() if char.isalpha()]
    return len(set(letters)) == 0 or (len(set(letters)) == 1 and num_visible_chars(text) > 1)


def _check_responses(questions: Sequence[Question], outcome: Any, responses: Any, errors: list[FieldError]) -> dict[str, Any]:
    if not isinstance(responses, Mapping):
        errors.append(FieldError("responses", f"expected an object, question id -> answer; got {_shown(responses)}"))
        return {}
    checked: dict[str, Any] = {}
    for question in questions:
        field = f"responses.{question.id}"
        if question.kind == "overall":
            if question.id in responses and responses[question.id] != outcome:
                errors.append(FieldError(field, "the overall answer belongs in outcome, but this one differs from it"))
            continue
        if question.id not in responses:
            errors.append(FieldError(field, f"please answer: {question.text}"))
            continue
        answer = responses[question.id]
        if question.kind == "direct":
            if _is_yes_or_no_of_both_sides(answer):
                checked[question.id] = {"left": answer["left"], "right": answer["right"]}
            else:
                errors.append(
                    FieldError(
                        field, f'answer yes or no for both sides: {{"left": true, "right": false}}; got {_shown(answer)}'
                    )
                )
        elif isinstance(answer, str) and answer in COMPARATIVE_CHOICES:
            checked[question.id] = answer
        else:
            errors.append(FieldError(field, f"choose left, draw, right or na; got {_shown(answer)}"))
    known = {question.id for question in questions}
    errors += [
        FieldError(f"responses.{_plain(name)}", "this form has no such question") for name in responses if name not in known
    ]
    return checked


def _is_yes_or_no_of_both_sides(answer: Any) -> bool:
    return (
        isinstance(answer, Mapping)
        and set(answer) == {"left", "right"}
        and all(isinstance(value, bool) for value in answer.values())
    )


def _check_reason(reason: Any, min_chars: int, errors: list[FieldError]) -> str:
    if not isinstance(reason, str):
        errors.append(FieldError("reason", f"expected text; got {_shown(reason)}"))
        return ""
    reason = reason.strip()
    if len(reason) > MAX_REASON_CHARS:
        errors.append(FieldError("reason", f"please keep it under {MAX_REASON_CHARS:,} characters; there are {len(reason):,}"))
    elif (num_visible := num_visible_chars(reason)) < min_chars:
        errors.append(FieldError("reason", f"please write at least {min_chars} characters; there are {num_visible} so far"))
    elif min_chars and says_nothing(reason):
        errors.append(
            FieldError("reason", "please give a reason in words; one repeated letter, or no letters, is not a reason")
        )
    elif not can_be_stored(reason):
        errors.append(FieldError("reason", "it holds characters that are not text (a zero byte or half of a character pair)"))
    return reason


def _check_viewing(viewing: Any, errors: list[FieldError]) -> dict[str, Any]:
    return {} if viewing is None else _plain_object("viewing", viewing, MAX_VIEWING_BYTES, errors)


def _check_watched(viewing: Mapping[str, Any], watching: Watching, errors: list[FieldError]) -> None:
    """Check that enough of each video was played. The values come from the page, so impossible ones are refused."""
    problem = implausible(viewing, watching.elapsed_s)
    if problem:
        errors.append(FieldError("viewing", f"{problem}; play both videos, then answer"))
        return
    left, right = watched_shares(viewing, watching.lengths)
    # A page counts in pieces of half a second, the last of which is seldom whole.
    if min(left, right) < watching.min_share - 0.005:
        found = f"left {left:.0%}, right {right:.0%}"
        errors.append(FieldError("viewing", f"please watch at least {watching.min_share:.0%} of each video; so far: {found}"))


def _plain_object(field: str, value: Any, max_bytes: int, errors: list[FieldError]) -> dict[str, Any]:
    if not isinstance(value, dict):
        errors.append(FieldError(field, f"expected an object; got {_shown(value)}"))
        return {}
    try:
        written = json.dumps(value, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        errors.append(FieldError(field, "it is not plain JSON (without infinite numbers and without endless nesting)"))
        return {}
    if not can_be_stored(written) or "\\u0000" in written:
        errors.append(FieldError(field, "it holds characters that are not text (a zero byte or half of a character pair)"))
    elif len(written.encode()) > max_bytes:
        errors.append(FieldError(field, f"at most {max_bytes // 1024} KiB; got {len(written.encode()) // 1024} KiB"))
    else:
        return value
    return {}


def can_be_stored(value: str) -> bool:
    """Whether every database can store this text: PostgreSQL refuses zero bytes, and UTF-8 refuses lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _plain(value: str) -> str:
    return value[:40].encode("ascii", "backslashreplace").decode()


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return repr(_plain(value))
    if isinstance(value, bool | int | float):
        return _plain(json.dumps(value)) if not isinstance(value, int) or abs(value) < 2**64 else "a huge number"
    return "a list" if isinstance(value, list) else "an object"

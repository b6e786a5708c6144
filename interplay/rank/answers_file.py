"""Read a CSV file of answers: columns left, right, outcome; optionally task, judge, time. Errors name the faulty line.

`read_judgements` reads the same file for agreement and bias, which need the judges and, if available, the episodes.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from interplay.errors import InterplayError
from interplay.rank.agreement import Judgement
from interplay.rank.standings import Comparison
from interplay.rank.trueskill import OUTCOMES, Outcome
from interplay.tables import decoded

_REQUIRED = ("left", "right", "outcome")
_OPTIONAL = ("task", "judge", "time")
_OF_JUDGEMENTS = ("seed", "left_episode", "right_episode", "reason", "reason_chars", "duration_s")
_EXAMPLE = "left,right,outcome\nada,bob,left\n"
_REPORT_EVERY = 2000
"""Rows between two calls of `on_progress`."""
_OF_ARENA = {"model_a": "left", "model_b": "right", "winner": "outcome", "tstamp": "time"}
"""LMArena's name of a column -> our name, unless the file already has a column with our name."""
_OUTCOME: dict[str, Outcome] = {
    **{outcome: outcome for outcome in OUTCOMES},
    **{"model_a": "left", "model_b": "right", "tie": "draw", "tie (bothbad)": "draw", "both_bad": "draw"},
}
Made = TypeVar("Made")
_Make = Callable[[Path, int, dict[str, int], list[str], dict[str, str]], Made]
"""Function that converts a row, given the file, the line, the columns, the row, and the names seen so far."""


class AnswersError(InterplayError):
    """An answers file cannot be used; the text names the file, the line and the remedy."""


def read_answers(path: Path | str, *, on_progress: Callable[[int, int], None] | None = None) -> list[Comparison]:
    """Read answers, sorted by `time` if the file has this column, else in the order of the file.

    Args:
        path: A UTF-8 CSV file (RFC 4180) with a header line. Columns `left`, `right` (agents' names) and `outcome`
            (`left`, `right`, `draw`) are required; `task`, `judge` and `time` are optional; others are ignored. `time` is
            ISO 8601 (UTC if it names no zone) or seconds since 1970; answers with equal times keep the file's order.
        on_progress: Called now and then with the number of bytes read and the number of all bytes.
    Raises:
        AnswersError: If the file cannot be read, a line is faulty or there is no answer.
    """
    path = Path(path)
    try:
        size_bytes = path.stat().st_size
        text = _text(path)
        report = (lambda share: on_progress(int(share * size_bytes), size_bytes)) if on_progress else (lambda share: None)
        comparisons = list(_parse(path, text, report, _comparison))
    except OSError as error:
        raise AnswersError(f"cannot read {path}: {error.strerror or error}\nRemedy: give a CSV file like\n{_EXAMPLE}") from None
    if not comparisons:
        raise AnswersError(f"{path}: no answers below the header\nRemedy: add one line for each answer, such as\nada,bob,left")
    if comparisons[0].time is not None:
        comparisons.sort(key=lambda comparison: comparison.time or datetime.max.replace(tzinfo=UTC))  # stable
    return comparisons


def read_judgements(path: Path | str) -> list[Judgement]:
    """Read the answers of a file for agreement and bias, in the file's order.

    Args:
        path: As for `read_answers`, with a column `judge`. The two compared things are `left_episode` and `right_episode` (ids)
            if the file has these columns, else the agents together with `seed`, if the file has it. `reason` (text) or
            `reason_chars` (its length) and `duration_s` (seconds) may be empty.
    Raises:
        AnswersError: If the column `judge` is missing, a judge has no name or a number cannot be read.
    """
    path = Path(path)
    return list(_parse(path, _text(path), lambda share: None, _judgement))


def _parse(path: Path, text: str, report: Callable[[float], None], make: _Make[Made]) -> Iterator[Made]:
    stream = io.StringIO(text)
    rows = csv.reader(stream, strict=True)
    columns: dict[str, int] | None = None
    width = 0
    # Judges, agents and tasks repeat on every line: one string each keeps memory flat and comparisons quick.
    names: dict[str, str] = {}
    num_rows = 0
    while True:
        start = rows.line_num + 1  # a quoted field may span lines; the line where the row begins is the useful one
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise AnswersError(
                f"{path}: line {start}: not CSV: {error}\n"
                'Remedy: put names with commas, quotes or line breaks in double quotes; write a quote inside them twice ("").'
            ) from None
        if row is None:
            break
        if not any(cell.strip() for cell in row):
            continue  # an empty line
        if columns is None:
            columns, width = _columns(path, start, row), len(row)
            continue
        if len(row) != width:
            raise AnswersError(
                f"{path}: line {start}: {len(row)} columns, but the header has {width}\n"
                "Remedy: put names that contain a comma in double quotes, and leave no column out."
            )
        yield make(path, start, columns, row, names)
        num_rows += 1
        if num_rows % _REPORT_EVERY == 0:
            report(stream.tell() / len(text))
    if columns is None:
        raise AnswersError(f"{path}: line 1: the file is empty\nRemedy: give a CSV file like\n{_EXAMPLE}")
    report(1)


def _text(path: Path) -> str:
    try:
        return decoded(path.read_bytes())
    except ValueError as error:
        raise AnswersError(f"{path}: {error}\nIn a spreadsheet, export the answers as CSV: 'CSV UTF-8'.") from None


def _columns(path: Path, line: int, header: list[str]) -> dict[str, int]:
    """Map the name of each known column to its index."""
    names = [cell.strip().lower() for cell in header]
    names = [_OF_ARENA[name] if _OF_ARENA.get(name, name) not in names else name for name in names]
    missing = [name for name in _REQUIRED if name not in names]
    if missing:
        hint = "the first line must name the columns"
        if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
            hint = "columns are separated by commas, not by semicolons or tabs"
        raise AnswersError(
            f"{path}: line {line}: missing column{'s' if len(missing) > 1 else ''} {', '.join(missing)}; "
            f"found {', '.join(repr(cell) for cell in header)}\n"
            f"Remedy: {hint}: left, right, outcome and, if you have them, task, judge, time."
        )
    known = (*_REQUIRED, *_OPTIONAL, *_OF_JUDGEMENTS)
    for name in known:
        if names.count(name) > 1:
            raise AnswersError(f"{path}: line {line}: column {name!r} occurs {names.count(name)} times\nRemedy: keep one.")
    return {name: names.index(name) for name in known if name in names}


def _comparison(path: Path, line: int, columns: dict[str, int], row: list[str], names: dict[str, str]) -> Comparison:
    # A letter with its accent is written in two ways; both are one name.
    cells = {name: unicodedata.normalize("NFC", row[place].strip()) for name, place in columns.items()}
    for name in ("left", "right"):
        if not cells[name]:
            raise AnswersError(f"{path}: line {line}: column {name!r} is empty\nRemedy: write the agent's name there.")
    left, right = (names.setdefault(cells[side], cells[side]) for side in ("left", "right"))
    if left == right:
        raise AnswersError(
            f"{path}: line {line}: agent {left!r} is on both sides\n"
            "Remedy: an agent cannot be compared with itself; correct or remove the line."
        )
    outcome = _OUTCOME.get(cells["outcome"].lower())
    if outcome is None:
        raise AnswersError(
            f"{path}: line {line}: unknown outcome {cells['outcome']!r}\n"
            "Remedy: write left, right (the side that was better) or draw."
        )
    task, judge = cells.get("task", ""), cells.get("judge", "")
    time = _time(path, line, cells["time"]) if "time" in cells else None
    return Comparison(left, right, outcome, names.setdefault(task, task), names.setdefault(judge, judge), time)


def _judgement(path: Path, line: int, columns: dict[str, int], row: list[str], names: dict[str, str]) -> Judgement:
    if "judge" not in columns:
        raise AnswersError(
            f"{path}: line 1: there is no column 'judge', which agreement and bias need\n"
            "Remedy: add a column 'judge' with a name or number for each judge."
        )
    comparison = _comparison(path, line, columns, row, names)
    if not comparison.judge:
        raise AnswersError(f"{path}: line {line}: column 'judge' is empty\nRemedy: write the name of the judge there.")
    cells = {name: row[columns[name]].strip() for name in _OF_JUDGEMENTS if name in columns}
    things = []
    for side, agent in (("left", comparison.left), ("right", comparison.right)):
        thing = cells.get(f"{side}_episode") or (f"{agent} {cells['seed']}" if cells.get("seed") else agent)
        things.append(names.setdefault(thing, thing))
    chars = _number(path, line, "reason_chars", cells.get("reason_chars", ""))
    if chars is None and cells.get("reason"):
        chars = len(cells["reason"])
    return Judgement(
        judge=comparison.judge,
        left=things[0],
        right=things[1],
        outcome=comparison.outcome,
        task=comparison.task,
        num_reason_chars=None if chars is None else int(chars),
        duration_s=_number(path, line, "duration_s", cells.get("duration_s", "")),
    )


def _number(path: Path, line: int, name: str, text: str) -> float | None:
    """Read a number of at least zero; None if the text is empty."""
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise AnswersError(
            f"{path}: line {line}: column {name!r} has {text!r}, which is not a number of zero or more\n"
            "Remedy: write a plain number, such as 312, or leave it empty."
        )
    return value


def _time(path: Path, line: int, text: str) -> datetime:
    try:
        try:
            time = datetime.fromtimestamp(float(text), UTC)
        except ValueError:
            time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise AnswersError(
            f"{path}: line {line}: cannot read the time {text!r}\n"
            "Remedy: write 2026-02-28T13:30:00Z or seconds since 1970 on every line, or remove the column to keep the order."
        ) from None

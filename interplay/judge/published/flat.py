"""Write answers as a table for statistics programs: one row for each answer, and columns for each factor."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Session

from interplay.files import replacing, write_json
from interplay.judge.published.dataset_export import (
    NO_ANSWERS,
    Selection,
    Tasks,
    export_answers,
    played_by,
    seat_of,
    selected,
    write_items,
)
from interplay.judge.published.row import DatasetError
from interplay.judge.published.segments import export_segments
from interplay.judge.viewing import watched
from interplay.store import Database
from interplay.store import judging as store
from interplay.store.judging import SegmentRow
from interplay.store.judging import bans as ban_store
from interplay.store.uploads import ExportedAnswer
from interplay.tasks import Question, Task

if TYPE_CHECKING:
    import pyarrow as pa


COLUMNS = {
    "sequence": "int64",
    "dataset": "string",
    "match": "string",
    "task": "string",
    "task_hash": "string",
    "seed": "int64",
    "seat": "string",
    "left_agent": "string",
    "right_agent": "string",
    "left_episode": "string",
    "right_episode": "string",
    "left_first_step": "int64",
    "left_last_step": "int64",
    "right_first_step": "int64",
    "right_last_step": "int64",
    "judge": "string",
    "judge_kind": "string",
    "is_banned": "bool",
    "study": "string",
    "purpose": "string",
    "started_at": "timestamp",
    "answered_at": "timestamp",
    "duration_s": "float64",
    "outcome": "string",
    "reason": "string",
    "num_chars": "int64",
    "num_words": "int64",
    "played_s": "float64",
    "left_watched_s": "float64",
    "right_watched_s": "float64",
    "num_viewing_events": "int64",
}
"""Columns that every table has, before the columns of factors; docs/dataset.md explains them."""


def factor_columns(question: Question) -> tuple[str, ...]:
    """Return a question's column names: one if it is comparative, two (left and right) if direct, none if overall.

    >>> factor_columns(Question("found", "Found Cave", "direct", "Is there a cave?"))
    ('factor_found_cave_left', 'factor_found_cave_right')
    """
    if question.kind == "overall":
        return ()
    name = "factor_" + re.sub(r"[^a-z0-9]+", "_", question.factor.lower()).strip("_")
    return (f"{name}_left", f"{name}_right") if question.kind == "direct" else (name,)


def _columns_of(task: Task) -> list[tuple[Question, tuple[str, ...]]]:
    found = [(question, factor_columns(question)) for question in task.questions]
    of_column: dict[str, str] = {}
    for question, names in found:
        for name in names:
            if (other := of_column.setdefault(name, question.id)) != question.id:
                raise DatasetError(
                    f"questions {other!r} and {question.id!r} of {task.id} have the same column, {name}\n"
                    "Write a .json file instead; in a table, two questions of one kind must have different factors."
                )
    return found


def flat_table(session: Session, selection: Selection) -> pa.Table:
    """Return one row for each answer, in the order of the log, checks (`purpose`) and model judges (`judge_kind`) included.

    Raises:
        DatasetError: If there is no answer, or two questions of a task would share a column.
        NotFoundError: If nothing was imported under the selection's name.
    """
    import pyarrow as pa

    tasks, banned = Tasks(session), ban_store.banned(session)
    rows: list[dict[str, Any]] = []
    types: dict[str, pa.DataType] = {}
    forms: dict[str, list[tuple[Question, tuple[str, ...]]]] = {}
    answers = list(selected(session, selection))
    segments = store.segments_by_id(
        session, {one for answer in answers if answer.left_segment_id is not None for one in answer.segments}
    )
    for answer in answers:
        row = {
            "sequence": answer.sequence,
            "dataset": None if answer.source is None else answer.source["dataset"],
            "match": answer.match_id,
            "task": answer.task,
            "task_hash": answer.task_hash,
            "seed": answer.seed,
            "seat": seat_of(answer, tasks.of(answer.task_hash)),
            "left_agent": played_by(answer.left_agent, selection.pseudonyms),
            "right_agent": played_by(answer.right_agent, selection.pseudonyms),
            "left_episode": answer.left_episode_id,
            "right_episode": answer.right_episode_id,
            **_steps(answer, segments),
            "judge": answer.judge if selection.pseudonyms is None else selection.pseudonyms(answer.judge),
            "judge_kind": answer.judge_kind,
            "is_banned": answer.judge in banned,
            "study": answer.study,
            "purpose": answer.purpose,
            "started_at": answer.served_at,
            "answered_at": answer.created_at,
            "duration_s": answer.duration_s,
            "outcome": answer.outcome,
            "reason": answer.reason,
            "num_chars": len(answer.reason),
            "num_words": len(answer.reason.split()),
            **watched(answer.viewing),
        }
        if answer.task_hash not in forms:
            forms[answer.task_hash] = _columns_of(tasks.of(answer.task_hash))
        for question, names in forms[answer.task_hash]:
            given = answer.responses.get(question.id)
            if question.kind == "direct" and isinstance(given, dict):
                row |= {names[0]: given.get("left"), names[1]: given.get("right")}
            elif question.kind == "comparative" and isinstance(given, str):
                row[names[0]] = given
            types |= dict.fromkeys(names, pa.bool_() if question.kind == "direct" else pa.string())
        rows.append(row)
    if not rows:
        raise DatasetError(NO_ANSWERS)
    kinds = {name: pa.timestamp("us", tz="UTC") if kind == "timestamp" else kind for name, kind in COLUMNS.items()}
    schema = pa.schema([*kinds.items(), *sorted(types.items())])
    return pa.Table.from_pylist(rows, schema=schema)


def _steps(answer: ExportedAnswer, segments: dict[int, SegmentRow]) -> dict[str, int]:
    if answer.left_segment_id is None:
        return {}
    found: dict[str, int] = {}
    for side, number in zip(("left", "right"), answer.segments, strict=True):
        found |= {f"{side}_first_step": segments[number].first_step, f"{side}_last_step": segments[number].last_step}
    return found


ENDINGS = (".json", ".parquet", ".csv")


def export_file(database: Database, selection: Selection, path: Path, *, segments: bool = False) -> int:
    """Write the present answers to a file and return their number. The file's ending, one of `ENDINGS`, sets the format.

    Args:
        segments: Write only the answers about segments, which have their own format. A table holds both kinds of answers.
    Raises:
        DatasetError: If there are no answers, or the file cannot be written.
    """
    with database.read() as session:
        try:
            if segments:
                document = export_segments(session, selection)
                write_json(path, document)
                return len(document["answers"])
            if path.suffix == ".json":
                items = export_answers(session, selection)
                write_items(items, path)
                return len(items)
            return _write_table(flat_table(session, selection), path)
        except OSError as error:
            raise DatasetError(f"cannot write {path}: {error.strerror or error}\nChoose another place.") from error


def _write_table(table: pa.Table, path: Path) -> int:
    import pyarrow.csv
    import pyarrow.parquet

    with replacing(path) as part:
        if path.suffix == ".parquet":
            pyarrow.parquet.write_table(table, part, compression="zstd")
        else:
            pyarrow.csv.write_csv(table, part)
    return table.num_rows

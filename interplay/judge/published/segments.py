"""Export and import answers about segments, in their own file format. The games are exported separately, as episodes.

The published format cannot hold these answers: each of its rows has one seed for both videos and ranks two agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from interplay.errors import InterplayError
from interplay.judge.form import check_form
from interplay.judge.published.dataset_export import Selection, played_by, selected
from interplay.judge.published.dataset_import import check_name, judge_of, match_id_of
from interplay.judge.published.row import DatasetError
from interplay.record import Archive
from interplay.store import EpisodeRow, Match
from interplay.store import judging as store
from interplay.store.judging import NewSegment, SegmentRow
from interplay.store.locks import lock
from interplay.tables import Table

FORMAT = "interplay answers about segments"
VERSION = 1


def is_of_segments(document: Any) -> bool:
    return isinstance(document, dict) and document.get("format") == FORMAT


def export_segments(session: Session, selection: Selection) -> dict[str, Any]:
    """Return answers about segments, oldest first, without checks and model judges. Errors as in `export_answers`."""
    answers = [one for one in selected(session, selection) if one.purpose == "segment" and one.judge_kind != "model"]
    if not answers:
        raise DatasetError("there are no answers about segments to write\nOpen a study of segments: docs/rewards.md says how.")
    names = selection.pseudonyms
    known = store.segments_by_id(session, {one for answer in answers for one in answer.segments})

    def side(number: int) -> dict[str, Any]:
        one = known[number]
        steps = {"episode": one.episode_id, "first_step": one.first_step, "last_step": one.last_step}
        return {**steps, "agent": played_by(one.agent, names), "is_held_out": one.is_held_out}

    rows = [
        {
            "match": answer.match_id,
            "study": answer.study,
            "task": answer.task,
            "seat": answer.seat,
            "left": side(answer.segments[0]),
            "right": side(answer.segments[1]),
            "outcome": answer.outcome,
            "reason": answer.reason,
            "judge": answer.judge if names is None else names(answer.judge),
            "served_at": answer.served_at.isoformat(),
            "answered_at": answer.created_at.isoformat(),
            "duration_s": answer.duration_s,
            "viewing": answer.viewing,
        }
        for answer in answers
    ]
    return {"format": FORMAT, "version": VERSION, "answers": rows}


def import_segments(archive: Archive, document: Mapping[str, Any], name: str, source: str) -> dict[str, Any]:
    """Import the answers of a file of segments. A second import of the same file adds nothing.

    The games must be on this server already, under the same ids.

    Args:
        name: Name of the set, used like the name of a study (`interplay learn reward --study NAME`). The names of its judges
            become `NAME/judge`.
    Returns:
        Number of answers `imported`, number that was `there_before`, and `dropped`: reason -> number.
    Raises:
        DatasetError: If the file has another version, if no answer can be used, or if a study here has this name.
    """
    check_name(name)
    if document.get("version") != VERSION or not isinstance(document.get("answers"), list):
        raise DatasetError(f"{source}: expected a file of answers, version {VERSION}; got version {document.get('version')!r}")
    rows, counts, dropped = document["answers"], Counter[str](), Counter[str]()
    with archive.database.write() as session:
        lock(session, "dataset", name)
        if store.study(session, name) is not None:
            raise DatasetError(f"{name} is a study of this server\nGive the set another name:  --name OTHER")
        version = f"import:{name}"
        for row in rows:
            try:
                counts[_enter(session, row, name, version)] += 1
            except _UnusableError as error:
                dropped[str(error)] += 1
    if rows and not counts:
        reason, number = dropped.most_common(1)[0]
        raise DatasetError(
            f"{source}: none of its {len(rows)} answers can be used; reason for {number}: {reason}\n"
            "Import the games first:  interplay episodes import, or interplay episodes pull"
        )
    return {"imported": counts["imported"], "there_before": counts["there_before"], "dropped": dict(dropped)}


class _UnusableError(InterplayError):
    """One answer is dropped; the text says the reason."""


def _enter(session: Session, row: Any, name: str, version: str) -> str:
    table = Table(row if isinstance(row, dict) else {}, "answer", refuse=_UnusableError)
    match_id = match_id_of(name, table.text("match"))
    if store.match_to_read(session, match_id) is not None:
        return "there_before"
    left, right = (_segment(session, table.table(side), name, version) for side in ("left", "right"))
    if left.task != right.task:
        raise _UnusableError(f"compares games of two tasks, {left.task} and {right.task}")
    try:
        times = {key: datetime.fromisoformat(table.text(key)) for key in ("served_at", "answered_at")}
        said = {key: table.raw(key, kind) for key, kind in (("outcome", str), ("reason", str), ("viewing", dict))}
        form = check_form((), responses={}, min_reason_chars=0, may_be_na=True, **said)
        if any(time.tzinfo is None for time in times.values()):
            raise ValueError("a time without a time zone")
    except (ValueError, InterplayError) as error:
        raise _UnusableError(f"is not a valid answer: {error}") from None
    match = Match(
        id=match_id,
        task=left.task,
        task_hash=left.task_hash,
        seed=left.seed,
        left_episode_id=left.episode_id,
        right_episode_id=right.episode_id,
        left_agent=left.agent,
        right_agent=right.agent,
        left_segment_id=left.id,
        right_segment_id=right.id,
        judge=judge_of(name, table.text("judge")),
        served_at=times["served_at"],
        seen_at=times["answered_at"],
        released_at=times["answered_at"],  # it is before nobody
        study=name,
        purpose="segment",
        seat=table.text("seat", ""),
    )
    store.add_match(session, match)
    duration_s = None if table.values.get("duration_s") is None else float(table.number("duration_s", low=0, high=1e9))
    given = {"created_at": times["answered_at"], "duration_s": duration_s, **asdict(form)}
    if store.append_answer(session, match, **given) is None:
        raise _UnusableError("is from a judge who later answered about the same two segments")
    return "imported"


def _segment(session: Session, table: Table, name: str, version: str) -> SegmentRow:
    first, last = table.count("first_step", low=0, high=10**9), table.count("last_step", low=0, high=10**9)
    episode = session.get(EpisodeRow, table.text("episode"))
    if episode is None or not first <= last < episode.num_steps:
        raise _UnusableError("a game of it is not here" if episode is None else "its steps are not those of the game")
    new = NewSegment(episode.id, first, last, table.text("agent"), table.raw("is_held_out", bool))
    return store.entered_segment(session, name, version, new)

"""Write answers in the published format, newest first. Imported answers are written as they were imported."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from interplay.errors import unknown_name
from interplay.files import replacing
from interplay.judge.published.row import DatasetError, item_of
from interplay.judge.viewing import published_events
from interplay.record.exchange.pseudonyms import Pseudonyms
from interplay.store import uploads as store
from interplay.store.judging import bans as ban_store
from interplay.tasks import Task
from interplay.tasks.task import published_name

NO_ANSWERS = "there are no such answers to write\nImport some with `interplay judge import`, or judge: interplay serve"
PLAYERS = {"left": "p1", "right": "p2", "draw": "draw", "na": "na"}
"""Our word for an answer -> the published word."""


@dataclass(frozen=True)
class Selection:
    """The answers to write, and whether names are replaced.

    Attributes:
        name: Name of an imported set, to write only its answers; None for all answers.
        pseudonyms: Pseudonyms for the names of judges and of people who played; None to keep the names.
    """

    name: str | None = None
    task: str | None = None
    include_banned: bool = False
    pseudonyms: Pseudonyms | None = None


def export_answers(session: Session, selection: Selection) -> list[dict[str, Any]]:
    """Return the answers that can change ratings, in the published format, newest first.

    Answers to checks, and answers of model judges, are left out. If all answers are from one imported set, they keep the order
    of its file. Raises DatasetError if there is no answer, NotFoundError for an unknown set.
    """
    tasks = Tasks(session)
    counted = [one for one in selected(session, selection) if one.purpose == "rating" and one.judge_kind != "model"]
    if not counted:
        raise DatasetError(NO_ANSWERS)
    sets = {None if answer.source is None else answer.source["dataset"] for answer in counted}

    def age(answer: store.ExportedAnswer) -> float:
        if answer.source is None or len(sets) > 1:
            return answer.created_at.timestamp()
        return answer.source["age"]

    counted.sort(key=lambda answer: (age(answer), answer.sequence), reverse=True)
    return [_item(answer, tasks.of(answer.task_hash), selection.pseudonyms) for answer in counted]


def selected(session: Session, selection: Selection) -> Iterator[store.ExportedAnswer]:
    """Yield a selection's answers in the order of the log, checks and model judges included (NotFoundError: unknown set)."""
    if selection.name is not None and selection.name not in (there := store.datasets(session)):
        raise unknown_name("imported set", selection.name, there, hint="Leave --name out for every answer that is here.")
    banned = frozenset() if selection.include_banned else ban_store.banned(session)
    for answer in store.exported(session, dataset=selection.name, task=selection.task):
        if answer.judge not in banned:
            yield answer


class Tasks:
    """The versions of tasks that answers are about. Each is read once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tasks: dict[str, Task] = {}

    def of(self, task_hash: str) -> Task:
        if task_hash not in self._tasks:
            (definition,) = store.task_definitions(self._session, [task_hash]).values()
            self._tasks[task_hash] = Task.from_json(definition)
        return self._tasks[task_hash]


def _item(answer: store.ExportedAnswer, task: Task, pseudonyms: Pseudonyms | None) -> dict[str, Any]:
    if answer.source is None:
        return _own(answer, task, pseudonyms)
    item = item_of(answer.source, answer.reason, answer.viewing)
    if pseudonyms is not None:
        item = without_worker(item, answer.judge.partition("/")[2], pseudonyms(answer.judge))
    return item


def _own(answer: store.ExportedAnswer, task: Task, pseudonyms: Pseudonyms | None) -> dict[str, Any]:
    worker = answer.judge if pseudonyms is None else pseudonyms(answer.judge)
    sides = (
        (played_by(answer.left_agent, pseudonyms), answer.left_episode_id),
        (played_by(answer.right_agent, pseudonyms), answer.right_episode_id),
    )
    episodes = [
        {
            "agent_name": agent,
            "task": published_name(task),
            "hash": episode,
            "video_filename": f"{episode}.mp4",
            "video_uri": "",
            "seed": str(answer.seed),
            "meta": {},
        }
        for agent, episode in sides
    ]
    hashes = [episode for _, episode in sides]
    videos = [one["video_filename"] for one in episodes]
    served_ms = round(answer.served_at.timestamp() * 1000)
    ranks = hashes[::-1] if answer.outcome == "right" else hashes
    metadata = {
        "start_time": served_ms,
        # Where the clock was set meanwhile, nobody knows how long it took; when it was answered is known.
        "end_time": round(answer.created_at.timestamp() * 1000)
        if answer.duration_s is None
        else served_ms + round(answer.duration_s * 1000),
        "VIDEO_EVENTS": published_events(answer.viewing, served_ms=served_ms, videos=(videos[0], videos[1])),
        "viewing": answer.viewing,
        "responses": _responses(answer, task),
        "win_player": PLAYERS[answer.outcome],
        "match_hash": answer.match_id,
        "seat": seat_of(answer, task),
        "ranks": ranks,
        "is_draw": answer.outcome == "draw",
        "study": answer.study,
        "judge_kind": answer.judge_kind,
        **{f"mturk_{key}": "N/A" for key in ("assignmentId", "hitId", "turkSubmitTo", "workerId")},
    }
    return {
        "worker_id": worker,
        "task": published_name(task),
        "episodes": episodes,
        "result": {
            "hash": f"{answer.match_id}-answer",
            "created_at": _stamp(answer.created_at),
            "ranks": ranks,
            "is_draw": answer.outcome == "draw",
            "eval_metadata": metadata,
        },
        "hash": answer.match_id,
        "created_at": _stamp(answer.served_at),
        "updated_at": _stamp(answer.created_at),
        "expiry_at": None,
    }


def played_by(name: str, pseudonyms: Pseudonyms | None) -> str:
    return name if pseudonyms is None else pseudonyms.player(name)


def seat_of(answer: store.ExportedAnswer, task: Task) -> str | None:
    return answer.seat or None if len(task.seats) > 1 else None


def _responses(answer: store.ExportedAnswer, task: Task) -> dict[str, Any]:
    direct, comparisons = [], []
    for question in task.questions:
        given = answer.responses.get(question.id)
        if question.kind == "direct":
            sides = given if isinstance(given, dict) else {}
            players = {f"player_{n}": _yes_or_no(sides.get(side)) for n, side in ((1, "left"), (2, "right"))}
            direct.append({"question": question.text} | players)
        elif question.kind == "comparative":
            comparisons.append({"question": question.text, "answer": PLAYERS.get(str(given), "")})
    return {"direct_question": direct, "comparisons": comparisons, "justificationText": answer.reason}


def _yes_or_no(value: Any) -> str:
    return {True: "true", False: "false"}.get(value, "")


def _stamp(time: datetime) -> str:
    return time.replace(tzinfo=None).isoformat()


def write_items(items: Iterable[dict[str, Any]], path: Path) -> None:
    """Write a JSON list, one item on each line. If writing fails, no incomplete file remains."""
    with replacing(path) as part, part.open("w", encoding="utf-8") as file:
        separator = "[\n"
        for item in items:
            file.write(separator + json.dumps(item, ensure_ascii=False))
            separator = ",\n"
        file.write("\n]\n")


_TELLING = ("assignment", "hitid", "hit_id", "submitto", "submit_to", "session", "cookie", "referer", "username", "user_id")
"""Parts of the names of fields that identify a person, or a person's work on a recruiting platform."""
_LONG_ENOUGH = 6
"""Smallest length of ids that are replaced anywhere. A shorter id (`7`) is replaced only where it is the whole text."""


def without_worker(item: Any, worker: str, pseudonym: str, name: str = "") -> Any:
    """Return a row with a pseudonym for the worker's id, and "N/A" in fields that identify work on a recruiting platform."""
    if isinstance(item, dict):
        return {
            _without(key, worker, pseudonym): without_worker(value, worker, pseudonym, str(key).lower())
            for key, value in item.items()
        }
    if isinstance(item, list):
        return [without_worker(value, worker, pseudonym, name) for value in item]
    if any(part in name for part in _TELLING):
        return "N/A"
    if not isinstance(item, str | int) or isinstance(item, bool):
        return item
    if not isinstance(item, str):
        return pseudonym if str(item) == worker else item
    if item.startswith("{"):  # the published server kept a page's report as a text
        try:
            return json.dumps(without_worker(json.loads(item), worker, pseudonym), ensure_ascii=False)
        except ValueError:
            pass
    return _without(item, worker, pseudonym)


def _without(text: str, worker: str, pseudonym: str) -> str:
    if text.strip() == worker:
        return pseudonym
    return text.replace(worker, pseudonym) if len(worker) >= _LONG_ENOUGH else text

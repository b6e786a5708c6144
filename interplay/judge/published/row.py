"""Read rows of a published evaluation set. Missing values are accepted; rows that contradict themselves are dropped."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.judge.published.questions import Wordings, read_responses
from interplay.store.participants import is_given_name, one_spelling
from interplay.tasks import Task

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
OUTCOMES = {"p1": "left", "p2": "right", "draw": "draw"}
_LONGEST = timedelta(days=30)


class DatasetError(InterplayError):
    """A file of answers cannot be read or written."""


class DroppedRowError(Exception):
    """One row is dropped; the text says the reason."""


@dataclass(frozen=True)
class PublishedAnswer:
    """A valid row of a published file.

    Attributes:
        row: Number of the row in the file, from 1.
        key: Identifies the answer in every version of the file.
        responses: Question id -> answer, as in our forms.
        notes: Irregularities of the row, and how they were interpreted.
        item: The row as it is in the file.
    """

    row: int
    key: str
    task: Task
    seed: int
    left: str
    right: str
    outcome: str
    responses: dict[str, Any]
    reason: str
    worker: str
    started_at: datetime
    answered_at: datetime
    viewing: dict[str, Any]
    notes: tuple[str, ...]
    item: dict[str, Any]

    @property
    def duration_s(self) -> float:
        return (self.answered_at - self.started_at).total_seconds()


@dataclass(frozen=True)
class ReadItems:
    """The valid rows of a file in its order, and for each dropped row its number (from 1), hash and reason."""

    answers: list[PublishedAnswer]
    dropped: list[tuple[int, str, str]]
    wordings: Wordings


def load_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise DatasetError(
            f"{path}: no such file\nGive the JSON file of the answers, as it was downloaded and unpacked."
        ) from None
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"{path}: is not JSON: {error}\nUnpack it if it is an archive, or download it again if it was cut off."
        ) from error


def read_items(document: Any, names: Mapping[str, Task], source: str = "the file") -> ReadItems:
    """Read a published list, newest first (DatasetError if it is no list); `names` is from `video_folder.task_names`."""
    if not isinstance(document, list):
        raise DatasetError(
            f"{source}: is not a list of answers but {'an object' if isinstance(document, dict) else type(document).__name__}\n"
            "The published file is one JSON list with one object for each answer, newest first."
        )
    wordings = Wordings(
        (names[item["task"]], _responses(metadata_of(item)))
        for item in document
        if isinstance(item, dict) and isinstance(item.get("task"), str) and item["task"] in names
    )
    read = ReadItems([], [], wordings)
    first: dict[str, int] = {}
    # Newest first: going backwards, of two rows with one hash the one that was there first stays.
    for row in range(len(document), 0, -1):
        item = document[row - 1]
        try:
            answer = _read(row, item, names, wordings)
            if (other := first.setdefault(answer.key, row)) != row:
                raise DroppedRowError(f"is the same match as row {other}")
            read.answers.append(answer)
        except DroppedRowError as error:
            read.dropped.append((row, str(item.get("hash") or "") if isinstance(item, dict) else "", str(error)))
    read.answers.reverse()
    read.dropped.reverse()
    return read


def metadata_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data that the judge's page sent, which a row holds as an object or as JSON text; empty without such data."""
    result = item.get("result")
    found = result.get("eval_metadata") if isinstance(result, dict) else None
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            return {}
    return found if isinstance(found, dict) else {}


def _read(row: int, item: Any, names: Mapping[str, Task], wordings: Wordings) -> PublishedAnswer:
    if not isinstance(item, dict):
        raise DroppedRowError(f"is not an object but {type(item).__name__}")
    _check_text(item)
    metadata = metadata_of(item)
    result = item["result"] if isinstance(item.get("result"), dict) else {}
    if not result and not metadata:
        raise DroppedRowError("has no result")
    task = _task(item, names)
    episodes = _episodes(item, task, names)
    agents = [_agent(episode) for episode in episodes]
    if agents[0] == agents[1]:
        raise DroppedRowError(f"compares {agents[0]} with itself")
    seed = _seed(episodes)
    winner = _winner(metadata, result, episodes)
    notes = [] if seed in task.held_out_seeds else ["a seed that is not held out"]
    answered_at, started_at = _times(item, result, metadata, notes)
    responses, more = read_responses(task, _responses(metadata), winner, wordings)
    notes += more
    reason = _responses(metadata).get("justificationText")
    if not isinstance(reason, str) or not reason.strip():
        reason = ""
        notes.append("no reason")
    events = metadata.get("VIDEO_EVENTS")
    return PublishedAnswer(
        row=row,
        key=_key(item, result, metadata),
        task=task,
        seed=seed,
        left=agents[0],
        right=agents[1],
        outcome=OUTCOMES[winner],
        responses=responses,
        reason=reason,
        worker=_worker(item, metadata, notes),
        started_at=started_at,
        answered_at=answered_at,
        viewing={"published_events": events} if isinstance(events, list) else {},
        notes=tuple(notes),
        item=item,
    )


def _check_text(item: dict[str, Any]) -> None:
    try:
        text = json.dumps(item, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (ValueError, RecursionError):  # UnicodeEncodeError is one
        raise DroppedRowError("holds numbers or characters that JSON cannot hold") from None
    if "\\u0000" in text:
        raise DroppedRowError("holds a zero byte")


def _task(item: Mapping[str, Any], names: Mapping[str, Task]) -> Task:
    name = item.get("task")
    if not isinstance(name, str) or name not in names:
        raise DroppedRowError(f"is about an unknown task {name!r}")
    return names[name]


def _episodes(item: Mapping[str, Any], task: Task, names: Mapping[str, Task]) -> list[dict[str, Any]]:
    episodes = item.get("episodes")
    if not isinstance(episodes, list) or not all(isinstance(episode, dict) for episode in episodes):
        raise DroppedRowError("has no list of episodes")
    if len(episodes) != 2:
        raise DroppedRowError(f"has {len(episodes)} episodes, but 2 are compared")
    for episode in episodes:
        other = episode.get("task")
        if other is not None and (not isinstance(other, str) or names.get(other) is not task):
            raise DroppedRowError(f"is about {item['task']} and shows a video of {other}")
    hashes = [episode.get("hash") for episode in episodes]
    if hashes[0] is not None and hashes[0] == hashes[1]:
        raise DroppedRowError("shows the same video twice")
    return episodes


def _agent(episode: Mapping[str, Any]) -> str:
    name = episode.get("agent_name")
    spelt = one_spelling(name) if isinstance(name, str) else ""
    if not is_given_name(spelt):
        raise DroppedRowError(f"has an agent with the invalid name {str(name)[:60]!r}")
    return spelt


def _seed(episodes: Sequence[Mapping[str, Any]]) -> int:
    seeds = []
    for episode in episodes:
        value = episode.get("seed")
        text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
        if not re.fullmatch(r"-?\d{1,10}", text) or not -(2**31) <= int(text) < 2**31:
            raise DroppedRowError(f"has a seed that is not a number: {str(value)[:40]!r}")
        seeds.append(int(text))
    if seeds[0] != seeds[1]:
        raise DroppedRowError(f"compares seed {seeds[0]} with seed {seeds[1]}")
    return seeds[0]


def _winner(metadata: Mapping[str, Any], result: Mapping[str, Any], episodes: Sequence[Mapping[str, Any]]) -> str:
    """Return the outcome of a row: `p1`, `p2` or `draw`. All values of the row that state an outcome must agree."""
    is_draw = result.get("is_draw", metadata.get("is_draw"))
    order = _order(result.get("ranks", metadata.get("ranks")), episodes)
    winner = metadata.get("win_player")
    if winner in (None, ""):
        winner = "draw" if is_draw is True else order
        if winner is None:
            raise DroppedRowError("does not say who won")
    if winner not in OUTCOMES:
        raise DroppedRowError(f"has an unknown outcome {str(winner)[:40]!r}")
    if isinstance(is_draw, bool) and is_draw != (winner == "draw"):
        raise DroppedRowError(f"contradicts itself: win_player is {winner}, is_draw is {str(is_draw).lower()}")
    if order is not None and winner != "draw" and order not in ("draw", winner):
        raise DroppedRowError(f"contradicts itself: win_player is {winner}, ranks put {order} first")
    if order == "draw" and winner != "draw":
        raise DroppedRowError(f"contradicts itself: win_player is {winner}, ranks are equal")
    return winner


def _order(ranks: Any, episodes: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the winner by `ranks`: the hashes of the videos, best first, or two numbers. Return None if `ranks` is empty."""
    if isinstance(ranks, str):
        try:
            ranks = json.loads(ranks)
        except (ValueError, RecursionError):
            raise DroppedRowError("has ranks that cannot be read") from None
    if ranks is None or ranks == []:
        return None
    if not isinstance(ranks, list) or len(ranks) != 2:
        raise DroppedRowError("does not rank two videos")
    if all(isinstance(rank, int) for rank in ranks):
        return "draw" if ranks[0] == ranks[1] else "p1" if ranks[0] < ranks[1] else "p2"
    hashes = [episode.get("hash") for episode in episodes]
    if ranks == hashes:
        return "p1"
    if ranks == hashes[::-1]:
        return "p2"
    raise DroppedRowError("ranks videos that are not the videos of the match")


def _times(
    item: Mapping[str, Any], result: Mapping[str, Any], metadata: Mapping[str, Any], notes: list[str]
) -> tuple[datetime, datetime]:
    """Return when the judge answered and began: the server's time of the answer, less the duration that the page reports."""
    start, end = _instant(metadata, "start_time"), _instant(metadata, "end_time")
    created, updated = _instant(item, "created_at"), _instant(item, "updated_at")
    answered = _instant(result, "created_at") or updated or end or created
    if answered is None:
        raise DroppedRowError("does not say when the answer was given")
    if start is not None and end is not None:
        duration = end - start
    elif created is not None:
        duration = answered - created
        notes.append("no start or end time, so the duration is counted from the match to the answer")
    else:
        duration = timedelta(0)
        notes.append("no start or end time, so the duration is unknown")
    if duration < timedelta(0):
        raise DroppedRowError(f"ends {-duration.total_seconds():g} s before it begins")
    if duration > _LONGEST:
        raise DroppedRowError(f"took {duration.days} days")
    return answered, answered - duration


def _instant(place: Mapping[str, Any], key: str) -> datetime | None:
    """Read a time: ISO 8601 (UTC if it names no zone), or milliseconds or seconds since 1970. None if it is empty."""
    value = place.get(key)
    if value in (None, "", "N/A"):
        return None
    try:
        if isinstance(value, str) and not re.fullmatch(r"\d+(\.\d+)?", value.strip()):
            found = datetime.fromisoformat(value.strip())
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        elif isinstance(value, int | float | str) and not isinstance(value, bool):
            number = float(value)
            found = datetime.fromtimestamp(number / 1000 if number > 1e11 else number, UTC)
        else:
            raise ValueError
    except (ValueError, OverflowError, OSError):
        raise DroppedRowError(f"has an invalid {key}: {str(value)[:40]!r} is not a time") from None
    if not EARLIEST <= found <= datetime.now(UTC) + timedelta(days=1):
        raise DroppedRowError(f"has an impossible {key}: {found:%Y-%m-%d}")
    return found


def _worker(item: Mapping[str, Any], metadata: Mapping[str, Any], notes: list[str]) -> str:
    named = [item.get("worker_id"), metadata.get("mturk_workerId")]
    workers = [str(name).strip() for name in named if isinstance(name, str | int) and str(name).strip() not in ("", "N/A")]
    if not workers:
        raise DroppedRowError("does not say who judged")
    if len(set(workers)) > 1:
        notes.append("the page names another worker than the file")
    if len(workers[0]) > 200:
        raise DroppedRowError("has a worker id of more than 200 characters")
    return workers[0]


def _key(item: Mapping[str, Any], result: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    for value in (item.get("hash"), metadata.get("match_hash"), result.get("hash")):
        if isinstance(value, str) and value not in ("", "N/A"):
            return value
    return hashlib.sha256(json.dumps(item, sort_keys=True).encode()).hexdigest()


def _responses(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    responses = metadata.get("responses")
    return responses if isinstance(responses, dict) else {}


def source_of(answer: PublishedAnswer, dataset: str, num_rows: int) -> dict[str, Any]:
    """Return the row to store, without the two large parts that have their own columns.

    `num_rows` is the number of rows of the file. The row's place is counted from the end, because newer versions of a file get
    new rows at the beginning.
    """
    item = deepcopy(answer.item)
    moved = []
    result = item.get("result")
    metadata = result.get("eval_metadata") if isinstance(result, dict) else None
    if isinstance(metadata, dict):
        responses = metadata.get("responses")
        if isinstance(responses, dict) and responses.get("justificationText") == answer.reason:
            del responses["justificationText"]
            moved.append("reason")
        if "VIDEO_EVENTS" in metadata and "published_events" in answer.viewing:
            del metadata["VIDEO_EVENTS"]
            moved.append("events")
    return {"dataset": dataset, "age": num_rows - answer.row, "moved": moved, "notes": list(answer.notes), "item": item}


def item_of(source: Mapping[str, Any], reason: str, viewing: Mapping[str, Any]) -> dict[str, Any]:
    item = deepcopy(source["item"])
    if "reason" in source["moved"]:
        item["result"]["eval_metadata"]["responses"]["justificationText"] = reason
    if "events" in source["moved"]:
        item["result"]["eval_metadata"]["VIDEO_EVENTS"] = deepcopy(viewing["published_events"])
    return item

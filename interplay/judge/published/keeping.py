"""What is kept of an imported row, `Answer.source`, and the row made of it again, equal to what stood in the file."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from interplay.judge.published.row import PublishedAnswer


def source_of(answer: PublishedAnswer, dataset: str, num_rows: int) -> dict[str, Any]:
    """All of a row but the two big parts that have a column of their own.

    Args:
        num_rows: Rows of the file: places are counted from its end, because newer versions of a file grow at its beginning.
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
    """The row as it stood in the file."""
    item = deepcopy(source["item"])
    if "reason" in source["moved"]:
        item["result"]["eval_metadata"]["responses"]["justificationText"] = reason
    if "events" in source["moved"]:
        item["result"]["eval_metadata"]["VIDEO_EVENTS"] = deepcopy(viewing["published_events"])
    return item

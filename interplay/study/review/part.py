"""`ReviewPart`: the instances of a study of `kind = "review"`, and the number of people who review each instance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interplay.study.errors import StudyError
from interplay.tables import Table, read_text, visible

QUESTIONS: Mapping[str, str] = {
    "can_be_done": "Can it be done with what the player has and finds?",
    "arrows": "Is every arrow right: is the first step needed for the second?",
    "scene": "Does the scene show what the text says?",
    "milestones": "Does each step count as done when it is done, and only then?",
    "goal": "Does the goal keep the hidden steps to itself?",
}
"""Id -> yes-or-no question that people answer about every instance before their verdict."""
MOST_INSTANCES = 1000


@dataclass(frozen=True)
class ReviewPart:
    """The `[review]` table of a study.

    Attributes:
        instances: Name -> the document of the instance, as in its file.
        raters: Number of verdicts that each instance gets.
        third: Whether an instance gets one more verdict if as many people say valid as invalid; fixed before the study opens.
    """

    instances: Mapping[str, Mapping[str, Any]] = field(repr=False)
    raters: int = 2
    third: bool = False


def read_review(root: Table) -> ReviewPart:
    """Read the table `[review]`, which contains the instances (StudyError if a value is invalid)."""
    table = root.table("review")
    instances: dict[str, Mapping[str, Any]] = {}
    for one in table.tables("instances"):
        name = one.name("name")
        if name in instances:
            raise one.error("name", f"{name!r} is the name of another instance", "give each instance its own name")
        one.text("task_text")
        instances[name] = one.values
    if not 0 < len(instances) <= MOST_INSTANCES:
        raise table.error("instances", f"are {len(instances)}", f"name 1 to {MOST_INSTANCES}")
    part = ReviewPart(instances, table.count("raters", 2, high=20), table.raw("third", bool, False))
    table.nothing_else()
    return part


def review_taken_in(table: Table, folder: Path | None) -> dict[str, Any]:
    """Return the table `[review]` of a file with the documents of all files and folders that it names, relative to `folder`."""
    documents = []
    for name in table.texts("instances"):
        path = (folder or Path()) / name
        files = visible(path.glob("*.json"), path) if path.is_dir() else [path]
        if not files:
            raise table.error("instances", f"{name}: holds no .json file", "name a folder of instances, or a file")
        for file in files:
            text = read_text(file, StudyError, hint="Make some:  interplay explore make --model scripted/maker --out made")
            try:
                documents.append(json.loads(text))
            except (ValueError, RecursionError) as error:
                raise StudyError(f"{file}: not valid JSON: {error}\nRemedy: name files of instances.") from None
    return {**table.values, "instances": documents}

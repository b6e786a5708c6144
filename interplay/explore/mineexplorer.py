"""Import MineExplorer's published layout (folders with `metadata.json`, flat files, JSON lines) and list irregularities."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interplay.explore.instance import SCHEMA, Instance, InstanceError, parse, read_json
from interplay.tables import read_text, visible

PUBLISHED = {"1": 260, "2": 254, "3": 145, "4": 154, "hard": 100}
"""Hops -> number of instances in the whole published set; the hard part has 8 to 12 hops."""
HARD_HOPS = range(8, 13)
_KEPT = ("selected_tasks", "scene_name", "scene_description", "task_text", "atomic_tasks_ordered", "commands")
_OF_FOLDER = ("metadata.json", "milestones.json")
"""Names of files whose instance has the name of the folder."""
_OF_MILESTONE = {"task", "milestone_id", "description", "rules"}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "inventory_has": {"min_count": 1},
    "position_near_with_facing": {"max_distance": 16, "facing_tolerance": 60, "coordinate_frame": "spawn_relative"},
    "position_inside_box": {"coordinate_frame": "spawn_relative"},
    "count_in_box_at_least": {"min_count": 1, "coordinate_frame": "spawn_relative"},
    "count_in_box_at_most": {"max_count": 0, "coordinate_frame": "spawn_relative"},
}
"""Rule -> defaults of its parameters in the published prompts."""


@dataclass(frozen=True)
class Remark:
    """An oddity in a file; `file` may name a line (`set.jsonl:12`), and an empty `key` means the whole file."""

    file: str
    key: str
    text: str


@dataclass
class Imported:
    """Instances read from a path; `files` counts all documents. `refused` documents are left out, irregular ones are not."""

    files: int = 0
    instances: dict[str, Instance] = field(default_factory=dict)
    irregularities: list[Remark] = field(default_factory=list)
    refused: list[Remark] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        hops = sorted(one.num_hops for one in self.instances.values())
        return dict(Counter("hard" if number in HARD_HOPS else str(number) for number in hops))


def import_path(path: Path) -> Imported:
    """Read a file, or all files of a folder and its subfolders; unreadable files in a folder are listed in `refused`.

    Raises:
        InstanceError: If there is nothing to read, or `path` is a file that cannot be read.
    """
    found = Imported()
    files = [path]
    if path.is_dir():
        named = [one for one in visible(path.rglob("*"), path) if one.suffix in (".json", ".jsonl")]
        files = [one for one in named if one.is_file() or one.is_symlink()]  # a link that leads nowhere is reported
    if not files:
        raise InstanceError(f"{path}: holds no .json and no .jsonl file\nRemedy: name a folder or a file of instances.")
    for file in files:
        if file.name != "metadata.json" and (file.parent / "metadata.json") in files:
            found.files += 1
            found.irregularities.append(Remark(str(file), "", "lies beside a metadata.json, which is read instead"))
            continue
        try:
            documents = list(_documents(file, path))
        except InstanceError as error:
            if file == path:
                raise
            found.files += 1
            found.refused.append(Remark(str(file), "", str(error)))
            continue
        for source, name, text in documents:
            found.files += 1
            try:
                document, odd = convert(read_json(text, source), name)
                made = parse(document, source=source)
            except InstanceError as error:
                found.refused.append(Remark(source, "", str(error)))
                continue
            found.instances[source] = made
            found.irregularities += [Remark(source, key, said) for key, said in odd]
    return found


def _documents(file: Path, root: Path) -> Iterator[tuple[str, str, str]]:
    text = read_text(file, InstanceError, hint="Give a folder or a file of instances.")
    if file.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield f"{file}:{number}", f"{file.stem}-{number}", line
        return
    inner = file.relative_to(root) if root.is_dir() else Path(file.name)
    parts = (inner.parent.parts or (file.parent.resolve().name,)) if file.name in _OF_FOLDER else inner.with_suffix("").parts
    yield str(file), "-".join(parts), text


def convert(published: Any, name: str) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Convert a published document to our form; also return its oddities as (key, text). `name` is made a valid name.

    Raises:
        InstanceError: If the document is not an instance.
    """
    if not isinstance(published, Mapping) or "milestones" not in published:
        raise InstanceError("this is not an instance: it has no milestones")
    odd: list[tuple[str, str]] = []
    rest = {key: value for key, value in published.items() if key not in (*_KEPT, "milestones", "reasoning_graph")}
    milestones = published["milestones"]
    if isinstance(milestones, Mapping):
        rest |= {f"milestones.{key}": value for key, value in milestones.items() if key != "milestones"}
        milestones = milestones.get("milestones")
    if not isinstance(milestones, list):
        raise InstanceError("milestones: must be a list, or a table that holds one")
    graph = published.get("reasoning_graph", published.get("dependency_graph"))
    of_milestones = [one["task"] for one in milestones if isinstance(one, Mapping) and isinstance(one.get("task"), str)]
    tasks = published.get("atomic_tasks_ordered") or published.get("selected_tasks") or of_milestones
    if not isinstance(graph, Mapping):
        odd.append(("reasoning_graph", "is missing; the tasks are its nodes, and there are no edges"))
        graph = {"nodes": tasks, "edges": []}
    rest |= {f"reasoning_graph.{key}": value for key, value in graph.items() if key not in ("nodes", "edges")}
    document: dict[str, Any] = {key: published[key] for key in _KEPT if key in published}
    for key in ("selected_tasks", "atomic_tasks_ordered"):
        if key not in document:
            odd.append((key, "is missing; the nodes of the graph stand for it"))
            document[key] = graph.get("nodes", [])
    if "task_text" not in document:
        document["task_text"] = f"Do all of this: {', '.join(map(str, tasks))}."
        odd.append(("task_text", f"is missing; {document['task_text']!r} stands for it"))
    if not document.get("commands"):
        odd.append(("commands", "there is no scene; the instance is kept, and the land stays as it is"))
        document["commands"] = []
    if "id" in rest and str(rest["id"]) != name.removeprefix("hard_"):
        odd.append(("id", f"is {rest['id']!r} in the file, which lies at {name!r}; the instance has the name of the place"))
    if rest.get("selection_reasoning") == "":
        odd.append(("selection_reasoning", "is empty"))
    if not isinstance(rest.get("design_notes", ""), str):
        odd.append(("design_notes", "is not a text; it is kept as it is"))
    for task in document["selected_tasks"] if isinstance(document["selected_tasks"], list) else []:
        if isinstance(task, str) and re.fullmatch(r"[a-z]+(_[a-z]+)+", task):
            odd.append(("selected_tasks", f"{task!r} is written with '_' throughout; it is kept so"))
    fit = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_") or "instance"
    document |= {
        "schema": SCHEMA,
        "name": fit,
        "reasoning_graph": {key: graph[key] for key in ("nodes", "edges") if key in graph},
        "milestones": [_milestone(one, index, odd) for index, one in enumerate(milestones)],
        "source": {"set": "MineExplorer (Ju et al. 2026, arXiv 2605.30931)", "published": rest},
    }
    return document, odd


def _milestone(published: Any, index: int, odd: list[tuple[str, str]]) -> Any:
    """Convert a milestone: add parameters that its rules leave out, and remove keys that milestones do not have."""
    if not isinstance(published, Mapping) or not isinstance(published.get("rules"), list):
        return published  # reading it says what is wrong
    where = f"milestones[{index}]"
    if len(published["rules"]) > 1:
        odd.append((f"{where}.rules", f"are {len(published['rules'])}; all must hold at the same tick"))
    rules = []
    for number, rule in enumerate(published["rules"]):
        params = rule.get("params") if isinstance(rule, Mapping) else None
        if isinstance(params, Mapping):
            left_out = {key: value for key, value in _DEFAULTS.get(str(rule.get("type")), {}).items() if key not in params}
            for key, value in left_out.items():
                odd.append((f"{where}.rules[{number}].params.{key}", f"is missing; {value!r} is taken, as the prompts say"))
            rule = {**rule, "params": {**params, **left_out}}
        rules.append(rule)
    for key in published.keys() - _OF_MILESTONE:
        odd.append((f"{where}.{key}", f"is not a key of a milestone and is left out: {published[key]!r:.200}"))
    return {key: value for key, value in published.items() if key in _OF_MILESTONE} | {"rules": rules}

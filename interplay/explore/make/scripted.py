"""Scripted makers, for tests and trials: `scripted/maker` makes sound instances of wood and stone.

Scripted makers read only the prompt, as a model does. `maker-DEFECT` makes a mistake of `DEFECTS` and repairs it when the
prompt names it; `stubborn-DEFECT` never repairs it. `critic` refuses the first draft that passes the gate until it has a torch.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from interplay.explore.evaluation import scripted

_KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
NEEDS: dict[str, tuple[str, ...]] = {task: tuple(first) for task, first in _KNOWN["needs"].items()}
"""Known task -> tasks that it needs."""
DEFECTS: dict[str, str] = _KNOWN["defects"]
"""Defect -> words of a prompt that tell a maker that the defect was found."""
_TURN = re.compile(r"^TURN (\w+) (\w+)$", re.MULTILINE)


def _document(word: str, prompt: str) -> dict[str, Any]:
    found = re.findall(rf"^{word} (\{{.*\}})$", prompt, re.MULTILINE)
    return json.loads(found[-1]) if found else {}


def _item(task: str) -> str:
    """Return the last word of a task's name, which is the item that the task gives."""
    return task.rpartition(" ")[2]


def _needed(task: str) -> set[str]:
    return {one for first in NEEDS.get(task, ()) for one in (first, *_needed(first))}


def _chosen(brief: dict[str, Any]) -> list[str]:
    """Choose tasks from the candidates: one task with the tasks that it needs, then the easiest others if more are wanted."""
    known = [task for task in NEEDS if task in brief["candidates"]]
    most = max(
        known, key=lambda task: (min(len(_needed(task) & set(known)) + 1, brief["tasks"]), -len(_needed(task))), default=None
    )
    chain = [] if most is None else [task for task in known if task in _needed(most)][-max(0, brief["tasks"] - 1) :]
    tasks = [*(chain if brief["tasks"] > 1 else []), *([most] if most else [])]
    tasks += [task for task in known if task not in tasks][: brief["tasks"] - len(tasks)]
    return [task for task in NEEDS if task in tasks]


def _edges(tasks: Sequence[str]) -> list[dict[str, str]]:
    """Return the edges between the chosen tasks, without edges that follow from other edges."""
    edges = []
    for then in tasks:
        firsts = [one for one in tasks if one in _needed(then)]
        near = [one for one in firsts if not any(one in _needed(other) for other in firsts)]
        edges += [{"from": one, "to": then, "reason": _KNOWN["reason"].format(first=one, then=then)} for one in near]
    return edges


def _selection(tasks: list[str], defect: str) -> dict[str, Any]:
    tasks, edges = list(tasks), _edges(tasks)
    if defect == "foreign_task":
        tasks[-1] = "build portal"
        edges = _edges(tasks)
    elif defect == "too_few":
        tasks = tasks[:-1] or [*tasks, "craft to bowl"]
        edges = _edges(tasks)
    elif defect == "circle" and edges:
        edges.append({**edges[0], "from": edges[0]["to"], "to": edges[0]["from"]})
    elif defect == "twice":
        edges += edges[:1]
    elif defect == "short_reason" and edges:
        edges[0]["reason"] = "dependency"
    return {"selected_tasks": tasks, "selection_reasoning": "", "dependency_graph": {"nodes": tasks, "edges": edges}}


def _scene(tasks: list[str], defect: str) -> dict[str, Any]:
    items = [_item(task) for task in tasks]
    needed = {first for then in tasks for first in _needed(then)}
    last = [item.replace("_", " ") for task, item in zip(tasks, items, strict=True) if task not in needed]
    text = f"Carry {' and '.join(last)}."
    commands = [f"/fill ~{x} ~ ~5 ~{x} ~3 ~5 oak_log" for x in (-1, 1)]
    commands += ["/fill ~-3 ~ ~8 ~3 ~2 ~8 cobblestone"]
    if defect == "true_at_start":
        commands.append(f"/give @p {items[0]}")
    elif defect == "nothing_there":
        commands = commands[2:]
    elif defect == "unknown_command":
        commands.append("/summon fox ~3 ~ ~3")
    elif defect == "way_round":
        commands += [f"/fill ~-4 ~ ~{z} ~-4 ~2 ~{z} oak_planks" for z in (3, 4)]
    elif defect == "leak":
        text = f"First {', then '.join(task.replace('_', ' ') for task in tasks)}."
    order = tasks[::-1] if defect == "order" else tasks
    return {
        "scene_name": "trees and stone",
        "scene_description": "Two trunks ahead, and a wall of stone behind them.",
        "task_text": text,
        "atomic_tasks_ordered": order,
        "commands": commands,
        "design_notes": "",
    }


def _milestones(tasks: list[str], defect: str) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for task in tasks:
        item = _item(task)
        params = {"item": f"minecraft:{item}" if defect == "prefix" else item, "min_count": 0 if defect == "no_count" else 1}
        rule = {"type": "inventory_has", "params": params}
        name = "done" if defect == "same_id" else task.replace(" ", "_")
        made.append({"task": task, "milestone_id": name, "description": f"{item} is carried.", "rules": [rule]})
    if defect == "absolute_frame":
        box = {"min": [-9, -3, -9], "max": [9, 6, 12], "coordinate_frame": "absolute"}
        made[-1]["rules"].append({"type": "position_inside_box", "params": box})
    return made


_OF_SELECTOR = ("circle", "twice", "short_reason", "foreign_task", "too_few")
_OF_MILESTONES = ("absolute_frame", "no_count", "prefix", "same_id")
_SEEN = ["oak_log", "cobblestone"]


def reply(name: str, prompt: str) -> str:
    role, kind = _TURN.findall(prompt)[-1]
    brief, draft = _document("BRIEF", prompt), _document("DRAFT", prompt)
    defect = name.partition("-")[2]
    told = defect in DEFECTS and DEFECTS[defect] in prompt.partition("BRIEF ")[2] and not name.startswith("stubborn")
    planted = "" if told else defect
    again = told and bool(draft)
    passed = "\nGATE passed" in prompt
    refused = re.findall(r"^GATE refused.*?\n(.*?)\n\n", prompt, re.MULTILINE | re.DOTALL)
    issues = refused[-1:] or ([] if passed else ["unproved"])
    tasks = _chosen(brief) if not draft or again else draft["selected_tasks"]
    if kind in ("validate", "scene") and planted == "swapped":
        return json.dumps({"approved": True, "issues": []} | ({"milestones": []} if kind == "validate" else {}))
    if name == "critic" and kind in ("inspect", "validate_graph") and passed and "torch" not in json.dumps(draft):
        wanted = {"target": "scene", "issue": "It is not lit", "suggestion": "set a torch beside the trunks."}
        empty = {"structural_issues": [], "semantic_issues": ["the scene wants a torch"], "critique_for_task_selector": ""}
        return json.dumps({"approved": False} | ({"issues": [wanted]} if kind == "inspect" else empty))
    if role == "single":
        return json.dumps(
            _selection(tasks, planted) | {"scene": _scene(tasks, planted), "milestones": _milestones(tasks, planted)}
        )
    answers: dict[str, Callable[[], dict[str, Any]]] = {
        "select": lambda: _selection(tasks, planted),
        "scene": lambda: _scene(tasks, planted),
        "report": lambda: {
            "screenshot_observations": "Trunks and stone.",
            "seen": ["diamond_block"] if planted == "invented" else [] if defect == "nothing_there" else _SEEN,
            "revised_scene": None,
        },
        "feedback": lambda: {"approved": True, "issues": []},
        "milestones": lambda: {"milestones": _milestones(tasks, planted)},
        "inspect": lambda: {
            "approved": passed,
            "issues": [{"target": "scene", "issue": one, "suggestion": ""} for one in issues],
        },
        "validate_graph": lambda: {"approved": passed, "structural_issues": issues},
        "validate_milestones": lambda: {"approved": passed, "issues": issues},
        "validate": lambda: {"approved": passed, "issues": issues},
        "reselect": lambda: _reselected(tasks, again and defect in _OF_SELECTOR),
        "rescene": lambda: {"revised_scene": _rescened(name, tasks, prompt, again), "response_to_critic": "It is done."},
        "remilestones": lambda: {
            "revised_milestones": _milestones(tasks, "")
            if again and defect in (*_OF_MILESTONES, *_OF_SELECTOR, "order")
            else None,
            "response_to_critic": "It is done.",
        },
    }
    return json.dumps(answers[kind]())


def _reselected(tasks: list[str], repair: bool) -> dict[str, Any]:
    chosen = _selection(tasks, "")
    graph = {"revised_tasks": chosen["selected_tasks"], "revised_graph": chosen["dependency_graph"]} if repair else {}
    return graph | {"response_to_critic": "It is done."}


def _rescened(name: str, tasks: list[str], prompt: str, again: bool) -> dict[str, Any] | None:
    if name == "critic" and "not lit" in prompt:
        scene = _scene(tasks, "")
        return scene | {"commands": [*scene["commands"], "/setblock ~2 ~ ~3 torch"]}
    return _scene(tasks, "") if again else None


def names() -> list[str]:
    return ["maker", "critic", *(f"{kind}-{defect}" for kind in ("maker", "stubborn") for defect in DEFECTS)]


def from_texts(name: str, texts: Sequence[str]) -> str:
    return reply(name.removeprefix(scripted.PREFIX), "\n".join(texts))


for _name in names():
    scripted.SCRIPTED[_name] = lambda tick, prompt, name=_name: reply(name, prompt)

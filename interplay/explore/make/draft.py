"""The draft that makers work on, and the gate that checks it: validators first, then the oracle.

The gate returns a refused draft with reasons; no draft passes without a proof. A draft that passes becomes an instance.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from interplay.errors import InterplayError
from interplay.explore import checking
from interplay.explore.instance import SCHEMA, Instance, parse
from interplay.explore.oracle.hops import LEAKS, EdgeVerdict, edge_verdicts, leaked
from interplay.explore.oracle.proving import Verdict, prove

NUM_CANDIDATES = 8
"""Number of candidates for an instance with several tasks; a single task has one candidate (published numbers)."""


@dataclass(frozen=True)
class Brief:
    """Input for making one instance; `source` is written into the instance to say how it was made."""

    name: str
    candidates: tuple[str, ...]
    hops: int
    source: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {"candidates": list(self.candidates), "tasks": self.hops}


@dataclass(frozen=True)
class Draft:
    """The draft so far: the selector's tasks, the scene designer's scene and the milestone writer's milestones."""

    tasks: tuple[str, ...] = ()
    reasoning: str = ""
    edges: tuple[Mapping[str, Any], ...] = ()
    scene: Mapping[str, Any] | None = None
    milestones: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_whole(self) -> bool:
        return bool(self.tasks and self.scene and self.milestones)

    def to_json(self) -> dict[str, Any]:
        graph = {"nodes": list(self.tasks), "edges": list(self.edges)}
        chosen = {"selected_tasks": list(self.tasks), "selection_reasoning": self.reasoning, "dependency_graph": graph}
        return chosen | {"scene": self.scene, "milestones": list(self.milestones)}

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:16]

    def document(self, brief: Brief) -> dict[str, Any]:
        """Return the instance's document, with empty values for missing parts."""
        scene = self.scene or {}
        return {
            "schema": SCHEMA,
            "name": brief.name,
            "selected_tasks": list(self.tasks),
            "reasoning_graph": {"nodes": list(self.tasks), "edges": list(self.edges)},
            "milestones": list(self.milestones),
            "scene_name": scene.get("scene_name", ""),
            "scene_description": scene.get("scene_description", ""),
            "task_text": scene.get("task_text", "Not said yet."),
            "atomic_tasks_ordered": list(scene.get("atomic_tasks_ordered", self.tasks)),
            "commands": list(scene.get("commands", ())),
            "source": dict(brief.source),
        }

    def instance(self, brief: Brief) -> Instance:
        return parse(self.document(brief), source=brief.name)

    def with_graph(self, tasks: tuple[str, ...], reasoning: str, edges: tuple[Mapping[str, Any], ...]) -> Draft:
        return replace(self, tasks=tasks, reasoning=reasoning or self.reasoning, edges=edges)


@dataclass(frozen=True)
class Ruling:
    """The gate's ruling on one draft: reasons of a refusal, and the oracle's findings if the validators passed the draft."""

    digest: str
    reasons: tuple[str, ...]
    verdict: Verdict | None = None
    edges: tuple[EdgeVerdict, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.reasons and self.verdict is not None and self.verdict.solved


def rule(brief: Brief, draft: Draft) -> Ruling:
    """Check a whole draft in stages; the first stage that finds mistakes reports them, and later stages do not run."""
    try:
        instance = draft.instance(brief)
    except InterplayError as error:
        return Ruling(draft.digest, (str(error),))
    if found := (*_unasked(brief, instance), *(str(one) for one in checking.check(instance).findings)):
        return Ruling(draft.digest, found)
    named, leakage = leaked(instance)
    if leakage is not None and leakage >= LEAKS:
        text = f"task_text: names {' and '.join(repr(task) for task in named)}, which the player should find out"
        return Ruling(draft.digest, (f"{text}\n  Remedy: say the last goal alone.",))
    verdict = prove(instance)
    if not verdict.solved:
        missed = [one for one in verdict.milestones if one.tick is None]
        return Ruling(draft.digest, tuple(f"milestone {one.milestone}: {one.reason}" for one in missed), verdict)
    edges = edge_verdicts(instance)
    return Ruling(draft.digest, tuple(_way_round(one) for one in edges if not one.enforced), verdict, edges)


def _unasked(brief: Brief, instance: Instance) -> tuple[str, ...]:
    foreign = [task for task in instance.selected_tasks if task not in brief.candidates]
    found = [f"selected_tasks: {task!r} is not one of the candidates\n  Remedy: choose of them." for task in foreign]
    if len(instance.selected_tasks) != brief.hops:
        found.append(f"selected_tasks: are {len(instance.selected_tasks)}\n  Remedy: choose exactly {brief.hops}.")
    return tuple(found)


def _way_round(edge: EdgeVerdict) -> str:
    if edge.tick is not None:
        text = f"reasoning_graph.edges: {edge.then!r} does not need {edge.first!r}: done without it at tick {edge.tick}"
        return f"{text}\n  Remedy: close that way in the scene, or take the edge out."
    text = f"reasoning_graph.edges: {edge.then!r} without {edge.first!r}: no way found, and no proof that there is none"
    return f"{text}\n  Remedy: let it need an item that only the first gives, or take the edge out (docs/explore.md)."

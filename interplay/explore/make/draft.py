"""The draft that makers work on: tasks and their graph, a scene, milestones. A complete draft becomes an instance."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from interplay.explore.instance import SCHEMA, Instance, parse

NUM_CANDIDATES = 8
"""From which tasks are chosen, where there are several to choose; one task is given as it is (the published numbers)."""


@dataclass(frozen=True)
class Brief:
    """Order of one instance; `source` is what the instance says of its making."""

    name: str
    candidates: tuple[str, ...]
    hops: int
    source: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {"candidates": list(self.candidates), "tasks": self.hops}


@dataclass(frozen=True)
class Draft:
    """Tasks of the selector, scene of the scene designer and milestones of their writer so far, as `dialogue` accepts them."""

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
        """Document of the instance, with empty values for missing parts."""
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

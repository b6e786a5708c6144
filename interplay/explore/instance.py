"""Instances: a scene, its tasks and its milestones in one JSON document. An instance is a task of the block world."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.explore.rules import Rule
from interplay.tables import Table, nearest, read_text
from interplay.tasks import EnvSpec, Question, Task, find

SCHEMA = 1
STEP_BUDGET = 1800
"""Default number of ticks of an episode: 90 seconds, as in the published evaluation."""
GAME_RULES = {"doDaylightCycle": False, "doMobSpawning": False}
"""Default rules of the world: the time of day stands still, and no monsters spawn."""
GAMMA = 2
"""Gamma of the pictures, as in MineRL."""
ACTION_SPACES = ("minerl",)
"""Action spaces; `minerl` has keys and the camera, which also moves the cursor of screens."""
CAPABILITIES = (
    *(f"perception.{name}_perception" for name in ("spatial", "temporal", "entity", "state", "inventory")),
    *(f"reasoning.{name}_reasoning" for name in ("common_sense", "causal", "relational")),
    *(f"action.{name}" for name in ("move", "jump", "collect", "place", "craft", "attack")),
)


ENFORCED, NO_WAY_FOUND, OPEN = "enforced", "no way found", "open"
"""Verdicts on an edge: proved by the rules of the world; neither proved nor refuted; refuted by a way without `first`."""


class InstanceError(InterplayError):
    """Raised when an instance cannot be read; the text names the file, the key and the remedy."""


@dataclass(frozen=True)
class Edge:
    """A dependency: the task `then` needs the task `first`."""

    first: str
    then: str
    reason: str


@dataclass(frozen=True)
class Milestone:
    """The test of one task: the task is done when all rules hold at the same tick."""

    task: str
    id: str
    description: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class Instance:
    """One instance, with the content of its document. All values have the right types; `checking` tests whether they agree.

    Attributes:
        name: A name that is valid in file names and ids.
        scene_name, scene_description: For people who look at instances; players never see these texts.
        task_text: The goal; a player is told nothing else.
        commands: Commands that build the scene, in order, relative to the player's start.
        time: Time of day, in ticks since sunrise.
        source: Origin of the instance: a table whose keys the author chooses.
        proofs: JSON of `oracle.recording.Proof`, one for each episode that solved a version of the instance.
    """

    name: str
    selected_tasks: tuple[str, ...]
    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    milestones: tuple[Milestone, ...]
    scene_name: str
    scene_description: str
    task_text: str
    atomic_tasks_ordered: tuple[str, ...]
    commands: tuple[str, ...]
    land: str = "flat"
    seed: int = 0
    time: int = 6000
    game_rules: Mapping[str, Any] = field(default_factory=lambda: dict(GAME_RULES))
    capabilities: tuple[str, ...] = ()
    action_spaces: tuple[str, ...] = ACTION_SPACES
    step_budget: int = STEP_BUDGET
    source: Mapping[str, Any] = field(default_factory=dict)
    proofs: tuple[Mapping[str, Any], ...] = ()

    @property
    def num_hops(self) -> int:
        return len(self.nodes)

    @property
    def numbers(self) -> dict[str, int]:
        """Task -> its number on pages, from 1: first the tasks in the author's order, then all other tasks."""
        order = {task: place for place, task in enumerate(self.atomic_tasks_ordered)}
        tasks = dict.fromkeys([*self.nodes, *(one.task for one in self.milestones)])
        ordered = sorted(tasks, key=lambda task: order.get(task, len(order)))
        return {task: number for number, task in enumerate(ordered, 1)}

    @property
    def edge_verdicts(self) -> dict[tuple[str, str], str]:
        """Edge -> verdict in the proofs of this version; an `enforced` of earlier releases is read as "no way found"."""
        found: dict[tuple[str, str], str] = {}
        for proof in self.proofs:
            edges = (proof.get("hops") or {}).get("edges", ()) if proof.get("content_hash") == self.content_hash else ()
            for one in edges:
                before = NO_WAY_FOUND if one["enforced"] else OPEN
                found[one["first"], one["then"]] = one.get("verdict", before)
        return found

    def to_json(self) -> dict[str, Any]:
        document = asdict(self)
        nodes, edges = document.pop("nodes"), document.pop("edges")
        document["reasoning_graph"] = {
            "nodes": nodes,
            "edges": [{"from": edge["first"], "to": edge["then"], "reason": edge["reason"]} for edge in edges],
        }
        document["milestones"] = [
            {"task": one.task, "milestone_id": one.id, "description": one.description, "rules": [asdict(r) for r in one.rules]}
            for one in self.milestones
        ]
        if not self.proofs:
            del document["proofs"]
        return json.loads(json.dumps({"schema": SCHEMA} | document))

    @cached_property
    def content_hash(self) -> str:
        """First 16 hex digits of the SHA-256 of the document without its proofs."""
        document = self.to_json()
        document.pop("proofs", None)
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def task(self) -> Task:
        """Return the instance as a task of the block world; the player is told only the goal.

        If the world refuses a command of the scene, the first reset raises an error; `checking` names the command.
        """
        options = {
            "kind": self.land,
            "time": self.time,
            "rules": dict(self.game_rules),
            "commands": list(self.commands),
            "gamma": GAMMA,
            "origin": True,
        }
        goal = " ".join(self.task_text.split())
        return Task(
            id=f"explore/{self.name}",
            title=f"Explore {self.name}",  # the name of the scene would tell too much
            goal=goal,
            instructions=f"{goal}\n\nSay when you are done (Enter).",
            env=EnvSpec("voxel:explore", options),
            frame_rate_hz=20,
            max_steps=self.step_budget,
            held_out_seeds=(self.seed,),
            keys=find("basalt/sandbox").keys,
            questions=(Question("overall", "overall", "overall", "Who did more of the task?"),),
            tags=("explore", "first person", "one player", f"instance {self.content_hash}"),
            held_out_share=1,
        )


def load(path: str | Path) -> Instance:
    """Read one instance; raise an `InstanceError` if the file is missing or invalid."""
    file = Path(path)
    text = read_text(file, InstanceError, hint="Give the path of an instance; docs/explore.md has one to copy.")
    return parse(read_json(text, str(file)), source=str(file))


def load_all(files: Iterable[Path]) -> list[Instance]:
    """Read instances from files (InstanceError: as for `load`; also if there is no instance, or two have the same name)."""
    made: dict[str, Instance] = {}
    for file in files:
        one = load(file)
        if one.name in made:
            raise InstanceError(f"{file}: name: {one.name!r} is the name of another instance\nRemedy: give each its own name.")
        made[one.name] = one
    if not made:
        raise InstanceError("no instance is given\nRemedy: name a folder or a file of instances.")
    return list(made.values())


def read_json(text: str, source: str) -> Any:
    """Parse JSON; raise an `InstanceError` for other texts, duplicate keys, and numbers that are not finite as floats."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise InstanceError(f"{source}: {twice}: occurs twice in one JSON object\nRemedy: keep one of them.")
        return values

    def number(word: str) -> float:
        if not math.isfinite(float(word)):
            text = f"{source}: {word:.20} is not a finite number, or is too large"
            raise InstanceError(f"{text}\nRemedy: write a smaller number, or leave the key out.")
        return int(word) if word.lstrip("-").isdigit() else float(word)

    try:
        return json.loads(text, object_pairs_hook=once, parse_int=number, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as error:
        raise InstanceError(f"{source}: not valid JSON: {error}\nRemedy: check quotes, commas and brackets there.") from None
    except RecursionError:
        raise InstanceError(f"{source}: lists or objects are nested too deeply\nRemedy: use fewer levels.") from None


def parse(document: Any, *, source: str = "<document>") -> Instance:
    """Make an instance from its document; error messages call the document `source`.

    Raises:
        InstanceError: If a key is missing or unknown, or its value has the wrong type.
    """
    if not isinstance(document, Mapping):
        raise InstanceError(f"{source}: is not a JSON object but {document!r:.60}\nRemedy: write one instance.")
    root = Table(document, source, refuse=InstanceError)
    if _need(root, "schema").raw("schema", int) != SCHEMA:
        remedy = f"write {SCHEMA}; a newer Interplay may have made this file"
        raise root.error("schema", f"is {document['schema']!r}; this version reads {SCHEMA}", remedy)
    graph = _need(root, "reasoning_graph").table("reasoning_graph")
    made = Instance(
        name=_need(root, "name").name("name"),
        selected_tasks=_need(root, "selected_tasks").texts("selected_tasks"),
        nodes=_need(graph, "nodes").texts("nodes"),
        edges=tuple(_edge(edge) for edge in _need(graph, "edges").tables("edges")),
        milestones=tuple(_milestone(one) for one in _need(root, "milestones").tables("milestones")),
        scene_name=root.text("scene_name", ""),
        scene_description=root.text("scene_description", ""),
        task_text=_need(root, "task_text").text("task_text"),
        atomic_tasks_ordered=_need(root, "atomic_tasks_ordered").texts("atomic_tasks_ordered"),
        commands=_need(root, "commands").texts("commands"),
        land=root.text("land", "flat"),
        seed=root.count("seed", 0, low=0, high=2**31 - 1),
        time=root.count("time", 6000, low=0, high=2**31 - 1),
        game_rules=root.raw("game_rules", dict, dict(GAME_RULES)),
        capabilities=_of(root, "capabilities", CAPABILITIES, ()),
        action_spaces=_of(root, "action_spaces", ACTION_SPACES, ACTION_SPACES),
        step_budget=root.count("step_budget", STEP_BUDGET, low=1, high=1_000_000),
        source=root.raw("source", dict, {}),
        proofs=_proofs(root),
    )
    graph.nothing_else()
    root.nothing_else()
    return made


def _need(table: Table, key: str) -> Table:
    if key not in table.values:
        raise table.error(key, "is missing", f'add "{key}"')
    return table


def _of(table: Table, key: str, known: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
    words = table.texts(key, list(default))
    for word in words:
        if word not in known:
            raise table.error(key, f"{word!r} is not known", nearest(word, known) or f"choose of {', '.join(known)}")
    return words


def _proofs(root: Table) -> tuple[dict[str, Any], ...]:
    proofs = tuple(root.raw("proofs", list, []))
    for proof in proofs:
        if not isinstance(proof, dict):
            raise root.error("proofs", f"holds {proof!r:.60}", "write what `interplay explore prove --out` wrote there")
    return proofs


def _edge(table: Table) -> Edge:
    edge = Edge(_need(table, "from").text("from"), _need(table, "to").text("to"), table.text("reason", ""))
    table.nothing_else()
    return edge


def _milestone(table: Table) -> Milestone:
    rules = []
    for rule in _need(table, "rules").tables("rules"):
        rules.append(Rule(_need(rule, "type").text("type"), _need(rule, "params").raw("params", dict)))
        rule.nothing_else()
    task, name = _need(table, "task").text("task"), _need(table, "milestone_id").text("milestone_id")
    made = Milestone(task, name, table.text("description", ""), tuple(rules))
    table.nothing_else()
    return made

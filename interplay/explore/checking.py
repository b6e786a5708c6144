"""Find mistakes in an instance: in its document first, then in the scene that it builds."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

from blockworld import HALF_WIDTH, World, box, run_all
from blockworld.grid import is_free
from blockworld.registry import KINDS, NUM_THINGS, blocks, items
from interplay.envs import make
from interplay.envs.voxel import VoxelEnv
from interplay.explore import facts, rules
from interplay.explore.instance import Instance, Milestone
from interplay.explore.rules import Point, Rule
from interplay.tables import nearest

REASON_WORDS = range(15, 26)
_ID = re.compile(r"[a-z0-9_]+")
_MOBS = KINDS[NUM_THINGS:]
_MOB_REACH = 2.5
"""Largest distance in blocks between a target in an empty cell and the mob that the target stands for."""


@dataclass(frozen=True)
class Finding:
    """One mistake, and how to correct it."""

    key: str
    text: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.key}: {self.text}\n  Remedy: {self.remedy}."


@dataclass(frozen=True)
class Start:
    """Whether a milestone is already reached when the scene is ready; `None` if the milestone cannot be judged."""

    milestone: str
    reached: bool | None


@dataclass(frozen=True)
class Report:
    """Mistakes found in one instance; `refused` says why the world refused commands, such as `fox is not simulated; ...`."""

    findings: tuple[Finding, ...]
    starts: tuple[Start, ...]
    refused: tuple[str, ...] = ()


def check(instance: Instance) -> Report:
    """Check an instance's document, then build its scene and check the scene, too."""
    found = [*_graph(instance), *_milestones(instance)]
    in_scene, starts, refused = _scene(instance)
    return Report((*found, *in_scene), tuple(starts), tuple(refused))


def _graph(instance: Instance) -> Iterator[Finding]:
    nodes, ordered = instance.nodes, instance.atomic_tasks_ordered
    selected = instance.selected_tasks
    for key, tasks in (("reasoning_graph.nodes", nodes), ("selected_tasks", selected), ("atomic_tasks_ordered", ordered)):
        for task, number in Counter(tasks).items():
            if number > 1:
                yield Finding(key, f"{task!r} occurs {number} times", "name each task once")
    for key, tasks in (("selected_tasks", selected), ("atomic_tasks_ordered", ordered)):
        for task in sorted(set(tasks) - set(nodes)):
            yield Finding(
                key, f"{task!r} is not a node of the graph", nearest(task, nodes) or "add it to the nodes, or take it out"
            )
        for task in sorted(set(nodes) - set(tasks)):
            yield Finding(key, f"the node {task!r} is missing", "add it, or take it out of the graph")
    seen: set[tuple[str, str]] = set()
    before: dict[str, set[str]] = {}
    for index, edge in enumerate(instance.edges):
        key = f"reasoning_graph.edges[{index}]"
        for end in (edge.first, edge.then):
            if end not in nodes:
                yield Finding(key, f"{end!r} is not a node of the graph", nearest(end, nodes) or "name a node")
        if (edge.first, edge.then) in seen:
            yield Finding(key, "is there twice", "take one out")
        seen.add((edge.first, edge.then))
        before.setdefault(edge.then, set()).add(edge.first)
        words = len(edge.reason.split())
        if words not in REASON_WORDS:
            yield Finding(f"{key}.reason", f"has {words} words", "write 15 to 25 that say what one task gives the other")
        if edge.first in ordered and edge.then in ordered and ordered.index(edge.first) > ordered.index(edge.then):
            remedy = f"put {edge.first!r} before {edge.then!r}, or reverse the edge"
            yield Finding("atomic_tasks_ordered", f"goes against the edge to {edge.then!r}", remedy)
    try:
        TopologicalSorter(before).prepare()
    except CycleError as error:
        way = " -> ".join(reversed(error.args[1]))
        yield Finding("reasoning_graph.edges", f"go round in a circle: {way}", "take one of these edges out")


def _milestones(instance: Instance) -> Iterator[Finding]:
    tasks = [milestone.task for milestone in instance.milestones]
    if tasks != list(instance.atomic_tasks_ordered):
        yield Finding("milestones", f"are for the tasks {tasks}", "write one for each of atomic_tasks_ordered, in that order")
    ids = Counter(milestone.id for milestone in instance.milestones)
    for index, milestone in enumerate(instance.milestones):
        key = f"milestones[{index}]"
        if not _ID.fullmatch(milestone.id):
            yield Finding(f"{key}.milestone_id", f"{milestone.id!r} is not an id", "use lower-case letters, digits and '_'")
        if ids[milestone.id] > 1:
            yield Finding(f"{key}.milestone_id", f"{milestone.id!r} is used twice", "give each milestone its own id")
        if not milestone.rules:
            yield Finding(f"{key}.rules", "is empty, so the milestone is never reached", "write one rule or more")
        for number, rule in enumerate(milestone.rules):
            for problem in rules.problems(rule):
                yield Finding(f"{key}.rules[{number}].{problem.key}", problem.text, problem.remedy)


def is_judged(milestone: Milestone) -> bool:
    return bool(milestone.rules) and not any(problem.fatal for rule in milestone.rules for problem in rules.problems(rule))


def _scene(instance: Instance) -> tuple[list[Finding], list[Start], list[str]]:
    env = make(replace(instance, commands=()).task())
    assert isinstance(env, VoxelEnv)
    env.reset(seed=instance.seed)
    results = run_all(env.world, instance.commands)
    found = [
        Finding(f"commands[{one.line - 1}]", one.text, "write it as docs/world.md says") for one in results if not one.worked
    ]
    world = facts.ready(env.world)
    env.close()
    spawn, me = facts.feet(world), world.player
    if not is_free(world.grid.blocks, me.x, me.y, me.z, HALF_WIDTH, me.height):
        x, y, z = rules.cell(spawn)
        names = sorted(box(world, (x, y, z), (x, y + 1, z))["blocks"].keys() - {"air"})
        found.append(Finding("commands", f"the player stands in {' and '.join(names) or 'a block'}", "keep these cells free"))
    starts = []
    for index, milestone in enumerate(instance.milestones):
        if not is_judged(milestone):
            starts.append(Start(milestone.id, None))
            continue
        for number, rule in enumerate(milestone.rules):
            found += _rule_in_scene(rule, f"milestones[{index}].rules[{number}].params", world, spawn)
        now = facts.for_rules(world, spawn, milestone.rules)
        starts.append(Start(milestone.id, rules.all_hold(milestone.rules, now)))
        if starts[-1].reached:
            found.append(
                Finding(f"milestones[{index}]", f"{milestone.id!r} is reached at the start", "write rules that do not hold yet")
            )
    return found, starts, [one.error.what for one in results if one.error is not None]


def _rule_in_scene(rule: Rule, key: str, world: World, spawn: Point) -> Iterator[Finding]:
    params, origin = rule.params, rules.cell(spawn)
    if rule.type == "position_near_with_facing":
        x, y, z = (o + t for o, t in zip(origin, params["target"], strict=True))
        middle = (x + 0.5, y + 0.5, z + 0.5)
        mobs = [mob for mob in _living(world) if math.dist(mob[1], middle) <= _MOB_REACH]
        if box(world, (x, y, z), (x, y, z))["blocks"].keys() <= {"air"} and not mobs:
            yield Finding(f"{key}.target", f"the cell {params['target']} is empty", "name the cell of what must be found")
        return
    name = params.get("item", params.get("object"))
    if name is None:
        return
    part = "item" if "item" in params else "object"
    what = params.get("kind") or rules.EVENTS.get(params.get("event", "")) or "item"
    known = {"item": items.BY_NAME, "block": blocks.BY_NAME, "mob": dict.fromkeys(_MOBS)}[what]
    if name not in known and (params.get("event"), name) != ("used", "bed"):  # of whatever colour
        yield Finding(f"{key}.{part}", f"there is no {what} {name!r}", nearest(name, known) or f"name a {what} of this world")
    elif what == "mob" and name not in [mob for mob, _ in _living(world)]:
        yield Finding(f"{key}.{part}", f"no {name} is in the scene", "summon one, or name another mob")
    elif what == "block" and rule.type == "count_in_box_at_most":
        sx, sz, sy = world.grid.blocks.shape
        if name not in box(world, (0, 0, 0), (sx, sy, sz))["blocks"]:
            yield Finding(f"{key}.{part}", f"no {name} is in the scene", "place some, or name another block")


def _living(world: World) -> list[tuple[str, Point]]:
    rows = world.entities[(world.entities["kind"] >= NUM_THINGS) & (world.entities["health"] > 0)]
    return [(KINDS[row["kind"]], (float(row["x"]), float(row["y"]), float(row["z"]))) for row in rows]

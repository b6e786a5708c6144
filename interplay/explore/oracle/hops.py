"""Test whether tasks need each other: play a task without its prerequisite, play idly and at random, and read the goal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from blockworld import Action
from interplay.agents.simple import RandomAgent
from interplay.agents.skills.body import MOST_TURN
from interplay.envs.voxel.actions import to_world
from interplay.explore import rules
from interplay.explore.instance import ENFORCED, NO_WAY_FOUND, OPEN, Edge, Instance, Milestone
from interplay.explore.judging import judged
from interplay.explore.oracle.needs import proof
from interplay.explore.oracle.planner import Planner
from interplay.explore.oracle.proving import Run, begin

NUM_RANDOM, RANDOM_TICKS = 20, 200
WHIMS = 2
LEAKS = 0.5
"""An instance is flagged if its text names at least this share of the tasks that others need."""
_PICTURE = np.zeros((1, 1, 3), np.uint8)  # what a random player does not look at
_VERBS = frozenset(
    {"find", "mine", "craft", "smelt", "to", "build", "place", "hunt", "combat", "trade", "for", "sell", "collect", "talk"}
    | {"a", "the"}
)
"""Words of task names that do not name the object."""


@dataclass(frozen=True)
class EdgeVerdict:
    """Whether one task needs the other: `enforced` if the rules of the world prove that `then` is not reached without `first`.

    The verdict is `open` if the oracle reached `then` without `first`, at `tick`. It is `no way found` if neither was shown.
    `why` is the proof, or how `then` was reached, in words.
    """

    first: str
    then: str
    verdict: str
    tick: int | None = None
    why: str = ""
    way: tuple[Action, ...] = field(default=(), repr=False, compare=False)
    episode: str | None = None

    @property
    def enforced(self) -> bool:
        return self.verdict == ENFORCED

    def to_json(self) -> dict[str, Any]:
        values = {"first": self.first, "then": self.then, "verdict": self.verdict, "enforced": self.enforced}
        return values | {"tick": self.tick, "why": self.why, "episode": self.episode}


@dataclass(frozen=True)
class Hops:
    """Findings about the hops of one instance.

    Attributes:
        depth: Number of tasks on the longest path of enforced edges.
        reached_at_start: Milestones that are reached before the first action.
        reached_by_noop: Milestone -> tick at which a player who does nothing reaches it.
        reached_by_random: Milestone -> number of random players who reach it within `RANDOM_TICKS`.
        named: Tasks that other tasks need and that the goal's text names.
        leakage: Share of the named tasks among all tasks that others need; `None` if no task needs another.
    """

    edges: tuple[EdgeVerdict, ...]
    depth: int
    reached_at_start: tuple[str, ...]
    reached_by_noop: dict[str, int]
    reached_by_random: dict[str, int]
    named: tuple[str, ...]
    leakage: float | None

    @property
    def leaks(self) -> bool:
        return self.leakage is not None and self.leakage >= LEAKS

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"edges": [edge.to_json() for edge in self.edges], "leaks": self.leaks}


def examine(instance: Instance, *, num_random: int = NUM_RANDOM) -> Hops:
    """Try to reach milestones without the tasks that they need, with an idle player, and with `num_random` random players."""
    start = begin(instance)
    at_start = tuple(start.progress.reached)
    edges = edge_verdicts(instance, start)
    named, leakage = leaked(instance)
    return Hops(
        edges,
        depth(instance.nodes, [edge for edge in edges if edge.enforced]),
        at_start,
        {name: tick for name, tick in _noop(instance, start).items() if name not in at_start},
        {name: count for name, count in _random(instance, start, num_random).items() if name not in at_start},
        named,
        leakage,
    )


def edge_verdicts(instance: Instance, start: Run | None = None) -> tuple[EdgeVerdict, ...]:
    begun = start or begin(instance)
    return tuple(_edge(instance, begun, edge) for edge in instance.edges)


def depth(tasks: Iterable[str], edges: Iterable[EdgeVerdict | Edge]) -> int:
    """Return the number of tasks on the longest path along edges that visits no task twice."""
    after: dict[str, list[str]] = {}
    for edge in edges:
        after.setdefault(edge.first, []).append(edge.then)

    def longest(task: str, seen: frozenset[str]) -> int:
        return 1 + max((longest(one, seen | {one}) for one in after.get(task, ()) if one not in seen), default=0)

    return max((longest(task, frozenset({task})) for task in tasks), default=0)


# Without what is needed


def _edge(instance: Instance, start: Run, edge: Edge) -> EdgeVerdict:
    by_task = {one.task: one for one in judged(instance)}
    first, then = by_task.get(edge.first), by_task.get(edge.then)
    if first is None or then is None:
        return EdgeVerdict(edge.first, edge.then, NO_WAY_FOUND, why="a milestone is missing, or its rules mean nothing")
    if first.id in start.progress.reached or then.id in start.progress.reached:
        return EdgeVerdict(edge.first, edge.then, OPEN, 0, "it is reached at the start")
    if why := proof(start.world, rules.cell(start.watch.spawn), first, then):
        return EdgeVerdict(edge.first, edge.then, ENFORCED, None, why)
    run = _looking(start, first, then) or _without(instance, start, first, then)
    if run is None:
        return EdgeVerdict(edge.first, edge.then, NO_WAY_FOUND)
    tick = run.progress.reached[then.id]
    return EdgeVerdict(edge.first, edge.then, OPEN, tick, f"reached without it at step {tick}", run.end())


def _looking(start: Run, first: Milestone, then: Milestone) -> Run | None:
    """Turn on the spot, to either side and at three pitches; return the run if it reaches `then` without `first`."""
    for way in (MOST_TURN, -MOST_TURN):
        for pitch in (0.0, 35.0, -35.0):
            run = start.fork()
            run.step(Action(camera_pitch=pitch))
            while run.ticks < 360 / MOST_TURN and not {first.id, then.id} & run.progress.reached.keys():
                run.step(Action(camera_yaw=way))
            if then.id in run.progress.reached and first.id not in run.progress.reached:
                return run
    return None


def _without(instance: Instance, start: Run, first: Milestone, then: Milestone) -> Run | None:
    """Let planners try to reach `then` without `first`, directly or after the other milestones that `then` needs.

    The planners keep the rules of `first` from holding: they look away from its target, stay out of its box, or carry too few
    of its item.
    """
    others = [one for one in _needed_by(instance, then.task) if one.id != first.id]
    for before in ([], others) if others else ([],):
        for whim in range(max(WHIMS, len(first.rules))):
            run = start
            for milestone in (*before, then):
                trial = run.fork()
                rng = np.random.default_rng([whim, trial.ticks])
                avoid = first.rules[whim % len(first.rules)]
                planner = Planner(trial.world, rules.cell(trial.watch.spawn), rng, avoid)
                planner.body.spared = frozenset() if whim else _blocks_of(first)
                run = trial if trial.play(planner, milestone, instance.step_budget, forbidden=first.id) else run
            if then.id in run.progress.reached:
                return run
    return None


def _needed_by(instance: Instance, task: str) -> list[Milestone]:
    """Return the milestones of all tasks that a task needs, directly or through other tasks, in the author's order."""
    needed, ahead = set[str](), [task]
    while ahead:
        new = {edge.first for edge in instance.edges if edge.then == ahead[-1]} - needed
        ahead.pop()
        needed |= new
        ahead += sorted(new)
    return [one for one in judged(instance) if one.task in needed]


def _blocks_of(milestone: Milestone) -> frozenset[str]:
    wanted = {rule.params.get("item") or rule.params.get("object") for rule in milestone.rules}
    return frozenset(name for name in wanted if name)


# Without trying


def _noop(instance: Instance, start: Run) -> dict[str, int]:
    run = start.fork()
    for _ in range(instance.step_budget):
        run.step(Action())
    return run.progress.reached


def _random(instance: Instance, start: Run, num_players: int) -> dict[str, int]:
    reached: dict[str, int] = {}
    for player in range(num_players):
        run, agent = start.fork(), RandomAgent()
        agent.reset(instance.task(), rng=np.random.default_rng([instance.seed, player]))
        drawn, action = None, Action()
        for _ in range(min(RANDOM_TICKS, instance.step_budget)):
            if (new := agent.act(_PICTURE)) is not drawn:
                drawn, action = new, to_world(new)
            run.step(action)
        for name in run.progress.reached:
            reached[name] = reached.get(name, 0) + 1
    return reached


# What the text gives away


def leaked(instance: Instance) -> tuple[tuple[str, ...], float | None]:
    """Return the needed tasks that the goal's text names, and their share of all needed tasks (`None` if none is needed).

    A task is named if all words of its object are in the text, in any order and number.
    """
    needed = [task for task in instance.nodes if any(edge.first == task for edge in instance.edges)]
    if not needed:
        return (), None
    said = set(_words(instance.task_text))
    named = tuple(task for task in needed if (about := set(_words(task)) - _VERBS) and about <= said)
    return named, len(named) / len(needed)


def _words(text: str) -> list[str]:
    return [word.removesuffix("s") for word in re.findall(r"[a-z]+", text.lower())]

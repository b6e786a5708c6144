"""Prove that an instance can be done: try to reach one milestone after the other, several times, on copies of its world.

Steps that do not lead to a milestone are undone, so a failed attempt costs no ticks of the episode. If the author's order
does not reach all milestones, other orders that the graph allows are tried.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from blockworld import Action, World
from interplay.envs import make
from interplay.envs.voxel import VoxelEnv
from interplay.errors import InterplayError
from interplay.explore import rules
from interplay.explore.instance import Instance, Milestone
from interplay.explore.judging import Watch, judged
from interplay.explore.oracle.planner import Planner
from interplay.explore.rules import Progress

WHIMS = 3
"""Number of tries of one milestone from the same moment, each with another seed."""
ORDERS = 4
_LAST = 3
"""Ticks reserved to close a screen and end the episode."""


@dataclass(frozen=True)
class MilestoneVerdict:
    """Tick at which a milestone was reached, or the reason why it was not, such as `needs X, which this world lacks`."""

    milestone: str
    tick: int | None
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """The best run that was found: its milestones, in the author's order, and its actions; the last action ends the episode."""

    instance: str
    milestones: tuple[MilestoneVerdict, ...]
    actions: tuple[Action, ...]

    @property
    def solved(self) -> bool:
        return all(one.tick is not None for one in self.milestones)

    @property
    def reasons(self) -> list[str]:
        return [one.reason for one in self.milestones if one.tick is None]

    @property
    def ticks(self) -> int:
        return max((one.tick for one in self.milestones if one.tick is not None), default=0)


@dataclass
class Run:
    """One run of an instance on a copy of its world; `actions` has one action for each step."""

    world: World
    watch: Watch
    actions: list[Action] = field(default_factory=list)

    @property
    def progress(self) -> Progress:
        return self.watch.progress

    @property
    def ticks(self) -> int:
        return len(self.actions)

    def fork(self) -> Run:
        world = self.world.fork()
        return Run(world, self.watch.fork(world), list(self.actions))

    def step(self, action: Action) -> None:
        """Play one action for one tick, with the camera rounded to float32 as in a recording."""
        pitch, yaw = (float(np.float32(turn)) for turn in (action.camera_pitch, action.camera_yaw))
        done = action._replace(camera_pitch=pitch, camera_yaw=yaw)
        self.world.step(done)
        self.actions.append(done)
        self.watch.look(self.ticks)

    def play(self, planner: Planner, milestone: Milestone, limit: int, *, forbidden: str = "") -> bool:
        """Let a planner act until a milestone is reached; false if plan or time ends first, or if `forbidden` is reached."""
        reached = self.progress.reached
        for action in planner.reach(milestone.rules):
            if self.ticks >= limit or self.world.player.dead:
                return False
            self.step(action)
            if forbidden in reached or milestone.id in reached:
                break
        return milestone.id in reached and forbidden not in reached

    def end(self) -> tuple[Action, ...]:
        closing = [Action(inventory=True), Action()] if self.world.screen is not None else [Action()]
        return (*self.actions, *closing, Action(esc=True))


def begin(instance: Instance) -> Run:
    env = make(instance.task())
    assert isinstance(env, VoxelEnv)
    env.reset(seed=instance.seed)
    world = env.world
    env.close()
    return Run(world, Watch(world, instance))


def orders(instance: Instance) -> Iterator[list[Milestone]]:
    milestones = judged(instance)
    yield milestones
    by_task = {one.task: one for one in milestones}
    before = {task: {edge.first for edge in instance.edges if edge.then == task} & by_task.keys() for task in by_task}
    for first in milestones[1:]:  # each as early as it may be
        chosen: list[str] = []

        def put(task: str, chosen: list[str] = chosen) -> None:
            if task not in chosen:
                for one in sorted(before[task] - {task}, key=list(by_task).index):
                    put(one, chosen)
                chosen.append(task)

        for task in (first.task, *by_task):
            put(task)
        order = [by_task[task] for task in chosen]
        if order != milestones:
            yield order


def prove(instance: Instance) -> Verdict:
    """Look for actions that reach every milestone within the step budget; return the run that reaches the most milestones."""
    start, limit = begin(instance), instance.step_budget - _LAST
    best, reasons = start, dict[str, str]()
    for order in islice(orders(instance), ORDERS):
        run, missing = _try(start, order, limit)
        if len(run.progress.reached) > len(best.progress.reached):
            best, reasons = run, missing
        reasons = reasons or missing
        if not missing:
            break
    found = [
        MilestoneVerdict(one.id, best.progress.reached.get(one.id), reasons.get(one.id, "")) for one in instance.milestones
    ]
    unjudged = "its rules mean nothing: see interplay explore check"
    verdicts = [one if one.tick is not None or one.reason else replace(one, reason=unjudged) for one in found]
    return Verdict(instance.name, tuple(verdicts), best.end())


def _try(start: Run, order: Sequence[Milestone], limit: int) -> tuple[Run, dict[str, str]]:
    """Try milestones in an order, then the failed ones once more; return the run, and milestone -> why it was not reached."""
    run, reasons = start.fork(), dict[str, str]()
    for milestone in (*order, *order):
        if milestone.id in run.progress.reached:
            continue
        lacks: list[str] = []
        for whim in range(WHIMS):
            trial = run.fork()
            planner = Planner(trial.world, rules.cell(trial.watch.spawn), np.random.default_rng([whim, len(trial.actions)]))
            if trial.play(planner, milestone, limit):
                run = trial
                break
            lacks += planner.lacks
            if planner.lacks and trial.ticks == run.ticks:
                break  # nothing was tried, so another hand would not help
        if milestone.id not in run.progress.reached:
            lack = lacks[0] if lacks else ""
            knows = f"the oracle knows no {lack.removeprefix('a ')}" if lack.startswith("a way ") else ""
            needed = knows or f"needs {lack}, which this world lacks"
            reasons[milestone.id] = needed if lacks else "not found within budget"
    return run, {name: why for name, why in reasons.items() if name not in run.progress.reached}


_MOST_BYTES = 10_000_000


class ReplayError(InterplayError):
    """Raised when a text holds no actions that can be read."""


def packed(actions: Iterable[Action]) -> str:
    """Pack actions into a text: JSON, zlib, then base 85. Equal actions in a row are one [number, changes from `Action()`].

    >>> unpacked(packed([Action(), Action(forward=True)])) == [Action(), Action(forward=True)]
    True
    """
    runs: list[list[Any]] = []
    for action in actions:
        keys = {name: value for name, value in action._asdict().items() if value != getattr(Action(), name)}
        if runs and runs[-1][1] == keys:
            runs[-1][0] += 1
        else:
            runs.append([1, keys])
    return base64.b85encode(zlib.compress(json.dumps(runs, separators=(",", ":")).encode(), 9)).decode()


def unpacked(text: str) -> list[Action]:
    """Read the actions from a text made by `packed`; raise a `ReplayError` for any other text."""
    try:
        unzip = zlib.decompressobj()
        data = unzip.decompress(base64.b85decode(text), _MOST_BYTES)
        if not unzip.eof:
            raise ValueError("they are cut off, or too many")
        return [Action(**keys) for number, keys in json.loads(data) for _ in range(number)]
    except (ValueError, TypeError, zlib.error) as error:
        raise ReplayError(f"the actions of a proof cannot be read: {error}\nProve the instance again.") from None


def replayed(instance: Instance, actions: Iterable[Action]) -> dict[str, int]:
    run = begin(instance)
    for action in actions:
        run.step(action)
    return dict(run.progress.reached)

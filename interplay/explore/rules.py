"""Judge the rules of milestones from plain facts: the five published rules, and our own, whose names begin with `x.`.

>>> rule = Rule("position_inside_box", {"min": [1, 0, 0], "max": [3, 2, 2], "coordinate_frame": "spawn_relative"})
>>> facts = {"spawn": [8.5, 64.0, 8.5], "feet": [10.9, 64.0, 8.2], "eyes": 65.62, "yaw": 0.0, "pitch": 0.0}
>>> holds(rule, facts | {"slots": [None] * 41, "mobs": [], "boxes": [], "events": {}, "visible": None})
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from interplay.errors import InterplayError, unknown_name
from interplay.tables import nearest

NUM_SLOTS = 41
"""Number of a player's slots: 36 carried, 4 for armour, 1 for the other hand."""
MOST_DIGITS = 15
"""Most digits in the whole part of a number; up to this many, floats are exact."""
FRAME = "spawn_relative"
PREFIX = "minecraft:"
EVENTS = (
    {"mined": "block"}
    | dict.fromkeys(("placed", "crafted", "smelted", "traded", "picked_up", "used", "eaten"), "item")
    | dict.fromkeys(("killed", "bred", "tamed", "fed", "sheared", "milked", "dyed", "named", "talked_to"), "mob")
)
"""Counted action of a player -> kind of its object. Commands are not counted."""
FARTHEST_SEEN = 96
LEAST_SIDE, LEAST_WALK = 3, 2
"""Least size of a box in cells: each side of a box for counting; width and depth of a box to walk into."""

Facts = Mapping[str, Any]

FACTS = {
    "spawn": "feet when the scene was ready, x, y and z; the origin O is its cell",
    "feet": "of the player now, x, y and z",
    "eyes": "height of the player's eyes, y",
    "yaw": "degrees; 0 is south, 90 west",
    "pitch": "degrees; down is positive",
    "slots": '41 slots: null or {"item", "count"}',
    "mobs": 'all mobs: {"id", "name", "feet", "health"}',
    "boxes": 'counted boxes: {"min", "max", "blocks"}, corners from O; blocks are {"name", "cells"}',
    "events": "what the player did since the episode began: name of `EVENTS` -> block, item or mob -> how often",
    "visible": 'what the player sees: {"kind", "name", "distance"} of the nearest of each; null where no rule asks',
}


class RuleError(InterplayError):
    """Raised when a rule cannot be judged."""


class FactError(InterplayError):
    """Raised when the facts are incomplete, or hold something that `FACTS` does not name, so that nothing can be judged."""


@dataclass(frozen=True)
class Rule:
    """One condition of a milestone, as written. `type` is one of `PARAMS`; `problems` tells whether the rule is valid."""

    type: str
    params: Mapping[str, Any]


class Problem(NamedTuple):
    """A mistake at a key such as `params.min_count`; a rule with a `fatal` mistake cannot be judged."""

    key: str
    text: str
    remedy: str
    fatal: bool = True


Cell = tuple[int, int, int]
Point = tuple[float, float, float]


# What rules may say


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and _is_number(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**MOST_DIGITS


def _is_cell(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 3 and all(map(_is_whole, value))


_Check = Callable[[str, Any], Iterable[Problem]]


def _name(key: str, value: Any) -> Iterable[Problem]:
    if not isinstance(value, str) or not value.strip():
        yield Problem(key, f"must be a name, got {value!r}", "write a bare name such as oak_log")
    elif value.startswith(PREFIX):
        yield Problem(key, f"{value!r} has a prefix", f"write {value.removeprefix(PREFIX)!r}")


def _at_least_one(key: str, value: Any) -> Iterable[Problem]:
    if not _is_whole(value):
        yield Problem(key, f"must be a whole number of at most {MOST_DIGITS} digits, got {value!r}", "write 1 or more")
    elif value == 0:
        yield Problem(key, "is 0, so the rule always holds", "write 1 or more", fatal=False)
    elif value < 0:
        yield Problem(key, f"must be 1 or more, got {value!r}", "write 1 or more")


def _event(key: str, value: Any) -> Iterable[Problem]:
    if value not in EVENTS:
        yield Problem(key, f"{value!r} is not an event", nearest(str(value), EVENTS) or f"events are {', '.join(EVENTS)}")


def _must(be: str, fits: Callable[[Any], bool], remedy: str) -> _Check:
    return lambda key, value: [] if fits(value) else [Problem(key, f"must be {be}, got {value!r}", remedy)]


_DIGITS = f"at most {MOST_DIGITS} digits"
_cell = _must(f"three whole numbers of {_DIGITS}", _is_cell, "write [x, y, z] in cells from the origin")
_at_least_none = _must(
    f"a whole number of 0 or more, of {_DIGITS}", lambda one: _is_whole(one) and one >= 0, "write how many may be left"
)
_distance = _must(
    f"a number above 0, of {_DIGITS}", lambda one: _is_number(one) and one > 0, "write how many blocks away one may stand"
)
_tolerance = _must(
    "above 0 and at most 360 degrees",
    lambda one: _is_number(one) and 0 < one <= 360,
    "write the whole angle; 360 means any",
)
_kind = _must("'block' or 'mob'", lambda one: one in ("block", "mob"), "write what is counted")
_seen_distance = _must(
    f"above 0 and at most {FARTHEST_SEEN} blocks",
    lambda one: _is_number(one) and 0 < one <= FARTHEST_SEEN,
    "write how many blocks away it may be",
)
_frame = _must(repr(FRAME), lambda one: one == FRAME, f"write {FRAME!r}, and count from where the player begins")
_BOX: dict[str, _Check] = {"min": _cell, "max": _cell, "coordinate_frame": _frame}
_OF_WHAT: dict[str, _Check] = {"kind": _kind, "object": _name}
PARAMS: dict[str, dict[str, _Check]] = {
    "inventory_has": {"item": _name, "min_count": _at_least_one},
    "position_near_with_facing": {
        "target": _cell,
        "max_distance": _distance,
        "facing_tolerance": _tolerance,
        "coordinate_frame": _frame,
    },
    "position_inside_box": _BOX,
    "count_in_box_at_least": _OF_WHAT | _BOX | {"min_count": _at_least_one},
    "count_in_box_at_most": _OF_WHAT | _BOX | {"max_count": _at_least_none},
}
"""Type of a published rule -> its parameters, all of them required."""
OWN_PARAMS: dict[str, dict[str, _Check]] = {
    "x.event_at_least": {"event": _event, "object": _name, "min_count": _at_least_one},
    "x.visible": _OF_WHAT | {"max_distance": _seen_distance},
}
"""Type of our own rule -> its parameters, all required; other judges of these instances do not know these rules."""
_ALL_PARAMS = PARAMS | OWN_PARAMS


def problems(rule: Rule) -> list[Problem]:
    """List the mistakes of a rule that do not depend on the scene."""
    checks = _ALL_PARAMS.get(rule.type)
    if checks is None:
        remedy = nearest(rule.type, _ALL_PARAMS) or f"rules are {', '.join(_ALL_PARAMS)}"
        return [Problem("type", f"{rule.type!r} is not a rule", remedy)]
    found = []
    for name in rule.params:
        if name not in checks:
            remedy = nearest(name, checks) or f"parameters of {rule.type} are {', '.join(checks)}"
            found.append(Problem(f"params.{name}", "is not a parameter of this rule", remedy))
    for name, check in checks.items():
        if name in rule.params:
            found += check(f"params.{name}", rule.params[name])
        else:
            found.append(Problem(f"params.{name}", "is missing", f"add {name}"))
    return found or list(_box_problems(rule))


def _box_problems(rule: Rule) -> Iterable[Problem]:
    if "min" not in rule.params:
        return
    sides = [high - low + 1 for low, high in zip(rule.params["min"], rule.params["max"], strict=True)]
    if min(sides) < 1:
        axes = " and ".join(axis for axis, side in zip("xyz", sides, strict=True) if side < 1)
        yield Problem("params.max", f"lies below min in {axes}: the box holds no cell", "exchange min and max there")
        return
    is_walk = rule.type == "position_inside_box"
    if min(sides[::2] if is_walk else sides) < (LEAST_WALK if is_walk else LEAST_SIDE):
        text = f"makes a tiny box of {sides[0]} x {sides[1]} x {sides[2]} cells"
        wide = f"{LEAST_WALK} cells wide and deep" if is_walk else f"{LEAST_SIDE} cells on each side"
        yield Problem("params.max", text, f"make it at least {wide}", fatal=False)


# What facts must say


def check_facts(facts: Facts) -> None:
    """Raise a `FactError` unless the facts have exactly the names of `FACTS`, each in its form."""
    _exactly(facts, FACTS, "facts")
    for name in ("spawn", "feet"):
        _point(facts[name], name)
    for name in ("eyes", "yaw", "pitch"):
        if not _is_number(facts[name]):
            raise FactError(f"the fact {name} must be a number, got {facts[name]!r}")
    if len(facts["slots"]) != NUM_SLOTS:
        raise FactError(f"the fact slots must have {NUM_SLOTS} entries, got {len(facts['slots'])}")
    for slot in facts["slots"]:
        if slot is not None:
            _exactly(slot, ("item", "count"), "a slot")
    for mob in facts["mobs"]:
        _exactly(mob, ("id", "name", "feet", "health"), "a mob")
        _point(mob["feet"], "feet of a mob")
    for box in facts["boxes"]:
        _exactly(box, ("min", "max", "blocks"), "a box")
        for block in box["blocks"]:
            _exactly(block, ("name", "cells"), "a block of a box")
    for event in facts["events"]:
        if event not in EVENTS:
            raise FactError(f"{event!r} is not an event that can be judged; events are {', '.join(EVENTS)}")
    for one in facts["visible"] or ():
        _exactly(one, ("kind", "name", "distance"), "what is visible")


def _exactly(values: Mapping[str, Any], names: Iterable[str], what: str) -> None:
    missing, unknown = sorted(set(names) - set(values)), sorted(set(values) - set(names))
    if missing or unknown:
        parts = [f"{label} {', '.join(some)}" for label, some in (("missing:", missing), ("unknown:", unknown)) if some]
        raise FactError(f"{what} cannot be judged; {'; '.join(parts)}\nNames of facts are fixed; `rules.FACTS` lists them.")


def _point(value: Any, name: str) -> None:
    if not isinstance(value, Sequence) or len(value) != 3 or not all(map(_is_number, value)):
        raise FactError(f"the fact {name} must be three finite numbers, got {value!r}")


# Judging


def cell(point: Sequence[float]) -> Cell:
    """Return the cell that contains a point.

    >>> cell((-0.5, 64.0, 3.0))
    (-1, 64, 3)
    """
    x, y, z = (math.floor(value) for value in point)
    return x, y, z


def turn_to(point: Sequence[float], target: Sequence[float], yaw: float) -> float:
    """Degrees, 0 to 180, that a player at `point` must turn to face `target`; 0 exactly above or below it."""
    dx, dz = target[0] - point[0], target[2] - point[2]
    if dx == dz == 0:
        return 0.0
    return abs((math.degrees(math.atan2(-dx, dz)) - yaw + 180.0) % 360.0 - 180.0)


def _far_and_turned(facts: Facts, params: Mapping[str, Any]) -> tuple[float, float]:
    """Return the distance in blocks from the feet to the middle of the target's cell, and the degrees to turn to face it."""
    target = [o + t + 0.5 for o, t in zip(cell(facts["spawn"]), params["target"], strict=True)]
    return math.dist(facts["feet"], target), turn_to(facts["feet"], target, facts["yaw"])


def _near(facts: Facts, params: Mapping[str, Any]) -> bool:
    far, turn = _far_and_turned(facts, params)
    return far <= params["max_distance"] and turn <= params["facing_tolerance"] / 2


def _published_target(facts: Facts, params: Mapping[str, Any]) -> Point:
    """Return the target as the published checkers do: spawn plus target, without adding half a block."""
    x, y, z = (s + t for s, t in zip(facts["spawn"], params["target"], strict=True))
    return x, y, z


def _near_by_prompt(facts: Facts, params: Mapping[str, Any]) -> bool:
    """Judge as the published prompt says: by horizontal distance, and with the whole tolerance to the left and to the right."""
    feet, target = facts["feet"], _published_target(facts, params)
    near = math.hypot(target[0] - feet[0], target[2] - feet[2]) <= params["max_distance"]
    return near and turn_to(feet, target, facts["yaw"]) <= params["facing_tolerance"]


def _near_alone(facts: Facts, params: Mapping[str, Any]) -> bool:
    """Judge as the first published checker: only the distance counts, wherever the player looks."""
    return math.dist(facts["feet"], _published_target(facts, params)) <= params["max_distance"]


def _near_by_checker(facts: Facts, params: Mapping[str, Any]) -> bool:
    """Judge as later published checkers: as we do, but the target is not moved by half a block."""
    feet, target = facts["feet"], _published_target(facts, params)
    return _near_alone(facts, params) and turn_to(feet, target, facts["yaw"]) <= params["facing_tolerance"] / 2


def _near_by_view(facts: Facts, params: Mapping[str, Any]) -> bool:
    """Judge as a program derived from the published one: by distance, and by the angle in space between view and target."""
    target, feet = _published_target(facts, params), facts["feet"]
    eyes = (feet[0], facts["eyes"], feet[2])
    far = math.dist(eyes, target)
    yaw, pitch = math.radians(facts["yaw"]), math.radians(facts["pitch"])
    looks = (-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch))
    along = sum(way * (t - e) for way, t, e in zip(looks, target, eyes, strict=True))
    angle = math.degrees(math.acos(max(-1.0, min(1.0, along / far)))) if far else 0.0
    return _near_alone(facts, params) and angle <= params["facing_tolerance"]


VERSION = "interplay-1"
"""Name of the rules' meaning in results; every change of a rule's meaning gets a new name."""
SEMANTICS: dict[str, Callable[[Facts, Mapping[str, Any]], bool]] = {
    VERSION: _near,
    "published-prompt": _near_by_prompt,
    "published-checker-1": _near_alone,
    "published-checker-2": _near_by_checker,
    "published-view": _near_by_view,
}
"""Name -> meaning of `position_near_with_facing`. Published programs read this rule in four ways, other rules in one."""


def _inside(point: Cell, facts: Facts, params: Mapping[str, Any]) -> bool:
    return all(
        low <= value - o <= high
        for value, o, low, high in zip(point, cell(facts["spawn"]), params["min"], params["max"], strict=True)
    )


def _count(facts: Facts, params: Mapping[str, Any]) -> int:
    """Count the cells of a block in the rule's box, or the living mobs whose feet are in a cell of the box."""
    if params["kind"] == "mob":
        alive = [mob for mob in facts["mobs"] if mob["name"] == params["object"] and mob["health"] > 0]
        return sum(_inside(cell(mob["feet"]), facts, params) for mob in alive)
    wanted = [list(params["min"]), list(params["max"])]
    for box in facts["boxes"]:
        if [list(box["min"]), list(box["max"])] == wanted:
            return sum(block["cells"] for block in box["blocks"] if block["name"] == params["object"])
    raise FactError(f"the facts have no box from {wanted[0]} to {wanted[1]}\nCollect the boxes that `rules.boxes` names.")


def num_events(facts: Facts, event: str, name: str) -> int:
    return int(facts["events"].get(event, {}).get(name, 0))


def _seen_at(facts: Facts, params: Mapping[str, Any]) -> float:
    """Distance in blocks of the nearest thing in sight that the rule names; infinite if no such thing is in sight."""
    if facts["visible"] is None:
        raise FactError("the facts do not say what is visible\nCollect them with facts.for_rules, or with sees=True.")
    wanted = (params["kind"], params["object"])
    return min((one["distance"] for one in facts["visible"] if (one["kind"], one["name"]) == wanted), default=math.inf)


def _carried(facts: Facts, item: str) -> int:
    return sum(slot["count"] for slot in facts["slots"] if slot is not None and slot["item"] == item)


def measured(rule: Rule, facts: Facts) -> tuple[float, ...]:
    """Return the numbers that a valid rule compares with its parameters, for people who ask why the rule holds or not.

    Returns:
        For `inventory_has`, counts in boxes and `x.event_at_least`: the count. `position_near_with_facing`: distance in blocks,
        and degrees to turn. `position_inside_box`: the cell of the feet, from the origin. `x.visible`: distance of the nearest
        thing in blocks, infinite if none is seen.

    >>> rule = Rule("x.event_at_least", {"event": "mined", "object": "sand", "min_count": 2})
    >>> measured(rule, {"events": {"mined": {"sand": 1}}})
    (1,)
    """
    params = rule.params
    if rule.type == "inventory_has":
        return (_carried(facts, params["item"]),)
    if rule.type == "position_near_with_facing":
        return _far_and_turned(facts, params)
    if rule.type == "position_inside_box":
        x, y, z = (at - o for at, o in zip(cell(facts["feet"]), cell(facts["spawn"]), strict=True))
        return x, y, z
    if rule.type == "x.event_at_least":
        return (num_events(facts, params["event"], params["object"]),)
    if rule.type == "x.visible":
        return (_seen_at(facts, params),)
    return (_count(facts, params),)


def done_by_player(rule: Rule, start: Facts, now: Facts) -> bool:
    """Whether the player removed what a rule `count_in_box_at_most` wants gone; `start` has the facts of the beginning.

    Mobs may also have died or left by themselves. The player must have killed or mined at least as many as the rule demands;
    mobs and blocks of the same name outside the box count, too.
    """
    event, name = ("killed" if rule.params["kind"] == "mob" else "mined"), rule.params["object"]
    done = num_events(now, event, name) - num_events(start, event, name)
    return done >= max(1, _count(start, rule.params) - rule.params["max_count"])


def holds(rule: Rule, facts: Facts, semantics: str = VERSION) -> bool:
    """Whether a rule holds at one tick.

    Raises:
        RuleError: If the rule is invalid; the text has the remedy.
        FactError: If a fact is missing or has another name.
        NotFoundError: For unknown semantics.
    """
    near = SEMANTICS.get(semantics)
    if near is None:
        raise unknown_name("semantics", semantics, SEMANTICS)
    for problem in problems(rule):
        if problem.fatal:
            raise RuleError(f"{rule.type}: {problem.key}: {problem.text}\nRemedy: {problem.remedy}.")
    check_facts(facts)
    params = rule.params
    if rule.type == "position_near_with_facing":
        return near(facts, params)
    if rule.type == "position_inside_box":
        return _inside(cell(facts["feet"]), facts, params)
    (number,) = measured(rule, facts)
    if "min_count" in params:
        return number >= params["min_count"]
    return number <= params["max_count" if "max_count" in params else "max_distance"]


def all_hold(rules: Sequence[Rule], facts: Facts, semantics: str = VERSION) -> bool:
    """Whether all rules of a milestone hold at one tick; raises a `RuleError` if the milestone has no rules."""
    if not rules:
        raise RuleError("a milestone without rules cannot be judged\nRemedy: give it one rule or more.")
    verdicts = [holds(rule, facts, semantics) for rule in rules]  # all are judged, so that each missing fact is found
    return all(verdicts)


def boxes(rules: Iterable[Rule]) -> list[tuple[Cell, Cell]]:
    found = []
    for rule in rules:
        if "min" in rule.params and rule.params.get("kind") == "block" and not any(problem.fatal for problem in problems(rule)):
            (x0, y0, z0), (x1, y1, z1) = rule.params["min"], rule.params["max"]
            found.append(((x0, y0, z0), (x1, y1, z1)))
    return list(dict.fromkeys(found))


@dataclass
class Progress:
    """Milestones reached so far; a reached milestone stays reached.

    Attributes:
        milestones: Name -> rules of the milestone.
        reached: Name -> tick, in the order in which the milestones were reached.
        by_player: Name -> whether `done_by_player` is true for all rules `count_in_box_at_most` of the milestone. It
            contains only milestones that have such a rule and are reached. The first call of `update` must have the facts of
            the episode's beginning.
    """

    milestones: Mapping[str, Sequence[Rule]]
    semantics: str = VERSION
    reached: dict[str, int] = field(default_factory=dict)
    by_player: dict[str, bool] = field(default_factory=dict)
    _start: Facts | None = None

    def fork(self) -> Progress:
        return replace(self, reached=dict(self.reached), by_player=dict(self.by_player))

    def update(self, facts: Facts, tick: int) -> list[str]:
        """Judge the milestones that are not reached yet, and return the names of those reached now.

        Raises:
            RuleError, FactError: As for `all_hold`; then no milestone counts as reached at this tick.
        """
        open_ones = {name: rules for name, rules in self.milestones.items() if name not in self.reached}
        now = [name for name, rules in open_ones.items() if all_hold(rules, facts, self.semantics)]
        self._start = facts if self._start is None else self._start
        self.reached |= dict.fromkeys(now, tick)
        for name in now:
            gone = [rule for rule in self.milestones[name] if rule.type == "count_in_box_at_most"]
            if gone:
                self.by_player[name] = all(done_by_player(rule, self._start, facts) for rule in gone)
        return now


# In words


def in_words(rule: Rule) -> str:
    """Write one rule as a part of a sentence; a missing parameter is written as "?".

    >>> in_words(Rule("inventory_has", {"item": "oak_log", "min_count": 2}))
    'the player carries at least 2 oak log'
    """
    params: Mapping[str, Any] = rule.params
    name = str(params.get("item") or params.get("object") or "?").replace("_", " ")
    if rule.type == "inventory_has":
        return f"the player carries at least {params.get('min_count', '?')} {name}"
    if rule.type == "position_near_with_facing":
        half = params.get("facing_tolerance", 360)
        half = half / 2 if isinstance(half, int | float) else half
        facing = "" if half == 180 else f" and looks at it to within {half} degrees"
        near = f"the player stands within {params.get('max_distance', '?')} blocks of"
        return f"{near} {_cell_words(params.get('target'))}{facing}"
    if rule.type == "position_inside_box":
        return f"the player stands in the box {_box_words(params)}"
    if rule.type == "count_in_box_at_most" and params.get("max_count") == 0:
        return f"no {name} is left in the box {_box_words(params)}"
    if rule.type in ("count_in_box_at_least", "count_in_box_at_most"):
        most = f"most {params.get('max_count', '?')}" if rule.type.endswith("most") else f"least {params.get('min_count', '?')}"
        verb = "live" if params.get("kind") == "mob" else "stand"
        return f"at {most} {name} {verb} in the box {_box_words(params)}"
    if rule.type == "x.event_at_least":
        event = str(params.get("event", "?")).replace("_", " ")
        return f"the player has {event} {name} at least {params.get('min_count', '?')} times"
    if rule.type == "x.visible":
        return f"{name} is in sight, at most {params.get('max_distance', '?')} blocks away"
    return f"{rule.type} holds"


def _cell_words(value: Any) -> str:
    return " ".join(f"~{one}" for one in value) if isinstance(value, list) else "?"


def _box_words(params: Mapping[str, Any]) -> str:
    return f"from {_cell_words(params.get('min'))} to {_cell_words(params.get('max'))}"

"""The five rules, judged on facts of the real world; what is expected is counted by hand or by formulas stated here."""

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from blockworld import Action, Stack, World, run
from interplay.errors import NotFoundError
from interplay.explore import facts, rules
from interplay.explore.rules import FactError, Progress, Rule, RuleError, all_hold, boxes, holds, problems

SPAWN = (128.5, 64.0, 128.5)  # of the flat land; O is (128, 64, 128)
ORIGIN = (128, 64, 128)
FRAME = {"coordinate_frame": "spawn_relative"}
BELOW = -math.inf


def near(target: list[int], distance: float = 16, tolerance: float = 60) -> Rule:
    params = {"target": target, "max_distance": distance, "facing_tolerance": tolerance}
    return Rule("position_near_with_facing", params | FRAME)


def inside(low: list[int], high: list[int]) -> Rule:
    return Rule("position_inside_box", {"min": low, "max": high} | FRAME)


def count(bound: str, kind: str, name: str, low: list[int], high: list[int], number: int) -> Rule:
    limit = {"least": "min_count", "most": "max_count"}[bound]
    params = {"kind": kind, "object": name, "min": low, "max": high, limit: number}
    return Rule(f"count_in_box_at_{bound}", params | FRAME)


def has(item: str, number: int) -> Rule:
    return Rule("inventory_has", {"item": item, "min_count": number})


POSES = ("position_near_with_facing", "position_inside_box")
"""Rules about where the player stands and looks, which each case sets anew."""


class Case(NamedTuple):
    """One judgement: what is asked, what to do to the world, and what must be said."""

    rule: Rule
    change: Callable[[World], None]
    expected: bool


def stand(x: float, y: float, z: float, yaw: float = 0.0) -> Callable[[World], None]:
    """Puts the player there."""

    def change(world: World) -> None:
        world.player.x, world.player.y, world.player.z, world.player.yaw = x, y, z, yaw

    return change


def nothing(world: World) -> None:
    """Leaves the world as it is."""


def facing_cases() -> Iterator[Case]:
    """The player stands `away` blocks from T on a bearing known by hand and turns `error` degrees off it: |error| decides."""
    for target in ([4, 1, 7], [-6, -2, -9]):
        middle = [o + t + 0.5 for o, t in zip(ORIGIN, target, strict=True)]
        # (dx, dz) from the player to T, and the yaw that faces it: 0 is south (+z), 90 west (-x)
        for dx, dz, bearing in ((0, 1, 0.0), (-1, 0, 90.0), (0, -1, 180.0), (1, 0, -90.0), (1, 1, -45.0), (-1, -1, 135.0)):
            place = (middle[0] - 4 * dx, middle[1], middle[2] - 4 * dz)
            for tolerance, errors in (
                (60, (0, 30, -30, 30.001, -30.001, 59, 180)),
                (180, (90, -90, 90.001, -90.001)),
                (360, (180, 90, -179)),
            ):
                for error in errors:
                    yaw = (bearing + error + 180) % 360 - 180  # as the world keeps it, in [-180, 180)
                    yield Case(near(target, 16, tolerance), stand(*place, yaw), abs(error) <= tolerance / 2)
    # over the wrap, written out: T is due north (yaw 180 or -180), 4 blocks away
    for yaw, expected in ((-180, True), (179.5, True), (-151, True), (-149, False), (151, True), (149, False), (540, True)):
        yield Case(near([0, 0, -4]), stand(128.5, 64.5, 128.5, yaw), expected)
    # right above and below T no way is wrong
    for yaw in (0, 77, -180):
        yield Case(near([0, -1, 0], 2, 1), stand(128.5, 64.0, 128.5, yaw), True)


def distance_cases() -> Iterator[Case]:
    """Distances known from triangles 3, 4, 5 and 2, 3, 6, 7: exact in binary, at the edge and a little beyond."""
    for target in ([5, 2, 5], [-5, -3, -5]):
        x, y, z = (o + t + 0.5 for o, t in zip(ORIGIN, target, strict=True))
        for away, distance in (
            ((3, 0, 4), 5),
            ((0, 4, 3), 5),
            ((3, 4, 0), 5),
            ((2, 3, 6), 7),
            ((6, 2, 3), 7),
            ((0, 0, 16), 16),
        ):
            place = (x - away[0], y - away[1], z - away[2])
            for limit in (distance, distance + 0.001, distance - 0.001, distance / 2):
                yield Case(near(target, limit, 360), stand(*place), distance <= limit)
            farther = (place[0], place[1], place[2] - 1e-6) if away[2] else (place[0] - 1e-6, place[1], place[2])
            yield Case(near(target, distance, 360), stand(*farther), False)
    # feet, not eyes: T is 1.5 above the feet and 0.12 below the eyes
    yield Case(near([0, 1, 0], 1.5, 360), stand(*SPAWN), True)
    yield Case(near([0, 1, 0], 1.49, 360), stand(*SPAWN), False)


def inside_cases() -> Iterator[Case]:
    """From the lower face of `min` to just below the upper face of `max`."""
    for low, high in (([2, 0, 2], [4, 3, 6]), ([-9, -2, -7], [-5, 1, -3]), ([-1, 0, -1], [0, 0, 0])):
        middle = [o + (a + b + 1) / 2 for o, a, b in zip(ORIGIN, low, high, strict=True)]
        for axis in range(3):
            first, last = float(ORIGIN[axis] + low[axis]), float(ORIGIN[axis] + high[axis] + 1)
            for value, expected in (
                (first, True),
                (math.nextafter(first, BELOW), False),
                (math.nextafter(last, BELOW), True),
                (last, False),
            ):
                place = list(middle)
                place[axis] = value
                yield Case(inside(low, high), stand(*place), expected)


def block_cases() -> Iterator[Case]:
    """Five logs lie in a row from x = -3 to 1 at z = -4; a box from a to b holds those between."""
    for a in range(-5, 4, 2):
        for b in range(a, 5, 2):
            held = max(0, min(b, 1) - max(a, -3) + 1)
            for number in (1, 3, 5):
                yield Case(count("least", "block", "oak_log", [a, 0, -5], [b, 2, -3], number), nothing, held >= number)
            for number in (0, 2, 4):
                yield Case(count("most", "block", "oak_log", [a, 0, -5], [b, 2, -3], number), nothing, held <= number)
    for low, high, held in (  # one side after the other ends at the row or before it
        ([-3, 0, -4], [1, 0, -4], 5),
        ([-3, 1, -4], [1, 2, -4], 0),
        ([-3, -2, -4], [1, -1, -4], 0),
        ([-3, 0, -3], [1, 0, -2], 0),
        ([-3, 0, -6], [1, 0, -5], 0),
    ):
        yield Case(count("least", "block", "oak_log", low, high, 5), nothing, held >= 5)
        yield Case(count("most", "block", "oak_log", low, high, 0), nothing, held <= 0)
    yield Case(count("least", "block", "birch_log", [-5, 0, -5], [5, 3, 5], 1), nothing, False)
    yield Case(count("least", "block", "stone", [-200, -3, 0], [200, -3, 0], 1), nothing, False)  # dirt, 3 below the feet
    yield Case(count("least", "block", "dirt", [-200, -3, 0], [200, -3, 0], 256), nothing, True)  # the land is 256 wide
    yield Case(count("least", "block", "dirt", [-200, -3, 0], [200, -3, 0], 257), nothing, False)


def mob_cases() -> Iterator[Case]:
    """One pig stands where it is put, in cell (-3, 0, 5), another in (6, 0, 6), and a cow in (6, 0, -6)."""

    def pig(x: float, z: float, health: float = 10.0) -> Callable[[World], None]:
        def change(world: World) -> None:
            row = world.row_of(PIG[0])
            assert row is not None
            world.entities["x"][row], world.entities["z"][row], world.entities["health"][row] = x, z, health

        return change

    low, high = [-4, 0, 4], [-3, 2, 6]
    for x, z, held in (
        (124.0, 132.0, 1),
        (math.nextafter(124.0, BELOW), 133.5, 0),
        (125.99, 134.99, 1),
        (126.0, 133.5, 0),
        (125.5, math.nextafter(132.0, BELOW), 0),
        (125.5, 135.0, 0),
        (125.5, 133.5, 1),
    ):
        yield Case(count("least", "mob", "pig", low, high, 1), pig(x, z), held >= 1)
        yield Case(count("most", "mob", "pig", low, high, 0), pig(x, z), held <= 0)
    everywhere = [-20, -5, -20], [20, 10, 20]
    for name, held in (("pig", 2), ("cow", 1), ("zombie", 0)):
        for number in (1, 2, 3):
            yield Case(count("least", "mob", name, *everywhere, number), nothing, held >= number)
            yield Case(count("most", "mob", name, *everywhere, number - 1), nothing, held <= number - 1)
    yield Case(count("least", "mob", "pig", *everywhere, 2), pig(125.5, 133.5, 0.0), False)  # one lies dying
    yield Case(count("most", "mob", "pig", *everywhere, 1), pig(125.5, 133.5, 0.0), True)


def inventory_cases() -> Iterator[Case]:
    """Logs in all kinds of slots: 3 carried, 4 in the last slot, 2 in the other hand; a helmet worn."""
    for number in (1, 3, 8, 9, 10, 64):
        yield Case(has("oak_log", number), nothing, number <= 9)

    def on_the_cursor(world: World) -> None:
        world.player.held = Stack("oak_log", 5)

    def in_the_grid(world: World) -> None:
        world.step(Action(inventory=True))
        assert world.screen is not None
        world.screen.craft[0] = Stack("oak_log", 5)

    for change in (on_the_cursor, in_the_grid):
        yield Case(has("oak_log", 9), change, True)
        yield Case(has("oak_log", 10), change, False)
    for item, expected in (("iron_helmet", True), ("iron_boots", False), ("oak_planks", False), ("log", False)):
        yield Case(has(item, 1), nothing, expected)


PIG: list[int] = []
"""Id of the pig that is moved."""


@pytest.fixture(scope="module")
def scene() -> bytes:
    """A world with a row of logs, three mobs that stay where they are, and things in slots of every kind; saved."""
    world = World(0, "flat")
    assert facts.feet(world) == SPAWN
    for line in (
        "/kill @e[type=!player]",
        "/fill ~-3 ~ ~-4 ~1 ~ ~-4 minecraft:oak_log[axis=x]",
        "/summon pig ~-3 ~ ~5 {NoAI:1b}",
        "/summon pig ~6 ~ ~6 {NoAI:1b}",
        "/summon cow ~6 ~ ~-6 {NoAI:1b}",
        "/give @p oak_log 3",
        "/replaceitem entity @p inventory.26 oak_log 4",
        "/replaceitem entity @p weapon.offhand oak_log 2",
        "/replaceitem entity @p armor.head iron_helmet",
    ):
        run(world, line)
    there = world.entities  # those that were killed lie there for a second
    PIG[:] = [int(there["id"][(there["kind"] >= 0) & (there["health"] > 0)][0])]
    return world.save()


def cases() -> list[Case]:
    parts = (facing_cases, distance_cases, inside_cases, block_cases, mob_cases, inventory_cases)
    return [case for part in parts for case in part()]


def test_every_verdict_on_facts_of_the_real_world_is_the_one_expected(scene):
    made = cases()
    assert len(made) >= 250
    assert {case.rule.type for case in made} == set(rules.PARAMS)
    assert all({True, False} == {case.expected for case in made if case.rule.type == name} for name in rules.PARAMS)
    world, wrong = World.restore(scene), []
    for case in made:
        if case.rule.type not in POSES and case.change is not nothing:
            world = World.restore(scene)
        case.change(world)
        found = facts.collect(world, SPAWN, boxes([case.rule]))
        if holds(case.rule, found) != case.expected:
            wrong.append((case.rule, found["feet"], found["yaw"], case.expected))
        if case.rule.type not in POSES and case.change is not nothing:
            world = World.restore(scene)
    assert wrong == []


def a_rule_of_each_type() -> list[Rule]:
    return [
        has("oak_log", 1),
        near([0, 0, 3]),
        inside([-1, 0, -1], [1, 1, 1]),
        count("least", "block", "oak_log", [-3, 0, -4], [1, 2, -2], 1),
        count("most", "mob", "pig", [-9, 0, -9], [9, 2, 9], 2),
    ]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every key of a document, as the way to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*path, index))


def table_at(document: Any, path: tuple[Any, ...]) -> Any:
    for part in path[:-1]:
        document = document[part]
    return document


def test_a_fact_that_is_renamed_or_missing_raises_and_is_never_false(scene):
    world, judged = World.restore(scene), a_rule_of_each_type()
    good = facts.collect(world, SPAWN, boxes(judged))
    assert [holds(rule, good) for rule in judged] == [True, True, True, True, True]
    names = list(paths(good))
    assert {path[-1] for path in names} >= {*rules.FACTS, "item", "count", "name", "health", "min", "max", "blocks", "cells"}
    for path in names:
        renamed, missing = copy.deepcopy(good), copy.deepcopy(good)
        at = table_at(renamed, path)
        at[f"{path[-1]}s"] = at.pop(path[-1])
        del table_at(missing, path)[path[-1]]
        for rule in judged:
            with pytest.raises(FactError, match=rf"missing: {path[-1]}; unknown: {path[-1]}s"):
                holds(rule, renamed)
            with pytest.raises(FactError, match=rf"missing: {path[-1]}"):
                holds(rule, missing)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("feet", [1.0, math.nan, 2.0], "three finite numbers"),
        ("feet", [1.0, 2.0], "three finite numbers"),
        ("yaw", "north", "must be a number"),
        ("yaw", math.inf, "must be a number"),
        ("eyes", 10**400, "must be a number"),
        ("slots", [], "41 entries"),
        ("boxes", [], r"no box from \[-3, 0, -4\]"),
    ],
)
def test_a_fact_that_says_something_else_raises(scene, name, value, said):
    judged = a_rule_of_each_type()
    good = facts.collect(World.restore(scene), SPAWN, boxes(judged))
    with pytest.raises(FactError, match=said):
        all_hold(judged, good | {name: value})


def test_the_published_variants_read_the_facing_rule_in_four_other_ways(scene):
    world = World.restore(scene)

    def verdicts(place: tuple[float, float, float], yaw: float, rule: Rule, pitch: float = 0.0) -> dict[str, bool]:
        stand(*place, yaw)(world)
        world.player.pitch = pitch
        found = facts.collect(world, SPAWN, [])
        return {name: holds(rule, found, name) for name in rules.SEMANTICS}

    south = near([0, 0, 6], 7, 60)  # T is 6 blocks south of the spawn
    ours, prompt, first, second, view = rules.SEMANTICS
    assert verdicts(SPAWN, 0, south) == {ours: True, prompt: True, first: True, second: True, view: True}
    # 45 degrees off: within the whole tolerance, not within half of it
    assert verdicts(SPAWN, 45, south) == {ours: False, prompt: True, first: True, second: False, view: True}
    assert verdicts(SPAWN, 180, south) == {ours: False, prompt: False, first: True, second: False, view: False}
    # 20 blocks above: near over the ground alone
    assert verdicts((128.5, 84.0, 128.5), 0, south) == {ours: False, prompt: True, first: False, second: False, view: False}
    # 75 degrees up: the yaw is right, the view is not
    assert verdicts(SPAWN, 0, south, -75) == {ours: True, prompt: True, first: True, second: True, view: False}
    # ours measures to the middle of the cell, half a block higher than the published ones
    low = near([0, 2, 0], 2.25, 360)
    assert verdicts(SPAWN, 0, low) == {ours: False, prompt: True, first: True, second: True, view: True}
    with pytest.raises(NotFoundError, match="did you mean 'published-prompt'"):
        holds(south, facts.collect(world, SPAWN, []), "published-promt")


def test_all_rules_of_a_milestone_hold_at_one_tick_and_milestones_latch(scene):
    world = World.restore(scene)
    here, there = inside([-1, 0, -1], [1, 1, 1]), inside([4, 0, 4], [6, 1, 6])
    milestones = {"here": [here], "both": [here, there], "there with a log": [there, has("oak_log", 9)]}
    progress = Progress(milestones)

    def at(place: tuple[float, float, float], tick: int) -> list[str]:
        stand(*place)(world)
        return progress.update(facts.collect(world, SPAWN, []), tick)

    assert at(SPAWN, 1) == ["here"]
    assert at((133.5, 64.0, 133.5), 2) == ["there with a log"]
    assert at(SPAWN, 3) == []
    assert progress.reached == {"here": 1, "there with a log": 2}  # here and there one after the other is not both
    with pytest.raises(RuleError, match="without rules"):
        Progress({"empty": []}).update(facts.collect(world, SPAWN, []), 1)


def test_the_origin_is_the_cell_of_the_feet_when_the_idle_ticks_have_passed():
    world = World(0, "flat")
    run(world, "/tp @p ~ ~5 ~-40 90 10")  # they fall for most of a second
    before = world.digest()
    ready = facts.ready(world)
    assert world.digest() == before
    assert ready.ticks == world.ticks + 20
    assert (rules.cell(facts.feet(world)), rules.cell(facts.feet(ready))) == ((128, 69, 88), (128, 64, 88))


def broken(rule: Rule, **params: Any) -> Rule:
    """With other parameters; `None` leaves one out."""
    return Rule(rule.type, {name: value for name, value in (rule.params | params).items() if value is not None})


BOX = count("least", "block", "oak_log", [0, 0, 0], [2, 2, 2], 1)


@pytest.mark.parametrize(
    ("rule", "key", "said"),
    [
        (Rule("inventory_hass", {}), "type", "did you mean 'inventory_has'"),
        (Rule("fly", {}), "type", "rules are inventory_has, position_near"),
        (broken(has("oak_log", 1), min_cout=2), "params.min_cout", "did you mean 'min_count'"),
        (broken(has("oak_log", 1), min_count=None), "params.min_count", "is missing"),
        (has("minecraft:oak_log", 1), "params.item", "write 'oak_log'"),
        (has("", 1), "params.item", "bare name"),
        (has("oak_log", -1), "params.min_count", "1 or more"),
        (broken(has("oak_log", 1), min_count=1.5), "params.min_count", "whole number"),
        (broken(BOX, coordinate_frame="absolute"), "params.coordinate_frame", "'spawn_relative'"),
        (broken(BOX, kind="blok"), "params.kind", "'block' or 'mob'"),
        (broken(BOX, min=[0, 0.5, 0]), "params.min", "three whole numbers"),
        (broken(BOX, max=[5, 5]), "params.max", "three whole numbers"),
        (broken(BOX, min=[0, 3, 0]), "params.max", "below min in y"),
        (broken(count("most", "mob", "pig", [0, 0, 0], [4, 4, 4], 0), max_count=-1), "params.max_count", "0 or more"),
        (near([0, 0, 3], 0), "params.max_distance", "above 0"),
        (near([0, 0, 3], math.nan), "params.max_distance", "above 0"),
        (near([0, 0, 3], 10**400), "params.max_distance", "at most 15 digits"),
        (near([10**400, 0, 3], 5), "params.target", "at most 15 digits"),
        (has("oak_log", 10**15), "params.min_count", "at most 15 digits"),
        (near([0, 0, 3], 5, 361), "params.facing_tolerance", "360 means any"),
    ],
)
def test_a_rule_that_means_nothing_is_named_with_its_remedy_and_never_judged(scene, rule, key, said):
    (problem,) = problems(rule)
    assert problem.fatal
    assert (problem.key, said in f"{problem.text}; {problem.remedy}") == (key, True)
    found = facts.collect(World.restore(scene), SPAWN, boxes([rule]))
    with pytest.raises(RuleError, match=r"Remedy: "):
        holds(rule, found)


@pytest.mark.parametrize(
    ("rule", "key"),
    [
        (has("oak_log", 0), "params.min_count"),
        (broken(BOX, max=[2, 1, 2]), "params.max"),
        (inside([1, 0, 1], [1, 3, 4]), "params.max"),
    ],
)
def test_a_rule_that_says_too_little_is_named_and_still_judged(scene, rule, key):
    (problem,) = problems(rule)
    assert (problem.key, problem.fatal) == (key, False)
    assert holds(rule, facts.collect(World.restore(scene), SPAWN, boxes([rule]))) in (True, False)

"""Our own rules, and who did it, judged on facts of the real world."""

import copy
from typing import Any

import pytest
from small_instance import FIRST_LOG

from blockworld import Action, Stack, World, mobs, run
from interplay.explore import checking, facts, rules
from interplay.explore.instance import parse
from interplay.explore.oracle.proving import prove
from interplay.explore.rules import FactError, Progress, Rule, RuleError, done_by_player, holds, problems

FRAME = {"coordinate_frame": "spawn_relative"}
ARENA = {"min": [-15, -2, -15], "max": [15, 5, 15]} | FRAME


@pytest.fixture
def world() -> World:
    """Flat land, where the player looks south."""
    world = World(0, "flat", inhabited=False)
    world.step(Action())
    return world


def event(name: str, what: str, number: int = 1) -> Rule:
    return Rule("x.event_at_least", {"event": name, "object": what, "min_count": number})


def sees(kind: str, name: str, distance: float = 16) -> Rule:
    return Rule("x.visible", {"kind": kind, "object": name, "max_distance": distance})


def gone(kind: str, name: str, number: int = 0) -> Rule:
    return Rule("count_in_box_at_most", {"kind": kind, "object": name, "max_count": number} | ARENA)


def judged(world: World, *asked: Rule) -> list[bool]:
    found = facts.for_rules(world, facts.feet(world), asked)
    return [holds(rule, found) for rule in asked]


def test_what_the_player_does_is_counted_and_what_commands_do_is_not(world):
    run(world, "/setblock ~ ~1 ~1 minecraft:dirt")
    run(world, "/give @p minecraft:dirt 5")
    run(world, "/setblock ~3 ~ ~3 minecraft:oak_log")
    asked = event("mined", "dirt"), event("mined", "dirt", 2), event("placed", "dirt"), event("mined", "oak_log")
    assert judged(world, *asked) == [False] * 4
    for _ in range(30):
        world.step(Action(attack=True))
    assert judged(world, *asked) == [True, False, False, False]


def test_what_is_visible_stands_in_the_view_before_everything_else_and_near_enough(world):
    x, y, z = world.spawn
    run(world, "/setblock ~ ~1 ~5 minecraft:gold_block")
    run(world, "/setblock ~ ~1 ~-5 minecraft:diamond_block")  # behind the player
    run(world, "/setblock ~ ~1 ~8 minecraft:coal_block")  # behind the gold
    pig = world.spawn_mob("pig", x + 3.5, float(y), z + 6.5, NoAI=1)
    near, far = sees("block", "gold_block", 4.6), sees("block", "gold_block", 4.4)  # its face is 4.5 blocks from the eye
    others = sees("block", "diamond_block"), sees("block", "coal_block"), sees("mob", "pig"), sees("mob", "cow")
    assert judged(world, near, far, *others) == [True, False, False, False, True, False]
    world.player.yaw = 180.0
    assert judged(world, near, *others) == [False, True, False, False, False]
    world.player.yaw = 0.0
    run(world, "/fill ~1 ~ ~3 ~5 ~3 ~3 minecraft:stone")
    assert judged(world, sees("mob", "pig"), sees("block", "stone")) == [False, True]
    run(world, "/fill ~1 ~ ~3 ~5 ~3 ~3 minecraft:glass")
    assert judged(world, sees("mob", "pig")) == [True]
    row = world.row_of(pig)
    assert row is not None
    world.entities["x"][row], world.entities["z"][row] = x + 12.5, z + 40.5
    assert judged(world, sees("mob", "pig"), sees("mob", "pig", 60)) == [False, True]


def test_facts_that_do_not_say_what_is_visible_raise(world):
    with pytest.raises(FactError, match="do not say what is visible"):
        holds(sees("mob", "pig"), facts.collect(world, facts.feet(world), []))


def test_a_rule_of_ours_that_means_nothing_is_named_with_its_remedy():
    for rule, key, said in [
        (event("mine", "dirt"), "params.event", "did you mean 'mined'"),
        (event("mined", "minecraft:dirt"), "params.object", "write 'dirt'"),
        (event("mined", "dirt", -1), "params.min_count", "1 or more"),
        (sees("thing", "dirt"), "params.kind", "'block' or 'mob'"),
        (sees("block", "dirt", 97), "params.max_distance", "at most 96 blocks"),
        (Rule("x.visble", {}), "type", "did you mean 'x.visible'"),
        (Rule("x.event_at_least", {"event": "mined", "object": "dirt"}), "params.min_count", "is missing"),
    ]:
        (problem,) = problems(rule)
        assert (problem.key, said in f"{problem.text}; {problem.remedy}") == (key, True)
        with pytest.raises(RuleError):
            holds(rule, {})


def test_our_rules_have_a_namespace_of_their_own_and_the_published_are_five():
    assert len(rules.PARAMS) == 5
    assert all(name.startswith("x.") for name in rules.OWN_PARAMS)


def every_fact(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where in facts there is a name that could be another; names of blocks, items and mobs stand as values."""
    paths = []
    for key, value in found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else []:
        paths += [(*path, key)] * isinstance(found, dict) + every_fact(value, (*path, key))
    return [one for one in paths if one[0] != "events" or len(one) <= 2]


def test_each_fact_of_ours_that_is_missing_or_renamed_raises(world):
    world.give(Stack("dirt"))
    world.player.count("mined", "dirt")
    x, y, z = world.spawn
    world.spawn_mob("pig", x + 0.5, float(y), z + 3.5, NoAI=1)
    asked = [event("mined", "dirt"), sees("mob", "pig"), gone("block", "stone")]
    paths = every_fact(facts.for_rules(world, facts.feet(world), asked))
    assert {("events", "mined"), ("mobs", 0, "id"), ("visible", 0, "distance")} <= set(paths)
    for path in paths:
        found = facts.for_rules(world, facts.feet(world), asked)
        table: Any = found
        for key in path[:-1]:
            table = table[key]
        table["renamed"] = table.pop(path[-1])
        with pytest.raises(FactError):
            [holds(rule, found) for rule in asked]


def test_a_zombie_that_the_sun_kills_was_not_killed_by_the_player(world):
    x, y, z = world.spawn
    world.time = 6000
    milestones = {"kill zombie": [gone("mob", "zombie")]}

    def zombie() -> tuple[Progress, int]:
        one = world.spawn_mob("zombie", x + 6.5, float(y), z + 6.5, Health=3.0)
        progress = Progress(milestones)
        progress.update(facts.collect(world, facts.feet(world), []), 0)
        assert progress.reached == {}
        return progress, one

    burnt, one = zombie()
    for _ in range(200):
        world.step(Action())
    assert world.row_of(one) is None
    assert burnt.update(facts.collect(world, facts.feet(world), []), 200) == ["kill zombie"]
    assert burnt.by_player == {"kill zombie": False}
    struck, one = zombie()
    row = world.row_of(one)
    assert row is not None
    mobs.hit_by_player(world, row, 40.0)
    assert struck.update(facts.collect(world, facts.feet(world), []), 1) == ["kill zombie"]
    assert struck.by_player == {"kill zombie": True}


def test_as_many_must_be_done_by_the_player_as_had_to_go(world):
    run(world, "/fill ~2 ~ ~2 ~4 ~ ~2 minecraft:gold_block")  # three
    rule = gone("block", "gold_block", 1)
    start = facts.for_rules(world, facts.feet(world), [rule])
    verdicts = []
    for number in range(3):
        now = facts.for_rules(world, facts.feet(world), [rule]) | {"events": {"mined": {"gold_block": number}}}
        verdicts.append(done_by_player(rule, start, now))
    assert verdicts == [False, False, True]


OWN = {
    "shear sheep": ("x.event_at_least", {"event": "sheared", "object": "sheep", "min_count": 1}),
    "milk cow": ("x.event_at_least", {"event": "milked", "object": "cow", "min_count": 1}),
    "feed pig": ("x.event_at_least", {"event": "fed", "object": "pig", "min_count": 1}),
    "talk to villager": ("x.event_at_least", {"event": "talked_to", "object": "villager", "min_count": 1}),
    "see diamond_ore": ("x.visible", {"kind": "block", "object": "diamond_ore", "max_distance": 20}),
}
FARM = [
    *(f"/summon {mob} ~{x} ~ ~4 {{NoAI:1b}}" for x, mob in ((-4, "sheep"), (-2, "cow"), (2, "pig"))),
    "/summon villager ~4 ~ ~4 {NoAI:1b,Offers:{Recipes:[{buy:{id:emerald,Count:1b},sell:{id:bread,Count:1b}}]}}",
    *("/give @p shears", "/give @p bucket", "/give @p carrot"),
    *("/fill ~-4 ~-1 ~8 ~4 ~4 ~12 stone", "/setblock ~0 ~1 ~10 diamond_ore", "/give @p iron_pickaxe"),
]


@pytest.mark.long_proof
def test_instances_with_our_own_rules_are_checked_and_proved():
    document = copy.deepcopy(FIRST_LOG) | {
        "selected_tasks": list(OWN),
        "atomic_tasks_ordered": list(OWN),
        "reasoning_graph": {"nodes": list(OWN), "edges": []},
        "milestones": [
            {"task": task, "milestone_id": task.replace(" ", "_"), "rules": [{"type": kind, "params": params}]}
            for task, (kind, params) in OWN.items()
        ],
        "commands": FARM,
    }
    assert checking.check(parse(document)).findings == ()
    assert prove(parse(document)).solved
    document["milestones"][0]["rules"][0]["params"] |= {"object": "shep"}
    (finding,) = checking.check(parse(document)).findings
    assert str(finding).startswith("milestones[0].rules[0].params.object: there is no mob 'shep'")

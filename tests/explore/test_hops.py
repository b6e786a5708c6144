"""Hops: defects that were planted are found, and a sound instance has none."""

import copy
from typing import Any

import pytest
from small_instance import FIRST_LOG

from interplay.explore import published
from interplay.explore.instance import Instance, load, parse
from interplay.explore.oracle.hops import EdgeVerdict, depth, edge_verdicts, examine, leaked

FRAME = {"coordinate_frame": "spawn_relative"}
GLASS = {"kind": "block", "object": "glass", "min": [-4, -1, 1], "max": [4, 3, 5], "max_count": 1, **FRAME}
DIAMOND = {"item": "diamond", "min_count": 1}
CHEST = '/setblock ~ ~ ~4 chest{Items:[{Slot:0b,id:"minecraft:diamond",Count:1b}]}'
ROOM = ["/fill ~-2 ~-1 ~2 ~2 ~3 ~6 bedrock hollow", "/fill ~ ~ ~2 ~ ~1 ~2 glass", CHEST]


def two_hops(commands: list[str], first: tuple[str, dict[str, Any]], then: tuple[str, dict[str, Any]], **more: Any) -> Instance:
    tasks = ["mine glass", "get diamond"]
    return parse(
        copy.deepcopy(FIRST_LOG)
        | {
            "selected_tasks": tasks,
            "reasoning_graph": {"nodes": tasks, "edges": [{"from": tasks[0], "to": tasks[1], "reason": ""}]},
            "atomic_tasks_ordered": tasks,
            "milestones": [
                {"task": task, "milestone_id": name, "description": "", "rules": [{"type": kind, "params": params}]}
                for task, name, (kind, params) in zip(tasks, ("first", "then"), (first, then), strict=True)
            ],
            "commands": commands,
            "task_text": "Bring me the diamond.",
            "step_budget": 400,
        }
        | more
    )


MINED, GOT = ("count_in_box_at_most", GLASS), ("inventory_has", DIAMOND)


def test_a_wall_that_must_be_mined_is_enforced():
    hops = examine(two_hops(ROOM, MINED, GOT), num_random=2)
    why = "nothing in the scene gives diamond while glass is not mined"
    assert hops.edges == (EdgeVerdict("mine glass", "get diamond", "enforced", None, why),)
    assert (hops.depth, hops.reached_at_start, hops.reached_by_noop, hops.leaks) == (2, (), {}, False)


def test_a_wall_that_can_be_gone_round_is_found():
    hops = examine(two_hops([*ROOM, "/fill ~2 ~ ~4 ~2 ~1 ~4 air"], MINED, GOT), num_random=0)
    (edge,) = hops.edges
    assert not edge.enforced
    assert edge.tick is not None
    assert hops.depth == 1


def test_what_can_be_done_in_the_other_order_is_found():
    near = {"target": [1, 0, 2], "max_distance": 6, "facing_tolerance": 60, **FRAME}
    far = {"target": [20, 0, -20], "max_distance": 4, "facing_tolerance": 60, **FRAME}
    rules = [("position_near_with_facing", far), ("position_near_with_facing", near)]
    hops = examine(two_hops(["/setblock ~1 ~ ~2 bell", "/setblock ~20 ~ ~-20 gold_block"], *rules), num_random=0)
    assert [edge.enforced for edge in hops.edges] == [False]


def test_what_is_true_at_the_start_is_found():
    hops = examine(two_hops(ROOM, ("position_inside_box", {"min": [-3, 0, -3], "max": [3, 2, 3], **FRAME}), GOT), num_random=0)
    assert hops.reached_at_start == ("first",)
    assert [edge.enforced for edge in hops.edges] == [False]


def test_a_kill_that_sunlight_does_is_found():
    zombies = {"kind": "mob", "object": "zombie", "min": [-40, -5, -40], "max": [40, 9, 40], "max_count": 0, **FRAME}
    made = two_hops(
        ["/summon zombie ~30 ~ ~30 {PersistenceRequired:1b}"], ("count_in_box_at_most", zombies), GOT, step_budget=900
    )
    hops = examine(made, num_random=0)
    assert list(hops.reached_by_noop) == ["first"]
    assert hops.reached_by_noop["first"] > 0


def test_depth_counts_the_longest_way_and_ends_in_circles():
    def edge(first: str, then: str) -> EdgeVerdict:
        return EdgeVerdict(first, then, "enforced")

    assert depth("abcd", [edge("a", "b"), edge("b", "c"), edge("a", "d")]) == 3
    assert depth("ab", [edge("a", "b"), edge("b", "a")]) == 2
    assert depth("ab", []) == 1


def test_a_goal_that_names_what_others_need_is_flagged():
    assert leaked(two_hops(ROOM, MINED, GOT)) == ((), 0.0)
    assert leaked(two_hops(ROOM, MINED, GOT, task_text="Mine the glass, then get the diamond.")) == (("mine glass",), 1.0)
    shares = [leaked(load(file))[1] for file in published.files_of(["published"])]
    spelled = [share for share in shares if share is not None]
    assert len(spelled) == 20
    assert sum(share >= 0.5 for share in spelled) >= 0.9 * len(spelled)


@pytest.mark.parametrize("name", ["explore/0076"])
def test_one_hop_has_nothing_to_leak(name):
    assert leaked(load(published.file_of(name))) == ((), None)


def near(x: int, z: int, far: int = 10, tolerance: int = 60) -> tuple[str, dict[str, Any]]:
    target = {"target": [x, 0, z], "max_distance": far, "facing_tolerance": tolerance, **FRAME}
    return "position_near_with_facing", target


def carried(item: str, number: int = 1) -> tuple[str, dict[str, Any]]:
    return "inventory_has", {"item": item, "min_count": number}


BELLS = ["/setblock ~5 ~ ~6 jack_o_lantern", "/setblock ~7 ~ ~7 lime_wool"]


def test_a_way_round_is_found():
    for first, then, why in [
        (near(5, 6), near(7, 7), "by turning past the first"),
        (near(0, 12, 4), near(0, 20, 4), "by walking past it with the back to it"),
        (near(0, 12, 4, 360), near(0, 20, 4), "by walking round the place where it holds"),
        (("position_inside_box", {"min": [-3, -1, 8], "max": [3, 3, 12], **FRAME}), near(0, 20, 4), "by going round the box"),
        (carried("oak_log"), carried("oak_planks"), "by taking the planks that stand there"),
    ]:
        scene = [
            *BELLS,
            "/setblock ~ ~ ~12 bell",
            "/setblock ~ ~ ~20 bell",
            "/setblock ~3 ~ ~-4 oak_planks",
            "/setblock ~-3 ~ ~4 oak_log",
        ]
        (edge,) = edge_verdicts(two_hops(scene, first, then))
        assert edge.verdict == "open", why
        assert 0 < edge.tick <= len(edge.way) - 1


TABLE = ["/setblock ~2 ~ ~3 crafting_table", "/fill ~-3 ~ ~4 ~-3 ~2 ~4 oak_log", "/setblock ~3 ~ ~4 iron_ore"]


def test_only_what_the_rules_of_the_world_prove_is_enforced():
    for first, then, verdict in [
        (carried("oak_log"), carried("stick"), "enforced"),
        (carried("wooden_pickaxe"), carried("cobblestone"), "enforced"),
        (carried("oak_planks"), carried("stick"), "no way found"),  # a grid uses up what the cursor has just taken out of it
        (carried("oak_log", 2), carried("chest"), "no way found"),  # one can lie there while the other is fetched
        (near(40, 40, 4), carried("stick"), "open"),
    ]:
        commands = [*TABLE, "/fill ~-4 ~ ~9 ~4 ~1 ~9 stone"]
        (edge,) = edge_verdicts(two_hops(commands, first, then, step_budget=1800))
        assert (edge.verdict, bool(edge.why)) == (verdict, verdict != "no way found")
        assert depth(["mine glass", "get diamond"], [edge] if edge.enforced else []) == 1 + (verdict == "enforced")


def test_a_block_that_can_be_put_back_closes_nothing():
    carried_glass = two_hops([*ROOM, "/give @p glass 4"], MINED, GOT, step_budget=200)
    assert edge_verdicts(carried_glass)[0].verdict != "enforced"

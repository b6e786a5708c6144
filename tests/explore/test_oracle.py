"""The oracle: what it proves, what it says of what cannot be done, and that a proof is an episode."""

import copy
import json
from contextlib import closing
from typing import Any

import pytest
from small_instance import FIRST_LOG

import interplay.record
from interplay.cli import main
from interplay.errors import NotFoundError
from interplay.explore import published
from interplay.explore.instance import Instance, InstanceError, load, parse
from interplay.explore.oracle.proving import MilestoneVerdict, begin, orders, prove
from interplay.explore.oracle.recording import prove_files
from interplay.jobs import Executor

FRAME = {"coordinate_frame": "spawn_relative"}


def instance_of(commands: list[str], *rules: tuple[str, dict[str, Any]], **more: Any) -> Instance:
    """An instance with a milestone for each rule."""
    tasks = [f"task {number}" for number in range(len(rules))]
    return parse(
        copy.deepcopy(FIRST_LOG)
        | {
            "selected_tasks": tasks,
            "reasoning_graph": {"nodes": tasks, "edges": []},
            "atomic_tasks_ordered": tasks,
            "milestones": [
                {"task": task, "milestone_id": f"m{number}", "description": "", "rules": [{"type": kind, "params": params}]}
                for number, (task, (kind, params)) in enumerate(zip(tasks, rules, strict=True))
            ],
            "commands": commands,
        }
        | more
    )


def run(*arguments: object) -> int:
    """The exit status of a command."""
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    return int(end.value.code or 0)


def has(item: str, count: int = 1) -> tuple[str, dict[str, Any]]:
    return "inventory_has", {"item": item, "min_count": count}


def test_what_was_planned_reaches_the_milestones_when_it_is_played_again():
    made = instance_of(["/fill ~0 ~0 ~4 ~0 ~2 ~4 minecraft:oak_log"], has("oak_log", 2), has("wooden_pickaxe"))
    verdict = prove(made)
    assert verdict.solved
    run = begin(made)
    for action in verdict.actions:
        run.step(action)
    assert run.progress.reached == {one.milestone: one.tick for one in verdict.milestones}
    assert verdict.actions[-1].esc
    assert prove(made) == verdict


RULES = {
    "smelted": (
        ["/setblock ~2 ~ ~2 furnace", "/give @s chicken", "/give @s coal"],
        has("cooked_chicken"),
    ),
    "out of a chest": (
        ['/setblock ~3 ~ ~3 chest{Items:[{Slot:0b,id:"minecraft:diamond",Count:2b}]}'],
        has("diamond", 2),
    ),
    "bought for what is mined": (
        [
            "/setblock ~-3 ~ ~3 pumpkin",
            "/summon villager ~4 ~ ~4 {NoAI:1b,VillagerData:{profession:farmer,level:2},"
            'Offers:{Recipes:[{buy:{id:"minecraft:pumpkin",Count:1},sell:{id:"minecraft:emerald",Count:1}}]}}',
        ],
        has("emerald"),
    ),
    "hunted": (["/summon sheep ~5 ~ ~5 {Color:0}", "/give @s stone_sword"], has("white_wool")),
    "with a tool that is made": (
        ["/setblock ~3 ~ ~3 coal_ore", "/give @s oak_planks 3", "/give @s stick 2", "/setblock ~-2 ~ ~2 crafting_table"],
        has("coal"),
    ),
    "near and faced": (
        ["/fill ~4 ~ ~4 ~8 ~3 ~8 stone hollow", "/setblock ~6 ~ ~4 air", "/setblock ~6 ~1 ~4 air", "/setblock ~6 ~ ~6 bell"],
        ("position_near_with_facing", {"target": [6, 0, 6], "max_distance": 2, "facing_tolerance": 30, **FRAME}),
    ),
    "inside": ([], ("position_inside_box", {"min": [7, 0, 7], "max": [9, 2, 9], **FRAME})),
    "under water": (
        ["/fill ~4 ~-6 ~4 ~8 ~-1 ~8 minecraft:water"],
        ("position_inside_box", {"min": [4, -6, 4], "max": [8, -5, 8], **FRAME}),
    ),
    "placed": (
        ["/give @s torch 2"],
        (
            "count_in_box_at_least",
            {"kind": "block", "object": "torch", "min": [4, 0, 4], "max": [8, 2, 8], "min_count": 2, **FRAME},
        ),
    ),
    "potted": (
        ["/setblock ~3 ~ ~3 flower_pot", "/setblock ~-3 ~ ~3 poppy"],
        (
            "count_in_box_at_least",
            {"kind": "block", "object": "potted_poppy", "min": [2, -1, 2], "max": [4, 1, 4], "min_count": 1, **FRAME},
        ),
    ),
    "mined away": (
        ["/fill ~4 ~ ~4 ~5 ~ ~4 glass"],
        (
            "count_in_box_at_most",
            {"kind": "block", "object": "glass", "min": [3, -1, 3], "max": [6, 2, 6], "max_count": 0, **FRAME},
        ),
    ),
    "killed": (
        ["/summon slime ~5 ~ ~5 {Size:1}", "/give @s iron_sword"],
        (
            "count_in_box_at_most",
            {"kind": "mob", "object": "slime", "min": [-9, -1, -9], "max": [9, 3, 9], "max_count": 0, **FRAME},
        ),
    ),
    "an event": (["/fill ~3 ~ ~3 ~4 ~ ~3 melon"], ("x.event_at_least", {"event": "mined", "object": "melon", "min_count": 2})),
    "in sight": (
        ["/setblock ~-5 ~ ~-5 gold_block"],
        ("x.visible", {"kind": "block", "object": "gold_block", "max_distance": 6}),
    ),
}


@pytest.mark.long_proof
def test_each_rule_is_planned_back_to_what_must_be_done():
    for name in RULES:
        commands, rule = RULES[name]
        verdict = prove(instance_of(commands, rule))
        assert verdict.solved, verdict.milestones
        assert 0 < verdict.ticks <= 1800


def test_what_this_world_lacks_is_named():
    made = instance_of([], has("golden_shovel"), has("clock"), has("dirt"))
    found = {one.milestone: one for one in prove(made).milestones}
    assert found["m0"] == MilestoneVerdict("m0", None, "needs gold_ingot, which this world lacks")
    assert found["m1"].reason == "needs gold_ingot, which this world lacks"
    assert found["m2"].tick is not None


def test_a_budget_that_is_too_short_is_said():
    made = instance_of(["/fill ~0 ~0 ~4 ~0 ~2 ~4 minecraft:oak_log"], has("oak_log"), step_budget=20)
    assert [one.reason for one in prove(made).milestones] == ["not found within budget"]


def test_where_the_order_of_the_author_is_a_dead_end_another_is_found():
    box = {"kind": "block", "object": "oak_planks", "min": [2, 0, 2], "max": [5, 2, 5], "min_count": 2, **FRAME}
    made = instance_of(["/give @s oak_planks 2"], has("stick", 4), ("count_in_box_at_least", box))
    assert [[one.id for one in order] for order in orders(made)] == [["m0", "m1"], ["m1", "m0"]]
    verdict = prove(made)
    assert verdict.solved  # placed first, then mined again for the sticks
    sticks, placed = verdict.milestones
    assert placed.tick < sticks.tick


@pytest.mark.parametrize("name", ["explore/0076", "explore/0116"])
def test_published_instances_come_with_the_package_and_are_solved(name):
    assert prove(load(published.file_of(name))).solved


def test_names_lead_to_files(tmp_path):
    assert len(published.files_of(["published"])) == len(published.names("published")) == 26
    folder = published.FOLDERS["published"]
    assert published.files_of(["published", "explore/0076"]) == published.files_of([str(folder)])
    assert (folder / "NOTICE").is_file()
    planned = published.files_of(["planner"])
    assert (len(planned), published.file_of("explore/p001") in planned) == (100, True)
    assert len(published.names()) == 126
    with pytest.raises(NotFoundError, match=r"unknown instance 'explore/0077'; did you mean .*'explore/0076'"):
        published.file_of("explore/0077")
    with pytest.raises(InstanceError, match=r"holds no .json file"):
        published.files_of([str(tmp_path)])


@pytest.mark.long_proof
def test_a_proof_is_an_episode_that_verifies_and_names_the_version_it_proves(tmp_path, capsys):
    file, data, out = tmp_path / "first_log.json", tmp_path / "data", tmp_path / "out"
    file.write_text(json.dumps(FIRST_LOG))
    assert run("explore", "prove", file, "--data", data, "--out", out, "--processes", 1, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["instances"], document["solved"]) == (1, 1)
    assert (document["milestones"], document["milestones_solved"]) == (1, 1)
    (proof,) = load(out / "first_log.json").proofs
    assert proof == document["details"][0]["proof"]
    assert proof["content_hash"] == load(file).content_hash == load(out / "first_log.json").content_hash
    with closing(interplay.record.open(data)) as archive:
        episode = archive.get(proof["episode"])
        assert f"instance {proof['content_hash']}" in episode.task.tags
        assert episode.terminated
        (again,) = prove_files([file], archive, executor=Executor())
        assert again.proof is not None
        assert again.proof.episode == proof["episode"]  # what is there is not recorded twice
    assert run("episodes", "verify", "--all", "--data", data) == 0


def test_what_is_not_solved_is_told_and_exits_1(tmp_path, capsys):
    file = tmp_path / "no.json"
    file.write_text(json.dumps(instance_of([], has("diamond")).to_json()))
    assert run("explore", "prove", file, "--data", tmp_path / "data", "--processes", 1) == 1
    assert "needs diamond, which this world lacks" in capsys.readouterr().out


def test_proofs_are_tables(tmp_path):
    with pytest.raises(InstanceError, match=r"proofs: holds 'yes'"):
        parse(copy.deepcopy(FIRST_LOG) | {"proofs": ["yes"]})


def test_ladders_are_climbed():
    high = {"min": [3, 10, 4], "max": [6, 12, 7], "coordinate_frame": "spawn_relative"}
    tower = ["/fill ~3 ~ ~4 ~6 ~9 ~7 stone_bricks", "/fill ~4 ~ ~3 ~4 ~9 ~3 ladder[facing=north]"]
    verdict = prove(instance_of(tower, ("position_inside_box", high)))
    assert verdict.solved
    assert verdict.ticks < 250

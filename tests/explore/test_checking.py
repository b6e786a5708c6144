"""What is wrong with an instance is found and named; a good one has nothing wrong."""

import json
import random
from typing import Any

import pytest
from small_instance import FIRST_LOG

from interplay.cli import main
from interplay.explore.checking import Report, check
from interplay.explore.instance import parse

FRAME = {"coordinate_frame": "spawn_relative"}
NEAR = {"target": [6, 1, 8], "max_distance": 5, "facing_tolerance": 60} | FRAME
PENS = {"kind": "mob", "object": "pig", "min": [-12, -1, -12], "max": [-4, 3, -4], "max_count": 0} | FRAME
BUILD = {"kind": "block", "object": "oak_planks", "min": [2, 0, -8], "max": [8, 3, -2], "min_count": 2} | FRAME
WALK = {"min": [-9, 0, 6], "max": [-6, 2, 9]} | FRAME
TASKS = ["find gold", "mine oak_log", "hunt a pig", "build a bench", "reach the corner"]
RULES = [
    ("position_near_with_facing", NEAR),
    ("inventory_has", {"item": "oak_log", "min_count": 1}),
    ("count_in_box_at_most", PENS),
    ("count_in_box_at_least", BUILD),
    ("position_inside_box", WALK),
]
WHY = "The gold block stands beside the only trunk of the land, so that who finds it sees where logs can be mined."
GOOD: dict[str, Any] = FIRST_LOG | {
    "name": "good",
    "selected_tasks": TASKS,
    "reasoning_graph": {
        "nodes": TASKS,
        "edges": [
            {"from": "find gold", "to": "mine oak_log", "reason": WHY},
            {"from": "mine oak_log", "to": "build a bench", "reason": WHY},
        ],
    },
    "milestones": [
        {"task": task, "milestone_id": task.replace(" ", "_"), "rules": [{"type": kind, "params": params}]}
        for task, (kind, params) in zip(TASKS, RULES, strict=True)
    ],
    "atomic_tasks_ordered": TASKS,
    "commands": [
        "/setblock ~6 ~1 ~8 minecraft:gold_block",
        "/fill ~8 ~ ~8 ~8 ~3 ~8 minecraft:oak_log",
        "/summon minecraft:pig ~-8 ~ ~-8 {NoAI:1b}",
    ],
}


def checked(**changes: Any) -> Report:
    """What is found when these keys, as `milestones.0.rules.0.params.target`, have other values; `None` takes them out."""
    document = json.loads(json.dumps(GOOD))
    for path, value in changes.items():
        *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        at: Any = document
        for part in way:
            at = at[part]
        if value is None:
            del at[last]
        else:
            at[last] = value
    return check(parse(document))


def test_a_good_instance_has_nothing_wrong_and_nothing_reached():
    report = checked()
    assert report.findings == ()
    assert [(one.milestone, one.reached) for one in report.starts] == [(task.replace(" ", "_"), False) for task in TASKS]
    assert check(parse(FIRST_LOG)).findings == ()


EDGES = "reasoning_graph.edges"
PARAMS = "milestones.{}.rules.0.params.{}"


DEFECTS: list[tuple[dict[str, Any], str, str]] = [
    ({f"{EDGES}.1.to": "find gold"}, EDGES, "go round in a circle: "),
    ({f"{EDGES}.0.to": "find gold"}, EDGES, "go round in a circle: find gold -> find gold"),
    ({f"{EDGES}.0.from": "find goold"}, f"{EDGES}[0]", "'find goold' is not a node of the graph"),
    ({f"{EDGES}.1": {"from": "find gold", "to": "mine oak_log", "reason": WHY}}, f"{EDGES}[1]", "is there twice"),
    ({f"{EDGES}.0.reason": "Gold first."}, f"{EDGES}[0].reason", "has 2 words"),
    ({f"{EDGES}.0.reason": WHY + WHY}, f"{EDGES}[0].reason", "words"),
    ({"reasoning_graph.nodes.0": "find a gold"}, "selected_tasks", "'find gold' is not a node of the graph"),
    ({"selected_tasks": TASKS[1:]}, "selected_tasks", "the node 'find gold' is missing"),
    ({"atomic_tasks_ordered": TASKS[:4]}, "atomic_tasks_ordered", "the node 'reach the corner' is missing"),
    ({"atomic_tasks_ordered": TASKS + TASKS[:1]}, "atomic_tasks_ordered", "'find gold' occurs 2 times"),
    ({"atomic_tasks_ordered": [TASKS[1], TASKS[0], *TASKS[2:]]}, "atomic_tasks_ordered", "goes against the edge"),
    ({"milestones.4": None}, "milestones", "are for the tasks ["),
    ({"milestones.1.task": "mine oak log"}, "milestones", "are for the tasks ["),
    ({"milestones.1.milestone_id": "Mine log"}, "milestones[1].milestone_id", "'Mine log' is not an id"),
    ({"milestones.1.milestone_id": "find_gold"}, "milestones[1].milestone_id", "is used twice"),
    ({"milestones.1.rules": []}, "milestones[1].rules", "is empty"),
    ({"milestones.1.rules.0.type": "inventory_hold"}, "milestones[1].rules[0].type", "is not a rule"),
    ({PARAMS.format(1, "count"): 1}, "milestones[1].rules[0].params.count", "is not a parameter of this rule"),
    ({PARAMS.format(1, "item"): "minecraft:oak_log"}, "milestones[1].rules[0].params.item", "has a prefix"),
    ({PARAMS.format(1, "item"): "oak_lgo"}, "milestones[1].rules[0].params.item", "there is no item 'oak_lgo'"),
    ({PARAMS.format(1, "min_count"): 0}, "milestones[1].rules[0].params.min_count", "is 0, so the rule always holds"),
    ({PARAMS.format(0, "coordinate_frame"): "absolute"}, "milestones[0].rules[0].params.coordinate_frame", "'absolute'"),
    ({PARAMS.format(0, "target"): [-3, 1, -8]}, "milestones[0].rules[0].params.target", "the cell [-3, 1, -8] is empty"),
    ({PARAMS.format(0, "target"): [0, 0, 10**300]}, "milestones[0].rules[0].params.target", "at most 15 digits"),
    ({PARAMS.format(0, "max_distance"): 16, PARAMS.format(0, "facing_tolerance"): 90}, "milestones[0]", "at the start"),
    ({PARAMS.format(2, "object"): "pgi"}, "milestones[2].rules[0].params.object", "there is no mob 'pgi'"),
    ({PARAMS.format(2, "object"): "zombie"}, "milestones[2].rules[0].params.object", "no zombie is in the scene"),
    ({PARAMS.format(2, "max"): [-9, 3, -4]}, "milestones[2]", "'hunt_a_pig' is reached at the start"),
    ({PARAMS.format(3, "max"): [8, 3, -9]}, "milestones[3].rules[0].params.max", "lies below min in z"),
    ({PARAMS.format(3, "max"): [3, 3, -2]}, "milestones[3].rules[0].params.max", "a tiny box of 2 x 4 x 7 cells"),
    ({PARAMS.format(3, "object"): "oak_plank"}, "milestones[3].rules[0].params.object", "there is no block 'oak_plank'"),
    ({PARAMS.format(4, "min"): [-6, 0, 6]}, "milestones[4].rules[0].params.max", "tiny"),
    ({PARAMS.format(4, "min"): [-1, 0, -1], PARAMS.format(4, "max"): [1, 2, 1]}, "milestones[4]", "at the start"),
    ({"commands.1": "/fill ~8 ~ ~8 ~8 ~3 ~8 minecraft:oak_logg"}, "commands[1]", "did you mean 'oak_log'"),
    ({"commands.2": "/summon minecraft:pgi ~ ~ ~"}, "commands[2]", "pgi"),
    ({"commands.0": "/setblock ~ ~1 ~ minecraft:stone"}, "commands", "the player stands in stone"),
    ({"commands.2": "/setblock ~ ~-1 ~ minecraft:air"}, "milestones[2].rules[0].params.object", "no pig is in the scene"),
    ({f"{EDGES}.1.from": "mine a log"}, f"{EDGES}[1]", "'mine a log' is not a node of the graph"),
    ({f"{EDGES}.1.to": "mine oak_log"}, EDGES, "go round in a circle: mine oak_log -> mine oak_log"),
    ({f"{EDGES}.1.reason": ""}, f"{EDGES}[1].reason", "has 0 words"),
    ({"selected_tasks": [*TASKS, "mine sand"]}, "selected_tasks", "'mine sand' is not a node of the graph"),
    ({"selected_tasks": [*TASKS, TASKS[2]]}, "selected_tasks", "'hunt a pig' occurs 2 times"),
    ({"atomic_tasks_ordered": TASKS[::-1]}, "atomic_tasks_ordered", "goes against the edge"),
    ({"milestones.0": None}, "milestones", "are for the tasks ["),
    ({"milestones.3.task": "hunt a pig"}, "milestones", "are for the tasks ["),
    ({"milestones.2.milestone_id": "hunt-a-pig!"}, "milestones[2].milestone_id", "is not an id"),
    ({"milestones.2.milestone_id": "hunt the pig"}, "milestones[2].milestone_id", "is not an id"),
    ({"milestones.3.rules": []}, "milestones[3].rules", "is empty"),
    ({"milestones.4.rules.0.type": "position_in_box"}, "milestones[4].rules[0].type", "is not a rule"),
    ({"milestones.3.rules.0.type": "x.placed"}, "milestones[3].rules[0].type", "is not a rule"),
    ({PARAMS.format(0, "max_distance"): 0}, "milestones[0].rules[0].params.max_distance", "above 0"),
    ({PARAMS.format(0, "facing_tolerance"): None}, "milestones[0].rules[0].params.facing_tolerance", "is missing"),
    ({PARAMS.format(0, "facing_tolerance"): "60"}, "milestones[0].rules[0].params.facing_tolerance", ""),
    ({PARAMS.format(0, "target"): [6, 1]}, "milestones[0].rules[0].params.target", "three whole numbers"),
    ({PARAMS.format(0, "target"): [6.5, 1, 8]}, "milestones[0].rules[0].params.target", "three whole numbers"),
    ({PARAMS.format(1, "min_count"): -1}, "milestones[1].rules[0].params.min_count", "1 or more"),
    ({PARAMS.format(1, "item"): "diamond_log"}, "milestones[1].rules[0].params.item", "there is no item 'diamond_log'"),
    ({PARAMS.format(2, "max_count"): -1}, "milestones[2].rules[0].params.max_count", "0 or more"),
    ({PARAMS.format(2, "kind"): "block"}, "milestones[2].rules[0].params.object", "there is no block 'pig'"),
    ({PARAMS.format(2, "kind"): "animal"}, "milestones[2].rules[0].params.kind", "'block' or 'mob'"),
    ({PARAMS.format(3, "min_count"): 0}, "milestones[3].rules[0].params.min_count", "is 0, so the rule always holds"),
    ({PARAMS.format(3, "coordinate_frame"): None}, "milestones[3].rules[0].params.coordinate_frame", "is missing"),
    ({PARAMS.format(4, "max"): [-10, 2, 9]}, "milestones[4].rules[0].params.max", "lies below min in x"),
    ({"commands.0": "/setblok ~6 ~1 ~8 minecraft:gold_block"}, "commands[0]", ""),
    ({"commands.0": "/setblock ~6 ~1 minecraft:gold_block"}, "commands[0]", ""),
    ({"commands": GOOD["commands"][1:]}, "milestones[0].rules[0].params.target", "is empty"),
]


@pytest.mark.long_proof
def test_a_planted_defect_is_named_with_its_key_and_remedy():
    for changes, key, said in DEFECTS:
        found = [one for one in checked(**changes).findings if one.key == key and said in one.text]
        assert found, [str(one) for one in checked(**changes).findings]
        assert all(one.remedy for one in found)


@pytest.mark.long_proof
def test_sixty_defects_are_planted_and_sixty_sound_instances_have_none():
    assert len(DEFECTS) >= 60
    rng = random.Random(3)
    flagged = []
    for _ in range(60):
        east, south, up = rng.randrange(4, 12), rng.randrange(6, 12), rng.randrange(3)
        block = rng.choice(["gold_block", "bell", "diamond_ore", "lectern"])
        wood, mob = rng.choice(["oak", "birch", "spruce"]), rng.choice(["pig", "cow", "sheep", "zombie"])
        low, high = [-12 - rng.randrange(3), -1, -12], [-4, 3, -4]
        changes = {
            "commands": [
                f"/setblock ~{east} ~{up} ~{south} minecraft:{block}",
                f"/fill ~8 ~ ~14 ~8 ~3 ~14 minecraft:{wood}_log",
                f"/summon minecraft:{mob} ~-{rng.randrange(6, 10)} ~ ~-{rng.randrange(6, 10)} {{NoAI:1b}}",
            ],
            PARAMS.format(0, "target"): [east, up, south],
            PARAMS.format(0, "max_distance"): rng.randrange(2, 6),
            PARAMS.format(0, "facing_tolerance"): rng.choice([30, 60, 90, 360]),
            PARAMS.format(1, "item"): f"{wood}_log",
            PARAMS.format(1, "min_count"): rng.randrange(1, 4),
            PARAMS.format(2, "object"): mob,
            PARAMS.format(2, "min"): low,
            PARAMS.format(2, "max"): high,
            PARAMS.format(3, "object"): f"{wood}_planks",
            PARAMS.format(3, "min_count"): rng.randrange(1, 6),
            PARAMS.format(4, "max"): [-6 + rng.randrange(4), 2, 9 + rng.randrange(3)],
            f"{EDGES}.0.reason": " ".join(["word"] * rng.randrange(15, 26)),
        }
        flagged += [(changes, str(finding)) for finding in checked(**changes).findings]
    assert flagged == []


def test_a_milestone_that_cannot_be_judged_is_not_said_to_be_open():
    report = checked(**{"milestones.1.rules.0.type": "inventory_hold"})
    assert [one.reached for one in report.starts] == [False, None, False, False, False]


def run(capsys, *arguments: str) -> tuple[int, str]:
    """Exit status and standard output of a command."""
    with pytest.raises(SystemExit) as ended:
        main(["explore", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code, capsys.readouterr().out


def test_the_command_names_file_key_and_remedy_and_fails_for_our_own_sets(tmp_path, capsys):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(GOOD))
    bad.write_text(json.dumps(GOOD | {"selected_tasks": TASKS[1:]}))
    assert run(capsys, "check", str(good)) == (0, f"1 of 1 good.\nPlay one:  interplay play {good} --agent random\n")
    status, said = run(capsys, "check", str(good), str(bad))
    assert status == 1
    assert f"{bad}: selected_tasks: the node 'find gold' is missing\n  Remedy: add it" in said
    assert "1 of 2 good." in said
    status, said = run(capsys, "check", str(bad), "--json")
    assert status == 1
    (error,) = json.loads(said)["errors"]
    assert (error["file"], error["key"]) == (str(bad), "selected_tasks")


def test_a_file_that_cannot_be_read_is_a_finding_and_the_others_are_checked(tmp_path, capsys):
    files = [tmp_path / name for name in ("cut.json", "latin.json", "none.json", "moon.json", "good.json")]
    files[0].write_text('{"schema": 1e999}')
    files[1].write_bytes(b'{"name": "caf\xe9"}')
    files[3].write_text(json.dumps(GOOD | {"land": "moon"}))
    files[4].write_text(json.dumps(GOOD))
    status, said = run(capsys, "check", *map(str, files))
    assert status == 1
    assert f"{files[0]}: document: 1e999 is not a finite number, or is too large\n  Remedy: write a smaller number" in said
    assert f"{files[1]}: document: cannot be read as UTF-8 text" in said
    assert f"{files[2]}: document: no such file\n  Remedy: Give the path of an instance" in said
    assert f"{files[3]}: document: " in said
    assert "1 of 5 good." in said
    status, said = run(capsys, "check", *map(str, files), "--json")
    document = json.loads(said)
    assert (status, document["files"], document["good"]) == (1, 5, 1)
    assert [one["file"] for one in document["errors"]] == [str(file) for file in files[:4]]
    assert all(one["text"] and one["remedy"] for one in document["errors"])

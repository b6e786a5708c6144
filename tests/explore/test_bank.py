"""The bank of atomic tasks: one form of a name, each task once, and what of the world is covered."""

import json
from pathlib import Path

import pytest

from blockworld.registry import BIOMES, MOBS, crafting, smelting
from blockworld.registry import BLOCKS_BY_NAME as BLOCKS
from blockworld.registry import ITEMS_BY_NAME as ITEMS
from interplay.explore.instance import CAPABILITIES
from interplay.explore.make import bank
from interplay.explore.make.bank import VERBS, Atomic, BankError, normalised


def test_a_name_has_one_form_however_it_is_written():
    for written, name in [
        ("mine oak_log", "mine oak_log"),
        ("  Mine  OAK log ", "mine oak_log"),
        ("find_iron_ore", "find iron_ore"),
        ("craft_to_minecraft:oak_door", "craft to oak_door"),
        ("trade for Polished Granite", "trade for polished_granite"),
        ("find village plains", "find village_plains"),
        ("trade for Any color blank banner", "trade for any color blank banner"),
        ("Hook a cow using fishing rod.", "hook a cow using fishing rod"),
    ]:
        assert normalised(written) == name == normalised(name)


def test_what_is_no_name_is_refused_with_a_remedy():
    for written in ["", " ", "_", "mine \x00", "mine oak_log; rm", "x" * 101]:
        with pytest.raises(BankError, match=r"is not the name of a task\nRemedy: write a verb"):
            normalised(written)


def test_the_tables_of_the_world_are_covered_and_what_is_left_out_is_named():
    tasks = bank.drawn()
    covered = {one.table: one for one in bank.covered(tasks)}
    assert covered["mobs"].left_out == covered["recipes"].left_out == covered["smelting"].left_out == ()
    assert covered["biomes"].total == len(BIOMES) == covered["biomes"].covered
    assert set(covered["blocks"].left_out) == {"air", "cave_air", "void_air", "moving_piston", "barrier", "structure_void"}
    # Nothing in this world gives these; planks are crafted.
    assert {"bedrock", "command_block", "elytra", "cow_spawn_egg"} <= set(covered["items"].left_out)
    assert "oak_planks" not in covered["items"].left_out
    assert {f"craft to {recipe.item}" for recipe in crafting.RECIPES} <= tasks.keys()
    assert {f"smelt to {item}" for item in smelting.SMELTING["furnace"].values()} <= tasks.keys()
    known = BLOCKS.keys() | ITEMS.keys() | MOBS.keys()
    assert {need for task in tasks.values() for need in task.needs} <= known
    assert all(normalised(name) == name == task.name for name, task in tasks.items())


def test_a_task_says_what_it_needs_and_gives():
    tasks = bank.drawn()
    assert tasks["mine iron_ore"] == Atomic("mine iron_ore", ("iron_ore", "stone_pickaxe"), ("iron_ore",), "blocks")
    assert tasks["craft to torch"].needs == ("charcoal", "stick")
    assert tasks["smelt to iron_ingot"].needs == ("iron_ore", "furnace")
    assert tasks["sell wheat"].gives == ("emerald",)
    assert tasks["milk cow"] == Atomic("milk cow", ("cow", "bucket"), ("milk_bucket",), "mobs")
    assert (tasks["combat zombie"].verb, tasks["craft to oak_door"].about) == ("combat", "oak_door")


def test_a_bank_is_read_as_it_was_written_and_lists_of_names_too(tmp_path):
    tasks = dict(list(bank.drawn().items())[:40])
    (tmp_path / "bank.json").write_text(json.dumps(bank.to_json(tasks)))
    assert bank.load(tmp_path / "bank.json") == tasks
    (tmp_path / "names.txt").write_text("find Oak Log\n\nmine_stone\n")
    assert list(bank.load(tmp_path / "names.txt")) == ["find oak_log", "mine stone"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "find oak log\nfind_oak_log\n", "'find oak_log' occurs twice"),
        ("a.json", '{"schema": 2, "tasks": []}', "schema: is 2; this version reads 1"),
        ("a.json", '{"schema": 1, "tasks": [{"name": "mine dirt", "tool": "shovel"}]}', "tool: is not a known key"),
        (
            "a.json",
            '{"schema": 1, "tasks": [{"name": "mine dirt", "verb": "dig"}]}',
            "verb: is 'dig', and the name begins with",
        ),
        ("a.json", '{"schema": 1, "tasks": [{"name": "mine dirt"}, {"name": "Mine Dirt"}]}', "'mine dirt' occurs twice"),
        ("a.json", "[]", "is not a JSON object"),
        ("a.txt", "\n \n", "names no task"),
        ("b.json", None, "no such file"),
    ],
)
def test_a_bank_that_cannot_be_meant_is_refused_with_file_and_remedy(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(Exception, match=message) as caught:
        bank.load(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" in str(caught.value), "a remedy"


def test_the_page_of_instances_lists_all_verbs_and_capabilities():
    page = (Path(__file__).parents[2] / "docs" / "explore.md").read_text()
    for begins, names in (
        ("A task begins with one of these verbs, or is a free sentence: ", VERBS),
        ("Capabilities are ", CAPABILITIES),
    ):
        line = begins + ", ".join(f"`{name}`" for name in names) + "."
        assert line in page, f"docs/explore.md should say:\n{line}"

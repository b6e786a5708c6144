"""Skills of the block world: each does what it says by keys and camera alone, and a player who lacks something is told so."""

from typing import Any

import numpy as np
import pytest

from blockworld import Action, Stack, World, run_all
from blockworld.registry import name_of
from interplay.agents.skills import (
    Body,
    come_to,
    craft,
    fight,
    meet,
    pick_up,
    place_at,
    set_down,
    smelt,
    take,
    trade,
)


@pytest.fixture
def world() -> World:
    return World(3, "flat", inhabited=False)


@pytest.fixture
def body(world: World) -> Body:
    return Body(world, np.random.default_rng(0))


def build(world: World, *commands: str) -> tuple[int, int, int]:
    """Run commands; returns the cell of the player's feet."""
    assert all(one.worked for one in run_all(world, commands))
    me = world.player
    return int(me.x), int(me.y), int(me.z)


def do(world: World, skill: Any, *, most: int = 1500) -> Any:
    """Play a skill; returns what it returned. Between two ticks the world stays as it is, whatever the skill looks at."""
    for tick in range(most):
        before = world.digest() if tick % 25 == 0 else None
        try:
            action = next(skill)
        except StopIteration as end:
            return end.value
        assert before in (None, world.digest())
        assert isinstance(action, Action)
        world.step(action)
    raise AssertionError(f"not done after {most} ticks")


def name(world: World, cell: tuple[int, int, int]) -> str:
    return name_of(world.grid.get(*cell))


def test_walk_goes_through_a_gate_to_a_cell(world, body):
    x, y, z = build(
        world,
        "/fill ~-4 ~ ~3 ~4 ~ ~3 minecraft:oak_fence",
        "/setblock ~ ~ ~3 minecraft:oak_fence_gate[facing=south]",
    )
    assert do(world, body.walk((x, y, z + 6)))
    assert body.footing == (x, y, z + 6)


def test_aim_says_where_a_block_is_met_and_none_of_a_hidden_one(world, body):
    x, y, z = build(world, "/setblock ~ ~1 ~3 minecraft:gold_block", "/setblock ~ ~1 ~4 minecraft:stone")
    aimed = body.aim((x, y + 1, z + 3))
    assert aimed is not None
    assert do(world, body.look(*aimed))
    assert body.aim((x, y + 1, z + 4)) is None


def test_mine_takes_the_named_tool_or_the_bare_hand(world, body):
    x, y, z = build(
        world,
        "/setblock ~ ~1 ~2 minecraft:clay",
        '/give @s minecraft:iron_pickaxe{Enchantments:[{id:"minecraft:silk_touch",lvl:1}]}',
    )
    assert do(world, body.mine((x, y + 1, z + 2), tool=""))
    do(world, pick_up(body, 6.0, item="clay_ball"))
    assert body.count("clay_ball") == 4


def test_hold_fetches_from_the_inventory(world, body):
    build(world, "/replaceitem entity @s inventory.5 minecraft:apple 3")
    assert do(world, body.hold("apple"))
    assert world.player.in_hand == Stack("apple", 3)
    assert not do(world, body.hold("diamond"))


def test_come_to_opens_or_mines_what_stands_before_a_block(world, body):
    x, y, z = build(
        world,
        "/fill ~4 ~-1 ~4 ~8 ~3 ~8 minecraft:oak_planks",
        "/setblock ~6 ~1 ~6 minecraft:gold_block",
    )
    cell = (x + 6, y + 1, z + 6)
    assert not do(world, come_to(body, cell, dig=False))
    assert do(world, come_to(body, cell))
    assert body.aim(cell) is not None


def test_come_to_looks_through_a_trapdoor_that_it_opens(world, body):
    x, y, z = build(
        world,
        "/fill ~3 ~-3 ~3 ~5 ~-1 ~5 minecraft:bedrock",
        "/fill ~4 ~-2 ~4 ~4 ~-1 ~4 minecraft:air",
        "/setblock ~4 ~-1 ~4 minecraft:oak_trapdoor[half=top]",
        "/setblock ~4 ~-3 ~4 minecraft:gold_block",
    )
    assert do(world, come_to(body, (x + 4, y - 3, z + 4)))
    assert name(world, (x + 4, y - 1, z + 4)) == "oak_trapdoor"


@pytest.mark.parametrize("offset", [(2, 0, 2), (0, 2, 3), (0, -1, 4)], ids=["ground", "wall", "over the edge"])
def test_place_at_places_on_the_ground_on_a_wall_and_over_an_edge(world, body, offset):
    x, y, z = build(
        world,
        "/setblock ~ ~2 ~4 minecraft:stone",
        "/fill ~-3 ~-3 ~4 ~3 ~-1 ~9 minecraft:air",
        "/give @s minecraft:oak_log 3",
    )
    cell = (x + offset[0], y + offset[1], z + offset[2])
    assert do(world, place_at(body, cell, "oak_log"))
    assert name(world, cell) == "oak_log"


def test_place_at_says_no_where_nothing_is_to_place_against(world, body):
    x, y, z = build(world, "/give @s minecraft:oak_log 3")
    assert not do(world, place_at(body, (x, y + 5, z), "oak_log"))
    assert body.count("oak_log") == 3


def test_craft_uses_a_table_that_was_set_down(world, body):
    build(world, "/give @s minecraft:crafting_table", "/give @s minecraft:oak_planks 6")
    assert not do(world, craft(body, "oak_stairs"))
    table = do(world, set_down(body, "crafting_table"))
    assert table is not None
    assert do(world, craft(body, "oak_stairs", table=table))
    assert body.count("oak_stairs") == 4
    assert world.screen is None


def test_smelt_waits_for_what_comes_out(world, body):
    x, y, z = build(world, "/setblock ~ ~ ~2 minecraft:furnace", "/give @s minecraft:chicken", "/give @s minecraft:coal 2")
    assert do(world, smelt(body, (x, y, z + 2), "chicken", 1, "coal", 1))
    assert (body.count("cooked_chicken"), body.count("coal")) == (1, 1)


def test_take_empties_what_it_wants_of_both_halves_of_a_chest(world, body):
    items = '{{Items:[{{Slot:3b,id:"minecraft:apple",Count:{}b}},{{Slot:4b,id:"minecraft:stick",Count:9b}}]}}'
    x, y, z = build(
        world,
        "/setblock ~ ~ ~2 minecraft:chest[facing=north,type=left]" + items.format(5),
        "/setblock ~1 ~ ~2 minecraft:chest[facing=north,type=right]" + items.format(7),
    )
    assert do(world, take(body, (x, y, z + 2), "apple", 12))
    assert (body.count("apple"), body.count("stick")) == (12, 0)


def test_trade_takes_the_wanted_offer_as_often_as_asked_and_no_more(world, body):
    build(
        world,
        "/summon minecraft:villager ~5 ~ ~5 {NoAI:1b,VillagerData:{profession:farmer,level:5},Offers:{Recipes:["
        '{buy:{id:"minecraft:emerald",Count:1},sell:{id:"minecraft:bread",Count:6}},'
        '{buy:{id:"minecraft:emerald",Count:4},sell:{id:"minecraft:pumpkin_pie",Count:4}}]}}',
        "/give @s minecraft:emerald 20",
    )
    (villager,) = world.extras

    def is_pie(offer):
        return offer["sell"][0] == "pumpkin_pie"

    assert do(world, trade(body, villager, is_pie, 2))
    assert (body.count("pumpkin_pie"), body.count("emerald")) == (8, 12)
    assert not do(world, trade(body, villager, lambda offer: offer["sell"][0] == "cake"))


def test_fight_kills_and_pick_up_collects(world, body):
    build(world, "/summon minecraft:chicken ~6 ~ ~2", "/give @s minecraft:stone_sword")
    chicken = int(world.entities["id"][world.entities["kind"] >= 0][0])
    assert do(world, meet(body, chicken))
    assert do(world, fight(body, chicken))
    do(world, body.wait(12))
    do(world, pick_up(body, 12.0))
    assert body.count("chicken") == 1
    assert world.player.counts["killed"] == {"chicken": 1}


def test_fight_says_no_of_a_mob_behind_bedrock(world, body):
    build(
        world,
        "/fill ~4 ~-1 ~4 ~8 ~3 ~8 minecraft:bedrock hollow",
        "/summon minecraft:cow ~6 ~ ~6 {NoAI:1b}",
    )
    cow = int(world.entities["id"][world.entities["kind"] >= 0][0])
    assert not do(world, fight(body, cow))

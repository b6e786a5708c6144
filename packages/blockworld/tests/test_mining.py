"""How long blocks take, what they leave, what is hit.

Seconds are worked out by hand from the formula of minecraft.wiki, "Breaking" (Java Edition 1.16), not read off its tables:
ticks = ceil(hardness * 30 / speed) with the right tool or ceil(hardness * 100 / speed) if it drops nothing; 20 ticks a second.
Speeds: wood 2, stone 4, iron 6, diamond 8, netherite 9, gold 12; shears 15 on leaves, 5 on wool; swords 15 on webs.
"""

import numpy as np
import pytest
from body_world import FLOOR, World, ticks

from blockworld.blocks import updates
from blockworld.player import hands, mining, placing
from blockworld.registry.blocks import BLOCKS, name_of, parse
from blockworld.registry.drops import drops
from blockworld.registry.entity_types import KIND, LOVE_TICKS
from blockworld.registry.items import BY_NAME
from blockworld.registry.tools import best_tool, needs_tool
from blockworld.state import Action, Container, Stack

SECONDS = [
    ("dirt", None, 0.75),
    ("dirt", "wooden_shovel", 0.4),
    ("dirt", "diamond_shovel", 0.1),
    ("grass_block", None, 0.9),
    ("coarse_dirt", "wooden_shovel", 0.4),
    ("sand", None, 0.75),
    ("gravel", "iron_shovel", 0.15),
    ("stone", None, 7.5),
    ("stone", "wooden_pickaxe", 1.15),
    ("stone", "stone_pickaxe", 0.6),
    ("stone", "iron_pickaxe", 0.4),
    ("stone", "diamond_pickaxe", 0.3),
    ("stone", "netherite_pickaxe", 0.25),
    ("stone", "golden_pickaxe", 0.2),
    ("cobblestone", "wooden_pickaxe", 1.5),
    ("coal_ore", "wooden_pickaxe", 2.25),
    ("iron_ore", "wooden_pickaxe", 7.5),
    ("iron_ore", "stone_pickaxe", 1.15),
    ("diamond_ore", "iron_pickaxe", 0.75),
    ("obsidian", "diamond_pickaxe", 9.4),
    ("obsidian", "iron_pickaxe", 41.7),
    ("oak_log", None, 3.0),
    ("oak_log", "stone_axe", 0.75),
    ("oak_planks", "iron_axe", 0.5),
    ("oak_slab", None, 3.0),
    ("oak_door", None, 4.5),
    ("chest", "iron_axe", 0.65),
    ("crafting_table", None, 3.75),
    ("furnace", None, 17.5),
    ("furnace", "wooden_pickaxe", 2.65),
    ("bookshelf", "wooden_axe", 1.15),
    ("oak_leaves", None, 0.3),
    ("oak_leaves", "iron_sword", 0.2),
    ("oak_leaves", "shears", 0.05),
    ("white_wool", None, 1.2),
    ("white_wool", "shears", 0.25),
    ("cobweb", "iron_sword", 0.4),
    ("glass", None, 0.45),
    ("ice", "wooden_pickaxe", 0.4),
    ("snow_block", None, 1.0),
    ("ladder", None, 0.6),
    ("pumpkin", "iron_axe", 0.25),
    ("hay_block", "golden_hoe", 0.1),
    ("netherrack", "wooden_pickaxe", 0.3),
    ("torch", None, 0.05),
]
SPOT = (24, FLOOR, 26)


@pytest.fixture
def world():
    return World()


def facing(block, tool=None, tag=None):
    """A world with a block two cells before the player's feet, and a tool in the hand."""
    world = World()
    world.put(*SPOT, block)
    world.hold(tool, tag=tag)
    world.look_at(24.5, FLOOR + 0.3, 26.5)
    return world


def ticks_to_break(world, most=6000):
    state = world.grid.get(*SPOT)
    for tick in range(1, most):
        mining.attack(world, Action(attack=True))
        if world.grid.get(*SPOT) != state:
            return tick
    return None


def test_mining_takes_as_long_as_in_the_game():
    for block, tool, seconds in SECONDS:
        world = facing(block, tool)
        assert mining.break_ticks(world, parse(block)) == round(seconds * 20)
        assert ticks_to_break(world) == round(seconds * 20)


def test_bedrock_is_never_mined():
    world = facing("bedrock", "diamond_pickaxe")
    assert mining.break_ticks(world, parse("bedrock")) is None
    assert ticks_to_break(world, 2000) is None


def test_efficiency_five_and_haste_two_mine_stone_at_once():
    # (8 + 5 * 5 + 1) * 1.4 / 1.5 / 30 = 1.06
    tag = {"Enchantments": [{"id": "minecraft:efficiency", "lvl": 5}]}
    world = facing("stone", "diamond_pickaxe", tag)
    assert mining.break_ticks(world, parse("stone")) == 2
    world.player.effects["haste"] = [100, 1]
    assert mining.break_ticks(world, parse("stone")) == 1


def test_mining_is_five_times_slower_in_the_air_and_again_under_water(world):
    assert mining.break_ticks(world, parse("dirt")) == 15
    world.player.on_ground = False
    assert mining.break_ticks(world, parse("dirt")) == 75
    world.put(24, FLOOR + 1, 24, "water")
    world.put(24, FLOOR + 2, 24, "water")
    assert mining.break_ticks(world, parse("dirt")) == 375
    world.player.slots[39] = Stack("iron_helmet", tag={"Enchantments": [{"id": "aqua_affinity", "lvl": 1}]})
    assert mining.break_ticks(world, parse("dirt")) == 75


def test_letting_go_looking_away_and_changing_tools_start_anew():
    for other in ("let go", "look away", "change"):
        world = facing("dirt")
        ticks(world, 14, mining.attack, attack=True)
        assert world.player.mining[:3] == SPOT
        if other == "look away":
            world.look_at(24.5, FLOOR, 24.9)
            mining.attack(world, Action(attack=True))
            world.look_at(24.5, FLOOR + 0.3, 26.5)
        elif other == "change":
            world.hold("stick")
            hands.notice(world.player)
        else:
            mining.attack(world, Action())
        ticks(world, 13, mining.attack, attack=True)
        assert name_of(world.grid.get(*SPOT)) == "dirt"
        ticks(world, 2, mining.attack, attack=True)
        assert name_of(world.grid.get(*SPOT)) == "air"


def test_a_held_key_pauses_six_ticks_between_blocks():
    world = facing("dirt")
    world.put(24, FLOOR, 27, "dirt")
    world.look_at(24.5, FLOOR + 0.3, 27.3)
    assert ticks_to_break(world) == 15
    ticks(world, 6 + 14, mining.attack, attack=True)
    assert name_of(world.grid.get(24, FLOOR, 27)) == "dirt"
    mining.attack(world, Action(attack=True))
    assert name_of(world.grid.get(24, FLOOR, 27)) == "air"


def test_what_breaks_at_once_needs_no_pause():
    world = facing("grass")
    world.put(24, FLOOR, 27, "grass")
    world.look_at(24.5, FLOOR + 0.3, 27.5)
    ticks(world, 2, mining.attack, attack=True)
    assert name_of(world.grid.get(*SPOT)) == name_of(world.grid.get(24, FLOOR, 27)) == "air"


def test_reach_is_four_and_a_half_blocks(world):
    me = world.player
    me.y = float(FLOOR + 10)
    me.pitch = 90.0
    for distance, found in ((4.49, True), (4.51, False)):
        me.y = FLOOR + distance - 1.62
        assert (mining.target(world) is not None) is found


def test_tools_wear_by_one_and_swords_by_two_and_break():
    for tool, uses in (("wooden_pickaxe", 1), ("wooden_sword", 2)):
        world = facing("stone", tool)
        assert ticks_to_break(world)
        assert world.player.in_hand.damage == uses
    world = facing("stone", "wooden_pickaxe")
    world.player.in_hand.damage = BY_NAME["wooden_pickaxe"].durability - 1
    assert ticks_to_break(world)
    assert world.player.in_hand is None
    assert world.totals() == {"cobblestone": 1}


@pytest.mark.parametrize(
    ("item", "mined", "struck"),
    # minecraft.wiki, "Durability": only tools and weapons wear by mining and hitting.
    [
        *[("iron_sword", 2, 1), ("trident", 2, 1), ("shears", 1, 0)],
        *[(f"iron_{kind}", 1, 2) for kind in ("pickaxe", "axe", "shovel", "hoe")],
        *[(item, 0, 0) for item in ("bow", "iron_helmet", "flint_and_steel", "shield", "fishing_rod", "stick")],
    ],
)
def test_only_tools_and_weapons_wear_by_mining_and_hitting(mobs, item, mined, struck):
    world = facing("dirt", item)
    assert ticks_to_break(world)
    assert world.player.in_hand.damage == mined
    world.hold(item)
    world.look_at(24.5, FLOOR + 0.8, 27.0)
    put_mob(world, 1, "cow", 2.0)
    ticks(world, 1, mining.attack)
    mining.attack(world, Action(attack=True))
    assert len(mobs.blows) == 1
    assert world.player.in_hand.damage == struck


def test_plants_that_break_at_once_wear_no_tool():
    world = facing("poppy", "wooden_pickaxe")
    assert ticks_to_break(world) == 1
    assert world.player.in_hand.damage == 0


def test_mining_counts_and_makes_hungry():
    world = facing("dirt")
    assert ticks_to_break(world)
    assert world.player.counts["mined"] == {"dirt": 1}
    assert world.player.exhaustion == pytest.approx(0.005)


def test_creative_players_break_at_once_and_get_nothing():
    world = facing("obsidian")
    world.player.game_mode = "creative"
    assert ticks_to_break(world) == 1
    assert world.dropped == []
    world = facing("bedrock", "diamond_sword")
    world.player.game_mode = "creative"
    assert ticks_to_break(world, 50) is None


def test_a_blow_puts_fire_out():
    world = facing("stone")
    world.put(24, FLOOR, 25, "fire")
    world.put(24, FLOOR + 1, 26, "fire")
    world.look_at(24.5, FLOOR + 1.0, 26.5)
    mining.attack(world, Action(attack=True))
    assert name_of(world.grid.get(24, FLOOR + 1, 26)) == "air" or name_of(world.grid.get(24, FLOOR, 25)) == "air"
    assert name_of(world.grid.get(*SPOT)) == "stone"


def found(block, tool=None, tag=None, times=1):
    """Totals of what a block leaves."""
    rng = np.random.default_rng(3)
    totals = {}
    for _ in range(times):
        for stack in drops(parse(block), None if tool is None else Stack(tool, tag=tag), rng):
            totals[stack.item] = totals.get(stack.item, 0) + stack.count
    return totals


SILK = {"Enchantments": [{"id": "silk_touch", "lvl": 1}]}


def test_blocks_leave_what_they_leave_in_the_game():
    for block, tool, expected in [
        ("stone", "wooden_pickaxe", {"cobblestone": 1}),
        ("stone", None, {}),
        ("stone", "diamond_shovel", {}),
        ("grass_block", None, {"dirt": 1}),
        ("farmland", None, {"dirt": 1}),
        ("iron_ore", "stone_pickaxe", {"iron_ore": 1}),
        ("iron_ore", "golden_pickaxe", {}),
        ("diamond_ore", "iron_pickaxe", {"diamond": 1}),
        ("diamond_ore", "stone_pickaxe", {}),
        ("obsidian", "iron_pickaxe", {}),
        ("obsidian", "diamond_pickaxe", {"obsidian": 1}),
        ("glass", None, {}),
        ("ice", "iron_pickaxe", {}),
        ("oak_slab[type=double]", None, {"oak_slab": 2}),
        ("oak_slab[type=top]", None, {"oak_slab": 1}),
        ("stone_stairs", None, {}),
        ("oak_door[half=upper]", None, {"oak_door": 1}),
        ("red_bed[part=head]", None, {"red_bed": 1}),
        ("wall_torch", None, {"torch": 1}),
        ("oak_wall_sign", None, {"oak_sign": 1}),
        ("redstone_wire", None, {"redstone": 1}),
        ("bookshelf", None, {"book": 3}),
        ("clay", None, {"clay_ball": 4}),
        ("snow[layers=3]", "iron_shovel", {"snowball": 3}),
        ("snow[layers=3]", None, {}),
        ("cobweb", "iron_sword", {"string": 1}),
        ("cobweb", "shears", {"cobweb": 1}),
        ("cobweb", None, {}),
        ("oak_leaves", "shears", {"oak_leaves": 1}),
        ("grass", "shears", {"grass": 1}),
        ("tall_grass", "shears", {"grass": 2}),
        ("vine", None, {}),
        ("wheat[age=6]", None, {"wheat_seeds": 1}),
        ("carrots[age=3]", None, {"carrot": 1}),
        ("potted_poppy", None, {"flower_pot": 1, "poppy": 1}),
        ("ender_chest", "iron_pickaxe", {"obsidian": 8}),
        ("cake", None, {}),
        ("infested_stone", "iron_pickaxe", {}),
        ("bamboo_sapling", None, {"bamboo": 1}),
        ("white_wool", None, {"white_wool": 1}),
        ("sea_pickle[pickles=3]", None, {"sea_pickle": 3}),
        ("cauldron", None, {}),
        ("furnace", "wooden_pickaxe", {"furnace": 1}),
    ]:
        assert found(block, tool) == expected


def test_silk_touch_leaves_the_block():
    for block, item in [
        ("stone", "stone"),
        ("glass", "glass"),
        ("diamond_ore", "diamond_ore"),
        ("grass_block", "grass_block"),
        ("ice", "ice"),
    ]:
        assert found(block, "diamond_pickaxe", SILK) == {item: 1}


def test_chances_are_those_of_the_game():
    for block, tool, item, mean, within in [
        # Chances and ranges of the pages of the blocks; `within` is 4 standard errors of 4000 draws.
        ("gravel", None, "flint", 0.1, 0.02),
        ("grass", None, "wheat_seeds", 0.125, 0.021),
        ("oak_leaves", None, "oak_sapling", 0.05, 0.014),
        ("jungle_leaves", None, "jungle_sapling", 0.025, 0.01),
        ("oak_leaves", None, "stick", 0.03, 0.016),
        ("oak_leaves", None, "apple", 0.005, 0.005),
        ("lapis_ore", "iron_pickaxe", "lapis_lazuli", 6.5, 0.11),
        ("redstone_ore[lit=true]", "iron_pickaxe", "redstone", 4.5, 0.04),
        ("glowstone", None, "glowstone_dust", 3.0, 0.06),
        ("melon", None, "melon_slice", 5.0, 0.1),
        ("wheat[age=7]", None, "wheat_seeds", 1 + 3 * 0.5714286, 0.06),
        ("wheat[age=7]", None, "wheat", 1.0, 0.001),
        ("carrots[age=7]", None, "carrot", 2 + 3 * 0.5714286, 0.06),
        ("potatoes[age=7]", None, "poisonous_potato", 0.02, 0.009),
        ("sweet_berry_bush[age=3]", None, "sweet_berries", 2.5, 0.04),
        ("dead_bush", None, "stick", 1.0, 0.06),
        ("sea_lantern", None, "prismarine_crystals", 2.5, 0.04),
    ]:
        assert found(block, tool, times=4000).get(item, 0) / 4000 == pytest.approx(mean, abs=within)


def test_every_state_of_every_block_can_be_broken_with_anything():
    rng = np.random.default_rng(1)
    for block in BLOCKS:
        for state in {block.first, block.default, block.first + block.num_states - 1}:
            for tool in (None, Stack("diamond_pickaxe"), Stack("shears"), Stack("dirt"), Stack("diamond_hoe", tag=SILK)):
                for stack in drops(state, tool, rng):
                    assert stack.item in BY_NAME, block.name
                    assert stack.count >= 1, block.name


def test_what_everyone_can_carry_home_drops_itself_with_the_best_tool():
    rng = np.random.default_rng(1)
    for name in (
        "oak_planks",
        "cobblestone",
        "oak_fence",
        "oak_stairs",
        "chest",
        "iron_block",
        "purpur_stairs",
        "blackstone_slab",
    ):
        tool = best_tool(name)
        held = Stack(f"netherite_{tool}") if tool in ("pickaxe", "axe", "shovel", "hoe") else None
        assert [stack.item for stack in drops(parse(name), held, rng)] == [name]


def test_wooden_things_need_no_tool_and_stone_ones_do():
    for name in ("oak_slab", "crimson_pressure_plate", "oak_stairs", "rail", "stone_button", "white_shulker_box", "piston"):
        assert not needs_tool(name), name
    for name in ("stone_slab", "stone_stairs", "blackstone_slab", "chiseled_polished_blackstone", "iron_bars", "observer"):
        assert needs_tool(name), name
        assert best_tool(name) == "pickaxe", name


@pytest.mark.parametrize("broken", [0, 1])
def test_both_halves_of_doors_beds_and_tall_plants_go_and_one_item_falls(world, broken):
    for first, second, item in (
        ((5, FLOOR, 5, "oak_door[half=lower]"), (5, FLOOR + 1, 5, "oak_door[half=upper]"), "oak_door"),
        ((7, FLOOR, 5, "red_bed[facing=east,part=foot]"), (8, FLOOR, 5, "red_bed[facing=east,part=head]"), "red_bed"),
        ((5, FLOOR, 8, "peony[half=lower]"), (5, FLOOR + 1, 8, "peony[half=upper]"), "peony"),
    ):
        world.put(*first)
        world.put(*second)
        world.dropped.clear()
        updates.break_block(world, *(first, second)[broken][:3])
        assert world.totals() == {item: 1}
        assert world.grid.get(*first[:3]) == world.grid.get(*second[:3]) == 0


def test_broken_chests_spill_what_they_hold(world):
    world.put(5, FLOOR, 5, "chest")
    world.containers[(5, FLOOR, 5)] = Container("chest", [Stack("diamond", 3), None, Stack("dirt", 64)])
    updates.break_block(world, 5, FLOOR, 5)
    assert world.totals() == {"chest": 1, "diamond": 3, "dirt": 64}
    assert world.containers == {}


def test_ice_over_something_melts_to_water_and_over_nothing_is_gone(world):
    world.put(5, FLOOR, 5, "ice")
    updates.break_block(world, 5, FLOOR, 5)
    assert name_of(world.grid.get(5, FLOOR, 5)) == "water"
    world.put(5, FLOOR + 4, 5, "ice")
    updates.break_block(world, 5, FLOOR + 4, 5)
    assert name_of(world.grid.get(5, FLOOR + 4, 5)) == "air"


def test_water_stays_where_a_waterlogged_block_was(world):
    world.put(5, FLOOR, 5, "oak_stairs[waterlogged=true]")
    updates.break_block(world, 5, FLOOR, 5)
    assert world.grid.get(5, FLOOR, 5) == parse("water")


def test_the_rule_against_drops_counts(world):
    world.rules["doTileDrops"] = "false"
    world.put(5, FLOOR, 5, "dirt")
    updates.break_block(world, 5, FLOOR, 5)
    assert world.dropped == []


def test_one_half_of_a_double_chest_leaves_a_single_one(world):
    world.put(5, FLOOR, 5, "chest[facing=north,type=left]")
    world.put(6, FLOOR, 5, "chest[facing=north,type=right]")
    updates.break_block(world, 5, FLOOR, 5)
    assert world.grid.get(6, FLOOR, 5) == parse("chest[facing=north,type=single]")


class Mobs:
    """Stands in for the module of mobs: remembers blows."""

    def __init__(self):
        self.blows = []

    def hit_by_player(self, world, row, damage):
        self.blows.append((row, damage))


@pytest.fixture
def mobs(monkeypatch):
    stand_in = Mobs()
    monkeypatch.setattr(mining, "mobs", stand_in)
    return stand_in


def put_mob(world, row, kind, distance, **values):
    mob = world.entities[row]
    mob["kind"], mob["id"], mob["health"] = KIND[kind], row + 1, 10.0
    mob["x"], mob["y"], mob["z"] = world.player.x, FLOOR, world.player.z + distance
    for name, value in values.items():
        mob[name] = value


def test_mobs_are_hit_within_three_blocks_and_once_per_press(world, mobs):
    world.look_at(24.5, FLOOR + 1.0, 30.0)
    put_mob(world, 4, "cow", 4.0)
    ticks(world, 3, mining.attack, attack=True)
    assert mobs.blows == []
    mining.attack(world, Action())
    world.entities[4]["z"] = world.player.z + 3.2  # a cow is 0.9 wide: its side is 2.75 away
    ticks(world, 5, mining.attack, attack=True)
    assert mobs.blows == [(4, 1.0)]


def test_the_nearest_mob_is_hit_and_things_on_the_ground_are_not(world, mobs):
    world.look_at(24.5, FLOOR + 0.5, 27.0)
    put_mob(world, 1, "cow", 2.5)
    put_mob(world, 2, "zombie", 1.8)
    put_mob(world, 3, "item", 1.0)
    mining.attack(world, Action(attack=True))
    assert [row for row, _ in mobs.blows] == [2]


def test_a_wall_keeps_mobs_safe(world, mobs):
    world.look_at(24.5, FLOOR + 0.5, 27.0)
    put_mob(world, 1, "cow", 2.5)
    world.put(24, FLOOR, 25, "glass")
    world.put(24, FLOOR + 1, 25, "glass")
    mining.attack(world, Action(attack=True))
    assert mobs.blows == []


def test_swords_hit_harder_wear_by_one_and_quick_blows_are_weak(world, mobs):
    # A diamond sword: 7, at 1.6 blows a second. After 3 ticks the charge is 3.5 / 12.5 = 0.28:
    # 7 * (0.2 + 0.28 ** 2 * 0.8) = 1.84
    world.hold("diamond_sword")
    world.look_at(24.5, FLOOR + 0.8, 27.0)
    put_mob(world, 1, "cow", 2.0)
    for key in (True, False, False, True):
        mining.attack(world, Action(attack=key))
    assert [damage for _, damage in mobs.blows] == pytest.approx([7.0, 1.839], abs=0.001)
    assert world.player.in_hand.damage == 2


def test_a_blow_while_falling_is_half_as_strong_again(world, mobs):
    world.look_at(24.5, FLOOR + 0.8, 27.0)
    put_mob(world, 1, "cow", 2.0)
    world.player.on_ground, world.player.fall_distance = False, 0.4
    mining.attack(world, Action(attack=True))
    assert mobs.blows == [(1, 1.5)]


def test_nothing_is_placed_into_a_mob(world, mobs):
    world.hold("stone", 5)
    put_mob(world, 1, "cow", 3.5)
    world.look_at(24.5, FLOOR, 27.05)
    assert mining.mob_in_front(world) is None
    placing.use(world, Action(use=True))
    assert world.player.in_hand.count == 5
    world.entities[1]["kind"] = -1
    placing.use(world, Action())
    placing.use(world, Action(use=True))
    assert world.player.in_hand.count == 4


def use_on(world, kind, item, **values):
    """Use something on a mob before the player."""
    put_mob(world, 1, kind, 2.0, **values)
    world.look_at(24.5, FLOOR + 0.4, 26.5)
    assert mining.mob_in_front(world) == 1
    world.hold(item, 3)
    placing.use(world, Action())
    placing.use(world, Action(use=True))
    return world.entities[1]


def test_sheep_are_shorn_once_and_dyed(world):
    sheep = use_on(world, "sheep", "shears", variant=14)
    shorn = world.totals()["red_wool"]
    assert 1 <= shorn <= 3
    placing.use(world, Action())
    placing.use(world, Action(use=True))
    assert world.totals()["red_wool"] == shorn
    use_on(world, "sheep", "blue_dye", flags=0)
    assert sheep["variant"] == 11
    assert world.player.in_hand.count == 2


def test_cows_give_milk_and_calves_do_not(world):
    use_on(world, "cow", "bucket", age=-10)
    assert world.player.in_hand == Stack("bucket", 3)
    use_on(world, "cow", "bucket", age=0)
    assert Stack("milk_bucket") in world.player.slots


def test_fed_animals_look_for_a_partner_and_young_ones_grow(world):
    assert use_on(world, "cow", "wheat")["love"] == LOVE_TICKS
    assert world.player.in_hand.count == 2
    placing.use(world, Action())
    placing.use(world, Action(use=True))
    assert world.player.in_hand.count == 2
    assert use_on(world, "cow", "wheat", age=-1000, love=0)["age"] == -900
    assert use_on(world, "cow", "carrot", age=0, love=0)["love"] == 0

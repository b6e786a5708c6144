import pytest

from blockworld.errors import UnknownNameError, WorldError
from blockworld.registry import items
from blockworld.registry.blocks import BLOCKS


def test_the_table_has_the_975_items_of_1_16():
    # minecraft-data 1.16.2 items.json has 975 entries and air.
    assert len(items.ITEMS) == 975
    assert all(items.ITEMS[item.index] is item for item in items.ITEMS)


def test_stack_sizes_and_durability_are_those_of_the_wiki():
    for name, stack, durability in [
        ("dirt", 64, 0),
        ("egg", 16, 0),
        ("iron_sword", 1, 250),
        ("golden_pickaxe", 1, 32),
        ("bucket", 16, 0),
        ("water_bucket", 1, 0),
    ]:
        item = items.item_named(name)
        assert (item.stack, item.durability) == (stack, durability)


def test_nothing_that_wears_shares_a_slot():
    assert {item.stack for item in items.ITEMS if item.durability} == {1}


# minecraft.wiki, pages Sword, Axe, Pickaxe, Shovel, Hoe (Java Edition): attack damage and attack speed.
def test_tools_hit_as_in_the_game():
    for name, kind, tier, damage, speed in [
        ("wooden_sword", "sword", "wooden", 4, 1.6),
        ("diamond_sword", "sword", "diamond", 7, 1.6),
        ("iron_axe", "axe", "iron", 9, 0.9),
        ("golden_axe", "axe", "golden", 7, 1.0),
        ("netherite_pickaxe", "pickaxe", "netherite", 6, 1.2),
        ("stone_shovel", "shovel", "stone", 3.5, 1.0),
        ("iron_hoe", "hoe", "iron", 1, 3.0),
        ("dirt", None, None, 1, 4.0),
    ]:
        item = items.item_named(name)
        assert (item.kind, item.tier, item.attack_damage, item.attack_speed) == (kind, tier, damage, speed)


# minecraft.wiki, page Armor: points of a full set, and toughness of a piece.
def test_a_full_set_of_armour_has_the_points_of_the_game():
    for material, points, toughness in [
        ("leather", 7, 0),
        ("golden", 11, 0),
        ("chainmail", 12, 0),
        ("iron", 15, 0),
        ("diamond", 20, 2),
        ("netherite", 20, 3),
    ]:
        pieces = [items.item_named(f"{material}_{kind}") for kind in items.ARMOUR_KINDS]
        assert sum(piece.armour for piece in pieces) == points
        assert {piece.toughness for piece in pieces} == {toughness}
        assert [piece.armour_slot for piece in pieces] == [36, 37, 38, 39]


# minecraft.wiki, page Smelting, table "Fuel" (Java Edition).
def test_fuel_burns_as_long_as_in_the_game():
    for name, ticks in [
        ("coal", 1600),
        ("charcoal", 1600),
        ("oak_planks", 300),
        ("stick", 100),
        ("lava_bucket", 20000),
        ("coal_block", 16000),
        ("blaze_rod", 2400),
        ("wooden_pickaxe", 200),
        ("oak_sapling", 100),
        ("bamboo", 50),
        ("birch_log", 300),
        ("white_carpet", 67),
        ("spruce_boat", 1200),
        ("oak_slab", 150),
        ("crimson_planks", 0),
        ("warped_stem", 0),
        ("cobblestone", 0),
        ("stone_pickaxe", 0),
    ]:
        assert items.item_named(name).fuel == ticks


def test_food_gives_what_the_table_says_and_a_cake_in_the_hand_gives_nothing():
    assert (items.item_named("bread").food, items.item_named("bread").saturation) == (5, 6)
    assert items.item_named("cake").food == 0
    assert sum(item.food > 0 for item in items.ITEMS) == 39  # of 40 rows, all but the cake


def test_a_block_has_the_item_that_picking_it_gives():
    for block, item in [
        ("wall_torch", "torch"),
        ("soul_wall_torch", "soul_torch"),
        ("redstone_wall_torch", "redstone_torch"),
        ("wheat", "wheat_seeds"),
        ("carrots", "carrot"),
        ("beetroots", "beetroot_seeds"),
        ("attached_melon_stem", "melon_seeds"),
        ("redstone_wire", "redstone"),
        ("oak_wall_sign", "oak_sign"),
        ("red_wall_banner", "red_banner"),
        ("creeper_wall_head", "creeper_head"),
        ("potted_poppy", "flower_pot"),
        ("stone", "stone"),
        ("water", None),
        ("fire", None),
        ("nether_portal", None),
    ]:
        assert items.item_of_block(block) == item


def test_only_fluids_fire_and_the_like_have_no_item():
    without = {block.name for block in BLOCKS if items.item_of_block(block.name) is None}
    assert without == {
        *("air", "cave_air", "void_air", "water", "lava", "bubble_column", "frosted_ice", "fire", "soul_fire"),
        *("nether_portal", "end_portal", "end_gateway", "piston_head", "moving_piston"),
    }


def test_an_item_places_its_block():
    for item, block in [
        ("wheat_seeds", "wheat"),
        ("wheat", None),
        ("carrot", "carrots"),
        ("redstone", "redstone_wire"),
        ("torch", "torch"),
        ("oak_door", "oak_door"),
        ("cake", "cake"),
        ("water_bucket", None),
        ("pig_spawn_egg", None),
        ("iron_ingot", None),
    ]:
        assert items.block_of_item(item) == block


def test_what_a_block_gives_places_it_again_unless_it_hangs_on_a_wall_or_grows():
    lost = set()
    for block in BLOCKS:
        item = items.item_of_block(block.name)
        if item is not None and items.block_of_item(item) != block.name:
            lost.add(block.name)
    grown = {"attached_melon_stem", "attached_pumpkin_stem", "bamboo_sapling", "kelp_plant", "tall_seagrass"}
    grown |= {"twisting_vines_plant", "weeping_vines_plant"}
    assert {name for name in lost if "wall_" not in name and not name.startswith("potted_")} == grown


def test_a_spawn_egg_names_its_mob():
    assert items.mob_of_egg("pig_spawn_egg") == "pig"
    assert items.mob_of_egg("egg") is None


def test_tags_hold_what_rules_need():
    assert len(items.TAGS["planks"]) == 8
    assert len(items.TAGS["wool"]) == 16
    assert "crimson_stem" in items.TAGS["logs"]
    assert "crimson_stem" not in items.TAGS["logs_that_burn"]


def test_a_mistyped_item_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"unknown item 'oak_plank'; did you mean 'oak_planks'\?"):
        items.item_named("oak_plank")


def test_many_of_an_item_come_in_full_stacks():
    assert [stack.count for stack in items.stacks("egg", 35)] == [16, 16, 3]
    assert items.stacks("egg", 0) == []
    with pytest.raises(WorldError, match="cannot give -1 of egg"):
        items.stacks("egg", -1)

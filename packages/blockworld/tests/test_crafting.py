import itertools

import pytest
from screen_world import ScreenWorld

from blockworld.blocks import furnaces
from blockworld.blocks.halves import chest_halves
from blockworld.errors import UnknownNameError, WorldError
from blockworld.registry import containers, crafting, smelting
from blockworld.registry.blocks import name_of, properties_of
from blockworld.registry.facts import table
from blockworld.registry.items import BY_NAME, COLOURS, ITEMS
from blockworld.state import Stack


def grid_of(row: dict, width: int) -> list[str | None]:
    """A row of the recipe table, laid into the upper left of a grid."""
    grid: list[str | None] = [None] * (width * width)
    if "shape" in row:
        for (y, line), x in itertools.product(enumerate(row["shape"]), range(len(row["shape"][0]))):
            grid[y * width + x] = line[x]
    else:
        grid[: len(row["ingredients"])] = row["ingredients"]
    return grid


def size_of(row: dict) -> int:
    if "shape" in row:
        return max(len(row["shape"]), len(row["shape"][0]))
    return 2 if len(row["ingredients"]) <= 4 else 3


def test_every_recipe_of_the_table_gives_its_result_at_a_crafting_table():
    wrong = []
    for row in table("recipes"):
        craft = crafting.match(grid_of(row, 3), 3)
        if craft is None or craft.stack != Stack(row["item"], row["count"]):
            wrong.append((row, craft))
    assert wrong == []
    assert len(table("recipes")) == 1198


def test_every_small_recipe_can_be_made_in_the_players_own_grid():
    small = [row for row in table("recipes") if size_of(row) <= 2]
    assert len(small) > 250
    for row in small:
        craft = crafting.match(grid_of(row, 2), 2)
        assert craft is not None
        assert craft.stack == Stack(row["item"], row["count"])
        assert craft.recipe is not None
        assert craft.recipe.grid(2)


def test_every_shaped_recipe_matches_anywhere_and_mirrored():
    for row in table("recipes"):
        if "shape" not in row:
            continue
        height, width = len(row["shape"]), len(row["shape"][0])
        for lines in (row["shape"], [line[::-1] for line in row["shape"]]):
            for top, left in itertools.product(range(4 - height), range(4 - width)):
                grid: list[str | None] = [None] * 9
                for y, x in itertools.product(range(height), range(width)):
                    grid[(top + y) * 3 + left + x] = lines[y][x]
                craft = crafting.match(grid, 3)
                assert craft is not None, (row, grid)
                assert craft.stack.item == row["item"], (row, grid)


def test_a_shape_must_not_be_turned_or_have_more_beside_it():
    pickaxe = ["cobblestone"] * 3 + [None, "stick", None, None, "stick", None]
    assert crafting.match(pickaxe, 3).stack.item == "stone_pickaxe"
    turned = [pickaxe[3 * x + y] for y in range(3) for x in range(3)]
    assert crafting.match(turned, 3) is None
    assert crafting.match([*pickaxe[:8], "dirt"], 3) is None
    assert crafting.match([None] * 9, 3) is None


def test_planks_may_be_mixed_but_stairs_want_one_wood():
    chest = ["oak_planks", "birch_planks", "spruce_planks", "acacia_planks", None, *["oak_planks"] * 4]
    assert crafting.match(chest, 3).stack == Stack("chest")
    stairs = ["oak_planks", None, None, "oak_planks", "birch_planks", None, "oak_planks", "oak_planks", "oak_planks"]
    assert crafting.match(stairs, 3) is None


def test_a_cake_leaves_its_three_buckets_and_honey_its_bottles():
    cake = ["milk_bucket"] * 3 + ["sugar", "egg", "sugar"] + ["wheat"] * 3
    assert crafting.match(cake, 3).remainders == ("bucket",) * 3 + (None,) * 6
    assert crafting.match(["honey_bottle", None, None, None], 2).remainders[0] == "glass_bottle"


def test_two_worn_tools_become_one_with_a_twentieth_more():
    # minecraft.wiki, Item repair: uses left of both, plus 5 % of the durability, rounded down: 250 * 5 % = 12.
    worn = [Stack("iron_axe", damage=200), None, None, Stack("iron_axe", damage=100, tag={"name": "x"})]
    assert crafting.match(worn, 2).stack == Stack("iron_axe", 1, 250 - (50 + 150 + 12))
    assert crafting.match([Stack("iron_axe", damage=1), None, None, Stack("iron_axe")], 2).stack.damage == 0
    assert crafting.match([Stack("iron_axe"), Stack("iron_sword"), None, None], 2) is None


def test_shulker_boxes_are_dyed_with_what_is_in_them_and_rockets_and_stew_are_made():
    box = Stack("shulker_box", tag={"items": [1]})
    assert crafting.match([box, Stack("red_dye"), None, None], 2).stack == Stack("red_shulker_box", 1, 0, {"items": [1]})
    assert crafting.match(["paper", "gunpowder", "gunpowder", None], 2).stack == Stack("firework_rocket", 3, 0, {"flight": 2})
    stew = crafting.match(["bowl", "red_mushroom", "brown_mushroom", "poppy"], 2).stack
    assert (stew.item, stew.tag) == ("suspicious_stew", {"flower": "poppy"})
    assert crafting.match(["bowl", "red_mushroom", "brown_mushroom", "dirt"], 2) is None


def test_only_the_games_special_recipes_are_missing_in_the_table():
    # Results of the 13 special recipes of Java Edition 1.16 (minecraft.wiki, Recipe, "crafting_special_*") not made otherwise.
    crafted = {recipe.item for recipe in crafting.RECIPES}
    made_here = {f"{colour}_shulker_box" for colour in COLOURS} | {"firework_rocket", "suspicious_stew"}
    assert not made_here & crafted
    assert not {"filled_map", "written_book", "firework_star", "tipped_arrow"} & crafted  # special, and not made here
    # Netherite tools come from a smithing table, stone and glass from a furnace.
    assert not {"netherite_sword", "stone", "glass", "charcoal", "oak_log"} & crafted


def test_a_grid_must_be_square():
    with pytest.raises(WorldError, match="a crafting grid of width 3 has 9 slots, got 4"):
        crafting.match([None] * 4, 3)


def test_recipes_are_found_by_their_result():
    (table_recipe,) = crafting.recipes_for("crafting_table")
    assert len(table_recipe.ingredients) == 4
    assert crafting.recipes_for("dirt") == ()
    with pytest.raises(UnknownNameError, match="unknown item 'cheast'; did you mean 'chest'"):
        crafting.recipes_for("cheast")
    with pytest.raises(WorldError, match="chest does not fit a 2 x 2 grid; use a crafting table"):
        crafting.recipes_for("chest")[0].grid(2)


def test_a_plan_lays_what_is_carried_and_the_grid_then_gives_the_item():
    carried = [Stack("oak_planks", 2), Stack("birch_planks", 1), Stack("stick", 1), None]
    assert crafting.can_make("wooden_pickaxe", carried) is None
    carried[2].count = 2
    recipe = crafting.can_make("wooden_pickaxe", carried)
    laid = crafting.plan(recipe, carried)
    assert crafting.match(laid, 3).stack == Stack("wooden_pickaxe")
    assert sorted(filter(None, laid)) == ["birch_planks", "oak_planks", "oak_planks", "stick", "stick"]
    assert crafting.can_make("wooden_pickaxe", carried, 2) is None
    assert crafting.can_make("stick", carried, 2) is not None


def test_every_recipe_has_a_plan_from_its_own_ingredients():
    for recipe in crafting.RECIPES:
        carried = [Stack(min(cell)) for cell in recipe.ingredients]
        laid = crafting.plan(recipe, carried)
        assert laid is not None
        assert crafting.match(laid, 3).stack.item == recipe.item
        # What `plan` relies on: two places of a recipe want the same set of items, or sets apart.
        assert all(a == b or not a & b for a, b in itertools.combinations(recipe.ingredients, 2))


def test_a_stonecutter_makes_known_items_and_slabs_in_twos():
    for source, results in crafting.STONECUTTING.items():
        assert source in BY_NAME
        assert len({stack.item for stack in results}) == len(results) <= 12
        for stack in results:
            assert stack.item in BY_NAME
            assert stack.count == (2 if stack.item.endswith("_slab") else 1)
    assert [stack.item for stack in crafting.STONECUTTING["smooth_stone"]] == ["smooth_stone_slab"]


# Furnaces.


def furnace(world: ScreenWorld, kind: str, source: Stack | None, fuel: Stack | None):
    position = world.put(kind)
    container = world.container_at(position)
    container.slots[0], container.slots[1] = source, fuel
    return container


def is_lit(world: ScreenWorld) -> str:
    return properties_of(world.grid.get(1, 64, 0))["lit"]


def test_every_input_and_output_of_a_furnace_is_an_item():
    for made in smelting.SMELTING.values():
        assert {*made, *made.values()} <= set(BY_NAME)
    assert smelting.SMELTING["furnace"].items() >= smelting.SMELTING["smoker"].items()
    assert smelting.SMELTING["furnace"].items() >= smelting.SMELTING["blast_furnace"].items()
    glazed = [name for name in smelting.SMELTING["furnace"].values() if name.endswith("glazed_terracotta")]
    assert len(glazed) == 16


def test_what_only_a_furnace_makes_is_in_its_table():
    crafted = {recipe.item for recipe in crafting.RECIPES}
    cooked = {
        item.name for item in ITEMS if item.name.startswith(("cooked_", "smooth_", "cracked_")) and item.name not in crafted
    }
    assert cooked <= set(smelting.SMELTING["furnace"].values())


@pytest.mark.parametrize(("kind", "source", "made", "ticks"), [
    ("furnace", "sand", "glass", 200),
    ("furnace", "iron_ore", "iron_ingot", 200),
    ("blast_furnace", "iron_ore", "iron_ingot", 100),
    ("smoker", "beef", "cooked_beef", 100),
])  # fmt: skip
def test_a_furnace_takes_200_ticks_and_the_fast_ones_100(kind, source, made, ticks):
    world = ScreenWorld()
    container = furnace(world, kind, Stack(source), Stack("coal"))
    for _ in range(ticks - 1):
        furnaces.tick(world)
    assert container.slots[2] is None
    assert is_lit(world) == "true"
    furnaces.tick(world)
    assert container.slots == [None, None, Stack(made)]


@pytest.mark.parametrize(("kind", "source", "made"), [
    ("furnace", "cobblestone", "stone"), ("blast_furnace", "gold_ore", "gold_ingot"), ("smoker", "potato", "baked_potato")
])  # fmt: skip
def test_a_coal_smelts_eight_and_then_the_fire_goes_out(kind, source, made):
    world = ScreenWorld()
    container = furnace(world, kind, Stack(source, 10), Stack("coal"))
    for _ in range(8 * smelting.COOK_TICKS[kind]):
        furnaces.tick(world)
    assert container.slots == [Stack(source, 2), None, Stack(made, 8)]
    assert is_lit(world) == "true"
    for _ in range(3):
        furnaces.tick(world)
    assert is_lit(world) == "false"
    assert container.slots[0] == Stack(source, 2)


def test_a_furnace_with_nothing_to_do_lights_no_fuel():
    world = ScreenWorld()
    for source in (None, Stack("dirt")):
        container = furnace(world, "furnace", source, Stack("coal", 2))
        furnaces.tick(world)
        assert container.slots[1] == Stack("coal", 2)
        assert (container.burn, container.cook, is_lit(world)) == (0, 0, "false")


def test_a_full_output_holds_the_furnace_and_another_item_too():
    world = ScreenWorld()
    container = furnace(world, "furnace", Stack("sand"), Stack("coal"))
    for output in (Stack("glass", 64), Stack("stone")):
        container.slots[2] = output
        for _ in range(250):
            furnaces.tick(world)
        assert container.slots == [Stack("sand"), Stack("coal"), output]


def test_cooking_goes_back_without_fire_and_starts_again_without_input():
    world = ScreenWorld()
    container = furnace(world, "furnace", Stack("sand", 3), Stack("stick"))  # a stick burns 100 ticks
    for _ in range(100):
        furnaces.tick(world)
    assert container.cook == 100
    furnaces.tick(world)
    assert (container.burn, container.cook) == (0, 98)
    container.slots[0] = None
    furnaces.tick(world)
    assert container.cook == 0


def test_a_lava_bucket_leaves_its_bucket_which_takes_a_sponges_water():
    world = ScreenWorld()
    container = furnace(world, "furnace", Stack("wet_sponge"), Stack("lava_bucket"))
    furnaces.tick(world)
    assert container.slots[1] == Stack("bucket")
    for _ in range(199):
        furnaces.tick(world)
    assert container.slots == [None, Stack("water_bucket"), Stack("sponge")]


def test_a_furnace_whose_block_is_gone_changes_no_block():
    world = ScreenWorld()
    furnace(world, "furnace", Stack("sand"), Stack("coal"))
    world.put("stone")
    furnaces.tick(world)
    assert name_of(world.grid.get(1, 64, 0)) == "stone"


def test_the_two_halves_of_a_large_chest_are_found_from_either_side():
    world = ScreenWorld()
    # The left half (as the chest sees it, facing north) has its partner clockwise, to the east.
    left = world.put("chest[facing=north,type=left]", (4, 64, 4))
    right = world.put("chest[facing=north,type=right]", (5, 64, 4))
    assert chest_halves(world, left) == chest_halves(world, right) == (right, left)
    world.put("air", right)
    assert chest_halves(world, left) == (left,)
    with pytest.raises(UnknownNameError, match="unknown container 'ches'; did you mean 'chest'"):
        containers.new("ches")
    assert world.container_at(right) is None
    assert world.container_at(left) is world.containers[left]
    assert containers.kind_of_block("red_shulker_box") == "shulker_box"

import numpy as np
import pytest
from block_world import FLOOR, BlockWorld

import blockworld
from blockworld.blocks import fire, growth
from blockworld.grid import light
from blockworld.registry.blocks import name_of, parse, state_of

X = Z = 16


def quick(floor: str = "stone", **settings: int) -> BlockWorld:
    """A world where time flies: each cell gets a turn about every tick."""
    world = BlockWorld(floor=floor, **settings)
    world.rules["randomTickSpeed"] = "2000"
    return world


def field(world: BlockWorld, moisture: int) -> None:
    """Nine farmlands about the middle, without water near."""
    world.grid.fill(X - 1, FLOOR - 1, Z - 1, X + 1, FLOOR - 1, Z + 1, state_of("farmland", moisture=str(moisture)))


@pytest.mark.parametrize(("crop", "oldest"), [("wheat", 7), ("carrots", 7), ("potatoes", 7), ("beetroots", 3)])
def test_crops_ripen_by_light(crop: str, oldest: int) -> None:
    world = quick()
    world.put(X + 1, FLOOR - 1, Z, "water")
    world.grid.set(X, FLOOR - 1, Z, state_of("farmland"))
    world.put(X, FLOOR, Z, crop)
    world.run(300)
    assert world.values(X, FLOOR, Z) == {"age": str(oldest)}
    assert world.values(X, FLOOR - 1, Z) == {"moisture": "7"}


def test_crops_in_the_dark_stay_small() -> None:
    world = quick()
    world.grid.fill(0, FLOOR + 3, 0, 31, FLOOR + 3, 31, parse("stone"))
    world.grid.set(X, FLOOR - 1, Z, state_of("farmland"))
    world.put(X, FLOOR, Z, "wheat")
    assert growth.brightness(world, X, FLOOR, Z) == 0
    world.run(200)
    assert world.values(X, FLOOR, Z) == {"age": "0"}


def test_growth_points_are_those_of_the_wiki() -> None:
    # minecraft.wiki, Tutorials/Crop farming: 2 points on dry and 4 on wet farmland (1 of them the base), and for each of the
    # eight farmlands around a quarter dry, three quarters wet; half of it all beside the same crop but for rows.
    world = BlockWorld()
    field(world, 7)
    wheat = parse("wheat")
    world.put(X, FLOOR, Z, "wheat")
    assert growth.growth_speed(world, X, FLOOR, Z, wheat) == 1 + 3 + 8 * 0.75
    world.put(X + 1, FLOOR, Z, "wheat")
    assert growth.growth_speed(world, X, FLOOR, Z, wheat) == 10  # a row does not slow it
    world.put(X, FLOOR, Z + 1, "wheat")
    assert growth.growth_speed(world, X, FLOOR, Z, wheat) == 5
    world = BlockWorld()
    field(world, 0)
    world.put(X, FLOOR, Z, "wheat")
    assert growth.growth_speed(world, X, FLOOR, Z, wheat) == 1 + 1 + 8 * 0.25


def test_farmland_dries_to_dirt_without_water_and_crops() -> None:
    world = quick()
    world.grid.set(X, FLOOR - 1, Z, state_of("farmland", moisture="7"))
    world.run(100)
    assert world.name(X, FLOOR - 1, Z) == "dirt"


def test_farmland_four_cells_from_water_stays_wet_and_five_cells_away_dries() -> None:
    world = quick()
    world.put(X, FLOOR - 1, Z, "water")
    for dx in (4, 5):
        world.grid.set(X + dx, FLOOR - 1, Z, state_of("farmland", moisture="7"))
    world.run(100)
    assert world.values(X + 4, FLOOR - 1, Z) == {"moisture": "7"}
    assert world.name(X + 5, FLOOR - 1, Z) == "dirt"


def test_saplings_become_trees_whose_leaves_stay() -> None:
    for wood in ["oak", "birch", "spruce", "jungle", "acacia", "dark_oak"]:
        world = quick("dirt", height=48)
        world.put(X, FLOOR, Z, f"{wood}_sapling")
        world.run(200)
        assert world.name(X, FLOOR, Z) == f"{wood}_log"
        names = {name_of(int(state)) for state in np.unique(world.grid.blocks)}
        assert f"{wood}_leaves" in names
        assert names <= {"air", "dirt", f"{wood}_log", f"{wood}_leaves"}
        num_blocks = int((world.grid.blocks > 0).sum())
        world.run(50)
        assert int((world.grid.blocks > 0).sum()) == num_blocks
        assert (world.grid.light == light.lit(world.grid.blocks)).all()


def test_a_sapling_without_room_stays_a_sapling() -> None:
    world = quick("dirt")
    world.grid.fill(X - 3, FLOOR + 3, Z - 3, X + 3, FLOOR + 3, Z + 3, parse("glass"))
    world.put(X, FLOOR, Z, "oak_sapling")
    world.run(100)
    assert world.values(X, FLOOR, Z) == {"stage": "1"}


def test_leaves_decay_when_their_log_goes_but_not_those_a_player_put() -> None:
    world = quick("dirt", height=48)
    world.rules["randomTickSpeed"] = "0"
    assert growth.grow_tree(world, X, FLOOR, Z, "birch")
    world.put(2, FLOOR, 2, "birch_leaves[persistent=true]")
    world.rules["randomTickSpeed"] = "2000"
    for y in range(FLOOR, FLOOR + 12):
        if world.name(X, y, Z) == "birch_log":
            world.put(X, y, Z, "air")
    world.run(60)
    left = {name_of(int(state)) for state in np.unique(world.grid.blocks)}
    assert left == {"air", "dirt", "birch_leaves"}
    assert world.values(2, FLOOR, 2)["persistent"] == "true"
    assert all("leaves" not in item for item, _ in world.dropped)


def test_leaves_six_steps_from_a_log_stay_and_seven_steps_away_decay() -> None:
    world = quick()
    world.put(4, FLOOR + 4, 4, "oak_log")
    for dx in range(1, 8):
        world.put(4 + dx, FLOOR + 4, 4, "oak_leaves")
    world.run(60)
    assert [world.name(4 + dx, FLOOR + 4, 4) for dx in (1, 6, 7)] == ["oak_leaves", "oak_leaves", "air"]


def test_grass_spreads_over_lit_dirt_and_dies_under_stone() -> None:
    world = quick("dirt")
    world.put(X, FLOOR - 1, Z, "grass_block")
    world.put(2, FLOOR - 1, 2, "grass_block")
    world.put(2, FLOOR, 2, "stone")
    world.put(29, FLOOR, 29, "stone")
    world.run(200)
    assert world.name(X + 8, FLOOR - 1, Z - 8) == "grass_block"
    assert world.name(2, FLOOR - 1, 2) == "dirt"
    assert world.name(29, FLOOR - 1, 29) == "dirt"
    assert world.name(X, FLOOR - 2, Z) == "dirt"


def test_grass_does_not_spread_at_night() -> None:
    world = quick("dirt")
    world.time = 18000
    world.put(X, FLOOR - 1, Z, "grass_block")
    world.run(50)
    assert len(world.cells_of("grass_block")) == 1


def test_the_sky_darkens_by_eleven_at_night() -> None:
    for time, dark in [(0, 0), (6000, 0), (11000, 0), (13000, 7), (18000, 11), (23000, 6)]:
        # minecraft.wiki "Daylight cycle": light 15 by day, 4 at night; monsters (light 7) from tick 13,188.
        assert abs(growth.sky_darkening(time) - dark) <= 1
        assert growth.sky_darkening(13188) == 8
        assert [growth.sky_darkening(noted) for noted in (6000, 0, 12000, 18000)] == [0, 0, 0, 11]


def test_cells_that_are_not_read_would_have_had_no_turn() -> None:
    world = blockworld.World(3)
    rng = np.random.default_rng(0)
    blocks, light = world.grid.blocks, world.grid.light
    placed = [state_of(name) for name in ("grass_block", "oak_leaves", "lava", "oak_planks", "air", "wheat")]
    everything = ~world.grid.untouched()[0]
    num_turns = num_unkindled = 0
    for _ in range(70):
        world.ticks += 1
        for x, z, y, state in zip(
            *rng.integers(96, 160, (2, 20)), rng.integers(5, 90, 20), rng.choice(placed, 20), strict=True
        ):
            world.grid.set(int(x), int(y), int(z), int(state))
        draws = np.random.default_rng(world.ticks).bit_generator.random_raw(1944)
        rest = draws, (4, 12, 4, 12), 3, 0
        plots, touched = growth.growing(world)
        ruled, *others = growth._drawn(blocks, light, growth._TURNS, growth._SOIL, *rest, plots, touched)
        all_ruled, *all_others = growth._drawn(blocks, light, growth._TURNS, growth._SOIL, *rest, plots, everything)
        assert np.where(ruled < 0, ~ruled, ruled).tolist() == all_ruled.tolist()
        assert [found.tolist() for found in others] == [found.tolist() for found in all_others]
        for cell in (~ruled[ruled < 0]).tolist():
            assert not fire._any_fuel(blocks, cell >> 20, cell & 1023, cell >> 10 & 1023)
            num_unkindled += 1
        num_turns += len(ruled)
    assert not touched[1:-1, 1:-1].all()  # what nobody touches is not read for ever
    assert num_turns - num_unkindled > 0 < num_unkindled


@pytest.mark.parametrize(("plant", "soil"), [("cactus", "sand"), ("sugar_cane", "sand")])
def test_cactus_and_cane_grow_three_high_and_no_higher(plant: str, soil: str) -> None:
    world = quick()
    world.grid.set(X, FLOOR - 1, Z, parse(soil))
    world.grid.set(X + 1, FLOOR - 1, Z, parse("water"))
    world.put(X, FLOOR, Z, plant)
    world.run(400)
    assert [world.name(X, FLOOR + dy, Z) for dy in range(4)] == [plant, plant, plant, "air"]


def test_a_stem_bears_a_pumpkin_and_lets_go_when_it_is_taken() -> None:
    world = quick("dirt")
    world.put(X, FLOOR - 1, Z + 3, "water")
    world.grid.set(X, FLOOR - 1, Z, state_of("farmland"))
    world.put(X, FLOOR, Z, "pumpkin_stem[age=7]")
    world.run(200)
    assert world.name(X, FLOOR, Z) == "attached_pumpkin_stem"
    ((x, y, z),) = world.cells_of("pumpkin")
    assert abs(x - X) + abs(z - Z) == 1
    world.rules["randomTickSpeed"] = "0"
    world.put(x, y, z, "air")
    assert (world.name(X, FLOOR, Z), world.values(X, FLOOR, Z)) == ("pumpkin_stem", {"age": "7"})


def test_ice_and_snow_melt_beside_a_lamp_and_not_under_the_sky_alone() -> None:
    world = quick()
    world.put(X, FLOOR - 1, Z, "ice")
    world.put(X + 1, FLOOR, Z + 1, "snow")
    world.run(50)
    assert world.name(X, FLOOR - 1, Z) == "ice"
    world.put(X + 1, FLOOR, Z, "glowstone")
    world.run(50)
    assert world.name(X, FLOOR - 1, Z) == "water"
    assert world.name(X + 1, FLOOR, Z + 1) != "snow"


def test_nothing_grows_with_the_rule_at_nought_or_far_from_the_player() -> None:
    world = BlockWorld(size=160, floor="dirt")
    world.put(150, FLOOR - 1, 150, "grass_block")
    world.put(10, FLOOR - 1, 10, "grass_block")
    world.run(100)
    assert len(world.cells_of("grass_block")) == 2
    world.rules["randomTickSpeed"] = "500"
    world.player.x = world.player.z = 150.0
    world.run(200)
    grass = world.cells_of("grass_block")
    assert len(grass) > 10
    assert [cell for cell in grass if cell[0] < 86 - 16] == [(10, FLOOR - 1, 10)]  # whole sections count


def test_berries_wart_cocoa_and_kelp_grow() -> None:
    world = quick("dirt")
    world.put(4, FLOOR, 4, "sweet_berry_bush")
    world.grid.set(8, FLOOR - 1, 8, parse("soul_sand"))
    world.put(8, FLOOR, 8, "nether_wart")
    world.put(12, FLOOR, 12, "jungle_log")
    world.put(12, FLOOR, 13, "cocoa[facing=north]")
    world.grid.fill(20, FLOOR, 20, 20, FLOOR + 3, 20, parse("water"))
    world.grid.set(20, FLOOR, 20, parse("kelp[age=0]"))
    world.run(300)
    assert world.values(4, FLOOR, 4) == {"age": "3"}
    assert world.values(8, FLOOR, 8) == {"age": "3"}
    assert world.values(12, FLOOR, 13)["age"] == "2"
    assert [world.name(20, FLOOR + dy, 20) for dy in range(2)] == ["kelp_plant", "kelp_plant"]


def test_bone_meal_helps_crops_saplings_and_grass_and_nothing_else() -> None:
    world = BlockWorld(floor="grass_block", height=48)
    assert growth.bone_meal(world, X, FLOOR - 1, Z)
    assert len(world.cells_of("grass")) > 3
    world.grid.set(4, FLOOR - 1, 4, state_of("farmland"))
    world.put(4, FLOOR, 4, "wheat")
    assert growth.bone_meal(world, 4, FLOOR, 4)
    assert 2 <= int(world.values(4, FLOOR, 4)["age"]) <= 5
    for _ in range(5):
        growth.bone_meal(world, 4, FLOOR, 4)
    assert not growth.bone_meal(world, 4, FLOOR, 4)
    world.put(26, FLOOR, 26, "birch_sapling")
    for _ in range(40):
        growth.bone_meal(world, 26, FLOOR, 26)
    assert world.name(26, FLOOR, 26) == "birch_log"
    world.put(1, FLOOR, 1, "stone")
    assert not growth.bone_meal(world, 1, FLOOR, 1)


def test_bone_meal_helps_beetroots_in_three_cases_of_four() -> None:
    world = BlockWorld()
    world.grid.set(4, FLOOR - 1, 4, state_of("farmland"))
    grown = 0
    for _ in range(400):
        world.put(4, FLOOR, 4, "beetroots")
        assert growth.bone_meal(world, 4, FLOOR, 4)
        grown += world.values(4, FLOOR, 4) == {"age": "1"}
    assert 300 - 3.5 * 8.7 < grown < 300 + 3.5 * 8.7  # (400 * 0.75 * 0.25) ** 0.5 = 8.7


def test_a_garden_grows_the_same_way_twice() -> None:
    worlds = []
    for _ in range(2):
        world = BlockWorld(floor="dirt", height=48, seed=3)
        world.rules["randomTickSpeed"] = "200"
        world.put(X, FLOOR - 1, Z, "grass_block")
        world.put(5, FLOOR, 5, "oak_sapling")
        world.put(20, FLOOR, 20, "oak_planks")
        world.put(20, FLOOR + 1, 20, "fire")
        world.run(200)
        worlds.append(world)
    first, second = worlds
    assert (first.grid.blocks == second.grid.blocks).all()
    assert first.updates.state() == second.updates.state()
    assert first.rng.bit_generator.state == second.rng.bit_generator.state

import json

import numpy as np
from block_world import FLOOR, BlockWorld, waiting

from blockworld.grid import light
from blockworld.grid.grid import MAX_SKIP
from blockworld.registry.blocks import parse, state_of
from blockworld.world_state import Updates

MIDDLE = 16


def flat(**settings: object) -> BlockWorld:
    return BlockWorld(**settings)  # type: ignore[arg-type]


def levels(world: BlockWorld, y: int = FLOOR) -> dict[tuple[int, int], int]:
    """(x, z) -> level of the water of one layer."""
    first = state_of("water")
    return {(x, z): world.grid.get(x, y, z) - first for x, ny, z in world.cells_of("water") if ny == y}


def test_one_source_on_flat_ground_makes_a_diamond_of_seven_steps() -> None:
    world = flat()
    world.put(MIDDLE, FLOOR, MIDDLE, "water")
    world.run(5 * 8)
    expected = {
        (x, z): abs(x - MIDDLE) + abs(z - MIDDLE)
        for x in range(32)
        for z in range(32)
        if abs(x - MIDDLE) + abs(z - MIDDLE) <= 7
    }
    assert levels(world) == expected
    assert len(expected) == 113  # 2 r (r + 1) + 1


def test_water_needs_five_ticks_a_step_and_then_rests() -> None:
    world = flat()
    world.put(MIDDLE, FLOOR, MIDDLE, "water")
    world.run(4)
    assert len(levels(world)) == 1
    world.run(1)
    assert len(levels(world)) == 5
    world.run(5)
    assert len(levels(world)) == 13
    world.run(100)
    assert waiting(world) == 0


def test_water_drains_to_nothing_when_its_source_is_taken() -> None:
    world = flat()
    world.put(MIDDLE, FLOOR, MIDDLE, "water")
    world.run(60)
    world.put(MIDDLE, FLOOR, MIDDLE, "air")
    world.run(5 * 20)
    assert levels(world) == {}
    assert waiting(world) == 0
    assert (world.grid.light == light.lit(world.grid.blocks)).all()
    assert (world.grid.skip <= light.distances(world.grid.blocks, MAX_SKIP)).all()


def test_water_falls_over_a_cliff_and_spreads_seven_wide_at_its_foot() -> None:
    world = BlockWorld(size=48, height=40)
    world.grid.fill(0, FLOOR, 0, 16, 25, 47, parse("stone"))
    world.put(16, 26, 24, "water")
    world.run(400)
    # It runs to the near edge, falls through (17, *, 24) as falling water, level 8, and is one step from there at the foot.
    assert [world.values(17, y, 24)["level"] for y in (25, 15, FLOOR)] == ["8", "8", "8"]
    foot = levels(world)
    assert foot[18, 24] == 1
    assert foot[24, 24] == 7
    assert (25, 24) not in foot
    # Where it falls it is one cell wide.
    assert {(x, z) for x, y, z in world.cells_of("water") if y == 18} == {(17, 24)}
    assert (world.grid.light == light.lit(world.grid.blocks)).all()


def test_water_runs_only_towards_the_nearest_drop() -> None:
    world = flat()
    world.put(MIDDLE + 4, FLOOR - 1, MIDDLE, "air")
    world.put(MIDDLE, FLOOR, MIDDLE, "water")
    world.run(100)
    assert set(levels(world)) == {(x, MIDDLE) for x in range(MIDDLE, MIDDLE + 5)}


def test_a_drop_six_steps_away_is_not_found() -> None:
    world = flat()
    world.put(MIDDLE + 6, FLOOR - 1, MIDDLE, "air")
    world.put(MIDDLE, FLOOR, MIDDLE, "water")
    world.run(10)
    assert {(MIDDLE - 1, MIDDLE), (MIDDLE, MIDDLE + 1), (MIDDLE, MIDDLE - 1)} <= set(levels(world))


def test_two_drops_at_the_same_distance_share_the_water() -> None:
    world = flat()
    for x, z in ((MIDDLE + 3, MIDDLE), (MIDDLE, MIDDLE - 3)):
        world.put(x, FLOOR - 1, z, "air")
    world.put(MIDDLE, FLOOR, MIDDLE, "water")
    world.run(5)
    assert set(levels(world)) == {(MIDDLE, MIDDLE), (MIDDLE + 1, MIDDLE), (MIDDLE, MIDDLE - 1)}


def test_a_source_comes_back_between_two_others() -> None:
    world = flat()
    world.grid.fill(10, FLOOR - 1, 10, 11, FLOOR - 1, 11, 0)
    for x, z in ((10, 10), (11, 11)):
        world.put(x, FLOOR - 1, z, "water")
    world.run(20)
    assert {world.grid.get(x, FLOOR - 1, z) for x in (10, 11) for z in (10, 11)} == {state_of("water")}
    world.put(10, FLOOR - 1, 10, "air")
    world.run(20)
    assert world.grid.get(10, FLOOR - 1, 10) == state_of("water")


def test_three_cells_in_a_row_are_an_endless_spring_and_lava_is_not() -> None:
    for fluid, expected in (("water", "0"), ("lava", "2")):
        world = flat()
        world.grid.fill(10, FLOOR - 1, 10, 12, FLOOR - 1, 10, 0)
        for x in (10, 12):
            world.put(x, FLOOR - 1, 10, fluid)
        world.run(100)
        assert world.values(11, FLOOR - 1, 10)["level"] == expected


def test_lava_reaches_three_cells_and_takes_thirty_ticks_a_step() -> None:
    world = flat()
    world.put(MIDDLE, FLOOR, MIDDLE, "lava")
    world.run(29)
    assert len(world.cells_of("lava")) == 1
    world.run(1)
    assert len(world.cells_of("lava")) == 5
    world.run(200)
    # Levels 0, 2, 4, 6: a diamond of three steps.
    assert {x: world.values(x, FLOOR, MIDDLE)["level"] for x in range(MIDDLE, MIDDLE + 4)} == {
        16: "0",
        17: "2",
        18: "4",
        19: "6",
    }
    assert len(world.cells_of("lava")) == 25


def test_water_beside_still_lava_makes_obsidian_and_beside_flowing_lava_cobblestone() -> None:
    world = flat()
    world.put(MIDDLE, FLOOR, MIDDLE, "lava")
    world.run(100)
    world.put(MIDDLE, FLOOR, MIDDLE + 6, "water")
    world.run(60)
    assert len(world.cells_of("cobblestone")) > 0
    world.put(MIDDLE, FLOOR + 1, MIDDLE, "water")
    assert world.name(MIDDLE, FLOOR, MIDDLE) == "obsidian"


def test_lava_that_falls_into_water_makes_stone() -> None:
    world = flat()
    world.grid.fill(15, FLOOR, 15, 17, FLOOR + 3, 17, parse("glass"))
    world.grid.fill(16, FLOOR, 16, 16, FLOOR + 3, 16, 0)
    world.put(16, FLOOR, 16, "water")
    world.put(16, FLOOR + 3, 16, "lava")
    world.run(100)
    assert world.name(16, FLOOR, 16) == "stone"
    # The lava was above the water, never beside or under it.
    assert world.name(16, FLOOR + 1, 16) == "lava"


def test_water_washes_away_what_stands_loose_and_it_drops() -> None:
    for text, drop in [
        ("torch", "torch"),
        ("poppy", "poppy"),
        ("rail", "rail"),
        ("white_carpet", "white_carpet"),
        ("snow", None),
    ]:
        world = flat(floor="grass_block")
        world.put(MIDDLE + 2, FLOOR, MIDDLE, text)
        world.put(MIDDLE, FLOOR, MIDDLE, "water")
        world.run(20)
        assert world.values(MIDDLE + 2, FLOOR, MIDDLE) == {"level": "2"}
        if drop:
            assert [item for item, _ in world.dropped] == [drop]


def test_water_flows_around_what_stands_firm() -> None:
    for text in ["oak_fence", "oak_door[half=lower]", "glass", "oak_slab", "oak_leaves", "oak_sign", "oak_pressure_plate"]:
        world = flat()
        world.grid.set(MIDDLE + 2, FLOOR, MIDDLE, parse(text))
        if "door" in text:
            world.grid.set(MIDDLE + 2, FLOOR + 1, MIDDLE, parse("oak_door[half=upper]"))
        world.put(MIDDLE, FLOOR, MIDDLE, "water")
        world.run(40)
        assert world.name(MIDDLE + 2, FLOOR, MIDDLE) == text.partition("[")[0]
        assert levels(world)[MIDDLE + 3, MIDDLE] == 5  # two steps more than straight on


def test_a_waterlogged_block_is_a_source_that_runs_out_of_its_open_sides_only() -> None:
    world = flat()
    world.put(MIDDLE, FLOOR, MIDDLE, "oak_stairs[facing=east,waterlogged=true]")
    world.run(5)
    # The east side of these stairs is whole.
    assert set(levels(world)) == {(MIDDLE - 1, MIDDLE), (MIDDLE, MIDDLE - 1), (MIDDLE, MIDDLE + 1)}


def test_a_wall_keeps_water_in() -> None:
    world = flat()
    for x, z in ((15, 16), (17, 16), (16, 15), (16, 17)):
        world.put(x, FLOOR, z, "stone")
    world.put(16, FLOOR, 16, "water")
    world.run(30)
    assert levels(world) == {(16, 16): 0}
    world.put(17, FLOOR, 16, "air")
    world.run(5)
    assert levels(world)[17, 16] == 1


def test_concrete_powder_hardens_when_water_comes_to_it() -> None:
    world = flat()
    world.put(MIDDLE + 3, FLOOR, MIDDLE, "red_concrete_powder")
    world.put(MIDDLE, FLOOR, MIDDLE, "water")
    world.run(20)
    assert world.name(MIDDLE + 3, FLOOR, MIDDLE) == "red_concrete"


def test_water_at_the_edge_of_the_world_stays_in_it() -> None:
    world = flat()
    world.put(0, FLOOR, 0, "water")
    world.put(31, 31, 31, "water")
    world.run(200)
    assert levels(world)[7, 0] == 7


def test_the_same_flow_twice_and_from_a_saved_middle_gives_the_same_blocks() -> None:
    def begin() -> BlockWorld:
        world = flat(floor="dirt")
        rng = np.random.default_rng(1)
        for _ in range(60):
            x, z = map(int, rng.integers(4, 28, 2))
            world.put(x, FLOOR, z, "stone" if rng.integers(2) else "poppy")
        world.put(MIDDLE, FLOOR + 2, MIDDLE, "water")
        world.put(MIDDLE + 6, FLOOR + 1, MIDDLE + 3, "lava")
        return world

    first, second = begin(), begin()
    first.run(150)
    second.run(40)
    saved = json.loads(json.dumps(second.updates.state()))
    second.updates = Updates()
    second.updates.load(saved)
    second.run(110)
    assert (first.grid.blocks == second.grid.blocks).all()
    assert (first.grid.light == second.grid.light).all()
    assert first.updates.state() == second.updates.state()
    assert first.dropped == second.dropped


def test_plants_set_on_still_water_stay_and_what_is_set_into_it_is_washed_away() -> None:
    world = flat()
    plants = ("poppy", "wheat", "oak_sapling", "grass", "lily_pad", "dead_bush", "brown_mushroom")
    for dx in range(len(plants) + 2):
        for dz in range(3):
            world.put(MIDDLE - 5 + dx, FLOOR - 1, MIDDLE + dz, "water")
    for dx, name in enumerate(plants):  # while the water still has its turns to come
        world.put(MIDDLE - 4 + dx, FLOOR, MIDDLE + 1, name)
    world.run(3)
    world.put(MIDDLE - 4, FLOOR - 1, MIDDLE + 2, "poppy")
    world.run(30)
    assert [world.name(MIDDLE - 4 + dx, FLOOR, MIDDLE + 1) for dx in range(len(plants))] == list(plants)
    assert world.name(MIDDLE - 4, FLOOR - 1, MIDDLE + 2) == "water"

import json

import numpy as np
import pytest
from block_world import FLOOR, BlockWorld, waiting

from blockworld.blocks import supports
from blockworld.blocks.updates import changed_box
from blockworld.errors import WorldError
from blockworld.grid import light
from blockworld.grid.grid import MAX_SKIP
from blockworld.registry.blocks import BLOCKS, name_of, parse, state_of
from blockworld.world_state import Updates

X = Z = 10


@pytest.fixture
def world() -> BlockWorld:
    return BlockWorld(floor="dirt")


@pytest.mark.parametrize(
    ("text", "support", "item"),
    [
        # Block, offset of what holds it, what drops.
        ("torch", (0, -1, 0), "torch"),
        ("wall_torch[facing=east]", (-1, 0, 0), "torch"),
        ("wall_torch[facing=north]", (0, 0, 1), "torch"),
        ("ladder[facing=south]", (0, 0, -1), "ladder"),
        ("rail", (0, -1, 0), "rail"),
        ("white_carpet", (0, -1, 0), "white_carpet"),
        ("oak_sign", (0, -1, 0), "oak_sign"),
        ("oak_wall_sign[facing=west]", (1, 0, 0), "oak_sign"),
        ("stone_button[face=ceiling]", (0, 1, 0), "stone_button"),
        ("lever[face=wall,facing=south]", (0, 0, -1), "lever"),
        ("stone_pressure_plate", (0, -1, 0), "stone_pressure_plate"),
        ("lantern[hanging=true]", (0, 1, 0), "lantern"),
        ("white_banner", (0, -1, 0), "white_banner"),
        ("white_wall_banner[facing=east]", (-1, 0, 0), "white_banner"),
    ],
)
def test_a_fixture_drops_when_what_holds_it_goes(
    world: BlockWorld, text: str, support: tuple[int, int, int], item: str
) -> None:
    x, y, z = X, FLOOR + 3, Z
    holder = x + support[0], y + support[1], z + support[2]
    world.put(*holder, "oak_planks")
    world.put(x, y, z, text)
    world.run(3)
    assert world.grid.get(x, y, z) == parse(text)
    world.put(*holder, "air")
    assert world.name(x, y, z) == "air"
    assert [name for name, _ in world.dropped] == [item]


@pytest.mark.parametrize(
    "text", ["poppy", "oak_sapling", "grass", "sunflower", "wheat", "brown_mushroom", "sugar_cane", "cactus"]
)
def test_plants_stand_on_their_soil_only(world: BlockWorld, text: str) -> None:
    assert not supports.stays(world.grid, X, FLOOR + 3, Z, parse(text))


def test_crops_break_when_their_farmland_turns_to_dirt_under_a_block(world: BlockWorld) -> None:
    world.put(X, FLOOR - 1, Z, "farmland")
    world.put(X, FLOOR, Z, "wheat[age=7]")
    world.put(X, FLOOR, Z, "stone")
    assert world.name(X, FLOOR - 1, Z) == "dirt"
    world.put(X + 2, FLOOR - 1, Z, "farmland")
    world.put(X + 2, FLOOR, Z, "wheat[age=7]")
    world.put(X + 2, FLOOR - 1, Z, "dirt")
    assert world.name(X + 2, FLOOR, Z) == "air"
    assert "wheat" in [name for name, _ in world.dropped]


def test_a_cactus_breaks_beside_a_block_and_the_ones_above_follow(world: BlockWorld) -> None:
    world.put(X, FLOOR - 1, Z, "sand")
    for dy in range(3):
        world.put(X, FLOOR + dy, Z, "cactus")
    world.put(X + 1, FLOOR + 1, Z, "stone")
    assert [world.name(X, FLOOR + dy, Z) for dy in range(3)] == ["cactus", "air", "air"]
    assert world.dropped == [("cactus", 1), ("cactus", 1)]


def test_sugar_cane_needs_water_beside_its_soil(world: BlockWorld) -> None:
    world.put(X + 1, FLOOR - 1, Z, "water")
    for dy in range(3):
        world.put(X, FLOOR + dy, Z, "sugar_cane")
    world.run(20)
    assert world.name(X, FLOOR + 2, Z) == "sugar_cane"
    world.put(X + 1, FLOOR - 1, Z, "dirt")
    world.put(X, FLOOR, Z, "sugar_cane[age=3]")  # a change beside the lowest one
    world.put(X, FLOOR - 1, Z, "coarse_dirt")
    assert [world.name(X, FLOOR + dy, Z) for dy in range(3)] == ["air"] * 3
    assert len(world.dropped) == 3


@pytest.mark.parametrize("broken", [0, 1])
def test_a_door_goes_whole_and_drops_once(world: BlockWorld, broken: int) -> None:
    world.put(X, FLOOR, Z, "oak_door[half=lower]")
    world.put(X, FLOOR + 1, Z, "oak_door[half=upper]")
    world.put(X, FLOOR + broken, Z, "air")
    assert [world.name(X, FLOOR + dy, Z) for dy in (0, 1)] == ["air", "air"]
    assert world.dropped == [("oak_door", 1)]


def test_a_door_without_its_floor_drops_once(world: BlockWorld) -> None:
    world.put(X, FLOOR, Z, "oak_door[half=lower]")
    world.put(X, FLOOR + 1, Z, "oak_door[half=upper]")
    world.put(X, FLOOR - 1, Z, "air")
    assert world.name(X, FLOOR + 1, Z) == "air"
    assert world.dropped == [("oak_door", 1)]


@pytest.mark.parametrize("broken", [0, 1])
def test_a_bed_goes_whole_and_drops_once(world: BlockWorld, broken: int) -> None:
    world.put(X, FLOOR, Z, "red_bed[facing=east,part=foot]")
    world.put(X + 1, FLOOR, Z, "red_bed[facing=east,part=head]")
    world.put(X + broken, FLOOR, Z, "air")
    assert [world.name(X + dx, FLOOR, Z) for dx in (0, 1)] == ["air", "air"]
    assert world.dropped == [("red_bed", 1)]


def test_fences_join_fences_gates_and_whole_sides_but_not_leaves_or_other_wood_kinds_of_wall(world: BlockWorld) -> None:
    world.put(X, FLOOR, Z, "oak_fence")
    world.put(X + 1, FLOOR, Z, "spruce_fence")
    world.put(X - 1, FLOOR, Z, "oak_leaves")
    world.put(X, FLOOR, Z + 1, "stone")
    world.put(X, FLOOR, Z - 1, "oak_fence_gate[facing=east]")  # its posts stand north and south
    assert world.values(X, FLOOR, Z) == {
        "east": "true",
        "north": "true",
        "south": "true",
        "waterlogged": "false",
        "west": "false",
    }
    assert world.values(X + 1, FLOOR, Z)["west"] == "true"
    world.put(X, FLOOR, Z - 1, "oak_fence_gate[facing=north]")
    world.put(X + 1, FLOOR, Z, "nether_brick_fence")
    assert world.values(X, FLOOR, Z) == {
        "east": "false",
        "north": "false",
        "south": "true",
        "waterlogged": "false",
        "west": "false",
    }


def test_walls_are_low_or_tall_and_have_a_post_where_they_bend(world: BlockWorld) -> None:
    for dx in (-1, 0, 1):
        world.put(X + dx, FLOOR, Z, "cobblestone_wall")
    sides = {"east": "low", "west": "low", "north": "none", "south": "none", "waterlogged": "false"}
    assert world.values(X, FLOOR, Z) == {**sides, "up": "false"}
    assert world.values(X + 1, FLOOR, Z)["up"] == "true"
    world.put(X, FLOOR + 1, Z, "torch")
    assert world.values(X, FLOOR, Z)["up"] == "true"
    world.put(X, FLOOR + 1, Z, "stone")
    assert world.values(X, FLOOR, Z) == {**sides, "east": "tall", "west": "tall", "up": "false"}


def test_panes_join_panes_bars_and_glass(world: BlockWorld) -> None:
    world.put(X, FLOOR, Z, "glass_pane")
    world.put(X + 1, FLOOR, Z, "iron_bars")
    world.put(X - 1, FLOOR, Z, "glass")
    assert {side: world.values(X, FLOOR, Z)[side] for side in ("east", "west", "north")} == {
        "east": "true",
        "west": "true",
        "north": "false",
    }


def test_a_gate_between_walls_sits_lower(world: BlockWorld) -> None:
    world.put(X, FLOOR, Z, "oak_fence_gate[facing=north]")
    world.put(X + 1, FLOOR, Z, "stone_brick_wall")
    assert world.values(X, FLOOR, Z)["in_wall"] == "true"
    world.put(X + 1, FLOOR, Z, "air")
    assert world.values(X, FLOOR, Z)["in_wall"] == "false"


@pytest.mark.parametrize(
    ("dx", "dz", "facing", "shape"),
    [
        # Stairs that face (rise to) the north; their neighbour behind or before them faces east or west.
        (0, -1, "west", "outer_left"),
        (0, -1, "east", "outer_right"),
        (0, 1, "west", "inner_left"),
        (0, 1, "east", "inner_right"),
        (0, -1, "north", "straight"),
        (1, 0, "north", "straight"),
    ],
)
def test_stairs_make_corners(world: BlockWorld, dx: int, dz: int, facing: str, shape: str) -> None:
    world.put(X, FLOOR, Z, "oak_stairs[facing=north]")
    world.put(X + dx, FLOOR, Z + dz, f"stone_stairs[facing={facing}]")
    assert world.values(X, FLOOR, Z)["shape"] == shape
    world.put(X + dx, FLOOR, Z + dz, "air")
    assert world.values(X, FLOOR, Z)["shape"] == "straight"


def test_grass_turns_white_under_snow(world: BlockWorld) -> None:
    world.put(X, FLOOR - 1, Z, "grass_block")
    world.put(X, FLOOR, Z, "snow")
    assert world.values(X, FLOOR - 1, Z) == {"snowy": "true"}
    world.put(X, FLOOR, Z, "air")
    assert world.values(X, FLOOR - 1, Z) == {"snowy": "false"}


@pytest.mark.parametrize("text", ["sand", "red_sand", "gravel", "white_concrete_powder", "anvil"])
def test_what_falls_falls_to_the_ground(world: BlockWorld, text: str) -> None:
    world.put(X, FLOOR + 5, Z, text)
    assert world.name(X, FLOOR + 5, Z) == text
    world.run(12)
    assert [world.name(X, FLOOR + dy, Z) for dy in (0, 5)] == [text, "air"]
    world.run(10)
    assert waiting(world) == 0


def test_a_column_of_sand_comes_down_when_the_block_under_it_goes(world: BlockWorld) -> None:
    world.put(X, FLOOR, Z, "stone")
    for dy in range(1, 6):
        world.put(X, FLOOR + dy, Z, "sand")
    world.run(10)
    assert world.name(X, FLOOR + 5, Z) == "sand"
    world.put(X, FLOOR, Z, "air")
    world.run(40)
    assert [world.name(X, FLOOR + dy, Z) for dy in range(6)] == ["sand"] * 5 + ["air"]


def test_falling_sand_breaks_on_a_torch_and_drops(world: BlockWorld) -> None:
    world.put(X, FLOOR, Z, "torch")
    world.put(X, FLOOR + 4, Z, "sand")
    world.run(20)
    assert world.name(X, FLOOR, Z) == "torch"
    assert world.dropped == [("sand", 1)]


def test_falling_sand_displaces_water(world: BlockWorld) -> None:
    world.put(X, FLOOR, Z, "water")
    world.put(X, FLOOR + 3, Z, "sand")
    world.run(60)
    assert world.name(X, FLOOR, Z) == "sand"
    assert world.cells_of("water") == set()


def test_concrete_powder_that_falls_into_water_hardens(world: BlockWorld) -> None:
    world.put(X + 1, FLOOR, Z, "water")
    world.put(X, FLOOR + 4, Z, "blue_concrete_powder")
    world.run(20)
    assert world.name(X, FLOOR, Z) == "blue_concrete"


def test_a_pressed_button_comes_back(world: BlockWorld) -> None:
    world.put(X, FLOOR, Z, "oak_button[face=floor,powered=true]")
    world.run(29)
    assert world.values(X, FLOOR, Z)["powered"] == "true"
    world.run(1)
    assert world.values(X, FLOOR, Z)["powered"] == "false"


def test_snow_breaks_without_ground_and_vines_lose_the_faces_that_hang_on_nothing(world: BlockWorld) -> None:
    world.put(X, FLOOR + 2, Z, "stone")
    world.put(X, FLOOR + 3, Z, "snow")
    world.put(X, FLOOR + 2, Z, "air")
    assert world.name(X, FLOOR + 3, Z) == "air"
    world.put(X + 1, FLOOR, Z, "stone")
    world.put(X, FLOOR, Z + 1, "stone")
    world.put(X, FLOOR, Z, "vine[east=true,south=true,north=false,west=false,up=false]")
    world.put(X + 1, FLOOR, Z, "air")
    assert world.values(X, FLOOR, Z) == {"east": "false", "south": "true", "north": "false", "west": "false", "up": "false"}
    world.put(X, FLOOR, Z + 1, "air")
    assert world.name(X, FLOOR, Z) == "air"


def test_a_long_chain_of_reactions_does_not_nest() -> None:
    world = BlockWorld(floor="dirt", height=500)
    world.put(X, FLOOR - 1, Z, "sand")
    for y in range(FLOOR, 490):
        world.grid.set(X, y, Z, state_of("cactus"))
    world.put(X, FLOOR - 1, Z, "dirt")
    assert world.name(X, 489, Z) == "air"
    assert len(world.dropped) == 490 - FLOOR


def test_fire_burns_wood_away_and_goes_out(world: BlockWorld) -> None:
    world.grid.fill(8, FLOOR, 8, 12, FLOOR + 2, 12, parse("oak_planks"))
    world.put(10, FLOOR + 3, 10, "fire")
    world.run(6000)
    assert len(world.cells_of("oak_planks")) < 75
    assert waiting(world) == 0
    assert "fire" not in {name_of(int(state)) for state in np.unique(world.grid.blocks)}


def test_fire_on_bare_stone_goes_out_and_on_netherrack_never() -> None:
    world = BlockWorld()
    world.put(X, FLOOR, Z, "fire")
    world.put(X + 5, FLOOR - 1, Z, "netherrack")
    world.put(X + 5, FLOOR, Z, "fire")
    world.run(2000)
    assert world.name(X, FLOOR, Z) == "air"
    assert world.name(X + 5, FLOOR, Z) == "fire"


def test_the_rule_do_fire_tick_keeps_fire_as_it_is(world: BlockWorld) -> None:
    world.rules["doFireTick"] = "false"
    world.put(X, FLOOR, Z, "oak_planks")
    world.put(X, FLOOR + 1, Z, "fire")
    world.run(1000)
    assert world.name(X, FLOOR, Z) == "oak_planks"
    assert world.name(X, FLOOR + 1, Z) == "fire"


def test_saved_updates_go_on_where_they_were(world: BlockWorld) -> None:
    world.put(X, FLOOR + 9, Z, "sand")
    world.put(X + 3, FLOOR, Z, "oak_button[face=floor,powered=true]")
    world.run(5)
    saved = json.loads(json.dumps(world.updates.state()))
    assert saved["ticks"] == 5
    world.updates = Updates()
    world.updates.load(saved)
    assert world.updates.state() == saved
    world.run(30)
    assert world.name(X, FLOOR, Z) == "sand"
    assert world.values(X + 3, FLOOR, Z)["powered"] == "false"


def test_a_filled_box_reacts_once_told(world: BlockWorld) -> None:
    world.put(X + 3, FLOOR + 2, Z, "torch")
    before = world.grid.blocks[X : X + 3, Z : Z + 3, FLOOR : FLOOR + 3].copy()
    world.grid.fill(X, FLOOR + 2, Z, X + 2, FLOOR + 2, Z, parse("sand"))
    world.grid.fill(X, FLOOR, Z + 2, X + 2, FLOOR, Z + 2, parse("oak_fence"))
    world.run(5)
    assert world.name(X, FLOOR + 2, Z) == "sand"
    changed_box(world, X, FLOOR, Z, before)
    assert [world.values(X + dx, FLOOR, Z + 2)["east"] for dx in range(3)] == ["true", "true", "false"]
    assert world.name(X + 3, FLOOR + 2, Z) == "torch"  # it stands on nothing, but did so before
    world.run(10)
    assert [world.name(X + dx, FLOOR, Z) for dx in range(3)] == ["sand"] * 3


def test_a_fill_breaks_what_it_takes_the_floor_from_and_nothing_at_its_corners(world: BlockWorld) -> None:
    world.put(X, FLOOR - 1, Z, "grass_block")
    for dx, name in ((0, "poppy"), (1, "torch")):
        world.put(X + dx, FLOOR, Z, name)
    world.put(X + 4, FLOOR, Z + 1, "sunflower[half=lower]")  # beside the box's corner
    world.put(X + 2, FLOOR + 1, Z, "sunflower[half=upper]")  # above the box
    low, high = (X, FLOOR - 1, Z), (X + 3, FLOOR - 1, Z)
    before = world.grid.blocks[X : X + 4, Z : Z + 1, FLOOR - 1 : FLOOR].copy()
    world.grid.fill(*low, *high, 0)
    changed_box(world, *low, before)
    assert [world.name(X + dx, FLOOR, Z) for dx in range(2)] == ["air", "air"]
    assert world.name(X + 4, FLOOR, Z + 1) == "sunflower"
    assert world.name(X + 2, FLOOR + 1, Z) == "sunflower"


def test_rows_of_halves_of_double_plants_stay_however_they_are_filled_in(world: BlockWorld) -> None:
    world.grid.fill(X, FLOOR - 1, Z, X + 3, FLOOR - 1, Z + 3, parse("grass_block"))
    for half, y in (("lower", FLOOR), ("upper", FLOOR + 1)):
        before = world.grid.blocks[X : X + 4, Z : Z + 4, y : y + 1].copy()
        world.grid.fill(X, y, Z, X + 3, y, Z + 3, parse(f"sunflower[half={half}]"))
        changed_box(world, X, y, Z, before)
    world.run(10)
    for y in (FLOOR, FLOOR + 1):
        assert {world.name(X + dx, y, Z + dz) for dx in range(4) for dz in range(4)} == {"sunflower"}


@pytest.mark.parametrize("bad", [{}, {"ticks": 1, "blocks": 3, "water": [], "lava": [], "moving": []}, None])
def test_updates_that_are_none_say_so_and_change_nothing(world: BlockWorld, bad: object) -> None:
    world.put(X, FLOOR + 9, Z, "sand")
    before = world.updates.state()
    with pytest.raises(WorldError, match="these are not updates of a world"):
        world.updates.load(bad)  # type: ignore[arg-type]
    assert world.updates.state() == before


@pytest.mark.parametrize("seed", range(3))
def test_any_blocks_thrown_together_settle_the_same_way_twice_with_their_light_right(seed: int) -> None:
    def thrown() -> BlockWorld:
        world = BlockWorld(floor="grass_block", size=12, height=24, seed=seed)
        world.rules["randomTickSpeed"] = "20"
        rng = np.random.default_rng(seed)
        for _ in range(1500):
            x, z = map(int, rng.integers(0, 12, 2))
            block = BLOCKS[int(rng.integers(len(BLOCKS)))]
            state = block.first + int(rng.integers(block.num_states))
            world.set_block(x, int(rng.integers(FLOOR - 2, 22)), z, state)
            world.run(1)
        return world

    first, second = thrown(), thrown()
    assert (first.grid.blocks == second.grid.blocks).all()
    assert first.updates.state() == second.updates.state()
    assert first.dropped == second.dropped
    assert (first.grid.light == light.lit(first.grid.blocks)).all()
    assert (first.grid.skip <= light.distances(first.grid.blocks, MAX_SKIP)).all()


@pytest.mark.parametrize(
    ("text", "below", "drop"),
    [
        *(
            ("snow[layers=2]", "stone", None),
            ("lily_pad", "water", "lily_pad"),
            ("cake", "stone", None),
            ("rail", "stone", "rail"),
        ),
        *(("redstone_wire", "stone", "redstone"), ("nether_wart", "soul_sand", "nether_wart"), ("dead_bush", "sand", None)),
        *(("poppy", "grass_block", "poppy"), ("oak_sapling", "dirt", "oak_sapling"), ("bamboo", "gravel", "bamboo")),
        *(("lantern", "stone", "lantern"), ("soul_torch", "stone", "soul_torch"), ("repeater", "stone", "repeater")),
    ],
)
def test_what_stands_on_something_goes_with_it(world: BlockWorld, text: str, below: str, drop: str | None) -> None:
    world.put(X, FLOOR - 1, Z, below)
    world.put(X, FLOOR, Z, text)
    assert supports.stays(world.grid, X, FLOOR, Z, parse(text))
    world.put(X, FLOOR, Z + 1, "stone")  # a neighbour changes, the floor is still there
    assert world.grid.get(X, FLOOR, Z) == parse(text)
    world.put(X, FLOOR - 1, Z, "air")
    world.run(1)
    assert world.name(X, FLOOR, Z) in ("air", "water")
    if drop is not None:
        assert [item for item, _ in world.dropped] == [drop]

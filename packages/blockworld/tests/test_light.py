import numpy as np
import pytest
from block_world import FLOOR, BlockWorld

from blockworld.errors import WorldError
from blockworld.grid import light
from blockworld.grid.grid import MAX_SKIP, Grid
from blockworld.registry.blocks import parse, state_of

PALETTE = [
    *(
        "air",
        "air",
        "air",
        "stone",
        "glass",
        "oak_leaves",
        "water",
        "torch",
        "soul_torch",
        "glowstone",
        "oak_slab[type=bottom]",
    ),
    *(
        "oak_slab[type=top]",
        "oak_stairs[facing=east]",
        "farmland",
        "lava",
        "redstone_lamp[lit=true]",
        "redstone_lamp[lit=false]",
    ),
    *("snow[layers=3]", "ice", "oak_fence[waterlogged=true]", "oak_fence[waterlogged=false]", "magma_block"),
]


def empty(size: int = 16, height: int = 16) -> Grid:
    return Grid(np.zeros((size, size, height), np.uint16))


def rough(rng: np.random.Generator, size: int = 24, height: int = 20) -> Grid:
    """Hills with holes and lamps."""
    blocks = np.zeros((size, size, height), np.uint16)
    tops = rng.integers(5, 10, (size, size))
    blocks[np.arange(height) < tops[..., None]] = parse("stone")
    holes = rng.random(blocks.shape) < 0.25
    blocks[holes] = 0
    lamps = rng.random(blocks.shape) < 0.003
    blocks[lamps] = parse("torch")
    return Grid(blocks)


def test_sky_light_is_full_under_the_open_sky_and_loses_one_per_cell_sideways_under_a_roof() -> None:
    grid = empty(32)
    grid.fill(4, 8, 4, 26, 8, 26, parse("stone"))
    assert grid.lights(15, 9, 15) == (15, 0)
    # From the edge of the roof, x = 3, cells under it count down: 14 at x = 4.
    assert [grid.lights(x, 4, 15)[0] for x in range(3, 9)] == [15, 14, 13, 12, 11, 10]


def test_water_and_leaves_take_one_per_cell_on_the_way_down() -> None:
    grid = empty()
    grid.fill(0, 4, 0, 15, 6, 15, state_of("water"))
    assert [grid.lights(8, y, 8)[0] for y in (7, 6, 5, 4, 3)] == [15, 14, 13, 12, 11]
    grid = empty()
    grid.fill(0, 6, 0, 15, 6, 15, state_of("oak_leaves"))
    assert [grid.lights(8, y, 8)[0] for y in (7, 6, 5, 4)] == [15, 14, 13, 12]


def test_a_torch_gives_14_and_less_with_every_step() -> None:
    grid = empty(32)
    grid.fill(0, 15, 0, 31, 15, 31, parse("stone"))
    grid.set(10, 5, 10, state_of("torch"))
    # Steps along the axes (Manhattan distance) count, minecraft.wiki "Light".
    assert [grid.lights(10 + dx, 5, 10)[1] for dx in (0, 1, 5, 13, 14)] == [14, 13, 9, 1, 0]
    assert grid.lights(12, 6, 13)[1] == 14 - (2 + 1 + 3)


def test_blocks_give_the_light_that_the_wiki_says() -> None:
    for block, level in [
        *(("torch", 14), ("soul_torch", 10), ("lava", 15), ("glowstone", 15), ("sea_lantern", 15), ("magma_block", 3)),
        *(("jack_o_lantern", 15), ("end_rod", 14), ("lantern", 15), ("soul_lantern", 10), ("fire", 15), ("shroomlight", 15)),
        *(("furnace[lit=true]", 13), ("furnace[lit=false]", 0), ("campfire[lit=true]", 15), ("campfire[lit=false]", 0)),
        *(
            ("redstone_lamp[lit=true]", 15),
            ("redstone_lamp[lit=false]", 0),
            ("redstone_ore[lit=true]", 9),
            ("redstone_torch", 7),
        ),
        *(("sea_pickle[pickles=4,waterlogged=true]", 15), ("sea_pickle[pickles=4,waterlogged=false]", 0), ("stone", 0)),
    ]:
        assert light.GIVES[parse(block)] == level


def test_light_enters_a_room_through_roofs_that_let_it() -> None:
    for block, inside, below in [
        # Sky light of the roof's own cell and of the one under it; the room is shut but for its roof.
        *(("stone", 0, 0), ("glass", 15, 15), ("oak_slab[type=bottom]", 15, 0), ("oak_slab[type=top]", 0, 0)),
        *(("oak_slab[type=double]", 0, 0), ("oak_stairs[half=top]", 0, 0), ("oak_stairs[half=bottom]", 15, 0)),
        *(("oak_fence", 15, 15), ("oak_leaves", 14, 13), ("white_carpet", 15, 15), ("grass", 15, 15), ("ice", 14, 13)),
    ]:
        grid = empty(7)
        grid.fill(0, 0, 0, 6, 9, 6, parse("stone"))
        grid.set(3, 8, 3, 0)
        grid.set(3, 9, 3, parse(block))
        assert (grid.lights(3, 9, 3)[0], grid.lights(3, 8, 3)[0]) == (inside, below)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_light_after_hundreds_of_random_edits_equals_light_made_anew(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = rough(rng)
    states = [parse(text) for text in PALETTE]
    sx, sy, sz = grid.size
    for n in range(400):
        x, y, z = int(rng.integers(sx)), int(rng.integers(sy)), int(rng.integers(sz))
        grid.set(x, y, z, states[int(rng.integers(len(states)))])
        if n % 40 == 0:
            assert (grid.light == light.lit(grid.blocks)).all()
    assert (grid.light == light.lit(grid.blocks)).all()
    assert (grid.light & 15).max() > 0  # there was block light to get wrong


def test_light_and_distances_after_filled_boxes_equal_those_made_anew() -> None:
    rng = np.random.default_rng(9)
    grid = rough(rng, 40)
    states = [parse(text) for text in PALETTE]
    for _ in range(40):
        corners = rng.integers(0, (40, 20, 40), (2, 3))
        small = np.clip(corners[1], corners[0] - 4, corners[0] + 4)
        grid.fill(*map(int, corners[0]), *map(int, small), states[int(rng.integers(len(states)))])
        assert (grid.light == light.lit(grid.blocks)).all()
        assert (grid.skip == light.distances(grid.blocks, MAX_SKIP)).all()


def test_many_cells_changed_at_once_are_lit_as_if_made_anew() -> None:
    rng = np.random.default_rng(4)
    grid = rough(rng)
    states = np.array([parse(text) for text in PALETTE], np.uint16)
    cells = rng.choice(grid.blocks.size, 300, replace=False)
    x, z, y = np.unravel_index(cells, grid.blocks.shape)
    grid.blocks[x, z, y] = rng.choice(states, 300)
    grid.changed_cells((x << 20 | z << 10 | y).astype(np.int32))
    assert (grid.light == light.lit(grid.blocks)).all()
    assert (grid.skip <= light.distances(grid.blocks, MAX_SKIP)).all()


def test_distances_are_the_largest_difference_of_coordinates_to_the_nearest_block() -> None:
    rng = np.random.default_rng(3)
    blocks = (rng.random((20, 17, 24)) < 0.002).astype(np.uint16)
    cells = np.argwhere(blocks)
    every = np.argwhere(np.ones(blocks.shape, bool))
    expected = np.abs(every[:, None] - cells[None]).max(axis=2).min(axis=1).reshape(blocks.shape)
    assert (light.distances(blocks, 9) == np.minimum(expected, 9)).all()
    assert (light.distances(np.zeros((5, 5, 1), np.uint16), 16) == 16).all()


def test_distances_stay_exact_while_blocks_are_added_and_never_too_far_after_some_went() -> None:
    rng = np.random.default_rng(2)
    grid = empty(24, 24)
    for _ in range(60):
        x, y, z = map(int, rng.integers(0, 24, 3))
        grid.set(x, y, z, 1)
        assert (grid.skip == light.distances(grid.blocks, MAX_SKIP)).all()
    for _ in range(300):
        x, y, z = map(int, rng.integers(0, 24, 3))
        grid.set(x, y, z, int(rng.integers(2)))
        exact = light.distances(grid.blocks, MAX_SKIP)
        assert (grid.skip <= exact).all()
        assert ((grid.skip == 0) == (grid.blocks != 0)).all()


def test_fill_counts_the_cells_it_changed_and_takes_corners_in_any_order() -> None:
    grid = empty()
    assert grid.fill(5, 5, 5, 3, 4, 3, 1) == 3 * 2 * 3
    assert grid.fill(3, 4, 3, 5, 5, 5, 1) == 0
    assert grid.get(4, 5, 4) == 1
    assert grid.fill(0, 0, 0, 15, 15, 15, 0) == 18
    assert (grid.light == 15 << 4).all()


def test_fill_outside_the_world_or_with_no_such_state_says_so_and_changes_nothing() -> None:
    grid = empty()
    with pytest.raises(WorldError, match=r"from 0 0 0 to 3 16 3 is not inside .* to 15 15 15"):
        grid.fill(0, 0, 0, 3, 16, 3, 1)
    with pytest.raises(WorldError, match="no block state 17112"):
        grid.fill(0, 0, 0, 3, 3, 3, 17112)
    assert not grid.blocks.any()


def test_light_of_the_stand_in_world_reaches_its_floor() -> None:
    world = BlockWorld()
    assert world.grid.lights(5, FLOOR, 5) == (15, 0)
    assert world.grid.lights(5, FLOOR - 1, 5) == (0, 0)

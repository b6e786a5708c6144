"""Bodies against blocks, looks at outlines, liquids around a body. The boxes are those of data/shapes.json."""

import numpy as np
import pytest

from blockworld.grid import physics
from blockworld.grid.outlines import NUM_OUTLINES, OUTLINE_START, OUTLINES
from blockworld.grid.physics import DOWN, EAST, LAVA, NORTH, SOUTH, UP, WATER, WEST
from blockworld.registry.blocks import NUM_STATES, parse, state_of

HALF, TALL, STEP = 0.3, 1.8, 0.6


@pytest.fixture
def blocks():
    found = np.zeros((16, 16, 32), np.uint16)
    found[:, :, :4] = parse("stone")
    return found


def put(blocks, x, y, z, text):
    blocks[x, z, y] = parse(text)


def test_a_falling_body_stops_on_the_floor(blocks):
    x, y, z, hit_x, hit_y, hit_z = physics.move_box(blocks, 8.5, 5.0, 8.5, 0.0, -3.0, 0.0, HALF, TALL, STEP, False)
    assert (x, y, z) == (8.5, 4.0, 8.5)
    assert (hit_x, hit_y, hit_z) == (False, True, False)


def test_a_wall_stops_only_the_way_into_it(blocks):
    put(blocks, 9, 4, 8, "stone")
    put(blocks, 9, 5, 8, "stone")
    x, y, z, hit_x, _, hit_z = physics.move_box(blocks, 8.5, 4.0, 8.5, 0.5, -0.1, 0.1, HALF, TALL, STEP, False)
    assert x == pytest.approx(8.7)
    assert z == pytest.approx(8.6)
    assert y == 4.0
    assert hit_x
    assert not hit_z


def test_half_a_block_is_climbed_and_a_whole_one_is_not(blocks):
    put(blocks, 9, 4, 8, "oak_slab[type=bottom]")
    x, y, *_ = physics.move_box(blocks, 8.6, 4.0, 8.5, 0.3, -0.08, 0.0, HALF, TALL, STEP, True)
    assert (x, y) == (pytest.approx(8.9), 4.5)
    put(blocks, 9, 4, 8, "stone")
    x, y, *_ = physics.move_box(blocks, 8.6, 4.0, 8.5, 0.3, -0.08, 0.0, HALF, TALL, STEP, True)
    assert (x, y) == (pytest.approx(8.7), 4.0)


def test_who_is_in_the_air_climbs_nothing(blocks):
    put(blocks, 9, 4, 8, "oak_slab[type=bottom]")
    x, y, _, hit_x, *_ = physics.move_box(blocks, 8.6, 4.2, 8.5, 0.3, 0.1, 0.0, HALF, TALL, STEP, False)
    assert x == pytest.approx(8.7)
    assert hit_x
    assert y == pytest.approx(4.3)


def test_a_fence_is_one_and_a_half_high(blocks):
    put(blocks, 9, 4, 8, "oak_fence")
    for height, passes in ((1.49, False), (1.5, True)):
        x, *_ = physics.move_box(blocks, 8.5, 4.0 + height, 8.5, 1.0, 0.0, 0.0, HALF, TALL, 0.0, False)
        assert (x == 9.5) is passes


def test_nothing_leaves_the_world_sideways_or_below(blocks):
    for dx, dz in ((-40.0, 0.0), (40.0, 0.0), (0.0, -40.0), (0.0, 40.0)):
        x, _, z, hit_x, _, hit_z = physics.move_box(blocks, 8.5, 20.0, 8.5, dx, 0.0, dz, HALF, TALL, 0.0, False)
        assert 0.3 - 1e-9 <= x <= 15.7 + 1e-9
        assert 0.3 - 1e-9 <= z <= 15.7 + 1e-9
        assert hit_x or hit_z
    blocks[:] = 0
    assert physics.move_box(blocks, 8.5, 2.0, 8.5, 0.0, -9.0, 0.0, HALF, TALL, 0.0, False)[1] == 0.0
    assert physics.move_box(blocks, 8.5, 30.0, 8.5, 0.0, 9.0, 0.0, HALF, TALL, 0.0, False)[1] == 39.0


def test_scaffolding_carries_who_is_above_and_lets_others_through(blocks):
    put(blocks, 8, 4, 8, "scaffolding")
    assert physics.move_box(blocks, 8.5, 5.3, 8.5, 0.0, -1.0, 0.0, HALF, TALL, STEP, False)[1] == 5.0
    assert physics.move_box(blocks, 8.5, 5.3, 8.5, 0.0, -1.0, 0.0, HALF, TALL, -1.0, False)[1] == pytest.approx(4.3)
    assert physics.move_box(blocks, 8.5, 4.0, 8.5, 0.0, 2.0, 0.0, HALF, TALL, STEP, False)[1] == 6.0


def test_a_look_names_the_face_it_meets():
    for dx, dy, dz, face in [
        (0, 1, 0, DOWN),
        (0, -1, 0, UP),
        (0, 0, 1, NORTH),
        (0, 0, -1, SOUTH),
        (1, 0, 0, WEST),
        (-1, 0, 0, EAST),
    ]:
        blocks = np.zeros((16, 16, 16), np.uint16)
        put(blocks, 8, 8, 8, "stone")
        eye = (8.5 - 3 * dx, 8.5 - 3 * dy, 8.5 - 3 * dz)
        hit, x, y, z, side, hx, hy, hz = physics.ray(blocks, *eye, dx * 7.0, dy * 7.0, dz * 7.0, 4.5)
        assert hit
        assert (x, y, z, side) == (8, 8, 8, face)
        assert (hx, hy, hz) == pytest.approx((8.5 - 0.5 * dx, 8.5 - 0.5 * dy, 8.5 - 0.5 * dz))


def test_a_look_ends_at_its_reach(blocks):
    assert physics.ray(blocks, 8.5, 8.499, 8.5, 0.0, -1.0, 0.0, 4.5)[0]
    assert not physics.ray(blocks, 8.5, 8.501, 8.5, 0.0, -1.0, 0.0, 4.5)[0]


def test_small_things_can_be_looked_at_and_looked_past(blocks):
    put(blocks, 8, 4, 8, "torch")
    assert physics.ray(blocks, 8.5, 4.3, 6.5, 0.0, 0.0, 1.0, 4.5)[1:5] == (8, 4, 8, NORTH)
    assert not physics.ray(blocks, 8.1, 4.3, 6.5, 0.0, 0.0, 1.0, 4.5)[0]


def test_a_fence_is_one_high_to_a_look(blocks):
    put(blocks, 8, 4, 8, "oak_fence")
    assert physics.ray(blocks, 8.5, 4.95, 6.5, 0.0, 0.0, 1.0, 4.5)[0]
    assert not physics.ray(blocks, 8.5, 5.05, 6.5, 0.0, 0.0, 1.0, 4.5)[0]


def test_water_is_looked_through_unless_sources_count(blocks):
    put(blocks, 8, 4, 8, "water")
    put(blocks, 8, 4, 7, "water[level=3]")
    assert physics.ray(blocks, 8.5, 6.0, 8.5, 0.0, -1.0, 0.0, 4.5)[2] == 3
    assert physics.ray(blocks, 8.5, 6.0, 8.5, 0.0, -1.0, 0.0, 4.5, True)[2] == 4
    assert physics.ray(blocks, 8.5, 6.0, 7.5, 0.0, -1.0, 0.0, 4.5, True)[2] == 3


def test_every_block_but_air_and_liquids_has_an_outline_inside_its_cell():
    nothing = {"air", "cave_air", "void_air", "water", "lava", "bubble_column", "structure_void", "moving_piston"}
    bare = {state for name in nothing for state in range(state_of(name) - 15, state_of(name) + 16)}
    for state in range(NUM_STATES):
        assert NUM_OUTLINES[state] or state in bare, state
        boxes = OUTLINES[OUTLINE_START[state] : OUTLINE_START[state] + NUM_OUTLINES[state]]
        assert (boxes[:, 3:] > boxes[:, :3]).all()
        assert (boxes[:, 4] <= 1).all()


def test_water_stands_eight_ninths_high_and_full_under_water(blocks):
    put(blocks, 8, 4, 8, "water")
    put(blocks, 7, 4, 8, "water[level=7]")
    put(blocks, 6, 4, 8, "lava[level=8]")
    assert physics.fluid_at(blocks, 8, 4, 8) == (WATER, pytest.approx(8 / 9))
    assert physics.fluid_at(blocks, 7, 4, 8) == (WATER, pytest.approx(1 / 9))
    assert physics.fluid_at(blocks, 6, 4, 8) == (LAVA, pytest.approx(8 / 9))
    put(blocks, 8, 5, 8, "water")
    assert physics.fluid_at(blocks, 8, 4, 8) == (WATER, 1.0)
    assert physics.fluid_at(blocks, 5, 4, 8)[0] == 0
    assert physics.fluid_at(blocks, 99, 4, 8)[0] == 0


def test_waterlogged_blocks_and_seagrass_count_as_water(blocks):
    put(blocks, 8, 4, 8, "oak_slab[type=bottom,waterlogged=true]")
    put(blocks, 7, 4, 8, "seagrass")
    assert physics.fluid_at(blocks, 8, 4, 8)[0] == physics.fluid_at(blocks, 7, 4, 8)[0] == WATER


def test_a_current_runs_from_the_source_to_the_lower_level(blocks):
    for x, level in ((6, 0), (7, 1), (8, 2), (9, 3)):
        for z in (7, 8, 9):
            put(blocks, x, 4, z, f"water[level={level}]")
    depth, fx, fy, fz, cells = physics.immersion(blocks, 8.0, 4.0, 8.5, HALF, TALL, WATER)
    assert depth == pytest.approx(7 / 9, abs=0.002)
    assert cells == 2
    assert fx > 1.9
    assert abs(fy) < 1e-9
    assert abs(fz) < 1e-9


def test_what_a_body_touches_is_joined(blocks):
    marks = np.zeros(NUM_STATES, np.uint8)
    marks[parse("cobweb")], marks[parse("cactus")] = 1, 4
    put(blocks, 8, 4, 8, "cobweb")
    put(blocks, 9, 5, 8, "cactus")
    assert physics.touched(blocks, 8.5, 4.0, 8.5, HALF, TALL, marks) == 1
    assert physics.touched(blocks, 8.8, 4.0, 8.5, HALF, TALL, marks) == 5
    assert not physics.is_free(blocks, 8.8, 4.0, 8.5, HALF, TALL)
    assert physics.is_free(blocks, 8.5, 4.0, 8.5, HALF, TALL)

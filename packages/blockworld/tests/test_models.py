"""Looks of states: kinds, faces that turn with the block, boxes that follow properties."""

import numpy as np
import pytest

from blockworld.raycaster.records import AIR
from blockworld.registry.blocks import BLOCKS, NUM_STATES, parse
from blockworld.render import models as m
from blockworld.render.models import models
from blockworld.render.textures import atlas, texture

WEST, EAST, NORTH, SOUTH, UP, DOWN = range(6)


@pytest.fixture(scope="module")
def look():
    return models()


def boxes(look, text):
    state = parse(text)
    return look.boxes[look.box_start[state] : look.box_start[state] + look.num_boxes[state]] * 16


def faces(look, text):
    return look.faces[parse(text)]


def signature(look, state):
    rows = slice(look.box_start[state], look.box_start[state] + look.num_boxes[state])
    pictures = atlas()[look.box_faces[rows]].tobytes() if look.num_boxes[state] else atlas()[look.faces[state]].tobytes()
    return int(look.kind[state]), int(look.wet[state]), look.boxes[rows].tobytes(), pictures


def test_every_state_has_a_look(look):
    assert NUM_STATES == 17112
    assert look.kind.shape == (NUM_STATES,)
    assert look.kind.max() <= m.LAVA
    assert look.faces.shape == (NUM_STATES, 6)
    assert look.faces.min() >= 0
    assert look.faces.max() < len(atlas())
    assert (look.num_boxes[look.kind == m.BOXES] >= 1).all()
    assert (look.num_boxes[look.kind != m.BOXES] == 0).all()


def test_every_block_can_be_told_from_every_other(look):
    seen = {}
    for block in BLOCKS:
        if look.kind[block.default] != AIR:
            seen.setdefault(signature(look, block.default), []).append(block.name)
    assert [names for names in seen.values() if len(names) > 1] == []


def test_only_what_nobody_should_see_is_invisible(look):
    hidden = {block.name for block in BLOCKS if look.kind[block.default] == AIR}
    assert hidden == {"air", "cave_air", "void_air", "barrier", "structure_void", "moving_piston"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("stone", m.CUBE),
        ("oak_leaves", m.CUTOUT),
        ("red_stained_glass", m.CUTOUT),
        ("water", m.WATER),
        ("poppy", m.CROSS),
        ("oak_stairs", m.BOXES),
        ("lava", m.LAVA),
        ("oak_slab[type=double]", m.CUBE),
        ("snow[layers=8]", m.CUBE),
        ("snow[layers=3]", m.BOXES),
        ("potted_oak_sapling", m.BOXES),
    ],
)
def test_kinds_are_as_named(look, text, kind):
    assert look.kind[parse(text)] == kind


def test_boxes_lie_inside_their_cell(look):
    assert look.boxes.min() >= 0
    assert look.boxes.max() <= 1
    assert (look.boxes[:, :3] <= look.boxes[:, 3:]).all()


def test_a_furnace_shows_its_mouth_where_it_faces(look):
    for facing, face in (("west", WEST), ("east", EAST), ("north", NORTH), ("south", SOUTH)):
        shown = faces(look, f"furnace[facing={facing},lit=false]")
        assert [i for i in range(6) if shown[i] == texture("furnace_front")] == [face]
    assert texture("furnace_front_lit") in faces(look, "furnace[lit=true]")


def test_the_ends_of_a_log_follow_its_axis(look):
    end = texture("oak_log_top")
    ends = {axis: [i for i in range(6) if faces(look, f"oak_log[axis={axis}]")[i] == end] for axis in "xyz"}
    assert ends == {"x": [WEST, EAST], "y": [UP, DOWN], "z": [NORTH, SOUTH]}


def test_grass_is_green_above_earth_below_and_white_under_snow(look):
    shown = faces(look, "grass_block[snowy=false]")
    assert shown[UP] == texture("grass_block_top")
    assert shown[DOWN] == texture("dirt")
    assert faces(look, "grass_block[snowy=true]")[UP] == texture("snow")


def test_a_fence_has_two_rails_to_each_neighbour_and_is_one_high(look):
    assert len(boxes(look, "oak_fence")) == 1
    assert len(boxes(look, "oak_fence[north=true,east=true]")) == 5  # post, and 2 rails for each of 2 sides
    assert boxes(look, "oak_fence[north=true]")[:, 4].max() == 16  # the collision box is 24 high
    assert boxes(look, "oak_fence[east=true]")[:, 3].max() == 16
    assert boxes(look, "oak_fence[east=true]")[:, 0].min() == 6


def test_an_open_gate_leaves_the_way_free(look):
    shut, wide = boxes(look, "oak_fence_gate[open=false]"), boxes(look, "oak_fence_gate[open=true]")

    def in_the_way(rows):
        return ((rows[:, 0] < 10) & (rows[:, 3] > 6)).any()

    assert in_the_way(shut)
    assert not in_the_way(wide)


def test_a_ladder_hangs_on_the_wall_behind_it(look):
    # Facing north it hangs on the block to the south, whose side is at z = 16.
    assert boxes(look, "ladder[facing=north]")[0, 2] > 15
    assert boxes(look, "ladder[facing=south]")[0, 5] < 1
    assert boxes(look, "ladder[facing=east]")[0, 3] < 1
    assert boxes(look, "ladder[facing=west]")[0, 0] > 15


def test_a_wall_torch_leans_away_from_its_wall(look):
    steps = boxes(look, "wall_torch[facing=north]")
    assert steps[0, 5] > 15
    assert (np.diff(steps[:, 1]) > 0).all()
    assert (np.diff(steps[:, 2]) < 0).all()


def test_a_pillow_lies_at_the_head_and_turns_with_the_bed(look):
    state = parse("red_bed[part=head,facing=east]")
    assert look.box_faces[look.box_start[state], UP] == texture("red_bed_head@90")


def test_crops_show_their_age(look):
    assert len({signature(look, parse(f"wheat[age={age}]")) for age in range(8)}) == 8


def test_water_stands_lower_the_further_it_flowed(look):
    heights = [float(look.height[parse(f"water[level={level}]")]) for level in range(8)]
    assert heights[0] == 14 / 16
    assert heights == sorted(heights, reverse=True)
    assert heights[7] > 0
    assert look.height[parse("water[level=8]")] == 1  # falling


def test_what_stands_in_water_is_wet(look):
    for text in ("water", "seagrass", "kelp", "oak_fence[waterlogged=true]", "tall_seagrass[half=upper]"):
        assert look.wet[parse(text)] == 1, text
    assert look.wet[parse("oak_fence[waterlogged=false]")] == 0


def test_only_lit_things_glow(look):
    assert look.glow[parse("redstone_lamp[lit=false]")] == 0
    assert look.glow[parse("lava")] == 1
    assert look.glow[parse("glowstone")] == 1
    assert look.glow[parse("stone")] == 0


def test_stairs_and_slabs_wear_what_they_are_cut_from(look):
    for text, skin in (("stone_brick_stairs", "stone_bricks"), ("oak_slab", "oak_planks"), ("quartz_slab", "quartz_block")):
        state = parse(text)
        assert look.box_faces[look.box_start[state], NORTH] == texture(skin)

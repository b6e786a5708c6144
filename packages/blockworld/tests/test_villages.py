"""Villages: houses one can enter, streets one can walk, people indoors, animals in reach; and the designs themselves."""

from functools import cache

import numpy as np
import pytest

from blockworld.registry.blocks import AIR, block_named, name_of, properties_of, state_of
from blockworld.terrain import carpentry, caves
from blockworld.terrain.generate import Land, generate
from blockworld.terrain.houses import FARMS, HOUSES, PENS, STYLE, STYLES, TOOL_OF

SEEDS = (21212, 85236, 14975, 52216, 29342)
"""Held-out seeds of BASALT's pen and house tasks."""
EVERYWHERE = [(seed, style) for style in STYLES for seed in SEEDS]
FARMLAND = {design.name for design in (*FARMS, *PENS)}


@cache
def land(seed: int, style: str) -> Land:
    return generate(seed, f"village_{style}", (160, 128, 160))


@cache
def reached(seed: int, style: str) -> set[tuple[int, int, int]]:
    """Cells (x, y, z) where one comes on foot from spawn, through doors and gates."""
    made = land(seed, style)
    x, y, z = made.spawn
    return {(a, h, b) for a, b, h in caves.walk(made.blocks, caves.PASSABLE, caves.STANDABLE, x, z, y).tolist()}


def block(made: Land, x: int, y: int, z: int) -> str:
    return name_of(int(made.blocks[x, z, y]))


@pytest.mark.long_proof
def test_a_village_has_8_to_14_buildings_of_its_style_around_spawn():
    for seed, style in EVERYWHERE:
        made = land(seed, style)
        (village,) = made.villages
        assert village.style == style
        assert 8 <= len(village.houses) <= 14
        kinds = [house.kind for house in village.houses]
        assert len(set(kinds) - FARMLAND) >= 5
        assert set(kinds) & {design.name for design in FARMS}
        assert set(kinds) & {design.name for design in PENS}
        assert np.hypot(made.spawn[0] - village.centre[0], made.spawn[2] - village.centre[2]) < 12
        assert (made.spawn[0], made.spawn[1] - 1, made.spawn[2]) in set(village.paths)


def test_every_door_opens_on_ground_one_reaches_from_spawn():
    for seed, style in EVERYWHERE:
        made, on_foot = land(seed, style), reached(seed, style)
        for house in made.villages[0].houses:
            if house.door is None:
                continue
            x, y, z = house.door
            name = block(made, x, y, z)
            assert name.endswith(("_door", "_fence_gate")), (house, name)
            assert house.door in on_foot, house
            if name.endswith("_door"):
                door = properties_of(int(made.blocks[x, z, y]))
                assert door["half"] == "lower"
                assert properties_of(int(made.blocks[x, z, y + 1]))["half"] == "upper"
                # a door faces the way one goes in: the cell before it is outside, with its floor no step away
                dx, dz = carpentry.SIDES[door["facing"]]
                assert {(x - dx, y, z - dz), (x + dx, y, z + dz)} <= on_foot, house


def test_people_stand_on_floors_and_could_walk_to_the_square():
    for seed, style in EVERYWHERE:
        made, on_foot = land(seed, style), reached(seed, style)
        village = made.villages[0]
        assert len(village.residents) >= 6
        for x, y, z, profession in village.residents:
            assert profession in TOOL_OF
            assert (x, y, z) in on_foot, (x, y, z, profession)
            assert any(h.box[0] <= x <= h.box[3] and h.box[2] <= z <= h.box[5] for h in village.houses)
            assert made.blocks[x, z, y + 2 :].any(), "a resident is under a roof"
        assert len({r[:3] for r in village.residents}) == len(village.residents)


def test_paths_climb_by_single_steps():
    for seed, style in EVERYWHERE:
        made = land(seed, style)
        paths = {(x, z): y for x, y, z in made.villages[0].paths}
        assert len(paths) > 100
        for (x, z), y in paths.items():
            assert abs(paths.get((x + 1, z), y) - y) <= 1
            assert abs(paths.get((x, z + 1), y) - y) <= 1
        stuff = set(STYLE[style].paths)
        assert sum(block(made, x, y, z) in stuff for (x, z), y in paths.items()) > 0.8 * len(paths)


def test_no_house_floats_and_none_is_buried():
    for seed, style in EVERYWHERE:
        made = land(seed, style)
        for house in made.villages[0].houses:
            x0, y0, z0, x1, _, z1 = house.box
            under = made.blocks[x0 : x1 + 1, z0 : z1 + 1, y0 - 1]
            assert (under != AIR).all(), house
            ring = [made.heights[x, z] for x in (x0 - 1, x1 + 1) for z in range(z0 - 1, z1 + 2)]
            ring += [made.heights[x, z] for z in (z0 - 1, z1 + 1) for x in range(x0 - 1, x1 + 2)]
            assert min(ring) >= y0 - 2, house
            assert max(ring) <= y0 + 1, house


def test_beds_have_two_halves_and_panes_meet_their_walls():
    for seed, style in EVERYWHERE:
        made = land(seed, style)
        beds = panes = 0
        for house in made.villages[0].houses:
            x0, y0, z0, x1, y1, z1 = house.box
            for x in range(x0, x1 + 1):
                for z in range(z0, z1 + 1):
                    for y in np.flatnonzero(made.blocks[x, z, y0 : y1 + 1]) + y0:
                        state = int(made.blocks[x, z, y])
                        name = name_of(state)
                        if name.endswith("_bed") and properties_of(state)["part"] == "foot":
                            dx, dz = carpentry.SIDES[properties_of(state)["facing"]]
                            head = int(made.blocks[x + dx, z + dz, y])
                            assert name_of(head) == name
                            assert properties_of(head)["part"] == "head"
                            beds += 1
                        elif name == "glass_pane":
                            # in a straight wall: joined on two opposite sides, though never to a door
                            sides = {
                                side
                                for side, (dx, dz) in carpentry.SIDES.items()
                                if properties_of(state)[side] == "true" or block(made, x + dx, y, z + dz).endswith("_door")
                            }
                            assert {"north", "south"} <= sides or {"east", "west"} <= sides, (house, x, y, z, sides)
                            panes += 1
        assert beds >= 5
        assert panes >= 10


def test_animals_are_at_hand_and_some_are_penned():
    for seed, style in EVERYWHERE:
        made, on_foot = land(seed, style), reached(seed, style)
        village = made.villages[0]
        names = [name for name, *_ in village.livestock]
        free = [animal for animal in village.livestock if animal[1:] in on_foot]
        assert len(free) >= 4
        assert any(names.count(name) >= 2 for name in ("chicken", "cow", "pig", "sheep", "rabbit"))
        for _, x, y, z in village.livestock:
            assert caves.PASSABLE[made.blocks[x, z, y]]
            assert caves.STANDABLE[made.blocks[x, z, y - 1]]
        pens = [house for house in village.houses if house.kind in {design.name for design in PENS}]
        for pen in pens:
            x0, y0, z0, x1, _, z1 = pen.box
            rim = [(x, z) for x in range(x0, x1 + 1) for z in range(z0, z1 + 1) if x in (x0, x1) or z in (z0, z1)]
            names = [block(made, x, y0 + 1, z) for x, z in rim]
            assert all(name.endswith(("_fence", "_fence_gate")) for name in names)
            assert sum(name.endswith("_gate") for name in names) == 1


def test_fields_have_water_and_crops():
    for seed, style in EVERYWHERE[::2]:
        made = land(seed, style)
        for house in made.villages[0].houses:
            if house.kind not in {design.name for design in FARMS}:
                continue
            x0, y0, z0, x1, _, z1 = house.box
            ground = made.blocks[x0 : x1 + 1, z0 : z1 + 1, y0]
            farmland = ground == state_of("farmland", moisture="7")
            assert farmland.sum() >= 16
            assert (ground == state_of("water")).sum() >= 6
            crops = {name_of(int(s)) for s in made.blocks[x0 : x1 + 1, z0 : z1 + 1, y0 + 1][farmland]}
            assert crops <= {"wheat", "carrots", "potatoes", "beetroots"}


def test_a_style_has_at_least_5_designs_whose_rooms_are_furnished_and_lit():
    for style in STYLES:
        designs = HOUSES[style]
        assert len(designs) >= 5
        assert len({design.storeys for design in designs}) == len(designs)
        seen: set[str] = set()
        for design in designs:
            volume = carpentry.volume(design, STYLE[style], design.professions[0], np.random.default_rng(0))
            names = {name_of(int(s)) for s in np.unique(volume.cells) if s != carpentry.KEEP}
            assert any(name.endswith("_door") for name in names), design.name
            assert "glass_pane" in names, design.name
            assert names & {"torch", "wall_torch", "lantern"}, design.name
            assert volume.rooms, design.name
            assert volume.front, design.name
            seen |= {"bed" if name.endswith("_bed") else name for name in names}
        assert {"bed", "chest", "furnace", "crafting_table", "wall_torch"} <= seen


def test_designs_are_closed_against_rain():
    """Over every cell indoors there is something, unless a ladder leads out."""
    for style in STYLES:
        for design in HOUSES[style]:
            volume = carpentry.volume(design, STYLE[style], design.professions[0], np.random.default_rng(0))
            for x, _, z in volume.rooms:
                over = volume.cells[x, z, 3:]
                assert ((over != AIR) & (over != carpentry.KEEP)).any(), (design.name, x, z)


def test_every_profession_of_a_design_finds_its_tool():
    for style in STYLES:
        for design in HOUSES[style]:
            if not any("w" in row for storey in design.storeys for row in storey):
                continue
            for profession in design.professions:
                volume = carpentry.volume(design, STYLE[style], profession, np.random.default_rng(0))
                tool = block_named(TOOL_OF[profession])
                assert ((volume.cells >= tool.first) & (volume.cells < tool.first + tool.num_states)).any()


def test_four_quarter_turns_and_two_mirror_images_change_nothing():
    for text in ("oak_door", "oak_stairs", "oak_log", "white_bed", "chest", "wall_torch"):
        for state in range(block_named(text).first, block_named(text).first + block_named(text).num_states):
            turned = state
            for _ in range(4):
                turned = carpentry.turned(turned, 1, False)
            assert turned == state
            assert carpentry.turned(carpentry.turned(state, 0, True), 0, True) == state
    assert properties_of(carpentry.turned(state_of("chest", facing="south"), 1, False))["facing"] == "west"
    assert carpentry.turned_cell(0, 4, 3, 5, 1, False) == (0, 0)  # the south-west corner of 3 x 5 becomes the north-west


def test_hip_roofs_have_corners():
    blocks = np.zeros((8, 8, 4), np.uint16)
    for n in range(1, 6):
        blocks[n, 1, 1] = state_of("oak_stairs", facing="south")
        blocks[1, n, 1] = state_of("oak_stairs", facing="east") if n > 1 else blocks[1, 1, 1]
    carpentry.join(blocks, (0, 0, 0, 7, 3, 7))
    # the corner faces south with stairs facing east behind it: east is left of south, so the outer left corner is cut
    assert properties_of(int(blocks[1, 1, 1]))["shape"] == "outer_left"
    assert properties_of(int(blocks[3, 1, 1]))["shape"] == "straight"


def test_a_village_of_no_named_style_draws_one():
    for seed in range(5):
        made = generate(seed, "village")
        assert made.villages[0].style in STYLES


def test_lands_of_other_kinds_have_villages_where_there_is_room():
    assert any(generate(seed, "default").villages for seed in range(6))

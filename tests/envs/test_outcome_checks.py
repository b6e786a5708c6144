"""Outcome checks of the block world's tasks: scenes built by hand, each answer both ways."""

from functools import cache

import numpy as np
import pytest

from blockworld import Action, Position, Stack, World
from blockworld.registry import change, properties_of, state_of
from blockworld.registry.blocks import parse
from blockworld.terrain import PASSABLE, ROOF
from interplay.agents.scripted.blocks import build_village_house, create_village_animal_pen
from interplay.agents.skills.body import Body
from interplay.agents.skills.navigation import Routes
from interplay.envs.voxel import checks
from interplay.envs.voxel.checks import outcome
from interplay.envs.voxel.checks.find_cave import inside_cave
from interplay.envs.voxel.checks.obtain_diamond_shovel import MILESTONES
from interplay.envs.voxel.land import Answers
from interplay.errors import NotFoundError
from interplay.tasks import find

PEN_SEED, HOUSE_SEED = 21212, 52216


def stand(world: World, x: float, y: float, z: float, yaw: float = 0.0, pitch: float = 0.0) -> None:
    """Put the player somewhere."""
    me = world.player
    me.x, me.y, me.z, me.yaw, me.pitch = x, y, z, yaw, pitch


def fill(world: World, low: Position, high: Position, block: str) -> None:
    """Put a block into all cells of a box, without any consequence."""
    world.grid.fill(*low, *high, parse(block))


@pytest.fixture
def meadow() -> World:
    return World(7, "flat", inhabited=False)


def test_answers_come_twice_the_same(meadow: World) -> None:
    for name in checks.names():
        first = outcome(meadow, name)
        assert outcome(meadow, name) == first
        assert first["success"] is False


def test_a_task_nobody_wrote_rules_for_is_refused_with_the_nearest(meadow: World) -> None:
    with pytest.raises(NotFoundError, match="find_cave"):
        outcome(meadow, "find_caves")


# Caves.


@pytest.fixture(scope="module")
def hills() -> World:
    return World(14169, "plains", inhabited=False)


def deep(world: World) -> Position:
    """A cell in a cave, where one comes on foot."""
    routes = Routes(world.grid, world.land.cave_mouths[0], None, most=200.0)
    for x, y, z in routes.reached().tolist():
        stand(world, x + 0.5, y, z + 0.5)
        if world.grid.lights(x, y + 1, z)[0] == 0 and inside_cave(world):
            return x, y, z
    raise AssertionError("no cave behind the first mouth")


@pytest.mark.long_proof
def test_a_player_in_the_dark_of_a_cave_is_inside_and_one_at_spawn_is_not(hills: World) -> None:
    x, y, z = deep(hills)
    stand(hills, x + 0.5, y, z + 0.5)
    depth = int(hills.land.heights[x, z]) - y
    found = {"inside_cave": True, "dug_in": False, "depth": depth, "success": False}
    assert outcome(hills, "find_cave") == found  # did not say so
    hills.step(Action(esc=True))
    assert outcome(hills, "find_cave") == found | {"success": True}
    stand(hills, *(float(v) for v in hills.spawn))
    assert outcome(hills, "find_cave") == {"inside_cave": False, "dug_in": False, "depth": 0, "success": False}


def test_a_hole_that_the_player_dug_is_no_cave() -> None:
    world = World(14169, "plains", inhabited=False)
    stone = world.land.blocks == state_of("stone")
    x, y, z = next(
        (x, y, z)
        for x in range(100, 150)
        for z in range(100, 150)
        for y in range(40, 56)
        if stone[x - 3 : x + 4, z - 3 : z + 4, y - 1 : y + 6].all()
    )
    fill(world, (x - 2, y, z - 2), (x + 2, y + 4, z + 2), "air")
    stand(world, x + 0.5, y, z + 0.5)
    assert world.grid.lights(x, y + 1, z)[0] == 0
    assert outcome(world, "find_cave")["inside_cave"] is False


def dig_down(world: World, *, cover: bool = False) -> bool:
    """Dig straight down into the nearest cave, step aside into the dark and say so; False if there is no cave below.

    Args:
        cover: Put the ground back above.
    """
    land, (sx, _, sz) = world.land, world.spawn
    columns = sorted((max(abs(dx), abs(dz)), sx + dx, sz + dz) for dx in range(-60, 61, 2) for dz in range(-60, 61, 2))
    for _, x, z in columns:
        top = int(land.heights[x, z])
        roofs = np.flatnonzero(ROOF[land.blocks[x, z, : top - 4]])
        hollows = [y for y in range(8, top - 8) if PASSABLE[land.blocks[x, z, y : y + 2]].all() and y - 1 in roofs]
        if not hollows or not ROOF[land.blocks[x, z, top]] or inside_cave_at(world, x, hollows[-1], z) is False:
            continue
        for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            aside = x + 2 * dx, hollows[-1], z + 2 * dz
            if inside_cave_at(world, *aside):
                fill(world, (x, hollows[-1], z), (x, top, z), "air")
                if cover:
                    fill(world, (x, top - 1, z), (x, top - 1, z), "dirt")
                    world.grid.set(x, top, z, int(land.blocks[x, z, top]))
                stand(world, aside[0] + 0.5, aside[1], aside[2] + 0.5)
                if inside_cave(world):
                    world.step(Action(esc=True))
                    return True
    return False


def inside_cave_at(world: World, x: int, y: int, z: int) -> bool:
    stand(world, x + 0.5, float(y), z + 0.5)
    return inside_cave(world)


@pytest.mark.long_proof
@pytest.mark.parametrize("seed", find("basalt/find_cave").held_out_seeds)
def test_nobody_finds_a_cave_by_digging_down(seed: int) -> None:
    world = World(seed, "plains", inhabited=False)
    assert dig_down(world)
    answers = outcome(world, "find_cave")
    assert (answers["inside_cave"], answers["dug_in"], answers["success"]) == (True, True, False)


def test_covering_the_hole_hides_no_digging() -> None:
    world = World(14169, "plains", inhabited=False)
    assert dig_down(world, cover=True)
    answers = outcome(world, "find_cave")
    assert (answers["inside_cave"], answers["dug_in"], answers["success"]) == (True, True, False)


def test_who_mines_inside_a_cave_or_widens_its_mouth_has_still_walked_in() -> None:
    world = World(14169, "plains", inhabited=False)
    x, y, z = deep(world)
    fill(world, (x - 2, y, z - 2), (x + 2, y + 2, z + 2), "air")
    a, h, b = world.land.cave_mouths[0]
    fill(world, (a - 1, h, b - 1), (a + 1, h + 2, b + 1), "air")
    stand(world, x + 0.5, y, z + 0.5)
    assert outcome(world, "find_cave")["dug_in"] is False


# Waterfalls.


def tower(world: World, height: int) -> None:
    """A pillar of stone with water poured on its top, after a while."""
    fill(world, (128, 64, 140), (128, 63 + height, 140), "stone")
    world.set_block(128, 64 + height, 140, state_of("water"))
    for _ in range(40 + 10 * height):
        world.step(Action())


def test_water_poured_from_a_tower_is_a_waterfall_in_view_of_who_looks_at_it(meadow: World) -> None:
    stand(meadow, 128.5, 64.0, 125.5, yaw=0.0)
    tower(meadow, 8)
    assert not outcome(meadow, "make_waterfall")["success"]  # did not say that this is the picture
    meadow.step(Action(esc=True))
    answers = outcome(meadow, "make_waterfall")
    assert answers["made_waterfall"]
    assert answers["in_view"]
    assert answers["success"]
    assert answers["height"] == 8  # from y = 72, where the source spreads, down to the ground at 64
    assert answers["num_cells"] > 8


def test_a_waterfall_behind_ones_back_or_a_wall_or_too_far_off_is_not_in_view(meadow: World) -> None:
    stand(meadow, 128.5, 64.0, 125.5, yaw=180.0)
    tower(meadow, 8)
    behind = outcome(meadow, "make_waterfall")
    assert behind["made_waterfall"]
    assert not behind["in_view"]
    assert not behind["success"]
    meadow.player.yaw = 0.0
    assert outcome(meadow, "make_waterfall")["in_view"]
    fill(meadow, (100, 64, 130), (156, 90, 130), "stone")
    assert not outcome(meadow, "make_waterfall")["in_view"]
    fill(meadow, (100, 64, 130), (156, 90, 130), "glass")
    assert outcome(meadow, "make_waterfall")["in_view"]
    stand(meadow, 128.5, 64.0, 70.5, yaw=0.0)  # 70 blocks away
    assert not outcome(meadow, "make_waterfall")["in_view"]


@pytest.mark.parametrize(("height", "falls"), [(0, False), (1, False), (2, False), (3, True)])
def test_water_must_fall_three_blocks(meadow: World, height: int, falls: bool) -> None:
    tower(meadow, height)
    answers = outcome(meadow, "make_waterfall")
    assert answers["num_cells"] > 0
    assert answers["made_waterfall"] is falls


@pytest.mark.parametrize("width", [1, 3])
def test_water_in_a_pit_is_no_waterfall_however_one_looks_at_it(meadow: World, width: int) -> None:
    for x in range(128, 128 + width):
        for z in range(140, 140 + width):
            fill(meadow, (x, 60, z), (x, 63, z), "air")
    meadow.set_block(128, 63, 140, state_of("water"))
    for _ in range(80):
        meadow.step(Action())
    for place in ((128.5, 64.0, 138.5, 0.0, 60.0), (126.5, 64.0, 137.5, -35.0, 40.0), (128.5, 66.0, 140.5, 0.0, 90.0)):
        stand(meadow, *place)
        answers = outcome(meadow, "make_waterfall")
        assert answers["num_cells"] >= 4
        assert not answers["made_waterfall"]
        assert not answers["in_view"]


def test_a_notch_dug_into_an_edge_for_the_water_spoils_nothing(meadow: World) -> None:
    fill(meadow, (120, 64, 140), (136, 71, 150), "stone")
    meadow.land.blocks.flags.writeable = True
    meadow.land.blocks[120:137, 140:151, 64:72] = parse("stone")  # a cliff of the land
    meadow.land.blocks.flags.writeable = False
    fill(meadow, (128, 64, 140), (128, 71, 140), "air")
    meadow.set_block(128, 71, 140, state_of("water"))
    for _ in range(120):
        meadow.step(Action())
    stand(meadow, 128.5, 64.0, 128.5, yaw=0.0, pitch=-10.0)
    answers = outcome(meadow, "make_waterfall")
    meadow.land.blocks.flags.writeable = True
    meadow.land.blocks[120:137, 140:151, 64:72] = 0
    meadow.land.blocks.flags.writeable = False
    assert answers["made_waterfall"]
    assert answers["in_view"]


# Pens.


def pen_world() -> World:
    """A village with two pigs, for whom there is a carrot."""
    world = World(PEN_SEED, "village_plains", inhabited=False)
    world.spawn_mob("pig", world.spawn[0] + 3.5, world.spawn[1], world.spawn[2] + 0.5)
    world.spawn_mob("pig", world.spawn[0] + 5.5, world.spawn[1], world.spawn[2] + 0.5)
    world.give(Stack("carrot"))
    return world


@cache
def pen_site() -> create_village_animal_pen.Site:
    chosen = create_village_animal_pen.choose(Body(pen_world(), np.random.default_rng(0)))
    assert chosen is not None
    return chosen[0]


def pen_scene(kinds: tuple[str, ...] = ("pig", "pig")) -> tuple[World, create_village_animal_pen.Site]:
    """A pen beside a house with some animals in it."""
    world, site = pen_world(), pen_site()
    world.entities["kind"] = -1
    for cell in site.ring:
        world.grid.set(*cell, state_of("oak_fence"))
    for gate in site.gates:
        facing = "east" if site.out[0] else "south"
        world.grid.set(*gate, state_of("oak_fence_gate", facing=facing))
    for number, kind in enumerate(kinds):
        world.spawn_mob(kind, site.x0 + 1.5 + number, site.y, site.z0 + 1.5, NoAI=1)
    return world, site


def pen_answers(world: World) -> Answers:
    return outcome(world, "create_village_animal_pen")


def test_two_pigs_in_a_closed_pen_beside_a_house_are_a_success() -> None:
    world, _ = pen_scene()
    assert pen_answers(world) == {
        "closed": True,
        "num_animals": 2,
        "one_kind": True,
        "has_gate": True,
        "near_house": True,
        "harmed_village": False,
        "success": True,
    }


def test_an_open_gate_or_a_gap_leaves_the_pen_open() -> None:
    world, site = pen_scene()
    shut = world.grid.set(*site.gate, state_of("oak_fence_gate", facing="east", open="true"))
    opened = pen_answers(world)
    assert not opened["closed"]
    assert opened["num_animals"] == 2
    assert not opened["success"]
    world.grid.set(*site.gate, shut)
    world.grid.set(*site.ring[3], 0)
    assert not pen_answers(world)["closed"]


def test_animals_are_counted_by_kind_and_only_inside() -> None:
    world, site = pen_scene(("pig",))
    world.spawn_mob("pig", site.x0 - 2.5, site.y, site.z0 - 2.5, NoAI=1)
    one = pen_answers(world)
    assert one["num_animals"] == 1
    assert one["one_kind"]
    assert not one["success"]
    world.spawn_mob("cow", site.x0 + 2.5, site.y, site.z0 + 2.5, NoAI=1)
    mixed = pen_answers(world)
    assert mixed["num_animals"] == 2
    assert not mixed["one_kind"]
    assert not mixed["success"]
    empty = pen_scene(())[0]
    assert pen_answers(empty)["closed"]
    assert pen_answers(empty)["num_animals"] == 0
    assert not pen_answers(empty)["one_kind"]


def test_a_villager_in_the_pen_does_not_matter() -> None:
    world, site = pen_scene()
    world.spawn_mob("villager", site.x0 + 2.5, site.y, site.z0 + 2.5)
    assert pen_answers(world)["success"]


def test_a_pen_without_a_gate_cannot_be_left() -> None:
    world, site = pen_scene()
    for gate in site.gates:
        world.grid.set(*gate, state_of("oak_fence"))
    answers = pen_answers(world)
    assert answers["closed"]
    assert not answers["has_gate"]
    assert not answers["success"]


def test_a_pen_on_the_open_meadow_stands_beside_no_house(meadow: World) -> None:
    fill(meadow, (130, 64, 130), (135, 64, 135), "oak_fence")
    fill(meadow, (131, 64, 131), (134, 64, 134), "air")
    meadow.grid.set(130, 64, 132, state_of("oak_fence_gate", facing="east"))
    for x in (131.5, 133.5):
        meadow.spawn_mob("chicken", x, 64, 132.5, NoAI=1)
    answers = pen_answers(meadow)
    assert answers["closed"]
    assert answers["num_animals"] == 2
    assert answers["has_gate"]
    assert not answers["near_house"]
    assert not answers["success"]


def test_a_broken_wall_a_hit_villager_or_a_trodden_path_harm_the_village() -> None:
    for harm in range(3):
        world, _ = pen_scene()
        assert not pen_answers(world)["harmed_village"]
        village = world.land.villages[0]
        if harm == 0:
            x0, y0, z0, *_ = village.houses[0].box
            assert world.land.blocks[x0, z0, y0 + 1]
            world.grid.set(x0, y0 + 1, z0, 0)
        elif harm == 1:
            world.player.count("hit", "villager")
        else:
            world.grid.set(*village.paths[0], state_of("cobblestone"))
        answers = pen_answers(world)
        assert answers["harmed_village"]
        assert not answers["success"]


def test_opening_a_door_harms_nothing() -> None:
    world, _ = pen_scene()
    door = next(house.door for house in world.land.villages[0].houses if house.door is not None)
    was = world.grid.get(*door)
    assert properties_of(was)["open"] == "false"
    world.grid.set(*door, change(was, open="true"))
    assert not pen_answers(world)["harmed_village"]


# Houses.


def house_world() -> World:
    return World(HOUSE_SEED, "village", inhabited=False)


@cache
def house_lot() -> build_village_house.Lot:
    lot = build_village_house.choose(Body(house_world(), np.random.default_rng(0)))
    assert lot is not None
    return lot


def house_scene(
    walls: str = "", *, roof: bool = True, door: bool = True, window: str = "glass_pane"
) -> tuple[World, build_village_house.Lot]:
    """A house by a path, of the village's own stuff if no other is named."""
    world, lot = house_world(), house_lot()
    stuff = build_village_house.STUFF[world.land.villages[0].style]
    walls = walls or stuff.wall
    y = lot.y
    fill(world, (lot.x0, y, lot.z0), (lot.x1, y + 3, lot.z1), walls)
    fill(world, (lot.x0 + 1, y, lot.z0 + 1), (lot.x1 - 1, y + 2, lot.z1 - 1), "air")
    if not roof:
        fill(world, (lot.x0, y + 3, lot.z0), (lot.x1, y + 3, lot.z1), "air")
    if door:
        fill(world, (lot.door[0], y, lot.door[1]), (lot.door[0], y + 1, lot.door[1]), "air")
    x, z = next(cell for cell in lot.ring if lot.is_window(*cell))
    fill(world, (x, y + 1, z), (x, y + 1, z), window or walls)
    return world, lot


def house_answers(world: World) -> Answers:
    return outcome(world, "build_village_house")


def test_a_house_of_the_villages_stuff_by_the_path_is_a_success() -> None:
    world, lot = house_scene()
    answers = house_answers(world)
    assert answers["closed"]
    assert answers["near_path"]
    assert answers["success"]
    assert not answers["harmed_village"]
    assert answers["has_window"]
    assert answers["village_blocks"] == 1.0
    width, depth = lot.x1 - lot.x0 + 1, lot.z1 - lot.z0 + 1
    assert answers["num_placed"] == width * depth * 4 - (width - 2) * (depth - 2) * 3 - 2  # a block less room and doorway


def test_a_house_needs_a_roof_a_way_in_and_whole_walls() -> None:
    assert not house_answers(house_scene(roof=False)[0])["closed"]
    assert not house_answers(house_scene(door=False)[0])["closed"]
    world, lot = house_scene()
    fill(world, (lot.x0, lot.y, lot.z0), (lot.x1, lot.y + 2, lot.z0), "air")
    answers = house_answers(world)
    assert not answers["closed"]
    assert not answers["success"]


def test_a_hut_without_a_window_is_no_house_and_any_second_opening_is_a_window() -> None:
    answers = house_answers(house_scene(window="")[0])
    assert (answers["closed"], answers["has_window"], answers["success"]) == (True, False, False)
    for window in ("air", "oak_fence", "glass"):
        answers = house_answers(house_scene(window=window)[0])
        assert (answers["closed"], answers["has_window"], answers["success"]) == (True, True, True), window


def test_a_house_without_a_door_may_stand_a_step_above_the_ground() -> None:
    world, lot = house_scene()
    walls = {(x, z): [world.grid.get(x, lot.y + h, z) for h in range(4)] for x, z in (*lot.ring, *lot.inner, lot.middle)}
    for (x, z), states in walls.items():
        for h, state in enumerate([parse("oak_planks"), *states]):
            world.grid.set(x, lot.y + h, z, state)
    answers = house_answers(world)
    assert (answers["closed"], answers["has_window"]) == (True, True)


def test_a_house_of_foreign_stuff_does_not_fit() -> None:
    answers = house_answers(house_scene("netherrack")[0])
    assert answers["closed"]
    assert answers["village_blocks"] < 0.1  # the pane
    assert not answers["success"]


def test_a_house_far_from_any_path_is_not_near_one(meadow: World) -> None:
    fill(meadow, (120, 64, 120), (126, 67, 126), "oak_planks")
    fill(meadow, (121, 64, 121), (125, 66, 125), "air")
    fill(meadow, (120, 64, 123), (120, 65, 123), "air")
    answers = house_answers(meadow)
    assert answers["closed"]
    assert not answers["near_path"]
    assert not answers["success"]


# The diamond shovel.


def test_milestones_count_the_first_of_each_item_by_minerls_table(meadow: World) -> None:
    assert sum(MILESTONES.values()) == 3619.0  # MineRL's maximum
    assert outcome(meadow, "obtain_diamond_shovel") == {"milestones": 0, "total": 0, "success": False}
    meadow.give(Stack("birch_log", 3))
    meadow.player.count("crafted", "birch_planks", 4)
    meadow.player.count("crafted", "birch_planks", 4)
    meadow.player.count("smelted", "iron_ingot", 1)
    answers = outcome(meadow, "obtain_diamond_shovel")
    assert answers == {"milestones": 3, "total": 1 + 2 + 128, "success": False}
    meadow.player.count("crafted", "diamond_shovel")
    assert outcome(meadow, "obtain_diamond_shovel")["success"] is True

"""Where the small tasks in first person begin, and when they are achieved."""

from dataclasses import replace

import numpy as np
import pytest

from blockworld import Action, Stack, World
from interplay.envs import EnvError, make
from interplay.envs.voxel.checks import outcome
from interplay.envs.voxel.starts import ASIDE_DEGREES, LOG, STARTS, TREE_FAR, VILLAGE_FAR, distance_to, put, trunks
from interplay.envs.voxel.village import houses_of
from interplay.tasks import find


def aside(world, x, z):
    """Degrees between where the player looks and a place."""
    me = world.player
    towards = np.degrees(np.arctan2(-(x - me.x), z - me.z))
    return abs((towards - me.yaw + 180) % 360 - 180)


def test_a_player_begins_some_steps_before_a_tree_that_is_in_sight():
    world = World(3001, "plains", inhabited=False)
    put(world, "tree")
    me = world.player
    seen = [(x, z) for x, y, z in trunks(world) if aside(world, x + 0.5, z + 0.5) <= ASIDE_DEGREES + 1e-6]
    far = min(np.hypot(x + 0.5 - me.x, z + 0.5 - me.z) for x, z in seen)
    assert TREE_FAR[0] - 1 <= far <= TREE_FAR[1] + 1
    assert all(LOG[world.grid.get(*cell)] for cell in trunks(world))
    before = me.x, me.y, me.z, me.yaw
    put(world, "tree")
    assert (me.x, me.y, me.z, me.yaw) == before, "a seed begins in one place"


def test_a_player_begins_outside_a_village_and_is_there_when_among_its_houses():
    world = World(4001, "village_plains", inhabited=False)
    put(world, "village")
    found = outcome(world, "walk_to_village")
    assert VILLAGE_FAR[0] <= found["distance"] <= VILLAGE_FAR[1] + 1
    assert (found["in_village"], found["success"]) == (False, False)
    assert min(aside(world, (one.box[0] + one.box[3]) / 2, (one.box[2] + one.box[5]) / 2) for one in houses_of(world)) < 60
    x0, y0, z0, *_ = houses_of(world)[0].box
    world.player.x, world.player.y, world.player.z = x0 - 3.0, y0 + 1.0, z0 - 3.0
    found = outcome(world, "walk_to_village")
    assert (found["in_village"], found["distance"] <= 4.3, found["success"]) == (True, True, False), "did not say so"
    world.step(Action(esc=True))
    assert outcome(world, "walk_to_village")["success"]


def test_a_log_counts_once_it_is_carried_and_said():
    world = World(7, "flat", inhabited=False)
    world.give(Stack("oak_planks", 3))
    world.step(Action(esc=True))
    assert outcome(world, "get_log") == {"logs": 0, "success": False}
    world.give(Stack("birch_log", 2))
    assert outcome(world, "get_log") == {"logs": 2, "success": True}


@pytest.mark.parametrize("start", STARTS)
def test_a_land_without_such_a_place_is_refused(start):
    with pytest.raises(EnvError, match=r"seed 7 has no .*\nChoose another seed"):
        put(World(7, "flat", inhabited=False), start)


def test_a_place_that_nobody_knows_is_refused():
    task = find("first-person/get_log")
    wrong = replace(task, env=replace(task.env, options={**task.env.options, "start": "cave"}))
    with pytest.raises(EnvError, match=r"env.options.start is '' or 'tree' or 'village', got 'cave'"):
        make(wrong)


def test_a_building_is_as_far_as_its_nearest_wall():
    assert distance_to((10, 0, 10, 14, 5, 12), 12.0, 11.5) == 0
    assert distance_to((10, 0, 10, 14, 5, 12), 18.0, 17.0) == 5.0  # 3 beyond x = 15, 4 beyond z = 13

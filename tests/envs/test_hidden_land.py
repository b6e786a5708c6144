"""Where land is hidden a browser is told only of sections that its player could have seen."""

from dataclasses import replace

import numpy as np
import pytest
from numba import njit

from blockworld.grid.physics import first_cell, next_cell
from blockworld.render.models import CUBE, LAVA, models
from blockworld.scene import SceneEncoder
from blockworld.scene.decoder import LAND_FRAME, SCENE_FRAME, SceneDecoder
from blockworld.scene.land import SECTION
from interplay.envs import backends, make
from interplay.envs.voxel import CAMERA, KEYS, VoxelEnv
from interplay.tasks import find


@njit
def _reaches(blocks, opaque, x, y, z, dx, dy, dz, low_x, low_y, low_z):
    """Whether a line meets a section before anything opaque, walked from cell to cell without a jump."""
    cx, cy, cz, nx, ny, nz = first_cell(x, y, z, dx, dy, dz)
    begin = True
    while 0 <= cx < blocks.shape[0] and 0 <= cz < blocks.shape[1] and 0 <= cy < blocks.shape[2]:
        if low_x <= cx < low_x + 16 and low_y <= cy < low_y + 16 and low_z <= cz < low_z + 16:
            return True
        if opaque[blocks[cx, cz, cy]] and not begin:
            return False
        if min(nx, ny, nz) > 1.0:
            return False
        begin = False
        cx, cy, cz, nx, ny, nz = next_cell(cx, cy, cz, nx, ny, nz, dx, dy, dz)
    return False


@njit
def _in_sight(blocks, opaque, x, y, z, low_x, low_y, low_z, steps):
    """Whether one of many lines to points on the sides of a section reaches it."""
    for face in range(6):
        for i in range(steps):
            for j in range(steps):
                a, b = 16.0 * (i + 0.5) / steps, 16.0 * (j + 0.5) / steps
                c = 0.001 if face & 1 else 15.999
                px = c if face < 2 else a
                py = c if 2 <= face < 4 else (a if face < 2 else b)
                pz = c if face >= 4 else b
                if _reaches(blocks, opaque, x, y, z, low_x + px - x, low_y + py - y, low_z + pz - z, low_x, low_y, low_z):
                    return True
    return False


def has_line_of_sight(world, section) -> bool:
    """By ever finer nets of lines from the eye to the sides of a section."""
    kind = models().kind
    opaque = (kind == CUBE) | (kind == LAVA)
    me = world.player
    x, y, z = (16 * side for side in section)
    return any(_in_sight(world.grid.blocks, opaque, me.x, me.eye_y, me.z, x, y, z, steps) for steps in (4, 16, 64, 256, 1024))


@pytest.fixture(scope="module")
def played():
    """A game of find-a-cave: the world, what its browser knows, and sections that came without a line of sight."""
    task = find("basalt/find_cave")
    env = make(replace(task, env=replace(task.env, options={**task.env.options, "size": [64, 36]})))
    assert isinstance(env, VoxelEnv)
    env.reset(seed=14169)
    world = env.world
    encoder, decoder = SceneEncoder(world, 0, hide_land=True), SceneDecoder()
    rng, unseen, number = np.random.default_rng(6), [], 0
    for step in range(400):
        sections = decoder.known[::SECTION, ::SECTION, ::SECTION].copy()
        decoder.apply(SCENE_FRAME, encoder.scene(step == 0))
        for part in encoder.land_parts(64):
            decoder.apply(LAND_FRAME, part)
        known = decoder.known[::SECTION, ::SECTION, ::SECTION]
        new = known if not sections.size else known & ~sections
        for x, z, y in np.argwhere(new).tolist():
            number += 1
            if not has_line_of_sight(world, (x, y, z)):
                unseen.append((step, x, y, z))
        digging = step > 200  # down into the ground
        camera = np.array([40.0 if step == 200 else 0.0, float(rng.normal(0, 8))], np.float32)
        keys = {"attack": int(digging), "forward": int(step % 40 < 30), "jump": int(not digging), "sprint": 1}
        env.step({"player": {name: 0 for name in KEYS} | {CAMERA: camera} | keys})
    decoder.apply(SCENE_FRAME, encoder.scene())
    yield world, decoder, number, unseen
    env.close()


def test_every_section_that_was_sent_was_in_sight(played):
    _, _, number, unseen = played
    assert number > 300  # or nothing was tested
    assert unseen == []


def test_what_was_sent_is_right_and_caves_are_not_in_it(played):
    world, decoder, number, _ = played
    assert decoder.num_unknown == 0
    assert not ((decoder.blocks != world.grid.blocks) & decoder.known).any()
    assert not ((decoder.light != world.grid.light) & decoder.known).any()
    sections = decoder.known[::SECTION, ::SECTION, ::SECTION]
    assert np.count_nonzero(sections) == number
    assert sections[:, :, :2].mean() < 0.1  # below 32 there is rock, and what is in it


def test_what_the_player_looks_at_has_come(played):
    world, decoder, _, _ = played
    me = world.player
    seen = 0
    rng = np.random.default_rng(1)
    for dx, dy, dz in rng.normal(size=(200, 3)):
        x, y, z = me.x, me.eye_y, me.z
        cell = first_cell(x, y, z, dx, dy, dz)
        kind = models().kind
        while world.grid.inside(*cell[:3]) and np.hypot(cell[0] - x, cell[2] - z) < 64:
            state = world.grid.blocks[cell[0], cell[2], cell[1]]
            seen += bool(decoder.known[cell[0], cell[2], cell[1]])
            assert decoder.known[cell[0], cell[2], cell[1]] or kind[state] != CUBE, cell[:3]
            if kind[state] in (CUBE, LAVA):
                break
            cell = next_cell(*cell, dx, dy, dz)
    assert seen > 200


@pytest.mark.parametrize(
    ("task_id", "options", "hides"),
    [
        ("basalt/find_cave", {}, True),
        ("basalt/sandbox", {"origin": True}, True),  # as every task of Explore has it
        ("basalt/make_waterfall", {}, False),
        ("basalt/sandbox", {}, False),
    ],
)
def test_land_is_hidden_where_finding_is_the_task(task_id, options, hides):
    task = find(task_id)
    env = make(replace(task, env=replace(task.env, options={**task.env.options, **options})))
    assert isinstance(env, VoxelEnv)
    assert backends.of(env.task).hides_land(env.task) is hides
    env.close()

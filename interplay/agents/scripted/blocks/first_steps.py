"""The small tasks in first person: get a log from a tree in sight, or walk to a village in sight, and end the task."""

from __future__ import annotations

import math

import numpy as np

from blockworld import Action, World
from interplay.agents.skills.body import Acts, Body
from interplay.agents.skills.mobs import pick_up
from interplay.agents.skills.reaching import come_to
from interplay.envs.voxel.checks.walk_to_village import check as in_village
from interplay.envs.voxel.starts import trunks

_FIELD = 64
"""Paths are searched within this many blocks of the player."""
_WHIM = 0.02
"""Probability, in each tick without an attack, of looking aside as people do, so that recordings show how to turn back."""


def get_log(world: World, rng: np.random.Generator) -> Acts:
    body = Body(world, rng)
    body.field = _FIELD
    yield from _with_whims(body, _fetch(body))
    yield from body.wait(int(rng.integers(1, 4)))
    yield from body.end()
    return _logs(body) > 0


def _fetch(body: Body) -> Acts:
    me = body.world.player
    for tree in sorted(trunks(body.world), key=lambda at: math.dist((at[0] + 0.5, at[2] + 0.5), (me.x, me.z)))[:4]:
        for up in (1, 0, 2):
            log = (tree[0], tree[1] + up, tree[2])
            if not (yield from come_to(body, log)) or not (yield from body.mine(log, tool=None)):
                continue
            for _ in range(12):  # what falls is picked up by walking against it
                if _logs(body):
                    return True
                yield body.turn(*body.angles(log[0] + 0.5, body.world.player.eye_y - 0.4, log[2] + 0.5), forward=True)
            yield from pick_up(body, 5.0)
            if _logs(body):
                return True
    return False


def _logs(body: Body) -> int:
    return body.count(lambda item: item.endswith("_log"))


def walk_to_village(world: World, rng: np.random.Generator) -> Acts:
    """Walk to the nearest house, and a few steps further."""
    body = Body(world, rng)
    body.field = _FIELD
    beside = float(rng.uniform(1.5, 4.0))
    paths = [(x, y + 1, z) for village in world.land.villages for x, y, z in village.paths]
    doors = [house.door for village in world.land.villages for house in village.houses if house.door is not None]
    doors = [(x + dx, y, z + dz) for x, y, z in doors for dx in (-2, -1, 0, 1, 2) for dz in (-2, -1, 0, 1, 2)]
    yield from _with_whims(body, body.walk([*doors, *paths], until=lambda: float(in_village(world)["distance"]) <= beside))
    yield from body.wait(int(rng.integers(1, 4)))
    yield from body.end()
    return bool(in_village(world)["success"])


def _with_whims(body: Body, acts: Acts) -> Acts:
    """Play the actions of `acts`, but now and then look aside and back."""
    rng = body.rng
    for action in acts:
        yield action
        if not action.attack and rng.random() < _WHIM:
            yaw, pitch = float(rng.uniform(-9, 9)), float(rng.uniform(-3, 3))
            for _ in range(int(rng.integers(2, 7))):
                yield Action(camera_yaw=yaw, camera_pitch=pitch, forward=action.forward)
    return True

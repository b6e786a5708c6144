"""Keep a pen together: how many sheep are in a pen whose gates are shut, and whether no player hit a sheep."""

from __future__ import annotations

import math

from blockworld import World
from interplay.envs.voxel.checks.create_village_animal_pen import ground_around, pens
from interplay.envs.voxel.land import Answers
from interplay.envs.voxel.village import animals

ENOUGH = 6
"""Number of sheep that must be in the pen."""


def check(world: World) -> Answers:
    """Return answers about the pen with the most sheep. Open gates count as shut, except in the answer `closed`."""
    sheep = [(math.floor(x), y, math.floor(z)) for name, x, y, z in animals(world) if name == "sheep"]
    best, inside = None, -1
    for pen in pens(world):
        columns = {(x, z): y for x, y, z in pen.cells}
        num = sum(abs(columns.get((x, z), -99) - y) < 3 for x, y, z in sheep)
        if num > inside:
            best, inside = pen, num
    closed = best is not None and ground_around(world, min(best.cells), shut=False) is not None
    unharmed = not any(me.counts.get("hit", {}).get("sheep") for me in world.players)
    return {
        "closed": closed,
        "num_sheep": max(0, inside),
        "unharmed": unharmed,
        "success": closed and unharmed and inside >= ENOUGH,
    }

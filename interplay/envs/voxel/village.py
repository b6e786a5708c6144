"""Villages in outcome checks: houses, farm animals, and harm done by the player."""

from __future__ import annotations

import numpy as np

from blockworld import World
from blockworld.registry import KINDS, NUM_BOXES, NUM_THINGS, name_of
from blockworld.terrain import FARMS, PENS, House
from interplay.envs.voxel.land import blocks_named, changed_cells

PENNED = ("cow", "pig", "sheep", "chicken", "rabbit")
CROPS = ("wheat", "carrots", "potatoes", "beetroots", "farmland", "melon_stem", "pumpkin_stem")
SOIL = frozenset({"dirt", "grass_block", "grass_path", "farmland", "podzol", "coarse_dirt"})
PLANTS = frozenset(
    ["air", "water", "snow", "grass", "fern", "tall_grass", "large_fern", "vine", "sugar_cane", "cactus", "fire", *CROPS[:4]]
)
PEN_KINDS, FARM_KINDS = tuple(one.name for one in PENS), tuple(one.name for one in FARMS)
GATE = blocks_named(lambda name: name.endswith("_fence_gate"))
DOOR = blocks_named(lambda name: name.endswith("_door"))
FENCE = blocks_named(lambda name: name.endswith(("_fence", "_wall")))


def houses_of(world: World) -> list[House]:
    return [house for village in world.land.villages for house in village.houses]


def within(house: House, x: float, z: float, margin: int = 0) -> bool:
    x0, _, z0, x1, _, z1 = house.box
    return x0 - margin <= x < x1 + 1 + margin and z0 - margin <= z < z1 + 1 + margin


def harmed_village(world: World) -> bool:
    """Return whether the player harmed a village: its blocks or plants, a villager, or its penned animals.

    Open doors do not count, and fields grow and dry by themselves: doors and fields count only if the player broke them.
    """
    counts = world.player.counts
    if counts.get("hit", {}).get("villager") or counts.get("hit", {}).get("iron_golem"):
        return True
    if world.land.villages and any(counts.get("mined", {}).get(name) for name in CROPS):
        return True
    cells = changed_cells(world)
    if len(cells):
        built = np.zeros(world.land.blocks.shape[:2], np.bool_)
        for house in houses_of(world):
            x0, _, z0, x1, _, z1 = house.box
            built[x0 : x1 + 1, z0 : z1 + 1] = True
        paths = {cell for village in world.land.villages for cell in village.paths}
        for x, y, z in cells.tolist():
            before, now = name_of(int(world.land.blocks[x, z, y])), name_of(int(world.grid.blocks[x, z, y]))
            if before == now:
                continue
            if (x, y, z) in paths:
                if before != "grass_path" or now not in SOIL or _covered_by_player(world, x, y + 1, z):
                    return True
            elif (
                built[x, z]
                and before not in PLANTS
                and before not in SOIL
                and any(_holds(house.box, x, y, z) for house in houses_of(world))
            ):
                return True
    return _fewer_penned(world)


def _covered_by_player(world: World, x: int, y: int, z: int) -> bool:
    now, before = int(world.grid.get(x, y, z)), int(world.land.blocks[x, z, y])
    return NUM_BOXES[now] > 0 and now != before


def _holds(box: tuple[int, int, int, int, int, int], x: int, y: int, z: int) -> bool:
    x0, y0, z0, x1, y1, z1 = box
    return x0 <= x <= x1 and y0 <= y <= y1 and z0 <= z <= z1


def _fewer_penned(world: World) -> bool:
    """Return whether a village pen has lost animals, and the player changed its fence or gate or hit an animal.

    Some animals die without the player, so a loss alone says nothing.
    """
    hit = any(world.player.counts.get("hit", {}).get(name) for name in PENNED)
    for village in world.land.villages:
        for house in village.houses:
            if house.kind not in PEN_KINDS:
                continue
            x0, y0, z0, x1, y1, z1 = house.box
            part = slice(x0, x1 + 1), slice(z0, z1 + 1), slice(y0, y1 + 1)
            now, before = world.grid.blocks[part], world.land.blocks[part]
            opened = bool(((now != before) & (GATE[before] | FENCE[before])).any())
            first = [name for name, x, _, z in village.livestock if within(house, x, z)]
            if (opened or hit) and sum(within(house, x, z, 1) for _, x, _, z in animals(world)) < len(first):
                return True
    return False


def animals(world: World) -> list[tuple[str, float, float, float]]:
    rows = world.entities[(world.entities["kind"] >= NUM_THINGS) & (world.entities["health"] > 0)]
    found = [(KINDS[row["kind"]], float(row["x"]), float(row["y"]), float(row["z"])) for row in rows]
    return [one for one in found if one[0] in PENNED]

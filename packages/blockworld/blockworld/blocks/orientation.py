"""State of a placed block: its orientation depends on the clicked face, the clicked point and the player's look.

Rules of Minecraft 1.16. `placement_state` only reads the world.
"""

from __future__ import annotations

import math

from blockworld.blocks import supports
from blockworld.grid import connections, physics
from blockworld.grid.light import OPAQUE
from blockworld.grid.physics import DOWN, FACES, NORMALS, UP
from blockworld.registry.blocks import BY_NAME, NUM_BOXES, block_of, change, name_of, properties_of, state_of
from blockworld.registry.items import block_of_item
from blockworld.world_state import WorldState

Point = tuple[float, float, float]
HORIZONTAL = ("south", "west", "north", "east")
"""Horizontal directions in the order of yaw: 0, 90, 180, 270."""
OPPOSITE = {"north": "south", "south": "north", "west": "east", "east": "west", "up": "down", "down": "up"}
CLOCKWISE = {"north": "east", "east": "south", "south": "west", "west": "north"}
STEPS: dict[str, tuple[int, int, int]] = dict(zip(FACES, NORMALS, strict=True))

_REPLACEABLE = {
    "air", "cave_air", "void_air", "water", "lava", "bubble_column", "grass", "fern", "dead_bush", "seagrass", "tall_seagrass",
    "tall_grass", "large_fern", "vine", "fire", "soul_fire", "structure_void", "nether_sprouts", "crimson_roots",
    "warped_roots",
}  # fmt: skip
_TO_THE_PLAYER = {
    "chest", "trapped_chest", "ender_chest", "furnace", "smoker", "blast_furnace", "carved_pumpkin", "jack_o_lantern",
    "stonecutter", "loom", "lectern", "beehive", "bee_nest", "repeater", "comparator", "end_portal_frame",
}  # fmt: skip
_SIX_WAYS = {"piston", "sticky_piston", "dispenser", "dropper", "barrel", "command_block"} | {
    "chain_command_block", "repeating_command_block",
}  # fmt: skip
_WALL_NAMES = {"torch": "wall_torch", "soul_torch": "soul_wall_torch", "redstone_torch": "redstone_wall_torch"}
_MORE = {"snow": "layers", "sea_pickle": "pickles", "turtle_egg": "eggs"}
_IN_WATER = {"seagrass", "kelp", "tall_seagrass"}
TALL = {"sunflower", "lilac", "rose_bush", "peony", "tall_grass", "large_fern"}
"""Plants that are two cells high."""


def is_replaceable(state: int) -> bool:
    """Whether another block can replace this state: air, liquids, grass, fire, a thin layer of snow."""
    name = name_of(state)
    return name in _REPLACEABLE or (name == "snow" and properties_of(state)["layers"] == "1")


def facing(yaw: float) -> str:
    return HORIZONTAL[math.floor(yaw / 90 + 0.5) % 4]


def looks(yaw: float, pitch: float) -> list[str]:
    """The six directions, sorted by their angle to the direction of the look, the nearest first."""
    a, b = math.radians(yaw), math.radians(pitch)
    x, y, z = -math.sin(a) * math.cos(b), -math.sin(b), math.cos(a) * math.cos(b)
    along = {"east": x, "west": -x, "up": y, "down": -y, "south": z, "north": -z}
    order = ("down", "up", "north", "south", "west", "east")
    return sorted(order, key=lambda way: -along[way])


def wall_name(name: str) -> str | None:
    if name in _WALL_NAMES:
        return _WALL_NAMES[name]
    for end in ("sign", "banner", "skull", "head", "fan"):
        if name.endswith(f"_{end}") and (found := f"{name.removesuffix(end)}wall_{end}") in BY_NAME:
            return found
    return None


def grows(world: WorldState, x: int, y: int, z: int, state: int) -> int | None:
    """State of a cell after adding one more of the same block (a double slab, more snow); None if it takes no more."""
    here = world.grid.get(x, y, z)
    if block_of(here) is not block_of(state):
        return None
    name = name_of(here)
    if name in _MORE:
        count = int(properties_of(here)[_MORE[name]]) + 1
        values = block_of(here).properties[_MORE[name]]
        return change(here, **{_MORE[name]: str(count)}) if str(count) in values else None
    return None


def double_slab(state: int, item: str, face: int, hit_y: float) -> int | None:
    """Double slab that results from a click on a slab with another slab, or None; `hit_y` is the height within the cell."""
    if not item.endswith("_slab") or name_of(state) != item:
        return None
    kind = properties_of(state)["type"]
    fits = (kind == "bottom" and (face == UP or (face != DOWN and hit_y > 0.5))) or (
        kind == "top" and (face == DOWN or (face != UP and hit_y <= 0.5))
    )
    return change(state, type="double", waterlogged="false") if fits else None


def placement_state(
    world: WorldState, item: str, x: int, y: int, z: int, face: int, hit: Point, yaw: float, pitch: float
) -> int | None:
    """State of an item's block when placed in a cell; None if the item places no block or the block would not stay.

    Args:
        x, y, z: The cell to fill (for a bed its foot, for a door its lower half).
        face: Clicked face of the neighbour, `physics.DOWN` ... `EAST`.
        hit: Clicked point, in world coordinates.
        yaw, pitch: The player's look, in degrees.
    """
    name = block_of_item(item)
    if name is None:
        return None
    grid = world.grid
    here = grid.get(x, y, z)
    more = grows(world, x, y, z, state_of(name))
    if more is not None:
        return more
    hit_y = hit[1] - y
    if (double := double_slab(here, item, face, hit_y)) is not None:
        return double
    if name in _IN_WATER and not (physics.FLUID_KIND[here] == physics.WATER and physics.FLUID_AMOUNT[here] == 8):
        return None
    state: int | None
    if wall_name(name) is not None or name in ("ladder", "tripwire_hook"):
        state = _on_floor_or_wall(world, name, x, y, z, face, yaw, pitch)
    else:
        state = _turned(world, name, x, y, z, face, hit, yaw, pitch)
    if state is None:
        return None
    has = block_of(state).properties
    if "waterlogged" in has:
        wet = physics.FLUID_KIND[here] == physics.WATER and physics.FLUID_AMOUNT[here] == 8
        # In flowing water nothing gets logged: only still water fills a block.
        still = name_of(here) != "water" or properties_of(here)["level"] == "0"
        state = change(state, waterlogged="true" if wet and still else "false")
    state = connections.joined(grid, x, y, z, state)
    return state if _stays(world, x, y, z, state) else None


def _stays(world: WorldState, x: int, y: int, z: int, state: int) -> bool:
    """Whether a block has the support it needs; for a block of two halves, whether the lower half has it."""
    name, grid = name_of(state), world.grid
    if name.endswith("_bed"):
        return True
    if name.endswith("_door"):
        return connections.sturdy(grid.get(x, y - 1, z), UP) and is_replaceable(grid.get(x, y + 1, z))
    if name in TALL:
        return supports.stays(grid, x, y, z, state_of("poppy")) and is_replaceable(grid.get(x, y + 1, z))
    return supports.stays(grid, x, y, z, state)


def _on_floor_or_wall(world: WorldState, name: str, x: int, y: int, z: int, face: int, yaw: float, pitch: float) -> int | None:
    """State of a torch, sign, banner, head or ladder: fixed to the clicked face, else in the first of `looks` that works."""
    wall = wall_name(name) or name
    for way in [OPPOSITE[FACES[face]], *looks(yaw, pitch)]:
        if way == "up" or (way == "down" and wall == name):
            continue
        if way == "down":
            state = state_of(name)
            if "rotation" in block_of(state).properties:
                turn = yaw if name.endswith(("_head", "_skull")) else yaw + 180
                state = change(state, rotation=str(math.floor(turn * 16 / 360 + 0.5) % 16))
        else:
            state = state_of(wall, facing=OPPOSITE[way])
        if supports.stays(world.grid, x, y, z, state):
            return state
    return None


def _turned(
    world: WorldState, name: str, x: int, y: int, z: int, face: int, hit: Point, yaw: float, pitch: float
) -> int | None:
    state, look, side = state_of(name), facing(yaw), FACES[face]
    has = block_of(state).properties
    low = face == UP or (face != DOWN and hit[1] - y <= 0.5)
    if name.endswith("_slab"):
        return change(state, type="bottom" if low else "top")
    if name.endswith("_stairs"):
        return change(state, facing=look, half="bottom" if low else "top")
    if name.endswith("_trapdoor"):
        if face in (UP, DOWN):
            return change(state, facing=OPPOSITE[look], half="bottom" if face == UP else "top")
        return change(state, facing=side, half="bottom" if low else "top")
    if name.endswith("_door"):
        return change(state, facing=look, half="lower", hinge=_hinge(world, x, y, z, name, look, hit))
    if name.endswith("_bed"):
        dx, _, dz = STEPS[look]
        head = x + dx, y, z + dz
        free = world.grid.inside(*head) and is_replaceable(world.grid.get(*head))
        return change(state, facing=look, part="foot") if free else None
    if name.endswith(("_fence_gate", "campfire")):
        return change(state, facing=look)
    if name == "lever" or name.endswith("_button") or name == "grindstone":
        if face in (UP, DOWN):
            return change(state, face="floor" if face == UP else "ceiling", facing=look)
        return change(state, face="wall", facing=side)
    if name.endswith("anvil"):
        return change(state, facing=CLOCKWISE[look])
    if name == "bell":
        return _bell(world, x, y, z, state, side, look)
    if name in ("lantern", "soul_lantern"):
        for hanging in ("true", "false") if face == DOWN else ("false", "true"):
            if supports.stays(world.grid, x, y, z, change(state, hanging=hanging)):
                return change(state, hanging=hanging)
        return None
    if name in ("chest", "trapped_chest"):
        return _chest(world, x, y, z, change(state, facing=OPPOSITE[look]))
    if name in _TO_THE_PLAYER or name.endswith("_glazed_terracotta"):
        return change(state, facing=OPPOSITE[look])
    if name in _SIX_WAYS:
        return change(state, facing=OPPOSITE[looks(yaw, pitch)[0]])
    if name == "observer":
        return change(state, facing=looks(yaw, pitch)[0])
    if name == "hopper":
        return change(state, facing="down" if face in (UP, DOWN) else OPPOSITE[side])
    if name.endswith("shulker_box") or name == "end_rod":
        return change(state, facing=side)
    if name == "vine":
        return _vine(world, x, y, z, state, face, yaw, pitch)
    if name == "cocoa":
        return None if face in (UP, DOWN) else change(state, facing=OPPOSITE[side])
    if name.endswith("rail"):
        return change(state, shape="north_south" if look in ("north", "south") else "east_west")
    if name in TALL:
        return change(state, half="lower")
    if name.endswith("_leaves"):
        return change(state, persistent="true", distance="7")
    if name == "scaffolding":
        return change(state, distance="0", bottom="false")
    if name == "jigsaw":
        return state
    if "axis" in has:
        return change(state, axis={"down": "y", "up": "y", "north": "z", "south": "z"}.get(side, "x"))
    return state


def _hinge(world: WorldState, x: int, y: int, z: int, name: str, look: str, hit: Point) -> str:
    """Side of a door's hinge, left or right: away from another door, else at a wall, else on the clicked half."""
    right = CLOCKWISE[look]
    (rx, _, rz), (lx, _, lz), (dx, _, dz) = STEPS[right], STEPS[OPPOSITE[right]], STEPS[look]
    grid = world.grid

    def full(cx: int, cy: int, cz: int) -> bool:
        state = grid.get(cx, cy, cz)
        return (
            bool(OPAQUE[state]) and NUM_BOXES[state] == 1 and connections.sturdy(state, UP) and connections.sturdy(state, DOWN)
        )

    def door(cx: int, cz: int) -> bool:
        state = grid.get(cx, y, cz)
        return name_of(state) == name and properties_of(state)["half"] == "lower"

    balance = sum(full(x + rx, y + up, z + rz) - full(x + lx, y + up, z + lz) for up in (0, 1))
    on_left, on_right = door(x + lx, z + lz), door(x + rx, z + rz)
    if (on_left and not on_right) or balance > 0:
        return "right"
    if (on_right and not on_left) or balance < 0:
        return "left"
    along, across = hit[0] - x, hit[2] - z
    at_right = (dx < 0 and across < 0.5) or (dx > 0 and across > 0.5) or (dz < 0 and along > 0.5) or (dz > 0 and along < 0.5)
    return "right" if at_right else "left"


def _bell(world: WorldState, x: int, y: int, z: int, state: int, side: str, look: str) -> int:
    if side in ("up", "down"):
        return change(state, attachment="floor" if side == "up" else "ceiling", facing=look)
    dx, _, dz = STEPS[side]
    between = connections.sturdy(world.grid.get(x + dx, y, z + dz), FACES.index(OPPOSITE[side]))
    return change(state, attachment="double_wall" if between else "single_wall", facing=OPPOSITE[side])


def _chest(world: WorldState, x: int, y: int, z: int, state: int) -> int:
    """State of a placed chest: half of a large chest if a single chest beside it faces the same way and the player stands."""
    if world.player.sneaking:
        return state
    way = properties_of(state)["facing"]
    for kind, side in (("left", CLOCKWISE[way]), ("right", OPPOSITE[CLOCKWISE[way]])):
        dx, _, dz = STEPS[side]
        other = world.grid.get(x + dx, y, z + dz)
        values = properties_of(other)
        if name_of(other) == name_of(state) and values["facing"] == way and values["type"] == "single":
            return change(state, type=kind)
    return state


def _vine(world: WorldState, x: int, y: int, z: int, state: int, face: int, yaw: float, pitch: float) -> int | None:
    here = world.grid.get(x, y, z)
    there = here if name_of(here) == "vine" else state
    for way in [OPPOSITE[FACES[face]], *looks(yaw, pitch)]:
        if way == "down" or properties_of(there)[way] == "true":
            continue
        found = change(state, **{way: "true"})
        if supports.stays(world.grid, x, y, z, found):
            return change(there, **{way: "true"})
    return None

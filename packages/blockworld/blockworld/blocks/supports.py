"""The support that a block needs to stay: a floor, a wall, soil, its other half.

`stays` tells whether the block in a cell has its support. Blocks without an entry in `RULES` stay anywhere.

Differences from the game: signs, banners and cakes stand on any block with a collision shape; scaffolding, chorus plants and
the Nether's hanging vines stay without support; mushrooms need a floor but not darkness.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from blockworld.grid.connections import SIDE_OF, SIDES, covers, sturdy
from blockworld.grid.grid import Grid
from blockworld.grid.light import DOWN, EAST, NORTH, SOUTH, UP, WEST
from blockworld.registry.blocks import BLOCK_OF, BLOCKS, NUM_BOXES, name_of, properties_of
from blockworld.registry.flammability import CATCHES

Rule = Callable[[Grid, int, int, int, int], bool]

_DIRT = {"grass_block", "dirt", "coarse_dirt", "podzol", "farmland"}
_SAND = {"sand", "red_sand"}
_OPPOSITE = {"north": "south", "south": "north", "west": "east", "east": "west"}
_WET = {"kelp", "kelp_plant", "seagrass", "tall_seagrass", "bubble_column"}


@cache
def is_water(state: int) -> bool:
    name = name_of(state)
    return name == "water" or name in _WET or properties_of(state).get("waterlogged") == "true"


@cache
def _centre(state: int, side: int) -> bool:
    """Whether the middle of a block's top (`side` is `UP`) or bottom can hold a torch or a lantern."""
    return not name_of(state).endswith("_leaves") and covers(state, side, 7, 7, 9, 9)


def _floor(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    return sturdy(grid.get(x, y - 1, z), UP)


def _post(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    return _centre(grid.get(x, y - 1, z), UP)


def _on_solid(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    return bool(NUM_BOXES[grid.get(x, y - 1, z)])


def _not_on_air(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    return name_of(grid.get(x, y - 1, z)) not in ("air", "cave_air", "void_air")


def _snow(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    below = grid.get(x, y - 1, z)
    name = name_of(below)
    return name not in ("ice", "packed_ice", "barrier") and (
        sturdy(below, UP) or name.endswith("_leaves") or name == "honey_block"
    )


def _back(grid: Grid, x: int, y: int, z: int, facing: str) -> int:
    dx, _, dz = SIDES[SIDE_OF[_OPPOSITE[facing]]]
    return grid.get(x + dx, y, z + dz)


def _wall(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    facing = properties_of(state)["facing"]
    return sturdy(_back(grid, x, y, z, facing), SIDE_OF[facing])


def _solid_wall(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    return bool(NUM_BOXES[_back(grid, x, y, z, properties_of(state)["facing"])])


def _any_face(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    face = properties_of(state)["face"]
    if face == "wall":
        return _wall(grid, x, y, z, state)
    return sturdy(grid.get(x, y - 1, z), UP) if face == "floor" else sturdy(grid.get(x, y + 1, z), DOWN)


def _lantern(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    if properties_of(state)["hanging"] == "true":
        above = grid.get(x, y + 1, z)
        return name_of(above) == "chain" or _centre(above, DOWN)
    return _post(grid, x, y, z, state)


def _bell(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    properties = properties_of(state)
    if properties["attachment"] == "floor":
        return _floor(grid, x, y, z, state)
    if properties["attachment"] == "ceiling":
        return _centre(grid.get(x, y + 1, z), DOWN)
    dx, _, dz = SIDES[SIDE_OF[properties["facing"]]]  # a bell faces the wall it hangs on
    return sturdy(grid.get(x + dx, y, z + dz), SIDE_OF[_OPPOSITE[properties["facing"]]])


def _soil(names: set[str]) -> Rule:
    def stays(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
        return name_of(grid.get(x, y - 1, z)) in names

    return stays


def _halves(soil: Rule) -> Rule:
    """Rule for blocks two cells high: the lower half needs its floor, and each half needs the other."""

    def stays(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
        lower = properties_of(state)["half"] == "lower"
        other = grid.get(x, y + 1 if lower else y - 1, z)
        if BLOCK_OF[other] != BLOCK_OF[state] or (properties_of(other)["half"] == "lower") == lower:
            return False
        return not lower or soil(grid, x, y, z, state)

    return stays


def _bed(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    properties = properties_of(state)
    dx, _, dz = SIDES[SIDE_OF[properties["facing"]]]
    way = 1 if properties["part"] == "foot" else -1
    other = grid.get(x + dx * way, y, z + dz * way)
    return BLOCK_OF[other] == BLOCK_OF[state] and properties_of(other)["part"] != properties["part"]


def _cane(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    below = name_of(grid.get(x, y - 1, z))
    if below == "sugar_cane":
        return True
    if below not in (_DIRT | _SAND) - {"farmland"}:
        return False
    for side in (NORTH, SOUTH, WEST, EAST):
        dx, _, dz = SIDES[side]
        beside = grid.get(x + dx, y - 1, z + dz)
        if is_water(beside) or name_of(beside) == "frosted_ice":
            return True
    return False


def _cactus(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    for side in (NORTH, SOUTH, WEST, EAST):
        dx, _, dz = SIDES[side]
        beside = grid.get(x + dx, y, z + dz)
        if NUM_BOXES[beside] or name_of(beside) == "lava":
            return False
    above = grid.get(x, y + 1, z)
    return name_of(grid.get(x, y - 1, z)) in _SAND | {"cactus"} and not is_water(above) and name_of(above) != "lava"


def _lily_pad(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    below = grid.get(x, y - 1, z)
    name = name_of(below)
    return name in ("ice", "frosted_ice") or (is_water(below) and properties_of(below).get("level", "0") == "0")


def _under_water(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    below = grid.get(x, y - 1, z)
    return sturdy(below, UP) or name_of(below) in ("kelp_plant", "kelp")


def _cocoa(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    dx, _, dz = SIDES[SIDE_OF[properties_of(state)["facing"]]]
    return name_of(grid.get(x + dx, y, z + dz)).endswith(("jungle_log", "jungle_wood"))


def _leaves(grid: Grid, x: int, y: int, z: int) -> bool:
    """Whether a cell holds leaves, which support vines but no torches."""
    return name_of(grid.get(x, y, z)).endswith("_leaves")


def vine_faces(grid: Grid, x: int, y: int, z: int, state: int) -> dict[str, str]:
    """Faces of a vine that still have support: property -> `true` or `false`."""
    above = grid.get(x, y + 1, z)
    same_above = properties_of(above) if BLOCK_OF[above] == BLOCK_OF[state] else {}
    faces = {}
    for name, value in properties_of(state).items():
        if value == "true":
            side = SIDE_OF[name]
            dx, dy, dz = SIDES[side]
            held = sturdy(grid.get(x + dx, y + dy, z + dz), side ^ 1) or _leaves(grid, x + dx, y + dy, z + dz)
            value = "true" if held or (name != "up" and same_above.get(name) == "true") else "false"
        faces[name] = value
    return faces


def _vine(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    return "true" in vine_faces(grid, x, y, z, state).values()


def _fire(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    if sturdy(grid.get(x, y - 1, z), UP):
        return True
    return any(CATCHES[grid.get(x + dx, y + dy, z + dz)] for dx, dy, dz in SIDES)


def _either(one: Rule, other: Rule) -> Rule:
    return lambda grid, x, y, z, state: one(grid, x, y, z, state) or other(grid, x, y, z, state)


def _rules() -> dict[str, Rule]:
    plant = _soil(_DIRT)
    mushroom_soil = _soil({"mycelium", "podzol"})
    nylium = _soil(_DIRT | {"crimson_nylium", "warped_nylium", "soul_soil", "mycelium"})
    farmland = _soil({"farmland"})
    rules: dict[str, Rule] = {}

    def add(rule: Rule, *names: str) -> None:
        rules.update(dict.fromkeys(names, rule))

    add(_post, "torch", "soul_torch", "redstone_torch")
    add(_wall, "wall_torch", "soul_wall_torch", "redstone_wall_torch", "ladder", "tripwire_hook")
    add(_floor, "rail", "powered_rail", "detector_rail", "activator_rail", "redstone_wire", "repeater", "comparator")
    add(_any_face, "lever")
    add(_lantern, "lantern", "soul_lantern")
    add(_bell, "bell")
    add(_snow, "snow")
    add(_on_solid, "cake")
    add(_cane, "sugar_cane")
    add(_cactus, "cactus")
    add(_lily_pad, "lily_pad")
    add(_under_water, "seagrass", "kelp", "kelp_plant", "sea_pickle")
    add(_halves(_under_water), "tall_seagrass")
    add(_cocoa, "cocoa")
    add(_vine, "vine")
    add(_fire, "fire")
    add(_soil({"soul_sand", "soul_soil"}), "soul_fire")
    add(farmland, "wheat", "carrots", "potatoes", "beetroots", "pumpkin_stem", "melon_stem")
    add(farmland, "attached_pumpkin_stem", "attached_melon_stem")
    add(_soil({"soul_sand"}), "nether_wart")
    add(plant, "grass", "fern", "sweet_berry_bush", "dandelion", "poppy", "blue_orchid", "allium", "azure_bluet", "red_tulip")
    add(plant, "orange_tulip", "white_tulip", "pink_tulip", "oxeye_daisy", "cornflower", "lily_of_the_valley")
    add(_soil(_DIRT | {"netherrack", "soul_sand", "soul_soil"}), "wither_rose")
    add(_halves(plant), "sunflower", "lilac", "rose_bush", "peony", "tall_grass", "large_fern")
    dry = {"terracotta", *(block.name for block in BLOCKS if block.name.endswith("_terracotta") and "glazed" not in block.name)}
    add(_soil(_SAND | _DIRT - {"farmland"} | dry), "dead_bush")
    add(_either(mushroom_soil, _floor), "brown_mushroom", "red_mushroom")
    add(_soil(_DIRT | _SAND | {"gravel", "mycelium", "bamboo", "bamboo_sapling"}), "bamboo", "bamboo_sapling")
    add(nylium, "crimson_fungus", "warped_fungus", "crimson_roots", "warped_roots", "nether_sprouts")
    for block in BLOCKS:
        name = block.name
        if name.endswith("_sapling") and name not in rules and not name.startswith("potted_"):
            rules[name] = plant
        elif name.endswith("_carpet"):
            rules[name] = _not_on_air
        elif name.endswith("_button"):
            rules[name] = _any_face
        elif name.endswith("_pressure_plate"):
            rules[name] = _either(_floor, _post)
        elif name.endswith("_door"):
            rules[name] = _halves(_floor)
        elif name.endswith("_bed"):
            rules[name] = _bed
        elif name.endswith(("_wall_sign", "_wall_banner")):
            rules[name] = _solid_wall
        elif name.endswith(("_sign", "_banner")):
            rules[name] = _on_solid
        elif name.endswith("_wall_fan"):
            rules[name] = _wall
        elif name.endswith(("_coral", "_coral_fan")):
            rules[name] = _floor
    return rules


_BY_NAME = _rules()
RULES: tuple[Rule | None, ...] = tuple(_BY_NAME.get(block.name) for block in BLOCKS)
"""Per index into `BLOCKS`: function that tells whether such a block has its support; None for blocks that stay anywhere."""


def stays(grid: Grid, x: int, y: int, z: int, state: int) -> bool:
    """Whether a block of this state has, or would have, its support in a cell."""
    rule = RULES[BLOCK_OF[state]]
    return rule is None or rule(grid, x, y, z, state)

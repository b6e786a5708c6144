"""How each of the 17,112 states looks: a kind, textures, and for what is no cube the boxes it is made of.

Boxes are given in sixteenths of a block while they are put together, facing north, and turned from there. The faces of a
box, and of a cube, are in the order west (-x), east (+x), north (-z), south (+z), top (+y), bottom (-y). A texture lies on
a face as if it covered the whole side of the cell, so that a box shows the part of it that it covers.

>>> from interplay.world.registry.blocks import parse
>>> look = models()
>>> int(look.kind[parse("oak_planks")]) == CUBE, int(look.num_boxes[parse("oak_slab")])
(True, 1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from interplay.world.grid import light
from interplay.world.registry import blocks
from interplay.world.registry.facts import table
from interplay.world.render.textures import material, texture

AIR, CUBE, CUTOUT, WATER, CROSS, BOXES, LAVA = range(7)
"""Kinds: nothing to see; an opaque cube; a cube with holes or panes of colour; only water; two crossed pictures; boxes;
lava."""

TINTED, NATURAL, CULLED, PLANT, SMOOTH = 1, 2, 4, 8, 16
"""Flags: takes the colour of the land; its texture may be mirrored from cell to cell; no face against its like (glass);
stands in the grass; a box that fills its cell but for a little (a path), lit as a cube."""

WEST, EAST, NORTH, SOUTH, UP, DOWN = range(6)
FACES = {"west": WEST, "east": EAST, "north": NORTH, "south": SOUTH, "up": UP, "down": DOWN}

Faces = tuple[str | None, str | None, str | None, str | None, str | None, str | None]
Box = tuple[float, float, float, float, float, float, Faces]
Properties = Mapping[str, str]


@dataclass(frozen=True)
class Models:
    """Arrays with an entry per state.

    Attributes:
        kind: uint8, shape (N,): one of the kinds above.
        faces: int32, shape (N, 6): textures of a cube's faces; a cross has the same one in each; in boxes the first that shows.
        box_start, num_boxes: int32, shape (N,): the rows of `boxes` that make the state.
        boxes: float32, shape (M, 6): x0, y0, z0, x1, y1, z1 in blocks, within the cell.
        box_faces: int32, shape (M, 6): textures; -1 where there is no face.
        height: float32, shape (N,): how high its water or lava stands if there is none above; 0 without.
        wet: uint8, shape (N,): 1 if it stands in water.
        flags: uint8, shape (N,): see above.
        glow: float32, shape (N,): brightness of its own, 0 to 1.
    """

    kind: np.ndarray
    faces: np.ndarray
    box_start: np.ndarray
    num_boxes: np.ndarray
    boxes: np.ndarray
    box_faces: np.ndarray
    height: np.ndarray
    wet: np.ndarray
    flags: np.ndarray
    glow: np.ndarray


def _same(name: str) -> Faces:
    return (name, name, name, name, name, name)


def _sided(side: str, top: str, bottom: str | None = None) -> Faces:
    return (side, side, side, side, top, bottom or top)


def _box(x0: float, y0: float, z0: float, x1: float, y1: float, z1: float, faces: str | Faces) -> Box:
    return (x0, y0, z0, x1, y1, z1, _same(faces) if isinstance(faces, str) else faces)


def _turned(name: str | None, quarters: int) -> str | None:
    if name is None or quarters % 4 == 0:
        return name
    plain, _, turn = name.partition("@")
    angle = (int(turn or 0) + 90 * quarters) % 360 if turn != "flip" else 0
    return f"{plain}@{angle}" if angle else plain


_QUARTERS = {"north": 0, "east": 1, "south": 2, "west": 3}


def _spin_faces(faces: Faces, quarters: int, tops: bool) -> Faces:
    """Faces after clockwise quarter turns about the vertical; `tops` turns the pictures above and below too."""
    w, e, n, s, u, d = faces
    for _ in range(quarters):
        w, n, e, s = s, w, n, e
    return (w, e, n, s, _turned(u, quarters), _turned(d, -quarters)) if tops else (w, e, n, s, u, d)


def _spin(boxes: Iterable[Box], facing: str, tops: bool = False) -> list[Box]:
    """Boxes made facing north, turned to face elsewhere."""
    quarters = _QUARTERS[facing]
    turned = []
    for x0, y0, z0, x1, y1, z1, faces in boxes:
        for _ in range(quarters):
            x0, z0, x1, z1 = 16 - z1, x0, 16 - z0, x1
        turned.append((x0, y0, z0, x1, y1, z1, _spin_faces(faces, quarters, tops)))
    return turned


def _tilt(boxes: Iterable[Box], facing: str) -> list[Box]:
    """Boxes made facing up, turned to any of six directions."""
    boxes = list(boxes)
    if facing == "up":
        return boxes
    if facing == "down":
        return [(x0, 16 - y1, z0, x1, 16 - y0, z1, (w, e, n, s, d, u)) for x0, y0, z0, x1, y1, z1, (w, e, n, s, u, d) in boxes]
    north = [
        (x0, z0, 16 - y1, x1, z1, 16 - y0, (_turned(w, -1), _turned(e, 1), u, d, s, n))
        for x0, y0, z0, x1, y1, z1, (w, e, n, s, u, d) in boxes
    ]
    return _spin(north, facing)


def _plane(axis: str, at: float, name: str, low: float = 0, high: float = 16) -> Box:
    """A picture without thickness across the cell, seen from both sides."""
    if axis == "x":
        return (at, low, 0, at, high, 16, (name, name, None, None, None, None))
    if axis == "z":
        return (0, low, at, 16, high, at, (None, None, name, name, None, None))
    return (0, at, 0, 16, at, 16, (None, None, None, None, name, name))


def _hash(name: str, low: float = 0) -> list[Box]:
    """Four standing pictures, as of crops. Lowered, the pictures stand in the furrow."""
    return [_plane("x", 4, name, low), _plane("x", 12, name, low), _plane("z", 4, name, low), _plane("z", 12, name, low)]


def _collision(state: int, faces: Faces) -> list[Box]:
    start, number = blocks.BOX_START[state], blocks.NUM_BOXES[state]
    return [(*(16 * row).clip(0, 16).tolist(), faces) for row in blocks.BOXES[start : start + number]]


# Cubes: name -> the textures of its faces


def _pillar(side: str, end: str, axis: str) -> Faces:
    if axis == "y":
        return _sided(side, end)
    lying = f"{side}@90"
    return (end, end, lying, lying, lying, lying) if axis == "x" else (lying, lying, end, end, side, side)


def _facing(facing: str, front: str, side: str, top: str, bottom: str | None = None, back: str | None = None) -> Faces:
    return _spin_faces((side, side, front, back or side, top, bottom or top), _QUARTERS[facing], False)


_PILLARS = {
    "basalt": ("basalt_side", "basalt_top"),
    "polished_basalt": ("polished_basalt_side", "polished_basalt_top"),
    "quartz_pillar": ("quartz_pillar", "quartz_pillar_top"),
    "hay_block": ("hay_block", "hay_block_top"),
    "purpur_pillar": ("purpur_pillar", "purpur_pillar_top"),
    "bone_block": ("bone_block", "bone_block_top"),
}
_TOPS = {
    "sandstone": ("sandstone", "sandstone_top", "sandstone_bottom"),
    "red_sandstone": ("red_sandstone", "red_sandstone_top", "red_sandstone_bottom"),
    "chiseled_sandstone": ("chiseled_sandstone", "sandstone_top"),
    "cut_sandstone": ("cut_sandstone", "sandstone_top"),
    "chiseled_red_sandstone": ("chiseled_red_sandstone", "red_sandstone_top"),
    "cut_red_sandstone": ("cut_red_sandstone", "red_sandstone_top"),
    "tnt": ("tnt_side", "tnt_top"),
    "bookshelf": ("bookshelf", "oak_planks"),
    "melon": ("melon", "melon_top"),
    "pumpkin": ("pumpkin", "pumpkin_top"),
    "crimson_nylium": ("crimson_nylium_side", "crimson_nylium", "netherrack"),
    "warped_nylium": ("warped_nylium_side", "warped_nylium", "netherrack"),
    "crafting_table": ("crafting_table_side", "crafting_table_top", "oak_planks"),
    "fletching_table": ("fletching_table_side", "fletching_table_top", "birch_planks"),
    "smithing_table": ("smithing_table_side", "smithing_table_top", "dark_oak_planks"),
    "ancient_debris": ("ancient_debris_side", "ancient_debris_top"),
    "cartography_table": ("cartography_table_side", "cartography_table_top", "dark_oak_planks"),
    "target": ("target_side", "target_top"),
    "lodestone": ("lodestone_side", "lodestone_top"),
    "jukebox": ("jukebox", "jukebox_top"),
    "note_block": ("note_block", "note_block"),
    "dried_kelp_block": ("dried_kelp_block", "dried_kelp_block@90"),
    "respawn_anchor": ("respawn_anchor_side", "respawn_anchor_top"),
}
_SLAB_SIDES = {"smooth_stone": ("smooth_stone_slab_side", "smooth_stone")}
_INVISIBLE = {"air", "cave_air", "void_air", "barrier", "structure_void", "moving_piston"}
_WET = {"water", "bubble_column", "seagrass", "tall_seagrass", "kelp", "kelp_plant"}
_TINTED = {
    "grass_block",
    "grass",
    "tall_grass",
    "fern",
    "large_fern",
    "vine",
    "sugar_cane",
    "oak_leaves",
    "jungle_leaves",
    "acacia_leaves",
    "dark_oak_leaves",
    "birch_leaves",
    "spruce_leaves",
    "lily_pad",
}
_NATURAL = {
    "grass_block",
    "dirt",
    "coarse_dirt",
    "sand",
    "red_sand",
    "gravel",
    "stone",
    "snow_block",
    "snow",
    "podzol",
    "mycelium",
    "netherrack",
    "clay",
    "end_stone",
    "soul_soil",
    "bedrock",
    "granite",
    "diorite",
    "andesite",
    "blackstone",
    "grass_path",
    "obsidian",
}
_PLANTS = blocks.SMALL_FLOWERS | {
    "grass",
    "fern",
    "dead_bush",
    "cobweb",
    "bamboo_sapling",
    "brown_mushroom",
    "red_mushroom",
    "crimson_fungus",
    "warped_fungus",
    "crimson_roots",
    "warped_roots",
    "nether_sprouts",
    "seagrass",
    "kelp",
    "kelp_plant",
    "weeping_vines",
    "weeping_vines_plant",
    "twisting_vines",
    "twisting_vines_plant",
    "sugar_cane",
}
_TALL = {"tall_grass", "large_fern", "sunflower", "lilac", "rose_bush", "peony", "tall_seagrass"}


def _surface(name: str) -> Faces:
    """Textures of a material, as walls, stairs and slabs have them."""
    if name in _TOPS:
        return _sided(*_TOPS[name])
    return _sided(*_SLAB_SIDES[name]) if name in _SLAB_SIDES else _same(name)


def _cube(name: str, p: Properties) -> Faces | None:
    """The faces of a cube; None for what is no cube."""
    stem = name.rpartition("_")[0]
    if "axis" in p and name not in ("chain", "nether_portal"):
        if name in _PILLARS:
            return _pillar(*_PILLARS[name], p["axis"])
        wood = name.endswith(("_wood", "_hyphae"))
        return _pillar(name, name if wood else f"{name}_top", p["axis"])
    if name.endswith("glazed_terracotta"):
        turn = {"north": "", "east": "@90", "south": "@180", "west": "@270"}[p["facing"]]
        return _same(name + turn)
    if name in ("furnace", "smoker", "blast_furnace"):
        return _facing(
            p["facing"], f"{name}_front_lit" if p["lit"] == "true" else f"{name}_front", f"{name}_side", f"{name}_top"
        )
    if name in ("carved_pumpkin", "jack_o_lantern"):
        return _facing(p["facing"], name, "pumpkin", "pumpkin_top")
    if name in ("dispenser", "dropper"):
        if p["facing"] in ("up", "down"):
            end, side = f"{name}_front_vertical", "furnace_top"
            return _sided(side, end, side) if p["facing"] == "up" else _sided(side, side, end)
        return _facing(p["facing"], f"{name}_front", f"{name}_side", f"{name}_top")
    if name == "observer":
        cube = [
            _box(
                0,
                0,
                0,
                16,
                16,
                16,
                ("observer_side", "observer_side", "observer_top", "observer_top", "observer_front", "observer_back"),
            )
        ]
        return _tilt(cube, p["facing"])[0][6]
    if name == "barrel":
        top = "barrel_open" if p["open"] == "true" else "barrel_top"
        return _tilt([_box(0, 0, 0, 16, 16, 16, _sided("barrel_side", top, "barrel_bottom"))], p["facing"])[0][6]
    if name.endswith("shulker_box"):
        return _tilt([_box(0, 0, 0, 16, 16, 16, _sided(f"{name}_side", name, name))], p["facing"])[0][6]
    if name in ("piston", "sticky_piston"):
        if p["extended"] == "true":
            return None
        head = "piston_head" if name == "piston" else "piston_head_sticky"
        return _tilt([_box(0, 0, 0, 16, 16, 16, _sided("piston_side", head, "piston_bottom"))], p["facing"])[0][6]
    if name in ("bee_nest", "beehive"):
        front = f"{name}_honey" if p["honey_level"] == "5" else f"{name}_front"
        return _facing(p["facing"], front, f"{name}_side", f"{name}_top")
    if name == "loom":
        return _facing(p["facing"], "loom_front", "loom_side", "loom_top", "oak_planks")
    if name == "crafting_table":
        return (
            "crafting_table_side",
            "crafting_table_front",
            "crafting_table_front",
            "crafting_table_side",
            "crafting_table_top",
            "oak_planks",
        )
    if name in ("grass_block", "podzol", "mycelium"):
        if p["snowy"] == "true":
            return _sided("snowy_grass_side", "snow", "dirt")
        return _sided(f"{name}_side", "grass_block_top" if name == "grass_block" else name, "dirt")
    if name in ("brown_mushroom_block", "red_mushroom_block", "mushroom_stem"):
        order = ("west", "east", "north", "south", "up", "down")
        return tuple(name if p[side] == "true" else "mushroom_inside" for side in order)  # type: ignore[return-value]
    if name == "redstone_lamp":
        return _same("redstone_lamp_lit" if p["lit"] == "true" else name)
    if name == "redstone_ore":
        return _same("redstone_ore_lit" if p["lit"] == "true" else name)
    if name.endswith("command_block"):
        return _facing(p["facing"], name, f"{name}@90", f"{name}@180") if p["facing"] in _QUARTERS else _same(name)
    if name in ("structure_block", "jigsaw", "spawner", "frosted_ice", "chorus_flower"):
        return _same("chorus_flower_dead" if p.get("age") == "5" and name == "chorus_flower" else name)
    if name in _TOPS:
        return _sided(*_TOPS[name])
    if name == "snow":
        return _same("snow") if p["layers"] == "8" else None
    if name.endswith("_slab"):
        return _surface(material(name)) if p["type"] == "double" else None
    if name.endswith("leaves") or name in ("slime_block", "soul_sand", "magma_block"):
        return _same(name)
    if stem.endswith("stained") or name == "glass":
        return _same(name)
    return None


_CUTOUTS = {"glass", "spawner", "ice", "frosted_ice", "slime_block"}


# What is made of boxes: one function per family, from the properties to boxes that face as they should


def _fence(name: str, p: Properties) -> list[Box]:
    skin = _surface(material(name))
    boxes = [_box(6, 0, 6, 10, 16, 10, skin)]
    for low, high in ((12, 15), (6, 9)):
        for side in _QUARTERS:
            if p[side] == "true":
                boxes += _spin([_box(7, low, 0, 9, high, 6, skin)], side)
    return boxes


def _wall(name: str, p: Properties) -> list[Box]:
    skin = _surface(material(name))
    boxes = [_box(4, 0, 4, 12, 16, 12, skin)] if p["up"] == "true" else []
    for side in _QUARTERS:
        if p[side] != "none":
            boxes += _spin([_box(5, 0, 0, 11, 14 if p[side] == "low" else 16, 8, skin)], side)
    return boxes or [_box(4, 0, 4, 12, 16, 12, skin)]


def _pane(name: str, p: Properties) -> list[Box]:
    pane = name.removesuffix("_pane")
    edge = pane if name == "iron_bars" else f"{pane}_pane_top"
    boxes = []
    post = (pane, pane, pane, pane, edge, edge)
    if not any(p[side] == "true" for side in _QUARTERS):
        boxes.append(_box(7, 0, 7, 9, 16, 9, (edge, edge, edge, edge, edge, edge)))
    for low, high, faces in (
        ("north", "south", (pane, pane, edge, edge, edge, edge)),
        ("west", "east", (edge, edge, pane, pane, edge, edge)),
    ):
        a, b = p[low] == "true", p[high] == "true"
        if a or b:
            start, end = (0 if a else 7), (16 if b else 9)
            boxes.append(_box(7, 0, start, 9, 16, end, faces) if low == "north" else _box(start, 0, 7, end, 16, 9, faces))
    return boxes or [_box(7, 0, 7, 9, 16, 9, post)]


def _gate(name: str, p: Properties) -> list[Box]:
    skin, down = _surface(material(name)), -3 if p["in_wall"] == "true" else 0
    boxes = [_box(0, 5 + down, 7, 2, 16 + down, 9, skin), _box(14, 5 + down, 7, 16, 16 + down, 9, skin)]
    if p["open"] == "true":  # the leaves swing to where it faces
        for x in (0, 14):
            boxes += [
                _box(x, 6 + down, 1, x + 2, 9 + down, 7, skin),
                _box(x, 12 + down, 1, x + 2, 15 + down, 7, skin),
                _box(x, 9 + down, 1, x + 2, 12 + down, 3, skin),
            ]
    else:
        boxes += [
            _box(2, 6 + down, 7, 14, 9 + down, 9, skin),
            _box(2, 12 + down, 7, 14, 15 + down, 9, skin),
            _box(6, 9 + down, 7, 10, 12 + down, 9, skin),
        ]
    return _spin(boxes, p["facing"])


def _torch(name: str, p: Properties) -> list[Box]:
    plain = name.replace("_wall", "").replace("wall_", "")
    if p.get("lit") == "false":
        plain += "_off"
    if "facing" not in p:
        return [_box(7, 0, 7, 9, 10, 9, (plain, plain, plain, plain, plain, plain))]
    # Leaning from the wall in steps of a pixel; the wall is behind, so facing north it hangs at the south.
    steps = [_box(7, 3.5 + 2 * i, 13.6 - i, 9, 5.5 + 2 * i, 15.6 - i, plain) for i in range(4)]
    return _spin([(x0, y0, z0, x1, min(13.0, y1), z1, f) for x0, y0, z0, x1, y1, z1, f in steps], p["facing"])


def _stick(name: str, p: Properties) -> list[Box]:
    """Buttons and levers, on the floor, a wall or the ceiling."""
    if name == "lever":
        lean = -1 if p["powered"] == "true" else 1
        boxes = [_box(5, 0, 4, 11, 3, 12, "cobblestone")]
        boxes += [
            _box(7, 2 + 2 * i, 7 + lean * (1 + 1.4 * i), 9, 4 + 2 * i, 9 + lean * (1 + 1.4 * i), "lever") for i in range(4)
        ]
    else:
        boxes = [_box(5, 0, 6, 11, 1 if p["powered"] == "true" else 2, 10, _surface(material(name)))]
    if p["face"] == "floor":
        return _spin(boxes, p["facing"])
    if p["face"] == "ceiling":
        return _spin(_tilt(boxes, "down"), p["facing"])
    return _tilt(boxes, p["facing"])


def _rail(name: str, p: Properties) -> list[Box]:
    shape = p["shape"]
    picture = name + ("_on" if p.get("powered") == "true" else "")
    if shape in ("south_east", "south_west", "north_west", "north_east"):
        turn = {"south_east": "", "south_west": "@90", "north_west": "@180", "north_east": "@270"}[shape]
        return [_plane("y", 1, "rail_corner" + turn)]
    if shape.startswith("ascending"):
        steps = [
            (0, 4 * (3 - i) + 1.0, 4 * i, 16, 4 * (3 - i) + 4.0, 4 * i + 4, (None, None, None, picture, picture, None))
            for i in range(4)
        ]
        return _spin([(*s[:6], s[6]) for s in steps], shape.removeprefix("ascending_"), True)  # type: ignore[misc]
    return [_plane("y", 1, picture + ("@90" if shape == "east_west" else ""))]


def _wire(_: str, p: Properties) -> list[Box]:
    dust = f"redstone_dust_{p['power']}"
    boxes = [_box(6, 0, 6, 10, 0.3, 10, dust)]
    for side in _QUARTERS:
        if p[side] != "none":
            boxes += _spin([_box(7, 0, 0, 9, 0.25, 6, dust)], side)
        if p[side] == "up":
            boxes += _spin([_box(7, 0, 0, 9, 16, 0.3, dust)], side)
    return boxes


def _hanging(name: str, p: Properties) -> list[Box]:
    """Vines on the sides they hang from."""
    boxes = [_spin([_plane("z", 0.8, name)], side)[0] for side in _QUARTERS if p[side] == "true"]
    return boxes + ([_plane("y", 15.2, name)] if p["up"] == "true" else []) or [_plane("z", 0.8, name)]


def _chest(name: str, p: Properties) -> list[Box]:
    side = p.get("type", "single")  # a right half reaches to its left, seen from the front
    x0, x1 = (1 if side != "right" else 0), (15 if side != "left" else 16)
    part = [f"{name}_{which}" for which in ("side", "front", "top")]
    boxes = [_box(x0, 0, 1, x1, 14, 15, (part[0], part[0], part[1], part[0], part[2], part[2]))]
    knob = "ender_chest_front" if name == "ender_chest" else "iron_block"
    boxes.append(
        _box(7 if side != "right" else 0, 7, 0, 9 if side != "left" else 16, 11, 1, knob)
        if side == "single"
        else _box(*((14, 7, 0, 16, 11, 1) if side == "left" else (0, 7, 0, 2, 11, 1)), knob)
    )
    return _spin(boxes, p["facing"])


def _bed(name: str, p: Properties) -> list[Box]:
    dye, head = name.removesuffix("_bed"), p["part"] == "head"
    side, top = f"{dye}_bed_side", f"{dye}_bed_{p['part']}"
    z = 0 if head else 13
    boxes = [_box(0, 3, 0, 16, 9, 16, (side, side, side, side, top, "oak_planks"))]
    boxes += [_box(x, 0, z, x + 3, 3, z + 3, "oak_planks") for x in (0, 13)]
    return _spin(boxes, p["facing"], True)


def _sign(name: str, p: Properties) -> list[Box]:
    skin = _surface(material(name))
    if "facing" in p:
        return _spin([_box(0, 4.5, 14, 16, 12.5, 15.6, skin)], p["facing"])
    side = ("south", "west", "north", "east")[(int(p["rotation"]) + 2) // 4 % 4]
    lean = int(p["rotation"]) % 4 * 0.25  # the four between two sides differ by a little
    return _spin([_box(7, 0, 7, 9, 8, 9, skin), _box(lean, 7.5, 7.2, 16 - lean, 16, 8.8, skin)], side)


def _banner(name: str, p: Properties) -> list[Box]:
    dye = name.removesuffix("_banner").removesuffix("_wall")
    cloth, pole = f"{dye}_banner", "spruce_planks"
    if "facing" in p:
        return _spin([_box(1, 0, 14.6, 15, 14, 15.2, cloth), _box(1, 14, 14.4, 15, 15, 15.6, pole)], p["facing"])
    side = ("south", "west", "north", "east")[(int(p["rotation"]) + 2) // 4 % 4]
    lean = int(p["rotation"]) % 4 * 0.25
    return _spin([_box(7.2, 0, 7.6, 8.8, 16, 9.2, pole), _box(1 + lean, 2, 6.8, 15 - lean, 15, 7.5, cloth)], side)


def _skull(name: str, p: Properties) -> list[Box]:
    kind = name.replace("_wall", "").removesuffix("_skull").removesuffix("_head")
    front, side, top = (f"{kind}_head_{part}" for part in ("front", "side", "top"))
    if "facing" in p:
        lifted = (side, side, side, side, top, top)
        return _spin(
            [_box(4, 4, 8, 12, 12, 16, lifted), _box(4, 4, 7.8, 12, 12, 8, (None, None, front, None, None, None))], p["facing"]
        )
    rotation = int(p["rotation"])  # 0 looks south, as yaw does, but the block's front is then north
    side_to = ("north", "east", "south", "west")[(rotation + 2) // 4 % 4]
    lean = rotation % 4 * 0.2
    return _spin([_box(4 + lean, 0, 4 + lean, 12 - lean, 8, 12 - lean, (side, side, front, side, top, top))], side_to)


def _pot(name: str) -> list[Box]:
    boxes = [_box(5, 0, 5, 11, 6, 11, "flower_pot"), _box(6, 5, 6, 10, 6.1, 10, (None, None, None, None, "dirt", None))]
    plant = name.removeprefix("potted_")
    if plant == "cactus":
        return [*boxes, _box(6, 6, 6, 10, 16, 10, "cactus")]
    if plant == "bamboo":
        return [*boxes, _box(7, 6, 7, 9, 16, 9, "bamboo"), _plane("z", 8, "bamboo_leaves", 6)]
    if plant != name and plant != "flower_pot":
        boxes += [_plane("x", 8, plant, 5), _plane("z", 8, plant, 5)]
    return boxes


def _campfire(name: str, p: Properties) -> list[Box]:
    ember = f"{'soul_' if name.startswith('soul') else ''}campfire_ember"
    log, hot = "campfire_log@90", ember if p["lit"] == "true" else "campfire_log"
    boxes = [
        _box(1, 0, 0, 5, 4, 16, log),
        _box(11, 0, 0, 15, 4, 16, log),
        _box(0, 3, 1, 16, 7, 5, log),
        _box(0, 3, 11, 16, 7, 15, log),
    ]
    boxes.append(_box(5, 0, 0, 11, 1, 16, hot))
    if p["lit"] == "true":
        flame = "soul_fire" if name.startswith("soul") else "fire"
        boxes += [_plane("x", 8, flame, 1), _plane("z", 8, flame, 1)]
    return _spin(boxes, p["facing"])


def _circuit(name: str, p: Properties) -> list[Box]:
    on = p["powered"] == "true"
    top = name + ("_on" if on else "")
    torch = "redstone_torch" if on else "redstone_torch_off"
    boxes = [_box(0, 0, 0, 16, 2, 16, ("smooth_stone", "smooth_stone", "smooth_stone", "smooth_stone", top, "smooth_stone"))]
    if name == "repeater":
        back = 5 + 2 * int(p["delay"])
        boxes += [_box(7, 2, 2, 9, 7, 4, torch)]
        boxes += (
            [_box(2, 2, back, 14, 4, back + 2, "bedrock")]
            if p["locked"] == "true"
            else [_box(7, 2, back, 9, 7, back + 2, torch)]
        )
    else:
        front = "redstone_torch" if p["mode"] == "subtract" else "redstone_torch_off"
        boxes += [_box(4, 2, 11, 6, 7, 13, torch), _box(10, 2, 11, 12, 7, 13, torch), _box(7, 2, 2, 9, 5, 4, front)]
    return _spin(boxes, p["facing"], True)


def _fire(name: str, p: Properties) -> list[Box]:
    boxes = []
    if not any(p.get(side) == "true" for side in (*_QUARTERS, "up")):  # on the ground
        boxes = [*_hash(name), _plane("x", 8, name), _plane("z", 8, name)]
    for side in _QUARTERS:
        if p.get(side) == "true":
            boxes += _spin([_plane("z", 0.4, name)], side)
    return boxes + ([_plane("y", 15.6, name)] if p.get("up") == "true" else [])


def _chorus(name: str, p: Properties) -> list[Box]:
    arms = [_box(4, 4, 4, 12, 12, 12, name)]
    for side in (*_QUARTERS, "up", "down"):
        if p[side] == "true":
            arms += _tilt([_box(4, 12, 4, 12, 16, 12, name)], side)
    return arms


@cache
def _from_data() -> dict[str, dict[str, Any]]:
    """Name -> boxes of the blocks that are one of a kind: `data/models.json`, see its README."""
    return {row["name"]: row for row in table("models")}


def _one_of_a_kind(name: str, p: Properties) -> list[Box] | None:
    row = _from_data().get(name)
    if row is None:
        return None
    listed = row["boxes"][",".join(p[prop] for prop in row["by"])]
    boxes = [
        _box(x0, y0, z0, x1, y1, z1, faces if isinstance(faces, str) else tuple(faces))
        for x0, y0, z0, x1, y1, z1, faces in listed
    ]
    if row["turned"] == "spin":
        return _spin(boxes, p["facing"])
    return _tilt(boxes, p["facing"]) if row["turned"] == "tilt" else boxes


_ALONE: Mapping[str, Callable[[str, Properties], list[Box]]] = {
    **dict.fromkeys(("repeater", "comparator"), _circuit),
    **dict.fromkeys(("fire", "soul_fire"), _fire),
    "iron_bars": _pane,
    "vine": _hanging,
    "redstone_wire": _wire,
    "chorus_plant": _chorus,
}
"""Families of one or two."""


def _boxes(name: str, p: Properties, state: int) -> list[Box] | None:
    """The boxes of a state; None for what is a cube, a plant or nothing."""
    families: tuple[tuple[tuple[str, ...], Callable[[str, Properties], list[Box]]], ...] = (
        (("torch",), _torch),
        (("_fence_gate",), _gate),
        (("_fence",), _fence),
        (("_wall",), _wall),
        (("glass_pane",), _pane),
        (("_button", "lever"), _stick),
        (("rail",), _rail),
        (("chest",), _chest),
        (("_bed",), _bed),
        (("_sign",), _sign),
        (("_banner",), _banner),
        (("_skull", "_head"), _skull),
        (("campfire",), _campfire),
    )
    if name != "piston_head":
        for endings, family in families:
            if name.endswith(endings):
                return family(name, p)
    if name.startswith("potted_") or name == "flower_pot":
        return _pot(name)
    if name.endswith(("_stairs", "_slab")):
        return _collision(state, _surface(material(name)))
    if name.endswith("_carpet"):
        return [_box(0, 0, 0, 16, 1, 16, name)]
    if name.endswith("_pressure_plate"):
        down = p.get("powered") == "true" or p.get("power", "0") != "0"
        return [_box(1, 0, 1, 15, 0.5 if down else 1, 15, _surface(material(name)))]
    if name.endswith("_door"):
        picture = name + ("_top" if p["half"] == "upper" else "_bottom")
        return _collision(state, _same(picture + ("@flip" if p["hinge"] == "right" else "")))
    if name.endswith("_trapdoor"):
        return _collision(state, _same(name))
    if name in ("wheat", "carrots", "potatoes", "beetroots", "nether_wart", "pumpkin_stem", "melon_stem"):
        stage = p["age"]
        return (
            _hash(f"{name}_{stage}")
            if "stem" not in name
            else [_plane("x", 8, f"{name}_{stage}"), _plane("z", 8, f"{name}_{stage}")]
        )
    if name.startswith("attached_"):
        arm = _spin([_plane("x", 8, name if p["facing"] in ("north", "east") else f"{name}@flip")], p["facing"])
        return [*arm, _box(7, 0, 7.6, 9, 8, 8.4, name)]
    if name.endswith("_coral_wall_fan"):
        return _spin(
            [_box(0, 0, 4 + 3 * i, 16, 16, 4 + 3 * i, (None, None, name, name, None, None)) for i in range(4)], p["facing"]
        )
    if name.endswith("_coral_fan"):
        return [_plane("x", 5, name), _plane("x", 11, name), _plane("z", 5, name), _plane("z", 11, name)]
    if name in _ALONE:
        return _ALONE[name](name, p)
    return _one_of_a_kind(name, p)


def _cross(name: str, p: Properties) -> str | None:
    """The picture of a plant."""
    if name in _PLANTS:
        return name
    if name in _TALL:
        return f"{name}_{'top' if p['half'] == 'upper' else 'bottom'}"
    if name == "bubble_column":
        return "bubbles"
    if (name.endswith("_sapling") and not name.startswith("potted_")) or (name.endswith("_coral") and "wall" not in name):
        return name
    if name == "sweet_berry_bush":
        return f"{name}_{p['age']}"
    return None


_IGNORED = {"distance", "persistent", "note", "instrument", "conditional", "triggered", "enabled", "occupied", "stage"}
"""Properties that do not show, except the `distance` of nothing: states that differ only in them share a model."""


@cache
def models() -> Models:
    """The look of every state, made at the first question (about half a second)."""
    number = blocks.NUM_STATES
    kind = np.zeros(number, np.uint8)
    faces = np.zeros((number, 6), np.int32)
    box_start, num_boxes = np.zeros(number, np.int32), np.zeros(number, np.int32)
    height, wet, flags = np.zeros(number, np.float32), np.zeros(number, np.uint8), np.zeros(number, np.uint8)
    glow = np.zeros(number, np.float32)
    rows: list[tuple[float, ...]] = []
    row_faces: list[list[int]] = []
    index: dict[str, int] = {}

    def of(name: str | None) -> int:
        if name is None:
            return -1
        if name not in index:
            index[name] = texture(name)
        return index[name]

    for block in blocks.BLOCKS:
        name = block.name
        seen: dict[tuple[str, ...], int] = {}
        for state in range(block.first, block.first + block.num_states):
            p = _values(block, state)
            key = tuple(
                value
                for prop, value in p.items()
                if prop not in _IGNORED
                and prop != "waterlogged"
                and not (prop == "age" and name in ("kelp", "sugar_cane", "cactus", "fire", "weeping_vines", "twisting_vines"))
            )
            wet[state] = name in _WET or p.get("waterlogged") == "true"
            height[state] = _height(p) if name in ("water", "lava") else 14 / 16 if wet[state] else 0
            if name == "bubble_column":
                height[state] = 1
            if key in seen and not (name == "sea_pickle" and wet[state]):
                first = seen[key]
                for array in (kind, faces, box_start, num_boxes, flags, glow):
                    array[state] = array[first]
                continue
            seen[key] = state
            glow[state] = 0.0 if p.get("lit") == "false" else light.GIVES[state] / 15
            flags[state] = (TINTED if name in _TINTED else 0) | (NATURAL if name in _NATURAL or name.endswith("leaves") else 0)
            if name in _INVISIBLE:
                continue
            if name == "water":
                kind[state], faces[state] = WATER, of("water")
            elif name == "lava":
                kind[state], faces[state], glow[state] = LAVA, of("lava"), 1.0
            elif (cube := _cube(name, p)) is not None:
                kind[state], faces[state] = _cube_kind(name), [of(face) for face in cube]
            elif (picture := _cross(name, p)) is not None:
                kind[state], faces[state] = CROSS, of(picture)
                flags[state] |= PLANT
            elif (boxes := _boxes(name, p, state)) is not None:
                kind[state], box_start[state], num_boxes[state] = BOXES, len(rows), len(boxes)
                flags[state] |= SMOOTH if name in ("farmland", "grass_path", "snow") else 0
                for box in boxes:
                    rows.append(tuple(value / 16 for value in box[:6]))
                    row_faces.append([of(face) for face in box[6]])
                faces[state] = next(face for face in row_faces[box_start[state]] if face >= 0)
            else:
                kind[state], faces[state] = _cube_kind(name), of(name)
            if kind[state] == CUTOUT and not name.endswith("leaves"):
                flags[state] |= CULLED
    flat = np.clip(np.array(rows, np.float32), 0, 1)
    return Models(kind, faces, box_start, num_boxes, flat, np.array(row_faces, np.int32), height, wet, flags, glow)


def _values(block: blocks.Block, state: int) -> dict[str, str]:
    rest, found = state - block.first, []
    for name, values in reversed(list(block.properties.items())):
        rest, at = divmod(rest, len(values))
        found.append((name, values[at]))
    return dict(reversed(found))


def _height(p: Properties) -> float:
    """How high a liquid stands: a source 14/16, then an eighth less a level; what falls fills its cell."""
    level = int(p["level"])
    return 1.0 if level >= 8 else (14 - 1.75 * level) / 16


def _cube_kind(name: str) -> int:
    holes = name.endswith(("leaves", "stained_glass")) or name in _CUTOUTS
    return CUTOUT if holes else CUBE

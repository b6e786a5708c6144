"""Facts of a real block world, for `rules`: what the scene is when it is ready, and what is so at a tick."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from interplay.envs.voxel.origin import ready
from interplay.explore.rules import EVENTS, FARTHEST_SEEN, Cell, Point, Rule, boxes, cell
from interplay.world import Renderer, World, box
from interplay.world.entities.mobs import described
from interplay.world.registry.blocks import AIR, name_of
from interplay.world.registry.entity_types import HEIGHTS, ITEM, KINDS, NUM_THINGS, WIDTHS
from interplay.world.registry.items import ITEMS

__all__ = ["LOOKS", "Seen", "collect", "feet", "for_rules", "rays", "ready", "visible"]

LOOKS = (128, 72)
"""Rays in which one looks for what is visible, along the width and the height of the picture."""


def feet(world: World) -> Point:
    """Where the player's feet are: x, y and z."""
    me = world.player
    return me.x, me.y, me.z


def for_rules(world: World, spawn: Point, rules: Iterable[Rule]) -> dict[str, Any]:
    """As `collect`: all that these rules ask for."""
    asked = list(rules)
    return collect(world, spawn, boxes(asked), sees=any(rule.type == "x.visible" for rule in asked))


def collect(world: World, spawn: Point, boxes: Iterable[tuple[Cell, Cell]], *, sees: bool = False) -> dict[str, Any]:
    """The facts of a world as it is now, JSON values: see `rules.FACTS`.

    Args:
        world: As the player whose turn it is; only read.
        spawn: `feet` of the scene when it was `ready`.
        boxes: Corners, in cells from the origin, of boxes whose blocks are counted; cells outside the land hold nothing.
        sees: Whether to find out what is visible, which takes some milliseconds.
    """
    me, origin = world.player, cell(spawn)
    counted = []
    for low, high in boxes:
        (x0, y0, z0), (x1, y1, z1) = (tuple(o + c for o, c in zip(origin, corner, strict=True)) for corner in (low, high))
        blocks = box(world, (x0, y0, z0), (x1, y1, z1))["blocks"]
        names = [{"name": name, "cells": cells} for name, cells in blocks.items()]
        counted.append({"min": list(low), "max": list(high), "blocks": names})
    return {
        "spawn": list(spawn),
        "feet": list(feet(world)),
        "eyes": float(me.eye_y),
        "yaw": float(me.yaw),
        "pitch": float(me.pitch),
        "slots": [None if slot is None else {"item": slot.item, "count": slot.count} for slot in me.slots],
        "mobs": [_mob(row) for row in _mobs(world)],
        "boxes": counted,
        "events": {event: dict(me.counts[event]) for event in EVENTS if event in me.counts},
        "visible": visible(world) if sees else None,
    }


def _mobs(world: World) -> np.ndarray:
    return world.entities[world.entities["kind"] >= NUM_THINGS]


def _mob(row: np.void) -> dict[str, Any]:
    one = described(row)
    return {"id": one["id"], "name": one["name"], "feet": [one["x"], one["y"], one["z"]], "health": one["health"]}


class Seen(NamedTuple):
    """What one looks at along a ray.

    Attributes:
        kind: `block`, `mob`, or `item`, a thing that lies there.
        name: Of the block, mob or item.
        distance: From the eye, in blocks.
        point: Where the ray meets it.
        entity: Id of the mob or thing; -1 for a block.
    """

    kind: str
    name: str
    distance: float
    point: Point
    entity: int = -1

    @property
    def cell(self) -> Cell:
        """That the point lies in; of a block its own."""
        return cell(self.point)


def visible(world: World) -> list[dict[str, Any]]:
    """What the player sees, by its shape and not by its light: name and distance in blocks of the nearest of each.

    Looked for in `LOOKS` rays of the picture, so what is smaller than one of them may be missed. Water and panes of glass let
    through what is behind them and are not seen themselves; mobs are the boxes they are hit in.
    """
    found: dict[tuple[str, str], float] = {}
    for one in rays(world):
        if one is not None:
            key = one.kind, one.name
            found[key] = min(one.distance, found.get(key, FARTHEST_SEEN))
    return [{"kind": kind, "name": name, "distance": far} for (kind, name), far in found.items()]


def rays(world: World, *, things: bool = False) -> list[Seen | None]:
    """What `LOOKS` rays of the player's picture meet, row by row from the upper left; None where that is nothing.

    Args:
        world: As the player whose turn it is; only read.
        things: Whether items that lie there are seen too, and hide what is behind them.
    """
    look = Renderer(LOOKS, distance=FARTHEST_SEEN)
    camera = look.camera(world)
    look.view(world.grid, camera, time=world.time, weather=world.weather)
    right, up, ahead = camera.axes
    tall = np.tan(np.radians(look.fov) / 2)
    wide = tall * LOOKS[0] / LOOKS[1]
    across, down = ((np.arange(number) + 0.5) / number * 2 - 1 for number in LOOKS)
    ways = ahead + across[None, :, None] * wide * right - down[:, None, None] * tall * up
    ways = (ways / np.linalg.norm(ways, axis=2, keepdims=True)).reshape(-1, 3)
    depth = look.depth.reshape(-1).astype(float)
    eye = np.array([camera.x, camera.y, camera.z])
    rows = _entities_met(world.entities if things else _mobs(world), eye, ways, depth)
    return [
        None if far >= FARTHEST_SEEN else _seen(world, row, far, eye, way)
        for way, far, row in zip(ways, depth.tolist(), rows, strict=True)
    ]


def _seen(world: World, row: np.void | None, far: float, eye: np.ndarray, way: np.ndarray) -> Seen | None:
    x, y, z = (eye + way * (far + 0.002)).tolist()
    if row is None:
        state = world.grid.get(*cell((x, y, z)))
        return None if state == AIR else Seen("block", name_of(state), far, (x, y, z))
    entity = int(row["id"])
    if row["kind"] == ITEM:
        return Seen("item", ITEMS[row["item"]].name, far, (x, y, z), entity)
    return Seen("mob", KINDS[row["kind"]], far, (x, y, z), entity)


def _entities_met(entities: np.ndarray, eye: np.ndarray, ways: np.ndarray, depth: np.ndarray) -> list[np.void | None]:
    """The nearest entity before what each ray meets, unit vectors (N, 3); `depth`, (N,), becomes the distance to it."""
    found: list[np.void | None] = [None] * len(ways)
    with np.errstate(divide="ignore"):
        inverse = 1 / ways
    for row in entities[(entities["kind"] >= NUM_THINGS) | (entities["kind"] == ITEM)]:
        half, height = WIDTHS[row["kind"]] / 2, HEIGHTS[row["kind"]]
        low = np.array([row["x"] - half, row["y"], row["z"] - half]) - eye
        one, other = low * inverse, (low + np.array([2 * half, height, 2 * half])) * inverse
        enters = np.minimum(one, other).max(axis=1)
        met = (enters > 0) & (enters <= np.maximum(one, other).min(axis=1)) & (enters < depth)
        for index in np.flatnonzero(met).tolist():
            found[index] = row
        depth[met] = enters[met]
    return found

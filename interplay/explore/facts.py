"""Collect the facts of a block world that `rules` judges: when the scene is ready, and at each tick."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from blockworld import Renderer, World, box, described
from blockworld.grid import BEDROCK, Grid
from blockworld.registry import AIR, HEIGHTS, ITEM, ITEMS, KINDS, NUM_THINGS, WIDTHS, name_of
from interplay.envs.voxel.starts import ready
from interplay.explore.rules import EVENTS, FARTHEST_SEEN, Cell, Point, Rule, boxes, cell

__all__ = ["LOOKS", "Seen", "collect", "feet", "for_rules", "in_sight", "ready", "seen_at", "visible"]

LOOKS = (128, 72)
"""Number of rays that look for visible things, along the width and the height of the picture."""


def feet(world: World) -> Point:
    me = world.player
    return me.x, me.y, me.z


def for_rules(world: World, spawn: Point, rules: Iterable[Rule]) -> dict[str, Any]:
    asked = list(rules)
    return collect(world, spawn, boxes(asked), sees=any(rule.type == "x.visible" for rule in asked))


def collect(world: World, spawn: Point, boxes: Iterable[tuple[Cell, Cell]], *, sees: bool = False) -> dict[str, Any]:
    """Return the facts of a world at this moment as JSON values: see `rules.FACTS`.

    Args:
        spawn: The `feet` of the world when its scene was `ready`.
        boxes: Two corners of each box in which blocks are counted, in cells from the spawn's cell.
        sees: Whether to find the visible things, which takes some milliseconds.
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
        "mobs": [
            {"id": one["id"], "name": one["name"], "feet": [one["x"], one["y"], one["z"]], "health": one["health"]}
            for one in map(described, _mobs(world))
        ],
        "boxes": counted,
        "events": {event: dict(me.counts[event]) for event in EVENTS if event in me.counts},
        "visible": visible(world) if sees else None,
    }


def _mobs(world: World) -> np.ndarray:
    return world.entities[world.entities["kind"] >= NUM_THINGS]


class Seen(NamedTuple):
    """A block, mob or item that a ray meets; `distance` is from the eye, in blocks; `entity` is its id, -1 for a block."""

    kind: str
    name: str
    distance: float
    point: Point
    entity: int = -1

    @property
    def cell(self) -> Cell:
        """Cell that contains the point; for a block, the block's cell."""
        return cell(self.point)


def visible(world: World) -> list[dict[str, Any]]:
    """List each kind of block and mob in sight: kind, name, and distance in blocks of the nearest one. Light does not matter.

    `LOOKS` rays are cast, so smaller things may be missed. Rays pass through water and panes of glass, which are never listed;
    a mob is met at its hit box.
    """
    found: dict[tuple[str, str], float] = {}
    for one in in_sight(world):
        key = one.kind, one.name
        found[key] = min(one.distance, found.get(key, FARTHEST_SEEN))
    return [{"kind": kind, "name": name, "distance": far} for (kind, name), far in found.items()]


def in_sight(world: World, *, things: bool = False, around: tuple[Point, float] | None = None) -> list[Seen]:
    """List each block and mob that `LOOKS` rays of the player's picture meet, at its nearest point, in the order of the rays.

    `things`: list items on the ground, too; they hide what is behind them. `around`: (point, largest distance in blocks).
    """
    rays = _Rays(world, things=things)
    met = rays.met
    if around is not None:
        point, farthest = around
        met = met[np.linalg.norm(rays.points[met] - point, axis=1) <= farthest]
    nearest: dict[tuple[int, ...], int] = {}
    keys = np.column_stack([rays.rows, np.where(rays.rows[:, None] < 0, rays.cells, 0)])
    far = rays.far.tolist()
    for index, key in zip(met.tolist(), map(tuple, keys[met].tolist()), strict=True):
        if key not in nearest or far[index] < far[nearest[key]]:
            nearest[key] = index
    return [rays.seen(index) for index in nearest.values()]


def seen_at(world: World, at: tuple[float, float]) -> Seen | None:
    """Return the block or mob at a place of the picture; `at` is (across, down), each 0 to 1. None if nothing is there."""
    across, down = (min(number - 1, int(part * number)) for part, number in zip(at, LOOKS, strict=True))
    rays, index = _Rays(world, things=False), down * LOOKS[0] + across
    return rays.seen(index) if index in rays.met else None


class _Rays:
    """`LOOKS` rays of the player's picture, row by row from the upper left, and the thing that each ray meets.

    Attributes:
        far: Distance of each ray (N,); `FARTHEST_SEEN` where it meets nothing.
        points: Point where each ray meets something (N, 3).
        cells: Cell of each point (N, 3).
        rows: Index of the entity that each ray meets (N,); -1 where it meets a block or nothing.
        met: Indices of the rays that meet something; `seen` takes such an index.
    """

    def __init__(self, world: World, *, things: bool) -> None:
        look = Renderer(LOOKS, distance=FARTHEST_SEEN)
        camera = look.camera(world)
        look.view(world.grid, camera, time=world.time, weather=world.weather)
        right, up, ahead = camera.axes
        tall = np.tan(np.radians(look.fov) / 2)
        wide = tall * LOOKS[0] / LOOKS[1]
        across, down = ((np.arange(number) + 0.5) / number * 2 - 1 for number in LOOKS)
        ways = ahead + across[None, :, None] * wide * right - down[:, None, None] * tall * up
        ways = (ways / np.linalg.norm(ways, axis=2, keepdims=True)).reshape(-1, 3)
        eye = np.array([camera.x, camera.y, camera.z])
        self._entities = world.entities if things else _mobs(world)
        self.far = look.depth.reshape(-1).astype(float)
        self.rows = _entities_met(self._entities, eye, ways, self.far)
        self.points = eye + ways * (self.far + 0.002)[:, None]
        self.cells = np.floor(self.points).astype(int)
        self._states = _states(world.grid, self.cells)
        self.met = np.flatnonzero((self.far < FARTHEST_SEEN) & ((self.rows >= 0) | (self._states != AIR)))

    def seen(self, index: int) -> Seen:
        x, y, z = self.points[index].tolist()
        far, row = float(self.far[index]), int(self.rows[index])
        if row < 0:
            return Seen("block", name_of(int(self._states[index])), far, (x, y, z))
        entity = self._entities[row]
        is_item = entity["kind"] == ITEM
        name = ITEMS[entity["item"]].name if is_item else KINDS[entity["kind"]]
        return Seen("item" if is_item else "mob", name, far, (x, y, z), int(entity["id"]))


def _states(grid: Grid, cells: np.ndarray) -> np.ndarray:
    """Return the states (N,) of many cells (N, 3), as `Grid.get` does for one cell."""
    x, y, z = cells.T
    sx, sy, sz = grid.size
    in_column = (x >= 0) & (x < sx) & (z >= 0) & (z < sz)
    states = np.where(in_column & (y >= sy), AIR, BEDROCK)
    inside = in_column & (y >= 0) & (y < sy)
    states[inside] = grid.blocks[x[inside], z[inside], y[inside]]
    return states


def _entities_met(entities: np.ndarray, eye: np.ndarray, ways: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Find the nearest entity that each ray meets before its block; return indices (N,), -1 for none.

    `ways` are the rays' unit vectors (N, 3). `depth` (N,), each ray's distance, is changed where an entity is nearer.
    """
    found = np.full(len(ways), -1)
    with np.errstate(divide="ignore"):
        inverse = np.ascontiguousarray(1 / ways.T)
    for index in np.flatnonzero((entities["kind"] >= NUM_THINGS) | (entities["kind"] == ITEM)):
        row = entities[index]
        half, height = WIDTHS[row["kind"]] / 2, HEIGHTS[row["kind"]]
        low = np.array([row["x"] - half, row["y"], row["z"] - half]) - eye
        one, other = low[:, None] * inverse, (low + np.array([2 * half, height, 2 * half]))[:, None] * inverse
        enters = np.minimum(one, other).max(axis=0)
        met = (enters > 0) & (enters <= np.maximum(one, other).min(axis=0)) & (enters < depth)
        found[met] = index
        depth[met] = enters[met]
    return found

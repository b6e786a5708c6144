"""Facts of a real block world, for `rules`: what the scene is when it is ready, and what is so at a tick."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from interplay.envs.voxel.origin import ready
from interplay.explore.rules import EVENTS, FARTHEST_SEEN, Cell, Point, Rule, boxes, cell
from interplay.world import Renderer, World, box
from interplay.world.entities.mobs import described
from interplay.world.registry.blocks import AIR, name_of
from interplay.world.registry.entity_types import HEIGHTS, KINDS, NUM_THINGS, WIDTHS

__all__ = ["collect", "feet", "for_rules", "ready", "visible"]

_LOOKS = (128, 72)
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


def visible(world: World) -> list[dict[str, Any]]:
    """What the player sees, by its shape and not by its light: name and distance in blocks of the nearest of each.

    Looked for in `_LOOKS` rays of the picture, so what is smaller than one of them may be missed. Water and panes of glass let
    through what is behind them and are not seen themselves; mobs are the boxes they are hit in.
    """
    look = Renderer(_LOOKS, distance=FARTHEST_SEEN)
    camera = look.camera(world)
    look.view(world.grid, camera, time=world.time, weather=world.weather)
    right, up, ahead = camera.axes
    tall = np.tan(np.radians(look.fov) / 2)
    wide = tall * _LOOKS[0] / _LOOKS[1]
    across, down = ((np.arange(number) + 0.5) / number * 2 - 1 for number in _LOOKS)
    rays = ahead + across[None, :, None] * wide * right - down[:, None, None] * tall * up
    rays = (rays / np.linalg.norm(rays, axis=2, keepdims=True)).reshape(-1, 3)
    depth = look.depth.reshape(-1).astype(float)
    eye = np.array([camera.x, camera.y, camera.z])
    found = _mobs_in(world, eye, rays, depth)
    met = depth < FARTHEST_SEEN
    for way, far in zip(rays[met], depth[met], strict=True):
        state = world.grid.get(*cell(eye + way * (far + 0.002)))
        key = ("block", name_of(state))
        if state != AIR:
            found[key] = min(float(far), found.get(key, FARTHEST_SEEN))
    return [{"kind": kind, "name": name, "distance": far} for (kind, name), far in found.items()]


def _mobs_in(world: World, eye: np.ndarray, rays: np.ndarray, depth: np.ndarray) -> dict[tuple[str, str], float]:
    """Name and distance of mobs before what the rays, unit vectors (N, 3), meet at `depth`, (N,); they hide what is behind."""
    found: dict[tuple[str, str], float] = {}
    with np.errstate(divide="ignore"):
        inverse = 1 / rays
    for row in _mobs(world):
        half, height = WIDTHS[row["kind"]] / 2, HEIGHTS[row["kind"]]
        low = np.array([row["x"] - half, row["y"], row["z"] - half]) - eye
        one, other = low * inverse, (low + np.array([2 * half, height, 2 * half])) * inverse
        enters = np.minimum(one, other).max(axis=1)
        met = (enters > 0) & (enters <= np.maximum(one, other).min(axis=1)) & (enters < depth)
        if met.any():
            key = ("mob", KINDS[row["kind"]])
            found[key] = min(float(enters[met].min()), found.get(key, FARTHEST_SEEN))
            depth[met] = FARTHEST_SEEN
    return found

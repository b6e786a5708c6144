"""Facts of a real block world, for `rules`: what the scene is when it is ready, and what is so at a tick."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interplay.explore.rules import Cell, Point, cell
from interplay.world import Action, World, box
from interplay.world.registry.entity_types import KINDS, NUM_THINGS

IDLE_TICKS = 20
"""Pass after the commands before the scene is ready."""


def ready(world: World) -> World:
    """A copy of a world whose commands have just run, once the idle ticks have passed; the world itself stays as it is.

    Whatever a player does in their first second, the scene's origin is the same.
    """
    copy = World.restore(world.save())
    for _ in range(IDLE_TICKS):
        copy.step(*(Action() for _ in copy.players))
    return copy


def feet(world: World) -> Point:
    """Where the player's feet are: x, y and z."""
    me = world.player
    return me.x, me.y, me.z


def collect(world: World, spawn: Point, boxes: Iterable[tuple[Cell, Cell]]) -> dict[str, Any]:
    """The facts of a world as it is now, JSON values: see `rules.FACTS`.

    Args:
        world: As the player whose turn it is; only read.
        spawn: `feet` of the scene when it was `ready`.
        boxes: Corners, in cells from the origin, of boxes whose blocks are counted; cells outside the land hold nothing.
    """
    me, origin = world.player, cell(spawn)
    mobs = world.entities[world.entities["kind"] >= NUM_THINGS]
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
            {
                "name": KINDS[mob["kind"]],
                "feet": [float(mob["x"]), float(mob["y"]), float(mob["z"])],
                "health": float(mob["health"]),
            }
            for mob in mobs
        ],
        "boxes": counted,
    }

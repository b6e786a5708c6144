"""Bodies of mobs: `data/bodies.json` has their boxes and `data/bodies.png` has the pixels of the boxes' faces.

A body is a list of `Part`s, measured in pixels of 1/16 block. In its own coordinates a mob looks along +z, its left is +x and
its feet stand at y = 0. A face has one texel per pixel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from blockworld.errors import WorldError, unknown_name
from blockworld.registry.facts import table
from blockworld.render import sheets

RIGHT, LEFT, BACK, FRONT, TOP, BOTTOM = range(6)
"""Faces of a part: -x, +x, -z, +z, +y, -y. A picture shows its face as seen from outside. The last row of the top's picture
and the first row of the bottom's picture touch the front."""
PLAIN, MARKED, CROSS = "plain", "marked", "cross"
"""Marks that change how a body looks. `MARKED`: a shorn sheep, a tame wolf or cat. `CROSS`: an angry wolf."""


@dataclass
class Part:
    """One box of a body.

    Attributes:
        box: x0, y0, z0, x1, y1, z1, measured from the pivot.
        pivot: The point about which the part turns.
        turn: Fixed rotation in degrees about x (positive tips the front down), y (positive turns right, as yaw) and z.
        swing: Degrees by which walking swings the part about x, and the phase of a step (0 to 1) at which the swing begins.
        lift: Degrees and phase as in `swing`, but about z, for legs that stand out to the side.
        head: Whether the part turns with the head.
        glow: Whether the part shines in the dark.
        flutter: Degrees by which the part beats about z, like a wing, when the mob is off the ground.
        faces: The six pictures, uint8, shape (rows, columns, 4).
    """

    box: tuple[float, ...]
    pivot: tuple[float, ...] = (0.0, 0.0, 0.0)
    turn: tuple[float, ...] = (0.0, 0.0, 0.0)
    swing: tuple[float, ...] = (0.0, 0.0)
    lift: tuple[float, ...] = (0.0, 0.0)
    head: bool = False
    glow: bool = False
    flutter: float = 0.0
    faces: list[np.ndarray] = field(default_factory=list)


@dataclass
class Body:
    """All parts of a body, and the `scale` by which the whole body is enlarged."""

    parts: list[Part]
    scale: float = 1.0


@cache
def _rows() -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in table("bodies"):
        rows.setdefault(row["name"], []).append(row)
    return rows


def num_variants(name: str) -> int:
    """Return the number of variants of a body.

    >>> num_variants("sheep"), num_variants("cow")
    (16, 1)
    """
    return 1 + max(variant for row in _rows()[name] for variant in row["variants"])


def body(name: str, variant: int = 0, mark: str = PLAIN) -> Body:
    """Return the body of a mob, of a player (`variant` is the seat), an `arrow`, a bare `arm`, or the inventory's `portrait`.

    Raises:
        UnknownNameError: If there is no such body.
        WorldError: If its pictures cannot be read.
    """
    for row in _rows().get(name, ()):
        if variant in row["variants"] and mark in row["marks"]:
            x, y = row["looks"][row["variants"].index(variant)]
            return Body([_part(part, x, y) for part in row["parts"]], row["scale"])
    raise unknown_name("body", name, _rows())


def _part(row: dict[str, Any], x: int, y: int) -> Part:
    """Make a part from a row of `data/bodies.json`; (x, y) is the corner in the PNG of the unfolded faces of the whole body."""
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if key != "picture"
    }
    part, sheet = Part(**values), sheets.picture("bodies")
    width, height, depth = (max(1, round(part.box[axis + 3] - part.box[axis])) for axis in range(3))
    x, y = x + row["picture"][0], y + row["picture"][1]
    if x + 2 * (depth + width) > sheet.shape[1] or y + depth + height > sheet.shape[0]:
        raise WorldError(f"bodies.json has pictures at {x}, {y} that reach beyond bodies.png: {row!r:.80}")
    side, above = y + depth, x + depth
    part.faces = [
        sheet[side : side + height, x : x + depth],
        sheet[side : side + height, above + width : above + width + depth],
        sheet[side : side + height, above + width + depth : above + 2 * width + depth],
        sheet[side : side + height, above : above + width],
        sheet[y:side, above : above + width],
        sheet[y:side, above + width : above + 2 * width],
    ]
    return part

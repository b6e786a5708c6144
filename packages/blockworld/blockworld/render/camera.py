"""The camera of a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from blockworld.render import exact


@dataclass(frozen=True)
class Camera:
    """The camera of a picture: its position and direction, its angle of view, and the size of the picture.

    Attributes:
        x, y, z: Position of the eye.
        yaw, pitch: Degrees, as in `state`: yaw 0 looks south, 90 west; pitch is positive when looking down.
        fov: Vertical angle of view, in degrees.
        size: (width, height) in pixels.
    """

    x: float
    y: float
    z: float
    yaw: float = 0.0
    pitch: float = 0.0
    fov: float = 70.0
    size: tuple[int, int] = (640, 360)

    @property
    def axes(self) -> np.ndarray:
        """Unit vectors to the right, up and forward, in world coordinates: float64, shape (3, 3)."""
        yaw, pitch = math.radians(self.yaw), math.radians(self.pitch)
        cy, sy, cp, sp = exact.cos(yaw), exact.sin(yaw), exact.cos(pitch), exact.sin(pitch)
        return np.array([[-cy, 0.0, -sy], [-sy * sp, cp, cy * sp], [-sy * cp, -sp, cy * cp]])

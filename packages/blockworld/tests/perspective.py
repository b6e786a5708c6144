"""Where a picture shows a point: perspective worked out once more, apart from the ray-caster."""

import math

import numpy as np

from blockworld.render.camera import Camera


def focal(camera: Camera) -> float:
    """Pixels that something of size 1 at distance 1 straight ahead takes."""
    return camera.size[1] / 2 / math.tan(math.radians(camera.fov) / 2)


def project(camera: Camera, points: np.ndarray) -> np.ndarray:
    """Where points of the world, shape (..., 3), appear: shape (..., 3).

    The entries are column and row in pixels (0.5 is the middle of the first), and the distance along the view's axis, which is
    not positive behind the camera. A depth picture holds distances from the eye along the ray instead: the axial one times
    `sqrt(1 + ((column - width / 2)**2 + (row - height / 2)**2) / focal**2)`.
    """
    seen = (np.asarray(points, float) - (camera.x, camera.y, camera.z)) @ camera.axes.T
    ahead = np.where(seen[..., 2] > 1e-6, seen[..., 2], 1e-6)
    column = camera.size[0] / 2 + seen[..., 0] / ahead * focal(camera)
    row = camera.size[1] / 2 - seen[..., 1] / ahead * focal(camera)
    return np.stack([column, row, seen[..., 2]], -1)

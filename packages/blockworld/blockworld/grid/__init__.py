"""Cells, light, collisions and fluids."""

from blockworld.grid import physics
from blockworld.grid.grid import BEDROCK, Grid
from blockworld.grid.light import OPAQUE
from blockworld.grid.physics import FLUID_KIND, NORMALS, UP, WATER, is_free

__all__ = ["BEDROCK", "FLUID_KIND", "NORMALS", "OPAQUE", "UP", "WATER", "Grid", "is_free", "physics"]

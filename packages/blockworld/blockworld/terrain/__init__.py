"""Make a land from a seed."""

from blockworld.terrain import caves
from blockworld.terrain.caves import PASSABLE, ROOF, STANDABLE
from blockworld.terrain.generate import KINDS
from blockworld.terrain.ground import SEA
from blockworld.terrain.houses import FARMS, PENS, STYLES
from blockworld.terrain.villages import House

__all__ = ["FARMS", "KINDS", "PASSABLE", "PENS", "ROOF", "SEA", "STANDABLE", "STYLES", "House", "caves"]

"""All data that a browser needs to draw a world, as bytes; `blockworld/web` contains the code that draws."""

from blockworld.scene.encoder import SceneEncoder, generated_land
from blockworld.scene.shared import Shared
from blockworld.scene.tables import static_tables

__all__ = [
    "SceneEncoder",
    "Shared",
    "generated_land",
    "static_tables",
]

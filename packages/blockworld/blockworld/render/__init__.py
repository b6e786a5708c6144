"""Pictures of the world as a player sees it."""

from blockworld.render import figures, hud
from blockworld.render.camera import Camera
from blockworld.render.renderer import MOST_GAMMA

__all__ = [
    "MOST_GAMMA",
    "Camera",
    "figures",
    "hud",
]

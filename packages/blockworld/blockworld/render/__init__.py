"""Pictures of the world as a player sees it; the kernels in `raycaster/` compute the colour of each pixel of the land."""

from blockworld.render import figures, hud
from blockworld.render.camera import Camera
from blockworld.render.renderer import MOST_GAMMA

__all__ = [
    "MOST_GAMMA",
    "Camera",
    "figures",
    "hud",
]

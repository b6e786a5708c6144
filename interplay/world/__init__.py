"""The embedded block world: Minecraft 1.16's names, numbers and rules in Python, exact and with nothing to download.

    from interplay.world import Action, Renderer, World

    world = World(seed=14169, kind="plains")
    world.step(Action(forward=True, sprint=True))
    picture = Renderer((640, 360)).frame(world)      # uint8, shape (360, 640, 3)

It knows nothing of the rest of the package. Blocks are states in a NumPy array (`grid`), light and pictures are Numba kernels,
everything else is rules in plain modules of one noun each. The first use compiles the kernels, once.
"""

from interplay.world.commands import CommandError, run, run_all
from interplay.world.errors import WorldError
from interplay.world.inventory import contents
from interplay.world.items import stacks
from interplay.world.render import Renderer
from interplay.world.state import Action, Stack
from interplay.world.world import DAY_TICKS, VERSION, World, box

__all__ = [
    "DAY_TICKS",
    "VERSION",
    "Action",
    "CommandError",
    "Renderer",
    "Stack",
    "World",
    "WorldError",
    "box",
    "contents",
    "run",
    "run_all",
    "stacks",
]

"""The embedded block world: Minecraft 1.16's names, numbers and rules in Python, exact and with nothing to download.

    from interplay.world import Action, Renderer, World

    world = World(seed=14169, kind="plains")
    world.step(Action(forward=True, sprint=True))
    picture = Renderer((640, 360)).frame(world)      # uint8, shape (360, 640, 3)

It knows nothing of the rest of the package. Blocks are states in a NumPy array (`grid`), light and pictures are Numba kernels,
everything else is rules in plain modules of one noun each. The first use compiles the kernels, once. Its rooms, each of which
knows those before it (`tests/world/test_rooms_of_the_world.py` has the rule):

    state, errors   what the world remembers between two ticks
    registry        what there is: blocks, items, creatures, recipes
    grid            where things are: cells, light, collisions, water
    terrain         how a land is made from a seed
    blocks          what blocks do by themselves
    entities        what moves besides players
    player          what a player does
    commands        what builds a scene
    render          what a player sees
    tick            what happens in a twentieth of a second, and in which order
    world           all that; how to keep it and bring it back
    scene           what a browser needs to draw it, as bytes
"""

from interplay.world.commands.commands import CommandError, run, run_all
from interplay.world.errors import WorldError
from interplay.world.player.inventory import contents
from interplay.world.registry.items import stacks
from interplay.world.render.renderer import Renderer
from interplay.world.state import DAY_TICKS, Action, Stack
from interplay.world.world import VERSION, World, box

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

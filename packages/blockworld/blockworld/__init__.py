"""The built-in block world: Minecraft 1.16's names, numbers and rules in Python, exact, with nothing to download.

    from blockworld import Action, Renderer, World

    world = World(seed=14169, kind="plains")
    world.step(Action(forward=True, sprint=True))
    picture = Renderer((640, 360)).frame(world)      # uint8, shape (360, 640, 3)

The package needs nothing else of this repository. Blocks are states in a NumPy array (`grid`). Numba kernels compute light and
pictures; all other rules are functions of a `WorldState`. The first use compiles the kernels, once. Each module or folder below
imports only those above it (`tests/test_rooms_of_the_world.py` checks this):

    errors, state   errors; data types of actions, stacks, players and entities
    registry        tables of blocks, items, creatures, recipes
    compiling       the one-time compile of the kernels
    grid            cells, light, collisions, water
    terrain         making a land from a seed
    slots           operations on slots, and their places on screens
    world_state     the whole state of a world between two ticks
    blocks          changes that blocks make without a player
    entities        mobs, items and projectiles
    player          a player's actions
    events          consequences of what mobs and things do
    commands        commands that build a scene
    raycaster       kernels that compute the colour of each pixel
    render          pictures of what a player sees
    scene           data that a browser needs to draw the same, as bytes
    tick            the order of events in a tick, a twentieth of a second
    world           making, stepping, saving, restoring and forking worlds
    scenario        the beginning of a game: land, rules, items, commands
    env             the world as a Gymnasium environment
    exercise        a short run that calls every kernel
"""

from blockworld import compiling
from blockworld.blocks.growth import growing
from blockworld.blocks.orientation import is_replaceable
from blockworld.commands.commands import DIFFICULTIES, CommandError, rule_value, run, run_all
from blockworld.entities import mobs
from blockworld.entities.mobs import described
from blockworld.entities.trading import offers_of
from blockworld.env import BlockWorldEnv, register
from blockworld.errors import UnknownNameError, WorldError
from blockworld.exercise import load_kernels
from blockworld.player import screens
from blockworld.player.mining import body, break_ticks, mob_in_front, target
from blockworld.registry.items import stacks
from blockworld.render.renderer import Renderer
from blockworld.scenario import Scenario, is_whole
from blockworld.slots.inventory import CARRIED, contents
from blockworld.slots.panels import NUM_OFFERS_SHOWN
from blockworld.state import ATTACK_REACH, DAY_TICKS, EYE_HEIGHT, HALF_WIDTH, REACH, Action, Player, Position, Stack
from blockworld.world import VERSION, World, box

__all__ = [
    "ATTACK_REACH",
    "CARRIED",
    "DAY_TICKS",
    "DIFFICULTIES",
    "EYE_HEIGHT",
    "HALF_WIDTH",
    "NUM_OFFERS_SHOWN",
    "REACH",
    "VERSION",
    "Action",
    "BlockWorldEnv",
    "CommandError",
    "Player",
    "Position",
    "Renderer",
    "Scenario",
    "Stack",
    "UnknownNameError",
    "World",
    "WorldError",
    "body",
    "box",
    "break_ticks",
    "compiling",
    "contents",
    "described",
    "growing",
    "is_replaceable",
    "is_whole",
    "load_kernels",
    "mob_in_front",
    "mobs",
    "offers_of",
    "rule_value",
    "run",
    "run_all",
    "screens",
    "stacks",
    "target",
]

register()

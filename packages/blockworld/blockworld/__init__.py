"""The embedded block world: Minecraft 1.16's names, numbers and rules in Python, exact and with nothing to download.

    from blockworld import Action, Renderer, World

    world = World(seed=14169, kind="plains")
    world.step(Action(forward=True, sprint=True))
    picture = Renderer((640, 360)).frame(world)      # uint8, shape (360, 640, 3)

It depends on nothing of the rest of this repository. Blocks are states in a NumPy array (`grid`), light and pictures are Numba
kernels, everything else is rules in plain modules of one noun each: functions of a `WorldState`. The first use compiles the
kernels, once. Its rooms, each of which knows those before it (`tests/test_rooms_of_the_world.py` has the rule):

    errors, state   what an action, a stack, a player and an entity are
    registry        what there is: blocks, items, creatures, recipes
    compiling       the one-time compile of the kernels
    grid            where things are: cells, light, collisions, water
    terrain         how a land is made from a seed
    slots           what lies in slots, and where a screen shows them
    world_state     all that a world is between two ticks
    blocks          what blocks do by themselves
    entities        what moves besides players
    player          what a player does
    events          what comes of what mobs and things do
    commands        what builds a scene
    render          what a player sees
    scene           what a browser needs to draw it, as bytes
    tick            what happens in a twentieth of a second, and in which order
    world           how a world is made, stepped, saved, restored and forked
    exercise        a small life that calls every kernel
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

"""A short run that calls every kernel once, so that each is compiled or loaded from the cache."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from blockworld import compiling
from blockworld.entities import items_and_projectiles, mobs
from blockworld.events.explosions import explode
from blockworld.registry.blocks import state_of
from blockworld.render.renderer import Renderer
from blockworld.scene.encoder import SceneEncoder
from blockworld.state import Action, Stack
from blockworld.terrain import caves
from blockworld.terrain.generate import generate
from blockworld.world import World


def main(processes: int) -> None:
    """Compile all kernels, for `compiling.ensure`. A second process compiles those of pictures: a third of the work."""
    compiling.assume_compiled()
    if processes == 1:
        load_kernels()
        return
    painter = subprocess.Popen([sys.executable, "-c", "from blockworld import exercise; exercise.paint()"])
    try:
        load_kernels(painter.wait)
    finally:
        painter.kill()
        painter.wait()


def paint() -> None:
    """Draw a picture of a flat land; this compiles the kernels of pictures, in the second process."""
    compiling.assume_compiled()
    _draw(World(1, "flat", inhabited=False))


def load_kernels(then: Callable[[], object] = lambda: None) -> None:
    """Compile every kernel, or load it from the cache into this process; `then` is called before pictures are drawn."""
    world = _live()
    then()
    _draw(world)


def _draw(world: World) -> None:
    world.player.invulnerable = 5  # a player who was just hurt sees red, as behind a screen one sees less
    for size in ((640, 360), (64, 36)):
        Renderer(size).frame(world)


def _live() -> World:
    generate(1, "village")
    world = World(1, "flat", inhabited=False)
    x, y, z = world.spawn
    encoder = SceneEncoder(world, 0, hide_land=True)
    for place, name in enumerate(mobs.KINDS[mobs.NUM_THINGS :]):
        mobs.spawn(world, name, x + 3.5 + place % 5, float(y), z + 3.5 + place // 5)
    world.spawn_item(x + 0.5, y + 1.0, z + 0.5, Stack("stick"))
    world.set_block(x + 6, y + 2, z, 34)  # a source of water, which flows
    world.set_block(x, y + 5, z + 6, 66)  # sand, which falls
    world.set_block(x - 5, y + 2, z - 5, state_of("fire"))  # which looks for fuel within 40 ticks
    items_and_projectiles.shoot(world, "arrow", x + 0.5, y + 1.5, z + 0.5, 0.5, 0.2, 0.5, -1)
    world.grid.fill(x - 6, y, z - 6, x - 4, y + 1, z - 4, 1)
    world.give(Stack("oak_planks", 8))
    caves._dig(world.land.blocks.copy(), 20.0, 9, 20.0, 2.0, 3, state_of("water"))  # few lands need it
    for step in range(41):
        world.step(
            Action(forward=True, jump=step > 4, attack=step % 3 == 0, use=step % 3 == 1, camera_pitch=8.0, camera_yaw=20.0)
        )
    explode(world, x + 9.5, y + 1.0, z + 0.5, 2.0, True)
    encoder.scene()
    world.save()
    world.fork()
    return world

"""Make the pictures of the block world that the documentation shows: `python tools/world_pictures.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import simplejpeg

from bench.world import densest
from blockworld import Action, Renderer, Stack, World, run
from blockworld.player import screens
from interplay.envs import Frame
from interplay.envs.pictures import png

OUT = Path(__file__).parent.parent / "docs" / "images" / "world"
SIZE = (640, 360)


def main() -> None:
    """Draw all of them."""
    OUT.mkdir(parents=True, exist_ok=True)
    for name, make in PICTURES.items():
        picture = Renderer(SIZE).frame(make())
        jpeg = simplejpeg.encode_jpeg(np.ascontiguousarray(picture), quality=90, colorsubsampling="444")
        (OUT / f"{name}.jpg").write_bytes(jpeg)
        print(f"{name}.jpg  {len(jpeg) // 1000} kB")
    whole = np.vstack([np.hstack(at_gammas(make())) for make in (cave, night)])
    (OUT / "gamma.png").write_bytes(png(Frame(whole), level=9))
    print(f"gamma.png  {(OUT / 'gamma.png').stat().st_size // 1000} kB")


def at_gammas(world: World, size: tuple[int, int] = (288, 162)) -> list[np.ndarray]:
    """The same view at gamma 0 and at gamma 2: two pictures, uint8, shape (height, width, 3)."""
    return [Renderer(size, gamma=gamma).frame(world).copy() for gamma in (0.0, 2.0)]


def stand(world: World, x: float, y: float, z: float, yaw: float, pitch: float) -> World:
    """Put the player somewhere and let a second pass."""
    player = world.player
    player.x, player.y, player.z, player.yaw, player.pitch = x, y, z, yaw, pitch
    for _ in range(20):
        world.step(Action())
    player.x, player.y, player.z, player.vy = x, y, z, 0.0
    return world


def fly(world: World, up: float, yaw: float, pitch: float, *, forward: float = 0.0) -> World:
    """Look from above the spawn, without a body."""
    run(world, "/gamemode spectator")
    x, y, z = world.spawn
    dx, dz = -np.sin(np.radians(yaw)), np.cos(np.radians(yaw))
    return stand(world, x + 0.5 + dx * forward, y + up, z + 0.5 + dz * forward, yaw, pitch)


def among(world: World, names: tuple[str, ...], yaw: float, pitch: float) -> World:
    """Stand where most of some blocks are."""
    x, z = densest(world, names, 2)
    return stand(world, x + 0.5, float(world.land.heights[x, z]) + 1.0, z + 0.5, yaw, pitch)


def cave() -> World:
    """Inside the first cave mouth."""
    world = World(14169, "plains")
    x, y, z = world.land.cave_mouths[0]
    world.give(Stack("torch", 8))
    return stand(world, x + 0.5, float(y), z + 0.5, 100.0, 5.0)


def crafting() -> World:
    """A pickaxe being made at a table."""
    world = World(3, "plains")
    for item, count in (("oak_planks", 9), ("stick", 4), ("cobblestone", 20), ("apple", 3), ("oak_log", 6)):
        world.give(Stack(item, count))
    world = stand(world, world.player.x, world.player.y, world.player.z, 30.0, 10.0)
    x, y, z = (int(value) for value in (world.player.x, world.player.y, world.player.z))
    run(world, f"/setblock {x} {y - 1} {z + 2} crafting_table")
    screens.open(world, "crafting_table", (x, y - 1, z + 2))
    assert world.screen is not None
    for slot in (0, 1, 2):
        world.screen.craft[slot] = Stack("oak_planks", 1)
    for slot in (4, 7):
        world.screen.craft[slot] = Stack("stick", 1)
    result = screens.find(world.screen, "result")
    turn = screens.path_to(world.screen, result)
    world.step(Action(camera_yaw=turn.yaw, camera_pitch=turn.pitch))
    return world


def night() -> World:
    """A village by night."""
    world = World(5, "village_plains")
    world.time = 18_000
    world.rules["doMobSpawning"] = "false"
    return fly(world, 5.0, 60.0, 12.0)


PICTURES: dict[str, Callable[[], World]] = {
    "meadow": lambda: stand(World(14169, "plains"), *_spawn(14169, "plains"), 40.0, 3.0),
    "forest": lambda: among(World(7), ("oak_leaves", "birch_leaves"), 75.0, 4.0),
    "lake": lambda: among(World(9), ("sand", "water"), 200.0, 4.0),
    "mountains": lambda: fly(World(95674, "mountains"), 8.0, 120.0, 4.0),
    "cave": cave,
    "above": lambda: fly(World(9), 16.0, 20.0, 24.0),
    "crafting": crafting,
    "night": night,
    **{f"village_{style}": (lambda style=style: fly(World(5, f"village_{style}"), 9.0, 30.0, 20.0))
       for style in ("plains", "desert", "savanna", "taiga", "snowy")},
}  # fmt: skip


def _spawn(seed: int, kind: str) -> tuple[float, float, float]:
    x, y, z = World(seed, kind).spawn
    return x + 0.5, float(y), z + 0.5


if __name__ == "__main__":
    main()

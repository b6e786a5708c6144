"""What the block world does and shows, as hashes in `golden.json`: scenes, random play in all five tasks, and screens.

A change that moves code about, and changes no rule and no picture, leaves every one of them as it is. A change of rules or
pictures on purpose writes them anew, and raises `interplay.world.VERSION`:

python tests/world/golden.py            write golden.json
python tests/world/golden.py print      say it on standard output instead
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from interplay.envs import make
from interplay.envs.minerl_actions import CAMERA, KEYS
from interplay.envs.voxel import VoxelEnv
from interplay.tasks import find
from interplay.world import Action, Renderer, Stack, World, run
from interplay.world.player import screens
from interplay.world.registry.blocks import BLOCKS
from interplay.world.registry.trades import offer
from interplay.world.render.icons import NAMES, icon
from interplay.world.render.models import models
from interplay.world.render.textures import atlas

GOLDEN = Path(__file__).with_name("golden.json")
SIZES = {(320, 180): Fraction(1), (96, 96): None}
"""Sizes of the scenes' pictures, and how large bars and screens are in them: as people see them, and as agents do."""
TASKS = ("find_cave", "make_waterfall", "create_village_animal_pen", "build_village_house", "obtain_diamond_shovel")
NUM_STEPS = 1000
"""Of random play in each task."""
EVERY = 50
"""Steps from one hash of random play to the next."""


def _hash(data: bytes | np.ndarray) -> str:
    return hashlib.sha256(data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()).hexdigest()[:16]


def look_of(world: World) -> str:
    """Hashes of everything in a world, and of its picture in each of `SIZES`."""
    pictures = [_hash(Renderer(size).frame(world, scale)) for size, scale in SIZES.items()]
    return " ".join([world.digest()[:16], *pictures])


# Scenes


def scenes() -> dict[str, World]:
    """Worlds with everything that is drawn: creatures, things, glass, fire, water from above and below, fog, rain, a screen."""
    night = World(5, "flat", inhabited=False)
    x, y, z = (int(value) for value in night.spawn)
    run(night, f"/fill {x - 4} {y - 2} {z + 9} {x - 1} {y - 1} {z + 12} minecraft:water")
    run(night, f"/setblock {x + 3} {y} {z + 5} minecraft:torch")
    run(night, f"/fill {x + 1} {y} {z + 8} {x + 4} {y + 2} {z + 8} minecraft:red_stained_glass")
    for place, name in enumerate(("zombie", "sheep", "slime", "villager", "cow", "creeper", "horse", "chicken")):
        night.spawn_mob(name, x - 5.5 + 1.7 * place, float(y), z + 6.5 + place % 3)
    for place, item in enumerate(("diamond_shovel", "oak_log", "apple")):
        night.spawn_item(x - 1.0 + place, y + 0.5, z + 3.5, Stack(item))
    night.time = 18_000
    night.give(Stack("iron_sword"))
    for tick in range(12):
        night.step(Action(forward=tick < 4, attack=True, camera_pitch=2.0, camera_yaw=1.7))

    def changed(world: World, **values: Any) -> World:
        other = World.restore(world.save())
        for name, value in values.items():
            setattr(other if hasattr(other, name) else other.player, name, value)
        return other

    screen = changed(night, time=12_400)
    screen.step(Action(inventory=True))
    far = World(14169, "default")
    far.player.pitch = 8.0
    lake = changed(far, time=23_300, weather="rain")
    columns = np.argwhere((lake.grid.blocks[:, :, 62] == 34) & (lake.grid.blocks[:, :, 59] == 34))
    lake.player.x, lake.player.z = (columns[len(columns) // 2] + 0.5).tolist()
    lake.player.y = 63.5
    return {
        "night": night,
        "screen": screen,
        "burning": changed(night, time=6000, burning=40, invulnerable=8),
        "eating": changed(night, time=1000, eating=7, hotbar=3, swing=2),
        "far": far,
        "lake": lake,
        "under_water": changed(lake, y=60.0, pitch=-12.0),
    }


def _columns(world: World, names: tuple[str, ...]) -> tuple[int, int]:
    """The column of a land in which most cells have one of some blocks, (x, z)."""
    wanted = [state for block in BLOCKS if block.name in names for state in range(block.first, block.first + block.num_states)]
    x, z = np.unravel_index(int(np.argmax(np.isin(world.grid.blocks, wanted).sum(axis=2))), world.grid.blocks.shape[:2])
    return int(x), int(z)


def _stand(world: World, x: float, y: float, z: float, yaw: float, pitch: float) -> World:
    player = world.player
    player.x, player.y, player.z, player.yaw, player.pitch = x, y, z, yaw, pitch
    for _ in range(10):
        world.step(Action())
    return world


def more_scenes() -> dict[str, World]:
    """A village at dusk, a cave with a torch, a forest in a thunderstorm, a land from above, and one of every block."""
    village = World(7, "village")
    village.time = 12_800
    _stand(village, village.spawn[0] + 0.5, float(village.spawn[1]), village.spawn[2] + 0.5, 45.0, 0.0)
    cave = World(14169, "plains")
    x, y, z = cave.land.cave_mouths[0]
    cave.give(Stack("torch", 8))
    _stand(cave, x + 0.5, float(y), z + 0.5, 100.0, 5.0)
    forest = World(7, "default")
    forest.weather = "thunder"
    x, z = _columns(forest, ("oak_log", "birch_log", "spruce_log"))
    _stand(forest, x + 3.5, forest.grid.top(x + 3, z) + 1.0, z + 0.5, 100.0, -10.0)
    above = World(7, "default")
    run(above, "/gamemode spectator")
    _stand(above, above.spawn[0] + 0.5, above.spawn[1] + 20.0, above.spawn[2] + 0.5, 120.0, 25.0)
    blocks = World(9, "flat", inhabited=False)
    x, y, z = blocks.spawn
    for place, block in enumerate(BLOCKS):  # without any rule: what stands is what is drawn
        blocks.grid.set(x - 28 + 2 * (place % 28), y + place // 28 % 2, z + 3 + 2 * (place // 28), block.default)
    blocks.player.yaw, blocks.player.pitch, blocks.player.y = 0.0, 30.0, y + 8.0
    return {"village": village, "cave": cave, "forest": forest, "above": above, "blocks": blocks}


def every_scene() -> dict[str, World]:
    """All twelve."""
    return scenes() | more_scenes()


# Random play


SHARES = {"forward": 0.7, "jump": 0.3, "attack": 0.5, "use": 0.15, "sprint": 0.2, "sneak": 0.05, "inventory": 0.04, "ESC": 0.0}
"""How likely a key is held; 0.03 the others."""


def play(task_name: str) -> Iterator[str]:
    """1,000 steps of somebody who holds random keys for a while, in a small picture; a hash every fifty steps."""
    task = find(f"basalt/{task_name}")
    env = make(task)
    assert isinstance(env, VoxelEnv)
    rng = np.random.default_rng(11)
    renderer = Renderer((160, 90))
    env.reset(seed=2143)
    action: dict[str, Any] = {}
    for step in range(1, NUM_STEPS + 1):
        if step % 8 == 1:
            action = {key: int(rng.random() < SHARES.get(key, 0.03)) for key in KEYS}
        env.step_unseen({"player": action | {CAMERA: rng.normal(0.0, (2.0, 6.0)).astype(np.float32)}})
        if step % EVERY == 0:
            yield f"{env.world.digest()[:16]} {_hash(renderer.frame(env.world))}"
        if env.world.player.dead:
            env.reset(seed=2143 + step)
    env.close()


# Screens


def _workshop() -> World:
    """A flat land with what screens are opened on, and things to put in."""
    world = World(21, "flat", inhabited=False)
    x, y, z = world.spawn
    for place, block in enumerate(("crafting_table", "chest", "chest", "furnace[facing=north]", "stonecutter")):
        run(world, f"/setblock {x - 2 + place} {y} {z + 2} minecraft:{block}")
    for item, count in (("oak_log", 12), ("oak_planks", 20), ("stick", 9), ("cobblestone", 40), ("coal", 5), ("iron_ore", 6)):
        world.give(Stack(item, count))
    world.give(Stack("emerald", 40))
    return world


def session(name: str) -> Iterator[str]:
    """120 random clicks on screens, which are opened again when one closes them; a hash every twenty clicks."""
    opened = SESSIONS[name]()
    world, rng, renderer = _workshop(), np.random.default_rng(len(name)), Renderer((320, 180))
    for number in range(1, 121):
        if world.screen is None:
            opened(world)
        assert world.screen is not None
        turn = screens.path_to(world.screen, int(rng.integers(len(screens.slots(world.screen)))))
        key = rng.choice(["attack", "use", "drop", "swap_hands", "inventory", "hotbar"], p=[0.55, 0.3, 0.02, 0.02, 0.01, 0.1])
        keys: dict[str, Any] = {"hotbar": int(rng.integers(1, 10))} if key == "hotbar" else {str(key): True}
        world.step(Action(camera_yaw=turn.yaw, camera_pitch=turn.pitch))
        world.step(Action(sneak=bool(rng.random() < 0.2), **keys))
        world.step(Action())
        if number % 20 == 0:
            yield f"{world.digest()[:16]} {_hash(renderer.frame(world, Fraction(1)))}"


def _by_turns(*kinds: tuple[str, int]) -> Callable[[World], None]:
    """Opens one screen after another: kinds, and which block of the workshop they are of, counted from the west."""
    turn = iter(range(10**6))

    def opened(world: World) -> None:
        kind, place = kinds[next(turn) % len(kinds)]
        x, y, z = world.spawn
        screens.open(world, kind, None if place < 0 else (x - 2 + place, y, z + 2))

    return opened


def _trade(world: World) -> None:
    """The villager's screen; the villager comes with the first one."""
    x, y, z = world.spawn
    wanted = [entity for entity, extra in world.extras.items() if "offers" in extra]
    if not wanted:
        data = {"profession": "farmer", "type": "plains", "level": 2}
        wanted = [world.spawn_mob("villager", x + 1.5, float(y), z + 1.5, VillagerData=data)]
        world.extras[wanted[0]]["offers"] += [offer(("emerald", 3), ("iron_pickaxe", 1), buy2=("cobblestone", 10))]
    screens.open(world, "villager", entity=wanted[0])


SESSIONS: dict[str, Callable[[], Callable[[World], None]]] = {
    "crafting": lambda: _by_turns(("inventory", -1), ("crafting_table", 0), ("stonecutter", 4)),
    "chest and furnace": lambda: _by_turns(("furnace", 3), ("chest", 1)),
    "trading": lambda: _trade,
}
"""Name -> makes what opens a screen."""


# All of it


def looks() -> dict[str, str]:
    """Hashes of what pictures are made of: textures, models, icons."""
    look = models()
    of_each = np.array([_hash(picture) for picture in atlas()])  # whose order is that in which they were asked for
    arrays = {name: _hash(array) for name, array in vars(look).items() if "faces" not in name}
    faces = np.concatenate([np.where(look.kind[:, None] > 0, look.faces, -1), look.box_faces])  # 0 for air, too
    textures = _hash(np.where(faces < 0, "", of_each[faces]))  # -1: no face, not the texture painted last
    icons = _hash("".join(_hash(icon(name)) for name in NAMES).encode())
    return {**arrays, "textures": textures, "icons": icons}


def measure() -> dict[str, Any]:
    """Everything that `golden.json` has, of the world as it is now."""
    return {
        "looks": looks(),
        "scenes": {name: look_of(world) for name, world in every_scene().items()},
        "play": {name: list(play(name)) for name in TASKS},
        "screens": {name: list(session(name)) for name in SESSIONS},
    }


def main() -> None:
    """Write it, or say it."""
    text = json.dumps(measure(), indent=1)
    if sys.argv[1:] == ["print"]:
        print(text)
    else:
        GOLDEN.write_text(text + "\n")


if __name__ == "__main__":
    main()

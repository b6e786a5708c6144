"""How fast the block world is: pictures, ticks, the first use; and the memory of a game. `python -m bench.world [--json]`.

One core. Five views of real land (forest, lake, village, cave, from above) with mobs and water ticking, at 640x360 and
128x128; ticks without pictures; beside them crafter, a world of blocks seen from above in NumPy, at its own 64x64, in the
same run.
Exit status 1 unless the bars are met.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_STEP_MS = {(640, 360): 25.0, (128, 128): 4.0}
MIN_BLIND_STEPS_PER_S = 2000.0
MAX_FIRST_FRAME_S = 3.0
MAX_GAME_MB = 12.0
NUM_STEPS = 60


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=NUM_STEPS, help="steps of each view")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    result = measure(options.steps, options.seed)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for key, value in result.items():
            print(key)
            for name, number in value.items() if isinstance(value, dict) else [("", value)]:
                print(f"  {name:24} {number}")
    if not result["meets_bars"]:
        raise SystemExit(1)


def measure(num_steps: int, seed: int) -> dict[str, Any]:
    """All numbers of one run."""
    from blockworld import Renderer

    result: dict[str, Any] = {"load": round(os.getloadavg()[0], 2), "first_frame_s": round(_first_frame_s(), 2)}
    views = _views(seed)
    meets = result["first_frame_s"] <= MAX_FIRST_FRAME_S
    for size, bar in MAX_STEP_MS.items():
        renderer = Renderer(size)
        medians = {}
        for name, make in views.items():
            world = make()
            renderer.frame(world)
            costs = [_cost_ms(lambda world=world, renderer=renderer: _step(world, renderer)) for _ in range(num_steps)]
            medians[name] = round(statistics.median(costs), 2)
        overall = round(statistics.median(medians.values()), 2)
        result[f"step_ms_{size[0]}x{size[1]}"] = medians | {"median": overall}
        meets = meets and overall <= bar
    blind = {}
    for name, make in views.items():
        world = make()
        costs = [_cost_ms(lambda world=world: _step(world, None)) for _ in range(num_steps * 10)]
        blind[name] = round(1000 / statistics.fmean(costs))
    result["blind_steps_per_s"] = blind | {"median": round(statistics.median(blind.values()))}
    meets = meets and result["blind_steps_per_s"]["median"] >= MIN_BLIND_STEPS_PER_S
    result["memory_of_a_further_game_mb"] = round(_game_mb(seed), 1)
    meets = meets and result["memory_of_a_further_game_mb"] <= MAX_GAME_MB
    small = result["step_ms_128x128"]["median"]
    crafter = _crafter_step_ms(num_steps * 4)
    result["crafter_step_ms_64x64"] = round(crafter, 2)
    result["ratio_crafter_64x64_to_ours_128x128"] = round(crafter / small, 2)
    result["meets_bars"] = meets
    return result


def _cost_ms(act: Callable[[], object]) -> float:
    before = time.perf_counter()
    act()
    return (time.perf_counter() - before) * 1000


def _step(world: Any, renderer: Any) -> None:
    """One tick of somebody who looks around and walks."""
    from blockworld import Action

    turn = 4.0 * np.sin(world.ticks / 7.0)
    world.step(Action(forward=world.ticks % 40 < 20, camera_yaw=float(turn)))
    if renderer is not None:
        renderer.frame(world)


def densest(world: Any, names: tuple[str, ...], margin: int) -> tuple[int, int]:
    """The middle (x, z) of the 16 x 16 columns in which most have some blocks, `margin` such squares from the edge or more."""
    from blockworld.registry.blocks import BLOCK_OF, BLOCKS, BY_NAME

    wanted = [BLOCKS.index(BY_NAME[name]) for name in names]
    cells = np.isin(BLOCK_OF[world.grid.blocks], wanted).any(axis=2).reshape(16, 16, 16, 16).sum(axis=(1, 3))
    inner = cells[margin:-margin, margin:-margin]
    cx, cz = np.unravel_index(int(np.argmax(inner)), inner.shape)
    return (int(cx) + margin) * 16 + 8, (int(cz) + margin) * 16 + 8


def _views(seed: int) -> dict[str, Callable[[], Any]]:
    """Five places, each a function that makes its world anew."""
    from blockworld import World, run

    def stand(kind: str, find: Callable[[Any], tuple[float, float, float]], yaw: float, pitch: float) -> Callable[[], Any]:
        def make() -> Any:
            world = World(seed, kind)
            player = world.player
            player.x, player.y, player.z = find(world)
            player.yaw, player.pitch = yaw, pitch
            x, y, z = (int(value) for value in (player.x, player.y, player.z))
            run(world, f"/fill {x + 4} {y + 4} {z} {x + 4} {y + 4} {z} minecraft:water keep")  # something that flows
            return world

        return make

    def dense(names: tuple[str, ...]) -> Callable[[Any], tuple[float, float, float]]:
        """Beside where most of some blocks stand."""

        def find(world: Any) -> tuple[float, float, float]:
            x, z = densest(world, names, 1)
            return x + 0.5, world.grid.top(x, z) + 1.0, z + 0.5

        return find

    def cave(world: Any) -> tuple[float, float, float]:
        x, y, z = world.land.cave_mouths[0]
        return x + 0.5, float(y), z + 0.5

    def above(world: Any) -> tuple[float, float, float]:
        x, y, z = world.spawn
        run(world, "/gamemode spectator")
        return x + 0.5, y + 20.0, z + 0.5

    def spawn(world: Any) -> tuple[float, float, float]:
        x, y, z = world.spawn
        return x + 0.5, float(y), z + 0.5

    return {
        "forest": stand("default", dense(("oak_leaves", "birch_leaves", "spruce_leaves")), 30.0, 0.0),
        "lake": stand("default", dense(("water",)), 200.0, 5.0),
        "village": stand("village", spawn, 45.0, 0.0),
        "cave": stand("plains", cave, 90.0, 0.0),
        "above": stand("default", above, 120.0, 25.0),
    }


def _first_frame_s() -> float:
    """A fresh process, kernels compiled before: from import to the first picture."""
    code = (
        "import time; begin = time.perf_counter()\n"
        "from blockworld import Renderer, World\n"
        "Renderer((640, 360)).frame(World(seed=7, kind='plains'))\n"
        "print(time.perf_counter() - begin)"
    )
    return min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()[-1])
        for _ in range(2)
    )


def _game_mb(seed: int, num_games: int = 50, num_ticks: int = 600) -> float:
    """Memory that each further game takes, where all are in one village, walk and dig. The first ten make the caches full."""
    from blockworld import Action, World

    games, used = [], []
    for game in range(num_games):
        games.append(World(seed, "village"))
        for tick in range(num_ticks):
            turn = 5.0 * np.sin(tick / 9 + game)
            digs = tick % 200 >= 120
            games[-1].step(
                Action(forward=not digs, jump=not digs, attack=digs, camera_yaw=turn, camera_pitch=2.0 if digs else 0.0)
            )
        used.append(_memory_mb())
    return (used[-1] - used[10]) / (num_games - 10)


def _memory_mb() -> float:
    """Of this process, in megabytes; what it shares with others counts as its share."""
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024 / 1e6


def _crafter_step_ms(num_steps: int) -> float:
    """Mean step of crafter with its picture."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import crafter

        env = crafter.Env(size=(64, 64), seed=1)
        env.reset()
        rng = np.random.default_rng(0)
        costs = []
        for _ in range(num_steps):
            action = int(rng.integers(env.action_space.n))
            before = time.perf_counter()
            _, _, done, _ = env.step(action)
            costs.append((time.perf_counter() - before) * 1000)
            if done:
                env.reset()
    return statistics.fmean(costs)


if __name__ == "__main__":
    main()

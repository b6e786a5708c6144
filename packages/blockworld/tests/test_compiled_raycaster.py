"""The ray-caster as browsers run it, compiled to WebAssembly, gives the bits of the ray-caster in Python."""

import json
import runpy
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from blockworld import Renderer, World
from blockworld.raycaster.records import TILE, WET, Scenery
from blockworld.render import renderer as rendering
from blockworld.render.daylight import brightness, of_sky
from blockworld.scene import packing
from blockworld.scene.tables import static_tables

ROOT = Path(__file__).parents[1]
SIZE = (100, 61)  # the last tiles are not whole
SCENES = {
    "day": {"yaw": 30.0, "pitch": 8.0, "selected": 0, "crack": None},
    "night, thunder": {"yaw": 200.0, "pitch": -20.0, "time": 18000, "weather": "thunder"},
    "down, a block that breaks": {"yaw": 90.0, "pitch": 70.0, "selected": 0, "crack": 6},
    "under water": {"yaw": 10.0, "pitch": -5.0, "in_water": True},
    "from outside the land": {"yaw": 270.0, "pitch": 25.0, "at": (300.0, 100.0, 128.0)},
}


def test_the_module_is_made_from_the_source_as_it_is():
    tool = runpy.run_path(str(ROOT / "tools" / "make_raycaster.py"))
    made = tool["facts_of"](tool["MODULE"].read_bytes())
    assert made["source"] == tool["source_digest"](), "make it anew:  python packages/blockworld/tools/make_raycaster.py"


def scenery() -> Scenery:
    """The pictures that tile, rounded as browsers get them."""
    rounded = []
    for values in rendering.scenery():
        offset, scale = float(values.min()), float(values.max() - values.min())
        whole = np.round((values - offset) * (255 / scale)).astype(np.uint8)
        rounded.append((offset + scale * whole.astype(np.float64) / 255).astype(np.float32))
    return Scenery(*rounded)


@pytest.fixture(scope="module")
def cast(tmp_path_factory):
    """Each scene: (pixels, depths) in Python, the same compiled, and every second row of tiles of the compiled."""
    if shutil.which("node") is None:
        pytest.skip("no node: apt-get install nodejs")
    folder = tmp_path_factory.mktemp("cast")
    world, renderer = World(9, "village"), Renderer(SIZE)
    grid, expected, looks = world.grid, {}, []
    cracks = packing.unpack(packing.inflate(static_tables().data))[0]["cracks"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "scenery", lambda rounded=scenery(): rounded)
        for number, (name, scene) in enumerate(SCENES.items()):
            player = world.player
            x, _, z = world.spawn
            player.x, player.y, player.z = scene.get("at", (x + 0.5, grid.top(x, z) + 1.0, z + 0.5))
            if scene.get("in_water"):
                lake = np.argwhere(rendering.tables().info[grid.blocks] & WET)
                place = lake[len(lake) // 2]
                player.x, player.z, player.y = place[0] + 0.5, place[1] + 0.5, place[2] - 1.2
            player.yaw, player.pitch = scene["yaw"], scene["pitch"]
            below = (int(player.x), int(player.y) - 1, int(player.z))
            time, weather, ticks = scene.get("time", 6000), scene.get("weather", "clear"), 40 * number
            selected = below if "selected" in scene else None
            crack = None if scene.get("crack") is None else (*below, scene["crack"])
            camera = renderer.camera(world)
            picture = renderer.view(grid, camera, time=time, ticks=ticks, weather=weather, selected=selected, crack=crack)
            expected[name] = picture, renderer.depth.copy()
            bright = brightness(of_sky(time, weather), 0.0)
            numbers = renderer.numbers(grid, camera, time, ticks, weather, bright)
            marks = [*(selected or (-1, -1, -1)), *(crack[:3] if crack else (-1, -1, -1))]
            marks.append(-1 if crack is None else cracks[crack[3]])
            for first, every in ((0, 1), (1, 2)):
                looks.append(
                    {"numbers": numbers.tolist(), "bright": bright.ravel().tolist(), "width": SIZE[0], "height": SIZE[1]}
                    | {"marks": marks, "first": first, "every": every}
                )
    cells = grid.blocks.astype(np.uint32) | grid.light.astype(np.uint32) << 16 | grid.skip.astype(np.uint32) << 24
    (folder / "cells").write_bytes(cells.tobytes())
    (folder / "tables").write_bytes(static_tables().data)
    (folder / "looks.json").write_text(json.dumps({"size": list(grid.size), "looks": looks}))
    script = Path(__file__).with_name("cast.mjs")
    subprocess.run(["node", script, folder], check=True, timeout=120)

    def compiled(number):
        depths = np.fromfile(folder / f"depths-{number}", np.float32).reshape(-1, SIZE[0])
        return np.fromfile(folder / f"pixels-{number}", np.uint8).reshape(*depths.shape, 3), depths

    return {name: (expected[name], compiled(2 * k), compiled(2 * k + 1)) for k, name in enumerate(SCENES)}


@pytest.mark.parametrize("name", SCENES)
def test_pictures_and_depths_are_the_same_bits(cast, name):
    (pixels, depths), (their_pixels, their_depths), _ = cast[name]
    assert np.ptp(pixels.reshape(-1, 3).astype(int), axis=0).max() > 40  # there is something to see
    np.testing.assert_array_equal(their_pixels, pixels)
    np.testing.assert_array_equal(their_depths.view(np.uint32), depths.view(np.uint32))


@pytest.mark.parametrize("name", SCENES)
def test_one_of_several_workers_casts_its_rows_of_tiles(cast, name):
    (pixels, depths), _, (some_pixels, some_depths) = cast[name]
    rows = np.arange(SIZE[1]) // TILE % 2 == 1
    np.testing.assert_array_equal(some_pixels, pixels[rows])
    np.testing.assert_array_equal(some_depths, depths[rows])

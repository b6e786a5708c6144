"""How far the block world drawn by a browser (WebGL2) is from the ray-caster's pictures of the same scenes.

Sixty scenes: all biomes, day, night, rain, caves, under water, a village, mobs near and far, every screen. Differences are of
255; what takes time is what a browser without a graphics card takes. `--sheet FILE` keeps the pictures side by side.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import shutil
import statistics
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

import blockworld
from blockworld import Renderer, Stack, World, run
from blockworld.registry import BIOMES, BLOCK_OF, BLOCKS, MOBS
from blockworld.registry import BLOCKS_BY_NAME as BY_NAME
from blockworld.scene import SceneEncoder, static_tables
from blockworld.slots import panels
from blockworld.slots.screen import Screen
from blockworld.state import Container

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZE = (640, 360)
GUI_SCALE = 2
ORIGIN = "http://interplay.test"
RENDERER = Path(blockworld.__file__).parent / "web"
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-quic")
FLAGS += ("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync")
MIDDLE = slice(SIZE[1] // 2 - 9, SIZE[1] // 2 + 11), slice(SIZE[0] // 2 - 9, SIZE[0] // 2 + 11)
SHADER, CASTER = "shader", "processor"
"""Ways to make the land's picture: a shader, here run by SwiftShader, or the compiled ray-caster, as where no card is."""
NIGHT, SUNSET, SUNRISE = 18000, 12400, 23400

_OPEN = """async ({ width, height, usesProcessor }) => {
  const { Scene } = await import("/static/blockworld/scene.js");
  const canvases = [0, 1].map(() => Object.assign(document.createElement("canvas"), { width, height }));
  canvases.forEach((canvas) => Object.assign(canvas.style, { position: "absolute", left: 0, top: 0 }));
  document.body.append(...canvases);
  const scene = await Scene.open(canvases[0], canvases[1], "/tables", usesProcessor);
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  window.scene = scene;
  window.take = async (kind, texts) => { for (const text of texts) await scene.apply({ kind, payload: bytes(text) }); };
  window.paint = async (camera, tick) => {
    const later = performance.now() + 1000; // figures and the hand have come to where they go
    const draw = () => new Promise((painted) => scene.draw(camera, later, tick, painted));
    while (scene.boxes.length) scene.land.put(scene.boxes.shift());
    const begun = performance.now();
    await draw();
    scene.gl.readPixels(0, 0, 1, 1, scene.gl.RGBA, scene.gl.UNSIGNED_BYTE, new Uint8Array(4));
    return performance.now() - begun;
  };
}"""


def _stand(world: World, x: float, y: float, z: float, yaw: float, pitch: float) -> None:
    me = world.player
    me.x, me.y, me.z, me.yaw, me.pitch = x, y, z, yaw, pitch


def _on_land(world: World, x: int, z: int, yaw: float, pitch: float = 8.0) -> None:
    _stand(world, x + 0.5, world.grid.top(x, z) + 1.0, z + 0.5, yaw, pitch)


def _wild(world: World) -> Iterator[str]:
    """Biomes, times, weather, caves and water of a land."""
    for number, name in enumerate(BIOMES):
        there = np.argwhere(world.land.biomes[16:-16, 16:-16] == number) + 16
        x, z = there[len(there) // 2].tolist()
        _on_land(world, x, z, 40.0 * number, 6.0)
        yield name
        for what, time, weather in (("night", NIGHT, "clear"), ("dusk", SUNSET, "clear"), ("rain", 6000, "rain")):
            if number % 3 == ("night", "dusk", "rain").index(what):
                world.time, world.weather = time, weather
                yield f"{name}, {what}"
        world.time, world.weather = 6000, "clear"
    for number, (x, y, z) in enumerate(world.land.cave_mouths[:4]):
        _stand(world, x + 0.5, float(y), z + 0.5, 90.0 * number, 10.0)
        yield f"cave {number}"
        run(world, f"/setblock {x} {y} {z} torch")
        yield f"cave {number}, a torch"
    water = np.argwhere(BLOCK_OF[world.grid.blocks[16:-16, 16:-16]] == BLOCKS.index(BY_NAME["water"]))
    water[:, :2] += 16
    for number, (yaw, pitch, up) in enumerate(
        ((0.0, 0.0, -1.0), (120.0, -60.0, -1.5), (200.0, 50.0, -0.8), (300.0, 12.0, 0.2))
    ):
        x, z, y = water[len(water) * (2 * number + 1) // 8].tolist()
        _stand(world, x + 0.5, y + up, z + 0.5, yaw, pitch)
        world.time = NIGHT if number == 2 else 6000
        yield f"water {number}"
    world.time, world.weather = SUNRISE, "thunder"
    _stand(world, 128.5, 110.0, 128.5, 200.0, 30.0)
    yield "from above, thunder"


def _village(world: World) -> Iterator[str]:
    """A village with its people, mobs near and far, a block that is being broken, every screen and state of the player."""
    x, _, z = world.spawn
    for number in range(4):
        _on_land(world, x + 6 * number, z - 4 * number, 90.0 * number, 4.0)
        world.time = NIGHT if number == 2 else 6000
        yield f"village {number}"
    world.time = 6000
    _on_land(world, x, z, 0.0, 5.0)
    me = world.player
    for number, name in enumerate(MOBS):
        world.spawn_mob(name, me.x - 8 + 2.5 * (number % 7), me.y, me.z + 3 + 4 * (number // 7))
    yield "mobs"
    me.yaw, me.hotbar = 15.0, 1
    me.slots[:3] = [Stack("diamond_pickaxe", 1, 300), Stack("oak_stairs", 40), Stack("bow", 1)]
    yield "mobs, a block in the hand"
    _stand(world, me.x, me.y, me.z, 0.0, 60.0)
    me.hotbar, me.mining = 0, (int(me.x), int(me.y) - 1, int(me.z), 0.55)
    yield "a block that is being broken"
    me.mining = None
    me.pitch, me.health, me.food, me.air, me.level = 5.0, 7, 3, 120, 12
    yield "low bars"
    for name, change in (
        ("hurt", {"invulnerable": 8}),
        ("burning", {"burning": 40}),
        ("asleep", {"sleeping": 40}),
        ("dead", {"dead": True}),
    ):
        before = {key: getattr(me, key) for key in change}
        for key, value in change.items():
            setattr(me, key, value)
        yield name
        for key, value in before.items():
            setattr(me, key, value)
    for kind in panels.KINDS:
        sides = {"inventory": 4, "crafting_table": 9, "stonecutter": 1, "villager": 2}
        screen = Screen(kind, craft=[None] * sides.get(kind, 0))
        if kind not in sides:
            screen.position, screen.blocks = (1, 2, 3), [(1, 2, 3), (1, 2, 4)]
            slots = [Stack("stone", 1 + number) if number % 3 == 0 else None for number in range(27)]
            for place in screen.blocks:
                world.containers[place] = Container(kind, slots)
        if kind == "villager":
            world.extras[7] = {
                "offers": [{"buy": ["emerald", 1], "buy2": None, "sell": ["bread", 6], "uses": 0, "max_uses": 16}]
            }
            screen.entity = 7
        world.screen = screen
        yield f"screen {kind}"
    world.screen = None


LANDS = {"wild": ("default", 7, _wild), "village": ("village", 9, _village)}


def compare(page: Page, every: int = 1, sheet: Path | None = None, *, uses_processor: bool = False) -> list[dict[str, Any]]:
    """Draw every n-th scene both ways.

    Args:
        page: Of a browser with WebGL2; it goes to `ORIGIN`.
        uses_processor: Whether the compiled ray-caster makes the land's picture, and no shader: as without a graphics card.
        sheet: Where to put the pictures: the ray-caster's, the browser's, four times the difference.
    Returns:
        For each scene `scene`, `mean` difference, `off_8` (share of pixels off by more than 8 in a channel), `off_32`, `middle`
        (mean difference around the cross), and `frame_ms` until the picture is there.
    """
    page.route(f"{ORIGIN}/**", _answer)
    page.goto(ORIGIN)
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
    page.add_style_tag(content="body { margin: 0; position: relative }")
    page.evaluate(_OPEN, {"width": SIZE[0], "height": SIZE[1], "usesProcessor": uses_processor})
    renderer, found, rows, number = Renderer(SIZE), [], [], 0
    for land, (kind, seed, scenes) in LANDS.items():
        world = World(seed, kind)
        encoder = SceneEncoder(world, 0)
        _take(page, 4, [encoder.scene(fresh=True)])
        while parts := encoder.land_parts(8):
            _take(page, 5, parts)
        for name in scenes(world):
            number += 1
            if number % every:
                continue
            _take(page, 4, [encoder.scene()])
            camera = renderer.camera(world)
            eye = {key: getattr(camera, key) for key in ("x", "y", "z", "yaw", "pitch", "fov")}
            frame_ms = page.evaluate("([camera, tick]) => paint(camera, tick)", [eye, world.ticks])
            theirs = np.array(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
            ours = renderer.frame(world, Fraction(GUI_SCALE))
            off = np.abs(theirs.astype(np.int16) - ours)
            worst = off.max(-1)
            found.append(
                {
                    "scene": f"{land}: {name}",
                    "mean": float(off.mean()),
                    "off_8": float((worst > 8).mean()),
                    "off_32": float((worst > 32).mean()),
                }
                | {"middle": float(off[MIDDLE].mean()), "frame_ms": frame_ms}
            )
            rows.append(np.concatenate([ours, theirs, np.minimum(off * 4, 255).astype(np.uint8)], 1)[::2, ::2])
    if sheet is not None:
        Image.fromarray(np.concatenate(rows)).save(sheet)
    return found


def _take(page: Page, kind: int, payloads: list[bytes]) -> None:
    page.evaluate("([kind, texts]) => take(kind, texts)", [kind, [base64.b64encode(one).decode() for one in payloads]])


def _answer(route: Any) -> None:
    path = route.request.url.removeprefix(ORIGIN)
    if path == "/tables":
        route.fulfill(body=static_tables().data)
    elif path.startswith("/static/blockworld/"):
        route.fulfill(path=RENDERER / path.removeprefix("/static/blockworld/"))
    else:
        route.fulfill(content_type="text/html", body="<!doctype html><body>")


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(prog="python -m bench.scenes", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="only each n-th scene")
    parser.add_argument("--sheet", type=Path, help="a PNG with all pictures side by side")
    chosen = parser.parse_args()
    with sync_playwright() as playwright:
        program = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        ways = {
            way: compare(browser.new_page(), chosen.every, sheet, uses_processor=way == CASTER)
            for way, sheet in ((SHADER, chosen.sheet), (CASTER, None))
        }
        browser.close()
    summaries = {way: _summary(found) for way, found in ways.items()}
    if chosen.json:
        print(json.dumps({way: {**summaries[way], "each": found} for way, found in ways.items()}))
        return
    for way, found in ways.items():
        for one in found:
            facts = f"mean {one['mean']:.3f}, off by more than 8: {one['off_8']:.2%}, {one['frame_ms']:.0f} ms"
            print(f"{way:10}{one['scene']:44} {facts}")
        print(way, summaries[way])


def _summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    worst = {f"{key}_max": max(one[key] for one in found) for key in ("mean", "off_8", "middle")}
    return {
        "scenes": len(found),
        **worst,
        "frame_ms_median": statistics.median(one["frame_ms"] for one in found),
        "meets_bars": worst["mean_max"] <= 1 and worst["off_8_max"] <= 0.01,
    }


if __name__ == "__main__":
    main()

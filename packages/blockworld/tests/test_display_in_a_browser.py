"""The browser paints the display as Python does: the same operations over the same picture, pixel by pixel."""

import base64
import io
import json
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import sync_playwright
from test_hud import open_screen, world  # noqa: F401 (a fixture)

import blockworld
from blockworld.registry.blocks import state_of
from blockworld.render import display, hud, pieces
from blockworld.state import Stack

pytestmark = pytest.mark.browser

MODULE = Path(blockworld.__file__).parent / "web" / "display.js"
WIDTH, HEIGHT, GUI = 640, 360, 2
PAGE = """
<body style="margin: 0; background: #000"><div style="position: relative; width: 640px; height: 360px">
<canvas id="below" width="640" height="360" style="position: absolute"></canvas>
<canvas id="over" width="640" height="360" style="position: absolute"></canvas></div></body>
"""
PAINT = """([below, operations, rows, bytes]) => {
    const from = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const picture = new ImageData(new Uint8ClampedArray(from(below).buffer), 640, 360);
    const under = document.querySelector("#below").getContext("2d");
    under.globalCompositeOperation = "difference";
    under.fillStyle = "white";
    under.putImageData(picture, 0, 0);
    window.shown ??= new Display(document.querySelector("#over").getContext("2d"));
    window.shown.define(rows, from(bytes));
    window.shown.show(operations, 320, 180);
    window.shown.draw(640, 360);
    for (const [x, y, wide, tall] of window.shown.crosshair) under.fillRect(640 * x, 360 * y, 640 * wide, 360 * tall);
}"""


@pytest.fixture(scope="module")
def page():
    program = shutil.which("chromium") or pytest.skip("no Chromium: install it (apt-get install chromium)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield from _page(chromium)
        chromium.close()


def _page(chromium):
    page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.set_content(PAGE)
    page.add_script_tag(content=MODULE.read_text() + "\nwindow.Display = Display;", type="module")
    page.wait_for_function("() => window.Display !== undefined")
    yield page
    page.close()


def below() -> np.ndarray:
    """A picture of squares of all colours, uint8, shape (360, 640, 3)."""
    squares = np.random.default_rng(3).integers(0, 256, (HEIGHT // 8, WIDTH // 8, 3)).astype(np.uint8)
    return np.repeat(np.repeat(squares, 8, 0), 8, 1)


def painted(page, operations) -> np.ndarray:
    """What the browser shows."""
    rows, sprites = pieces.sheet(sorted(display.sprites(operations)))
    opaque = np.dstack([below(), np.full((HEIGHT, WIDTH), 255, np.uint8)])
    sent = [base64.b64encode(opaque).decode(), json.loads(json.dumps(operations)), rows, base64.b64encode(sprites).decode()]
    page.evaluate(PAINT, sent)
    return np.array(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))


def alive(world):  # noqa: F811
    world.player.slots[0:4] = [Stack("iron_pickaxe", 1, 90), Stack("oak_log", 12), Stack("torch", 3), Stack("oak_stairs", 64)]
    world.player.slots[38], world.player.slots[40] = Stack("iron_chestplate"), Stack("shield")
    world.player.health, world.player.food, world.player.level, world.player.hotbar = 13, 7, 31, 4


def creative(world):  # noqa: F811
    world.player.game_mode = "creative"


def drowning(world):  # noqa: F811
    world.player.air, world.player.invulnerable, world.grid.block = 155, 7, state_of("water")


def burning(world):  # noqa: F811
    world.player.burning, world.ticks = 40, 77


def asleep(world):  # noqa: F811
    world.player.sleeping = 40


def dead(world):  # noqa: F811
    world.player.dead = True


def hovering(world):  # noqa: F811
    screen = open_screen(world, "inventory")
    world.player.slots[9] = Stack("oak_fence_gate", 2)
    screen.x, screen.y = 16.3, 92.7


def carrying(world):  # noqa: F811
    screen = open_screen(world, "crafting_table")
    screen.craft[4], world.player.held = Stack("diamond_ore"), Stack("glass", 30)
    screen.x, screen.y = 60.2, 40.9


def cooking(world):  # noqa: F811
    open_screen(world, "furnace")
    furnace = world.containers[1, 2, 3]
    furnace.slots[0], furnace.burn, furnace.burn_total, furnace.cook = Stack("iron_ore", 5), 700, 1600, 120


def full_chest(world):  # noqa: F811
    open_screen(world, "large_chest")
    for place, name in enumerate(
        ("stone", "grass_block", "oak_planks", "bricks", "bookshelf", "apple", "bow", "cactus", "anvil")
    ):
        for position in world.screen.blocks:
            world.containers[position].slots[2 * place] = Stack(name, place + 1)


def trading(world):  # noqa: F811
    open_screen(world, "villager").choice = 0
    world.extras[7]["offers"] += [{"buy": ["coal", 9], "buy2": ["stick", 2], "sell": ["map", 1], "uses": 2, "max_uses": 2}]


def cutting(world):  # noqa: F811
    screen = open_screen(world, "stonecutter")
    screen.craft[0], screen.choice = Stack("stone", 7), 1


SEEN = (alive, creative, drowning, burning, asleep, dead, hovering, carrying, cooking, full_chest, trading, cutting)


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: seen.__name__)
def test_the_browser_paints_what_pictures_show(page, world, seen):  # noqa: F811
    alive(world)
    seen(world)
    operations = display.operations(world)
    expected = below()
    hud.paint(expected, operations, *hud.scales((WIDTH, HEIGHT), Fraction(GUI), world.screen)[1:])
    found = painted(page, operations)
    if seen is hovering:  # the figure in its window is drawn by another module
        for picture in (expected, found):
            picture[30:170, 196:294] = 0
    off = abs(expected.astype(int) - found).max(-1)
    assert off.mean() <= 1
    assert (off > 8).mean() <= 0.01
    squares = (off > 32).reshape(HEIGHT // 8, 8, WIDTH // 8, 8).mean((1, 3))
    assert squares.max() < 0.2, "something is missing"

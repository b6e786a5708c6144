"""Mobs, things, players and the hand as a browser draws them, against the same figures in Interplay's own pictures."""

import base64
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from blockworld import Player, Stack
from blockworld.registry import ITEMS_BY_NAME as BY_NAME
from blockworld.registry import KIND, KINDS, MOBS, SHEARED, entity_types
from blockworld.registry.entity_types import SITTING, TAMED
from blockworld.render import Camera, daylight, display, figures
from blockworld.scene.packing import pack
from blockworld.state import ENTITY

draws_with_webgl = pytest.mark.parametrize("chromium", ["webgl"], indirect=True)

SKY = (150, 190, 230)
SIZE = (320, 180)
FAR = 96.0
DRAW = """async ({ messages, camera, hands, portrait, size, sky, far, now }) => {
  const { Figures } = await import("/static/blockworld/figures.js");
  const { unpack } = await import("/static/blockworld/packing.js");
  const { viewOf } = await import("/static/blockworld/camera.js");
  const canvas = Object.assign(document.createElement("canvas"), { width: size[0], height: size[1] });
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: true });
  const figures = new Figures(gl);
  messages.forEach((bytes, tick) => {
    const { document, arrays } = unpack(Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)).buffer);
    figures.update(document, arrays, 1000 + 50 * tick);
    if (!tick) camera.bright = arrays.bright;
  });
  const view = viewOf(camera, size[0], size[1], camera.bright);
  hands.forEach((hand, tick) => figures.hand(hand, view, 1000 + 50 * tick));
  gl.viewport(0, 0, size[0], size[1]);
  gl.clearColor(...sky.map((value) => value / 255), 1);
  gl.clearDepth(far / 256);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  gl.clearDepth(1);
  let pixels = new Uint8Array(4 * size[0] * size[1]);
  if (portrait) pixels = figures.portrait(portrait, size[0], size[1]).data;
  else {
    figures.draw(view, now);
    if (hands.length) figures.hand(hands.at(-1), view, now);
    gl.readPixels(0, 0, size[0], size[1], gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  }
  if (gl.getError()) throw new Error("WebGL says that something is wrong");
  let text = "";
  for (let i = 0; i < pixels.length; i += 8192) text += String.fromCharCode(...pixels.subarray(i, i + 8192));
  return btoa(text);
}"""


def empty_world(light: int = 0xF0, time: int = 6000) -> SimpleNamespace:
    size = (128, 32, 128)
    lights = np.full((128, 128, 32), light, np.uint8)
    grid = SimpleNamespace(
        size=size, light=lights, blocks=np.zeros((128, 128, 32), np.uint16), lights=lambda *_: divmod(light, 16)
    )
    entities = np.zeros(64, ENTITY)
    entities["kind"], entities["on_ground"] = -1, True
    return SimpleNamespace(
        grid=grid, entities=entities, time=time, weather="clear", players=[], seat=0, ticks=500, player=Player()
    )


def put(world, name: str, x: float, y: float, z: float, yaw: float = 150.0, **fields) -> None:
    row = int(np.argmax(world.entities["kind"] < 0))
    entity = world.entities[row]
    entity["kind"], entity["id"] = KIND[name], row + 1
    entity["x"], entity["y"], entity["z"], entity["yaw"], entity["head_yaw"] = x, y, z, yaw, yaw + 20
    for field, value in fields.items():
        entity[field] = value


def in_rows(world, names, near: float, apart: float, **fields) -> None:
    for place, name in enumerate(names):
        put(world, name, 64 + apart * (place % 5 - 2), 8.0, near + apart * (place // 5), walked=0.3 * place, vx=0.05, **fields)


def scene(name: str) -> tuple[SimpleNamespace, Camera]:
    """A world with nothing but figures, and from where it is seen."""
    mobs = list(MOBS)
    world = empty_world(*{"night": (0xF0, 18_000), "torches": (0x0B, 18_000)}.get(name, (0xF0, 6000)))
    eye = Camera(64.0, 9.62, 60.0, 0.0, 8.0, 70.0, SIZE)
    match name:
        case "near":
            in_rows(world, mobs[:10], 62.6, 1.3)
        case "others near":
            in_rows(world, mobs[10:], 62.6, 1.3)
        case "far":
            in_rows(world, mobs, 74.0, 3.0)
        case "young and sitting":
            in_rows(world, ["cow", "pig", "sheep", "chicken", "wolf"], 63.0, 1.2, age=-500)
            in_rows(world, ["wolf", "cat"], 65.0, 1.5, flags=SITTING | TAMED)
            put(world, "sheep", 66.0, 8.0, 65.0, flags=SHEARED)
        case "hurt and burning":
            in_rows(world, ["zombie", "cow", "skeleton", "villager"], 63.0, 1.2, hurt=6)
            in_rows(world, ["zombie", "skeleton"], 66.0, 1.5, fire=80)
            put(world, "creeper", 66.0, 8.0, 64.0, goal_ticks=-26)
        case "night" | "torches":
            in_rows(world, ["enderman", "spider", "witch", "iron_golem"], 64.0, 1.6)
            put(world, "xp_orb", 64.5, 9.0, 62.0, age=12)
        case "items":
            items = [
                place for place, item in enumerate(figures.table("items")) if item["name"] in ("stone", "apple", "oak_stairs")
            ]
            for place, item in enumerate([*items, 1, 2, 3]):
                put(world, "item", 63.0 + 0.6 * place, 8.6, 62.0 + 0.1 * place, item=item, age=30 * place)
        case "things":
            put(world, "arrow", 63.0, 9.0, 62.0, yaw=70.0, pitch=20.0)
            for place, kind in enumerate(entity_types.THINGS[2:]):
                put(world, kind, 63.5 + 0.4 * place, 9.2, 62.0, age=10)
        case "slimes":
            for place, size in enumerate((4, 2, 1)):
                put(world, "slime", 63.0 + 1.5 * place, 8.0, 65.0 + place, variant=size)
            put(world, "cow", 64.0, 8.0, 69.5)
        case "within":
            put(world, "iron_golem", 64.0, 8.0, 60.42, yaw=180.0)
            put(world, "cow", 64.6, 8.0, 59.5)
        case "players":
            world.players = [
                Player(),
                Player(x=63.0, y=8.0, z=63.0, yaw=150.0, vx=0.1),
                Player(x=65.0, y=8.0, z=64.0, yaw=20.0),
            ]
            world.seat = 0
    return world, eye


SCENES = (
    *("near", "others near", "far", "young and sitting", "hurt and burning", "night"),
    *("torches", "items", "things", "slimes", "within", "players"),
)


def message(rows, ids, world, poses=()) -> str:
    """A tick with these figures, and the models of them and of some poses."""
    models = sorted({int(row[figures.MODEL]) for row in (*rows, *poses)})
    listed, defined = figures.WARDROBE.definitions(models)
    arrays = defined | {"figures": rows, "figure_ids": ids, "bright": bright(world)}
    return base64.b64encode(pack({"tick": world.ticks, "models": listed}, arrays)).decode()


def nobody() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((0, figures.ROW), np.float32), np.zeros(0, np.uint32)


def drawn_by(page, messages, camera, *, hands=(), portrait=None, now=1050) -> np.ndarray:
    """What the browser draws, at a time in ms; the first message came at 1000: uint8, shape (H, W, 4)."""
    width, height = camera.size
    text = page.evaluate(
        DRAW,
        {
            "messages": messages,
            "camera": {key: getattr(camera, key) for key in ("x", "y", "z", "yaw", "pitch", "fov")},
            "hands": [pose.tolist() for pose in hands],
            "portrait": portrait,
            "size": camera.size,
            "sky": SKY,
            "far": FAR,
            "now": now,
        },
    )
    pixels = np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 4)
    return pixels if portrait else pixels[::-1]


def bright(world) -> np.ndarray:
    return daylight.brightness(daylight.of_sky(world.time, world.weather))


def compare(name: str, ours: np.ndarray, theirs: np.ndarray, least: int) -> None:
    """At most 1 of 255 apart in the middle, and 1 of 100 pixels by more than 8; what is drawn is drawn in both."""
    if folder := os.environ.get("INTERPLAY_SCREENSHOTS"):
        from PIL import Image

        Image.fromarray(np.concatenate([ours, theirs], 1)).save(Path(folder) / f"figures_{name.replace(' ', '_')}.png")
    off = np.abs(ours.astype(int) - theirs)
    drawn = (ours != SKY).any(-1)
    mean, share = off[drawn].mean(), (off.max(-1) > 8)[drawn].mean()
    print(f"{name}: {drawn.sum()} pixels, mean {mean:.4f}, {100 * share:.3f} % off by more than 8")
    assert drawn.sum() > least
    assert mean <= 1.0
    assert share <= 0.01
    assert ((theirs != SKY).any(-1) != drawn).sum() <= 0.01 * drawn.sum()


@draws_with_webgl
@pytest.mark.parametrize("name", SCENES)
def test_a_browser_draws_figures_as_pictures_have_them(webgl_page, name):
    world, camera = scene(name)
    width, height = SIZE
    ours, depth = np.full((height, width, 3), SKY, np.uint8), np.full((height, width), FAR, np.float32)
    figures.draw(world, camera, ours, depth)
    ids, rows = figures.standing(world, (camera.x, camera.y, camera.z))
    theirs = drawn_by(webgl_page, [message(rows, ids, world)], camera)[..., :3]
    compare(name, ours, theirs, 1000 if name != "things" else 300)


def test_the_scenes_show_every_kind():
    shown = {KINDS[kind] for name in SCENES for kind in scene(name)[0].entities["kind"] if kind >= 0}
    assert shown == set(KINDS)


@draws_with_webgl
@pytest.mark.parametrize("held", [None, "oak_stairs", "stone", "iron_pickaxe", "bow", "apple"])
def test_a_browser_draws_the_hand_as_pictures_have_it(webgl_page, held):
    world = empty_world()
    assert held is None or held in BY_NAME
    world.player.slots[0] = None if held is None else Stack(held)
    world.player.swing, world.player.drawing = (2, 0) if held != "bow" else (0, 12)
    pose = display.hand(world)
    width, height = SIZE
    camera = Camera(0.0, 0.0, 0.0, 0.0, 0.0, display.HAND_FOV, SIZE)
    ours, depth = np.full((height, width, 3), SKY, np.uint8), np.full((height, width), 1e9, np.float32)
    figures.paint(pose[None], figures.basis(camera), ours, depth)
    theirs = drawn_by(webgl_page, [message(*nobody(), world, [pose])], camera, hands=[pose])[..., :3]
    compare(f"hand with {held}", ours, theirs, 500)


@draws_with_webgl
def test_a_browser_draws_the_portrait_as_pictures_have_it(webgl_page):
    pose = np.array(display._portrait(SimpleNamespace(x=90, y=60)))
    size = tuple(4 * side for side in display.PORTRAIT)
    camera = Camera(*display.PORTRAIT_EYE, 0.0, 0.0, display.PORTRAIT_FOV, size)
    ours, depth = np.full((size[1], size[0], 3), SKY, np.uint8), np.full((size[1], size[0]), 1e9, np.float32)
    figures.paint(pose[None], figures.basis(camera), ours, depth)
    found = drawn_by(webgl_page, [message(*nobody(), empty_world(), [pose])], camera, portrait=pose.tolist())
    assert set(found[..., 3].ravel().tolist()) == {0, 255}
    compare("portrait", ours, np.where(found[..., 3:] > 0, found[..., :3], np.array(SKY, np.uint8)), 5000)


@draws_with_webgl
def test_figures_and_the_hand_move_evenly_between_two_ticks(webgl_page):
    world, camera = scene("nothing")
    put(world, "pig", 63.0, 8.0, 64.0)
    put(world, "cow", 66.0, 8.0, 66.0)
    held = display.hand(world)
    ids, rows = figures.standing(world, (camera.x, camera.y, camera.z))
    after, lower = rows.copy(), held.copy()
    after[0, figures.X] += 1.0
    after[1, figures.X] -= 5.0  # nobody walks that far
    lower[figures.Y] -= 0.2
    messages = [message(rows, ids, world, [held]), message(after, ids, world)]
    between = after.copy()
    between[0, figures.X] -= 0.5
    halfway = message(between, ids, world, [held])
    theirs = drawn_by(webgl_page, messages, camera, hands=[held, lower], now=1075)
    assert (theirs == drawn_by(webgl_page, [halfway], camera, hands=[0.5 * (held + lower)])).all()
    assert (theirs != drawn_by(webgl_page, messages, camera, hands=[held, lower], now=1100)).any()

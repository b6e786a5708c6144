"""What may go wrong while pages draw the block world: frames that are spoiled on the way, lost surfaces, workers that die, and
windows that are hidden for long. Each time two play one game: the one in trouble goes on without a reload, the other anyway."""

import hashlib
import json
import os
import random
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from seldom_drawn import draw_seldom
from test_blocks_drawn_in_a_browser import FIRST_START_S
from test_pages_in_a_browser import until
from test_two_players_in_a_browser import REMEMBER_COVERS, is_restored, playing, sees_steps, start, worker_of_the_game
from web_server import serving

import interplay.record
from interplay.envs import make
from interplay.envs.voxel.env import VoxelEnv
from interplay.play.connections import wire

pytestmark = pytest.mark.parametrize("chromium", ["webgl"], indirect=True)

TASK = "blocks/two"
SUITE = """
[suite]
id = "blocks"
title = "Blocks"
[[task]]
name = "two"
title = "Dig together"
goal = "Dig."
instructions = "Dig."
frame_rate_hz = 20
time_limit_s = 600
held_out_seeds = [1, 2]
seats = ["left", "right"]
env.id = "voxel:trial"
env.options = { size = [64, 36], kind = "flat" }
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who dug better?" }]
[task.keys]
compose = true
buttons = [
    "forward", "back", "left", "right", "jump", "sneak", "sprint", "attack", "use", "drop", "inventory",
    "pickItem", "swapHands",
    "hotbar.1", "hotbar.2", "hotbar.3", "hotbar.4", "hotbar.5", "hotbar.6", "hotbar.7", "hotbar.8", "hotbar.9", "ESC",
]
pointer = "camera"
pointer_degrees = 0.25
bindings = { ArrowDown = "look_down", KeyW = "forward", KeyX = "attack", Enter = "ESC" }
turns = { look_down = [5, 0] }
"""
KNOWS = """
self.knows = async () => {
  const { blocks, light } = caster.arrays;
  const sums = await Promise.all([blocks, light].map((values) => crypto.subtle.digest("SHA-256", values.slice())));
  const { SX: sx, SY: sy, SZ: sz } = caster.values, sections = [];
  for (let x = 0; x < sx; x += 16) for (let z = 0; z < sz; z += 16) for (let y = 0; y < sy; y += 16)
    if (blocks[(x * sz + z) * sy + y] !== 65535) sections.push([x / 16, z / 16, y / 16]);
  return { sections, digests: sums.map((sum) => Array.from(new Uint8Array(sum))) };
};"""
"""Asks a worker that casts rays what it casts them at; each section of the land comes as a whole."""
REMEMBER_WORKERS = """
window.workers = [];
window.Worker = class extends Worker { constructor(...what) { super(...what); workers.push(this); } };"""


class Window:
    """A page that draws, and all between it and the server.

    Attributes:
        said: Types of the JSON messages that the page sent.
        fresh: How many scenes came that stand alone.
        step: Of the newest scene.
        spoil: What becomes of the next frames, for those in trouble.
    """

    def __init__(self, page: Any) -> None:
        self.page, self.said, self.fresh, self.step = page, [], 0, 0
        self.spoil: Callable[[bytes], list[bytes]] | None = None
        draw_seldom(page, KNOWS)
        page.add_init_script(REMEMBER_WORKERS + 'localStorage.setItem("interplay.drawn", "here")')
        screen = {"width": 420, "height": 700, "deviceScaleFactor": 0.5, "mobile": False}
        page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", screen)  # few pixels are drawn sooner
        page.route_web_socket("**/api/play", self._connect)

    def _connect(self, page_side: Any) -> None:
        server_side = page_side.connect_to_server()

        def from_page(message: str | bytes) -> None:
            if isinstance(message, str):
                self.said.append(json.loads(message)["type"])
            server_side.send(message)

        def from_server(message: str | bytes) -> None:
            frames = [message]
            if isinstance(message, bytes):
                head = wire.unpack_header(message)
                self.step = head.step
                self.fresh += head.kind == wire.SCENE_FRAME and head.flags & wire.FRESH > 0
                frames = self.spoil(message) if self.spoil else frames
            for frame in frames:
                page_side.send(frame)

        page_side.on_message(from_page)
        server_side.on_message(from_server)

    @property
    def note(self) -> str:
        """What the page says of who draws."""
        return self.page.locator("[data-drawn-note]").text_content()

    def until(self, is_so: Callable[[], Any], within_s: float = 180) -> None:
        deadline = time.monotonic() + within_s
        while not is_so():
            assert time.monotonic() < deadline
            self.page.wait_for_timeout(100)


Knowledge = list[tuple[int, list[dict[str, Any]]]]


def knowledge(players: list[Window]) -> Knowledge:
    """The game pauses; for each window the step, and what its workers cast rays at."""
    for player in players:
        player.page.keyboard.press("KeyP")
    for player in players:
        player.page.locator("#player[data-state=paused]").wait_for()
        player.page.wait_for_timeout(700)  # what has come is taken and drawn
    found = []
    for player in players:
        casters = [worker for worker in player.page.workers if worker.url.endswith("caster_worker.js")]
        assert casters
        found.append((player.step, [worker.evaluate("knows()") for worker in casters]))
    return found


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("spoiled") / "data"


@pytest.fixture(scope="module")
def server(data, tmp_path_factory):
    with serving(data, tmp_path_factory.mktemp("serve-spoiled"), {"blocks": SUITE}) as address:
        yield address


@pytest.fixture
def players(windows):
    """Two who dig, each where their browser draws."""
    players = [Window(page) for page in windows]
    for page in windows:
        start(page, task=TASK)
    for page in windows:
        page.locator("#player[data-state=playing]").wait_for(timeout=FIRST_START_S * 1000)
        page.locator("#player[data-drawn=here]").wait_for()
        page.keyboard.down("ArrowDown")
        page.keyboard.down("KeyX")
        sees_steps(page, 20)
    return players


def finish(players: list[Window], known: Knowledge, data) -> None:
    """End the game; what windows knew is what the recording leads to, which verifies."""
    players[0].page.locator("[data-finish]").click()
    players[0].page.get_by_role("button", name="Finish").last.click()
    for player in players:
        player.page.locator("[data-end-title]").wait_for()
    archive = interplay.record.open(data)
    episode = archive.get(players[0].page.locator("[data-end-link]").get_attribute("href").rsplit("/", 1)[-1])
    assert interplay.record.verify(episode).equal
    env = make(episode.task)
    assert isinstance(env, VoxelEnv)
    env.reset(seed=episode.seed)
    first, step = env.world.grid.blocks.copy(), 0
    for known_step, casters in sorted(known, key=lambda one: one[0]):
        while step < known_step:
            env.step_unseen({seat: episode.actions(seat)[step] for seat in episode.task.seats})
            step += 1
        grid = env.world.grid
        for caster in casters:
            assert len(caster["sections"]) >= 64
            mask = np.zeros([side // 16 for side in grid.blocks.shape], np.bool_)
            mask[tuple(np.array(caster["sections"]).T)] = True
            for axis in range(3):
                mask = mask.repeat(16, axis)
            cells = [np.where(mask, grid.blocks, np.uint16(65535)), np.where(mask, grid.light, np.uint8(0))]
            assert caster["digests"] == [list(hashlib.sha256(one.tobytes()).digest()) for one in cells]
    assert (first != env.world.grid.blocks).any(), "nobody dug"
    env.close()
    archive.close()


def one(change: Callable[[bytes], list[bytes]], kind: int) -> Callable[[bytes], list[bytes]]:
    """Spoil the next frame of a kind that is no beginning, and no other."""
    done = False

    def spoil(frame: bytes) -> list[bytes]:
        nonlocal done
        if done or frame[0] != kind or frame[1] & wire.FRESH:
            return [frame]
        done = True
        return change(frame)

    return spoil


def swapped() -> Callable[[bytes], list[bytes]]:
    """The next scene and the one after it in the wrong order."""
    kept: list[bytes] = []

    def spoil(frame: bytes) -> list[bytes]:
        if len(kept) > 1 or frame[0] != wire.SCENE_FRAME:
            return [frame]
        kept.append(frame)
        return kept[::-1] if len(kept) == 2 else []

    return spoil


RANDOM = random.Random(5).randbytes(700)
SPOILED = (
    one(lambda frame: [frame[: len(frame) * 2 // 3]], wire.SCENE_FRAME),
    one(lambda frame: [frame[:9]], wire.SCENE_FRAME),
    one(lambda frame: [], wire.SCENE_FRAME),
    swapped(),
    one(lambda frame: [frame[:20] + RANDOM], wire.SCENE_FRAME),
    one(lambda frame: [RANDOM], wire.SCENE_FRAME),
    one(lambda frame: [b"\3" + frame[1:]], wire.SCENE_FRAME),  # a picture that is none
    one(lambda frame: [frame[:500]], wire.LAND_FRAME),
    one(lambda frame: [], wire.LAND_FRAME),
)


def test_frames_that_are_spoiled_on_the_way_are_made_good(players, data):
    first, second = players
    for spoil in SPOILED:
        fresh, painted = first.fresh, first.step
        first.spoil = spoil
        first.until(lambda fresh=fresh: first.fresh > fresh)
        until(first.page, f"Number(document.querySelector('#player').dataset.step) > {painted + 10}")
    first.spoil = None
    assert second.fresh == 1, "the other player has missed nothing"
    sees_steps(second.page, 5)
    assert first.note == "Drawn in this browser."
    finish(players, knowledge(players), data)


LOSE_SURFACE = """() => {
  const gl = document.querySelector(".drawn canvas").getContext("webgl2");
  gl.getExtension("WEBGL_lose_context").loseContext();
}"""


def test_a_lost_surface_and_a_dead_worker_begin_again_and_a_second_loss_leaves_it_to_the_server(players, data):
    first, second = players
    first.page.evaluate(LOSE_SURFACE)
    second.page.evaluate("workers[1].terminate()")  # one of those that cast rays; nothing says that it is gone
    for player in players:
        player.until(lambda player=player: player.fresh == 2)
        sees_steps(player.page, 20)
        assert player.note == "Drawn in this browser."
    known = knowledge(players)
    first.page.keyboard.press("KeyW")
    playing(first.page)
    first.page.evaluate(LOSE_SURFACE)
    first.page.locator("#player[data-drawn=server]").wait_for()
    assert first.note == "Drawn by the server: the browser took its drawing surface away."
    sees_steps(first.page, 20)
    finish(players, known, data)


HIDE = """isHidden => {
  Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
AWAY_S = 31
"""Longer than `AWAY_MS` of scene/drawing.js."""


def test_a_window_that_was_hidden_while_the_worker_was_killed_begins_again(players, data, server):
    first, second = players
    first.page.evaluate(HIDE, True)
    first.page.locator("#player[data-state=paused]").wait_for()
    frozen = first.page.context.new_cdp_session(first.page)
    frozen.send("Page.setWebLifecycleState", {"state": "frozen"})
    begun = time.monotonic()
    sees_steps(second.page, 50)  # more than a page may leave unpainted
    second.page.evaluate(REMEMBER_COVERS)
    os.kill(worker_of_the_game(server, data), signal.SIGKILL)
    is_restored(second.page)
    playing(second.page)
    second.until(lambda: second.fresh == 2)
    sees_steps(second.page, 50)
    second.page.keyboard.press("KeyP")  # so that the rest of the time costs nobody anything
    second.page.locator("#player[data-state=paused]").wait_for()
    second.page.wait_for_timeout(max(0.0, AWAY_S - time.monotonic() + begun) * 1000)
    frozen.send("Page.setWebLifecycleState", {"state": "active"})
    fresh = first.fresh
    first.page.evaluate(HIDE, False)
    for player in players:
        player.page.keyboard.press("KeyW")
        playing(player.page)
    first.until(lambda: first.fresh > fresh)
    for player in players:
        sees_steps(player.page, 20)
        assert player.note == "Drawn in this browser."
    finish(players, knowledge(players), data)

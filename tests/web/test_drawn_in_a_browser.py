"""Where the picture of a game is drawn: in this browser, or by the server where that does not work or is not wanted.

The server of these tests sends pictures. A stand-in on the way to it offers scenes, and answers for them; what draws is a
stand-in too, which paints a colour. So a test sees what the page asks, tells and shows.
"""

import json
import struct
from typing import Any

import pytest
from test_pages_in_a_browser import every_look, fits, look, page, quit_game, until  # noqa: F401 (fixtures)

TASK = "look/around"
HEADER = struct.Struct("<BBHIIIf")
INPUT = struct.Struct("<BBHIdIff")
SCENE_FRAME, LAND_FRAME = 4, 5

SCENE = """
export class CannotDraw extends Error {}
let opened = 0;
export class Scene {
  static async open(canvas, overlay, tables) {
    opened++;
    if (location.hash === "#cannot") throw new CannotDraw("this browser has no WebGL2");
    if (location.hash === "#broken") throw new Error("something else");
    return new Scene(canvas, overlay);
  }
  constructor(canvas, overlay) {
    this.canvas = canvas; this.overlay = overlay; this.context = canvas.getContext("2d");
    this.display = { moveCursor: (x, y) => (this.shift = [x, y]) };
    this.me = null; this.parts = 0; this.isReady = this.isBusy = this.usesProcessor = false; this.boxes = [];
    window.scene = this; window.opened = opened;
  }
  onLost(callback) { this.lose = callback; }
  close() { this.isClosed = true; }
  get partsWanted() { return this.me ? Math.max(0, 4 - this.parts) : 0; }
  asked(parts) { this.parts += parts; }
  async apply(frame) {
    if (frame.kind === 5) { this.isReady = true; return; }
    this.me = JSON.parse(new TextDecoder().decode(frame.payload));
  }
  wait() {}
  resize(width, height) { Object.assign(this.canvas, { width, height }); Object.assign(this.overlay, { width, height }); }
  draw(camera, now, tick, painted) {
    this.camera = camera;
    this.context.fillStyle = "rgb(40 160 80)";
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const until = performance.now() + (window.drawMs ?? 0);
    while (performance.now() < until);
    if (!window.paintsLaterMs) return painted(false);
    this.isBusy = true;
    setTimeout(() => {
      this.isBusy = false;
      window.numLate = (window.numLate ?? 0) + 1;
      painted(true);
    }, window.paintsLaterMs);
  }
}
"""


class Between:
    """Between a page and its server: offers scenes, which the server does not have.

    Attributes:
        said: What the page said in JSON, in order, but for hello and start.
        gazes: (buttons, pitch, yaw) of each message that says where the eye looks.
        me: What scenes say of the player.
    """

    def __init__(self, page: Any, *, offers: bool = True) -> None:  # noqa: F811 (a fixture)
        self.said: list[dict[str, Any]] = []
        self.gazes: list[tuple[int, float, float]] = []
        self.me: dict[str, Any] = {"x": 0.5, "y": 64, "z": 0.5, "eye": 1.62, "yaw": 10, "pitch": 5, "fov": 70, "gui": None}
        self._offers, self._is_here, self._is_fresh, self._used_ms, self._number = offers, False, False, 0, 0
        page.route("**/blockworld/scene.js", lambda route: route.fulfill(content_type="text/javascript", body=SCENE))
        page.route_web_socket("**/api/play", self._connect)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """What the page said of one kind."""
        return [message for message in self.said if message["type"] == kind]

    def _connect(self, page_side: Any) -> None:
        server_side = page_side.connect_to_server()
        page_side.on_message(lambda message: self._from_page(message, page_side, server_side))
        server_side.on_message(lambda message: self._from_server(message, page_side))

    def _from_page(self, message: str | bytes, page_side: Any, server_side: Any) -> None:
        if isinstance(message, str):
            said = json.loads(message)
            self.said.append(said)
            if said["type"] == "scene":
                self._is_here = self._is_fresh = said["drawn"] == "here"
                said = {"type": "key"}
            if said["type"] == "land":
                for _ in range(said["parts"]):
                    self._number += 1
                    page_side.send(HEADER.pack(LAND_FRAME, 0, self._number, 0, 0, 0, 0.0))
            if said["type"] == "key" and self._is_here:
                self._is_fresh = True
            if said["type"] not in ("land", "painted"):
                server_side.send(json.dumps(said))
        elif message[0] == 3:
            _, zero, also_zero, step, client_ms, buttons, pitch, yaw = INPUT.unpack(message)
            self.gazes.append((buttons, pitch, yaw))
            self._used_ms = int(client_ms)
            server_side.send(INPUT.pack(2, zero, also_zero, step, client_ms, buttons, 0.0, 0.0))
        else:
            server_side.send(message)

    def _from_server(self, message: str | bytes, page_side: Any) -> None:
        if isinstance(message, str):
            told = json.loads(message)
            if told["type"] == "welcome" and self._offers:
                told["scene"] = {"tables": "/api/scene/tables/0.bin"}
            page_side.send(json.dumps(told))
        elif self._is_here:
            _, flags, _, step, _, time_ms, reward = HEADER.unpack_from(message)
            self._number = 0 if self._is_fresh else self._number + 1
            head = HEADER.pack(SCENE_FRAME, flags | 2 * self._is_fresh, self._number, step, self._used_ms, time_ms, reward)
            self._is_fresh = False
            page_side.send(head + json.dumps(self.me).encode())
        else:
            page_side.send(message)


def play(page, hash: str = "") -> None:  # noqa: F811
    page.goto(f"/play/{TASK}{hash}")
    page.locator("[data-start]:not([disabled])").press("Enter")
    page.locator("#player[data-state=playing]").wait_for()
    until(page, "Number(document.querySelector('#player').dataset.step) > 2")


def drawn(page, where: str) -> None:  # noqa: F811
    page.locator(f"#player[data-drawn={where}]").wait_for()


def device_pixels(page) -> float:  # noqa: F811
    """How wide the picture is, in pixels of the screen: as many are drawn where there is time."""
    return page.locator("#player canvas").nth(0).bounding_box()["width"] * page.evaluate("devicePixelRatio")


def note(page) -> str:  # noqa: F811
    return page.locator("[data-drawn-note]").text_content()


@every_look
def test_the_picture_is_drawn_here_over_the_servers_and_as_large(page, look):  # noqa: F811
    between = Between(page)
    play(page)
    drawn(page, "here")
    assert note(page) == "Drawn in this browser."
    assert between.of("scene") == [{"type": "scene", "drawn": "here", "gui_width": 320, "gui_height": 240}]
    assert sum(message["parts"] for message in between.of("land")) == 4
    picture, canvas = page.locator("#player canvas").nth(0), page.locator("#player .drawn canvas").first
    for name, value in picture.bounding_box().items():
        assert canvas.bounding_box()[name] == pytest.approx(value, abs=1)
    width, whole = page.evaluate("scene.canvas.width"), device_pixels(page)
    assert min(abs(width - share * whole) for share in (1, 0.75, 0.5, 0.35)) < 2  # a busy machine draws fewer pixels
    assert fits(page)
    page.shoot("drawn-here")
    between.me["x"] = 2.5
    until(page, "scene.camera.x === 2.5")
    until(page, "document.querySelector('[data-rate]').textContent.includes('drawn at')")
    painted = between.of("painted")[-1]
    assert (painted["yaw"], painted["pitch"]) == (10, 5)
    assert min(abs(painted["width"] - share * whole) for share in (1, 0.75, 0.5, 0.35)) < 2
    assert painted["fps"] > 1


def test_the_view_turns_at_once_and_the_server_is_told_where_it_looks(page, recorded):  # noqa: F811
    page.add_init_script("HTMLCanvasElement.prototype.requestPointerLock = () => Promise.reject(new DOMException('no'))")
    between = Between(page)
    play(page)
    drawn(page, "here")
    box = page.locator("#player canvas").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y + 40, steps=4)
    page.mouse.up()
    until(page, "scene.camera.yaw === 30 && scene.camera.pitch === 15")  # a quarter of a degree for each pixel
    for _ in range(60):  # a press that a busy machine shows after 2 s does not count
        if page.locator("[data-latency]").text_content() != "–":
            break
        page.mouse.click(x + 80, y + 40)
        page.wait_for_timeout(500)
    else:
        pytest.fail("no delay was measured")
    page.mouse.down()
    page.mouse.move(x + 80, y + 1000, steps=2)
    page.mouse.up()
    until(page, "scene.camera.pitch === 90")
    page.keyboard.press("ArrowRight")  # a step of the world: 5 degrees
    until(page, "scene.camera.yaw >= 35")
    for _ in range(100):
        if between.gazes and between.gazes[-1][1] == 90 and between.gazes[-1][2] >= 35:
            break
        page.wait_for_timeout(50)
    assert between.gazes[-1][1] == 90
    assert 35 <= between.gazes[-1][2] < 45
    assert all(buttons >> 11 == 0 for buttons, _, _ in between.gazes), "the keys that turn are no buttons here"
    between.me |= {"yaw": -100, "pitch": 0, "turned": True}  # by the world
    until(page, "scene.camera.yaw === -100 && scene.camera.pitch === 0")
    between.me["turned"] = False
    told = len(between.gazes)
    between.me["gui"] = "inventory"
    until(page, "scene.me.gui === 'inventory'")
    page.wait_for_timeout(600)
    assert len(between.gazes) <= told + 4, "over an open screen the mouse moves a cursor"
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 12, y)  # 3 degrees
    until(page, "Math.abs(scene.shift[0] - 10) < 0.01 && scene.shift[1] === 0")
    page.mouse.up()
    quit_game(page)


@pytest.mark.parametrize(
    ("hash", "reason"),
    [("#cannot", "this browser has no WebGL2"), ("#broken", "this browser could not load what it needs to draw")],
)
def test_a_browser_that_cannot_draw_gets_pictures_and_says_why(page, hash, reason):  # noqa: F811
    between = Between(page)
    play(page, hash)
    drawn(page, "server")
    assert note(page) == f"Drawn by the server: {reason}."
    assert [message["drawn"] for message in between.of("scene")] == ["server"]
    assert page.locator(".drawn").count() == 0
    page.shoot("drawn-by-the-server")


def test_a_lost_surface_is_opened_once_again_and_then_the_server_draws(page):  # noqa: F811
    between = Between(page)
    play(page)
    drawn(page, "here")
    page.evaluate("scene.lose('the browser took its drawing surface away')")
    until(page, "opened === 2 && scene.camera !== undefined")
    assert note(page) == "Drawn in this browser."
    page.evaluate("scene.lose('the browser took its drawing surface away')")
    drawn(page, "server")
    assert note(page) == "Drawn by the server: the browser took its drawing surface away."
    assert [message["drawn"] for message in between.of("scene")] == ["here", "here", "server"]
    step = int(page.locator("#player").get_attribute("data-step"))
    until(page, f"Number(document.querySelector('#player').dataset.step) > {step + 5}")


def test_pictures_that_workers_make_come_later_and_nothing_waits_for_one_that_nobody_wants(page):  # noqa: F811
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    Between(page)
    play(page)
    drawn(page, "here")
    page.evaluate("window.paintsLaterMs = 25")
    until(page, "window.numLate > 20")
    before = page.evaluate("[Number(document.querySelector('#player').dataset.step), window.numLate]")
    until(page, f"Number(document.querySelector('#player').dataset.step) > {before[0] + 20}")
    assert page.evaluate("window.numLate") > before[1] + 5
    page.evaluate("window.paintsLaterMs = 400")
    until(page, "scene.isBusy")
    page.evaluate("scene.lose('the browser took its drawing surface away')")  # while a picture is being made
    until(page, "opened === 2 && scene.camera !== undefined")
    until(page, "scene.isBusy")
    page.locator("[data-details] summary").click()
    page.locator("[data-drawn-by]").select_option("server")
    drawn(page, "server")
    page.wait_for_timeout(600)
    assert page.locator("#player").get_attribute("data-drawn") == "server"
    assert errors == []


def test_a_slow_browser_draws_fewer_pixels_and_then_leaves_it_to_the_server(page):  # noqa: F811
    Between(page)
    play(page)
    drawn(page, "here")
    page.evaluate("window.drawMs = 110")
    half = device_pixels(page) / 2  # where the machine is busy, it comes down to that before the drawing takes long
    until(page, f"scene.canvas.width <= Math.ceil({half})")
    drawn(page, "server")
    assert note(page) == "Drawn by the server: this browser draws too slowly."


def test_the_player_chooses_who_draws_also_during_a_game(page):  # noqa: F811
    between = Between(page)
    play(page)
    drawn(page, "here")
    page.keyboard.press("KeyP")
    page.locator("#player[data-state=paused]").wait_for()
    choice = page.locator("[data-drawn-by]")
    page.locator("[data-details] summary").click()
    choice.focus()
    page.keyboard.press("End")  # the last one
    drawn(page, "server")
    assert note(page) == "Drawn by the server."
    page.shoot("drawn-choice")
    page.locator("[data-cover]").click()
    page.locator("#player[data-state=playing]").wait_for()
    page.keyboard.press("KeyP")
    page.locator("#player[data-state=paused]").wait_for()
    page.reload()
    assert page.locator("[data-drawn-by]").input_value() == "server"
    page.locator("[data-start]:not([disabled])").press("Enter")
    page.locator("#player[data-state=playing]").wait_for()
    assert [message["drawn"] for message in between.of("scene")] == [
        "here",
        "server",
        "server",
    ]  # the last one after the reload
    page.locator("[data-details] summary").click()
    assert page.evaluate("document.activeElement === document.body")  # the keys are the game's
    choice.select_option("here")
    drawn(page, "here")


def test_what_the_player_sets_holds_at_once_and_is_told_and_kept(page):  # noqa: F811
    between = Between(page)
    play(page)
    drawn(page, "here")
    assert not page.locator("[data-drawn-by]").is_visible()
    assert page.locator(".keys-card kbd", has_text="W").first.is_visible()
    page.locator("[data-show-options]").click()
    page.locator("#player[data-state=paused]").wait_for()
    page.locator("[name=sensitivity]").focus()
    page.keyboard.press("Home")
    page.locator("[name=inverted]").check()
    page.locator("[data-key=forward]").press("Enter")
    page.keyboard.press("KeyP")  # which is the page's
    assert "P has another use" in page.locator("[data-options-note]").inner_text()
    page.keyboard.press("KeyX")
    assert page.locator("[data-key=forward] kbd").inner_text() == "X"
    page.shoot("options")
    page.keyboard.press("Escape")
    page.locator("#player[data-state=playing]").wait_for()
    chosen = {"sensitivity": 0.2, "is_inverted": True, "fov": 70, "gui_scale": 1, "keys": {"forward": "KeyX"}}
    assert between.of("options")[-1] == {"type": "options", **chosen}
    keys = page.locator(".keys-card kbd").all_inner_texts()
    assert "X" in keys
    assert "W" not in keys
    page.keyboard.down("KeyX")
    until(page, "Number(document.querySelector('#player').dataset.step) > 10")
    page.keyboard.up("KeyX")
    assert any(buttons & 1 for buttons, _, _ in between.gazes), "X walks"
    page.keyboard.press("KeyP")
    page.reload()
    page.locator("[data-start]:not([disabled])").press("Enter")
    page.locator("#player[data-state=playing]").wait_for()
    drawn(page, "here")
    assert between.of("options")[-1] == {"type": "options", **chosen}
    page.locator("[data-show-options]").click()
    page.locator("[data-options-reset]").click()
    assert between.of("options")[-1]["keys"] == {}


def test_a_game_that_only_the_server_can_draw_offers_no_choice(page):  # noqa: F811
    Between(page, offers=False)
    play(page)
    assert not page.locator("[data-drawing]").is_visible()
    assert page.locator(".drawn").count() == 0

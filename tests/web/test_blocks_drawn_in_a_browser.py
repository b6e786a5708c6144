"""The block world drawn by a real Chromium with WebGL2, without a graphics card: the processor casts the rays."""

import json
from itertools import groupby

import pytest
from seldom_drawn import draw_seldom
from test_pages_in_a_browser import look, page, until  # noqa: F401 (fixtures)
from web_server import serving

import interplay.record

TASK = "basalt/find_cave"
FIRST_START_S = 300
"""A machine that has never run the block world compiles it first, which takes a minute."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The server's data folder."""
    archive = interplay.record.open(tmp_path_factory.mktemp("drawn"))
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def server(archive, tmp_path_factory):
    """The address of a real `interplay serve`."""
    with serving(archive.root, tmp_path_factory.mktemp("serve-drawn"), {}) as address:
        yield address


def play(page, width: int = 420) -> None:  # noqa: F811
    page.set_viewport_size({"width": width, "height": 700})
    draw_seldom(page)
    page.add_init_script('localStorage.setItem("interplay.drawn", "here")')  # however slow it is
    page.goto(f"/play/{TASK}")
    page.locator("[data-start]:not([disabled])").press("Enter")
    page.locator("#player[data-state=playing]").wait_for(timeout=FIRST_START_S * 1000)
    page.locator("#player[data-drawn=here]").wait_for()


def painted(page, ticks: int) -> None:  # noqa: F811
    """Wait until so many more ticks of the world are painted."""
    step = int(page.locator("#player").get_attribute("data-step") or 0)
    until(page, f"Number(document.querySelector('#player').dataset.step) > {step + ticks}", within_s=120)


@pytest.mark.parametrize("chromium", ["webgl"], indirect=True)
@pytest.mark.parametrize("width", [420, 672])
def test_nothing_jumps_once_the_countdown_runs(page, width):  # noqa: F811
    page.add_init_script("""addEventListener("DOMContentLoaded", () => {
        const player = document.querySelector("#player"), parts = [".screen .view", ".hud", ".keys-card"];
        window.heights = new Set();
        const look = () => {
            requestAnimationFrame(look);
            if (!["countdown", "playing"].includes(player.dataset.state)) return;
            heights.add(parts.map((part) => player.querySelector(part).getBoundingClientRect().top + scrollY).join(" "));
        };
        look();
    })""")
    play(page, width)
    painted(page, 20)  # numbers come four times a second
    assert len(page.evaluate("[...heights]")) == 1


def finish(page, archive) -> interplay.record.RecordedEpisode:  # noqa: F811
    page.keyboard.press("Enter")
    page.locator("[data-end-yes]").click()
    page.locator("[data-end-title]").wait_for()
    return archive.get(page.locator("[data-end-link]").get_attribute("href").rsplit("/", 1)[-1])


@pytest.mark.parametrize("chromium", ["webgl"], indirect=True)
def test_a_game_drawn_in_the_browser_is_played_recorded_and_verified(page, archive):  # noqa: F811
    chosen = {"fov": 95, "gui": 1.4, "keys": {"drop": "KeyX"}}
    page.add_init_script(f"localStorage.setItem('interplay.options', '{json.dumps(chosen)}')")
    play(page)
    assert page.locator("[data-drawn-note]").text_content() == "Drawn in this browser."
    page.shoot("blocks-drawn-here")
    page.keyboard.down("ArrowRight")
    page.keyboard.down("KeyW")
    painted(page, 40)
    page.keyboard.up("KeyW")
    page.keyboard.up("ArrowRight")
    painted(page, 20)
    episode = finish(page, archive)
    actions = list(episode.actions())
    assert any(action["forward"] for action in actions)  # how many steps a slow page holds a key for is not known
    assert any(action["camera"][1] > 0.0 for action in actions)
    assert interplay.record.verify(episode).equal
    said = [json.loads(one) for one in episode.steps().column("options.player").to_pylist() if one is not None]
    assert (said[-1]["fov"], said[-1]["gui_scale"], said[-1]["keys"]) == (95.0, 1.4, {"drop": "KeyX"})


@pytest.mark.parametrize("chromium", ["webgl"], indirect=True)
def test_escape_closes_what_is_open_before_it_asks(page, archive):  # noqa: F811
    page.add_init_script("""addEventListener(
        "interplay:hud", ({ detail }) => { window.isOpen = detail.hud.is_screen_open === true; }, true)""")
    play(page)
    page.keyboard.down("KeyE")  # and let go at the moment of the Escape
    until(page, "window.isOpen")
    page.keyboard.up("KeyE")
    page.keyboard.down("Escape")
    page.keyboard.down("Escape")  # as the keyboard repeats it
    until(page, "!window.isOpen")
    page.keyboard.up("Escape")
    painted(page, 5)
    assert page.locator("#player").get_attribute("data-state") == "playing"
    page.keyboard.press("Escape")
    page.locator("[data-ask]").wait_for()
    page.locator("[data-ask-no]").click()
    page.locator("#player[data-state=playing]").wait_for()
    pressed = [key for key, _ in groupby(bool(action["inventory"]) for action in finish(page, archive).actions())]
    assert sum(pressed) == 2, "E opened the inventory, and the first Escape closed it"


@pytest.mark.parametrize("chromium", ["webgl"], indirect=True)
@pytest.mark.parametrize(("choice", "drawn"), [("auto", "here"), ("server", "server")])
def test_the_page_says_who_will_draw_when_it_asks_for_a_seat(page, choice, drawn):  # noqa: F811
    """Also without a graphics card a browser draws, unless its player wants the server to; such a game shares a process."""
    page.goto(f"/play/{TASK}")
    page.evaluate("choice => { document.querySelector('[data-drawn-by]').value = choice; }", choice)
    with page.expect_request("**/api/sessions") as asked:
        page.locator("[data-start]:not([disabled])").press("Enter")
    assert asked.value.post_data_json == {"task": TASK, "drawn": drawn}

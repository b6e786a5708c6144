"""The block world drawn by a real Chromium with WebGL2, without a graphics card: slowly, but all of it."""

from __future__ import annotations

import pytest
from test_pages_in_a_browser import look, page, until  # noqa: F401 (fixtures)
from web_server import serving

import interplay.record

pytestmark = [pytest.mark.browser, pytest.mark.slow]

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


@pytest.mark.parametrize("chromium", ["webgl"], indirect=True)
def test_a_game_drawn_in_the_browser_is_played_recorded_and_verified(page, archive):  # noqa: F811
    page.add_init_script("localStorage.setItem('interplay.drawn', 'here')")  # however slow it is
    page.set_viewport_size({"width": 420, "height": 700})  # fewer pixels for the processor, which draws them all
    page.goto(f"/play/{TASK}")
    page.locator("[data-start]:not([disabled])").press("Enter")
    page.locator("#player[data-state=playing]").wait_for(timeout=FIRST_START_S * 1000)
    page.locator("#player[data-drawn=here]").wait_for()
    assert page.locator("[data-drawn-note]").inner_text() == "Drawn in this browser."
    page.shoot("blocks-drawn-here")

    def painted() -> int:
        return int(page.locator("#player").get_attribute("data-step") or 0)

    step = painted()
    page.keyboard.down("ArrowRight")
    page.keyboard.down("KeyW")
    until(page, f"Number(document.querySelector('#player').dataset.step) > {step + 40}", within_s=120)
    page.keyboard.up("KeyW")
    page.keyboard.up("ArrowRight")
    step = painted()
    until(page, f"Number(document.querySelector('#player').dataset.step) > {step + 20}", within_s=120)
    page.shoot("blocks-drawn-here-later")
    page.keyboard.press("Enter")
    page.locator("[data-end-yes]").click()
    page.locator("[data-end-title]").wait_for()
    episode = archive.get(page.locator("[data-end-link]").get_attribute("href").rsplit("/", 1)[-1])
    actions = list(episode.actions())
    assert sum(int(action["forward"]) for action in actions) > 20
    assert sum(float(action["camera"][1]) for action in actions) > 30.0
    assert interplay.record.verify(episode).equal

"""Waiting for another player in a real Chromium: what one reads, the choice after a while, and the call when somebody comes."""

from __future__ import annotations

import pytest
from test_pages_in_a_browser import until
from test_two_players_in_a_browser import PONG, playing, sees_steps, start
from web_server import serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]
pytest.importorskip("pettingzoo")

PARTNER_AFTER_S = 2
HIDDEN = """() => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
COUNT_BELLS = """
window.bells = 0;
const Real = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...at) { window.bells++; return Real.apply(this, at); };"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    data = tmp_path_factory.mktemp("lobby")
    with serving(data / "data", data, {"two": PONG}, "--partner-after", str(PARTNER_AFTER_S)) as address:
        yield address


def test_who_has_waited_long_enough_plays_with_an_agent(windows):
    page, _ = windows
    start(page)
    page.locator("[data-lobby]").wait_for()
    assert page.locator("[data-cover] h2").inner_text() == "Get ready"
    page.locator("[data-lobby-lines]", has_text="you may choose to play with an agent").wait_for()
    choice = page.get_by_role("button", name="Play with an agent")
    assert not choice.is_visible()
    choice.wait_for()
    assert page.locator("[data-lobby-time]").inner_text() >= f"0:0{PARTNER_AFTER_S}"
    choice.click()
    playing(page)
    sees_steps(page, 5)
    assert page.locator("[data-seats]").inner_text().endswith("An agent (scripted) plays right paddle.")
    assert not page.locator("[data-lobby]").is_visible()
    page.locator("[data-finish]").click()
    page.get_by_role("button", name="Finish").last.click()
    page.locator("#player[data-state=ended]").wait_for()


def test_who_looks_at_another_page_is_called_when_somebody_comes(windows):
    first, second = windows
    first.add_init_script(COUNT_BELLS)
    start(first)
    first.locator("[data-lobby]").wait_for()
    title = first.title()
    first.evaluate(HIDDEN)
    start(second)
    until(first, "document.title.endsWith('Your game begins')")
    assert first.evaluate("bells") == 2
    first.locator("[data-cover]", has_text="press any key when you are ready").wait_for()
    first.evaluate(HIDDEN.replace("value: true", "value: false"))
    assert first.title() == title
    first.keyboard.press("ArrowUp")
    playing(first)
    playing(second)
    assert not second.locator("[data-lobby]").is_visible()

"""Waiting for another player in a real Chromium: what one reads, the choice after a while, and the call when somebody comes."""

import pytest
from test_pages_in_a_browser import until
from test_two_players_in_a_browser import PONG, playing, sees_steps, start
from web_server import serving

pytest.importorskip("pettingzoo")

PARTNER_AFTER_S = 60
SHORT = '[[task]]\nname = "short"\n' + PONG.partition("[[task]]\n")[2].partition("\n")[2].replace("= 60", "= 4")
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
    with serving(data / "data", data, {"two": PONG + SHORT}, "--partner-after", str(PARTNER_AFTER_S)) as address:
        yield address


def invitation(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Invite a friend").click()
    page.get_by_role("button", name="The link is copied").wait_for()
    return page.evaluate("navigator.clipboard.readText()")


def test_who_waits_plays_with_an_agent_now_invites_a_friend_or_plays_again_with_them(windows, picture):
    first, second = windows
    start(first)
    first.locator("[data-lobby]").wait_for()
    assert first.locator(".strip [data-state]").inner_text() == "waiting"
    first.set_viewport_size({"width": 1366, "height": 480})
    until(first, "document.querySelector('.screen .strip').getBoundingClientRect().bottom <= innerHeight")
    first.set_viewport_size({"width": 1240, "height": 860})
    first.locator("[data-lobby-lines]", has_text="wait for a person, or play with an agent now").wait_for()
    second.goto("/")
    assert second.locator("[data-waiting]").inner_text() == "Somebody waits for a partner: Pong together (1 person)"
    picture(second, "who-waits", full_page=False)
    link = invitation(first)
    picture(first, "waiting-room", full_page=False)
    second.goto(link)
    second.locator("[data-start]:not([disabled])").press("Enter")
    for page in windows:
        playing(page)
        sees_steps(page, 3)
    third = second.context.new_page()
    third.goto(link)
    third.locator("[data-start]:not([disabled])").press("Enter")
    third.locator("[data-start-note]", has_text="does not wait for players any more; ask for a new link").wait_for()
    third.close()
    for page in (second, first):
        page.locator("[data-finish]").click()
        page.get_by_role("button", name="Finish").last.click()
        page.locator("[data-end]:not([hidden])").wait_for()
    assert not second.get_by_role("button", name="Again with the same partner").is_visible(), "who left has left their partner"
    first.locator("[data-end-statistics] small", has_text="How often you did something else than before.").wait_for()
    picture(first, "the-end-of-a-game-for-two", full_page=False)


def test_both_who_played_to_the_end_play_again_together(windows, picture):
    first, second = windows
    start(first, task="two/short")
    second.goto(invitation(first))
    second.locator("[data-start]:not([disabled])").press("Enter")
    for page in windows:
        playing(page)
    first.get_by_role("button", name="Again with the same partner").wait_for()
    picture(first, "again-with-the-same-partner")
    for page in windows:
        page.get_by_role("button", name="Again with the same partner").click()
        page.wait_for_load_state()
    for page in windows:
        playing(page)
        assert page.locator("[data-seats]").inner_text().startswith("You play")


def test_an_agent_plays_at_once(windows):
    page, _ = windows
    page.goto("/play/two/pong")
    page.get_by_role("button", name="Play with an agent").click()
    playing(page)
    sees_steps(page, 3)
    page.reload()
    start(page)
    playing(page)
    page.locator("[data-finish]").click()
    page.get_by_role("button", name="Finish").last.click()
    page.locator("[data-end]:not([hidden])").wait_for()
    page.keyboard.press("Enter")  # again
    page.locator("[data-start]:not([disabled])").press("Enter")
    page.locator("[data-lobby-agent]").click()
    playing(page)
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

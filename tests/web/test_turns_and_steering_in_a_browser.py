"""Worlds that wait for their players and worlds that are steered, in a real Chromium: keys, mouse and fingers."""

from itertools import groupby, pairwise

import numpy as np
import pytest
from test_pages_in_a_browser import (  # noqa: F401 (fixtures)
    KEYS,
    KEYS_AT,
    LOOKS,
    every_look,
    fits,
    look,
    page,
    painted_step,
    quit_game,
    start,
    until,
)

import interplay.record
from interplay.record import Episode

DELAY = """(() => {
  const Real = WebSocket, HALF_MS = 25, later = (deed) => setTimeout(deed, HALF_MS);
  window.pressed = 0;
  window.WebSocket = class extends Real {
    set onmessage(handler) {
      this.addEventListener("message", (event) => later(() => handler(event)));
    }
    send(data) {
      const view = data instanceof ArrayBuffer ? new DataView(data) : null;
      if (view?.getUint8(0) === 4 && view.getUint32(20, true)) window.pressed++;
      later(() => this.readyState === Real.OPEN && super.send(data));
    }
  };
})()"""
"""50 ms between the page and the server, and how many presses the page has told of."""


def shows_step(page, step: int) -> None:  # noqa: F811
    page.locator(f"#player[data-step='{step}']").wait_for()


def some_steps(page, count: int = 12) -> None:  # noqa: F811  # a busy page paints late
    until(page, f"Number(document.querySelector('#player').dataset.step) > {painted_step(page) + count}")


def finished(page, recorded) -> Episode:  # noqa: F811
    """The game that is on, once it is over: a replay shows the same."""
    if page.locator("#player[data-state=playing]").count():
        quit_game(page)
    page.locator("[data-end-title]").wait_for()
    episode = recorded.get(page.locator("[data-end-link]").get_attribute("href").rsplit("/", 1)[-1])
    verdict = interplay.record.verify(episode)
    assert verdict.equal, verdict
    assert verdict.replayed
    return episode


def test_the_end_says_that_one_fell_shows_it_and_offers_another_game_first(page, picture):  # noqa: F811
    start(page, "gymnasium/frozen_lake")
    while page.locator("[data-end][hidden]").count():
        page.keyboard.press("ArrowDown")
    page.locator("[data-end]:not([hidden])").wait_for()
    won = float(page.locator("[data-end-score]").inner_text()) > 0
    assert page.locator("[data-end-title]").inner_text() == ("The game is over." if won else "You fell into a hole in the ice.")
    # The last picture, in which it happened.
    until(page, "/^step (\\d+) of \\1$/.test(document.querySelector('[data-replay] [data-step]').innerText)")
    again = page.locator("[data-again]")
    box = again.bounding_box()
    assert box["y"] + box["height"] < page.viewport_size["height"]
    assert page.locator("[data-end] .row-actions .btn").first.inner_text().startswith("Play again")
    picture(page, "fell", full_page=False)
    page.keyboard.press("Enter")
    page.locator("[data-start]:not([disabled])").wait_for()


@pytest.mark.journey("worlds that wait for each press")
def test_each_press_is_one_step_and_a_held_key_goes_on_until_it_is_let_go(page, recorded):  # noqa: F811
    """Along the upper edge of the lake there is no hole, and who walks up never leaves it."""
    page.add_init_script(DELAY)
    start(page, "gymnasium/frozen_lake")
    assert page.locator(".hud dt", has_text="Turns left").is_visible()
    for _ in range(5):
        page.keyboard.press("ArrowUp")  # down and up at once
    shows_step(page, 5)
    repeated = True  # as the keyboard repeats it
    page.evaluate(KEYS, [["keydown", "ArrowUp"], ["keydown", "ArrowUp", repeated], ["keyup", "ArrowUp"]])
    shows_step(page, 6)
    other = "KeyW"  # another key of the same button
    page.evaluate(KEYS, [["keydown", "ArrowUp"], ["keydown", other], ["keyup", other], ["keyup", "ArrowUp"]])
    shows_step(page, 8)
    assert page.evaluate("pressed") == 8
    page.shoot("play-turns")
    page.evaluate(KEYS_AT, [[12, "keyup", "ArrowUp"]])
    page.keyboard.down("ArrowUp")
    until(page, "Number(document.querySelector('#player').dataset.step) >= 12")
    page.keyboard.up("ArrowUp")
    count = page.evaluate("pressed")
    shows_step(page, count)
    assert 12 <= count <= 14  # the page never presses ahead of what it shows
    until(page, f"document.querySelector('[data-time]').textContent === '{100 - count}'")
    page.keyboard.press("KeyP")  # a pause: the key that ends it presses nothing
    page.locator("#player[data-state=paused]").wait_for()
    page.keyboard.press("ArrowDown")
    page.locator("#player[data-state=playing]").wait_for()
    page.keyboard.press("ArrowUp")
    shows_step(page, count + 1)
    episode = finished(page, recorded)
    assert episode.actions().tolist() == [3] * (count + 1)
    assert page.locator("[data-end-time]").inner_text() == str(count + 1)


def test_fingers_press_in_a_world_that_waits(chromium, server, recorded, picture):
    context = chromium.new_context(base_url=server, **LOOKS["phone"])
    page = context.new_page()  # noqa: F811
    page.goto("/play/gymnasium/taxi")
    page.locator("[data-start]").tap()
    page.locator("#player[data-state=playing]").wait_for(timeout=60_000)
    for count in (1, 2, 3):
        page.locator("[data-button=LET_OUT]").tap()
        shows_step(page, count)
    picture(page, "play-turns-phone")
    page.locator("[data-finish]").tap()
    page.locator("[data-ask-yes]").tap()
    assert finished(page, recorded).actions().tolist() == [5, 5, 5]
    context.close()


def spot(page, share: float) -> tuple[float, float]:  # noqa: F811
    """A place on the picture, by the share of its width from the left."""
    box = page.locator("#player canvas").first.bounding_box()
    return box["x"] + box["width"] * share, box["y"] + box["height"] / 2


def steer(page, share: float, mark: float) -> None:  # noqa: F811
    """Hold the mouse over a place of the picture until some steps were taken with the mark where it belongs.

    A game that a busy machine has taken up again rests until the mouse moves, and its picture may come to stand elsewhere.
    """
    for _ in range(5):
        x, y = spot(page, share)
        page.mouse.move(x, y - 1)
        page.mouse.move(x, y)
        some_steps(page)
        if abs(gauge(page) - mark) < 0.01:
            return
    pytest.fail(f"the mark stays at {gauge(page)} and not at {mark}")


def gauge(page) -> float:  # noqa: F811
    """Where the mark is on the axis, from 0 to 1."""
    return float(page.locator(".gauge i").evaluate("(mark) => mark.style.getPropertyValue('--place')"))


def runs(actions: np.ndarray) -> list[float]:
    """Each value that the action had, in order, without those that lasted for one step: the mouse was on its way."""
    values = actions[:, 0]
    cuts = [0, *(np.flatnonzero(np.diff(values)) + 1), len(values)]
    return [float(values[first]) for first, last in pairwise(cuts) if last - first > 1]


@pytest.mark.journey("worlds steered by mouse")
def test_the_mouse_steers_and_the_arrow_keys_hold_the_ends(page, recorded):  # noqa: F811
    start(page, "gymnasium/pendulum")
    some_steps(page)
    steer(page, 0.25, 0.25)
    page.shoot("play-steer")
    steer(page, 0.9, 0.9)
    page.keyboard.down("ArrowLeft")
    some_steps(page)
    assert gauge(page) == 0
    page.keyboard.up("ArrowLeft")
    some_steps(page)
    steer(page, 1.4, 1)  # beyond the picture
    episode = finished(page, recorded)
    assert episode.actions().dtype == np.float32
    assert not episode.actions()[:10].any()  # at rest before the mouse has moved
    moving = [value for value, _ in groupby(filter(None, runs(episode.actions())))]
    assert np.allclose(moving, [1.0, -1.6, 2.0, -1.6, -2.0], atol=0.02)


def test_a_finger_on_the_picture_steers_and_rests_when_it_is_lifted(chromium, server, recorded, picture):
    context = chromium.new_context(base_url=server, **LOOKS["phone"])
    page = context.new_page()  # noqa: F811
    page.goto("/play/gymnasium/pendulum")
    page.locator("[data-start]").tap()
    page.locator("#player[data-state=playing]").wait_for(timeout=60_000)
    touch = context.new_cdp_session(page)

    def finger(kind: str, share: float | None = None) -> None:
        points = [] if share is None else [dict(zip("xy", spot(page, share), strict=True))]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        some_steps(page)

    some_steps(page)
    finger("touchStart", 0.75)
    picture(page, "play-steer-phone")
    finger("touchMove", 0.1)
    finger("touchEnd")
    page.locator("[data-finish]").tap()
    page.locator("[data-ask-yes]").tap()
    assert np.allclose(runs(finished(page, recorded).actions()), [0.0, -1.0, 1.6, 0.0], atol=0.02)
    context.close()


def test_the_stick_of_a_gamepad_steers(page, recorded):  # noqa: F811
    page.add_init_script("window.stick = [0, 0]; navigator.getGamepads = () => [null, { axes: stick }]")
    start(page, "gymnasium/mountain_car")
    page.evaluate("dispatchEvent(new Event('gamepadconnected'))")
    for right in (0.5, -1.0, 0.05):
        page.evaluate("(right) => (stick = [right, 0])", right)
        some_steps(page)
    actions = finished(page, recorded).actions()
    assert runs(actions) == [0.0, 0.5, -1.0, 0.0]


@every_look
@pytest.mark.parametrize("task", ["frozen_lake", "cliff_walking", "taxi", "pendulum", "mountain_car"])
def test_the_page_of_each_of_these_tasks_fits(page, task):  # noqa: F811
    page.goto(f"/play/gymnasium/{task}")
    page.locator("[data-start]:not([disabled])").wait_for()
    assert fits(page)
    page.shoot(f"brief-{task}")


def test_the_button_for_the_full_screen_says_how_to_leave_it(page):  # noqa: F811
    page.goto("/play/gymnasium/pendulum")
    button = page.locator("[data-fullscreen]")
    assert button.inner_text() == "Full screen"
    button.click()
    page.locator("[data-fullscreen]", has_text="Leave full screen").wait_for()
    button.click()
    until(page, "document.fullscreenElement === null")
    until(page, "document.querySelector('[data-fullscreen]').textContent === 'Full screen'")


def test_a_browser_without_a_full_screen_has_no_button_for_it(page):  # noqa: F811
    page.add_init_script("Object.defineProperty(Document.prototype, 'fullscreenEnabled', { get: () => false })")
    page.goto("/play/gymnasium/pendulum")
    page.locator("[data-start]:not([disabled])").wait_for()
    assert page.locator("[data-fullscreen]").is_hidden()

"""A world seen by turning, in a real Chromium: keys, mouse buttons, the wheel, the locked pointer and what replaces it."""

import numpy as np
import pytest
from test_pages_in_a_browser import LOOKS, every_look, fits, locks_pointer, look, page, quit_game, until  # noqa: F401 (fixtures)

TASK = "look/around"
REFUSE_LOCK = (
    "HTMLCanvasElement.prototype.requestPointerLock = () => Promise.reject(new DOMException('no', 'NotSupportedError'))"
)


def open_task(page) -> None:  # noqa: F811
    page.goto(f"/play/{TASK}")
    page.locator("[data-start]:not([disabled])").wait_for()


def playing(page) -> None:  # noqa: F811
    page.locator("#player[data-state=playing]").wait_for()
    until(page, "Number(document.querySelector('#player').dataset.step) > 2")


def steps(page, count: int) -> None:  # noqa: F811
    """Let the world make some steps, so that inputs before and after fall in different ones."""
    step = int(page.locator("#player").get_attribute("data-step") or 0)
    until(page, f"Number(document.querySelector('#player').dataset.step) > {step + count}")


def recorded_actions(page, recorded) -> list[dict]:  # noqa: F811
    quit_game(page)
    return list(recorded.get(page.locator("[data-end-link]").get_attribute("href").rsplit("/", 1)[-1]).actions())


def total_turn(actions: list[dict]) -> list[float]:
    return np.sum([action["camera"] for action in actions], axis=0, dtype=np.float64).tolist()


def pressed(actions: list[dict], name: str) -> int:
    return sum(int(action[name]) for action in actions)


def middle(page) -> tuple[float, float]:  # noqa: F811
    box = page.locator("#player canvas").first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_keyboard_alone_plays_and_turns(page, recorded):  # noqa: F811
    open_task(page)
    page.keyboard.press("Enter")
    playing(page)
    assert page.evaluate("document.pointerLockElement") is None
    assert page.locator("[data-hint]").is_visible()
    page.keyboard.down("KeyW")
    page.keyboard.down("ControlLeft")  # a modifier that is a key of this game
    page.keyboard.down("ArrowRight")
    steps(page, 6)
    page.shoot("play-look")
    page.keyboard.up("ArrowRight")
    page.keyboard.up("ControlLeft")
    page.keyboard.up("KeyW")
    page.keyboard.press("Digit3")
    steps(page, 3)
    actions = recorded_actions(page, recorded)
    turning = [action for action in actions if action["camera"][1] == 5.0]
    assert len(turning) >= 5
    assert all(action["forward"] and action["jump"] for action in turning[1:-1])
    assert 1 <= pressed(actions, "hotbar.3") <= 2
    assert total_turn(actions) == [0.0, 5.0 * len(turning)]


def test_dragging_turns_where_the_browser_refuses_the_lock(page, recorded):  # noqa: F811
    page.add_init_script(REFUSE_LOCK)
    open_task(page)
    page.locator("[data-start]").click()
    playing(page)
    x, y = middle(page)
    page.mouse.move(x, y)
    page.mouse.move(x + 40, y + 40)  # no button is held: nothing turns
    steps(page, 2)
    page.mouse.down()
    page.mouse.move(x + 20, y + 60, steps=7)
    steps(page, 2)
    page.mouse.up()
    page.mouse.move(x, y, steps=3)
    page.mouse.down(button="right")
    page.mouse.move(x + 100, y, steps=10)
    page.mouse.up(button="right")
    steps(page, 3)
    actions = recorded_actions(page, recorded)
    # 0.25 degrees a pixel: 20 to the left and 20 down, then 100 to the right.
    assert total_turn(actions) == [5.0, -5.0 + 25.0]
    assert pressed(actions, "attack") >= 2
    assert pressed(actions, "use") >= 1
    assert not any(action["attack"] for action in actions[-2:])


@locks_pointer
def test_the_locked_pointer_turns_and_escape_gives_it_back_and_pauses(page, recorded):  # noqa: F811
    open_task(page)
    box = page.locator("[data-start]").bounding_box()
    from_x, from_y = round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)
    page.mouse.click(from_x, from_y)
    playing(page)
    if page.evaluate("document.pointerLockElement === null"):
        pytest.skip("this Chromium locks no pointer")
    assert not page.locator("[data-hint]").is_visible()
    page.mouse.move(from_x + 80, from_y - 40, steps=8)
    page.mouse.down()
    steps(page, 2)
    page.mouse.up()
    steps(page, 2)
    page.keyboard.press("Escape")
    page.locator("#player[data-state=paused]").wait_for()
    assert page.evaluate("document.pointerLockElement") is None
    assert not page.locator("[data-ask]").is_visible()
    page.wait_for_timeout(300)
    page.keyboard.press("Escape")
    page.locator("[data-ask]").wait_for()
    page.locator("[data-ask-no]").click()
    playing(page)
    page.keyboard.press("KeyP")
    page.locator("#player[data-state=paused]").wait_for()
    page.wait_for_timeout(200)
    page.keyboard.press("x")
    playing(page)
    if page.evaluate("document.pointerLockElement !== null"):
        page.keyboard.press("Escape")
        page.locator("#player[data-state=paused]").wait_for()
        page.wait_for_timeout(300)
    actions = recorded_actions(page, recorded)
    assert pressed(actions, "attack") >= 2
    assert total_turn(actions) == [-10.0, 20.0]  # 0.25 degrees a pixel


def test_the_wheel_selects_and_the_menu_stays_away(page, recorded):  # noqa: F811
    page.add_init_script(REFUSE_LOCK)
    page.add_init_script("addEventListener('contextmenu', (event) => { window.menu = event.defaultPrevented })")
    open_task(page)
    page.keyboard.press("Enter")
    playing(page)
    x, y = middle(page)
    page.mouse.move(x, y)
    page.mouse.wheel(0, 100)
    steps(page, 4)
    page.mouse.wheel(0, 100)
    steps(page, 4)
    page.mouse.wheel(0, 100)
    steps(page, 4)
    page.mouse.click(x, y, button="right")
    until(page, "window.menu === true")
    steps(page, 2)
    actions = recorded_actions(page, recorded)
    selected = [name for action in actions for name in ("hotbar.1", "hotbar.2", "hotbar.3") if action[name]]
    assert list(dict.fromkeys(selected)) == ["hotbar.2", "hotbar.3", "hotbar.1"]
    assert len(selected) <= 9  # each for a step or two, three where the machine was slow
    assert pressed(actions, "use") >= 1


def test_leaving_the_window_lets_go_of_mouse_buttons(page, recorded):  # noqa: F811
    page.add_init_script(REFUSE_LOCK)
    open_task(page)
    page.keyboard.press("Enter")
    playing(page)
    page.mouse.move(*middle(page))
    page.mouse.down()
    steps(page, 3)
    page.evaluate("dispatchEvent(new Event('blur'))")
    page.locator("#player[data-state=paused]").wait_for()
    page.mouse.up()
    page.keyboard.press("x")
    playing(page)
    steps(page, 3)
    actions = recorded_actions(page, recorded)
    assert pressed(actions, "attack") >= 2
    assert not any(action["attack"] for action in actions[-3:])


@every_look
def test_the_keys_card_names_the_mouse(page, look):  # noqa: F811
    open_task(page)
    words = page.locator(".side .keys").text_content()
    for expected in ("mouse", "look around", "mouse left", "hit", "mouse right", "use", "ctrl", "1 … 3", "wheel"):
        assert expected in words
    assert "esc" not in words.replace("Esc", "")  # no key presses it
    assert fits(page)


def test_a_finger_on_the_picture_turns(chromium, server, recorded):
    context = chromium.new_context(base_url=server, **LOOKS["phone"])
    phone = context.new_page()
    phone.set_default_timeout(60_000)
    open_task(phone)
    phone.locator("[data-start]").tap()
    playing(phone)
    touch = context.new_cdp_session(phone)
    x, y = middle(phone)

    def send(kind: str, *points: tuple[float, float]) -> None:
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": px, "y": py} for px, py in points]})

    send("touchStart", (x, y))
    for step in range(1, 6):
        send("touchMove", (x + 8 * step, y))
    send("touchEnd")
    steps(phone, 3)
    box = phone.locator(".dpad").bounding_box()
    send("touchStart", (box["x"] + box["width"] / 2, box["y"] + 6))
    steps(phone, 3)
    send("touchEnd")
    steps(phone, 2)
    phone.locator("[data-finish]").tap()
    phone.locator("[data-ask-yes]").tap()
    phone.locator("[data-end-title]").wait_for()
    episode = recorded.get(phone.locator("[data-end-link]").get_attribute("href").rsplit("/", 1)[-1])
    actions = list(episode.actions())
    pitch, yaw = total_turn(actions)
    assert pitch == 0.0
    assert 10.0 <= yaw <= 20.0  # twice as far as a mouse; browsers swallow the first pixels of a finger's way
    assert pressed(actions, "forward") >= 2
    assert pressed(actions, "attack") == 0
    context.close()

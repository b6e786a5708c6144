"""The pages in a real Chromium, on a real server: a game is played, a match is answered, everything is looked at."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby

import pytest
import sqlalchemy as sa

from interplay.store import Answer
from interplay.web.pictures import PLACEHOLDER_SIZE

LOOKS = {
    "desktop": {"color_scheme": "light", "reduced_motion": "reduce", "viewport": {"width": 1240, "height": 860}},
    "phone": {
        "color_scheme": "light",
        "reduced_motion": "reduce",
        "viewport": {"width": 390, "height": 800},
        "device_scale_factor": 2,
        "is_mobile": True,
        "has_touch": True,
    },
}


@pytest.fixture
def look(request):
    """A desktop or a phone; a desktop where a test does not say."""
    return getattr(request, "param", "desktop")


every_look = pytest.mark.parametrize("look", LOOKS, indirect=True)


def journey_on_a_desktop(words: str):
    """On a desktop and on a phone, the first of which is a journey for these words of the README."""
    desktop = pytest.param("desktop", marks=pytest.mark.journey(words))
    return pytest.mark.parametrize("look", [desktop, "phone"], indirect=True)


locks_pointer = pytest.mark.parametrize("chromium", ["whole"], indirect=True)


@contextmanager
def opened(chromium, server: str, look: str, picture) -> Iterator:
    """A page that fails its test on any script error, and that can `shoot` itself."""
    context = chromium.new_context(base_url=server, **LOOKS[look])
    page = context.new_page()
    page.set_default_timeout(60_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console",
        lambda message: (
            errors.append(message.text) if message.type == "error" and "status of 404" not in message.text else None
        ),
    )
    page.on("request", lambda request: errors.append(request.url) if not is_ours(request.url, server) else None)

    def shoot(name: str) -> None:
        """Pictures of the page as it is, in light and in dark."""
        for colours in ("dark", "light"):
            page.emulate_media(color_scheme=colours)
            picture(page, f"{name}-{look}-{colours}")

    page.shoot = shoot
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def page(chromium, server, look, picture):
    """A page of a test's own."""
    with opened(chromium, server, look, picture) as page:
        yield page


def is_ours(url: str, server: str) -> bool:
    """Whether an address is on the server under test, or inside the page."""
    return url.startswith((server, "data:", "blob:"))


def until(page, expression: str, within_s: float = 60) -> None:
    """Wait until an expression holds; Playwright's own way needs `eval`, which our pages forbid."""
    deadline = time.monotonic() + within_s
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, f"this never came true in {within_s} s: {expression}"
        page.wait_for_timeout(50)


def fits(page) -> bool:
    """Whether nothing sticks out to the right of the window."""
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@every_look
def test_the_library_shows_each_task_with_a_picture_of_it(page):
    page.goto("/")
    images = page.locator(".tasks img")
    for index in range(images.count()):
        images.nth(index).scroll_into_view_if_needed()
    # The pictures of slow worlds are made now, by one process, which in a fresh clone compiles their kernels first; until then
    # placeholders stand there.
    is_real = f"i.complete && i.naturalWidth > 0 && i.naturalWidth !== {PLACEHOLDER_SIZE[0]}"
    until(page, f"[...document.images].every(i => {is_real})", within_s=240)
    assert page.get_by_role("heading", name="Space Invaders", exact=True).is_visible()
    assert fits(page)
    page.evaluate("scrollTo(0, 0)")
    page.shoot("library")


def start(page, task: str) -> None:
    page.goto(f"/play/{task}")
    page.locator("[data-start]").wait_for()
    page.keyboard.press("Enter")
    page.locator("#player[data-state=playing]").wait_for()


def painted_step(page) -> int:
    return int(page.locator("#player").get_attribute("data-step") or 0)


KEYS = """events => {
  for (const [type, code, repeat] of events)
    document.body.dispatchEvent(new KeyboardEvent(type, { code, key: code, repeat, bubbles: true, cancelable: true }));
}"""
"""Keys that go down and up at once: a test on a busy machine may be seconds late between two calls."""
KEYS_AT = """events => {
  const player = document.querySelector("#player");
  new MutationObserver(() => {
    while (events.length && Number(player.dataset.step) >= events[0][0]) {
      const [, type, code] = events.shift();
      document.body.dispatchEvent(new KeyboardEvent(type, { code, key: code, bubbles: true, cancelable: true }));
    }
  }).observe(player, { attributeFilter: ["data-step"] });
}"""
"""Keys that go down and up as soon as the page shows a step: the game may be over before a late test comes to it."""


@journey_on_a_desktop("your own, played in the browser")
def test_a_game_is_played_to_its_end_with_the_keyboard_and_watched_again(page, recorded, look):
    page.goto("/play/short/breakout")
    page.locator("[data-start]").wait_for()
    page.shoot("play-brief")
    page.keyboard.press("Enter")
    page.locator("#player:is([data-state=countdown], [data-state=playing])").wait_for()
    page.keyboard.down("Space")
    page.evaluate(KEYS_AT, [[10, "keyup", "Space"], [11, "keydown", "ArrowRight"], [40, "keyup", "ArrowRight"]])
    page.shoot("play-countdown")
    until(page, "Number(document.querySelector('#player').dataset.step) >= 20")
    page.shoot("play-playing")
    page.keyboard.up("Space")
    page.locator("[data-end-title]").wait_for()
    assert page.locator("[data-end-title]").inner_text() == "Time is up."
    shown = page.locator("[data-end] [data-shown]")
    shown.wait_for()
    last = int(shown.get_attribute("data-shown"))
    assert last > 20, "it shows how the game ended"
    page.keyboard.press(",")
    page.keyboard.press(",")
    page.locator(f"[data-end] [data-shown='{last - 2}']").wait_for()
    page.shoot("play-end")
    link = page.locator("[data-end-link]").get_attribute("href")
    episode = recorded.get(link.rsplit("/", 1)[-1])
    assert episode.actor_kind == "human"
    assert {1, 3} <= set(episode.actions().tolist())  # fire and right arrived
    (changes,) = [one.value for one in recorded.measures([episode])[episode.id] if one.name == "action_changes"]
    shown = page.locator("[data-end-statistics] tr", has_text="Action changes").first.locator("td").first
    assert shown.inner_text() == str(changes)
    page.goto(link)
    page.locator("[data-replay][data-shown]").wait_for()
    assert fits(page)
    page.shoot("episode")


def test_leaving_the_window_pauses_and_any_key_goes_on(page):
    start(page, "atari/space_invaders")
    folded = page.locator("[data-statistics]")  # on a phone the game has the whole screen
    folded.locator("summary").click()
    folded.locator("tr", has_text="Action changes").wait_for()
    assert page.evaluate("document.activeElement === document.body")  # the keys are the game's again
    page.keyboard.down("ArrowLeft")
    page.evaluate("dispatchEvent(new Event('blur'))")
    page.locator("#player[data-state=paused]").wait_for()
    page.wait_for_timeout(300)
    page.shoot("play-paused")
    before = painted_step(page)
    page.wait_for_timeout(400)
    assert painted_step(page) == before
    page.keyboard.press("x")
    page.locator("#player[data-state=playing]").wait_for()
    until(page, f"Number(document.querySelector('#player').dataset.step) > {before}")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Finish", exact=True).last.wait_for()
    page.shoot("play-ask")
    page.locator("[data-ask-yes]").click()
    page.locator("[data-end-title]").wait_for()
    assert page.locator("[data-end-title]").inner_text() == "You finished early."


def test_a_key_that_is_let_go_while_command_is_down_does_not_stay_pressed(page, recorded):
    """macOS tells of no such key: neither here."""
    start(page, "atari/breakout")
    page.evaluate("""() => {
      const key = (type, code, metaKey) => document.body.dispatchEvent(new KeyboardEvent(
        type, { code, key: code.replace("Left", ""), metaKey, bubbles: true, cancelable: true }));
      const now = () => Number(document.querySelector("#player").dataset.step);
      const at = (step, act) => now() >= step ? act() : setTimeout(at, 5, step, act);
      key("keydown", "ArrowLeft", false);
      const all = [
        () => key("keydown", "MetaLeft", true), // and ArrowLeft goes up
        () => key("keydown", "KeyA", false), // down before Command, as far as the page knows
        () => (key("keyup", "MetaLeft", false), window.isOver = true),
      ];
      const next = () => at(now() + 15, () => (all.shift()(), all.length && next())); // each seen by steps of its own
      next();
    }""")
    until(page, "window.isOver")
    until(page, f"Number(document.querySelector('#player').dataset.step) > {painted_step(page) + 20}")
    quit_game(page)
    actions = recorded.get(page.locator("[data-end-link]").get_attribute("href").rsplit("/", 1)[-1]).actions()
    left = [key for key, _ in groupby((actions == 4).tolist())]
    assert left in ([True, False, True, False], [False, True, False, True, False])


@pytest.mark.parametrize("look", ["phone"], indirect=True)
def test_a_phone_is_offered_what_does_something_there(page):
    page.goto("/play/atari/breakout")
    page.locator("[data-start]:not([disabled])").wait_for()
    shown = "spans => spans.map(one => one.dataset.button ?? one.dataset.direction)"
    assert page.locator("[data-touch] span").evaluate_all(shown) == ["LEFT", "RIGHT", "FIRE"]
    assert page.evaluate("getComputedStyle(document.querySelector('.bar nav')).maskImage") != "none"  # it continues
    page.goto("/play/basalt/find_cave")
    assert "(Enter)" not in page.locator("[data-brief]").inner_text()
    assert "say that you are done." in page.locator("[data-brief]").inner_text()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1366, 650)])
@pytest.mark.parametrize("task", ["atari/space_invaders", "gymnasium/pendulum", "gymnasium/frozen_lake"])
def test_the_picture_fills_its_room_and_never_grows_out_of_the_window(page, task, width, height):
    page.set_viewport_size({"width": width, "height": height})
    start(page, task)
    canvas, card = page.locator("[data-view] canvas").first, page.locator("[data-screen]")
    before = canvas.bounding_box()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft", delay=100)
    until(page, f"Number(document.querySelector('#player').dataset.step) >= {painted_step(page)}")
    assert canvas.bounding_box() == before
    assert before["height"] > 0.9 * (height - 16 - page.locator(".strip").bounding_box()["height"])
    assert card.bounding_box()["y"] >= 0
    assert card.bounding_box()["y"] + card.bounding_box()["height"] <= height
    side = page.locator(".side > :not([hidden])").first.bounding_box()
    assert side["y"] == pytest.approx(card.bounding_box()["y"], abs=0.5)


def test_a_game_started_in_a_frame_that_has_no_focus_runs_until_the_frame_is_left(page):
    page.context.grant_permissions(["local-network-access"])  # what is put in for an answer comes from no address
    page.route("**/frame", lambda route: route.fulfill(content_type="text/html", body=FRAME))
    page.route("**/play/atari/breakout", unframed)
    page.goto("/frame")
    frame = page.frame("game")
    frame.locator("[data-start]:not([disabled])").wait_for()
    page.locator("input").focus()
    frame.evaluate("document.querySelector('[data-start]').click()")
    until(frame, "Number(document.querySelector('#player').dataset.step) >= 10")
    assert not frame.evaluate("document.hasFocus()")
    assert frame.locator("#player").get_attribute("data-state") == "playing"
    frame.locator("[data-view] canvas").click()  # which gives it the focus
    page.locator("input").focus()
    frame.locator("#player[data-state=paused]").wait_for()
    frame.locator("[data-cover]").click()
    frame.locator("#player[data-state=playing]").wait_for()


FRAME = """<!doctype html><title>Another page</title><input>
<iframe name="game" width="1100" height="780" src="/play/atari/breakout"></iframe>"""


def unframed(route) -> None:
    """Let a page be shown in a frame, which ours refuse of themselves."""
    answer = route.fetch()
    headers = {name: value for name, value in answer.headers.items() if name != "content-security-policy"}
    route.fulfill(response=answer, headers=headers)


REASON = (
    "The right player kept the ball in play for much longer and moved the paddle in time, while the left one hardly hit it."
)


@every_look
def test_a_match_is_watched_and_answered_and_the_next_one_comes(page, recorded):
    page.goto("/judge?task=atari/breakout")
    page.locator("#judge[data-state=match]").wait_for()
    until(page, "[...document.querySelectorAll('video')].every(v => v.readyState >= 3)")
    until(page, "document.querySelector('[data-submit]').textContent.startsWith('Watch ')")
    assert page.locator("[data-submit]").is_disabled()
    page.shoot("judge-start")
    page.keyboard.press("Space")
    until(page, "Number(document.querySelector('[data-scrub]').value) > 0.5")
    page.keyboard.press("Space")
    page.locator("[data-speed]").select_option("5")
    page.keyboard.press("Space")
    until(page, "document.querySelector('#judge').dataset.watched === 'enough'")
    page.locator("[data-submit]").click()
    assert page.locator("[data-error=reason]").is_visible()
    assert page.locator("[data-error=outcome]").is_visible()
    page.shoot("judge-errors")
    for group in page.locator("[role=radiogroup]").all():
        group.locator("label").first.click()
    page.locator("[data-reason]").fill(REASON)
    assert page.locator("[data-counter]").inner_text() == f"{len(REASON)} / 100 characters"
    page.locator("[data-headline]").click()
    page.keyboard.press("3")
    page.reload()  # the draft survives
    page.locator("#judge[data-state=match]").wait_for()
    assert page.locator("[data-reason]").input_value() == REASON
    assert page.locator("input[name=overall][value=right]").is_checked()
    until(page, "[...document.querySelectorAll('video')].every(v => v.readyState >= 3)")
    page.shoot("judge-filled")
    before = count_answers(recorded)
    page.keyboard.press("Control+Enter")
    until(page, "document.querySelector('[data-progress]').textContent.startsWith('1 comparison')")
    assert count_answers(recorded) == before + 1
    assert page.locator("#judge").get_attribute("data-state") in ("match", "empty")
    assert fits(page)
    notice = page.locator("[data-thanks] .notice")
    assert "Your last answer: the right player did better." in notice.inner_text()
    page.shoot("judge-undo")
    notice.get_by_role("button", name="Undo and change it").click()
    until(page, "!document.querySelector('[data-thanks] .notice')")
    page.locator("#judge[data-state=match]").wait_for()
    assert page.locator("[data-reason]").input_value() == REASON
    assert page.locator("input[name=overall][value=right]").is_checked()


def test_yes_and_no_have_keys_and_a_pair_can_be_skipped(page):
    page.goto("/judge?task=atari/breakout")
    page.locator("#judge[data-state=match]").wait_for()
    for key, value in (("y", "yes"), ("n", "no")):
        name = page.locator(".seg.marked input").first.get_attribute("name")
        page.keyboard.press(key)
        assert page.locator(f"input[name='{name}'][value={value}]").is_checked()
    assert page.locator(".seg.marked input").first.get_attribute("name") != name
    with page.expect_response("**/release") as given_back:
        page.keyboard.press("s")
    assert given_back.value.json()["state"] == "released"
    page.locator("#judge:not([data-state=loading])").wait_for()
    assert page.locator("input:checked[type=radio]").count() == 0
    assert page.evaluate("Object.keys(localStorage).filter(k => k.startsWith('interplay.draft.'))") == []


def test_a_draft_is_gone_on_with_after_its_match_went_back(page):
    page.goto("/judge?task=atari/breakout")
    page.locator("#judge[data-state=match]").wait_for()
    page.locator("[data-reason]").fill(REASON)
    page.evaluate(
        "fetch(`/api/judge/matches/${Object.keys(localStorage).find(k => k.startsWith('interplay.draft.')).slice(16)}/release`,"
        " {method: 'POST'}).then(r => { window.released = r.ok })"
    )
    until(page, "window.released === true")
    page.evaluate("localStorage.setItem('interplay.draft.' + '0'.repeat(24), '{}')")  # of a match that never was
    page.reload()
    page.locator("#judge[data-state=match]").wait_for()
    assert page.locator("[data-reason]").input_value() == REASON
    page.evaluate("localStorage.clear()")  # what was given back is over for the server
    page.reload()
    page.locator("#judge[data-state=match]").wait_for()
    assert page.locator("[data-reason]").input_value() == ""


def count_answers(archive) -> int:
    with archive.database.read() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(Answer))


@every_look
def test_the_leaderboard_shows_intervals_after_an_answer(page):
    page.goto("/leaderboard")
    page.locator(".tabs").wait_for()
    page.shoot("leaderboard")
    page.get_by_role("link", name="Breakout").click()
    page.wait_for_url("**/leaderboard?task=atari/breakout")
    page.locator(".tabs [aria-current]", has_text="Breakout").wait_for()
    assert fits(page)


@every_look
def test_the_catalogue_filters_without_a_reload(page):
    page.goto("/episodes")
    page.shoot("episodes")
    page.evaluate("window.sameDocument = true")
    page.get_by_label("Played by").select_option("scripted")
    page.wait_for_url(re.compile("actor=scripted"))
    until(page, "[...document.querySelectorAll('tbody tr')].every(r => r.innerText.includes('scripted'))")
    assert page.evaluate("window.sameDocument") is True
    assert fits(page)


def test_a_reload_in_the_middle_of_a_game_goes_on_where_it_was(page):
    start(page, "atari/breakout")
    until(page, "Number(document.querySelector('#player').dataset.step) > 20")
    before = painted_step(page)
    page.reload()
    page.get_by_text("Your game is still waiting for you.").wait_for()
    page.keyboard.press("Enter")
    page.locator("#player[data-state=playing]").wait_for()
    until(page, f"Number(document.querySelector('#player').dataset.step) > {before}")
    assert painted_step(page) < before + 600
    quit_game(page)


def test_a_game_comes_back_by_itself_when_the_socket_breaks(page):
    page.add_init_script(
        "const Real = WebSocket; window.sockets = [];"
        "window.WebSocket = class extends Real { constructor(...args) { super(...args); window.sockets.push(this); } };"
    )
    start(page, "atari/breakout")
    until(page, "Number(document.querySelector('#player').dataset.step) > 10")
    page.evaluate("sockets.at(-1).close(4000)")
    until(page, "sockets.length === 2")
    page.locator("#player[data-state=paused], #player[data-state=playing]").wait_for()
    if page.locator("#player[data-state=paused]").count():
        page.keyboard.press("x")
    before = painted_step(page)
    until(page, f"Number(document.querySelector('#player').dataset.step) > {before + 10}")
    quit_game(page)


def quit_game(page) -> None:
    page.keyboard.press("Escape")
    page.locator("[data-ask-yes]").click()
    page.locator("[data-end-title]").wait_for()


OUTSIDE = """[...document.querySelectorAll(
    ".screen :is(canvas, button, .strip, .dpad, .look, [data-button], [data-act])")].filter((one) => {
      const { width, left, top, right, bottom } = one.getBoundingClientRect();
      return width && (left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1);
    })"""
"""Controls of a game that are not on the screen, in JavaScript."""


def check_that_all_controls_are_on_the_screen(page, pad: str = ".dpad") -> None:
    """Of a running game on a phone, upright and lying; it stays as the phone was held before."""
    before = page.viewport_size
    for width, height in ((390, 844), (844, 390)):
        page.set_viewport_size({"width": width, "height": height})
        until(page, f"innerWidth === {width} && {OUTSIDE}.length === 0")  # the page fits the picture to its new size
        assert page.locator(pad).is_visible()
        reached = page.locator(pad).evaluate("""(pad) => {
          const { left, top, width, height } = pad.getBoundingClientRect();
          return pad.contains(document.elementFromPoint(left + width / 2, top + height / 2));
        }""")
        assert reached, "something lies over the stick"
    page.set_viewport_size(before)


def test_fingers_press_the_buttons_of_a_phone(chromium, server, recorded, picture):
    context = chromium.new_context(base_url=server, **LOOKS["phone"])
    page = context.new_page()
    page.goto("/play/atari/breakout")
    page.locator("[data-start]").tap()
    page.locator("#player[data-state=playing]").wait_for(timeout=60_000)
    touch = context.new_cdp_session(page)

    def hold(selector: str) -> None:
        box = page.locator(selector).bounding_box()
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        page.wait_for_timeout(300)
        picture(page, "play-touch-phone")
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    check_that_all_controls_are_on_the_screen(page, "[data-button=RIGHT]")  # up and down do nothing here
    hold("[data-button=FIRE]")
    hold("[data-button=RIGHT]")
    hold("[data-button=LEFT]")
    page.locator("[data-finish]").tap()
    page.locator("[data-ask-yes]").tap()
    page.locator("[data-end-title]").wait_for()
    episode = recorded.get(page.locator("[data-end-link]").get_attribute("href").rsplit("/", 1)[-1])
    assert {0, 1, 3, 4} <= set(episode.actions().tolist())  # nothing, fire, right, left
    assert episode.actions()[-1] == 0  # lifted fingers hold nothing
    context.close()


def test_the_colours_are_the_visitors_choice_and_remembered(chromium, server):
    context = chromium.new_context(base_url=server, color_scheme="light")
    page = context.new_page()
    page.goto("/")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.locator("[data-theme-toggle]").click()
    dark = page.evaluate(paper)
    assert dark != light
    page.goto("/leaderboard")
    assert page.evaluate(paper) == dark
    page.locator("[data-theme-toggle]").click()
    assert page.evaluate(paper) == light
    assert page.evaluate("localStorage.getItem('interplay.theme')") is None  # the system's choice again
    context.close()


def test_an_unknown_address_says_so_and_leads_back(page):
    response = page.goto("/play/atari/breakot")
    assert response.status == 404
    assert page.get_by_role("link", name="Breakout").get_attribute("href") == "/play/atari/breakout"
    page.shoot("not-found")

"""A class in real browsers: a teacher's page, two pupils, a real game, words to the operator, and the high scores after it."""

import re
import time

import pytest

from interplay.play.connections.tokens import server_secret
from interplay.record.verification import proofs
from interplay.study.classes import Classes
from interplay.study.feedback import FeedbackBox
from interplay.study.tokens import teacher_key

SECOND_S = 60_000
CHECKED_WITHIN_S = 180.0
"""The process that checks games gives way to everything that a busy machine does."""


def finish_a_game(page) -> None:
    """Start by the keyboard, serve, and let the three seconds pass."""
    page.wait_for_selector("[data-start]:not([disabled])")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-state]:text('playing')")
    page.keyboard.press("Space")
    page.wait_for_selector("[data-end]:not([hidden])")


@pytest.mark.journey("a class with one code")
def test_a_class_plays_and_its_teacher_sees_it(recorded, chromium, windows, server, picture):
    classes = Classes(recorded.database)
    made = classes.open("Class 9b", ["short/breakout", "together/cooperative_pong"])
    ada, bo = windows
    teacher = chromium.new_context(base_url=server, viewport={"width": 1240, "height": 860}).new_page()
    teacher.set_default_timeout(SECOND_S)
    teacher.goto(f"/classes/{made.code}?key={teacher_key(server_secret(recorded.root), made.code)}")
    assert "Nobody has joined yet" in teacher.content()

    # By the keyboard alone: the code, the nickname.
    ada.goto("/join")
    ada.keyboard.type(made.shown_code.lower())
    ada.keyboard.press("Enter")
    ada.wait_for_selector("#nickname")
    ada.keyboard.press("Control+A")
    ada.keyboard.type("Ada Cat")
    ada.keyboard.press("Enter")
    ada.wait_for_url("**/class")
    bo.goto(f"/join/{made.shown_code}")
    bo.click("button.go")
    teacher.wait_for_selector(".tile.here:has-text('Ada Cat')")

    ada.click("a[aria-label='Play Three seconds of Breakout']")
    teacher.wait_for_selector(".tile.waiting:has-text('reads the rules')")
    finish_a_game(ada)
    assert not ada.query_selector("[data-compare]")
    teacher.wait_for_selector(".ranks li:has-text('Ada Cat')")
    assert [game.task for game in classes.pupils(made)[0].games] == ["short/breakout"]

    # A game for two: pupils of one class find each other.
    for page in (ada, bo):
        page.goto("/class/play/together/cooperative_pong")
        page.wait_for_selector("[data-start]:not([disabled])")
        page.keyboard.press("Enter")
    for page in (ada, bo):
        page.wait_for_selector("[data-state]:text('playing')")
    teacher.wait_for_function("document.querySelectorAll('.tile.playing').length === 2")
    picture(teacher, "class_playing")
    assert ada.request.post("/api/sessions", data={"task": "atari/breakout"}).status == 409  # the class does not play it

    # Words to the operator, over the game, which waits.
    ada.click("[data-feedback]")
    ada.wait_for_selector("[data-feedback-dialog][open]")
    ada.keyboard.type("the ball p h is <b>stuck</b>")
    ada.click("[data-feedback-send]")
    ada.wait_for_selector("[data-feedback-said]:text('Thank you')")
    picture(ada, "feedback_dialog", full_page=False)
    ada.keyboard.press("Escape")
    [said] = FeedbackBox(recorded.database).all()
    assert (said.words, said.study, said.page) == (
        "the ball p h is <b>stuck</b>",
        made.code,
        "/class/play/together/cooperative_pong",
    )

    # Another pupil at the same window plays a game of their own.
    ada.goto("/class")
    ada.click("text=Leave the class")
    ada.goto(f"/join/{made.shown_code}")
    ada.click("button.go")
    ada.wait_for_url("**/class")
    ada.goto("/class/play/together/cooperative_pong")
    ada.wait_for_selector("[data-start]:not([disabled])")
    ada.keyboard.press("Enter")
    ada.wait_for_selector("[data-lobby]:not([hidden])")

    teacher.once("dialog", lambda dialog: dialog.accept())
    teacher.click("text=Close the class")
    teacher.wait_for_selector("text=This class has ended")
    ada.goto("/class")
    assert "Your class has ended" in ada.content()
    teacher.context.close()


def test_who_plays_alone_and_to_the_end_stands_in_the_high_scores_once_the_game_was_checked(recorded, windows, picture):
    page, other = windows
    page.goto("/play/short/breakout")
    finish_a_game(page)
    episode = re.search(r"/episodes/([\w-]+)", page.get_attribute("[data-end-link]", "href"))[1]
    page.locator("[data-end-place] dt", has_text="your place").wait_for(timeout=1000 * CHECKED_WITHIN_S)
    picture(page, "end_place")
    for one in (page, other):
        one.goto("/scores/short/breakout")
    page.wait_for_selector("text=your place")
    assert "You have no game here" in other.content()
    deadline = time.monotonic() + CHECKED_WITHIN_S
    while not page.query_selector(".ranks li.own"):
        assert time.monotonic() < deadline
        page.wait_for_timeout(250)
        page.reload()
    assert page.query_selector(".ranks li.own a").get_attribute("href") == f"/episodes/{episode}"
    assert proofs.kept(recorded.root, episode, recorded.get(episode).sha256) is True
    picture(page, "scores_own")

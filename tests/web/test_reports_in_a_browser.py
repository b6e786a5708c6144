"""The judging page of a game of several seats in a real Chromium: whom to watch, and thanks for a report of a problem."""

from datetime import UTC, datetime

import pytest
from agents_world import mp4
from test_pages_in_a_browser import until
from web_server import serving

import interplay.record
from interplay.judge.entrants import uploads
from interplay.store.entrants import admit
from interplay.tasks import find

TASK = find("together/cooperative_pong")
AGENTS = ("ada", "bob")


@pytest.fixture
def page(chromium, tmp_path):
    """A judge's page, on a server with one pair of videos of a game that two play."""
    archive = interplay.record.open(tmp_path / "data")
    file = tmp_path / "a.mp4"
    for number, agent in enumerate(AGENTS):
        file.write_bytes(mp4(60 * number, num_frames=40))
        uploads.add_video(archive, TASK, agent, TASK.held_out_seeds[0], file)
        with archive.database.write() as session:
            admit(session, name=agent, task=TASK.id, kind="agent", now=datetime.now(UTC))
    archive.close()
    errors: list[str] = []
    with serving(tmp_path / "data", tmp_path, {}) as address:
        context = chromium.new_context(base_url=address, viewport={"width": 1240, "height": 860})
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
        context.close()
    assert errors == []


def test_a_judge_is_told_whom_to_watch_and_thanked_for_a_report_by_keyboard_alone(page, picture):
    page.goto(f"/judge?task={TASK.id}")
    page.locator("#judge[data-state=match]").wait_for()
    assert "Watch the left player in both videos" in page.locator("[data-seat]").inner_text()
    assert not [name for name in AGENTS if name in page.locator("#judge").inner_text()]
    thanks = page.get_by_role("status").filter(has_text="Thank you for your report")
    assert thanks.count() == 0
    page.locator("[data-report]").focus()
    page.keyboard.press("Enter")
    page.locator("[data-ask][open]").wait_for()
    page.get_by_label("I know who one of the players is").focus()
    page.keyboard.press("Space")
    page.locator("[data-ask-yes]").focus()
    page.keyboard.press("Enter")
    thanks.wait_for()
    assert "the people who run the server read it" in thanks.inner_text()
    assert "Here is another pair." in thanks.inner_text()
    until(page, "document.activeElement === document.querySelector('[data-headline]')")
    picture(page, "thanks-for-a-report")

"""A run of a language model read in a real Chromium: the replay moves, and what was said and pressed moves with it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from test_pages_in_a_browser import every_look, fits, look, page, until  # noqa: F401 (fixtures)
from web_server import serving

from interplay.explore.evaluation.runs import read_all

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LOAD_S = 240
"""A machine that has never run the block world compiles it first."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """One run of 40 ticks, with refused replies."""
    folder = tmp_path_factory.mktemp("run")
    arguments = ("explore/0013", "--model", "scripted/careless", "--steps", "40", "--data", str(folder))
    # In a process of its own: Playwright's event loop runs in this one.
    subprocess.run([sys.executable, "-m", "interplay.cli", "explore", "run", *arguments], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def server(data, tmp_path_factory):
    with serving(data, tmp_path_factory.mktemp("serve-run"), {}) as address:
        yield address


@pytest.fixture
def run(data) -> dict:
    (found,) = read_all(data)
    return {"id": found.header["run"], "asked": found.end["asked"], "num_steps": found.end["num_steps"]}


@every_look
def test_a_run_is_read_call_by_call(page, run):  # noqa: F811
    page.goto(f"/explore/runs/{run['id']}")
    page.get_by_role("link", name="see it", exact=True).click()
    page.get_by_role("button", name="Show it now").click()
    page.goto(f"/explore/runs/{run['id']}")
    page.locator("[data-replay][data-shown]").wait_for(timeout=LOAD_S * 1000)
    document = json.loads(page.request.get(f"/api/explore/runs/{run['id']}").body())
    calls = document["calls"]
    at = lambda: int(page.locator("[data-replay]").get_attribute("data-shown"))  # noqa: E731
    number = lambda: int(page.locator("[data-call-number]").text_content().split()[1])  # noqa: E731

    # It opens where all was still well.
    assert at() == document["opens_at"]

    # Who scrubs sees the call of the tick, and what was taken until then.
    page.evaluate("""() => {
      const scrub = document.querySelector("[data-scrub]");
      scrub.value = "20";
      scrub.dispatchEvent(new Event("input", { bubbles: true }));
    }""")
    until(page, "document.querySelector('[data-replay]').dataset.shown === '20'")
    shown = calls[number() - 1]
    assert shown["tick"] == 20
    assert page.locator("[data-words]").text_content() == (shown["words"] or "(no words)")
    read = sum(call["input_tokens"] for call in calls[: number()])
    assert page.locator("[data-totals] tr").first.locator("td").nth(1).text_content() == f"{read:,}"

    # The next call, by its key: refused replies are calls of the same tick.
    before = number()
    page.keyboard.press("n")
    until(page, f"document.querySelector('[data-call-number]').textContent.startsWith('Call {before + 1} ')")
    assert f"tick {calls[before]['tick']}" in page.locator("[data-call-ticks]").text_content()
    refused = next(place for place, call in enumerate(calls) if call["is_refused"])
    page.keyboard.press("Home")
    until(page, "document.querySelector('[data-replay]').dataset.shown === '0'")
    while number() > 1:
        page.keyboard.press("p")
    for _ in range(refused):
        page.keyboard.press("n")
    assert number() == refused + 1
    assert "refused" in page.locator("[data-reply]").text_content()

    # The next milestone, by its key; and the way that was walked.
    reached = sorted(one["tick"] for one in document["milestones"] if one["tick"] is not None)
    page.keyboard.press("End")
    until(page, f"document.querySelector('[data-replay]').dataset.shown === '{run['num_steps']}'")
    page.keyboard.press("m")
    if reached:
        until(page, f"document.querySelector('[data-replay]').dataset.shown === '{reached[0]}'")
    assert page.locator("[data-marks] g").count() == len(document["milestones"])
    assert page.locator("[data-map] polyline.until").count() == 1
    assert fits(page)
    page.shoot("explore-run")


@every_look
def test_boards_and_tasks_fit(page):  # noqa: F811
    pages = {
        "board": "/explore",
        "task": "/explore/tasks/0006",
        "hard-task": "/explore/tasks/hard_0000",
        "ratings": "/leaderboard/explore",
    }
    for name, path in pages.items():
        page.goto(path)
        if name.endswith("task"):
            page.get_by_role("button", name="Show it now").click()
            page.locator("svg.graph").wait_for()
        assert fits(page), path
        page.shoot(f"explore-{name}")

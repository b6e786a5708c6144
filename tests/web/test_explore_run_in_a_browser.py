"""A run of a language model read in a real Chromium: the replay moves, and what was said and pressed moves with it."""

import json
import time

import pytest
from test_pages_in_a_browser import every_look, fits, journey_on_a_desktop, look, page, until  # noqa: F401 (fixtures)
from web_server import serving

from interplay.cli import main
from interplay.explore.evaluation.runs import read_all

LOAD_S = 240
"""A machine that has never run the block world compiles it first."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A run of 40 ticks with refused replies, and one of 60 that reaches its milestone, with a proof of that."""
    folder = tmp_path_factory.mktemp("run")
    for arguments in (
        ("run", "explore/0013", "--model", "scripted/careless", "--steps", "40"),
        ("run", f"explore/{REACHED}", "--model", "scripted/ahead", "--steps", "60"),
        ("prove", f"explore/{REACHED}"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["explore", *arguments, "--data", str(folder)])
        assert not stop.value.code
    return folder


@pytest.fixture(scope="module")
def chromium(data, chromium):
    """After the run, which has an event loop of its own."""
    return chromium


@pytest.fixture(scope="module")
def server(data, tmp_path_factory):
    with serving(data, tmp_path_factory.mktemp("serve-run"), {}) as address:
        yield address


REACHED = "0127"
"""Who walks ahead and hits what is there mines its blackstone."""


def run_of(data, task: str) -> dict:
    (found,) = (run for run in read_all(data)[0].values() if run.header["task"] == f"explore/{task}")
    return {
        "id": found.header["run"],
        "asked": found.end["asked"],
        "num_steps": found.end["num_steps"],
        "reached": found.end["reached"],
    }


@journey_on_a_desktop("runs of language models with results")
def test_a_run_is_read_call_by_call(page, data):  # noqa: F811
    run = run_of(data, "0013")
    page.goto(f"/explore/runs/{run['id']}")
    page.get_by_role("link", name="see it", exact=True).click()
    page.get_by_role("button", name="Show it now").click()
    page.goto(f"/explore/runs/{run['id']}")
    page.locator("[data-replay][data-shown]").wait_for(timeout=LOAD_S * 1000)
    document = json.loads(page.request.get(f"/api/explore/runs/{run['id']}").body())
    calls = document["calls"]
    at = lambda: int(page.locator("[data-replay]").get_attribute("data-shown"))  # noqa: E731
    number = lambda: int(page.locator("[data-call-number]").text_content().split()[1])  # noqa: E731

    # It opens where all was still well: at the first of the two milestones, which is reached by turning round.
    assert list(run["reached"]) == ["find_lapis_block"]
    assert at() == run["reached"]["find_lapis_block"]

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

    # The end, and the way that was walked.
    page.keyboard.press("End")
    until(page, f"document.querySelector('[data-replay]').dataset.shown === '{run['num_steps']}'")
    assert page.locator("[data-marks] g").count() == len(document["milestones"])
    assert page.locator("[data-map] polyline.until").count() == 1
    assert fits(page)
    page.shoot("explore-run")


@every_look
def test_a_run_stands_beside_the_proof_and_shows_what_was_carried_and_judged(page, data):  # noqa: F811
    run = run_of(data, REACHED)
    (tick,) = run["reached"].values()
    shown = lambda which, step: until(page, f"document.querySelector('[{which}]').dataset.shown === '{step}'")  # noqa: E731
    page.goto(f"/explore/runs/{run['id']}")
    page.get_by_role("link", name="see it", exact=True).wait_for()
    assert page.locator("[data-show-proof]").count() == 0, "not to who may still play it"
    assert page.locator("[data-rules]").count() == 0
    page.goto(f"/explore/tasks/{REACHED}")
    page.get_by_role("button", name="Show it now").click()
    page.locator("svg.graph").wait_for()

    # The proof is judged when somebody first asks for it.
    oracle = lambda: json.loads(page.request.get(f"/api/explore/runs/{run['id']}").body())["milestones"][0]["oracle"]  # noqa: E731
    deadline = time.monotonic() + LOAD_S
    while (proved := oracle()) is None:
        assert time.monotonic() < deadline, "the proof was not judged"
        time.sleep(0.25)

    # It opens at the milestone; what was judged then is said, and one tick before it.
    page.goto(f"/explore/runs/{run['id']}")
    page.locator("[data-replay][data-shown]").wait_for(timeout=LOAD_S * 1000)
    shown("data-replay", tick)
    rules = page.locator("[data-rules]")
    assert rules.text_content() == "✓ carries blackstone: 1 of 1"
    assert "blackstone" in page.locator("[data-carried]").text_content()
    page.keyboard.press(",")
    shown("data-replay", tick - 1)
    assert rules.text_content() == "– carries blackstone: 0 of 1"
    assert "blackstone" not in page.locator("[data-carried]").text_content()
    page.keyboard.press("End")
    shown("data-replay", run["num_steps"])
    assert "as it was at tick" in rules.text_content()
    page.keyboard.press("m")
    shown("data-replay", tick)

    # The proof goes along, from the beginning and from the milestone, and hears no keys itself.
    page.locator("[data-show-proof]").click()
    page.locator("[data-proof][data-shown]").wait_for(timeout=LOAD_S * 1000)
    page.keyboard.press("Home")
    shown("data-proof", 0)
    page.keyboard.press(".")
    shown("data-proof", 1)
    page.locator("[data-align]").select_option("1")
    shown("data-replay", tick)
    shown("data-proof", proved)
    assert f"Oracle: tick {proved} of" in page.locator("[data-proof-tick]").text_content()
    pictures = page.evaluate("""() => ["[data-here]", "[data-replay] canvas"].map((which) => {
      const canvas = document.querySelector(which);
      return [...canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data].join();
    })""")
    assert pictures[0] == pictures[1], "the run's picture is beside it"
    assert fits(page)
    page.shoot("explore-run-beside")


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

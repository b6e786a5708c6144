"""A person plays, agrees to be compared, is judged blind against an agent by somebody else, and is on the leaderboard."""

from datetime import UTC, datetime

import numpy as np
import pytest
from conftest import SHORT_SUITE
from test_pages_in_a_browser import REASON, until
from web_server import serving

import interplay.record
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.play.connections.tokens import operator_token
from interplay.record.films.film import film
from interplay.store.entrants import admit
from interplay.tasks import parse_suite

TASK = parse_suite(SHORT_SUITE).tasks[0]


@pytest.fixture
def archive(tmp_path):
    """An agent has played both held-out seeds."""
    archive = interplay.record.open(tmp_path / "data")
    for seed in TASK.held_out_seeds:
        film(archive, rollout(archive, TASK, find_agent("random", archive), seed, rng=np.random.default_rng(seed)).id)
    with archive.database.write() as session:
        admit(session, name="random", task=TASK.id, kind="agent", now=datetime.now(UTC))
    yield archive
    archive.close()


@pytest.fixture
def server(archive, tmp_path):
    """People play on held-out seeds only."""
    with serving(archive.root, tmp_path, {"short": SHORT_SUITE}, "--held-out-share", "1") as address:
        yield address


def reload_until_served(page) -> None:
    """Games are filmed in the background: on a busy machine there is no pair at first."""
    for _ in range(60):
        page.reload()
        page.locator("#judge:not([data-state=loading])").wait_for()
        if page.locator("#judge[data-state=match]").count():
            return
        page.wait_for_timeout(1000)
    pytest.fail("no pair was served")


@pytest.mark.journey("blind comparisons of agents and of people")
def test_a_person_who_agrees_is_judged_against_an_agent_and_found_on_the_leaderboard(windows, archive, picture):
    player, judge = windows
    player.goto(f"/play/{TASK.id}")
    player.locator("[data-start]:not([disabled])").press("Enter")
    player.locator("#player[data-state=playing]").wait_for()
    player.keyboard.press("Space")
    question = player.locator("[data-compare]")
    question.wait_for()
    picture(player, "may-we-compare")
    (episode,) = archive.episodes(actor="human")
    assert episode.seed in TASK.held_out_seeds
    judge.goto(f"/judge?task={TASK.id}")
    judge.locator("#judge[data-state=empty]").wait_for()  # nobody has agreed: there is nobody to compare the agent with
    question.get_by_role("button", name="No", exact=True).click()
    player.locator("[data-compare-said]", has_text="Your game is not compared.").wait_for()
    judge.reload()
    judge.locator("#judge[data-state=empty]").wait_for()
    question.get_by_role("button", name="Yes", exact=True).click()
    player.locator("[data-compare-said]", has_text="Thank you. Your game may be compared.").wait_for()
    reload_until_served(judge)
    until(judge, "[...document.querySelectorAll('video')].every(v => v.readyState >= 3)", within_s=60)
    seen = judge.locator("#judge").inner_text()
    assert not [name for name in ("random", "anonymous", "participant", episode.id) if name in seen]
    question.get_by_role("button", name="No", exact=True).click()
    player.locator("[data-compare-said]", has_text="Your game is not compared.").wait_for()
    assert judge.request.get(judge.locator("video").first.evaluate("v => v.src")).status == 410
    judge.evaluate("dispatchEvent(new Event('visibilitychange'))")  # a sign of life
    judge.locator("[data-thanks]", has_text="does not want it to be compared any more.").wait_for()
    judge.locator("#judge[data-state=empty]").wait_for()  # there is no other pair
    question.get_by_role("button", name="Yes", exact=True).click()
    player.locator("[data-compare-said]", has_text="Thank you. Your game may be compared.").wait_for()
    reload_until_served(judge)
    until(judge, "[...document.querySelectorAll('video')].every(v => v.readyState >= 3)", within_s=60)
    judge.locator("[data-speed]").select_option("5")
    judge.locator("[data-headline]").click()
    judge.keyboard.press("Space")
    until(judge, "document.querySelector('#judge').dataset.watched === 'enough'", within_s=60)
    for group in judge.locator("[role=radiogroup]").all():
        group.locator("label").first.click()
    judge.locator("[data-reason]").fill(REASON)
    until(
        judge,
        "document.querySelector('[data-submit]').textContent.trim().startsWith('Submit') &&"
        " !document.querySelector('[data-submit]').textContent.includes(' in ')",
        within_s=60,
    )
    judge.keyboard.press("Control+Enter")
    until(judge, "document.querySelector('[data-progress]').textContent.startsWith('1 comparison')")
    # Everybody else sees the board move in steps of ten answers.
    judge.set_extra_http_headers({"Authorization": f"Bearer {operator_token(archive.root)}"})
    judge.goto(f"/leaderboard?task={TASK.id}")
    for name in ("people", "random"):
        judge.locator("table.board tbody tr", has_text=name).wait_for()
    picture(judge, "people-on-the-leaderboard")

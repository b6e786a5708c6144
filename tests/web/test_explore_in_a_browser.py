"""A person plays an instance of `explore` by keys alone, is told nothing but the goal, and then sees what was reached."""

import json
from functools import partial

import httpx
import pytest
from hidden_parts import hidden_parts
from web_server import serving

import interplay.record
from interplay.explore import judgement_cache, published
from interplay.explore.results.references import first_attempts

CORRIDOR = "explore/0116"
"""Three things to find in a straight corridor: whoever walks ahead reaches them all."""
WALK_STEPS = 120
PATIENCE_MS = 300_000
"""A machine that has never run the block world compiles it first."""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server's address and its data folder."""
    archive = interplay.record.open(tmp_path_factory.mktemp("explore"))
    with serving(archive.root, tmp_path_factory.mktemp("serve-explore"), {}) as address:
        yield address, archive
    archive.close()


@pytest.mark.journey("people who play the same tasks")
def test_a_person_walks_the_corridor_and_sees_all_milestones_reached(served, chromium, picture):
    address, archive = served
    sent: list[str] = []
    context = chromium.new_context(base_url=address, viewport={"width": 1240, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: sent.append(_text(data))))
    try:
        page.goto("/")
        page.get_by_role("link", name="Explore: choose a task").focus()
        picture(page, "explore-library")
        page.keyboard.press("Enter")
        page.wait_for_url("**/explore")
        page.goto(f"/play/{CORRIDOR}")
        picture(page, "explore-play")
        sent.append(page.content())
        page.locator("[data-start]:not([disabled])").press("Enter")
        page.locator("#player[data-state=playing]").wait_for()
        page.keyboard.down("KeyW")
        while int(page.locator("#player").get_attribute("data-step") or 0) < WALK_STEPS:
            page.wait_for_timeout(50)
        page.keyboard.up("KeyW")
        found = [part for part in hidden_parts(CORRIDOR) if any(part in text for text in sent)]
        assert found == []
        assert any("welcome" in text for text in sent)
        page.keyboard.press("Enter")
        page.locator("[data-end-yes]").press("Enter")
        page.locator("[data-milestones] ol").wait_for()
        assert page.locator("[data-milestones-said]").inner_text() == "All 3 reached."
        rows = page.locator("[data-milestones] li")
        assert rows.nth(0).inner_text().split("\n") == ["Find cut red sandstone slab", "reached before you began"]
        assert [row.startswith("Find ") and "reached at 0:0" in row for row in rows.all_inner_texts()[1:]] == [True, True]
        picture(page, "explore-end")
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": 375, "height": 800})
        picture(page, "explore-end-dark-phone")
        assert page.evaluate("document.documentElement.scrollWidth") <= 375

        (episode,) = archive.episodes(task=CORRIDOR)
        kept = partial(judgement_cache.read, archive.root)
        assert first_attempts(archive.database, kept, {}).results == []
        page.locator("[data-compare-yes]").press("Enter")
        page.get_by_text("Thank you. Your game may be compared.").wait_for()
        (attempt,) = first_attempts(archive.database, kept, {}).results
        assert (attempt.episode, attempt.is_done) == (episode.id, True)
        page.goto(f"/episodes/{episode.id}")
        page.locator("[data-milestones] ol").wait_for()
        picture(page, "explore-episode-dark-phone")
        for path in ("/", f"/play/{CORRIDOR}"):
            page.goto(path)
            picture(page, f"explore{path.replace('/', '-')}-dark-phone")
            assert page.evaluate("document.documentElement.scrollWidth") <= 375, path
        stranger = httpx.get(f"{address}/api/episodes/{episode.id}/milestones")
        assert (stranger.status_code, stranger.json()["error"]) == (403, "not_played_yet")
        assert "data-milestones" not in httpx.get(f"{address}/episodes/{episode.id}").text
        other = next(name for name in published.names() if name != CORRIDOR)
        assert "milestones" not in json.dumps(page.request.get("/api/tasks").json())
        assert page.request.get(f"/play/{other}").ok
    finally:
        context.close()


def _text(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode("latin-1")

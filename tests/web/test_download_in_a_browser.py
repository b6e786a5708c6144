"""The download of an episode's video in a real Chromium: made in the background, followed, given up, and sent."""

import numpy as np
import pytest
from test_pages_in_a_browser import look, page  # noqa: F401 (fixtures)
from web_server import serving

import interplay.record
from interplay.agents import rollout
from interplay.agents.simple import NoopAgent, RandomAgent
from interplay.tasks import find

WITHIN_MS = 60_000


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    archive = interplay.record.open(tmp_path_factory.mktemp("download"))
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def episodes(archive):
    """A minute and a half of Space Invaders, and half a second of it."""
    task, rng = find("atari/space_invaders"), np.random.default_rng(0)
    return [
        rollout(archive, task, NoopAgent(), 5, rng=rng, max_steps=5400),
        rollout(archive, task, RandomAgent(), 6, rng=rng, max_steps=30),
    ]


@pytest.fixture(scope="module")
def server(archive, episodes, tmp_path_factory):
    with serving(archive.root, tmp_path_factory.mktemp("serve-download"), {}) as address:
        yield address


def test_a_download_says_how_far_it_is_can_be_given_up_and_comes_when_it_is_made(page, archive, episodes):  # noqa: F811
    long, short = episodes
    page.goto(f"/episodes/{long.id}")
    page.get_by_role("link", name="Download mp4").click()
    page.locator("[data-making] progress[value]").wait_for(timeout=WITHIN_MS)
    assert "Making the video … " in page.locator("[data-download] [role=status]").inner_text()
    page.shoot("download")
    page.get_by_role("button", name="Cancel").click()
    assert not page.locator("[data-making]").is_visible()
    assert page.get_by_role("link", name="Download mp4").is_visible()
    page.goto(f"/episodes/{short.id}")
    with page.expect_download(timeout=WITHIN_MS) as download:
        page.get_by_role("link", name="Download mp4").click()
    assert download.value.suggested_filename.endswith(f"{short.id}.mp4")
    assert archive.video_path(short.id).exists()
    page.locator("[data-making]").wait_for(state="hidden")

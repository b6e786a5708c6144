"""The block world in a real Chromium while its worker's core is busy with something else."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from test_pages_in_a_browser import look, page  # noqa: F401 (fixtures)
from web_server import serving

import interplay.record
from interplay.play.connections.tokens import operator_token
from interplay.record import Archive

pytestmark = pytest.mark.live_clock

TASK = "basalt/find_cave"
FIRST_START_S = 150
"""A machine that has never run the block world compiles it first."""
MAX_HOGS = 6


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Iterator[Archive]:
    """The server's data folder."""
    archive = interplay.record.open(tmp_path_factory.mktemp("rate"))
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def server(archive, tmp_path_factory):
    """The address of a real `interplay serve`."""
    with serving(archive.root, tmp_path_factory.mktemp("serve-rate"), {}) as address:
        yield address


def workers_of(address: str, data: Path) -> list[int]:
    """Process ids of the workers of a server, as it tells its operator."""
    key = {"Authorization": f"Bearer {operator_token(data)}"}
    return [one["pid"] for one in httpx.get(f"{address}/api/play/statistics", headers=key).json()["workers"]]


@contextmanager
def hog(core: int) -> Iterator[subprocess.Popen[bytes]]:
    """Another program that wants this core for itself."""
    code = f"import os; os.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_busy_core_makes_the_picture_smaller_and_not_the_game_slower(page, archive):  # noqa: F811
    page.goto(f"/play/{TASK}")
    page.locator("[data-start]:not([disabled])").press("Enter")
    page.locator("#player[data-state=playing]").wait_for(timeout=FIRST_START_S * 1000)
    core = max(os.sched_getaffinity(0))
    for pid in workers_of(page.evaluate("location.origin"), archive.root):
        for thread in (Path("/proc") / str(pid) / "task").iterdir():
            os.sched_setaffinity(int(thread.name), {core})

    def seen() -> tuple[float, int]:
        """Steps a second of the last two, and rows of the picture now, as the page has them."""
        data = page.evaluate("({...document.querySelector('#player').dataset})")
        return float(data.get("rateHz", 0)), int(data.get("height", 0))

    def wait_until(condition, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if condition(*seen()):
                return True
            page.wait_for_timeout(250)
        return False

    # Where other programs are at work, the picture may be smaller already.
    assert wait_until(lambda rate, height: rate >= 18, 60), seen()
    with ExitStack() as hogs:
        programs = []
        while len(programs) < MAX_HOGS:
            programs.append(hogs.enter_context(hog(core)))
            if wait_until(lambda rate, height: height < 360, 4):
                break
        # Where others want this core too, ours are more than it takes: it is left to them one by one.
        while not (kept := wait_until(lambda rate, height: rate >= 18 and height < 360, 60)) and programs:
            programs.pop().kill()
        assert kept, seen()
        words = page.locator(".strip").inner_text()
        assert "of 20 Hz" in (page.locator("span[data-rate]").text_content() or "")
        assert "Smaller picture, so that the game keeps its speed" in words
        page.shoot("blocks-smaller-picture")
    page.keyboard.press("Enter")
    page.locator("[data-end-yes]").click()
    page.locator("#player[data-state=ended]").wait_for()
    page.locator("[data-end-title]").wait_for()
    episode = archive.get(page.locator("[data-end-link]").get_attribute("href").rsplit("/", 1)[-1])
    heights = episode.steps().column("view_height").to_pylist()
    assert heights[0] is None  # the full size
    assert {270, 180} & set(heights)
    assert "Score" not in page.locator("[data-end]").inner_text()
    assert interplay.record.verify(episode).equal

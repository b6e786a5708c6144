"""Take the README's pictures: a game being played, a pair being judged, the leaderboard.

interplay demo --data demo-data
python tools/screenshots.py demo-data docs/images
"""

import shutil
import sys
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from interplay.demo import serving

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
REASON = (
    "The left player kept moving and got out of the way of the bombs, and cleared most of two rows; the right one stayed in "
    "the corner for a long time and was hit twice."
)


def play(page: Page, seconds: float) -> None:
    """Play Space Invaders with the keyboard: shoot, and go to and fro."""
    page.locator("[data-start]").wait_for()
    page.keyboard.press("Enter")
    page.locator("#player[data-state=playing]").wait_for(timeout=15_000)
    page.keyboard.down("Space")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for key in ("ArrowRight", "ArrowLeft"):
            page.keyboard.down(key)
            page.wait_for_timeout(900)
            page.keyboard.up(key)
    page.keyboard.up("Space")


def judge(page: Page) -> None:
    """Look at a pair some way into both videos and fill in the form."""
    page.locator("#judge[data-state=match]").wait_for()
    page.keyboard.press("Space")
    page.wait_for_timeout(9000)
    page.keyboard.press("Space")
    for group in page.locator("fieldset").all():
        group.locator("label").nth(0).click()
    page.keyboard.press("1")
    page.locator("[data-reason]").fill(REASON)
    page.locator("[data-headline]").click()
    page.evaluate("scrollTo(0, 0)")


def main(data: Path, out: Path) -> None:
    """Serve `data` and write player.png, judge.png and leaderboard.png to `out`."""
    out.mkdir(parents=True, exist_ok=True)
    with serving(data) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for name, path, act, scheme, height in (
            ("player", "/play/atari/space_invaders", lambda page: play(page, 14), "dark", 940),
            ("judge", "/judge", judge, "light", 940),
            ("leaderboard", "/leaderboard", lambda page: page.wait_for_timeout(500), "light", 560),
        ):
            page = browser.new_page(viewport={"width": 1240, "height": height}, color_scheme=scheme)
            page.goto(address + path)
            act(page)
            page.screenshot(path=out / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

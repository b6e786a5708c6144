"""Pages that draw the block world a few times a second. Without a graphics card a page draws with all the time of the processor
that it gets, and nobody looks at most of its pictures."""

from pathlib import Path
from typing import Any

import blockworld

BETWEEN_MS = 100
"""From one picture to the next."""
_CASTER_WORKER = Path(blockworld.__file__).parent / "web" / "land" / "caster_worker.js"
_LATE_FRAMES = f"""{{
  const soon = requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => setTimeout(() => soon(draw), {BETWEEN_MS});
}}"""
_LATE_ANSWERS = f"""
const atOnce = self.postMessage.bind(self);
self.postMessage = (...answer) => setTimeout(() => atOnce(...answer), {BETWEEN_MS});"""
"""A page whose pictures take longer than a frame of its display does not wait for the next frame."""


def draw_seldom(page: Any, in_casters: str = "") -> None:
    """From its next document on, the page waits between pictures, and those who cast its rays before they answer.

    Args:
        page: A Playwright page.
        in_casters: A script for each of those workers.
    """
    page.add_init_script(_LATE_FRAMES)
    script = _CASTER_WORKER.read_text() + _LATE_ANSWERS + in_casters
    page.route("**/blockworld/land/caster_worker.js", lambda route: route.fulfill(content_type="text/javascript", body=script))

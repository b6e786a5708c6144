"""What a player of the block world feels whose browser draws it: joining, pictures a second, and delays, in a real Chromium.

    python -m bench.felt --json

A server is started as its own process on a fresh data folder. Each row is a game of its own in a fresh profile, in a browser
without a graphics card. All times are of the page's own clock; delays are put into its socket, half each way.

join: from Start to the countdown and to the first picture, seconds, and the kB that its socket had brought by then.
smooth: pictures of 640 x 360 a second in a village, walking and turning, with the page's smaller pictures off, and the
milliseconds of the page's JavaScript for each. `script_cpu_ms`, which the bar is about, is what the scripts of the page's own
thread took of the processor, on average. `script_ms` is the time from the beginning to the end of what draws, the median, and
`script_ms_max` the longest: where there is no graphics card, they also have what else runs on the processor (workers, the
graphics process, the server, other programs) while it keeps the page waiting.
arriving: the longest time between two pictures of a game's first seconds, while the land comes, of the page as it is; `picture`
is its size in CSS pixels, `pixels` how many were drawn.
felt, with each delay: the number of the first picture that is turned, of those begun after the page got the press of a key that
turns (1 is the next one);
the milliseconds from the press of a key that walks to a picture that has moved, and how far off is what the page tells of that.
Exit status 1 unless all bars are met.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.scenes import FLAGS
from bench.served import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

TASK, VILLAGE = "basalt/make_waterfall", "basalt/create_village_animal_pen"
SIZE = (640, 360)
DELAYS_MS = (0, 50, 150)
TICK_MS = 50.0
NUM_PRESSES = 9
"""As many as the page takes the median of."""
LOAD_S = 300

_INIT = """(delay) => {
  localStorage.setItem("interplay.drawn", "here");
  const Real = WebSocket, half = delay / 2, later = (deed) => (half ? setTimeout(deed, half) : deed());
  window.felt = { bytes: 0, told: [], frames: [], presses: {}, at: {} };
  window.WebSocket = class extends Real {
    set onmessage(handler) {
      this.addEventListener("message", (event) => {
        felt.bytes += event.data.byteLength ?? event.data.length;
        later(() => handler(event));
      });
    }
    send(data) {
      if (typeof data === "string" && data.includes('"painted"')) felt.told.push(JSON.parse(data).input_ms);
      later(() => this.readyState === Real.OPEN && super.send(data));
    }
  };
  addEventListener("keydown", ({ code, timeStamp, repeat }) => {
    if (!repeat) felt.presses[code] = [timeStamp, performance.now()];
  }, true);
  addEventListener("DOMContentLoaded", () => {
    const player = document.querySelector("#player");
    new MutationObserver(() => {
      const { state, drawn } = player.dataset, now = performance.now();
      felt.at[state] ??= now;
      if (drawn === "here") felt.at.picture ??= [now, felt.bytes];
    }).observe(player, { attributes: true });
    document.querySelector("[data-start]").addEventListener("click", () => (felt.at.start = performance.now()), true);
  });
}"""
_WATCH = """async (size) => {
  const { Scene } = await import("/static/blockworld/scene.js");
  const { ProcessorView } = await import("/static/blockworld/land/processor_view.js");
  const { draw, resize } = Scene.prototype, { draw: cast } = ProcessorView.prototype;
  let frame;
  const timed = (frame, deed) => {
    const begun = performance.now();
    deed();
    frame.script += performance.now() - begun;
  };
  Scene.prototype.draw = function ({ yaw, x, z }, ...values) {
    const waits = this.partsLeft !== 0 || this.boxes.length > 0;
    const mine = (frame = { begun: performance.now(), script: 0, yaw, x, z, waits });
    const painted = values[2];
    values[2] = (isLate) => {
      mine.painted = performance.now();
      felt.frames.push(mine);
      painted?.(isLate);
    };
    timed(mine, () => draw.call(this, ...[arguments[0], ...values]));
  };
  ProcessorView.prototype.draw = function (...values) { // what workers send is laid under the figures in this page
    const mine = frame;
    cast.apply(this, values);
    const { onPart } = this;
    this.onPart = (...part) => timed(mine, () => onPart(...part));
  };
  if (size) Scene.prototype.resize = function () { resize.call(this, ...size); };
}"""


def _open(browser: Browser, address: str, task: str, delay_ms: float, size: tuple[int, int] | None, width: int = 460) -> Page:
    """The page of a task, playing."""
    page = browser.new_context(viewport={"width": width, "height": 800}).new_page()
    page.set_default_timeout(LOAD_S * 1000)
    page.add_init_script(f"({_INIT})({delay_ms})")
    page.goto(f"{address}/play/{task}")
    page.evaluate(_WATCH, size and list(size))
    page.locator("[data-start]:not([disabled])").click()
    page.locator("#player[data-state=playing]").wait_for()
    page.locator("#player[data-drawn=here]").wait_for()
    return page


def _leave(page: Page) -> None:
    page.keyboard.press("Enter")
    page.locator("[data-end-yes]").click()
    page.locator("#player[data-state=ended]").wait_for()
    page.context.close()


def _join(browser: Browser, address: str) -> dict[str, Any]:
    page = _open(browser, address, TASK, 0, None)
    at = page.evaluate("felt.at")
    _leave(page)
    seconds = [round((one - at["start"]) / 1000, 3) for one in (at["countdown"], at["picture"][0])]
    return {"countdown_s": seconds[0], "picture_s": seconds[1], "picture_kb": round(at["picture"][1] / 1000, 1)}


def _walking(page: Page) -> None:
    """Walk and turn until the land is there."""
    for key in ("KeyW", "ArrowRight"):
        page.keyboard.down(key)
    while not page.evaluate("felt.frames.length > 20 && !felt.frames.at(-1).waits"):
        page.wait_for_timeout(100)


def _smooth(browser: Browser, address: str, seconds: float) -> dict[str, Any]:
    page = _open(browser, address, VILLAGE, 0, SIZE)
    _walking(page)
    chromium = page.context.new_cdp_session(page)
    chromium.send("Performance.enable", {"timeDomain": "threadTicks"})
    first, before = page.evaluate("felt.frames.length"), _script_cpu_s(chromium)
    page.wait_for_timeout(1000 * seconds)
    spent, frames = _script_cpu_s(chromium) - before, page.evaluate("felt.frames")[first:]
    _leave(page)
    script = [one["script"] for one in frames]
    return {
        "fps": round(1000 * (len(frames) - 1) / (frames[-1]["painted"] - frames[0]["painted"]), 1),
        "script_cpu_ms": round(1000 * spent / len(frames), 2),
        "script_ms": round(statistics.median(script), 2),
        "script_ms_max": round(max(script), 2),
    }


def _script_cpu_s(chromium: CDPSession) -> float:
    """What the page's scripts have taken of the processor, in seconds, without what ran in between."""
    metrics = chromium.send("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in metrics if one["name"] == "ScriptDuration")


def _arriving(browser: Browser, address: str) -> dict[str, Any]:
    page = _open(browser, address, VILLAGE, 0, None, width=672)
    _walking(page)
    frames, picture, pixels = page.evaluate(
        "(() => { const { style: { width, height }, firstChild } = document.querySelector('.drawn');"
        " return [felt.frames, [parseFloat(width), parseFloat(height)], [firstChild.width, firstChild.height]]; })()"
    )
    _leave(page)
    between = [after["painted"] - one["painted"] for one, after in itertools.pairwise(frames) if one["waits"]]
    return {
        "longest_ms": round(max(between), 1),
        "median_ms": round(statistics.median(between), 1),
        "over_50_ms": sum(one > 50 for one in between),
        "pictures": len(between),
        "picture": picture,
        "pixels": pixels,
    }


def _felt(browser: Browser, address: str, delay_ms: float) -> dict[str, Any]:
    page = _open(browser, address, TASK, delay_ms, None)
    page.wait_for_timeout(3000)  # the land comes
    looks, steps = [], []
    for number in range(NUM_PRESSES):
        frames, press = _pressed(page, "ArrowRight" if number % 2 else "ArrowLeft")
        looks.append(_first(frames, press[1], ("yaw",))[0])
    for number in range(NUM_PRESSES):
        frames, press = _pressed(page, "KeyS" if number % 2 else "KeyW")
        steps.append(_first(frames, press[0], ("x", "z"))[1] - press[0])
    told = [one for one in page.evaluate("felt.told") if one is not None]
    painted = [one["painted"] for one in page.evaluate("felt.frames")][-60:]
    _leave(page)
    frame_ms = statistics.median(after - before for before, after in itertools.pairwise(painted))
    return {
        "look_frames_max": max(looks),
        "step_ms": round(statistics.median(steps), 1),
        "told_off_by_ms": round(abs(told[-1] - statistics.median(steps)), 1),
        "frame_ms": round(frame_ms, 1),
    }


def _pressed(page: Page, code: str) -> tuple[list[dict[str, float]], tuple[float, float]]:
    """Press a key for half a second: the pictures from before it on, when it was pressed, and when the page got the press."""
    page.wait_for_timeout(900)  # everything stands
    page.evaluate("(code) => { felt.frames.splice(0, felt.frames.length - 1); felt.presses[code] = [Infinity]; }", code)
    page.keyboard.down(code)
    while not page.evaluate("(code) => felt.frames.at(-1).begun > felt.presses[code][0] + 500", code):
        page.wait_for_timeout(50)
    page.keyboard.up(code)
    frames, presses = page.evaluate("[felt.frames, felt.presses]")
    return frames, presses[code]


def _first(frames: list[dict[str, float]], press: float, names: tuple[str, ...]) -> tuple[int, float]:
    """Of the pictures after a press, the number (from 1) and the time of the first that is another in these numbers."""
    before = [one for one in frames if one["begun"] < press][-1]
    after = [one for one in frames if one["begun"] >= press]
    changed = (number for number, one in enumerate(after) if any(abs(one[name] - before[name]) > 1e-4 for name in names))
    first = next(changed, len(after) - 1)
    return first + 1, after[first]["painted"]


def _bars(rows: dict[str, Any]) -> dict[str, bool]:
    join, smooth, felt = rows["join"], rows["smooth"], rows["felt"]
    return {
        "join": join["countdown_s"] <= 2 and join["picture_kb"] <= 100,
        "smooth": smooth["fps"] >= 20 and smooth["script_cpu_ms"] <= 2 and rows["arriving"]["longest_ms"] <= 50,
        "felt": all(
            one["look_frames_max"] == 1
            and one["step_ms"] <= int(delay) + 2 * TICK_MS + one["frame_ms"]
            and one["told_off_by_ms"] <= one["frame_ms"]
            for delay, one in felt.items()
        ),
    }


def main() -> None:
    """Start a server and play."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="of walking in the village")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="interplay-bench-") as folder,
        served(Path(folder, "data")) as address,
        sync_playwright() as playwright,
    ):
        program = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        _leave(_open(browser, address, TASK, 0, None))  # the server has the world in memory
        rows: dict[str, Any] = {"join": _join(browser, address), "smooth": _smooth(browser, address, options.seconds)}
        rows["arriving"] = _arriving(browser, address)
        rows["felt"] = {str(delay): _felt(browser, address, delay) for delay in DELAYS_MS}
        browser.close()
    rows["meets_bars"] = _bars(rows)
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for name, row in rows.items():
            print(f"{name:12} {row}")
    if not all(rows["meets_bars"].values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

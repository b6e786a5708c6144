"""The trace of a key press in a real browser says what the page itself sees of it."""

from pathlib import Path

import pytest
from collector import collecting

from interplay.play.tracing import SPANS

WATCH = """
window.seen = { pressed: null, painted: [], sent: null, told: null };
addEventListener("keydown", () => { seen.pressed ??= performance.now(); }, { capture: true });
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (message) {
  if (typeof message === "string") {
    if (message.includes("painted_ms")) seen.told = JSON.parse(message).painted_ms;
  } else {
    const view = new DataView(message.buffer ?? message);
    if (view.getUint16(2, true)) seen.sent ??= view.getFloat64(8, true);
  }
  return send.call(this, message);
};
const player = document.querySelector("#player");
new MutationObserver(() => seen.painted.push([Number(player.dataset.step), performance.now()]))
  .observe(player, { attributeFilter: ["data-step"] });
"""


def test_the_spans_add_up_to_the_time_from_the_key_to_the_painted_frame(
    chromium, serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as collector:
        for name, value in collector.environment.items():
            monkeypatch.setenv(name, value)
        with serve(tmp_path / "data", tmp_path, {}) as address:
            page = chromium.new_page(base_url=address)
            page.set_default_timeout(60_000)
            page.goto("/play/atari/breakout")
            page.locator("[data-start]:not([disabled])").click()
            page.locator("#player[data-state=playing][data-step]").wait_for()
            page.evaluate(WATCH)
            page.keyboard.press("ArrowLeft")
            whole, *parts = collector.wait(1 + len(SPANS))
            seen = page.evaluate("seen")
            page.close()
    assert [span.name for span in (whole, *parts)] == ["key press", *SPANS]
    step = next(fact.value.int_value for fact in whole.attributes if fact.key == "interplay.step")
    measured_ms = seen["told"] - seen["sent"]
    assert sum(span.end_time_unix_nano - span.start_time_unix_nano for span in parts) / 1e6 == pytest.approx(
        measured_ms, rel=0.05
    )
    around_ms = next(at_ms for painted_step, at_ms in seen["painted"] if painted_step >= step) - seen["pressed"]
    assert measured_ms <= around_ms, (
        "the key went down before the page sent it, and the frame was painted when the page said so"
    )

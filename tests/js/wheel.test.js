import assert from "node:assert/strict";
import { test } from "node:test";

import { company, isAwaited, wordsOf } from "../../interplay/web/static/js/waiting.js";
import { Wheel, wheelCode } from "../../interplay/web/static/js/wheel.js";

function wheel() {
  const button = { hidden: true, textContent: "", addEventListener: () => {}, blur: () => {} };
  /** @type {string[]} */
  const asked = [];
  /** @type {{bindings: Record<string, string>}} */
  const held = { bindings: { KeyW: "UP" } };
  return { button, asked, held, wheel: new Wheel(/** @type {any} */ (button), held, (who) => asked.push(who)) };
}

const key = (/** @type {string} */ code, repeat = false) => ({ code, repeat, preventDefault: () => {} });

test("a key of the wheel is one that the game does not need", () => {
  assert.equal(wheelCode({ KeyW: "UP" }), "KeyT");
  assert.equal(wheelCode({ KeyT: "drop", KeyG: "give" }), "KeyV");
});

test("each press asks for the other one, and a held key asks once", () => {
  const { button, asked, wheel: shared } = wheel();
  assert.equal(shared.press(key("KeyT")), false); // there is no agent yet
  shared.onMessage({ who: "agent", agent: "scripted" });
  assert.equal(button.hidden, false);
  assert.match(button.textContent, /scripted plays\. Press T to play yourself/);
  assert.equal(shared.press(key("KeyW")), false);
  assert.equal(shared.press(key("KeyT")), true);
  assert.equal(shared.press(key("KeyT", true)), true);
  shared.onMessage({ who: "me", agent: "scripted" });
  shared.press(key("KeyT"));
  assert.deepEqual(asked, ["me", "agent"]);
});

test("a key that a player gives to a button leaves the wheel, which takes the next one and says so", () => {
  const { button, asked, held, wheel: shared } = wheel();
  shared.onMessage({ who: "agent", agent: "scripted" });
  held.bindings = { KeyT: "UP" };
  shared.say();
  assert.match(button.textContent, /Press G to play yourself/);
  assert.equal(shared.press(key("KeyT")), false);
  assert.equal(shared.press(key("KeyG")), true);
  assert.deepEqual(asked, ["me"]);
});

test("an agent that fails at my seat takes the wheel away, one at another seat does not", () => {
  const { button, wheel: shared } = wheel();
  shared.onMessage({ who: "agent", agent: "mine" });
  assert.match(shared.onFailed({ seat: "right", agent: "other", message: "it broke" }, "left"), /other.*it broke/);
  assert.equal(button.hidden, false);
  shared.onFailed({ seat: "left", agent: "mine", message: "it broke" }, "left");
  assert.equal(button.hidden, true);
  assert.equal(shared.press(key("KeyT")), false);
});

test("nobody waits for an agent, and players read who it is", () => {
  const agent = { seat: "right", state: /** @type {const} */ ("agent"), agent: "scripted" };
  assert.equal(isAwaited([agent]), false);
  assert.deepEqual(company("left", [agent]), { note: "You play left. An agent (scripted) plays right.", news: "An agent (scripted) plays right." });
  const standing = { lost: null, hasBegun: true, isReady: false, isRecovering: false, restoredAt: null, others: [agent], isTouch: false };
  assert.equal(wordsOf(standing).text, "Click here or press any key to continue.");
});

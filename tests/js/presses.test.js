// Presses of a task of turns: which are counted, and when a key that is held presses again.

import assert from "node:assert/strict";
import test from "node:test";

import { HOLD_MS, Presses } from "../../interplay/web/static/js/presses.js";

/** Presses at ten a second, what is held, and what was pressed. @param {import("node:test").TestContext} t */
function presses(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {{held: number, pressed: number[]}} */
  const seen = { held: 0, pressed: [] };
  const one = new Presses(10, () => seen.held, (mask) => seen.pressed.push(mask));
  const wait = (/** @type {number} */ ms) => t.mock.timers.tick(ms);
  return { one, seen, wait };
}

test("a short press is one press, however late the answer", (t) => {
  const { one, seen, wait } = presses(t);
  seen.held = 0b10;
  one.press(0b10);
  wait(HOLD_MS - 1);
  seen.held = 0;
  wait(5000);
  one.answered();
  wait(5000);
  assert.deepEqual([seen.pressed, one.number], [[0b10], 1]);
});

test("a key that is held presses again at the task's rate", (t) => {
  const { one, seen, wait } = presses(t);
  seen.held = 1;
  one.press(1);
  one.answered();
  wait(HOLD_MS);
  assert.equal(seen.pressed.length, 2);
  for (let count = 0; count < 5; count++) {
    one.answered();
    wait(100);
  }
  assert.deepEqual([seen.pressed.length, one.number], [7, 7]);
  seen.held = 0;
  wait(100);
  seen.held = 1; // held anew without a press: not ours
  wait(1000);
  assert.equal(seen.pressed.length, 7);
});

test("a key that is held is never ahead of the picture", (t) => {
  const { one, seen, wait } = presses(t);
  seen.held = 1;
  one.press(1);
  wait(3000);
  assert.equal(seen.pressed.length, 1);
  one.answered();
  wait(100);
  wait(900);
  assert.equal(seen.pressed.length, 2);
});

test("the newest press is the one that goes on, and a pause ends it", (t) => {
  const { one, seen, wait } = presses(t);
  seen.held = 0b01;
  one.press(0b01);
  wait(HOLD_MS / 2);
  seen.held = 0b11;
  one.press(0b10);
  one.answered();
  wait(HOLD_MS);
  assert.deepEqual(seen.pressed, [0b01, 0b10, 0b10]);
  seen.held = 0b01; // the older one is still held
  one.answered();
  wait(1000);
  assert.equal(seen.pressed.length, 3);
  one.press(0b10);
  one.stop();
  one.answered();
  seen.held = 0b10;
  wait(1000);
  assert.equal(seen.pressed.length, 4);
  one.begin();
  assert.equal(one.number, 0);
});

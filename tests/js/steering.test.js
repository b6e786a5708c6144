// What a place on the picture, a finger or a button asks of an axis.

import assert from "node:assert/strict";
import test from "node:test";

import { placeOf, valueOf, valuesAt } from "../../interplay/web/static/js/steering.js";

/** @type {import("../../interplay/web/static/js/steering.js").Axis} */
const X = { pointer: "x", values: [2, -2], buttons: ["LEFT", "RIGHT"] };
/** @type {import("../../interplay/web/static/js/steering.js").Axis} */
const Y = { pointer: "y", values: [0, 1], buttons: [] };

test("the edges of the picture are the ends, and beyond them nothing more", () => {
  assert.deepEqual(valuesAt([X], { x: 0, y: 0.3 }), [2, 0]);
  assert.deepEqual(valuesAt([X], { x: 0.75, y: 0.3 }), [-1, 0]);
  assert.deepEqual(valuesAt([X], { x: 7, y: 0.3 }), [-2, 0]);
  assert.deepEqual(valuesAt([Y, X], { x: -1, y: 0.25 }), [2, 0.25]);
});

test("a button that is held wins, and both leave it to the pointer", () => {
  const held = (/** @type {string[]} */ ...names) => (/** @type {string} */ name) => names.includes(name);
  assert.equal(valueOf(X, [0.5, 9], held()), 0.5);
  assert.equal(valueOf(X, [0.5, 9], held("LEFT")), 2);
  assert.equal(valueOf(X, [0.5, 9], held("RIGHT")), -2);
  assert.equal(valueOf(X, [0.5, 9], held("LEFT", "RIGHT")), 0.5);
  assert.equal(valueOf(Y, [0.5, 9], held("LEFT")), 1); // as far as it goes
});

test("a mark stands where its value is", () => {
  assert.equal(placeOf(X, 2), 0);
  assert.equal(placeOf(X, -1), 0.75);
  assert.equal(placeOf(Y, 0), 0);
});

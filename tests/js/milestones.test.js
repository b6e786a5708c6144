// What was reached: in words.

import assert from "node:assert/strict";
import test from "node:test";

import { summary, whenOf } from "../../interplay/web/static/js/milestones.js";

const one = (/** @type {number | null} */ tick) => ({ id: "a", text: "A", tick, second: tick === null ? null : tick / 20 });

test("the summary counts what was reached", () => {
  assert.equal(summary([one(3), one(null)]), "1 of 2 reached.");
  assert.equal(summary([one(3), one(9)]), "All 2 reached.");
  assert.equal(summary([one(null)]), "Not reached.");
});

test("each says when it was reached, or that it was missed", () => {
  assert.equal(whenOf(one(1250)), "reached at 1:02");
  assert.equal(whenOf(one(0)), "reached before you began");
  assert.equal(whenOf(one(null)), "missed");
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { stepAt } from "../../interplay/web/static/js/rewards.js";

test("a press on a plot means the step below it, and beyond its ends the first and the last", () => {
  assert.equal(stepAt(50, 200, 100), 25);
  assert.equal(stepAt(-3, 200, 100), 0);
  assert.equal(stepAt(500, 200, 100), 100);
});

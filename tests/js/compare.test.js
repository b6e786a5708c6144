// Whether a game may be compared: what is said after an answer.

import assert from "node:assert/strict";
import test from "node:test";

import { wordsAfter } from "../../interplay/web/static/js/compare.js";

test("after a yes one reads what it is worth and where it can be taken back", () => {
  assert.equal(wordsAfter(true, true), "Thank you. Your game may be compared. You can take this back on the page of the episode.");
  assert.match(wordsAfter(true, false), /once every other player agrees too/);
});

test("after a no nobody is shown the game", () => {
  assert.equal(wordsAfter(false, false), "Your game is not compared. From now on, no judge sees it.");
});

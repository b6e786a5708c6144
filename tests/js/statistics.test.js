// Statistics as people read them.

import assert from "node:assert/strict";
import test from "node:test";

import { checkWords, readableValue, rowsOf } from "../../interplay/web/static/js/statistics.js";

const of = (kind, more = {}) => ({ name: "a", title: "A", kind, unit: "", better: null, is_share: false, ...more });

test("a value is read in its unit", () => {
  assert.equal(readableValue(of("int"), 12), "12");
  assert.equal(readableValue(of("int"), 12345), "12,345"); // as Statistic.readable writes it
  assert.equal(readableValue(of("int", { unit: "lives" }), 2), "2"); // "Lives lost" says it
  assert.equal(readableValue(of("float", { unit: "m" }), 12.34), "12.3 m");
  assert.equal(readableValue(of("float", { is_share: true }), 0.476), "48 %");
  const share = of("float", { is_share: true });
  assert.deepEqual([0.815, 0.185, 0.825, 0.175].map((part) => readableValue(share, part)), ["82 %", "18 %", "82 %", "18 %"]);
  assert.equal(readableValue(of("duration", { unit: "s" }), 65.9), "1:05");
});

test("a value that says nothing yet is a dash, and nought is nought", () => {
  assert.equal(readableValue(of("float", { is_share: true }), null), "–");
  assert.equal(readableValue(of("int"), undefined), "–");
  assert.equal(readableValue(of("int"), 0), "0");
  assert.equal(readableValue(of("float", { is_share: true }), 0), "0 %");
});

test("a table has what is known of this game, and of all games where there were some before", () => {
  const facts = [of("int", { name: "score", title: "Score" }), of("int"), of("float", { name: "b", title: "B", is_share: true })];
  assert.deepEqual(rowsOf(facts, { score: 5, a: 1 }, null), [["A", "1"]]);
  assert.deepEqual(rowsOf(facts, { score: 5, a: 1, b: null }, { games: 3, statistics: { score: 9, a: 4, b: 0.5 } }), [
    ["", "This game", "All 3 games"],
    ["Score", "5", "9"],
    ["A", "1", "4"],
    ["B", "–", "50 %"],
  ]);
  assert.deepEqual(rowsOf(facts, {}, null), []);
});

test("one reads whether the task was done, and what the check found", () => {
  assert.equal(checkWords({}), "");
  assert.equal(checkWords({ success: true }), "You did the task.");
  assert.equal(checkWords({ success: false, inside_cave: false, num_sheep: 2 }), "The task is not done. The check found inside cave: no, sheep: 2.");
});

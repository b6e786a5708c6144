import assert from "node:assert/strict";
import { test } from "node:test";

import { achieved, amount, bonusCents, live, running } from "../../interplay/web/static/js/visit_rules.js";

const goal = (changes) => ({ label: "", text: "", share: 0, achieved: 0, out_of: "", scope: "visit", statistic: "time", required: 300, ...changes });

test("the running game counts on top of those that are over", () => {
  assert.equal(achieved(goal({}), { time: 100 }, { time: 50 }), 150);
  assert.deepEqual(live(goal({}), { time: 100 }, { time: 100.9 }), { text: "3:20 of 5:00", share: 200.9 / 300 });
});

test("a share is of all games together, and of nothing it is nothing", () => {
  const share = goal({ statistic: "a.good", out_of: "a.all", required: 0.8 });
  assert.equal(achieved(share, { "a.good": 1, "a.all": 1 }, { "a.good": 0, "a.all": 9 }), 0.1);
  assert.equal(achieved(share, {}, {}), 0);
  assert.equal(live(share, { "a.good": 62, "a.all": 100 }, {}).text, "62 % of 80 %");
});

test("of one game the best counts, be it over or not", () => {
  const best = goal({ statistic: "score", scope: "game", required: 100, achieved: 60 });
  assert.equal(achieved(best, { score: 500 }, { score: 10 }), 60);
  assert.equal(achieved(best, { score: 500 }, { score: 70 }), 70);
  assert.equal(live(best, {}, { score: 1000 }).share, 1);
});

test("what the server sends while a game is played becomes statistics", () => {
  const hud = { step: 120, score: 15, statistics: { active_time: 1.5, accuracy: null }, counts: { "accuracy.hits": 2 } };
  assert.deepEqual(running(hud, 60), { active_time: 1.5, "accuracy.hits": 2, time: 2, score: 15 });
});

test("what an agent did in the player's seat does not count for the player", () => {
  const own = { step: 60, score: 5, statistics: { active_time: 1 }, counts: { "accuracy.hits": 1 } };
  const hud = { step: 600, score: 500, statistics: { active_time: 9 }, counts: { "accuracy.hits": 20 }, own };
  assert.deepEqual(running(hud, 60), { active_time: 1, "accuracy.hits": 1, time: 1, score: 5 });
});

test("the sliding bonus by hand, as the server computes it", () => {
  const rule = /** @type {const} */ ({ kind: "sliding", max_cents: 300, full_at: 200, correct: "good", out_of: "all" });
  const cents = (good, all) => bonusCents(rule, { good, all }, {});
  assert.deepEqual([cents(200, 200), cents(100, 100), cents(150, 200), cents(1, 2), cents(0, 0), cents(400, 500)], [300, 150, 113, 0, 0, 180]);
  assert.equal(bonusCents(rule, { good: 100, all: 100 }, { good: 50, all: 100 }), 113);
});

test("a linear bonus stops at its most", () => {
  const rule = /** @type {const} */ ({ kind: "linear", max_cents: 300, full_at: 20000, statistic: "score" });
  assert.equal(bonusCents(rule, { score: 700 }, { score: 301 }), 16);
  assert.equal(bonusCents(rule, { score: 90000 }, {}), 300);
  const limited = { ...rule, full_at: 700, correct: "left", out_of: "all" };
  assert.equal(bonusCents(limited, { score: 700, left: 9, all: 10 }, {}), 270);
  const sliding = /** @type {const} */ ({ ...limited, kind: "sliding" });
  assert.equal(bonusCents(sliding, { score: 350, left: 9, all: 10 }, {}), 120);
});

test("numbers are written as people read them", () => {
  assert.equal(amount(goal({ statistic: "score" }), 1240), "1,240");
  assert.equal(amount(goal({}), 59.9), "0:59");
});

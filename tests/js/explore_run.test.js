// One run of a language model: what stands beside a tick.

import assert from "node:assert/strict";
import test from "node:test";

import { callAt, carried, comparison, nextMilestone, proofTick, seenAt, totals } from "../../interplay/web/static/js/explore_run.js";

const call = (/** @type {number} */ tick, more = {}) => ({
  tick, ticks: 1, kinds: ["action"], keys: [], camera: null, tool: null, words: "", memory: null, why: "",
  input_tokens: 10, output_tokens: 2, latency_ms: null, is_refused: false, ...more,
});
const milestone = (/** @type {number} */ number, /** @type {number | null} */ tick, /** @type {number | null} */ oracle = null) => ({ number, name: null, tick, oracle });

test("a tick belongs to the last call that was made at it or before, also where refused replies have the same tick", () => {
  const calls = [call(0), call(5), call(5), call(9)];
  assert.deepEqual([0, 4, 5, 8, 9, 500].map((tick) => callAt(calls, tick)), [0, 0, 2, 2, 3, 3]);
  assert.equal(callAt([], 3), 0);
});

test("totals are up to and with the call", () => {
  const calls = [call(0), call(0, { is_refused: true }), call(1)];
  assert.deepEqual(totals(calls, 1), { read: 20, written: 4, refused: 1 });
  assert.deepEqual(totals(calls, 0), { read: 10, written: 2, refused: 0 });
});

test("the next milestone is the next one in time, then the first again; none where none was reached", () => {
  const milestones = [milestone(1, 40), milestone(2, null), milestone(3, 12)];
  assert.deepEqual([0, 12, 39, 40].map((tick) => nextMilestone(milestones, tick)), [12, 40, 40, 12]);
  assert.equal(nextMilestone([milestone(1, null)], 0), null);
});

test("what is so at a tick is what changed last, each thing by itself", () => {
  /** @type {import("../../interplay/web/static/js/explore_run.js").Seen[]} */
  const seen = [
    { tick: 0, slots: [], hotbar: 0, health: 20, food: 20, facts: { 1: [[false, 9.5, 40]], 2: [[false, 0]] } },
    { tick: 3, health: 18, facts: { 1: [[true, 3, 10]] } },
    { tick: 7, slots: [[0, "oak_log", 2]], facts: { 2: [[true, 2]] } },
  ];
  assert.deepEqual(seenAt(seen, 2).facts, { 1: [[false, 9.5, 40]], 2: [[false, 0]] });
  const middle = seenAt(seen, 6);
  assert.deepEqual([middle.health, middle.slots, middle.facts["1"], middle.facts["2"]], [18, [], [[true, 3, 10]], [[false, 0]]]);
  const end = seenAt(seen, 999);
  assert.deepEqual([end.health, end.food, end.slots, end.facts["2"]], [18, 20, [[0, "oak_log", 2]], [[true, 2]]]);
});

test("each rule says in words what it compares", () => {
  const cases = [
    ["inventory_has", { item: "iron_ingot", min_count: 1 }, [0], "carries iron ingot: 0 of 1"],
    ["position_near_with_facing", { target: [1, 2, 3], max_distance: 4, facing_tolerance: 60 }, [3.2, 12], "distance 3.2 of at most 4, angle 12° of at most 30°"],
    ["position_inside_box", { min: [5, -4, 11], max: [11, -2, 17] }, [-5, 0, 7], "stands in (-5, 0, 7), the box is (5, -4, 11) to (11, -2, 17)"],
    ["count_in_box_at_least", { object: "torch", min_count: 2 }, [1], "torch in the box: 1 of 2"],
    ["count_in_box_at_most", { object: "cobblestone", max_count: 0 }, [2], "cobblestone in the box: 2 of at most 0"],
    ["x.event_at_least", { event: "picked_up", object: "sand", min_count: 3 }, [1], "picked up sand: 1 of 3"],
    ["x.visible", { object: "blue_bed", max_distance: 20 }, [12.5], "blue bed in sight at 12.5 of at most 20"],
    ["x.visible", { object: "blue_bed", max_distance: 20 }, [null], "blue bed is not in sight"],
  ];
  for (const [type, params, numbers, words] of cases) assert.equal(comparison({ type: String(type), params }, /** @type {number[]} */ (numbers)), words);
});

test("what is carried is one line for each item, what is in the hand first", () => {
  /** @type {[number, string, number][]} */
  const slots = [[0, "oak_log", 60], [2, "stone_axe", 1], [9, "oak_log", 4]];
  assert.deepEqual(carried(slots, 2), [
    { name: "stone axe", count: 1, isInHand: true },
    { name: "oak log", count: 64, isInHand: false },
  ]);
  assert.deepEqual(carried(slots, 5).map((one) => one.isInHand), [false, false]);
  assert.deepEqual(carried([], 0), []);
});

test("the proof stands at the same tick, or where it is as far from a milestone, and within its own length", () => {
  assert.deepEqual([0, 30, 99].map((tick) => proofTick(tick, 60, undefined)), [0, 30, 60]);
  assert.deepEqual([0, 30, 40, 99].map((tick) => proofTick(tick, 60, milestone(1, 30, 10))), [0, 10, 20, 60]);
});

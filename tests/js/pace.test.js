// How many pixels are drawn, and how long a press takes to be seen.

import assert from "node:assert/strict";
import test from "node:test";

import { Delay, Pace } from "../../interplay/web/static/js/scene/pace.js";

/**
 * Paint for some time.
 * @param {Pace} pace
 * @param {number} from ms
 * @param {number} forMs
 * @param {(ratio: number) => number} cost ms that a frame takes
 */
function paint(pace, from, forMs, cost) {
  const said = [];
  let now = from;
  while (now < from + forMs) {
    now += Math.max(1000 / 60, cost(pace.ratio));
    const answer = pace.frame(now, cost(pace.ratio));
    if (answer !== "same") said.push({ answer, at: now - from, ratio: pace.ratio });
    if (answer === "give up") break;
  }
  return { said, now };
}

test("a fast machine draws all pixels", () => {
  const pace = new Pace();
  assert.deepEqual(paint(pace, 0, 20_000, () => 5).said, []);
  assert.equal(pace.ratio, 1);
  assert.equal(Math.round(pace.fps), 60);
});

test("pixels are saved in steps until thirty frames a second are held, and tried again when there is room", () => {
  const pace = new Pace();
  const slow = paint(pace, 0, 10_000, (ratio) => 80 * ratio ** 2); // 80, 45 and 20 ms
  assert.deepEqual(slow.said.map(({ answer, ratio }) => [answer, ratio]), [["resize", 0.75], ["resize", 0.5]]);
  assert.ok(slow.said[1].at < 4000, String(slow.said[1].at));
  const after = paint(pace, slow.now, 20_000, () => 4); // what took the time has gone
  assert.deepEqual(after.said.map(({ answer, ratio }) => [answer, ratio]), [["resize", 0.75], ["resize", 1]]);
});

test("one that begins with few pixels has more as soon as there is time for them", () => {
  const pace = new Pace();
  pace.beginLow();
  assert.deepEqual(paint(pace, 0, 20_000, () => 4).said.map(({ ratio }) => ratio), [0.5, 0.75, 1]);
});

test("one sees less far before the rate falls further, and as far as before when there is time", () => {
  const pace = new Pace();
  const slow = paint(pace, 0, 10_000, () => (pace.reach < 1 ? 25 : 40));
  assert.deepEqual([slow.said.length, pace.ratio, pace.reach], [4, 0.35, 0.6]);
  paint(pace, slow.now, 6000, () => 4);
  assert.deepEqual([pace.ratio, pace.reach], [0.35, 1]);
});

test("while land arrives no more pixels are tried, and one sees as far", () => {
  const pace = new Pace();
  pace.beginLow();
  assert.equal(pace.ratio, 0.35);
  for (let now = 0; now < 20_000; now += 16) assert.equal(pace.frame(now, 4, true), "same");
  for (let now = 20_000; now < 40_000; now += 50) assert.equal(pace.frame(now, 40, true), "same");
  assert.deepEqual([pace.ratio, pace.reach], [0.35, 1]);
});

test("a machine that is too slow with saved pixels while land arrives gives up as well", () => {
  const pace = new Pace(), said = [];
  pace.beginLow();
  for (let now = 0; now < 20_000 && said.at(-1) !== "give up"; now += 100) said.push(pace.frame(now, 100, true));
  assert.equal(said.at(-1), "give up");
  assert.deepEqual([pace.ratio, pace.reach], [0.35, 0.6]);
});

test("an attempt with more pixels that was too slow comes back later each time", () => {
  const pace = new Pace();
  const cost = (/** @type {number} */ ratio) => (ratio > 0.75 ? 50 : 10);
  const { said } = paint(pace, 0, 60_000, cost);
  const raises = said.filter(({ ratio }) => ratio === 1).map(({ at }) => at);
  assert.ok(raises.length >= 2 && raises.length <= 4, String(raises));
  assert.ok(raises[2] === undefined || raises[2] - raises[1] > 1.5 * (raises[1] - raises[0]), String(raises));
});

test("a machine that is too slow with the fewest pixels gives up after three seconds", () => {
  const pace = new Pace();
  const { said } = paint(pace, 0, 30_000, () => 100);
  assert.equal(said.at(-1)?.answer, "give up");
  assert.deepEqual([pace.ratio, pace.reach], [0.35, 0.6]);
  const last = said.at(-1)?.at ?? 0;
  const lowest = said.at(-2)?.at ?? 0;
  assert.ok(last - lowest >= 3000 && last - lowest < 6000, `${lowest} ${last}`);
});

test("frames that take seconds have a rate too, and get smaller", () => {
  for (const ms of [1100, 1700, 3000]) {
    const pace = new Pace();
    const { said } = paint(pace, 0, 40_000, () => ms);
    assert.deepEqual(said.slice(0, 3).map(({ ratio }) => ratio), [0.75, 0.5, 0.35], String(ms));
    assert.equal(said.at(-1)?.answer, "give up", String(ms));
    assert.ok(Math.abs(pace.fps * ms - 1000) < 20, `${ms} ${pace.fps}`);
  }
});

test("a page that was away is not slow", () => {
  const pace = new Pace();
  let { now } = paint(pace, 0, 3000, () => 5);
  for (let i = 0; i < 5; i++) assert.equal(pace.frame((now += 10_000), 5), "same");
  assert.equal(pace.ratio, 1);
});

test("the delay of a press ends with the first frame of a tick that used it", () => {
  const delay = new Delay();
  delay.press(100);
  delay.press(103); // the same message tells of both
  delay.send(104.7);
  delay.paint(120, 0);
  delay.paint(136, 90); // an older message
  assert.equal(delay.median, null);
  delay.paint(180, 104);
  assert.equal(delay.median, 80);
  delay.paint(220, 104);
  assert.equal(delay.median, 80);
});

test("a message without a press measures nothing, and what waits over a pause is forgotten", () => {
  const delay = new Delay();
  delay.send(10);
  delay.paint(40, 10);
  delay.press(50);
  delay.send(51);
  delay.clear();
  delay.paint(90, 51);
  delay.press(100);
  delay.send(101);
  delay.paint(5000, 101);
  assert.equal(delay.median, null);
});

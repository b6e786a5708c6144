// Replays: where they are in time, and which frames they fetch.

import assert from "node:assert/strict";
import test from "node:test";

import { FrameStore } from "../../interplay/web/static/js/replay.js";
import { Timeline, clock, lasting, placeIn } from "../../interplay/web/static/js/timeline.js";

test("clock times are minutes and whole seconds", () => {
  assert.deepEqual([0, 0.999, 59.99, 60, 600, -3].map(clock), ["0:00", "0:00", "0:59", "1:00", "10:00", "0:00"]);
});

test("a video says in two places the same of how long it is, and one of a few seconds in tenths", () => {
  assert.deepEqual([0, 0.55, 9.96, 19.98, 83.6].map(lasting), ["0:00", "0:00.6", "0:10.0", "0:20", "1:24"]);
  assert.equal(placeIn(0, 0), "0:00 / 0:00"); // not loaded yet
  assert.deepEqual([0, 0.34, 0.55].map((at) => placeIn(at, 0.55)), ["0:00.0 / 0:00.6", "0:00.3 / 0:00.6", "0:00.6 / 0:00.6"]);
  assert.deepEqual([83.2, 83.6].map((at) => placeIn(at, 83.6)), ["1:23 / 1:24", "1:24 / 1:24"]);
});

test("a timeline moves at its speed, stops at its end, and starts over from there", () => {
  const timeline = new Timeline(3);
  timeline.advance(1);
  assert.equal(timeline.position, 0); // not playing
  timeline.speed = 2;
  timeline.play();
  timeline.advance(1);
  assert.equal(timeline.position, 2);
  timeline.advance(1);
  assert.deepEqual([timeline.position, timeline.playing], [3, false]);
  timeline.play();
  assert.equal(timeline.position, 0);
  timeline.seek(99);
  assert.equal(timeline.position, 3);
  timeline.seek(-1);
  assert.equal(timeline.position, 0);
});

/** A store whose frames are their own numbers, and the list of what it asked for and what it no longer wanted. */
function store(numFrames, load) {
  const asked = [];
  const dropped = [];
  const numbers = (start, count, every) => Array.from({ length: count }, (_, i) => ({ step: start + i * every }));
  const options = { chunkFrames: 20, aheadFrames: 60, keptFrames: 100 };
  const frames = new FrameStore(numFrames, options, async (start, count, every, signal) => {
    asked.push([start, count, every]);
    signal.addEventListener("abort", () => dropped.push(start));
    await load?.(start, signal);
    return numbers(start, count, every);
  });
  return { frames, asked, dropped };
}

const settle = async () => {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
};

test("the asked frame comes alone, then what follows it in growing chunks, each frame once", async () => {
  const { frames, asked } = store(301);
  assert.equal((await frames.frame(100)).step, 100);
  await settle();
  assert.deepEqual(asked, [[100, 1, 1], [101, 4, 1], [105, 8, 1], [113, 16, 1], [129, 20, 1], [149, 20, 1]]);
  for (let step = 101; step <= 120; step++) assert.equal((await frames.frame(step)).step, step);
  assert.equal((await frames.frame(300)).step, 300);
  assert.deepEqual(asked.at(-1), [300, 1, 1]);
  await settle();
  assert.deepEqual(asked.at(-1), [300, 1, 1]); // nothing follows the last one
});

test("a jump stops what is no longer wanted, and only the last of many jumps is fetched to its end", async () => {
  const forever = new Promise(() => {});
  const { frames, asked, dropped } = store(4000, (start, signal) =>
    start === 3000 ? null : Promise.race([forever, new Promise((_, no) => signal.addEventListener("abort", () => no(new Error("stopped"))))]),
  );
  const left = [10, 700, 1900].map((step) => assert.rejects(frames.frame(step), /another frame is wanted/));
  assert.equal((await frames.frame(3000)).step, 3000);
  await Promise.all(left);
  assert.deepEqual(asked.slice(0, 4).map(([start]) => start), [10, 700, 1900, 3000]);
  assert.deepEqual(dropped, [10, 700, 1900]);
});

test("going back step by step fetches some frames at once", async () => {
  const { frames, asked } = store(301);
  await frames.frame(200);
  await settle();
  const before = asked.length;
  for (let step = 199; step > 184; step--) await frames.frame(step);
  assert.deepEqual(asked.slice(before), [[192, 8, 1], [184, 8, 1]]);
});

test("at high speed only the frames that are shown are fetched", async () => {
  const { frames, asked } = store(4000);
  await frames.frame(100, 5);
  await frames.frame(105, 5);
  await settle();
  assert.deepEqual(asked.slice(0, 3), [[100, 1, 1], [105, 4, 5], [125, 8, 5]]);
});

test("only so many frames are kept, and never fewer than are fetched ahead", async () => {
  const { frames } = store(120 * 40);
  for (let step = 0; step < 120 * 40; step += 7) await frames.frame(step);
  await settle();
  assert.ok(frames.frames.size <= 100, String(frames.frames.size));
});

test("a frame that failed to load is asked for again", async () => {
  let attempts = 0;
  const { frames } = store(10, async () => {
    if (++attempts === 1) throw new Error("offline");
  });
  await assert.rejects(frames.frame(3), /offline/);
  assert.equal((await frames.frame(3)).step, 3);
});

test("a store that is closed fetches nothing more and keeps nothing", async () => {
  const { frames, asked, dropped } = store(1000, (start) => (start === 500 ? new Promise(() => {}) : undefined));
  await frames.frame(0);
  await settle();
  const waiting = frames.frame(500);
  frames.close();
  assert.deepEqual(dropped, [500]);
  assert.equal(frames.frames.size, 0);
  const before = asked.length;
  await settle();
  assert.equal(asked.length, before);
  void waiting;
});

// Replays: where they are in time, and which frames they fetch.

import assert from "node:assert/strict";
import test from "node:test";

import { FrameStore } from "../../interplay/web/static/js/replay.js";
import { Timeline, clock } from "../../interplay/web/static/js/timeline.js";

test("clock times are minutes and whole seconds", () => {
  assert.deepEqual([0, 0.999, 59.99, 60, 600, -3].map(clock), ["0:00", "0:00", "0:59", "1:00", "10:00", "0:00"]);
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

/** A store whose "pictures" are their own numbers, and the list of what it asked for. */
function store(numFrames) {
  const asked = [];
  const load = async (start, count) => {
    asked.push([start, count]);
    return { pictures: Array.from({ length: count }, (_, i) => ({ step: start + i })), palette: null };
  };
  return { frames: new FrameStore(numFrames, 120, load), asked };
}

test("frames are fetched a chunk at a time, the next chunk ahead of need, each once", async () => {
  const { frames, asked } = store(301);
  for (const index of [0, 5, 119]) assert.equal((await frames.frame(index)).picture.step, index);
  assert.deepEqual(asked, [[0, 120], [120, 120]]);
  assert.equal((await frames.frame(300)).picture.step, 300);
  assert.deepEqual(asked.at(-1), [240, 61]); // the last chunk is shorter
});

test("only a few chunks are kept", async () => {
  const { frames } = store(120 * 40);
  for (let index = 0; index < 120 * 40; index += 120) await frames.frame(index);
  assert.ok(frames.chunks.size <= 8, String(frames.chunks.size));
});

test("a chunk that failed to load is asked for again", async () => {
  let attempts = 0;
  const frames = new FrameStore(10, 120, async (start, count) => {
    if (++attempts === 1) throw new Error("offline");
    return { pictures: Array.from({ length: count }, (_, i) => ({ step: start + i })), palette: null };
  });
  await assert.rejects(frames.frame(3), /offline/);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await frames.frame(3)).picture.step, 3);
});

// Decoding: lossless, in order, and honest about what it cannot decode.

import assert from "node:assert/strict";
import test from "node:test";
import { deflateRawSync } from "node:zlib";

import { FrameDecoder, MissingBase, fitSize, inflateRaw, xorInto } from "../../interplay/web/static/js/codec.js";

const WIDTH = 16;
const HEIGHT = 7;
const SIZE = WIDTH * HEIGHT;

/** Pictures of a world in which one pixel moves. */
const pictures = Array.from({ length: 50 }, (_, step) => Uint8Array.from({ length: SIZE }, (_, i) => (i === step ? 200 : i % 7)));

const message = (kind, step, baseStep, pixels) => ({
  kind, step, baseStep, ended: false, serverMs: 0, reward: 0, payload: new Uint8Array(deflateRawSync(pixels)),
});
const keyFrame = (step) => message(1, step, 0, pictures[step]);
const delta = (step, base = step - 1) => message(2, step, base, pictures[step].map((value, i) => value ^ pictures[base][i]));

test("deltas rebuild every picture exactly", async () => {
  const decoder = new FrameDecoder(WIDTH, HEIGHT);
  const messages = [keyFrame(0), ...pictures.slice(1).map((_, i) => delta(i + 1))];
  const decoded = await Promise.all(messages.map((one) => decoder.push(one)));
  decoded.forEach((picture, step) => assert.deepEqual(picture.pixels, pictures[step], `step ${step}`));
});

test("pictures come out in the order their messages went in", async () => {
  const decoder = new FrameDecoder(WIDTH, HEIGHT);
  const order = [];
  await Promise.all([keyFrame(0), ...pictures.slice(1).map((_, i) => delta(i + 1))].map((one) => decoder.push(one).then(({ step }) => order.push(step))));
  assert.deepEqual(order, pictures.map((_, step) => step));
});

test("a delta may skip steps, as long as its base is the picture before it", async () => {
  const decoder = new FrameDecoder(WIDTH, HEIGHT);
  decoder.push(keyFrame(3));
  assert.deepEqual((await decoder.push(delta(9, 3))).pixels, pictures[9]);
});

test("a delta without its base asks for a key frame, which mends everything", async () => {
  const decoder = new FrameDecoder(WIDTH, HEIGHT);
  await assert.rejects(decoder.push(delta(1)), MissingBase);
  await decoder.push(keyFrame(4));
  await assert.rejects(decoder.push(delta(6, 5)), /needs frame 5, we have 4/);
  await decoder.push(keyFrame(7));
  assert.deepEqual((await decoder.push(delta(8))).pixels, pictures[8]);
});

test("broken or oversized data is an error, not a picture", async () => {
  await assert.rejects(inflateRaw(Uint8Array.of(255, 255, 255, 255), 4));
  await assert.rejects(inflateRaw(new Uint8Array(deflateRawSync(new Uint8Array(5))), 4), /more than 4 bytes/);
  await assert.rejects(inflateRaw(new Uint8Array(deflateRawSync(new Uint8Array(3))), 4), /to 3 bytes, expected 4/);
});

test("XOR covers lengths that are no multiple of four", () => {
  assert.deepEqual([...xorInto(Uint8Array.of(1, 2, 3, 4, 5, 6, 7), Uint8Array.of(1, 1, 1, 1, 1, 1, 1))], [0, 3, 2, 5, 4, 7, 6]);
});

test("a picture fills its room, by a whole number of device pixels per pixel where that loses little", () => {
  const sharp = (width, height) => ({ width, height, smooth: false }), blended = (width, height) => ({ width, height, smooth: true });
  assert.deepEqual(fitSize(160, 210, 800, 650), sharp(480, 630)); // 3 fits, 3.1 would fit
  assert.deepEqual(fitSize(160, 210, 390, 660, 2), sharp(390, 512)); // 4.9 device pixels: 4 would lose a fifth
  assert.deepEqual(fitSize(160, 210, 1366, 593), sharp(452, 593)); // 2.8
  assert.deepEqual(fitSize(400, 400, 200, 300), blended(200, 200)); // larger than the room: shrink
  assert.deepEqual(fitSize(640, 360, 800, 650), blended(800, 450)); // 1.25: pixels of one and two would be seen
  assert.deepEqual(fitSize(500, 500, 898, 540, 1), sharp(500, 500)); // 1.08
  assert.deepEqual(fitSize(640, 360, 800, 650, 1, true), blended(800, 450)); // smooth: all the width
  assert.deepEqual(fitSize(640, 360, 480, 650, 2, true), blended(480, 270));
});

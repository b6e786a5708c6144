// The wire messages as docs/protocol.md writes them.

import assert from "node:assert/strict";
import test from "node:test";

import {
  backoffMs, closeReason, gazeMessage, inputMessage, landMessage, paintedMessage, paletteFromBase64, parseFrame, pointMessage, pressMessage, sceneMessage,
  splitFrames, tracedMessage, turnMessage,
} from "../../interplay/web/static/js/protocol.js";

/** A frame message, built by hand from the table in docs/protocol.md. */
export function frame({ kind = 1, flags = 0, number = 0, step = 0, base = 0, ms = 0, reward = 0, payload = new Uint8Array() } = {}) {
  const buffer = new ArrayBuffer(20 + payload.length);
  const view = new DataView(buffer);
  view.setUint8(0, kind);
  view.setUint8(1, flags);
  view.setUint16(2, number, true);
  view.setUint32(4, step, true);
  view.setUint32(8, base, true);
  view.setUint32(12, ms, true);
  view.setFloat32(16, reward, true);
  new Uint8Array(buffer, 20).set(payload);
  return buffer;
}

test("a frame's header is read field by field", () => {
  const message = parseFrame(frame({ kind: 2, flags: 1, number: 515, step: 70000, base: 69999, ms: 1234, reward: -2.5, payload: Uint8Array.of(9, 8) }));
  assert.deepEqual(
    { ...message, payload: [...message.payload] },
    { kind: 2, ended: true, fresh: false, number: 515, step: 70000, baseStep: 69999, serverMs: 1234, reward: -2.5, payload: [9, 8] },
  );
});

test("a message that is too short or of an unknown kind is refused", () => {
  assert.throws(() => parseFrame(new ArrayBuffer(19)), /at least 20 bytes, got 19/);
  assert.throws(() => parseFrame(frame({ kind: 7 })), /unknown kind of frame 7/);
});

test("an input message has the sixteen bytes of the protocol", () => {
  const bytes = inputMessage(0b101, 258, 1.5);
  // 1, 0, buttons u16, step u32, f64 1.5 = 0x3ff8000000000000; all little-endian
  assert.deepEqual([...new Uint8Array(bytes)], [1, 0, 5, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f]);
});

test("an input message with a turn has the 28 bytes of the protocol", () => {
  const bytes = Buffer.from(turnMessage(0x80000001, 258, 1.5, -1, 2));
  // The same bytes as in tests/play/test_wire.py: 2, zeros, step u32, f64, buttons u32, f32 -1, f32 2; all little-endian.
  assert.equal(bytes.toString("hex"), "0200000002010000000000000000f83f01000080000080bf00000040");
});

test("a press and what the pointer asks for have the 28 bytes of the protocol", () => {
  const press = Buffer.from(pressMessage(0x80000001, 258, 1.5, 2, 259));
  assert.equal(press.toString("hex"), "0400000002010000000000000000f83f010000800200000003010000"); // as in tests/play/test_wire.py
  const point = Buffer.from(pointMessage(0x80000001, 258, 1.5, -1, 2));
  assert.equal(point.toString("hex"), "0500000002010000000000000000f83f01000080000080bf00000040");
});

test("an input message with a gaze differs in its kind alone", () => {
  const bytes = Buffer.from(gazeMessage(0x80000001, 258, 1.5, -1, 2));
  assert.equal(bytes.toString("hex"), "0300000002010000000000000000f83f01000080000080bf00000040");
});

test("only a scene can be fresh", () => {
  assert.deepEqual([1, 4, 5].map((kind) => parseFrame(frame({ kind, flags: 2 })).fresh), [false, true, false]);
  assert.deepEqual(parseFrame(frame({ kind: 4, flags: 1 })).fresh, false);
  assert.deepEqual(parseFrame(frame({ kind: 4, flags: 3 })).ended, true);
});

test("messages about the scene keep their limits", () => {
  assert.deepEqual(sceneMessage("here", { width: 640, height: 360 }), { type: "scene", drawn: "here", gui_width: 320, gui_height: 180 });
  assert.deepEqual([0, 3, 64].map((parts) => landMessage(parts).parts), [1, 3, 8]);
  const painted = { yaw: 12.3456, pitch: -0.004, width: 1280, height: 720, fps: 59.94012, input_ms: null };
  assert.deepEqual(paintedMessage(painted), { type: "painted", ...painted, yaw: 12.35, pitch: -0, fps: 59.94 });
  assert.equal(paintedMessage({ ...painted, input_ms: 81.2345 }).input_ms, 81.23);
});

test("the answer about a traced step has the page's own times", () => {
  assert.deepEqual(tracedMessage(12.5, 20.25), { type: "traced", arrived_ms: 12.5, painted_ms: 20.25 });
});

test("frames with their lengths before them are split, and a cut-off list is noticed", () => {
  const first = new Uint8Array(frame({ step: 1, payload: Uint8Array.of(1, 2, 3) }));
  const second = new Uint8Array(frame({ step: 2 }));
  const body = new Uint8Array(8 + first.length + second.length);
  new DataView(body.buffer).setUint32(0, first.length, true);
  body.set(first, 4);
  new DataView(body.buffer).setUint32(4 + first.length, second.length, true);
  body.set(second, 8 + first.length);
  assert.deepEqual(splitFrames(body.buffer).map(({ step, payload }) => [step, payload.length]), [[1, 3], [2, 0]]);
  assert.deepEqual(splitFrames(new ArrayBuffer(0)), []);
  assert.throws(() => splitFrames(body.buffer.slice(0, body.length - 1)), /cut off/);
  assert.throws(() => splitFrames(body.buffer.slice(0, 2)), /cut off/);
});

test("a palette becomes opaque little-endian pixels", () => {
  const bytes = new Uint8Array(768);
  bytes.set([0x11, 0x22, 0x33], 3);
  const table = paletteFromBase64(Buffer.from(bytes).toString("base64"));
  assert.equal(table[0], 0xff000000);
  assert.equal(table[1], 0xff332211);
  assert.deepEqual([...new Uint8Array(table.buffer, 4, 4)], [0x11, 0x22, 0x33, 0xff]); // RGBA in memory
  assert.throws(() => paletteFromBase64("AAAA"), /768 bytes, got 3/);
});

test("only close codes that time can heal are tried again", () => {
  for (const code of [4400, 4401, 4403, 4409, 4413]) assert.equal(closeReason(code).retry, false, String(code));
  for (const code of [1001, 1006, 1012, 4429]) assert.equal(closeReason(code).retry, true, String(code));
  const messages = new Set([4400, 4401, 4403, 4409, 4413, 4429, 1006].map((code) => closeReason(code).message));
  assert.equal(messages.size, 7); // each says its own thing
});

test("attempts to connect come further and further apart, five seconds at most", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 20].map(backoffMs), [250, 500, 1000, 2000, 4000, 5000, 5000]);
});

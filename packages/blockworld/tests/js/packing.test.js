// Messages of a scene: the same bytes as Python packs, and refusal of those that lie.

import assert from "node:assert/strict";
import test from "node:test";

import { unpack } from "../../blockworld/web/packing.js";

/** A message made by hand, as blockworld/scene/packing.py makes them. */
function message(head, body = []) {
  let bytes = new TextEncoder().encode(typeof head === "string" ? head : JSON.stringify(head));
  bytes = Uint8Array.from([...bytes, ...Array(-bytes.length & 3).fill(32)]);
  const whole = new Uint8Array(4 + bytes.length + body.length);
  new DataView(whole.buffer).setUint32(0, bytes.length, true);
  whole.set(bytes, 4);
  whole.set(body, 4 + bytes.length);
  return whole.buffer;
}

const withPlace = (place, body = [1, 2, 3, 4]) => message({ arrays: { a: place } }, body);

test("a document and its arrays come back as views of the bytes", () => {
  const arrays = { a: ["uint8", [3], 0], b: ["uint32", [1], 4], c: ["float32", [1, 1], 8], d: ["int16", [0, 7], 12] };
  const buffer = message({ tick: 3, text: "é", arrays }, [1, 2, 250, 0, 255, 255, 255, 255, 0, 0, 128, 63]);
  const { document, arrays: found, shapes } = unpack(buffer);
  assert.deepEqual(document, { tick: 3, text: "é" });
  assert.deepEqual(found, { a: Uint8Array.of(1, 2, 250), b: Uint32Array.of(4294967295), c: Float32Array.of(1), d: new Int16Array(0) });
  assert.deepEqual(shapes, { a: [3], b: [1], c: [1, 1], d: [0, 7] });
  assert.equal(found.a.buffer, buffer);
});

test("an array without axes has one value", () => {
  assert.deepEqual(unpack(withPlace(["int32", [], 0])).arrays.a, Int32Array.of(67305985));
});

test("bytes packed by Python are read", () => {
  // packing.pack({"tick": 1}, {"at": np.array([[1, 2, 3]], np.uint8), "states": np.array([513], np.uint16)})
  const packed = Buffer.from(
    "SAAAAHsidGljayI6MSwiYXJyYXlzIjp7ImF0IjpbInVpbnQ4IixbMSwzXSwwXSwic3RhdGVzIjpbInVpbnQxNiIsWzFdLDRdfX0gIAECAwABAgAA", "base64",
  );
  const { document, arrays, shapes } = unpack(Uint8Array.from(packed).buffer);
  assert.deepEqual(document, { tick: 1 });
  assert.deepEqual(arrays, { at: Uint8Array.of(1, 2, 3), states: Uint16Array.of(513) });
  assert.deepEqual(shapes.at, [1, 3]);
});

for (const place of [
  ["uint8", [5], 0], ["uint8", [4], 4], ["uint8", [2 ** 52, 2 ** 52], 0], ["uint8", [1e308, 1e308], 0], ["uint32", [2 ** 52], 0],
  ["uint8", [-1], 0], ["uint8", [-2, -2], 0], ["uint8", [1.5], 0], ["uint8", [true], 0], ["uint8", ["1"], 0], ["uint8", [null], 0],
  ["uint8", 4, 0], ["uint8", Array(9).fill(1), 0], ["uint8", [1], 1], ["uint8", [1], -4], ["uint8", [1], 2 ** 60], ["uint8", [1], "0"],
  ["uint8", [0], 8], ["float64", [0], 0], ["constructor", [0], 0], [["uint8"], [0], 0], ["uint8", [1]], ["uint8", [1], 0, 0],
  { dtype: "uint8" }, null, 7, "uint8",
]) {
  test(`an array cannot be at ${JSON.stringify(place)}`, () => assert.throws(() => unpack(withPlace(place)), /"a" of a scene's message cannot be at/));
}

test("a head that is none is refused", () => {
  for (const buffer of [
    new ArrayBuffer(0), new ArrayBuffer(3), new ArrayBuffer(4), message("{}"), message("[]"), message("null"), message("nope"),
    message({ arrays: [] }), message({ arrays: 3 }), Uint8Array.of(255, 255, 255, 255, 123, 125, 32, 32).buffer,
    Uint8Array.of(3, 0, 0, 0, 123, 125, 32).buffer, Uint8Array.of(4, 0, 0, 0, 255, 254, 32, 32).buffer,
  ]) assert.throws(() => unpack(buffer));
});

test("every cut of a message is refused", () => {
  const whole = message({ tick: 1, arrays: { a: ["uint16", [2], 0] } }, [1, 2, 3, 4]);
  for (let length = 0; length < whole.byteLength; length++) assert.throws(() => unpack(whole.slice(0, length)), `${length} bytes`);
});

test("a name that JavaScript knows is only a name", () => {
  const { arrays } = unpack(message('{"arrays": {"__proto__": ["uint8", [1], 0], "toString": ["uint8", [1], 0]}}', [9, 0, 0, 0]));
  assert.deepEqual(Object.keys(arrays).sort(), ["__proto__", "toString"]);
});

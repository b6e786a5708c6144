// The compiled ray-caster where nothing is known; that its pictures are the server's is tested in tests/test_compiled_raycaster.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { Caster } from "../../blockworld/web/land/caster.js";
import { NUMBERS } from "../../blockworld/web/land/shaders.js";

const module = new WebAssembly.Module(readFileSync(new URL("../../blockworld/web/land/raycaster.wasm", import.meta.url)));
/** Two states, air and stone. @type {import("../../blockworld/web/land/tables.js").Tables} */
const tables = {
  textures: 1,
  levels: 5,
  cracks: [],
  states: Uint32Array.of(0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0),
  boxes: new Float32Array(12),
  pages: new Uint8Array(4 * (256 + 64 + 16 + 4 + 1)).fill(255),
  land: new Float32Array(256 * 256 * 3),
  clouds: new Float32Array(256 * 256).fill(1),
  ripples: new Float32Array(128 * 128 * 2),
};
const SIZE = /** @type {[number, number, number]} */ ([32, 32, 32]);

/** From the middle of the land to the south, under a red sky. */
function numbers() {
  const all = new Float32Array(NUMBERS.ALL);
  all.set([16, 16, 16, /* right */ -1, 0, 0, /* up */ 0, 1, 0, /* ahead */ 0, 0, 1]);
  all.set([1, 0.5, 64, 0.01], NUMBERS.TAN_X); // and half the height, how far one sees, and the size of a pixel
  all.set([200, 0, 0, 200, 0, 0], 15); // horizon and zenith
  all.set([0, 200, 0], 24); // green clouds
  return all;
}

function begun() {
  const caster = new Caster(module, tables);
  caster.begin(SIZE);
  return caster;
}

/** @param {number} cell */
function full(cell) {
  return { corner: /** @type {[number, number, number]} */ ([0, 0, 0]), size: SIZE, bytes: new Uint8Array(new Uint32Array(32 ** 3).fill(cell).buffer) };
}
const NOTHING = [-1, -1, -1, -1, -1, -1, -1];

test("what is not known yet looks like the sky, as far as one sees", () => {
  const caster = begun(), look = { numbers: numbers(), width: 17, height: 9, marks: NOTHING, first: 0, every: 1 };
  const { pixels, depths } = caster.cast(look);
  assert.equal(pixels.length, 3 * 17 * 9);
  assert.ok(pixels.some((value) => value > 0) && depths.every((depth) => depth === 64));
  caster.put(full(1 << 24)); // air
  assert.deepEqual(caster.cast(look), { pixels, depths });
});

test("there is no picture of rows that it does not have", () => {
  const look = { numbers: numbers(), width: 17, height: 9, marks: NOTHING, every: 4 }, caster = begun();
  assert.deepEqual([0, 1, 2, 3].map((first) => caster.cast({ ...look, first }).depths.length / 17), [8, 1, 0, 0]);
});

test("a land that begins again is not known, also where it was", () => {
  const caster = begun(), look = { numbers: numbers(), width: 8, height: 8, marks: NOTHING, first: 0, every: 1 };
  const before = caster.cast(look);
  caster.put(full(1 | (0xff << 16))); // stone
  const room = caster.memory.buffer.byteLength;
  assert.notDeepEqual(caster.cast(look).pixels, before.pixels);
  caster.begin(SIZE);
  assert.deepEqual(caster.cast(look), before);
  assert.equal(caster.memory.buffer.byteLength, room);
});

test("pictures of other sizes leave the land as it is", () => {
  const caster = begun(), look = { numbers: numbers(), marks: NOTHING, first: 0, every: 1 };
  caster.put({ corner: [1, 2, 3], size: [1, 2, 1], bytes: new Uint8Array(new Uint32Array([0x10ff0000, 0x020f0000]).buffer) });
  for (const [width, height] of [[8, 8], [640, 360], [1, 1]]) {
    assert.equal(caster.cast({ ...look, width, height }).depths.length, width * height);
    const at = (1 * 32 + 3) * 32 + 2;
    assert.deepEqual([...caster.arrays.skip.subarray(at, at + 2)], [0x10, 0x02]);
    assert.deepEqual([...caster.arrays.light.subarray(at, at + 2)], [0xff, 0x0f]);
    assert.equal(caster.arrays.blocks[at - 1], 65535);
  }
});

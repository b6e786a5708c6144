// The cells of a land in the browser, against a slow search for the nearest block.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Land, MAX_SKIP, UNKNOWN } from "../../blockworld/web/land/land.js";

const [SX, SY, SZ] = [64, 64, 96];
let seed = 7;
const chance = (/** @type {number} */ below) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below;
const index = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ z) => (x * SZ + z) * SY + y;

/** A hilly land with some blocks in the air: states, [x][z][y]. */
function states() {
  const all = new Uint16Array(SX * SY * SZ);
  for (let x = 0; x < SX; x++)
    for (let z = 0; z < SZ; z++) all.fill(3, index(x, 0, z), index(x, 4 + ((x * 7 + z * 5) % 9), z));
  for (let k = 0; k < 40; k++) all[index(chance(SX), chance(SY), chance(SZ))] = 700;
  return all;
}

/** @param {Uint16Array} all @param {number[][]} corners of sections, in cells */
function frame(all, corners) {
  const cells = new Uint8Array(corners.length * 4096), lights = new Uint8Array(cells.length).fill(240);
  corners.forEach(([x0, y0, z0], k) => {
    let to = k * 4096;
    for (let x = 0; x < 16; x++)
      for (let z = 0; z < 16; z++) for (let y = 0; y < 16; y++) cells[to++] = [0, 3, 700].indexOf(all[index(x0 + x, y0 + y, z0 + z)]);
  });
  const at = Uint8Array.from(corners.flat(), (value) => value / 16);
  return { at, palette: Uint16Array.of(0, 3, 700), cells, lights };
}

/** Corners of the sections of a 32 x 32 part. @param {number} px @param {number} pz */
function part(px, pz) {
  const corners = [];
  for (let x = 0; x < 32; x += 16) for (let z = 0; z < 32; z += 16) for (let y = 0; y < SY; y += 16) corners.push([px + x, y, pz + z]);
  return corners;
}

/** @param {Land} land */
function checkDistances(land, exact = true) {
  for (let n = 0; n < 1500; n++) {
    const x = chance(SX), y = chance(SY), z = chance(SZ), cell = land.cells[index(x, y, z)], skip = cell >>> 24;
    let nearest = MAX_SKIP;
    for (let r = 0; r < MAX_SKIP && nearest === MAX_SKIP; r++)
      for (let i = Math.max(0, x - r); i <= Math.min(SX - 1, x + r); i++)
        for (let k = Math.max(0, z - r); k <= Math.min(SZ - 1, z + r); k++)
          for (let j = Math.max(0, y - r); j <= Math.min(SY - 1, y + r); j++) if (land.cells[index(i, j, k)] & 0xffff) nearest = r;
    if (exact) assert.equal(skip, nearest, `at ${x} ${y} ${z}`);
    else assert.ok(skip <= nearest && (skip > 0) === (nearest > 0), `at ${x} ${y} ${z}: ${skip} of ${nearest}`);
  }
}

test("a land that comes in parts has the distance to the nearest block everywhere", () => {
  const all = states(), land = new Land([SX, SY, SZ]);
  for (let x = 0; x < SX; x += 32)
    for (let z = 0; z < SZ; z += 32) {
      land.part(frame(all, part(x, z)));
      checkDistances(land, false);
    }
  while (land.improve());
  all.forEach((state, at) => assert.equal(land.cells[at] & 0xffff, state));
  checkDistances(land);
});

test("what has changed is what the graphics card is sent", () => {
  const all = states(), land = new Land([SX, SY, SZ]), copy = land.cells.slice();
  const take = () => {
    for (const { corner: [x0, y0, z0], size: [nx, ny, nz], bytes } of land.takeBoxes()) {
      const values = new Uint32Array(bytes.buffer);
      let from = 0;
      for (let x = x0; x < x0 + nx; x++) for (let z = z0; z < z0 + nz; z++) for (let y = y0; y < y0 + ny; y++) copy[index(x, y, z)] = values[from++];
    }
    assert.deepEqual(copy, land.cells);
  };
  for (let x = 0; x < SX; x += 32) for (let z = 0; z < SZ; z += 32) land.part(frame(all, part(x, z)));
  take();
  while (land.improve());
  take();
  for (let n = 0; n < 60; n++) {
    const cells = Uint32Array.from({ length: 8 }, () => chance(all.length)), lit = Uint32Array.from({ length: 20 }, () => chance(all.length));
    land.change({ cells, states: Uint16Array.from(cells, () => [0, 3, 700][chance(3)]), lit, lights: Uint8Array.from(lit, () => chance(256)) });
    take();
  }
  checkDistances(land, false);
  land.part(frame(all, part(0, 32))); // all parts are its neighbours
  while (land.improve());
  checkDistances(land);
});

test("sections that were not sent stay unknown, whatever changes in them", () => {
  const land = new Land([SX, SY, SZ]);
  land.part(frame(states(), [[16, 16, 32]]));
  const inside = index(17, 17, 33), outside = index(0, 0, 0);
  land.change({ cells: Uint32Array.of(inside, outside), states: Uint16Array.of(9, 9), lit: Uint32Array.of(), lights: Uint8Array.of() });
  assert.equal(land.cells[inside] & 0xffff, 9);
  assert.equal(land.cells[outside], UNKNOWN);
});

test("frames that lie are refused", () => {
  const land = new Land([SX, SY, SZ]), good = frame(states(), [[0, 0, 0]]), none = { lit: Uint32Array.of(), lights: Uint8Array.of() };
  assert.throws(() => land.part({ ...good, at: Uint8Array.of(4, 0, 0) }), /outside the land/);
  assert.throws(() => land.part({ ...good, cells: good.cells.subarray(1) }), /lacks cells/);
  assert.throws(() => land.part({ ...good, palette: Uint16Array.of(0) }), /palette/);
  assert.throws(() => land.change({ cells: Uint32Array.of(SX * SY * SZ), states: Uint16Array.of(1), ...none }), /no cell/);
  assert.throws(() => land.change({ cells: Uint32Array.of(1), states: Uint16Array.of(), ...none }), /without their values/);
  assert.throws(() => new Land([64, 64, 65]), /sides of 32/);
});

test("a land that is kept goes back to what it was, but for what is said to differ", () => {
  const all = states(), land = new Land([SX, SY, SZ]);
  for (let x = 0; x < SX; x += 32) for (let z = 0; z < SZ; z += 32) land.part(frame(all, part(x, z)));
  const nothing = { cells: new Uint32Array(), states: new Uint16Array(), lit: new Uint32Array(), lights: new Uint8Array() };
  assert.throws(() => land.again(nothing), /not kept/);
  const cells = () => Uint32Array.from(land.cells, (cell) => cell & 0xffffff), first = cells();
  land.remember();
  const [one, two, three] = [index(5, 30, 5), index(6, 30, 5), index(7, 2, 7)];
  land.change({ cells: Uint32Array.of(one, two, three), states: Uint16Array.of(3, 3, 0), lit: Uint32Array.of(one, three), lights: Uint8Array.of(0, 17) });
  land.takeBoxes();
  land.again({ cells: Uint32Array.of(two), states: Uint16Array.of(700), lit: Uint32Array.of(three), lights: Uint8Array.of(17) });
  const expected = first.slice();
  expected[two] = 700 | (240 << 16);
  expected[three] = (first[three] & 0xffff) | (17 << 16);
  assert.deepEqual(cells(), expected);
  checkDistances(land, false);
  const touched = land.takeBoxes().reduce((sum, { size }) => sum + size[0] * size[1] * size[2], 0);
  assert.ok(touched > 0 && touched < 40_000, `${touched} cells go to the graphics card`);
  land.again(nothing);
  assert.deepEqual(cells(), first);
  assert.equal(land.originals?.size, 0);
});

test("from above one sees the highest block, and water by its depth", () => {
  const land = new Land([32, 32, 32]), lights = new Uint8Array(8 * 4096).fill(240), palette = Uint16Array.of(0, 1, 2, 3);
  const corners = [];
  for (let x = 0; x < 2; x++) for (let z = 0; z < 2; z++) for (let y = 0; y < 2; y++) corners.push([x, y, z]);
  const cells = new Uint8Array(8 * 4096);
  corners.forEach(([x, y], k) => {
    for (let column = 0; column < 256; column++) {
      if (y > 0) continue;
      cells.fill(1, 4096 * k + 16 * column, 4096 * k + 16 * column + 3); // stone
      if (x > 0) cells.fill(2, 4096 * k + 16 * column + 3, 4096 * k + 16 * column + 5); // two blocks of water
      else cells[4096 * k + 16 * column + 5] = 3; // something that is looked through
    }
  });
  land.part({ at: Uint8Array.from(corners.flat()), palette, cells, lights });
  const colours = Uint8Array.of(0, 0, 0, 0, 100, 100, 100, 255, 50, 80, 150, 128, 255, 0, 0, 0);
  const { width, height, pixels } = land.overhead(colours);
  assert.deepEqual([width, height], [32, 32]);
  assert.deepEqual([...pixels.slice(0, 4)], [100, 100, 100, 255]);
  assert.deepEqual([...pixels.slice(4 * 31, 4 * 32)], [44, 70, 132, 255]);
});

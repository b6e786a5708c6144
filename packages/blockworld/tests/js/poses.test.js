// What lies between two ticks of a figure, and where its boxes are.

import assert from "node:assert/strict";
import test from "node:test";

import * as poses from "../../blockworld/web/poses.js";

const { ADD_RED, BORN, FLUTTER, GREEN, HEAD_YAW, INSTANCE, LIGHT, LIT_RED, MANNER, MODEL, PART, RED, ROW, SCALE, SPINS, WALKED, X, Y, YAW, YOUNG, Z } = poses;

const row = (/** @type {Record<number, number>} */ values) => {
  const out = new Float64Array(ROW);
  out[SCALE] = out[RED] = out[GREEN] = out[GREEN + 1] = 1;
  for (const [column, value] of Object.entries(values)) out[Number(column)] = value;
  return out;
};
const close = (/** @type {ArrayLike<number>} */ found, /** @type {number[]} */ expected, bound = 1e-6) =>
  expected.forEach((value, i) => assert.ok(Math.abs(found[i] - value) < bound, `${i}: ${found[i]}, expected ${value}`));

test("the columns are those of the pictures", () => {
  assert.deepEqual([X, YAW, MODEL, RED, LIGHT, BORN, ROW], [0, 3, 13, 14, 19, 22, 23]);
});

test("places go straight, angles the short way, and what has no middle is the newer one", () => {
  const out = new Float64Array(ROW);
  poses.between(row({ [X]: 1, [YAW]: 3, [HEAD_YAW]: -0.2, [RED]: 0.1, [FLUTTER]: 0 }), row({ [X]: 2, [YAW]: -3, [HEAD_YAW]: 0.2, [RED]: 0.5, [FLUTTER]: 1 }), 0.25, out);
  assert.equal(out[X], 1.25);
  assert.equal(out[FLUTTER], 0.25);
  assert.equal(out[RED], 0.5);
  close([out[HEAD_YAW]], [-0.1]);
  close([Math.cos(out[YAW] - 3), Math.sin(out[YAW] - 3)], [Math.cos(0.25 * (2 * Math.PI - 6)), Math.sin(0.25 * (2 * Math.PI - 6))]);
});

test("at the end of the way a figure stands exactly where the server says", () => {
  const out = new Float64Array(ROW), to = row({ [X]: 0.1, [YAW]: 7.1, [WALKED]: 0.3 });
  poses.between(row({ [X]: 0.7, [YAW]: -7, [WALKED]: 0.1 }), to, 1, out);
  assert.deepEqual(out, to);
});

test("steps that are counted from 0 again do not run backwards", () => {
  const out = new Float64Array(ROW);
  poses.between(row({ [WALKED]: 999.9 }), row({ [WALKED]: 0.1 }), 0.5, out);
  assert.equal(out[WALKED], 0.1);
});

test("more than four blocks in a tick is no step, nor is another body", () => {
  assert.equal(poses.isStep(row({ [Z]: 1 }), row({ [Z]: 4.9 })), true);
  assert.equal(poses.isStep(row({ [Z]: 1 }), row({ [Z]: 5.1 })), false);
  assert.equal(poses.isStep(row({ [MODEL]: 1 }), row({ [MODEL]: 2 })), false);
});

test("light is what its value gives to white, and a blow adds red to it", () => {
  const bright = new Float32Array(256 * 3);
  bright.set([0.5, 0.25, 0.125], 3 * 0x53);
  const hurt = row({ [LIGHT]: 0x53, [GREEN]: 0.5, [LIT_RED]: 70 });
  poses.shine(hurt, 1, 0, bright);
  assert.deepEqual([...hurt.slice(RED, ADD_RED + 1)], [0.5, 0.125, 0.125, 35]);
  const burning = row({ [LIGHT]: -1, [RED]: 1.2 });
  poses.shine(burning, 1, 0, bright);
  assert.equal(burning[RED], 1.2);
});

test("items turn and bob with their age", () => {
  const item = row({ [LIGHT]: -1, [MANNER]: SPINS, [BORN]: 90, [Y]: 8 });
  poses.shine(item, 3, 100, new Float32Array(768));
  close([item[YAW], item[Y]], [10 * 0.05 + 3 * 0.7, 8 + 0.1 + 0.06 * Math.sin(4)]);
});

test("a quarter to the right takes the front of a body from south to west", () => {
  const turn = new Float64Array(9);
  poses.turned(0, Math.PI / 2, 0, turn); // the front is +z; the column of z says where it goes
  close([turn[2], turn[5], turn[8]], [-1, 0, 0]);
  poses.turned(Math.PI / 2, 0, 0, turn); // tipped over, it looks down
  close([turn[2], turn[5], turn[8]], [0, -1, 0]);
});

test("heads of the young are half as large again, and boxes count from the eye", () => {
  const parts = new Float32Array(2 * PART);
  parts.set([0, 1, 0, -1, 0, -1, 1, 2, 1]); // its pivot one block up
  parts.set([0, 1, 0, -1, 0, -1, 1, 2, 1], PART);
  parts[PART + poses.HEAD] = 1;
  const out = new Float32Array(2 * INSTANCE);
  poses.place(row({ [X]: 10, [Y]: 4, [SCALE]: 0.5, [YOUNG]: 1 }), parts, 0, 2, [9, 3, 0], [-1, 0, 0, 0, 1, 0, 0, 0, 1], out, 0);
  close([out[3], out[7], out[11]], [1, 1.5, 0]);
  close(out.subarray(16, 20), [0.5, 1, 0.5, 0]);
  close(out.subarray(INSTANCE + 12, INSTANCE + 16), [-0.75, 0, -0.75, 1]);
});

test("the player of the inventory looks at the cursor and stands upright", () => {
  for (const [x, y] of [[-60, 200], [0, 150], [40, 150], [50, 0], [250, 150]]) {
    const yaw = -Math.atan2(x - 50, 40), pitch = Math.atan2(y - 24, 40);
    const pose = poses.upright(row({ [YAW]: Math.PI + 0.5 * yaw, [poses.HEAD_YAW]: 0.5 * yaw, [poses.HEAD_PITCH]: 0.6 * pitch }));
    const head = new Float64Array(9);
    poses.turned(pose[poses.HEAD_PITCH], pose[YAW], 0, head);
    const lean = (Math.atan2(head[1], head[4]) * 180) / Math.PI; // where its own up points in the picture
    assert.ok(Math.abs(lean) < 6, `with the cursor at ${x}, ${y} the head leans by ${lean} degrees`);
    assert.equal(pose[poses.HEAD_YAW], 0); // body and head turn together, to where the cursor is
    assert.equal(Math.sign(pose[YAW] - Math.PI), Math.sign(50 - x));
  }
});

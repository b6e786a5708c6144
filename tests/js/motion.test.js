// The camera of a world drawn in the browser.

import assert from "node:assert/strict";
import test from "node:test";

import { Cursor, FreeCamera, Gaze, Motion, Ride, wrapped } from "../../interplay/web/static/js/scene/motion.js";

const me = (/** @type {object} */ more = {}) => ({ x: 10, y: 64, z: -3, eye: 1.62, yaw: 30, pitch: 5, fov: 70, turned: false, gui: null, ...more });

test("angles are wrapped to the half circle each way", () => {
  assert.deepEqual([0, 180, -180, 190, -190, 725].map(wrapped), [0, -180, -180, -170, 170, 5]);
});

test("the view turns at once, round and round, and no further than straight up and down", () => {
  const gaze = new Gaze();
  gaze.turn(100, 350);
  assert.deepEqual([gaze.pitch, gaze.yaw], [90, -10]);
  gaze.turn(-1, 20); // what went beyond straight down is forgotten
  assert.deepEqual([gaze.pitch, gaze.yaw], [89, 10]);
  gaze.turn(-500, 0);
  assert.equal(gaze.pitch, -90);
});

test("walking is shown between two ticks, in the time of one", () => {
  const motion = new Motion();
  assert.equal(motion.camera(0), null);
  motion.step(me(), 1000, true);
  assert.deepEqual(motion.camera(1000), { x: 10, y: 65.62, z: -3, fov: 70, yaw: 30, pitch: 5 });
  motion.step(me({ x: 10.2 }), 1050);
  assert.deepEqual([1050, 1075, 1100, 1300].map((now) => Math.round(1000 * (motion.camera(now)?.x ?? 0))), [10000, 10100, 10200, 10200]);
});

test("a tick that comes early makes no jump", () => {
  const motion = new Motion();
  motion.step(me(), 0, true);
  motion.step(me({ x: 11 }), 50);
  const before = motion.camera(80)?.x;
  motion.step(me({ x: 12 }), 80);
  assert.equal(motion.camera(80)?.x, before);
  assert.equal(motion.camera(130)?.x, 12);
});

test("sneaking and the field of view change in between as well", () => {
  const motion = new Motion();
  motion.step(me(), 0, true);
  motion.step(me({ eye: 1.27, fov: 80 }), 50);
  const camera = motion.camera(75);
  assert.ok(camera);
  assert.ok(Math.abs(camera.y - (64 + (1.62 + 1.27) / 2)) < 1e-9);
  assert.equal(camera.fov, 75);
});

test("a jump of more than four blocks is shown at once", () => {
  const motion = new Motion();
  motion.step(me(), 0, true);
  motion.step(me({ x: 13.9 }), 50);
  assert.equal(motion.camera(50)?.x, 10); // fast, but on the way
  motion.step(me({ x: 100 }), 100);
  assert.equal(motion.camera(100)?.x, 100);
  motion.step(me({ x: 101 }), 110, true); // after news that stand alone
  assert.equal(motion.camera(110)?.x, 101);
});

test("the server's angles count only where the world turned the view, or starts anew", () => {
  const motion = new Motion();
  assert.equal(motion.step(me(), 0, true), true);
  motion.gaze.turn(10, 10);
  assert.equal(motion.step(me(), 50), false);
  assert.deepEqual([motion.gaze.pitch, motion.gaze.yaw], [15, 40]);
  assert.equal(motion.step(me({ yaw: -90, pitch: 0, turned: true }), 100), true);
  assert.deepEqual([motion.gaze.pitch, motion.gaze.yaw], [0, -90]);
});

test("the cursor is shown where the mouse is, of which the world knows a part", () => {
  const cursor = new Cursor(320); // half a frame: 10 / 3 GUI pixels for a degree
  const rounded = (/** @type {object} */ untold) => cursor.shift({ pitch: 0, yaw: 0, ...untold }).map((value) => Math.round(100 * value) / 100);
  assert.deepEqual(rounded({ yaw: 3 }), [10, 0]);
  cursor.tell(100.5, -3, 3);
  cursor.tell(120, 0, 6);
  assert.deepEqual(rounded({}), [30, -10]);
  cursor.use(100); // whole ms: the first one
  assert.deepEqual(rounded({ pitch: 0.3 }), [20, 1]);
  cursor.use(120);
  assert.deepEqual(rounded({}), [0, 0]);
});

test("the gaze of a recorded player turns the short way between two ticks", () => {
  const ride = new Ride();
  assert.equal(ride.camera(0), null);
  ride.step(me({ yaw: 170, pitch: 0 }), 1000, true);
  ride.step(me({ yaw: -170, pitch: 10 }), 1050);
  const seen = [1050, 1075, 1100].map((now) => ride.camera(now));
  assert.deepEqual(seen.map((camera) => camera?.yaw), [170, -180, -170]);
  assert.deepEqual(seen.map((camera) => camera?.pitch), [0, 5, 10]);
  ride.step(me({ yaw: 0 }), 2000, true);
  assert.equal(ride.camera(2000)?.yaw, 0);
});

test("a free camera goes where it looks, through everything, and stays over the land", () => {
  const free = new FreeCamera();
  free.size = [64, 32, 64];
  free.begin({ x: 32, y: 20, z: 32, yaw: 0, pitch: 0, fov: 30 });
  free.move(4, 0, 0);
  assert.deepEqual([free.camera.x, free.camera.y, free.camera.z, free.camera.fov], [32, 20, 36, 70]);
  free.move(0, 2, 1);
  assert.deepEqual([free.camera.x, free.camera.y, free.camera.z], [30, 21, 36]);
  free.turn(90, 200);
  assert.deepEqual([free.camera.yaw, free.camera.pitch], [90, 90]);
  free.move(-1000, 0, 0);
  assert.equal(free.camera.y, 32 + 40 - 0.01);
  free.move(0, 1000, 0);
  assert.equal(free.camera.z, 0.01);
});

// What the mouse turns and what its wheel selects.

import assert from "node:assert/strict";
import test from "node:test";

import { Hotbar, Turn } from "../../interplay/web/static/js/mouse.js";

test("movements add up to one turn: right and down are positive", () => {
  const turn = new Turn(0.25);
  assert.equal(turn.isPending, false);
  turn.add(4, 0);
  turn.add(-1, 10);
  assert.equal(turn.isPending, true);
  assert.deepEqual(turn.take(), { pitch: 2.5, yaw: 0.75 });
  assert.equal(turn.isPending, false);
  assert.deepEqual(turn.take(), { pitch: 0, yaw: 0 });
});

test("what one message cannot say stays for the next", () => {
  const turn = new Turn(1);
  turn.add(-400, 180);
  assert.deepEqual(turn.take(), { pitch: 180, yaw: -180 });
  assert.deepEqual(turn.take(), { pitch: 0, yaw: -180 });
  assert.deepEqual(turn.take(), { pitch: 0, yaw: -40 });
  turn.add(1, 1);
  turn.clear();
  assert.equal(turn.isPending, false);
});

const bar = () => new Hotbar(["jump", "hotbar.10", "hotbar.2", "hotbar.1", "hotbar.x"]);

test("the wheel goes through the hotbar in order and round", () => {
  const hotbar = bar();
  assert.deepEqual(hotbar.names, ["hotbar.1", "hotbar.2", "hotbar.10"]);
  assert.equal(hotbar.scroll(100, 0), "hotbar.2");
  assert.equal(hotbar.scroll(120, 0), "hotbar.10");
  assert.equal(hotbar.scroll(3, 1), "hotbar.1"); // three lines
  assert.equal(hotbar.scroll(-100, 0), "hotbar.10");
});

test("a touchpad's small steps add up to a notch, and turning back starts anew", () => {
  const hotbar = bar();
  const steps = [20, 20, 20, 20, -20, 40, 20];
  assert.deepEqual(steps.map((delta) => hotbar.scroll(delta, 0)), [null, null, "hotbar.2", null, null, null, "hotbar.10"]);
});

test("the wheel goes on from what a key selected", () => {
  const hotbar = bar();
  hotbar.follow(0b0010); // hotbar.10
  assert.equal(hotbar.scroll(-100, 0), "hotbar.2");
  hotbar.follow(0); // letting go changes nothing
  assert.equal(hotbar.scroll(-100, 0), "hotbar.1");
});

test("a task without a hotbar has no use for the wheel", () => {
  assert.equal(new Hotbar(["jump"]).scroll(1000, 0), null);
});

test("sensitivity and direction are the view's; the cursor of a screen keeps to the mouse", () => {
  const turn = Object.assign(new Turn(0.5), { sensitivity: 2, inverted: true });
  turn.add(3, 5);
  assert.deepEqual(turn.take(), { pitch: -5, yaw: 3 });
  turn.add(3, 5, true);
  assert.deepEqual(turn.take(), { pitch: 2.5, yaw: 1.5 });
});

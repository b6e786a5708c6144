// Which buttons are held.

import assert from "node:assert/strict";
import test from "node:test";

import { HeldButtons, directionButtons, padDirections } from "../../interplay/web/static/js/keys.js";

const held = () => new HeldButtons(["FIRE", "UP", "RIGHT", "LEFT"], { Space: "FIRE", KeyJ: "FIRE", ArrowRight: "RIGHT", ArrowLeft: "LEFT" });

test("a button is pressed while any of its keys is down", () => {
  const keys = held();
  assert.equal(keys.press("Space"), true);
  assert.equal(keys.press("KeyJ"), false); // no change: the button was down already
  assert.equal(keys.release("Space"), false);
  assert.equal(keys.mask, 0b0001);
  assert.equal(keys.release("KeyJ"), true);
  assert.equal(keys.mask, 0);
});

test("opposite buttons are both reported: the server decides what they mean", () => {
  const keys = held();
  keys.press("ArrowLeft");
  keys.press("ArrowRight");
  assert.equal(keys.mask, 0b1100);
});

test("keys of the browser and of Object.prototype are not ours", () => {
  const keys = held();
  for (const code of ["F5", "Tab", "constructor", "toString"]) {
    assert.equal(keys.isBound(code), false);
    assert.equal(keys.press(code), false);
  }
});

test("nobody runs on after the window took the keys away", () => {
  const keys = new HeldButtons(["forward", "back", "sprint"], { KeyW: "forward", KeyS: "back" });
  keys.press("KeyW", 0);
  keys.release("KeyW");
  keys.press("KeyW", 200);
  assert.equal(keys.mask, 0b101);
  keys.releaseAll();
  keys.press("KeyS", 400);
  assert.equal(keys.mask, 0b010);
});

test("several fingers hold several buttons, and letting go of all lets go of keys and fingers", () => {
  const keys = held();
  keys.touch(1, ["UP", "RIGHT"]);
  keys.touch(2, ["FIRE"]);
  keys.press("ArrowLeft");
  assert.equal(keys.mask, 0b1111);
  keys.touch(1, []);
  assert.equal(keys.mask, 0b1001);
  assert.equal(keys.releaseAll(), true);
  assert.equal(keys.mask, 0);
  assert.equal(keys.releaseAll(), false);
});

test("the 32nd button has a bit like any other, and the mask is never negative", () => {
  const names = Array.from({ length: 32 }, (_, i) => `button ${i}`);
  const keys = new HeldButtons(names, { KeyA: "button 31", MouseLeft: "button 0" });
  assert.equal(keys.press("KeyA"), true);
  assert.equal(keys.mask, 0x80000000);
  keys.press("MouseLeft");
  assert.equal(keys.mask, 0x80000001);
  keys.release("KeyA");
  assert.equal(keys.mask, 1);
});

test("the round pad finds its buttons by their names, whatever their case, or forward and back", () => {
  const found = (/** @type {string[]} */ ...names) => Object.fromEntries(directionButtons(names));
  assert.deepEqual(found("FIRE", "UP", "RIGHT", "LEFT", "DOWN"), { UP: "UP", DOWN: "DOWN", LEFT: "LEFT", RIGHT: "RIGHT" });
  assert.deepEqual(found("forward", "back", "left", "right", "jump"), { UP: "forward", DOWN: "back", LEFT: "left", RIGHT: "right" });
  assert.deepEqual(found("Left", "jump"), { LEFT: "Left" });
});

test("the round pad has eight directions and a still middle", () => {
  assert.deepEqual(padDirections(3, 3, 70), []);
  assert.deepEqual(padDirections(60, 2, 70), ["RIGHT"]);
  assert.deepEqual(padDirections(-60, -2, 70), ["LEFT"]);
  assert.deepEqual(padDirections(0, -60, 70), ["UP"]);
  assert.deepEqual(padDirections(0, 60, 70), ["DOWN"]);
  assert.deepEqual(padDirections(40, 40, 70), ["DOWN", "RIGHT"]);
  assert.deepEqual(padDirections(-40, -40, 70), ["UP", "LEFT"]);
});

test("keys are let go of without their keyup, and mouse buttons and fingers stay", () => {
  const keys = new HeldButtons(["FIRE", "UP", "RIGHT"], { MouseLeft: "FIRE", ArrowRight: "RIGHT" });
  keys.press("ArrowRight");
  keys.press("MouseLeft");
  keys.touch(1, ["UP"]);
  assert.equal(keys.releaseKeys(), true);
  assert.equal(keys.mask, 0b011);
});

test("forward pressed twice within a moment runs until it is let go", () => {
  const keys = new HeldButtons(["forward", "sprint"], { KeyW: "forward" });
  keys.press("KeyW", 1000);
  assert.equal(keys.mask, 0b01);
  keys.release("KeyW");
  keys.press("KeyW", 1250);
  assert.equal(keys.mask, 0b11);
  keys.release("KeyW");
  assert.equal(keys.mask, 0);
  keys.press("KeyW", 1600); // too late
  assert.equal(keys.mask, 0b01);
});

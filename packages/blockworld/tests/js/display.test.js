// What lies over the picture of the world: scales, sprites at other scales, and where operations paint.

import assert from "node:assert/strict";
import test from "node:test";

import { Display, rescaled, scaleOf } from "../../blockworld/web/display.js";

test("a GUI pixel is a whole number of device pixels, and never none", () => {
  assert.equal(scaleOf(640, 360, 320, 180), 2);
  assert.equal(scaleOf(1919, 1080, 320, 180), 5);
  assert.equal(scaleOf(200, 100, 320, 180), 1);
});

test("a smaller sprite has the mean of what is there, where most is there", () => {
  const pixels = new Uint8ClampedArray([10, 20, 30, 255, 30, 20, 10, 255, 0, 0, 0, 0, 90, 90, 90, 255]);
  assert.deepEqual([...rescaled({ pixels, width: 2, height: 2, scale: 2 }, 1).pixels], [43, 43, 43, 255]);
  pixels[3] = pixels[7] = 0;
  assert.deepEqual([...rescaled({ pixels, width: 2, height: 2, scale: 2 }, 1).pixels], [0, 0, 0, 0]);
});

test("a sprite at its own scale stays as it is, and at a larger one each pixel is there", () => {
  const pixels = new Uint8ClampedArray([1, 2, 3, 255, 4, 5, 6, 255, 0, 0, 0, 0, 7, 8, 9, 255]);
  assert.deepEqual(rescaled({ pixels, width: 2, height: 2, scale: 2 }, 2).pixels, pixels);
  const large = rescaled({ pixels, width: 2, height: 2, scale: 2 }, 3);
  assert.equal(large.width, 3);
  assert.deepEqual([...large.pixels.subarray(0, 4)], [1, 2, 3, 255]);
  assert.deepEqual([...large.pixels.subarray(-4)], [7, 8, 9, 255]);
});

/** A context that notes what is painted, on a screen with so many device pixels in a CSS pixel. */
function notes(width = 640, height = 360, devicePixelRatio = 1) {
  const painted = [], style = {};
  const ownerDocument = { createElement: () => ({ style: {}, getContext: () => null }), defaultView: { devicePixelRatio } };
  const context = {
    canvas: { width, height, style, ownerDocument },
    clearRect: (...at) => painted.push(["clear", ...at]),
    fillRect: (...at) => painted.push([context.fillStyle, ...at]),
    drawImage: (_, ...at) => painted.push(["image", ...at]),
    beginPath: () => {},
    rect: (...at) => painted.push([context.fillStyle, ...at]),
    fill: () => painted.push(["filled"]),
  };
  return { painted, style, display: new Display(context) };
}

test("rectangles count from the middle of the lower edge, in pixels of the window", () => {
  const { painted, display } = notes();
  display.show([["bars"], ["fill", -91, -29, 182, 5, 24, 20, 20]], 320, 180);
  display.draw(640, 360);
  assert.deepEqual(painted, [["clear", 0, 0, 640, 360], ["rgb(24,20,20)", 138, 302, 364, 10]]);
});

test("only the part that is painted is shown, in CSS pixels", () => {
  const { style, display } = notes(640, 360, 1.5);
  for (const [operations, shown] of [
    [[["bars"], ["fill", -91, -29, 182, 5, 24, 20, 20], ["fill", -91, -9, 20, 8, 24, 20, 20]], "rect(200px, 336px, 240px, 91px)"],
    [[["crosshair"]], "rect(0px, 0px, 0px, 0px)"],
    [[["veil", 140, 8, 8, 128]], "auto"],
  ]) {
    display.show(operations, 320, 180);
    display.draw(640, 360);
    assert.equal(style.clip, shown);
  }
});

test("nothing is painted anew while nothing has changed", () => {
  const { painted, display } = notes();
  display.show([["veil", 140, 8, 8, 128]], 320, 180);
  display.draw(640, 360);
  display.draw(640, 360);
  assert.deepEqual(painted, [["clear", 0, 0, 640, 360], ["rgb(140 8 8 / 0.5)", 0, 0, 640, 360]]);
  display.draw(1280, 720);
  assert.equal(painted.length, 4);
});

test("a cross inverts a picture of as many pixels, and is painted sharp over one of fewer", () => {
  const { painted, display } = notes();
  display.show([["crosshair"]], 320, 180);
  display.draw(640, 360);
  assert.deepEqual(painted, [["clear", 0, 0, 640, 360]]);
  assert.deepEqual(display.crosshair[0], [312 / 640, 180 / 360, 18 / 640, 2 / 360]);
  display.draw(640, 360, false);
  assert.deepEqual(display.crosshair, []);
  assert.deepEqual(painted.slice(1, 3), [["clear", 0, 0, 640, 360], ["rgb(0 0 0 / 45%)", 311, 179, 20, 4]]);
  assert.deepEqual(painted.slice(-4, -2), [["white", 312, 180, 18, 2], ["white", 320, 172, 2, 8]]);
  display.draw(640, 360);
  assert.equal(display.crosshair.length, 3);
});

test("a portrait is asked for at its size and painted in its window", () => {
  globalThis.ImageData = class {};
  const { painted, display } = notes();
  display.define([["panel:inventory", 176, 166, 1]], new Uint8Array(176 * 166 * 4));
  const asked = [];
  display.portraits = (...what) => asked.push(what) && { width: 98, height: 140 };
  display.show([["panel", "panel:inventory"], ["portrait", 26, 8, [1, 2]]], 320, 180);
  display.draw(640, 360);
  assert.deepEqual(asked, [[[1, 2], 98, 140]]);
  assert.deepEqual(painted.slice(-2), [["rgb(54 48 50)", 196, 30, 98, 140], ["image", 196, 30]]);
});

test("a panel that does not fit is painted smaller", () => {
  const { painted, display } = notes();
  display.define([["panel:large_chest", 176, 222, 1]], new Uint8Array(176 * 222 * 4));
  display.show([["panel", "panel:large_chest"], ["fill", 8, 18, 16, 16, 1, 2, 3]], 320, 180);
  display.draw(640, 360);
  assert.deepEqual(painted.at(-1), ["rgb(1,2,3)", 240, 87, 16, 16]);
});

test("sprites whose bytes are missing are refused", () => {
  const { display } = notes();
  assert.throws(() => display.define([["mark:heart", 9, 9, 1]], new Uint8Array(3)), /1 sprites have 324 bytes, got 3/);
});

// What players may set: what is kept, and which keys press what.

import assert from "node:assert/strict";
import test from "node:test";

import { DEFAULTS, boundBy, valuesOf, withKey } from "../../interplay/web/static/js/options.js";
import { optionsMessage } from "../../interplay/web/static/js/protocol.js";

const TASK = { KeyW: "forward", KeyS: "back", MouseLeft: "attack", KeyJ: "attack", KeyQ: "drop", ControlLeft: "sprint", KeyR: "sprint", Digit1: "hotbar.1" };

test("what was kept counts as far as it makes sense", () => {
  assert.deepEqual(valuesOf(null), DEFAULTS);
  assert.deepEqual(valuesOf("{"), DEFAULTS);
  assert.deepEqual(valuesOf('{"fov": 1e9, "sensitivity": "2", "gui": 1.4, "inverted": true, "keys": {"drop": "KeyX", "back": "<b>", "forward": "Escape"}}'), {
    ...DEFAULTS, gui: 1.4, inverted: true, keys: { drop: "KeyX" },
  });
});

test("a player's own key takes the place of the task's keys, and mouse buttons stay", () => {
  assert.deepEqual(boundBy(TASK, {}), TASK);
  const { KeyJ: _, ...rest } = TASK;
  assert.deepEqual(boundBy(TASK, { attack: "KeyX" }), { ...rest, KeyX: "attack" });
  assert.deepEqual(boundBy(TASK, { "another world's": "KeyX" }), TASK);
});

test("two buttons change keys, so that none is left without", () => {
  assert.deepEqual(withKey(TASK, {}, "forward", "KeyS"), { forward: "KeyS", back: "KeyW" });
  assert.deepEqual(withKey(TASK, {}, "sprint", "KeyQ"), { sprint: "KeyQ", drop: "KeyR" });
  assert.deepEqual(withKey(TASK, { forward: "KeyX" }, "forward", "KeyW"), { forward: "KeyW" });
});

test("keys of the page, of the browser and of the hotbar are not given away", () => {
  for (const code of ["Escape", "Tab", "KeyP", "KeyH", "F5", "MetaLeft", "ControlLeft", "Digit1"]) assert.equal(withKey(TASK, {}, "drop", code), null);
});

test("field of view and size are said where this browser draws", () => {
  const values = { ...DEFAULTS, fov: 90, keys: { drop: "KeyX" } };
  assert.deepEqual(optionsMessage(values, true), { type: "options", sensitivity: 1, is_inverted: false, fov: 90, gui_scale: 1, keys: { drop: "KeyX" } });
  assert.deepEqual(optionsMessage(values, false), { type: "options", sensitivity: 1, is_inverted: false, fov: null, gui_scale: null, keys: { drop: "KeyX" } });
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { readable, told } from "../../interplay/web/static/js/plots.js";

test("axes and tips write values in the units of their columns", () => {
  assert.equal(readable(0.254, "share"), "25 %");
  assert.equal(readable(83.2, "clock"), "1:23");
  assert.equal(readable(12.345, "hours"), "12.3 h");
  assert.equal(readable(1355.5, ""), "1,356");
  assert.equal(readable(0.8712, ""), "0.871");
  assert.equal(readable(new Date("2026-03-01"), "date"), "2026-03-01");
  assert.equal(readable(null, "share"), "–");
  assert.equal(readable("2", ""), "2");
});

test("a tip names every column, and the series of a row instead of its number", () => {
  /** @type {[string, string][]} */
  const columns = [["agent", ""], ["answers", ""], ["share won", "share"]];
  const series = [{ name: "ada", hue: 0 }, { name: "bob", hue: 1 }];
  assert.equal(told({ kind: "lines", columns, rows: [], series }, [1, 40, 0.5]), "agent: bob\nanswers: 40\nshare won: 50 %");
});

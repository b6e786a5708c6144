// The judging form and what is reported about watching.

import assert from "node:assert/strict";
import test from "node:test";

import { countChars, missing, radioGroups, readAnswer } from "../../interplay/web/static/js/form.js";
import { Viewing, sidePosition } from "../../interplay/web/static/js/pair.js";

const QUESTIONS = [
  { id: "progress", kind: "direct", text: "Did this player get anywhere?" },
  { id: "skill", kind: "comparative", text: "Who was quicker?" },
  { id: "overall", kind: "overall", text: "Who was better?" },
];

test("direct questions ask for each side, comparative ones offer not applicable, the overall one does not", () => {
  const [progress, skill, overall] = QUESTIONS.map(radioGroups);
  assert.deepEqual(progress.map(({ name }) => name), ["progress.left", "progress.right"]);
  assert.deepEqual(skill[0].choices.map(([value]) => value), ["left", "draw", "right", "na"]);
  assert.deepEqual(overall[0].choices.map(([value]) => value), ["left", "draw", "right"]);
});

test("a filled form reads as the server wants it", () => {
  const chosen = new Map([["progress.left", "yes"], ["progress.right", "no"], ["skill", "na"], ["overall", "left"]]);
  assert.deepEqual(readAnswer(QUESTIONS, chosen, "because"), {
    outcome: "left",
    responses: { progress: { left: true, right: false }, skill: "na" },
    reason: "because",
  });
});

test("everything missing is named by the server's field names", () => {
  const half = readAnswer(QUESTIONS, new Map([["progress.left", "yes"]]), "too short");
  assert.deepEqual(missing(QUESTIONS, half, 100).map(({ field }) => field), ["responses.progress", "responses.skill", "outcome", "reason"]);
  assert.match(missing(QUESTIONS, half, 100).at(-1).message, /91 more characters/);
});

test("characters are counted as the server counts them", () => {
  assert.equal(countChars("  ab \n"), 2);
  assert.equal(countChars("🙂é"), 2); // one each, though JavaScript stores the first as two
});

test("the shorter video holds its last frame", () => {
  assert.equal(sidePosition(3, 10), 3);
  assert.equal(sidePosition(12, 10), 9.999);
  assert.equal(sidePosition(0, 0), 0);
});

test("watching is reported as events and seconds of each side seen, counted once", () => {
  let now = 0;
  const viewing = new Viewing(() => now);
  viewing.note("play", 0, 2);
  for (const at of [0, 0.1, 0.4, 0.6, 0.1]) viewing.saw("left", at); // two half seconds
  now = 1.234;
  viewing.note("pause", 0.7);
  assert.deepEqual(viewing.report({ left: 6, right: 4.5 }), {
    events: [{ t: 0, event: "play", at: 0, speed: 2 }, { t: 1.23, event: "pause", at: 0.7 }],
    num_events: 2,
    left: { length_s: 6, watched_s: 1 },
    right: { length_s: 4.5, watched_s: 0 },
  });
});

test("a report stays small however often the judge jumps about", () => {
  const viewing = new Viewing(() => 100000.5);
  for (let i = 0; i < 5000; i++) viewing.note("seek", 599.99);
  const report = viewing.report({ left: 600, right: 600 });
  assert.equal(report.num_events, 5000);
  assert.ok(JSON.stringify(report).length < 60_000); // the server takes 64 KiB
});

// The judging form and what is reported about watching.

import assert from "node:assert/strict";
import test from "node:test";

import { asDraft, newerDraft } from "../../interplay/web/static/js/drafts.js";
import { countChars, missing, radioGroups, readAnswer, seatWords, stillToWatch, waitingWords } from "../../interplay/web/static/js/form.js";
import { Viewing, sidePosition, stretches } from "../../interplay/web/static/js/pair.js";

const QUESTIONS = [
  { id: "progress", kind: "direct", text: "Did this player get anywhere?" },
  { id: "skill", kind: "comparative", text: "Who was quicker?" },
  { id: "overall", kind: "overall", text: "Who was better?" },
];

test("direct questions ask for each side, comparative ones offer not applicable, the overall one does not", () => {
  const [progress, skill, overall] = QUESTIONS.map((question) => radioGroups(question));
  assert.deepEqual(progress.map(({ name }) => name), ["progress.left", "progress.right"]);
  assert.deepEqual(skill[0].choices.map(([value]) => value), ["left", "draw", "right", "na"]);
  assert.deepEqual(overall[0].choices.map(([value]) => value), ["left", "draw", "right"]);
  assert.deepEqual(radioGroups(QUESTIONS[2], true)[0].choices.at(-1), ["na", "Can't tell"], "about segments one may not be able to tell");
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

test("what nobody sees is not counted, as the server counts", () => {
  // The same cases stand in tests/judge/test_form.py.
  assert.equal(countChars("x" + "\u200b".repeat(200) + "x"), 2);
  assert.equal(countChars("x" + " ".repeat(98) + "x"), 3);
  assert.equal(countChars("x\n\n\ty"), 3);
  assert.equal(countChars("x" + " \u200b".repeat(99) + "y"), 3);
  assert.equal(countChars("e" + "\u0301".repeat(99)), 2);
  assert.equal(countChars("\u3164".repeat(100)), 0);
  assert.equal(countChars("\u2800\ufe0f\u034f"), 0);
});

test("the newer draft wins, whoever kept it", () => {
  const here = asDraft({ chosen: [["overall", "left"]], reason: "here", saved_at: 5 });
  const there = asDraft({ chosen: [], reason: "there", saved_at: 6 });
  assert.equal(newerDraft(here, there), there);
  assert.equal(newerDraft(there, here), there);
  assert.equal(newerDraft(here, null), here);
  assert.equal(newerDraft(null, there), there);
  assert.equal(newerDraft(null, null), null);
});

test("what is no draft is none", () => {
  for (const value of [null, 5, "x", [], {}, { reason: 5, chosen: [] }, { reason: "x", chosen: "y" }]) assert.equal(asDraft(value), null);
  assert.deepEqual(asDraft({ reason: "x", chosen: [["a", "b"], 5, ["c"]] })?.chosen, [["a", "b"]]);
});

test("the button counts down and then says what it does", () => {
  assert.equal(waitingWords(9.2), "Submit in 10 s");
  assert.equal(waitingWords(0), "");
  assert.equal(waitingWords(-5), "");
});

test("the shorter video holds its last frame", () => {
  assert.equal(sidePosition(3, 10), 3);
  assert.equal(sidePosition(12, 10), 9.999);
  assert.equal(sidePosition(0, 0), 0);
});

test("watching is reported as events and seconds of each side seen, counted once", () => {
  let now = 0;
  const viewing = new Viewing(() => now);
  viewing.note("play", 0, { speed: 2 });
  for (const at of [0, 0.1, 0.4, 0.6, 0.1]) viewing.saw("left", at); // two half seconds
  now = 1.234;
  viewing.note("pause", 0.7);
  assert.deepEqual(viewing.report({ left: 6, right: 4.5 }), {
    events: [{ t: 0, event: "play", at: 0, speed: 2 }, { t: 1.23, event: "pause", at: 0.7 }],
    num_events: 2,
    played_s: 0,
    watched_s: 1,
    left: { length_s: 6, watched_s: 1, stretches: [[0, 1]] },
    right: { length_s: 4.5, watched_s: 0, stretches: [] },
  });
});

test("a device that shows few pictures a second, at five times the speed, still counts every piece it played", () => {
  const viewing = new Viewing(() => 0);
  for (const [from, at] of [[0, 1.1], [1.1, 2.3], [2.3, 2.519]]) viewing.saw("left", at, from);
  assert.deepEqual(viewing.report({ left: 2.52, right: 0 }).left, { length_s: 2.52, watched_s: 2.52, stretches: [[0, 3]] });
  assert.equal(viewing.shares({ left: 2.52, right: 0 }).left, 1);
});

test("no answer that the server refuses for watching too little is offered", () => {
  const lengths = { left: 2.08, right: 2.08 };
  assert.deepEqual(stillToWatch({ left: 1 / 2.08, right: 1.5 / 2.08 }, lengths, 0.5), { left: 0.1, right: 0 });
  assert.deepEqual(stillToWatch({ left: 1, right: 1 }, lengths, 1), { left: 0, right: 0 });
  assert.equal(stillToWatch({ left: 0, right: 0 }, { left: 0, right: 3 }, 0.5).left, Infinity);
  assert.deepEqual(stillToWatch({ left: 0, right: 0 }, { left: 0, right: 0 }, 0), { left: 0, right: 0 });
});

test("quarters are noted once, as they are reached by playing", () => {
  const viewing = new Viewing(() => 0);
  for (const at of [1, 2.6, 2.7, 5.1, 7.6, 9.9, 3]) viewing.playedOn(0.1, at, 10);
  assert.deepEqual(viewing.events.map(({ event }) => event), ["first-quarter", "second-quarter", "third-quarter", "fourth-quarter"]);
  assert.equal(viewing.report({ left: 10, right: 10 }).played_s, 0.7);
});

test("a page that comes back goes on with the log of the one that was closed", () => {
  let now = 3;
  const before = new Viewing(() => now);
  before.note("play", 0, { speed: 1 });
  for (let at = 0; at < 4; at += 0.1) before.saw("left", at);
  before.playedOn(4, 5.2, 10);
  const kept = JSON.parse(JSON.stringify(before.report({ left: 10, right: 10 })));
  now = 60;
  const after = new Viewing(() => now);
  after.resume(kept);
  after.saw("left", 8.1);
  after.playedOn(1, 5.5, 10); // the second quarter was reached before
  const report = after.report({ left: 10, right: 10 });
  assert.deepEqual(report.left.stretches, [[0, 4], [8, 8.5]]);
  assert.equal(report.played_s, 5);
  assert.deepEqual(report.events.map(({ event }) => event), ["play", "second-quarter"]);
  for (const nonsense of [null, 5, {}, { events: 3 }]) new Viewing(() => 0).resume(nonsense);
});

test("stretches run together, and never grow too many", () => {
  assert.deepEqual(stretches(new Set([3, 1, 2, 7])), [[0.5, 2], [3.5, 4]]);
  const scattered = stretches(new Set(Array.from({ length: 400 }, (_, i) => 3 * i)));
  assert.equal(scattered.length, 100);
  assert.deepEqual([scattered[0][0], scattered.at(-1)?.[1]], [0, 599]);
});

test("a report stays small however often the judge jumps about", () => {
  const viewing = new Viewing(() => 100000.5);
  for (let i = 0; i < 5000; i++) {
    viewing.note("seek", 599.99);
    viewing.saw("left", (7 * i) % 6000);
    viewing.saw("right", (11 * i) % 6000);
  }
  const report = viewing.report({ left: 600, right: 600 });
  assert.equal(report.num_events, 5000);
  assert.ok(JSON.stringify(report).length < 60_000); // the server takes 64 KiB
});

test("the player to watch is named by the seat, in words", () => {
  assert.match(seatWords("left_paddle"), /Watch the left paddle player in both videos/);
});

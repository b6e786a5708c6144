// What a page says while its game stands still.

import assert from "node:assert/strict";
import test from "node:test";

import { isAwaited, wordsOf } from "../../interplay/web/static/js/waiting.js";

const PLAYING = {
  lost: null,
  hasBegun: true,
  isReady: true,
  isRecovering: false,
  isMoving: false,
  restoredAt: null,
  others: [],
  isTouch: false,
};
const BEFORE = { ...PLAYING, hasBegun: false };
const PAUSED = { ...PLAYING, isReady: false };
const other = (state, seat = "right_paddle") => ({ seat, state });
const textOf = (standing) => wordsOf(standing).text;

test("whatever a page waits for, it says so, and who can do something is told what", () => {
  const states = ["open", "here", "ready", "playing", "away"].map((state) => [other(state)]);
  for (const lost of [null, "The connection was lost. Connecting again ..."])
    for (const hasBegun of [false, true])
      for (const isReady of [false, true])
        for (const isRecovering of [false, true])
          for (const restoredAt of [null, 7])
            for (const others of [[], ...states])
              for (const isTouch of [false, true]) {
                const standing = { lost, hasBegun, isReady, isRecovering, isMoving: false, restoredAt, others, isTouch };
                const words = wordsOf(standing);
                assert.ok(words.headline && words.text, JSON.stringify(standing));
                if (lost || isReady) continue;
                const toDo = words.button === "resume" || words.text.includes(isTouch ? "Tap here" : "press any key");
                assert.ok(toDo, JSON.stringify(standing));
              }
});

test("before the first step one reads who is awaited, and can stop waiting", () => {
  assert.deepEqual(wordsOf({ ...BEFORE, others: [other("open")] }), {
    headline: "Waiting",
    text: "Waiting for another player to join. You may look at other pages meanwhile.",
    button: "stop",
  });
  assert.equal(textOf({ ...BEFORE, others: [other("open"), other("open", "judge")] }), "Waiting for 2 more players to join. You may look at other pages meanwhile.");
  assert.equal(textOf({ ...BEFORE, others: [other("here")] }), "Waiting for your partner to be ready.");
  assert.equal(textOf({ ...BEFORE, others: [other("ready")] }), "The game begins in a moment.");
  assert.equal(wordsOf(BEFORE).button, null);
});

test("who paused in the countdown is not told that others play", () => {
  const words = wordsOf({ ...BEFORE, isReady: false, others: [other("ready")] });
  assert.equal(words.headline, "Paused");
  assert.equal(words.text, "The game has not begun yet. Click here or press any key when you are ready.");
});

test("who paused in a game that runs reads whether others play on", () => {
  assert.equal(textOf(PAUSED), "Click here or press any key to continue.");
  assert.equal(textOf({ ...PAUSED, isTouch: true }), "Tap here to continue.");
  assert.match(textOf({ ...PAUSED, others: [other("playing")] }), /^The others keep playing without you\. /);
  assert.match(textOf({ ...PAUSED, others: [other("away")] }), /^Nobody is playing now\. /);
});

test("after a restart one is asked first, and then reads who else is asked", () => {
  const restored = { ...PAUSED, restoredAt: 90, others: [other("away")] };
  assert.deepEqual(wordsOf(restored), { headline: "The server was restarted", text: "Your game continues from step 90.", button: "resume" });
  assert.equal(textOf({ ...restored, isReady: true }), "Waiting for your partner to continue.");
  assert.equal(textOf({ ...restored, isReady: true, others: [other("playing")] }), "The game continues in a moment.");
});

test("a game that is brought back goes on by itself only for who has not paused", () => {
  assert.match(textOf({ ...PLAYING, isRecovering: true }), /It will continue where it stopped\.$/);
  assert.match(textOf({ ...PAUSED, isRecovering: true }), /press any key to continue when it is ready\.$/);
});

test("a lost connection is said before everything else", () => {
  assert.equal(textOf({ ...PAUSED, restoredAt: 3, lost: "Connecting again ..." }), "Connecting again ...");
});

test("a countdown goes on only while nobody is awaited", () => {
  assert.equal(isAwaited([other("ready"), other("playing")]), false);
  for (const state of ["open", "here", "away"]) assert.equal(isAwaited([other("ready"), other(state)]), true);
});

test("a game that moves is not said to be restored", () => {
  assert.match(textOf({ ...PLAYING, isRecovering: true }), /being restored from its recording\. It will continue/);
  assert.equal(textOf({ ...PLAYING, isRecovering: true, isMoving: true }), "This game needs more processor time, so it moves to a process of its own. It will continue where it stopped.");
});

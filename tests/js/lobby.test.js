// What a player who waits for others reads.

import assert from "node:assert/strict";
import test from "node:test";

import { Lobby, usually, waitingWords } from "../../interplay/web/static/js/lobby.js";

const came = (/** @type {number[]} */ ...seconds) => seconds.map((one) => /** @type {[number, boolean]} */ ([one, true]));
const nobody = (/** @type {number} */ number, seconds = 600) => Array.from({ length: number }, () => /** @type {[number, boolean]} */ ([seconds, false]));
/** @type {import("../../interplay/web/static/js/lobby.js").LobbyFacts} */
const FACTS = { waited_s: 0, choose_after_s: 60, has_partner: true, missing: "person", waits: [] };

test("nothing is told of fewer than twenty waits", () => {
  assert.equal(usually(came(...Array(19).fill(50)), 0), "");
  assert.equal(usually(came(...Array(20).fill(50)), 0), "At this hour, somebody usually comes within a minute.");
});

test("who has waited long is compared with those who waited as long", () => {
  const waits = [...came(...Array(30).fill(20)), ...came(...Array(10).fill(400))];
  assert.equal(usually(waits, 0), "At this hour, somebody usually comes within a minute.");
  assert.equal(usually(waits, 30), "At this hour, somebody usually comes within 7 minutes.");
  assert.equal(usually(waits, 500), "", "nobody waited as long");
});

test("those for whom nobody came count, too", () => {
  const waits = [...came(...Array(10).fill(30)), ...nobody(15)];
  assert.equal(usually(waits, 0), "At this hour, most people who waited this long found nobody.");
  assert.equal(usually([...came(30, 90, 100, 200, 300, 301, 302, 303, 304, 305, 306, 307), ...nobody(10)], 0), "At this hour, somebody usually comes within 6 minutes.");
});

test("a choice is told before it is there, and offered then", () => {
  assert.deepEqual(waitingWords(FACTS, 5.2), { time: "0:05", lines: ["At 1:00 you may choose to play with an agent."], hasChoice: false, mayLeave: false });
  assert.deepEqual(waitingWords(FACTS, 61), { time: "1:01", lines: ["Nobody has come yet. You may play with an agent, or go on waiting."], hasChoice: true, mayLeave: true });
  const alone = { ...FACTS, has_partner: false };
  assert.deepEqual(waitingWords(alone, 5), { time: "0:05", lines: [], hasChoice: false, mayLeave: false });
  assert.deepEqual(waitingWords(alone, 61).lines, ["Nobody has come yet. You may leave, or go on waiting."]);
});

test("who is paid for waiting is told when they may leave", () => {
  const alone = { ...FACTS, has_partner: false };
  assert.deepEqual(waitingWords(alone, 5, true).lines, ["At 1:00 you may choose to leave."]);
  assert.deepEqual(waitingWords(FACTS, 5, true).lines, ["At 1:00 you may choose to play with an agent or to leave."]);
  assert.deepEqual(waitingWords(FACTS, 61, true).lines, ["Nobody has come yet. You may play with an agent, leave, or go on waiting."]);
});

test("where players are not told of agents, nothing is said of one that comes by itself", () => {
  const blind = { ...FACTS, choose_after_s: null, has_partner: false };
  for (const waited of [5, 61]) assert.deepEqual(waitingWords(blind, waited, true).lines, []);
  assert.deepEqual([waitingWords(blind, 61).hasChoice, waitingWords(blind, 61).mayLeave], [false, false]);
});

test("the title calls who looks away, and is itself again for who is back", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const parts = { textContent: "", hidden: true, checked: false, addEventListener: () => {}, querySelector: () => parts };
  /** @type {() => void} */
  let onVisible = () => {};
  const page = { title: "Pong", hidden: true, addEventListener: (/** @type {string} */ _, /** @type {() => void} */ act) => (onVisible = act) };
  Object.assign(globalThis, { document: page, localStorage: { getItem: () => "off" } });
  const lobby = new Lobby(/** @type {any} */ (parts), () => {});
  lobby.onMessage(FACTS);
  for (let times = 0; times < 2; times++) {
    lobby.waitFor([{ seat: "right", state: "open" }], false);
    lobby.waitFor([{ seat: "right", state: "here" }], true);
    assert.notEqual(page.title, "Pong");
  }
  page.hidden = false;
  onVisible();
  context.mock.timers.tick(5000);
  assert.equal(page.title, "Pong");
});

test("who waits for somebody who is there and not ready has the same choice, and is not told of those who came", () => {
  /** @type {import("../../interplay/web/static/js/lobby.js").LobbyFacts} */
  const facts = { ...FACTS, choose_after_s: 92.4, missing: "start", waits: came(...Array(30).fill(500)) };
  assert.deepEqual(waitingWords(facts, 70).lines, ["At 1:33 you may choose to play with an agent."]);
  assert.deepEqual(waitingWords(facts, 93).lines, ["The other player is not ready. You may play with an agent, or go on waiting."]);
  assert.deepEqual(waitingWords({ ...facts, has_partner: false }, 93).lines, ["The other player is not ready. You may leave, or go on waiting."]);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { Seat } from "../../interplay/web/static/js/connection.js";

class FakeSocket {
  static OPEN = 1;
  static made = /** @type {FakeSocket[]} */ ([]);
  readyState = 0;
  sent = /** @type {string[]} */ ([]);
  constructor(/** @type {URL} */ address) {
    this.path = address.pathname;
    FakeSocket.made.push(this);
  }
  send(/** @type {string} */ text) {
    this.sent.push(text);
  }
  close() {
    this.readyState = 2;
  }
  onopen() {}
  onmessage(/** @type {{data: string}} */ _event) {}
  onclose(/** @type {{code: number}} */ _event) {}
  open() {
    this.readyState = FakeSocket.OPEN;
    this.onopen();
  }
  say(/** @type {object} */ message) {
    this.onmessage({ data: JSON.stringify(message) });
  }
  lose(code = 1006) {
    this.readyState = 3;
    this.onclose({ code });
  }
}

/**
 * A page with one seat. Its clock stands still but for `pass`.
 * @param {import("node:test").TestContext} t
 * @param {string} path of its socket
 */
function pageWithSeat(t, path) {
  const page = {
    /** @type {string | null | "hangs"} what the server says about the place of the game */
    place: path,
    asked: 0,
    answerLate: /** @type {(place: string) => void} */ (() => {}),
    heard: /** @type {string[]} */ ([]),
    closed: /** @type {[string, number][]} */ ([]),
    async pass(/** @type {number} */ seconds) {
      for (let quarter = 0; quarter < 4 * seconds; quarter++) {
        now += 250;
        t.mock.timers.tick(250);
        await new Promise(setImmediate); // what was asked is answered
      }
    },
    /** @returns {FakeSocket} */
    get socket() {
      const last = FakeSocket.made.at(-1);
      assert.ok(last);
      return last;
    },
    get seat() {
      return seat;
    },
  };
  const fetch = (/** @type {string} */ address, /** @type {RequestInit} */ { signal }) => {
    assert.equal(address, "/api/play/place");
    page.asked++;
    const answer = (/** @type {string | null} */ socket) => new Response(JSON.stringify({ socket }));
    if (page.place !== "hangs") return Promise.resolve(answer(page.place));
    return new Promise((resolve, refuse) => {
      page.answerLate = (place) => resolve(answer(place));
      signal?.addEventListener("abort", () => refuse(signal.reason));
    });
  };
  let now = 0;
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  t.mock.method(performance, "now", () => now);
  t.mock.method(AbortSignal, "timeout", (/** @type {number} */ ms) => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), ms);
    return abort.signal;
  });
  const before = { WebSocket: globalThis.WebSocket, location: globalThis.location, document: globalThis.document, fetch: globalThis.fetch };
  t.after(() => Object.assign(globalThis, before));
  FakeSocket.made = [];
  const location = { href: "http://127.0.0.1/play", protocol: "http:" };
  Object.assign(globalThis, { WebSocket: FakeSocket, location, document: { querySelector: () => null }, fetch });
  const seat = new Seat(path, "token", {
    onMessage: (message) => page.heard.push(message.type),
    onFrame: () => {},
    onLost: () => {},
    onClosed: (message, code) => page.closed.push([message, code]),
  });
  return page;
}

const GIVEN_UP = [["The server cannot be reached. Is it still running?", 1006]];

test("nothing is sent while the connection opens or closes", (t) => {
  const { seat, socket } = pageWithSeat(t, "/seat");
  seat.send({ type: "start" });
  socket.open();
  socket.readyState = 2;
  seat.send({ type: "pause" });
  assert.deepEqual(socket.sent.map((text) => JSON.parse(text).type), ["hello"]);
});

test("a page tries to come back for ten minutes, however long it was silent before", async (t) => {
  const page = pageWithSeat(t, "/seat");
  page.socket.open();
  page.socket.say({ type: "welcome" });
  await page.pass(3600);
  page.socket.lose();
  for (let seconds = 0; seconds < 590; seconds++) {
    await page.pass(1);
    if (page.socket.readyState === 0) page.socket.lose();
  }
  assert.deepEqual(page.closed, []);
  page.socket.open();
  page.socket.say({ type: "welcome" });
  page.socket.lose();
  await page.pass(590);
  page.socket.lose();
  assert.deepEqual(page.closed, [], "the ten minutes begin again when the server has answered");
  await page.pass(20);
  page.socket.lose();
  assert.deepEqual(page.closed, GIVEN_UP);
});

test("a page of a cluster tries for ten minutes while no server has its game", async (t) => {
  const page = pageWithSeat(t, "/n/a/api/play");
  page.socket.open();
  page.socket.say({ type: "welcome" });
  page.place = null;
  page.socket.lose();
  await page.pass(598);
  assert.deepEqual(page.closed, []);
  assert.ok(page.asked > 500, `${page.asked} questions`);
  await page.pass(4);
  assert.deepEqual(page.closed, GIVEN_UP);
  assert.equal(FakeSocket.made.length, 1);
});

test("a page leaves a server that stands still once, and hears no more of it", async (t) => {
  const page = pageWithSeat(t, "/n/a/api/play");
  const left = page.socket;
  left.open();
  left.say({ type: "welcome" });
  page.place = "hangs";
  await page.pass(3);
  assert.equal(page.asked, 1);
  await page.pass(2);
  assert.equal(page.asked, 1, "one question at a time");
  await page.pass(2);
  assert.equal(page.asked, 2, "a question without an answer is asked again");
  page.place = "/n/b/api/play";
  await page.pass(4);
  assert.deepEqual(FakeSocket.made.map((socket) => socket.path), ["/n/a/api/play", "/n/b/api/play"]);
  assert.equal(left.readyState, 2, "the old socket is told to close");
  page.socket.open();
  page.socket.say({ type: "welcome" });
  left.say({ type: "ended" });
  left.lose(4409);
  await page.pass(30);
  assert.deepEqual(page.heard, ["welcome", "welcome"]);
  assert.deepEqual(page.closed, []);
  assert.equal(FakeSocket.made.length, 2);
});

test("an answer that comes after the socket was lost makes no second socket", async (t) => {
  const page = pageWithSeat(t, "/n/a/api/play");
  page.socket.open();
  page.place = "hangs";
  await page.pass(3);
  page.socket.lose();
  page.place = "/n/b/api/play";
  page.answerLate(page.place);
  await page.pass(10);
  assert.equal(FakeSocket.made.length, 2);
});

test("a page that is silent by right asks seldom, and soon again after a message", async (t) => {
  const page = pageWithSeat(t, "/n/a/api/play");
  page.socket.open();
  page.socket.say({ type: "welcome" });
  await page.pass(10);
  assert.equal(page.asked, 4, "after 3, 4, 6 and 10 seconds");
  await page.pass(600);
  const before = page.asked;
  await page.pass(300);
  assert.equal(page.asked - before, 10, "every 30 seconds");
  page.socket.say({ type: "progress" });
  await page.pass(4);
  assert.equal(page.asked - before, 12, "as often as at first");
});

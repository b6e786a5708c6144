import assert from "node:assert/strict";
import { test } from "node:test";

import { Seat } from "../../interplay/web/static/js/connection.js";

test("nothing is sent while the connection opens or closes", (t) => {
  class FakeSocket {
    static OPEN = 1;
    readyState = 0;
    sent = /** @type {string[]} */ ([]);
    send(/** @type {string} */ text) {
      this.sent.push(text);
    }
    onopen() {}
  }
  const before = { WebSocket: globalThis.WebSocket, location: globalThis.location };
  t.after(() => Object.assign(globalThis, before));
  Object.assign(globalThis, { WebSocket: FakeSocket, location: { href: "http://127.0.0.1/play", protocol: "http:" } });
  const ignore = () => {};
  const seat = new Seat("/seat", "token", { onMessage: ignore, onFrame: ignore, onLost: ignore, onClosed: ignore });
  const socket = /** @type {FakeSocket} */ (/** @type {unknown} */ (seat.socket));
  seat.send({ type: "start" });
  socket.readyState = FakeSocket.OPEN;
  socket.onopen();
  socket.readyState = 2;
  seat.send({ type: "pause" });
  assert.deepEqual(socket.sent.map((text) => JSON.parse(text).type), ["hello"]);
});

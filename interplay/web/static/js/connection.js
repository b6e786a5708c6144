// One seat at the live server: opens the socket, says hello, and comes back by itself when the connection breaks.

import { api } from "./page.js";
import { SUBPROTOCOL, backoffMs, closeReason } from "./protocol.js";

/** How long a page tries to come back, in ms: so long a server that was killed and started again keeps a game. */
const TRY_FOR_MS = 600_000;
/** How often a page of a cluster looks whether its server still speaks, and how long a server may be silent, in ms. */
const LOOK_EVERY_MS = 1000;
const SILENT_MS = 2500;
/** Longest time between two questions for the place of a game that is silent by right, and to wait for an answer, in ms. */
const ASK_AT_LEAST_EVERY_MS = 30_000;
const ANSWER_MS = 3000;

/**
 * @typedef {object} SeatHandlers
 * @property {(message: {type: string, [field: string]: any}) => void} onMessage JSON messages
 * @property {(buffer: ArrayBuffer) => void} onFrame binary messages
 * @property {(message: string) => void} onLost the socket is gone, another attempt is under way
 * @property {(message: string, code: number) => void} onClosed it is gone for good
 */

/** A socket that stays open. */
export class Seat {
  /**
   * @param {string} path of the socket on this host
   * @param {string} token
   * @param {SeatHandlers} handlers
   */
  constructor(path, token, handlers) {
    this.path = path;
    this.token = token;
    this.handlers = handlers;
    this.attempt = 0;
    this.done = false;
    /** @type {string | null} what the server said before it closed */
    this.lastError = null;
    /** @type {number | null} when the connection was lost; null while there is one */
    this.lostAt = null;
    this.isAsking = false;
    this.askAt = 0;
    this.askAgainMs = LOOK_EVERY_MS;
    if (this.isOfCluster) this.watch = setInterval(() => this.#lookAround(), LOOK_EVERY_MS);
    this.#connect();
  }

  /** Whether another server may continue the game of this seat. Watchers have no token: they look at the list of games again. */
  get isOfCluster() {
    return this.token !== "" && this.path.startsWith("/n/");
  }

  /** From now on the server may be silent for a while before the page asks. */
  #expectMessages() {
    this.askAt = performance.now() + SILENT_MS;
    this.askAgainMs = LOOK_EVERY_MS;
  }

  #connect() {
    this.#expectMessages();
    const address = new URL(this.path, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address, SUBPROTOCOL);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => this.send({ type: "hello", token: this.token });
    socket.onmessage = (event) => {
      if (socket !== this.socket) return;
      this.#expectMessages();
      if (event.data instanceof ArrayBuffer) {
        this.handlers.onFrame(event.data);
        return;
      }
      const message = JSON.parse(event.data);
      if (message.type === "welcome") {
        this.attempt = 0;
        this.lostAt = null;
      }
      if (message.type === "error") this.lastError = message.message;
      this.handlers.onMessage(message);
    };
    socket.onclose = (event) => {
      if (this.done || socket !== this.socket) return;
      const reason = closeReason(event.code);
      if (this.lastError || !reason.retry) {
        this.#end(this.lastError ?? reason.message, event.code);
        return;
      }
      this.handlers.onLost(reason.message);
      this.#tryAgain(backoffMs(this.attempt++));
    };
  }

  /**
   * @param {string} message
   * @param {number} code
   */
  #end(message, code) {
    this.done = true;
    this.handlers.onClosed(message, code);
  }

  /** @param {number} waitMs */
  #tryAgain(waitMs) {
    this.lostAt ??= performance.now();
    if (performance.now() - this.lostAt < TRY_FOR_MS) setTimeout(() => this.#connectAgain(), waitMs);
    else this.#end("The server cannot be reached. Is it still running?", 1006);
  }

  /** @returns {Promise<string | null>} path of the socket at the server that has the game now; null while none has it */
  async #place() {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const { socket } = await api("/api/play/place", { token: this.token }, { signal }).catch(() => ({ socket: null }));
    return socket;
  }

  async #connectAgain() {
    const path = this.isOfCluster ? await this.#place() : this.path;
    if (this.done) return;
    if (path) {
      this.path = path;
      this.#connect();
    } else {
      this.#tryAgain(backoffMs(Math.min(this.attempt++, 2)));
    }
  }

  /** A server that stands still closes no socket: ask whether another one has the game by now. */
  async #lookAround() {
    const { socket } = this;
    if (this.done) clearInterval(this.watch);
    else if (!this.isAsking && performance.now() >= this.askAt && socket?.readyState === WebSocket.OPEN) {
      this.isAsking = true;
      const path = await this.#place();
      this.isAsking = false;
      if (socket !== this.socket || socket.readyState !== WebSocket.OPEN) return;
      if (path === this.path) {
        this.askAt = performance.now() + this.askAgainMs;
        this.askAgainMs = Math.min(2 * this.askAgainMs, ASK_AT_LEAST_EVERY_MS);
      } else if (path) {
        this.handlers.onLost(closeReason(1006).message);
        this.path = path;
        this.#connect();
        socket.close(); // a server that does not answer closes it late: nobody waits for that
      }
    }
  }

  /**
   * While the connection opens, closes or is lost, messages are dropped: they are not sent later.
   *
   * @param {ArrayBuffer | object} message
   */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    this.socket.send(message instanceof ArrayBuffer ? message : JSON.stringify(message));
  }

  close() {
    this.done = true;
    this.socket?.close(1000);
  }
}

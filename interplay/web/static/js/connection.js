// One seat at the live server: opens the socket, says hello, and comes back by itself when the connection breaks.

import { api } from "./page.js";
import { SUBPROTOCOL, backoffMs, closeReason } from "./protocol.js";

/** They take ten minutes, which is how long a server that was killed and started again keeps a game. */
const MAX_ATTEMPTS = 125;
/** How often a page of a cluster looks whether its server still speaks, and how long a server may be silent, in ms. */
const LOOK_EVERY_MS = 1000;
const SILENT_MS = 2500;

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
    this.heardAt = performance.now();
    if (this.isOfCluster) this.watch = setInterval(() => this.#lookAround(), LOOK_EVERY_MS);
    this.#connect();
  }

  /** Whether another server may continue the game of this seat. Watchers have no token: they look at the list of games again. */
  get isOfCluster() {
    return this.token !== "" && this.path.startsWith("/n/");
  }

  #connect() {
    const address = new URL(this.path, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address, SUBPROTOCOL);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => this.send({ type: "hello", token: this.token });
    socket.onmessage = (event) => {
      this.heardAt = performance.now();
      if (event.data instanceof ArrayBuffer) {
        this.handlers.onFrame(event.data);
        return;
      }
      const message = JSON.parse(event.data);
      if (message.type === "welcome") this.attempt = 0;
      if (message.type === "error") this.lastError = message.message;
      this.handlers.onMessage(message);
    };
    socket.onclose = (event) => {
      if (this.done) return;
      const reason = closeReason(event.code);
      if (this.lastError || !reason.retry || this.attempt >= MAX_ATTEMPTS) {
        this.done = true;
        const gone = this.lastError ?? (reason.retry ? "The server cannot be reached. Is it still running?" : reason.message);
        this.handlers.onClosed(gone, event.code);
        return;
      }
      this.handlers.onLost(reason.message);
      setTimeout(() => this.#connectAgain(), backoffMs(this.attempt++));
    };
  }

  /** @returns {Promise<string | null>} path of the socket at the server that has the game now; null while none has it */
  async #place() {
    const { socket } = await api("/api/play/place", { token: this.token }).catch(() => ({ socket: null }));
    return socket;
  }

  async #connectAgain() {
    const path = this.isOfCluster ? await this.#place() : this.path;
    if (this.done) return;
    if (path || this.attempt >= MAX_ATTEMPTS) {
      this.path = path ?? this.path;
      this.#connect();
    } else {
      setTimeout(() => this.#connectAgain(), backoffMs(Math.min(this.attempt++, 2)));
    }
  }

  /** A server that stands still closes no socket: ask whether another one has the game by now. */
  async #lookAround() {
    if (this.done) clearInterval(this.watch);
    else if (performance.now() - this.heardAt > SILENT_MS && this.socket?.readyState === WebSocket.OPEN) {
      const path = await this.#place();
      if (path && path !== this.path) this.#leave();
    }
  }

  /** Go on without waiting until a server that does not answer has closed the socket. */
  #leave() {
    const socket = this.socket;
    if (!socket) return;
    socket.onmessage = socket.onclose = null;
    socket.close();
    this.handlers.onLost(closeReason(1006).message);
    this.#connectAgain();
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

// One seat at the live server: opens the socket, says hello, and comes back by itself when the connection breaks.

import { api } from "./page.js";
import { SUBPROTOCOL, backoffMs, closeReason } from "./protocol.js";

/** They take ten minutes, which is how long a server that was killed and started again keeps a game. */
const MAX_ATTEMPTS = 125;

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
    this.#connect();
  }

  #connect() {
    const address = new URL(this.path, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address, SUBPROTOCOL);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => this.send({ type: "hello", token: this.token });
    socket.onmessage = (event) => {
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

  /** Another server of a cluster may have the game by now. */
  async #connectAgain() {
    if (this.path.startsWith("/n/")) {
      const { socket } = await api("/api/play/place", { token: this.token }).catch(() => ({ socket: null }));
      if (!socket && !this.done && this.attempt < MAX_ATTEMPTS) {
        setTimeout(() => this.#connectAgain(), backoffMs(Math.min(this.attempt++, 2)));
        return;
      }
      this.path = socket ?? this.path;
    }
    if (!this.done) this.#connect();
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

// The player: instructions, countdown, the game on a canvas, and at the end one's own replay.

import { Seat } from "./connection.js";
import { FrameDecoder, MissingBase, Screen, fitSize } from "./codec.js";
import { HeldButtons } from "./keys.js";
import { Mouse } from "./mouse.js";
import { ApiError, api, isTyping, need } from "./page.js";
import { inputMessage, paletteFromBase64, parseFrame, turnMessage } from "./protocol.js";
import { Replay } from "./replay.js";
import { clock } from "./timeline.js";
import { TouchPad } from "./touch.js";

/** @typedef {import("./codec.js").Picture} Picture */
/**
 * @typedef {object} TaskFacts
 * @property {string} id
 * @property {string} title
 * @property {number} time_limit_s
 * @property {number} frame_rate_hz
 * @property {string[]} buttons
 * @property {Record<string, string>} bindings
 * @property {Record<string, string>} labels
 * @property {boolean} compose whether buttons are entries of a Dict action
 * @property {string | null} pointer the entry that the mouse turns
 * @property {number} pointer_degrees for one CSS pixel
 */
/** @typedef {"ready" | "connecting" | "countdown" | "playing" | "paused" | "ended" | "failed"} State */

const HEARTBEAT_MS = 250;
/** Fast screens draw 360 frames a second; the server takes 300 messages. */
const TURNS_EVERY_MS = 7;
const OUTCOMES = new Map([
  ["terminated", "The game is over."],
  ["time_limit", "Time is up."],
  ["quit", "You finished early."],
  ["left", "You were away too long."],
  ["interrupted", "The server was interrupted."],
]);

class Player {
  /**
   * @param {HTMLElement} root
   * @param {TaskFacts} task
   */
  constructor(root, task) {
    this.root = root;
    this.task = task;
    this.screenCard = need(root, "[data-screen]");
    this.view = need(root, "[data-view]");
    this.screen = new Screen(need(this.view, "canvas"));
    /** @type {HTMLButtonElement} */
    this.startButton = need(root, "[data-start]");
    /** @type {HTMLDialogElement} */
    this.ask = need(document, "[data-ask]");
    this.held = new HeldButtons(task.buttons, task.bindings);
    this.mouse = new Mouse(this.view, this.screen.canvas, task, this.held, {
      isLive: () => this.state === "playing" || this.state === "countdown",
      isPlaying: () => this.state === "playing",
      mayLock: () => this.#isOn() && !this.ask.open,
      onChange: () => this.sendInput(),
      onTurn: () => this.#sendTurnSoon(),
      onLock: (locked) => {
        if (!locked) this.pause();
        this.#showHint();
      },
    });
    this.touch = new TouchPad(need(root, "[data-touch]"), task.buttons, task.labels, this.held, () => this.sendInput());
    /** @type {Seat | null} */
    this.seat = null;
    /** @type {FrameDecoder | null} */
    this.decoder = null;
    /** @type {Picture | null} decoded, not yet painted */
    this.newest = null;
    this.paintedStep = 0;
    this.askedForKey = false;
    this.smooth = false;
    this.turnIsDue = false;
    this.lastSentMs = 0;
    this.lives = -1;
    /** @type {State} */
    this.state = "ready";
    this.#listen();
    if (this.#savedSeat()) {
      this.startButton.firstChild?.replaceWith("Go on ");
      this.#note("Your game is still waiting for you.");
    }
    this.startButton.disabled = false;
    this.startButton.focus({ preventScroll: true });
  }

  // --- the seat -----------------------------------------------------------------------------------------------------

  async start() {
    if (this.state !== "ready" && this.state !== "failed") return;
    this.#setState("connecting");
    this.startButton.disabled = true;
    this.#note("Getting the game ready ...");
    try {
      const seat = this.#savedSeat() ?? (await api("/api/sessions", { task: this.task.id }));
      sessionStorage.setItem(this.#seatKey, JSON.stringify(seat));
      this.seat = new Seat(seat.socket, seat.token, {
        onMessage: (message) => this.#onMessage(message),
        onFrame: (buffer) => this.#onFrame(buffer),
        onLost: (message) => this.#onLost(message),
        onClosed: (message, code) => this.#onClosed(message, code),
      });
    } catch (error) {
      const text = error instanceof ApiError ? error.message : "The server cannot be reached. Is it still running?";
      this.#fail(text);
    }
  }

  get #seatKey() {
    return `interplay.seat.${this.task.id}`;
  }

  /** A seat this window had before it was reloaded. */
  #savedSeat() {
    try {
      const seat = JSON.parse(sessionStorage.getItem(this.#seatKey) ?? "null");
      return seat && new Date(seat.expires_at) > new Date() ? seat : null;
    } catch {
      return null;
    }
  }

  #forgetSeat() {
    sessionStorage.removeItem(this.#seatKey);
  }

  /** @param {string} message */
  #onLost(message) {
    this.held.releaseAll();
    this.mouse.release();
    if (this.state === "ended") return;
    this.#cover("One moment", message);
    this.announce(message);
  }

  /**
   * @param {string} message
   * @param {number} code
   */
  #onClosed(message, code) {
    if (this.state === "ended") return;
    if (code !== 4409) this.#forgetSeat();
    this.#fail(message);
  }

  /** @param {string} message */
  #fail(message) {
    this.seat?.close();
    this.#setState("failed");
    this.#letGo();
    if (this.ask.open) this.ask.close();
    this.startButton.disabled = false;
    this.startButton.firstChild?.replaceWith("Start again ");
    this.#note(message);
    this.announce(message);
    need(this.root, "[data-brief]").hidden = false;
    this.screen.canvas.hidden = true;
    this.#uncover();
    this.startButton.focus();
  }

  // --- what the server says -----------------------------------------------------------------------------------------

  /** @param {{type: string, [field: string]: any}} message */
  #onMessage(message) {
    switch (message.type) {
      case "welcome":
        return this.#onWelcome(message);
      case "palette":
        return this.#afterFrames(() => (this.screen.palette = paletteFromBase64(message.palette)));
      case "countdown":
        return this.#onCountdown(message.seconds);
      case "started":
        this.#setState("playing");
        this.#uncover();
        this.announce("Go!");
        return this.sendInput();
      case "hud":
        return this.#onHud(message);
      case "paused":
        return this.#onPaused(message.reason);
      case "resumed":
        this.#setState("playing");
        return this.#uncover();
      case "ended":
        return this.#afterFrames(() => this.#onEnded(message));
      case "codec": // every frame says its own kind; only the size changes
        this.smooth = message.codec === "jpeg";
        return this.fit();
      default:
    }
  }

  /** Do something once the frames that came before it are decoded. @param {() => void} action */
  #afterFrames(action) {
    if (this.decoder) this.decoder.queue.then(action);
    else action();
  }

  /** @param {{[field: string]: any}} welcome */
  #onWelcome(welcome) {
    need(this.root, "[data-brief]").hidden = true;
    this.#note("");
    this.screen.resize(welcome.width, welcome.height);
    if (welcome.palette) this.screen.palette = paletteFromBase64(welcome.palette);
    this.decoder = new FrameDecoder(welcome.width, welcome.height);
    this.askedForKey = false;
    this.paintedStep = welcome.step;
    this.screen.canvas.hidden = false;
    this.smooth = welcome.codec === "jpeg";
    this.fit();
    if (welcome.state === "waiting") {
      this.#cover("Get ready", "");
      if (this.mouse.wanted) this.mouse.lock();
      this.seat?.send({ type: "start" });
      return;
    }
    this.#setState("paused");
    this.#coverPaused();
    if (this.#focused() && !this.ask.open) this.resume();
  }

  /** @param {number} seconds */
  #onCountdown(seconds) {
    this.#setState("countdown");
    this.screenCard.scrollIntoView({ block: "nearest" }); // game and touch buttons, all of them
    const count = Math.ceil(seconds);
    this.#cover(count > 0 ? String(count) : "Go", "", { count: true });
    this.announce(count > 0 ? String(count) : "Go");
  }

  /** @param {{[field: string]: any}} hud */
  #onHud(hud) {
    need(this.root, "[data-score]").textContent = String(hud.score);
    need(this.root, "[data-time]").textContent = clock(Math.ceil(hud.time_left_s));
    need(this.root, "[data-meter]").style.transform = `scaleX(${Math.min(1, Math.max(0, hud.time_left_s / this.task.time_limit_s))})`;
    need(this.root, "[data-latency]").textContent = hud.input_ms == null ? "–" : String(Math.round(hud.input_ms));
    need(this.root, "[data-fs-hud]").textContent = `score ${hud.score} · ${clock(Math.ceil(hud.time_left_s))}`;
    if (hud.lives == null) return;
    need(this.root, "[data-lives-box]").hidden = false;
    need(this.root, "[data-lives]").textContent = String(hud.lives);
    if (this.lives >= 0 && hud.lives < this.lives) this.announce(`${hud.lives} lives left, score ${hud.score}`);
    this.lives = hud.lives;
  }

  /** @param {string} reason */
  #onPaused(reason) {
    this.#setState("paused");
    this.held.releaseAll();
    this.mouse.release();
    if (reason === "recovering") this.#cover("One moment", "The game is being brought back from its recording. It goes on where it was.");
    else this.#coverPaused();
  }

  /** @param {{[field: string]: any}} ended */
  #onEnded(ended) {
    this.#forgetSeat();
    if (ended.episode === null) {
      this.#fail("The game was not played, so nothing was recorded.");
      return;
    }
    this.#setState("ended");
    this.seat?.close();
    this.#letGo();
    if (this.ask.open) this.ask.close();
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    const score = String(ended.total_reward);
    const outcome = OUTCOMES.get(ended.outcome) ?? "The end.";
    need(this.root, "[data-end-title]").textContent = outcome;
    need(this.root, "[data-end-score]").textContent = score;
    need(this.root, "[data-end-time]").textContent = clock(ended.num_steps / Number(this.root.dataset.rate));
    need(this.root, "[data-end-note]").textContent = `${ended.num_steps} steps are recorded. Watch your game again, frame by frame.`;
    need(this.root, "[data-end-link]").setAttribute("href", `/episodes/${encodeURIComponent(ended.episode)}`);
    this.announce(`${outcome} Score ${score}.`);
    // Let the last picture be seen before the page changes.
    setTimeout(() => {
      need(this.root, "[data-stage]").hidden = true;
      need(this.root, "[data-end]").hidden = false;
      need(this.root, "[data-end-title]").focus();
      new Replay(need(this.root, "[data-replay]")).open(ended.episode);
    }, 700);
  }

  // --- pictures -----------------------------------------------------------------------------------------------------

  /** @param {ArrayBuffer} buffer */
  #onFrame(buffer) {
    const { decoder } = this;
    if (!decoder) return;
    decoder.push(parseFrame(buffer)).then(
      (picture) => {
        if (decoder !== this.decoder) return;
        this.askedForKey = false;
        // Several may arrive before the screen is drawn again: only the newest is worth painting.
        if (this.newest === null) requestAnimationFrame(() => this.#paint());
        this.newest = picture;
      },
      (error) => {
        if (this.askedForKey || decoder !== this.decoder) return;
        this.askedForKey = true;
        if (!(error instanceof MissingBase)) console.warn(error);
        this.seat?.send({ type: "key" });
      },
    );
  }

  #paint() {
    if (!this.newest) return;
    this.screen.paint(this.newest);
    this.paintedStep = this.newest.step;
    this.newest = null;
    this.root.dataset.step = String(this.paintedStep);
  }

  fit() {
    const full = document.fullscreenElement === this.screenCard;
    const roomHeight = full ? this.view.clientHeight : Math.max(280, innerHeight - (innerWidth < 760 ? 330 : 190));
    const { width, height } = this.screen.canvas;
    const size = fitSize(width, height, this.view.clientWidth, roomHeight, devicePixelRatio, this.smooth);
    this.screen.canvas.classList.toggle("smooth", this.smooth);
    this.screen.canvas.style.width = `${size.width}px`;
    this.screen.canvas.style.height = `${size.height}px`;
  }

  // --- keys, focus, pause -------------------------------------------------------------------------------------------

  sendInput() {
    if (this.state !== "playing" && this.state !== "countdown") return;
    const { mask } = this.held;
    const now = performance.now();
    this.mouse.hotbar.follow(mask);
    if (!this.task.compose) {
      this.seat?.send(inputMessage(mask, this.paintedStep, now));
      return;
    }
    const { pitch, yaw } = this.mouse.turn.take();
    this.seat?.send(turnMessage(mask, this.paintedStep, now, pitch, yaw));
    this.lastSentMs = now;
    if (this.mouse.turn.isPending) this.#sendTurnSoon();
  }

  /** Send what the mouse has turned when the screen is drawn next: once for all movements until then. */
  #sendTurnSoon() {
    if (this.turnIsDue) return;
    this.turnIsDue = true;
    requestAnimationFrame(() => {
      this.turnIsDue = false;
      if (!this.mouse.turn.isPending) return; // a button has taken it along
      if (performance.now() - this.lastSentMs < TURNS_EVERY_MS) this.#sendTurnSoon();
      else this.sendInput();
    });
  }

  /** Let go of every button and of the pointer. */
  #letGo() {
    this.mouse.release();
    this.mouse.unlock();
    return this.held.releaseAll();
  }

  #isOn() {
    return this.state === "playing" || this.state === "paused" || this.state === "countdown" || this.state === "connecting";
  }

  #focused() {
    return document.hasFocus() && !document.hidden;
  }

  pause() {
    if (this.#letGo()) this.sendInput();
    if (this.state !== "playing" && this.state !== "countdown") return;
    this.seat?.send({ type: "pause" });
    this.#setState("paused");
    this.#coverPaused();
  }

  resume() {
    if (this.state !== "paused" || this.ask.open) return;
    if (this.mouse.wanted) this.mouse.lock();
    this.seat?.send({ type: "resume" });
  }

  askToFinish() {
    if (this.state !== "playing" && this.state !== "paused" && this.state !== "countdown") return;
    this.pause();
    this.ask.showModal();
  }

  #listen() {
    addEventListener("keydown", (event) => this.#onKeyDown(event));
    addEventListener("keyup", (event) => {
      if (this.held.release(event.code)) this.sendInput();
    });
    addEventListener("blur", () => this.pause());
    document.addEventListener("visibilitychange", () => document.hidden && this.pause());
    addEventListener("resize", () => this.fit());
    document.addEventListener("fullscreenchange", () => this.fit());
    this.view.addEventListener("pointerdown", (event) => {
      if (this.state === "paused" && event.pointerType === "mouse") this.mouse.wanted = true;
      this.resume();
    });
    this.startButton.addEventListener("click", (event) => {
      // A click that a key made has no detail: whoever starts with the keyboard keeps their pointer.
      if (event.detail > 0 && matchMedia("(pointer: fine)").matches) this.mouse.wanted = true;
      this.start();
    });
    need(this.root, "[data-pause]").addEventListener("click", (event) => {
      // The button must not keep the focus: the space bar is a game key.
      if (event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
      if (this.state === "paused") this.resume();
      else this.pause();
    });
    need(this.root, "[data-finish]").addEventListener("click", () => this.askToFinish());
    need(this.root, "[data-again]").addEventListener("click", () => location.reload());
    need(this.root, "[data-fullscreen]").addEventListener("click", (event) => {
      if (event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
      if (document.fullscreenElement) document.exitFullscreen();
      else this.screenCard.requestFullscreen().catch(() => {});
    });
    need(this.ask, "[data-ask-yes]").addEventListener("click", () => {
      this.ask.close();
      this.seat?.send({ type: "quit" });
    });
    need(this.ask, "[data-ask-no]").addEventListener("click", () => {
      this.ask.close();
      this.resume();
    });
    setInterval(() => this.sendInput(), HEARTBEAT_MS);
  }

  /** @param {KeyboardEvent} event */
  #onKeyDown(event) {
    if (this.#isShortcut(event) || isTyping(event.target) || this.ask.open) return;
    const { state } = this;
    if ((state === "ready" || state === "failed") && (event.code === "Enter" || event.code === "Space")) {
      // A focused link or button answers Enter itself.
      if (event.target !== document.body) return;
      event.preventDefault();
      this.start();
      return;
    }
    if (state !== "playing" && state !== "paused" && state !== "countdown") return;
    if (event.code === "Escape") {
      event.preventDefault();
      // The first Escape gives the pointer back and pauses. Browsers keep that key for themselves; drivers of tests do not.
      if (this.mouse.locked) this.mouse.unlock();
      else if (!this.mouse.justUnlocked) this.askToFinish();
      return;
    }
    const bound = this.held.isBound(event.code);
    if (state === "paused") {
      // Tab and a key on a focused control stay the browser's, so the page can be left by keyboard.
      if (event.repeat || event.code === "Tab" || event.target instanceof HTMLButtonElement || event.target instanceof HTMLAnchorElement) return;
      event.preventDefault();
      this.resume();
      return;
    }
    if (bound) {
      event.preventDefault(); // no scrolling by arrows and space
      if (!event.repeat && this.held.press(event.code)) this.sendInput();
    } else if (event.code === "KeyP" && !event.repeat) {
      this.pause();
    }
  }

  /** Whether a key belongs to the browser, because of a modifier that is no key of this game. @param {KeyboardEvent} event */
  #isShortcut(event) {
    const isOurs = (/** @type {string} */ name) => this.held.isBound(`${name}Left`) || this.held.isBound(`${name}Right`);
    return (event.ctrlKey && !isOurs("Control")) || (event.altKey && !isOurs("Alt")) || (event.metaKey && !isOurs("Meta"));
  }

  // --- the page -----------------------------------------------------------------------------------------------------

  /** @param {State} state */
  #setState(state) {
    this.state = state;
    this.root.dataset.state = state;
    need(this.root, "[data-state]").textContent = state;
    const live = state === "playing" || state === "paused" || state === "countdown";
    this.screenCard.classList.toggle("live", live);
    need(this.root, "[data-pause]").hidden = !live;
    need(this.root, "[data-finish]").hidden = !live;
    need(this.root, "[data-pause]").firstChild?.replaceWith(state === "paused" ? "Go on " : "Pause ");
    this.#showHint();
  }

  /** How to catch the mouse, while it is free. */
  #showHint() {
    need(this.root, "[data-mouse-hint]").hidden =
      !this.task.pointer || this.state !== "playing" || this.mouse.locked || !matchMedia("(pointer: fine)").matches;
  }

  #coverPaused() {
    this.#cover("Paused", "Click here or press any key to go on.");
    this.announce("Paused. Press any key to go on.");
  }

  /**
   * @param {string} headline
   * @param {string} text
   * @param {{count?: boolean}} [options]
   */
  #cover(headline, text, { count = false } = {}) {
    const cover = need(this.root, "[data-cover]");
    const title = need(cover, "h2");
    title.textContent = headline;
    title.classList.toggle("count", count);
    cover.classList.toggle("thin", count); // one should see the game one is about to play
    need(cover, "p").textContent = text;
    cover.hidden = false;
  }

  #uncover() {
    need(this.root, "[data-cover]").hidden = true;
  }

  /** @param {string} text */
  #note(text) {
    need(this.root, "[data-start-note]").textContent = text;
  }

  /** For people who listen to the page. @param {string} text */
  announce(text) {
    need(document, "[data-announce]").textContent = text;
  }
}

const facts = document.getElementById("task")?.textContent;
if (facts) {
  const task = JSON.parse(facts);
  const root = need(document, "#player");
  root.dataset.rate = String(task.frame_rate_hz);
  new Player(root, task);
}

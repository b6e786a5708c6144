// The player: instructions, countdown, the game on a canvas, and at the end the player's own replay.

import { askToCompare } from "./compare.js";
import { Seat } from "./connection.js";
import { FrameDecoder, MissingBase, Screen } from "./codec.js";
import { HeldButtons } from "./keys.js";
import { Lobby } from "./lobby.js";
import { showMilestones } from "./milestones.js";
import { Mouse } from "./mouse.js";
import { ApiError, api, isTyping, need } from "./page.js";
import { Options } from "./options.js";
import { Presses } from "./presses.js";
import { KIND, gazeMessage, inputMessage, optionsMessage, paletteFromBase64, parseFrame, pointMessage, pressMessage, sceneMessage, tracedMessage, turnMessage } from "./protocol.js";
import { Replay } from "./replay.js";
import { saveDrawing, savedDrawing, whyNotHere } from "./scene/able.js";
import { Drawing } from "./scene/drawing.js";
import { Steering } from "./steering.js";
import { clock } from "./timeline.js";
import { TouchPad } from "./touch.js";
import { checkWords, showStatistics } from "./statistics.js";
import { company, isAwaited, wordsOf } from "./waiting.js";
import { Wheel } from "./wheel.js";

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
 * @property {Record<string, string>} key_names KeyboardEvent.code -> as people read it
 * @property {boolean} compose whether buttons are entries of a Dict action
 * @property {string | null} pointer the entry that the mouse turns
 * @property {number} pointer_degrees for one CSS pixel
 * @property {import("./steering.js").Axis[]} axes the numbers that the pointer sets, of a task that is steered
 * @property {boolean} takes_turns whether the world waits for a press
 * @property {number} max_steps
 * @property {Record<string, [number, number]>} turns buttons that only turn the view, and by how many degrees in a step (down, right)
 * @property {string | null} ends the button that ends the task, which is asked about first
 * @property {boolean} has_score whether the task gives points
 * @property {string | null} partner the agent with which one may play at once, in a game for several outside studies
 * @property {boolean} may_invite whether one may choose with whom to play
 * @property {string | null} lost what it means if the game ends without a point
 * @property {boolean} sends_scenes whether a browser can draw its world
 * @property {import("./statistics.js").StatisticFacts[]} statistics what is computed of a game
 */
/** @typedef {import("./waiting.js").SeatFacts} SeatFacts */
/** @typedef {"ready" | "connecting" | "countdown" | "playing" | "paused" | "ended" | "failed"} State */

/** The seat of the game before, while the page is loaded again to play with the same partner. */
const AGAIN_KEY = "interplay.again";
const HEARTBEAT_MS = 250;
/** Fast screens draw 360 frames a second; the server takes 300 messages. */
const TURNS_EVERY_MS = 7;
/** The least height of a picture, and what is left of the window above and below it, CSS pixels. */
const LEAST_ROOM = 200, AROUND_CARD = 16;
/** Over how long the shown rate is measured. */
const RATE_OVER_MS = 2000;
/** Stands for a finger on the button that the page taps. */
const TAP_FINGER = -2;
/** The Escape that closed a screen may come again, as a key or as the pointer's release. */
const AFTER_CLOSING_MS = 150;
/** How often the page asks for the player's place after a game, and how many times. */
const PLACE_EVERY_MS = 3000, PLACE_LOOKS = 60;
/** Keys that move a page. */
const SCROLLS = /^(Arrow|Page|Home|End|Space)/;
/** The button that opens the inventory, and closes whatever is open. */
const CLOSES = "inventory";
/** What the picture says to a player whose part has ended. */
const DONE = "You are done. You can watch until the others are done.";
/** What ended a game, where another player did. */
const OUTCOMES_BY_ANOTHER = new Map([
  ["quit", "The other player finished early."],
  ["left", "The other player left."],
]);
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
      hasScreen: () => this.screenOpen || this.drawing?.hasScreen === true,
      mayLock: () => this.#isOn() && !this.#isAsking,
      onChange: () => this.#onHeld(),
      onTurn: () => this.#sendTurnSoon(),
      onLock: (locked) => {
        // Browsers do not report the Escape that releases the pointer.
        if (!locked && this.#hasScreen && document.hasFocus()) this.#closeScreen();
        else if (!locked && !this.#hasJustClosed) this.pause();
        this.#showHint();
      },
    });
    this.presses = new Presses(task.frame_rate_hz, () => this.held.mask, (mask) => this.#sendPress(mask));
    this.steering = new Steering(this.view, this.screen.canvas, task.axes, () => this.state === "playing", () => this.#sendTurnSoon());
    /** @type {HTMLDialogElement} before the button that ends the task counts */
    this.askEnd = need(document, "[data-ask-end]");
    /** @type {HTMLDialogElement} */
    this.keys = need(document, "[data-keys]");
    /** @type {HTMLDialogElement | null} where the task is one in first person */
    const dialog = document.querySelector("[data-options]");
    this.options = dialog && new Options(dialog, task, () => this.#useOptions());
    this.dialogs = [this.ask, this.askEnd, this.keys, ...(dialog ? [dialog] : [])];
    this.touch = new TouchPad(need(root, "[data-touch]"), task, this.held, () => this.#onHeld(), () => this.askToEnd());
    if (this.touch.look) this.mouse.listenToFingers(this.touch.look);
    this.screenCard.classList.toggle("first-person", task.pointer !== null);
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
    this.turnIsUntold = false;
    /** @type {Drawing | null} while the picture is drawn in this browser */
    this.drawing = null;
    /** @type {string | null} address of what that needs, where it can be had */
    this.tables = null;
    this.sentMask = 0;
    /** When a key or a button was last pressed, and from when one that is held turns the view. */
    this.pressedAt = 0;
    this.turnsFrom = 0;
    /** @type {HTMLSelectElement} who shall draw */
    this.drawnBy = need(root, "[data-drawn-by]");
    const together = root.querySelector("[data-together]");
    const { partner } = root.dataset.enrolment ? { partner: "" } : agentsWanted();
    if (together && partner) together.textContent = `An agent (${partner}) plays with you. Press Start when you are ready.`;
    this.lobby = new Lobby(root, (isInTime) => (isInTime ? this.seat?.send({ type: "partner" }) : this.#startWithAgent()), () => this.seat?.send({ type: "quit" }), task.partner !== null);
    this.wheel = new Wheel(need(root, "[data-wheel]"), this.held, (who) => this.seat?.send({ type: "wheel", who }));
    this.lastSentMs = 0;
    this.lives = -1;
    /** @type {Record<string, number | null>} statistics as the server last said them */
    this.statistics = {};
    /** @type {import("./statistics.js").SittingFacts | null} of all games of this sitting, where there were some before */
    this.sitting = null;
    this.announcedTenth = -1;
    /** @type {string | null} id of what is saved of a game that cannot go on */
    this.saved = null;
    /** @type {number[]} when the last pictures were painted, ms */
    this.paintedAt = [];
    /** @type {{step: number, arrivedMs: number} | null} a step about whose painting the server asks */
    this.traced = null;
    this.smaller = false;
    /** Whether a screen of the world is open, which the button that ends the task would only close. */
    this.screenOpen = false;
    this.closedAt = -Infinity;
    /** Whether this player's part has ended while others play on. */
    this.isDone = false;
    this.endWhenResumed = false;
    this.wasLive = false;
    /** @type {SeatFacts[]} who is there, in a game of several seats */
    this.seats = [];
    /** What was said of them last. */
    this.news = "";
    /** My seat among them. */
    this.mySeat = "";
    /** @type {string | null} why there is no connection just now */
    this.lost = null;
    this.hasBegun = false;
    /** Whether this player has said start or resume, and has not paused since. */
    this.isReady = false;
    this.isRecovering = this.isMoving = false;
    /** @type {number | null} from which step a game goes on whose server was restarted */
    this.restoredAt = null;
    /** Whether the window was left and nothing has come from the player since; a frame may never be told of its focus. */
    this.isLeft = false;
    /** What the cover says of a game that stands still. */
    this.told = "";
    /** @type {State} */
    this.state = "ready";
    this.#listen();
    this.#useOptions();
    if (this.#savedSeat()) {
      this.startButton.firstChild?.replaceWith("Resume ");
      this.#note("Your game is still waiting for you.");
      this.root.querySelector("[data-start-agent]")?.remove();
    }
    this.startButton.disabled = false;
    this.startButton.focus({ preventScroll: true });
    const again = sessionStorage.getItem(AGAIN_KEY);
    sessionStorage.removeItem(AGAIN_KEY);
    if (again) this.start({ again }).then(() => this.state === "failed" || this.#note("The game begins when your partner has also pressed \"Again with the same partner\"."));
  }

  // --- the seat -----------------------------------------------------------------------------------------------------

  /** Play with the task's agent now: it sits in a game of its own, so that somebody else may have the place that is left. */
  #startWithAgent() {
    if (this.state === "connecting") {
      this.seat?.send({ type: "quit" });
      this.seat?.close();
      this.#forgetSeat();
      this.seats = [];
      this.#uncover();
      this.#setState("ready");
    }
    return this.start({ partner: this.task.partner });
  }

  /** @param {{[name: string]: string | null}} [more] what else is asked for: an agent, or a partner */
  async start(more = {}) {
    if (this.state !== "ready" && this.state !== "failed") return;
    this.#setState("connecting");
    this.startButton.disabled = true;
    this.#note("Getting the game ready ...");
    try {
      const drawn = this.#canDraw ? "here" : "server";
      const wanted = { task: this.task.id, drawn, ...(this.root.dataset.enrolment ? {} : agentsWanted()), ...more };
      const seat = this.#savedSeat() ?? (await api("/api/sessions", wanted));
      spendInvitation();
      sessionStorage.setItem(this.#seatKey, JSON.stringify(seat));
      this.seat = new Seat(seat.socket, seat.token, {
        onMessage: (message) => this.#onMessage(message),
        onFrame: (buffer) => this.#onFrame(buffer),
        onLost: (message) => this.#onLost(message),
        onClosed: (message, code) => this.#onClosed(message, code),
      });
    } catch (error) {
      const text = error instanceof ApiError ? error.message : "The server cannot be reached. Is it still running?";
      if (error instanceof ApiError) spendInvitation();
      this.#fail(text);
    }
  }

  /** Whether the picture will be drawn in this browser, as far as can be said before there is a game. */
  get #canDraw() {
    return this.task.sends_scenes && whyNotHere(this.drawnBy.value) === null;
  }

  /** A seat belongs to one person: two pupils may use one window after each other. */
  get #seatKey() {
    return `interplay.seat.${this.task.id}${this.root.dataset.enrolment ?? this.root.dataset.pupil ?? ""}`;
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
    this.#letGoOfKeys();
    if (this.state === "ended") return;
    this.lost = message;
    this.#tell();
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
    this.#stopDrawing();
    this.lost = this.restoredAt = null;
    this.hasBegun = this.isReady = this.isRecovering = this.isMoving = false;
    this.seats = [];
    this.#setState("failed");
    this.#letGo();
    this.#closeDialogs();
    this.startButton.disabled = false;
    this.startButton.firstChild?.replaceWith("Start again ");
    this.#note(message, true);
    this.announce(message);
    if (this.saved) {
      const link = document.createElement("a");
      link.href = `/episodes/${encodeURIComponent(this.saved)}`;
      link.textContent = "Watch the saved replay";
      need(this.root, "[data-start-note]").append(" ", link);
      this.saved = null;
    }
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
        this.announce("Go!");
        return this.#goOn();
      case "hud":
        return this.#onHud(message);
      case "paused":
        return this.#onPaused(message.reason);
      case "resumed":
        return this.#goOn();
      case "ended":
        return this.#afterFrames(() => this.#onEnded(message));
      case "error":
        this.saved = message.episode ?? null;
        return;
      case "seats":
        return this.#onSeats(message);
      case "lobby":
        this.lobby.onMessage(/** @type {any} */ (message));
        return this.#wait();
      case "wheel":
        return this.announce(this.wheel.onMessage(message));
      case "agent_failed":
        return this.announce(this.wheel.onFailed(message, this.mySeat));
      case "traced":
        this.traced = { step: message.step, arrivedMs: performance.now() };
        return;
      case "preparing":
        return this.#onPreparing(message.text, message.share);
      case "codec": // every frame says its own kind; only the size changes
        this.smooth = message.codec === "jpeg";
        return this.fit();
      default:
    }
  }

  /**
   * Say what takes long before the game can begin.
   * @param {string} text
   * @param {number} share that is done, 0 to 1
   */
  #onPreparing(text, share) {
    this.#note(share < 1 ? `${text} ...` : "Getting the game ready ...");
    const tenth = Math.floor(10 * share);
    if (tenth !== this.announcedTenth) this.announce(text);
    this.announcedTenth = tenth;
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
    this.presses.begin();
    this.screen.canvas.hidden = false;
    this.smooth = welcome.codec === "jpeg";
    this.fit();
    this.#offerDrawing(welcome.scene?.tables ?? null);
    this.lost = null;
    this.isReady = this.isRecovering = this.isMoving = false;
    this.hasBegun = welcome.state !== "waiting";
    this.restoredAt = welcome.restored ? welcome.step : null;
    const hasPaused = this.state === "paused"; // in the countdown, before the connection was lost
    if (this.hasBegun || hasPaused) {
      this.#setState("paused");
      this.#tell();
      if (this.hasBegun && !welcome.restored && this.#looks()) this.resume();
      return;
    }
    if (this.mouse.wanted) this.mouse.lock();
    this.seat?.send({ type: "start" });
    this.isReady = true;
    this.#tell();
  }

  /**
   * Show who has a seat in the game, and who is connected.
   * @param {{[field: string]: any}} message
   */
  #onSeats(message) {
    this.mySeat = message.you;
    this.seats = message.seats;
    const others = this.seats.filter((one) => one.seat !== this.mySeat);
    const { note, news } = company(this.mySeat, others);
    if (news && news !== this.news && this.state === "playing") this.announce(news);
    this.news = news;
    this.#showHint();
    const shown = need(this.root, "[data-seats]");
    shown.hidden = false;
    shown.textContent = note;
    this.fit(); // the strip may need another line
    this.#wait();
    if (this.state === "paused") return this.#tell();
    if (this.state !== "connecting" && (this.state !== "countdown" || !isAwaited(others))) return;
    this.#setState("connecting"); // a countdown begins again when all are ready
    this.#tell();
  }

  /** Wait for others to join, or no longer. */
  #wait() {
    const others = this.seats.filter((one) => one.seat !== this.mySeat);
    const isAwaiting = this.state === "connecting" && this.isReady && isAwaited(others);
    need(this.root, "[data-state]").textContent = isAwaiting ? "waiting" : this.state;
    const isBefore = !this.hasBegun && !this.lost && (this.state === "connecting" || this.state === "countdown");
    this.lobby.waitFor(isBefore && this.isReady ? others : [], isBefore && others.some((one) => one.state !== "open" && one.state !== "agent"));
  }

  /** The clock is on. */
  #goOn() {
    this.drawnBy.blur(); // its keys are the game's again
    this.hasBegun = this.isReady = true;
    this.isRecovering = false;
    this.restoredAt = null;
    this.#setState("playing");
    this.#uncover();
    if (!this.#looks()) return this.pause(); // a player who waited long may look at something else by now
    this.paintedAt = [];
    this.screenOpen = false; // until the next message says so: rather ask once too often
    this.#useOptions();
    if (this.endWhenResumed && this.task.ends) this.#tap(this.task.ends);
    else this.sendInput();
    this.endWhenResumed = false;
  }

  /** @param {number} seconds */
  #onCountdown(seconds) {
    this.#setState("countdown");
    // Dashes keep the room of the first values, so nothing below moves when they come.
    if (!this.hasBegun) this.#showStatistics(Object.fromEntries(this.task.statistics.map(({ name }) => [name, null])));
    this.screenCard.scrollIntoView({ block: "nearest" }); // game and touch buttons, all of them
    const count = Math.ceil(seconds);
    this.#cover(count > 0 ? String(count) : "Go", "", { count: true });
    this.announce(count > 0 ? String(count) : "Go");
    if (!this.#looks()) this.pause(); // as in #goOn
  }

  /** @param {{[field: string]: any}} hud */
  #onHud(hud) {
    const score = this.task.has_score ? `score ${points(hud.score)} · ` : "";
    if (this.task.has_score) need(this.root, "[data-score]").textContent = points(hud.score);
    this.screenOpen = hud.is_screen_open === true;
    if (this.isDone !== (hud.is_done === true)) {
      this.isDone = hud.is_done === true;
      if (this.isDone) this.announce(DONE);
      this.#showHint();
    }
    this.#showRate(hud.rate_hz, hud.height);
    const left = this.task.takes_turns ? String(hud.turns_left) : clock(Math.ceil(hud.time_left_s));
    const share = this.task.takes_turns ? hud.turns_left / this.task.max_steps : hud.time_left_s / this.task.time_limit_s;
    need(this.root, "[data-time]").textContent = left;
    need(this.root, "[data-meter]").style.transform = `scaleX(${Math.min(1, Math.max(0, share))})`;
    const inputMs = this.drawing?.isShown ? this.drawing.delay.median : hud.input_ms;
    need(this.root, "[data-latency]").textContent = inputMs == null ? "–" : String(Math.round(inputMs));
    need(this.root, "[data-fs-hud]").textContent = `${score}${left}${this.task.takes_turns ? " turns left" : ""}`;
    this.statistics = hud.statistics ?? {};
    this.sitting = hud.sitting ?? null;
    this.#showStatistics(this.statistics);
    document.dispatchEvent(new CustomEvent("interplay:hud", { detail: { hud, rate_hz: this.task.frame_rate_hz } }));
    if (hud.lives == null) return;
    need(this.root, "[data-lives-box]").hidden = false;
    need(this.root, "[data-lives]").textContent = String(hud.lives);
    if (this.lives >= 0 && hud.lives < this.lives) this.announce(`${hud.lives} lives left, score ${points(hud.score)}`);
    this.lives = hud.lives;
  }

  /** @param {import("./statistics.js").Values} values */
  #showStatistics(values) {
    showStatistics(need(this.root, "[data-statistics]"), this.task.statistics, values, this.sitting);
  }

  /**
   * Show how fast the game really runs, how much of it is painted, and whether its pictures were made smaller for that.
   * @param {number | undefined} rate steps a second, as the server measures them
   * @param {number | undefined} height of the pictures now
   */
  #showRate(rate, height) {
    if (rate == null) return;
    const since = performance.now() - RATE_OVER_MS;
    this.paintedAt = this.paintedAt.filter((time) => time > since - RATE_OVER_MS);
    const painted = this.paintedAt.filter((time) => time > since).length / (RATE_OVER_MS / 1000);
    const isFull = this.paintedAt.length > 0 && this.paintedAt[0] <= since; // two seconds of painting to speak of
    const isHere = this.drawing?.isShown === true;
    const shown = isFull && painted < 0.9 * rate ? `, ${Math.round(painted)} shown` : "";
    const drawn = isHere && this.drawing?.pace.fps ? `, drawn at ${Math.round(this.drawing.pace.fps)} Hz` : shown;
    need(this.root, "[data-rate]").textContent = `${Math.round(rate)} of ${this.task.frame_rate_hz} Hz${drawn}`;
    const smaller = !isHere && height != null && height < this.screen.canvas.height;
    const note = need(this.root, "[data-smaller]");
    note.hidden = !smaller;
    if (smaller && !this.smaller) this.announce(note.textContent ?? "");
    this.smaller = smaller;
    Object.assign(this.root.dataset, { rateHz: String(rate), height: String(height ?? this.screen.canvas.height) });
  }

  /** @param {string} reason */
  #onPaused(reason) {
    this.#setState("paused");
    this.#letGoOfKeys();
    this.isMoving = reason === "moving";
    this.isRecovering = reason === "recovering" || this.isMoving;
    if (!this.isRecovering) this.isReady = reason === "others";
    this.#tell();
  }

  /** @param {{[field: string]: any}} ended */
  #onEnded(ended) {
    this.#forgetSeat();
    if (ended.episode === null) {
      document.dispatchEvent(new CustomEvent("interplay:unplayed", { detail: { outcome: ended.outcome } }));
      const isAlone = this.seats.some((one) => one.state === "open");
      const nobody = ended.outcome === "no_partner" ? "No partner came" : "Nobody joined";
      this.#fail(isAlone ? `${nobody}, so nothing was played.` : "The game was not played, so nothing was recorded.");
      return;
    }
    this.#setState("ended");
    document.dispatchEvent(new CustomEvent("interplay:ended", { detail: { episode: ended.episode } }));
    this.seat?.close();
    this.#letGo();
    this.#closeDialogs();
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    const score = points(ended.total_reward);
    const isDone = ended.outcome === "terminated" && this.task.ends; // mostly because its player said so
    const lost = ended.outcome === "terminated" && ended.total_reward <= 0 ? this.task.lost : null;
    const byAnother = ended.by && ended.by !== this.mySeat ? OUTCOMES_BY_ANOTHER.get(ended.outcome) : null;
    const outcome = isDone ? "The task has ended." : (lost ?? byAnother ?? OUTCOMES.get(ended.outcome) ?? "The end.");
    need(this.root, "[data-end-title]").textContent = outcome;
    if (this.task.has_score) need(this.root, "[data-end-score]").textContent = score;
    need(this.root, "[data-end-time]").textContent = this.task.takes_turns ? String(ended.num_steps) : clock(ended.num_steps / Number(this.root.dataset.rate));
    showStatistics(need(this.root, "[data-end-statistics]"), this.task.statistics, this.statistics, this.sitting);
    need(this.root, "[data-end-note]").textContent = `${ended.num_steps} steps are recorded. You can watch your game again, frame by frame.`;
    if (ended.goes_on) need(this.root, "[data-end-note]").textContent = `You played ${ended.num_steps} steps. The game continues, and an agent plays in your place. Its replay will be on the episode page.`;
    need(this.root, "[data-end-link]").setAttribute("href", `/episodes/${encodeURIComponent(ended.episode)}`);
    const together = this.root.querySelector("[data-together-again]");
    const wasTogether = this.seats.some((one) => one.seat !== this.mySeat && one.state !== "agent" && one.state !== "open");
    if (together instanceof HTMLElement) together.hidden = ended.goes_on === true || !wasTogether;
    if (!ended.goes_on && !this.root.dataset.enrolment) this.#showCheck(ended.episode);
    this.#showPlace();
    const compare = this.root.querySelector("[data-compare]");
    if (ended.may_ask && compare instanceof HTMLElement) askToCompare(compare, { token: this.seat?.token });
    const milestones = this.root.querySelector("[data-milestones]");
    if (milestones instanceof HTMLElement) showMilestones(milestones, ended.episode);
    this.announce(this.task.has_score ? `${outcome} Score ${score}.` : outcome);
    // Show the last picture for a moment before the page changes.
    setTimeout(() => {
      this.#stopDrawing();
      need(this.root, "[data-stage]").hidden = true;
      need(this.root, "[data-end]").hidden = false;
      need(this.root, "[data-end-title]").focus();
      need(this.root, "[data-replay]").hidden = ended.goes_on === true; // it is still being played
      if (!ended.goes_on) new Replay(need(this.root, "[data-replay]")).open(ended.episode, ended.num_steps);
    }, 700);
  }

  /** Say whether the task was done, and what the check found. @param {string} episode */
  async #showCheck(episode) {
    const facts = await api(`/api/episodes/${encodeURIComponent(episode)}`).catch(() => null);
    const words = checkWords(facts?.outcome_check ?? {});
    if (!words) return;
    const box = need(this.root, "[data-end-check]");
    box.textContent = words;
    box.hidden = false;
    this.announce(words);
  }

  /** The player's place among the high scores, where there are any, once the games of their list are checked. */
  async #showPlace() {
    const box = this.root.querySelector("[data-end-place]");
    box?.replaceChildren(); // the place after the game before
    for (let looked = 0; box && looked < PLACE_LOOKS && this.state === "ended"; looked++) {
      const scores = await api(`/api/scores/${this.task.id}`).catch(() => null);
      if (!scores) return;
      const isChecking = scores.num_unchecked > 0;
      if (scores.own && isChecking) box.textContent ||= "The high scores are being checked.";
      else if (scores.own) box.replaceChildren(placeAmongScores(scores));
      if (!isChecking) return;
      await new Promise((then) => setTimeout(then, PLACE_EVERY_MS));
    }
  }

  // --- pictures -----------------------------------------------------------------------------------------------------

  /** @param {ArrayBuffer} buffer */
  #onFrame(buffer) {
    const { decoder } = this;
    if (!decoder) return;
    let message;
    try {
      message = parseFrame(buffer);
    } catch (error) {
      console.warn(error); // that it is missing shows with the next one
      return;
    }
    if (message.kind === KIND.SCENE || message.kind === KIND.LAND) {
      this.drawing?.apply(message);
      return;
    }
    decoder.push(message).then(
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
    const { step } = this.newest;
    this.newest = null;
    if (!this.drawing?.isShown) this.#onPainted(step);
  }

  /** The world is on the screen as it is after so many steps. @param {number} step */
  #onPainted(step) {
    if (step > this.paintedStep) this.presses.answered();
    this.paintedStep = step;
    const now = performance.now();
    this.paintedAt.push(now);
    if (this.traced && step >= this.traced.step) {
      this.seat?.send(tracedMessage(this.traced.arrivedMs, now));
      this.traced = null;
    }
    this.root.dataset.step = String(step);
  }

  /** Whether the game has the whole screen: as the player wants it, or on a phone (interplay.css). */
  get #isFull() {
    return document.fullscreenElement === this.screenCard || getComputedStyle(this.screenCard).position === "fixed";
  }

  /** How high the picture may be, CSS pixels: what the strip and the buttons for fingers leave of the window. */
  #room() {
    if (this.#isFull) return this.view.clientHeight;
    const beside = this.screenCard.offsetHeight - this.view.offsetHeight;
    return Math.max(LEAST_ROOM, innerHeight - beside - AROUND_CARD);
  }

  fit() {
    const width = this.screen.fit(this.view.clientWidth, this.#room(), this.smooth);
    this.screenCard.style.setProperty("--picture", `${width}px`); // the hotbar's buttons lie over the drawn one
    this.drawing?.fit();
    if ((this.wasLive || this.state === "connecting") && !this.#isFull) this.screenCard.scrollIntoView({ block: "nearest" });
  }

  // --- drawn in this browser ----------------------------------------------------------------------------------------

  /** The server says whether this game can be drawn here. @param {string | null} tables */
  #offerDrawing(tables) {
    need(this.root, "[data-drawing]").hidden = tables === null;
    const isSame = this.drawing !== null && tables === this.tables;
    this.tables = tables;
    if (isSame) this.drawing?.begin(); // a socket that came back
    else this.#chooseDrawing();
  }

  /** Draw here, or let the server draw, as the player wants it. */
  #chooseDrawing() {
    const wanted = this.drawnBy.value;
    if (this.tables === null || wanted === "server") return this.#drawAtServer(wanted === "server" ? "Drawn by the server." : "");
    this.#stopDrawing();
    this.drawing = new Drawing(this.screen.canvas, this.tables, wanted !== "here", {
      send: (message) => this.seat?.send(message),
      isMoving: () => this.state === "playing" || this.state === "countdown",
      onTurning: (elapsedMs) => this.#turnGaze(elapsedMs),
      untold: () => this.mouse.turn,
      onPainted: (step) => this.#onPainted(step),
      onShown: () => {
        this.root.dataset.drawn = "here";
        this.#useOptions();
        this.#sayDrawn("Drawn in this browser.");
      },
      onFail: (reason) => this.#drawAtServer(`Drawn by the server: ${reason}.`),
    });
    this.#useOptions();
    this.drawing.open();
  }

  /** @param {string} why for the player */
  #drawAtServer(why) {
    this.#stopDrawing();
    this.#sayDrawn(why);
    if (this.tables !== null) this.seat?.send(sceneMessage("server", this.screen.canvas));
    this.#useOptions();
  }

  #stopDrawing() {
    this.drawing?.close();
    this.drawing = null;
    this.root.dataset.drawn = "server";
    this.mouse.turn.clear();
  }

  /** @param {string} text */
  #sayDrawn(text) {
    need(this.root, "[data-drawn-note]").textContent = text;
  }

  /** The gaze follows the mouse, fingers and keys at once; the server is told where it looks. @param {number} elapsedMs since the last frame */
  #turnGaze(elapsedMs) {
    const { drawing, mouse } = this;
    if (!drawing?.isShown || drawing.hasScreen) return;
    const { gaze } = drawing.motion;
    while (mouse.turn.isPending) {
      const { pitch, yaw } = mouse.turn.take();
      gaze.turn(pitch, yaw);
    }
    const held = this.state === "playing" ? this.held.mask & this.#turnMask : 0;
    const steps = (Math.min(elapsedMs, performance.now() - this.turnsFrom) * this.task.frame_rate_hz) / 1000;
    if (!held || steps <= 0) return;
    this.#turnByKeys(held, steps);
    this.#sendTurnSoon();
  }

  /** The buttons that only turn the view. */
  get #turnMask() {
    return this.task.buttons.reduce((mask, name, place) => (Object.hasOwn(this.task.turns, name) ? mask | (1 << place) : mask), 0) >>> 0;
  }

  /**
   * @param {number} held mask
   * @param {number} steps of the world, or a part of one
   */
  #turnByKeys(held, steps) {
    this.task.buttons.forEach((name, place) => {
      if (!((held >>> place) & 1)) return;
      const [pitch, yaw] = this.task.turns[name];
      this.drawing?.motion.gaze.turn(pitch * steps, yaw * steps);
    });
  }

  // --- keys, focus, pause -------------------------------------------------------------------------------------------

  sendInput() {
    if (this.state !== "playing" && this.state !== "countdown") return;
    const { mask } = this.held;
    const now = performance.now();
    this.mouse.hotbar.follow(mask);
    if (this.task.takes_turns) return this.#sendPress(0);
    if (this.task.axes.length) {
      this.turnIsUntold = false;
      this.lastSentMs = now;
      this.steering.show((button) => this.held.isHeld(button));
      this.seat?.send(pointMessage(mask, this.paintedStep, now, ...this.steering.wanted));
      return;
    }
    if (!this.task.compose) {
      this.seat?.send(inputMessage(mask, this.paintedStep, now));
      return;
    }
    const pressed = mask & ~this.sentMask;
    this.sentMask = mask;
    this.turnIsUntold = false;
    this.lastSentMs = now;
    const { drawing } = this;
    if (pressed) drawing?.delay.press(this.pressedAt);
    drawing?.delay.send(now);
    if (drawing?.isShown && !drawing.hasScreen) {
      const turnMask = this.#turnMask;
      this.#turnGaze(0);
      if (pressed & turnMask) {
        // A step of the world at once, then smoothly.
        this.#turnByKeys(pressed & turnMask, 1);
        this.turnsFrom = now + 1000 / this.task.frame_rate_hz;
      }
      const { pitch, yaw } = drawing.motion.gaze;
      this.seat?.send(gazeMessage((mask & ~turnMask) >>> 0, this.paintedStep, now, pitch, yaw));
      return;
    }
    const { pitch, yaw } = this.mouse.turn.take();
    this.seat?.send(turnMessage(mask, this.paintedStep, now, pitch, yaw));
    drawing?.cursor.tell(now, pitch, yaw);
    if (this.mouse.turn.isPending) this.#sendTurnSoon();
  }

  /** Say what is held and, in a task of turns, what is pressed. @param {number} pressed mask */
  #sendPress(pressed) {
    this.sentMask = this.held.mask;
    this.seat?.send(pressMessage(this.sentMask, this.paintedStep, performance.now(), pressed, this.presses.number));
  }

  /** Fingers or the mouse hold other buttons: in a task of turns the new ones are pressed. */
  #onHeld() {
    const pressed = (this.held.mask & ~this.sentMask) >>> 0;
    if (this.task.takes_turns && this.state === "playing" && pressed) this.presses.press(pressed);
    else this.sendInput();
  }

  /** Send what the mouse has turned when the screen is drawn next: once for all movements until then. */
  #sendTurnSoon() {
    this.turnIsUntold = true;
    if (this.turnIsDue) return;
    this.turnIsDue = true;
    requestAnimationFrame(() => {
      this.turnIsDue = false;
      if (!this.turnIsUntold) return; // a button has taken it along
      if (performance.now() - this.lastSentMs < TURNS_EVERY_MS) this.#sendTurnSoon();
      else this.sendInput();
    });
  }

  /** Let go of every button and of the pointer. */
  #letGo() {
    this.mouse.unlock();
    this.touch.clear();
    return this.#letGoOfKeys();
  }

  /** Let go of every button. @returns {boolean} whether one was held */
  #letGoOfKeys() {
    this.mouse.release();
    this.presses.stop();
    this.steering.release();
    return this.held.releaseAll();
  }

  get #isAsking() {
    return this.dialogs.some((dialog) => dialog.open);
  }

  #closeDialogs() {
    for (const dialog of this.dialogs) if (dialog.open) dialog.close();
  }

  #isOn() {
    return this.state === "playing" || this.state === "paused" || this.state === "countdown" || this.state === "connecting";
  }

  /** Whether the player can see the game and play. */
  #looks() {
    return !this.isLeft && !document.hidden && !this.#isAsking;
  }

  pause() {
    this.endWhenResumed = false;
    if (this.#letGo()) this.sendInput();
    const waits = this.state === "paused" && this.isReady && (this.isRecovering || this.restoredAt !== null);
    if (this.state !== "playing" && this.state !== "countdown" && !waits) return;
    this.seat?.send({ type: "pause" });
    this.isReady = false;
    this.#setState("paused");
    this.#tell();
  }

  resume() {
    if (this.state !== "paused" || this.#isAsking) return;
    if (this.mouse.wanted) this.mouse.lock();
    this.#sayResume();
  }

  #sayResume() {
    this.seat?.send({ type: "resume" });
    this.isReady = true;
    if (!this.hasBegun) this.#setState("connecting");
    this.#tell();
  }

  askToFinish() {
    if (this.state !== "playing" && this.state !== "paused" && this.state !== "countdown") return;
    this.pause();
    this.ask.showModal();
  }

  /** The player says that the task is done. */
  askToEnd() {
    if (this.isDone || (this.state !== "playing" && this.state !== "countdown")) return;
    this.pause();
    this.askEnd.showModal();
  }

  /** It is: the world hears of it as soon as it goes on. */
  #end() {
    this.askEnd.close();
    this.endWhenResumed = true;
    this.#sayResume();
  }

  /** Press a button for a step. @param {string} button */
  #tap(button) {
    this.held.touch(TAP_FINGER, [button]);
    this.sendInput();
    setTimeout(() => this.held.touch(TAP_FINGER, []) && this.sendInput(), 1500 / this.task.frame_rate_hz);
  }

  /** Whether a screen of the world is open that Escape closes. */
  get #hasScreen() {
    return this.state === "playing" && this.screenOpen && this.task.buttons.includes(CLOSES);
  }

  get #hasJustClosed() {
    return performance.now() - this.closedAt < AFTER_CLOSING_MS;
  }

  /** Close inventory, chest or whatever is open, as its own key does; the game continues. */
  #closeScreen() {
    this.screenOpen = false; // until the world says how it is now
    this.closedAt = performance.now();
    // The world must first see that the key which opened the screen was released.
    for (const code of [...this.held.codes]) if (this.held.bindings[code] === CLOSES) this.held.release(code);
    this.sendInput();
    setTimeout(() => this.state === "playing" && this.#tap(CLOSES), 1500 / this.task.frame_rate_hz);
  }

  /** Show keys or options meanwhile. @param {HTMLDialogElement} dialog */
  show(dialog) {
    if (this.state === "playing" || this.state === "countdown") this.pause();
    dialog.showModal();
  }

  /** What the player has set holds from now on, and is recorded. */
  #useOptions() {
    if (!this.options) return;
    const { values, bindings } = this.options, isHere = this.drawing?.isShown === true;
    this.held.bindings = bindings;
    this.wheel.say();
    this.mouse.turn.sensitivity = values.sensitivity;
    this.mouse.turn.inverted = values.inverted;
    this.drawing?.set(values.fov, values.gui);
    if (this.#isOn()) this.seat?.send(optionsMessage(values, isHere));
  }

  /** Close a dialog and play on. @param {HTMLDialogElement} dialog */
  #back(dialog) {
    dialog.close();
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur(); // its keys are the game's again
    this.resume();
  }

  #listen() {
    addEventListener("keydown", (event) => this.#onKeyDown(event));
    addEventListener("keyup", (event) => {
      if (event.key === "Meta") this.#letGoForCommand();
      if (this.held.release(event.code)) this.sendInput();
    });
    addEventListener("blur", () => {
      this.isLeft = true;
      this.pause();
    });
    addEventListener("focus", () => (this.isLeft = false));
    // With Ctrl held to run, W would close the page.
    addEventListener("beforeunload", (event) => this.state === "playing" && /Control/.test([...this.held.codes].join()) && event.preventDefault());
    for (const name of ["keydown", "pointerdown", "mousedown"]) addEventListener(name, (event) => (this.pressedAt = event.timeStamp), true);
    for (const name of ["pointerdown", "keydown", "click"]) addEventListener(name, () => (this.isLeft = false), true);
    document.addEventListener("visibilitychange", () => document.hidden && this.pause());
    document.addEventListener("interplay:asking", () => this.pause()); // another part of the page asks something
    addEventListener("resize", () => this.fit());
    document.addEventListener("fullscreenchange", () => {
      need(this.root, "[data-fullscreen]").textContent = document.fullscreenElement ? "Leave full screen" : "Full screen";
      this.fit();
    });
    need(this.root, "[data-fullscreen]").hidden = !document.fullscreenEnabled;
    this.view.addEventListener("pointerdown", (event) => {
      if (this.state === "paused" && event.pointerType === "mouse") this.mouse.wanted = true;
      this.resume();
    });
    this.startButton.addEventListener("click", (event) => {
      // A click made by a key has no detail: a player who starts with the keyboard keeps the pointer.
      if (event.detail > 0 && matchMedia("(pointer: fine)").matches) this.mouse.wanted = true;
      this.start();
    });
    this.root.querySelector("[data-start-agent]")?.addEventListener("click", () => this.#startWithAgent());
    need(this.root, "[data-pause]").addEventListener("click", (event) => {
      // The button must not keep the focus: the space bar is a game key.
      if (event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
      if (this.state === "paused") this.resume();
      else this.pause();
    });
    need(this.root, "[data-finish]").addEventListener("click", () => this.askToFinish());
    need(this.root, "[data-again]").addEventListener("click", () => location.reload());
    this.root.querySelector("[data-together-again]")?.addEventListener("click", () => {
      sessionStorage.setItem(AGAIN_KEY, this.seat?.token ?? "");
      location.reload();
    });
    need(this.root, "[data-fullscreen]").addEventListener("click", (event) => {
      if (event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
      if (document.fullscreenElement) document.exitFullscreen();
      else this.screenCard.requestFullscreen().catch(() => {});
    });
    need(this.ask, "[data-ask-yes]").addEventListener("click", () => {
      this.ask.close();
      this.seat?.send({ type: "quit" });
    });
    need(this.askEnd, "[data-end-yes]").addEventListener("click", () => this.#end());
    for (const dialog of this.dialogs) {
      need(dialog, "[data-back]").addEventListener("click", () => this.#back(dialog));
      dialog.addEventListener("cancel", (event) => {
        event.preventDefault();
        this.#back(dialog);
      });
      // The key that opened it may still be held.
      dialog.addEventListener("keydown", (event) => event.repeat && !(event.target instanceof HTMLInputElement) && event.preventDefault());
    }
    this.keys.addEventListener("keydown", (event) => {
      if (!this.#asksForKeys(event)) return;
      event.preventDefault();
      event.stopPropagation();
      this.#back(this.keys);
    });
    need(this.root, "[data-show-keys]").addEventListener("click", () => this.show(this.keys));
    const { options } = this;
    if (options) need(this.root, "[data-show-options]").addEventListener("click", () => this.show(options.dialog));
    for (const unfold of this.root.querySelectorAll("summary")) unfold.addEventListener("click", () => unfold.blur()); // its keys are the game's again
    need(this.root, "[data-details]").addEventListener("toggle", () => this.fit());
    this.drawnBy.value = savedDrawing();
    this.drawnBy.addEventListener("change", () => {
      saveDrawing(this.drawnBy.value);
      this.#chooseDrawing();
    });
    setInterval(() => this.sendInput(), HEARTBEAT_MS);
  }

  /** macOS says of no key that it was let go while Command is down. */
  #letGoForCommand() {
    if (!this.held.isBound("MetaLeft") && !this.held.isBound("MetaRight") && this.held.releaseKeys()) this.sendInput();
  }

  /** @param {KeyboardEvent} event */
  #onKeyDown(event) {
    if (event.metaKey) this.#letGoForCommand();
    if (this.#isShortcut(event) || isTyping(event.target) || this.#isAsking) return;
    const { state } = this;
    if (state === "ended" && event.code === "Enter" && !event.repeat) {
      // The element with the focus handles Enter itself; at first that is the title.
      if (event.target instanceof HTMLElement && event.target.matches("body, [data-end-title]") && !need(this.root, "[data-end]").hidden) location.reload();
      return;
    }
    if (this.#asksForKeys(event) && state !== "ended" && state !== "connecting") {
      event.preventDefault();
      this.show(this.keys);
      return;
    }
    if ((state === "ready" || state === "failed") && (event.code === "Enter" || event.code === "Space")) {
      // A focused link or button handles Enter itself.
      if (event.target !== document.body) return;
      event.preventDefault();
      this.start();
      return;
    }
    if (state !== "playing" && state !== "paused" && state !== "countdown") return;
    if (event.code === "Escape") {
      event.preventDefault();
      if (event.repeat || this.mouse.justUnlocked || this.#hasJustClosed) return;
      // The first Escape closes an open dialog, the next one releases the pointer and pauses, the one after it asks.
      if (this.#hasScreen) this.#closeScreen();
      else if (this.mouse.locked) this.mouse.unlock();
      else this.askToFinish();
      return;
    }
    const bound = this.held.isBound(event.code);
    if (state === "playing" && this.wheel.press(event)) return;
    if (state === "paused") {
      // The browser handles Tab and keys that press a focused control, so that the page can be left by keyboard.
      const presses = /^(Enter|Space)$/.test(event.code) && event.target instanceof HTMLElement && event.target.matches("button, a, summary");
      if (event.repeat || event.ctrlKey || event.code === "Tab" || presses) return;
      event.preventDefault();
      this.resume();
      return;
    }
    const button = this.held.bindings[event.code];
    if (bound && button === this.task.ends && !this.screenOpen) {
      event.preventDefault();
      if (!event.repeat) this.askToEnd();
    } else if (bound) {
      if (button === CLOSES) this.screenOpen = false; // until the world says how it is now
      event.preventDefault(); // no scrolling by arrows and space
      if (event.repeat) return;
      const changed = this.held.press(event.code, event.timeStamp);
      if (this.task.takes_turns && state === "playing") this.presses.press(1 << this.task.buttons.indexOf(button));
      else if (changed) this.sendInput();
    } else if (event.code === "KeyP" && !event.repeat) {
      this.pause();
    } else if (SCROLLS.test(event.code)) {
      event.preventDefault(); // the picture stays where it is
    }
  }

  /** @param {KeyboardEvent} event */
  #asksForKeys(event) {
    return !event.repeat && (event.key === "?" || (event.code === "KeyH" && !this.held.isBound("KeyH")));
  }

  /** Whether a key belongs to the browser, because of a modifier that is not a key of this game. @param {KeyboardEvent} event */
  #isShortcut(event) {
    const isOurs = (/** @type {string} */ name) => this.held.isBound(`${name}Left`) || this.held.isBound(`${name}Right`);
    return (event.ctrlKey && !isOurs("Control")) || (event.altKey && !isOurs("Alt")) || (event.metaKey && !isOurs("Meta"));
  }

  // --- the page -----------------------------------------------------------------------------------------------------

  /** @param {State} state */
  #setState(state) {
    this.state = state;
    if (state !== "playing") this.drawing?.delay.clear();
    this.root.dataset.state = state;
    document.dispatchEvent(new CustomEvent("interplay:state", { detail: { state } }));
    need(this.root, "[data-state]").textContent = state;
    this.#wait();
    const live = state === "playing" || state === "paused" || state === "countdown";
    this.screenCard.classList.toggle("live", live);
    document.documentElement.classList.toggle("playing", live);
    const isNew = live !== this.wasLive;
    this.wasLive = live;
    need(this.root, "[data-pause]").hidden = !live;
    need(this.root, "[data-finish]").hidden = !live;
    need(this.root, "[data-pause]").firstChild?.replaceWith(state === "paused" ? "Resume " : "Pause ");
    if (isNew) this.fit(); // once the strip has its buttons
    this.#showHint();
  }

  /** Over the picture: that this player's part has ended, or how to catch the mouse while it is free. */
  #showHint() {
    const hint = need(this.root, "[data-hint]");
    const isMouseFree = this.task.pointer && !this.mouse.locked && matchMedia("(pointer: fine)").matches;
    const isWithout = this.seats.some((one) => one.seat !== this.mySeat && one.state === "away");
    hint.hidden = this.state !== "playing" || !(this.isDone || isWithout || isMouseFree);
    hint.textContent = this.isDone ? DONE : isWithout ? `${this.news} The game continues.` : "Click to look with the mouse";
  }

  /** Say what the game waits for, and what to do. */
  #tell() {
    const words = wordsOf({
      lost: this.lost,
      hasBegun: this.hasBegun,
      isReady: this.isReady,
      isRecovering: this.isRecovering,
      isMoving: this.isMoving,
      restoredAt: this.restoredAt,
      others: this.seats.filter((one) => one.seat !== this.mySeat),
      isTouch: matchMedia("(pointer: coarse)").matches,
    });
    const told = JSON.stringify(words);
    if (told === this.told) return; // a button keeps the focus
    this.#cover(words.headline, words.text);
    this.told = told;
    this.announce(`${words.headline}. ${words.text}`);
    if (words.button === "resume") this.#offer("Resume", () => this.resume()).focus();
    if (words.button === "stop") this.#offer("Stop waiting", () => this.seat?.send({ type: "quit" }));
  }

  /**
   * A button on the cover.
   * @param {string} text
   * @param {() => void} act
   */
  #offer(text, act) {
    const button = document.createElement("button");
    button.className = "btn go";
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", act);
    need(this.root, "[data-cover] .row-actions").replaceChildren(button);
    return button;
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
    need(cover, ".row-actions").replaceChildren();
    cover.hidden = false;
    this.told = "";
  }

  #uncover() {
    this.told = "";
    need(this.root, "[data-cover]").hidden = true;
  }

  /**
   * @param {string} text
   * @param {boolean} [failed] it says why there is no game
   */
  #note(text, failed = false) {
    const note = need(this.root, "[data-start-note]");
    note.textContent = text;
    note.classList.toggle("failed", failed);
  }

  /** For people who listen to the page. @param {string} text */
  announce(text) {
    need(document, "[data-announce]").textContent = text;
  }
}

/** An invitation leads to one game: after it, the page finds others. */
function spendInvitation() {
  if ("invitation" in agentsWanted()) history.replaceState(null, "", location.pathname);
}

/** What the page's address asks for: an agent at the wheel with this player, one in the other seats, or the game of a friend. */
function agentsWanted() {
  const given = new URLSearchParams(location.search);
  /** @type {{[name: string]: string}} */
  const wanted = {};
  for (const name of ["wheel", "partner", "invitation"]) {
    const agent = given.get(name);
    if (agent) wanted[name] = agent;
  }
  return wanted;
}

/** The player's best value and place as the page of high scores has them. @param {{title: string, own: {value: string, rank: number, others: number}}} scores */
function placeAmongScores({ title, own }) {
  const list = document.createElement("dl");
  list.className = "counts";
  for (const [name, value, after] of [[`your best ${title.toLowerCase()}`, own.value, ""], ["your place", `${own.rank} `, `of ${own.others + 1}`]]) {
    const row = document.createElement("div"), term = document.createElement("dt"), words = document.createElement("dd");
    term.textContent = name;
    words.append(value);
    if (after) words.append(Object.assign(document.createElement("span"), { className: "small soft", textContent: after }));
    row.append(term, words);
    list.append(row);
  }
  return list;
}

/** A score as people read it: with two decimals at most. @param {number} score */
function points(score) {
  return String(Math.round(score * 100) / 100);
}

const facts = document.getElementById("task")?.textContent;
if (facts) {
  const task = JSON.parse(facts);
  const root = need(document, "#player");
  root.dataset.rate = String(task.frame_rate_hz);
  new Player(root, task);
}

// Two videos that play as one: a shared timeline as long as the longer one; the shorter holds its last frame.

import { placeIn } from "./timeline.js";

/** How far two playing videos may drift apart before one is set right, seconds. */
const DRIFT_S = 0.1;
/** How much further than its time a playing video may get from one look to the next, seconds; more is a jump. */
const SLACK_S = 0.25;
/** Size of the pieces in which watching is counted, seconds. */
const PIECE_S = 0.5;
const MAX_EVENTS = 400;
/** Stretches of a side that are reported one by one; with more, the smallest gaps between them are closed. */
const MAX_STRETCHES = 100;
const QUARTERS = ["first-quarter", "second-quarter", "third-quarter", "fourth-quarter"];
/** Waits before a video that failed is asked for again, milliseconds. */
const RETRY_MS = [1000, 2000, 4000, 8000];

/** @typedef {"left" | "right"} Side */
/** @typedef {"loading" | "ready" | "stalled" | "failed"} SideState */

/**
 * The report about watching: when the judge played, paused and sought, when a video stalled or the page was hidden,
 * and which parts of each side were played.
 */
export class Viewing {
  /** @param {() => number} now seconds since the match was served */
  constructor(now) {
    this.now = now;
    /** @type {{t: number, event: string, at: number, speed?: number, side?: Side}[]} */
    this.events = [];
    this.numEvents = 0;
    this.played = 0;
    this.watched = { left: new Set(), right: new Set() };
    /** @type {Set<string>} */
    this.quarters = new Set();
  }

  /**
   * Continue the report of a page that was closed.
   * @param {any} report what `report` gave then
   */
  resume(report) {
    if (!report || !Array.isArray(report.events)) return;
    this.events = [...report.events, ...this.events].slice(0, MAX_EVENTS);
    this.numEvents += Number(report.num_events) || 0;
    this.played += Number(report.played_s) || 0;
    for (const { event } of report.events) if (QUARTERS.includes(event)) this.quarters.add(event);
    for (const side of /** @type {const} */ (["left", "right"])) {
      for (const [from, to] of report[side]?.stretches ?? []) {
        for (let piece = Math.round(from / PIECE_S); piece < Math.min(to / PIECE_S, 1e5); piece++) this.watched[side].add(piece);
      }
    }
  }

  /**
   * @param {string} event
   * @param {number} at position in the videos, seconds
   * @param {{speed?: number, side?: Side}} [more]
   */
  note(event, at, more = {}) {
    this.numEvents++;
    if (this.events.length >= MAX_EVENTS) return; // the answer must stay small; the count goes on
    this.events.push({ t: round(this.now()), event, at: round(at), ...more });
  }

  /**
   * A side showed this position, or everything from another one up to it: on a slow device pictures are further apart than pieces.
   * @param {Side} side
   * @param {number} at
   * @param {number} [from]
   */
  saw(side, at, from = at) {
    for (let piece = Math.floor(from / PIECE_S); piece <= Math.floor(at / PIECE_S); piece++) this.watched[side].add(piece);
  }

  /**
   * The videos played on.
   * @param {number} seconds of the judge's time
   * @param {number} at position now
   * @param {number} duration of the longer video
   */
  playedOn(seconds, at, duration) {
    this.played += seconds;
    const quarter = QUARTERS[Math.min(4, Math.floor((4 * at) / duration + 0.05)) - 1];
    if (!quarter || this.quarters.has(quarter)) return;
    this.quarters.add(quarter);
    this.note(quarter, at);
  }

  /** @param {{left: number, right: number}} lengths of the videos, seconds */
  report(lengths) {
    const side = (/** @type {Side} */ name) => ({
      length_s: round(lengths[name]),
      watched_s: round(Math.min(lengths[name], this.watched[name].size * PIECE_S)),
      stretches: stretches(this.watched[name]),
    });
    const [left, right] = [side("left"), side("right")];
    return {
      events: this.events,
      num_events: this.numEvents,
      played_s: round(this.played),
      watched_s: round(left.watched_s + right.watched_s),
      left,
      right,
    };
  }

  /** How much of each side was on screen, from 0 to 1. @param {{left: number, right: number}} lengths */
  shares(lengths) {
    const { left, right } = this.report(lengths);
    const share = (/** @type {{length_s: number, watched_s: number}} */ side) => (side.length_s ? side.watched_s / side.length_s : 0);
    return { left: share(left), right: share(right) };
  }
}

/**
 * Numbers of pieces as intervals [from, to] in seconds.
 * @param {Set<number>} pieces
 * @returns {[number, number][]}
 */
export function stretches(pieces) {
  /** @type {[number, number][]} */
  const found = [];
  for (const piece of [...pieces].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last && last[1] === piece) last[1] = piece + 1;
    else found.push([piece, piece + 1]);
  }
  while (found.length > MAX_STRETCHES) {
    let place = 1;
    for (let i = 2; i < found.length; i++) if (found[i][0] - found[i - 1][1] < found[place][0] - found[place - 1][1]) place = i;
    found.splice(place - 1, 2, [found[place - 1][0], found[place][1]]);
  }
  return found.map(([from, to]) => [from * PIECE_S, to * PIECE_S]);
}

/** @param {number} value */
function round(value) {
  return Number.isFinite(value) ? Math.round(value * 100) / 100 : 0;
}

/** Whether this connection is too slow to fetch two videos before the judge looks at them. */
export function isSlow() {
  const connection = /** @type {any} */ (globalThis.navigator)?.connection;
  return Boolean(connection && (connection.saveData || /^(slow-2g|2g|3g)$/.test(connection.effectiveType ?? "")));
}

/**
 * The time in a video of this length when the shared timeline is at `position`. At the end a little less, because some
 * browsers show nothing at the very end.
 * @param {number} position
 * @param {number} length
 */
export function sidePosition(position, length) {
  return Math.max(0, Math.min(position, length - 0.001));
}

/** The two videos and their one set of controls. */
export class VideoPair {
  /**
   * @param {HTMLVideoElement} left
   * @param {HTMLVideoElement} right
   * @param {() => void} onChange called when anything shown by the controls changes
   */
  constructor(left, right, onChange) {
    this.left = left;
    this.right = right;
    this.onChange = onChange;
    this.playing = false;
    this.position = 0;
    this.speed = 1;
    /** Whether both begin again when they have ended. */
    this.loops = false;
    this.frameRate = 60;
    /** @type {{left: SideState, right: SideState}} */
    this.state = { left: "loading", right: "loading" };
    this.failures = { left: 0, right: 0 };
    this.ticked = 0;
    /** Whether the left video is in view, and whether a pair that loops has still to begin by itself. */
    this.isSeen = this.begins = false;
    /** @type {Viewing | null} */
    this.viewing = null;
    new IntersectionObserver((changes) => {
      this.isSeen = changes[changes.length - 1].isIntersecting;
      this.#begin();
    }, { threshold: 0.5 }).observe(left);
    for (const side of /** @type {const} */ (["left", "right"])) this.#watch(side);
  }

  /** @param {Side} side */
  #watch(side) {
    const video = this[side];
    video.addEventListener("loadedmetadata", () => {
      if (video.parentElement) video.parentElement.style.aspectRatio = `${video.videoWidth} / ${video.videoHeight}`;
      video.currentTime = sidePosition(this.position, this.lengths[side]);
      if (this.lengths.left && this.lengths.right) this.left.preload = this.right.preload = "auto";
      this.#set(side, "ready");
      this.#begin();
    });
    // Waiting for data: hold the other one, so that neither runs ahead.
    video.addEventListener("waiting", () => {
      if (!this.playing || this.#isOver(side)) return;
      this.#set(side, "stalled");
      this.#other(video).pause();
      this.viewing?.note("stalled", this.position, { side });
    });
    for (const event of ["canplay", "playing"]) {
      video.addEventListener(event, () => {
        this.failures[side] = 0;
        if (this.state[side] === "stalled") this.viewing?.note("went-on", this.position, { side });
        this.#set(side, "ready");
        if (this.playing && !this.isHeld) this.#startSides();
      });
    }
    video.addEventListener("error", () => {
      if (!video.getAttribute("src")) return;
      this.viewing?.note("failed", this.position, { side });
      this.#other(video).pause();
      const wait = RETRY_MS[this.failures[side]++];
      this.#set(side, wait ? "stalled" : "failed");
      const source = video.src;
      if (wait) setTimeout(() => video.src === source && this.#load(side), wait);
    });
  }

  /**
   * @param {Side} side
   * @param {SideState} state
   */
  #set(side, state) {
    this.state[side] = state;
    this.onChange();
  }

  /** Whether one side waits for its data, and so the other one for it. */
  get isHeld() {
    return this.state.left !== "ready" || this.state.right !== "ready";
  }

  /** Whether a side, being the shorter one, holds its last frame. @param {Side} side */
  #isOver(side) {
    return this.position >= this.lengths[side] - 0.05;
  }

  /** A pair that loops plays as soon as it is loaded and in view, once: a judge who stops it has stopped it. */
  #begin() {
    if (this.begins && this.isSeen && !this.isHeld) this.play();
  }

  /** Ask for a video again. @param {Side} side */
  retry(side) {
    this.failures[side] = 0;
    this.#load(side);
  }

  /** @param {Side} side */
  #load(side) {
    this.#set(side, "loading");
    this[side].load(); // its metadata put it back to where it stood
  }

  /** @param {HTMLVideoElement} video */
  #other(video) {
    return video === this.left ? this.right : this.left;
  }

  get lengths() {
    const length = (/** @type {HTMLVideoElement} */ video) => (Number.isFinite(video.duration) ? video.duration : 0);
    return { left: length(this.left), right: length(this.right) };
  }

  get duration() {
    return Math.max(this.lengths.left, this.lengths.right);
  }

  /** The longer video keeps the time. */
  get #clock() {
    return this.lengths.left >= this.lengths.right ? this.left : this.right;
  }

  /**
   * @param {string} left
   * @param {string} right
   * @param {number} frameRate frames per second of both
   * @param {Viewing} viewing
   */
  open(left, right, frameRate, viewing) {
    this.playing = false;
    this.position = 0;
    this.frameRate = frameRate;
    this.viewing = viewing;
    this.state = { left: "loading", right: "loading" };
    this.failures = { left: 0, right: 0 };
    this.begins = this.loops && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    // On a slow connection both lengths are loaded first, so that the judge can begin to watch; the rest follows.
    this.left.preload = this.right.preload = isSlow() ? "metadata" : "auto";
    this.left.src = left;
    this.right.src = right;
    this.onChange();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (!this.duration) return;
    this.begins = false;
    if (this.position >= this.duration - 0.05) this.#place(0);
    this.playing = true;
    this.ticked = performance.now();
    this.viewing?.note("play", this.position, { speed: this.speed });
    this.#startSides();
    requestAnimationFrame(() => this.#tick());
    this.onChange();
  }

  #startSides() {
    for (const video of [this.left, this.right]) {
      video.playbackRate = this.speed;
      if (this.position < video.duration - 0.02 && video.paused) video.play().catch(() => {});
    }
  }

  pause() {
    if (this.playing) this.viewing?.note("pause", this.position);
    this.#halt();
    this.#place(this.position);
  }

  #halt() {
    this.playing = false;
    this.left.pause();
    this.right.pause();
    this.onChange();
  }

  /** @param {number} position */
  seek(position) {
    this.#place(position);
    this.viewing?.note("seek", this.position);
    if (this.playing) this.#startSides();
  }

  /** @param {number} frames */
  step(frames) {
    if (this.playing) this.pause();
    const place = Math.round(this.position * this.frameRate) + frames;
    this.#place((place + 0.25) / this.frameRate); // a quarter frame in, clear of rounding at the border
    this.#saw(); // frame by frame is watching; jumping is not
    this.viewing?.note("step", this.position);
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    this.left.playbackRate = this.right.playbackRate = speed;
    this.viewing?.note("speed", this.position, { speed });
    this.onChange();
  }

  /** @param {number} position */
  #place(position) {
    this.position = Math.max(0, Math.min(this.duration, position));
    this.left.currentTime = sidePosition(this.position, this.lengths.left);
    this.right.currentTime = sidePosition(this.position, this.lengths.right);
    this.onChange();
  }

  /** What is between a place and here was shown. @param {number} [from] */
  #saw(from = this.position) {
    for (const side of /** @type {const} */ (["left", "right"])) {
      const end = this.lengths[side];
      if (from < end) this.viewing?.saw(side, sidePosition(this.position, end), from);
    }
  }

  #tick() {
    if (!this.playing) return;
    const now = performance.now();
    const passed = Math.min(1, (now - this.ticked) / 1000); // more does not count as watching: the page was asleep
    this.ticked = now;
    const timekeeper = this.#clock;
    const follower = this.#other(timekeeper);
    const before = this.position;
    this.position = Math.min(this.duration, timekeeper.currentTime);
    const isPlayed = this.position >= before && this.position - before <= this.speed * (passed + SLACK_S);
    const wanted = sidePosition(this.position, follower.duration);
    if (Math.abs(follower.currentTime - wanted) > DRIFT_S * Math.max(1, this.speed) && !follower.seeking) follower.currentTime = wanted;
    if (!this.isHeld) {
      this.#saw(isPlayed ? before : this.position);
      this.viewing?.playedOn(passed, this.position, this.duration);
    }
    if (timekeeper.ended) {
      this.viewing?.note("ended", this.position);
      if (this.loops) {
        this.#place(0);
        this.#startSides();
        requestAnimationFrame(() => this.#tick());
        return;
      }
      this.position = this.duration;
      this.#halt();
      return;
    }
    if (this.loops && !this.isHeld) this.#startSides(); // a browser may stop a side at its end after it began again
    this.onChange();
    requestAnimationFrame(() => this.#tick());
  }

  get label() {
    return placeIn(this.position, this.duration);
  }
}

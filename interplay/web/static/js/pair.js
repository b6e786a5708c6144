// Two videos that play as one: a shared timeline as long as the longer one; the shorter holds its last frame.

import { clock } from "./timeline.js";

/** How far two playing videos may drift apart before one is set right, seconds. */
const DRIFT_S = 0.1;
/** Size of the pieces in which watching is counted, seconds. */
const PIECE_S = 0.5;
const MAX_EVENTS = 400;

/**
 * What is reported about watching: when the judge played, paused and sought, and how much of each side was on screen.
 */
export class Viewing {
  /** @param {() => number} now seconds since the match was shown */
  constructor(now) {
    this.now = now;
    /** @type {{t: number, event: string, at: number, speed?: number}[]} */
    this.events = [];
    this.numEvents = 0;
    this.watched = { left: new Set(), right: new Set() };
  }

  /**
   * @param {string} event
   * @param {number} at position in the videos, seconds
   * @param {number} [speed]
   */
  note(event, at, speed) {
    this.numEvents++;
    if (this.events.length >= MAX_EVENTS) return; // the answer must stay small; the count goes on
    this.events.push({ t: round(this.now()), event, at: round(at), ...(speed === undefined ? {} : { speed }) });
  }

  /**
   * A side showed this position.
   * @param {"left" | "right"} side
   * @param {number} at
   */
  saw(side, at) {
    this.watched[side].add(Math.floor(at / PIECE_S));
  }

  /** @param {{left: number, right: number}} lengths of the videos, seconds */
  report(lengths) {
    const side = (/** @type {"left" | "right"} */ name) => ({
      length_s: round(lengths[name]),
      watched_s: round(Math.min(lengths[name], this.watched[name].size * PIECE_S)),
    });
    return { events: this.events, num_events: this.numEvents, left: side("left"), right: side("right") };
  }
}

/** @param {number} value */
function round(value) {
  return Number.isFinite(value) ? Math.round(value * 100) / 100 : 0;
}

/**
 * Where a video of this length stands when the shared timeline is at `position`. A hair before its end, because some
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
    this.frameRate = 60;
    /** @type {Viewing | null} */
    this.viewing = null;
    for (const video of [left, right]) {
      video.addEventListener("loadedmetadata", () => {
        if (video.parentElement) video.parentElement.style.aspectRatio = `${video.videoWidth} / ${video.videoHeight}`;
        onChange();
      });
      // Waiting for data: hold the other one, so that neither runs ahead.
      video.addEventListener("waiting", () => this.playing && this.#other(video).pause());
      video.addEventListener("playing", () => this.playing && this.#startSides());
    }
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
    if (this.position >= this.duration - 0.05) this.#place(0);
    this.playing = true;
    this.viewing?.note("play", this.position, this.speed);
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
    this.viewing?.note("step", this.position);
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    this.left.playbackRate = this.right.playbackRate = speed;
    this.viewing?.note("speed", this.position, speed);
    this.onChange();
  }

  /** @param {number} position */
  #place(position) {
    this.position = Math.max(0, Math.min(this.duration, position));
    this.left.currentTime = sidePosition(this.position, this.lengths.left);
    this.right.currentTime = sidePosition(this.position, this.lengths.right);
    this.#saw();
    this.onChange();
  }

  #saw() {
    if (this.position < this.lengths.left) this.viewing?.saw("left", this.position);
    if (this.position < this.lengths.right) this.viewing?.saw("right", this.position);
  }

  #tick() {
    if (!this.playing) return;
    const timekeeper = this.#clock;
    const follower = this.#other(timekeeper);
    this.position = Math.min(this.duration, timekeeper.currentTime);
    const wanted = sidePosition(this.position, follower.duration);
    if (Math.abs(follower.currentTime - wanted) > DRIFT_S * Math.max(1, this.speed) && !follower.seeking) follower.currentTime = wanted;
    this.#saw();
    if (timekeeper.ended) {
      this.viewing?.note("ended", this.position);
      this.position = this.duration;
      this.#halt();
      return;
    }
    this.onChange();
    requestAnimationFrame(() => this.#tick());
  }

  get label() {
    return `${clock(this.position)} / ${clock(this.duration)}`;
  }
}

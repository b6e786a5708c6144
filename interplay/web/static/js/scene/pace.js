// How fast the browser draws the world, how many pixels and how far a view it can afford for that, and how long a press takes to be
// seen. Times are in ms.

/** Shares of the device's pixels, and of how far one sees. @type {[number, number][]} */
const LEVELS = [[1, 1], [0.75, 1], [0.5, 1], [0.35, 1], [0.35, 0.6]];
/** Which of them to begin with where there may be little time. */
const LOW = 3;
const WANTED_FPS = 30;
const LEAST_FPS = 15;
/** Over how long the rate is measured. */
const WINDOW_MS = 1000;
/** So long too slow with the least, and the server shall draw. */
const GIVE_UP_MS = 3000;
/** So long fast enough, and more is tried; twice as long after each attempt that was too slow. */
const RAISE_MS = 5000;
const MAX_RAISE_MS = 80_000;
/** After a pause between frames as long as this the page was away, and nothing can be said about its speed. */
const AWAY_MS = 5000;

/** How many pixels to draw, and how far, from when frames were painted. */
export class Pace {
  constructor() {
    this.level = 0;
    this.raiseMs = RAISE_MS;
    this.raisedAt = -Infinity;
    /** @type {number[]} when frames were painted */
    this.times = [];
    this.changedAt = -Infinity;
    /** @type {number | null} */
    this.slowSince = null;
    /** @type {number | null} */
    this.fastSince = null;
    /** Frames a second of the last second. */
    this.fps = 0;
  }

  /** The share of the device's pixels to draw. */
  get ratio() {
    return LEVELS[this.level][0];
  }

  /** The share of how far one sees. */
  get reach() {
    return LEVELS[this.level][1];
  }

  /** Begin with few pixels, and see how many more there is time for. */
  beginLow() {
    this.level = LOW;
  }

  /** Begin to measure anew. */
  rest() {
    this.times = [];
    this.slowSince = this.fastSince = null;
  }

  /**
   * A frame is painted.
   * @param {number} now
   * @param {number} spent on this frame, by the drawing itself
   * @param {boolean} [isArriving] whether land comes, which takes time as well: more pixels are tried later, and a shorter view only where there must be
   * @returns {"same" | "resize" | "give up"} what shall change
   */
  frame(now, spent, isArriving = false) {
    const last = this.times.at(-1);
    if (last !== undefined && now - last > AWAY_MS) this.rest();
    if (!this.times.length) this.changedAt = now;
    this.times.push(now);
    while (this.times.length > 2 && this.times[0] < now - WINDOW_MS) this.times.shift();
    if (now - this.changedAt < WINDOW_MS) return "same";
    this.fps = ((this.times.length - 1) * 1000) / (now - this.times[0]);
    this.slowSince = this.fps < LEAST_FPS ? (this.slowSince ?? now) : null;
    // Where it takes a third of the time that there is, twice the pixels will do: each step up is 1.8 to 2.3 times as many.
    const hasRoom = !isArriving && this.fps >= 1.5 * WANTED_FPS && spent < 1000 / WANTED_FPS / 3;
    this.fastSince = hasRoom ? (this.fastSince ?? now) : null;
    if (this.fps < (isArriving && this.level >= LOW ? LEAST_FPS : WANTED_FPS) && this.level < LEVELS.length - 1) {
      if (now - this.raisedAt < RAISE_MS) this.raiseMs = Math.min(MAX_RAISE_MS, 2 * this.raiseMs);
      return this.#change(now, 1);
    }
    if (this.level > 0 && this.fastSince !== null && now - this.fastSince >= this.raiseMs) {
      this.raisedAt = now;
      return this.#change(now, -1);
    }
    return this.slowSince !== null && now - this.slowSince >= GIVE_UP_MS ? "give up" : "same";
  }

  /**
   * @param {number} now
   * @param {number} by
   * @returns {"resize"}
   */
  #change(now, by) {
    this.level += by;
    this.rest();
    this.changedAt = now;
    return "resize";
  }
}

/** How many presses the shown delay is the median of. */
const PRESSES = 9;
/** A press older than this was not used by the world, or the game was paused meanwhile. */
const FORGET_MS = 2000;

/** From a press to the first frame that shows a tick which used it. */
export class Delay {
  constructor() {
    /** @type {{pressed: number, sent: number}[]} */
    this.waiting = [];
    /** @type {number[]} */
    this.measured = [];
    /** @type {number | null} when the press was made that the next message tells of */
    this.pressed = null;
  }

  /** A key or button was pressed. @param {number} at timeStamp of the event */
  press(at) {
    this.pressed ??= at;
  }

  /** A message went to the server. @param {number} at its client time */
  send(at) {
    if (this.pressed !== null) this.waiting.push({ pressed: this.pressed, sent: at });
    this.pressed = null;
  }

  /**
   * A frame is painted.
   * @param {number} now
   * @param {number} used client time of the newest message that the shown tick has used, whole ms
   */
  paint(now, used) {
    while (this.waiting.length && Math.floor(this.waiting[0].sent) <= used) {
      const { pressed } = /** @type {{pressed: number}} */ (this.waiting.shift());
      if (now - pressed < FORGET_MS) this.measured.push(now - pressed);
    }
    this.waiting = this.waiting.filter((one) => now - one.pressed < FORGET_MS);
    this.measured = this.measured.slice(-PRESSES);
  }

  /** Nothing that waits is measured: the game stands still. */
  clear() {
    this.waiting = [];
    this.pressed = null;
  }

  /** The median of the last ones, in ms. @returns {number | null} */
  get median() {
    const sorted = [...this.measured].sort((one, other) => one - other);
    return sorted.length ? sorted[sorted.length >> 1] : null;
  }
}

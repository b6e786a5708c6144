// The position of a replay: arithmetic of positions, speeds and clock times, in seconds.

/**
 * Seconds as m:ss.
 * @param {number} seconds
 */
export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds + 1e-6));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** What is shorter is shown in tenths of a second. */
const SHORT_S = 10;

/**
 * A duration as m:ss, with tenths if it is only a few seconds.
 * @param {number} seconds
 */
export function lasting(seconds) {
  return 0 < seconds && seconds < SHORT_S ? tenths(Math.round(10 * seconds)) : clock(Math.round(seconds));
}

/**
 * A position and the duration; at the end both numbers are the same.
 * @param {number} position seconds
 * @param {number} duration seconds
 */
export function placeIn(position, duration) {
  const isShort = 0 < duration && duration < SHORT_S;
  const at = isShort ? tenths(Math.floor(10 * position + 1e-6)) : clock(position);
  return `${position < duration ? at : lasting(duration)} / ${lasting(duration)}`;
}

/** @param {number} num tenths of a second */
function tenths(num) {
  return `${clock(num / 10)}.${num % 10}`;
}

/** A position between 0 and `duration` that moves with time while playing. */
export class Timeline {
  /** @param {number} duration seconds */
  constructor(duration) {
    this.duration = duration;
    this.position = 0;
    this.speed = 1;
    this.playing = false;
  }

  get atEnd() {
    return this.position >= this.duration;
  }

  /** Start, from the beginning when it stands at the end. */
  play() {
    if (this.atEnd) this.position = 0;
    this.playing = true;
  }

  pause() {
    this.playing = false;
  }

  /** @param {number} position */
  seek(position) {
    this.position = Math.min(this.duration, Math.max(0, position));
  }

  /**
   * Advance by some real time, to the end at most.
   * @param {number} seconds
   */
  advance(seconds) {
    if (!this.playing) return;
    this.seek(this.position + seconds * this.speed);
    if (this.atEnd) this.playing = false;
  }
}

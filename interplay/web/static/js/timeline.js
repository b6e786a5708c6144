// Where a replay is: arithmetic of positions, speeds and clock times, in seconds.

/**
 * Seconds as m:ss.
 * @param {number} seconds
 */
export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds + 1e-6));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
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
   * Let real time pass; stops at the end.
   * @param {number} seconds
   */
  advance(seconds) {
    if (!this.playing) return;
    this.seek(this.position + seconds * this.speed);
    if (this.atEnd) this.playing = false;
  }
}

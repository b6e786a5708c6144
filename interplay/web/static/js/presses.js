// Tasks of turns: the world waits for a press, and each press is one step. A key that is held presses again and again; the page
// counts, so that a slow network can neither double a press nor stretch one into two.

/** How long a key is held before it presses again. */
export const HOLD_MS = 400;

export class Presses {
  /**
   * @param {number} rateHz presses a second of a key that is held, at most
   * @param {() => number} heldMask what is held now
   * @param {(mask: number) => void} onPress buttons that are pressed now
   */
  constructor(rateHz, heldMask, onPress) {
    this.periodMs = 1000 / rateHz;
    this.heldMask = heldMask;
    this.onPress = onPress;
    /** How many there were since the welcome. */
    this.number = 0;
    /** The newest press, as long as it is held. */
    this.mask = 0;
    /** Whether no picture has answered the newest press. */
    this.isOpen = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** The server knows of none. */
  begin() {
    this.number = 0;
    this.stop();
  }

  /** @param {number} mask of the buttons that are pressed */
  press(mask) {
    this.#press(mask);
    this.#waitToRepeat(HOLD_MS);
  }

  /** A picture of a later step is painted. */
  answered() {
    this.isOpen = false;
  }

  /** Press no more by itself, until the next press. */
  stop() {
    clearTimeout(this.timer);
    this.mask = 0;
    this.isOpen = false;
  }

  /** @param {number} mask */
  #press(mask) {
    this.number++;
    this.mask = mask;
    this.isOpen = true;
    this.onPress(mask);
  }

  /** @param {number} ms */
  #waitToRepeat(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if ((this.heldMask() & this.mask) === 0) return this.stop();
      // Never ahead of the picture: a player who releases the key stops at once, however slow the network is.
      if (!this.isOpen) this.#press(this.mask);
      this.#waitToRepeat(this.periodMs);
    }, ms);
  }
}

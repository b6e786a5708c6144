// From keys, mouse buttons and fingers to the mask of pressed buttons. The server decides what a combination means (KeyMap.resolve).

/** From one press of forward to the next, for the second to run. */
const DOUBLE_TAP_MS = 300;

/**
 * Which of up to 32 buttons are held, by keyboard, mouse and touch.
 */
export class HeldButtons {
  /**
   * @param {string[]} buttons bit i of the mask is buttons[i]
   * @param {Record<string, string>} bindings KeyboardEvent.code, or MouseLeft, MouseMiddle, MouseRight -> button
   */
  constructor(buttons, bindings) {
    this.buttons = buttons;
    this.bindings = bindings;
    /** @type {Set<string>} */
    this.codes = new Set();
    /** @type {Map<number, string[]>} pointer id -> buttons under that finger */
    this.pointers = new Map();
    this.walkedAt = -Infinity;
    /** Whether forward was pressed twice, and is held since. */
    this.isRunning = false;
  }

  /** @param {string} code */
  isBound(code) {
    return Object.hasOwn(this.bindings, code);
  }

  /**
   * @param {string} code
   * @param {number} [atMs] who walks twice within a moment runs
   * @returns {boolean} whether the mask changed
   */
  press(code, atMs = -Infinity) {
    return this.#change(() => {
      if (!this.isBound(code)) return;
      this.codes.add(code);
      if (this.bindings[code] !== "forward") return;
      this.isRunning = atMs - this.walkedAt < DOUBLE_TAP_MS;
      this.walkedAt = atMs;
    });
  }

  /** @param {string} code */
  release(code) {
    return this.#change(() => {
      this.codes.delete(code);
      if (this.bindings[code] === "forward") this.isRunning = false;
    });
  }

  /**
   * A finger now holds these buttons; no button when it is lifted.
   * @param {number} pointer
   * @param {string[]} buttons
   */
  touch(pointer, buttons) {
    return this.#change(() => (buttons.length ? this.pointers.set(pointer, buttons) : this.pointers.delete(pointer)));
  }

  /** Whether any key or finger holds this button. @param {string} button */
  isHeld(button) {
    return ((this.mask >>> this.buttons.indexOf(button)) & 1) === 1;
  }

  /** Let go of what the keyboard holds. */
  releaseKeys() {
    return this.#change(() => this.codes.forEach((code) => code.startsWith("Mouse") || this.codes.delete(code)));
  }

  releaseAll() {
    return this.#change(() => {
      this.codes.clear();
      this.pointers.clear();
    });
  }

  /** Bit i is set while any key or finger of button i is down; never negative, whatever bit 31 is. */
  get mask() {
    let mask = 0;
    const add = (/** @type {string} */ button) => {
      const index = this.buttons.indexOf(button);
      if (index >= 0) mask |= 1 << index;
    };
    for (const code of this.codes) add(this.bindings[code]);
    if (this.isRunning && [...this.codes].some((code) => this.bindings[code] === "forward")) add("sprint");
    for (const buttons of this.pointers.values()) buttons.forEach(add);
    return mask >>> 0;
  }

  /** @param {() => unknown} action */
  #change(action) {
    const before = this.mask;
    action();
    return this.mask !== before;
  }
}

const DIRECTION_NAMES = new Map([
  ["UP", ["up", "forward"]],
  ["DOWN", ["down", "back"]],
  ["LEFT", ["left"]],
  ["RIGHT", ["right"]],
]);

/**
 * The button for each direction of a pad, where a task has one: by the direction's own name in any case, or forward and back.
 * @param {string[]} buttons
 * @returns {Map<string, string>} UP, DOWN, LEFT, RIGHT -> button
 */
export function directionButtons(buttons) {
  const found = new Map();
  for (const [direction, names] of DIRECTION_NAMES) {
    const name = names.find((one) => buttons.some((button) => button.toLowerCase() === one));
    if (name) found.set(direction, buttons.find((button) => button.toLowerCase() === name));
  }
  return found;
}

/**
 * The directions of a finger on a round pad: eight sectors of 45 degrees, and no direction near the middle.
 * @param {number} dx from the middle, right is positive
 * @param {number} dy down is positive
 * @param {number} radius of the pad
 * @returns {string[]}
 */
export function padDirections(dx, dy, radius) {
  if (Math.hypot(dx, dy) < radius * 0.22) return [];
  const sector = (Math.round(Math.atan2(dy, dx) / (Math.PI / 4)) + 8) % 8;
  const names = [["RIGHT"], ["DOWN", "RIGHT"], ["DOWN"], ["DOWN", "LEFT"], ["LEFT"], ["UP", "LEFT"], ["UP"], ["UP", "RIGHT"]];
  return names[sector];
}

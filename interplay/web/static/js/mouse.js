// The mouse in a game: its buttons, the view it turns, the wheel. The pointer is locked to the picture where the browser
// allows it; where it does not, dragging with a button held turns, and so does a finger on the picture.

/** By MouseEvent.button. */
const CODES = ["MouseLeft", "MouseMiddle", "MouseRight"];
const MAX_TURN = 180;
const WHEEL_FINGER = -1;
const LINE_PX = 40;
/** A notch of a mouse wheel is 100 px or more in every browser; a touchpad sends many small steps instead. */
const NOTCH_PX = 50;
const AFTER_UNLOCK_MS = 150;
/** A finger has less room than a mouse. */
const FINGER_TURNS = 2;

/** How far the view has turned and nobody was told yet. */
export class Turn {
  /** @param {number} degreesPerPixel */
  constructor(degreesPerPixel) {
    this.degreesPerPixel = degreesPerPixel;
    /** Times so much, and whether up and down change places; the cursor of a screen keeps to the mouse. */
    this.sensitivity = 1;
    this.inverted = false;
    this.pitch = 0;
    this.yaw = 0;
  }

  /**
   * The mouse moved.
   * @param {number} dx in CSS pixels, right is positive
   * @param {number} dy down is positive
   * @param {boolean} [isCursor] whether it moves the cursor of a screen
   */
  add(dx, dy, isCursor = false) {
    const times = this.degreesPerPixel * (isCursor ? 1 : this.sensitivity);
    this.yaw += dx * times;
    this.pitch += dy * (this.inverted && !isCursor ? -times : times);
  }

  get isPending() {
    return this.pitch !== 0 || this.yaw !== 0;
  }

  /** What one message may say, each angle within 180 degrees; the rest stays for the next. */
  take() {
    const clip = (/** @type {number} */ angle) => Math.min(MAX_TURN, Math.max(-MAX_TURN, angle));
    const taken = { pitch: clip(this.pitch), yaw: clip(this.yaw) };
    this.pitch -= taken.pitch;
    this.yaw -= taken.yaw;
    return taken;
  }

  clear() {
    this.pitch = this.yaw = 0;
  }
}

/** Which of the buttons hotbar.1, hotbar.2, ... the wheel comes to next. */
export class Hotbar {
  /** @param {string[]} buttons of the task */
  constructor(buttons) {
    this.buttons = buttons;
    const number = (/** @type {string} */ name) => Number(name.slice("hotbar.".length));
    this.names = buttons.filter((name) => /^hotbar\.\d+$/.test(name)).sort((one, other) => number(one) - number(other));
    this.at = 0;
    this.scrolled = 0;
  }

  /** What was selected by other means counts. @param {number} mask of held buttons */
  follow(mask) {
    this.names.forEach((name, place) => {
      if ((mask >>> this.buttons.indexOf(name)) & 1) this.at = place;
    });
  }

  /**
   * The wheel turned.
   * @param {number} delta WheelEvent.deltaY
   * @param {number} mode WheelEvent.deltaMode: 0 pixels, 1 lines
   * @returns {string | null} the button it selects, if it turned far enough
   */
  scroll(delta, mode) {
    if (Math.sign(delta) !== Math.sign(this.scrolled)) this.scrolled = 0;
    this.scrolled += mode === 0 ? delta : delta * LINE_PX;
    if (!this.names.length || Math.abs(this.scrolled) < NOTCH_PX) return null;
    this.at = (this.at + Math.sign(this.scrolled) + this.names.length) % this.names.length;
    this.scrolled = 0;
    return this.names[this.at];
  }
}

/**
 * What the mouse asks of the player's page.
 * @typedef {object} MouseHandlers
 * @property {() => boolean} isLive whether buttons count: the game is on, or about to be
 * @property {() => boolean} isPlaying whether turns count
 * @property {() => boolean} hasScreen whether a screen of the world is open, whose cursor the mouse moves
 * @property {() => boolean} mayLock whether a lock that the browser grants now is still wanted
 * @property {() => void} onChange other buttons are held
 * @property {() => void} onTurn the view has turned
 * @property {(locked: boolean) => void} onLock the browser has locked the pointer, or let go of it
 */

/** The mouse over the picture of a game. */
export class Mouse {
  /**
   * @param {HTMLElement} area around the canvas
   * @param {HTMLCanvasElement} canvas
   * @param {{buttons: string[], pointer: string | null, pointer_degrees: number, frame_rate_hz: number}} task
   * @param {import("./keys.js").HeldButtons} held
   * @param {MouseHandlers} handlers
   */
  constructor(area, canvas, task, held, handlers) {
    this.canvas = canvas;
    this.turns = task.pointer !== null;
    this.held = held;
    this.handlers = handlers;
    this.turn = new Turn(task.pointer_degrees);
    this.hotbar = new Hotbar(task.buttons);
    this.stepMs = 1000 / task.frame_rate_hz;
    this.locked = false;
    /** Whether the player has taken to the mouse: then it is locked again when the game goes on. */
    this.wanted = false;
    this.refused = false;
    this.unlockedAt = -Infinity;
    /** @type {string | null} of the button whose click asked for the lock */
    this.asking = null;
    /** @type {{x: number, y: number} | null} where the dragging mouse was */
    this.dragged = null;
    /** @type {Map<number, {x: number, y: number}>} pointer id -> where that finger was */
    this.fingers = new Map();
    /** @type {string | null} what the wheel selects next */
    this.selected = null;
    this.selecting = false;
    const usesButtons = CODES.some((code) => held.isBound(code));
    if (this.turns || usesButtons) this.#listenToButtons(area);
    if (this.turns) this.#listenToTurns();
    if (this.hotbar.names.length) area.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
  }

  /** Ask the browser to lock the pointer to the picture; it needs a recent click or key press. */
  lock() {
    if (!this.turns || this.locked) return;
    this.wanted = true;
    try {
      // Older browsers return nothing here and fire pointerlockerror instead.
      Promise.resolve(this.canvas.requestPointerLock()).catch(() => this.#onRefused());
    } catch {
      this.#onRefused();
    }
  }

  unlock() {
    if (this.locked) document.exitPointerLock();
  }

  /** Let go of everything; what was turned and not yet told is forgotten. */
  release() {
    this.turn.clear();
    this.asking = this.dragged = this.selected = null;
    this.fingers.clear();
  }

  /** Whether the pointer was locked a moment ago: the Escape that ended it may arrive here as a key as well. */
  get justUnlocked() {
    return performance.now() - this.unlockedAt < AFTER_UNLOCK_MS;
  }

  /** @param {HTMLElement} area */
  #listenToButtons(area) {
    area.addEventListener("mousedown", (event) => this.#onDown(event));
    addEventListener("mouseup", (event) => this.#onUp(event.button));
    area.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  #listenToTurns() {
    addEventListener("mousemove", (event) => this.#onMove(event));
    document.addEventListener("pointerlockchange", () => this.#onLockChange());
    document.addEventListener("pointerlockerror", () => this.#onRefused());
    this.canvas.classList.add("turns");
    this.listenToFingers(this.canvas);
  }

  /** A finger that moves over this looks around. @param {HTMLElement} zone */
  listenToFingers(zone) {
    for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      zone.addEventListener(type, (event) => this.#onFinger(/** @type {PointerEvent} */ (event)));
    }
  }

  /** @param {MouseEvent} event */
  #onDown(event) {
    const code = CODES[event.button];
    if (!code || !this.handlers.isLive()) return;
    event.preventDefault(); // no selecting, no scrolling by the middle button
    if (this.turns && !this.locked) {
      this.dragged = { x: event.clientX, y: event.clientY };
      const hopeful = !this.refused;
      if (hopeful) this.asking = code; // the click that catches the mouse presses nothing
      this.lock();
      if (hopeful) return;
    }
    if (this.held.press(code)) this.handlers.onChange();
  }

  /** @param {number} button */
  #onUp(button) {
    const code = CODES[button];
    if (code === this.asking) this.asking = null;
    if (code && this.held.release(code)) this.handlers.onChange();
  }

  /** @param {MouseEvent} event */
  #onMove(event) {
    if (this.locked) {
      this.#turned(event.movementX, event.movementY);
    } else if (this.dragged && event.buttons === 0) {
      this.dragged = null; // the button was let go where we could not see it
      CODES.forEach((_, button) => this.#onUp(button));
    } else if (this.dragged) {
      this.#turned(event.clientX - this.dragged.x, event.clientY - this.dragged.y);
      this.dragged = { x: event.clientX, y: event.clientY };
    }
  }

  /** @param {PointerEvent} event */
  #onFinger(event) {
    if (event.pointerType !== "touch") return;
    const before = this.fingers.get(event.pointerId);
    if (event.type === "pointerdown") event.preventDefault(); // no mouse events made up for this finger
    else if (before) this.#turned(FINGER_TURNS * (event.clientX - before.x), FINGER_TURNS * (event.clientY - before.y));
    const down = event.type === "pointerdown" || (event.type === "pointermove" && before);
    if (down) this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    else this.fingers.delete(event.pointerId);
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  #turned(dx, dy) {
    if ((dx === 0 && dy === 0) || !this.handlers.isPlaying()) return;
    this.turn.add(dx, dy, this.handlers.hasScreen());
    this.handlers.onTurn();
  }

  #onLockChange() {
    const locked = document.pointerLockElement === this.canvas;
    if (locked === this.locked) return;
    this.locked = locked;
    this.asking = this.dragged = null;
    if (locked) {
      this.refused = false;
      if (!this.handlers.mayLock()) this.unlock();
    } else {
      this.unlockedAt = performance.now();
    }
    this.handlers.onLock(locked);
  }

  #onRefused() {
    this.refused = true;
    const code = this.asking;
    this.asking = null;
    if (code && this.handlers.isLive() && this.held.press(code)) this.handlers.onChange();
  }

  /** @param {WheelEvent} event */
  #onWheel(event) {
    if (!this.handlers.isLive() || event.ctrlKey) return;
    event.preventDefault();
    const name = this.hotbar.scroll(event.deltaY, event.deltaMode);
    if (!name) return;
    this.selected = name;
    if (!this.selecting) this.#select();
  }

  /** Tap what the wheel selects, one button a step: the world could not tell the order of two in the same step. */
  #select() {
    const name = this.selected;
    this.selected = null;
    if (this.held.touch(WHEEL_FINGER, name ? [name] : [])) this.handlers.onChange();
    this.selecting = name !== null;
    if (name) setTimeout(() => this.#select(), this.stepMs * 1.2);
  }
}

// Tasks whose action is one or two numbers: where the pointer is over the picture, or where a finger is held on it, says how much.

/** A stick that is pushed less far is at rest. */
const STICK_RESTS = 0.1;

/** @typedef {{pointer: string, values: [number, number], buttons: string[]}} Axis as in the task: the values at the left and right edge, or at the bottom and the top */

/**
 * The values that a place on a picture stands for.
 * @param {Axis[]} axes
 * @param {{x: number, y: number}} place of the picture's width from the left, and of its height from the bottom, 0 to 1; beyond, the edge counts
 * @returns {[number, number]} the values of the axes x and y; 0 where there is no such axis
 */
export function valuesAt(axes, place) {
  const value = (/** @type {"x" | "y"} */ pointer) => {
    const axis = axes.find((one) => one.pointer === pointer);
    const [first, last] = axis?.values ?? [0, 0];
    return first + (last - first) * Math.min(1, Math.max(0, place[pointer]));
  };
  return [value("x"), value("y")];
}

/**
 * Where a value is on its axis, 0 to 1.
 * @param {Axis} axis
 * @param {number} value
 */
export function placeOf({ values: [first, last] }, value) {
  return Math.min(1, Math.max(0, (value - first) / (last - first)));
}

/**
 * The value of an axis: the end whose button is held, otherwise the value at the pointer.
 * @param {Axis} axis
 * @param {[number, number]} wanted
 * @param {(button: string) => boolean} isHeld
 */
export function valueOf(axis, wanted, isHeld) {
  const ends = axis.values.filter((_, place) => axis.buttons[place] && isHeld(axis.buttons[place]));
  const [low, high] = [Math.min(...axis.values), Math.max(...axis.values)];
  return ends.length === 1 ? ends[0] : Math.min(high, Math.max(low, wanted[axis.pointer === "x" ? 0 : 1]));
}

/** The pointer over the picture of a game, and what it asks for. */
export class Steering {
  /**
   * @param {HTMLElement} view around the picture, which takes fingers beside it too
   * @param {HTMLCanvasElement} canvas
   * @param {Axis[]} axes none where the task is not steered
   * @param {() => boolean} isPlaying
   * @param {() => void} onChange
   */
  constructor(view, canvas, axes, isPlaying, onChange) {
    this.canvas = canvas;
    this.axes = axes;
    this.isPlaying = isPlaying;
    this.onChange = onChange;
    /** @type {[number, number]} */
    this.wanted = [0, 0];
    /** @type {number | null} the finger that steers */
    this.finger = null;
    /** Whether the stick of a gamepad steers. */
    this.isStick = false;
    /** @type {HTMLElement[]} a mark for each axis, that shows its value */
    this.marks = [];
    if (!axes.length) return;
    canvas.classList.add("turns"); // no scrolling by a finger on it
    for (const axis of axes) {
      const gauge = view.appendChild(document.createElement("div"));
      gauge.className = `gauge ${axis.pointer}`;
      gauge.setAttribute("aria-hidden", "true");
      this.marks.push(gauge.appendChild(document.createElement("i")));
    }
    addEventListener("gamepadconnected", () => this.#followStick());
    addEventListener("pointermove", (event) => this.#onMove(event));
    view.addEventListener("pointerdown", (event) => this.#onDown(event));
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, (event) => this.#onUp(/** @type {PointerEvent} */ (event)));
  }

  /** Nobody touches anything: at rest. */
  release() {
    this.finger = null;
    this.wanted = [0, 0];
  }

  /** Show what the axes are set to. @param {(button: string) => boolean} isHeld */
  show(isHeld) {
    this.axes.forEach((axis, place) => {
      this.marks[place].style.setProperty("--place", String(placeOf(axis, valueOf(axis, this.wanted, isHeld))));
    });
  }

  /** @param {PointerEvent} event */
  #onMove(event) {
    if (!this.isPlaying()) return;
    if (event.pointerType === "touch" ? event.pointerId === this.finger : event.isPrimary) this.#follow(event);
  }

  /** @param {PointerEvent} event */
  #onDown(event) {
    if (event.pointerType !== "touch" || this.finger !== null || !this.isPlaying()) return;
    this.finger = event.pointerId;
    this.#follow(event);
  }

  /** @param {PointerEvent} event */
  #onUp(event) {
    if (event.pointerId !== this.finger) return;
    this.release();
    this.onChange();
  }

  /** Look at the stick of a gamepad once a picture, as long as there is one. */
  #followStick() {
    const pad = navigator.getGamepads().find((one) => one);
    if (!pad) return;
    requestAnimationFrame(() => this.#followStick());
    const [right = 0, down = 0] = pad.axes, isPushed = Math.hypot(right, down) > STICK_RESTS;
    if (!this.isPlaying() || !(isPushed || this.isStick)) return;
    this.isStick = isPushed;
    if (isPushed) this.wanted = valuesAt(this.axes, { x: (1 + right) / 2, y: (1 - down) / 2 });
    else this.release();
    this.onChange();
  }

  /** @param {PointerEvent} event */
  #follow({ clientX, clientY }) {
    const { left, bottom, width, height } = this.canvas.getBoundingClientRect();
    this.wanted = valuesAt(this.axes, { x: (clientX - left) / width, y: (bottom - clientY) / height });
    this.onChange();
  }
}

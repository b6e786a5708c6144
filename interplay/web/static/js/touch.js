// Buttons for fingers: a round pad for the directions, a round button for everything else.

import { directionButtons, padDirections } from "./keys.js";

const ARROWS = [["u", "UP", "▲"], ["d", "DOWN", "▼"], ["l", "LEFT", "◀"], ["r", "RIGHT", "▶"]];

/** On-screen buttons; several fingers at once, and a finger may slide from one to the next. */
export class TouchPad {
  /**
   * @param {HTMLElement} root
   * @param {string[]} buttons
   * @param {Record<string, string>} labels
   * @param {import("./keys.js").HeldButtons} held
   * @param {() => void} onChange
   */
  constructor(root, buttons, labels, held, onChange) {
    this.root = root;
    this.held = held;
    this.onChange = onChange;
    /** @type {HTMLElement | null} */
    this.pad = null;
    /** @type {Map<string, string>} */
    this.directions = directionButtons(buttons);
    const withPad = this.directions.size >= 3;
    if (withPad) {
      this.pad = root.appendChild(document.createElement("div"));
      this.pad.className = "dpad";
      for (const [place, direction, arrow] of ARROWS) {
        const name = this.directions.get(direction);
        if (!name) continue;
        const mark = this.pad.appendChild(document.createElement("span"));
        mark.className = place;
        mark.dataset.direction = name;
        mark.textContent = arrow;
      }
    }
    const others = root.appendChild(document.createElement("div"));
    others.className = "touch-buttons";
    // Left and right side by side and in that order, whatever the task's order of priority.
    const sideways = ["LEFT", "RIGHT"].flatMap((direction) => this.directions.get(direction) ?? []);
    const onPad = new Set(withPad ? this.directions.values() : []);
    for (const name of new Set([...sideways, ...buttons])) {
      if (onPad.has(name)) continue;
      const mark = others.appendChild(document.createElement("span"));
      mark.dataset.button = name;
      mark.textContent = labels[name] ?? name.toLowerCase();
    }
    root.classList.toggle("plain", !withPad);
    root.classList.toggle("many", buttons.length > 12);
    root.classList.toggle("on", matchMedia("(any-pointer: coarse)").matches);
    // A finger on a machine that called itself a mouse: believe the finger.
    addEventListener("touchstart", () => root.classList.add("on"), { once: true, passive: true });
    for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      root.addEventListener(type, (event) => this.#onPointer(/** @type {PointerEvent} */ (event)));
    }
    root.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /** @param {PointerEvent} event */
  #onPointer(event) {
    if (event.type === "pointermove" && !this.held.pointers.has(event.pointerId) && event.buttons === 0) return;
    event.preventDefault();
    const lifted = event.type === "pointerup" || event.type === "pointercancel";
    if (event.type === "pointerdown") this.root.setPointerCapture(event.pointerId); // moves reach us even outside
    if (!this.held.touch(event.pointerId, lifted ? [] : this.#under(event))) return;
    const pressed = new Set([...this.held.pointers.values()].flat());
    for (const mark of this.root.querySelectorAll("span")) {
      mark.classList.toggle("on", pressed.has(mark.dataset.button ?? mark.dataset.direction ?? ""));
    }
    this.onChange();
  }

  /** @param {PointerEvent} event */
  #under(event) {
    if (this.pad) {
      const box = this.pad.getBoundingClientRect();
      const dx = event.clientX - (box.left + box.width / 2);
      const dy = event.clientY - (box.top + box.height / 2);
      // A thumb slips off the pad's edge easily, so it reaches somewhat further than it looks.
      if (Math.hypot(dx, dy) < box.width * 0.72) return padDirections(dx, dy, box.width / 2).flatMap((direction) => this.directions.get(direction) ?? []);
    }
    const target = document.elementFromPoint(event.clientX, event.clientY);
    const button = target instanceof HTMLElement ? target.dataset.button : undefined;
    return button ? [button] : [];
  }
}

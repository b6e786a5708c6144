// Buttons for fingers: a round pad for the directions, a round button for everything else.

import { padDirections } from "./keys.js";

const DIRECTIONS = ["UP", "DOWN", "LEFT", "RIGHT"];
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
    const withPad = DIRECTIONS.filter((name) => buttons.includes(name)).length >= 3;
    if (withPad) {
      this.pad = root.appendChild(document.createElement("div"));
      this.pad.className = "dpad";
      for (const [place, name, arrow] of ARROWS) {
        if (!buttons.includes(name)) continue;
        const mark = this.pad.appendChild(document.createElement("span"));
        mark.className = place;
        mark.dataset.direction = name;
        mark.textContent = arrow;
      }
    }
    const others = root.appendChild(document.createElement("div"));
    others.className = "touch-buttons";
    // Left and right side by side and in that order, whatever the task's order of priority.
    for (const name of [...DIRECTIONS.slice(2), ...buttons].filter((one, place, all) => buttons.includes(one) && all.indexOf(one) === place)) {
      if (withPad && DIRECTIONS.includes(name)) continue;
      const mark = others.appendChild(document.createElement("span"));
      mark.dataset.button = name;
      mark.textContent = labels[name] ?? name.toLowerCase();
    }
    root.classList.toggle("plain", !withPad);
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
      if (Math.hypot(dx, dy) < box.width * 0.72) return padDirections(dx, dy, box.width / 2).filter((name) => this.held.buttons.includes(name));
    }
    const target = document.elementFromPoint(event.clientX, event.clientY);
    const button = target instanceof HTMLElement ? target.dataset.button : undefined;
    return button ? [button] : [];
  }
}

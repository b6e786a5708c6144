// Buttons for fingers: a round pad for the directions, a round button for everything else. A world seen in first person has more
// buttons than fit under a hand: a stick, a zone to look around, one row for the hotbar, the buttons that are always needed, and one
// button that shows the rest.

import { directionButtons, padDirections } from "./keys.js";

const ARROWS = [["u", "UP", "▲"], ["d", "DOWN", "▼"], ["l", "LEFT", "◀"], ["r", "RIGHT", "▶"]];

/** Of a world in first person: always at hand, the one used most last. */
const ACTIONS = ["jump", "use", "attack"];
/** Held by a first tap until a second one: a thumb cannot hold them and do something else. */
const TOGGLES = ["sneak", "sprint"];
const FIRST_TOGGLE_FINGER = -100;
const NAMES = new Map([["pickItem", "pick item"], ["swapHands", "swap hands"]]);

/** On-screen buttons; several fingers at once, and a finger may slide from one to the next. */
export class TouchPad {
  /**
   * @param {HTMLElement} root
   * @param {{buttons: string[], labels: Record<string, string>, pointer: string | null, turns: Record<string, unknown>, ends: string | null}} task
   * @param {import("./keys.js").HeldButtons} held
   * @param {() => void} onChange
   * @param {() => void} onEnd the button that ends the task was tapped
   */
  constructor(root, task, held, onChange, onEnd) {
    this.root = root;
    this.held = held;
    this.onChange = onChange;
    this.onEnd = onEnd;
    /** @type {HTMLElement | null} */
    this.pad = null;
    /** Where a finger looks around. @type {HTMLElement | null} */
    this.look = null;
    /** @type {HTMLElement | null} */
    this.more = null;
    const buttons = task.buttons.filter((name) => task.labels[name] !== "no effect");
    /** @type {Map<string, string>} */
    this.directions = directionButtons(buttons);
    if (task.pointer) this.#buildFirstPerson(task);
    else this.#build(buttons, task.labels);
    root.classList.toggle("on", matchMedia("(any-pointer: coarse)").matches);
    // A finger on a machine that called itself a mouse: believe the finger.
    addEventListener("touchstart", () => root.classList.add("on"), { once: true, passive: true });
    for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      root.addEventListener(type, (event) => this.#onPointer(/** @type {PointerEvent} */ (event)));
    }
    root.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /** Every button was let go of, by a pause or the like. */
  clear() {
    for (const mark of this.root.querySelectorAll("span.on")) mark.classList.remove("on");
    if (this.more) this.more.hidden = true;
  }

  /**
   * @param {HTMLElement} parent
   * @param {string} name of the class
   */
  #box(parent, name) {
    const box = parent.appendChild(document.createElement("div"));
    box.className = name;
    return box;
  }

  /**
   * @param {HTMLElement} parent
   * @param {string} text
   * @param {Record<string, string>} data
   */
  #mark(parent, text, data) {
    const mark = parent.appendChild(document.createElement("span"));
    Object.assign(mark.dataset, data);
    mark.textContent = text;
    return mark;
  }

  /** @param {HTMLElement} parent */
  #buildPad(parent) {
    this.pad = this.#box(parent, "dpad");
    for (const [place, direction, arrow] of ARROWS) {
      const name = this.directions.get(direction);
      if (name) this.#mark(this.pad, arrow, { direction: name }).className = place;
    }
  }

  /** @param {{buttons: string[], turns: Record<string, unknown>, ends: string | null}} task */
  #buildFirstPerson(task) {
    const left = new Set(task.buttons);
    for (const name of [...Object.keys(task.turns), ...this.directions.values()]) left.delete(name);
    const take = (/** @type {string} */ name) => left.delete(name);
    this.root.classList.add("first-person");
    const hotbar = this.#box(this.root, "slots");
    for (const name of task.buttons.filter((one) => one.startsWith("hotbar.") && take(one))) this.#mark(hotbar, name.slice("hotbar.".length), { button: name });
    const stick = this.#box(this.root, "stick");
    if (this.directions.size) this.#buildPad(stick);
    this.look = this.#box(this.root, "look");
    this.#mark(this.look, "drag here to look", {});
    const menu = this.#box(this.root, "menu");
    const actions = this.#box(this.root, "actions");
    for (const name of ACTIONS.filter(take)) this.#mark(actions, name, { button: name }).className = name;
    if (take("inventory")) this.#mark(menu, "inventory", { button: "inventory" });
    if (!left.size) return;
    this.#mark(menu, "more", { act: "more" });
    this.more = this.#box(this.root, "more");
    this.more.hidden = true;
    for (const name of left) {
      const act = name === task.ends ? "end" : TOGGLES.includes(name) ? "toggle" : "";
      const text = name === task.ends ? "done: end the task" : (NAMES.get(name) ?? name);
      this.#mark(this.more, text, act ? { act, name } : { button: name });
    }
  }

  /**
   * @param {string[]} buttons
   * @param {Record<string, string>} labels
   */
  #build(buttons, labels) {
    const { root } = this;
    const withPad = this.directions.size >= 3;
    if (withPad) this.#buildPad(root);
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
  }

  /**
   * A tap on a button that is not one of the world.
   * @param {HTMLElement} mark
   */
  #act(mark) {
    const name = mark.dataset.name ?? "";
    if (mark.dataset.act === "toggle") {
      const on = mark.classList.toggle("on");
      if (this.held.touch(FIRST_TOGGLE_FINGER - TOGGLES.indexOf(name), on ? [name] : [])) this.onChange();
    } else if (mark.dataset.act === "end") {
      this.onEnd();
    } else if (this.more) {
      this.more.hidden = !this.more.hidden;
    }
  }

  /** @param {PointerEvent} event */
  #onPointer(event) {
    if (event.type === "pointermove" && !this.held.pointers.has(event.pointerId) && event.buttons === 0) return;
    event.preventDefault();
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest(".look")) return; // the mouse's: it looks around
    const mark = target?.closest("[data-act]");
    if (mark instanceof HTMLElement) {
      if (event.type === "pointerdown") this.#act(mark);
      return;
    }
    const lifted = event.type === "pointerup" || event.type === "pointercancel";
    if (event.type === "pointerdown") this.root.setPointerCapture(event.pointerId); // moves reach us even outside
    if (!this.held.touch(event.pointerId, lifted ? [] : this.#under(event))) return;
    const pressed = new Set([...this.held.pointers.values()].flat());
    for (const mark of this.root.querySelectorAll("span:not([data-act])")) {
      if (!(mark instanceof HTMLElement)) continue;
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

// Options of a player of a world in first person: how the mouse turns, how wide the view is, how large bars and screens are, and
// which keys press which buttons. This browser saves the options, and they are recorded with the game.

import { need } from "./page.js";

const KEPT = "interplay.options";
/** Keys that belong to the page, or to the browser. */
const TAKEN = /^(Escape|Tab|KeyP|KeyH|F\d+|Meta.*|Control.*|Alt.*)$/;

/**
 * @typedef {object} Values
 * @property {number} sensitivity times what the task says that a pixel turns
 * @property {boolean} inverted whether the mouse moves up to look down
 * @property {number} fov degrees from bottom to top
 * @property {number} gui how large bars and screens are
 * @property {Record<string, string>} keys button -> KeyboardEvent.code of its key, in place of all that the task gives it
 */

/** @type {Values} */
export const DEFAULTS = Object.freeze({ sensitivity: 1, inverted: false, fov: 70, gui: 1, keys: Object.freeze({}) });

/**
 * The saved options that are valid.
 * @param {string | null} text
 * @returns {Values}
 */
export function valuesOf(text) {
  /** @type {any} */
  let kept = null;
  try {
    kept = JSON.parse(text ?? "null");
  } catch {
    // As if nothing was saved.
  }
  const within = (/** @type {any} */ value, /** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ other) =>
    typeof value === "number" && value >= low && value <= high ? value : other;
  const keys = Object.entries(kept?.keys ?? {}).filter(([, code]) => typeof code === "string" && /^[A-Za-z0-9]{1,24}$/.test(code) && !TAKEN.test(code));
  return {
    sensitivity: within(kept?.sensitivity, 0.1, 5, DEFAULTS.sensitivity),
    inverted: kept?.inverted === true,
    fov: within(kept?.fov, 30, 110, DEFAULTS.fov),
    gui: within(kept?.gui, 0.5, 2, DEFAULTS.gui),
    keys: Object.fromEntries(/** @type {[string, string][]} */ (keys)),
  };
}

/**
 * The buttons of each key: a player's own keys replace those of the task; mouse buttons stay.
 * @param {Record<string, string>} bindings of the task
 * @param {Record<string, string>} keys
 */
export function boundBy(bindings, keys) {
  const kept = Object.entries(bindings).filter(([code, button]) => code.startsWith("Mouse") || !Object.hasOwn(keys, button));
  const own = Object.entries(keys).filter(([button]) => Object.values(bindings).includes(button));
  return Object.fromEntries([...kept, ...own.map(([button, code]) => [code, button])]);
}

/**
 * Give a button another key; the button that had it gets the key that becomes free.
 * @param {Record<string, string>} bindings of the task
 * @param {Record<string, string>} keys
 * @param {string} button
 * @param {string} code
 * @returns {Record<string, string> | null} the new ones; null if the key belongs to the page or to the hotbar
 */
export function withKey(bindings, keys, button, code) {
  const now = boundBy(bindings, keys), other = now[code];
  if (TAKEN.test(code) || code.startsWith("Mouse") || other?.startsWith("hotbar.")) return null;
  const free = Object.keys(now).find((one) => now[one] === button && !one.startsWith("Mouse") && !TAKEN.test(one));
  const changed = { ...keys, [button]: code };
  if (other && other !== button && free) changed[other] = free;
  return changed;
}

export class Options {
  /**
   * @param {HTMLDialogElement} dialog
   * @param {{buttons: string[], bindings: Record<string, string>, labels: Record<string, string>, key_names: Record<string, string>}} task
   * @param {() => void} onChange
   */
  constructor(dialog, task, onChange) {
    this.dialog = dialog;
    this.task = task;
    this.onChange = onChange;
    this.values = valuesOf(read());
    /** @type {string | null} the button whose key is asked for */
    this.asked = null;
    /** @type {HTMLFormElement} */
    this.form = need(dialog, "form");
    this.form.addEventListener("input", () => this.#take());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    need(dialog, "[data-options-reset]").addEventListener("click", () => this.#set({ ...DEFAULTS }));
    dialog.addEventListener("keydown", (event) => this.#onKey(event), true);
    this.#show();
  }

  get bindings() {
    return boundBy(this.task.bindings, this.values.keys);
  }

  /** @param {string} code */
  #name(code) {
    return this.task.key_names[code] ?? code.replace(/^(Key|Digit)/, "");
  }

  #take() {
    const field = (/** @type {string} */ name) => /** @type {HTMLInputElement | null} */ (this.form.elements.namedItem(name));
    const number = (/** @type {"sensitivity" | "fov" | "gui"} */ name) => Number(field(name)?.value ?? this.values[name]);
    this.#set({ ...this.values, sensitivity: number("sensitivity"), fov: number("fov"), gui: number("gui"), inverted: field("inverted")?.checked === true });
  }

  /** @param {Values} values */
  #set(values) {
    this.values = values;
    try {
      localStorage.setItem(KEPT, JSON.stringify(values));
    } catch {
      // The options are valid for this page only.
    }
    this.#show();
    this.onChange();
  }

  /** A key for the button that was chosen. @param {KeyboardEvent} event */
  #onKey(event) {
    if (this.asked === null) return;
    event.preventDefault();
    event.stopPropagation();
    const button = this.asked, keys = event.code === "Escape" ? this.values.keys : withKey(this.task.bindings, this.values.keys, button, event.code);
    if (keys) this.asked = null;
    this.#say(keys ? "" : `${this.#name(event.code)} has another use. Press another key, or Esc to keep the key.`);
    if (keys) this.#set({ ...this.values, keys });
    this.#focus(button);
  }

  /** @param {string} button */
  #focus(button) {
    /** @type {HTMLElement | null} */ (this.dialog.querySelector(`[data-key="${CSS.escape(button)}"]`))?.focus();
  }

  /** @param {string} text */
  #say(text) {
    need(this.dialog, "[data-options-note]").textContent = text;
  }

  #show() {
    const { values, form, task } = this;
    for (const [name, value] of Object.entries(values)) {
      const field = /** @type {HTMLInputElement | null} */ (form.elements.namedItem(name));
      if (field?.type === "checkbox") field.checked = value === true;
      else if (field) field.value = String(value);
    }
    need(form, "[data-sensitivity]").textContent = `${Math.round(100 * values.sensitivity)} %`;
    for (const shown of form.querySelectorAll("[data-fov]")) shown.textContent = `${values.fov}°`;
    const { bindings } = this, codeOf = (/** @type {string} */ button) => Object.keys(bindings).find((code) => bindings[code] === button && !code.startsWith("Mouse"));
    const buttons = task.buttons.filter((name) => !name.startsWith("hotbar.") && codeOf(name) && task.labels[name] !== "no effect");
    need(form, "[data-options-keys]").replaceChildren(...buttons.map((name) => {
      const key = document.createElement("button"), shown = document.createElement("kbd");
      Object.assign(key, { type: "button", className: "btn", textContent: `${task.labels[name] ?? name.replaceAll("_", " ")} ` });
      key.dataset.key = name;
      shown.textContent = this.asked === name ? "press a key" : this.#name(codeOf(name) ?? "");
      key.append(shown);
      key.addEventListener("click", () => {
        this.asked = name;
        this.#say("Press the key for it, or Esc to keep the key.");
        this.#show();
        this.#focus(name);
      });
      return key;
    }));
    this.#showInLists();
  }

  /** The page's lists of keys, as they are now. */
  #showInLists() {
    const { bindings } = this.task, codes = Object.keys(bindings);
    for (const shown of document.querySelectorAll(".keys kbd")) {
      if (!(shown instanceof HTMLElement)) continue;
      const was = (shown.dataset.was ??= shown.textContent ?? ""), code = codes.find((one) => this.#name(one) === was);
      const own = code && !code.startsWith("Mouse") && this.values.keys[bindings[code]];
      const isFirst = code === codes.find((one) => code && bindings[one] === bindings[code] && !one.startsWith("Mouse"));
      shown.hidden = Boolean(own) && !isFirst;
      shown.textContent = own && isFirst ? this.#name(own) : was;
    }
  }
}

function read() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // this browser keeps nothing
  }
}

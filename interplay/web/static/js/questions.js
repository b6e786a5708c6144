// The judging form on the page: one field for each question of the match, the reason, and the errors of both.

import { countChars, missing, radioGroups, readAnswer } from "./form.js";
import { need } from "./page.js";

/** @typedef {import("./form.js").Question} Question */

export class QuestionForm {
  /**
   * @param {HTMLElement} root the page
   * @param {{onInput: () => void, onSubmit: () => void}} told
   */
  constructor(root, { onInput, onSubmit }) {
    this.root = root;
    /** @type {Question[]} */
    this.questions = [];
    this.minChars = 0;
    /** @type {HTMLFormElement} */
    this.form = need(root, "[data-form]");
    /** @type {HTMLTextAreaElement} */
    this.reason = need(root, "[data-reason]");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      onSubmit();
    });
    this.form.addEventListener("input", () => {
      this.#count();
      this.#mark();
      onInput();
    });
  }

  /**
   * Show these questions without answers.
   * @param {Question[]} questions
   * @param {number} minChars of the reason
   * @param {boolean} mayBeNa whether one may say that one cannot tell
   */
  open(questions, minChars, mayBeNa) {
    this.questions = questions;
    this.minChars = minChars;
    const list = need(this.root, "[data-questions]");
    /** @type {HTMLTemplateElement} */
    const template = need(this.root, "[data-question-template]");
    list.replaceChildren();
    for (const question of questions) {
      const field = /** @type {HTMLElement} */ (/** @type {DocumentFragment} */ (template.content.cloneNode(true)).firstElementChild);
      field.classList.toggle("overall", question.kind === "overall");
      need(field, "legend").textContent = question.text;
      need(field, ".text").textContent = question.text;
      need(field, ".error").dataset.error = question.kind === "overall" ? "outcome" : `responses.${question.id}`;
      for (const group of radioGroups(question, mayBeNa)) need(field, ".segs").append(radios(group, question.text));
      list.append(field);
    }
    this.fill({ chosen: [], reason: "" });
    this.showErrors([]);
  }

  /**
   * Fill in the answers of a draft.
   * @param {{chosen: [string, string][], reason: string}} draft
   */
  fill({ chosen, reason }) {
    this.reason.value = reason;
    for (const [name, value] of chosen) this.choose(name, value);
    this.#count();
    this.#mark();
  }

  #mark() {
    let isFound = false;
    for (const row of this.form.querySelectorAll(".seg")) {
      const isOpen = row.querySelector('input[value="yes"]') !== null && row.querySelector("input:checked") === null;
      row.classList.toggle("marked", isOpen && !isFound);
      isFound ||= isOpen;
    }
  }

  /**
   * @param {string} name of a group of radio buttons
   * @param {string} value
   */
  choose(name, value) {
    const radio = this.form.querySelector(`input[name="${CSS.escape(name)}"][value="${CSS.escape(value)}"]`);
    if (radio instanceof HTMLInputElement) radio.checked = true;
    this.#mark();
  }

  /** The first question that asks for yes or no and has no answer yet. @returns {{name: string, label: string} | null} */
  get marked() {
    const row = this.form.querySelector(".seg.marked");
    const radio = row?.querySelector("input");
    return row && radio ? { name: radio.name, label: row.getAttribute("aria-label") ?? "" } : null;
  }

  /** What is filled in, to be kept. */
  get filled() {
    return { chosen: [...this.#chosen()], reason: this.reason.value };
  }

  /** What is filled in, as the server wants it. */
  get answer() {
    return readAnswer(this.questions, this.#chosen(), this.reason.value);
  }

  /** What is still missing. */
  get missing() {
    return missing(this.questions, this.answer, this.minChars);
  }

  #chosen() {
    /** @type {Map<string, string>} */
    const chosen = new Map();
    for (const [name, value] of new FormData(this.form)) if (name !== "reason") chosen.set(name, String(value));
    return chosen;
  }

  #count() {
    const count = countChars(this.reason.value);
    const counter = need(this.root, "[data-counter]");
    counter.textContent = this.minChars ? `${count} / ${this.minChars} characters` : "optional";
    counter.classList.toggle("enough", count >= this.minChars);
  }

  /** Say what is wrong, each at its field, and go to the first. @param {{field: string, message: string}[]} errors */
  showErrors(errors) {
    const homeless = [];
    for (const box of this.root.querySelectorAll("[data-error]")) if (box instanceof HTMLElement) box.hidden = true;
    this.reason.removeAttribute("aria-invalid");
    /** @type {HTMLElement | null} */
    let first = null;
    for (const { field, message } of errors) {
      const box = this.root.querySelector(`[data-error="${CSS.escape(field)}"]`);
      if (!(box instanceof HTMLElement)) {
        homeless.push(message);
        continue;
      }
      box.textContent = message;
      box.hidden = false;
      if (field === "reason") this.reason.setAttribute("aria-invalid", "true");
      first ??= field === "reason" ? this.reason : (box.parentElement?.querySelector("input") ?? null);
    }
    this.say(homeless.join(" "));
    first?.focus();
  }

  /** Something about the whole form; nothing takes it away. @param {string} text */
  say(text) {
    const box = need(this.root, "[data-form-error]");
    box.textContent = text;
    box.hidden = !text;
  }
}

/**
 * One row of radio buttons that look like a switch.
 * @param {import("./form.js").Group} group
 * @param {string} question
 */
function radios(group, question) {
  const row = document.createElement("div");
  row.className = `seg ${group.side ? group.side[0] : ""}`;
  row.setAttribute("role", "radiogroup");
  row.setAttribute("aria-label", group.legend ? `${question} ${group.legend} player` : question);
  if (group.legend) {
    const name = row.appendChild(document.createElement("span"));
    name.className = `side-name ${group.side[0]}`;
    name.textContent = group.legend;
  }
  const options = row.appendChild(document.createElement("div"));
  options.className = "opts";
  for (const [value, text] of group.choices) {
    const label = options.appendChild(document.createElement("label"));
    const input = label.appendChild(document.createElement("input"));
    Object.assign(input, { type: "radio", name: group.name, value });
    label.appendChild(document.createElement("span")).textContent = text;
  }
  return row;
}

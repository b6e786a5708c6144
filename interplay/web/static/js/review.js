// Reviewing an instance: keys, open questions, and the proof, which is shown after four answers.

import { need } from "./page.js";

const ANSWERS_BEFORE_THE_PROOF = 4;
const ASK_AGAIN_MS = 700;

class ReviewPage {
  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.form = form;
    /** @type {HTMLFieldSetElement[]} */
    this.questions = [...form.querySelectorAll("fieldset")];
    this.video = /** @type {HTMLVideoElement | null} */ (document.querySelector("[data-proof]"));
    this.button = /** @type {HTMLButtonElement | null} */ (document.querySelector("[data-play]"));
    this.now = 0;
    form.addEventListener("change", (event) => {
      const changed = event.target instanceof Element ? event.target.closest("fieldset") : null;
      if (changed instanceof HTMLFieldSetElement) this.now = this.questions.indexOf(changed);
      this.show();
    });
    form.addEventListener("submit", (event) => this.submit(event));
    this.button?.addEventListener("click", () => void this.play());
    document.addEventListener("keydown", (event) => this.key(event));
    this.show();
  }

  /** @param {HTMLFieldSetElement} question */
  isAnswered(question) {
    return question.querySelector("input:checked") !== null;
  }

  show() {
    const open = this.questions.map((one, place) => ({ place, open: !this.isAnswered(one) })).filter((one) => one.open);
    const last = this.questions.length - 1;
    const words = open.filter((one) => one.place < last).map((one) => String(one.place + 1));
    const parts = words.length ? [`question${words.length > 1 ? "s" : ""} ${words.join(", ")}`] : [];
    if (open.some((one) => one.place === last)) parts.push("the verdict");
    need(this.form, "[data-still]").textContent = parts.length ? `Still open: ${parts.join(" and ")}` : "";
    this.questions.forEach((one, place) => one.classList.toggle("now", place === this.now));
    if (this.button) {
      const answered = this.questions.slice(0, last).filter((one) => this.isAnswered(one)).length;
      this.button.disabled = answered < ANSWERS_BEFORE_THE_PROOF;
      need(document, "[data-proof-waits]").hidden = !this.button.disabled;
    }
  }

  async play() {
    if (!this.video || !this.button || this.button.disabled) return;
    if (!this.video.src) {
      this.button.disabled = true; // until the film is there
      const address = this.video.dataset.src ?? "";
      while ((await fetch(address, { method: "HEAD" })).status === 202) await new Promise((go) => setTimeout(go, ASK_AGAIN_MS));
      this.video.src = address;
      this.video.hidden = false;
      this.button.disabled = false;
      const played = document.createElement("input");
      [played.type, played.name, played.value] = ["hidden", "played", "1"];
      this.form.append(played);
    }
    if (this.video.paused) void this.video.play().catch(() => undefined);
    else this.video.pause();
  }

  /** @param {SubmitEvent} event */
  submit(event) {
    const first = this.questions.findIndex((one) => !this.isAnswered(one));
    if (first < 0) return;
    event.preventDefault();
    this.go(first);
  }

  /** @param {number} place */
  go(place) {
    this.now = place;
    this.show();
    const inputs = [...this.questions[place].querySelectorAll("input")];
    (inputs.find((one) => one.checked) ?? inputs[0]).focus();
    this.questions[place].scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {number} place
   * @param {number} choice 0 is yes
   */
  choose(place, choice) {
    this.questions[place].querySelectorAll("input")[choice].checked = true;
    const next = this.questions.findIndex((one) => !this.isAnswered(one));
    if (next >= 0) this.go(next);
    else this.show();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = event.target;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.form.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || target instanceof HTMLTextAreaElement) return;
    const last = this.questions.length - 1;
    const key = event.key.toLowerCase();
    if (key >= "1" && key <= String(last)) this.go(Number(key) - 1);
    else if ((key === "y" || key === "n") && this.now < last) this.choose(this.now, key === "y" ? 0 : 1);
    else if (key === "v" || key === "x") this.choose(last, key === "v" ? 0 : 1);
    else if (key === " " && !(target instanceof HTMLElement && target.closest("button, a, summary, video"))) void this.play();
    else return;
    event.preventDefault();
  }
}

new ReviewPage(/** @type {HTMLFormElement} */ (need(document, "[data-review]")));

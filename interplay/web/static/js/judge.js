// The judging page: asks for a match, shows its two videos, keeps the draft, sends the answer, asks for the next.

import { countChars, missing, radioGroups, readAnswer } from "./form.js";
import { ApiError, api, isTyping, need } from "./page.js";
import { VideoPair, Viewing } from "./pair.js";
import { clock } from "./timeline.js";

const HEARTBEAT_MS = 30_000;
const DRAFT_PREFIX = "interplay.draft.";
const SPEEDS = [0.5, 1, 1.5, 2, 3, 5];

/**
 * @typedef {object} Match
 * @property {string} match
 * @property {string} task
 * @property {string} title
 * @property {string} [goal]
 * @property {number} frame_rate_hz
 * @property {import("./form.js").Question[]} questions
 * @property {{video: string}} left
 * @property {{video: string}} right
 * @property {number} min_reason_chars
 * @property {number} [answered]
 * @property {"open" | "released" | "answered"} [state]
 */

class JudgePage {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Match | null} */
    this.match = null;
    this.answered = 0;
    /** @type {HTMLFormElement} */
    this.form = need(root, "[data-form]");
    /** @type {HTMLTextAreaElement} */
    this.reason = need(root, "[data-reason]");
    /** @type {HTMLInputElement} */
    this.scrub = need(root, "[data-scrub]");
    /** @type {HTMLSelectElement} */
    this.speed = need(root, "[data-speed]");
    /** @type {HTMLDialogElement} */
    this.ask = need(document, "[data-ask]");
    this.videos = new VideoPair(need(root, '[data-video="left"]'), need(root, '[data-video="right"]'), () => this.#controls());
    this.viewing = new Viewing(() => 0);
    this.#listen();
    setInterval(() => this.#heartbeat(), HEARTBEAT_MS);
    this.#begin();
  }

  // --- matches ------------------------------------------------------------------------------------------------------

  /** Go on with the match a draft was written for, as late as it may be; else ask for one. */
  async #begin() {
    this.#show("loading");
    const match = await this.#drafted();
    if (!match) return this.next();
    this.#open(match);
    this.#heartbeat(); // it may have gone back in the meantime
  }

  /**
   * The first match with a draft that still takes its answer; drafts of others are thrown away.
   * @returns {Promise<Match | null>}
   */
  async #drafted() {
    const task = this.root.dataset.task;
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(DRAFT_PREFIX))) {
      try {
        const match = await api(`/api/judge/matches/${encodeURIComponent(key.slice(DRAFT_PREFIX.length))}`);
        if (match.state === "answered") localStorage.removeItem(key);
        else if (!task || match.task === task) return match;
      } catch (error) {
        // Nobody's match, or another visitor's. Without an answer of the server the draft waits.
        if (error instanceof ApiError && error.status < 500) localStorage.removeItem(key);
      }
    }
    return null;
  }

  async next() {
    this.#show("loading");
    const task = this.root.dataset.task;
    try {
      this.#open(await api("/api/judge/matches", task ? { task } : {}));
    } catch (error) {
      const known = error instanceof ApiError;
      this.match = null;
      this.#show("empty");
      const nothing = known && error.status < 500;
      need(this.root, "[data-empty-title]").textContent = nothing ? "Nothing to compare right now" : "The server cannot be reached";
      need(this.root, "[data-empty-message]").textContent = known ? error.message.split("\n")[0] : "Is it still running?";
      for (const help of this.root.querySelectorAll("[data-empty-help]")) if (help instanceof HTMLElement) help.hidden = !nothing;
    }
  }

  /** @param {Match} match */
  #open(match) {
    this.match = match;
    const shownAt = performance.now();
    this.viewing = new Viewing(() => (performance.now() - shownAt) / 1000);
    need(this.root, "[data-title]").textContent = match.title;
    need(this.root, "[data-goal]").textContent = match.goal ?? "";
    this.answered = match.answered ?? this.answered;
    this.#progress();
    this.#buildQuestions(match);
    this.#showErrors([]);
    this.#formError("");
    this.reason.value = "";
    this.#restoreDraft();
    this.#count();
    this.videos.open(match.left.video, match.right.video, match.frame_rate_hz, this.viewing);
    this.#show("match");
  }

  #progress() {
    const count = this.answered;
    need(document, "[data-progress]").textContent = count ? `${count} comparison${count === 1 ? "" : "s"} answered, thank you` : "";
  }

  async #heartbeat() {
    if (!this.match || document.hidden) return;
    try {
      await api(`/api/judge/matches/${this.match.match}/heartbeat`, {});
    } catch {
      // An answer is accepted without it; the next one may get through.
    }
  }

  async #skip() {
    const match = this.match;
    this.ask.close();
    if (!match) return;
    try {
      await api(`/api/judge/matches/${match.match}/release`, {});
    } catch (error) {
      if (!(error instanceof ApiError)) return this.#formError("The server cannot be reached; try again in a moment.");
    }
    localStorage.removeItem(DRAFT_PREFIX + match.match);
    await this.next();
    this.#toTop();
  }

  async #submit() {
    const { match } = this;
    if (!match) return;
    const answer = this.#read();
    const problems = missing(match.questions, answer, match.min_reason_chars);
    this.#showErrors(problems);
    if (problems.length) {
      this.announce(`${problems.length} field${problems.length === 1 ? "" : "s"} to complete.`);
      return;
    }
    /** @type {HTMLButtonElement} */
    const button = need(this.root, "[data-submit]");
    button.disabled = true;
    this.videos.pause();
    try {
      const accepted = await api(`/api/judge/matches/${match.match}/answer`, { ...answer, viewing: this.viewing.report(this.videos.lengths) });
      localStorage.removeItem(DRAFT_PREFIX + match.match);
      this.answered = accepted.answered;
      this.announce("Saved. Here is the next pair.");
      await this.next();
      this.#progress();
      this.#toTop();
    } catch (error) {
      if (!(error instanceof ApiError)) {
        this.#formError("The server cannot be reached. Your answer is kept here; try again in a moment.");
      } else if (error.body.errors?.length) {
        this.#showErrors(error.body.errors);
      } else if (error.status === 409 || error.status === 410) {
        localStorage.removeItem(DRAFT_PREFIX + match.match);
        await this.next();
        this.#formError(`${error.message.split("\n")[0]} This is another pair.`);
      } else {
        this.#formError(error.message);
      }
    } finally {
      button.disabled = false;
    }
  }

  // --- the form -----------------------------------------------------------------------------------------------------

  /** @param {Match} match */
  #buildQuestions(match) {
    const list = need(this.root, "[data-questions]");
    /** @type {HTMLTemplateElement} */
    const template = need(this.root, "[data-question-template]");
    list.replaceChildren();
    for (const question of match.questions) {
      const field = /** @type {HTMLElement} */ (/** @type {DocumentFragment} */ (template.content.cloneNode(true)).firstElementChild);
      field.classList.toggle("overall", question.kind === "overall");
      need(field, "legend").textContent = question.text;
      need(field, ".text").textContent = question.text;
      need(field, ".error").dataset.error = question.kind === "overall" ? "outcome" : `responses.${question.id}`;
      for (const group of radioGroups(question)) need(field, ".segs").append(radios(group, question.text));
      list.append(field);
    }
  }

  #chosen() {
    /** @type {Map<string, string>} */
    const chosen = new Map();
    for (const [name, value] of new FormData(this.form)) if (name !== "reason") chosen.set(name, String(value));
    return chosen;
  }

  #read() {
    return readAnswer(this.match?.questions ?? [], this.#chosen(), this.reason.value);
  }

  #count() {
    const wanted = this.match?.min_reason_chars ?? 100;
    const count = countChars(this.reason.value);
    const counter = need(this.root, "[data-counter]");
    counter.textContent = `${count} / ${wanted} characters`;
    counter.classList.toggle("enough", count >= wanted);
  }

  #saveDraft() {
    if (!this.match) return;
    const draft = { chosen: [...this.#chosen()], reason: this.reason.value };
    try {
      localStorage.setItem(DRAFT_PREFIX + this.match.match, JSON.stringify(draft));
      need(this.root, "[data-saved]").textContent = "saved as you type";
    } catch {
      need(this.root, "[data-saved]").textContent = "this browser keeps no drafts";
    }
  }

  #restoreDraft() {
    const match = this.match?.match;
    try {
      const draft = JSON.parse(localStorage.getItem(DRAFT_PREFIX + match) ?? "null");
      if (!draft) return;
      this.reason.value = draft.reason;
      for (const [name, value] of draft.chosen) this.#choose(name, value);
      need(this.root, "[data-saved]").textContent = "your draft is back";
    } catch {
      // A draft from another version of this page: start empty.
    }
  }

  /**
   * @param {string} name
   * @param {string} value
   */
  #choose(name, value) {
    const radio = this.form.querySelector(`input[name="${CSS.escape(name)}"][value="${CSS.escape(value)}"]`);
    if (radio instanceof HTMLInputElement) radio.checked = true;
  }

  /** @param {{field: string, message: string}[]} errors */
  #showErrors(errors) {
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
    this.#formError(homeless.join(" "));
    first?.focus();
  }

  /** @param {string} text */
  #formError(text) {
    const box = need(this.root, "[data-form-error]");
    box.textContent = text;
    box.hidden = !text;
  }

  // --- the page -----------------------------------------------------------------------------------------------------

  #controls() {
    const { videos } = this;
    if (!this.scrub) return; // the videos report before this constructor is through
    this.scrub.max = String(videos.duration || 1);
    this.scrub.value = String(videos.position);
    this.scrub.setAttribute("aria-valuetext", videos.label);
    need(this.root, "[data-time]").textContent = videos.label;
    const button = need(this.root, "[data-play]");
    button.textContent = videos.playing ? "❚❚" : "▶";
    button.setAttribute("aria-label", videos.playing ? "Pause both" : "Play both");
    this.speed.value = String(videos.speed);
    for (const side of /** @type {const} */ (["left", "right"])) {
      const length = videos.lengths[side];
      need(this.root, `[data-length="${side}"]`).textContent = length ? clock(Math.round(length)) : "";
    }
  }

  #listen() {
    const { root, videos } = this;
    need(root, "[data-play]").addEventListener("click", () => videos.toggle());
    need(root, "[data-back]").addEventListener("click", () => videos.step(-1));
    need(root, "[data-forward]").addEventListener("click", () => videos.step(1));
    this.scrub.addEventListener("input", () => videos.seek(Number(this.scrub.value)));
    this.speed.addEventListener("change", () => videos.setSpeed(Number(this.speed.value)));
    for (const figure of root.querySelectorAll(".frame")) figure.addEventListener("click", () => videos.toggle());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.form.addEventListener("input", () => {
      this.#count();
      this.#saveDraft();
    });
    need(root, "[data-skip]").addEventListener("click", () => this.ask.showModal());
    need(this.ask, "[data-ask-no]").addEventListener("click", () => this.ask.close());
    need(this.ask, "[data-ask-yes]").addEventListener("click", () => this.#skip());
    need(root, "[data-retry]").addEventListener("click", () => this.next());
    addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (!this.match || this.ask.open) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
      event.preventDefault();
      this.#submit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    const onRadio = target instanceof HTMLInputElement && target.type === "radio";
    if (isTyping(target) && !onRadio) return;
    const onControl = target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement;
    const arrowsTaken = onRadio || target === this.scrub; // they move the choice, or the slider, by themselves
    if (event.code === "Space" && !onControl && !(onRadio && !target.checked)) this.videos.toggle();
    else if (event.key === ",") this.videos.step(-1);
    else if (event.key === ".") this.videos.step(1);
    else if (event.code === "ArrowLeft" && !arrowsTaken) this.videos.seek(this.videos.position - 2);
    else if (event.code === "ArrowRight" && !arrowsTaken) this.videos.seek(this.videos.position + 2);
    else if (event.key === "-" || event.key === "+") this.#changeSpeed(event.key === "+" ? 1 : -1);
    else if (["1", "2", "3"].includes(event.key)) this.#overall(["left", "draw", "right"][Number(event.key) - 1]);
    else return;
    event.preventDefault();
  }

  /** @param {number} direction */
  #changeSpeed(direction) {
    const place = SPEEDS.indexOf(this.videos.speed) + direction;
    if (SPEEDS[place]) this.videos.setSpeed(SPEEDS[place]);
  }

  /** @param {string} outcome */
  #overall(outcome) {
    const question = this.match?.questions.find(({ kind }) => kind === "overall");
    if (!question) return;
    this.#choose(question.id, outcome);
    this.#saveDraft();
    this.announce(`${question.text} ${outcome}`);
  }

  /** @param {"loading" | "match" | "empty"} state */
  #show(state) {
    this.root.dataset.state = state;
    need(this.root, "[data-loading]").hidden = state !== "loading";
    need(this.root, "[data-match]").hidden = state !== "match";
    need(this.root, "[data-empty]").hidden = state !== "empty";
  }

  #toTop() {
    scrollTo({ top: 0 });
    if (this.match) need(this.root, "[data-headline]").focus({ preventScroll: true });
  }

  /** For people who listen to the page. @param {string} text */
  announce(text) {
    need(this.root, "[data-announce]").textContent = text;
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

new JudgePage(need(document, "#judge"));

// The judging page: asks for a match, shows its two videos, keeps the draft, sends the answer, asks for the next.

import { asDraft, forget, keep, kept, newerDraft, recall } from "./drafts.js";
import { seatWords, stillToWatch, waitingWords } from "./form.js";
import { ApiError, api, isTyping, need, partHeaders } from "./page.js";
import { VideoPair, Viewing } from "./pair.js";
import { QuestionForm } from "./questions.js";
import { lasting } from "./timeline.js";

const HEARTBEAT_MS = 30_000;
/** How long after the last key the server gets the draft, milliseconds. */
const SAVE_AFTER_MS = 3000;
/** What browsers let a page that closes still send, bytes; a little less. */
const LAST_WORDS_BYTES = 60_000;
const SPEEDS = [0.5, 1, 1.5, 2, 3, 5];
/** How long until a page asks again for videos that are being made. */
const VIDEOS_MADE_AGAIN_MS = 5000;
/** How long until it asks again for a pair that others have now. */
const PAIR_FREE_AGAIN_MS = 20_000;
const NOT_NOW = {
  nothing_to_judge: "Nothing to compare right now",
  every_pair_taken: "Others are comparing right now",
  videos_being_made: "The videos are not ready yet",
  videos_missing: "The videos are missing",
  quota_reached: "You have done all your comparisons",
  study_full: "This study has enough answers",
  study_closed: "This study is closed",
  banned: "You cannot judge here",
};

/**
 * @typedef {object} Match
 * @property {string | null} match
 * @property {string} task
 * @property {string} title
 * @property {string} [goal]
 * @property {string | null} seat of a game of several players, whose player is compared
 * @property {boolean} segments whether the videos are a few seconds of any two games
 * @property {number} frame_rate_hz
 * @property {import("./form.js").Question[]} questions
 * @property {{video: string}} left
 * @property {{video: string}} right
 * @property {number} min_reason_chars
 * @property {number} min_viewing_s
 * @property {number} min_watched_share
 * @property {number} elapsed_s
 * @property {number} answered
 * @property {number | null} wanted
 * @property {string | null} study
 * @property {{video: string, caption: string}[]} examples
 * @property {any} draft
 * @property {"open" | "released" | "answered"} [state]
 */

class JudgePage {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.task = root.dataset.task ?? "";
    this.study = root.dataset.study ?? "";
    this.isPreview = root.dataset.preview !== undefined;
    /** @type {Match | null} */
    this.match = null;
    this.answered = 0;
    this.unsaved = false;
    this.savedPlayed = 0;
    this.opensAt = 0;
    this.sending = false;
    this.watchedEnough = false;
    this.saveTimer = 0;
    this.form = new QuestionForm(root, { onInput: () => this.#saveDraft(), onSubmit: () => this.#submit() });
    /** @type {HTMLInputElement} */
    this.scrub = need(root, "[data-scrub]");
    /** @type {HTMLSelectElement} */
    this.speed = need(root, "[data-speed]");
    /** @type {HTMLButtonElement} */
    this.button = need(root, "[data-submit]");
    this.buttonWords = this.button.innerHTML;
    /** @type {HTMLDialogElement} */
    this.ask = need(document, "[data-ask]");
    this.videos = new VideoPair(need(root, '[data-video="left"]'), need(root, '[data-video="right"]'), () => this.#controls());
    this.viewing = new Viewing(() => 0);
    this.#listen();
    setInterval(() => this.#heartbeat(), HEARTBEAT_MS);
    setInterval(() => this.#countdown(), 250);
    this.#begin();
  }

  // --- matches ------------------------------------------------------------------------------------------------------

  /** Go on with the match a draft was written for, as late as it may be; else ask for one. */
  async #begin() {
    this.#show("loading");
    const match = this.isPreview ? null : await this.#drafted();
    if (!match) return this.next();
    this.#open(match);
    this.#heartbeat(); // it may have gone back in the meantime
  }

  /**
   * The first match with a draft that can still be answered; drafts of other matches are deleted.
   * @returns {Promise<Match | null>}
   */
  async #drafted() {
    for (const id of kept()) {
      try {
        const match = await api(`/api/judge/matches/${encodeURIComponent(id)}`);
        if (match.state === "answered") forget(id);
        else if ((!this.task || match.task === this.task) && (match.study ?? "") === this.study) return match;
      } catch (error) {
        // The match belongs to nobody or to another visitor. Without a reply of the server the draft waits.
        if (error instanceof ApiError && error.status < 500) forget(id);
      }
    }
    return null;
  }

  async next() {
    this.#show("loading");
    try {
      if (this.isPreview) {
        const query = new URLSearchParams({ ...(this.task && { task: this.task }), ...(this.study && { study: this.study }) });
        this.#open(await api(`/api/judge/preview?${query}`));
      } else this.#open(await api("/api/judge/matches", this.task ? { task: this.task } : {}));
    } catch (error) {
      if (error instanceof ApiError && error.body.next) return location.assign(error.body.next);
      this.#nothing(error instanceof ApiError ? error : null);
    }
  }

  /** Say why there is no match. @param {ApiError | null} error */
  #nothing(error) {
    this.match = null;
    this.#show("empty");
    const refused = error !== null && error.status < 500;
    const code = /** @type {keyof typeof NOT_NOW} */ (error?.body.error ?? "nothing_to_judge");
    need(this.root, "[data-empty-title]").textContent = refused ? (NOT_NOW[code] ?? "That did not work") : "The server cannot be reached";
    need(this.root, "[data-empty-message]").textContent = error ? error.message.split("\n")[0] : "Is it still running?";
    const wait = { videos_being_made: VIDEOS_MADE_AGAIN_MS, every_pair_taken: PAIR_FREE_AGAIN_MS }[/** @type {string} */ (code)];
    if (wait) setTimeout(() => this.root.dataset.state === "empty" && this.next(), wait);
    const isEmpty = refused && code === "nothing_to_judge" && !this.study;
    for (const help of this.root.querySelectorAll("[data-empty-help]")) if (help instanceof HTMLElement) help.hidden = !isEmpty;
  }

  /** @param {Match} match */
  #open(match) {
    this.match = match;
    const servedAt = performance.now() - 1000 * match.elapsed_s;
    this.opensAt = servedAt + 1000 * match.min_viewing_s;
    this.viewing = new Viewing(() => (performance.now() - servedAt) / 1000);
    need(this.root, "[data-title]").textContent = match.title;
    need(this.root, "[data-goal]").textContent = match.goal ?? "";
    const seat = need(this.root, "[data-seat]");
    seat.hidden = !match.seat;
    seat.textContent = match.seat ? seatWords(match.seat) : "";
    this.answered = match.answered;
    this.#progress();
    this.#showExamples(match.examples);
    need(this.root, "[data-alike]").textContent = match.segments ? "same task, a few seconds of two games" : "same task, same start";
    need(this.root, "[data-headline]").textContent = match.segments ? "Which few seconds are better?" : "Which player did better?";
    need(this.root, "[data-na-key]").hidden = !match.segments;
    need(this.root, "[data-yes-no]").hidden = !match.questions.some(({ kind }) => kind === "direct");
    this.videos.loops = match.segments;
    this.form.open(match.questions, match.min_reason_chars, match.segments);
    this.unsaved = false;
    this.#restoreDraft(match);
    this.savedPlayed = this.viewing.played;
    this.watchedEnough = false;
    this.#countdown();
    this.videos.open(match.left.video, match.right.video, match.frame_rate_hz, this.viewing);
    this.#show("match");
  }

  #progress() {
    const { answered } = this;
    const wanted = this.match?.wanted;
    const count = `${answered} comparison${answered === 1 ? "" : "s"} answered, thank you`;
    const place = wanted ? `${Math.min(wanted, answered + 1)} of ${wanted}` : "";
    need(document, "[data-progress]").textContent = place || (answered ? count : "");
  }

  /** @param {{video: string, caption: string}[]} examples */
  #showExamples(examples) {
    const box = need(this.root, "[data-examples]");
    box.hidden = !examples.length;
    const list = need(box, "[data-example-list]");
    const shown = JSON.stringify(examples);
    if (list.dataset.shown === shown) return; // one may be playing
    list.dataset.shown = shown;
    list.replaceChildren();
    for (const { video, caption } of examples) {
      const figure = list.appendChild(document.createElement("figure"));
      const player = figure.appendChild(document.createElement("video"));
      Object.assign(player, { src: video, controls: true, muted: true, playsInline: true, preload: "none" });
      figure.appendChild(document.createElement("figcaption")).textContent = caption;
    }
  }

  /** A heartbeat, with what was filled in and watched since the last one. */
  async #heartbeat() {
    if (!this.match?.match || document.hidden) return;
    clearTimeout(this.saveTimer);
    const { match } = this.match;
    const body = this.#hasNews ? { draft: this.#draft() } : {};
    this.unsaved = false;
    this.savedPlayed = this.viewing.played;
    try {
      const { state } = await api(`/api/judge/matches/${match}/heartbeat`, body);
      // The match can still be answered, unless a player has withdrawn their agreement.
      if (state === "released") await api(`/api/judge/matches/${match}`);
    } catch (error) {
      if (error instanceof ApiError && error.body.error === "withdrawn") return this.#withdrawn(match);
      // An answer is accepted without it; the next one may get through, with the draft.
      if (this.match?.match === match && body.draft) this.unsaved = true;
    }
  }

  /** A player has taken back that this game may be compared: it goes, with what was written. @param {string} match */
  async #withdrawn(match) {
    forget(match);
    if (this.match?.match !== match || this.sending) return;
    this.unsaved = false;
    clearTimeout(this.saveTimer);
    await this.next();
    const next = this.match ? " Here is another pair." : "";
    this.#notice(`A player of one of the two games does not want it to be compared any more.${next}`);
    this.#toTop();
  }

  /** Whether something was filled in or watched that the server does not know. */
  get #hasNews() {
    return this.unsaved || this.viewing.played !== this.savedPlayed;
  }

  /** The page may be gone in a moment: send what there is, without waiting for an answer. */
  #lastWords() {
    if (!this.match?.match || !this.#hasNews || this.sending) return;
    let body = JSON.stringify({ draft: this.#draft() });
    if (body.length > LAST_WORDS_BYTES) body = JSON.stringify({ draft: { ...this.#draft(), viewing: undefined } });
    const headers = { ...partHeaders(), "Content-Type": "application/json" };
    fetch(`/api/judge/matches/${this.match.match}/heartbeat`, { method: "POST", keepalive: true, headers, body }).then(
      () => {},
      () => {},
    );
  }

  /** Seconds of each video still to be played before an answer counts. @returns {{left: number, right: number}} */
  get #toWatch() {
    if (!this.match || this.isPreview) return { left: 0, right: 0 };
    return stillToWatch(this.viewing.shares(this.videos.lengths), this.videos.lengths, this.match.min_watched_share);
  }

  /** How much is still to be watched, below the videos and to those who listen: at the beginning, and when it is enough. */
  #showWatching() {
    const { left, right } = this.#toWatch;
    const share = this.match?.min_watched_share ?? 0;
    const words = (/** @type {number} */ seconds) => (seconds === Infinity ? "loading" : seconds > 0 ? `${Math.ceil(seconds)} s more` : "enough");
    const box = need(this.root, "[data-watching]");
    box.hidden = share <= 0 || this.isPreview;
    if (box.hidden) return;
    const done = left <= 0 && right <= 0;
    need(box, "[data-watching-text]").textContent = done
      ? "Watched enough to answer."
      : `Play at least ${Math.round(100 * share)} % of each video before you submit. Left: ${words(left)}. Right: ${words(right)}.`;
    const shares = this.viewing.shares(this.videos.lengths);
    for (const side of /** @type {const} */ (["left", "right"])) {
      const bar = /** @type {HTMLProgressElement} */ (need(box, `[data-watched="${side}"]`));
      bar.value = Math.min(1, shares[side] / share);
    }
    if (done && !this.watchedEnough) this.announce("You have watched enough of both videos; you can submit your answer.");
    this.watchedEnough = done;
    this.root.dataset.watched = done ? "enough" : "";
  }

  /** Whether an answer is accepted by now, on the button. */
  #countdown() {
    if (!this.match || this.sending) return;
    this.#showWatching();
    const seconds = (this.opensAt - performance.now()) / 1000;
    const toWatch = this.#toWatch;
    const isLoading = toWatch.left === Infinity || toWatch.right === Infinity;
    const words = this.isPreview ? "Preview: nothing is sent" : isLoading ? "Loading videos ..." : waitingWords(seconds, toWatch);
    this.button.disabled = Boolean(words);
    if (words) this.button.textContent = words;
    else if (this.button.innerHTML !== this.buttonWords) this.button.innerHTML = this.buttonWords;
  }

  /** Give the pair back without an answer. */
  async #skip() {
    const { match } = this;
    if (!match?.match || this.sending) return;
    this.sending = true;
    try {
      await api(`/api/judge/matches/${match.match}/release`, {});
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) return this.form.say("The server cannot be reached; try again in a moment.");
    } finally {
      this.sending = false;
    }
    await this.#leave(match.match);
    this.announce("Skipped. Here is another pair.");
  }

  /** Go on with another pair; nothing of this one is kept here. @param {string} match its id */
  async #leave(match) {
    this.unsaved = false;
    clearTimeout(this.saveTimer);
    forget(match);
    need(this.root, "[data-thanks]").replaceChildren();
    await this.next();
    this.#toTop();
  }

  /** Say what was answered last, with a button that takes it back. @param {import("./drafts.js").Draft} draft @param {string | null} outcome */
  #offerUndo(draft, outcome) {
    const said = { left: "the left player did better", right: "the right player did better", draw: "a draw", na: "can't tell" };
    this.#notice(`Saved. Your last answer: ${said[/** @type {keyof typeof said} */ (outcome)] ?? ""}.`);
    const button = document.createElement("button");
    button.className = "btn small-btn";
    button.type = "button";
    button.textContent = "Undo and change it";
    button.addEventListener("click", () => this.#undo(draft));
    need(this.root, "[data-thanks] .notice").append(" ", button);
  }

  /** @param {import("./drafts.js").Draft} draft what was answered */
  async #undo(draft) {
    if (this.sending) return;
    this.sending = true;
    try {
      const match = await api("/api/judge/undo", {});
      keep(match.match, { ...draft, saved_at: Date.now() });
      need(this.root, "[data-thanks]").replaceChildren();
      this.#open(match);
      this.#toTop();
      this.announce("Your last answer is taken back. Change it and submit again.");
    } catch (error) {
      this.form.say(error instanceof ApiError ? error.message : "The server cannot be reached; try again in a moment.");
    } finally {
      this.sending = false;
    }
  }

  /** Send what is wrong with the pair, and go on with another one. */
  async #report() {
    const { match } = this;
    const form = /** @type {HTMLFormElement} */ (need(this.ask, "form"));
    const fields = new FormData(form);
    const problem = { kind: String(fields.get("kind") ?? ""), words: String(fields.get("words") ?? "").trim() };
    const complain = need(this.ask, "[data-ask-error]");
    complain.hidden = true;
    if (!match?.match) return this.ask.close();
    /** @param {string} words */
    const say = (words) => {
      complain.textContent = words;
      complain.hidden = false;
    };
    if (!problem.kind) return say("Please choose what is wrong.");
    if (problem.kind === "other" && !problem.words) return say("Please say in a few words what is wrong.");
    try {
      await api(`/api/judge/matches/${match.match}/release`, { problem });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) return say("The server cannot be reached; try again in a moment.");
      if (error.body.errors?.length) return say(error.body.errors[0].message);
    }
    this.ask.close();
    form.reset();
    await this.#leave(match.match);
    this.#thank(this.match ? "Here is another pair." : "");
  }

  async #submit() {
    const { match } = this;
    if (!match?.match || this.sending) return;
    const toWatch = this.#toWatch;
    if (toWatch.left > 0 || toWatch.right > 0) {
      this.announce(need(this.root, "[data-watching-text]").textContent ?? "");
      return;
    }
    if (performance.now() < this.opensAt) {
      this.announce("Please watch both videos first; you can submit in a moment.");
      return;
    }
    const problems = this.form.missing;
    this.form.showErrors(problems);
    if (problems.length) {
      this.announce(`${problems.length} field${problems.length === 1 ? "" : "s"} to complete.`);
      return;
    }
    this.sending = true;
    this.button.disabled = true;
    clearTimeout(this.saveTimer);
    this.videos.pause();
    try {
      const viewing = this.viewing.report(this.videos.lengths);
      const [draft, { outcome }] = [this.#draft(), this.form.answer];
      const accepted = await api(`/api/judge/matches/${match.match}/answer`, { ...this.form.answer, viewing });
      this.unsaved = false;
      forget(match.match);
      this.answered = accepted.answered;
      if (accepted.next) return location.assign(accepted.next);
      this.announce("Saved. Here is the next pair.");
      await this.next();
      this.#offerUndo(draft, outcome);
      this.#progress();
      this.#toTop();
    } catch (error) {
      await this.#refused(match.match, error);
    } finally {
      this.sending = false;
      this.#countdown();
    }
  }

  /**
   * Say why an answer was refused. The draft is deleted only if the answer can never be accepted.
   * @param {string} match its id
   * @param {unknown} error
   */
  async #refused(match, error) {
    if (!(error instanceof ApiError)) return this.form.say("The server cannot be reached. Your answer is kept here; try again in a moment.");
    const { body } = error;
    if (body.error === "already_answered" || body.error === "superseded") {
      this.unsaved = false;
      forget(match);
      await this.next();
      return this.form.say(`${error.message.split("\n")[0]} This is another pair.`);
    }
    if (body.next) return location.assign(body.next);
    if (body.errors?.length) return this.form.showErrors(body.errors);
    if (body.error === "too_early") this.opensAt = performance.now() + 1000 * (body.retry_after_s ?? 5);
    this.form.say(error.message);
  }

  // --- drafts -------------------------------------------------------------------------------------------------------

  #draft() {
    return { ...this.form.filled, viewing: this.viewing.report(this.videos.lengths), saved_at: Date.now() };
  }

  /** Here at once, at the server when the typing rests. */
  #saveDraft() {
    if (!this.match?.match) return;
    this.unsaved = true;
    clearTimeout(this.saveTimer);
    this.saveTimer = setTimeout(() => this.#heartbeat(), SAVE_AFTER_MS);
    need(this.root, "[data-saved]").textContent = "saved as you type";
    keep(this.match.match, this.#draft());
  }

  /** @param {Match} match */
  #restoreDraft(match) {
    if (!match.match) return;
    need(this.root, "[data-saved]").textContent = "saved as you type";
    const here = recall(match.match);
    const there = asDraft(match.draft);
    const draft = newerDraft(here, there);
    if (!draft) return;
    this.viewing.resume((there ?? draft).viewing);
    this.form.fill(draft);
    if (draft.reason || draft.chosen.length) need(this.root, "[data-saved]").textContent = "your draft is restored";
    this.unsaved = draft === here && there === null;
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
      need(this.root, `[data-length="${side}"]`).textContent = length ? lasting(length) : "";
      const state = videos.state[side];
      const isWaiting = state === "loading" || (state === "stalled" && (videos.playing || !length));
      need(this.root, `[data-waiting="${side}"]`).hidden = !isWaiting;
      need(this.root, `[data-failed="${side}"]`).hidden = state !== "failed";
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
    for (const side of /** @type {const} */ (["left", "right"])) {
      need(root, `[data-again="${side}"]`).addEventListener("click", (event) => {
        event.stopPropagation();
        videos.retry(side);
      });
    }
    addEventListener("visibilitychange", () => {
      if (!this.match?.match) return;
      this.viewing.note(document.hidden ? "hidden" : "visible", videos.position);
      if (document.hidden) this.#lastWords();
      else this.#heartbeat();
    });
    addEventListener("pagehide", () => this.#lastWords());
    need(root, "[data-report]").addEventListener("click", () => this.ask.showModal());
    root.querySelector("[data-skip]")?.addEventListener("click", () => this.#skip());
    need(this.ask, "[data-ask-no]").addEventListener("click", () => this.ask.close());
    need(this.ask, "form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#report();
    });
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
    // By the letter that the key writes (Y and Z change places in some countries), or by the key's position where it writes no Latin letter.
    const letter = event.repeat ? "" : /^[a-z]$/i.test(event.key) ? event.key.toUpperCase() : event.code.replace("Key", "");
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
    else if (letter === "S" && !this.study) this.#skip();
    else if (letter === "Y" || letter === "N") this.#direct(letter === "Y" ? "yes" : "no");
    else if (["1", "2", "3"].includes(event.key)) this.#overall(["left", "draw", "right"][Number(event.key) - 1]);
    else if (event.key === "4" && this.match.segments) this.#overall("na");
    else return;
    event.preventDefault();
  }

  /** @param {number} direction */
  #changeSpeed(direction) {
    const place = SPEEDS.indexOf(this.videos.speed) + direction;
    if (SPEEDS[place]) this.videos.setSpeed(SPEEDS[place]);
  }

  /** Answer the marked question, which asks for yes or no. @param {"yes" | "no"} value */
  #direct(value) {
    const group = this.form.marked;
    if (!group) return;
    this.form.choose(group.name, value);
    this.#saveDraft();
    this.announce(`${group.label}: ${value}`);
  }

  /** @param {string} outcome */
  #overall(outcome) {
    const question = this.match?.questions.find(({ kind }) => kind === "overall");
    if (!question) return;
    this.form.choose(question.id, outcome);
    this.#saveDraft();
    this.announce(`${question.text} ${outcome === "na" ? "can't tell" : outcome}`);
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
    need(this.root, this.match ? "[data-headline]" : "[data-empty-title]").focus({ preventScroll: true });
  }

  /** Thank for a report and say what becomes of it, until the next answer. @param {string} next */
  #thank(next) {
    const words = "Thank you for your report. It is kept with this pair, and the people who run the server read it.";
    this.#notice(`${words} Nothing else is needed from you. ${next}`.trim());
  }

  /** Say something above the page, until the next answer. @param {string} words */
  #notice(words) {
    const notice = document.createElement("p");
    notice.className = "notice";
    notice.textContent = words;
    need(this.root, "[data-thanks]").replaceChildren(notice);
  }

  /** For people who listen to the page. @param {string} text */
  announce(text) {
    need(this.root, "[data-announce]").textContent = text;
  }
}

new JudgePage(need(document, "#judge"));

// Progress of a visit to a study of play: the bars above the game. They follow a running game; after it the server
// decides how it counts.

import { api, need } from "./page.js";
import { bonusCents, live, running } from "./visit_rules.js";

/**
 * @typedef {object} Visit
 * @property {string[]} games episodes that count
 * @property {import("./visit_rules.js").Requirement[]} requirements
 * @property {import("./visit_rules.js").Totals} totals of the games that count
 * @property {import("./visit_rules.js").Bonus | null} bonus
 * @property {boolean} is_complete
 * @property {boolean} is_over
 * @property {boolean} is_playing whether a game of theirs goes on, or is being saved
 * @property {boolean} is_paid
 * @property {number} bonus_cents
 * @property {number} max_bonus_cents
 * @property {boolean} has_waited whether they have waited long enough for a partner, and nobody came
 * @property {boolean} has_questions whether they are asked about a partner before the next game
 * @property {string} leave
 * @property {string} end
 */

const ASK_AGAIN_MS = 400;
/** A game that ended is in the catalogue within a moment; */
const QUICK_QUESTIONS = 25;
/** on a busy server it takes longer: then it is asked for this often, */
const MOST_QUESTIONS = QUICK_QUESTIONS + 130;
/** this far apart. */
const PATIENT_MS = 5000;
const SAVING = "Your last game is not over (an agent may play on for you), or it is being saved. What you did is kept, and will be counted.";
const END_FIRST = "You have reached everything that is asked. Your game must end first: choose Finish below it, or play on.";

export class VisitPanel {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {HTMLButtonElement} */
    this.done = need(root, "[data-done]");
    this.texts = [...root.querySelectorAll("[data-goal-text]")];
    this.bars = [...root.querySelectorAll("[data-goal]")];
    this.isPlaying = false;
    /** @type {Visit} */
    this.visit = JSON.parse(root.dataset.facts ?? "{}");
    this.show(this.visit);
    document.addEventListener("interplay:state", (event) => this.#onState(event));
    document.addEventListener("interplay:hud", (event) => this.#onHud(event));
    document.addEventListener("interplay:ended", (event) => this.#onEnded(event));
    document.addEventListener("interplay:unplayed", (event) => this.#onUnplayed(event));
    // A player who left a game returns to it: the others, or an agent, may still play.
    if (this.visit.is_playing) this.refresh((visit) => !visit.is_playing);
  }

  /** While a game goes on nobody finishes by mistake. @param {Event} event */
  #onState(event) {
    const state = event instanceof CustomEvent ? event.detail.state : "";
    this.isPlaying = state === "playing" || state === "countdown" || state === "paused";
    this.#allow();
  }

  /** @param {Event} event */
  #onHud(event) {
    if (!(event instanceof CustomEvent)) return;
    const game = running(event.detail.hud, event.detail.rate_hz);
    const { requirements, totals, bonus } = this.visit;
    const goals = requirements.map((one) => live(one, totals, game));
    goals.forEach((one, place) => this.#fill(place, one));
    const missing = goals.findIndex((one) => one.share < 1);
    const isReached = missing < 0;
    if (this.isPlaying) this.#note(isReached ? END_FIRST : "");
    const said = isReached ? "You have reached everything that is asked." : `The study asks for more: ${requirements[missing].label}, ${goals[missing].text}. You can play again.`;
    for (const ask of document.querySelectorAll("[data-ask-visit]")) ask.textContent = said;
    if (bonus) this.#showBonus(bonusCents(bonus, totals, game));
  }

  /** @param {Event} event */
  #onEnded(event) {
    this.isPlaying = false;
    const episode = event instanceof CustomEvent ? event.detail.episode : null;
    this.refresh((visit) => episode === null || visit.games.includes(episode));
  }

  /** Who has waited long enough for a partner is asked whether to leave. @param {Event} event */
  #onUnplayed(event) {
    this.isPlaying = false;
    if (event instanceof CustomEvent && event.detail.outcome === "no_partner") this.refresh((visit) => visit.has_waited);
  }

  /** Ask how far the visit is, until it knows of what has just been. @param {(visit: Visit) => boolean} isKnown @param {number} [questions] */
  async refresh(isKnown, questions = MOST_QUESTIONS) {
    try {
      /** @type {Visit} */
      const visit = await api(this.root.dataset.progress ?? "");
      if (isKnown(visit)) return this.show(visit);
    } catch {
      // The server may be restarting; recorded games are safe.
    }
    const asked = MOST_QUESTIONS - questions + 1;
    if (asked >= QUICK_QUESTIONS) this.#note(SAVING);
    if (questions > 1) setTimeout(() => this.refresh(isKnown, questions - 1), asked < QUICK_QUESTIONS ? ASK_AGAIN_MS : PATIENT_MS);
  }

  /** @param {Visit} visit */
  show(visit) {
    const hasWaited = visit.has_waited && !this.visit.has_waited;
    this.visit = visit;
    visit.requirements.forEach((one, place) => this.#fill(place, one));
    need(this.root, "[data-games]").textContent = String(visit.games.length);
    need(this.root, "[data-games-word]").textContent = visit.games.length === 1 ? "game" : "games";
    this.#showBonus(visit.bonus_cents);
    const more = visit.is_paid && visit.max_bonus_cents ? ", or play on for the bonus" : "";
    const reached = `You have reached everything that is asked. You may stop now${more}.`;
    const questions = visit.has_questions ? "A few questions about your partner come next." : "";
    const saving = visit.is_playing && !this.isPlaying ? SAVING : "";
    this.#note(questions || (visit.is_over ? "These were all the games." : saving || (visit.is_complete ? reached : "")));
    const next = document.querySelector("[data-again]");
    if (next && questions) next.textContent = "To the questions";
    this.#allow();
    if (visit.is_over && !questions) location.assign(visit.end);
    else if (hasWaited) location.assign(visit.leave);
  }

  /** @param {string} text */
  #note(text) {
    const note = need(this.root, "[data-visit-note]");
    if (note.textContent !== text) note.textContent = text;
  }

  /** @param {number} place @param {{text: string, share: number}} goal */
  #fill(place, goal) {
    const bar = this.bars[place];
    if (!(bar instanceof HTMLElement)) return;
    this.texts[place].textContent = goal.text;
    bar.style.transform = `scaleX(${goal.share})`;
    bar.parentElement?.classList.toggle("full", goal.share >= 1);
  }

  /** @param {number} cents */
  #showBonus(cents) {
    const bonus = this.root.querySelector("[data-bonus]");
    if (bonus) bonus.textContent = (cents / 100).toFixed(2);
  }

  #allow() {
    this.done.disabled = !this.visit.is_complete || this.isPlaying;
    this.done.classList.toggle("go", this.visit.is_complete);
  }
}

const root = document.querySelector("[data-visit]");
if (root instanceof HTMLElement) new VisitPanel(root);

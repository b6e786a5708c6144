// Waiting for other players to join: how long it takes, the player's choices after a while, and a notification when somebody joins.

import { need } from "./page.js";
import { clock } from "./timeline.js";
import { isAwaited, isOpen } from "./waiting.js";

/** @typedef {import("./waiting.js").SeatFacts} SeatFacts */

/**
 * The server's facts about waiting.
 * @typedef {object} LobbyFacts
 * @property {number} waited_s by this player, when it was said
 * @property {number | null} choose_after_s when there is a choice; null: never
 * @property {boolean} has_partner whether an agent may be chosen then
 * @property {"person" | "start"} missing whether a seat is open, or somebody who is there has not said start
 * @property {string} [invitation] names this game to friends
 * @property {[number, boolean][]} waits of others at this hour: seconds, and whether a person came
 */

/** From fewer waits nothing is told. */
const LEAST_WAITS = 20, LEAST_LEFT = 5;
const SOUND_KEY = "interplay.bell";
const BELL_HZ = [880, 1108.7];
const TITLE = "Your game begins";
const BLINK_MS = 1000;

/**
 * The usual waiting time of players who have already waited this long: shorter waits say nothing about the rest.
 * @param {[number, boolean][]} waits
 * @param {number} waitedS
 * @returns {string} empty where too little is known
 */
export function usually(waits, waitedS) {
  const longer = waits.filter(([seconds]) => seconds > waitedS);
  if (waits.length < LEAST_WAITS || longer.length < LEAST_LEFT) return "";
  const found = longer.filter(([, came]) => came).map(([seconds]) => seconds - waitedS);
  if (found.length * 2 < longer.length) return "At this hour, most people who waited this long found nobody.";
  // The median of everybody who waited this long; players for whom nobody came are placed after all others.
  const middle = found.sort((one, other) => one - other)[Math.floor(longer.length / 2)] ?? found[found.length - 1];
  const minutes = Math.ceil(middle / 60);
  return `At this hour, somebody usually comes within ${minutes === 1 ? "a minute" : `${minutes} minutes`}.`;
}

/**
 * The text for a waiting player.
 * @param {LobbyFacts} facts
 * @param {number} waitedS
 * @param {boolean} [isPaid] whether who leaves after a while is paid for waiting
 * @param {boolean} [isNow] whether one may play with an agent at once, in a game of its own
 * @returns {{time: string, lines: string[], hasChoice: boolean, mayLeave: boolean}}
 */
export function waitingWords(facts, waitedS, isPaid = false, isNow = false) {
  const after = facts.choose_after_s ?? Infinity;
  const mayLeave = waitedS >= after;
  const choices = [...(facts.has_partner ? ["play with an agent"] : []), ...(isPaid ? ["leave"] : [])];
  const isOpen = facts.missing === "person";
  const lines = isOpen ? [usually(facts.waits, waitedS)] : [];
  const found = isOpen ? "Nobody has come yet." : "The other player is not ready.";
  if (mayLeave) lines.push(`${found} You may ${choices.join(", ") || "leave"}, or go on waiting.`);
  else if (isNow) lines.push("You may wait for a person, or play with an agent now.");
  else if (after < Infinity && choices.length) lines.push(`At ${clock(Math.ceil(after))} you may choose to ${choices.join(" or to ")}.`);
  return { time: clock(Math.floor(waitedS)), lines: lines.filter(Boolean), hasChoice: isNow || (mayLeave && facts.has_partner), mayLeave };
}

export class Lobby {
  /**
   * @param {Element} root the player's page
   * @param {(isInTime: boolean) => void} choose play with an agent, who may have the open seat by now or not yet
   * @param {() => void} [leave] wait no longer
   * @param {boolean} [isNow] whether one may play with an agent at once, in a game of its own
   */
  constructor(root, choose, leave = () => {}, isNow = false) {
    this.isNow = isNow;
    this.box = /** @type {HTMLElement} */ (need(root, "[data-lobby]"));
    /** @type {LobbyFacts | null} */
    this.facts = null;
    this.saidAt = 0;
    /** @type {ReturnType<typeof setInterval> | null} */
    this.timer = null;
    this.isOpen = false;
    /** @type {ReturnType<typeof setInterval> | null} */
    this.blinking = null;
    this.title = document.title;
    /** @type {AudioContext | null} */
    this.audio = null;
    this.sound = /** @type {HTMLInputElement} */ (need(this.box, "[data-lobby-sound]"));
    this.sound.checked = localStorage.getItem(SOUND_KEY) !== "off";
    this.sound.addEventListener("change", () => {
      localStorage.setItem(SOUND_KEY, this.sound.checked ? "on" : "off");
      if (this.sound.checked) this.#ring();
    });
    need(this.box, "[data-lobby-agent]").addEventListener("click", () => choose(this.#words.mayLeave && this.facts?.has_partner === true));
    /** @type {HTMLElement | null} */
    this.inviting = this.box.querySelector("[data-lobby-invite]");
    this.inviting?.addEventListener("click", () => this.#invite());
    /** @type {HTMLElement | null} of who is paid for waiting */
    this.leaving = this.box.querySelector("[data-lobby-leave]");
    this.leaving?.addEventListener("click", leave);
    document.addEventListener("visibilitychange", () => document.hidden || this.#stopBlinking());
  }

  /** @param {LobbyFacts} facts */
  onMessage(facts) {
    this.facts = facts;
    this.saidAt = performance.now();
    if (this.timer !== null) this.#show();
  }

  /**
   * What this player waits for: that others join, or that they are ready.
   * @param {SeatFacts[]} others nobody where they wait no longer
   * @param {boolean} somebodyCame call the player, who may look at something else, if the last seat is taken now
   */
  waitFor(others, somebodyCame) {
    const wasOpen = this.isOpen;
    this.isOpen = isOpen(others);
    if (wasOpen && !this.isOpen && somebodyCame) this.#call();
    if (!this.facts || !isAwaited(others)) {
      if (this.timer !== null) clearInterval(this.timer);
      this.timer = null;
      this.box.hidden = true;
      return;
    }
    this.box.hidden = false;
    this.timer ??= setInterval(() => this.#show(), 1000);
    this.#show();
  }

  get #words() {
    const facts = /** @type {LobbyFacts} */ (this.facts);
    return waitingWords(facts, facts.waited_s + (performance.now() - this.saidAt) / 1000, this.leaving !== null, this.isNow);
  }

  #show() {
    const words = this.#words;
    need(this.box, "[data-lobby-time]").textContent = words.time;
    const lines = need(this.box, "[data-lobby-lines]");
    const text = words.lines.join(" ");
    if (lines.textContent !== text) lines.textContent = text; // it is read aloud when it changes
    const agent = /** @type {HTMLElement} */ (need(this.box, "[data-lobby-agent]"));
    agent.hidden = !words.hasChoice;
    if (this.leaving) this.leaving.hidden = !words.mayLeave;
    if (this.inviting) this.inviting.hidden = !this.facts?.invitation || this.facts.missing !== "person";
  }

  /** Share the address of this game, as phones do, or copy it. */
  async #invite() {
    const url = `${location.origin}${location.pathname}?invitation=${this.facts?.invitation}`;
    const button = /** @type {HTMLElement} */ (this.inviting);
    try {
      if (navigator.share && matchMedia("(pointer: coarse)").matches) return await navigator.share({ url });
      await navigator.clipboard.writeText(url);
      button.textContent = "The link is copied";
    } catch {
      button.replaceWith(url); // it may be copied by hand
    }
  }

  #call() {
    if (this.sound.checked) this.#ring();
    this.#stopBlinking();
    if (!document.hidden) return;
    this.title = document.title;
    let isOn = false;
    this.blinking = setInterval(() => (document.title = (isOn = !isOn) ? `● ${TITLE}` : this.title), BLINK_MS);
    document.title = `● ${TITLE}`;
  }

  #stopBlinking() {
    if (this.blinking === null) return;
    clearInterval(this.blinking);
    this.blinking = null;
    document.title = this.title;
  }

  /** A bell of two tones. Browsers allow it to who has pressed something on the page. */
  #ring() {
    const audio = (this.audio ??= new AudioContext());
    audio.resume().catch(() => {});
    BELL_HZ.forEach((pitch, number) => {
      const [tone, volume] = [audio.createOscillator(), audio.createGain()];
      const at = audio.currentTime + 0.25 * number;
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0.2, at);
      volume.gain.exponentialRampToValueAtTime(0.001, at + 0.9);
      tone.connect(volume).connect(audio.destination);
      tone.start(at);
      tone.stop(at + 1);
    });
  }
}

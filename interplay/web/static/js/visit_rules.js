// Results of a visit to a study of play while a game runs: the server's sums plus those of the running game.
// The server computes the payment by itself, without rounding, when the visit ends.

/**
 * @typedef {object} Requirement
 * @property {string} label
 * @property {string} text
 * @property {number} share from 0 to 1
 * @property {number} achieved by the games that are over
 * @property {string} statistic
 * @property {string} out_of empty where the statistic itself counts
 * @property {number} required
 * @property {"visit" | "game"} scope
 */
/** @typedef {Record<string, number>} Totals statistic -> number */
/**
 * @typedef {object} Bonus
 * @property {"sliding" | "linear"} kind
 * @property {number} max_cents
 * @property {number} full_at
 * @property {string} [correct]
 * @property {string} [out_of]
 * @property {string} [statistic]
 */

/** Statistics in seconds. */
const DURATIONS = new Set(["time", "active_time"]);
/** Less than any share of a cent that can be meant. */
const ROUNDING = 1e-9;

/**
 * The statistics of the running game; if an agent has acted in this seat for a while, only those of the player.
 * @param {{[field: string]: any}} hud as the server sent it
 * @param {number} rateHz of the task
 * @returns {Totals}
 */
export function running(hud, rateHz) {
  /** @type {Totals} */
  const found = {};
  const mine = hud.own ?? hud;
  for (const [name, value] of Object.entries({ ...mine.statistics, ...mine.counts })) if (typeof value === "number") found[name] = value;
  return { ...found, time: mine.step / rateHz, score: mine.score };
}

/** @param {Totals} totals @param {Totals} game @param {string} name */
const sum = (totals, game, name) => (totals[name] ?? 0) + (game[name] ?? 0);

/**
 * The share of a requirement that is met.
 * @param {Requirement} one
 * @param {Totals} totals of the games that are over
 * @param {Totals} game that goes on
 */
export function achieved(one, totals, game) {
  const before = one.scope === "game" ? {} : totals;
  const whole = one.out_of ? sum(before, game, one.out_of) : 1;
  const now = whole > 0 ? sum(before, game, one.statistic) / whole : 0;
  return one.scope === "game" ? Math.max(one.achieved, now) : now;
}

/**
 * A value as people read it: `3:20`, `62 %` or `31`.
 * @param {Requirement} one
 * @param {number} value
 */
export function amount(one, value) {
  if (one.out_of) return `${Math.round(100 * value)} %`;
  if (DURATIONS.has(one.statistic)) return `${Math.floor(value / 60)}:${String(Math.floor(value % 60)).padStart(2, "0")}`;
  return (Math.round(10 * value) / 10).toLocaleString("en");
}

/**
 * A requirement with the running game in it.
 * @param {Requirement} one
 * @param {Totals} totals
 * @param {Totals} game
 */
export function live(one, totals, game) {
  const now = achieved(one, totals, game);
  return { text: `${amount(one, now)} of ${amount(one, one.required)}`, share: Math.min(1, Math.max(0, now / one.required)) };
}

/**
 * The bonus, in cents.
 * @param {Bonus} rule
 * @param {Totals} totals
 * @param {Totals} game
 */
export function bonusCents(rule, totals, game) {
  const whole = rule.out_of ? sum(totals, game, rule.out_of) : 0;
  const right = Math.min(whole, Math.max(0, sum(totals, game, rule.correct ?? "")));
  const share = whole > 0 ? right / whole : 0;
  const counted = rule.statistic ? Math.max(0, sum(totals, game, rule.statistic)) : right;
  const enough = Math.min(1, counted / rule.full_at);
  const part = rule.kind === "sliding" ? enough * (2 * share - 1) : rule.out_of ? Math.min(enough, share) : enough;
  return Math.max(0, Math.ceil(rule.max_cents * part - ROUNDING));
}

// Statistics of a game as people read them.

import { clock } from "./timeline.js";

/**
 * What a number means, as `interplay.statistics.Statistic` says it.
 * @typedef {object} StatisticFacts
 * @property {string} name
 * @property {string} title
 * @property {"int" | "float" | "duration"} kind
 * @property {string} unit
 * @property {"higher" | "lower" | null} better
 * @property {boolean} is_share a part of a whole, 0 to 1
 */

/** Shown large on the page already. */
const SHOWN_ELSEWHERE = "score";

/**
 * A value with its unit: `12 m`, `48 %`, `1:05`; a dash where it says nothing yet.
 * @param {StatisticFacts} statistic
 * @param {number | null | undefined} value
 */
export function readableValue(statistic, value) {
  if (value == null) return "–";
  if (statistic.is_share) return `${Math.round(100 * value)} %`;
  if (statistic.kind === "duration") return clock(Math.floor(value));
  const number = statistic.kind === "int" ? value : Math.round(10 * value) / 10;
  return statistic.unit ? `${number} ${statistic.unit}` : String(number);
}

/**
 * Fill a list with the values that are known; without any it is hidden.
 * @param {HTMLElement} box holds a `dl`
 * @param {StatisticFacts[]} statistics in the order of the list
 * @param {Record<string, number | null>} values by name; one that was left out of the game is not there
 */
export function showStatistics(box, statistics, values) {
  const shown = statistics.filter((one) => one.name !== SHOWN_ELSEWHERE && one.name in values);
  box.hidden = shown.length === 0;
  const list = box.querySelector("dl");
  if (!list) return;
  const rows = shown.map((one) => [one.title, readableValue(one, values[one.name])]);
  const told = JSON.stringify(rows);
  if (list.dataset.told === told) return; // four times a second: leave alone what is the same
  list.dataset.told = told;
  list.replaceChildren(
    ...rows.flatMap(([title, value]) => {
      const [name, number] = [document.createElement("dt"), document.createElement("dd")];
      name.textContent = title;
      number.textContent = value;
      return [name, number];
    }),
  );
}

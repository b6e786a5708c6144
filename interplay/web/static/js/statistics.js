// Statistics of a game as people read them.

import { clock } from "./timeline.js";

/**
 * The meaning of a number, as in `interplay.statistics.Statistic`.
 * @typedef {object} StatisticFacts
 * @property {string} name
 * @property {string} title
 * @property {string} description what it counts, in a sentence
 * @property {"int" | "float" | "duration"} kind
 * @property {string} unit
 * @property {"higher" | "lower" | null} better
 * @property {boolean} is_share a part of a whole, 0 to 1
 */

/** Values by name; one that was left out of the game is not there. @typedef {Record<string, number | null>} Values */
/** All games of a sitting. @typedef {{games: number, statistics: Values}} SittingFacts */

/** Shown large on the page already. */
const SHOWN_ELSEWHERE = "score";
/** A longer unit is a word, which the title says already. */
const MAX_SYMBOL = 2;

/** Halves go to the even number, so that 81.5 and 18.5 are 100 together, and as Python writes them. */
const percent = new Intl.NumberFormat("en", { maximumFractionDigits: 0, roundingMode: "halfEven" });

/**
 * A value with its unit: `12 m`, `48 %`, `1:05`; a dash where there is no value yet.
 * @param {StatisticFacts} statistic
 * @param {number | null | undefined} value
 */
export function readableValue(statistic, value) {
  if (value == null) return "–";
  if (statistic.is_share) return `${percent.format(100 * value)} %`;
  if (statistic.kind === "duration") return clock(Math.floor(value));
  const number = (statistic.kind === "int" ? value : Math.round(10 * value) / 10).toLocaleString("en");
  return statistic.unit.length > MAX_SYMBOL || !statistic.unit ? number : `${number} ${statistic.unit}`;
}

/**
 * The result of a task's outcome check in words.
 * @param {{[name: string]: boolean | number | string}} check empty where the task has none
 */
export function checkWords({ success, ...found }) {
  if (success === undefined) return "";
  const said = Object.entries(found).map(([name, value]) => `${name.replace(/^num_/, "").replaceAll("_", " ")}: ${value === true ? "yes" : value === false ? "no" : value}`);
  return `${success ? "You did the task." : "The task is not done."}${said.length ? ` The check found ${said.join(", ")}.` : ""}`;
}

/**
 * The rows of a table: a title, the value in this game, and if there were games before, the value of all games.
 * @param {StatisticFacts[]} statistics in the order of the rows
 * @param {Values} values
 * @param {SittingFacts | null} sitting
 */
export function rowsOf(statistics, values, sitting) {
  const shown = statistics.filter((one) => one.name in values && (sitting || one.name !== SHOWN_ELSEWHERE));
  const rows = shown.map((one) => [one.title, readableValue(one, values[one.name])]);
  if (!sitting) return rows;
  rows.forEach((row, place) => row.push(readableValue(shown[place], sitting.statistics[shown[place].name])));
  return [["", "This game", `All ${sitting.games} games`], ...rows];
}

/**
 * Fill a table with the known values; without values the table is hidden.
 * @param {HTMLElement} box holds a `table`
 * @param {StatisticFacts[]} statistics
 * @param {Values} values
 * @param {SittingFacts | null} sitting
 */
export function showStatistics(box, statistics, values, sitting) {
  const rows = rowsOf(statistics, values, sitting);
  box.hidden = rows.length === 0;
  const list = box.querySelector("table");
  if (!list) return;
  const told = JSON.stringify(rows);
  if (list.dataset.told === told) return; // four times a second: leave alone what is the same
  list.dataset.told = told;
  list.replaceChildren(
    ...rows.map((row) => {
      const line = document.createElement("tr");
      for (const [place, text] of row.entries()) {
        const cell = document.createElement(place === 0 || row[0] === "" ? "th" : "td");
        cell.scope = row[0] === "" ? "col" : "row";
        cell.textContent = text;
        const about = place === 0 ? statistics.find(({ title }) => title === text)?.description : "";
        if (about && box.dataset.explained !== undefined) {
          const words = document.createElement("small");
          words.textContent = about;
          cell.append(words);
        }
        line.append(cell);
      }
      return line;
    }),
  );
}

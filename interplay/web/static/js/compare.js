// The question whether judges may see a game, at the end of the game and on the page of its episode.

import { ApiError, api, need } from "./page.js";

/**
 * The text after an answer.
 * @param {boolean} agreed
 * @param {boolean} isCompared everybody in the game agreed
 */
export function wordsAfter(agreed, isCompared) {
  if (!agreed) return "Your game is not compared. From now on, no judge sees it.";
  const when = isCompared ? "" : " once every other player agrees too";
  return `Thank you. Your game may be compared${when}. You can take this back on the page of the episode.`;
}

/**
 * Ask. A player who does not answer has not agreed.
 * @param {HTMLElement} section
 * @param {{token: string | undefined} | {episode: string}} game
 */
export function askToCompare(section, game) {
  const said = need(section, "[data-compare-said]");
  section.hidden = false;
  const say = async (/** @type {boolean} */ agreed) => {
    try {
      const { is_compared: isCompared } = await api("/api/play/agreement", { ...game, agreed });
      said.textContent = wordsAfter(agreed, isCompared);
    } catch (error) {
      said.textContent = error instanceof ApiError ? error.message : "The server cannot be reached. Please try again.";
    }
  };
  need(section, "[data-compare-yes]").addEventListener("click", () => say(true));
  need(section, "[data-compare-no]").addEventListener("click", () => say(false));
}

if (globalThis.document) {
  for (const section of document.querySelectorAll("[data-compare]")) {
    if (section instanceof HTMLElement && section.dataset.episode) askToCompare(section, { episode: section.dataset.episode });
  }
}

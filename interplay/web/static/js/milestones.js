// What was reached in an episode of `explore`: the server plays it again to find out, so the page may have to ask more than once.

import { ApiError, api, need } from "./page.js";
import { clock } from "./timeline.js";

/** @typedef {{id: string, text: string, tick: number | null, second: number | null}} Milestone */

const ASK_MS = 1000;

/**
 * How many milestones were reached, in words.
 * @param {Milestone[]} milestones
 */
export function summary(milestones) {
  const reached = milestones.filter((one) => one.tick !== null).length;
  if (milestones.length === 1) return reached ? "Reached." : "Not reached.";
  return reached === milestones.length ? `All ${reached} reached.` : `${reached} of ${milestones.length} reached.`;
}

/**
 * When a milestone was reached, in words.
 * @param {Milestone} milestone
 */
export function whenOf({ tick, second }) {
  if (tick === null || second === null) return "missed";
  return tick === 0 ? "reached before you began" : `reached at ${clock(second)}`;
}

/**
 * Show the milestones as soon as the server knows them.
 * @param {HTMLElement} section
 * @param {string} episode
 */
export async function showMilestones(section, episode) {
  const said = need(section, "[data-milestones-said]");
  try {
    for (;;) {
      const found = await api(`/api/episodes/${encodeURIComponent(episode)}/milestones`);
      if (found.milestones) return show(section, found.milestones);
      if (found.state === "held") said.textContent = "Finding out what was reached, as soon as fewer people play …";
      await new Promise((resolve) => setTimeout(resolve, ASK_MS));
    }
  } catch (error) {
    said.textContent = error instanceof ApiError ? error.message : "The server cannot be reached. Open the page again later.";
  }
}

/**
 * @param {HTMLElement} section
 * @param {Milestone[]} milestones
 */
function show(section, milestones) {
  const list = need(section, "ol");
  list.replaceChildren(
    ...milestones.map((one) => {
      const item = document.createElement("li");
      item.className = one.tick === null ? "missed" : "reached";
      const name = document.createElement("b");
      name.textContent = one.text;
      const when = document.createElement("span");
      when.textContent = whenOf(one);
      item.append(name, " ", when);
      return item;
    }),
  );
  list.hidden = false;
  need(section, "[data-milestones-said]").textContent = summary(milestones);
}

if (globalThis.document) {
  for (const section of document.querySelectorAll("[data-milestones]")) {
    if (section instanceof HTMLElement && section.dataset.episode) showMilestones(section, section.dataset.episode);
  }
}

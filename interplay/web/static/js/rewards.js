// Learned rewards beside a replay: a line marks the step that is shown, and pressing a plot goes there.

import { need } from "./page.js";

/**
 * Which step a press on a plot means.
 * @param {number} x from its left edge
 * @param {number} width of the plot
 * @param {number} numSteps
 */
export function stepAt(x, width, numSteps) {
  return Math.round(Math.min(1, Math.max(0, x / width)) * numSteps);
}

/**
 * @param {HTMLElement} replay
 * @param {SVGElement} plot
 */
function follow(replay, plot) {
  const numSteps = Number(plot.dataset.steps), cursor = plot.querySelector(".cursor");
  /** @type {HTMLInputElement} */
  const scrub = need(replay, "[data-scrub]");
  replay.addEventListener("position", (event) => {
    const share = (1000 * /** @type {CustomEvent<number>} */ (event).detail) / Math.max(numSteps, 1);
    for (const end of ["x1", "x2"]) cursor?.setAttribute(end, share.toFixed(1));
  });
  plot.addEventListener("click", (event) => {
    const box = plot.getBoundingClientRect();
    scrub.value = String(stepAt(event.clientX - box.left, box.width, numSteps));
    scrub.dispatchEvent(new Event("input"));
  });
}

if (typeof document !== "undefined") {
  const replay = document.querySelector("[data-replay]");
  for (const plot of document.querySelectorAll("svg[data-reward]")) {
    if (replay instanceof HTMLElement && plot instanceof SVGElement) follow(replay, plot);
  }
}

// Learned rewards beside a replay: a line marks the step that is shown, and pressing a plot goes there.

import { need } from "./page.js";

/**
 * @param {HTMLElement} replay
 * @param {HTMLElement} room of a plot, drawn by plots.js
 */
function follow(replay, room) {
  /** @type {HTMLInputElement} */
  const scrub = need(replay, "[data-scrub]");
  /** @returns {any} the drawing, once it is there */
  const drawn = () => room.querySelector("svg");
  replay.addEventListener("position", (event) => {
    const svg = drawn();
    if (!svg) return;
    const { apply, range: [, right] } = svg.scale("x"), { range } = svg.scale("y");
    const cursor = svg.querySelector(".cursor") ?? svg.appendChild(document.createElementNS(svg.namespaceURI, "line"));
    const x = Math.min(right, apply(/** @type {CustomEvent<number>} */ (event).detail));
    for (const [name, value] of Object.entries({ class: "cursor", x1: x, x2: x, y1: range[0], y2: range[1] })) cursor.setAttribute(name, value);
  });
  room.addEventListener("click", (event) => {
    const svg = drawn();
    if (!svg) return;
    const { invert, domain } = svg.scale("x");
    const step = Math.round(invert(event.clientX - svg.getBoundingClientRect().left));
    scrub.value = String(Math.min(domain[1], Math.max(0, step)));
    scrub.dispatchEvent(new Event("input"));
  });
}

const replay = document.querySelector("[data-replay]");
for (const room of document.querySelectorAll(".reward [data-plot-room]")) {
  if (replay instanceof HTMLElement && room instanceof HTMLElement) follow(replay, room);
}

// The plot of ratings: pointing at a line or a name brings that agent forward.

/** @param {EventTarget | null} target @returns {Element | null} */
const agentOf = (target) => (target instanceof Element ? target.closest(".history [data-agent]") : null);

/** Mark every part of one agent in its plot, or none. @param {Element | null} part @param {Element | null} plot */
function show(part, plot) {
  if (!plot) return;
  const agent = part?.getAttribute("data-agent");
  plot.classList.toggle("pointed", agent !== undefined && agent !== null);
  for (const one of plot.querySelectorAll("[data-agent]")) {
    one.classList.toggle("on", one.getAttribute("data-agent") === agent);
  }
}

document.addEventListener("pointerover", (event) => {
  const part = agentOf(event.target);
  const plot = event.target instanceof Element ? event.target.closest(".history .plot") : null;
  if (part) show(part, part.closest(".plot"));
  else if (plot) show(null, plot);
});
document.addEventListener("pointerout", (event) => {
  const part = agentOf(event.target);
  if (part && !agentOf(event.relatedTarget)) show(null, part.closest(".plot"));
});

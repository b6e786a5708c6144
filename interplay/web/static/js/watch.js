// Watches one seat of a live game: receives pictures and sends no input.

import { FrameDecoder, MissingBase, Screen } from "./codec.js";
import { Seat } from "./connection.js";
import { need } from "./page.js";
import { paletteFromBase64, parseFrame } from "./protocol.js";

const root = need(document, "#watch");
/** @type {HTMLCanvasElement} */
const canvas = need(root, "canvas");
const screen = new Screen(canvas);
const status = need(root, "[data-status]");
let decoder = new FrameDecoder(canvas.width, canvas.height);
let pictures = 0;

/** @param {string} name @param {unknown} value */
function show(name, value) {
  need(root, `[data-${name}]`).textContent = value === undefined || value === null ? "–" : String(value);
}

/** What the server says of the game, as its player reads it. @param {Record<string, any>} message */
function onMessage(message) {
  switch (message.type) {
    case "welcome":
      if (canvas.width !== message.width || canvas.height !== message.height) screen.resize(message.width, message.height);
      canvas.classList.toggle("pixel", message.codec === "palette");
      if (message.palette) screen.palette = paletteFromBase64(message.palette);
      decoder = new FrameDecoder(message.width, message.height);
      status.textContent = "Watching";
      break;
    case "palette":
      screen.palette = paletteFromBase64(message.palette);
      break;
    case "hud":
      show("score", Math.round(100 * message.score) / 100);
      show("rate", message.rate_hz);
      break;
    case "paused":
      status.textContent = "The game is paused";
      break;
    case "started":
    case "resumed":
      status.textContent = "Watching";
      break;
    case "ended":
      status.textContent = "The game is over. Its recording is on the page of episodes in a moment.";
      seat.close();
      break;
  }
}

/** @param {ArrayBuffer} buffer */
async function onFrame(buffer) {
  const own = decoder;
  try {
    const picture = await own.push(parseFrame(buffer));
    if (own !== decoder) return; // it was on its way when the last welcome came
    screen.paint(picture);
    pictures += 1;
    show("step", picture.step);
    show("pictures", pictures);
  } catch (error) {
    if (!(error instanceof MissingBase)) throw error;
    seat.send({ type: "key" });
  }
}

const seat = new Seat(root.dataset.socket ?? "", "", {
  onMessage,
  onFrame,
  onLost: () => (status.textContent = "The connection was lost. Connecting again …"),
  onClosed: () => (status.textContent = "The game is over, or the seat is gone."),
});

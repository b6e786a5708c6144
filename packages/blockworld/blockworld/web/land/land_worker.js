// Beside the page: what frames say is unpacked and put into the cells here, so that the page only uploads and draws.

import { Land } from "./land.js";
import { inflated, unpack } from "../packing.js";

/** @typedef {{payload: Uint8Array<ArrayBuffer>, isLand: boolean}} News */
/** @typedef {{colours: Uint8Array}} Look */
/** @typedef {{improve: "all" | "whole"}} Improve parts of the land: also those whose neighbours may still come, or not */
/**
 * @typedef {object} Answer
 * @property {string} [error] instead of the rest
 * @property {Record<string, any>} [document]
 * @property {Record<string, import("../packing.js").PackedArray>} [arrays]
 * @property {import("./land.js").Overhead} [overhead] what was asked for by `colours`
 * @property {boolean} [isImproved] no part of the land can be improved until another one comes
 * @property {import("./land.js").Box[]} boxes
 */

/** The largest frame has the whole land in it. */
const MOST_BYTES = 64 * 2 ** 20;

const page = /** @type {{postMessage: (answer: Answer, how: {transfer: ArrayBuffer[]}) => void}} */ (/** @type {unknown} */ (self));
/** @type {Land | null} */
let land = null;
/** Frames are handled one after another. */
let queue = Promise.resolve();
let waiting = 0;

self.onmessage = (/** @type {MessageEvent<News | Look | Improve>} */ { data }) => {
  if ("improve" in data) return improve(data);
  waiting++;
  queue = queue.then(() => ("colours" in data ? look(data) : handle(data))).then(() => void waiting--);
};

/** @param {Look} look */
function look({ colours }) {
  answer({ overhead: land?.overhead(colours) ?? { width: 1, height: 1, pixels: new Uint8ClampedArray(4) }, boxes: [] });
}

/** @param {News} news */
async function handle({ payload, isLand }) {
  try {
    const { document, arrays } = unpack((await inflated(payload, MOST_BYTES)).buffer);
    if (document.size) land = new Land(document.size); // only a frame that begins again has it
    if (!land) throw new Error("a frame came before the one that begins");
    if (isLand) land.part(arrays);
    else if (document.again) land.again(arrays);
    else land.change(arrays);
    if (isLand && document.size) land.remember();
    answer({ document, arrays: isLand ? {} : arrays, boxes: land.takeBoxes() });
  } catch (error) {
    answer({ error: error instanceof Error ? error.message : String(error), boxes: [] });
  }
}

/** When no frame waits, let rays jump further: a little with each picture, so that the next ones come in time. @param {Improve} which */
function improve({ improve }) {
  if (waiting || !land) return;
  const isImproved = !land.improve(improve === "all");
  answer({ isImproved, boxes: land.takeBoxes() });
}

/** @param {Answer} answer */
function answer(answer) {
  page.postMessage(answer, { transfer: answer.boxes.map((box) => box.bytes.buffer) });
}

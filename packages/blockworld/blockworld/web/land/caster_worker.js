// Beside the page: pictures of the land by a `Caster`, so that the page stays free while they are made.

import { Caster } from "./caster.js";
import { NUMBERS } from "./shaders.js";

/** @typedef {{module: WebAssembly.Module, tables: import("./tables.js").Tables}} Begin once, before everything else */
/** @typedef {{size: [number, number, number]}} NewLand */
/** @typedef {{boxes: import("./land.js").Box[]}} Put */
/** @typedef {{bright: Float32Array}} Light */
/** @typedef {{wanted: import("./caster.js").Wanted}} Look */
/** @typedef {Begin | NewLand | Put | Light | Look} Order */

const page = /** @type {{postMessage: (answer: import("./caster.js").Cast, how: {transfer: ArrayBuffer[]}) => void}} */ (/** @type {unknown} */ (self));
/** Pictures of nothing: with two, it is as fast as it becomes. */
const WARMING = 2;
/** @type {Caster | null} */
let caster = null;

/** Cast for nobody until the browser has compiled the ray-caster well, which it does beside: else that takes the first pictures' time.
 * @param {Caster} caster */
function warmUp(caster) {
  const size = /** @type {[number, number, number]} */ ([32, 32, 32]), numbers = new Float32Array(NUMBERS.ALL);
  caster.begin(size);
  caster.put({ corner: [0, 0, 0], size, bytes: new Uint8Array(new Uint32Array(32 ** 3).fill(1 << 24).buffer) }); // air
  numbers.set([1, 16, 1, -1, 0, 0, 0, 1, 0, 0, 0, 1]); // the eye, and the axes of one who looks south
  numbers.set([1, 1, 64, 0.01], NUMBERS.TAN_X);
  for (let n = 0; n < WARMING; n++) caster.cast({ numbers, width: 160, height: 160, marks: [-1, -1, -1, -1, -1, -1, -1], first: 0, every: 1 });
}

self.onmessage = (/** @type {MessageEvent<Order>} */ { data }) => {
  if ("module" in data) warmUp((caster = new Caster(data.module, data.tables)));
  if (!caster) throw new Error("there is no ray-caster yet");
  if ("size" in data) caster.begin(data.size);
  else if ("boxes" in data) data.boxes.forEach((box) => caster?.put(box));
  else if ("bright" in data) caster.light(data.bright);
  else if ("wanted" in data) {
    const cast = caster.cast(data.wanted);
    page.postMessage(cast, { transfer: [cast.pixels.buffer, cast.depths.buffer] });
  }
};

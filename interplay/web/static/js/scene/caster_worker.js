// Beside the page: pictures of the land by a `Caster`, so that the page stays free while they are made.

import { Caster } from "./caster.js";

/** @typedef {{module: WebAssembly.Module, tables: import("./tables.js").Tables}} Begin once, before everything else */
/** @typedef {{size: [number, number, number]}} NewLand */
/** @typedef {{box: import("./land.js").Box}} Put */
/** @typedef {{bright: Float32Array}} Light */
/** @typedef {{wanted: import("./caster.js").Wanted}} Look */
/** @typedef {Begin | NewLand | Put | Light | Look} Order */

const page = /** @type {{postMessage: (answer: import("./caster.js").Cast, how: {transfer: ArrayBuffer[]}) => void}} */ (/** @type {unknown} */ (self));
/** @type {Begin | null} */
let begun = null;
/** @type {Caster | null} */
let caster = null;

self.onmessage = (/** @type {MessageEvent<Order>} */ { data }) => {
  if ("module" in data) begun = data;
  else if ("size" in data) caster = new Caster(/** @type {Begin} */ (begun).module, /** @type {Begin} */ (begun).tables, data.size);
  else if ("box" in data) caster?.put(data.box);
  else if ("bright" in data) caster?.light(data.bright);
  else if (caster) {
    const cast = caster.cast(data.wanted);
    page.postMessage(cast, { transfer: [cast.pixels.buffer, cast.depths.buffer] });
  }
};

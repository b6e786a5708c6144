// Casts pictures with the compiled ray-caster, for test_compiled_raycaster.py: node cast.mjs FOLDER, which has what to cast and gets it.

import { readFileSync, writeFileSync } from "node:fs";

import { Caster } from "../blockworld/web/land/caster.js";
import { inflated, unpack } from "../blockworld/web/packing.js";
import { tablesOf } from "../blockworld/web/land/tables.js";

const folder = process.argv[2], module = new URL("../blockworld/web/land/raycaster.wasm", import.meta.url);
const read = (name) => new Uint8Array(readFileSync(`${folder}/${name}`));
const tables = tablesOf(unpack((await inflated(read("tables"), 2 ** 26)).buffer));
const { size, looks } = JSON.parse(readFileSync(`${folder}/looks.json`, "utf8"));
const caster = new Caster(await WebAssembly.compile(readFileSync(module)), tables);
caster.begin(size);
caster.put({ corner: [0, 0, 0], size, bytes: read("cells") });
looks.forEach(({ numbers, bright, ...wanted }, number) => {
  caster.light(Float32Array.from(bright));
  const { pixels, depths } = caster.cast({ numbers: Float32Array.from(numbers), ...wanted });
  writeFileSync(`${folder}/pixels-${number}`, pixels);
  writeFileSync(`${folder}/depths-${number}`, new Uint8Array(depths.buffer));
});

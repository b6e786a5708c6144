// The ray-caster of blockworld/raycaster itself, compiled to WebAssembly by tools/make_raycaster.py, and a land of its
// own to look at: where there is no graphics card, this is five times as fast as a shader that the processor runs. Nothing here needs
// a page.

import { UNKNOWN } from "./land.js";
import { NUMBERS, TILE } from "./shaders.js";

/** @typedef {import("./land.js").Box} Box */
/** @typedef {import("./tables.js").Tables} Tables */
/**
 * @typedef {object} Wanted a picture, or some rows of its tiles
 * @property {Float32Array} numbers the ray-caster's
 * @property {number} width pixels
 * @property {number} height
 * @property {number[]} marks the block to outline, the block that is broken, and the picture of its crack; -1 for none
 * @property {number} first row of tiles
 * @property {number} every
 * @property {Cast} [used] an earlier one that nobody needs any more: its memory is used again
 */
/**
 * @typedef {object} Cast rows of tiles, one after another
 * @property {Uint8Array<ArrayBuffer>} pixels RGB
 * @property {Float32Array<ArrayBuffer>} depths blocks from the eye
 */

/** @type {Record<string, Uint8ArrayConstructor | Uint16ArrayConstructor | Uint32ArrayConstructor | Int16ArrayConstructor | Int32ArrayConstructor | Float32ArrayConstructor>} */
const KINDS = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, int16: Int16Array, int32: Int32Array, float32: Float32Array };
const PAGE = 65_536;
/** Where its own constants and its stack end; there it writes what it returns and what went wrong, as Numba's functions do: nothing. */
const STACK = PAGE, RESULT = STACK, PROBLEM = STACK + 8, ARRAYS = STACK + 64;
/** Kind of a state of which nothing is known, as the ray-caster has it. */
const NOT_KNOWN = 7;
/** A light that nothing shades, where the land ends. */
const FULL_LIGHT = 240;

export class Caster {
  /**
   * @param {WebAssembly.Module} module
   * @param {Tables} tables
   */
  constructor(module, tables) {
    const [facts] = WebAssembly.Module.customSections(module, "interplay");
    /** @type {[string, string | null][]} names and types, in order; a whole number has no type */
    this.parameters = JSON.parse(new TextDecoder().decode(facts)).arguments;
    const numStates = tables.states.length / 8, numBoxes = tables.boxes.length / 12, numPages = tables.pages.length / 4;
    /** How many values each array has, in the order of their places: those that stay, the land's, the picture's. @type {Record<string, number>} */
    this.lengths = {
      info: UNKNOWN + 1, faces: 6 * numStates, box_range: 2 * numStates, boxes: 6 * numBoxes, box_faces: 6 * numBoxes, height: numStates,
      glow: numStates, pages: numPages, page_starts: tables.levels, land: tables.land.length, clouds: tables.clouds.length,
      ripples: tables.ripples.length, bright: 3 * 256, num: NUMBERS.ALL, marks: 7, rays: 6 * TILE ** 2,
      blocks: 0, light: 0, skip: 0, tops: 0,
      starts: 0, columns: 0, out: 0, depth: 0,
    }; // prettier-ignore
    /** What the function gets: numbers, and where arrays begin. @type {Record<string, number>} */
    this.values = { num_states: numStates, num_boxes: numBoxes, num_pages: numPages, SX: 0, SY: 0, SZ: 0, W: 0, H: 0 };
    /** @type {Record<string, InstanceType<(typeof KINDS)[string]>>} by name, in the module's memory */
    this.arrays = {};
    this.memory = new WebAssembly.Memory({ initial: 1 });
    const stack = new WebAssembly.Global({ value: "i32", mutable: true }, STACK);
    const { exports } = new WebAssembly.Instance(module, { env: { __linear_memory: this.memory, __stack_pointer: stack } });
    this.run = /** @type {(...values: number[]) => number} */ (exports.cast);
    this.#layOut();
    this.#fill(tables);
  }

  /** A land of this size of which nothing is known. @param {[number, number, number]} size multiples of 8 */
  begin(size) {
    const [sx, sy, sz] = size, cells = sx * sy * sz;
    Object.assign(this.values, { SX: sx, SY: sy, SZ: sz });
    Object.assign(this.lengths, { blocks: cells, light: cells, skip: cells, tops: (sx * sz) / TILE ** 2 });
    this.#layOut();
    const { blocks, light, skip } = this.arrays;
    blocks.fill(UNKNOWN);
    light.fill(0);
    skip.fill(0);
  }

  /** Give every array its place. What they have stays, but for those behind one that has become longer. */
  #layOut() {
    const kinds = new Map(this.parameters.filter((one) => one[1]));
    let end = ARRAYS;
    const places = Object.entries(this.lengths).map(([name, length]) => {
      const kind = KINDS[String(kinds.get(name))];
      if (!kind) throw new Error(`the compiled ray-caster takes no ${name}`);
      const at = end;
      end = (end + length * kind.BYTES_PER_ELEMENT + 63) & ~63;
      return /** @type {const} */ ([name, kind, at, length]);
    });
    const more = Math.ceil(end / PAGE) - this.memory.buffer.byteLength / PAGE;
    if (more > 0) this.memory.grow(more);
    for (const [name, kind, at, length] of places) {
      this.arrays[name] = new kind(this.memory.buffer, at, length);
      this.values[name] = at;
    }
  }

  /** @param {Tables} tables */
  #fill({ states, boxes, pages, levels, land, clouds, ripples, textures }) {
    const { arrays } = this, words = new Float32Array(states.buffer, states.byteOffset, states.length);
    for (let state = 0; state < states.length / 8; state++) {
      const from = 8 * state;
      arrays.info[state] = states[from];
      for (let face = 0; face < 6; face++) arrays.faces[6 * state + face] = ((states[from + 1 + (face >> 1)] >> (16 * (face & 1))) << 16) >> 16;
      arrays.box_range[2 * state] = states[from + 4] & 0xffffff;
      arrays.box_range[2 * state + 1] = states[from + 4] >>> 24;
      arrays.height[state] = words[from + 5];
      arrays.glow[state] = words[from + 6];
    }
    arrays.info[UNKNOWN] = NOT_KNOWN;
    for (let box = 0; box < boxes.length / 12; box++) {
      const row = boxes.subarray(12 * box, 12 * box + 12);
      arrays.boxes.set([row[0], row[1], row[2], row[4], row[5], row[6]], 6 * box);
      arrays.box_faces.set([row[3], ...row.subarray(7)], 6 * box);
    }
    arrays.pages.set(new Uint32Array(pages.buffer, pages.byteOffset, pages.length / 4));
    for (let level = 1; level < levels; level++) arrays.page_starts[level] = arrays.page_starts[level - 1] + textures * (16 >> (level - 1)) ** 2;
    arrays.land.set(land);
    arrays.clouds.set(clouds);
    arrays.ripples.set(ripples);
  }

  /** Cells as they are now. @param {Box} box */
  put({ corner: [x0, y0, z0], size: [nx, ny, nz], bytes }) {
    const { blocks, light, skip } = this.arrays, { SY: sy, SZ: sz } = this.values, cells = new Uint32Array(bytes.buffer);
    let from = 0;
    for (let x = x0; x < x0 + nx; x++)
      for (let z = z0; z < z0 + nz; z++) {
        const column = (x * sz + z) * sy + y0;
        for (let to = column; to < column + ny; to++, from++) {
          const cell = cells[from];
          blocks[to] = cell;
          light[to] = cell >> 16;
          skip[to] = cell >>> 24;
        }
      }
  }

  /** What light is worth. @param {Float32Array} bright colour that each light value gives to white, 256 * 3 */
  light(bright) {
    this.arrays.bright.set(bright);
  }

  /** @param {Wanted} wanted @returns {Cast} */
  cast({ numbers, width, height, marks, first, every, used }) {
    const { lengths, values } = this, across = Math.ceil(width / TILE), down = Math.ceil(height / TILE);
    if (values.W !== width || values.H !== height) {
      Object.assign(lengths, { starts: across * down, columns: 2 * TILE * across, out: 3 * width * height, depth: width * height });
      Object.assign(values, { W: width, H: height });
      this.#layOut();
    }
    Object.assign(values, { first_row: first, every });
    const { num, bright, light, tops, out, depth } = this.arrays;
    num.set(numbers);
    const [x, y, z] = numbers.subarray(NUMBERS.EYE, NUMBERS.EYE + 3).map(Math.floor), { SX: sx, SY: sy, SZ: sz } = values;
    const isInside = x >= 0 && y >= 0 && z >= 0 && x < sx && y < sy && z < sz;
    const lit = isInside ? light[(x * sz + z) * sy + y] : FULL_LIGHT;
    num.set(bright.subarray(3 * lit, 3 * lit + 3), NUMBERS.EYE_LIGHT);
    this.arrays.marks.set(marks);
    tops.fill(-1);
    if (this.run(RESULT, PROBLEM, ...this.parameters.map(([name]) => values[name])) !== 0) throw new Error("the ray-caster failed");
    const rows = Array.from({ length: Math.max(0, Math.ceil((down - first) / every)) }, (_, k) => TILE * (first + k * every));
    const length = rows.reduce((sum, row) => sum + Math.min(TILE, height - row), 0) * width;
    const fits = used?.depths.length === length;
    const { pixels, depths } = fits ? used : { pixels: new Uint8Array(3 * length), depths: new Float32Array(length) };
    let to = 0;
    for (const row of rows) {
      const end = Math.min(height, row + TILE) * width;
      pixels.set(/** @type {Uint8Array} */ (out).subarray(3 * row * width, 3 * end), 3 * to);
      depths.set(/** @type {Float32Array} */ (depth).subarray(row * width, end), to);
      to += end - row * width;
    }
    return { pixels, depths };
  }
}

// The cells of the land as the shader reads them, and how far a ray may jump from each: nothing here needs a page.
// A cell is one number: state | light << 16 | skip << 24, in the server's order [x][z][y].

/**
 * @typedef {object} Box cells to send to the graphics card
 * @property {[number, number, number]} corner the lowest x, y, z
 * @property {[number, number, number]} size
 * @property {Uint8Array<ArrayBuffer>} bytes four for each cell, [x][z][y]
 */
/** @typedef {Record<string, import("../packing.js").PackedArray>} Arrays */
/** @typedef {{width: number, height: number, pixels: Uint8ClampedArray<ArrayBuffer>}} Overhead RGBA, one pixel a column */

/** Stands for the state of a cell that was not sent. */
export const UNKNOWN = 65535;
/** How far a ray may jump at most, as `Grid` has it. */
export const MAX_SKIP = 16;
const SECTION = 16;
/** The side of the columns whose distances are found in one go. */
const PART = 32;
/** How far from a part a block can shorten jumps in it. */
const REACH = MAX_SKIP - 1;

export class Land {
  /** @param {[number, number, number]} size x, y, z in cells, each a multiple of 32 */
  constructor([sx, sy, sz]) {
    if (![sx, sy, sz].every((side) => Number.isInteger(side) && side > 0 && side <= 512 && side % PART === 0))
      throw new Error(`a land has sides of 32 to 512 cells, in steps of 32, got ${sx} ${sy} ${sz}`);
    this.size = /** @type {[number, number, number]} */ ([sx, sy, sz]);
    this.cells = new Uint32Array(sx * sy * sz).fill(UNKNOWN);
    /** Which cells are no air: a bit each, 32 of a column in a number. */
    this.solid = new Int32Array((sx * sy * sz) / 32).fill(-1);
    /** For `#distances`: what is found, and what is near a block, twice. */
    this.skips = new Uint8Array(PART * PART * sy);
    this.near = new Int32Array(((PART + 2 * REACH) ** 2 * sy) / 32);
    this.wider = new Int32Array(this.near.length);
    this.known = new Uint8Array((sx / SECTION) * (sy / SECTION) * (sz / SECTION));
    /** @type {Set<number>} parts whose distances can be better since they or a neighbour came */
    this.waiting = new Set();
    /** @type {Map<number, number[]>} section -> the box in it that changed: x0, y0, z0, x1, y1, z1 */
    this.dirty = new Map();
    /** @type {Map<number, number> | null} cell -> its first state and light, where they are kept and it has changed */
    this.originals = null;
  }

  /** Sections of the land, as a frame of it brings them. @param {Arrays} arrays */
  part({ at, palette, cells, lights }) {
    const num = at.length / 3, [sx, sy, sz] = this.size;
    if (cells.length !== num * 4096 || lights.length !== num * 4096) throw new Error("a part of the land lacks cells");
    const parts = new Set();
    for (let k = 0; k < num; k++) {
      const x0 = at[3 * k] * SECTION, y0 = at[3 * k + 1] * SECTION, z0 = at[3 * k + 2] * SECTION;
      if (x0 >= sx || y0 >= sy || z0 >= sz) throw new Error(`a section at ${x0} ${y0} ${z0} is outside the land`);
      let from = k * 4096;
      for (let x = x0; x < x0 + SECTION; x++)
        for (let z = z0; z < z0 + SECTION; z++) {
          const column = (x * sz + z) * sy + y0, word = column >> 5, shift = column & SECTION;
          let solid = 0;
          for (let n = 0; n < SECTION; n++, from++) {
            const state = palette[cells[from]];
            if (state === undefined) throw new Error("a cell of the land is not in its palette");
            this.cells[column + n] = state | (lights[from] << 16) | (state === 0 ? 1 << 24 : 0);
            if (state !== 0) solid |= 1 << n;
          }
          this.solid[word] = (this.solid[word] & ~(0xffff << shift)) | (solid << shift);
        }
      this.known[this.#section(x0, y0, z0)] = 1;
      this.#touch(x0, y0, z0, x0 + SECTION - 1, y0 + SECTION - 1, z0 + SECTION - 1);
      parts.add(Math.floor(x0 / PART) * 64 + Math.floor(z0 / PART));
    }
    for (const part of parts) {
      const px = Math.floor(part / 64), pz = part % 64;
      this.#distances(px * PART, pz * PART);
      for (const one of this.#around(px, pz)) this.waiting.add(one);
    }
  }

  /** Remember from now on what changes, for `again`. */
  remember() {
    this.originals ??= new Map();
  }

  /** All that differs from what was there when remembering began; whatever else has changed goes back. @param {Arrays} arrays */
  again(arrays) {
    if (!this.originals) throw new Error("the land was not kept as it was");
    const cells = new Set(arrays.cells), lit = new Set(arrays.lit), changed = [...this.originals];
    const moved = changed.filter(([at]) => !cells.has(at)), relit = changed.filter(([at]) => !lit.has(at));
    this.change({
      cells: Uint32Array.from(moved, ([at]) => at),
      states: Uint16Array.from(moved, ([, value]) => value & 0xffff),
      lit: Uint32Array.from(relit, ([at]) => at),
      lights: Uint8Array.from(relit, ([, value]) => value >> 16),
    });
    for (const [at] of changed) if (!cells.has(at) && !lit.has(at)) this.originals.delete(at);
    this.change(arrays);
  }

  /** What a tick has changed. @param {Arrays} arrays */
  change({ cells, states, lit, lights }) {
    const all = this.cells, { originals } = this;
    if (cells?.length !== states?.length || lit?.length !== lights?.length) throw new Error("changes without their values");
    for (let k = 0; k < (lit?.length ?? 0); k++) {
      const at = lit[k];
      if (at >= all.length) throw new Error(`there is no cell ${at}`);
      if ((all[at] & 0xffff) === UNKNOWN || ((all[at] >> 16) & 0xff) === lights[k]) continue;
      if (originals && !originals.has(at)) originals.set(at, all[at] & 0xffffff);
      all[at] = (all[at] & 0xff00ffff) | (lights[k] << 16);
      this.#touchCell(at);
    }
    for (let k = 0; k < (cells?.length ?? 0); k++) {
      const at = cells[k], state = states[k];
      if (at >= all.length) throw new Error(`there is no cell ${at}`);
      const before = all[at] & 0xffff;
      if (before === UNKNOWN || before === state) continue;
      if (originals && !originals.has(at)) originals.set(at, all[at] & 0xffffff);
      // A block that is gone leaves distances that are too small, which only makes rays take more steps.
      const skip = state !== 0 ? 0 : before === 0 ? all[at] >>> 24 : 1;
      all[at] = state | (all[at] & 0xff0000) | (skip << 24);
      this.solid[at >> 5] = (this.solid[at >> 5] & ~(1 << (at & 31))) | (state !== 0 ? 1 << (at & 31) : 0);
      this.#touchCell(at);
      if (before === 0 && state !== 0) this.#blocked(at);
    }
  }

  /**
   * Find the distances of one part anew, once: when all its neighbours are here.
   * @param {boolean} [isAll] whether no more of the land is to come for now, so that none need wait for a neighbour
   * @returns {boolean} false where there is none
   */
  improve(isAll = true) {
    for (const part of this.waiting) {
      const px = Math.floor(part / 64), pz = part % 64;
      if (!isAll && !this.#around(px, pz).every((one) => this.#isHere(one))) continue;
      this.waiting.delete(part);
      this.#distances(px * PART, pz * PART);
      return true;
    }
    return false;
  }

  /**
   * The land from above: north is up, slopes that fall to the north are brighter, and deep water is darker.
   * @param {Uint8Array} colours RGBA of each state; an alpha of 0 is looked through, one of 128 is water
   * @returns {Overhead}
   */
  overhead(colours) {
    const [sx, sy, sz] = this.size, pixels = new Uint8ClampedArray(4 * sx * sz);
    for (let x = 0; x < sx; x++) {
      let northern = -1;
      for (let z = 0; z < sz; z++) {
        const column = (x * sz + z) * sy, to = 4 * (z * sx + x);
        let y = sy - 1, depth = 0;
        for (; y >= 0; y--) {
          const state = this.cells[column + y] & 0xffff, alpha = state === UNKNOWN ? 0 : colours[4 * state + 3];
          if (alpha === 255) break;
          if (alpha !== 0) depth++;
          else if (depth > 0) break;
        }
        if (y < 0 && depth === 0) continue;
        const top = y + depth, slope = northern < 0 || top === northern ? 1 : top > northern ? 1.14 : 0.86;
        northern = top;
        const from = depth > 0 ? 4 * (this.cells[column + top] & 0xffff) : 4 * (this.cells[column + y] & 0xffff);
        const bright = depth > 0 ? Math.max(0.5, 1 - 0.06 * depth) : slope;
        for (let i = 0; i < 3; i++) pixels[to + i] = colours[from + i] * bright;
        pixels[to + 3] = 255;
      }
    }
    return { width: sx, height: sz, pixels };
  }

  /** What has changed since the last time, for the graphics card. @returns {Box[]} */
  takeBoxes() {
    const [, sy, sz] = this.size, { cells } = this;
    const boxes = [...this.dirty.values()].map(([x0, y0, z0, x1, y1, z1]) => {
      const nx = x1 - x0 + 1, ny = y1 - y0 + 1, nz = z1 - z0 + 1, values = new Uint32Array(nx * ny * nz);
      let to = 0;
      for (let x = x0; x <= x1; x++)
        for (let z = z0; z <= z1; z++, to += ny) {
          const column = (x * sz + z) * sy + y0;
          for (let n = 0; n < ny; n++) values[to + n] = cells[column + n];
        }
      return /** @type {Box} */ ({ corner: [x0, y0, z0], size: [nx, ny, nz], bytes: new Uint8Array(values.buffer) });
    });
    this.dirty.clear();
    return boxes;
  }

  /** A part and its neighbours. @param {number} px @param {number} pz */
  #around(px, pz) {
    const [sx, , sz] = this.size, parts = [];
    for (let i = Math.max(0, px - 1); i <= Math.min(sx / PART - 1, px + 1); i++)
      for (let j = Math.max(0, pz - 1); j <= Math.min(sz / PART - 1, pz + 1); j++) parts.push(i * 64 + j);
    return parts;
  }

  /** Whether all of a part has come. @param {number} part */
  #isHere(part) {
    const x0 = Math.floor(part / 64) * PART, z0 = (part % 64) * PART, [, sy] = this.size;
    for (let x = x0; x < x0 + PART; x += SECTION)
      for (let z = z0; z < z0 + PART; z += SECTION) if (this.known.subarray(this.#section(x, 0, z), this.#section(x, sy, z)).includes(0)) return false;
    return true;
  }

  /** @param {number} x @param {number} y @param {number} z */
  #section(x, y, z) {
    const [, sy, sz] = this.size;
    return ((x >> 4) * (sz >> 4) + (z >> 4)) * (sy >> 4) + (y >> 4);
  }

  /**
   * Note a box within one section.
   * @param {number} x0
   * @param {number} y0
   * @param {number} z0
   * @param {number} x1
   * @param {number} y1
   * @param {number} z1
   */
  #touch(x0, y0, z0, x1, y1, z1) {
    const key = this.#section(x0, y0, z0), box = this.dirty.get(key);
    if (!box) this.dirty.set(key, [x0, y0, z0, x1, y1, z1]);
    else {
      if (x0 < box[0]) box[0] = x0;
      if (y0 < box[1]) box[1] = y0;
      if (z0 < box[2]) box[2] = z0;
      if (x1 > box[3]) box[3] = x1;
      if (y1 > box[4]) box[4] = y1;
      if (z1 > box[5]) box[5] = z1;
    }
  }

  /** @param {number} at */
  #touchCell(at) {
    const [, sy, sz] = this.size, y = at % sy, column = (at - y) / sy, z = column % sz, x = (column - z) / sz;
    this.#touch(x, y, z, x, y, z);
  }

  /** A block stands in what was air: rays must not jump over it, shell by shell until one has nothing to lower. @param {number} at */
  #blocked(at) {
    const [sx, sy, sz] = this.size, y = at % sy, column = (at - y) / sy, z = column % sz, x = (column - z) / sz;
    for (let r = 1; r < MAX_SKIP; r++) {
      let lowered = false;
      for (let i = Math.max(0, x - r); i <= Math.min(sx - 1, x + r); i++)
        for (let k = Math.max(0, z - r); k <= Math.min(sz - 1, z + r); k++) {
          const whole = Math.abs(i - x) === r || Math.abs(k - z) === r;
          for (let j = y - r; j <= y + r; j += whole ? 1 : 2 * r) {
            if (j < 0 || j >= sy) continue;
            const here = (i * sz + k) * sy + j;
            if (this.cells[here] >>> 24 > r) {
              this.cells[here] = (this.cells[here] & 0xffffff) | (r << 24);
              this.#touch(i, j, k, i, j, k);
              lowered = true;
            }
          }
        }
      if (!lowered) return;
    }
  }

  /**
   * The Chebyshev distance to the nearest block or unknown cell, for a part of the land: what is near one grows by a cell a step, to all
   * sides, 32 cells at a time.
   * @param {number} px
   * @param {number} pz
   */
  #distances(px, pz) {
    const [sx, sy, sz] = this.size, words = sy / 32, { solid, near, wider, skips } = this;
    const x0 = Math.max(0, px - REACH), wide = Math.min(sx, px + PART + REACH) - x0;
    const z0 = Math.max(0, pz - REACH), deep = Math.min(sz, pz + PART + REACH) - z0, row = deep * words;
    const low = px - x0, left = pz - z0; // where the part begins
    for (let x = 0; x < wide; x++) {
      const from = ((x0 + x) * sz + z0) * words;
      for (let n = 0; n < row; n++) near[x * row + n] = solid[from + n];
    }
    skips.fill(MAX_SKIP);
    for (let x = 0; x < PART; x++)
      for (let n = 0; n < PART * words; n++) note(skips, (x * PART * words + n) * 32, near[(low + x) * row + left * words + n], 0);
    for (let r = 1; r <= REACH; r++) {
      const around = REACH - r; // what is further away does not come as far as the part
      const xa = Math.max(0, low - around), xb = Math.min(wide, low + PART + around);
      const za = Math.max(0, left - around), zb = Math.min(deep, left + PART + around);
      for (let x = Math.max(0, xa - 1); x < Math.min(wide, xb + 1); x++)
        for (let z = za; z < zb; z++)
          for (let w = 0, at = x * row + z * words; w < words; w++, at++) {
            const before = z > 0 ? at - words : at, behind = z + 1 < deep ? at + words : at;
            const here = near[before] | near[at] | near[behind];
            wider[at] = here | (here << 1) | (here >>> 1);
            if (w > 0) wider[at] |= (near[before - 1] | near[at - 1] | near[behind - 1]) >>> 31;
            if (w + 1 < words) wider[at] |= (near[before + 1] | near[at + 1] | near[behind + 1]) << 31;
          }
      for (let x = xa; x < xb; x++) {
        const west = x > 0 ? -row : 0, east = x + 1 < wide ? row : 0, isInside = x >= low && x < low + PART;
        for (let z = za; z < zb; z++) {
          const to = isInside && z >= left && z < left + PART ? ((x - low) * PART + z - left) * sy : -1;
          for (let w = 0, at = x * row + z * words; w < words; w++, at++) {
            const all = wider[at + west] | wider[at] | wider[at + east], more = all & ~near[at];
            if (more === 0) continue;
            near[at] = all;
            if (to >= 0) note(skips, to + 32 * w, more, r);
          }
        }
      }
    }
    for (let x = px; x < px + PART; x += SECTION)
      for (let z = pz; z < pz + PART; z += SECTION) for (let y = 0; y < sy; y += SECTION) this.#jump(x, y, z, ((x - px) * PART + z - pz) * sy + y);
  }

  /**
   * Put what `#distances` has found into a section.
   * @param {number} x0
   * @param {number} y0
   * @param {number} z0
   * @param {number} from where it is in what was found
   */
  #jump(x0, y0, z0, from) {
    const [, sy, sz] = this.size, { cells, skips } = this;
    let xa = SECTION, xb = -1, ya = SECTION, yb = -1, za = SECTION, zb = -1;
    for (let x = 0; x < SECTION; x++)
      for (let z = 0; z < SECTION; z++) {
        const column = ((x0 + x) * sz + z0 + z) * sy + y0, found = from + (x * PART + z) * sy;
        for (let y = 0; y < SECTION; y++) {
          const cell = cells[column + y], skip = skips[found + y];
          if (cell >>> 24 === skip) continue;
          cells[column + y] = (cell & 0xffffff) | (skip << 24);
          if (x < xa) xa = x;
          xb = x;
          if (z < za) za = z;
          if (z > zb) zb = z;
          if (y < ya) ya = y;
          if (y > yb) yb = y;
        }
      }
    if (xb >= 0) this.#touch(x0 + xa, y0 + ya, z0 + za, x0 + xb, y0 + yb, z0 + zb);
  }
}

/**
 * Note a distance for those of 32 cells that have it.
 * @param {Uint8Array} skips
 * @param {number} at the first of these cells
 * @param {number} which a bit each
 * @param {number} skip
 */
function note(skips, at, which, skip) {
  for (let bits = which; bits !== 0; ) {
    const bit = 31 - Math.clz32(bits);
    skips[at + bit] = skip;
    bits ^= 1 << bit;
  }
}

// What never changes, as blockworld/scene/tables.py writes it, made ready to draw with. Pictures are written as differences,
// which take less room.

/** @typedef {import("../packing.js").Unpacked} Unpacked */
/**
 * @typedef {object} Tables
 * @property {number} textures how many
 * @property {number} levels sizes of each, from 16 x 16 down
 * @property {number[]} cracks the texture of each stage of a block that is being broken
 * @property {Uint32Array<ArrayBuffer>} states eight words each
 * @property {Float32Array<ArrayBuffer>} boxes twelve numbers each
 * @property {Uint8Array<ArrayBuffer>} pages the textures, RGBA, one size after another
 * @property {Float32Array<ArrayBuffer>} land the land's colour, 256 x 256 x 3
 * @property {Float32Array<ArrayBuffer>} clouds 256 x 256
 * @property {Float32Array<ArrayBuffer>} ripples 128 x 128 x 2
 */

/** @param {Unpacked} unpacked @returns {Tables} */
export function tablesOf({ document, arrays, shapes }) {
  const { textures, levels, cracks } = document;
  /** @param {string} name */
  const values = (name) => {
    const { offset, scale } = document[name], [rows, columns] = shapes[name];
    return Float32Array.from(summed(arrays[name], rows, columns), (byte) => offset + (scale * byte) / 255);
  };
  return {
    textures,
    levels,
    cracks,
    states: Uint32Array.from(arrays.states),
    boxes: Float32Array.from(arrays.boxes),
    pages: pagesOf(arrays.pages, textures, levels),
    land: values("land"),
    clouds: values("clouds"),
    ripples: values("ripples"),
  };
}

/** RGBA of each state as it is from above: see `Land.overhead`. @param {Tables} tables */
export function coloursFromAbove({ states, boxes, pages, textures }) {
  const colours = new Uint8Array(states.length / 2), means = pages.subarray(pages.length - 4 * textures); // 1 x 1 pixels come last
  for (let state = 0; state < states.length / 8; state++) {
    const [what, , , upAndDown, range] = states.subarray(8 * state, 8 * state + 5), kind = what & 15;
    if ((what & 16) !== 0) colours.set([46, 86, 148, 128], 4 * state);
    const picture = kind === 5 ? boxes[12 * (range & 0xffffff) + 10] : upAndDown & 0xffff;
    if (kind === 0 || kind === 3 || kind === 4 || picture < 0 || 4 * picture >= means.length) continue;
    colours.set([...means.subarray(4 * picture, 4 * picture + 3), 255], 4 * state);
  }
  return colours;
}

/**
 * A picture whose values are differences, modulo 256, from the one before on both axes.
 * @param {ArrayLike<number>} differences
 * @param {number} rows
 * @param {number} columns
 * @returns {Uint8Array}
 */
export function summed(differences, rows, columns) {
  const values = Uint8Array.from(differences), row = values.length / rows, pixel = row / columns;
  for (let at = 0; at < values.length; at++) if (at % row >= pixel) values[at] += values[at - pixel];
  for (let at = row; at < values.length; at++) values[at] += values[at - row];
  return values;
}

/**
 * Textures at all sizes, one size after another; each smaller one is written as what it differs from the means of the larger.
 * @param {ArrayLike<number>} written RGBA
 * @param {number} num textures
 * @param {number} levels sizes, from 16 x 16 down
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function pagesOf(written, num, levels) {
  const pages = Uint8Array.from(written);
  let larger = 0;
  for (let level = 1; level < levels; level++) {
    const side = 16 >> level, row = 8 * side; // bytes in a row of the larger one
    const next = larger + num * 16 * side * side; // this one begins behind the larger
    let at = next;
    for (let picture = 0; picture < num; picture++)
      for (let y = 0; y < side; y++)
        for (let x = 0; x < 4 * side; x++, at++) {
          const from = larger + (picture * 2 * side + 2 * y) * row + 2 * x - (x & 3);
          pages[at] += (pages[from] + pages[from + 4] + pages[from + row] + pages[from + row + 4]) >> 2;
        }
    larger = next;
  }
  return pages;
}

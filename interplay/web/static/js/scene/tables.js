// How pictures are written in the static tables, undone: interplay/world/scene/tables.py writes differences, which take less room.

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
 * @returns {Uint8Array}
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

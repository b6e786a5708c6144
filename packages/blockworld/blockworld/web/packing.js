// One message of a scene: a JSON document and arrays. The bytes are described in docs/protocol.md; blockworld/scene/packing.py
// is the same in Python.

/** @typedef {Uint8Array<ArrayBuffer> | Int16Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>} PackedArray */

/**
 * A message taken apart.
 * @typedef {object} Unpacked
 * @property {Record<string, any>} document
 * @property {Record<string, PackedArray>} arrays views into the bytes, flat, in C order
 * @property {Record<string, number[]>} shapes of the arrays
 */

/** @typedef {{new (buffer: ArrayBuffer, offset: number, length: number): PackedArray, BYTES_PER_ELEMENT: number}} ArrayType */

const TYPES = new Map(/** @type {[unknown, ArrayType][]} */ ([
  ["uint8", Uint8Array],
  ["int16", Int16Array],
  ["uint16", Uint16Array],
  ["int32", Int32Array],
  ["uint32", Uint32Array],
  ["float32", Float32Array],
]));
const MOST_AXES = 8;

/** @param {unknown} value */
const isCount = (value) => Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * Take a message apart.
 * @param {ArrayBuffer} buffer the message, inflated
 * @returns {Unpacked}
 */
export function unpack(buffer) {
  if (buffer.byteLength < 4) throw new RangeError(`a message of a scene has at least 4 bytes, got ${buffer.byteLength}`);
  const size = new DataView(buffer).getUint32(0, true);
  const start = 4 + size;
  if (size % 4 || start > buffer.byteLength) {
    throw new RangeError(`the head of a scene's message should take ${size} bytes, a multiple of 4, and ${buffer.byteLength} came in all`);
  }
  const head = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(buffer, 4, size)));
  if (!isRecord(head) || !isRecord(head.arrays)) throw new TypeError("the head of a scene's message does not say where its arrays are");
  const { arrays: places, ...document } = head;
  /** @type {[string, PackedArray][]} */
  const arrays = [];
  /** @type {[string, number[]][]} */
  const shapes = [];
  for (const [name, place] of Object.entries(places)) {
    const { array, shape } = arrayAt(buffer, start, name, place);
    arrays.push([name, array]);
    shapes.push([name, shape]);
  }
  return { document, arrays: Object.fromEntries(arrays), shapes: Object.fromEntries(shapes) };
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * One array of a message whose head ends at `start`.
 * @param {ArrayBuffer} buffer
 * @param {number} start
 * @param {string} name
 * @param {unknown} place [dtype, shape, offset]
 * @returns {{array: PackedArray, shape: number[]}}
 */
function arrayAt(buffer, start, name, place) {
  if (Array.isArray(place) && place.length === 3) {
    const [dtype, shape, offset] = place;
    const Type = TYPES.get(dtype);
    if (Type && Array.isArray(shape) && shape.length <= MOST_AXES && shape.every(isCount) && isCount(offset) && offset % 4 === 0) {
      const length = shape.reduce((product, side) => product * side, 1);
      // A product beyond the safe integers is larger than any buffer too.
      if (start + offset + length * Type.BYTES_PER_ELEMENT <= buffer.byteLength) {
        return { array: new Type(buffer, start + offset, length), shape };
      }
    }
  }
  const [said, most] = [JSON.stringify(place).slice(0, 100), buffer.byteLength - start];
  throw new RangeError(`the array "${name.slice(0, 40)}" of a scene's message cannot be at ${said} of ${most} bytes`);
}

/**
 * Inflate raw deflate data (RFC 1951).
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {number} most how long it may get, in bytes
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function inflated(bytes, most) {
  let length = 0;
  const limit = new TransformStream({
    transform(piece, out) {
      length += piece.length;
      if (length > most) throw new RangeError(`a message inflates to more than ${most} bytes`);
      out.enqueue(piece);
    },
  });
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).pipeThrough(limit);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// From compressed messages to pixels. Decoding is asynchronous (the browser inflates off the main thread) but its results
// come out in the order the messages went in, because each delta needs the picture before it.

import { KIND } from "./protocol.js";

/** @typedef {import("./protocol.js").FrameMessage} FrameMessage */

/**
 * A decoded picture: palette indices, or a bitmap for JPEG.
 * @typedef {object} Picture
 * @property {number} step
 * @property {Uint8Array} [pixels]
 * @property {ImageBitmap} [bitmap]
 * @property {FrameMessage} message
 */

/**
 * Inflate raw deflate data (RFC 1951).
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {number} most how long it may get, in bytes
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function inflated(bytes, most) {
  const stream = new DecompressionStream("deflate-raw");
  const writer = stream.writable.getWriter();
  // Broken data fails the reader as well, so the writer's copy of the error would only be reported twice.
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  /** @type {Uint8Array[]} */
  const pieces = [];
  let length = 0;
  const reader = stream.readable.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    length += value.length;
    if (length > most) {
      reader.cancel().catch(() => {});
      throw new RangeError(`a frame inflates to more than ${most} bytes`);
    }
  }
  const result = new Uint8Array(length);
  for (let at = 0, k = 0; k < pieces.length; at += pieces[k++].length) result.set(pieces[k], at);
  return result;
}

/**
 * Inflate data whose size is known.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {number} size in bytes
 * @returns {Promise<Uint8Array>}
 */
export async function inflateRaw(bytes, size) {
  const result = await inflated(bytes, size);
  if (result.length !== size) throw new RangeError(`a frame inflates to ${result.length} bytes, expected ${size}`);
  return result;
}

/**
 * `delta` becomes the new picture: delta XOR base. Four bytes at a time where the length allows.
 * @param {Uint8Array} delta changed in place
 * @param {Uint8Array} base
 */
export function xorInto(delta, base) {
  const words = delta.length >> 2;
  const target = new Uint32Array(delta.buffer, delta.byteOffset, words);
  const source = new Uint32Array(base.buffer, base.byteOffset, words);
  for (let i = 0; i < words; i++) target[i] ^= source[i];
  for (let i = words << 2; i < delta.length; i++) delta[i] ^= base[i];
  return delta;
}

/** Raised when a delta's base is not the picture we have; the cure is a key frame. */
export class MissingBase extends Error {}

/** Decodes one stream of frames. */
export class FrameDecoder {
  /**
   * @param {number} width
   * @param {number} height
   */
  constructor(width, height) {
    this.size = width * height;
    /** @type {Picture | null} */
    this.last = null;
    /** @type {Promise<unknown>} */
    this.queue = Promise.resolve();
  }

  /**
   * Decode the next message. Inflating starts at once; the result waits for those before it.
   * @param {FrameMessage} message
   * @returns {Promise<Picture>} rejected with MissingBase when a key frame is needed
   */
  push(message) {
    const work = message.kind === KIND.JPEG ? decodeJpeg(message) : inflateRaw(message.payload, this.size);
    work.catch(() => {}); // reported below, in order
    const result = this.queue.then(async () => {
      this.last = await this.#finish(message, work);
      return this.last;
    });
    this.queue = result.catch(() => {});
    return result;
  }

  /**
   * @param {FrameMessage} message
   * @param {Promise<Uint8Array | ImageBitmap>} work
   * @returns {Promise<Picture>}
   */
  async #finish(message, work) {
    const data = await work;
    if (!(data instanceof Uint8Array)) return { step: message.step, bitmap: data, message };
    if (message.kind === KIND.DELTA) {
      const base = this.last;
      if (!base?.pixels || base.step !== message.baseStep) {
        throw new MissingBase(`frame ${message.step} needs frame ${message.baseStep}, we have ${base?.step ?? "none"}`);
      }
      xorInto(data, base.pixels);
    }
    return { step: message.step, pixels: data, message };
  }
}

/** @param {FrameMessage} message */
function decodeJpeg(message) {
  return createImageBitmap(new Blob([message.payload], { type: "image/jpeg" }));
}

/** A canvas that shows pictures, one 32-bit word a pixel. */
export class Screen {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser cannot draw on a canvas");
    this.context = context;
    /** @type {Uint32Array} */
    this.palette = new Uint32Array(256);
    this.image = context.createImageData(canvas.width, canvas.height);
    this.words = new Uint32Array(this.image.data.buffer);
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    this.canvas.width = width;
    this.canvas.height = height;
    this.image = this.context.createImageData(width, height);
    this.words = new Uint32Array(this.image.data.buffer);
  }

  /**
   * Show the picture as large as the page has room for.
   * @param {number} roomWidth in CSS pixels
   * @param {number} roomHeight
   * @param {boolean} isSmooth
   * @returns {number} its width
   */
  fit(roomWidth, roomHeight, isSmooth) {
    const { canvas } = this;
    const { width, height, smooth } = fitSize(canvas.width, canvas.height, roomWidth, roomHeight, devicePixelRatio, isSmooth);
    canvas.classList.toggle("smooth", smooth);
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    return width;
  }

  /** @param {Picture} picture */
  paint(picture) {
    if (picture.bitmap) {
      // A game that falls behind sends smaller pictures: they fill the same canvas.
      this.context.drawImage(picture.bitmap, 0, 0, this.canvas.width, this.canvas.height);
    } else if (picture.pixels) {
      const { words, palette } = this;
      const { pixels } = picture;
      for (let i = 0; i < pixels.length; i++) words[i] = palette[pixels[i]];
      this.context.putImageData(this.image, 0, 0);
    }
  }
}

/** A whole number of device pixels per pixel is worth so much of the size. */
const WORTH = 0.1;
/** Device pixels per pixel below which pixels of different sizes are seen as such. */
const LEAST_SHARP = 2;

/**
 * The size to show a picture at: all the room there is, or the largest whole number of device pixels per pixel, so that every pixel
 * is equally large, where that loses little. A smooth picture has no pixels to keep apart.
 * @param {number} width of the picture
 * @param {number} height
 * @param {number} roomWidth in CSS pixels
 * @param {number} roomHeight
 * @param {number} [pixelRatio] device pixels per CSS pixel
 * @param {boolean} [smooth]
 * @returns {{width: number, height: number, smooth: boolean}} CSS pixels, and whether to blend neighbouring pixels
 */
export function fitSize(width, height, roomWidth, roomHeight, pixelRatio = 1, smooth = false) {
  const fit = Math.min(roomWidth / width, roomHeight / height) * pixelRatio, whole = Math.floor(fit);
  const isWhole = !smooth && whole >= (1 - WORTH) * fit, scale = isWhole ? whole : fit;
  const shown = (/** @type {number} */ side) => Math.round(side * scale) / pixelRatio;
  return { width: shown(width), height: shown(height), smooth: smooth || (!isWhole && fit < LEAST_SHARP) };
}

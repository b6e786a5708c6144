// The block world drawn by the browser: frames of a scene go in, pictures come out. docs/protocol.md has the frames.

import { inflated } from "../codec.js";
import { KIND, guiSize } from "../protocol.js";
import { contextOf, whyNot } from "./able.js";
import { Display } from "./display.js";
import { Figures } from "./figures.js";
import { TICK_MS } from "./motion.js";
import { unpack } from "./packing.js";
import { LandView, viewOf } from "./view.js";

/** @typedef {import("./view.js").Camera} Camera */
/** @typedef {import("./land_worker.js").Answer} Answer */

/** Parts of the land that may be under way. */
const PARTS_AHEAD = 4;
/** Parts from which the land around the player can be looked at. */
const FIRST_PARTS = 4;
/** Time in a frame to send new cells to the graphics card. */
const UPLOAD_MS = 3;
const MOST_TABLES = 16 * 2 ** 20;
/** How far a free camera sees, in blocks; the depths of pictures end at 256. */
const FREE_FAR = 250;

/** Why this browser cannot draw, as its player reads it. */
export class CannotDraw extends Error {}

export class Scene {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLCanvasElement} overlay for bars and screens, over it
   * @param {string} tablesUrl
   * @param {boolean} [mayBeSlow] whether to draw without a graphics card too
   * @returns {Promise<Scene>}
   * @throws {CannotDraw}
   */
  static async open(canvas, overlay, tablesUrl, mayBeSlow = true) {
    const gl = contextOf(canvas), reason = whyNot(gl, mayBeSlow);
    if (!gl || reason !== null) throw new CannotDraw(reason ?? "");
    let tables;
    try {
      const response = await fetch(tablesUrl);
      if (!response.ok) throw new Error(`${tablesUrl} answers ${response.status}`);
      tables = unpack((await inflated(new Uint8Array(await response.arrayBuffer()), MOST_TABLES)).buffer);
    } catch (error) {
      throw new CannotDraw(`the textures did not arrive (${error instanceof Error ? error.message : error})`);
    }
    return new Scene(canvas, overlay, gl, tables);
  }

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLCanvasElement} overlay
   * @param {WebGL2RenderingContext} gl
   * @param {import("./packing.js").Unpacked} tables
   */
  constructor(canvas, overlay, gl, tables) {
    this.canvas = canvas;
    this.gl = gl;
    this.land = new LandView(gl, tables);
    this.figures = new Figures(gl);
    const context = /** @type {CanvasRenderingContext2D} */ (overlay.getContext("2d"));
    this.display = new Display(context, (pose, width, height) => this.figures.portrait(pose, width, height));
    /** What the player holds, as a pose. @type {number[] | null} */
    this.hand = null;
    /** What the newest frame says of the player. @type {Record<string, any> | null} */
    this.me = null;
    /** Of the newest frame. */
    this.tick = 0;
    /** When it came, by `clock`. */
    this.tickAt = 0;
    /** Tells milliseconds: a replay has a time of its own. */
    this.clock = () => performance.now();
    /** Whether the camera is not the player's: without their hand, bars and screens. */
    this.isFree = false;
    /** @type {((overhead: import("./land.js").Overhead) => void)[]} */
    this.looks = [];
    /** @type {number[] | null} */
    this.selected = null;
    /** @type {number[] | null} */
    this.crack = null;
    /** Parts that have come, and how many the server still has; null before it said so. */
    this.partsHere = 0;
    /** @type {number | null} */
    this.partsLeft = null;
    this.partsUnderWay = 0;
    /** Whether a picture of this land was made. */
    this.isDrawn = false;
    /** @type {import("./land.js").Box[]} cells that are not on the graphics card yet */
    this.boxes = [];
    /** @type {{header: import("../protocol.js").FrameMessage, done: () => void, fail: (error: Error) => void}[]} */
    this.tasks = [];
    this.worker = new Worker(new URL("./land_worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.#answered(data);
    this.worker.onerror = (event) => this.#lose(`the land cannot be unpacked (${event.message})`);
    /** @type {((reason: string) => void) | null} */
    this.lost = null;
    this.isOver = false;
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.#lose("the browser took its drawing surface away");
    });
  }

  /** Say what to do when nothing can be drawn any more. @param {(reason: string) => void} callback */
  onLost(callback) {
    this.lost = callback;
  }

  /** @param {string} reason */
  #lose(reason) {
    if (this.isOver) return;
    this.close(reason);
    this.lost?.(reason);
  }

  /** Let go of everything. @param {string} [reason] for who waits for a frame to be taken */
  close(reason = "the scene is closed") {
    this.isOver = true;
    this.worker.terminate();
    for (const { fail } of this.tasks.splice(0)) fail(new Error(reason));
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  /** The land from above, as it is when all frames so far are taken. @returns {Promise<import("./land.js").Overhead>} */
  overhead() {
    this.worker.postMessage({ colours: this.land.coloursFromAbove });
    return new Promise((done) => this.looks.push(done));
  }

  /** How many more parts of the land to ask for now; say so with `asked`. */
  get partsWanted() {
    if (this.me === null || this.partsLeft === 0) return 0;
    const most = this.isDrawn ? PARTS_AHEAD : FIRST_PARTS - this.partsHere; // the first picture waits for nothing else
    return Math.max(0, most - this.partsUnderWay);
  }

  /** @param {number} parts */
  asked(parts) {
    this.partsUnderWay += parts;
  }

  /** Whether the land around the player is here. */
  get isReady() {
    return this.me !== null && (this.partsHere >= FIRST_PARTS || this.partsLeft === 0);
  }

  /**
   * Take a frame of kind 4 or 5, in the order in which they came.
   * @param {import("../protocol.js").FrameMessage} frame
   * @returns {Promise<void>} when what it says can be drawn; fails where it is no such frame: ask for a key then
   */
  apply(frame) {
    if (this.isOver) return Promise.reject(new Error("the scene is closed"));
    this.worker.postMessage({ payload: frame.payload, isLand: frame.kind === KIND.LAND });
    return new Promise((done, fail) => this.tasks.push({ header: frame, done, fail }));
  }

  /** @param {Answer} answer */
  #answered({ error, document, arrays, boxes, overhead }) {
    if (overhead) return this.looks.shift()?.(overhead);
    if (document?.size) this.boxes = [];
    this.boxes.push(...boxes);
    if (error === undefined && !document) return; // nothing but cells from which rays jump further
    const task = this.tasks.shift();
    if (!task) return;
    try {
      if (error !== undefined) throw new Error(error);
      if (document && task.header.kind === KIND.LAND) this.#partCame(document);
      else if (document && arrays) this.#tickCame(document, arrays);
      task.done();
    } catch (problem) {
      task.fail(problem instanceof Error ? problem : new Error(String(problem)));
    }
  }

  /** @param {Record<string, any>} document */
  #partCame({ left, size }) {
    if (size) this.#begin(size);
    this.partsHere++;
    this.partsLeft = left;
    this.partsUnderWay = Math.min(left, Math.max(0, this.partsUnderWay - 1));
  }

  /** Nothing is known of a land of this size. @param {[number, number, number]} size */
  #begin(size) {
    this.land.begin(size);
    this.partsHere = this.partsUnderWay = 0;
    this.isDrawn = false;
    this.partsLeft = this.me = this.selected = this.crack = this.hand = null;
  }

  /**
   * @param {Record<string, any>} document
   * @param {Record<string, import("./packing.js").PackedArray>} arrays
   */
  #tickCame(document, arrays) {
    if (document.size) this.#begin(document.size);
    if (document.again) this.selected = this.crack = this.hand = null;
    this.me = document.me;
    this.tick = document.tick;
    this.tickAt = this.clock();
    if (document.selected !== undefined) this.selected = document.selected;
    if (document.crack !== undefined) this.crack = document.crack;
    if (document.hand !== undefined) this.hand = document.hand;
    if (document.left !== undefined) this.partsLeft = document.left; // where land is hidden, more comes into sight
    this.figures.update(document, arrays, this.tickAt);
    if (document.sprites) this.display.define(document.sprites, /** @type {any} */ (arrays.sprite_pixels));
    if (document.display) this.display.show(document.display, ...guiSize(this.canvas));
    if (arrays.numbers) this.land.light(/** @type {any} */ (arrays.numbers), /** @type {any} */ (arrays.bright));
  }

  /**
   * @param {number} width device pixels
   * @param {number} height
   */
  resize(width, height) {
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
  }

  /**
   * Paint one picture.
   * @param {Camera} camera
   * @param {number} nowMs
   * @param {number} [tick] of the clouds and ripples; by default as the time has it
   */
  draw(camera, nowMs, tick = this.tick + Math.min(1, Math.max(0, (nowMs - this.tickAt) / TICK_MS))) {
    if (this.isOver || !this.land.size) return;
    this.isDrawn = true;
    const begun = performance.now();
    while (this.boxes.length && performance.now() - begun < UPLOAD_MS) this.land.put(/** @type {any} */ (this.boxes.shift()));
    const view = viewOf(camera, this.canvas.width, this.canvas.height, this.land.bright);
    this.land.draw(view, tick, this.selected, this.crack, this.isFree ? FREE_FAR : undefined);
    this.figures.draw(view, nowMs);
    if (this.isFree) return;
    if (this.hand) this.figures.hand(this.hand, view, nowMs, this.tickAt);
    this.display.draw(this.canvas.width, this.canvas.height);
  }
}

// The block world drawn by the browser: frames of a scene go in, pictures come out. docs/protocol.md has the frames.

import { inflated } from "../codec.js";
import { KIND, guiSize } from "../protocol.js";
import { NO_WEBGL2, contextOf, isSoftware } from "./able.js";
import { Crosshair } from "./crosshair.js";
import { Display } from "./display.js";
import { Figures } from "./figures.js";
import { TICK_MS } from "./motion.js";
import { unpack } from "./packing.js";
import { ProcessorView, rayCaster } from "./processor_view.js";
import { coloursFromAbove, tablesOf } from "./tables.js";
import { LandView, viewOf } from "./view.js";

/** @typedef {import("./view.js").Camera} Camera */
/** @typedef {import("./land_worker.js").Answer} Answer */

/** Parts of the land that may be under way; where the processor draws, pictures need its time. */
const PARTS_AHEAD = 4, PARTS_BESIDE = 1;
/** Parts from which the land around the player can be looked at. */
const FIRST_PARTS = 4;
/** Time in a frame to send new cells to the graphics card. */
const UPLOAD_MS = 3;
/** Workers that say nothing for so long, on a page that is looked at, are gone. */
const SILENT_MS = 10_000;
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
   * @param {boolean} [castsHere] whether the processor casts the rays, and no shader; by default where there is no graphics card
   * @returns {Promise<Scene>}
   * @throws {CannotDraw}
   */
  static async open(canvas, overlay, tablesUrl, castsHere) {
    const gl = contextOf(canvas);
    if (!gl) throw new CannotDraw(NO_WEBGL2);
    let tables;
    try {
      const response = await fetch(tablesUrl);
      if (!response.ok) throw new Error(`${tablesUrl} answers ${response.status}`);
      tables = tablesOf(unpack((await inflated(new Uint8Array(await response.arrayBuffer()), MOST_TABLES)).buffer));
    } catch (error) {
      throw new CannotDraw(`the textures did not arrive (${error instanceof Error ? error.message : error})`);
    }
    return new Scene(canvas, overlay, gl, tables, (castsHere ?? isSoftware(gl)) ? await rayCaster() : null);
  }

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLCanvasElement} overlay
   * @param {WebGL2RenderingContext} gl
   * @param {import("./tables.js").Tables} tables
   * @param {WebAssembly.Module | null} caster casts the rays; null where a shader does
   */
  constructor(canvas, overlay, gl, tables, caster) {
    this.canvas = canvas;
    this.gl = gl;
    this.tables = tables;
    /** @type {LandView | ProcessorView} */
    this.land = caster ? new ProcessorView(gl, tables, caster, (reason) => this.#lose(reason)) : new LandView(gl, tables);
    this.figures = new Figures(gl);
    this.crosshair = new Crosshair(gl);
    /** Pixels of the bars and screens, which are sharp also where the world is drawn with fewer. @type {[number, number]} */
    this.sharp = [canvas.width, canvas.height];
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
    /** RGBA of each state from above, once they are asked for. @type {Uint8Array | null} */
    this.colours = null;
    /** Parts that have come, and how many the server still has; null before it said so. */
    this.partsHere = 0;
    /** @type {number | null} */
    this.partsLeft = null;
    this.partsUnderWay = 0;
    /** How long the picture and the oldest frame have been waited for, ms. */
    this.pictureMs = this.frameMs = 0;
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
    this.land.close();
    for (const { fail } of this.tasks.splice(0)) fail(new Error(reason));
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  /** The land from above, as it is when all frames so far are taken. @returns {Promise<import("./land.js").Overhead>} */
  overhead() {
    this.worker.postMessage({ colours: (this.colours ??= coloursFromAbove(this.tables)) });
    return new Promise((done) => this.looks.push(done));
  }

  /** Whether the processor casts the rays, in workers, and no shader does. */
  get castsHere() {
    return this.land instanceof ProcessorView;
  }

  /** How many more parts of the land to ask for now; say so with `asked`. */
  get partsWanted() {
    if (this.me === null || this.partsLeft === 0) return 0;
    const most = this.isDrawn ? (this.castsHere ? PARTS_BESIDE : PARTS_AHEAD) : FIRST_PARTS - this.partsHere; // the first picture waits for nothing else
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
    this.frameMs = 0;
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
    if (document.display) this.display.show(document.display, ...guiSize({ width: this.sharp[0], height: this.sharp[1] }));
    if (arrays.numbers) this.land.light(/** @type {any} */ (arrays.numbers), /** @type {any} */ (arrays.bright));
  }

  /**
   * @param {number} width of the world's picture, in pixels
   * @param {number} height
   * @param {number} sharpWidth of bars and screens over it, in pixels of the device
   * @param {number} sharpHeight
   */
  resize(width, height, sharpWidth = width, sharpHeight = height) {
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    this.sharp = [sharpWidth, sharpHeight];
  }

  /** Whether a picture is being made: draw the next one when it is there. */
  get isBusy() {
    return this.land.isBusy;
  }

  /** Whether the next picture will show more of the land, though no frame comes. */
  get isBehind() {
    return this.boxes.length > 0;
  }

  /** So much time has passed while the page could work: a worker that was stopped does not say so. @param {number} ms */
  wait(ms) {
    this.pictureMs = this.isBusy ? this.pictureMs + ms : 0;
    this.frameMs = this.tasks.length ? this.frameMs + ms : 0;
    if (Math.max(this.pictureMs, this.frameMs) > SILENT_MS) this.#lose("a part of what draws has stopped");
  }

  /**
   * Paint one picture, unless one is being made.
   * @param {Camera} camera
   * @param {number} nowMs
   * @param {number} [tick] of the clouds and ripples; by default as the time has it
   * @param {() => void} [painted] called when it is there: at once, or later where the processor casts the rays
   */
  draw(camera, nowMs, tick = this.tick + Math.min(1, Math.max(0, (nowMs - this.tickAt) / TICK_MS)), painted = () => {}) {
    if (this.isOver || !this.land.size || this.isBusy) return;
    const begun = performance.now(), isFirst = !this.isDrawn; // which shows all that has come
    this.isDrawn = true;
    this.pictureMs = 0;
    while (this.boxes.length && (isFirst || performance.now() - begun < UPLOAD_MS)) this.land.put(/** @type {any} */ (this.boxes.shift()));
    const view = viewOf(camera, this.canvas.width, this.canvas.height, this.land.bright);
    this.land.draw(view, tick, this.selected, this.crack, this.isFree ? FREE_FAR : this.land.far, () => {
      this.compose(view, nowMs);
      if (this.partsUnderWay === 0) this.worker.postMessage({ improve: true });
      painted();
    });
  }

  /**
   * Everything that comes over the land.
   * @param {import("./view.js").View} view
   * @param {number} nowMs
   */
  compose(view, nowMs) {
    if (this.isOver) return;
    const { width, height } = this.canvas; // it may have another size by now, and the same place
    const seen = { ...view, width, height };
    this.figures.draw(seen, nowMs);
    if (this.isFree) return;
    if (this.hand) this.figures.hand(this.hand, seen, nowMs, this.tickAt);
    this.display.draw(...this.sharp);
    this.crosshair.draw(this.display.crosshair, width, height);
  }
}

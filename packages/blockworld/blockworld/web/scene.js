// The block world drawn by the browser: frames of a scene go in, pictures come out. docs/protocol.md has the frames.

import { inflated, unpack } from "./packing.js";
import { TICK_MS, upright } from "./poses.js";
import { NO_WEBGL2, contextOf, isSoftware } from "./gl.js";
import { aim, viewOf } from "./camera.js";
import { Crosshair } from "./crosshair.js";
import { Display, guiSize } from "./display.js";
import { Figures } from "./figures.js";
import { ProcessorView, rayCaster } from "./land/processor_view.js";
import { NUMBERS } from "./land/shaders.js";
import { ShaderView } from "./land/shader_view.js";
import { coloursFromAbove, tablesOf } from "./land/tables.js";

/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./land/land_worker.js").Answer} Answer */
/** @typedef {{kind: number, payload: Uint8Array<ArrayBuffer>}} Frame a deflated message of the encoder, and whether it is of LAND or a tick */

/** The kind of a frame that has a part of the land. */
const LAND = 5;

/** Parts of the land that may be under way; where the processor draws, pictures need its time. */
const PARTS_AHEAD = 4, PARTS_BESIDE = 1;
/** Parts from which the land around the player can be looked at. */
const FIRST_PARTS = 4;
/** Time in a frame to send new cells to the graphics card. */
const UPLOAD_MS = 3;
/** Of a common display. */
const FRAME_MS = 1000 / 60;
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
   * @param {boolean} [usesProcessor] whether the processor casts the rays, and no shader; by default where there is no graphics card
   * @returns {Promise<Scene>}
   * @throws {CannotDraw}
   */
  static async open(canvas, overlay, tablesUrl, usesProcessor) {
    const gl = contextOf(canvas);
    if (!gl) throw new CannotDraw(NO_WEBGL2);
    try {
      const casts = (usesProcessor ?? isSoftware(gl)) ? rayCaster() : null;
      const [tables, caster] = await Promise.all([fetchTables(tablesUrl), casts]);
      return new Scene(canvas, overlay, gl, tables, caster);
    } catch (error) {
      gl.getExtension("WEBGL_lose_context")?.loseContext(); // browsers keep few of them
      throw error;
    }
  }

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLCanvasElement} overlay
   * @param {WebGL2RenderingContext} gl
   * @param {import("./land/tables.js").Tables} tables
   * @param {WebAssembly.Module | null} caster casts the rays; null where a shader does
   */
  constructor(canvas, overlay, gl, tables, caster) {
    this.canvas = canvas;
    this.gl = gl;
    this.tables = tables;
    this.figures = new Figures(gl);
    this.crosshair = new Crosshair(gl);
    /** Pixels of the next picture; the canvas gets them with it. @type {[number, number]} */
    this.size = [canvas.width, canvas.height];
    /** Pixels of bars and screens, which are sharp also where the world is drawn with fewer. @type {[number, number]} */
    this.sharp = [canvas.width, canvas.height];
    /** The ray-caster's numbers as the server sent them, and what follows from the newest view. */
    this.numbers = new Float32Array(NUMBERS.ALL);
    /** How far the player sees, in blocks, and the share of it that is drawn. */
    this.far = 0;
    this.reach = 1;
    /** Colour that each light value gives to white. */
    this.bright = new Float32Array(256 * 3);
    const context = /** @type {CanvasRenderingContext2D} */ (overlay.getContext("2d"));
    this.display = new Display(context, (pose, width, height) => this.figures.portrait(upright(pose), width, height));
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
    /** @type {((overhead: import("./land/land.js").Overhead) => void)[]} */
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
    /** Whether rays may be made to jump further in parts that are here. */
    this.canImprove = false;
    /** How long the picture and the oldest frame have been waited for, ms. */
    this.pictureMs = this.frameMs = 0;
    /** Whether a picture of this land was begun. */
    this.isDrawn = false;
    /** @type {import("./land/land.js").Box[][]} cells that are not on the graphics card yet, as they came */
    this.boxes = [];
    /** @type {{isLand: boolean, done: () => void, fail: (error: Error) => void}[]} */
    this.tasks = [];
    this.worker = new Worker(new URL("./land/land_worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.#answered(data);
    this.worker.onerror = (event) => this.#lose(`the land cannot be unpacked (${event.message})`);
    /** @type {((reason: string) => void) | null} */
    this.lost = null;
    this.isOver = false;
    /** How large bars and screens are. */
    this.guiScale = 1;
    /** @type {ShaderView | ProcessorView} last, since it may begin workers */
    this.land = caster ? new ProcessorView(gl, tables, caster, (reason) => this.#lose(reason)) : new ShaderView(gl, tables);
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

  /** The land from above, as it is when all frames so far are taken. @returns {Promise<import("./land/land.js").Overhead>} */
  overhead() {
    this.worker.postMessage({ colours: (this.colours ??= coloursFromAbove(this.tables)) });
    return new Promise((done) => this.looks.push(done));
  }

  /** Whether the processor casts the rays, in workers, and no shader does. */
  get usesProcessor() {
    return this.land instanceof ProcessorView;
  }

  /** How many more parts of the land to ask for now; say so with `asked`. */
  get partsWanted() {
    if (this.me === null || this.partsLeft === 0) return 0;
    const ahead = this.usesProcessor ? PARTS_BESIDE : PARTS_AHEAD;
    const most = this.isDrawn ? ahead : FIRST_PARTS - this.partsHere; // the first picture waits for nothing else
    return Math.max(0, most - this.partsUnderWay);
  }

  /** @param {number} parts */
  asked(parts) {
    this.partsUnderWay += parts;
  }

  /** Whether land comes. */
  get isArriving() {
    return this.partsLeft !== 0 || this.isBehind;
  }

  /** Whether the land around the player is here. */
  get isReady() {
    return this.me !== null && (this.partsHere >= FIRST_PARTS || this.partsLeft === 0);
  }

  /**
   * Take a frame, in the order in which they came.
   * @param {Frame} frame
   * @returns {Promise<void>} when what it says can be drawn; fails where it is no such frame: ask for a key then
   */
  apply({ kind, payload }) {
    if (this.isOver) return Promise.reject(new Error("the scene is closed"));
    const isLand = kind === LAND;
    this.worker.postMessage({ payload, isLand });
    return new Promise((done, fail) => this.tasks.push({ isLand, done, fail }));
  }

  /** @param {Answer} answer */
  #answered({ error, document, arrays, boxes, overhead, isImproved }) {
    this.frameMs = 0;
    if (isImproved) this.canImprove = false;
    if (overhead) return this.looks.shift()?.(overhead);
    if (document?.size) this.boxes = [];
    if (boxes.length) this.boxes.push(boxes);
    if (error === undefined && !document) return; // nothing but cells from which rays jump further
    const task = this.tasks.shift();
    if (!task) return;
    try {
      if (error !== undefined) throw new Error(error);
      if (document && task.isLand) this.#partCame(document);
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
    this.canImprove = true;
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
    if (document.left !== undefined) {
      this.partsLeft = document.left; // where land is hidden, more comes into sight
      this.canImprove = true;
    }
    this.figures.update(document, arrays, this.tickAt);
    if (document.sprites) this.display.define(document.sprites, /** @type {any} */ (arrays.sprite_pixels));
    if (document.display) this.display.show(document.display, ...guiSize(...this.sharp, this.guiScale));
    if (!arrays.numbers) return;
    this.numbers.set(/** @type {any} */ (arrays.numbers));
    this.far = this.numbers[NUMBERS.FAR];
    this.bright.set(/** @type {any} */ (arrays.bright));
    this.land.light(this.bright);
  }

  /**
   * From the next picture on.
   * @param {number} width of the world's picture, in pixels
   * @param {number} height
   * @param {number} sharpWidth of bars and screens over it, in pixels of the device
   * @param {number} sharpHeight
   */
  resize(width, height, sharpWidth = width, sharpHeight = height) {
    this.size = [width, height];
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
    this.frameMs = this.tasks.length || this.looks.length ? this.frameMs + ms : 0;
    if (Math.max(this.pictureMs, this.frameMs) > SILENT_MS) this.#lose("a part of what draws has stopped");
  }

  /**
   * Paint one picture, unless one is being made.
   * @param {Camera} camera
   * @param {number} nowMs
   * @param {number} [tick] of the clouds and ripples; by default as the time has it
   * @param {(isLate: boolean) => void} [painted] called when it is there: at once, or later where the processor casts the rays; it is
   *   late if it took longer than a frame of the display, whose next one need not be waited for
   */
  draw(camera, nowMs, tick = this.tick + Math.min(1, Math.max(0, (nowMs - this.tickAt) / TICK_MS)), painted = () => {}) {
    if (this.isOver || !this.land.size || this.isBusy) return;
    const begun = performance.now(), isFirst = !this.isDrawn; // which shows all that has come
    this.isDrawn = true;
    this.pictureMs = 0;
    while (this.boxes.length && (isFirst || performance.now() - begun < UPLOAD_MS)) this.land.put(/** @type {any} */ (this.boxes.shift()));
    const view = viewOf(camera, ...this.size, this.bright);
    aim(this.numbers, view, tick, this.reach * (this.isFree ? FREE_FAR : this.far));
    let isBeside = false;
    this.land.draw(view, this.numbers, this.selected, this.crack, () => {
      if (this.isOver) return;
      this.#compose(view, nowMs);
      if (this.canImprove && this.partsUnderWay === 0) this.worker.postMessage({ improve: this.partsLeft === 0 ? "all" : "whole" });
      painted(isBeside && performance.now() - begun > FRAME_MS);
    });
    isBeside = true;
  }

  /**
   * Everything that comes over the land.
   * @param {import("./camera.js").View} view
   * @param {number} nowMs
   */
  #compose(view, nowMs) {
    this.figures.draw(view, nowMs);
    if (this.isFree) return;
    if (this.hand) this.figures.hand(this.hand, view, nowMs, this.tickAt);
    this.display.draw(...this.sharp, view.width === this.sharp[0] && view.height === this.sharp[1]);
    this.crosshair.draw(this.display.crosshair, view.width, view.height);
  }
}

/** @param {string} url @returns {Promise<import("./land/tables.js").Tables>} @throws {CannotDraw} */
async function fetchTables(url) {
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url} answers ${response.status}`);
    return tablesOf(unpack((await inflated(new Uint8Array(await response.arrayBuffer()), MOST_TABLES)).buffer));
  } catch (error) {
    throw new CannotDraw(`the textures did not arrive (${error instanceof Error ? error.message : error})`);
  }
}

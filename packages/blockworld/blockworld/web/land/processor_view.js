// The land where there is no graphics card: workers cast its rays, each some rows of the picture, and the page lays what they have
// made under the figures. The same calls as `ShaderView` has.

import { Program, WHOLE, texelTexture, toCanvas } from "../gl.js";
import { DEPTH, TILE } from "./shaders.js";

/** @typedef {import("./caster_worker.js").Order} Order */
/** @typedef {import("./caster.js").Cast} Cast */
/** @typedef {import("./land.js").Box} Box */
/** @typedef {import("./tables.js").Tables} Tables */
/** @typedef {import("../camera.js").View} View */

/** Each has a copy of the land, 35 MB. */
const MOST_WORKERS = 4;

const FRAGMENT = `#version 300 es
precision highp float; precision highp sampler2D;
uniform sampler2D picture, depths;
uniform ivec3 rows; // of pixels, of tiles, and workers
out vec4 colour;
void main() {
  int y = rows.x - 1 - int(gl_FragCoord.y), tile = y / ${TILE}, worker = tile % rows.z; // the first row is the highest
  int before = worker * (rows.y / rows.z) + min(worker, rows.y % rows.z); // rows of tiles of the workers before this one
  ivec2 at = ivec2(gl_FragCoord.x, (before + tile / rows.z) * ${TILE} + y % ${TILE});
  colour = vec4(texelFetch(picture, at, 0).rgb, 1.0);
  gl_FragDepth = min(1.0, texelFetch(depths, at, 0).r / ${DEPTH}.0);
}`;

/** The compiled ray-caster. @returns {Promise<WebAssembly.Module>} @throws {Error} if this browser cannot run it */
export async function rayCaster() {
  const response = await fetch(new URL("./raycaster.wasm", import.meta.url));
  if (!response.ok) throw new Error(`the ray-caster did not arrive (${response.status})`);
  return WebAssembly.compile(await response.arrayBuffer());
}

export class ProcessorView {
  /**
   * @param {WebGL2RenderingContext} gl
   * @param {Tables} tables
   * @param {WebAssembly.Module} module
   * @param {(reason: string) => void} onLost
   */
  constructor(gl, tables, module, onLost) {
    this.gl = gl;
    this.cracks = tables.cracks;
    /** @type {[number, number, number] | null} */
    this.size = null;
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    this.program = new Program(gl, WHOLE, FRAGMENT);
    this.empty = gl.createVertexArray();
    /** @type {WebGLTexture[]} the picture and its depths */
    this.textures = [];
    this.screen = [0, 0];
    /** Workers that still cast. */
    this.missing = 0;
    /** What each worker made last, whose memory it gets back. @type {(Cast | undefined)[]} */
    this.used = [];
    /** Is called with each worker's part. @type {((cast: Cast, worker: number) => void)} */
    this.onPart = () => {};
    const num = Math.max(2, Math.min(MOST_WORKERS, Math.floor(navigator.hardwareConcurrency / 2)));
    this.workers = Array.from({ length: num }, (_, number) => {
      const worker = new Worker(new URL("./caster_worker.js", import.meta.url), { type: "module" });
      worker.onmessage = ({ data }) => this.onPart(data, number);
      for (const what of ["error", "messageerror"])
        worker.addEventListener(what, (event) => {
          console.warn(event);
          onLost("this browser could not draw the land");
        });
      return worker;
    });
    this.#tell({ module, tables });
    // The first use takes its time, and nothing is seen of this one.
    this.#upload({ pixels: new Uint8Array(3), depths: new Float32Array(1) }, 1, 1, 0);
    this.#compose();
  }

  /** Whether a picture is being made: another one can be asked for when it is there. */
  get isBusy() {
    return this.missing > 0;
  }

  /** A land of this size of which nothing is known. @param {[number, number, number]} size */
  begin(size) {
    this.size = size;
    this.#tell({ size });
  }

  /** Cells as they are now. @param {Box[]} boxes they are given away */
  put(boxes) {
    const last = this.workers.length - 1, buffers = boxes.map((box) => box.bytes.buffer);
    this.workers.forEach((worker, number) => worker.postMessage({ boxes }, number === last ? buffers : []));
  }

  /** What light is worth. @param {Float32Array} bright colour that each light value gives to white, 256 * 3 */
  light(bright) {
    this.#tell({ bright });
  }

  /**
   * Draw the land over the whole canvas, with depths.
   * @param {View} view
   * @param {Float32Array} numbers the ray-caster's, for this view
   * @param {number[] | null} selected the block to outline
   * @param {number[] | null} crack the block being broken, and the stage, 0 to 9
   * @param {() => void} done called when it is there
   */
  draw(view, numbers, selected, crack, done) {
    const { width, height } = view, every = this.workers.length;
    const marks = [...(selected ?? [-1, -1, -1]), ...(crack ? [crack[0], crack[1], crack[2], this.cracks[crack[3]]] : [-1, -1, -1, -1])];
    this.missing = every;
    this.workers.forEach((worker, first) => {
      const used = this.used[first];
      worker.postMessage({ wanted: { numbers, width, height, marks, first, every, used } }, used ? [used.pixels.buffer, used.depths.buffer] : []);
      this.used[first] = undefined;
    });
    this.onPart = (cast, first) => {
      this.#upload(cast, width, height, first);
      this.used[first] = cast;
      if (--this.missing) return;
      this.#compose();
      done();
    };
  }

  close() {
    for (const worker of this.workers) worker.terminate();
  }

  /** @param {Order} order */
  #tell(order) {
    for (const worker of this.workers) worker.postMessage(order);
  }

  /**
   * Lay what a worker made behind what those before it make.
   * @param {Cast} cast
   * @param {number} width
   * @param {number} height
   * @param {number} first row of tiles that it has
   */
  #upload({ pixels, depths }, width, height, first) {
    const { gl } = this, down = Math.ceil(height / TILE), every = this.workers.length;
    if (this.screen[0] !== width || this.screen[1] !== height) {
      for (const texture of this.textures) gl.deleteTexture(texture);
      gl.activeTexture(gl.TEXTURE0);
      this.textures = [gl.RGB8, gl.R32F].map((format) => {
        const texture = texelTexture(gl, gl.TEXTURE_2D);
        gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, TILE * down);
        return texture;
      });
      this.screen = [width, height];
    }
    const row = TILE * (first * Math.floor(down / every) + Math.min(first, down % every)), rows = depths.length / width;
    for (const [unit, format, type, values] of /** @type {const} */ ([[0, gl.RGB, gl.UNSIGNED_BYTE, pixels], [1, gl.RED, gl.FLOAT, depths]])) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, this.textures[unit]);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, row, width, rows, format, type, values);
    }
  }

  /** What was cast is the canvas's picture, with its depths. */
  #compose() {
    const { gl, program } = this, [width, height] = this.screen;
    toCanvas(gl, width, height);
    gl.bindVertexArray(this.empty);
    gl.disable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.ALWAYS);
    gl.depthMask(true);
    gl.useProgram(program.program);
    gl.uniform3i(program.place("rows"), height, Math.ceil(height / TILE), this.workers.length);
    this.textures.forEach((texture, unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.uniform1i(program.place(unit === 0 ? "picture" : "depths"), unit);
    });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.depthFunc(gl.LESS);
  }
}

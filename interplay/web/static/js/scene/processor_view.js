// The land where there is no graphics card: workers cast its rays, each some rows of the picture, and the page lays what they have
// made under the figures. The same calls as `LandView` has.

import { DEPTH, NUMBERS, TILE, WHOLE } from "./shaders.js";
import { Program, aim, texelTexture } from "./view.js";

/** @typedef {import("./caster_worker.js").Order} Order */
/** @typedef {import("./caster.js").Cast} Cast */
/** @typedef {import("./land.js").Box} Box */
/** @typedef {import("./tables.js").Tables} Tables */
/** @typedef {import("./view.js").View} View */

/** Each has a copy of the land, 35 MB. */
const MOST_WORKERS = 4;

const FRAGMENT = `#version 300 es
precision highp float; precision highp sampler2D;
uniform sampler2D picture, depths;
uniform vec2 screen;
out vec4 colour;
void main() {
  ivec2 size = textureSize(picture, 0), at = ivec2(gl_FragCoord.xy / screen * vec2(size));
  at.y = size.y - 1 - at.y; // the first row is the highest
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
    this.numbers = new Float32Array(NUMBERS.ALL);
    this.far = 0;
    this.bright = new Float32Array(256 * 3);
    /** @type {[number, number, number] | null} */
    this.size = null;
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    this.program = new Program(gl, WHOLE, FRAGMENT);
    this.empty = gl.createVertexArray();
    /** @type {WebGLTexture[]} the picture and its depths */
    this.textures = [];
    this.screen = [0, 0];
    /** Rows of tiles that are still being cast. */
    this.missing = 0;
    /** Is called with each worker's part. @type {((cast: Cast, worker: number) => void)} */
    this.onPart = () => {};
    const num = Math.max(2, Math.min(MOST_WORKERS, Math.floor(navigator.hardwareConcurrency / 2)));
    this.workers = Array.from({ length: num }, (_, number) => {
      const worker = new Worker(new URL("./caster_worker.js", import.meta.url), { type: "module" });
      worker.onmessage = ({ data }) => this.onPart(data, number);
      worker.onerror = (event) => onLost(`the land cannot be drawn (${event.message})`);
      return worker;
    });
    this.#tell({ module, tables });
    // The first use takes its time, and nothing is seen of this one.
    this.#upload({ pixels: new Uint8Array(3), depths: new Float32Array(1) }, 1, 1, 0, 1);
    this.#lay();
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

  /** Cells as they are now. @param {Box} box it is given away */
  put(box) {
    this.workers.forEach((worker, number) => worker.postMessage({ box }, number === this.workers.length - 1 ? [box.bytes.buffer] : []));
  }

  /** The ray-caster's numbers and what light is worth, which follow the time of day. @param {Float32Array} numbers @param {Float32Array} bright */
  light(numbers, bright) {
    this.numbers.set(numbers);
    this.far = this.numbers[NUMBERS.FAR];
    this.bright.set(bright);
    this.#tell({ bright: this.bright });
  }

  /**
   * Draw the land over the whole canvas, with depths.
   * @param {View} view
   * @param {number} ticks of the world, with a part: they move clouds and ripples
   * @param {number[] | null} selected the block to outline
   * @param {number[] | null} crack the block being broken, and the stage, 0 to 9
   * @param {number} far how far one sees, in blocks
   * @param {() => void} done called when it is there
   */
  draw(view, ticks, selected, crack, far, done) {
    const { width, height } = view, every = this.workers.length;
    aim(this.numbers, view, ticks, far);
    const marks = [...(selected ?? [-1, -1, -1]), ...(crack ? [crack[0], crack[1], crack[2], this.cracks[crack[3]]] : [-1, -1, -1, -1])];
    this.missing = every;
    this.workers.forEach((worker, first) => worker.postMessage({ wanted: { numbers: this.numbers, width, height, marks, first, every } }));
    this.onPart = (cast, first) => {
      this.#upload(cast, width, height, first, every);
      if (--this.missing) return;
      this.#lay();
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
   * @param {Cast} cast
   * @param {number} width
   * @param {number} height
   * @param {number} first row of tiles that it has
   * @param {number} every
   */
  #upload({ pixels, depths }, width, height, first, every) {
    const { gl } = this;
    if (this.screen[0] !== width || this.screen[1] !== height) {
      for (const texture of this.textures) gl.deleteTexture(texture);
      gl.activeTexture(gl.TEXTURE0);
      this.textures = [gl.RGB8, gl.R32F].map((format) => {
        const texture = texelTexture(gl, gl.TEXTURE_2D);
        gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
        return texture;
      });
      this.screen = [width, height];
    }
    const side = every === 1 ? height : TILE; // one worker has them all
    for (const [unit, format, type, values, size] of /** @type {const} */ ([[0, gl.RGB, gl.UNSIGNED_BYTE, pixels, 3], [1, gl.RED, gl.FLOAT, depths, 1]])) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, this.textures[unit]);
      for (let row = side * first, from = 0; row < height; row += side * every) {
        const rows = Math.min(side, height - row);
        gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, row, width, rows, format, type, values, from);
        from += rows * width * size;
      }
    }
  }

  /** What was cast is the picture, as large as the canvas is now. */
  #lay() {
    const { gl, program } = this, { width, height } = gl.canvas;
    gl.bindVertexArray(this.empty);
    gl.disable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.ALWAYS);
    gl.depthMask(true);
    gl.useProgram(program.program);
    gl.uniform2f(program.place("screen"), width, height);
    this.textures.forEach((texture, unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.uniform1i(program.place(unit === 0 ? "picture" : "depths"), unit);
    });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.depthFunc(gl.LESS);
  }
}

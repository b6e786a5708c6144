// The land on the graphics card: its cells, the tables of the ray-caster, and the two passes that make a picture of it.

import { Program, texelTexture, toCanvas } from "../gl.js";
import { TILE, landShader, tileShader, vertexShader } from "./shaders.js";

/** @typedef {import("./land.js").Box} Box */
/** @typedef {import("./tables.js").Tables} Tables */
/** @typedef {import("../camera.js").View} View */
const STATES_IN_A_ROW = 128;
const BOXES_IN_A_ROW = 64;
const TEXTURES_IN_A_ROW = 64;

/** The land's picture by a shader. `ProcessorView` has the same calls, for where there is no graphics card. */
export class ShaderView {
  /**
   * @param {WebGL2RenderingContext} gl
   * @param {Tables} tables
   */
  constructor(gl, tables) {
    this.gl = gl;
    this.cracks = tables.cracks;
    /** @type {[number, number, number] | null} */
    this.size = null;
    /** Whether a picture is being made: never between two calls. */
    this.isBusy = false;
    /** @type {Record<string, {target: number, texture: WebGLTexture}>} by the name that shaders know */
    this.textures = {};
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    const states = filled(tables.states, 8 * STATES_IN_A_ROW), boxes = filled(tables.boxes, 12 * BOXES_IN_A_ROW);
    this.#table("states", gl.RGBA32UI, gl.RGBA_INTEGER, gl.UNSIGNED_INT, 2 * STATES_IN_A_ROW, states.length / (8 * STATES_IN_A_ROW), states);
    this.#table("boxes", gl.RGBA32F, gl.RGBA, gl.FLOAT, 3 * BOXES_IN_A_ROW, boxes.length / (12 * BOXES_IN_A_ROW), boxes);
    this.#table("land", gl.RGB32F, gl.RGB, gl.FLOAT, 256, 256, tables.land);
    this.#table("clouds", gl.R32F, gl.RED, gl.FLOAT, 256, 256, tables.clouds);
    this.#table("ripples", gl.RG32F, gl.RG, gl.FLOAT, 128, 128, tables.ripples);
    this.#table("brights", gl.RGB32F, gl.RGB, gl.FLOAT, 256, 1, null);
    this.#atlas(tables);
    this.frame = gl.createFramebuffer();
    this.screen = [0, 0];
    this.empty = gl.createVertexArray();
    /** @type {Record<string, Program>} */
    this.programs = {};
  }

  /** A land of this size of which nothing is known. @param {[number, number, number]} size */
  begin([sx, sy, sz]) {
    const { gl } = this;
    if (Math.max(sx, sy, sz) > gl.getParameter(gl.MAX_3D_TEXTURE_SIZE)) throw new Error("the land is larger than this graphics card draws");
    if (String(this.size) !== String([sx, sy, sz])) {
      this.size = [sx, sy, sz];
      const old = this.textures.cells;
      if (old) gl.deleteTexture(old.texture);
      this.#bind("cells", gl.TEXTURE_3D);
      gl.texStorage3D(gl.TEXTURE_3D, 1, gl.RGBA8UI, sy, sz, sx);
      const vertex = vertexShader(this.size);
      this.programs = { tiles: new Program(gl, vertex, tileShader(this.size)), land: new Program(gl, vertex, landShader(this.size)) };
    }
    const unknown = new Uint8Array(new Uint32Array(16 * sy * sz).fill(0xffff).buffer);
    for (let x = 0; x < sx; x += 16) this.put([{ corner: [x, 0, 0], size: [16, sy, sz], bytes: unknown }]);
  }

  /** Cells as they are now. @param {Box[]} boxes */
  put(boxes) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_3D, this.textures.cells.texture);
    for (const { corner: [x, y, z], size: [nx, ny, nz], bytes } of boxes)
      gl.texSubImage3D(gl.TEXTURE_3D, 0, y, z, x, ny, nz, nx, gl.RGBA_INTEGER, gl.UNSIGNED_BYTE, bytes);
  }

  /** What light is worth. @param {Float32Array} bright colour that each light value gives to white, 256 * 3 */
  light(bright) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.textures.brights.texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 256, 1, gl.RGB, gl.FLOAT, bright);
  }

  /**
   * Draw the land over the whole canvas, with depths.
   * @param {View} view
   * @param {Float32Array} numbers the ray-caster's, for this view
   * @param {number[] | null} selected the block to outline
   * @param {number[] | null} crack the block being broken, and the stage, 0 to 9
   * @param {() => void} done called when it is there: at once
   */
  draw(view, numbers, selected, crack, done) {
    const { gl } = this, { tiles, land } = this.programs;
    const columns = Math.ceil(view.width / TILE), rows = Math.ceil(view.height / TILE);
    if (this.screen[0] !== columns || this.screen[1] !== rows) {
      this.screen = [columns, rows];
      this.#table("firsts", gl.R32UI, gl.RED_INTEGER, gl.UNSIGNED_INT, columns, rows, null);
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.textures.firsts.texture, 0);
    }
    gl.bindVertexArray(this.empty);
    gl.disable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
    gl.disable(gl.DEPTH_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.viewport(0, 0, columns, rows);
    this.#use(tiles, view, numbers);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    toCanvas(gl, view.width, view.height);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.ALWAYS);
    gl.depthMask(true);
    this.#use(land, view, numbers);
    gl.uniform3iv(land.place("selected"), selected ?? [-1, -1, -1]);
    gl.uniform4iv(land.place("crack"), crack ? [crack[0], crack[1], crack[2], this.cracks[crack[3]]] : [-1, -1, -1, 0]);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.depthFunc(gl.LESS);
    done();
  }

  /** Nothing works beside the page. */
  close() {}

  /** @param {Program} program @param {View} view @param {Float32Array} numbers */
  #use(program, view, numbers) {
    const { gl } = this;
    gl.useProgram(program.program);
    gl.uniform1fv(program.place("num"), numbers);
    gl.uniform2f(program.place("screen"), view.width, view.height);
    let unit = 0;
    for (const [name, { target, texture }] of Object.entries(this.textures)) {
      const place = program.place(name);
      if (place === null) continue;
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(target, texture);
      gl.uniform1i(place, unit++);
    }
  }

  /** A texture that is read texel by texel. @param {string} name @param {number} target */
  #bind(name, target) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0);
    const texture = texelTexture(gl, target);
    const old = this.textures[name];
    if (old && name !== "cells") gl.deleteTexture(old.texture);
    this.textures[name] = { target, texture };
  }

  /**
   * @param {string} name
   * @param {number} format
   * @param {number} layout
   * @param {number} type
   * @param {number} width
   * @param {number} height
   * @param {ArrayBufferView | null} values
   */
  #table(name, format, layout, type, width, height, values) {
    const { gl } = this;
    this.#bind(name, gl.TEXTURE_2D);
    gl.texImage2D(gl.TEXTURE_2D, 0, format, width, height, 0, layout, type, values);
  }

  /**
   * All textures of blocks, 64 in a row, at five sizes from 16 x 16 down to 1 x 1.
   * @param {Tables} tables
   */
  #atlas({ textures: num, levels, pages }) {
    const { gl } = this, rows = Math.ceil(num / TEXTURES_IN_A_ROW);
    this.#bind("atlas", gl.TEXTURE_2D);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST_MIPMAP_NEAREST);
    gl.texStorage2D(gl.TEXTURE_2D, levels, gl.RGBA8, 16 * TEXTURES_IN_A_ROW, rows * 16);
    let from = 0;
    for (let level = 0; level < levels; level++) {
      const side = 16 >> level, page = new Uint8Array(TEXTURES_IN_A_ROW * side * rows * side * 4);
      for (let i = 0; i < num; i++)
        for (let row = 0; row < side; row++, from += side * 4) {
          const to = Math.floor(i / TEXTURES_IN_A_ROW) * side + row;
          page.set(pages.subarray(from, from + side * 4), (to * TEXTURES_IN_A_ROW + (i % TEXTURES_IN_A_ROW)) * side * 4);
        }
      gl.texSubImage2D(gl.TEXTURE_2D, level, 0, 0, TEXTURES_IN_A_ROW * side, rows * side, gl.RGBA, gl.UNSIGNED_BYTE, page);
    }
  }
}

/**
 * The same values, with zeros after them until whole rows are full.
 * @template {import("../packing.js").PackedArray} T
 * @param {T} values
 * @param {number} row
 * @returns {T}
 */
function filled(values, row) {
  const all = /** @type {T} */ (new (/** @type {any} */ (values.constructor))(Math.ceil(values.length / row) * row));
  all.set(/** @type {any} */ (values));
  return all;
}

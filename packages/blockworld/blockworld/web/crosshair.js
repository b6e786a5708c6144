// The cross in the middle of the picture: it inverts what is under it, so that it is seen over everything.

import { Program, WHOLE } from "./gl.js";

const WHITE = `#version 300 es
precision highp float;
out vec4 colour;
void main() { colour = vec4(1.0); }`;

export class Crosshair {
  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.gl = gl;
    this.program = new Program(gl, WHOLE, WHITE);
    this.empty = gl.createVertexArray();
    this.draw([[0, 0, 0, 0]], 1, 1); // without a graphics card the first use takes its time
  }

  /**
   * Invert the canvas in some rectangles.
   * @param {number[][]} bars x, y, width and height as shares of the canvas, from its upper left corner
   * @param {number} width of the canvas
   * @param {number} height
   */
  draw(bars, width, height) {
    const { gl } = this;
    gl.useProgram(this.program.program);
    gl.bindVertexArray(this.empty);
    gl.viewport(0, 0, width, height);
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE_MINUS_DST_COLOR, gl.ZERO);
    gl.enable(gl.SCISSOR_TEST);
    for (const [x, y, wide, tall] of bars) {
      const [left, right] = [x, x + wide].map((share) => Math.round(share * width));
      const [top, bottom] = [y, y + tall].map((share) => Math.round(share * height));
      gl.scissor(left, height - bottom, right - left, bottom - top);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
    gl.disable(gl.SCISSOR_TEST);
    gl.disable(gl.BLEND);
    gl.bindVertexArray(null);
  }
}

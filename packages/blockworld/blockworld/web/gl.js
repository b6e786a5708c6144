// What everything that draws with WebGL2 needs.

/** The vertex shader of a triangle over the whole picture. */
export const WHOLE = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }`;

/** A texture that is read texel by texel, bound to its target. @param {WebGL2RenderingContext} gl @param {number} target */
export function texelTexture(gl, target) {
  const texture = gl.createTexture();
  gl.bindTexture(target, texture);
  gl.texParameteri(target, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(target, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  return texture;
}

/** Draw on the canvas from now on, which gets this size. @param {WebGL2RenderingContext} gl @param {number} width @param {number} height */
export function toCanvas(gl, width, height) {
  const { canvas } = gl;
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  if (canvas.width !== width) canvas.width = width; // which empties it: so only just before it gets a picture
  if (canvas.height !== height) canvas.height = height;
  gl.viewport(0, 0, width, height);
}

/** A compiled pair of shaders, and where their uniforms are. */
export class Program {
  /** @param {WebGL2RenderingContext} gl @param {string} vertex @param {string} fragment */
  constructor(gl, vertex, fragment) {
    this.gl = gl;
    this.program = gl.createProgram();
    for (const [type, source] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]])) {
      const shader = /** @type {WebGLShader} */ (gl.createShader(type));
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS) && !gl.isContextLost()) {
      const logs = gl.getAttachedShaders(this.program)?.map((shader) => gl.getShaderInfoLog(shader)) ?? [];
      throw new Error(`a shader does not work here: ${gl.getProgramInfoLog(this.program)} ${logs.join(" ")}`);
    }
    /** @type {Map<string, WebGLUniformLocation | null>} */
    this.places = new Map();
  }

  /** Where a uniform is; null if the shader has none of this name. @param {string} name */
  place(name) {
    let place = this.places.get(name);
    if (place === undefined) this.places.set(name, (place = this.gl.getUniformLocation(this.program, name)));
    return place;
  }
}

/** Why a browser cannot draw that gives no context. */
export const NO_WEBGL2 = "this browser has no WebGL2";

/** The context that draws a world. @param {HTMLCanvasElement} canvas */
export function contextOf(canvas) {
  return canvas.getContext("webgl2", { alpha: false, antialias: false, depth: true, powerPreference: "high-performance" });
}

/** Whether the processor runs the shaders, as far as the browser says so: then it casts the rays itself, which is faster.
 * @param {WebGL2RenderingContext} gl */
export function isSoftware(gl) {
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(String(names && gl.getParameter(names.UNMASKED_RENDERER_WEBGL)));
}

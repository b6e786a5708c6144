// Whether this browser can draw a world, and shall: asked before a seat is, and again by what draws.

/** Where the choice of who draws is kept. */
const DRAWN_KEY = "interplay.drawn";

/** Who shall draw: "auto", "here" or "server". */
export function savedDrawing() {
  try {
    const saved = localStorage.getItem(DRAWN_KEY);
    return saved === "here" || saved === "server" ? saved : "auto";
  } catch {
    return "auto"; // this browser keeps nothing
  }
}

/** @param {string} wanted */
export function saveDrawing(wanted) {
  try {
    localStorage.setItem(DRAWN_KEY, wanted);
  } catch {
    // It counts for this page alone.
  }
}

/**
 * Why this browser shall not draw a world, as people read it, empty where they chose so; null if it can and shall.
 * @param {string} wanted who shall draw
 */
export function whyNotHere(wanted) {
  if (wanted === "server") return "";
  const gl = contextOf(document.createElement("canvas"));
  gl?.getExtension("WEBGL_lose_context")?.loseContext(); // browsers keep few of them
  return gl ? null : NO_WEBGL2;
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

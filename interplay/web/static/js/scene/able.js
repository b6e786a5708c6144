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
  const gl = contextOf(document.createElement("canvas")), reason = whyNot(gl, wanted === "here");
  gl?.getExtension("WEBGL_lose_context")?.loseContext(); // browsers keep few of them
  return reason;
}

/** The context that draws a world. @param {HTMLCanvasElement} canvas */
export function contextOf(canvas) {
  return canvas.getContext("webgl2", { alpha: false, antialias: false, depth: true, powerPreference: "high-performance" });
}

/**
 * Why this browser shall not draw, as its player reads it; null if it can.
 * @param {WebGL2RenderingContext | null} gl
 * @param {boolean} mayBeSlow whether to draw without a graphics card too
 */
export function whyNot(gl, mayBeSlow) {
  if (!gl) return "this browser has no WebGL2";
  return !mayBeSlow && isSoftware(gl) ? "this browser draws without a graphics card" : null;
}

/** Whether the processor draws, as far as the browser says so. @param {WebGL2RenderingContext} gl */
function isSoftware(gl) {
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(String(names && gl.getParameter(names.UNMASKED_RENDERER_WEBGL)));
}

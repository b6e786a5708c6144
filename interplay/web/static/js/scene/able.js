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
  const gl = document.createElement("canvas").getContext("webgl2");
  gl?.getExtension("WEBGL_lose_context")?.loseContext(); // browsers keep few of them
  return gl ? null : "this browser has no WebGL2";
}

// The land from above, in a corner of a replay: where the player is and was, and where a free camera is.

/** @typedef {import("./land.js").Overhead} Overhead */
/** @typedef {import("./motion.js").Camera} Camera */

/** It is asked for anew this often while it is shown. */
const STALE_MS = 2000;

export class OverheadMap {
  /**
   * @param {HTMLElement} view in which to lie
   * @param {(x: number, z: number) => void} onPick a column of the land was pressed
   */
  constructor(view, onPick) {
    this.canvas = document.createElement("canvas");
    this.canvas.className = "overhead";
    this.canvas.hidden = true;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The land from above, with the player's way");
    this.canvas.title = "Press a place to look at it";
    view.append(this.canvas);
    /** @type {HTMLCanvasElement | null} the land alone, a pixel a column */
    this.land = null;
    this.askedAt = 0;
    /** @type {Map<number, {x: number, z: number}>} where the player was, by step */
    this.way = new Map();
    this.canvas.addEventListener("click", (event) => {
      if (!this.land) return;
      const { left, top, width, height } = this.canvas.getBoundingClientRect();
      onPick(((event.clientX - left) / width) * this.land.width, ((event.clientY - top) / height) * this.land.height);
    });
  }

  /** Whether the land has to be asked for now. */
  get isStale() {
    return !this.canvas.hidden && performance.now() - this.askedAt > STALE_MS;
  }

  /** The land was asked for. */
  asked() {
    this.askedAt = performance.now();
  }

  /** @param {boolean} isShown */
  setShown(isShown) {
    this.canvas.hidden = !isShown;
  }

  /** Nothing is known of the player's way. */
  forget() {
    this.way.clear();
  }

  /** @param {number} step @param {{x: number, z: number}} me */
  walked(step, { x, z }) {
    this.way.set(step, { x, z });
  }

  /** @param {Overhead} overhead */
  show({ width, height, pixels }) {
    this.land ??= document.createElement("canvas");
    [this.land.width, this.land.height] = [width, height];
    this.land.getContext("2d")?.putImageData(new ImageData(pixels, width, height), 0, 0);
  }

  /**
   * @param {Camera | null} player where they are, and look
   * @param {Camera | null} free where a free camera is
   */
  draw(player, free) {
    const { canvas, land } = this, context = canvas.getContext("2d");
    if (canvas.hidden || !land || !context) return;
    const side = Math.round(canvas.clientWidth * devicePixelRatio) || 256;
    if (canvas.width !== side) [canvas.width, canvas.height] = [side, Math.round((side * land.height) / land.width)];
    const scale = side / land.width, line = Math.max(1.5, side / 160);
    context.imageSmoothingEnabled = false;
    context.drawImage(land, 0, 0, canvas.width, canvas.height);
    context.lineWidth = line;
    context.strokeStyle = "#ffd84a";
    context.beginPath();
    let before = -2;
    for (const step of [...this.way.keys()].sort((one, other) => one - other)) {
      const { x, z } = /** @type {{x: number, z: number}} */ (this.way.get(step));
      if (step - before > 40) context.moveTo(x * scale, z * scale);
      else context.lineTo(x * scale, z * scale);
      before = step;
    }
    context.stroke();
    if (player) arrow(context, player, scale, 4 * line, "#e5342b");
    if (free) arrow(context, free, scale, 4 * line, "#2f8fe8");
  }

  close() {
    this.canvas.remove();
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Camera} camera
 * @param {number} scale pixels a block
 * @param {number} size pixels
 * @param {string} colour
 */
function arrow(context, { x, z, yaw }, scale, size, colour) {
  context.save();
  context.translate(x * scale, z * scale);
  context.rotate(((yaw + 180) * Math.PI) / 180);
  context.beginPath();
  context.moveTo(0, -1.4 * size);
  context.lineTo(size, size);
  context.lineTo(0, 0.5 * size);
  context.lineTo(-size, size);
  context.closePath();
  context.fillStyle = colour;
  context.strokeStyle = "#fff";
  context.lineWidth = size / 4;
  context.fill();
  context.stroke();
  context.restore();
}

// The land from above, in a corner of a replay: where the player is and was, and where a free camera is.

/** @typedef {import("../../../../../packages/blockworld/blockworld/web/land/land.js").Overhead} Overhead */
/** @typedef {import("./motion.js").Camera} Camera */

/** It is asked for anew this often while it is shown. */
const STALE_MS = 2000;
/** Pixels of the player's way per block. */
const WAY_SCALE = 4;
/** Steps further apart are not joined: the replay has jumped. */
const MOST_STEPS = 40;

export class OverheadMap {
  /**
   * @param {HTMLElement} view in which to lie
   * @param {(x: number, z: number) => void} onPick a column of the land was pressed
   */
  constructor(view, onPick) {
    this.canvas = document.createElement("canvas");
    this.canvas.className = "overhead";
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The land from above, with the player's way");
    this.canvas.title = "Press a place to look at it";
    view.append(this.canvas);
    this.setShown(false);
    /** The land alone, a pixel a column, and the player's way over it. */
    this.land = document.createElement("canvas");
    this.way = document.createElement("canvas");
    this.askedAt = 0;
    /** Where the player was last. @type {{step: number, x: number, z: number} | null} */
    this.last = null;
    this.canvas.addEventListener("click", (event) => {
      const { left, top, width, height } = this.canvas.getBoundingClientRect();
      onPick(((event.clientX - left) / width) * this.land.width, ((event.clientY - top) / height) * this.land.height);
    });
  }

  /** Nothing is known of a land of this size. @param {[number, number, number]} size */
  begin([sx, , sz]) {
    [this.land.width, this.land.height] = [sx, sz];
    [this.way.width, this.way.height] = [WAY_SCALE * sx, WAY_SCALE * sz];
    this.forget();
  }

  /** Whether the land has to be asked for now. */
  get isStale() {
    return this.isShown && performance.now() - this.askedAt > STALE_MS;
  }

  /** The land was asked for. */
  asked() {
    this.askedAt = performance.now();
  }

  get isShown() {
    return !this.canvas.hidden;
  }

  /** @param {boolean} isShown */
  setShown(isShown) {
    this.canvas.hidden = !isShown;
  }

  /** Nothing is known of the player's way. */
  forget() {
    this.way.getContext("2d")?.clearRect(0, 0, this.way.width, this.way.height);
    this.last = null;
  }

  /** @param {number} step @param {{x: number, z: number}} me */
  walked(step, { x, z }) {
    const { last } = this, context = this.way.getContext("2d");
    this.last = { step, x, z };
    if (!last || !context || Math.abs(step - last.step) > MOST_STEPS) return;
    context.lineWidth = WAY_SCALE;
    context.lineCap = "round";
    context.strokeStyle = "#ffd84a";
    context.beginPath();
    context.moveTo(WAY_SCALE * last.x, WAY_SCALE * last.z);
    context.lineTo(WAY_SCALE * x, WAY_SCALE * z);
    context.stroke();
  }

  /** @param {Overhead} overhead */
  show({ width, height, pixels }) {
    this.land.getContext("2d")?.putImageData(new ImageData(pixels, width, height), 0, 0);
  }

  /**
   * @param {Camera | null} player where they are, and look
   * @param {Camera | null} free where a free camera is
   */
  draw(player, free) {
    const { canvas, land, way } = this, context = canvas.getContext("2d");
    if (!this.isShown || !context) return;
    const side = Math.round(canvas.clientWidth * devicePixelRatio) || 256, scale = side / land.width;
    if (canvas.width !== side) [canvas.width, canvas.height] = [side, Math.round(scale * land.height)];
    context.imageSmoothingEnabled = false;
    context.drawImage(land, 0, 0, canvas.width, canvas.height);
    context.imageSmoothingEnabled = true;
    context.drawImage(way, 0, 0, canvas.width, canvas.height);
    if (player) arrow(context, player, scale, side / 40, "#e5342b");
    if (free) arrow(context, free, scale, side / 40, "#2f8fe8");
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

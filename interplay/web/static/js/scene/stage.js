// Where a world is drawn on a page: two canvases over a picture, as large as it is.

// Why it does not work here, as people read it.
export const NOT_LOADED = "this browser could not load what it needs to draw";
export const UNREADABLE = "this browser could not read what the server sent";
export const SLOW = "this browser draws too slowly";

/** The renderer of the block world, which is a package of its own. @typedef {typeof import("../../../../../packages/blockworld/blockworld/web/scene.js")} World */
/** @typedef {import("../../../../../packages/blockworld/blockworld/web/scene.js").Scene} Scene */
const WORLD = "/static/blockworld/scene.js";

export class Stage {
  /** @param {HTMLCanvasElement} picture over which to draw */
  constructor(picture) {
    this.picture = picture;
    /** Has the canvases: the world, and over it bars and screens. */
    this.frame = document.createElement("div");
    this.frame.className = "drawn";
    this.frame.hidden = true;
    this.frame.setAttribute("aria-hidden", "true"); // the picture's canvas has words
    picture.after(this.frame);
    this.width = this.height = 0;
    /** @type {Scene | null} */
    this.scene = null;
    this.isClosed = false;
  }

  /**
   * Make a scene, with canvases of its own: one that lost its context gets no other.
   * @param {string} tables address of what the drawing needs once
   * @returns {Promise<Scene | null>} null where the stage was closed meanwhile
   * @throws {Error} that says to people why it does not work here
   */
  async open(tables) {
    this.scene = null;
    const [canvas, overlay] = [0, 1].map(() => document.createElement("canvas"));
    this.frame.replaceChildren(canvas, overlay);
    // Loaded where it is needed: the page of an Atari game does without.
    const module = /** @type {World} */ (await import(WORLD).catch((error) => this.#cannot(error)));
    const scene = await module.Scene.open(canvas, overlay, tables).catch((error) => {
      if (error instanceof module.CannotDraw) throw error;
      return this.#cannot(error);
    });
    if (!this.isClosed) return (this.scene = scene);
    scene.close();
    return null;
  }

  /** @param {unknown} error @returns {never} */
  #cannot(error) {
    console.warn(error);
    throw new Error(NOT_LOADED);
  }

  /** Take the picture's place and size. @param {number} ratio of the screen's pixels that are drawn, a side */
  fit(ratio) {
    const { width, height } = this.picture.style;
    Object.assign(this.frame.style, { width, height });
    const sharp = [width, height].map((side) => Math.max(1, Math.round(parseFloat(side) * devicePixelRatio)));
    [this.width, this.height] = sharp.map((side) => Math.max(1, Math.round(side * ratio)));
    this.scene?.resize(this.width, this.height, sharp[0], sharp[1]);
  }

  close() {
    this.isClosed = true;
    this.scene?.close();
    this.scene = null;
    this.frame.remove();
  }
}

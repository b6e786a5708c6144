// A game whose picture is drawn in this browser: a frame for each of the display, the way the eye goes meanwhile, and what to do
// where all this does not work.

import { GUI_WIDTH, KIND, landMessage, paintedMessage, sceneMessage } from "../protocol.js";
import { Cursor, Motion } from "./motion.js";
import { Delay, Pace } from "./pace.js";
import { SLOW, Stage, UNREADABLE } from "./stage.js";

/** @typedef {import("../protocol.js").FrameMessage} FrameMessage */
/**
 * What drawing asks of the player's page.
 * @typedef {object} DrawingHandlers
 * @property {(message: object) => void} send
 * @property {() => boolean} isMoving whether the world moves, or is about to
 * @property {(elapsedMs: number) => void} onTurning turn the gaze by what was turned since the last frame
 * @property {() => {pitch: number, yaw: number}} untold degrees that the mouse has turned since the last message
 * @property {(step: number) => void} onPainted a tick is shown that was not shown before
 * @property {() => void} onShown the first frame is painted
 * @property {(reason: string) => void} onFail it cannot go on here
 */

const PAINTED_EVERY_MS = 250;
/** Between two pictures at most, for more land to be asked for with the second; and how many may be slower before it is all the same. */
const SMOOTH_MS = 40, MOST_SLOW = 2;
/** So long an answer may take; and how often to ask before a picture comes of it. */
const ASK_AGAIN_MS = 3000, MOST_ASKED = 3;
/** Whoever was away for longer starts anew. */
const AWAY_MS = 30_000;

/** One game, drawn here. Close it when the server shall draw. */
export class Drawing {
  /**
   * @param {HTMLCanvasElement} picture over which to draw
   * @param {string} tables address of what the drawing needs once
   * @param {boolean} mayGiveUp whether slow drawing is a reason to stop
   * @param {DrawingHandlers} handlers
   */
  constructor(picture, tables, mayGiveUp, handlers) {
    this.stage = new Stage(picture);
    this.tables = tables;
    this.mayGiveUp = mayGiveUp;
    this.handlers = handlers;
    this.motion = new Motion();
    this.pace = new Pace();
    this.delay = new Delay();
    this.cursor = new Cursor(GUI_WIDTH);
    /** Degrees from bottom to top, as the player wants it. @type {number | null} */
    this.fov = null;
    this.guiScale = 1;
    this.step = -1;
    /** Client time of the newest input that the world has used. */
    this.usedMs = 0;
    this.paintedStep = -1;
    this.isShown = false;
    this.hasLost = false;
    this.isDirty = false;
    /** Number of the frame that comes next. */
    this.nextNumber = 0;
    /** When a frame that stands alone was asked for, until it comes: others say nothing meanwhile. @type {number | null} */
    this.askedAt = null;
    /** How often one was asked for since the last picture. */
    this.numAsked = 0;
    this.saidAt = 0;
    this.drawnAt = 0;
    this.paintedAt = this.numSlow = 0;
    /** @type {number | null} */
    this.hiddenAt = null;
    this.onVisible = () => this.#onVisible();
    document.addEventListener("visibilitychange", this.onVisible);
    requestAnimationFrame(() => this.#draw());
  }

  /** Begin; the server is asked once everything is here. */
  async open() {
    let scene;
    try {
      scene = await this.stage.open(this.tables);
    } catch (error) {
      return this.#fail(/** @type {Error} */ (error).message);
    }
    if (!scene) return;
    scene.onLost((reason) => this.#onLost(reason));
    if (scene.usesProcessor) this.pace.beginLow(); // the land is yet to come, which takes the same processor's time
    this.fit();
    this.begin();
  }

  /** Ask the server for everything: at the beginning, and when the socket was lost. */
  begin() {
    if (!this.scene) return;
    this.askedAt = performance.now();
    this.scene.guiScale = this.guiScale;
    this.handlers.send(sceneMessage("here", this.stage.picture, this.guiScale));
  }

  close() {
    this.isShown = false;
    this.stage.close();
    document.removeEventListener("visibilitychange", this.onVisible);
  }

  /** Whether a screen of the world is open, over which the mouse moves a cursor. */
  get hasScreen() {
    return (this.scene?.me?.gui ?? null) !== null;
  }

  get scene() {
    return this.stage.scene;
  }

  get isClosed() {
    return this.stage.isClosed;
  }

  /**
   * Draw as the player has set it.
   * @param {number} fov degrees from bottom to top
   * @param {number} guiScale how large bars and screens are
   */
  set(fov, guiScale) {
    this.fov = fov;
    this.isDirty = true;
    if (guiScale === this.guiScale) return;
    this.guiScale = guiScale;
    this.cursor = new Cursor(GUI_WIDTH / guiScale);
    this.begin();
  }

  /** Take the picture's place and size. */
  fit() {
    this.stage.fit(this.pace.ratio);
    if (this.scene) this.scene.reach = this.pace.reach;
    this.isDirty = true;
  }

  /** News of the world, or a part of its land. @param {FrameMessage} message */
  async apply(message) {
    const { scene } = this;
    if (!scene) return;
    if (message.fresh) this.askedAt = null;
    else if (this.askedAt !== null || message.number !== this.nextNumber) return this.#beginAgain(`a frame is missing before ${message.number}`);
    this.nextNumber = (message.number + 1) & 0xffff;
    try {
      await scene.apply(message);
    } catch (error) {
      if (scene === this.scene) this.#beginAgain(error);
      return;
    }
    if (scene !== this.scene) return;
    this.isDirty = true;
    if (message.kind === KIND.SCENE) {
      this.step = message.step;
      this.usedMs = message.baseStep;
      this.cursor.use(this.usedMs);
      const me = /** @type {import("./motion.js").Me | null} */ (scene.me);
      // Until it is shown, the messages tell how far the view turned and not where to.
      if (me) this.motion.step(this.isShown ? me : { ...me, turned: true }, performance.now(), message.fresh);
    }
    if (!scene.isDrawn) this.#askForLand(); // from then on with pictures
  }

  #askForLand() {
    const parts = this.scene?.partsWanted ?? 0;
    if (parts <= 0) return;
    this.handlers.send(landMessage(parts));
    this.scene?.asked(parts);
  }

  #draw() {
    if (this.isClosed) return;
    requestAnimationFrame(() => this.#draw());
    this.#paint();
  }

  #paint() {
    const now = performance.now();
    const moves = this.handlers.isMoving();
    const elapsed = Math.min(100, now - this.drawnAt);
    this.handlers.onTurning(elapsed);
    this.scene?.wait(elapsed);
    this.drawnAt = now;
    const camera = this.motion.camera(now);
    if (camera && this.fov !== null) camera.fov = this.fov;
    if (!moves) this.pace.rest();
    if (!this.scene?.isReady || this.scene.isBusy || !camera || (!moves && !this.isDirty)) return;
    this.isDirty = this.scene.isBehind; // what does not fit into one frame is drawn with the next
    this.scene.display.moveCursor(...this.cursor.shift(this.hasScreen ? this.handlers.untold() : { pitch: 0, yaw: 0 }));
    const { step, usedMs } = this;
    this.scene.draw(camera, now, undefined, (isLate) => {
      this.#painted(now, step, usedMs, moves);
      if (isLate && moves) this.#paint();
    });
  }

  /**
   * A picture is there.
   * @param {number} begun
   * @param {number} step that it shows
   * @param {number} usedMs client time of the newest input in it
   * @param {boolean} moves whether the world moved
   */
  #painted(begun, step, usedMs, moves) {
    if (this.isClosed) return;
    const now = performance.now();
    if (this.askedAt === null) this.numAsked = 0;
    this.delay.paint(now, usedMs);
    const isNew = step !== this.paintedStep;
    this.paintedStep = step;
    if (!moves || now - this.paintedAt < SMOOTH_MS || ++this.numSlow > MOST_SLOW) {
      this.numSlow = 0;
      this.#askForLand();
    }
    this.paintedAt = now;
    if (!this.isShown) {
      this.isShown = true;
      this.stage.frame.hidden = false;
      this.handlers.onShown();
    }
    if (isNew) this.handlers.onPainted(step);
    if (moves) this.#keepPace(begun, now - begun);
    if (now - this.saidAt >= PAINTED_EVERY_MS && moves) this.#sayPainted(now);
  }

  /**
   * @param {number} now
   * @param {number} spent
   */
  #keepPace(now, spent) {
    const answer = this.pace.frame(now, spent, this.scene?.isArriving);
    if (answer === "resize") this.fit();
    if (answer === "give up" && this.mayGiveUp) this.#fail(SLOW);
  }

  /** @param {number} now */
  #sayPainted(now) {
    this.saidAt = now;
    const { yaw, pitch } = this.motion.gaze;
    const { width, height } = this.stage;
    this.handlers.send(paintedMessage({ yaw, pitch, width, height, fps: this.pace.fps, input_ms: this.delay.median }));
  }

  /** A frame is missing or makes no sense, and all that follow build on it. @param {unknown} error */
  #beginAgain(error) {
    if (this.askedAt !== null && performance.now() - this.askedAt < ASK_AGAIN_MS) return;
    console.warn(error);
    if (this.numAsked >= MOST_ASKED) this.#fail(UNREADABLE);
    else this.#askForKey();
  }

  #askForKey() {
    this.askedAt = performance.now();
    this.numAsked++;
    this.handlers.send({ type: "key" });
  }

  /** Try once to begin again. @param {string} reason */
  #onLost(reason) {
    if (this.isClosed) return;
    if (this.hasLost) return this.#fail(reason);
    this.hasLost = true;
    this.open();
  }

  #onVisible() {
    const now = performance.now();
    if (document.hidden) {
      this.hiddenAt = now;
      return;
    }
    this.pace.rest();
    this.delay.clear();
    if (this.hiddenAt !== null && now - this.hiddenAt > AWAY_MS && this.scene) this.#askForKey();
    this.hiddenAt = null;
  }

  /** @param {string} reason */
  #fail(reason) {
    if (this.isClosed) return;
    this.close();
    this.handlers.onFail(reason);
  }
}

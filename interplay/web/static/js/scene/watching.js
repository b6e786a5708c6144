// A recorded game drawn in this browser: its land as generated comes once, then what each step needs; the camera is the player's,
// or goes where whoever watches wants.

import { isTyping, partHeaders } from "../page.js";
import { KIND, splitFrames } from "../protocol.js";
import { FreeCamera, Ride, TICK_MS } from "./motion.js";
import { OverheadMap } from "./overhead.js";
import { Pace } from "./pace.js";
import { SLOW, Stage, UNREADABLE } from "./stage.js";

/** @typedef {import("../protocol.js").FrameMessage} FrameMessage */
/** @typedef {{frames: FrameMessage[], at: number}} Shown a step: what came with it, and which of these it is */
/**
 * What watching asks of the replay.
 * @typedef {object} WatchingHandlers
 * @property {() => number} positionMs where the replay is
 * @property {() => boolean} isPlaying
 * @property {(isFree: boolean) => void} onCamera
 * @property {(reason: string) => void} onFail it cannot go on here
 */

/** The first of the ids that players have. */
const FIRST_PLAYER = 2 ** 31;
/** Blocks a second; with Shift so many times that. */
const SPEED = 10, FAST = 4;
/** Blocks from which one looks at what was picked on the map. */
const ABOVE = 40;
const DEGREES_A_PIXEL = 0.25, BLOCKS_A_NOTCH = 3, BLOCKS_A_PIXEL = 0.05;
/** What moves a free camera: ahead, to the right, up. @type {Record<string, [number, number, number]>} */
const KEYS = { KeyW: [1, 0, 0], KeyS: [-1, 0, 0], KeyD: [0, 1, 0], KeyA: [0, -1, 0], KeyE: [0, 0, 1], KeyQ: [0, 0, -1] };
/** What stands may take its time. */
const AT_REST = { ratio: 1, reach: 1 };
/** A replay that goes on by more steps has jumped. */
const MOST_STEPS = 8;
/** @type {Shown} */
const NOTHING = { frames: [], at: -1 };

export class Watching {
  /**
   * @param {HTMLCanvasElement} picture over which to draw
   * @param {HTMLElement} view around it
   * @param {string} episode
   * @param {string[]} seats of its game
   * @param {boolean} mayGiveUp whether slow drawing is a reason to stop
   * @param {WatchingHandlers} handlers
   */
  constructor(picture, view, episode, seats, mayGiveUp, handlers) {
    this.address = `/api/episodes/${encodeURIComponent(episode)}`;
    this.view = view;
    this.seats = seats;
    this.mayGiveUp = mayGiveUp;
    this.handlers = handlers;
    this.stage = new Stage(picture);
    this.pace = new Pace();
    this.ratio = this.reach = 1;
    this.ride = new Ride();
    this.free = new FreeCamera();
    this.map = new OverheadMap(view, (x, z) => this.#lookFromAbove(x, z));
    this.seat = 0;
    this.isFree = this.isDirty = this.hasLost = false;
    /** What the scene has taken last. */
    this.taken = NOTHING;
    /** What it shall show. */
    this.latest = NOTHING;
    /** Done when the scene has taken it. @type {Promise<unknown>} */
    this.applied = Promise.resolve();
    /** Done when the land is here. */
    this.opened = Promise.resolve();
    this.step = -1;
    this.failures = 0;
    this.drawnAt = 0;
    /** @type {Set<string>} keys of a free camera that are held */
    this.held = new Set();
    /** @type {Map<number, {x: number, y: number}>} fingers and the mouse, where they are pressed */
    this.pointers = new Map();
    this.ended = new AbortController();
    this.#listen();
    requestAnimationFrame(() => this.#draw());
  }

  get isClosed() {
    return this.stage.isClosed;
  }

  get scene() {
    return this.stage.scene;
  }

  /**
   * Fetch the land and what draws it.
   * @returns {Promise<void>}
   * @throws {Error} that says to people why it does not work here
   */
  open() {
    return (this.opened = this.#open());
  }

  async #open() {
    const response = await fetch(`${this.address}/land`, { headers: partHeaders(), signal: this.ended.signal });
    if (!response.ok) throw new Error((await response.json().catch(() => ({}))).message ?? `the land did not arrive (${response.status})`);
    const frames = splitFrames(await response.arrayBuffer());
    const scene = await this.stage.open(response.headers.get("X-Tables") ?? "");
    if (!scene) return;
    scene.clock = () => this.handlers.positionMs();
    scene.onLost((reason) => this.#onLost(reason));
    await Promise.all(frames.map((frame) => scene.apply(frame)));
    this.taken = NOTHING;
    this.free.size = scene.land.size ?? [1, 1, 1];
    this.map.begin(this.free.size);
    this.#see();
    this.fit();
  }

  /**
   * Fetch what steps need, as `FrameStore` asks for it.
   * @param {number} start
   * @param {number} count
   * @param {number} every
   * @param {AbortSignal} signal
   * @returns {Promise<Shown[]>}
   * @throws {Error} if they did not arrive, or cannot be read
   */
  async load(start, count, every, signal) {
    const asked = `start=${start}&count=${count}&every=${every}&seat=${encodeURIComponent(this.seats[this.seat])}`;
    const response = await fetch(`${this.address}/scenes?${asked}`, { headers: partHeaders(), signal });
    if (!response.ok) throw new Error(`the steps from ${start} on could not be fetched (${response.status})`);
    const body = await response.arrayBuffer();
    try {
      const frames = splitFrames(body);
      if (frames.some(({ kind }) => kind !== KIND.SCENE)) throw new RangeError("the server sent frames that are not scenes");
      return frames.map((_, at) => ({ frames, at }));
    } catch (error) {
      return this.#cannotRead(error);
    }
  }

  /**
   * Show a step, as soon as the land is here; what was shown before need not be near.
   * @param {Shown} shown
   * @throws {Error} if it cannot be read
   */
  async paint(shown) {
    this.latest = shown;
    await this.opened;
    const { scene, taken } = this, { frames, at } = shown, goesOn = frames === taken.frames && at >= taken.at;
    if (!scene) return;
    this.taken = shown;
    const applied = frames.slice(goesOn ? taken.at + 1 : 0, at + 1).map((frame) => scene.apply(frame));
    const all = Promise.all([this.applied, ...applied]); // what was asked for before is there, too
    this.applied = all.catch(() => {});
    try {
      await all;
    } catch (error) {
      if (scene === this.scene) this.#cannotRead(error);
      return;
    }
    if (scene !== this.scene) return;
    this.failures = 0;
    const passed = frames[at].step - this.step, me = /** @type {import("./motion.js").Me} */ (scene.me);
    if (passed === 0 && goesOn) return;
    this.step = frames[at].step;
    this.ride.step(me, this.handlers.positionMs(), passed < 0 || passed > MOST_STEPS || !this.handlers.isPlaying());
    this.map.walked(this.step, me);
    this.isDirty = true;
    if (this.map.isStale) this.#lookDown();
  }

  /** @param {unknown} error @returns {never} */
  #cannotRead(error) {
    console.warn(error);
    this.taken = NOTHING;
    if (++this.failures > 2) this.#fail(UNREADABLE);
    throw new Error(UNREADABLE);
  }

  /** Through whose eyes one sees. @param {number} seat */
  sit(seat) {
    this.seat = seat;
    this.map.forget();
    this.#see();
  }

  /** @param {boolean} isFree whether the camera goes where whoever watches wants */
  setFree(isFree) {
    const camera = this.ride.camera(Infinity);
    if (isFree && !this.isFree && camera) this.free.begin(camera);
    this.isFree = isFree;
    this.held.clear();
    this.#see();
    this.handlers.onCamera(isFree);
  }

  /** Show the land from above, or no more. @param {boolean} isShown */
  setMap(isShown) {
    this.map.setShown(isShown);
    if (isShown) this.#lookDown();
  }

  async #lookDown() {
    this.map.asked();
    const overhead = await this.scene?.overhead();
    if (overhead) this.map.show(overhead);
    this.isDirty = true;
  }

  fit() {
    this.stage.fit(this.ratio);
    if (this.scene) this.scene.reach = this.reach;
    this.isDirty = true;
  }

  close() {
    this.ended.abort();
    this.map.close();
    this.stage.close();
  }

  #see() {
    const { scene } = this;
    this.stage.frame.classList.toggle("free", this.isFree);
    this.isDirty = true;
    if (!scene) return;
    scene.isFree = this.isFree;
    scene.figures.hidden = this.isFree ? null : FIRST_PLAYER + this.seat;
  }

  #draw() {
    if (this.isClosed) return;
    requestAnimationFrame(() => this.#draw());
    this.#paint();
  }

  #paint() {
    const now = performance.now(), elapsedS = Math.min(100, now - this.drawnAt) / 1000, isPlaying = this.handlers.isPlaying();
    this.drawnAt = now;
    this.scene?.wait(1000 * elapsedS);
    this.#fly(elapsedS);
    const isMoving = isPlaying || this.held.size > 0 || this.pointers.size > 0;
    if (!isMoving) this.pace.rest();
    const { ratio, reach } = isMoving ? this.pace : AT_REST;
    if (ratio !== this.ratio || reach !== this.reach) {
      Object.assign(this, { ratio, reach });
      this.fit();
    }
    const at = isPlaying ? this.handlers.positionMs() : Infinity, camera = this.isFree ? this.free.camera : this.ride.camera(at);
    if (!this.scene?.isReady || this.scene.isBusy || !camera || !(isMoving || this.isDirty)) return;
    this.isDirty = this.scene.isBehind; // what does not fit into one frame is drawn with the next
    const painted = (/** @type {boolean} */ isLate) => {
      if (this.isClosed) return;
      this.stage.frame.hidden = false;
      this.map.draw(this.ride.camera(at), this.isFree ? camera : null);
      if (!isMoving) return;
      this.#keepPace(now, performance.now() - now);
      if (isLate) this.#paint();
    };
    // A replay that stands shows its step as it was, not the way there.
    if (isPlaying) this.scene.draw(camera, at, undefined, painted);
    else this.scene.draw(camera, this.scene.tickAt + TICK_MS, this.scene.tick, painted);
  }

  /**
   * @param {number} now
   * @param {number} spent
   */
  #keepPace(now, spent) {
    if (this.pace.frame(now, spent) === "give up" && this.mayGiveUp) this.#fail(SLOW);
  }

  /** Move as the keys say. @param {number} elapsedS */
  #fly(elapsedS) {
    if (!this.isFree || !this.held.size) return;
    const blocks = SPEED * elapsedS * (this.held.has("ShiftLeft") || this.held.has("ShiftRight") ? FAST : 1);
    for (const code of this.held) {
      const [ahead, right, up] = KEYS[code] ?? [0, 0, 0];
      this.free.move(ahead * blocks, right * blocks, up * blocks);
    }
  }

  /** Look down on a column of the land. @param {number} x @param {number} z */
  #lookFromAbove(x, z) {
    this.setFree(true);
    this.free.begin({ x, y: this.ride.camera(Infinity)?.y ?? this.free.size[1], z, yaw: 180, pitch: 60, fov: 70 });
    this.free.move(-ABOVE, 0, 0);
    this.isDirty = true;
  }

  #listen() {
    const { signal } = this.ended, { view } = this;
    /** @param {KeyboardEvent} event */
    const isOurs = (event) => this.isFree && !event.ctrlKey && !event.metaKey && !event.altKey && (event.code in KEYS || /^Shift/.test(event.code));
    addEventListener("keydown", (event) => {
      if (event.metaKey) this.held.clear(); // macOS says of no key that it was let go while Command is down
      else if (isOurs(event) && !isTyping(event.target)) this.held.add(event.code);
    }, { signal });
    addEventListener("keyup", (event) => {
      if (event.key === "Meta") this.held.clear();
      if (this.held.delete(event.code)) this.isDirty = true;
    }, { signal });
    addEventListener("blur", () => this.held.clear(), { signal });
    view.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.scene || this.map.canvas.contains(/** @type {Node} */ (event.target))) return;
      this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      view.setPointerCapture(event.pointerId);
    }, { signal });
    view.addEventListener("pointermove", (event) => this.#onMove(event), { signal });
    for (const type of ["pointerup", "pointercancel"]) {
      view.addEventListener(type, (event) => void (this.pointers.delete(/** @type {PointerEvent} */ (event).pointerId) && (this.isDirty = true)), { signal });
    }
    view.addEventListener("wheel", (event) => {
      if (!this.isFree) return;
      event.preventDefault();
      this.free.move(-Math.sign(event.deltaY) * BLOCKS_A_NOTCH, 0, 0);
      this.isDirty = true;
    }, { signal, passive: false });
  }

  /** One finger or the mouse turns the view, two fingers move it. @param {PointerEvent} event */
  #onMove(event) {
    const pressed = this.pointers.get(event.pointerId);
    if (!pressed) return;
    const dx = event.clientX - pressed.x, dy = event.clientY - pressed.y;
    if (!this.isFree) {
      if (Math.hypot(dx, dy) < 4) return; // a tap
      this.setFree(true);
    }
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (!other) this.free.turn(dx * DEGREES_A_PIXEL, dy * DEGREES_A_PIXEL);
    else {
      const before = Math.hypot(pressed.x - other.x, pressed.y - other.y), after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      this.free.move((after - before) * BLOCKS_A_PIXEL, -dx * BLOCKS_A_PIXEL * 0.5, dy * BLOCKS_A_PIXEL * 0.5);
    }
    pressed.x = event.clientX;
    pressed.y = event.clientY;
    this.isDirty = true;
  }

  /** Try once to begin again. @param {string} reason */
  async #onLost(reason) {
    if (this.isClosed) return;
    if (this.hasLost) return this.#fail(reason);
    this.hasLost = true;
    try {
      await this.open();
      if (this.latest !== NOTHING) await this.paint(this.latest);
    } catch (error) {
      if (!this.isClosed) this.#fail(/** @type {Error} */ (error).message);
    }
  }

  /** @param {string} reason */
  #fail(reason) {
    if (this.isClosed) return;
    this.close();
    this.handlers.onFail(reason);
  }
}

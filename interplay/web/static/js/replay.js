// Plays a recorded episode: frames come in chunks from /api/episodes/{id}/frames, exactly as they were recorded, and only those
// near the position are fetched and kept. Worlds that this browser can draw come from /scenes instead.

import { FrameDecoder, Screen } from "./codec.js";
import { api, isTyping, need, partHeaders } from "./page.js";
import { paletteFromBase64, splitFrames } from "./protocol.js";
import { saveDrawing, savedDrawing, whyNotHere } from "./scene/able.js";
import { NOT_LOADED } from "./scene/stage.js";
import { Timeline, clock } from "./timeline.js";

/** @typedef {import("./codec.js").Picture} Picture */

/** Fetched at once at most: of a world that is drawn again for it, what the server does in half a second or two. */
const CHUNK_S = 1;
/** Fetched ahead of what is shown. */
const AHEAD_S = 3;
/** What decoded pictures may take. */
const KEPT_BYTES = 128e6;
/** Frames fetched at once by who goes back step by step: each chunk begins with a way from the last snapshot. */
const BACK_FRAMES = 8;
/** Scenes are small and soon drawn: most of them are shown at any speed. */
const SCENES_A_SECOND = 100;
/** Some 2 kB each. */
const KEPT_SCENES = 6000;
/** A picture that takes longer is said to be loading while the replay plays; in between frames nobody notices. */
const STALL_MS = 400;
/** From then on the server is asked how far it is. */
const ASK_MS = 1000;

/** @typedef {{picture: Picture, palette: Uint32Array | null}} Shown */
/** @typedef {import("./scene/watching.js").Watching} Watching */
/** @typedef {{steps: number[], controller: AbortController, chunk: Promise<void>}} Loading */

/**
 * Frames by number, whatever a frame is. One chunk is on its way at a time: the asked frame alone first, so that it comes at
 * once, then growing chunks after it. A jump cancels chunks that are no longer needed.
 * @template T
 */
export class FrameStore {
  /**
   * @param {number} numFrames
   * @param {object} options
   * @param {number} options.chunkFrames fetched at once, at most
   * @param {number} options.aheadFrames kept ready after the one shown last
   * @param {number} options.keptFrames
   * @param {(start: number, count: number, every: number, signal: AbortSignal) => Promise<T[]>} load
   * @param {(frame: T) => void} [drop] one that is not kept any more
   */
  constructor(numFrames, { chunkFrames, aheadFrames, keptFrames }, load, drop = () => {}) {
    this.numFrames = numFrames;
    this.chunkFrames = chunkFrames;
    this.aheadFrames = aheadFrames;
    this.keptFrames = Math.max(keptFrames, aheadFrames + 2 * chunkFrames);
    this.load = load;
    this.drop = drop;
    /** @type {Map<number, T>} the least recently used first */
    this.frames = new Map();
    /** @type {Loading | null} */
    this.loading = null;
    this.nextCount = 1;
    this.wanted = 0;
    this.every = 1;
    this.isClosed = false;
  }

  /** @param {number} step */
  has(step) {
    return this.frames.has(step);
  }

  /**
   * Frame number `step`; also fetches the frames after it.
   * @param {number} step
   * @param {number} [every] only each so manieth frame is needed from here on
   * @returns {Promise<T>}
   */
  async frame(step, every = 1) {
    this.wanted = step;
    this.every = every;
    for (;;) {
      const found = this.frames.get(step);
      if (found) {
        this.frames.delete(step); // to the end: used last
        this.frames.set(step, found);
        this.#ahead();
        return found;
      }
      if (!this.loading?.steps.includes(step)) this.#jump(step);
      const { chunk, controller } = /** @type {Loading} */ (this.loading);
      await chunk;
      if (controller.signal.aborted && (this.isClosed || this.wanted !== step)) throw new DOMException("another frame is wanted", "AbortError");
    }
  }

  /** Fetch and keep nothing any more. */
  close() {
    this.isClosed = true;
    this.loading?.controller.abort();
    this.frames.forEach(this.drop);
    this.frames.clear();
  }

  /** @param {number} step */
  #jump(step) {
    this.loading?.controller.abort();
    this.nextCount = 1;
    const isBack = this.frames.has(step + 1);
    const start = isBack ? Math.max(0, step - BACK_FRAMES + 1) : step;
    this.#fetch(start, step - start + 1, 1);
  }

  #ahead() {
    if (this.loading) return;
    let step = this.wanted + this.every;
    while (this.frames.has(step)) step += this.every;
    if (step >= this.numFrames || step > this.wanted + this.aheadFrames * this.every) return;
    this.nextCount = Math.min(this.chunkFrames, Math.max(4, 2 * this.nextCount));
    this.#fetch(step, this.nextCount, this.every);
  }

  /**
   * @param {number} start
   * @param {number} count
   * @param {number} every
   */
  #fetch(start, count, every) {
    /** @type {number[]} */
    const steps = [];
    for (let step = start; step < this.numFrames && steps.length < count; step += every) steps.push(step);
    const controller = new AbortController();
    const chunk = this.load(start, steps.length, every, controller.signal).then(
      (frames) => {
        if (frames.length < steps.length) throw new RangeError(`the server sent no frame ${steps[frames.length]}`);
        frames.forEach((frame, index) => this.#keep(steps[index], frame));
      },
    );
    /** @type {Loading} */
    const loading = { steps, controller, chunk };
    this.loading = loading;
    const end = () => {
      if (this.loading === loading) this.loading = null;
    };
    loading.chunk = chunk.then(
      () => {
        end();
        if (!controller.signal.aborted) this.#ahead();
      },
      (error) => {
        end(); // a failed fetch may be tried again
        if (!controller.signal.aborted) throw error;
      },
    );
    loading.chunk.catch(() => {}); // reported to the caller that waits for it
  }

  /**
   * @param {number} step
   * @param {T} shown
   */
  #keep(step, shown) {
    if (this.isClosed) return this.drop(shown);
    this.frames.set(step, shown);
    for (const [oldest, frame] of this.frames) {
      if (this.frames.size <= this.keptFrames) break;
      this.drop(frame);
      this.frames.delete(oldest);
    }
  }
}

/**
 * Loads chunks over HTTP.
 * @param {string} episode
 * @param {number} width
 * @param {number} height
 * @returns {(start: number, count: number, every: number, signal: AbortSignal) => Promise<Shown[]>}
 */
export function httpLoader(episode, width, height) {
  return async (start, count, every, signal) => {
    const asked = `start=${start}&count=${count}${every > 1 ? `&every=${every}` : ""}`;
    const response = await fetch(`/api/episodes/${encodeURIComponent(episode)}/frames?${asked}`, { headers: partHeaders(), signal });
    if (!response.ok) throw new Error(`the frames from ${start} on could not be fetched (${response.status})`);
    const coded = response.headers.get("X-Palette"), palette = coded ? paletteFromBase64(coded) : null;
    const decoder = new FrameDecoder(width, height);
    const pictures = await Promise.all(splitFrames(await response.arrayBuffer()).map((message) => decoder.push(message)));
    return pictures.map((picture) => ({ picture, palette }));
  };
}

/** The replay with its controls, on the markup of templates/_replay.html. */
export class Replay {
  /**
   * @param {HTMLElement} root
   * @param {object} [options]
   * @param {boolean} [options.isDriven] whether another replay says where it is, so that it hears no keys
   */
  constructor(root, { isDriven = false } = {}) {
    this.root = root;
    this.isDriven = isDriven;
    this.screen = new Screen(need(root, "canvas"));
    this.view = need(root, ".view");
    this.status = need(root, "[data-loading]");
    this.playButton = need(root, "[data-play]");
    /** @type {HTMLInputElement} */
    this.scrub = need(root, "[data-scrub]");
    /** @type {HTMLSelectElement} */
    this.speed = need(root, "[data-speed]");
    this.timeline = new Timeline(0);
    this.rate = 60;
    this.numFrames = 1;
    this.smooth = false;
    this.shown = -1;
    this.wanted = 0;
    /** @type {FrameStore<any> | null} */
    this.store = null;
    /** What `/api/episodes/{id}` says. @type {Record<string, any> | null} */
    this.facts = null;
    /** While this browser draws. @type {Watching | null} */
    this.watching = null;
    /** Changes when something else is going to draw. */
    this.turn = 0;
    this.lastTick = 0;
    /** When the frame that is being waited for was asked for; 0 while none is. */
    this.waitingSince = 0;
    /** What the controls show. */
    this.told = "";
    this.#listen();
  }

  /**
   * Show an episode.
   * @param {string} episode
   * @param {number} [at] the frame at which it opens
   */
  async open(episode, at = 0) {
    this.root.dataset.episode = episode;
    this.#message("Loading the replay ...");
    const turn = this.#stop();
    let facts;
    try {
      facts = await api(`/api/episodes/${encodeURIComponent(episode)}`);
      if (turn !== this.turn) return; // another one was asked for
      this.facts = facts;
    } catch (error) {
      if (turn === this.turn) this.#message(`The replay cannot be shown: ${/** @type {Error} */ (error).message}`);
      return;
    }
    this.rate = facts.frame_rate_hz;
    this.numFrames = facts.num_steps + 1;
    this.timeline = new Timeline(facts.num_steps / this.rate);
    this.timeline.speed = Number(this.speed.value);
    this.scrub.max = String(facts.num_steps);
    this.timeline.seek(at / this.rate);
    this.#controls();
    need(this.root, "[data-replay-drawing]").hidden = !facts.has_scenes || this.isDriven;
    need(this.root, "[data-hidden-land]").hidden = !facts.hides_land;
    await this.#choose();
  }

  /** Draw the world here, or show the pictures, as whoever watches wants it. */
  async #choose() {
    const { facts } = this, wanted = savedDrawing(), turn = this.#stop();
    if (!facts) return;
    const why = facts.has_scenes && !this.isDriven ? whyNotHere(wanted) : "";
    if (why !== null) return this.#showPictures(why);
    this.#message("Loading the land ...");
    const seats = /** @type {string[]} */ ([...new Set(facts.held.map((/** @type {{seat: string}} */ { seat }) => seat))]);
    this.screen.resize(facts.width / seats.length, facts.height);
    this.smooth = true;
    this.fit();
    /** @type {Watching | null} */
    let watching = null;
    try {
      const { Watching } = await import("./scene/watching.js").catch(() => Promise.reject(new Error(NOT_LOADED)));
      if (turn !== this.turn) return;
      const begun = (watching = new Watching(this.screen.canvas, this.view, facts.id, seats, wanted !== "here", {
        positionMs: () => 1000 * this.timeline.position,
        isPlaying: () => this.timeline.playing,
        onCamera: (isFree) => this.#sayCamera(isFree),
        onFail: (reason) => begun === this.watching && this.#showPictures(reason),
      }));
      await watching.open();
    } catch (error) {
      watching?.close();
      if (turn === this.turn) this.#showPictures(/** @type {Error} */ (error).message);
      return;
    }
    if (turn !== this.turn) return watching.close(); // they chose again meanwhile
    this.watching = watching;
    const select = need(this.root, "[data-seat]");
    select.replaceChildren(...seats.map((seat, number) => new Option(seat, String(number))));
    select.hidden = seats.length < 2;
    this.#tools(true);
    this.#sayDrawn("Drawn in this browser.");
    await this.#watch();
  }

  /** Nothing draws or is fetched any more. @returns {number} that stays until this happens again */
  #stop() {
    this.watching?.close();
    this.store?.close();
    this.watching = this.store = null;
    this.shown = -1; // so the time stands still
    return ++this.turn;
  }

  /** Show scenes, from where the replay stands. */
  #watch() {
    const { watching } = this;
    if (!watching) return;
    this.store?.close();
    const [chunkFrames, aheadFrames] = [CHUNK_S, AHEAD_S].map((seconds) => Math.ceil(2 * seconds * this.rate));
    const sizes = { chunkFrames, aheadFrames, keptFrames: KEPT_SCENES };
    this.store = new FrameStore(this.numFrames, sizes, watching.load.bind(watching));
    return this.#begin();
  }

  /** @param {string} why this browser does not draw, for people; empty where nobody asks */
  #showPictures(why) {
    const { facts } = this;
    if (!facts) return;
    this.#stop();
    this.#tools(false);
    this.#sayDrawn(`Drawn by the server${why && `: ${why}`}.`);
    this.root.dataset.drawn = "server";
    this.screen.resize(facts.width, facts.height);
    this.smooth = facts.width >= 320; // a guess: the first picture tells
    this.fit();
    const sizes = {
      chunkFrames: Math.ceil(CHUNK_S * this.rate),
      aheadFrames: Math.ceil(AHEAD_S * this.rate),
      keptFrames: Math.min(1200, Math.floor(KEPT_BYTES / (4 * facts.width * facts.height))),
    };
    const load = httpLoader(facts.id, facts.width, facts.height);
    this.store = new FrameStore(this.numFrames, sizes, load, ({ picture }) => picture.bitmap?.close());
    return this.#begin();
  }

  #begin() {
    this.shown = this.wanted = -1;
    this.waitingSince = 0;
    delete this.root.dataset.shown;
    this.#message("");
    return this.#show(this.#frameNow());
  }

  /** @param {boolean} isHere whether this browser draws */
  #tools(isHere) {
    for (const tools of this.root.querySelectorAll("[data-scene-tools]")) tools.toggleAttribute("hidden", !isHere);
    if (isHere) this.root.dataset.drawn = "here";
    this.#sayCamera(false);
    need(this.root, "[data-overhead]").setAttribute("aria-pressed", "false");
  }

  /** @param {boolean} isFree */
  #sayCamera(isFree) {
    need(this.root, "[data-free]").setAttribute("aria-pressed", String(isFree));
    this.root.dataset.eyes = isFree ? "free" : "player";
  }

  /** @param {string} text */
  #sayDrawn(text) {
    need(this.root, "[data-replay-drawn-note]").textContent = text;
  }

  #toggleFree() {
    this.watching?.setFree(!this.watching.isFree);
  }

  #toggleMap() {
    const { watching } = this;
    watching?.setMap(!watching.map.isShown);
    need(this.root, "[data-overhead]").setAttribute("aria-pressed", String(watching?.map.isShown));
  }

  fit() {
    this.screen.fit(this.view.clientWidth, Math.max(240, Math.min(innerHeight - 220, 660)), this.smooth);
    this.watching?.fit();
  }

  toggle() {
    if (this.timeline.playing) this.timeline.pause();
    else this.timeline.play();
    this.lastTick = performance.now();
    this.#controls();
    if (this.timeline.playing) requestAnimationFrame((now) => this.#tick(now));
  }

  /** @param {number} frames */
  step(frames) {
    this.timeline.pause();
    this.go(this.#frameNow() + frames);
  }

  /** Only so many frames are shown a second, whatever the speed: at five times the speed each third or fifth picture. */
  get #every() {
    const most = this.watching ? SCENES_A_SECOND : Math.max(20, Math.min(60, this.rate));
    return this.timeline.playing ? Math.max(1, Math.round((this.timeline.speed * this.rate) / most)) : 1;
  }

  #frameNow() {
    const frame = Math.min(this.numFrames - 1, Math.round(this.timeline.position * this.rate));
    const every = this.#every;
    return every === 1 || frame === this.numFrames - 1 ? frame : frame - (frame % every);
  }

  /**
   * Show a frame, wherever it is; done when this frame, or one asked for later, is shown. Each time the position changes, the root gets an event `position` with its number.
   * @param {number} frame
   */
  go(frame) {
    this.timeline.seek(frame / this.rate);
    this.#controls();
    return this.#show(this.#frameNow());
  }

  /** @param {number} now */
  #tick(now) {
    // While a chunk is on its way the position waits for it, so no part of the episode is skipped.
    if (this.shown === this.wanted) this.timeline.advance((now - this.lastTick) / 1000);
    this.lastTick = now;
    this.#show(this.#frameNow());
    this.#controls();
    if (this.timeline.playing) requestAnimationFrame((next) => this.#tick(next));
  }

  /** @param {number} frame */
  async #show(frame) {
    if (!this.store || (frame === this.wanted && (frame === this.shown || this.waitingSince))) return;
    const { store, watching } = this;
    this.wanted = frame;
    if (!store.has(frame)) this.#wait(frame);
    try {
      const found = await store.frame(frame, this.#every);
      if (this.wanted !== frame || store !== this.store) return; // the visitor went on while it loaded
      if (watching) await watching.paint(found);
      else this.#paint(found);
      if (this.wanted !== frame || store !== this.store) return;
      this.shown = frame;
      this.root.dataset.shown = String(frame);
      this.#arrived();
      this.#message("");
    } catch (error) {
      if (this.wanted !== frame || store !== this.store) return;
      this.timeline.pause();
      this.shown = -1;
      store.frames.delete(frame); // it is fetched again
      this.#arrived();
      this.#controls();
      this.#message(`${/** @type {Error} */ (error).message}. Try again with the play button.`);
    }
  }

  /** @param {Shown} shown */
  #paint({ picture, palette }) {
    if (palette) this.screen.palette = palette;
    this.screen.paint(picture);
    if (this.smooth !== Boolean(picture.bitmap)) {
      this.smooth = !this.smooth; // as large as it was while it was played
      this.fit();
    }
  }

  /**
   * Show that a frame is being fetched: the old picture is hidden, because it belongs to another step.
   * @param {number} frame
   */
  #wait(frame) {
    const since = performance.now();
    this.waitingSince = since;
    const isStill = () => this.waitingSince === since && this.wanted === frame;
    const say = (/** @type {string} */ more) => {
      this.view.classList.add("loading");
      this.view.setAttribute("aria-busy", "true");
      const what = this.root.dataset.shown === undefined ? "the replay" : `step ${frame.toLocaleString("en")}`;
      const text = `Loading ${what}${more} …`;
      if (this.status.textContent !== text) this.status.textContent = text;
    };
    if (!this.timeline.playing) say("");
    else setTimeout(() => isStill() && say(""), STALL_MS);
    const ask = async () => {
      if (!isStill()) return;
      try {
        const { share } = await api(`/api/episodes/${encodeURIComponent(this.root.dataset.episode ?? "")}/drawing`);
        if (isStill() && share) say(`, replaying the game up to it: ${Math.floor(100 * share)} %`);
      } catch {
        return; // the frames' own answer tells what is wrong
      }
      setTimeout(ask, ASK_MS);
    };
    setTimeout(ask, ASK_MS);
  }

  #arrived() {
    this.waitingSince = 0;
    if (!this.view.classList.contains("loading")) return;
    this.view.classList.remove("loading");
    this.view.removeAttribute("aria-busy");
    this.status.textContent = "";
  }

  #controls() {
    const { playing, position, duration } = this.timeline;
    const frame = this.#frameNow();
    const told = `${playing} ${frame} ${this.numFrames}`;
    if (told === this.told) return; // the screen is drawn more often than the episode has frames
    this.told = told;
    this.playButton.textContent = playing ? "❚❚" : "▶";
    this.playButton.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.scrub.value = String(frame);
    this.scrub.setAttribute("aria-valuetext", `${clock(position)} of ${clock(duration)}`);
    need(this.root, "[data-time]").textContent = `${clock(position)} / ${clock(duration)}`;
    need(this.root, "[data-step]").textContent = `step ${frame} of ${this.numFrames - 1}`;
    this.root.dispatchEvent(new CustomEvent("position", { detail: frame }));
  }

  /** @param {string} text */
  #message(text) {
    const box = need(this.root, "[data-message]");
    box.hidden = !text;
    need(box, "p").textContent = text;
  }

  #listen() {
    this.playButton.addEventListener("click", () => this.toggle());
    need(this.root, "[data-back]").addEventListener("click", () => this.step(-1));
    need(this.root, "[data-forward]").addEventListener("click", () => this.step(1));
    this.scrub.addEventListener("input", () => this.go(Number(this.scrub.value)));
    this.speed.addEventListener("change", () => (this.timeline.speed = Number(this.speed.value)));
    need(this.root, "[data-free]").addEventListener("click", () => this.#toggleFree());
    need(this.root, "[data-overhead]").addEventListener("click", () => this.#toggleMap());
    need(this.root, "[data-seat]").addEventListener("change", () => {
      this.watching?.sit(Number(/** @type {HTMLSelectElement} */ (need(this.root, "[data-seat]")).value));
      this.#watch();
    });
    /** @type {HTMLSelectElement} */
    const drawnBy = need(this.root, "[data-replay-drawn-by]");
    drawnBy.value = savedDrawing();
    drawnBy.addEventListener("change", () => {
      saveDrawing(drawnBy.value);
      this.#choose();
    });
    addEventListener("resize", () => this.fit());
    addEventListener("keydown", (event) => {
      if (this.isDriven || !this.facts || this.root.closest("[hidden]") || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const onButton = event.target instanceof HTMLButtonElement || event.target instanceof HTMLAnchorElement;
      const onRange = event.target === this.scrub;
      if (event.code === "Space" && !onButton) this.toggle();
      else if (event.code === "KeyC" && this.watching) this.#toggleFree();
      else if (event.code === "KeyO" && this.watching) this.#toggleMap();
      else if (event.key === ",") this.step(-1);
      else if (event.key === ".") this.step(1);
      else if (event.key === "Home") this.step(-this.numFrames);
      else if (event.key === "End") this.step(this.numFrames);
      else if (event.code === "ArrowLeft" && !onRange) this.go(this.#frameNow() - Math.round(2 * this.rate));
      else if (event.code === "ArrowRight" && !onRange) this.go(this.#frameNow() + Math.round(2 * this.rate));
      else return;
      event.preventDefault();
    });
  }
}

if (typeof document !== "undefined") {
  for (const root of document.querySelectorAll("[data-replay]")) {
    if (root instanceof HTMLElement && root.dataset.episode) new Replay(root).open(root.dataset.episode);
  }
}

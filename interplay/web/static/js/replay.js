// Plays a recorded episode: frames come in chunks from /api/episodes/{id}/frames, exactly as they were recorded, and only
// those near the position are fetched and kept.

import { FrameDecoder, Screen, fitSize } from "./codec.js";
import { api, isTyping, need } from "./page.js";
import { paletteFromBase64, splitFrames } from "./protocol.js";
import { Timeline, clock } from "./timeline.js";

/** @typedef {import("./codec.js").Picture} Picture */

/** Fetched at once. Of Atari that is about 20 kB on the wire and 4 MB decoded; of a world rebuilt by replay, what the server
 * draws in a second or two. */
const CHUNK_S = 2;
const CHUNKS_KEPT = 8;

/**
 * @typedef {object} Chunk
 * @property {Picture[]} pictures
 * @property {Uint32Array | null} palette
 */

/** Frames by number, decoded on demand. */
export class FrameStore {
  /**
   * @param {number} numFrames
   * @param {number} chunkFrames fetched at once
   * @param {(start: number, count: number) => Promise<Chunk>} load
   */
  constructor(numFrames, chunkFrames, load) {
    this.numFrames = numFrames;
    this.chunkFrames = chunkFrames;
    this.load = load;
    /** @type {Map<number, Promise<Chunk>>} the least recently used first */
    this.chunks = new Map();
  }

  /** @param {number} index of the chunk */
  #chunk(index) {
    let chunk = this.chunks.get(index);
    if (chunk) {
      this.chunks.delete(index);
    } else {
      const start = index * this.chunkFrames;
      chunk = this.load(start, Math.min(this.chunkFrames, this.numFrames - start));
      chunk.catch(() => this.chunks.delete(index)); // a failed fetch may be tried again
    }
    this.chunks.set(index, chunk);
    for (const oldest of this.chunks.keys()) {
      if (this.chunks.size <= CHUNKS_KEPT) break;
      this.chunks.delete(oldest);
    }
    return chunk;
  }

  /**
   * Frame number `index` and its palette; asks for the next chunk as well.
   * @param {number} index
   */
  async frame(index) {
    const number = Math.floor(index / this.chunkFrames);
    const chunk = this.#chunk(number);
    if ((number + 1) * this.chunkFrames < this.numFrames) this.#chunk(number + 1).catch(() => {});
    const { pictures, palette } = await chunk;
    const picture = pictures[index - number * this.chunkFrames];
    if (!picture) throw new RangeError(`the server sent no frame ${index}`);
    return { picture, palette };
  }
}

/**
 * Loads chunks over HTTP.
 * @param {string} episode
 * @param {number} width
 * @param {number} height
 * @returns {(start: number, count: number) => Promise<Chunk>}
 */
export function httpLoader(episode, width, height) {
  return async (start, count) => {
    const response = await fetch(`/api/episodes/${encodeURIComponent(episode)}/frames?start=${start}&count=${count}`);
    if (!response.ok) throw new Error(`the frames from ${start} on could not be fetched (${response.status})`);
    const palette = response.headers.get("X-Palette");
    const decoder = new FrameDecoder(width, height);
    const pictures = await Promise.all(splitFrames(await response.arrayBuffer()).map((message) => decoder.push(message)));
    return { pictures, palette: palette ? paletteFromBase64(palette) : null };
  };
}

/** The replay with its controls, on the markup of templates/_replay.html. */
export class Replay {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.screen = new Screen(need(root, "canvas"));
    this.view = need(root, ".view");
    this.playButton = need(root, "[data-play]");
    /** @type {HTMLInputElement} */
    this.scrub = need(root, "[data-scrub]");
    /** @type {HTMLSelectElement} */
    this.speed = need(root, "[data-speed]");
    this.timeline = new Timeline(0);
    this.rate = 60;
    this.numFrames = 1;
    this.shown = -1;
    this.wanted = 0;
    /** @type {FrameStore | null} */
    this.store = null;
    this.lastTick = 0;
    this.#listen();
  }

  /**
   * Show an episode.
   * @param {string} episode
   */
  async open(episode) {
    this.root.dataset.episode = episode;
    this.#message("Loading the replay ...");
    let facts;
    try {
      facts = await api(`/api/episodes/${encodeURIComponent(episode)}`);
    } catch (error) {
      return this.#message(`The replay cannot be shown: ${/** @type {Error} */ (error).message}`);
    }
    this.rate = facts.frame_rate_hz;
    this.numFrames = facts.num_steps + 1;
    this.timeline = new Timeline(facts.num_steps / this.rate);
    this.timeline.speed = Number(this.speed.value);
    this.scrub.max = String(facts.num_steps);
    this.screen.resize(facts.width, facts.height);
    this.store = new FrameStore(
      this.numFrames,
      Math.ceil(CHUNK_S * this.rate),
      httpLoader(episode, facts.width, facts.height),
    );
    this.shown = -1;
    this.fit();
    this.#controls();
    await this.#show(0);
  }

  fit() {
    const { width, height } = this.screen.canvas;
    const size = fitSize(width, height, this.view.clientWidth, Math.max(240, Math.min(innerHeight - 220, 660)), devicePixelRatio);
    this.screen.canvas.style.width = `${size.width}px`;
    this.screen.canvas.style.height = `${size.height}px`;
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
    this.#go(this.#frameNow() + frames);
  }

  #frameNow() {
    return Math.min(this.numFrames - 1, Math.round(this.timeline.position * this.rate));
  }

  /** @param {number} frame */
  #go(frame) {
    this.timeline.seek(frame / this.rate);
    this.#controls();
    this.#show(this.#frameNow());
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
    if (!this.store || (frame === this.wanted && frame === this.shown)) return;
    const alreadyAsked = frame === this.wanted && this.shown !== -1;
    this.wanted = frame;
    if (alreadyAsked) return;
    try {
      const { picture, palette } = await this.store.frame(frame);
      if (this.wanted !== frame) return; // the visitor went on while it loaded
      if (palette) this.screen.palette = palette;
      this.screen.paint(picture);
      this.shown = frame;
      this.root.dataset.shown = String(frame);
      this.#message("");
    } catch (error) {
      this.timeline.pause();
      this.shown = -1;
      this.#controls();
      this.#message(`${/** @type {Error} */ (error).message}. Try again with the play button.`);
    }
  }

  #controls() {
    const { playing, position, duration } = this.timeline;
    const frame = this.#frameNow();
    this.playButton.textContent = playing ? "❚❚" : "▶";
    this.playButton.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.scrub.value = String(frame);
    this.scrub.setAttribute("aria-valuetext", `${clock(position)} of ${clock(duration)}`);
    need(this.root, "[data-time]").textContent = `${clock(position)} / ${clock(duration)}`;
    need(this.root, "[data-step]").textContent = `step ${frame} of ${this.numFrames - 1}`;
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
    this.scrub.addEventListener("input", () => this.#go(Number(this.scrub.value)));
    this.speed.addEventListener("change", () => (this.timeline.speed = Number(this.speed.value)));
    addEventListener("resize", () => this.fit());
    addEventListener("keydown", (event) => {
      if (!this.store || this.root.closest("[hidden]") || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const onButton = event.target instanceof HTMLButtonElement || event.target instanceof HTMLAnchorElement;
      const onRange = event.target === this.scrub;
      if (event.code === "Space" && !onButton) this.toggle();
      else if (event.key === ",") this.step(-1);
      else if (event.key === ".") this.step(1);
      else if (event.code === "ArrowLeft" && !onRange) this.#go(this.#frameNow() - Math.round(2 * this.rate));
      else if (event.code === "ArrowRight" && !onRange) this.#go(this.#frameNow() + Math.round(2 * this.rate));
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

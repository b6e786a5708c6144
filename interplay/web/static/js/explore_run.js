// One run of a language model: its words, keys and items at the tick that the replay shows, and its path.

import { api, isTyping, need } from "./page.js";
import { Replay } from "./replay.js";

/**
 * @typedef {object} Call
 * @property {number} tick
 * @property {number} ticks
 * @property {string[]} kinds
 * @property {string[]} keys
 * @property {[number, number] | null} camera
 * @property {string | null} tool
 * @property {string} words
 * @property {string | null} memory
 * @property {string} why
 * @property {number | null} input_tokens null where the server does not say
 * @property {number | null} output_tokens
 * @property {number | null} latency_ms
 * @property {boolean} is_refused
 */

/** @typedef {{place: number, number: number, name: string | null, tick: number | null, oracle: number | null}} Milestone */

/** @typedef {{number: number, low: [number, number], high: [number, number], within: number | null}} Target */

/**
 * The call that a tick belongs to: the last one that was made at it or before.
 * @param {Call[]} calls
 * @param {number} tick
 */
export function callAt(calls, tick) {
  let low = 0;
  let high = calls.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (calls[middle].tick <= tick) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/**
 * Tokens and refused replies up to a call, this call included.
 * @param {Call[]} calls
 * @param {number} last
 */
export function totals(calls, last) {
  const made = { read: 0, written: 0, refused: 0 };
  for (const call of calls.slice(0, last + 1)) {
    made.read += call.input_tokens ?? NaN;
    made.written += call.output_tokens ?? NaN;
    made.refused += call.is_refused ? 1 : 0;
  }
  return made;
}

/**
 * The next milestone that was reached after a tick; after the last one, the first.
 * @param {Milestone[]} milestones
 * @param {number} tick
 * @returns {number | null}
 */
export function nextMilestone(milestones, tick) {
  const ticks = milestones.flatMap((one) => (one.tick === null ? [] : [one.tick])).sort((a, b) => a - b);
  return ticks.find((one) => one > tick) ?? ticks[0] ?? null;
}

/** @typedef {[boolean, ...(number | null)[]]} Fact whether a rule holds, and the numbers that it compares; null is infinite */

/** @typedef {{tick: number, slots?: [number, string, number][], hotbar?: number, health?: number, food?: number, facts: Record<string, Fact[]>}} Seen */

/**
 * The state at a tick, from the changes at each tick.
 * @param {Seen[]} seen
 * @param {number} tick
 * @returns {Required<Seen>}
 */
export function seenAt(seen, tick) {
  /** @type {Required<Seen>} */
  const now = { tick: 0, slots: [], hotbar: 0, health: 20, food: 20, facts: {} };
  for (const one of seen) {
    if (one.tick > tick) break;
    Object.assign(now, one, { facts: { ...now.facts, ...one.facts } });
  }
  return now;
}

const plain = (/** @type {string} */ name) => name.replaceAll("_", " ");
const point = (/** @type {(number | null)[]} */ at) => `(${at.join(", ")})`;

/**
 * A rule's comparison in words.
 * @param {{type: string, params: any}} rule
 * @param {(number | null)[]} numbers as `rules.measured` gives them
 */
export function comparison({ type, params }, numbers) {
  const [first, second] = numbers;
  const of = plain(params.item ?? params.object ?? "");
  if (type === "inventory_has") return `carries ${of}: ${first} of ${params.min_count}`;
  if (type === "position_near_with_facing") return `distance ${first} of at most ${params.max_distance}, angle ${second}° of at most ${params.facing_tolerance / 2}°`;
  if (type === "position_inside_box") return `stands in ${point(numbers)}, the box is ${point(params.min)} to ${point(params.max)}`;
  if (type === "count_in_box_at_least") return `${of} in the box: ${first} of ${params.min_count}`;
  if (type === "count_in_box_at_most") return `${of} in the box: ${first} of at most ${params.max_count}`;
  if (type === "x.event_at_least") return `${plain(params.event)} ${of}: ${first} of ${params.min_count}`;
  return first === null ? `${of} is not in sight` : `${of} in sight at ${first} of at most ${params.max_distance}`;
}

/**
 * The player's items: one line for each kind, the item in the hand first.
 * @param {[number, string, number][]} slots number of the slot, item and count
 * @param {number} hotbar the slot in hand
 * @returns {{name: string, count: number, isInHand: boolean}[]}
 */
export function carried(slots, hotbar) {
  const hand = slots.find(([slot]) => slot === hotbar)?.[1];
  /** @type {Map<string, number>} */
  const counts = new Map(hand ? [[hand, 0]] : []);
  for (const [, item, count] of slots) counts.set(item, (counts.get(item) ?? 0) + count);
  return [...counts].map(([item, count]) => ({ name: plain(item), count, isInHand: item === hand }));
}

/**
 * The tick of the proof that is shown beside a tick of the run.
 * @param {number} tick
 * @param {number} last of the proof
 * @param {Milestone | undefined} both where both stand at a milestone; at the beginning without one
 */
export function proofTick(tick, last, both) {
  return Math.min(last, Math.max(0, tick + (both ? (both.oracle ?? 0) - (both.tick ?? 0) : 0)));
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {Element} parent
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 */
function draw(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

/** Where the player went, from above: east to the right, north up. */
class Way {
  /**
   * @param {SVGElement} svg
   * @param {[number, number, number][]} path
   * @param {Target[] | null} targets
   */
  constructor(svg, path, targets) {
    this.path = path;
    const xs = [...path.map((at) => at[0]), ...(targets ?? []).flatMap((one) => [one.low[0], one.high[0]])];
    const zs = [...path.map((at) => at[2]), ...(targets ?? []).flatMap((one) => [one.low[1], one.high[1]])];
    const span = Math.max(8, Math.max(...xs) - Math.min(...xs), Math.max(...zs) - Math.min(...zs)) + 3;
    const left = (Math.max(...xs) + Math.min(...xs) - span) / 2;
    const top = (Math.max(...zs) + Math.min(...zs) - span) / 2;
    this.unit = span / 100;
    const u = this.unit;
    svg.setAttribute("viewBox", `${left} ${top} ${span} ${span}`);
    const step = span > 60 ? 10 : span > 25 ? 5 : 1;
    for (let x = Math.ceil(left / step) * step; x < left + span; x += step) draw(svg, "line", { class: "grid", x1: x, x2: x, y1: top, y2: top + span, "stroke-width": u / 3 });
    for (let z = Math.ceil(top / step) * step; z < top + span; z += step) draw(svg, "line", { class: "grid", x1: left, x2: left + span, y1: z, y2: z, "stroke-width": u / 3 });
    for (const one of targets ?? []) {
      draw(svg, "rect", { class: "target", x: one.low[0], y: one.low[1], width: one.high[0] - one.low[0], height: one.high[1] - one.low[1], "stroke-width": u });
      draw(svg, "text", { x: one.high[0] + u, y: one.low[1], "font-size": 6 * u }, String(one.number));
    }
    const line = (/** @type {[number, number, number][]} */ part) => part.map((at) => `${at[0]},${at[2]}`).join(" ");
    draw(svg, "polyline", { class: "to-come", points: line(path), "stroke-width": u, "stroke-dasharray": `${u} ${2 * u}` });
    this.line = line;
    this.until = draw(svg, "polyline", { class: "until", "stroke-width": 1.6 * u, points: "" });
    const end = path[path.length - 1];
    draw(svg, "circle", { class: "start", cx: path[0][0], cy: path[0][2], r: 2 * u, "stroke-width": u });
    draw(svg, "rect", { class: "end", x: end[0] - 2 * u, y: end[2] - 2 * u, width: 4 * u, height: 4 * u, "stroke-width": u });
    this.now = draw(svg, "circle", { class: "now", r: 2.6 * u, "stroke-width": u });
    draw(svg, "text", { x: left + 2 * u, y: top + 7 * u, "font-size": 5 * u }, "N ↑");
    draw(svg, "text", { x: left + 2 * u, y: top + span - 2 * u, "font-size": 5 * u }, `a square: ${step} block${step > 1 ? "s" : ""}`);
  }

  /** @param {number} tick */
  show(tick) {
    const place = Math.min(tick, this.path.length - 1);
    const at = this.path[place];
    this.until.setAttribute("points", this.line(this.path.slice(0, place + 1)));
    this.now.setAttribute("cx", String(at[0]));
    this.now.setAttribute("cy", String(at[2]));
    return at;
  }
}

/** The page: the replay and everything that follows it. */
class RunPage {
  /**
   * @param {HTMLElement} root
   * @param {any} run as /api/explore/runs/{id} says
   */
  constructor(root, run) {
    this.root = root;
    /** @type {Call[]} */
    this.calls = run.calls;
    /** @type {Milestone[]} */
    this.milestones = run.milestones;
    this.run = run;
    this.tick = 0;
    this.call = 0;
    const replay = root.querySelector("[data-replay]");
    this.replay = replay instanceof HTMLElement ? new Replay(replay) : null;
    this.way = null;
    if (run.path?.length) {
      need(root, "[data-map-box]").hidden = false;
      this.way = new Way(need(root, "[data-map]"), run.path, run.targets);
    }
    /** @type {Replay | null} */
    this.proof = null;
    this.isFollowing = false;
    need(root, "[data-carried-box]").hidden = !run.seen;
    this.#marks();
    this.#listen();
    this.#show(run.opens_at);
    this.replay?.open(run.episode, run.opens_at);
  }

  #marks() {
    const svg = this.root.querySelector("[data-marks]");
    const most = this.run.num_steps;
    if (!svg || !most) return;
    let numMissed = 0; // drawn at the end, next to each other
    for (const one of [...this.milestones].reverse()) {
      const isMissed = one.tick === null;
      const x = `${((100 * (one.tick ?? most)) / most).toFixed(3)}%`;
      const left = isMissed ? -20 * numMissed++ : 0;
      const mark = draw(svg, "g", { class: isMissed ? "missed" : "reached", transform: `translate(${left} 0)` });
      draw(mark, "circle", { cx: x, cy: 12, r: 9 });
      draw(mark, "text", { x, y: 16, "text-anchor": "middle" }, String(one.number));
      draw(mark, "title", {}, `Milestone ${one.number}: ${isMissed ? "missed" : `tick ${one.tick}`}`);
      if (one.tick !== null) mark.addEventListener("click", () => this.replay?.go(/** @type {number} */ (one.tick)));
    }
  }

  /** @param {number} number */
  #goToCall(number) {
    if (!this.calls.length) return;
    this.call = Math.min(this.calls.length - 1, Math.max(0, number));
    const tick = this.calls[this.call].tick;
    this.#show(tick);
    this.replay?.go(tick);
  }

  #goToMilestone() {
    const tick = nextMilestone(this.milestones, this.tick);
    if (tick === null) return;
    this.#show(tick);
    this.replay?.go(tick);
  }

  /**
   * Show everything about a tick. A chosen call stays while its tick is shown: refused replies have the tick of the next call.
   * @param {number} tick
   */
  #show(tick) {
    this.tick = tick;
    if (this.calls[this.call]?.tick !== tick) this.call = callAt(this.calls, tick);
    this.#showCall();
    this.#showTotals();
    this.#showSeen();
    this.#follow();
    const at = this.way?.show(tick);
    if (at) need(this.root, "[data-map-text]").textContent = `Full line: until now. Dots: still to come. Circle: start. Square: end. Now at x ${at[0]}, y ${at[1]}, z ${at[2]}.`;
  }

  #showCall() {
    const call = this.calls[this.call];
    const put = (/** @type {string} */ name, /** @type {string} */ text) => (need(this.root, `[data-${name}]`).textContent = text);
    if (!call) {
      put("call-number", "No calls to show");
      put("words", "No call was answered, or this run was recorded before its file said when calls were made.");
      return;
    }
    put("call-number", `Call ${(this.call + 1).toLocaleString("en")} of ${this.calls.length.toLocaleString("en")}`);
    put("call-ticks", call.ticks > 1 ? `ticks ${call.tick} to ${call.tick + call.ticks - 1}` : `tick ${call.tick}`);
    put("words", call.words || "(no words)");
    const keys = need(this.root, "[data-keys]");
    keys.replaceChildren(
      ...call.keys.map((name) => {
        const key = document.createElement("kbd");
        key.textContent = name;
        return key;
      }),
    );
    if (!call.keys.length) keys.textContent = call.tool && call.tool !== "act" ? `none: ${call.tool}` : "none";
    put("camera", call.camera ? `${turn(call.camera[0], "down", "up")}, ${turn(call.camera[1], "right", "left")}` : "still");
    put("held", call.ticks === 0 ? "not played" : `${call.ticks} tick${call.ticks > 1 ? "s" : ""}`);
    const seconds = call.latency_ms === null ? "" : `, after ${(call.latency_ms / 1000).toFixed(1)} s`;
    put("reply", (call.is_refused ? `refused (${call.kinds.join(", ").replaceAll("_", " ")})${call.why ? `: ${call.why}` : ""}` : "could be played") + seconds);
    const memory = this.calls.slice(0, this.call + 1).findLast((one) => one.memory !== null)?.memory ?? null;
    need(this.root, "[data-memory-box]").hidden = !memory;
    put("memory", memory ?? "");
    /** @type {HTMLButtonElement} */ (need(this.root, "[data-previous-call]")).disabled = this.call === 0;
    /** @type {HTMLButtonElement} */ (need(this.root, "[data-next-call]")).disabled = this.call === this.calls.length - 1;
  }

  #showSeen() {
    if (!this.run.seen) return;
    const now = seenAt(this.run.seen, this.tick);
    need(this.root, "[data-body]").textContent = `health ${now.health} of 20, food ${now.food} of 20`;
    const items = carried(now.slots, now.hotbar);
    need(this.root, "[data-carried]").replaceChildren(
      ...items.map(({ name, count, isInHand }) => listed(`${count} ${name}${isInHand ? ", in hand" : ""}`, isInHand ? "on" : "")),
      ...(items.length ? [] : [listed("nothing", "soft")]),
    );
    const at = this.run.path?.[Math.min(this.tick, this.run.path.length - 1)];
    need(this.root, "[data-place]").textContent = at ? `Stands at x ${at[0]}, y ${at[1]}, z ${at[2]} from the beginning.` : "";
    for (const list of this.root.querySelectorAll("[data-rules]")) {
      const place = list instanceof HTMLElement ? list.dataset.rules ?? "" : "";
      const reached = this.milestones.find((one) => String(one.place) === place)?.tick ?? Infinity;
      const facts = now.facts[place] ?? [];
      const rules = this.run.rules?.[place] ?? [];
      list.replaceChildren(
        ...facts.map(([holds, ...numbers], index) => listed(`${holds ? "✓" : "–"} ${comparison(rules[index], numbers)}`, holds ? "on" : "")),
        ...(reached < this.tick && facts.length ? [listed(`as it was at tick ${reached.toLocaleString("en")}`, "soft")] : []),
      );
    }
  }

  /** The milestone at which the run and the proof stand beside each other. */
  get #aligned() {
    const place = /** @type {HTMLSelectElement} */ (need(document, "[data-align]")).value;
    return this.milestones.find((one) => String(one.place) === place);
  }

  async #showProof() {
    need(document, "[data-show-proof]").hidden = true;
    need(document, "[data-proof-box]").hidden = false;
    const here = /** @type {HTMLCanvasElement} */ (need(document, "[data-here]"));
    const shown = this.replay;
    if (!shown) return;
    const copy = () => {
      const { canvas } = shown.screen;
      here.width = canvas.width;
      here.height = canvas.height;
      here.getContext("2d")?.drawImage(canvas, 0, 0);
    };
    copy();
    new MutationObserver(copy).observe(shown.root, { attributeFilter: ["data-shown"] });
    const proof = new Replay(need(document, "[data-proof]"), { isDriven: true });
    await proof.open(this.run.proof);
    this.proof = proof;
    this.#follow();
  }

  /** Keep the proof beside the run: one picture after the other, however fast the run is played. */
  async #follow() {
    const proof = this.proof;
    if (!proof || this.isFollowing) return;
    this.isFollowing = true;
    const wanted = () => proofTick(this.tick, proof.numFrames - 1, this.#aligned);
    let at;
    do {
      at = wanted();
      await proof.go(at);
    } while (at !== wanted());
    this.isFollowing = false;
    need(document, "[data-proof-tick]").textContent = `Run: tick ${this.tick.toLocaleString("en")}. Oracle: tick ${at.toLocaleString("en")} of ${(proof.numFrames - 1).toLocaleString("en")}.`;
  }

  #showTotals() {
    const soFar = totals(this.calls, this.call);
    const whole = totals(this.calls, this.calls.length);
    const call = this.calls[this.call];
    /** @type {[string, number, number, number][]} */
    const rows = [
      ["tokens read", call?.input_tokens ?? (call ? NaN : 0), soFar.read, whole.read],
      ["tokens written", call?.output_tokens ?? (call ? NaN : 0), soFar.written, whole.written],
      ["refused replies", call?.is_refused ? 1 : 0, soFar.refused, whole.refused],
    ];
    need(this.root, "[data-totals]").replaceChildren(
      ...rows.map(([name, ...numbers]) => {
        const row = document.createElement("tr");
        const head = document.createElement("th");
        head.scope = "row";
        head.textContent = name;
        row.append(head);
        for (const number of numbers) {
          const cell = document.createElement("td");
          cell.className = "r num";
          cell.textContent = Number.isNaN(number) ? "unknown" : number.toLocaleString("en");
          row.append(cell);
        }
        return row;
      }),
    );
  }

  #listen() {
    this.replay?.root.addEventListener("position", (event) => this.#show(/** @type {CustomEvent<number>} */ (event).detail));
    need(this.root, "[data-previous-call]").addEventListener("click", () => this.#goToCall(this.call - 1));
    need(this.root, "[data-next-call]").addEventListener("click", () => this.#goToCall(this.call + 1));
    need(this.root, "[data-next-milestone]").addEventListener("click", () => this.#goToMilestone());
    document.querySelector("[data-show-proof]")?.addEventListener("click", () => this.#showProof());
    document.querySelector("[data-align]")?.addEventListener("change", () => {
      const tick = this.#aligned?.tick ?? 0;
      this.#show(tick);
      this.replay?.go(tick);
    });
    for (const button of this.root.querySelectorAll("[data-go]")) {
      if (button instanceof HTMLElement) button.addEventListener("click", () => this.replay?.go(Number(button.dataset.go)));
    }
    addEventListener("keydown", (event) => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const key = event.key.toLowerCase();
      if (key === "p") this.#goToCall(this.call - 1);
      else if (key === "n") this.#goToCall(this.call + 1);
      else if (key === "m") this.#goToMilestone();
      else return;
      event.preventDefault();
    });
  }
}

/**
 * An entry of a list.
 * @param {string} text
 * @param {string} name of its class
 */
function listed(text, name) {
  const made = document.createElement("li");
  made.textContent = text;
  made.className = name;
  return made;
}

/**
 * @param {number} degrees
 * @param {string} positive
 * @param {string} negative
 */
function turn(degrees, positive, negative) {
  return degrees === 0 ? "0°" : `${Math.abs(degrees)}° ${degrees > 0 ? positive : negative}`;
}

if (typeof document !== "undefined") {
  const root = document.querySelector("[data-run]");
  if (root instanceof HTMLElement) {
    api(`/api/explore/runs/${root.dataset.run}`).then(
      (run) => new RunPage(root, run),
      (error) => (need(root, "[data-words]").textContent = `This run cannot be shown: ${error.message}`),
    );
  }
}

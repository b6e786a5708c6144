// The browser's end of `python -m bench.same_world`: the page's own `Scene` and its worker, without a window. What it sends to
// the graphics card is kept here instead. Messages come on stdin: u32 length, u8 kind, u8 seat, payload; answers are lines of JSON.

import { createHash } from "node:crypto";
import { Worker as Thread, isMainThread, parentPort, workerData } from "node:worker_threads";

const TABLES = 1, OPEN = 2, SCENE = 4, LAND = 5, ASK = 6, END = "end";

/** Where `Scene` starts its worker: a thread that has what a browser's worker has. */
class Worker {
  constructor(url) {
    this.thread = new Thread(new URL(import.meta.url), { workerData: String(url) });
    this.thread.on("message", (data) => this.onmessage?.({ data }));
    this.thread.on("error", (error) => this.onerror?.(error));
  }

  postMessage(data) {
    this.thread.postMessage(data);
  }

  /** The thread ends itself between two messages: Node aborts where it is stopped while it makes a stream that inflates. */
  terminate() {
    this.onmessage = this.onerror = null;
    this.thread.postMessage(END);
  }
}

/** A graphics card that only keeps the cells of the land: four bytes each, [x][z][y]. */
function card() {
  const kept = { cells: new Uint8Array(0), sides: [0, 0] };
  const does = {
    getParameter: () => 4096,
    getExtension: () => null,
    texStorage3D(target, levels, format, sy, sz, sx) {
      kept.cells = new Uint8Array(4 * sx * sy * sz);
      kept.sides = [sy, sz];
    },
    texSubImage3D(target, level, y, z, x, ny, nz, nx, layout, type, bytes) {
      const [sy, sz] = kept.sides;
      let from = 0;
      for (let i = x; i < x + nx; i++) for (let k = z; k < z + nz; k++, from += 4 * ny) kept.cells.set(bytes.subarray(from, from + 4 * ny), 4 * ((i * sz + k) * sy + y));
    },
  };
  const gl = new Proxy(does, { get: (target, name) => target[name] ?? (/^[A-Z]/.test(String(name)) ? 0 : () => ({})) });
  return { kept, gl };
}

const canvasOf = (context) => ({ width: 640, height: 360, getContext: () => context, addEventListener() {} });
const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");

class Page {
  static async open(tables) {
    const { Scene } = await import("../packages/blockworld/blockworld/web/scene.js"), page = new Page(), { kept, gl } = card();
    page.kept = kept;
    page.scene = await Scene.open(canvasOf(gl), canvasOf({}), tables);
    page.scene.onLost((reason) => page.errors.push(reason));
    page.errors = [];
    page.last = Promise.resolve();
    return page;
  }

  take(kind, payload) {
    this.last = this.scene.apply({ kind, payload }).catch((error) => void this.errors.push(String(error)));
  }

  async knows() {
    await this.last; // frames are taken in their order
    const { scene, kept } = this, { land, display, figures } = scene;
    while (scene.boxes.length) land.put(scene.boxes.shift());
    const cells = new Uint32Array(kept.cells.buffer), states = new Uint16Array(cells.length), lights = new Uint8Array(cells.length);
    for (let i = 0; i < cells.length; i++) {
      states[i] = cells[i] & 0xffff;
      lights[i] = (cells[i] >>> 16) & 0xff;
    }
    const used = display.operations.flatMap(([name, key]) => (name === "sprite" ? [key] : []));
    return {
      cells: digest(states),
      light: digest(lights),
      figures: Object.fromEntries([...figures.figures.values()].map(({ id, to }) => [id, digest(to)])),
      models: [...figures.models.keys()],
      sprites: Object.fromEntries(used.map((key) => [key, display.sprites.has(key) ? digest(display.sprites.get(key).pixels) : null])),
      display: display.operations,
      hand: scene.hand,
      me: scene.me,
      selected: scene.selected,
      crack: scene.crack,
      tick: scene.tick,
      errors: this.errors.splice(0),
    };
  }
}

async function* messages() {
  let held = Buffer.alloc(0);
  for await (const piece of process.stdin) {
    held = held.length ? Buffer.concat([held, piece]) : piece;
    for (;;) {
      if (held.length < 6 || held.length < 6 + held.readUInt32LE(0)) break;
      const end = 6 + held.readUInt32LE(0);
      yield { kind: held[4], seat: held[5], payload: new Uint8Array(held.subarray(6, end)) };
      held = held.subarray(end);
    }
  }
}

if (isMainThread) {
  globalThis.Worker = Worker;
  const pages = new Map();
  let tables = "";
  for await (const { kind, seat, payload } of messages()) {
    if (kind === TABLES) tables = `data:;base64,${Buffer.from(payload).toString("base64")}`;
    else if (kind === OPEN) {
      pages.get(seat)?.scene.close();
      pages.set(seat, await Page.open(tables));
    } else if (kind === SCENE || kind === LAND) pages.get(seat).take(kind, payload);
    else if (kind === ASK) process.stdout.write(`${JSON.stringify(await pages.get(seat).knows())}\n`);
  }
  for (const page of pages.values()) page.scene.close();
} else {
  globalThis.self = { postMessage: (data, { transfer }) => parentPort.postMessage(data, transfer) };
  await import(workerData);
  parentPort.on("message", (data) => (data === END ? process.exit() : globalThis.self.onmessage({ data })));
}

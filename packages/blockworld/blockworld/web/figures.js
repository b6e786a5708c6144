// Mobs, items, players and the hand: boxes that are drawn by casting a ray through each pixel in the box's own frame, over the
// land and with its depths. blockworld/render/figures.py is the same in Python.

import { Program } from "./gl.js";
import { DEPTH } from "./land/shaders.js";
import { INSTANCE, LIGHT, MODEL, PART, ROW, SPRITE, TICK_MS, X, Y, Z, between, isStep, place, shine } from "./poses.js";

/** @typedef {import("./packing.js").PackedArray} PackedArray */
/** @typedef {import("./poses.js").Row} Row */
/** @typedef {Pick<import("./camera.js").View, "eye" | "axes" | "tanY" | "width" | "height" | "bright">} View where a picture is taken from */
/**
 * @typedef {object} Model
 * @property {number} first part
 * @property {number} count of parts
 * @property {boolean} isClear whether one sees through it
 * @property {number} firstTexel
 * @property {number} texels
 */
/** @typedef {{parts: PackedArray, faces: PackedArray, skin: PackedArray}} Looks of a model, as it was sent */
/** @typedef {{frame: WebGLFramebuffer, buffers: WebGLRenderbuffer[], width: number, height: number}} Window to draw portraits on */
/**
 * @typedef {object} Figure
 * @property {number} id
 * @property {Float32Array} from the row that it comes from
 * @property {Float32Array} to and goes to
 * @property {Float32Array} now as it is drawn
 * @property {boolean} moves
 * @property {number} away squared, from the eye
 */

/** How far figures are drawn, in blocks. */
const REACH = 64;
/** How high the middle of a figure is about, and how far from there its boxes reach at most. */
const MIDDLE = 0.9, MOST_BULK = 3;
const TEXELS_IN_A_ROW = 1024;
/** Six for each part. */
const FACES_IN_A_ROW = 768;
/** Boxes in one call; not as instances, each of which costs a browser without a graphics card as much as a call. A uniform block has at least
 * room for so many. */
const BOXES = 128;
/** How high the hand's and the portrait's pictures are, in degrees. */
const HAND_FOV = 70, PORTRAIT_FOV = 17;
const AT_ORIGIN = [0, 0, 0], BEFORE_PORTRAIT = [0, 1, 0];
const LOOKING_SOUTH = [-1, 0, 0, 0, 1, 0, 0, 0, 1];

const VERTEX = `#version 300 es
precision highp float;
uniform vec3 right, up, ahead;
uniform vec2 tans;
layout(std140) uniform Boxes { vec4 boxes[${BOXES * (INSTANCE / 4)}]; };
flat out vec4 r0, r1, r2, low, high, tint;
flat out float addAll;
const int CORNERS[36] = int[36](0,2,6,0,6,4, 1,5,7,1,7,3, 0,4,5,0,5,1, 2,3,7,2,7,6, 0,1,3,0,3,2, 4,6,7,4,7,5);
void main() {
  int at = gl_VertexID / 36 * ${INSTANCE / 4}, corner = CORNERS[gl_VertexID % 36];
  vec4 row0 = boxes[at], row1 = boxes[at + 1], row2 = boxes[at + 2], lowPart = boxes[at + 3], highFlags = boxes[at + 4];
  vec3 c = mix(lowPart.xyz, highFlags.xyz, vec3(corner & 1, corner >> 1 & 1, corner >> 2 & 1));
  vec3 p = vec3(dot(row0.xyz, c) + row0.w, dot(row1.xyz, c) + row1.w, dot(row2.xyz, c) + row2.w);
  float away = dot(p, ahead);
  gl_Position = vec4(dot(p, right) / tans.x, dot(p, up) / tans.y, away - 0.002, away);
  r0 = row0; r1 = row1; r2 = row2; low = lowPart; high = highFlags; tint = boxes[at + 5]; addAll = boxes[at + 6].x;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
uniform vec3 right, up, ahead;
uniform vec2 tans;
uniform vec2 screen;
uniform highp usampler2D faces;
uniform highp sampler2D skin;
flat in vec4 r0, r1, r2, low, high, tint;
flat in float addAll;
out vec4 colour;

uvec4 faceOf(int face) {
  int i = int(low.w) * 6 + face;
  return texelFetch(faces, ivec2(i % ${FACES_IN_A_ROW}, i / ${FACES_IN_A_ROW}), 0);
}

vec4 texelAt(uvec4 face, ivec2 at) {
  int i = int(face.x) + at.y * int(face.y) + at.x;
  return floor(texelFetch(skin, ivec2(i % ${TEXELS_IN_A_ROW}, i / ${TEXELS_IN_A_ROW}), 0) * 255.0 + 0.5);
}

ivec2 cell(vec2 at, uvec4 face) {
  ivec2 size = ivec2(face.yz);
  return clamp(ivec2(at * vec2(size)), ivec2(0), size - 1);
}

void main() {
  vec2 uv = 2.0 * gl_FragCoord.xy / screen - 1.0;
  vec3 ray = ahead + uv.x * tans.x * right + uv.y * tans.y * up;
  vec3 o = -(r0.xyz * r0.w + r1.xyz * r1.w + r2.xyz * r2.w);
  vec3 d = r0.xyz * ray.x + r1.xyz * ray.y + r2.xyz * ray.z;
  d = mix(d, vec3(1e-7), lessThan(abs(d), vec3(1e-7)));
  vec3 a = (low.xyz - o) / d, b = (high.xyz - o) / d;
  vec3 t0 = min(a, b), t1 = max(a, b);
  float near = max(max(t0.x, t0.y), t0.z), far = min(min(t1.x, t1.y), t1.z);
  if (near <= 0.0 || near >= far) discard;
  int face = t0.x == near ? (d.x > 0.0 ? 0 : 1) : t0.y == near ? (d.y > 0.0 ? 5 : 4) : (d.z > 0.0 ? 2 : 3);
  vec3 size = high.xyz - low.xyz;
  vec3 h = (o + d * near - low.xyz) / size;
  int flags = int(high.w);
  int axis = face < 2 ? 0 : face < 4 ? 2 : 1;
  vec3 n = vec3(r0[axis], r1[axis], r2[axis]) * (face == 1 || face == 3 || face == 4 ? 1.0 : -1.0);
  float shade = (flags & 1) != 0 ? 1.0 : 0.66 * n.x * n.x + 0.82 * n.z * n.z + (n.y > 0.0 ? 1.0 : 0.52) * n.y * n.y;
  vec4 texel = vec4(0.0);
  if ((flags & 2) != 0) {
    // A picture with thickness: walk from where the ray enters to where it leaves, until a texel is solid
    uvec4 front = faceOf(3);
    vec2 along = (far - near) * d.xy / size.xy;
    int num = int(2.0 * max(abs(along.x) * float(front.y), abs(along.y) * float(front.z))) + 1;
    bool found = false;
    for (int i = 0; i <= num && i < 256; i++) {
      vec2 at = h.xy + along * (float(i) / float(num));
      texel = texelAt(front, cell(vec2(at.x, 1.0 - at.y), front));
      if (texel.a > 99.0) {
        if (i > 0) shade *= 0.72;
        found = true;
        break;
      }
    }
    if (!found) discard;
    texel.a = 255.0;
  } else {
    uvec4 seen = faceOf(face);
    vec2 at = face == 0 ? vec2(h.z, 1.0 - h.y) : face == 1 ? vec2(1.0 - h.z, 1.0 - h.y) : face == 2 ? vec2(1.0 - h.x, 1.0 - h.y)
      : face == 3 ? vec2(h.x, 1.0 - h.y) : face == 4 ? h.xz : vec2(h.x, 1.0 - h.z);
    texel = texelAt(seen, cell(at, seen));
  }
  if (texel.a < 8.0) discard;
  vec3 lit = min(vec3(255.0), texel.rgb * shade * tint.rgb + vec3(tint.w, addAll, addAll));
  colour = texel.a < 250.0 ? vec4(lit, texel.a) / 255.0 : vec4(floor(lit) / 255.0, 1.0);
  gl_FragDepth = near * length(ray) / ${DEPTH}.0;
}`;

export class Figures {
  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.gl = gl;
    this.program = new Program(gl, VERTEX, FRAGMENT);
    /** @type {Map<number, Model>} */
    this.models = new Map();
    /** @type {Map<number, Figure>} */
    this.figures = new Map();
    /** The same, near ones first, those with see-through skins last and far ones of them first. @type {Figure[]} */
    this.order = [];
    this.tick = 0;
    this.tickAt = 0;
    this.parts = new Float32Array(64 * PART);
    this.numParts = 0;
    this.numTexels = 0;
    this.faces = new Table(gl, gl.RGBA32UI, gl.RGBA_INTEGER, gl.UNSIGNED_INT, FACES_IN_A_ROW, new Uint32Array(4 * FACES_IN_A_ROW));
    this.skin = new Table(gl, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, TEXELS_IN_A_ROW, new Uint8Array(4 * 16 * TEXELS_IN_A_ROW));
    this.boxes = new Float32Array(BOXES * INSTANCE);
    /** The hand, the pose that it was told last, and when. @type {Figure | null} */
    this.held = null;
    /** One that is not drawn: of the player through whose eyes one sees. @type {number | null} */
    this.hidden = null;
    /** @type {Row | null} */
    this.told = null;
    this.toldAt = 0;
    this.pose = new Float32Array(ROW);
    this.buffer = gl.createBuffer();
    this.empty = gl.createVertexArray();
    gl.uniformBlockBinding(this.program.program, gl.getUniformBlockIndex(this.program.program, "Boxes"), 0);
    /** Where portraits are drawn. @type {Window | null} */
    this.window = null;
    this.#paint(1, LOOKING_SOUTH, 1, 1, 1); // nothing is seen of it; without a graphics card the first use takes a tenth of a second
  }

  /**
   * Learn what models look like.
   * @param {{model: number, parts: number, texels: number}[]} models
   * @param {Record<string, PackedArray>} arrays model_parts, model_faces, model_skin of all of them, one after another
   * @throws {RangeError} if the arrays are not as long as the models say
   */
  define(models, { model_parts: parts, model_faces: faces, model_skin: skin }) {
    const numParts = models.reduce((sum, model) => sum + model.parts, 0), numTexels = models.reduce((sum, model) => sum + model.texels, 0);
    if (parts?.length !== numParts * PART || faces?.length !== numParts * 18 || skin?.length !== numTexels * 4) {
      throw new RangeError(`models with ${numParts} parts and ${numTexels} texels came with arrays of other lengths`);
    }
    let part = 0, texel = 0, isNews = false;
    for (const model of models) {
      const { parts: count, texels } = model;
      const ends = /** @type {const} */ ([part + count, texel + texels]);
      const looks = {
        parts: parts.subarray(part * PART, ends[0] * PART),
        faces: faces.subarray(part * 18, ends[0] * 18),
        skin: skin.subarray(texel * 4, ends[1] * 4),
      };
      [part, texel] = ends;
      if (this.#knows(model.model, looks)) continue;
      this.#add(model.model, count, texels, looks);
      isNews = true;
    }
    if (!isNews) return;
    this.faces.send();
    this.skin.send();
  }

  /** Whether a model is what it was: one who begins again is told of all of them. @param {number} model @param {Looks} looks */
  #knows(model, { parts, skin }) {
    const known = this.models.get(model);
    if (!known || known.count * PART !== parts.length || known.texels * 4 !== skin.length) return false;
    const [part, texel] = [known.first * PART, known.firstTexel * 4];
    return parts.every((value, i) => this.parts[part + i] === value) && skin.every((value, i) => this.skin.all[texel + i] === value);
  }

  /** @param {number} model @param {number} count @param {number} texels @param {Looks} looks */
  #add(model, count, texels, { parts, faces, skin }) {
    this.parts = grown(this.parts, (this.numParts + count) * PART);
    this.parts.set(parts, this.numParts * PART);
    this.skin.values(this.numTexels * 4, skin.length).set(skin);
    const places = this.faces.values(this.numParts * 6 * 4, count * 6 * 4);
    let isClear = false;
    for (let part = 0; part < count; part++) {
      for (let face = 0; face < 6; face++) {
        const from = 18 * part + 3 * face, to = 24 * part + 4 * face;
        places[to] = this.numTexels + faces[from];
        places[to + 1] = faces[from + 1];
        places[to + 2] = faces[from + 2];
      }
      isClear ||= parts[part * PART + SPRITE] <= 0.5 && someClear(skin, faces, part);
    }
    this.models.set(model, { first: this.numParts, count, isClear, firstTexel: this.numTexels, texels });
    this.numParts += count;
    this.numTexels += texels;
  }

  /** Forget all other figures, but not their models. @param {PackedArray} [ids] */
  #keepOnly(ids) {
    const kept = new Set(ids);
    for (const id of [...this.figures.keys()]) if (!kept.has(id)) this.figures.delete(id);
    this.order = [...this.figures.values()];
  }

  /**
   * Take the figures of a tick.
   * @param {Record<string, any>} document its tick, and new models
   * @param {Record<string, PackedArray>} arrays those with news: `figures` and `figure_ids`; `gone` names those who left
   * @param {number} tickAt when it came, in milliseconds
   */
  update(document, arrays, tickAt) {
    if (document.models) this.define(document.models, arrays);
    if (document.size || document.again) this.#keepOnly(document.again ? arrays.figure_ids : undefined);
    const share = shareOf(tickAt - this.tickAt), { figures: rows, figure_ids: ids, gone } = arrays;
    for (const figure of this.order) halt(figure, share);
    const before = this.figures.size;
    let isChanged = false;
    for (let i = 0; i < (gone?.length ?? 0); i++) isChanged = this.figures.delete(gone[i]) || isChanged;
    for (let i = 0; i < (ids?.length ?? 0); i++) {
      const row = /** @type {Float32Array} */ (rows).subarray(i * ROW, (i + 1) * ROW);
      this.figures.set(ids[i], sent(this.figures.get(ids[i]), ids[i], row));
    }
    if (isChanged || this.figures.size !== before) this.order = [...this.figures.values()];
    this.tick = document.tick;
    this.tickAt = tickAt;
  }

  /**
   * Draw all figures over the picture, where they are nearer than its depths; leaves depth tests on, and blending and culling off.
   * @param {View} view
   * @param {number} nowMs
   */
  draw(view, nowMs) {
    const share = shareOf(nowMs - this.tickAt), tick = this.tick - 1 + share, { order } = this;
    for (const figure of order) {
      const now = shown(figure, share);
      figure.away = (now[X] - view.eye[0]) ** 2 + (now[Y] - view.eye[1]) ** 2 + (now[Z] - view.eye[2]) ** 2;
      shine(now, figure.id, tick, view.bright);
    }
    this.#sort();
    const { eye, axes, tanY } = view, tanX = (tanY * view.width) / view.height;
    const wide = MOST_BULK * Math.hypot(1, tanX), tall = MOST_BULK * Math.hypot(1, tanY);
    let count = 0;
    for (const { now, id, away } of order) {
      if (id === this.hidden || away > REACH * REACH) continue;
      const x = now[X] - eye[0], y = now[Y] + MIDDLE - eye[1], z = now[Z] - eye[2];
      const right = x * axes[0] + y * axes[1] + z * axes[2], up = x * axes[3] + y * axes[4] + z * axes[5];
      const ahead = x * axes[6] + y * axes[7] + z * axes[8];
      if (ahead < -MOST_BULK || Math.abs(right) > tanX * ahead + wide || Math.abs(up) > tanY * ahead + tall) continue;
      count += this.#put(now, eye, axes, count);
    }
    this.#paint(count, view.axes, view.tanY, view.width, view.height);
  }

  /** Insertion: from one picture to the next hardly anything changes. */
  #sort() {
    const { order } = this;
    for (let i = 1; i < order.length; i++) {
      const one = order[i];
      let j = i;
      for (; j > 0 && this.#isBefore(one, order[j - 1]); j--) order[j] = order[j - 1];
      order[j] = one;
    }
  }

  /** @param {Figure} one @param {Figure} other */
  #isBefore(one, other) {
    const isClear = this.models.get(one.to[MODEL])?.isClear ?? false;
    if (isClear !== (this.models.get(other.to[MODEL])?.isClear ?? false)) return !isClear;
    return isClear ? one.away > other.away : one.away < other.away;
  }

  /**
   * Draw the hand over everything; this forgets the picture's depths. It moves to another pose in the time of a tick.
   * @param {Row} pose for an eye at the origin that looks south; another array where it is another pose
   * @param {{width: number, height: number}} view of the picture, in pixels
   * @param {number} nowMs
   * @param {number} [toldAt] when it began to move there
   */
  hand(pose, view, nowMs, toldAt = nowMs) {
    if (pose !== this.told) {
      if (this.held) halt(this.held, shareOf(toldAt - this.toldAt));
      this.held = sent(this.held, 0, this.#asItIs(pose));
      this.told = pose;
      this.toldAt = toldAt;
    }
    if (!this.held) return;
    this.gl.clear(this.gl.DEPTH_BUFFER_BIT);
    const count = this.#put(shown(this.held, shareOf(nowMs - this.toldAt)), AT_ORIGIN, LOOKING_SOUTH, 0);
    this.#paint(count, LOOKING_SOUTH, tangent(HAND_FOV), view.width, view.height);
  }

  /**
   * A picture of a pose, as the inventory shows its player.
   * @param {Row} pose
   * @param {number} width pixels
   * @param {number} height
   * @returns {ImageData} with nothing where the player is not
   */
  portrait(pose, width, height) {
    const { gl } = this;
    if (this.window?.width !== width || this.window.height !== height) this.window = windowOf(gl, width, height, this.window);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.window.frame);
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.depthMask(true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.#paint(this.#put(this.#asItIs(pose), BEFORE_PORTRAIT, LOOKING_SOUTH, 0), LOOKING_SOUTH, tangent(PORTRAIT_FOV), width, height);
    const upsideDown = new Uint8Array(4 * width * height), picture = new ImageData(width, height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, upsideDown);
    for (let row = 0; row < height; row++) picture.data.set(upsideDown.subarray(4 * width * row, 4 * width * (row + 1)), 4 * width * (height - 1 - row));
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    return picture;
  }

  /** A pose as a row that no light changes. @param {Row} pose */
  #asItIs(pose) {
    this.pose.fill(0);
    this.pose.set(pose);
    this.pose[LIGHT] = -1;
    return this.pose;
  }

  /**
   * Place the boxes of a row behind those that are placed already.
   * @param {Float32Array} row
   * @param {number[]} eye
   * @param {number[]} axes
   * @param {number} count of boxes that are placed
   * @returns {number} of its own boxes
   */
  #put(row, eye, axes, count) {
    const model = this.models.get(row[MODEL]);
    if (!model) return 0;
    this.boxes = grown(this.boxes, (count + model.count) * INSTANCE);
    place(row, this.parts, model.first, model.count, eye, axes, this.boxes, count * INSTANCE);
    return model.count;
  }

  /**
   * @param {number} count of boxes
   * @param {number[]} axes
   * @param {number} tan half the height of the picture one block away
   * @param {number} width pixels
   * @param {number} height
   */
  #paint(count, axes, tan, width, height) {
    if (!count) return;
    const { gl, program } = this;
    gl.useProgram(program.program);
    gl.uniform3f(program.place("right"), axes[0], axes[1], axes[2]);
    gl.uniform3f(program.place("up"), axes[3], axes[4], axes[5]);
    gl.uniform3f(program.place("ahead"), axes[6], axes[7], axes[8]);
    gl.uniform2f(program.place("tans"), (tan * width) / height, tan);
    gl.uniform2f(program.place("screen"), width, height);
    gl.uniform1i(program.place("faces"), 0);
    gl.uniform1i(program.place("skin"), 1);
    this.faces.bind(0);
    this.skin.bind(1);
    gl.bindVertexArray(this.empty);
    gl.bindBufferBase(gl.UNIFORM_BUFFER, 0, this.buffer);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LESS);
    gl.depthMask(true);
    gl.enable(gl.CULL_FACE);
    gl.frontFace(gl.CCW);
    gl.cullFace(gl.FRONT); // the far sides are there also where the eye is within a box's bounds
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    for (let first = 0; first < count; first += BOXES) {
      gl.bufferData(gl.UNIFORM_BUFFER, this.boxes, gl.STREAM_DRAW, first * INSTANCE, BOXES * INSTANCE);
      gl.drawArrays(gl.TRIANGLES, 0, 36 * Math.min(BOXES, count - first));
    }
    gl.disable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
    gl.bindVertexArray(null);
  }
}

/** The part of a tick that some time is. @param {number} ms */
function shareOf(ms) {
  return Math.min(1, Math.max(0, ms / TICK_MS));
}

/**
 * A figure goes on from where it is shown.
 * @param {Figure} figure
 * @param {number} share of its way that it has done
 */
function halt(figure, share) {
  if (figure.moves) between(figure.from, figure.to, share, figure.from);
  figure.moves &&= share < 1;
}

/**
 * A figure on its way to a new row, or there at once if it is new or far from there.
 * @param {Figure | null | undefined} figure
 * @param {number} id
 * @param {Float32Array} row
 * @returns {Figure}
 */
function sent(figure, id, row) {
  if (!figure) return { id, from: row.slice(), to: row.slice(), now: row.slice(), moves: false, away: 0 };
  figure.moves = isStep(figure.from, row);
  figure.to.set(row);
  if (!figure.moves) figure.from.set(row);
  return figure;
}

/** Its row at this share of its way. @param {Figure} figure @param {number} share */
function shown({ from, to, now, moves }, share) {
  if (moves) between(from, to, share, now);
  else now.set(to);
  return now;
}

/** @template {Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>} T */
class Table {
  /**
   * A texture that is read texel by texel and grows.
   * @param {WebGL2RenderingContext} gl
   * @param {number} format
   * @param {number} layout
   * @param {number} type
   * @param {number} width texels in a row
   * @param {T} all what it holds, four values a texel
   */
  constructor(gl, format, layout, type, width, all) {
    this.gl = gl;
    this.format = format;
    this.layout = layout;
    this.type = type;
    this.width = width;
    this.all = all;
    this.texture = gl.createTexture();
    this.bind(0);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    this.send();
  }

  /** Room for some values; `send` them when they are there. @param {number} from @param {number} count @returns {T} */
  values(from, count) {
    this.all = grown(this.all, from + count);
    return /** @type {T} */ (this.all.subarray(from, from + count));
  }

  send() {
    const { gl, width } = this;
    this.bind(0);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, this.format, width, this.all.length / 4 / width, 0, this.layout, this.type, this.all);
  }

  /** @param {number} unit */
  bind(unit) {
    this.gl.activeTexture(this.gl.TEXTURE0 + unit);
    this.gl.bindTexture(this.gl.TEXTURE_2D, this.texture);
  }
}

/** Half the height of a picture one block away. @param {number} degrees from its lowest to its highest pixel */
function tangent(degrees) {
  return Math.tan((degrees * Math.PI) / 360);
}

/**
 * The same values with room for more.
 * @template {Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>} T
 * @param {T} values
 * @param {number} length at least
 * @returns {T}
 */
function grown(values, length) {
  if (length <= values.length) return values;
  let size = values.length;
  while (size < length) size *= 2;
  const larger = /** @type {T} */ (new (/** @type {any} */ (values.constructor))(size));
  larger.set(/** @type {any} */ (values));
  return larger;
}

/**
 * Whether one sees through a texel of a part.
 * @param {PackedArray} skin
 * @param {PackedArray} faces
 * @param {number} part
 */
function someClear(skin, faces, part) {
  for (let i = 18 * part; i < 18 * (part + 1); i += 3) {
    for (let texel = faces[i], end = texel + faces[i + 1] * faces[i + 2]; texel < end; texel++) {
      if (skin[4 * texel + 3] >= 8 && skin[4 * texel + 3] < 250) return true;
    }
  }
  return false;
}

/**
 * A picture to draw on, with depths.
 * @param {WebGL2RenderingContext} gl
 * @param {number} width
 * @param {number} height
 * @param {Window | null} old not needed any more
 * @returns {Window}
 */
function windowOf(gl, width, height, old) {
  gl.deleteFramebuffer(old?.frame ?? null);
  for (const buffer of old?.buffers ?? []) gl.deleteRenderbuffer(buffer);
  const frame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  const buffers = [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]].map(([format, place]) => {
    const buffer = gl.createRenderbuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
    gl.renderbufferStorage(gl.RENDERBUFFER, format, width, height);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
    return buffer;
  });
  return { frame, buffers, width, height };
}

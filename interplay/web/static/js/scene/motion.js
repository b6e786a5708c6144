// Where the eye is and looks while the browser draws the world. The angles are the browser's own and follow the hand at once; the
// place is the server's, which tells it twenty times a second, and is shown in between.

/** The time of a tick of the world. */
export const TICK_MS = 50;
/** Whoever is further away after one tick did not walk there, in blocks. */
const JUMP = 4;
const MAX_PITCH = 90;
/** How far a free camera goes over the highest block there can be. */
const MOST_ABOVE = 40;
/** How far the cursor of a screen goes, as MineRL has it: mouse pixels per degree, over a picture of so many GUI pixels. */
const PIXELS_PER_DEGREE = 2400 / 360;
const FRAME_WIDTH = 640;

/**
 * Where the player is, as the server says it.
 * @typedef {object} Me
 * @property {number} x
 * @property {number} y of the feet
 * @property {number} z
 * @property {number} eye height of the eyes above y
 * @property {number} yaw degrees, right is positive
 * @property {number} pitch degrees, down is positive
 * @property {number} fov degrees from the upper to the lower edge
 * @property {boolean} [turned] the world, not the player, has turned the view
 * @property {string | null} [gui] the screen that is open
 */
/** @typedef {import("../../../../../packages/blockworld/blockworld/web/camera.js").Camera} Camera */
/** @typedef {{x: number, y: number, z: number, fov: number}} Place */

/** An angle within -180 (included) to 180. @param {number} degrees */
export function wrapped(degrees) {
  return ((((degrees + 180) % 360) + 360) % 360) - 180;
}

/** Where the eye looks. */
export class Gaze {
  constructor() {
    this.yaw = this.pitch = 0;
  }

  /**
   * @param {number} pitch degrees, down is positive; nobody looks further than straight up or down
   * @param {number} yaw right is positive
   */
  turn(pitch, yaw) {
    this.look(this.pitch + pitch, this.yaw + yaw);
  }

  /**
   * @param {number} pitch
   * @param {number} yaw
   */
  look(pitch, yaw) {
    this.pitch = Math.min(MAX_PITCH, Math.max(-MAX_PITCH, pitch));
    this.yaw = wrapped(yaw);
  }
}

/** @param {Me} me @returns {Place} */
function placeOf(me) {
  return { x: me.x, y: me.y + me.eye, z: me.z, fov: me.fov };
}

/**
 * The way between two places.
 * @param {Place} from
 * @param {Place} to
 * @param {number} share 0 to 1
 * @returns {Place}
 */
export function between(from, to, share) {
  const mix = (/** @type {number} */ one, /** @type {number} */ other) => one + (other - one) * share;
  return { x: mix(from.x, to.x), y: mix(from.y, to.y), z: mix(from.z, to.z), fov: mix(from.fov, to.fov) };
}

/** The eye of a player who walks: each tick it goes from where it is shown to where it was told to be, in the time of a tick. */
export class Walk {
  constructor() {
    /** @type {Place | null} */
    this.from = null;
    /** @type {Place | null} */
    this.to = null;
    this.since = 0;
  }

  /**
   * A tick came.
   * @param {Me} me
   * @param {number} nowMs
   * @param {boolean} [fresh] nothing before it counts
   */
  step(me, nowMs, fresh = false) {
    const shown = fresh ? null : this.at(nowMs);
    this.to = placeOf(me);
    const far = shown && Math.hypot(this.to.x - shown.x, this.to.y - shown.y, this.to.z - shown.z) > JUMP;
    this.from = shown && !far ? shown : this.to;
    this.since = nowMs;
  }

  /** @param {number} nowMs @returns {Place | null} null before the first tick */
  at(nowMs) {
    if (!this.from || !this.to) return null;
    return between(this.from, this.to, this.share(nowMs));
  }

  /** How much of its way is done. @param {number} nowMs */
  share(nowMs) {
    return Math.min(1, Math.max(0, (nowMs - this.since) / TICK_MS));
  }
}

/** The eye of a recorded player, whose gaze too is on its way between two ticks. */
export class Ride {
  constructor() {
    this.walk = new Walk();
    this.from = this.to = { yaw: 0, pitch: 0 };
  }

  /**
   * A tick came.
   * @param {Me} me
   * @param {number} nowMs
   * @param {boolean} [fresh] nothing before it counts
   */
  step(me, nowMs, fresh = false) {
    const shown = fresh ? null : this.camera(nowMs);
    this.to = { yaw: me.yaw, pitch: me.pitch };
    this.from = shown ?? this.to;
    this.walk.step(me, nowMs, fresh);
  }

  /** @param {number} nowMs @returns {Camera | null} null before the first tick */
  camera(nowMs) {
    const place = this.walk.at(nowMs), share = this.walk.share(nowMs), { from, to } = this;
    const yaw = wrapped(from.yaw + wrapped(to.yaw - from.yaw) * share);
    return place && { ...place, yaw, pitch: from.pitch + (to.pitch - from.pitch) * share };
  }
}

/** A camera that goes where whoever watches wants, through everything. */
export class FreeCamera {
  constructor() {
    /** @type {Camera} */
    this.camera = { x: 0, y: 0, z: 0, yaw: 0, pitch: 0, fov: 70 };
    /** Of the land, in blocks. @type {[number, number, number]} */
    this.size = [1, 1, 1];
  }

  /** @param {Camera} camera */
  begin(camera) {
    this.camera = { ...camera, fov: 70 };
  }

  /** @param {number} yaw degrees @param {number} pitch */
  turn(yaw, pitch) {
    this.camera.yaw = wrapped(this.camera.yaw + yaw);
    this.camera.pitch = Math.min(MAX_PITCH, Math.max(-MAX_PITCH, this.camera.pitch + pitch));
  }

  /**
   * Go so many blocks; it stays over the land.
   * @param {number} ahead
   * @param {number} right
   * @param {number} up
   */
  move(ahead, right, up) {
    const { camera, size } = this, yaw = (camera.yaw * Math.PI) / 180, pitch = (camera.pitch * Math.PI) / 180;
    const level = Math.cos(pitch) * ahead, inside = (/** @type {number} */ at, /** @type {number} */ end) => Math.min(end - 0.01, Math.max(0.01, at));
    camera.x = inside(camera.x - Math.sin(yaw) * level - Math.cos(yaw) * right, size[0]);
    camera.z = inside(camera.z + Math.cos(yaw) * level - Math.sin(yaw) * right, size[2]);
    camera.y = inside(camera.y - Math.sin(pitch) * ahead + up, size[1] + MOST_ABOVE);
  }
}

/** The camera of a player: what they turned, and where they walk. */
export class Motion {
  constructor() {
    this.gaze = new Gaze();
    this.walk = new Walk();
  }

  /**
   * A tick came.
   * @param {Me} me
   * @param {number} nowMs
   * @param {boolean} [fresh] the server starts anew
   * @returns {boolean} whether the view is now where the server says
   */
  step(me, nowMs, fresh = false) {
    const turned = fresh || me.turned === true;
    if (turned) this.gaze.look(me.pitch, me.yaw);
    this.walk.step(me, nowMs, fresh);
    return turned;
  }

  /** @param {number} nowMs @returns {Camera | null} null before the first tick */
  camera(nowMs) {
    const place = this.walk.at(nowMs);
    return place && { ...place, yaw: this.gaze.yaw, pitch: this.gaze.pitch };
  }
}

/** How far the cursor of an open screen has moved that the world does not know yet. */
export class Cursor {
  /** @param {number} guiWidth GUI pixels that the picture shows */
  constructor(guiWidth) {
    this.perDegree = (PIXELS_PER_DEGREE * guiWidth) / FRAME_WIDTH;
    /** @type {{sent: number, pitch: number, yaw: number}[]} told, and not used yet */
    this.told = [];
  }

  /**
   * A message told of a turn.
   * @param {number} sent its client time
   * @param {number} pitch degrees
   * @param {number} yaw
   */
  tell(sent, pitch, yaw) {
    if (pitch !== 0 || yaw !== 0) this.told.push({ sent, pitch, yaw });
  }

  /** A tick came. @param {number} usedMs client time of the newest message that it has used, whole ms */
  use(usedMs) {
    this.told = this.told.filter((one) => Math.floor(one.sent) > usedMs);
  }

  /**
   * GUI pixels to the right and down of where the world has it.
   * @param {{pitch: number, yaw: number}} untold what the mouse has turned since the last message
   * @returns {[number, number]}
   */
  shift(untold) {
    const turns = [...this.told, untold];
    const sum = (/** @type {(turn: {pitch: number, yaw: number}) => number} */ of) => turns.reduce((all, one) => all + of(one), 0);
    return [sum((one) => one.yaw) * this.perDegree, sum((one) => one.pitch) * this.perDegree];
  }
}

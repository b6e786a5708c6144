// The messages of docs/protocol.md, version 1: nothing here touches the page or the network.

export const SUBPROTOCOL = "interplay.v1";
export const HEADER_BYTES = 20;
export const KIND = Object.freeze({ KEY: 1, DELTA: 2, JPEG: 3, SCENE: 4, LAND: 5 });
const FLAG_ENDED = 1;
const FLAG_FRESH = 2;
/** Parts of the land that one message may ask for. */
export const MAX_LAND_PARTS = 8;

/**
 * One frame message.
 * @typedef {object} FrameMessage
 * @property {number} kind 1 key frame, 2 delta, 3 JPEG, 4 scene, 5 land
 * @property {boolean} ended the episode ended with this frame
 * @property {boolean} fresh a scene that stands alone: forget what came before
 * @property {number} number of a scene's frame and of land: 0 where a scene stands alone, then one more each, modulo 2 ** 16
 * @property {number} step the frame shows the world after this many steps
 * @property {number} baseStep the frame a delta is against; of a scene, the client time of the newest input that it has used, whole ms
 * @property {number} serverMs since the episode's clock started
 * @property {number} reward since the last frame sent
 * @property {Uint8Array<ArrayBuffer>} payload
 */

/**
 * Take a binary message apart.
 * @param {ArrayBuffer} buffer
 * @param {number} [start] where the message begins in the buffer
 * @param {number} [length] its length in bytes
 * @returns {FrameMessage}
 */
export function parseFrame(buffer, start = 0, length = buffer.byteLength - start) {
  if (length < HEADER_BYTES) throw new RangeError(`a frame has at least ${HEADER_BYTES} bytes, got ${length}`);
  const view = new DataView(buffer, start, length);
  const kind = view.getUint8(0);
  if (kind < 1 || kind > 5) throw new RangeError(`unknown kind of frame ${kind}`);
  return {
    kind,
    ended: (view.getUint8(1) & FLAG_ENDED) !== 0,
    fresh: kind === KIND.SCENE && (view.getUint8(1) & FLAG_FRESH) !== 0,
    number: view.getUint16(2, true),
    step: view.getUint32(4, true),
    baseStep: view.getUint32(8, true),
    serverMs: view.getUint32(12, true),
    reward: view.getFloat32(16, true),
    payload: new Uint8Array(buffer, start + HEADER_BYTES, length - HEADER_BYTES),
  };
}

/**
 * The frames of `GET /api/episodes/{id}/frames`: each with its length before it.
 * @param {ArrayBuffer} buffer
 * @returns {FrameMessage[]}
 */
export function splitFrames(buffer) {
  const view = new DataView(buffer);
  const frames = [];
  for (let at = 0; at < buffer.byteLength; ) {
    if (at + 4 > buffer.byteLength) throw new RangeError("the list of frames is cut off");
    const length = view.getUint32(at, true);
    if (at + 4 + length > buffer.byteLength) throw new RangeError("the last frame is cut off");
    frames.push(parseFrame(buffer, at + 4, length));
    at += 4 + length;
  }
  return frames;
}

/**
 * The 16 bytes that say which buttons are held.
 * @param {number} buttons bit i is button i of the task
 * @param {number} paintedStep the newest step the player can have seen
 * @param {number} clientMs
 */
export function inputMessage(buttons, paintedStep, clientMs) {
  const buffer = new ArrayBuffer(16);
  const view = new DataView(buffer);
  view.setUint8(0, 1);
  view.setUint16(2, buttons, true);
  view.setUint32(4, paintedStep, true);
  view.setFloat64(8, clientMs, true);
  return buffer;
}

/**
 * The 28 bytes that say which of up to 32 buttons are held, and how far the mouse turned since the last message.
 * @param {number} buttons bit i is button i of the task, as an unsigned number
 * @param {number} paintedStep the newest step the player can have seen
 * @param {number} clientMs
 * @param {number} pitch degrees, down is positive
 * @param {number} yaw degrees, right is positive
 */
export function turnMessage(buttons, paintedStep, clientMs, pitch, yaw) {
  return withNumbers(2, buttons, paintedStep, clientMs, pitch, yaw);
}

/**
 * The 28 bytes that say which of up to 32 buttons are held, and where the eye shall look.
 * @param {number} buttons bit i is button i of the task, as an unsigned number
 * @param {number} paintedStep the newest step the player can have seen
 * @param {number} clientMs
 * @param {number} pitch degrees, -90 is straight up and 90 straight down
 * @param {number} yaw degrees, right is positive
 */
export function gazeMessage(buttons, paintedStep, clientMs, pitch, yaw) {
  return withNumbers(3, buttons, paintedStep, clientMs, pitch, yaw);
}

/**
 * The 28 bytes that say what is held, and in a task of turns which buttons were pressed.
 * @param {number} buttons bit i is button i of the task, as an unsigned number
 * @param {number} paintedStep the newest step the player can have seen
 * @param {number} clientMs
 * @param {number} pressed buttons of a new press; 0 for none
 * @param {number} number how many presses there were since the welcome, with this one
 */
export function pressMessage(buttons, paintedStep, clientMs, pressed, number) {
  const view = longInput(4, buttons, paintedStep, clientMs);
  view.setUint32(20, pressed, true);
  view.setUint32(24, number, true);
  return view.buffer;
}

/**
 * The 28 bytes that say what is held, and the values that the pointer asks for.
 * @param {number} buttons bit i is button i of the task, as an unsigned number
 * @param {number} paintedStep the newest step the player can have seen
 * @param {number} clientMs
 * @param {number} x
 * @param {number} y
 */
export function pointMessage(buttons, paintedStep, clientMs, x, y) {
  return withNumbers(5, buttons, paintedStep, clientMs, x, y);
}

/**
 * @param {number} kind
 * @param {number} buttons
 * @param {number} paintedStep
 * @param {number} clientMs
 * @param {number} first
 * @param {number} second
 */
function withNumbers(kind, buttons, paintedStep, clientMs, first, second) {
  const view = longInput(kind, buttons, paintedStep, clientMs);
  view.setFloat32(20, first, true);
  view.setFloat32(24, second, true);
  return view.buffer;
}

/**
 * 28 bytes, of which the last 8 are still to be filled.
 * @param {number} kind
 * @param {number} buttons
 * @param {number} paintedStep
 * @param {number} clientMs
 */
function longInput(kind, buttons, paintedStep, clientMs) {
  const view = new DataView(new ArrayBuffer(28));
  view.setUint8(0, kind);
  view.setUint32(4, paintedStep, true);
  view.setFloat64(8, clientMs, true);
  view.setUint32(16, buttons, true);
  return view;
}

/** Bars and screens of the world are so many pixels of their own wide, whatever the picture has. */
export const GUI_WIDTH = 320;

/**
 * GUI pixels that a picture of this shape has room for.
 * @param {{width: number, height: number}} picture
 * @param {number} [scale] how large bars and screens are
 * @returns {[number, number]}
 */
export function guiSize({ width, height }, scale = 1) {
  const wide = Math.round(GUI_WIDTH / scale);
  return [wide, Math.round((wide * height) / width)];
}

/**
 * Where the picture is drawn from now on.
 * @param {"here" | "server"} drawn
 * @param {{width: number, height: number}} picture whose shape the bars and screens are laid out for
 * @param {number} [scale] how large they are
 */
export function sceneMessage(drawn, picture, scale) {
  const [gui_width, gui_height] = guiSize(picture, scale);
  return { type: "scene", drawn, gui_width, gui_height };
}

/**
 * What the player has set.
 * @param {import("./options.js").Values} values
 * @param {boolean} isHere whether this browser draws; where the server does, field of view and size of the interface have no effect
 */
export function optionsMessage({ sensitivity, inverted, fov, gui, keys }, isHere) {
  return { type: "options", sensitivity, is_inverted: inverted, fov: isHere ? fov : null, gui_scale: isHere ? gui : null, keys };
}

/** Ask for more parts of the land, 1 to 8. @param {number} parts */
export function landMessage(parts) {
  return { type: "land", parts: Math.min(MAX_LAND_PARTS, Math.max(1, Math.trunc(parts))) };
}

/**
 * What a player who draws here has before them.
 * @typedef {object} Painted
 * @property {number} yaw degrees
 * @property {number} pitch degrees
 * @property {number} width of the canvas, in pixels
 * @property {number} height
 * @property {number} fps frames a second
 * @property {number | null} input_ms from a press to the first frame that shows a tick which used it
 */

/** How the picture is drawn here. @param {Painted} painted */
export function paintedMessage(painted) {
  const round = (/** @type {number} */ number) => Math.round(number * 100) / 100;
  const { input_ms } = painted;
  return {
    type: "painted",
    ...painted,
    yaw: round(painted.yaw),
    pitch: round(painted.pitch),
    fps: round(painted.fps),
    input_ms: input_ms === null ? null : round(input_ms),
  };
}

/**
 * When a step about which the server asked arrived, and was painted.
 * @param {number} arrived_ms
 * @param {number} painted_ms
 */
export function tracedMessage(arrived_ms, painted_ms) {
  return { type: "traced", arrived_ms, painted_ms };
}

/**
 * A palette as the canvas wants it: 256 pixels, each one 32-bit word (RGBA in memory, so ABGR as a little-endian number).
 * @param {string} base64 of 768 bytes
 */
export function paletteFromBase64(base64) {
  const bytes = atob(base64);
  if (bytes.length !== 768) throw new RangeError(`a palette has 768 bytes, got ${bytes.length}`);
  const table = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const [red, green, blue] = [0, 1, 2].map((channel) => bytes.charCodeAt(3 * i + channel));
    table[i] = (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
  }
  return table;
}

/** Close codes after which trying again with the same token cannot help. */
const FINAL = new Map([
  [4400, "This page and the server do not match. Perhaps the server was updated while you played. Reload the page."],
  [4401, "The server does not know this seat. Start a new game."],
  [4403, "This game is over, or it is too late to join it. Start a new game."],
  [4409, "You are playing this game in another window. Close that window, or continue there."],
  [4413, "This page sent a message that is too long. Reload the page."],
]);

/**
 * What to do and say when the socket closes.
 * @param {number} code
 * @returns {{retry: boolean, message: string}}
 */
export function closeReason(code) {
  const final = FINAL.get(code);
  if (final) return { retry: false, message: final };
  if (code === 4429) return { retry: true, message: "You sent too many key presses at once. Connecting again ..." };
  return { retry: true, message: "The connection was lost. Connecting again ..." };
}

/**
 * Wait before attempt number `attempt` (0 is the first), in ms: doubling from a quarter of a second to five seconds.
 * @param {number} attempt
 */
export function backoffMs(attempt) {
  return Math.min(5000, 250 * 2 ** attempt);
}

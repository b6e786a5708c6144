// How figures stand: the columns of their rows, what lies between two ticks, and where that puts each of their boxes.
// blockworld/render/figures.py is the same in Python.

/** Between two ticks of the world. */
export const TICK_MS = 50;

/** Columns of a row. The first POSE of them are a pose, which is drawn as it is; the light comes after them. */
export const [X, Y, Z, YAW, PITCH, ROLL, HEAD_YAW, HEAD_PITCH, WALKED, STRIDE, FLUTTER, SCALE, YOUNG, MODEL, RED, GREEN, BLUE, ADD_RED, ADD_ALL, LIGHT, LIT_RED, MANNER, BORN] = Array(23).keys();
export const POSE = 19;
export const ROW = 23;
/** How a figure moves by itself: items spin and bob; pictures face the camera; orbs do, and brighten and darken. */
export const [PLAIN, SPINS, FACES, PULSES] = Array(4).keys();
/** Columns of a part. */
export const [PIVOT, BOX, TURN, SWING, LIFT, BEAT, HEAD, GLOW, SPRITE] = [0, 3, 9, 12, 14, 16, 17, 18, 19];
export const PART = 20;
/** What one box tells the shaders: its turn (three rows), each followed by its place; its corners and texture; its colours. */
export const INSTANCE = 28;

/** Who is further away after one tick, in blocks, did not walk there; nor do steps grow by more. */
const JUMP = 4;
const LINES = [X, Y, Z, STRIDE, FLUTTER, SCALE];
const ANGLES = [YAW, PITCH, ROLL, HEAD_YAW, HEAD_PITCH];

/** @typedef {Float32Array | Float64Array | number[]} Row */

/**
 * Whether a figure went from one row to another by itself.
 * @param {Row} from
 * @param {Row} to
 */
export function isStep(from, to) {
  return from[MODEL] === to[MODEL] && Math.hypot(to[X] - from[X], to[Y] - from[Y], to[Z] - from[Z]) <= JUMP;
}

/**
 * What lies between two rows; angles go the short way, and what has no middle is as in the second.
 * @param {Row} from
 * @param {Row} to
 * @param {number} share 0 to 1
 * @param {Row} out may be one of the two
 */
export function between(from, to, share, out) {
  const rest = 1 - share;
  for (let i = 0; i < to.length; i++) {
    if (LINES.includes(i)) out[i] = from[i] * rest + to[i] * share;
    else if (ANGLES.includes(i)) {
      const turn = to[i] - from[i];
      out[i] = to[i] - rest * (turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI)));
    } else if (i === WALKED && Math.abs(to[i] - from[i]) <= JUMP) out[i] = from[i] * rest + to[i] * share;
    else out[i] = to[i];
  }
}

/**
 * The player of the inventory, who looks at the cursor: body and head turn together, and the head tilts so little that it does not seem to
 * lean. Pictures of the server turn the head further than the body, and stay as they are: recordings are proved by them.
 * @param {Row} pose
 * @returns {number[]}
 */
export function upright(pose) {
  const turned = [...pose], yaw = 2 * pose[HEAD_YAW], pitch = pose[HEAD_PITCH] / 0.6;
  turned[YAW] = Math.PI + 0.35 * yaw;
  turned[HEAD_YAW] = 0;
  turned[HEAD_PITCH] = 0.25 * Math.atan(Math.tan(pitch) * Math.cos(yaw));
  return turned;
}

/**
 * A row as it is drawn: items are turned and lifted, and colours get the light; what faces the camera does not yet.
 * @param {Row} row of ROW columns, or a pose; changed in place
 * @param {number} id
 * @param {number} tick of the world, with a part
 * @param {Float32Array} bright what each light value gives to white, 256 * 3
 */
export function shine(row, id, tick, bright) {
  const manner = row[MANNER], age = tick - row[BORN];
  if (manner === SPINS) {
    row[YAW] = age * 0.05 + id * 0.7;
    row[Y] += 0.1 + 0.06 * Math.sin(age * 0.1 + id);
  } else if (manner === PULSES) {
    row[RED] = row[GREEN] = row[BLUE] = 0.75 + 0.25 * Math.sin(age * 0.3);
  }
  const light = row[LIGHT];
  if (light >= 0) {
    row[RED] *= bright[3 * light];
    row[GREEN] *= bright[3 * light + 1];
    row[BLUE] *= bright[3 * light + 2];
    row[ADD_RED] += row[LIT_RED] * bright[3 * light];
  }
}

/**
 * Rotation about z, then x, then y: local to outer, row by row.
 * @param {number} ax
 * @param {number} ay
 * @param {number} az
 * @param {Float64Array} out 9 numbers
 */
export function turned(ax, ay, az, out) {
  const cx = Math.cos(ax), sx = Math.sin(ax), cy = Math.cos(ay), sy = Math.sin(ay), cz = Math.cos(az), sz = Math.sin(az);
  const a = sx * sz, b = sx * cz;
  out[0] = cy * cz - sy * a;
  out[1] = -cy * sz - sy * b;
  out[2] = -sy * cx;
  out[3] = cx * sz;
  out[4] = cx * cz;
  out[5] = -sx;
  out[6] = sy * cz + cy * a;
  out[7] = -sy * sz + cy * b;
  out[8] = cy * cx;
}

/**
 * @param {Float64Array} a
 * @param {Float64Array} b
 * @param {Float64Array} out neither of the two
 */
function times(a, b, out) {
  for (let i = 0; i < 9; i += 3) for (let j = 0; j < 3; j++) out[i + j] = a[i] * b[j] + a[i + 1] * b[3 + j] + a[i + 2] * b[6 + j];
}

const whole = new Float64Array(9), head = new Float64Array(9), own = new Float64Array(9), both = new Float64Array(9);
const headTurn = new Float64Array(9);

/**
 * Where the boxes of a figure are.
 * @param {Row} row as `shine` leaves it
 * @param {Float32Array} parts of all models, PART columns each
 * @param {number} first part of its model
 * @param {number} count
 * @param {number[]} eye
 * @param {number[]} axes of the camera, right, up, ahead: where the row says that it faces the camera
 * @param {Float32Array} out INSTANCE numbers for each box
 * @param {number} at where in `out`
 */
export function place(row, parts, first, count, eye, axes, out, at) {
  if (row[MANNER] >= FACES) {
    for (let i = 0; i < 3; i++) {
      whole[3 * i] = axes[i];
      whole[3 * i + 1] = axes[3 + i];
      whole[3 * i + 2] = -axes[6 + i];
    }
  } else turned(row[PITCH], row[YAW], row[ROLL], whole);
  turned(row[HEAD_PITCH], row[HEAD_YAW], 0, head);
  times(whole, head, headTurn);
  const size = row[SCALE], step = row[WALKED] * 5;
  for (let part = first; part < first + count; part++, at += INSTANCE) {
    const p = part * PART;
    const stride = row[STRIDE] * Math.sin(step + parts[p + SWING + 1] * 2 * Math.PI);
    const lift = row[STRIDE] * Math.sin(step + parts[p + LIFT + 1] * 2 * Math.PI) * parts[p + LIFT];
    turned(parts[p + TURN] + stride * parts[p + SWING], parts[p + TURN + 1], parts[p + TURN + 2] + lift + parts[p + BEAT] * row[FLUTTER], own);
    const isHead = parts[p + HEAD] > 0.5, glows = parts[p + GLOW] > 0.5;
    times(isHead ? headTurn : whole, own, both);
    const bulk = isHead && row[YOUNG] > 0.5 ? size * 1.5 : size;
    for (let i = 0; i < 3; i++) {
      const r = 3 * i, a = at + 4 * i;
      out[a] = both[r];
      out[a + 1] = both[r + 1];
      out[a + 2] = both[r + 2];
      out[a + 3] = row[X + i] - eye[i] + size * (whole[r] * parts[p] + whole[r + 1] * parts[p + 1] + whole[r + 2] * parts[p + 2]);
      out[at + 12 + i] = parts[p + BOX + i] * bulk;
      out[at + 16 + i] = parts[p + BOX + 3 + i] * bulk;
      out[at + 20 + i] = glows ? 1 : row[RED + i];
    }
    out[at + 15] = part;
    out[at + 19] = (glows ? 1 : 0) + (parts[p + SPRITE] > 0.5 ? 2 : 0);
    out[at + 23] = row[ADD_RED];
    out[at + 24] = row[ADD_ALL];
  }
}

// The ray-caster of blockworld/raycaster as a fragment shader: the same walk from cell to cell, the same light,
// textures and sums, so that pages show what agents see. Names of numbers and the order of steps are the ray-caster's.
// What it reads is explained there; docs/protocol.md says how it gets here.

/** Distance along a ray that stands for 1 in the depth buffer. */
export const DEPTH = 256;
/** Sides of the tiles whose rays share a first step. */
export const TILE = 8;
/** Places in the ray-caster's list of numbers, in which `RIGHT`, `UPWARD` and `AHEAD` follow `EYE`. */
export const NUMBERS = { EYE: 0, TAN_X: 27, TAN_Y: 28, FAR: 29, PIXEL: 30, DRIFT: 31, RIPPLE: 34, EYE_LIGHT: 42, ALL: 45 };

/** @param {[number, number, number]} size of the land */
const head = ([sx, sy, sz]) => `#version 300 es
precision highp float; precision highp int; precision highp sampler2D; precision highp usampler3D; precision highp usampler2D;
const int EYE = 0, RIGHT = 3, UPWARD = 6, AHEAD = 9, SUN = 12, HORIZON = 15, ZENITH = 18, GLOW = 21, CLOUD = 24, TAN_X = 27,
  TAN_Y = 28, FAR = 29, PIXEL = 30, DRIFT = 31, STARS = 32, COVER = 33, RIPPLE = 34, DISC = 35, SHADE = 36;
const ivec3 SIZE = ivec3(${sx}, ${sy}, ${sz});
const uint UNKNOWN = 65535u;
const float DEPTH = ${DEPTH}.0;
uniform float num[45];
uniform vec2 screen;
uniform usampler3D cells; // state (two bytes), light, skip
vec3 num3(int i) { return vec3(num[i], num[i + 1], num[i + 2]); }
uvec4 cellAt(ivec3 c) { return texelFetch(cells, c.yzx, 0); }
bool inside(ivec3 c) { return all(greaterThanEqual(c, ivec3(0))) && all(lessThan(c, SIZE)); }
`;

/** A triangle over the whole picture, which also finds the light at the eye. @param {[number, number, number]} size */
export const vertexShader = (size) => `${head(size)}
uniform sampler2D brights;
flat out vec3 eyeLight;
void main() {
  ivec3 eye = ivec3(floor(num3(EYE)));
  int light = inside(eye) ? int(cellAt(eye).b) : 240;
  eyeLight = texelFetch(brights, ivec2(light, 0), 0).rgb;
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}`;

/** How far the rays of each tile may go before they can meet anything: a cone is marched through the skip distances.
 * @param {[number, number, number]} size */
export const tileShader = (size) => `${head(size)}
out uvec4 first; // the bits of a float: textures of floats cannot be drawn to everywhere
void main() {
  vec2 p = ((floor(gl_FragCoord.xy) * ${TILE}.0 + ${TILE / 2}.0) / screen * 2.0 - 1.0) * vec2(num[TAN_X], num[TAN_Y]);
  vec3 d = num3(AHEAD) + p.x * num3(RIGHT) + p.y * num3(UPWARD);
  float norm = 1.0 / length(d);
  d *= norm;
  float spread = 5.7 * 1.05 * num[PIXEL] * norm, t = 0.0;
  for (int n = 0; n < 100 && t < num[FAR]; n++) {
    ivec3 c = ivec3(floor(num3(EYE) + d * t));
    if (!inside(c)) break;
    float free = float(cellAt(c).a) - 1.0, onward = (free - spread * t) / (1.0 + spread);
    if (onward < 0.4) break;
    t += onward;
  }
  first = uvec4(floatBitsToUint(t > 0.5 ? t - 0.01 : 0.0));
}`;

/** The sky's colours, 0 to 255. */
const SKY = `
uniform sampler2D clouds;
vec3 haze(vec3 d) {
  float high = max(d.y, 0.0), part = min(high, 1.0);
  part = min(part * (2.4 - part * 1.4), 1.0);
  vec3 c = mix(num3(HORIZON), num3(ZENITH), part);
  float wide = max(dot(d, num3(SUN)), 0.0);
  wide *= wide; wide = wide * wide * max(0.0, 1.0 - high * 1.3);
  float narrow = wide * wide; narrow = narrow * narrow * narrow;
  return c + num3(GLOW) * (0.45 * wide + 0.4 * narrow);
}
vec3 sky(vec3 d) {
  vec3 c = haze(d);
  float toward = dot(d, num3(SUN));
  if (num[STARS] > 0.0 && d.y > 0.03) {
    vec2 s = d.xz * (46.0 / (0.35 + d.y)) + 200.0; ivec2 i = ivec2(s);
    uint m = uint(i.x) * 73856093u ^ uint(i.y) * 19349663u;
    m = (m ^ (m >> 13)) * 1274126177u; m ^= m >> 16;
    if ((m & 31u) == 0u) {
      vec2 f = s - vec2(i) - 0.25 - 0.5 * vec2(float((m >> 8) & 255u), float((m >> 16) & 255u)) / 255.0;
      float star = max(1.0 - dot(f, f) * 90.0, 0.0) * num[STARS] * (80.0 + float((m >> 24) & 127u)) * min(1.0, d.y * 4.0);
      c += star * vec3(1.0, 1.0, 1.05);
    }
  }
  float disc = (toward - 0.9984) * 2200.0;
  if (disc > 0.0) c += (vec3(255, 246, 214) - c) * min(disc, 1.0) * num[DISC];
  float halo = max(0.0, toward - 0.94) * 16.0;
  c += halo * halo * 70.0 * num[DISC] * vec3(1.0, 0.9, 0.6);
  disc = (-toward - 0.9990) * 3000.0;
  if (disc > 0.0) c += (vec3(226, 230, 240) - c) * min(disc, 1.0) * min(1.0, num[STARS] + 0.25);
  if (d.y > 0.02) {
    float far = (152.0 - num[EYE + 1]) / d.y;
    if (far > 0.0) {
      vec2 p = (num3(EYE).xz + d.xz * far) * 0.22 + vec2(num[DRIFT], 0.0) + 40960.0;
      ivec2 i = ivec2(p); vec2 a = p - vec2(i);
      ivec2 lo = i & 255, hi = (i + 1) & 255;
      float m = mix(texelFetch(clouds, ivec2(lo.y, lo.x), 0).r, texelFetch(clouds, ivec2(lo.y, hi.x), 0).r, a.x);
      float n = mix(texelFetch(clouds, ivec2(hi.y, lo.x), 0).r, texelFetch(clouds, ivec2(hi.y, hi.x), 0).r, a.x);
      float thick = (mix(m, n, a.y) + num[COVER]) * 2.6;
      if (thick > 0.0) {
        thick = min(thick, 1.0);
        float seen = thick * thick * (3.0 - 2.0 * thick) * min(1.0, (d.y - 0.02) * 5.0) * 0.88;
        c += (num3(CLOUD) * (1.04 - 0.14 * thick) - c) * seen;
      }
    }
  }
  return c;
}
`;

/** The picture of the land. @param {[number, number, number]} size */
export const landShader = (size) => `${head(size)}${SKY}
uniform sampler2D atlas, brights, land, ripples, boxes;
uniform usampler2D firsts, states; // two texels for each state
uniform ivec3 selected;
uniform ivec4 crack; // where, and its picture
flat in vec3 eyeLight;
out vec4 colour;
const ivec3 NORMAL[7] = ivec3[](ivec3(-1,0,0), ivec3(1,0,0), ivec3(0,0,-1), ivec3(0,0,1), ivec3(0,1,0), ivec3(0,-1,0), ivec3(0));
uint stateOf(uvec4 cell) { return cell.r | cell.g << 8; }
int lightAt(ivec3 c) { return int(cellAt(c).b); }
vec3 white(int light) { return texelFetch(brights, ivec2(light, 0), 0).rgb; }
float fog(float part) { part *= part; return part * (0.12 + 0.88 * part * part); }
int levelOf(float spread) { return spread < 1.5 ? 0 : spread < 3.0 ? 1 : spread < 6.0 ? 2 : spread < 12.0 ? 3 : 4; }
uvec4 looks(uint state) { return texelFetch(states, ivec2(int(state & 127u) * 2, int(state >> 7)), 0); }
uvec4 more(uint state) { return texelFetch(states, ivec2(int(state & 127u) * 2 + 1, int(state >> 7)), 0); }
int faceOf(uvec4 look, int side) {
  uint pair = side < 2 ? look.y : side < 4 ? look.z : look.w;
  return int((side & 1) == 0 ? pair & 65535u : pair >> 16);
}
vec4 texelOf(int picture, int level, vec2 uv) {
  int width = 16 >> level;
  ivec2 at = clamp(ivec2(uv * float(width)), ivec2(0), ivec2(width - 1));
  return texelFetch(atlas, ivec2(picture & 63, picture >> 6) * width + at, level);
}
vec2 onFace(int side, vec3 h) {
  return side == 0 ? vec2(h.z, 1.0 - h.y) : side == 1 ? vec2(1.0 - h.z, 1.0 - h.y) : side == 2 ? vec2(1.0 - h.x, 1.0 - h.y)
       : side == 3 ? vec2(h.x, 1.0 - h.y) : side == 4 ? h.xz : vec2(h.x, 1.0 - h.z);
}
void throughWater(float len, vec3 water, inout vec3 sum, inout vec3 pass) {
  float e = exp(-0.105 * len);
  vec3 e3 = vec3(e * e * e, e * sqrt(sqrt(e)), e);
  sum += pass * (1.0 - e3) * vec3(24, 76, 112) * water; pass *= e3;
}
void main() {
  vec2 p = (gl_FragCoord.xy / screen * 2.0 - 1.0) * vec2(num[TAN_X], num[TAN_Y]);
  vec3 d = normalize(num3(AHEAD) + p.x * num3(RIGHT) + p.y * num3(UPWARD));
  d = mix(d, vec3(1e-6), lessThan(abs(d), vec3(1e-6)));
  vec3 inv = 1.0 / d, eye = num3(EYE);
  float far = num[FAR], pixel16 = num[PIXEL] * 16.0;
  float t = uintBitsToFloat(texelFetch(firsts, ivec2(gl_FragCoord.xy) / ${TILE}, 0).r);
  ivec3 c = ivec3(floor(eye + d * t));
  bvec3 pos = greaterThan(d, vec3(0));
  ivec3 stride = ivec3(pos.x ? 1 : -1, pos.y ? 1 : -1, pos.z ? 1 : -1), border = ivec3(pos);
  ivec3 faces = ivec3(pos.x ? 0 : 1, pos.y ? 5 : 4, pos.z ? 2 : 3);
  int face = t == 0.0 ? -1 : faces.y;
  uint before = 65535u;
  vec3 pass = vec3(1), sum = vec3(0), rgb = vec3(0), water = eyeLight;
  bool inWater = false, hit = false; float waterT = 0.0, waterFar = 30.0, fogT = -1.0;
  for (int n = 0; n < 400; n++) {
    if (t >= far) break;
    if (c.x < 0 || c.z < 0 || c.y < 0 || c.x >= SIZE.x || c.z >= SIZE.z) break;
    if (c.y >= SIZE.y) {
      if (pos.y) break;
      t = (float(SIZE.y) - 1e-3 - eye.y) * inv.y;
      c = ivec3(floor(eye + d * t)); c.y = SIZE.y - 1; face = 4;
      continue;
    }
    uvec4 cell = cellAt(c);
    int jump = int(cell.a);
    if (jump > 0 && !inWater) { // through air, in a loop of its own: what follows runs once for each thing that is met
      for (int m = 0; m < 200; m++) {
        vec3 q = vec3(stride) * float(jump - 1);
        vec3 cf = vec3(c);
        vec3 to = (cf + vec3(border) + q - eye) * inv;
        t = min(to.x, min(to.y, to.z));
        bvec3 axis = bvec3(to.x < to.y && to.x < to.z, false, false);
        axis.y = !axis.x && to.y < to.z; axis.z = !axis.x && !axis.y;
        vec3 at = floor(eye + d * t);
        at = mix(min(at, cf), max(at, cf), vec3(pos));
        c = ivec3(mix(at, cf + q + vec3(stride), axis));
        face = axis.x ? faces.x : axis.y ? faces.y : faces.z;
        if (t >= far || any(lessThan(c, ivec3(0))) || any(greaterThanEqual(c, SIZE))) { jump = -1; break; }
        cell = cellAt(c);
        jump = int(cell.a);
        if (jump == 0) break;
      }
      before = 0u;
      if (jump < 0) { if (c.y >= SIZE.y && !pos.y) continue; break; }
    }
    uint state = jump == 0 ? stateOf(cell) : 0u;
    if (state == UNKNOWN) break; // and the sky is seen, as if nothing stood there
    uvec4 look = jump == 0 ? looks(state) : uvec4(0);
    uint what = look.x;
    vec3 to = (vec3(c + border) - eye) * inv;
    if ((what & 16u) != 0u || inWater) {
      float leave = min(to.x, min(to.y, to.z)), w0 = leave, w1 = t;
      if ((what & 16u) != 0u) {
        w0 = t; w1 = leave;
        float high = uintBitsToFloat(more(state).y);
        if (c.y + 1 < SIZE.y && high < 1.0 && (looks(stateOf(cellAt(c + ivec3(0, 1, 0)))).x & 16u) != 0u) high = 1.0;
        if (high < 1.0) { float cut = (float(c.y) + high - eye.y) * inv.y; if (pos.y) w1 = min(w1, cut); else w0 = max(w0, cut); }
      }
      if (inWater && (w0 > t + 1e-4 || w1 <= w0 || w1 < leave - 1e-4)) {
        float end = (w0 > t + 1e-4 || w1 <= w0) ? t : w1;
        inWater = false;
        throughWater(max(0.0, end - waterT), water, sum, pass);
      } else if (!inWater && w1 > w0 + 1e-4) {
        inWater = true; waterT = w0;
        if (w0 > 1e-3 && face >= 0) {
          ivec3 above = c; bool onTop = w0 > t + 1e-5 || face == 4;
          if (onTop) {
            if (c.y + 1 < SIZE.y) above.y += 1;
            if (cellAt(above).a == 0u && !(w0 > t + 1e-5)) above = c;
          }
          int lit = max(lightAt(above), lightAt(c));
          water = white(lit);
          if (fogT < 0.0) fogT = w0;
          vec3 w = eye + d * w0;
          if (onTop) {
            ivec2 r = ivec2((w.xz + num[RIPPLE] * vec2(1.0, 0.6)) * 8.0) & 127;
            vec2 nn = texelFetch(ripples, r.yx, 0).rg * 0.34 / (1.0 + w0 * 0.035);
            float cosine = clamp(-d.y - dot(nn, d.xz), 0.02, 1.0), rest = 1.0 - cosine;
            float f = rest * rest; f = 0.035 + 0.75 * f * f * rest;
            vec3 m = d + 2.0 * cosine * vec3(nn.x, 1.0, nn.y);
            float flash = pow(max(0.0, dot(m, num3(SUN))), 64.0) * 150.0 * num[DISC];
            f *= 0.15 + 0.85 * float(lit >> 4) / 15.0;
            sum += pass * f * (haze(m) + flash); pass *= 1.0 - f;
          } else {
            float s = texelFetch(ripples, ivec2(int(w.y * 2.0 + num[RIPPLE] * 3.0 + 1000.0), int((w.x + w.z) * 8.0)) & 127, 0).r;
            float veil = clamp(0.34 + s * 0.5, 0.15, 0.7);
            sum += pass * veil * vec3(92, 146, 186) * water; pass *= 1.0 - veil;
          }
        }
        float part = min(1.0, w0 / far);
        part = max(0.08, (1.0 - part * part * part) * pass.b);
        waterFar = w0 + 3.0 + 19.0 * part;
        if (w1 < leave - 1e-4 && pos.y) inWater = false;
      } else if (inWater && t > waterFar) break;
    }
    uint kind = what & 15u;
    if (kind != 0u && kind != 3u) {
      int picture = -1, side = -1; float best = -1.0; uint flags = (what >> 8) & 255u;
      vec3 h = vec3(0), e0 = vec3(0), e1 = vec3(1); vec2 uv = vec2(0); vec4 texel = vec4(0);
      if (kind <= 2u || kind == 6u) {
        float high = uintBitsToFloat(more(state).y);
        if (kind == 6u && high < 1.0 && !(c.y + 1 < SIZE.y && (looks(stateOf(cellAt(c + ivec3(0, 1, 0)))).x & 15u) == 6u)) {
          e1.y = high;
          float cut = (float(c.y) + high - eye.y) * inv.y;
          if (eye.y + d.y * t - float(c.y) <= high) { best = t; side = face; }
          else if (!pos.y && cut < min(to.x, to.z)) { best = cut; side = 4; }
        } else if (!((flags & 4u) != 0u && before == state)) { best = t; side = face; }
        if (side >= 0) {
          h = eye + d * best - vec3(c);
          picture = faceOf(look, side);
          uv = onFace(side, h);
          if ((flags & 2u) != 0u) {
            uint m = uint(c.x) * 73856093u ^ uint(c.z) * 19349663u ^ uint(c.y) * 83492791u;
            m ^= m >> 13;
            if ((m & 1u) != 0u) uv.x = 1.0 - uv.x;
            if ((m & 2u) != 0u && side >= 4) uv.y = 1.0 - uv.y;
          }
          float cosine = side < 2 ? abs(d.x) : side < 4 ? abs(d.z) : abs(d.y);
          int level = best * pixel16 > 0.36 ? levelOf(best * pixel16 / sqrt(max(cosine, 0.06))) : 0;
          texel = texelOf(picture, level, uv);
        }
      } else if (kind == 4u) {
        uint m = uint(c.x) * 73856093u ^ uint(c.z) * 19349663u;
        m ^= m >> 11;
        vec2 shift = 0.5 + (vec2(float(m & 15u), float((m >> 4) & 15u)) - 7.5) * 0.016;
        vec2 l = (eye.xz - vec2(c.xz) - shift) * 1.2, u = d.xz * 1.2;
        int level = min(levelOf(t * pixel16), 2);
        float least = 1e9;
        for (int which = 0; which < 2; which++) {
          float den = which == 0 ? u.x - u.y : u.x + u.y;
          if (abs(den) > 1e-6) {
            float q = which == 0 ? (l.y - l.x) / den : -(l.x + l.y) / den;
            if (q > 0.02 && q < least) {
              float ax = l.x + u.x * q + 0.5, ay = eye.y - float(c.y) + d.y * q;
              if (ax >= 0.0 && ax < 1.0 && ay >= 0.0 && ay < 1.0) {
                int pic = faceOf(look, 0);
                vec4 some = texelOf(pic, level, vec2(ax, 1.0 - ay));
                if (some.a > 0.0) { least = q; texel = some; best = q; side = 6; picture = pic; h.y = ay; uv = vec2(ax, 1.0 - ay); }
              }
            }
          }
        }
      } else {
        vec3 l = eye - vec3(c);
        float least = 1e9; int level = levelOf(t * pixel16);
        uint range = more(state).x; int b0 = int(range & 0xffffffu), bn = int(range >> 24);
        for (int b = b0; b < b0 + bn; b++) {
          ivec2 at = ivec2((b & 63) * 3, b >> 6);
          vec4 lo = texelFetch(boxes, at, 0), hi = texelFetch(boxes, at + ivec2(1, 0), 0), rest = texelFetch(boxes, at + ivec2(2, 0), 0);
          vec3 a = (lo.xyz - l) * inv, z = (hi.xyz - l) * inv;
          vec3 nr = min(a, z), fr = max(a, z);
          float enter = 0.0, leave = 1e9; int f0 = -1, f1 = 0;
          if (nr.x > enter) { enter = nr.x; f0 = a.x > z.x ? 1 : 0; } if (fr.x < leave) { leave = fr.x; f1 = a.x > z.x ? 0 : 1; }
          if (nr.y > enter) { enter = nr.y; f0 = a.y > z.y ? 4 : 5; } if (fr.y < leave) { leave = fr.y; f1 = a.y > z.y ? 5 : 4; }
          if (nr.z > enter) { enter = nr.z; f0 = a.z > z.z ? 3 : 2; } if (fr.z < leave) { leave = fr.z; f1 = a.z > z.z ? 2 : 3; }
          if (enter > leave) f0 = -1;
          if (f0 >= 0 && enter < least) {
            for (int turn = 0; turn < 2; turn++) {
              if (turn == 1) { if (leave - enter < 1e-4 || leave >= least) break; enter = leave; f0 = f1; }
              float pf = f0 == 0 ? lo.w : f0 == 1 ? hi.w : f0 == 2 ? rest.x : f0 == 3 ? rest.y : f0 == 4 ? rest.z : rest.w;
              int pic = int(pf);
              if (pic >= 0) {
                vec3 at3 = l + d * enter;
                vec4 some = texelOf(pic, level, onFace(f0, at3));
                if (some.a > 0.0) { least = enter; texel = some; best = enter; side = f0; picture = pic; h = at3; e0 = lo.xyz; e1 = hi.xyz; break; }
              }
            }
          }
        }
      }
      if (texel.a > 0.0) {
        ivec3 a = c + NORMAL[side];
        bool within = inside(a);
        int lit = within ? lightAt(a) : 240;
        if (kind >= 4u && kind != 6u) { int own = lightAt(c); lit = max(lit & 240, own & 240) | max(lit & 15, own & 15); }
        vec3 l = white(lit);
        if (side < 6 && within && (kind != 5u || (flags & 16u) != 0u) && best < 44.0) {
          vec2 q = side < 2 ? h.zy : side < 4 ? h.xy : h.xz;
          ivec3 u = side < 2 ? ivec3(0,0,1) : ivec3(1,0,0), v = side < 4 ? ivec3(0,1,0) : ivec3(0,0,1);
          if (q.x < 0.5) { u = -u; q.x = 0.5 - q.x; } else q.x -= 0.5;
          if (q.y < 0.5) { v = -v; q.y = 0.5 - q.y; } else q.y -= 0.5;
          if (inside(a + u + v)) {
            q *= min(1.0, (44.0 - best) * 0.08);
            int n1 = lightAt(a + u), n2 = lightAt(a + v), n3 = lightAt(a + u + v);
            if (n1 == 0 && n2 == 0) n3 = 0;
            if (!(n1 == lit && n2 == lit && n3 == lit)) {
              vec3 o = l * 0.30;
              l = (1.0 - q.x) * (1.0 - q.y) * l + q.x * (1.0 - q.y) * max(white(n1), o) + (1.0 - q.x) * q.y * max(white(n2), o)
                + q.x * q.y * max(white(n3), o);
            }
          }
        }
        l *= side < 6 ? num[SHADE + side] : 0.72 + 0.26 * h.y;
        if ((flags & 1u) != 0u) l *= texelFetch(land, ivec2(c.z & 255, c.x & 255), 0).rgb;
        else if ((flags & 2u) != 0u) l *= texelFetch(land, ivec2((c.z * 2 + c.y * 3) & 255, (c.x * 2 + c.y * 5) & 255), 0).g;
        l = max(l, vec3(uintBitsToFloat(more(state).z) * 0.95));
        if (c == selected) {
          if (side < 6) {
            vec3 slant = d / dot(d, vec3(NORMAL[side])); // stretches a pixel along each axis of the face
            vec3 w = clamp(best * num[PIXEL] * 1.1 * sqrt(1.0 + slant * slant), 0.011, 0.15);
            ivec3 near = ivec3(lessThan(h - e0, w)) | ivec3(lessThan(e1 - h, w));
            if (near.x + near.y + near.z >= 2) l *= 0.3;
          } else l *= 1.18;
        }
        if (c == crack.xyz) {
          if (side < 6) uv = onFace(side, h);
          l *= 1.0 - texelOf(crack.w, 0, uv).a;
        }
        vec3 paint = texel.rgb * 255.0 * l;
        if (texel.a > 250.5 / 255.0 || (kind != 2u && kind != 5u)) { rgb = paint; hit = true; t = best; break; }
        sum += pass * texel.a * paint;
        float peak = 0.75 + 0.25 * (1.0 - texel.a);
        pass *= (1.0 - texel.a) * (peak + (1.0 - peak) * texel.rgb);
      }
    }
    before = state;
    if (to.x < to.y && to.x < to.z) { t = to.x; face = faces.x; c.x += stride.x; }
    else if (to.y < to.z) { t = to.y; face = faces.y; c.y += stride.y; }
    else { t = to.z; face = faces.z; c.z += stride.z; }
  }
  gl_FragDepth = hit ? t / DEPTH : 1.0;
  if (hit) {
    float part = fogT >= 0.0 ? 0.0 : fog(t / far);
    if (part > 0.004) rgb += (haze(d) - rgb) * part;
  } else if (!inWater) rgb = sky(d);
  if (inWater) throughWater(hit ? max(0.0, t - waterT) : 60.0, water, sum, pass);
  rgb = sum + pass * rgb;
  if (fogT >= 0.0) { float part = fog(min(1.0, fogT / far)); if (part > 0.01) rgb += (haze(d) - rgb) * part; }
  colour = vec4(floor(clamp(rgb, 0.0, 255.0)) / 255.0, 1.0);
}`;

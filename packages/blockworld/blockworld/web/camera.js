// Where a picture is taken from, and what the ray-caster is told of it.

import { NUMBERS } from "./land/shaders.js";

/**
 * @typedef {object} Camera
 * @property {number} x of the eye
 * @property {number} y
 * @property {number} z
 * @property {number} yaw degrees: 0 looks south, 90 west
 * @property {number} pitch degrees, positive looking down
 * @property {number} fov degrees from the lowest to the highest pixel
 */
/**
 * @typedef {object} View where a picture is taken from, as the passes read it
 * @property {[number, number, number]} eye
 * @property {number[]} axes unit vectors to the right, up and forward
 * @property {number} tanX half the width of the screen one block away
 * @property {number} tanY half its height
 * @property {number} width pixels
 * @property {number} height
 * @property {Float32Array} bright colour that each light value gives to white, 256 * 3
 */

/**
 * @param {Camera} camera
 * @param {number} width
 * @param {number} height
 * @param {Float32Array} bright
 * @returns {View}
 */
export function viewOf(camera, width, height, bright) {
  const yaw = (camera.yaw * Math.PI) / 180, pitch = (camera.pitch * Math.PI) / 180;
  const cy = Math.cos(yaw), sy = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
  const tanY = Math.tan((camera.fov * Math.PI) / 360);
  const axes = [-cy, 0, -sy, -sy * sp, cp, cy * sp, -sy * cp, -sp, cy * cp];
  return { eye: [camera.x, camera.y, camera.z], axes, tanX: (tanY * width) / height, tanY, width, height, bright };
}

/**
 * The ray-caster's numbers for one picture.
 * @param {Float32Array} numbers as the server sent them: what follows from the camera and the time is put in
 * @param {View} view
 * @param {number} ticks of the world, with a part: they move clouds and ripples
 * @param {number} far how far one sees, in blocks
 */
export function aim(numbers, view, ticks, far) {
  numbers[NUMBERS.FAR] = far;
  numbers.set(view.eye, NUMBERS.EYE);
  numbers.set(view.axes, NUMBERS.EYE + 3);
  numbers[NUMBERS.TAN_X] = view.tanX;
  numbers[NUMBERS.TAN_Y] = view.tanY;
  numbers[NUMBERS.PIXEL] = (2 * view.tanY) / view.height;
  numbers[NUMBERS.DRIFT] = (ticks * 0.0025) % 256;
  numbers[NUMBERS.RIPPLE] = ((ticks * 0.02) % 16) + 4096;
}

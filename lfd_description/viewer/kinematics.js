'use strict';
// The robot's page: its kinematics, a small renderer in WebGL 2, and the controls.
//
// While something moves, each frame is drawn at once with one soft light. As soon as it rests, frames with changing
// directions of light are averaged, which is how the PNG pictures are made: soft shadows, dark corners, smooth edges.

const data = JSON.parse(document.getElementById('robot').textContent);
const byId = (id) => document.getElementById(id);
const still = matchMedia('(prefers-reduced-motion: reduce)');
const dark = matchMedia('(prefers-color-scheme: dark)');

// ---------------------------------------------------------------- matrices: column-major, 16 numbers

function multiply(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) {
    for (let r = 0; r < 4; r++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[k * 4 + r] * b[c * 4 + k];
      out[c * 4 + r] = sum;
    }
  }
  return out;
}
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const plus = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const unit = (a) => scaled(a, 1 / Math.hypot(...a));
const moved = (m, p) => [0, 1, 2].map((r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
const rows = (x, y, z, shift) => new Float32Array([
  x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, shift[0], shift[1], shift[2], 1]);

function motion(joint, position) {
  const [x, y, z] = joint.axis;
  if (!joint.turns) return new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x * position, y * position, z * position, 1]);
  const c = Math.cos(position), s = Math.sin(position), t = 1 - c;
  return new Float32Array([
    t * x * x + c, t * x * y + s * z, t * x * z - s * y, 0, t * x * y - s * z, t * y * y + c, t * y * z + s * x, 0,
    t * x * z + s * y, t * y * z - s * x, t * z * z + c, 0, 0, 0, 0, 1]);
}

// ---------------------------------------------------------------- the robot

const positions = Object.assign({}, data.start); // by joint, rad or m

function linkPoses() {
  const poses = [];
  for (const link of data.links) {
    if (link.parent < 0) { poses.push(new Float32Array(link.origin)); continue; }
    let pose = multiply(poses[link.parent], link.origin);
    const joint = link.joint;
    if (joint) {
      const leader = joint.mimic ? joint.mimic.multiplier * (positions[joint.mimic.joint] || 0) + joint.mimic.offset : positions[joint.name] || 0;
      pose = multiply(pose, motion(joint, leader));
    }
    poses.push(pose);
  }
  return poses;
}

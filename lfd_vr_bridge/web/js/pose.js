/**
 * Poses as the protocol has them: [x, y, z, qx, qy, qz, qw], metres and a unit quaternion. Pure, no three.js.
 *
 * `compose(a, b)` is the pose of b, which is given in frame a, in a's own reference frame.
 */

export const IDENTITY = Object.freeze([0, 0, 0, 0, 0, 0, 1]);

/** The vector [x, y, z] turned by the quaternion of a pose. */
export function rotate(pose, [x, y, z]) {
  const [, , , qx, qy, qz, qw] = pose;
  const tx = 2 * (qy * z - qz * y);
  const ty = 2 * (qz * x - qx * z);
  const tz = 2 * (qx * y - qy * x);
  return [x + qw * tx + qy * tz - qz * ty, y + qw * ty + qz * tx - qx * tz, z + qw * tz + qx * ty - qy * tx];
}

/** The product of two quaternions [x, y, z, w]. */
export function multiply([ax, ay, az, aw], [bx, by, bz, bw]) {
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

/** The quaternion of length 1; the identity if there is none. */
export function normalized(q) {
  const length = Math.hypot(...q);
  return length > 0 ? q.map((value) => value / length) : [0, 0, 0, 1];
}

export function compose(a, b) {
  const [x, y, z] = rotate(a, b);
  return [a[0] + x, a[1] + y, a[2] + z, ...normalized(multiply(a.slice(3), b.slice(3)))];
}

export function inverse(pose) {
  const turned = [0, 0, 0, -pose[3], -pose[4], -pose[5], pose[6]];
  const [x, y, z] = rotate(turned, pose);
  return [-x, -y, -z, ...turned.slice(3)];
}

/** A point of a pose's frame in the pose's reference frame. */
export function transform(pose, point) {
  const [x, y, z] = rotate(pose, point);
  return [pose[0] + x, pose[1] + y, pose[2] + z];
}

/** The quaternion of a turn about a unit axis [rad]. */
export function turn([x, y, z], angle) {
  const s = Math.sin(angle / 2);
  return [x * s, y * s, z * s, Math.cos(angle / 2)];
}

/** The quaternion of the frame whose axes are the given orthonormal vectors. */
export function fromAxes(x, y, z) {
  const trace = x[0] + y[1] + z[2];
  if (trace > 0) {
    const s = 2 * Math.sqrt(trace + 1);
    return normalized([(y[2] - z[1]) / s, (z[0] - x[2]) / s, (x[1] - y[0]) / s, s / 4]);
  }
  if (x[0] > y[1] && x[0] > z[2]) {
    const s = 2 * Math.sqrt(1 + x[0] - y[1] - z[2]);
    return normalized([s / 4, (y[0] + x[1]) / s, (z[0] + x[2]) / s, (y[2] - z[1]) / s]);
  }
  if (y[1] > z[2]) {
    const s = 2 * Math.sqrt(1 + y[1] - x[0] - z[2]);
    return normalized([(y[0] + x[1]) / s, s / 4, (z[1] + y[2]) / s, (z[0] - x[2]) / s]);
  }
  const s = 2 * Math.sqrt(1 + z[2] - x[0] - y[1]);
  return normalized([(z[0] + x[2]) / s, (z[1] + y[2]) / s, s / 4, (x[1] - y[0]) / s]);
}

export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

/** The vector of length 1, or null for one that has no direction. */
export function direction(vector) {
  const length = Math.hypot(...vector);
  return length > 1e-9 ? vector.map((value) => value / length) : null;
}

/** The angle between two poses' orientations [rad]. */
export function angleBetween(a, b) {
  const q = multiply([-a[3], -a[4], -a[5], a[6]], b.slice(3));
  return 2 * Math.atan2(Math.hypot(q[0], q[1], q[2]), Math.abs(q[3]));
}

/** Whether all seven numbers are finite. */
export const isFinitePose = (pose) => pose.length === 7 && pose.every(Number.isFinite);

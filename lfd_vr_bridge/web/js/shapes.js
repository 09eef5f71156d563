/**
 * What a hand or a ray meets: objects as boxes around their parts. Pure, no three.js.
 *
 * A part's box has the part's own pose in the object's frame, so that a long thin thing is not taken for a cube.
 */

import { compose, inverse, rotate, transform } from './pose.js';

const PLANE = 50; // [m] half the side of a plane as it is shown and met

/** Half the sides of the box around a part [m]; `bounds` gives a mesh's, once it is loaded. */
export function halfExtents(part, bounds = null) {
  switch (part.shape) {
    case 'box':
      return part.size.map((side) => side / 2);
    case 'sphere':
      return [part.radius, part.radius, part.radius];
    case 'cylinder':
    case 'cone':
      return [part.radius, part.radius, part.height / 2];
    case 'capsule':
      return [part.radius, part.radius, part.height / 2 + part.radius];
    case 'plane':
      return [PLANE, PLANE, 0];
    default:
      return bounds ? bounds.half : [0.05, 0.05, 0.05];
  }
}

/** The boxes of an object: `[{pose, half}]`, with `pose` in the object's frame. */
export function boxesOf(parts, boundsOf = () => null) {
  return parts.map((part) => {
    const bounds = part.shape === 'mesh' ? boundsOf(part.url) : null;
    const pose = bounds ? compose(part.pose, [...bounds.centre, 0, 0, 0, 1]) : part.pose;
    return { pose, half: halfExtents(part, bounds) };
  });
}

/** The radius of the ball about the object's origin that has all of its boxes in it [m]. */
export function radiusOf(boxes) {
  return Math.max(0, ...boxes.map(({ pose, half }) => Math.hypot(...pose.slice(0, 3)) + Math.hypot(...half)));
}

/** How far a point is from the nearest of an object's boxes [m], 0 inside. */
export function distanceToBoxes(objectPose, boxes, point) {
  let nearest = Infinity;
  for (const { pose, half } of boxes) {
    const local = transform(inverse(compose(objectPose, pose)), point);
    const outside = local.map((value, axis) => Math.max(0, Math.abs(value) - half[axis]));
    nearest = Math.min(nearest, Math.hypot(...outside));
  }
  return nearest;
}

/** How far along a ray (unit direction) an object's boxes are met [m], or Infinity. */
export function rayToBoxes(objectPose, boxes, origin, along) {
  let first = Infinity;
  for (const { pose, half } of boxes) {
    const back = inverse(compose(objectPose, pose));
    first = Math.min(first, rayToBox(transform(back, origin), rotate(back, along), half));
  }
  return first;
}

function rayToBox(origin, along, half) {
  let enter = 0;
  let leave = Infinity;
  for (let axis = 0; axis < 3; axis += 1) {
    if (Math.abs(along[axis]) < 1e-12) {
      if (Math.abs(origin[axis]) > half[axis]) return Infinity;
      continue;
    }
    const a = (-half[axis] - origin[axis]) / along[axis];
    const b = (half[axis] - origin[axis]) / along[axis];
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  }
  return enter <= leave ? enter : Infinity;
}

/** The lowest and highest z of an object's boxes [m], in the frame of its pose. */
export function heightRange(objectPose, boxes) {
  let low = Infinity;
  let high = -Infinity;
  for (const { pose, half } of boxes) {
    const whole = compose(objectPose, pose);
    const reach = [0, 1, 2]
      .map((axis) => Math.abs(rotate(whole, [axis === 0, axis === 1, axis === 2].map(Number))[2]) * half[axis])
      .reduce((sum, value) => sum + value, 0);
    low = Math.min(low, whole[2] - reach);
    high = Math.max(high, whole[2] + reach);
  }
  return [low, high];
}

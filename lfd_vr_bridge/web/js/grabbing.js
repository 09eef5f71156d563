/**
 * Grabbing: which object a hand takes, and how it follows. Pure; XR controllers, tracked hands, mouse and touch share it.
 *
 * All poses are in ROS axes in the scene's frame. A hand's frame is MTDF's: x along the fingers, y the way they close,
 * z up from the hand. An object keeps its pose in the hand's frame from the grab on (it never jumps), and is let go of
 * where it was last shown: opening the fingers moves a tracked hand, and that must not move the object.
 */

import { compose, cross, direction, dot, fromAxes, inverse, isFinitePose, subtract } from './pose.js';
import { distanceToBoxes, rayToBoxes } from './shapes.js';

export const REACH = 0.08; // [m] from the hand to an object's surface
export const RAY = 6; // [m]

/**
 * The movable object nearest to a point within reach, or null.
 *
 * `objects`: iterable of `{name, pose, boxes, radius, movable, held}`.
 */
export function nearestWithin(objects, point, reach = REACH) {
  let best = null;
  let bestDistance = reach;
  for (const object of objects) {
    if (!object.movable || object.held) continue;
    const toCentre = Math.hypot(point[0] - object.pose[0], point[1] - object.pose[1], point[2] - object.pose[2]);
    if (toCentre - object.radius > bestDistance) continue;
    const distance = distanceToBoxes(object.pose, object.boxes, point);
    // Inside several boxes the one whose middle is nearest is meant.
    if (distance < bestDistance || (best && distance === bestDistance && toCentre < best.toCentre)) {
      best = { object, toCentre };
      bestDistance = distance;
    }
  }
  return best && best.object;
}

/** The first object along a ray: `{object, distance}` or null; fixed objects hide what is behind them. */
export function firstAlong(objects, origin, along, reach = RAY) {
  let best = null;
  for (const object of objects) {
    const limit = best ? best.distance : reach;
    const offset = subtract(object.pose, origin);
    const nearest = dot(offset, along);
    if (nearest + object.radius < 0 || nearest - object.radius > limit) continue;
    if (dot(offset, offset) - nearest * nearest > object.radius * object.radius) continue;
    const distance = rayToBoxes(object.pose, object.boxes, origin, along);
    if (distance < limit) best = { object, distance };
  }
  return best;
}

/** What a hand at a pose would take: within reach first, then along its ray (`{origin, along}`, may be null). */
export function chooseObject(objects, point, ray, reach = REACH) {
  const near = nearestWithin(objects, point, reach);
  if (near || !ray) return near;
  const hit = firstAlong(objects, ray.origin, ray.along);
  return hit && hit.object.movable && !hit.object.held ? hit.object : null;
}

/** One object in one hand. */
export class Hold {
  constructor(object, hand, handPose, objectPose) {
    this.object = object;
    this.hand = hand;
    this.start = objectPose.slice();
    this.pose = objectPose.slice();
    this.handPose = handPose.slice();
    this.inHand = compose(inverse(handPose), objectPose);
  }

  /** The hand is at another pose; gives the object's. A pose that is not finite changes nothing. */
  follow(handPose) {
    if (!isFinitePose(handPose)) return this.pose;
    this.handPose = handPose.slice();
    this.pose = compose(handPose, this.inHand);
    return this.pose;
  }

  /** The object was turned or moved in the hand (keys, wheel). */
  adjust(objectPose) {
    this.pose = objectPose.slice();
    this.inHand = compose(inverse(this.handPose), objectPose);
  }
}

/**
 * A tracked hand's pose of its joints' positions: from the wrist to between thumb and index finger, closing from the one
 * to the other. Null if the joints do not tell.
 */
export function handOfJoints(wrist, thumb, index) {
  const middle = [0, 1, 2].map((axis) => (thumb[axis] + index[axis]) / 2);
  const x = direction(subtract(middle, wrist));
  if (!x) return null;
  const closing = subtract(index, thumb);
  const across = dot(closing, x);
  const y = direction(closing.map((value, axis) => value - across * x[axis]));
  return y && [...middle, ...fromAxes(x, y, cross(x, y))];
}

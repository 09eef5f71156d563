/**
 * New objects: what they are like, and where there is room for them. Pure, no three.js.
 */

import { heightRange } from './shapes.js';

const SIZE = 0.04; // [m], between the narrowest and the widest grasp of usual grippers
const ROOM = 0.07; // [m] between the middles of two things
const STEP = 0.08; // [m] between two spots that are tried
const RINGS = 8;
const COLORS = [[0.55, 0.36, 0.8, 1], [0.1, 0.62, 0.6, 1], [0.9, 0.5, 0.15, 1]];

export const KINDS = { box: 'Box', cylinder: 'Cylinder', sphere: 'Ball' };

const PARTS = {
  box: { shape: 'box', size: [SIZE, SIZE, SIZE] },
  cylinder: { shape: 'cylinder', radius: SIZE / 2, height: SIZE },
  sphere: { shape: 'sphere', radius: SIZE / 2 },
};

/** An object for `add_object` that stands where there is room, near the middle of the work; poses in the scene's frame. */
export function newObject(kind, objects, middle) {
  const things = [...objects];
  const [x, y, top] = freeSpot(things, middle);
  return {
    parts: [{ ...PARTS[kind], pose: [0, 0, 0, 0, 0, 0, 1] }],
    pose: [x, y, top + SIZE / 2, 0, 0, 0, 1],
    color: COLORS[things.length % COLORS.length],
    movable: true,
    tags: ['graspable'],
  };
}

/** The nearest spot around `middle` that is as high as what is below the middle, with no other thing to move nearby. */
export function freeSpot(objects, middle) {
  const wanted = heightAt(objects, middle[0], middle[1]);
  for (let ring = 1; ring <= RINGS; ring += 1) {
    for (let turn = 0; turn < 6 * ring; turn += 1) {
      const angle = (turn / (6 * ring)) * 2 * Math.PI;
      const [x, y] = [middle[0] + ring * STEP * Math.cos(angle), middle[1] + ring * STEP * Math.sin(angle)];
      const near = objects.some(({ movable, pose }) => movable && Math.hypot(pose[0] - x, pose[1] - y) < ROOM);
      if (!near && Math.abs(heightAt(objects, x, y) - wanted) < 0.005) return [x, y, heightAt(objects, x, y)];
    }
  }
  const highest = Math.max(wanted, ...objects.filter(({ movable }) => movable).map(({ pose, boxes }) => heightRange(pose, boxes)[1]));
  return [middle[0], middle[1], highest];
}

/** The upper side of what stands still below a point [m]; of upright things, by their boxes. */
function heightAt(objects, x, y) {
  let top = -Infinity;
  for (const { movable, pose, boxes } of objects) {
    const below = !movable && boxes.some((box) => Math.abs(x - pose[0] - box.pose[0]) <= box.half[0] && Math.abs(y - pose[1] - box.pose[1]) <= box.half[1]);
    if (below) top = Math.max(top, heightRange(pose, boxes)[1]);
  }
  return Number.isFinite(top) ? top : 0;
}

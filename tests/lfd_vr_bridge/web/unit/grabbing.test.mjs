import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseObject, firstAlong, handOfJoints, Hold, nearestWithin } from '../../../../lfd_vr_bridge/web/js/grabbing.js';
import { distance, rotate, turn } from '../../../../lfd_vr_bridge/web/js/pose.js';
import { boxesOf, distanceToBoxes, heightRange, radiusOf, rayToBoxes } from '../../../../lfd_vr_bridge/web/js/shapes.js';

const AT = [0, 0, 0, 0, 0, 0, 1];
function box(name, position, size = [0.04, 0.04, 0.04], movable = true) {
  const boxes = boxesOf([{ shape: 'box', size, pose: AT }]);
  return { name, pose: [...position, 0, 0, 0, 1], boxes, radius: radiusOf(boxes), movable, held: null };
}

test('the nearest movable object within reach is taken', () => {
  const objects = [box('far', [0.3, 0, 0]), box('near', [0.05, 0, 0]), box('fixed', [0, 0, 0], [0.1, 0.1, 0.1], false)];
  assert.equal(nearestWithin(objects, [0, 0, 0]).name, 'near');
  assert.equal(nearestWithin(objects, [0, 0.5, 0]), null);
  objects[1].held = { by: 'somebody', hand: 'left' };
  assert.equal(nearestWithin(objects, [0, 0, 0]), null);
});

test('inside two objects the one whose middle is nearer is taken', () => {
  const objects = [box('large', [0.05, 0, 0], [0.2, 0.2, 0.2]), box('small', [0.01, 0, 0])];
  assert.equal(nearestWithin(objects, [0, 0, 0]).name, 'small');
});

test('a ray takes the first object, and a fixed one hides what is behind it', () => {
  const objects = [box('behind', [1, 0, 0]), box('front', [0.5, 0, 0])];
  assert.equal(firstAlong(objects, [0, 0, 0], [1, 0, 0]).object.name, 'front');
  assert.ok(Math.abs(firstAlong(objects, [0, 0, 0], [1, 0, 0]).distance - 0.48) < 1e-9);
  objects[1].movable = false;
  assert.equal(chooseObject(objects, [0, 0, 1], { origin: [0, 0, 0], along: [1, 0, 0] }), null);
  assert.equal(firstAlong(objects, [0, 0, 0], [-1, 0, 0]), null);
});

test('a hand whose ray ends at the board takes only what is within its reach', () => {
  const objects = [box('behind', [1, 0, 0])];
  assert.equal(chooseObject(objects, [0, 0, 0], { origin: [0, 0, 0], along: [1, 0, 0] }).name, 'behind');
  assert.equal(chooseObject(objects, [0, 0, 0], null), null);
  assert.equal(chooseObject(objects, [0.95, 0, 0], null).name, 'behind');
});

test('an object keeps its place in the hand, and does not jump when it is taken', () => {
  const hand = [0.1, 0.2, 0.3, ...turn([0, 0, 1], 0.4)];
  const hold = new Hold('box', 'right', hand, [0.15, 0.2, 0.3, 0, 0, 0, 1]);
  hold.follow(hand).forEach((value, index) => assert.ok(Math.abs(value - [0.15, 0.2, 0.3, 0, 0, 0, 1][index]) < 1e-12));
  const before = distance(hold.pose, hand);
  const moved = [1, -1, 0.5, ...turn([1, 0, 0], 2)];
  assert.ok(Math.abs(distance(hold.follow(moved), moved) - before) < 1e-12);
  const shown = hold.pose.slice();
  assert.deepEqual(hold.follow([NaN, 0, 0, 0, 0, 0, 1]), shown);
});

test("a tracked hand's frame points along the fingers and closes from thumb to index finger", () => {
  const hand = handOfJoints([0, 0, 0], [0.1, -0.02, 0], [0.1, 0.02, 0]);
  assert.deepEqual(hand.slice(0, 3), [0.1, 0, 0]);
  rotate(hand, [1, 0, 0]).forEach((value, index) => assert.ok(Math.abs(value - [1, 0, 0][index]) < 1e-9));
  rotate(hand, [0, 1, 0]).forEach((value, index) => assert.ok(Math.abs(value - [0, 1, 0][index]) < 1e-9));
  assert.equal(handOfJoints([0, 0, 0], [0, 0, 0], [0, 0, 0]), null);
});

test('boxes around shapes: distance, ray and height of a turned one', () => {
  const boxes = boxesOf([{ shape: 'cylinder', radius: 0.1, height: 0.4, pose: [0, 0, 0.2, 0, 0, 0, 1] }]);
  assert.ok(Math.abs(distanceToBoxes(AT, boxes, [0, 0, 0.5]) - 0.1) < 1e-12);
  assert.equal(distanceToBoxes(AT, boxes, [0, 0, 0.1]), 0);
  assert.ok(Math.abs(rayToBoxes(AT, boxes, [1, 0, 0.1], [-1, 0, 0]) - 0.9) < 1e-12);
  assert.equal(rayToBoxes(AT, boxes, [1, 0, 0.5], [-1, 0, 0]), Infinity);
  const [low, high] = heightRange([0, 0, 1, ...turn([1, 0, 0], Math.PI / 2)], boxes);
  assert.ok(Math.abs(low - 0.9) < 1e-9 && Math.abs(high - 1.1) < 1e-9);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freeSpot, newObject } from '../../../../lfd_vr_bridge/web/js/adding.js';
import { boxesOf } from '../../../../lfd_vr_bridge/web/js/shapes.js';

const NONE = [0, 0, 0, 0, 0, 0, 1];

function box(size, at, movable) {
  const parts = [{ shape: 'box', size, pose: NONE }];
  return { parts, boxes: boxesOf(parts), pose: [...at, 0, 0, 0, 1], movable };
}

const TABLE = box([0.6, 1, 0.04], [0.6, 0, -0.17], false);

test('a new thing stands on the table, beside what is there', () => {
  const part = box([0.04, 0.04, 0.04], [0.5, 0, -0.13], true);
  const made = newObject('box', [TABLE, part], [0.5, 0, -0.13]);
  assert.ok(Math.abs(made.pose[2] - -0.13) < 1e-9);
  assert.ok(Math.hypot(made.pose[0] - 0.5, made.pose[1]) >= 0.07);
  assert.equal(made.movable, true);
});

test('a full table is no reason to put one thing into another', () => {
  const many = [];
  for (let x = 0; x < 1.3; x += 0.05) for (let y = -0.8; y < 0.8; y += 0.05) many.push(box([0.04, 0.04, 0.04], [x, y, -0.13], true));
  const [, , top] = freeSpot([TABLE, ...many], [0.6, 0, -0.13]);
  assert.ok(Math.abs(top - -0.11) < 1e-9, 'on top of all');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationOf, fingersAt, handovers, jointsAt, segmentAt } from '../../../../lfd_vr_bridge/web/js/motion.js';

const PLAN = {
  joints: ['a', 'b'],
  times: [0, 1, 3],
  q: [[0, 0], [1, 2], [3, 0]],
  segments: [
    { name: 'approach', keyframe: 0, first: 0, last: 1, attach: { object: 'box', link: 'tcp' }, detach: null, gripper: { finger: 0.02 } },
    { name: 'carry', keyframe: 1, first: 1, last: 2, attach: null, detach: { object: 'box', link: 'tcp' }, gripper: { finger: 0.04 } },
  ],
};

test('joints are straight between rows and stay at the ends', () => {
  assert.deepEqual(jointsAt(PLAN, -1), [0, 0]);
  assert.deepEqual(jointsAt(PLAN, 0.5), [0.5, 1]);
  assert.deepEqual(jointsAt(PLAN, 2), [2, 1]);
  assert.deepEqual(jointsAt(PLAN, 9), [3, 0]);
  assert.equal(durationOf(PLAN), 3);
});

test('segments, fingers and handovers by time', () => {
  assert.equal(segmentAt(PLAN, 0.5), 0);
  assert.equal(segmentAt(PLAN, 2), 1);
  assert.equal(segmentAt(PLAN, 9), 1);
  assert.deepEqual(fingersAt(PLAN, 2), { finger: 0.02 });
  assert.deepEqual(fingersAt(PLAN, 3), { finger: 0.04 });
  assert.deepEqual(handovers(PLAN).map(({ time, object, attach }) => [time, object, attach]), [[1, 'box', true], [3, 'box', false]]);
});

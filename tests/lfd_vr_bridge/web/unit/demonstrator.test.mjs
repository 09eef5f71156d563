import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refused } from '../../../../lfd_vr_bridge/web/js/connection.js';
import { Demonstrator } from '../../../../lfd_vr_bridge/web/js/demonstrator.js';
import { Store } from '../../../../lfd_vr_bridge/web/js/state.js';
import { connected } from './states.mjs';

const START = [0.4, 0, 0, 0, 0, 0, 1];
const THERE = [0.5, 0.1, 0, 0, 0, 0, 1];

/** A demonstrator whose bridge does what `bridge(frame)` gives or throws. */
function demonstrating(bridge) {
  const asked = [];
  const box = { name: 'box', pose: START };
  const connection = {
    open: true,
    request: async (type, fields) => {
      asked.push({ type, ...fields });
      return bridge({ type, ...fields }, connection);
    },
    say() {},
  };
  const toasts = [];
  const world = { get: () => box, move: (_, pose) => { box.pose = pose; } };
  const page = { connection, world, store: new Store(connected()), feedback: { held() {} }, toast: (_, text) => toasts.push(text), sound() {} };
  return { demonstrator: new Demonstrator(page), connection, asked, box, toasts };
}

test('a refused release puts the object back, here and at the bridge', async () => {
  const bridge = ({ type, pose }) => {
    if (type === 'release' && pose[0] === THERE[0]) throw new Refused('held', 'Not there.');
    return { pose, kept: false, reason: '' };
  };
  const { demonstrator, asked, box, toasts } = demonstrating(bridge);
  demonstrator.grab('box', 'mouse', null);
  demonstrator.carry('mouse', THERE);
  await demonstrator.release('mouse');
  assert.deepEqual(box.pose, START);
  assert.deepEqual(asked.map(({ type, pose }) => [type, pose[0]]), [['grab', 0.4], ['release', 0.5], ['release', 0.4]]);
  assert.deepEqual(toasts, ['Not there.']);
  assert.ok(!demonstrator.keeps('box'), 'what the bridge says of it counts again');
  assert.ok(demonstrator.grab('box', 'mouse', null), 'and it can be taken again');
});

test('a release that the connection did not survive is not asked for again', async () => {
  const { demonstrator, asked, box } = demonstrating(({ type, pose }, connection) => {
    if (type !== 'release') return { pose };
    connection.open = false;
    throw new Refused('offline', 'The connection was lost.');
  });
  demonstrator.grab('box', 'mouse', null);
  demonstrator.carry('mouse', THERE);
  await demonstrator.release('mouse');
  assert.deepEqual(box.pose, START);
  assert.equal(asked.filter(({ type }) => type === 'release').length, 1);
});

test('who holds by a device is told when the hold is gone: refused, or the link lost', async () => {
  const { demonstrator, box } = demonstrating(() => { throw new Refused('held', 'Somebody has it.'); });
  const gone = [];
  demonstrator.onGone((hand) => gone.push(hand));
  demonstrator.grab('box', 'mouse', null);
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual([gone, demonstrator.of('mouse')], [['mouse'], null]);
  const other = demonstrating(({ pose }) => ({ pose }));
  other.demonstrator.onGone((hand) => gone.push(hand));
  other.demonstrator.grab('box', 'left', START);
  other.demonstrator.carry('left', THERE);
  other.demonstrator.dropAll();
  assert.deepEqual([gone, other.box.pose, box.pose], [['mouse', 'left'], START, START]);
});

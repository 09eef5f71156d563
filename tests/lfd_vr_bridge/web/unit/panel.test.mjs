import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskName, trimmed } from '../../../../lfd_vr_bridge/web/js/actions.js';
import { clock, panelModel } from '../../../../lfd_vr_bridge/web/js/panel.js';
import { codeOf } from '../../../../lfd_vr_bridge/web/js/pairing.js';
import { initialState, Store } from '../../../../lfd_vr_bridge/web/js/state.js';
import { connected, STEPS } from './states.mjs';

/** Every button of a panel by its id. */
function buttons(model) {
  const rows = model.sections.flatMap((section) => section.rows);
  const items = rows.flatMap((row) => [...(row.items ?? []).flatMap((item) => [item, ...(item.actions ?? [])]), row.action, row.kind === 'toggle' ? row : null]);
  return new Map([...items.filter(Boolean), model.stop].map((item) => [item.id, item]));
}

test('stop is always there, and can be pressed by anybody who is connected', () => {
  for (const tab of ['task', 'library', 'more']) {
    const watching = connected({ tab, roster: { clients: [], demonstrator: 'c2', asking: [] } });
    assert.equal(panelModel(watching).stop.enabled, true);
  }
  assert.equal(panelModel(initialState()).stop.enabled, false);
  assert.match(panelModel(initialState()).stop.reason, /emergency stop/);
});

test('a button that cannot be pressed says why', () => {
  const states = [
    connected(), connected({ link: { state: 'lost', latency: null, message: '' } }), connected({ roster: { clients: [], demonstrator: null, asking: [] } }),
    connected({ recording: { state: 'recording', name: 't', keyframes: [], saved: false, since: 0 } }),
  ];
  for (const state of states) {
    for (const [id, item] of buttons(panelModel(state))) if (item.enabled === false && item.label) assert.ok(item.reason, id);
  }
  assert.equal(buttons(panelModel(states[0])).get('plan').reason, 'Record or open a task first');
});

test('who watches can ask, and who is asked can hand over', () => {
  const watching = connected({ me: 'c2' });
  assert.equal(buttons(panelModel(watching)).get('take_control').label, 'Ask for control');
  const asked = connected({ roster: { ...connected().roster, asking: ['c2'] } });
  assert.ok(buttons(panelModel(asked)).has('give_control:c2'));
});

test('the recording goes through its states, and steps that failed are marked', () => {
  const recording = { state: 'recording', name: 'stack', keyframes: STEPS, saved: false, since: 65 };
  const live = panelModel(connected({ recording }));
  assert.deepEqual(live.sections.map(({ id }) => id), ['record', 'steps', 'plan']);
  assert.equal(live.sections[1].rows[0].items[1].detail, '0.100  −0.200  0.300');
  const failed = { ok: false, robot: 'gp8', keyframe: 1, object: 'box', message: 'Out of reach.', suggestion: 'Nearer.' };
  const review = panelModel(connected({ recording: { ...recording, state: 'review' }, plan: failed }));
  assert.equal(review.sections[1].rows[0].items[1].tone, 'bad');
  assert.match(JSON.stringify(review.sections[2]), /Out of reach.*Nearer/);
});

test('a plan for another robot can be looked at, and not run', () => {
  const plan = { ok: true, robot: 'ur5e', times: [0, 1], q: [[0], [1]], segments: [], duration: 1, planning_time: 0.5 };
  const run = buttons(panelModel(connected({ plan }))).get('run');
  assert.equal(run.enabled, false);
  assert.match(run.reason, /gp8 is here/);
});

test('trimming keeps whole picks and places', () => {
  assert.deepEqual(trimmed(STEPS, { first: 0, last: 4 }, 'first', 1), { first: 2, last: 4 });
  assert.deepEqual(trimmed(STEPS, { first: 0, last: 4 }, 'last', -1), { first: 0, last: 1 });
  assert.deepEqual(trimmed(STEPS, { first: 2, last: 4 }, 'first', -1), { first: 0, last: 4 });
});

test('names, clocks and codes', () => {
  assert.equal(taskName('  Stack the boxes! '), 'Stack_the_boxes');
  assert.equal(clock(65.4), '1:05');
  assert.equal(codeOf('#code=123456'), '123456');
  assert.equal(codeOf('#code=12x456'), null);
});

test('listeners are told once for many updates', async () => {
  const store = new Store();
  let told = 0;
  store.subscribe(() => { told += 1; });
  store.update({ tab: 'more' });
  store.update({ tab: 'task' });
  await Promise.resolve();
  assert.equal(told, 1);
});

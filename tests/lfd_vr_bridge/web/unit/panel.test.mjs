import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buttonOf, clock, panelModel } from '../../../../lfd_vr_bridge/web/js/panel.js';
import { codeOf } from '../../../../lfd_vr_bridge/web/js/pairing.js';
import { initialState, restOf, Store } from '../../../../lfd_vr_bridge/web/js/state.js';
import { groupsOf, trimmed } from '../../../../lfd_vr_bridge/web/js/trimming.js';
import { connected, PLAN, STEPS } from './states.mjs';

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

test('trimming keeps whole picks and places, and offers nothing else', () => {
  assert.deepEqual(groupsOf(STEPS), [[0, 1], [2, 4]]);
  assert.deepEqual(groupsOf([{ kind: 'wait' }, ...STEPS, { kind: 'io' }]), [[0, 0], [1, 2], [3, 5], [6, 6]]);
  assert.deepEqual(trimmed(STEPS, { first: 0, last: 4 }, 'first', 1), { first: 2, last: 4 });
  assert.deepEqual(trimmed(STEPS, { first: 0, last: 4 }, 'last', -1), { first: 0, last: 1 });
  assert.deepEqual(trimmed(STEPS, { first: 2, last: 4 }, 'first', -1), { first: 0, last: 4 });
  const paths = [...STEPS.slice(2), ...STEPS.slice(2), ...STEPS.slice(2)]; // three picks with the way to their places
  const whole = new Set(groupsOf(paths).flatMap(([first]) => groupsOf(paths).filter(([begin]) => begin >= first).map(([, last]) => `${first} ${last}`)));
  const seen = new Set();
  const visit = (trim) => {
    const key = `${trim.first} ${trim.last}`;
    if (seen.has(key)) return;
    seen.add(key);
    assert.ok(whole.has(key), key);
    const recording = { state: 'review', name: 't', keyframes: paths, saved: false, since: 0 };
    const offered = buttons(panelModel(connected({ recording, trim })));
    for (const end of ['first', 'last']) {
      for (const [sign, way] of [['-', -1], ['+', 1]]) if (offered.get(`trim:${end}:${sign}`).enabled) visit(trimmed(paths, trim, end, way));
    }
  };
  visit({ first: 0, last: paths.length - 1 });
  assert.deepEqual(seen, whole, 'every whole range can be chosen');
});

test('keys ask the panel whether they may', () => {
  const recording = { state: 'review', name: 't', keyframes: STEPS, saved: false, since: 0 };
  assert.equal(buttonOf(connected({ recording }), 'plan').enabled, true);
  assert.equal(buttonOf(connected({ recording, plan: PLAN, execution: { state: 'running' } }), 'plan').enabled, false);
  assert.match(buttonOf(connected({ execution: { state: 'running' } }), 'start_recording').reason, /moving/);
  assert.equal(buttonOf(connected({ recording }), 'start_recording'), undefined, 'what is under review is not lost by a key');
});

test('a run that was broken off can go on, while the task is the same', () => {
  const recording = { state: 'review', name: 't', keyframes: STEPS, saved: false, since: 0 };
  assert.equal(restOf({ ok: false, next_keyframe: 2 }, recording), 2);
  assert.equal(restOf({ ok: true, next_keyframe: 5 }, recording), null);
  assert.equal(restOf({ ok: false, next_keyframe: 0 }, recording), null);
  const executed = { ok: false, message: 'The robot was stopped.', next_keyframe: 2 };
  const stopped = connected({ recording, plan: PLAN, execution: { state: 'running' }, executed, goOn: 2 });
  assert.equal(buttons(panelModel(stopped)).get('go_on').label, 'Go on from step 3');
  assert.equal(buttons(panelModel(stopped)).get('run').enabled, true);
  assert.ok(!buttons(panelModel({ ...stopped, goOn: null })).has('go_on'));
  assert.ok(!buttons(panelModel({ ...stopped, plan: null, goOn: null })).has('run'));
});

test('the library shows versions and files of the task that is asked for', () => {
  const tasks = [{ name: '积木 a', version: 3, versions: [1, 2, 3], keyframes: 4, objects: [], changed: '2026-01-01T00:00:00', problem: '', bundled: false }];
  const closed = buttons(panelModel(connected({ tab: 'library', tasks })));
  assert.ok(closed.has('open_task:积木 a') && !closed.has('delete_task:积木 a'));
  const opened = buttons(panelModel(connected({ tab: 'library', tasks, shownTask: '积木 a' })));
  for (const id of ['download:积木 a', 'download_log:积木 a/1', 'open_task:积木 a/2', 'rename_task:积木 a', 'delete_task:积木 a']) assert.ok(opened.has(id), id);
});

test('clocks and codes', () => {
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

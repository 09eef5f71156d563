import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Actions, versioned } from '../../../../lfd_vr_bridge/web/js/actions.js';
import { Refused } from '../../../../lfd_vr_bridge/web/js/connection.js';
import { Store } from '../../../../lfd_vr_bridge/web/js/state.js';
import { connected, PLAN, STEPS } from './states.mjs';

/** A page whose bridge answers what `answers` has for a type, or refuses. */
function page(patch = {}, answers = {}) {
  const asked = [];
  const toasts = [];
  const connection = {
    request: async (type, fields = {}) => {
      asked.push({ type, ...fields });
      if (answers[type] instanceof Error) throw answers[type];
      return answers[type] ?? {};
    },
  };
  const ghost = { hide() {}, pause() {}, play() {}, scrub() {} };
  const made = { connection, store: new Store(connected(patch)), ghost, toasts: { done() {} }, toast: (...words) => toasts.push(words), downloads: [] };
  made.download = (...file) => made.downloads.push(file);
  return { page: made, actions: new Actions(made), asked, toasts };
}

const review = (name) => ({ state: 'review', name, keyframes: STEPS, saved: false, since: 0 });

test('a task is saved under the name that was typed, in any alphabet', async () => {
  const typed = page({ recording: review('demonstration_1'), taskName: '  积木 стопка ' }, { save: { name: '积木 стопка', version: 1 } });
  await typed.actions.press('save');
  assert.deepEqual(typed.asked, [{ type: 'save', name: '积木 стопка' }]);
  const opened = page({ recording: review('my stack') }, { save: { name: 'my stack', version: 2 } });
  await opened.actions.press('save');
  assert.equal(opened.asked[0].name, 'my stack');
  const nameless = page({ recording: review(''), taskName: '  ' });
  await nameless.actions.press('save');
  assert.deepEqual([nameless.asked, nameless.toasts[0][0]], [[], 'warning']);
});

test('what was deleted can be taken back from its toast', async () => {
  const { actions, asked, toasts } = page();
  await actions.press('delete_task:my stack');
  assert.deepEqual(asked, [], 'it is asked first');
  await actions.press('delete_task:my stack');
  const [, text, action] = toasts[0];
  assert.match(text, /my stack/);
  await actions.press(action.id);
  assert.deepEqual(asked.map(({ type, name }) => [type, name]), [['delete_task', 'my stack'], ['restore_task', 'my stack']]);
});

test('versions are opened and downloaded by their number', async () => {
  assert.deepEqual(versioned('a@2'), { name: 'a@2', version: null });
  const { page: made, actions, asked } = page();
  await actions.press('open_task:my stack/2');
  await actions.press('open_task:my stack');
  assert.deepEqual(asked, [{ type: 'open_task', name: 'my stack', version: 2 }, { type: 'open_task', name: 'my stack' }]);
  await actions.press('download_log:my stack/2');
  await actions.press('download:my stack');
  assert.deepEqual(made.downloads, [['my stack', 'mcap', 2], ['my stack', 'mtdf.yaml', null]]);
});

test('going on names the step, and a refused run does not look like one', async () => {
  const executed = { ok: false, message: 'Stopped.', next_keyframe: 2 };
  const patch = { plan: PLAN, execution: { state: 'running' }, executed, goOn: 2 };
  const good = page(patch);
  await good.actions.press('go_on');
  assert.deepEqual(good.asked, [{ type: 'run', first_keyframe: 2 }]);
  const { page: made, actions, toasts } = page(patch, { run: new Refused('no_plan', 'Plan first.') });
  await actions.press('run');
  assert.deepEqual([made.store.state.execution, toasts[0][1]], [null, 'Plan first.']);
});

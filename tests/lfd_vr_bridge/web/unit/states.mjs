/** States of the page for tests: somebody who has control of a gp8, and all that a panel can be asked to show. */

import { initialState } from '../../../../lfd_vr_bridge/web/js/state.js';

export const STEPS = ['pick', 'place', 'pick', 'trajectory', 'place'].map((kind, index) => ({
  index, kind, object: 'box', pose: kind === 'place' ? [0.1, -0.2, 0.3, 0, 0, 0, 1] : null,
}));

export function connected(patch = {}) {
  const state = { ...initialState(), me: 'c1', robots: ['gp8', 'ur5e'], robot: { name: 'gp8' }, tasks: [] };
  state.link = { state: 'open', latency: 12, message: '' };
  state.roster = { clients: [{ client: 'c1', name: 'A' }, { client: 'c2', name: 'B' }], demonstrator: 'c1', asking: [] };
  return { ...state, ...patch };
}

export const PLAN = { ok: true, robot: 'gp8', times: [0, 1], q: [[0], [1]], segments: [], duration: 1, planning_time: 0.5 };
const LONG = 'No grasp reaches the place: every one of them is out of reach, collides with the table or with the fixture. ';
export const FAILED = { ok: false, robot: 'gp8', keyframe: 1, object: 'box', message: LONG.repeat(8), suggestion: 'Put it 6 cm nearer.' };

function many(count, make) {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Every kind of thing that the board in a headset has to show, by name. */
export function headsetStates() {
  const tasks = many(12, (index) => ({
    name: `task ${index}`, version: 3, versions: [1, 2, 3], keyframes: 4, objects: [], changed: '2026-01-01T00:00:00', problem: index === 2 ? 'It is damaged.' : '', bundled: index === 0,
  }));
  const long = many(40, (index) => ({ ...STEPS[index % 2], index }));
  const recording = { state: 'recording', name: 'stack', keyframes: long, saved: false, since: 65 };
  const review = { ...recording, state: 'review' };
  const crowd = { clients: many(9, (index) => ({ client: `c${index + 1}`, name: `Device ${index + 1}` })), demonstrator: 'c1', asking: ['c3', 'c4', 'c5'] };
  const running = { state: 'running', keyframe: 1, segment: 'transfer', progress: 0.4 };
  const stopped = { ok: false, message: 'The robot was stopped.', next_keyframe: 2, code: -7 };
  const quality = { score: 42, keyframes: [], reasons: many(9, (index) => `Step ${index + 1} is hard to reach.`) };
  const toast = { level: 'info', text: 'Deleted stack.', action: { id: 'restore_task:stack', label: 'Undo', icon: 'undo', tone: 'plain', enabled: true, reason: '' } };
  const patches = {
    idle: {}, recording: { recording }, review: { recording: review }, saved: { recording: { ...review, saved: true } },
    nothing: { recording: { ...recording, keyframes: [] } }, asked: { roster: crowd }, watching: { me: 'c2' }, lost: { link: { state: 'lost', latency: null, message: '' } },
    checked: { recording: review, quality }, trimming: { recording: review, trim: { first: 0, last: 39 } }, planning: { recording: review, planning: { robot: 'gp8', keyframe: 0, keyframes: 2, stage: 'connect' } },
    planned: { recording: review, plan: PLAN }, failed: { recording: review, plan: FAILED }, running: { recording: review, plan: PLAN, execution: running },
    paused: { recording: review, plan: PLAN, execution: { ...running, state: 'paused' } },
    stopped: { recording: review, plan: PLAN, execution: running, executed: stopped, goOn: 2 },
    held: { touched: 'blue_box', invite: '123456', roster: crowd, confirm: 'remove_object:blue_box' },
    library: { tasks }, opened: { tasks, shownTask: 'task 1' }, typing: { typing: { label: 'Name', text: 'stack', task: null } }, told: { toast, recording: review },
  };
  const states = {};
  for (const [name, patch] of Object.entries(patches)) {
    for (const tab of ['task', 'run', 'library', 'more', 'view']) {
      states[`${name}, ${tab}`] = connected({ tasks: tasks.slice(0, 2), objects: 5, ...patch, tab, xr: { supported: true, presenting: true } });
    }
  }
  return states;
}

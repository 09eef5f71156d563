/**
 * The panel as a value: what it says and which buttons it has, made of the state. Pure.
 *
 * The page draws it as HTML (panel_html.js), a headset as a picture in the world (panel_world.js); a pressed button is one
 * action, by its id, in both (actions.js). A button that cannot be pressed says why.
 */

import { KINDS } from './adding.js';
import { durationOf, segmentAt } from './motion.js';
import { isDemonstrator, isRunning, nameOf } from './state.js';
import { trimmed } from './trimming.js';

const KIND = {
  pick: ['pick', 'Pick'], place: ['place', 'Place'], trajectory: ['path', 'Follow path'], wait: ['clock', 'Wait'], io: ['plug', 'Signal'],
};

export function panelModel(state, now = 0) {
  const parts = state.typing && state.xr.presenting ? [keyboard(state)] : sectionsOf(state, now);
  const sections = parts.filter(Boolean);
  return { status: statusOf(state), toast: state.toast, tabs: tabsOf(state), sections, view: viewButtons(state), stop: stopButton(state) };
}

/** A button of the panel as it is shown in a state, by its id; undefined if there is none. */
export function buttonOf(state, id) {
  const rows = panelModel(state).sections.flatMap((section) => section.rows);
  return rows.flatMap((row) => row.items ?? []).find((item) => item.id === id);
}

// Pieces ----------------------------------------------------------------------------------------------------------------

const button = (id, label, icon, more = {}) => ({ id, label, icon, tone: 'plain', enabled: true, reason: '', pressed: false, ...more });
const row = (...items) => ({ kind: 'buttons', items: items.filter(Boolean) });
const text = (words, tone = 'quiet') => ({ kind: 'text', text: words, tone });
const notice = (tone, title, words = '', detail = '') => ({ kind: 'notice', tone, title, text: words, detail });

/** Buttons that change something: only for who has control, and while connected. */
function guard(state, item, reason = '') {
  let why = reason;
  if (state.link.state !== 'open') why = 'Not connected';
  else if (!isDemonstrator(state)) why = 'Take control first';
  return why ? { ...item, enabled: false, reason: why } : item;
}

/** A button that must be pressed twice. */
function twice(state, item, question) {
  return state.confirm === item.id ? { ...item, label: question, tone: 'danger' } : item;
}

function statusOf(state) {
  const { state: link, latency } = state.link;
  const words = { open: latency === null ? 'Connected' : `${Math.max(1, Math.round(latency))} ms`, connecting: 'Connecting…', pairing: 'Not paired', lost: 'Reconnecting…' };
  let tone = link === 'open' ? 'good' : 'bad';
  if (link === 'open' && latency > 100) tone = 'hard';
  if (link === 'connecting') tone = 'hard';
  return { title: state.robot?.name ?? 'No robot', link: words[link], tone };
}

function tabsOf(state) {
  const shown = ['run', 'view'].includes(state.tab) && !state.xr.presenting ? 'task' : state.tab;
  const tab = (name, label, icon) => button(`tab:${name}`, label, icon, { pressed: shown === name });
  const tabs = [tab('task', 'Task', 'hand'), tab('library', 'Library', 'library'), tab('more', 'Settings', 'settings')];
  // The board in a headset has less room: what follows a recording has a tab of its own there.
  if (state.xr.presenting) tabs.splice(1, 0, tab('run', 'Run', 'play'));
  return tabs;
}

function stopButton(state) {
  const offline = state.link.state !== 'open';
  return button('stop', 'Stop', 'stop', {
    tone: 'stop', enabled: !offline, reason: offline ? 'Not connected: use the emergency stop of the cell' : '',
  });
}

function sectionsOf(state, now) {
  if (state.tab === 'library') return [controlSection(state), librarySection(state)];
  if (state.tab === 'more') return [controlSection(state), settingsSection(state), objectsSection(state), peopleSection(state)];
  if (state.tab === 'view' && state.xr.presenting) return [viewSection()];
  if (!state.xr.presenting) return [controlSection(state), recordSection(state, now), stepsSection(state), planSection(state)];
  if (state.tab === 'run') return [controlSection(state), planSection(state), stepsSection(state)];
  return [controlSection(state), recordSection(state, now), stepsSection(state)];
}

// Control ---------------------------------------------------------------------------------------------------------------

function controlSection(state) {
  const { demonstrator, asking } = state.roster;
  if (state.link.state === 'lost') {
    return { id: 'control', rows: [notice('bad', 'Connection lost', 'Reconnecting by itself. What was recorded is kept.', state.link.message)] };
  }
  if (state.link.state !== 'open') return null;
  if (isDemonstrator(state)) {
    const rows = asking.filter((client) => client !== state.me).flatMap((client) => [
      notice('accent', `${nameOf(state, client)} asks for control`),
      row(button(`give_control:${client}`, 'Hand over', 'people', { tone: 'primary' })),
    ]);
    return rows.length ? { id: 'control', rows } : null;
  }
  const words = demonstrator === null ? 'Nobody has control' : `${nameOf(state, demonstrator)} has control`;
  const asked = asking.includes(state.me);
  const label = demonstrator === null ? 'Take control' : 'Ask for control';
  return {
    id: 'control',
    rows: [
      notice('accent', words, 'You are watching.'),
      row(button('take_control', asked ? 'Asked, waiting…' : label, 'hand', { tone: 'primary', enabled: !asked, reason: asked ? 'Waiting for an answer' : '' })),
    ],
  };
}

// Recording -------------------------------------------------------------------------------------------------------------

export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

function recordSection(state, now) {
  const { recording } = state;
  if (recording.state === 'recording') return recordingSection(state, now);
  if (recording.state === 'review') return reviewSection(state);
  const start = button('start_recording', 'Start recording', 'record', { tone: 'primary' });
  return {
    id: 'record',
    title: 'Demonstrate',
    rows: [
      text('Show the task once: grab objects and put them where they belong.'),
      row(guard(state, start, isRunning(state) ? 'The robot is moving' : '')),
      row(guard(state, button('reset_scene', 'Put objects back', 'reset', { tone: 'quiet' }))),
    ],
  };
}

function recordingSection(state, now) {
  const { recording } = state;
  const since = recording.since + Math.max(0, now - state.recordingAt) / 1000;
  const steps = recording.keyframes.length;
  const nothing = steps === 0;
  return {
    id: 'record',
    title: 'Recording',
    live: true,
    rows: [
      { kind: 'facts', items: [{ label: recording.name || 'New task', value: clock(since), tone: 'live' }, { label: 'Steps', value: String(steps) }] },
      row(guard(state, button('complete_recording', 'Complete', 'check', { tone: 'primary' }), nothing ? 'Move an object first' : '')),
      row(
        guard(state, button('undo', 'Undo', 'undo'), nothing ? 'Nothing to undo' : ''),
        guard(state, twice(state, button('discard_recording', 'Discard', 'trash'), 'Really discard?')),
      ),
    ],
  };
}

function reviewSection(state) {
  const { recording, quality, trim } = state;
  const rows = [
    { kind: 'field', id: 'task_name', label: 'Name', value: state.taskName || recording.name, placeholder: 'stack_boxes', enabled: isDemonstrator(state) },
    row(
      guard(state, button('save', recording.saved ? 'Saved' : 'Save', recording.saved ? 'check' : 'save', { tone: recording.saved ? 'plain' : 'primary' })),
      guard(state, button('undo', 'Undo', 'undo'), recording.keyframes.length ? '' : 'Nothing to undo'),
    ),
    trim ? trimRow(state, trim) : row(
      guard(state, button('trim:begin', 'Trim', 'trim'), recording.keyframes.length > 2 ? '' : 'Too short to trim'),
      button('assess', 'Check', 'gauge'),
    ),
    row(
      guard(state, twice(state, button('discard_recording', 'Close', 'close', { tone: 'quiet' }), recording.saved ? 'Close it?' : 'Close unsaved?')),
      guard(state, button('reset_scene', 'Objects back', 'reset', { tone: 'quiet' })),
    ),
  ];
  if (quality) rows.splice(3, 0, qualityNotice(quality));
  if (state.xr.presenting) rows.push(row(button('tab:run', 'Plan and run', 'plan', { tone: recording.saved ? 'primary' : 'plain' })));
  return { id: 'record', title: 'Review', rows };
}

function trimRow(state, trim) {
  const steps = state.recording.keyframes;
  const name = (index) => `${index + 1} ${KIND[steps[index]?.kind]?.[1] ?? ''}`.trim();
  const step = (end, way, icon, hint) => {
    const to = trimmed(steps, trim, end, way === '+' ? 1 : -1);
    const moves = to.first !== trim.first || to.last !== trim.last;
    return button(`trim:${end}:${way}`, '', icon, { enabled: moves, reason: moves ? '' : 'There is no more', hint });
  };
  return {
    kind: 'trim',
    text: `Keep steps ${name(trim.first)} to ${name(trim.last)}`,
    items: [
      step('first', '-', 'up', 'Begin earlier'), step('first', '+', 'down', 'Begin later'),
      step('last', '-', 'up', 'End earlier'), step('last', '+', 'down', 'End later'),
      button('trim:apply', 'Trim', 'check', { tone: 'primary' }),
      button('trim:cancel', 'Cancel', 'close', { tone: 'quiet' }),
    ],
  };
}

function qualityNotice({ score, reasons = [] }) {
  let tone = 'good';
  if (score < 70) tone = 'hard';
  if (score < 30) tone = 'bad';
  return notice(tone, `Quality ${score} of 100`, reasons.length ? reasons.join(' ') : 'Every step can be reached and grasped.');
}

// Steps -----------------------------------------------------------------------------------------------------------------

const coordinates = (pose) => pose.slice(0, 3).map((value) => value.toFixed(3).replace('-', '−')).join('  ');

function stepsSection(state) {
  const { recording, plan, execution, trim } = state;
  if (recording.state === 'idle' && !recording.keyframes.length) return null;
  const failed = plan && !plan.ok ? plan.keyframe : -1;
  const running = isRunning(state) ? execution.keyframe : shownKeyframe(state);
  const items = recording.keyframes.map((keyframe, index) => {
    const [icon, word] = KIND[keyframe.kind] ?? ['info', keyframe.kind];
    const judged = state.quality?.keyframes?.find((entry) => entry.index === index);
    let tone = judged && judged.reach !== 'good' ? judged.reach : '';
    if (index === failed) tone = 'bad';
    return {
      id: `step:${index}`, title: `${word} ${keyframe.object ?? ''}`.trim(), detail: keyframe.pose && keyframe.kind === 'place' ? coordinates(keyframe.pose) : '',
      icon, number: index + 1, tone, selected: index === running, muted: Boolean(trim) && (index < trim.first || index > trim.last),
    };
  });
  const rows = [{ kind: 'list', id: 'steps', items, empty: 'No steps yet. Grab an object.', atEnd: recording.state === 'recording' }];
  return { id: 'steps', title: 'Steps', count: items.length, rows };
}

function shownKeyframe({ plan, ghost }) {
  if (!plan?.ok || !plan.segments?.length) return -1;
  return ghost.time > 0 ? plan.segments[segmentAt(plan, ghost.time)].keyframe : -1;
}

// Plan and run ----------------------------------------------------------------------------------------------------------

function planSection(state) {
  const { recording, planning, plan, robots } = state;
  const chosen = state.robotChoice ?? state.robot?.name ?? null;
  const rows = [];
  if (robots.length > 1) {
    rows.push({ kind: 'choice', id: 'robot', label: 'Robot', value: chosen, options: robots.map((name) => ({ value: name, label: name === state.robot?.name ? `${name} (here)` : name })) });
  }
  let why = '';
  if (recording.state === 'recording') why = 'Complete the recording first';
  else if (!recording.keyframes.length) why = 'Record or open a task first';
  else if (isRunning(state)) why = 'The robot is moving';
  else if (planning) why = 'Planning';
  const again = plan && !planning;
  rows.push(row(guard(state, button('plan', again ? 'Plan again' : 'Plan', 'plan', { tone: again ? 'plain' : 'primary' }), why)));
  if (planning) rows.push(planningRow(planning));
  if (plan && !planning) rows.push(...planRows(state, plan));
  rows.push(...runRows(state));
  return { id: 'plan', title: 'Plan and run', rows };
}

function planningRow({ keyframe = 0, keyframes = 0, stage = '', robot = '' }) {
  const value = keyframes > 0 ? Math.min(1, (keyframe + 0.5) / keyframes) : null;
  return { kind: 'progress', value, text: `Planning for ${robot}: step ${keyframe + 1} of ${Math.max(keyframes, 1)} ${stage}`.trim() };
}

function planRows(state, plan) {
  if (!plan.ok) return [notice('bad', failureTitle(plan), plan.message, plan.suggestion)];
  const { time, playing } = state.ghost;
  const duration = plan.duration ?? durationOf(plan);
  const play = playing
    ? button('ghost:pause', '', 'pause', { hint: 'Pause the preview' })
    : button('ghost:play', '', 'play', { hint: 'Play the preview' });
  return [
    { kind: 'facts', items: [{ label: 'Motion', value: `${duration.toFixed(1)} s` }, { label: 'Planned in', value: `${(plan.planning_time ?? 0).toFixed(1)} s` }] },
    { kind: 'slider', id: 'scrub', value: time, max: duration, label: `${time.toFixed(1)} s`, action: play },
  ];
}

/** While the robot moves, how far it is; else what can be run, and what came of it the last time. */
function runRows(state) {
  const { plan, execution, executed, goOn } = state;
  if (isRunning(state)) {
    const paused = execution.state === 'paused';
    const item = paused ? button('resume', 'Resume', 'play', { tone: 'primary' }) : button('pause', 'Pause', 'pause', { tone: 'primary' });
    return [
      { kind: 'progress', value: execution.progress ?? null, text: paused ? 'Paused' : `Running: ${execution.segment || execution.state}` },
      row(guard(state, item)),
    ];
  }
  const rows = [];
  if (executed) rows.push(executed.ok ? notice('good', 'Done', executed.message) : notice('bad', 'Stopped', executed.message));
  const why = state.planning ? 'Planning' : '';
  const buttons = [];
  if (goOn !== null) buttons.push(guard(state, button('go_on', `Go on from step ${goOn + 1}`, 'play', { tone: 'primary' }), why));
  if (plan?.ok) {
    const elsewhere = plan.robot !== state.robot?.name ? `${state.robot?.name ?? 'Another robot'} is here, not ${plan.robot}` : '';
    buttons.push(guard(state, button('run', goOn === null ? 'Run' : 'Run from the start', 'play', { tone: goOn === null ? 'primary' : 'plain' }), why || elsewhere));
  }
  if (buttons.length) rows.push(row(...buttons));
  return rows;
}

function failureTitle({ keyframe, object }) {
  const where = keyframe >= 0 ? `Step ${keyframe + 1}` : 'The task';
  return object ? `${where}, ${object}, cannot be done` : `${where} cannot be done`;
}

// Library ---------------------------------------------------------------------------------------------------------------

const VERSIONS = 20; // at most on show

function librarySection(state) {
  const tasks = state.tasks ?? [];
  const items = tasks.flatMap((task) => [taskItem(state, task), ...(state.shownTask === task.name ? versionItems(state, task) : [])]);
  const rows = [{ kind: 'list', id: 'tasks', items, empty: state.tasks === null ? 'Loading…' : 'No tasks yet. Record one, then save it.' }];
  if (state.typing && !state.xr.presenting) {
    const action = button('typing:done', 'Rename', 'check', { tone: 'primary' });
    rows.push({ kind: 'field', id: 'typing', label: state.typing.label, value: state.typing.text, placeholder: '', enabled: true, action });
  }
  return { id: 'library', title: 'Library', count: tasks.length, rows };
}

function taskItem(state, task) {
  const { name, problem, bundled } = task;
  const about = bundled ? 'example' : `version ${task.version} · ${task.changed.slice(0, 16).replace('T', ' ')}`;
  return {
    id: `task:${name}`, icon: problem ? 'warning' : 'hand', title: name, tone: problem ? 'bad' : '',
    detail: problem || `${task.keyframes} steps · ${about}`,
    selected: state.recording.name === name && state.recording.state === 'review',
    actions: [
      guard(state, button(`open_task:${name}`, 'Open', 'eye'), cannotOpen(state, problem)),
      button(`show_task:${name}`, '', 'more', { hint: 'Versions, files, rename, delete', pressed: state.shownTask === name }),
    ],
  };
}

function cannotOpen(state, problem = '') {
  if (problem) return 'The file is damaged';
  return state.recording.state === 'recording' ? 'Complete the recording first' : '';
}

/** What else a task has: its files, what can be done with it, and its older versions. */
function versionItems(state, { name, version, versions, bundled }) {
  const files = (which) => (state.xr.presenting ? [] : [
    button(`download:${which}`, '', 'download', { hint: 'Download the task' }), button(`download_log:${which}`, '', 'log', { hint: 'Download the log of the demonstration (MCAP)' }),
  ]);
  const own = [
    guard(state, button(`rename_task:${name}`, '', 'edit', { hint: 'Rename' })),
    guard(state, twice(state, button(`delete_task:${name}`, '', 'trash', { hint: 'Delete' }), 'Delete?')),
  ];
  const inner = (number, title, actions) => ({ id: `version:${name}/${number}`, icon: 'clock', title, inner: true, actions });
  const older = [...versions].filter((number) => number !== version).sort((a, b) => b - a).slice(0, VERSIONS);
  return [
    inner(version, bundled ? 'Example' : `Version ${version}`, [...files(name), ...(bundled ? [] : own)]),
    ...older.map((number) => inner(number, number ? `Version ${number}` : 'Example', [
      guard(state, button(`open_task:${name}/${number}`, 'Open', 'eye'), cannotOpen(state)), ...files(`${name}/${number}`),
    ])),
  ];
}

// Settings and people -----------------------------------------------------------------------------------------------------

function settingsSection(state) {
  const toggle = (name, label, detail) => guard(state, { kind: 'toggle', id: `setting:${name}`, label, detail, on: state.settings[name], enabled: true, reason: '' });
  return {
    id: 'settings',
    title: 'Objects in the hand',
    rows: [
      toggle('snap', 'Snap', 'Align with the surface it is put on'),
      toggle('gravity', 'Gravity', 'Come to rest on what is below'),
      toggle('keep_paths', 'Keep the path', 'Record how it was moved, not only where to'),
      { kind: 'toggle', id: 'local:sounds', label: 'Sounds', detail: 'On this device', on: state.sounds, enabled: true, reason: '' },
    ],
  };
}

function objectsSection(state) {
  const recording = state.recording.state === 'recording' ? 'Complete the recording first' : '';
  const add = (kind) => guard(state, button(`add_object:${kind}`, KINDS[kind], 'add'), recording);
  const rows = [row(...Object.keys(KINDS).map(add))];
  if (state.touched) {
    const remove = button(`remove_object:${state.touched}`, `Remove ${state.touched}`, 'trash', { tone: 'quiet' });
    rows.push(row(guard(state, twice(state, remove, `Really remove ${state.touched}?`), recording)));
  }
  return { id: 'objects', title: 'Objects', count: state.objects, rows };
}

/** What a person in a headset needs whatever the board shows. */
function viewButtons(state) {
  if (!state.xr.presenting) return [];
  return [
    button('tab:view', 'Move about', 'nearer', { pressed: state.tab === 'view' }),
    button('view:reset', 'Stand in front', 'reset', { tone: 'quiet' }),
    button('view:leave', 'Leave VR', 'headset', { tone: 'quiet' }),
  ];
}

function viewSection() {
  return {
    id: 'view',
    title: 'Where you stand',
    rows: [
      row(button('view:left', 'Turn', 'turn_left'), button('view:nearer', 'Nearer', 'nearer'), button('view:right', 'Turn', 'turn_right')),
      row(button('view:down', 'Lower', 'down'), button('view:farther', 'Farther', 'farther'), button('view:up', 'Higher', 'up')),
      text('Thumbsticks do the same. Drag the board by its head.'),
    ],
  };
}

function peopleSection(state) {
  const { clients, demonstrator } = state.roster;
  const items = clients.map(({ client, name }) => ({
    id: `client:${client}`, icon: client === demonstrator ? 'hand' : 'eye', title: client === state.me ? `${name} (you)` : name,
    detail: client === demonstrator ? 'has control' : 'watching', selected: client === state.me,
    actions: isDemonstrator(state) && client !== state.me ? [button(`give_control:${client}`, 'Hand over', 'people')] : [],
  }));
  const rows = [{ kind: 'list', id: 'people', items, empty: 'Nobody is here.' }];
  if (isDemonstrator(state)) rows.push(row(button('give_control', 'Give control away', 'people', { tone: 'quiet' })));
  if (state.invite) rows.push(notice('accent', state.invite, 'Type this code on the other device. It is good once.'));
  const others = demonstrator !== null && !isDemonstrator(state) ? 'Only who has control adds devices' : '';
  rows.push(row(button('invite', 'Add a device', 'add', { enabled: !others, reason: others })));
  return { id: 'people', title: 'People', count: clients.length, rows };
}

// Keyboard, for a headset -----------------------------------------------------------------------------------------------

function keyboard({ typing }) {
  const keys = (letters) => ({ kind: 'buttons', keys: true, items: [...letters].map((letter) => button(`key:${letter}`, letter, null, { tone: 'key' })) });
  return {
    id: 'keyboard',
    title: typing.label,
    rows: [
      { kind: 'facts', items: [{ label: `${typing.text}▏`, value: '' }] },
      keys('1234567890'), keys('qwertyuiop'), keys('asdfghjkl_'), keys('zxcvbnm-'),
      row(button('key: ', 'Space', null, { tone: 'key' }), button('key:⌫', 'Delete', 'undo'), button('typing:cancel', 'Cancel', 'close', { tone: 'quiet' }), button('typing:done', 'OK', 'check', { tone: 'primary' })),
    ],
  };
}

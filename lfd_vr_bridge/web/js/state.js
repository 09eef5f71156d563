/**
 * What the page knows, in one place. Whoever shows something subscribes; whoever learns something calls `update`.
 *
 * Listeners are told once for all updates of a turn of the event loop.
 */

export const initialState = () => ({
  link: { state: 'connecting', latency: null, message: '' }, // connecting | pairing | open | lost
  me: null,
  name: '',
  robots: [],
  settings: { snap: true, gravity: true, keep_paths: false },
  roster: { clients: [], demonstrator: null, asking: [] },
  robot: null,
  objects: 0,
  recording: { state: 'idle', name: '', keyframes: [], saved: false, since: 0 },
  recordingAt: 0, // performance.now() of that news, for the clock
  tasks: null,
  quality: null,
  planning: null,
  plan: null,
  execution: null,
  executed: null,
  goOn: null, // the keyframe from which a broken-off run can go on
  holds: [], // [{object, hand, reach, reason}]
  ghost: { time: 0, playing: false, shown: true },
  xr: { supported: null, presenting: false },
  // What only this page knows
  tab: 'task',
  robotChoice: null,
  taskName: '',
  trim: null,
  confirm: null,
  typing: null,
  invite: null,
  shownTask: null, // the task of the library whose versions are shown
  touched: null, // the object that was held or added last
  scroll: {}, // of the board in a headset: its page, and where its lists begin
  toast: null, // {level, text, action}: the newest
  sounds: false,
});

export class Store {
  #listeners = new Set();
  #told = true;

  constructor(state = initialState()) {
    this.state = state;
  }

  /** Take over the fields of `patch`. */
  update(patch) {
    Object.assign(this.state, patch);
    if (!this.#told) return;
    this.#told = false;
    queueMicrotask(() => {
      this.#told = true;
      for (const listener of this.#listeners) listener(this.state);
    });
  }

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export const isDemonstrator = (state) => state.me !== null && state.roster.demonstrator === state.me;

/** The name of a client of the roster, for people. */
export const nameOf = (state, client) =>
  state.roster.clients.find((entry) => entry.client === client)?.name ?? 'Somebody';

/** Whether the robot executes something just now. */
export const isRunning = (state) => state.execution !== null && state.executed === null;

/** The keyframe from which a run that was broken off can go on, or null: none was done, or all were. */
export function restOf({ ok, next_keyframe: next }, { keyframes }) {
  return !ok && next > 0 && next < keyframes.length ? next : null;
}

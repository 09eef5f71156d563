/**
 * What buttons do, by id: `plan`, `undo`, `robot:ur5e`, `delete_task:NAME` ... the same for mouse, keys and headset.
 */

import { newObject } from './adding.js';
import { Refused } from './connection.js';
import { trimmed } from './trimming.js';

const ASK_TWICE = new Set(['discard_recording', 'delete_task', 'remove_object']);
const FORGET = 4000; // [ms] until a question is taken back

export class Actions {
  #pending = new Set();
  #question = null;

  /** `page` gives: connection, store, world, ghost, toasts, toast(level, text), view(step), download(name, file, version). */
  constructor(page) {
    this.page = page;
    this.table = { ...this.#recording(), ...this.#library(), ...this.#motion(), ...this.#people(), ...this.#panel() };
  }

  /** Press a button; what the bridge refuses becomes a toast. */
  async press(id) {
    const [verb, ...rest] = id.split(':');
    const argument = rest.join(':');
    if (this.#asks(id, verb)) return;
    // A second press while the first is under way would do it twice; stopping is always let through.
    if (this.#pending.has(id) && id !== 'stop') return;
    this.#pending.add(id);
    try {
      await this.table[verb]?.(argument);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.page.toast('warning', error.message);
    } finally {
      this.#pending.delete(id);
    }
  }

  /** A value was typed or slid. */
  change(id, value) {
    const { store, ghost } = this.page;
    if (id === 'task_name') store.update({ taskName: value });
    else if (id === 'typing') store.update({ typing: { ...store.state.typing, text: value } });
    else if (id === 'scrub') {
      ghost.pause();
      ghost.scrub(value);
    } else if (id === 'robot') store.update({ robotChoice: value });
  }

  #asks(id, verb) {
    const { store } = this.page;
    clearTimeout(this.#question);
    if (ASK_TWICE.has(verb) && store.state.confirm !== id) {
      store.update({ confirm: id });
      this.#question = setTimeout(() => store.update({ confirm: null }), FORGET);
      return true;
    }
    if (store.state.confirm) store.update({ confirm: null });
    return false;
  }

  // What each verb does, with what stands behind its colon ----------------------------------------------------------------

  #recording() {
    const { connection, store, ghost } = this.page;
    const changed = (verb) => () => {
      store.update({ quality: null, trim: null });
      return connection.request(verb);
    };
    return {
      start_recording: () => {
        store.update({ plan: null, quality: null, taskName: '', trim: null, executed: null });
        ghost.hide();
        return connection.request('start_recording');
      },
      complete_recording: changed('complete_recording'),
      discard_recording: changed('discard_recording'),
      reset_scene: changed('reset_scene'),
      undo: changed('undo'),
      trim: (argument) => this.#trim(argument),
      save: () => this.#save(),
      assess: async () => store.update({ quality: (await connection.request('assess')).quality }),
      add_object: (kind) => this.#add(kind),
      remove_object: async (object) => {
        await connection.request('remove_object', { object });
        store.update({ touched: null });
      },
    };
  }

  #library() {
    const { connection, store, toasts, toast } = this.page;
    return {
      open_task: (argument) => this.#open(argument),
      delete_task: async (name) => {
        await connection.request('delete_task', { name });
        toast('info', `Deleted ${name}.`, { id: `restore_task:${name}`, label: 'Undo', icon: 'undo' });
      },
      restore_task: async (name) => {
        await connection.request('restore_task', { name });
        toasts.done(`restore_task:${name}`);
      },
      rename_task: (name) => store.update({ typing: { label: `New name of ${name}`, text: name, task: name } }),
      show_task: (name) => store.update({ shownTask: store.state.shownTask === name ? null : name }),
      download: (argument) => this.page.download(...filed(argument, 'mtdf.yaml')),
      download_log: (argument) => this.page.download(...filed(argument, 'mcap')),
      edit: () => store.update({ typing: { label: 'Name of the task', text: store.state.taskName || store.state.recording.name, task: null } }),
      typing: (argument) => this.#typed(argument),
      key: (letter) => this.#key(letter),
    };
  }

  #motion() {
    const { connection, store, ghost } = this.page;
    const run = (fields) => {
      ghost.hide();
      store.update({ execution: null, executed: null });
      return connection.request('run', fields);
    };
    return {
      robot: (name) => store.update({ robotChoice: name }),
      plan: () => this.#plan(),
      run: () => run({}),
      go_on: () => run({ first_keyframe: store.state.goOn }),
      stop: () => {
        ghost.pause();
        return connection.request('stop');
      },
      pause: () => connection.request('pause'),
      resume: () => connection.request('resume'),
      ghost: (what) => (what === 'play' ? ghost.play() : ghost.pause()),
    };
  }

  #people() {
    const { connection, store } = this.page;
    return {
      take_control: () => connection.request('take_control'),
      give_control: (client) => connection.request('give_control', client ? { client } : {}),
      invite: async () => store.update({ invite: (await connection.request('invite')).code }),
    };
  }

  #panel() {
    const { connection, store } = this.page;
    return {
      tab: (tab) => store.update({ tab, typing: null, scroll: {} }),
      setting: (name) => connection.request('settings', { [name]: !store.state.settings[name] }),
      local: (name) => store.update({ [name]: !store.state[name] }),
      scroll: (argument) => this.#scroll(argument),
      view: (step) => this.page.view(step),
    };
  }

  async #plan() {
    const { connection, store, ghost } = this.page;
    const { state } = store;
    const robot = state.robotChoice ?? state.robot?.name;
    ghost.hide();
    store.update({ plan: null, executed: null, execution: null, planning: { robot, keyframe: 0, keyframes: 0, stage: '' } });
    try {
      await connection.request('plan', robot ? { robot } : {});
    } catch (error) {
      store.update({ planning: null });
      throw error;
    }
  }

  /** A task, or one of its versions: `NAME` or `NAME/3`. */
  async #open(argument) {
    const { connection, store } = this.page;
    const { name, version } = versioned(argument);
    await connection.request('open_task', version === null ? { name } : { name, version });
    store.update({ tab: 'task', scroll: {}, taskName: name, quality: null, plan: null, shownTask: null });
  }

  async #add(kind) {
    const { connection, store, world } = this.page;
    const { name } = await connection.request('add_object', { object: newObject(kind, world.all(), world.middle()) });
    store.update({ touched: name });
  }

  async #save() {
    const { connection, store, toast } = this.page;
    const { state } = store;
    const name = (state.taskName || state.recording.name).trim();
    if (!name) throw new Refused('no_name', 'Give the task a name first.');
    const answer = await connection.request('save', { name });
    store.update({ taskName: answer.name });
    toast('info', `Saved as ${answer.name}, version ${answer.version}.`);
  }

  async #trim(argument) {
    const { connection, store } = this.page;
    const { trim, recording } = store.state;
    if (argument === 'begin') return store.update({ trim: { first: 0, last: recording.keyframes.length - 1 } });
    if (argument === 'cancel') return store.update({ trim: null });
    if (argument === 'apply') {
      await connection.request('trim', trim);
      return store.update({ trim: null, quality: null });
    }
    const [end, way] = argument.split(':');
    return store.update({ trim: trimmed(recording.keyframes, trim, end, way === '+' ? 1 : -1) });
  }

  async #typed(argument) {
    const { connection, store } = this.page;
    const { typing } = store.state;
    store.update({ typing: null });
    if (argument !== 'done' || !typing) return undefined;
    const name = typing.text.trim();
    if (!typing.task) return store.update({ taskName: name });
    return name && name !== typing.task ? connection.request('rename_task', { name: typing.task, to: name }) : undefined;
  }

  #key(letter) {
    const { store } = this.page;
    const { typing } = store.state;
    if (!typing) return;
    const words = letter === '⌫' ? typing.text.slice(0, -1) : (typing.text + letter).slice(0, 60);
    store.update({ typing: { ...typing, text: words } });
  }

  #scroll(argument) {
    const { store } = this.page;
    const [list, to] = argument.split(':');
    store.update({ scroll: { ...store.state.scroll, [list]: Number(to) } });
  }
}

/** The task and the version that an id names: `NAME/3` is version 3, `NAME` the newest (null). No name has a slash. */
export function versioned(argument) {
  const match = /^(.*)\/(\d+)$/.exec(argument);
  return match ? { name: match[1], version: Number(match[2]) } : { name: argument, version: null };
}

const filed = (argument, ending) => {
  const { name, version } = versioned(argument);
  return [name, ending, version];
};

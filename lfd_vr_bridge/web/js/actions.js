/**
 * What buttons do, by id: `plan`, `undo`, `robot:ur5e`, `delete_task:NAME` ... the same for mouse, keys and headset.
 */

import { newObject } from './adding.js';
import { Refused } from './connection.js';

const ASK_TWICE = new Set(['discard_recording', 'delete_task', 'remove_object']);
const FORGET = 4000; // [ms] until a question is taken back
const NAME = /[^A-Za-z0-9_-]+/g;

/** A name that a task file can have, of what a person typed. */
export const taskName = (words) => words.trim().replace(NAME, '_').replace(/^_+|_+$/g, '').slice(0, 60);

export class Actions {
  #pending = new Set();
  #question = null;

  /** `page` gives: connection, store, world, ghost, toast(level, text), view(step), download(name). */
  constructor(page) {
    this.page = page;
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
      await this.#do(verb, argument);
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

  async #do(verb, argument) {
    const { connection, store, ghost } = this.page;
    const { state } = store;
    switch (verb) {
      case 'tab':
        return store.update({ tab: argument, typing: null, scroll: {} });
      case 'robot':
        return store.update({ robotChoice: argument });
      case 'start_recording':
        store.update({ plan: null, quality: null, taskName: '', trim: null, executed: null });
        ghost.hide();
        return connection.request('start_recording');
      case 'complete_recording':
      case 'discard_recording':
      case 'reset_scene':
      case 'undo':
        store.update({ quality: null, trim: null });
        return connection.request(verb);
      case 'save':
        return this.#save();
      case 'trim':
        return this.#trim(argument);
      case 'assess':
        return store.update({ quality: (await connection.request('assess')).quality });
      case 'open_task':
        await connection.request('open_task', { name: argument });
        return store.update({ tab: 'task', taskName: argument, quality: null, plan: null });
      case 'delete_task':
        return connection.request('delete_task', { name: argument });
      case 'rename_task':
        return store.update({ typing: { label: `New name of ${argument}`, text: argument, task: argument } });
      case 'typing':
        return this.#typed(argument);
      case 'key':
        return this.#key(argument);
      case 'edit':
        return store.update({ typing: { label: 'Name of the task', text: state.taskName || state.recording.name, task: null } });
      case 'download':
        return this.page.download(argument);
      case 'plan':
        return this.#plan();
      case 'run':
        ghost.hide();
        store.update({ executed: null });
        return connection.request('run');
      case 'stop':
        ghost.pause();
        return connection.request('stop');
      case 'pause':
      case 'resume':
      case 'take_control':
        return connection.request(verb);
      case 'give_control':
        return connection.request('give_control', argument ? { client: argument } : {});
      case 'invite':
        return store.update({ invite: (await connection.request('invite')).code });
      case 'add_object':
        return this.#add(argument);
      case 'remove_object':
        await connection.request('remove_object', { object: argument });
        return store.update({ touched: null });
      case 'setting':
        return connection.request('settings', { [argument]: !state.settings[argument] });
      case 'local':
        return store.update({ [argument]: !state[argument] });
      case 'ghost':
        return argument === 'play' ? ghost.play() : ghost.pause();
      case 'scroll':
        return this.#scroll(argument);
      case 'view':
        return this.page.view(argument);
      default:
        return undefined;
    }
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

  async #add(kind) {
    const { connection, store, world } = this.page;
    const { name } = await connection.request('add_object', { object: newObject(kind, world.all(), world.middle()) });
    store.update({ touched: name });
  }

  async #save() {
    const { connection, store, toast } = this.page;
    const { state } = store;
    const name = taskName(state.taskName || state.recording.name);
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
    const name = taskName(typing.text);
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

/** Move an end of what is kept to the next whole pick or place. */
export function trimmed(keyframes, { first, last }, end, way) {
  if (end === 'first') {
    let next = first + way;
    while (next > 0 && next < last && keyframes[next].kind !== 'pick') next += way;
    return { first: Math.max(0, Math.min(next, last)), last };
  }
  let next = last + way;
  while (next > first && next < keyframes.length - 1 && keyframes[next].kind !== 'place') next += way;
  return { first, last: Math.max(first, Math.min(next, keyframes.length - 1)) };
}

/**
 * What this page's person holds: from a hand's grab to the bridge's answer to the release. XR and mouse both act through it.
 *
 * An object follows at once; the bridge hears of it with `grab`, `move` and `release`. If the bridge refuses a grab, the
 * object goes back; if it refuses a release, it still has the object in the hand, and so it is asked to let go of it where it
 * was taken from. If a hand is lost (controller gone, headset put away), nobody let go of anything, so no release is made up:
 * the object goes back to where it was taken from, which the recorder drops as a grab that moved nothing.
 */

import { Hold } from './grabbing.js';
import { isDemonstrator, nameOf } from './state.js';

const MOVE_EVERY = 16; // [ms]

export class Demonstrator {
  #holds = new Map();
  #settling = new Set();
  #seq = 0;
  #said = new Map();
  #gone = new Set();

  /** `page` gives: connection, store, world, feedback, toast(level, text), sound(name). */
  constructor(page) {
    this.page = page;
  }

  /** The hold of a hand (left, right, mouse), or null. */
  of(hand) {
    return this.#holds.get(hand) ?? null;
  }

  /** Whether this page's own pose of an object counts just now. */
  keeps = (name) => this.#settling.has(name) || [...this.#holds.values()].some((hold) => hold.object === name);

  /** Call `callback(hand)` when a hand has lost what it held without having let go. */
  onGone(callback) {
    this.#gone.add(callback);
  }

  /** Why nothing can be grabbed, or ''. */
  reason() {
    const { state } = this.page.store;
    if (state.link.state !== 'open') return 'Not connected: the connection is being restored.';
    if (isDemonstrator(state)) return '';
    const { demonstrator } = state.roster;
    return demonstrator === null ? 'Take control first.' : `${nameOf(state, demonstrator)} has control; ask for it in the panel.`;
  }

  /** Take an object; gives the hold, or null with a word to the person. `handPose` may be null (a mouse has no hand). */
  grab(name, hand, handPose) {
    const { connection, world, toast, sound } = this.page;
    const why = this.reason();
    const object = world.get(name);
    if (why || !object || this.#holds.has(hand) || this.keeps(name)) {
      if (why) toast('info', why);
      return null;
    }
    const hold = new Hold(name, hand, handPose ?? object.pose, object.pose);
    hold.recorded = handPose !== null;
    this.#holds.set(hand, hold);
    this.#tell();
    sound('grab');
    connection.request('grab', { object: name, hand, hand_pose: handPose, pose: object.pose }).catch((error) => this.#refused(hold, error));
    return hold;
  }

  /** The hand is elsewhere. */
  follow(hand, handPose) {
    const hold = this.#holds.get(hand);
    if (!hold) return;
    this.#show(hold, hold.follow(handPose));
  }

  /** The object is elsewhere (a mouse moves the object itself). */
  carry(hand, objectPose) {
    const hold = this.#holds.get(hand);
    if (!hold) return;
    hold.adjust(objectPose);
    this.#show(hold, objectPose);
  }

  /** Let go where the object was last shown; gives the bridge's answer, or null. */
  async release(hand) {
    const hold = this.#take(hand);
    if (!hold) return null;
    this.page.sound('release');
    return this.#settle(hold, hold.pose);
  }

  /** The hand is gone: the object goes back to where it was taken from, and nothing is recorded. */
  async lose(hand, why) {
    const hold = this.#take(hand);
    if (!hold) return;
    this.page.world.move(hold.object, hold.start);
    this.page.toast('warning', `${why} ${hold.object} is back where it was taken from.`);
    await this.#settle(hold, hold.start, true);
  }

  /** The connection is gone: the bridge puts objects back by itself. */
  dropAll() {
    for (const [hand, hold] of [...this.#holds]) {
      this.page.world.move(hold.object, hold.start);
      this.#drop(hand);
    }
    this.#settling.clear();
  }

  #drop(hand) {
    this.#take(hand);
    for (const callback of this.#gone) callback(hand);
  }

  #take(hand) {
    const hold = this.#holds.get(hand);
    if (!hold) return null;
    this.#holds.delete(hand);
    this.#tell();
    return hold;
  }

  #show(hold, pose) {
    const { connection, world } = this.page;
    world.move(hold.object, pose);
    const now = performance.now();
    if (now - (this.#said.get(hold.object) ?? 0) < MOVE_EVERY) return;
    this.#said.set(hold.object, now);
    this.#seq += 1;
    connection.say('move', { seq: this.#seq, object: hold.object, pose, hand_pose: hold.recorded ? hold.handPose : null });
  }

  async #settle(hold, pose, quietly = false) {
    const { world, store, toast } = this.page;
    this.#settling.add(hold.object);
    try {
      const answer = await this.#letGo(hold, pose);
      world.move(hold.object, answer.pose);
      if (!quietly && !answer.kept && answer.reason && store.state.recording.state === 'recording') toast('info', answer.reason);
      return answer;
    } catch (error) {
      toast('warning', error.message);
      await this.#takeBack(hold);
      return null;
    } finally {
      this.#settling.delete(hold.object);
    }
  }

  #letGo(hold, pose) {
    return this.page.connection.request('release', { object: hold.object, pose, hand_pose: hold.recorded ? hold.handPose : null });
  }

  /** A release was refused: the object is where it was taken from, here and at the bridge. */
  async #takeBack(hold) {
    const { connection, world } = this.page;
    world.move(hold.object, hold.start);
    if (!connection.open) return; // the bridge puts it back by itself
    await this.#letGo(hold, hold.start).then((answer) => world.move(hold.object, answer.pose), () => {});
  }

  #refused(hold, error) {
    const held = [...this.#holds].find(([, other]) => other === hold);
    if (!held) return;
    this.#drop(held[0]);
    this.page.world.move(hold.object, hold.start);
    this.page.toast('warning', error.message);
  }

  #tell() {
    const { store, feedback } = this.page;
    const holds = [...this.#holds.values()].map(({ object, hand }) => ({ object, hand }));
    store.update(holds.length ? { holds, touched: holds[0].object } : { holds });
    feedback.held(holds.map(({ object }) => object));
  }
}

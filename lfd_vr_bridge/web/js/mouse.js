/**
 * Mouse, pen and touch: drag an object level, with Shift up and down; wheel and keys turn it; empty space moves the view.
 *
 * A touch moves level too; while it holds, buttons at the lower edge lift and turn (for a second finger).
 */

import { Plane, Raycaster, Vector2, Vector3 } from 'three';
import { firstAlong } from './grabbing.js';
import { multiply, normalized, turn } from './pose.js';

const STEP = Math.PI / 12; // 15 degrees
const FINE = Math.PI / 180; // 1 degree
const LIFT = 0.01; // [m] for a key or button
const UP = [0, 0, 1];

export class Mouse {
  #ray = new Raycaster();
  #drag = null;

  constructor(stage, world, demonstrator, feedback) {
    this.stage = stage;
    this.world = world;
    this.demonstrator = demonstrator;
    this.feedback = feedback;
    const { canvas } = stage;
    // Before the view's own listener, which must not turn the view while an object is dragged.
    canvas.addEventListener('pointerdown', (event) => this.#down(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.#move(event));
    canvas.addEventListener('pointerup', (event) => this.#up(event));
    canvas.addEventListener('pointercancel', (event) => this.#cancel(event));
    canvas.addEventListener('lostpointercapture', (event) => this.#cancel(event));
    canvas.addEventListener('wheel', (event) => this.#wheel(event), { capture: true, passive: false });
    canvas.addEventListener('pointerleave', () => this.feedback.hover(null));
    demonstrator.onGone((hand) => hand === 'mouse' && this.#drag && this.#end());
  }

  get holding() {
    return this.#drag !== null;
  }

  /** Lift [m] and turn [rad] the dragged object about an axis of the scene; gives whether there is one. */
  adjust(lift, axis = UP, angle = 0) {
    const hold = this.demonstrator.of('mouse');
    if (!hold || !this.#drag) return false;
    const pose = hold.pose.slice();
    pose[2] += lift;
    const turned = normalized(multiply(turn(axis, angle), pose.slice(3)));
    this.demonstrator.carry('mouse', [...pose.slice(0, 3), ...turned]);
    this.#anchor();
    return true;
  }

  /** What a key does while an object is held; gives whether it did something. */
  key(event) {
    const angle = event.altKey ? FINE : STEP;
    const lift = event.altKey ? LIFT / 10 : LIFT;
    const act = {
      q: () => this.adjust(0, UP, angle), e: () => this.adjust(0, UP, -angle),
      w: () => this.adjust(0, [0, 1, 0], angle), s: () => this.adjust(0, [0, 1, 0], -angle),
      a: () => this.adjust(0, [1, 0, 0], angle), d: () => this.adjust(0, [1, 0, 0], -angle),
      PageUp: () => this.adjust(lift), PageDown: () => this.adjust(-lift),
      Escape: () => this.#giveUp(),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    return this.#drag !== null && act !== undefined && act() !== false;
  }

  /** The object under the pointer: `{object, distance}` or null. */
  under(event) {
    this.#aim(event);
    const { cell } = this.stage;
    return firstAlong(this.world.all(), cell.pointToRos(this.#ray.ray.origin), cell.directionToRos(this.#ray.ray.direction), 60);
  }

  #aim(event) {
    const box = this.stage.canvas.getBoundingClientRect();
    const at = new Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    this.#ray.setFromCamera(at, this.stage.camera);
  }

  #down(event) {
    // A second finger zooms, and grabs nothing.
    if (this.stage.presenting || this.#drag || event.button !== 0 || !event.isPrimary) return;
    const hit = this.under(event);
    if (!hit || !hit.object.movable || hit.object.held) return;
    const hold = this.demonstrator.grab(hit.object.name, 'mouse', null);
    if (!hold) return;
    this.stage.controls.enabled = false;
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.#drag = { pointer: event.pointerId, last: { clientX: event.clientX, clientY: event.clientY }, high: event.shiftKey };
    document.body.classList.add('holding');
    document.body.classList.toggle('by-touch', event.pointerType === 'touch');
    this.#drag.point = this.#ray.ray.at(hit.distance, new Vector3());
    this.#anchor();
  }

  /** Begin to drag from here: the plane, and where the object is from the pointer. */
  #anchor() {
    const { cell, camera } = this.stage;
    const hold = this.demonstrator.of('mouse');
    this.#aim(this.#drag.last);
    const through = this.#drag.point;
    const normal = this.#drag.high ? camera.getWorldDirection(new Vector3()).setY(0).normalize() : new Vector3(0, 1, 0);
    this.#drag.plane = new Plane().setFromNormalAndCoplanarPoint(normal, through);
    const met = this.#ray.ray.intersectPlane(this.#drag.plane, new Vector3()) ?? through;
    this.#drag.from = cell.pointToRos(met);
    this.#drag.start = hold.pose.slice();
  }

  #move(event) {
    if (this.stage.presenting) return;
    if (!this.#drag) {
      if (event.pointerType === 'mouse' && event.buttons === 0) this.#hover(event);
      return;
    }
    if (event.pointerId !== this.#drag.pointer) return;
    if (event.shiftKey !== this.#drag.high) {
      this.#drag.high = event.shiftKey;
      this.#anchor();
    }
    this.#drag.last = { clientX: event.clientX, clientY: event.clientY };
    this.#aim(event);
    const met = this.#ray.ray.intersectPlane(this.#drag.plane, new Vector3());
    // Near the horizon a pixel is a mile: what is farther away than this is not meant.
    if (!met || met.distanceTo(this.stage.camera.position) > 12) return;
    this.#drag.point = met;
    const at = this.stage.cell.pointToRos(met);
    const moved = this.#drag.start.map((value, axis) => (axis < 3 ? value + at[axis] - this.#drag.from[axis] : value));
    if (this.#drag.high) [moved[0], moved[1]] = this.#drag.start;
    this.demonstrator.carry('mouse', moved);
  }

  #hover(event) {
    const hit = this.under(event);
    const name = hit && hit.object.movable && !hit.object.held ? hit.object.name : null;
    this.feedback.hover(name);
    this.stage.canvas.style.cursor = name ? 'grab' : '';
  }

  #up(event) {
    if (!this.#drag || event.pointerId !== this.#drag.pointer) return;
    this.#end();
    this.demonstrator.release('mouse');
  }

  #cancel(event) {
    if (!this.#drag || event.pointerId !== this.#drag.pointer) return;
    this.#giveUp();
  }

  #giveUp() {
    this.#end();
    this.demonstrator.lose('mouse', 'The drag was broken off.');
    return true;
  }

  #end() {
    this.#drag = null;
    this.stage.controls.enabled = true;
    document.body.classList.remove('holding', 'by-touch');
    this.feedback.hover(null);
  }

  #wheel(event) {
    if (!this.#drag) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.adjust(0, UP, (event.altKey ? FINE : STEP) * -Math.sign(event.deltaY));
  }
}

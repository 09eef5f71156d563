/**
 * The planned motion as a translucent robot that can be scrubbed along time, with the objects that it carries.
 *
 * Objects start where the scene has them when the plan arrives; attached ones keep their pose in the link's frame.
 */

import { Group, Matrix4, Mesh, MeshLambertMaterial } from 'three';
import { matrixOf, putAt } from './axes.js';
import { geometryOf, scaleOf } from './geometry.js';
import { durationOf, fingersAt, handovers, jointsAt } from './motion.js';
import { compose, inverse } from './pose.js';
import { Robot } from './robot.js';

export class Ghost {
  #playing = false;
  #track = new Map();
  #objects = new Map();

  /** `onTime(seconds, playing)` is told where playing is. */
  constructor(stage, world, onTime) {
    this.stage = stage;
    this.world = world;
    this.onTime = onTime;
    this.plan = null;
    this.time = 0;
    this.robot = new Robot(true);
    this.group = new Group();
    this.group.visible = false;
    this.group.add(this.robot);
    stage.cell.ros.add(this.group);
    stage.onFrame((seconds) => this.#frame(seconds));
  }

  get visible() {
    return this.group.visible;
  }

  get playing() {
    return this.#playing;
  }

  /** Show a plan from its beginning; null hides the ghost. */
  async show(plan, headers) {
    this.pause();
    this.#clear();
    this.plan = plan?.ok ? plan : null;
    this.group.visible = false;
    this.stage.invalidate();
    if (!this.plan) return;
    if (this.robot.address !== plan.urdf) await this.robot.load(plan.urdf, plan.base, headers);
    if (this.plan !== plan) return;
    this.#prepare();
    this.group.visible = true;
    this.scrub(0);
  }

  hide() {
    this.pause();
    this.group.visible = false;
    this.stage.invalidate();
  }

  /** Go to a time of the motion [s]. */
  scrub(time) {
    if (!this.plan) return;
    this.time = Math.min(durationOf(this.plan), Math.max(0, time));
    this.#pose(this.time);
    this.group.visible = true;
    for (const [name, group] of this.#objects) putAt(group, this.#objectAt(name, this.time));
    this.stage.invalidate();
    this.onTime(this.time, this.#playing);
  }

  play() {
    if (!this.plan) return;
    if (this.time >= durationOf(this.plan) - 1e-6) this.time = 0;
    this.#playing = true;
    this.stage.invalidate();
    this.onTime(this.time, true);
  }

  pause() {
    if (!this.#playing) return;
    this.#playing = false;
    this.onTime(this.time, false);
  }

  /** The poses of carried objects as shown, for tests: `{object: pose}`. */
  objectPoses() {
    return Object.fromEntries([...this.#objects.keys()].map((name) => [name, this.#objectAt(name, this.time)]));
  }

  #pose(time) {
    this.robot.setJoints(this.plan.joints, jointsAt(this.plan, time));
    const fingers = fingersAt(this.plan, time);
    this.robot.setJoints(Object.keys(fingers), Object.values(fingers));
  }

  #linkPose(link, time) {
    this.#pose(time);
    const matrix = this.robot.linkMatrix(link);
    return matrix && this.stage.cell.toRos(matrix);
  }

  /** Where each object is: free at a pose, or in a link's frame, from a time on. */
  #prepare() {
    for (const { time, object, link, attach } of handovers(this.plan)) {
      if (!this.#track.has(object)) {
        const known = this.world.get(object);
        if (!known) continue;
        this.#track.set(object, [{ time: -1, link: null, pose: known.pose.slice() }]);
        this.#draw(known);
      }
      const track = this.#track.get(object);
      const pose = this.#objectAt(object, time);
      const linkPose = this.#linkPose(link, time);
      track.push(attach && linkPose ? { time, link, pose: compose(inverse(linkPose), pose) } : { time, link: null, pose });
    }
  }

  #objectAt(name, time) {
    const track = this.#track.get(name);
    const state = track.findLast((entry) => entry.time <= time) ?? track[0];
    if (!state.link) return state.pose;
    const linkPose = this.#linkPose(state.link, time);
    return linkPose ? compose(linkPose, state.pose) : state.pose;
  }

  #draw(object) {
    const group = new Group();
    const [r, g, b] = object.color;
    const material = new MeshLambertMaterial({ transparent: true, opacity: 0.55, depthWrite: false });
    material.color.setRGB(r, g, b, 'srgb');
    for (const part of object.parts) {
      const geometry = geometryOf(part);
      if (geometry instanceof Promise) continue;
      const mesh = new Mesh(geometry, material);
      const scale = scaleOf(part);
      mesh.matrixAutoUpdate = false;
      mesh.matrix.copy(new Matrix4().copy(matrixOf(part.pose)).scale({ x: scale[0], y: scale[1], z: scale[2] }));
      mesh.renderOrder = 5;
      group.add(mesh);
    }
    putAt(group, object.pose);
    this.#objects.set(object.name, group);
    this.group.add(group);
  }

  #clear() {
    for (const group of this.#objects.values()) this.group.remove(group);
    this.#objects.clear();
    this.#track.clear();
    this.time = 0;
  }

  #frame(seconds) {
    if (!this.#playing || !this.plan) return false;
    const end = durationOf(this.plan);
    this.scrub(this.time + seconds);
    if (this.time >= end) this.pause();
    return true;
  }
}

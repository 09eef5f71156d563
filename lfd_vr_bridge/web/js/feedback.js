/**
 * What is told where it happens: reach colours on a held object, where it would land, and why a plan failed, beside it.
 */

import { BackSide, Group, LineBasicMaterial, LineSegments, EdgesGeometry, Mesh, MeshBasicMaterial } from 'three';
import { matrixOf, putAt } from './axes.js';
import { geometryOf, scaleOf } from './geometry.js';
import { Label } from './labels.js';
import { REACH_WORDS, TONES } from './palette.js';
import { heightRange } from './shapes.js';

const ICON = { good: 'check', hard: 'warning', bad: 'warning', unknown: 'info' };
const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** A copy of an object's shape with another material, grown by `margin` [m]. */
function silhouette(object, material, margin) {
  const group = new Group();
  for (const part of object.parts) {
    const geometry = geometryOf(part);
    if (part.shape === 'plane' || geometry instanceof Promise) continue;
    const mesh = new Mesh(geometry, material);
    const grown = part.shape === 'mesh' || part.shape === 'capsule' ? [1.04, 1.04, 1.04] : scaleOf(part).map((side) => side + 2 * margin);
    mesh.matrixAutoUpdate = false;
    mesh.matrix.copy(matrixOf(part.pose)).scale({ x: grown[0], y: grown[1], z: grown[2] });
    mesh.renderOrder = material.userData.order ?? 3;
    group.add(mesh);
  }
  return group;
}

function edges(object, material) {
  const group = new Group();
  for (const part of object.parts) {
    const geometry = geometryOf(part);
    if (part.shape === 'plane' || geometry instanceof Promise) continue;
    const lines = new LineSegments(new EdgesGeometry(geometry, 30), material);
    lines.matrixAutoUpdate = false;
    const scale = scaleOf(part);
    lines.matrix.copy(matrixOf(part.pose)).scale({ x: scale[0], y: scale[1], z: scale[2] });
    group.add(lines);
  }
  return group;
}

/** The marks of one object: outline, label, landing place. */
class Mark {
  constructor(feedback, name) {
    this.feedback = feedback;
    this.name = name;
    this.outlineMaterial = new MeshBasicMaterial({ side: BackSide, fog: false });
    this.glowMaterial = new MeshBasicMaterial({
      transparent: true, opacity: 0.3, depthWrite: false, fog: false,
    });
    this.landingMaterial = new LineBasicMaterial({ color: TONES.landing, transparent: true, opacity: 0.9 });
    this.landingFill = new MeshBasicMaterial({ color: TONES.landing, transparent: true, opacity: 0.18, depthWrite: false });
    this.label = new Label();
    this.labelled = null;
    const object = feedback.world.get(name);
    this.outline = silhouette(object, this.outlineMaterial, 0.004);
    this.glow = silhouette(object, this.glowMaterial, 0.012);
    this.landing = new Group();
    this.edges = edges(object, this.landingMaterial);
    this.landing.add(this.edges, silhouette(object, this.landingFill, 0));
    this.landing.visible = false;
    feedback.group.add(this.outline, this.glow, this.label, this.landing);
  }

  paint(color, glowing) {
    this.outlineMaterial.color.set(color);
    this.glowMaterial.color.set(color);
    this.glow.visible = glowing;
  }

  follow(object) {
    putAt(this.outline, object.pose);
    putAt(this.glow, object.pose);
    const beside = this.labelled ?? object.pose;
    const [, high] = heightRange(beside, object.boxes);
    this.label.position.set(beside[0], beside[1], high + 0.02);
  }

  /** Show where the object would be (null: nowhere). */
  showLanding(pose, color) {
    this.landing.visible = Boolean(pose);
    if (!pose) return;
    putAt(this.landing, pose);
    this.landingMaterial.color.set(color);
    this.landingFill.color.set(color);
  }

  dispose() {
    this.feedback.group.remove(this.outline, this.glow, this.label, this.landing);
    // Shapes are shared (geometry.js); the edges, the colours and the words are this mark's own.
    this.edges.traverse((line) => line.geometry?.dispose());
    for (const material of [this.outlineMaterial, this.glowMaterial, this.landingMaterial, this.landingFill]) material.dispose();
    this.label.dispose();
  }
}

export class Feedback {
  #marks = new Map();
  #failure = null;
  #reach = new Map();
  #hover = null;
  #time = 0;

  constructor(stage, world) {
    this.stage = stage;
    this.world = world;
    this.group = new Group();
    stage.cell.ros.add(this.group);
    stage.onFrame((seconds) => this.#frame(seconds));
  }

  /** The objects that this page holds (names), so that each is marked before the bridge has judged it. */
  held(names) {
    for (const name of [...this.#reach.keys()]) if (!names.includes(name)) this.#reach.delete(name);
    for (const name of names) if (!this.#reach.has(name)) this.#reach.set(name, { state: 'unknown', reason: '', landing: null });
    this.#refresh();
  }

  /** The bridge's word on a held object. */
  reach({ object, state, reason, landing }) {
    if (!this.#reach.has(object)) return;
    this.#reach.set(object, { state, reason, landing });
    this.#refresh();
  }

  /** A plan failed at an object (null: no failure any more); `place` is where it was to be put, if it failed there. */
  failure(plan, place = null) {
    this.#failure = plan && plan.object && this.world.get(plan.object) ? { ...plan, place } : null;
    this.#refresh();
  }

  /** The object that would be taken (null: none). */
  hover(name) {
    if (name === this.#hover) return;
    this.#hover = name;
    this.#refresh();
  }

  /** What is written beside objects, for tests: `{object: words}`. */
  texts() {
    const shown = [...this.#marks].filter(([, mark]) => mark.label.visible);
    return Object.fromEntries(shown.map(([name, mark]) => [name, mark.label.text]));
  }

  /** The colours that objects are marked with, for tests. */
  colours() {
    return Object.fromEntries([...this.#marks].map(([name, mark]) => [name, `#${mark.outlineMaterial.color.getHexString()}`]));
  }

  #refresh() {
    const wanted = new Set([...this.#reach.keys(), this.#failure?.object, this.#hover].filter((name) => name && this.world.get(name)));
    for (const [name, mark] of [...this.#marks]) {
      if (wanted.has(name)) continue;
      mark.dispose();
      this.#marks.delete(name);
      this.world.tint(name, null);
    }
    for (const name of wanted) this.#mark(name);
    this.stage.invalidate();
  }

  #mark(name) {
    if (!this.#marks.has(name)) this.#marks.set(name, new Mark(this, name));
    const mark = this.#marks.get(name);
    const reach = this.#reach.get(name);
    mark.landing.visible = false;
    if (reach) this.#markReach(mark, name, reach);
    else if (this.#failure?.object === name) this.#markFailure(mark, name);
    else {
      mark.paint(TONES.accent, false);
      mark.label.hide();
      this.world.tint(name, null);
    }
    mark.follow(this.world.get(name));
  }

  #markReach(mark, name, { state, reason, landing }) {
    mark.paint(TONES[state], state === 'bad');
    this.world.tint(name, TONES[state], state === 'unknown' ? 0.08 : 0.3);
    if (state === 'unknown' && !reason) mark.label.hide();
    else mark.label.show({ title: REACH_WORDS[state], text: reason, tone: state, icon: ICON[state] });
    mark.showLanding(landing, TONES.landing);
    mark.labelled = null;
  }

  #markFailure(mark, name) {
    const { message, suggestion, place } = this.#failure;
    mark.paint(TONES.bad, true);
    mark.showLanding(place, TONES.bad);
    mark.labelled = place;
    this.world.tint(name, TONES.bad, 0.5);
    mark.label.show({ title: name, text: message, hint: suggestion, tone: 'bad', icon: 'warning' });
  }

  #frame(seconds) {
    if (!this.#marks.size) return false;
    this.#time += seconds;
    let pulsing = false;
    for (const [name, mark] of this.#marks) {
      const object = this.world.get(name);
      if (!object) continue;
      mark.follow(object);
      this.#fit(mark.label);
      if (!mark.glow.visible) continue;
      mark.glowMaterial.opacity = calm.matches ? 0.3 : 0.26 + 0.12 * Math.sin(this.#time * 4);
      pulsing = pulsing || !calm.matches;
    }
    return pulsing;
  }

  #fit(label) {
    const { camera, canvas, cell, presenting } = this.stage;
    if (presenting) {
      label.fitHeadset();
      return;
    }
    const { clientWidth: width, clientHeight: height } = canvas;
    const at = cell.pointToThree(label.position.toArray()).project(camera);
    label.choose(((at.x + 1) / 2) * width, width);
    label.fit((2 * Math.tan((camera.fov * Math.PI) / 360)) / Math.max(1, height), width * 0.9);
  }
}

/**
 * The twin's objects on the stage. Parts of one shape are instances of one mesh, so that 10,000 objects stay usable.
 *
 * Poses are those of the protocol (ROS axes, scene's frame); the meshes live in the cell's ROS group.
 */

import {
  CanvasTexture, Color, DynamicDrawUsage, InstancedMesh, Matrix4, Mesh, MeshLambertMaterial, Quaternion, Vector3,
} from 'three';
import { geometryOf, keyOf, scaleOf } from './geometry.js';
import { compose, distance } from './pose.js';
import { boxesOf, heightRange, radiusOf } from './shapes.js';

const FEW = 8;
const MANY = 2000; // objects from which on shadows cost more than they give

/** All instances of one geometry and opacity. */
class Batch {
  constructor(group, geometry, opacity) {
    this.group = group;
    this.geometry = geometry;
    this.material = new MeshLambertMaterial({ transparent: opacity < 1, opacity, depthWrite: opacity >= 1 });
    this.parts = [];
    this.#grow(16);
  }

  add(part) {
    if (this.parts.length === this.mesh.instanceMatrix.count) this.#grow(this.parts.length * 4);
    part.batch = this;
    part.slot = this.parts.push(part) - 1;
    this.place(part);
    this.paint(part);
    this.mesh.count = this.parts.length;
  }

  remove(part) {
    const last = this.parts.pop();
    if (last !== part) {
      last.slot = part.slot;
      this.parts[part.slot] = last;
      this.place(last);
      this.paint(last);
    }
    this.mesh.count = this.parts.length;
  }

  place(part) {
    this.mesh.setMatrixAt(part.slot, part.matrix);
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  paint(part) {
    this.mesh.setColorAt(part.slot, part.color);
    this.mesh.instanceColor.needsUpdate = true;
  }

  #grow(capacity) {
    if (this.mesh) {
      this.group.remove(this.mesh);
      this.mesh.dispose();
    }
    this.mesh = new InstancedMesh(this.geometry, this.material, capacity);
    this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.mesh.count = this.parts.length;
    this.group.add(this.mesh);
    for (const part of this.parts) {
      this.place(part);
      this.paint(part);
    }
  }
}

export class World {
  #batches = new Map();
  #objects = new Map();
  #bounds = new Map();
  #scratch = { position: new Vector3(), quaternion: new Quaternion(), scale: new Vector3() };

  /** `headers` go with requests for meshes. */
  constructor(stage, headers = () => ({})) {
    this.stage = stage;
    this.group = stage.cell.ros;
    this.headers = headers;
    this.frame = '';
    this.revision = 0;
  }

  get size() {
    return this.#objects.size;
  }

  get(name) {
    return this.#objects.get(name) ?? null;
  }

  all() {
    return this.#objects.values();
  }

  /** The whole scene anew. */
  setScene({ frame, revision, objects }) {
    for (const name of [...this.#objects.keys()]) this.#remove(name);
    this.frame = frame;
    this.revision = revision;
    for (const object of objects) this.#put(object);
    this.stage.setShadows(this.wantsShadows);
    this.stage.invalidate();
  }

  /** What changed; `keep` says of a name that this page holds it, so that its own pose counts. */
  apply({ revision, changed = [], moved = [], removed = [], held = {} }, keep = () => false) {
    this.revision = revision ?? this.revision;
    for (const name of removed) this.#remove(name);
    for (const object of changed) this.#put(keep(object.name) ? { ...object, pose: this.get(object.name).pose } : object);
    for (const [name, pose] of moved) if (!keep(name)) this.move(name, pose);
    for (const [name, holder] of Object.entries(held)) if (this.get(name)) this.get(name).held = holder;
    this.stage.invalidate();
  }

  /** Show an object at a pose. */
  move(name, pose) {
    const object = this.#objects.get(name);
    if (!object) return;
    object.pose = pose.slice();
    for (const part of object.drawn) {
      this.#matrix(object, part);
      part.batch?.place(part);
      if (part.mesh) part.mesh.matrix.copy(part.matrix);
    }
    this.stage.invalidate();
  }

  /** Where an object's first part is drawn [m], as the graphics card has it; null if it is not drawn yet. */
  drawnAt(name) {
    const part = this.#objects.get(name)?.drawn[0];
    if (!part?.batch) return null;
    const matrix = new Matrix4();
    part.batch.mesh.getMatrixAt(part.slot, matrix);
    return new Vector3().setFromMatrixPosition(matrix).toArray();
  }

  /** Mix an object's colour with another (null: its own). */
  tint(name, color, share = 0.45) {
    const object = this.#objects.get(name);
    if (!object) return;
    for (const part of object.drawn) {
      part.color.setRGB(...object.color.slice(0, 3), 'srgb');
      if (color) part.color.lerp(new Color(color), share);
      part.batch?.paint(part);
    }
    this.stage.invalidate();
  }

  /** The height of the floor [m]: a plane's, else that of the lowest thing. */
  floor() {
    const objects = [...this.all()];
    const planes = objects.filter((object) => object.parts.some((part) => part.shape === 'plane'));
    if (planes.length) return Math.min(...planes.map((object) => object.pose[2]));
    return objects.length ? objects.reduce((low, { pose, boxes }) => Math.min(low, heightRange(pose, boxes)[0]), 0) : 0;
  }

  /** The middle of the work [m]: of the few things to move that are nearest to the robot's front. */
  middle() {
    const front = [0.5, 0, 0];
    const movable = [...this.all()].filter((object) => object.movable);
    if (!movable.length) return [0.5, 0, this.floor() + 0.8];
    const near = movable.map(({ pose }) => pose).sort((a, b) => distance(a, front) - distance(b, front)).slice(0, FEW);
    return [0, 1, 2].map((axis) => near.reduce((sum, pose) => sum + pose[axis], 0) / near.length);
  }

  get wantsShadows() {
    return this.size <= MANY;
  }

  #put(object) {
    this.#remove(object.name);
    const boxes = boxesOf(object.parts, (url) => this.#bounds.get(url));
    const kept = { held: null, tags: [], color: [0.7, 0.7, 0.7, 1], ...object, boxes, radius: radiusOf(boxes), drawn: [] };
    this.#objects.set(object.name, kept);
    for (const part of object.parts) this.#draw(kept, part);
  }

  #remove(name) {
    const object = this.#objects.get(name);
    if (!object) return;
    for (const part of object.drawn) {
      part.batch?.remove(part);
      if (part.mesh) this.group.remove(part.mesh);
    }
    object.drawn = [];
    this.#objects.delete(name);
  }

  async #draw(object, part) {
    const drawn = { part, matrix: new Matrix4(), color: new Color().setRGB(...object.color.slice(0, 3), 'srgb'), batch: null };
    object.drawn.push(drawn);
    let geometry = geometryOf(part, this.headers());
    if (geometry instanceof Promise) {
      geometry = await geometry.catch(() => null);
      if (!geometry || this.#objects.get(object.name) !== object) return;
      this.#learnBounds(object, part.url, geometry);
    }
    this.#matrix(object, drawn);
    if (part.shape === 'plane') this.#ground(object, drawn, geometry);
    else this.#batch(part, geometry, object.color[3] ?? 1).add(drawn);
    this.stage.invalidate();
  }

  #learnBounds(object, url, geometry) {
    const { min, max } = geometry.boundingBox;
    const centre = [(min.x + max.x) / 2, (min.y + max.y) / 2, (min.z + max.z) / 2];
    this.#bounds.set(url, { centre, half: [(max.x - min.x) / 2, (max.y - min.y) / 2, (max.z - min.z) / 2] });
    object.boxes = boxesOf(object.parts, (address) => this.#bounds.get(address));
    object.radius = radiusOf(object.boxes);
  }

  #batch(part, geometry, opacity) {
    const key = `${keyOf(part)} ${opacity}`;
    if (!this.#batches.has(key)) this.#batches.set(key, new Batch(this.group, geometry, opacity));
    return this.#batches.get(key);
  }

  #matrix(object, drawn) {
    const { position, quaternion, scale } = this.#scratch;
    const pose = compose(object.pose, drawn.part.pose);
    position.set(pose[0], pose[1], pose[2]);
    quaternion.set(pose[3], pose[4], pose[5], pose[6]);
    drawn.matrix.compose(position, quaternion, scale.set(...scaleOf(drawn.part)));
  }

  /** A plane is endless: it is drawn as a disc that fades into the background. */
  #ground(object, drawn, geometry) {
    const material = new MeshLambertMaterial({ color: drawn.color, transparent: true, alphaMap: fading(), depthWrite: false });
    drawn.mesh = new Mesh(geometry, material);
    drawn.mesh.matrixAutoUpdate = false;
    drawn.mesh.matrix.copy(drawn.matrix);
    drawn.mesh.receiveShadow = true;
    drawn.mesh.renderOrder = -1;
    this.group.add(drawn.mesh);
  }
}

let fade = null;
function fading() {
  if (fade) return fade;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 512;
  const context = canvas.getContext('2d');
  const gradient = context.createRadialGradient(256, 256, 40, 256, 256, 250);
  gradient.addColorStop(0, '#8a8a8a');
  gradient.addColorStop(1, '#000');
  context.fillStyle = gradient;
  context.fillRect(0, 0, 512, 512);
  // A grid of 0.5 m that gives the eye a measure.
  context.strokeStyle = 'rgba(255, 255, 255, 0.16)';
  const step = 512 / 36;
  for (let line = 0; line <= 36; line += 1) {
    context.beginPath();
    context.moveTo(line * step, 0);
    context.lineTo(line * step, 512);
    context.moveTo(0, line * step);
    context.lineTo(512, line * step);
    context.stroke();
  }
  context.globalCompositeOperation = 'multiply';
  context.fillStyle = gradient;
  context.fillRect(0, 0, 512, 512);
  fade = new CanvasTexture(canvas);
  fade.anisotropy = 8;
  return fade;
}

/**
 * Hands as others see them, and one's own in a headset: a plain two-finger hand that closes, in MTDF's hand frame.
 */

import { BoxGeometry, Group, InstancedMesh, Matrix4, Mesh, MeshLambertMaterial, SphereGeometry } from 'three';
import { putAt } from './axes.js';

const OPEN = 0.03; // [m] from the middle to a finger
const block = new BoxGeometry(1, 1, 1);
const ball = new SphereGeometry(1, 10, 8);

function part(material, size, position) {
  const mesh = new Mesh(block, material);
  mesh.scale.set(...size);
  mesh.position.set(...position);
  return mesh;
}

/** A hand: x along the fingers, which end at its origin. */
export class HandModel extends Group {
  constructor(color = 0xe8ebf0) {
    super();
    const material = new MeshLambertMaterial({ color });
    const dark = new MeshLambertMaterial({ color: 0x2c323b });
    this.left = part(material, [0.044, 0.006, 0.014], [-0.018, OPEN, 0]);
    this.right = part(material, [0.044, 0.006, 0.014], [-0.018, -OPEN, 0]);
    this.add(this.left, this.right, part(dark, [0.01, 0.07, 0.018], [-0.044, 0, 0]), part(dark, [0.06, 0.02, 0.02], [-0.078, 0, 0]));
    this.visible = false;
  }

  /** At a pose in the scene's frame, closed by `grip` 0..1. */
  show(pose, grip) {
    this.visible = true;
    putAt(this, pose);
    const aside = OPEN * (1 - 0.75 * grip);
    this.left.position.y = aside;
    this.right.position.y = -aside;
  }
}

/** A tracked hand's joints as small balls, in three.js's world. */
export class JointsModel extends InstancedMesh {
  constructor() {
    super(ball, new MeshLambertMaterial({ color: 0xe6c7ac }), 25);
    this.frustumCulled = false;
    this.visible = false;
  }

  /** `joints`: `[{position: [x, y, z], radius}]`. */
  show(joints) {
    this.visible = joints.length > 0;
    this.count = joints.length;
    const matrix = new Matrix4();
    joints.forEach(({ position, radius }, index) => {
      matrix.makeScale(radius, radius, radius).setPosition(...position);
      this.setMatrixAt(index, matrix);
    });
    this.instanceMatrix.needsUpdate = true;
  }
}

/** The hands and head of whoever demonstrates on another page. */
export class OtherHands {
  constructor(stage) {
    this.stage = stage;
    this.left = new HandModel(0x9cc4ff);
    this.right = new HandModel(0x9cc4ff);
    this.head = part(new MeshLambertMaterial({ color: 0x9cc4ff, transparent: true, opacity: 0.6 }), [0.1, 0.18, 0.1], [0, 0, 0]);
    this.head.visible = false;
    stage.cell.ros.add(this.left, this.right, this.head);
  }

  show({ left, right, head }) {
    for (const [model, state] of [[this.left, left], [this.right, right]]) {
      if (state) model.show(state.pose, state.grip ?? 0);
      else model.visible = false;
    }
    this.head.visible = Boolean(head);
    if (head) putAt(this.head, head.pose);
    this.stage.invalidate();
  }

  hide() {
    this.show({});
  }
}

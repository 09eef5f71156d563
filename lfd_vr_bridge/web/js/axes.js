/**
 * The only place where ROS axes (x forward, y left, z up) meet three.js's (x right, y up, z towards the viewer).
 *
 * `Cell` is a group that stands in three.js's world (moving it moves the whole cell, as a person in a headset may wish);
 * inside it, everything is in ROS axes. A person at three.js's origin looks along -z, so the robot's x comes towards them.
 */

import { Group, Matrix4, Quaternion, Vector3 } from 'three';

const ROS_IN_THREE = new Matrix4().makeBasis(new Vector3(0, 0, 1), new Vector3(1, 0, 0), new Vector3(0, 1, 0));
/** A pointing frame (forward -z, left -x, up y, as WebXR has it) as a hand's frame: x forward, y left, z up. */
const HAND_IN_POINTER = new Matrix4().makeBasis(new Vector3(0, 0, -1), new Vector3(-1, 0, 0), new Vector3(0, 1, 0));
const ONE = new Vector3(1, 1, 1);

export class Cell extends Group {
  constructor() {
    super();
    this.ros = new Group();
    this.ros.quaternion.setFromRotationMatrix(ROS_IN_THREE);
    this.add(this.ros);
  }

  /** The pose in the scene's frame of a matrix of three.js's world. */
  toRos(matrix) {
    this.updateWorldMatrix(true, true);
    return poseOf(new Matrix4().copy(this.ros.matrixWorld).invert().multiply(matrix));
  }

  /** The matrix in three.js's world of a pose in the scene's frame. */
  toThree(pose) {
    this.updateWorldMatrix(true, true);
    return new Matrix4().multiplyMatrices(this.ros.matrixWorld, matrixOf(pose));
  }

  /** A point [x, y, z] of the scene's frame in three.js's world. */
  pointToThree(point) {
    this.updateWorldMatrix(true, true);
    return new Vector3(...point).applyMatrix4(this.ros.matrixWorld);
  }

  pointToRos(vector) {
    this.updateWorldMatrix(true, true);
    return this.ros.worldToLocal(vector.clone()).toArray();
  }

  directionToRos(vector) {
    this.updateWorldMatrix(true, true);
    return vector.clone().transformDirection(new Matrix4().copy(this.ros.matrixWorld).invert()).toArray();
  }
}

/** The hand's matrix (MTDF: x along the fingers, y closing, z up) of a pointing frame's, with the hand at `position`. */
export function handOfPointer(pointer, position) {
  return new Matrix4().multiplyMatrices(pointer, HAND_IN_POINTER).setPosition(position);
}

/** A pose [x, y, z, qx, qy, qz, qw] as a matrix, in the same axes. */
export function matrixOf(pose) {
  return new Matrix4().compose(new Vector3(pose[0], pose[1], pose[2]), new Quaternion(pose[3], pose[4], pose[5], pose[6]), ONE);
}

/** A rigid matrix as a pose, in the same axes. */
export function poseOf(matrix) {
  const position = new Vector3();
  const quaternion = new Quaternion();
  matrix.decompose(position, quaternion, new Vector3());
  return [...position.toArray(), ...quaternion.toArray()];
}

/** Put an object of three.js at a pose of its parent's frame. */
export function putAt(object, pose) {
  object.position.set(pose[0], pose[1], pose[2]);
  object.quaternion.set(pose[3], pose[4], pose[5], pose[6]);
}

/**
 * Headsets: controllers and tracked hands grab objects and press the panel; either hand alone can do everything.
 *
 * - Squeeze (controllers) and pinch (hands) grab; the trigger presses the panel, and grabs where there is no panel.
 * - A controller's hand is at its grip (at its target ray if it has none) and points where the ray points; a tracked hand's
 *   is between thumb and index finger. What is recorded is that hand, in the scene's frame: never relative to the head.
 * - While a hand points at the board, it takes only what is within its reach: never what is behind the board.
 * - A source that is neither left nor right (`none`) is the right hand, unless there is one.
 * - When joints of a tracked hand are not seen, its pose would jump to the pointer's: the held object stays until they are.
 * - When the headset begins to guess a hand's position (`emulatedPosition`), the held object stays until it is seen again.
 *   A device that always guesses (without position tracking, or an emulated one) is taken at its word. Guessed hands are not told to others.
 * - A controller that disconnects, or a headset that is put away or shows something else, lets go of nothing: see demonstrator.js.
 * - Thumbsticks turn in steps and move nearer or farther, and so do buttons of the panel: what moves is the cell.
 */

import { BufferGeometry, Line, LineBasicMaterial, Matrix4, Mesh, MeshBasicMaterial, SphereGeometry, Vector3 } from 'three';
import { handOfPointer, matrixOf } from './axes.js';
import { chooseObject, handOfJoints } from './grabbing.js';
import { HandModel, JointsModel } from './hands.js';

const HANDS_EVERY = 22; // [ms]
const TURN = Math.PI / 6;
const STEP = 0.15; // [m]
const RISE = 0.05; // [m]
const STAND = 0.62; // [m] from the middle of what can be moved
const ASIDE = Math.PI / 5; // beside the arm, which stretches out over the work
const POKE = 0.012; // [m] before the board
const ARMED = 0.03; // [m] a fingertip must come from farther away
const REPEAT = 0.35; // a stick must come back to this to count again
const UP = new Vector3(0, 1, 0);

/** One hand of the person: its models, what it wants, and what it points at. */
class XrHand {
  constructor(side, stage) {
    this.side = side;
    this.model = new HandModel();
    this.joints = new JointsModel();
    const points = new BufferGeometry().setFromPoints([new Vector3(), new Vector3(0, 0, -1)]);
    this.ray = new Line(points, new LineBasicMaterial({ color: 0xbcd4ff, transparent: true, opacity: 0.7, fog: false }));
    this.spot = new Mesh(new SphereGeometry(0.006, 12, 8), new MeshBasicMaterial({ color: 0xffffff, fog: false, depthTest: false }));
    this.spot.renderOrder = 21;
    stage.cell.ros.add(this.model);
    stage.scene.add(this.joints, this.ray, this.spot);
    this.reset();
  }

  reset() {
    this.source = null;
    this.pose = null;
    this.tip = null;
    this.wants = [];
    this.pressing = null;
    this.armed = false;
    this.stick = [false, false];
    this.letsGo = null;
    this.guesses = false;
    this.guessed = false;
    this.kind = null;
    this.pointer = null;
    this.grip = 0;
    this.hide();
  }

  hide() {
    this.model.visible = this.joints.visible = this.ray.visible = this.spot.visible = false;
  }
}

export class Xr {
  #session = null;
  #hands;
  #placed = false;
  #seq = 0;
  #said = 0;
  #dragging = null;

  /** `page` gives: stage, world, demonstrator, feedback, panel (WorldPanel), press, change, connection, store, toast. */
  constructor(page) {
    this.page = page;
    const { stage } = page;
    this.#hands = { left: new XrHand('left', stage), right: new XrHand('right', stage) };
    stage.scene.add(page.panel);
    stage.onFrame((seconds, frame) => this.#frame(frame));
    this.#probe();
  }

  /** Enter VR; must be called by a person's click. */
  async enter() {
    const { stage, toast, store } = this.page;
    if (this.#session || !navigator.xr) return;
    try {
      const session = await navigator.xr.requestSession('immersive-vr', { optionalFeatures: ['local-floor', 'hand-tracking'] });
      const floor = await session.requestReferenceSpace('local-floor').then(() => true, () => false);
      stage.renderer.xr.setReferenceSpaceType(floor ? 'local-floor' : 'local');
      this.#begin(session);
      await stage.renderer.xr.setSession(session);
      store.update({ xr: { ...store.state.xr, presenting: true } });
    } catch (error) {
      toast('error', `The headset cannot be used: ${error.message}`);
    }
  }

  leave() {
    return this.#session?.end();
  }

  /** Turn or move the person, by moving the cell: left, right, nearer, farther, up, down, reset, leave. */
  view(step) {
    const { cell } = this.page.stage;
    const act = {
      left: () => this.#turn(-TURN), right: () => this.#turn(TURN), nearer: () => this.#walk(STEP), farther: () => this.#walk(-STEP),
      up: () => cell.position.setY(cell.position.y + RISE), down: () => cell.position.setY(cell.position.y - RISE),
      reset: () => { this.#placed = false; }, leave: () => this.leave(),
    }[step];
    act?.();
    cell.updateMatrixWorld(true);
  }

  /** For tests: the hands' poses in the scene's frame. */
  handPoses() {
    return { left: this.#hands.left.pose, right: this.#hands.right.pose };
  }

  async #probe() {
    const { store } = this.page;
    const supported = (await navigator.xr?.isSessionSupported('immersive-vr').catch(() => false)) ?? false;
    store.update({ xr: { ...store.state.xr, supported } });
    navigator.xr?.addEventListener?.('devicechange', () => this.#probe(), { once: true });
  }

  // The session ---------------------------------------------------------------------------------------------------------

  #begin(session) {
    this.#session = session;
    this.#placed = false;
    for (const [type, want] of [['squeezestart', 'grab'], ['squeezeend', 'release'], ['selectstart', 'select'], ['selectend', 'unselect']]) {
      // The hand's pose of this frame is known only in the frame itself; so what is wanted waits for it.
      session.addEventListener(type, ({ inputSource }) => this.#handOf(inputSource)?.wants.push(want));
    }
    session.addEventListener('inputsourceschange', ({ removed }) => {
      for (const source of removed) this.#lost(source);
    });
    session.addEventListener('visibilitychange', () => {
      // While something else is in front (`visible-blurred`), nobody is told that a hand opens.
      if (session.visibilityState === 'hidden') this.#loseAll('The headset was put away.');
      else if (session.visibilityState !== 'visible') this.#loseAll('The headset shows something else.');
    });
    session.addEventListener('end', () => this.#end());
  }

  #end() {
    const { stage, panel, store, feedback } = this.page;
    this.#loseAll('VR was left.');
    this.#session = null;
    for (const hand of Object.values(this.#hands)) hand.reset();
    panel.visible = false;
    feedback.hover(null);
    stage.cell.position.set(0, 0, 0);
    stage.cell.quaternion.identity();
    stage.cell.updateMatrixWorld(true);
    store.update({ xr: { ...store.state.xr, presenting: false } });
    stage.resize();
    stage.invalidate();
  }

  /** The hand that a source is, or null if another source is that hand already. */
  #handOf(source) {
    const hand = this.#hands[source.handedness === 'left' ? 'left' : 'right'];
    return hand.source && hand.source !== source ? null : hand;
  }

  #lost(source) {
    const hand = this.#handOf(source);
    if (!hand) return;
    const what = source.hand ? 'hand' : 'controller';
    this.page.demonstrator.lose(hand.side, `The ${hand.side} ${what} is gone.`);
    hand.reset();
  }

  #loseAll(why) {
    for (const side of ['left', 'right']) this.page.demonstrator.lose(side, why);
  }

  // Where the person stands ---------------------------------------------------------------------------------------------

  /** Put the cell's floor on the floor, and the person before the work, a little beside the arm; the board at their left. */
  #place(frame, space) {
    const viewer = frame.getViewerPose(space);
    if (!viewer) return;
    const { stage, world, panel } = this.page;
    const head = new Matrix4().fromArray(viewer.transform.matrix);
    const eye = new Vector3().setFromMatrixPosition(head);
    const ahead = new Vector3(0, 0, -1).transformDirection(head).setY(0);
    if (ahead.lengthSq() < 1e-6) ahead.set(0, 0, -1);
    ahead.normalize();
    const yaw = Math.atan2(-ahead.x, -ahead.z);
    const { cell } = stage;
    cell.position.set(0, 0, 0);
    cell.quaternion.setFromAxisAngle(UP, yaw + ASIDE);
    const middle = world.middle();
    const feet = cell.pointToThree([middle[0] + STAND * Math.cos(ASIDE), middle[1] - STAND * Math.sin(ASIDE), world.floor()]);
    cell.position.set(eye.x - feet.x, -feet.y, eye.z - feet.z);
    cell.updateMatrixWorld(true);
    const aside = new Vector3().crossVectors(ahead, UP).multiplyScalar(-0.52);
    panel.position.copy(eye).addScaledVector(ahead, 0.68).add(aside);
    panel.position.y = eye.y - 0.16;
    this.#face(panel, eye);
    panel.visible = true;
    this.#placed = true;
  }

  #face(panel, eye) {
    panel.lookAt(eye);
  }

  #turn(angle) {
    const { cell } = this.page.stage;
    const { position } = this.page.stage.renderer.xr.getCamera();
    cell.position.sub(position).applyAxisAngle(UP, angle).add(position);
    cell.rotateOnWorldAxis(UP, angle);
  }

  #walk(distance) {
    const camera = this.page.stage.renderer.xr.getCamera();
    const ahead = new Vector3(0, 0, -1).transformDirection(camera.matrixWorld).setY(0).normalize();
    this.page.stage.cell.position.addScaledVector(ahead, -distance);
  }

  // Frames --------------------------------------------------------------------------------------------------------------

  #frame(frame) {
    if (!this.#session || !frame) return false;
    const space = this.page.stage.renderer.xr.getReferenceSpace();
    if (!space) return false;
    if (!this.#placed) this.#place(frame, space);
    const seen = new Set();
    let hovered = null;
    const sided = (source) => Number(source.handedness === 'none');
    for (const source of [...this.#session.inputSources].sort((a, b) => sided(a) - sided(b))) {
      const hand = this.#hands[source.handedness === 'left' ? 'left' : 'right'];
      if (seen.has(hand) || !this.#session) continue; // the hand before may have left
      seen.add(hand);
      hand.source = source;
      hovered = this.#hand(hand, source, frame, space) ?? hovered;
    }
    for (const hand of Object.values(this.#hands)) {
      if (seen.has(hand)) continue;
      hand.source = null;
      hand.hide();
    }
    if (!this.#session) return true;
    this.page.feedback.hover(hovered);
    this.#tellHands(frame, space);
    return true;
  }

  /** One hand in one frame; gives the name of the object that it would take. */
  #hand(hand, source, frame, space) {
    const where = this.#session.visibilityState === 'visible' ? this.#whereIs(hand, source, frame, space) : null;
    if (where) this.#show(hand, source, where);
    else hand.hide();
    hand.guessed = !where || (where.guessed && !hand.guesses);
    const { demonstrator } = this.page;
    const point = where && this.#pointing(hand, where);
    const wants = hand.wants.splice(0);
    // Let go first: opening the hand must not carry the object along.
    if (demonstrator.of(hand.side) && !wants.includes(hand.letsGo) && !hand.guessed && where.kind === hand.kind) {
      demonstrator.follow(hand.side, hand.pose);
    }
    for (const want of wants) this.#want(hand, want, where, point);
    if (where) this.#after(hand, source, where, point);
    // What was wanted may have been to leave.
    if (!where || !this.#session || demonstrator.of(hand.side)) return null;
    return this.#choice(hand, where, point)?.name ?? null;
  }

  /**
   * Where the hand and its ray are: `{hand, pointer, guessed, kind}`, matrices in three.js's world, or null.
   *
   * `kind` says what the pose is made of (joints, grip, pointer); poses of different kinds are not of the same hand frame.
   */
  #whereIs(hand, source, frame, space) {
    const ray = frame.getPose(source.targetRaySpace, space);
    if (!ray) return null;
    const pointer = new Matrix4().fromArray(ray.transform.matrix);
    const grip = source.gripSpace ? frame.getPose(source.gripSpace, space) : null;
    const at = grip ? new Vector3().setFromMatrixPosition(new Matrix4().fromArray(grip.transform.matrix)) : new Vector3().setFromMatrixPosition(pointer);
    let matrix = handOfPointer(pointer, at);
    let kind = grip ? 'grip' : 'pointer';
    const joints = source.hand ? this.#jointsOf(source.hand, frame, space) : null;
    if (joints) {
      const tracked = handOfJoints(joints.get('wrist').position, joints.get('thumb-tip').position, joints.get('index-finger-tip').position);
      if (tracked) [matrix, kind] = [matrixOf(tracked), 'joints'];
      hand.joints.show([...joints.values()]);
    }
    hand.tip = joints ? new Vector3(...joints.get('index-finger-tip').position) : new Vector3().setFromMatrixPosition(pointer);
    hand.pose = this.page.stage.cell.toRos(matrix);
    hand.pointer = pointer;
    return { hand: matrix, pointer, guessed: ray.emulatedPosition, tracked: joints !== null, kind };
  }

  #jointsOf(hand, frame, space) {
    const joints = new Map();
    for (const [name, joint] of hand.entries()) {
      const pose = frame.getJointPose(joint, space);
      if (!pose) return null;
      const { x, y, z } = pose.transform.position;
      joints.set(name, { position: [x, y, z], radius: pose.radius || 0.008 });
    }
    return joints.has('wrist') && joints.has('thumb-tip') && joints.has('index-finger-tip') ? joints : null;
  }

  #show(hand, source, { tracked, pointer }) {
    const held = this.page.demonstrator.of(hand.side);
    hand.grip = held ? 1 : Math.max(0, ...[0, 1].map((index) => source.gamepad?.buttons[index]?.value ?? 0));
    if (tracked) hand.model.visible = false;
    else {
      hand.model.show(hand.pose, hand.grip);
      hand.joints.visible = false;
    }
    hand.ray.visible = !held;
    hand.ray.position.setFromMatrixPosition(pointer);
    hand.ray.quaternion.setFromRotationMatrix(pointer);
  }

  /** What the hand points at on the board: `{hit, target}` or null. */
  #pointing(hand, { pointer }) {
    const { panel, demonstrator } = this.page;
    const origin = new Vector3().setFromMatrixPosition(pointer);
    const along = new Vector3(0, 0, -1).transformDirection(pointer);
    const hit = panel.visible && !demonstrator.of(hand.side) ? panel.meet(origin, along) : null;
    hand.spot.visible = Boolean(hit);
    hand.ray.scale.z = hit ? hit.distance : 0.6;
    if (hit) hand.spot.position.copy(hit.point);
    return hit && { hit, target: panel.at(hit.x, hit.y) };
  }

  /** What the hand would take; nothing along its ray if that ends at the board. */
  #choice(hand, { pointer }, point) {
    const { world, stage } = this.page;
    if (point) return chooseObject(world.all(), hand.pose, null);
    const origin = stage.cell.pointToRos(new Vector3().setFromMatrixPosition(pointer));
    const along = stage.cell.directionToRos(new Vector3(0, 0, -1).transformDirection(pointer));
    return chooseObject(world.all(), hand.pose, { origin, along });
  }

  #want(hand, want, where, point) {
    if (want === 'release' || want === 'unselect') {
      this.#letGo(hand, want);
      return;
    }
    if (!where) return;
    if (want === 'select' && point?.target) {
      this.#pressBoard(hand, point);
      return;
    }
    if (this.page.demonstrator.of(hand.side)) return;
    const object = this.#choice(hand, where, point);
    if (!object) return;
    if (this.page.demonstrator.grab(object.name, hand.side, hand.pose)) this.#took(hand, want, where);
  }

  #took(hand, want, { guessed, kind }) {
    hand.letsGo = want === 'grab' ? 'release' : 'unselect';
    hand.guesses = guessed;
    hand.kind = kind;
  }

  #letGo(hand, want) {
    if (want === 'unselect') hand.pressing = null;
    if (this.#dragging?.hand === hand) this.#dragging = null;
    if (hand.letsGo === want) {
      hand.letsGo = null;
      this.page.demonstrator.release(hand.side);
    }
  }

  // The board -----------------------------------------------------------------------------------------------------------

  #pressBoard(hand, { hit, target }) {
    if (target.id === 'handle') {
      const { panel } = this.page;
      this.#dragging = { hand, offset: new Matrix4().copy(hand.pointer).invert().multiply(panel.matrixWorld) };
      return;
    }
    hand.pressing = target;
    if (target.slide) this.page.change(target.id, target.slide(hit.x));
    else this.#press(target);
  }

  #press(target) {
    const { press, toast } = this.page;
    if (target.enabled === false) toast('info', target.reason || 'This cannot be done just now.');
    else press(target.id);
  }

  /** What goes on while nothing begins or ends: dragging the board or a slider, poking, sticks. */
  #after(hand, source, where, point) {
    const { panel, change } = this.page;
    if (this.#dragging?.hand === hand) this.#dragBoard(where);
    if (hand.pressing?.slide && point) change(hand.pressing.id, hand.pressing.slide(point.hit.x));
    if (point) panel.hover(point.target?.id ?? null);
    else if (panel.pointedBy === hand) panel.hover(null);
    panel.pointedBy = point ? hand : panel.pointedBy;
    this.#poke(hand);
    this.#sticks(hand, source.gamepad?.axes ?? []);
  }

  #dragBoard({ pointer }) {
    const { panel, stage } = this.page;
    const matrix = new Matrix4().multiplyMatrices(pointer, this.#dragging.offset);
    panel.position.setFromMatrixPosition(matrix);
    this.#face(panel, stage.renderer.xr.getCamera().position);
  }

  #poke(hand) {
    const { panel, demonstrator } = this.page;
    const near = panel.visible && !demonstrator.of(hand.side) ? panel.near(hand.tip) : null;
    if (!near) {
      hand.armed = false;
      return;
    }
    if (near.front > ARMED) hand.armed = true;
    if (!hand.armed || near.front > POKE) return;
    hand.armed = false;
    const target = panel.at(near.x, near.y);
    if (target && target.id !== 'handle' && !target.slide) this.#press(target);
    else if (target?.slide) this.page.change(target.id, target.slide(near.x));
  }

  #sticks(hand, axes) {
    const [x = 0, y = 0] = axes.length >= 4 ? axes.slice(2, 4) : axes;
    [[x, 'right', 'left'], [y, 'farther', 'nearer']].forEach(([value, plus, minus], index) => {
      if (Math.abs(value) < REPEAT) hand.stick[index] = false;
      if (hand.stick[index] || Math.abs(value) < 0.7) return;
      hand.stick[index] = true;
      this.view(value > 0 ? plus : minus);
    });
  }

  #tellHands(frame, space) {
    const { connection, stage, store } = this.page;
    const now = performance.now();
    if (now - this.#said < HANDS_EVERY || store.state.me !== store.state.roster.demonstrator) return;
    this.#said = now;
    this.#seq += 1;
    const viewer = frame.getViewerPose(space);
    const head = viewer && { pose: stage.cell.toRos(handOfPointer(new Matrix4().fromArray(viewer.transform.matrix), new Vector3().copy(viewer.transform.position))), grip: 0 };
    const state = (hand) => (hand.source && hand.pose && !hand.guessed ? { pose: hand.pose, grip: hand.grip } : null);
    connection.say('hands', { seq: this.#seq, t: now / 1000, left: state(this.#hands.left), right: state(this.#hands.right), head });
  }
}

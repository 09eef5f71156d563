/** What tests and scripts may read of the page, as `lfd`: nothing here changes anything. */

import { matrixOf, poseOf } from './axes.js';

export function handle(page) {
  const { store, world, stage, robot, ghost, feedback, panel, xr, demonstrator, toasts } = page;
  return Object.freeze({
    get state() {
      return structuredClone(store.state);
    },
    get frames() {
      return stage.frames;
    },
    get presenting() {
      return stage.presenting;
    },
    get ready() {
      return store.state.link.state === 'open' && robot.complete && world.size > 0;
    },
    get size() {
      return world.size;
    },
    get holds() {
      return ['left', 'right', 'mouse'].map((hand) => demonstrator.of(hand)?.object ?? null);
    },
    get toasts() {
      return toasts.last.map(({ text }) => text);
    },
    get labels() {
      return feedback.texts();
    },
    get colours() {
      return feedback.colours();
    },
    get ghost() {
      return { visible: ghost.visible, playing: ghost.playing, time: ghost.time, joints: ghost.robot.joints(), objects: ghost.objectPoses() };
    },
    get joints() {
      return robot.joints();
    },
    get renderer() {
      return { ...stage.renderer.info.render, memory: { ...stage.renderer.info.memory } };
    },
    /** An object's pose in the scene's frame as it is shown, or null. */
    pose: (name) => world.get(name)?.pose.slice() ?? null,
    /** Where its first part is drawn [m], or null. */
    drawnAt: (name) => world.drawnAt(name),
    /** The hands in the scene's frame, as they are recorded. */
    hands: () => xr.handPoses(),
    /** The pose in the headset's space (its own axes) of a pose in the scene's frame. */
    inHeadset: (pose) => poseOf(stage.cell.toThree(pose)),
    /** The same the other way round. */
    inScene: (pose) => stage.cell.toRos(matrixOf(pose)),
    /** Where a button of the board is in the headset's space, or null. */
    board: (id) => panel.where(id)?.toArray() ?? null,
    /** The words above the board, or null. */
    get boardToast() {
      return panel.visible ? panel.toast?.text ?? null : null;
    },
    buttons: () => panel.targets.map(({ id, enabled }) => ({ id, enabled })),
    /** Where a point of the scene's frame is on the page [px]. */
    onScreen: (point) => {
      const box = stage.canvas.getBoundingClientRect();
      const at = stage.cell.pointToThree(point).project(stage.camera);
      return [box.left + ((at.x + 1) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height];
    },
  });
}

/**
 * The panel in the world, for headsets: panel.js's value painted on a board (board.js) that rays and fingertips can press.
 *
 * The board is 0.62 m wide and stands about 0.85 m away, so that its smallest text is 1.3 degrees high. The newest toast is
 * shown on its upper edge; where there is none, there is nothing to point at.
 */

import { CanvasTexture, Group, Mesh, MeshBasicMaterial, PlaneGeometry, SRGBColorSpace, Vector3 } from 'three';
import { HEIGHT, NOTE, paintBoard, WIDTH } from './board.js';

export const METRES = 0.62; // the board's width
const TALL = (METRES * HEIGHT) / WIDTH; // [m]

export class WorldPanel extends Group {
  #told = '';
  #hover = null;

  constructor() {
    super();
    this.canvas = document.createElement('canvas');
    this.canvas.width = WIDTH;
    this.canvas.height = HEIGHT;
    this.context = this.canvas.getContext('2d');
    this.texture = new CanvasTexture(this.canvas);
    this.texture.colorSpace = SRGBColorSpace;
    this.texture.anisotropy = 4;
    const material = new MeshBasicMaterial({ map: this.texture, transparent: true, fog: false, toneMapped: false });
    this.board = new Mesh(new PlaneGeometry(METRES, TALL), material);
    this.board.position.y = (METRES * NOTE) / WIDTH / 2; // the middle is that of the board without the toast
    this.board.renderOrder = 10;
    this.add(this.board);
    this.targets = [];
    this.model = null;
    this.visible = false;
  }

  /** The toast that is shown: `{level, text, action}` or null. */
  get toast() {
    return this.model?.toast ?? null;
  }

  /** Paint the panel anew if it says something else. */
  draw(model, scroll = {}) {
    this.model = model;
    this.scroll = scroll;
    this.#repaint();
  }

  #repaint() {
    const key = JSON.stringify([this.model, this.scroll, this.#hover]);
    if (!this.model || key === this.#told) return;
    this.#told = key;
    this.targets = paintBoard(this.context, this.model, { scroll: this.scroll, hover: this.#hover });
    this.texture.needsUpdate = true;
  }

  /** Where a ray (three.js's world) meets the board: `{x, y, distance, point}` in px and m, or null. */
  meet(origin, along) {
    this.board.updateWorldMatrix(true, false);
    const inverse = this.board.matrixWorld.clone().invert();
    const from = origin.clone().applyMatrix4(inverse);
    const way = along.clone().transformDirection(inverse);
    if (Math.abs(way.z) < 1e-6) return null;
    const distance = -from.z / way.z;
    if (distance < 0) return null;
    const point = from.clone().addScaledVector(way, distance);
    const x = (point.x / METRES + 0.5) * WIDTH;
    const y = (0.5 - point.y / TALL) * HEIGHT;
    if (!this.#has(x, y)) return null;
    return { x, y, distance, point: point.applyMatrix4(this.board.matrixWorld) };
  }

  /** How far in front of the board a point is [m], with its place in px; null beside the board. */
  near(point) {
    this.board.updateWorldMatrix(true, false);
    const local = point.clone().applyMatrix4(this.board.matrixWorld.clone().invert());
    const x = (local.x / METRES + 0.5) * WIDTH;
    const y = (0.5 - local.y / TALL) * HEIGHT;
    return this.#has(x, y) ? { x, y, front: local.z } : null;
  }

  #has(x, y) {
    return x >= 0 && x <= WIDTH && y >= (this.toast ? 0 : NOTE) && y <= HEIGHT;
  }

  /** The target at a place of the board, or null. */
  at(x, y) {
    return this.targets.find((target) => x >= target.x && x <= target.x + target.w && y >= target.y && y <= target.y + target.h) ?? null;
  }

  /** Mark what is pointed at (an id or null). */
  hover(id) {
    if (id === this.#hover) return;
    this.#hover = id;
    this.#repaint();
  }

  /** The middle of a button in three.js's world, or null if the board does not show it. */
  where(id) {
    const target = this.targets.find((one) => one.id === id);
    if (!target) return null;
    this.board.updateWorldMatrix(true, false);
    const x = ((target.x + target.w / 2) / WIDTH - 0.5) * METRES;
    const y = (0.5 - (target.y + target.h / 2) / HEIGHT) * TALL;
    return new Vector3(x, y, 0).applyMatrix4(this.board.matrixWorld);
  }
}

/**
 * The stage: renderer, camera, light, the cell, and a loop that draws only when something changed (or in a headset).
 */

import {
  AmbientLight, Color, DirectionalLight, Fog, HemisphereLight, PCFShadowMap, PerspectiveCamera, Scene, SRGBColorSpace, Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Cell } from './axes.js';

const LARGEST_PIXEL_RATIO = 1.75;
const DARK = { ground: '#1a1d22', sky: '#dfe6f2', earth: '#3a3d44', light: 1.9, around: 1.35 };
const LIGHT = { ground: '#e9ecf0', sky: '#ffffff', earth: '#b9bec7', light: 2.1, around: 1.6 };

export class Stage {
  #callbacks = new Set();
  #dirty = true;
  #last = 0;

  /** `quality`: 'low' for weak devices: no shadows, no smooth edges, no more pixels than the page has. */
  constructor(canvas, quality = 'high') {
    this.canvas = canvas;
    this.low = quality === 'low';
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.low, powerPreference: 'high-performance' });
    // Shadows are drawn anew only when something moved, and not for every picture of a headset.
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.xr.enabled = true;
    this.scene = new Scene();
    this.cell = new Cell();
    this.scene.add(this.cell);
    this.camera = new PerspectiveCamera(42, 1, 0.02, 120);
    this.frames = 0;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = !matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.controls.dampingFactor = 0.15;
    this.controls.maxDistance = 30;
    this.controls.minDistance = 0.1;
    this.controls.addEventListener('change', () => { this.#dirty = true; });
    this.#lights();
    const scheme = matchMedia('(prefers-color-scheme: light)');
    this.dress(scheme.matches ? LIGHT : DARK);
    scheme.addEventListener('change', () => this.dress(scheme.matches ? LIGHT : DARK));
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    addEventListener('resize', () => this.resize());
    this.resize();
    this.lookAtCell([0.45, 0, 0.05], 1.9);
    this.renderer.setAnimationLoop((time, frame) => this.#frame(time, frame));
  }

  get presenting() {
    return this.renderer.xr.isPresenting;
  }

  /** Something moved: draw at the next opportunity. */
  invalidate() {
    this.#dirty = true;
    this.renderer.shadowMap.needsUpdate = true;
  }

  /** Call `callback(seconds, xrFrame)` in every frame, drawn or not; it gives true if it wants the frame to be drawn. */
  onFrame(callback) {
    this.#callbacks.add(callback);
  }

  /** Look at a point of the scene's frame [m] from the person's side. */
  lookAtCell(point, distance) {
    const target = this.cell.pointToThree(point);
    this.controls.target.copy(target);
    this.camera.position.copy(target).add(new Vector3(-0.62, 0.52, 0.86).normalize().multiplyScalar(distance));
    this.controls.update();
    this.invalidate();
  }

  /** Switch shadows. */
  setShadows(wanted) {
    const on = wanted && !this.low;
    if (this.renderer.shadowMap.enabled === on) return;
    this.renderer.shadowMap.enabled = on;
    this.sun.castShadow = on;
    this.scene.traverse((object) => {
      if (object.material) object.material.needsUpdate = true;
    });
    this.invalidate();
  }

  dress(look) {
    this.scene.background = new Color(look.ground);
    this.scene.fog = new Fog(look.ground, 5, 16);
    this.hemisphere.color.set(look.sky);
    this.hemisphere.groundColor.set(look.earth);
    this.hemisphere.intensity = look.around;
    this.sun.intensity = look.light;
    this.invalidate();
  }

  resize() {
    if (this.presenting) return;
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, this.low ? 1 : LARGEST_PIXEL_RATIO));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }

  #lights() {
    this.hemisphere = new HemisphereLight();
    this.sun = new DirectionalLight(0xfff4e6, 2);
    this.sun.position.set(1.6, 3.4, 1.9);
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 3;
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.01;
    Object.assign(this.sun.shadow.camera, { left: -1.8, right: 1.8, top: 1.8, bottom: -1.8, near: 0.5, far: 8 });
    const fill = new DirectionalLight(0xdce8ff, 0.5);
    fill.position.set(-2, 1.5, -1);
    this.cell.add(this.sun, this.sun.target, fill, fill.target);
    this.scene.add(this.hemisphere, new AmbientLight(0xffffff, 0.15));
  }

  #frame(time, frame) {
    const seconds = Math.min(0.1, (time - this.#last) / 1000);
    this.#last = time;
    let wanted = this.#dirty || this.presenting;
    this.#dirty = false;
    if (!this.presenting && this.controls.update()) wanted = true;
    for (const callback of this.#callbacks) if (callback(seconds, frame)) wanted = true;
    if (!wanted) return;
    this.renderer.render(this.scene, this.camera);
    this.frames += 1;
  }
}

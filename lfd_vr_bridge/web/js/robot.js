/**
 * A robot of its URDF: live joints, mimic joints, meshes that are loaded once for all robots, and a translucent make.
 *
 * The robot's base link is put at the origin of the scene's frame, wherever the URDF's root is.
 */

import { Group, LoaderUtils, Mesh, MeshLambertMaterial, MeshStandardMaterial, Vector3 } from 'three';
import { ColladaLoader } from 'three/addons/loaders/ColladaLoader.js';
import { STLLoader } from 'three/addons/loaders/STLLoader.js';
import URDFLoader from 'urdf-loader';

const GHOST = { color: 0x4aa3ff, transparent: true, opacity: 0.34, depthWrite: false };
const loaded = new Map();

/** The scene of a mesh file, loaded once; every user gets a clone that shares geometries. */
function mesh(address, headers) {
  if (!loaded.has(address)) loaded.set(address, load(address, headers));
  return loaded.get(address).then((object) => object.clone());
}

async function load(address, headers) {
  const answer = await fetch(address, { headers });
  if (!answer.ok) throw new Error(`A mesh of the robot could not be loaded (${answer.status}).`);
  if (/\.stl$/i.test(new URL(address).pathname)) {
    const geometry = new STLLoader().parse(await answer.arrayBuffer());
    return new Mesh(geometry, new MeshStandardMaterial({ color: 0xb8bcc4, roughness: 0.6 }));
  }
  // In a URDF a mesh is used as its file has it; the loader would turn files with z up to three.js's y up.
  const text = (await answer.text()).replace(/<up_axis>\s*Z_UP\s*<\/up_axis>/, '<up_axis>Y_UP</up_axis>');
  return new ColladaLoader().parse(text, LoaderUtils.extractUrlBase(address)).scene;
}

export class Robot extends Group {
  /** `ghost`: translucent, for motions that are only planned. */
  constructor(ghost = false) {
    super();
    this.ghost = ghost;
    this.model = null;
    this.address = '';
    this.complete = false;
  }

  /** Load the URDF at an address, relative to this page; resolves when all meshes are there. */
  async load(address, base, headers = {}) {
    const whole = new URL(address, location.href);
    const answer = await fetch(whole, { headers });
    if (!answer.ok) throw new Error(`The robot's description could not be loaded (${answer.status}).`);
    const pending = [];
    const loader = new URDFLoader();
    loader.packages = (name) => `/packages/${name}`;
    loader.loadMeshCb = (path, _manager, material, done) => {
      const arrived = mesh(new URL(path, whole).href, headers).then((object) => this.#dress(object, material));
      pending.push(arrived.then(done, (error) => done(null, error)));
    };
    const model = loader.parse(await answer.text(), '');
    this.clear();
    this.model = model;
    this.address = address;
    this.add(model);
    this.#stand(base);
    for (const joint of Object.values(model.joints)) joint.ignoreLimits = true;
    await Promise.all(pending);
    this.traverse((object) => this.#finish(object));
    this.complete = true;
  }

  /** Joint positions by name [rad or m]; names that the URDF does not have are passed over. */
  setJoints(names, positions) {
    if (!this.model) return;
    names.forEach((name, index) => {
      if (this.model.joints[name]) this.model.setJointValue(name, positions[index]);
    });
  }

  /** Joint positions as shown, by name. */
  joints() {
    const entries = Object.entries(this.model?.joints ?? {}).filter(([, joint]) => joint.jointType !== 'fixed');
    return Object.fromEntries(entries.map(([name, joint]) => [name, joint.angle]));
  }

  /** The matrix of a link in three.js's world, or null. */
  linkMatrix(name) {
    const link = this.model?.links[name];
    if (!link) return null;
    link.updateWorldMatrix(true, false);
    return link.matrixWorld;
  }

  #stand(base) {
    const link = this.model.links[base];
    this.model.position.set(0, 0, 0);
    this.model.quaternion.identity();
    if (!link) return;
    this.model.updateMatrixWorld(true);
    this.updateWorldMatrix(true, false);
    const baseInRoot = link.matrixWorld.clone().premultiply(this.matrixWorld.clone().invert());
    baseInRoot.invert().decompose(this.model.position, this.model.quaternion, new Vector3());
  }

  #dress(object, material) {
    if (object.isMesh && material && !this.ghost) object.material = material;
    return object;
  }

  #finish(object) {
    if (!object.isMesh) return;
    if (this.ghost) {
      object.material = new MeshLambertMaterial(GHOST);
      object.renderOrder = 4;
      return;
    }
    object.castShadow = true;
    object.receiveShadow = true;
  }
}

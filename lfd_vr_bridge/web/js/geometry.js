/**
 * Geometries of the protocol's shapes, shared: one for all boxes, one for all spheres and so on, scaled per part.
 */

import { BoxGeometry, CapsuleGeometry, CircleGeometry, ConeGeometry, CylinderGeometry, SphereGeometry } from 'three';
import { STLLoader } from 'three/addons/loaders/STLLoader.js';

const PLANE = 9; // [m] radius as it is drawn; it fades out before
const made = new Map();
const alongZ = (geometry) => geometry.rotateX(Math.PI / 2);

const MAKERS = {
  box: () => new BoxGeometry(1, 1, 1),
  sphere: () => new SphereGeometry(1, 28, 20),
  cylinder: () => alongZ(new CylinderGeometry(1, 1, 1, 36)),
  cone: () => alongZ(new ConeGeometry(1, 1, 36)),
  plane: () => new CircleGeometry(PLANE, 64),
};

/** What tells a part's geometry from others: parts of equal key share one. */
export function keyOf(part) {
  if (part.shape === 'capsule') return `capsule ${part.radius.toFixed(4)} ${part.height.toFixed(4)}`;
  return part.shape === 'mesh' ? `mesh ${part.url}` : part.shape;
}

/** How the shared geometry is scaled for a part. */
export function scaleOf(part) {
  switch (part.shape) {
    case 'box':
      return part.size;
    case 'sphere':
      return [part.radius, part.radius, part.radius];
    case 'cylinder':
    case 'cone':
      return [part.radius, part.radius, part.height];
    default:
      return [1, 1, 1];
  }
}

/** The geometry of a part; a promise for meshes that are not loaded yet. */
export function geometryOf(part, headers = {}) {
  const key = keyOf(part);
  if (!made.has(key)) made.set(key, make(part, key, headers));
  return made.get(key);
}

function make(part, key, headers) {
  if (part.shape === 'capsule') return alongZ(new CapsuleGeometry(part.radius, part.height, 10, 28));
  if (part.shape !== 'mesh') return MAKERS[part.shape]();
  const loader = new STLLoader();
  loader.setRequestHeader(headers);
  const loading = loader.loadAsync(part.url).then((geometry) => {
    geometry.computeBoundingBox();
    made.set(key, geometry);
    return geometry;
  });
  loading.catch(() => made.delete(key));
  return loading;
}

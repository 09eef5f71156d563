"""How quickly the page draws scenes of many objects; a part of `./lfd bench vr`.

Chromium without a screen draws with the CPU, so that only ratios count. The view turns, so that every frame is drawn.
The peer in the same browser is the plain way to use three.js: a mesh with geometry and material of its own for each
object. It draws neither the robot nor shadows, which the page does.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser
from support.vr_page import VrPage, browser
from support.vr_server import SayerOfYes, running_server

from lfd_description.shapes import Box, Cylinder, Shape, Sphere
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, PlanningScene, WorldObject

SIZES = (10, 100, 1000, 10_000)
SEED = 7
FEWEST = 2  # frames of a round
ROUNDS = 2  # of page and peer in turn
CORNER = (60, 60)  # [px] from the upper left corner of the view, where only the background is
TURNING = """async ([seconds, fewest]) => {
  const canvas = document.getElementById('view');
  const {left, top, width} = canvas.getBoundingClientRect();
  let x = 0;
  const turn = () => {
    x = (x + 2) % (width / 2);
    const place = {clientX: left + width / 4 + x, clientY: top + 80, pointerId: 1, pointerType: 'mouse', buttons: 1};
    canvas.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, ...place}));
  };
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const count = async (seconds, fewest) => {
    const begin = performance.now(), before = lfd.frames;
    while (performance.now() - begin < 1000 * seconds || lfd.frames - before < fewest) {
      turn();
      await frame();
    }
    return 1000 * (lfd.frames - before) / (performance.now() - begin);
  };
  await count(0.3 * seconds, 1);
  return count(seconds, fewest);
}"""
PLAIN = """async ([objects, seconds, fewest]) => {
  const three = await import('/lib/three/build/three.module.js');
  const canvas = document.createElement('canvas');
  canvas.style.cssText = 'position: fixed; inset: 0; z-index: 99;';
  document.body.append(canvas);
  const renderer = new three.WebGLRenderer({canvas, antialias: true});
  renderer.setSize(innerWidth, innerHeight);
  const scene = new three.Scene(), camera = new three.PerspectiveCamera(42, innerWidth / innerHeight, 0.02, 120);
  const sun = new three.DirectionalLight(0xffffff, 2);
  sun.position.set(1.6, 3.4, 1.9);
  scene.add(new three.HemisphereLight(), sun);
  const make = {
    box: ([x, y, z]) => new three.BoxGeometry(x, z, y),
    cylinder: ([radius, height]) => new three.CylinderGeometry(radius, radius, height, 36),
    sphere: ([radius]) => new three.SphereGeometry(radius, 28, 20),
  };
  for (const [shape, sizes, [x, y, z]] of objects) {
    const mesh = new three.Mesh(make[shape](sizes), new three.MeshLambertMaterial({color: 0x4477aa}));
    mesh.position.set(x, z, -y);
    scene.add(mesh);
  }
  const distance = objects.length > 500 ? 6 : 2.35;
  let angle = 0, frames = 0;
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const count = async (seconds, fewest) => {
    const begin = performance.now(), before = frames;
    while (performance.now() - begin < 1000 * seconds || frames - before < fewest) {
      angle += 0.01;
      camera.position.set(distance * Math.cos(angle), 0.6 * distance, distance * Math.sin(angle));
      camera.lookAt(0.45, 0.05, 0);
      renderer.render(scene, camera);
      frames += 1;
      await frame();
    }
    return 1000 * (frames - before) / (performance.now() - begin);
  };
  await count(0.3 * seconds, 1);
  const rate = await count(seconds, fewest);
  const {calls, triangles} = renderer.info.render;
  renderer.dispose();
  canvas.remove();
  return {rate, calls, triangles};
}"""


def _box(size: float) -> Shape:
    return Box((size, 0.8 * size, 0.6 * size))


SHAPES: dict[int, Callable[[float], Shape]] = {
    3: lambda size: Cylinder(0.4 * size, size),
    7: lambda size: Sphere(0.5 * size),
}


def scene_of(count: int, seed: int = SEED) -> PlanningScene:
    """Boxes of many sizes around the robot, a tenth of them cylinders, a tenth balls; as far as the view shows."""
    rng = random.Random(seed)
    things = []
    for number in range(count):
        size = rng.uniform(0.02, 0.06)
        shape = SHAPES.get(number % 10, _box)(size)
        angle, radius = rng.uniform(0.0, 2.0 * math.pi), rng.uniform(0.3, 0.6 if count <= 100 else 2.0)
        place = (0.45 + radius * math.cos(angle), radius * math.sin(angle), rng.uniform(-0.2, 0.4))
        things.append(WorldObject(f'object_{number}', Body.of(shape), Pose(place)))
    return PlanningScene('base_link').add(*things)


def measure_frames(folder: Path, sizes: Sequence[int], seconds: float) -> list[dict]:
    """Frames a second, ours and the peer's, for each size of scene."""
    rows: list[dict] = []
    with browser() as chromium:
        for size in sizes:
            scene = scene_of(size)
            with _page(chromium, folder / str(size), scene) as page:
                rows.append(_measured(page, scene, seconds))
    for row in rows:
        row['ratio'] = row['rate'] / rows[0]['rate']
        row['to_peer'] = row['rate'] / row['peer']
    return rows


@contextmanager
def _page(chromium: Browser, folder: Path, scene: PlanningScene) -> Iterator[VrPage]:
    folder.mkdir()
    with (
        running_server(folder, scene=scene, robot=SayerOfYes()) as server,
        VrPage.opened(chromium, server.address) as page,
    ):
        page.until_ready()
        page.until('(size) => lfd.size === size', len(scene.objects))
        yield page


def _measured(page: VrPage, scene: PlanningScene, seconds: float) -> dict:
    objects = [_plain(thing) for thing in scene.objects.values()]
    ours, peers = [], []
    for _ in range(ROUNDS):
        ours.append(_turning(page, seconds / ROUNDS))
        peers.append(page.ask(PLAIN, [objects, seconds / ROUNDS, FEWEST]))
    assert page.faults == []
    drawn = page.ask('lfd.renderer')
    return {
        'objects': len(objects),
        'rate': statistics.mean(ours),
        'calls': drawn['calls'],
        'triangles': drawn['triangles'],
        'peer': statistics.mean(each['rate'] for each in peers),
        'peer_calls': peers[-1]['calls'],
        'peer_triangles': peers[-1]['triangles'],
    }


def _turning(page: VrPage, seconds: float) -> float:
    """Frames a second while the view turns under a mouse that began to drag at an empty place."""
    view = page.page.locator('#view').bounding_box()
    assert view is not None
    page.page.mouse.move(view['x'] + CORNER[0], view['y'] + CORNER[1])
    page.page.mouse.down()
    rate = page.ask(TURNING, [seconds, FEWEST])
    page.page.mouse.up()
    return float(rate)


def _plain(thing: WorldObject) -> tuple[str, list[float], list[float]]:
    place = list(thing.pose.position)
    match thing.body.parts[0].shape:
        case Box(size):
            return 'box', list(size), place
        case Cylinder(radius, height):
            return 'cylinder', [radius, height], place
        case Sphere(radius):
            return 'sphere', [radius], place
        case shape:
            raise AssertionError(shape)

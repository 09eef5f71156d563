import assert from 'node:assert/strict';
import { test } from 'node:test';
import { angleBetween, compose, cross, fromAxes, IDENTITY, inverse, normalized, rotate, transform, turn } from '../../../../lfd_vr_bridge/web/js/pose.js';

const close = (actual, expected, tolerance = 1e-12) => {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, index) => assert.ok(Math.abs(value - expected[index]) < tolerance, `${actual} is not ${expected}`));
};

/** Numbers that are the same in every run. */
export function* numbers(seed = 7) {
  let state = seed;
  for (;;) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield state / 1073741824 - 1;
  }
}

test('a pose and its inverse give nothing', () => {
  const random = numbers();
  const next = () => random.next().value;
  for (let round = 0; round < 50; round += 1) {
    const pose = [next(), next(), next(), ...normalized([next(), next(), next(), next()])];
    close(compose(pose, inverse(pose)).map(Math.abs), IDENTITY);
    assert.ok(angleBetween(pose, pose) < 1e-7);
  }
});

test('frames of axes are those axes', () => {
  const random = numbers(3);
  const next = () => random.next().value;
  for (let round = 0; round < 50; round += 1) {
    const q = normalized([next(), next(), next(), next()]);
    const pose = [0, 0, 0, ...q];
    const [x, y] = [rotate(pose, [1, 0, 0]), rotate(pose, [0, 1, 0])];
    close(rotate([0, 0, 0, ...fromAxes(x, y, cross(x, y))], [0.1, 0.2, 0.3]), rotate(pose, [0.1, 0.2, 0.3]));
  }
});

test('a point is turned, then moved', () => {
  const pose = [1, 2, 3, ...turn([0, 0, 1], Math.PI / 2)];
  close(transform(pose, [1, 0, 0]), [1, 3, 3]);
});

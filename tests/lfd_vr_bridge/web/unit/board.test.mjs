import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEIGHT, paintBoard, WIDTH } from '../../../../lfd_vr_bridge/web/js/board.js';
import { panelModel } from '../../../../lfd_vr_bridge/web/js/panel.js';
import { shortened, wrap } from '../../../../lfd_vr_bridge/web/js/words.js';
import { connected, headsetStates } from './states.mjs';

globalThis.Path2D = class {};

/** A canvas that only measures: every character is as wide as half a line, and it keeps the words that were written. */
function paper() {
  const written = [];
  const nothing = () => {};
  const context = {
    written, clearRect: nothing, beginPath: nothing, roundRect: nothing, fill: nothing, stroke: nothing, save: nothing, restore: nothing,
    translate: nothing, scale: nothing, fillText: (words) => written.push(words),
    measureText: (words) => ({ width: words.length * 0.56 * Number(/(\d+)px/.exec(context.font)[1]) }),
  };
  return context;
}

/** All boards that can be reached by turning pages and lists: `[{targets, scroll}]`. */
function boards(model) {
  const seen = new Map();
  const waiting = [{}];
  while (waiting.length) {
    const scroll = waiting.pop();
    const key = JSON.stringify(scroll, Object.keys(scroll).sort());
    if (seen.has(key)) continue;
    const targets = paintBoard(paper(), model, { scroll });
    seen.set(key, { targets, scroll });
    for (const { id, enabled } of targets) {
      const [verb, what, to] = id.split(':');
      if (verb === 'scroll' && enabled) waiting.push({ ...scroll, [what]: Number(to) });
    }
  }
  return [...seen.values()];
}

/** Ids that must be within reach of a panel: of every button, switch and field. */
function wanted(model) {
  const { tabs, view, stop, toast } = model;
  const rows = model.sections.flatMap((section) => section.rows);
  const items = rows.flatMap((row) => (row.items ?? []).flatMap((item) => (row.kind === 'list' ? item.actions ?? [] : item)));
  const others = rows.flatMap((row) => [row.action, ['toggle', 'slider'].includes(row.kind) ? { ...row, enabled: row.enabled ?? true } : null, row.kind === 'field' ? { ...row, id: 'edit' } : null]);
  return [...tabs, ...view, stop, toast?.action, ...items, ...others].filter((item) => item?.enabled && item.id).map(({ id }) => id);
}

const overlap = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

test('every button of the board can be reached, and none lies on another', () => {
  for (const [name, state] of Object.entries(headsetStates())) {
    const model = panelModel(state);
    const found = new Set();
    for (const { targets } of boards(model)) {
      targets.forEach((one, index) => {
        assert.ok(one.x >= 0 && one.y >= 0 && one.x + one.w <= WIDTH && one.y + one.h <= HEIGHT, `${name}: ${one.id} is beside the board`);
        for (const other of targets.slice(index + 1)) assert.ok(!overlap(one, other), `${name}: ${one.id} lies on ${other.id}`);
        if (one.enabled) found.add(one.id);
      });
      assert.ok(['stop', 'view:reset', 'view:leave', 'tab:view'].every((id) => targets.some((one) => one.id === id)), `${name}: what is fixed is always there`);
    }
    for (const id of wanted(model)) assert.ok(found.has(id), `${name}: ${id} cannot be reached`);
  }
});

test('stop is at one place, whatever else there is', () => {
  const places = Object.values(headsetStates()).flatMap((state) => boards(panelModel(state)).map(({ targets }) => {
    const { x, y, w, h } = targets.find(({ id }) => id === 'stop');
    return `${x} ${y} ${w} ${h}`;
  }));
  assert.equal(new Set(places).size, 1);
});

test('the newest toast is written on the board, however long it is', () => {
  const presenting = { supported: true, presenting: true };
  const words = (text) => {
    const context = paper();
    paintBoard(context, panelModel(connected({ xr: presenting, toast: { level: 'warning', text, action: null } })));
    return context.written.join(' ');
  };
  assert.match(words('Take control first.'), /Take control first\./);
  assert.match(words('Nothing but words. '.repeat(40)), /Nothing but words\..*…/);
});

test('words are broken into lines, and those without spaces too', () => {
  const measure = (text) => text.length;
  assert.deepEqual(wrap(measure, 'one two three', 7), ['one two', 'three']);
  assert.deepEqual(wrap(measure, 'a 一二三四五六七八九', 4), ['a', '一二三四', '五六七八', '九']);
  assert.deepEqual(shortened(['a', 'b', 'c'], 2), ['a', 'b …']);
});

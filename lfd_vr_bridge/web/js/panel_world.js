/**
 * The panel in the world, for headsets: panel.js's value painted on a board that rays and fingertips can press.
 *
 * The board is 0.62 m wide and stands about 0.85 m away, so that its smallest text is 1.3 degrees high.
 */

import { CanvasTexture, Group, Mesh, MeshBasicMaterial, PlaneGeometry, SRGBColorSpace, Vector3 } from 'three';
import { drawIcon } from './icons.js';
import { wrap } from './labels.js';
import { FONT, INK } from './palette.js';

const WIDTH = 1024; // [px]
const HEIGHT = 1344; // [px]
export const METRES = 0.62; // the board's width
const PAD = 34;
const GAP = 14;
const TEXT = 33; // [px] = 0.020 m
const ROW = 84;
const SHOWN = 5; // items of a list

const FILL = { primary: INK.accent, stop: INK.danger, danger: INK.danger, plain: INK.raised, key: INK.raised, quiet: null };
const LIST_TONE = { bad: INK.bad, hard: INK.hard };

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
    this.board = new Mesh(new PlaneGeometry(METRES, (METRES * HEIGHT) / WIDTH), material);
    this.board.renderOrder = 10;
    this.add(this.board);
    this.targets = [];
    this.model = null;
    this.visible = false;
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
    this.targets = [];
    const painter = new Painter(this.context, this.targets, this.#hover, this.scroll);
    painter.panel(this.model);
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
    const y = (0.5 - point.y / ((METRES * HEIGHT) / WIDTH)) * HEIGHT;
    if (x < 0 || y < 0 || x > WIDTH || y > HEIGHT) return null;
    return { x, y, distance, point: point.applyMatrix4(this.board.matrixWorld) };
  }

  /** How far in front of the board a point is [m], with its place in px; null beside the board. */
  near(point) {
    this.board.updateWorldMatrix(true, false);
    const local = point.clone().applyMatrix4(this.board.matrixWorld.clone().invert());
    const x = (local.x / METRES + 0.5) * WIDTH;
    const y = (0.5 - local.y / ((METRES * HEIGHT) / WIDTH)) * HEIGHT;
    return x < 0 || y < 0 || x > WIDTH || y > HEIGHT ? null : { x, y, front: local.z };
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
    const y = (0.5 - (target.y + target.h / 2) / HEIGHT) * ((METRES * HEIGHT) / WIDTH);
    return new Vector3(x, y, 0).applyMatrix4(this.board.matrixWorld);
  }
}

/** Paints from top to bottom and remembers where things can be pressed. */
class Painter {
  constructor(context, targets, hover, scroll) {
    this.c = context;
    this.targets = targets;
    this.hover = hover;
    this.scroll = scroll;
    this.y = PAD;
  }

  panel(model) {
    const { c } = this;
    c.clearRect(0, 0, WIDTH, HEIGHT);
    this.box(2, 2, WIDTH - 4, HEIGHT - 4, 44, `${INK.ground}f5`, INK.line);
    this.head(model.status);
    this.buttons(model.tabs, { height: 76, tabs: true, size: 29 });
    this.bottom = HEIGHT - PAD - 124;
    model.sections.forEach((section) => this.section(section));
    this.y = this.bottom + 12;
    this.button(model.stop, PAD, this.y, WIDTH - 2 * PAD, 112, 46);
  }

  head({ title, link, tone }) {
    drawIcon(this.c, 'logo', PAD, this.y, 52, INK.accent);
    this.words('lfd', PAD + 66, this.y + 27, `700 42px ${FONT}`, INK.text);
    this.words(title, PAD + 142, this.y + 27, `${TEXT}px ${FONT}`, INK.quiet, 400);
    this.c.textAlign = 'right';
    this.words(link, WIDTH - PAD, this.y + 27, `${TEXT}px ${FONT}`, INK[tone] ?? INK.quiet);
    this.c.textAlign = 'left';
    // The head is the handle by which the board is moved.
    this.targets.push({ id: 'handle', x: 0, y: 0, w: WIDTH, h: this.y + 60 });
    this.y += 74;
  }

  section({ title, count, rows, live }) {
    if (this.y > this.bottom - 60) return;
    if (title) {
      this.y += 10;
      if (live) {
        this.c.fillStyle = INK.bad;
        this.c.beginPath();
        this.c.arc(PAD + 12, this.y + 20, 12, 0, 7);
        this.c.fill();
      }
      this.words(count ? `${title}  ${count}` : title, PAD + (live ? 36 : 0), this.y + 20, `650 ${TEXT + 3}px ${FONT}`, INK.text);
      this.y += 50;
    }
    for (const row of rows) {
      if (this.y > this.bottom - 40) return;
      this[row.kind](row);
    }
  }

  buttons(row, { height = ROW, tabs = false, size = TEXT } = {}) {
    const items = row.items ?? row;
    const width = (WIDTH - 2 * PAD - GAP * (items.length - 1)) / items.length;
    items.forEach((item, index) => this.button(item, PAD + index * (width + GAP), this.y, width, height, size, tabs));
    this.y += height + GAP;
    if (items.length === 1 && items[0].reason) this.text({ text: items[0].reason, tone: 'quiet' });
  }

  button(item, x, y, w, h, size = TEXT, tab = false) {
    const on = item.enabled;
    const hovered = on && this.hover === item.id;
    let fill = tab ? null : FILL[item.tone] ?? null;
    if (item.pressed) fill = INK.raised;
    this.c.globalAlpha = on ? 1 : 0.42;
    this.box(x, y, w, h, 20, fill, hovered ? INK.text : fill ? null : INK.line, hovered ? 5 : 2);
    const color = item.tone === 'primary' ? INK.onAccent : INK.text;
    this.c.font = `600 ${size}px ${FONT}`;
    const wide = item.label ? this.c.measureText(item.label).width : 0;
    const mark = item.icon ? size * 1.2 : 0;
    const gap = mark && wide ? 12 : 0;
    const start = x + Math.max(10, (w - wide - mark - gap) / 2);
    if (mark) drawIcon(this.c, item.icon, start, y + (h - mark) / 2, mark, color);
    if (wide) this.words(item.label, start + mark + gap, y + h / 2, `600 ${size}px ${FONT}`, color, w - mark - gap - 16);
    this.c.globalAlpha = 1;
    this.targets.push({ id: item.id, x, y, w, h, enabled: on, reason: item.reason });
  }

  text({ text, tone }) {
    this.paragraph(text, PAD, WIDTH - 2 * PAD, `${TEXT}px ${FONT}`, tone === 'quiet' ? INK.quiet : INK.text);
    this.y += 8;
  }

  notice({ tone, title, text, detail }) {
    const top = this.y;
    this.y += 16;
    const width = WIDTH - 2 * PAD - 44;
    this.paragraph(title, PAD + 28, width, `650 ${TEXT}px ${FONT}`, INK.text);
    if (text) this.paragraph(text, PAD + 28, width, `${TEXT}px ${FONT}`, INK.text);
    if (detail) this.paragraph(detail, PAD + 28, width, `${TEXT}px ${FONT}`, INK.quiet);
    this.y += 8;
    this.box(PAD, top, 8, this.y - top, 4, INK[tone] ?? INK.accent, null);
    this.y += GAP;
  }

  facts({ items }) {
    for (const { label, value, tone } of items) {
      this.words(label, PAD, this.y + 22, `${TEXT}px ${FONT}`, INK.quiet, 640);
      this.c.textAlign = 'right';
      this.words(value, WIDTH - PAD, this.y + 22, `600 ${TEXT}px ${FONT}`, tone === 'live' ? INK.bad : INK.text);
      this.c.textAlign = 'left';
      this.y += 48;
    }
    this.y += 4;
  }

  toggle({ id, label, on, enabled, reason }) {
    this.c.globalAlpha = enabled ? 1 : 0.5;
    this.box(PAD, this.y, WIDTH - 2 * PAD, 72, 18, INK.raised, this.hover === id ? INK.text : null, 5);
    this.words(label, PAD + 24, this.y + 36, `600 ${TEXT}px ${FONT}`, INK.text);
    this.box(WIDTH - PAD - 116, this.y + 16, 88, 40, 20, on ? INK.accent : INK.line, null);
    this.box(WIDTH - PAD - (on ? 64 : 112), this.y + 20, 32, 32, 16, INK.text, null);
    this.c.globalAlpha = 1;
    this.targets.push({ id, x: PAD, y: this.y, w: WIDTH - 2 * PAD, h: 72, enabled, reason });
    this.y += 72 + GAP;
  }

  field({ label, value, placeholder, enabled }) {
    this.button({ id: 'edit', label: `${label}: ${value || placeholder}`, icon: 'edit', tone: 'quiet', enabled, reason: '' }, PAD, this.y, WIDTH - 2 * PAD, 72);
    this.y += 72 + GAP;
  }

  choice({ id, options, value }) {
    const index = options.findIndex((option) => option.value === value);
    const other = (step) => options[(index + step + options.length) % options.length];
    const width = WIDTH - 2 * PAD;
    this.button({ id: `${id}:${other(-1).value}`, label: '', icon: 'turn_left', tone: 'plain', enabled: true }, PAD, this.y, 110, 72);
    this.c.textAlign = 'center';
    this.words(options[index]?.label ?? '', WIDTH / 2, this.y + 36, `600 ${TEXT}px ${FONT}`, INK.text);
    this.c.textAlign = 'left';
    this.button({ id: `${id}:${other(1).value}`, label: '', icon: 'turn_right', tone: 'plain', enabled: true }, PAD + width - 110, this.y, 110, 72);
    this.y += 72 + GAP;
  }

  slider({ id, value, max, label, action }) {
    this.button(action, PAD, this.y, 96, 72);
    const x = PAD + 120;
    const width = WIDTH - 2 * PAD - 120 - 130;
    this.box(x, this.y + 28, width, 16, 8, INK.line, null);
    const part = max > 0 ? value / max : 0;
    this.box(x, this.y + 28, Math.max(16, width * part), 16, 8, INK.accent, null);
    this.box(x + width * part - 18, this.y + 18, 36, 36, 18, INK.text, null);
    this.c.textAlign = 'right';
    this.words(label, WIDTH - PAD, this.y + 36, `${TEXT}px ${FONT}`, INK.text);
    this.c.textAlign = 'left';
    this.targets.push({ id, x: x - 20, y: this.y, w: width + 40, h: 72, enabled: true, slide: (px) => max * Math.min(1, Math.max(0, (px - x) / width)) });
    this.y += 72 + GAP;
  }

  progress({ value, text }) {
    this.box(PAD, this.y + 6, WIDTH - 2 * PAD, 14, 7, INK.line, null);
    this.box(PAD, this.y + 6, (WIDTH - 2 * PAD) * (value ?? 0.3), 14, 7, INK.accent, null);
    this.y += 30;
    this.text({ text, tone: 'quiet' });
  }

  trim({ text, items }) {
    this.text({ text, tone: 'strong' });
    const worded = items.slice(0, 4).map((item) => ({ ...item, label: item.hint }));
    this.buttons(worded.slice(0, 2));
    this.buttons(worded.slice(2));
    this.buttons(items.slice(4));
  }

  list({ id, items, empty, atEnd }) {
    if (!items.length) {
      this.text({ text: empty, tone: 'quiet' });
      return;
    }
    const room = Math.max(1, Math.min(SHOWN, Math.floor((this.bottom - this.y - 90) / 76)));
    const last = Math.max(0, items.length - room);
    const from = Math.min(last, Math.max(0, this.scroll[id] ?? (atEnd ? last : 0)));
    items.slice(from, from + room).forEach((item) => this.item(item));
    if (items.length > room) {
      const step = (to, icon) => ({ id: `scroll:${id}:${to}`, label: '', icon, tone: 'plain', enabled: to >= 0 && to <= last, reason: '' });
      this.buttons([step(Math.max(from - room, from ? 0 : -1), 'up'), step(from >= last ? last + 1 : Math.min(last, from + room), 'down')], { height: 56 });
    }
  }

  item({ title, number, icon, tone, selected, muted, actions = [] }) {
    this.c.globalAlpha = muted ? 0.4 : 1;
    this.box(PAD, this.y, WIDTH - 2 * PAD, 68, 16, selected ? INK.raised : null, LIST_TONE[tone] ?? null, 3);
    drawIcon(this.c, icon, PAD + 14, this.y + 15, 38, LIST_TONE[tone] ?? INK.quiet);
    const room = actions.reduce((sum, action) => sum + (action.label ? 190 : 84), 0);
    this.words(number ? `${number}  ${title}` : title, PAD + 68, this.y + 34, `${TEXT}px ${FONT}`, INK.text, WIDTH - 2 * PAD - 90 - room);
    let x = WIDTH - PAD - room;
    for (const action of actions) {
      const width = action.label ? 180 : 74;
      this.button(action, x, this.y + 4, width, 60, 28);
      x += width + 10;
    }
    this.c.globalAlpha = 1;
    this.y += 76;
  }

  paragraph(text, x, width, font, color) {
    this.c.font = font;
    for (const line of wrap((words) => this.c.measureText(words).width, text, width)) {
      this.words(line, x, this.y + 22, font, color);
      this.y += 44;
    }
  }

  words(text, x, y, font, color, width = undefined) {
    this.c.font = font;
    this.c.fillStyle = color;
    this.c.textBaseline = 'middle';
    this.c.fillText(text, x, y, width);
  }

  box(x, y, w, h, radius, fill, line, thick = 2) {
    this.c.beginPath();
    this.c.roundRect(x, y, w, h, radius);
    if (fill) {
      this.c.fillStyle = fill;
      this.c.fill();
    }
    if (line) {
      this.c.strokeStyle = line;
      this.c.lineWidth = thick;
      this.c.stroke();
    }
  }
}

/**
 * The board of a headset as a picture: panel.js's value painted on a canvas, with the places that can be pressed.
 *
 *   ┌ toast ──────────┐  only while there is one
 *   ├ head, tabs ─────┤  fixed
 *   │ sections        │  on as many pages as they need
 *   ├ where you stand ┤  fixed
 *   └ stop ───────────┘  fixed; nothing else is ever painted there
 *
 * No three.js: tests lay it out without a browser.
 */

import { drawIcon } from './icons.js';
import { FONT, INK } from './palette.js';
import { shortened, wrap } from './words.js';

export const WIDTH = 1024; // [px]
export const NOTE = 184; // [px] above the board, for a toast
export const HEIGHT = NOTE + 1344; // [px]
const PAD = 34;
const GAP = 14;
const TEXT = 33; // [px] = 0.020 m
const LINE = 44;
const ROW = 84;
const ITEM = 76;
const TITLE = 60;
const TABS = 76;
const STOP = 112;
const FOOT = 76;
const PAGER = 64;
const SHOWN = 5; // items of a list
const FEWEST = 2; // of a list that makes room for others

const FILL = { primary: INK.accent, stop: INK.danger, danger: INK.danger, plain: INK.raised, key: INK.raised, quiet: null };
const LIST_TONE = { bad: INK.bad, hard: INK.hard };
const NOTE_TONE = { info: INK.accent, warning: INK.hard, error: INK.bad };

/**
 * Paint a panel. `scroll` says which page is shown (`page`) and from where lists are; `hover` is the id that is pointed at.
 *
 * Gives the targets: `[{id, x, y, w, h, enabled, reason, slide}]` in px.
 */
export function paintBoard(context, model, { scroll = {}, hover = null } = {}) {
  const painter = new Painter(context, scroll, hover);
  painter.panel(model);
  return painter.targets;
}

/** Paints from top to bottom and remembers where things can be pressed. */
class Painter {
  constructor(context, scroll, hover) {
    this.c = context;
    this.targets = [];
    this.scroll = scroll;
    this.hover = hover;
    this.dry = false;
  }

  panel(model) {
    this.c.clearRect(0, 0, WIDTH, HEIGHT);
    if (model.toast) this.note(model.toast);
    this.y = NOTE + PAD;
    this.box(2, NOTE + 2, WIDTH - 4, HEIGHT - NOTE - 4, 44, `${INK.ground}f5`, INK.line);
    this.head(model.status);
    this.line(model.tabs, this.y, TABS, 29, true);
    this.y += TABS + GAP;
    let bottom = HEIGHT - PAD - STOP;
    this.button(model.stop, PAD, bottom, WIDTH - 2 * PAD, STOP, 46);
    if (model.view?.length) {
      bottom -= FOOT + GAP;
      this.line(model.view, bottom, FOOT, 29);
    }
    this.body(model.sections, bottom - GAP);
  }

  note({ level, text, action }) {
    const room = WIDTH - 2 * PAD - 56 - (action ? 220 : 0);
    this.c.font = `${TEXT}px ${FONT}`;
    const lines = shortened(wrap((words) => this.c.measureText(words).width, text, room), 3);
    const high = Math.max(ROW, lines.length * LINE + 32);
    const top = NOTE - 14 - high;
    this.box(2, top, WIDTH - 4, high, 26, `${INK.raised}fa`, NOTE_TONE[level] ?? INK.accent, 4);
    drawIcon(this.c, level === 'info' ? 'info' : 'warning', PAD - 8, top + (high - 42) / 2, 42, NOTE_TONE[level] ?? INK.accent);
    lines.forEach((line, index) => this.words(line, PAD + 52, top + high / 2 + (index - (lines.length - 1) / 2) * LINE, `${TEXT}px ${FONT}`, INK.text));
    if (action) this.button(action, WIDTH - PAD - 200, top + (high - 72) / 2, 200, 72);
  }

  head({ title, link, tone }) {
    drawIcon(this.c, 'logo', PAD, this.y, 52, INK.accent);
    this.words('lfd', PAD + 66, this.y + 27, `700 42px ${FONT}`, INK.text);
    this.words(title, PAD + 142, this.y + 27, `${TEXT}px ${FONT}`, INK.quiet, 400);
    this.right(link, WIDTH - PAD, this.y + 27, `${TEXT}px ${FONT}`, INK[tone] ?? INK.quiet);
    // The head is the handle by which the board is moved.
    this.target({ id: 'handle', x: 0, y: NOTE, w: WIDTH, h: this.y + 60 - NOTE });
    this.y += 74;
  }

  // Pages -----------------------------------------------------------------------------------------------------------------

  /** All sections from here to `bottom`: on one page, or on several with buttons to turn them. */
  body(sections, bottom) {
    const blocks = sections.flatMap((section) => this.blocksOf(section));
    let pages = paged(blocks, bottom - this.y);
    if (pages.length > 1) pages = paged(blocks, bottom - this.y - PAGER - GAP);
    const last = pages.length - 1;
    const shown = Math.min(last, Math.max(0, this.scroll.page ?? 0));
    for (const { block, room } of pages[shown]) block.draw(room);
    if (last > 0) this.pager(shown, last, bottom - PAGER);
  }

  pager(shown, last, y) {
    const turn = (to, icon) => ({ id: `scroll:page:${to}`, label: '', icon, tone: 'plain', enabled: to >= 0 && to <= last, reason: 'There is no more' });
    const width = (WIDTH - 2 * PAD - 220) / 2;
    this.button(turn(shown - 1, 'up'), PAD, y, width, PAGER);
    this.centred(`${shown + 1} of ${last + 1}`, y + PAGER / 2, INK.quiet);
    this.button(turn(shown + 1, 'down'), WIDTH - PAD - width, y, width, PAGER);
  }

  /** The rows of a section, each with its height; the title goes with the first. */
  blocksOf({ title, count, rows, live }) {
    return rows.map((row, index) => {
      const head = title && index === 0 ? TITLE : 0;
      return {
        height: (room) => head + this.heightOf(row, room - head),
        draw: (room) => {
          if (head) this.title(title, count, live);
          this[row.kind](row, room - head);
        },
      };
    });
  }

  /** How high a row is that may have `room` px. */
  heightOf(row, room) {
    const { y, dry } = this;
    this.dry = true;
    this.y = 0;
    this[row.kind](row, room);
    const height = this.y;
    Object.assign(this, { y, dry });
    return height;
  }

  title(title, count, live) {
    this.y += 10;
    if (live) this.box(PAD, this.y + 8, 24, 24, 12, INK.bad, null);
    this.words(count ? `${title}  ${count}` : title, PAD + (live ? 36 : 0), this.y + 20, `650 ${TEXT + 3}px ${FONT}`, INK.text);
    this.y += TITLE - 10;
  }

  // Rows, by their kinds ----------------------------------------------------------------------------------------------------

  buttons({ items }, _, height = ROW) {
    this.line(items, this.y, height);
    this.y += height + GAP;
    if (items.length === 1 && items[0].reason) this.text({ text: items[0].reason, tone: 'quiet' });
  }

  text({ text, tone }) {
    this.paragraph(text, PAD, WIDTH - 2 * PAD, `${TEXT}px ${FONT}`, tone === 'quiet' ? INK.quiet : INK.text);
    this.y += 8;
  }

  notice({ tone, title, text, detail }, room) {
    const top = this.y;
    const most = Math.max(3, Math.floor((room - 40) / LINE));
    this.y += 16;
    const width = WIDTH - 2 * PAD - 44;
    let left = most - this.paragraph(title, PAD + 28, width, `650 ${TEXT}px ${FONT}`, INK.text, most);
    if (text && left > 0) left -= this.paragraph(text, PAD + 28, width, `${TEXT}px ${FONT}`, INK.text, left);
    if (detail && left > 0) this.paragraph(detail, PAD + 28, width, `${TEXT}px ${FONT}`, INK.quiet, left);
    this.y += 8;
    this.box(PAD, top, 8, this.y - top, 4, INK[tone] ?? INK.accent, null);
    this.y += GAP;
  }

  facts({ items }) {
    for (const { label, value, tone } of items) {
      this.words(label, PAD, this.y + 22, `${TEXT}px ${FONT}`, INK.quiet, 640);
      this.right(value, WIDTH - PAD, this.y + 22, `600 ${TEXT}px ${FONT}`, tone === 'live' ? INK.bad : INK.text);
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
    this.target({ id, x: PAD, y: this.y, w: WIDTH - 2 * PAD, h: 72, enabled, reason });
    this.y += 72 + GAP;
  }

  field({ label, value, placeholder, enabled }) {
    this.button({ id: 'edit', label: `${label}: ${value || placeholder}`, icon: 'edit', tone: 'quiet', enabled, reason: '' }, PAD, this.y, WIDTH - 2 * PAD, 72);
    this.y += 72 + GAP;
  }

  choice({ id, options, value }) {
    const index = options.findIndex((option) => option.value === value);
    const other = (step) => options[(index + step + options.length) % options.length];
    const step = (to, icon, x) => this.button({ id: `${id}:${to.value}`, label: '', icon, tone: 'plain', enabled: true }, x, this.y, 110, 72);
    step(other(-1), 'turn_left', PAD);
    this.centred(options[index]?.label ?? '', this.y + 36, INK.text, `600 ${TEXT}px ${FONT}`);
    step(other(1), 'turn_right', WIDTH - PAD - 110);
    this.y += 72 + GAP;
  }

  slider({ id, value, max, label, action }) {
    this.button(action, PAD, this.y, 96, 72);
    const x = PAD + 132;
    const width = WIDTH - 2 * PAD - 132 - 130;
    this.box(x, this.y + 28, width, 16, 8, INK.line, null);
    const part = max > 0 ? value / max : 0;
    this.box(x, this.y + 28, Math.max(16, width * part), 16, 8, INK.accent, null);
    this.box(x + width * part - 18, this.y + 18, 36, 36, 18, INK.text, null);
    this.right(label, WIDTH - PAD, this.y + 36, `${TEXT}px ${FONT}`, INK.text);
    this.target({ id, x: x - 20, y: this.y, w: width + 40, h: 72, enabled: true, slide: (px) => max * Math.min(1, Math.max(0, (px - x) / width)) });
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
    for (const some of [worded.slice(0, 2), worded.slice(2), items.slice(4)]) this.buttons({ items: some });
  }

  /** As many items as there is room for, with buttons to see the others. */
  list({ id, items, empty, atEnd }, room) {
    if (!items.length) {
      this.text({ text: empty, tone: 'quiet' });
      return;
    }
    const scrolls = (count) => (count < items.length ? PAGER + GAP : 0);
    let count = Math.min(SHOWN, items.length);
    while (count > FEWEST && count * ITEM + scrolls(count) > room) count -= 1;
    const last = items.length - count;
    const from = Math.min(last, Math.max(0, this.scroll[id] ?? (atEnd ? last : 0)));
    items.slice(from, from + count).forEach((item) => this.item(item));
    if (!last) return;
    const step = (to, icon, enabled) => ({ id: `scroll:${id}:${to}`, label: '', icon, tone: 'plain', enabled, reason: 'There is no more' });
    const steps = [step(Math.max(0, from - count), 'up', from > 0), step(Math.min(last, from + count), 'down', from < last)];
    this.buttons({ items: steps }, room, PAGER);
  }

  item({ title, number, icon, tone, selected, muted, inner, actions = [] }) {
    const x = PAD + (inner ? 40 : 0);
    this.c.globalAlpha = muted ? 0.4 : 1;
    this.box(x, this.y, WIDTH - PAD - x, 68, 16, selected ? INK.raised : null, LIST_TONE[tone] ?? null, 3);
    if (!this.dry) drawIcon(this.c, icon, x + 14, this.y + 15, 38, LIST_TONE[tone] ?? INK.quiet);
    const widths = actions.map((action) => (action.label ? 190 : 84));
    let at = WIDTH - PAD - widths.reduce((sum, width) => sum + width, 0);
    this.words(number ? `${number}  ${title}` : title, x + 68, this.y + 34, `${TEXT}px ${FONT}`, INK.text, at - x - 80);
    actions.forEach((action, index) => {
      this.button(action, at, this.y + 4, widths[index] - 10, 60, 28);
      at += widths[index];
    });
    this.c.globalAlpha = 1;
    this.y += ITEM;
  }

  // Pieces ----------------------------------------------------------------------------------------------------------------

  /** Buttons side by side. */
  line(items, y, height, size = TEXT, tabs = false) {
    const width = (WIDTH - 2 * PAD - GAP * (items.length - 1)) / items.length;
    items.forEach((item, index) => this.button(item, PAD + index * (width + GAP), y, width, height, size, tabs));
  }

  button(item, x, y, w, h, size = TEXT, tab = false) {
    this.target({ id: item.id, x, y, w, h, enabled: item.enabled, reason: item.reason });
    if (this.dry) return;
    const hovered = item.enabled && this.hover === item.id;
    let fill = tab ? null : FILL[item.tone] ?? null;
    if (item.pressed) fill = INK.raised;
    this.c.globalAlpha = item.enabled ? 1 : 0.42;
    this.box(x, y, w, h, 20, fill, hovered ? INK.text : fill ? null : INK.line, hovered ? 5 : 2);
    const color = item.tone === 'primary' ? INK.onAccent : INK.text;
    this.c.font = `600 ${size}px ${FONT}`;
    const mark = item.icon ? size * 1.2 : 0;
    const gap = mark && item.label ? 12 : 0;
    const wide = item.label ? Math.min(this.c.measureText(item.label).width, w - mark - gap - 20) : 0;
    const start = x + (w - wide - mark - gap) / 2;
    if (mark) drawIcon(this.c, item.icon, start, y + (h - mark) / 2, mark, color);
    if (wide) this.words(item.label, start + mark + gap, y + h / 2, `600 ${size}px ${FONT}`, color, wide);
    this.c.globalAlpha = 1;
  }

  target(target) {
    if (!this.dry) this.targets.push(target);
  }

  /** Lines of text, at most so many; gives their number. */
  paragraph(text, x, width, font, color, most = Infinity) {
    this.c.font = font;
    const lines = shortened(wrap((words) => this.c.measureText(words).width, text, width), most);
    for (const line of lines) {
      this.words(line, x, this.y + 22, font, color);
      this.y += LINE;
    }
    return lines.length;
  }

  right(text, x, y, font, color) {
    this.c.textAlign = 'right';
    this.words(text, x, y, font, color);
    this.c.textAlign = 'left';
  }

  centred(text, y, color, font = `${TEXT}px ${FONT}`) {
    this.c.textAlign = 'center';
    this.words(text, WIDTH / 2, y, font, color);
    this.c.textAlign = 'left';
  }

  words(text, x, y, font, color, width = undefined) {
    if (this.dry) return;
    this.c.font = font;
    this.c.fillStyle = color;
    this.c.textBaseline = 'middle';
    this.c.fillText(text, x, y, width);
  }

  box(x, y, w, h, radius, fill, line, thick = 2) {
    if (this.dry) return;
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

/** Blocks on pages of `room` px, in order: `[[{block, room}], ...]`; at least one page. */
function paged(blocks, room) {
  const pages = [[]];
  let left = room;
  for (const block of blocks) {
    if (block.height(left) > left && pages.at(-1).length) {
      pages.push([]);
      left = room;
    }
    pages.at(-1).push({ block, room: left });
    left -= block.height(left);
  }
  return pages;
}

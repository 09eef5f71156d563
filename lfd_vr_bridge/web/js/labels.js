/**
 * Words beside things: a card that always faces the person, of one size for the eye wherever it is.
 *
 * In a headset a line is 1.4 degrees high; on a screen as high as the page's own text.
 */

import { CanvasTexture, Sprite, SpriteMaterial, SRGBColorSpace } from 'three';
import { drawIcon } from './icons.js';
import { FONT, INK, TONES } from './palette.js';
import { wrap } from './words.js';

const SCALE = 2.5; // canvas pixels for a pixel of the page's text
const WIDTH = 250; // [px] of text at most
const LINE = 18; // [px]
const ABOVE = -0.1; // of its height the card begins above the thing, so as not to hide it
const LINE_IN_HEADSET = 0.025; // tan of a line's angle

export class Label extends Sprite {
  #shown = '';

  constructor() {
    super(new SpriteMaterial({ depthTest: false, depthWrite: false, sizeAttenuation: false, transparent: true, fog: false }));
    this.center.set(0, 0.5);
    this.renderOrder = 20;
    this.visible = false;
    this.size = [1, 1];
  }

  /** Show a title with an icon, and lines of explanation; gives whether the picture changed. */
  show({ title, text = '', hint = '', tone = 'unknown', icon = 'info' }) {
    this.visible = true;
    const key = JSON.stringify([title, text, hint, tone, icon]);
    if (key === this.#shown) return false;
    this.#shown = key;
    this.text = [title, text, hint].filter(Boolean).join(' · ');
    const canvas = paint({ title, text, hint, tone, icon });
    this.material.map?.dispose();
    this.material.map = new CanvasTexture(canvas);
    this.material.map.colorSpace = SRGBColorSpace;
    this.material.needsUpdate = true;
    this.size = [canvas.width / SCALE, canvas.height / SCALE];
    return true;
  }

  hide() {
    this.visible = false;
  }

  /** Free what the graphics card keeps of it. */
  dispose() {
    this.material.map?.dispose();
    this.material.dispose();
  }

  /** Fit to the eye: `perPixel` is the tangent of the angle of one pixel of the page; no wider than `room` px. */
  fit(perPixel, room) {
    const shrink = Math.min(1, room / this.size[0]);
    this.scale.set(this.size[0] * perPixel * shrink, this.size[1] * perPixel * shrink, 1);
  }

  /** The same in a headset. */
  fitHeadset() {
    this.center.set(0, ABOVE);
    this.fit(LINE_IN_HEADSET / LINE, Infinity);
  }

  /** Stand where there is room: right of the thing, left of it, or else above; `x` of `width` px is where the thing is. */
  choose(x, width) {
    const wide = this.size[0];
    const over = x + wide - width;
    this.center.set(0, ABOVE);
    if (over <= 0) return;
    if (x >= wide) this.center.x = 1;
    else this.center.set(Math.min(1, over / wide), -0.25);
  }
}

function paint({ title, text, hint, tone, icon }) {
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');
  const bold = `600 14px ${FONT}`;
  const plain = `13px ${FONT}`;
  const measureWith = (font) => (words) => {
    context.font = font;
    return context.measureText(words).width;
  };
  const rows = [
    ...wrap(measureWith(bold), title, WIDTH - 24).map((words) => ({ words, font: bold, color: INK.text, indent: 24 })),
    ...wrap(measureWith(plain), text, WIDTH).map((words) => ({ words, font: plain, color: INK.text, indent: 0 })),
    ...wrap(measureWith(plain), hint, WIDTH).map((words) => ({ words, font: plain, color: INK.quiet, indent: 0 })),
  ];
  const widest = Math.max(...rows.map((row) => row.indent + measureWith(row.font)(row.words)));
  const gap = 14; // between the thing and its card
  canvas.width = Math.ceil((widest + 24 + 2 * gap) * SCALE); // beside the thing on either side
  canvas.height = Math.ceil((rows.length * LINE + 18) * SCALE);
  context.scale(SCALE, SCALE);
  context.fillStyle = `${INK.ground}ee`;
  context.beginPath();
  context.roundRect(gap, 1, widest + 24, rows.length * LINE + 15, 9);
  context.fill();
  context.fillStyle = TONES[tone] ?? TONES.unknown;
  context.beginPath();
  context.roundRect(gap, 1, 4, rows.length * LINE + 15, [9, 0, 0, 9]);
  context.fill();
  drawIcon(context, icon, gap + 12, 8, 17, TONES[tone] ?? TONES.unknown);
  context.textBaseline = 'middle';
  rows.forEach((row, index) => {
    context.font = row.font;
    context.fillStyle = row.color;
    context.fillText(row.words, gap + 13 + row.indent, 9 + LINE * (index + 0.5));
  });
  return canvas;
}

/**
 * Icons as SVG paths on a 24 x 24 grid, drawn with round strokes; used by the page (SVG) and by canvases (Path2D).
 */

export const ICONS = {
  record: 'M12 5a7 7 0 1 0 0 14a7 7 0 1 0 0-14z',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  undo: 'M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-3',
  save: 'M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5',
  plan: 'M5 19c0-7 14-4 14-12M5 19h.01M19 7l-3 1M19 7l1 3',
  play: 'M8 5l11 7l-11 7z',
  pause: 'M8 5v14M16 5v14',
  stop: 'M6.5 6.5h11v11h-11z',
  eye: 'M2.5 12S6 5.5 12 5.5S21.5 12 21.5 12S18 18.5 12 18.5S2.5 12 2.5 12zM12 9.2a2.8 2.8 0 1 0 0 5.6a2.8 2.8 0 1 0 0-5.6z',
  pick: 'M8 3v6a4 4 0 0 0 8 0V3M12 13v3M6 21l6-5l6 5',
  place: 'M12 3v9M8.5 9L12 12.5L15.5 9M4 17h16M7 21h10',
  path: 'M4 18c4 0 4-12 8-12s4 12 8 12',
  clock: 'M12 4a8 8 0 1 0 0 16a8 8 0 1 0 0-16zM12 8v4.5l3 2',
  plug: 'M9 3v5M15 3v5M6.5 8h11v3a5.5 5.5 0 0 1-11 0zM12 16.5V21',
  hand: 'M8 12V6.5a1.5 1.5 0 0 1 3 0V11M11 11V5a1.5 1.5 0 0 1 3 0v6M14 11V6.5a1.5 1.5 0 0 1 3 0V14a6 6 0 0 1-6 6c-3 0-4-1.5-5.5-4.5L4 13a1.4 1.4 0 0 1 2.5-1.2L8 13.5',
  people: 'M9 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6zM3.5 19c0-3.3 2.4-5.5 5.5-5.5s5.5 2.2 5.5 5.5M16 5.5a3 3 0 0 1 0 5.5M17 13.6c2.2.5 3.5 2.5 3.5 5.4',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.8v4.4M9 14.8v4.4',
  library: 'M5 4v16M10 4v16M14.5 4.6l4.5 15',
  headset: 'M4 9c0-1.7 1.3-3 3-3h10c1.7 0 3 1.3 3 3v5c0 1.7-1.3 3-3 3h-1.5l-2-2.5h-3l-2 2.5H7c-1.7 0-3-1.3-3-3zM2 10v3M22 10v3',
  trim: 'M7 4a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5zM7 15a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5zM9 8l11 9M9 16L20 7',
  download: 'M12 4v11M7.5 11l4.5 4.5L16.5 11M5 20h14',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  log: 'M6 3h9l4 4v14H6zM15 3v4h4M9 12h7M9 16h7',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  reset: 'M5 5v5h5M5.5 10a7.5 7.5 0 1 1-1 5',
  gauge: 'M4 17a8.5 8.5 0 1 1 16 0M12 14l4-5',
  warning: 'M12 4L2.8 19.5h18.4zM12 10v4.5M12 17h.01',
  info: 'M12 4a8 8 0 1 0 0 16a8 8 0 1 0 0-16zM12 11v5M12 8h.01',
  keyboard: 'M3 7h18v10H3zM6.5 10h.01M10 10h.01M14 10h.01M17.5 10h.01M8 13.5h8',
  turn_left: 'M9 5L5 9l4 4M5 9h9a5 5 0 0 1 5 5v5',
  turn_right: 'M15 5l4 4l-4 4M19 9h-9a5 5 0 0 0-5 5v5',
  nearer: 'M12 5v13M6.5 12.5L12 18l5.5-5.5',
  farther: 'M12 19V6M6.5 11.5L12 6l5.5 5.5',
  close: 'M6 6l12 12M18 6L6 18',
  snap: 'M6 4v8a6 6 0 0 0 12 0V4M6 8h4V4M14 4v4h4',
  up: 'M6 15l6-6l6 6',
  down: 'M6 9l6 6l6-6',
  add: 'M12 5v14M5 12h14',
  logo: 'M6 20h8M10 20v-4M10 16L6 11l4-5l5-1M15 5l3-1.5M15 5l3 2.5M6 11h.01',
};

const FILLED = new Set(['record', 'play', 'stop']);
const SVG = 'http://www.w3.org/2000/svg';

/** An SVG element of an icon. */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.classList.add('icon');
  if (FILLED.has(name)) svg.classList.add('filled');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name] ?? ICONS.info);
  svg.append(path);
  return svg;
}

/** Draw an icon into a canvas at its upper left corner, `size` px wide. */
export function drawIcon(context, name, x, y, size, color) {
  context.save();
  context.translate(x, y);
  context.scale(size / 24, size / 24);
  const path = new Path2D(ICONS[name] ?? ICONS.info);
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 1.9;
  context.lineCap = context.lineJoin = 'round';
  if (FILLED.has(name)) context.fill(path);
  else context.stroke(path);
  context.restore();
}

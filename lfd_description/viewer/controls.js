// ---------------------------------------------------------------- controls

const movable = data.links.map((link) => link.joint).filter((joint) => joint && !joint.mimic);
const factor = (joint) => (joint.turns ? 180 / Math.PI : 1000);
const shownAs = new Map();

function element(kind, parent, properties) {
  return parent.appendChild(Object.assign(document.createElement(kind), properties));
}

function addJoint(joint, number, changed) {
  const row = element('div', byId('joints'), { className: 'joint' }), id = `joint${number}`;
  element('label', row, { textContent: joint.name, title: joint.name, htmlFor: id });
  const scale = factor(joint), bounds = { min: (joint.lower * scale).toFixed(1), max: (joint.upper * scale).toFixed(1), step: 0.1 };
  const box = element('input', row, { type: 'number', ariaLabel: `${joint.name} as a number`, ...bounds });
  element('span', row, { className: 'unit', textContent: joint.turns ? '°' : 'mm' });
  const slider = element('input', row, { type: 'range', id, ...bounds });
  const set = (input) => {
    const value = Number(input.value);
    if (!Number.isFinite(value) || input.value === '') return;
    positions[joint.name] = Math.min(Math.max(value / scale, joint.lower), joint.upper);
    changed();
  };
  slider.addEventListener('input', () => set(slider));
  box.addEventListener('change', () => { set(box); refresh(); });
  shownAs.set(joint.name, () => {
    const value = ((positions[joint.name] || 0) * scale).toFixed(1);
    slider.value = value;
    if (document.activeElement !== box) box.value = value;
  });
}

function refresh() {
  for (const show of shownAs.values()) show();
  for (const button of byId('poses').children) {
    const pose = data.poses[Number(button.dataset.pose)].joints;
    const there = Object.entries(pose).every(([name, value]) => Math.abs((positions[name] || 0) - value) < 1e-3);
    button.ariaPressed = String(there);
  }
}

function glide(goal, picture) {
  const start = Object.assign({}, positions), begin = performance.now(), time = still.matches ? 0 : 500;
  const step = (now) => {
    const share = time ? Math.min(Math.max((now - begin) / time, 0), 1) : 1, ease = share * share * (3 - 2 * share);
    for (const [name, value] of Object.entries(goal)) positions[name] = (start[name] || 0) + (value - (start[name] || 0)) * ease;
    refresh();
    picture.changed();
    if (share < 1) requestAnimationFrame(step);
  };
  step(begin);
}

function steer(picture) {
  const fingers = new Map();
  const turn = (dx, dy) => {
    picture.view.azimuth -= dx * 0.008;
    picture.view.elevation = Math.min(Math.max(picture.view.elevation + dy * 0.008, -1.5), 1.55);
  };
  const shift = (dx, dy) => {
    const { right, up } = picture.axes(), size = 2 * picture.view.distance * Math.tan(HALF) / canvas.clientHeight;
    picture.view.target = plus(picture.view.target, plus(scaled(right, -dx * size), scaled(up, dy * size)));
  };
  const zoom = (times) => {
    const { radius } = data.camera;
    picture.view.distance = Math.min(Math.max(picture.view.distance * times, 0.2 * radius), 40 * radius);
  };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event);
    byId('hint').hidden = true;
  });
  for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  canvas.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
    if (fingers.size === 2) {
      const [other] = [...fingers.values()].filter((finger) => finger.pointerId !== event.pointerId);
      const apart = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY);
      zoom(apart(before) / Math.max(apart(event), 1));
      shift(dx / 2, dy / 2);
    } else if (event.shiftKey || event.buttons & 6) shift(dx, dy);
    else turn(dx, dy);
    fingers.set(event.pointerId, event);
    picture.changed();
  });
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    zoom(Math.exp(Math.min(Math.max(event.deltaY, -100), 100) * 0.002));
    picture.changed();
  }, { passive: false });
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('dblclick', () => picture.reset());
  const keys = { ArrowLeft: () => turn(-12, 0), ArrowRight: () => turn(12, 0), ArrowUp: () => turn(0, 12), ArrowDown: () => turn(0, -12),
    '+': () => zoom(0.9), '-': () => zoom(1.1), Home: () => picture.reset() };
  canvas.addEventListener('keydown', (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
    picture.changed();
  });
}

function start() {
  byId('title').textContent = data.title;
  byId('subtitle').textContent = data.subtitle;
  if (!gl) return fail('This browser has no WebGL 2, which the 3-D view needs; the PNG picture beside this page shows the robot.');
  const picture = new Picture();
  movable.forEach((joint, number) => addJoint(joint, number, () => { refresh(); picture.changed(); }));
  data.poses.forEach((pose, number) => {
    const button = element('button', byId('poses'), { type: 'button', textContent: pose.name });
    button.dataset.pose = number;
    button.addEventListener('click', () => glide(pose.joints, picture));
  });
  const collides = data.parts.some((part) => part.collision);
  byId('collision').disabled = !collides;
  for (const id of ['visual', 'collision', 'frames']) byId(id).addEventListener('change', () => picture.changed());
  dark.addEventListener('change', () => picture.changed());
  new ResizeObserver(() => picture.changed()).observe(canvas);
  canvas.addEventListener('webglcontextlost', () => fail('The graphics card gave up on the 3-D view; load the page again.'));
  steer(picture);
  refresh();
}

start();

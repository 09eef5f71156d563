/**
 * The panel on the page: panel.js's value as HTML, changed in place so that focus and pointers survive.
 */

import { icon } from './icons.js';

/** A node: tag, properties, children. `key` in the properties tells it from others. */
const h = (tag, props, ...children) => ({ tag, props: props ?? {}, children: children.flat().filter((child) => child !== null && child !== undefined && child !== '') });

export class HtmlPanel {
  #told = null;

  /** `root`: the element; `press(id)` and `change(id, value)` are called. */
  constructor(root, press, change) {
    this.root = root;
    this.press = press;
    this.change = change;
    root.addEventListener('click', (event) => this.#clicked(event));
    root.addEventListener('input', (event) => this.#typed(event));
    root.addEventListener('keydown', (event) => {
      const submit = event.target.dataset?.submit;
      if (event.key === 'Enter' && submit) this.press(submit);
    });
  }

  draw(model) {
    const key = JSON.stringify(model);
    if (key === this.#told) return;
    this.#told = key;
    patchChildren(this.root, tree(model));
    for (const list of this.root.querySelectorAll('[data-follow="end"]')) {
      if (list.dataset.length !== String(list.children.length)) list.scrollTop = list.scrollHeight;
      list.dataset.length = String(list.children.length);
    }
  }

  /** Bring the end of a section into sight. */
  reveal(id) {
    this.root.querySelector(`[data-section="${id}"]`)?.lastElementChild?.scrollIntoView({ block: 'nearest' });
  }

  #clicked(event) {
    const target = event.target.closest('[data-action]');
    if (!target || target.getAttribute('aria-disabled') === 'true') return;
    this.press(target.dataset.action);
  }

  #typed(event) {
    const { field } = event.target.dataset;
    if (field) this.change(field, event.target.type === 'range' ? Number(event.target.value) : event.target.value);
  }
}

// The tree --------------------------------------------------------------------------------------------------------------

function tree(model) {
  return [
    h('header', { key: 'header', class: 'head' },
      h('span', { class: 'logo', icon: 'logo' }),
      h('span', { class: 'title' }, h('b', {}, 'lfd'), h('span', { class: 'quiet' }, model.status.title)),
      h('span', { class: `chip ${model.status.tone}`, role: 'status', title: 'Connection to the bridge, and its latency' }, h('i', { class: 'dot' }), model.status.link)),
    h('nav', { key: 'tabs', class: 'tabs', role: 'tablist' }, model.tabs.map((tab) => drawButton(tab, 'tab'))),
    h('div', { key: 'body', class: 'body' }, model.sections.map(section)),
    h('footer', { key: 'foot', class: 'foot' }, drawButton(model.stop, 'stop')),
  ];
}

function section(part) {
  const head = part.title ? h('h2', {}, part.live ? h('i', { class: 'live' }) : null, part.title, part.count ? h('span', { class: 'count' }, String(part.count)) : null) : null;
  return h('section', { key: part.id, 'data-section': part.id }, head, part.rows.map((one, index) => drawRow(one, `${one.kind} ${one.id ?? index}`)));
}

function drawButton(item, extra = '') {
  const label = item.label || item.hint || '';
  return h('button', {
    key: item.id, type: 'button', class: `button ${item.tone} ${extra} ${item.label ? '' : 'only-icon'}`, 'data-action': item.id,
    'aria-disabled': String(!item.enabled), 'aria-pressed': String(item.pressed), 'aria-label': item.reason ? `${label}: ${item.reason}` : label,
    title: item.reason || item.hint || '', icon: item.icon,
  }, item.label ? h('span', {}, item.label) : null);
}

const ROWS = {
  buttons: (row) => h('div', { class: 'row' }, row.items.map((item) => drawButton(item)), reasonOf(row.items)),
  text: (row) => h('p', { class: row.tone }, row.text),
  notice: (row) => h('div', { class: `notice ${row.tone}`, role: 'status' }, h('b', {}, row.title), row.text ? h('p', {}, row.text) : null, row.detail ? h('p', { class: 'quiet' }, row.detail) : null),
  facts: (row) => h('dl', { class: 'facts' }, row.items.map((item) => h('div', {}, h('dt', {}, item.label), h('dd', { class: item.tone ?? '' }, item.value)))),
  toggle: (row) => h('button', { type: 'button', class: 'toggle', role: 'switch', 'aria-checked': String(row.on), 'aria-disabled': String(!row.enabled), 'data-action': row.id, title: row.reason },
    h('span', { class: 'words' }, h('b', {}, row.label), h('small', {}, row.enabled ? row.detail : row.reason)), h('i', { class: 'switch' })),
  field: (row) => h('label', { class: 'field' }, h('span', {}, row.label), h('div', { class: 'row' },
    h('input', { type: 'text', value: row.value, placeholder: row.placeholder, 'data-field': row.id, 'data-submit': row.action?.id ?? 'save', disabled: !row.enabled, maxlength: '60', autocomplete: 'off', spellcheck: 'false' }),
    row.action ? drawButton(row.action) : null)),
  choice: (row) => h('label', { class: 'field' }, h('span', {}, row.label), h('select', { 'data-field': row.id, value: row.value },
    row.options.map((option) => h('option', { value: option.value, selected: option.value === row.value }, option.label)))),
  slider: (row) => h('div', { class: 'row slider' }, drawButton(row.action),
    h('input', { type: 'range', min: '0', max: String(row.max), step: 'any', value: String(row.value), 'data-field': row.id, 'aria-label': 'Time of the motion' }), h('output', {}, row.label)),
  progress: (row) => h('div', { class: 'progress' }, h('progress', row.value === null ? {} : { value: String(row.value), max: '1' }), h('small', {}, row.text)),
  trim: (row) => h('div', { class: 'trim' }, h('p', {}, row.text), h('div', { class: 'row' },
    h('small', {}, 'First'), row.items.slice(0, 2).map((item) => drawButton(item)), h('small', {}, 'Last'), row.items.slice(2, 4).map((item) => drawButton(item))),
  h('div', { class: 'row' }, row.items.slice(4).map((item) => drawButton(item)))),
  list: (row) => (row.items.length
    ? h('ol', { class: 'list', 'data-list': row.id, 'data-follow': row.atEnd ? 'end' : 'none' }, row.items.map(listItem))
    : h('p', { class: 'empty' }, row.empty)),
};

function drawRow(row, key) {
  const node = ROWS[row.kind](row);
  node.props.key = `${key}${row.kind === 'list' && !row.items.length ? ' empty' : ''}`;
  return node;
}

/** Why the only button of a row cannot be pressed, in words below it. */
function reasonOf(items) {
  const [first] = items;
  return items.length === 1 && first.reason ? h('small', { class: 'reason' }, first.reason) : null;
}

function listItem(item) {
  return h('li', { key: item.id, class: `${item.selected ? 'selected' : ''} ${item.muted ? 'muted' : ''} ${item.inner ? 'inner' : ''} ${item.tone ?? ''}`, 'data-item': item.id },
    h('span', { class: 'mark', icon: item.icon }), h('span', { class: 'words' }, h('b', {}, item.number ? `${item.number}  ${item.title}` : item.title), item.detail ? h('small', {}, item.detail) : null),
    item.actions?.length ? h('span', { class: 'actions' }, item.actions.map((action) => drawButton(action, 'small'))) : null);
}

// Changing the page in place --------------------------------------------------------------------------------------------

const kept = new WeakMap();

function patchChildren(element, nodes) {
  const old = [...element.childNodes].filter((child) => !child.classList?.contains('icon'));
  const byKey = new Map(old.filter((child) => kept.get(child)?.key).map((child) => [kept.get(child).key, child]));
  let at = element.firstChild;
  while (at && at.classList?.contains('icon')) at = at.nextSibling;
  const used = new Set();
  nodes.forEach((node, index) => {
    const child = fitting(node, byKey, old[index], used) ?? make(node);
    used.add(child);
    if (child !== at) element.insertBefore(child, at);
    else at = at.nextSibling;
    patch(child, node);
  });
  for (const child of old) if (!used.has(child)) child.remove();
}

function fitting(node, byKey, old, used) {
  const candidate = typeof node === 'object' && node.props.key ? byKey.get(node.props.key) : old;
  if (!candidate || used.has(candidate)) return null;
  if (typeof node === 'string') return candidate.nodeType === Node.TEXT_NODE ? candidate : null;
  if (candidate.nodeType !== Node.ELEMENT_NODE || candidate.localName !== node.tag) return null;
  return (kept.get(candidate)?.key ?? null) === (node.props.key ?? null) ? candidate : null;
}

function make(node) {
  if (typeof node === 'string') return document.createTextNode('');
  const element = document.createElement(node.tag);
  kept.set(element, { key: node.props.key });
  return element;
}

function patch(element, node) {
  if (typeof node === 'string') {
    if (element.data !== node) element.data = node;
    return;
  }
  const before = kept.get(element);
  for (const [name, value] of Object.entries(node.props)) if (before[name] !== value) setProperty(element, name, value);
  for (const name of Object.keys(before)) if (!(name in node.props)) element.removeAttribute(name);
  kept.set(element, node.props);
  patchChildren(element, node.children);
}

function setProperty(element, name, value) {
  if (name === 'key') return;
  if (name === 'icon') {
    element.querySelector(':scope > .icon')?.remove();
    if (value) element.prepend(icon(value));
  } else if (name === 'value') {
    // What is being typed must not be overwritten by what was known a moment ago.
    if (element !== document.activeElement || element.type === 'range' || element.localName === 'progress') element.value = value;
  } else if (typeof value === 'boolean') element[name] = value;
  else element.setAttribute(name, value);
}

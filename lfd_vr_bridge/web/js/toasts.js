/** Short words that come and go: at the page's lower edge, and (the newest) above the board in a headset. */

import { icon } from './icons.js';

const STAYS = { info: 4000, warning: 7000, error: 10000 }; // [ms]
const WITH_ACTION = 10000; // [ms]
const MOST = 4;

export class Toasts {
  #shown = []; // [{level, text, action, element, timer}], the newest last

  /** `root`: the element; `onNewest({level, text, action} | null)` is told which is the newest; `press(id)` does an action. */
  constructor(root, onNewest = () => {}, press = () => {}) {
    this.root = root;
    this.onNewest = onNewest;
    this.press = press;
    this.last = [];
  }

  /** Show words of a level (info, warning, error); `action`: a button `{id, label, icon}` that goes with them. */
  show = (level, text, action = null) => {
    this.last = [...this.last, { level, text }].slice(-20);
    for (const same of this.#shown.filter((one) => one.text === text)) this.#take(same);
    const toast = { level, text, action: action && { tone: 'plain', enabled: true, reason: '', ...action } };
    toast.element = this.#element(toast);
    toast.timer = setTimeout(() => this.#remove(toast), action ? WITH_ACTION : STAYS[level] ?? STAYS.info);
    this.#shown.push(toast);
    this.root.append(toast.element);
    while (this.#shown.length > MOST) this.#take(this.#shown[0]);
    this.#tell();
  };

  /** An action was taken: what offered it goes. */
  done(id) {
    for (const toast of this.#shown.filter((one) => one.action?.id === id)) this.#remove(toast);
  }

  #element(toast) {
    const element = document.createElement('div');
    element.className = `toast ${toast.level}`;
    element.setAttribute('role', toast.level === 'info' ? 'status' : 'alert');
    const words = document.createElement('span');
    words.textContent = toast.text;
    element.append(icon(toast.level === 'info' ? 'info' : 'warning'), words);
    if (toast.action) element.append(this.#button(toast.action));
    element.addEventListener('click', () => this.#remove(toast));
    return element;
  }

  #button({ id, label }) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'button plain small';
    button.dataset.action = id;
    button.textContent = label;
    button.addEventListener('click', () => this.press(id));
    return button;
  }

  #remove(toast) {
    if (!this.#shown.includes(toast)) return;
    this.#take(toast);
    this.#tell();
  }

  #take(toast) {
    clearTimeout(toast.timer);
    toast.element.remove();
    this.#shown = this.#shown.filter((one) => one !== toast);
  }

  #tell() {
    const newest = this.#shown.at(-1);
    this.onNewest(newest ? { level: newest.level, text: newest.text, action: newest.action } : null);
  }
}

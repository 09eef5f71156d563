/** Short words that come and go at the page's lower edge, and beside the board in a headset. */

import { icon } from './icons.js';

const STAYS = { info: 4000, warning: 7000, error: 10000 }; // [ms]
const MOST = 4;

export class Toasts {
  /** `root`: the element; `onShow(level, text)` is told too. */
  constructor(root, onShow = () => {}) {
    this.root = root;
    this.onShow = onShow;
    this.last = [];
  }

  show = (level, text) => {
    this.last = [...this.last, { level, text }].slice(-20);
    this.onShow(level, text);
    const same = [...this.root.children].find((one) => one.dataset.text === text);
    same?.remove();
    const toast = document.createElement('div');
    toast.className = `toast ${level}`;
    toast.dataset.text = text;
    toast.setAttribute('role', level === 'info' ? 'status' : 'alert');
    const words = document.createElement('span');
    words.textContent = text;
    toast.append(icon(level === 'info' ? 'info' : 'warning'), words);
    toast.addEventListener('click', () => toast.remove());
    this.root.append(toast);
    while (this.root.children.length > MOST) this.root.firstElementChild.remove();
    setTimeout(() => toast.remove(), STAYS[level] ?? STAYS.info);
  };
}

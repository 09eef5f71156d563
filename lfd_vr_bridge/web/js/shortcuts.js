/** Keys of the page, and the overlay that explains them. */

import { buttonOf } from './panel.js';

export const SHORTCUTS = [
  ['R', 'Start or complete the recording'],
  ['U', 'Undo the last step'],
  ['P', 'Plan'],
  ['Space', 'Play or pause the preview'],
  ['← →', 'Step through the preview'],
  ['Esc', 'Stop the robot; put a held object back'],
  ['F', 'Look at the work area'],
  ['Drag', 'Move an object level; with Shift up and down'],
  ['Wheel, Q E', 'Turn the held object'],
  ['W S, A D', 'Tip the held object'],
  ['Page ↑ ↓', 'Lift or lower the held object'],
  ['Alt', 'with these keys: small steps'],
  ['?', 'This help'],
];

export class Shortcuts {
  /** `page` gives: press(id), toast(level, text), store, mouse, ghost, lookAround(), help (a dialog). */
  constructor(page) {
    this.page = page;
    const list = page.help.querySelector('dl');
    for (const [keys, words] of SHORTCUTS) {
      const term = document.createElement('dt');
      term.textContent = keys;
      const meaning = document.createElement('dd');
      meaning.textContent = words;
      list.append(term, meaning);
    }
    page.help.addEventListener('click', (event) => {
      if (event.target === page.help || event.target.closest('button')) page.help.close();
    });
    addEventListener('keydown', (event) => this.#key(event));
  }

  #key(event) {
    const typing = event.target.closest?.('input[type="text"], input[inputmode], select, dialog');
    if (typing || event.ctrlKey || event.metaKey) return;
    if (this.page.mouse.key(event) || this.#act(event)) event.preventDefault();
  }

  #act({ key, target }) {
    const { press, store, ghost, help } = this.page;
    const { recording, plan } = store.state;
    const onButton = Boolean(target.closest?.('button'));
    switch (key.length === 1 ? key.toLowerCase() : key) {
      case 'r':
        return this.#press(recording.state === 'recording' ? 'complete_recording' : 'start_recording');
      case 'u':
        return this.#press('undo');
      case 'p':
        return this.#press('plan');
      case ' ':
        return plan?.ok && !onButton ? press(ghost.playing ? 'ghost:pause' : 'ghost:play') : false;
      case 'ArrowLeft':
      case 'ArrowRight':
        if (!plan?.ok) return false;
        ghost.pause();
        ghost.scrub(ghost.time + (key === 'ArrowLeft' ? -0.1 : 0.1));
        return true;
      case 'Escape':
        return press('stop');
      case 'f':
        this.page.lookAround();
        return true;
      case '?':
        help.showModal();
        return true;
      default:
        return false;
    }
  }

  /** Press what the panel has, if it can be pressed there; else say why not. */
  #press(id) {
    const { press, store, toast } = this.page;
    const item = buttonOf({ ...store.state, tab: 'task', typing: null }, id);
    if (item?.enabled) return press(id);
    toast('info', item?.reason || 'This cannot be done just now.');
    return true;
  }
}

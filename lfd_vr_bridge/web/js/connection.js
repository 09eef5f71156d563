/**
 * The connection to the bridge: pairing, requests with answers, news, latency, and coming back without a reload.
 *
 * The token of an earlier pairing is kept in localStorage, for this origin. See docs/vr_protocol.md.
 */

import { workerWires } from './wires.js';

export const PROTOCOL = 1;
const FIRST_WAIT = 250; // [ms] doubled at every vain try
const LONGEST_WAIT = 5000; // [ms]
const NOT_PAIRED = ['wrong_code', 'unknown_token']; // why a person must type a code; all else passes
const TOKEN = 'lfd.token';

/** What the bridge did not do, and why. */
export class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** What the name of this device is unless the person gives one. */
export function deviceName(agent = navigator.userAgent) {
  const known = [
    [/Quest 3S/, 'Quest 3S'], [/Quest 3/, 'Quest 3'], [/Quest Pro/, 'Quest Pro'], [/Quest/, 'Quest'], [/PICO|Pico/, 'Pico'],
    [/Vision/, 'Vision Pro'], [/iPhone/, 'iPhone'], [/iPad/, 'iPad'], [/Android/, 'Android'], [/Macintosh/, 'Mac'],
    [/Windows/, 'Windows PC'], [/Linux/, 'Linux PC'],
  ];
  return known.find(([pattern]) => pattern.test(agent))?.[1] ?? 'Browser';
}

/** What tells this page from other tabs of the device, for as long as it is loaded. */
export function pageId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export class Connection extends EventTarget {
  #wire = null;
  #waiting = new Map();
  #next = 1;
  #code = null;
  #tries = 0;
  #retry = null;
  #closed = false;
  #page = pageId();

  /** `storage` is where the token is kept; `address` defaults to this page's host; `wires` opens wires (wires.js). */
  constructor({ address, name = deviceName(), storage = localStorage, wires = workerWires() } = {}) {
    super();
    this.address = address ?? `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`;
    this.name = name;
    this.storage = storage;
    this.wires = wires;
    this.open = false;
  }

  get token() {
    return this.storage.getItem(TOKEN);
  }

  /** Connect: with the token of an earlier pairing, else with a code. A code of an old link harms no paired device. */
  connect(code = null) {
    this.#closed = false;
    this.#code = code ?? this.#code;
    clearTimeout(this.#retry);
    this.#drop();
    if (!this.#code && !this.token) {
      this.#tell('pairing', { message: '' });
      return;
    }
    this.#tell('connecting', {});
    this.#wire = this.wires(this.address, {
      open: () => this.#send(this.#hello()),
      message: (text) => this.#receive(JSON.parse(text)),
      latency: (latency) => this.#tell('latency', { latency }),
      close: () => this.#lost(),
    });
  }

  /** Close for good. */
  close() {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#drop();
  }

  /** Forget the pairing. */
  forget() {
    this.storage.removeItem(TOKEN);
  }

  /** Ask for something; the promise gives the answer's fields, or fails with Refused. */
  request(type, fields = {}) {
    if (!this.open) return Promise.reject(new Refused('offline', 'The connection to the bridge is lost; it is being restored.'));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ type, id, ...fields });
    });
  }

  /** Say something that is not answered. */
  say(type, fields = {}) {
    if (this.open) this.#send({ type, ...fields });
  }

  #hello() {
    const { token } = this;
    return { type: 'hello', protocol: PROTOCOL, name: this.name, page: this.#page, ...(token ? { token } : { code: this.#code }) };
  }

  #send(frame) {
    this.#wire.send(JSON.stringify(frame));
  }

  #receive(frame) {
    switch (frame.type) {
      case 'welcome':
        return this.#welcome(frame);
      case 'done':
        return this.#answer(frame.id, (waiting) => waiting.resolve(frame));
      case 'refused':
        return this.open || frame.id !== undefined ? this.#refused(frame) : this.#notAdmitted(frame);
      default:
        return this.#tell('news', frame);
    }
  }

  #welcome(frame) {
    this.open = true;
    this.#tries = 0;
    this.#code = null;
    if (frame.token) this.storage.setItem(TOKEN, frame.token);
    this.#wire.beat();
    this.#tell('open', frame);
  }

  #refused(frame) {
    const answered = this.#answer(frame.id, (waiting) => waiting.reject(new Refused(frame.code, frame.message)));
    if (!answered) this.#tell('news', { type: 'notice', level: 'warning', text: frame.message });
  }

  /** The bridge does not let this device in: it pairs anew, or, if that would not help, comes again later. */
  #notAdmitted({ code, message }) {
    if (!NOT_PAIRED.includes(code)) {
      this.#lost(message);
      return;
    }
    if (code === 'unknown_token') this.forget();
    else this.#code = null;
    if (this.#code) {
      this.connect();
      return;
    }
    this.#drop();
    this.#tell('pairing', { message, code });
  }

  #answer(id, how) {
    const waiting = this.#waiting.get(id);
    if (!waiting) return false;
    this.#waiting.delete(id);
    how(waiting);
    return true;
  }

  #drop() {
    this.#wire?.close();
    this.#wire = null;
    this.open = false;
    for (const { reject } of this.#waiting.values()) {
      reject(new Refused('offline', 'The connection was lost before the bridge answered.'));
    }
    this.#waiting.clear();
  }

  #lost(message = '') {
    this.#drop();
    if (this.#closed) return;
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#tries);
    this.#tries += 1;
    this.#tell('lost', { wait, message });
    this.#retry = setTimeout(() => this.connect(), wait);
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

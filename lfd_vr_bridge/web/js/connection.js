/**
 * The WebSocket to the bridge: pairing, requests with answers, news, latency, and coming back without a reload.
 *
 * The token of an earlier pairing is kept in localStorage, for this origin. See docs/vr_protocol.md.
 */

export const PROTOCOL = 1;
const FIRST_WAIT = 250; // [ms] doubled at every vain try
const LONGEST_WAIT = 5000; // [ms]
const PING_EVERY = 1000; // [ms]
const SILENCE = 6000; // [ms] without a word the connection is taken for lost
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

export class Connection extends EventTarget {
  #socket = null;
  #waiting = new Map();
  #next = 1;
  #code = null;
  #tries = 0;
  #retry = null;
  #pinger = null;
  #heard = 0;
  #closed = false;

  /** `storage` is where the token is kept; `address` of the WebSocket defaults to this page's host. */
  constructor({ address, name = deviceName(), storage = localStorage } = {}) {
    super();
    this.address = address ?? `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`;
    this.name = name;
    this.storage = storage;
    this.open = false;
  }

  get token() {
    return this.storage.getItem(TOKEN);
  }

  /** Connect; with a code to pair anew, else with the token of an earlier pairing. */
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
    const socket = new WebSocket(this.address);
    this.#socket = socket;
    socket.onopen = () => socket.send(JSON.stringify(this.#hello()));
    socket.onmessage = (event) => socket === this.#socket && this.#receive(JSON.parse(event.data));
    socket.onclose = () => socket === this.#socket && this.#lost();
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
    const hello = { type: 'hello', protocol: PROTOCOL, name: this.name };
    return this.#code ? { ...hello, code: this.#code } : { ...hello, token: this.token };
  }

  #send(frame) {
    this.#socket.send(JSON.stringify(frame));
  }

  #receive(frame) {
    this.#heard = performance.now();
    switch (frame.type) {
      case 'welcome':
        return this.#welcome(frame);
      case 'pong':
        return this.#tell('latency', { latency: performance.now() - frame.t });
      case 'done':
        return this.#answer(frame.id, (waiting) => waiting.resolve(frame));
      case 'refused':
        return this.open || frame.id !== undefined ? this.#refused(frame) : this.#notPaired(frame);
      default:
        return this.#tell('news', frame);
    }
  }

  #welcome(frame) {
    this.open = true;
    this.#tries = 0;
    this.#code = null;
    if (frame.token) this.storage.setItem(TOKEN, frame.token);
    this.#pinger = setInterval(() => this.#ping(), PING_EVERY);
    this.#ping();
    this.#tell('open', frame);
  }

  #ping() {
    if (performance.now() - this.#heard > SILENCE) {
      this.#lost();
      return;
    }
    this.say('ping', { t: performance.now() });
  }

  #refused(frame) {
    const answered = this.#answer(frame.id, (waiting) => waiting.reject(new Refused(frame.code, frame.message)));
    if (!answered) this.#tell('news', { type: 'notice', level: 'warning', text: frame.message });
  }

  #notPaired(frame) {
    // A stale token asks for a new pairing; what is refused for another reason (a pause) keeps it.
    if (!this.#code && /token/.test(frame.code ?? '')) this.forget();
    this.#code = null;
    this.#drop();
    this.#tell('pairing', { message: frame.message, code: frame.code });
  }

  #answer(id, how) {
    const waiting = this.#waiting.get(id);
    if (!waiting) return false;
    this.#waiting.delete(id);
    how(waiting);
    return true;
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    this.open = false;
    clearInterval(this.#pinger);
    if (socket) socket.close();
    for (const { reject } of this.#waiting.values()) {
      reject(new Refused('offline', 'The connection was lost before the bridge answered.'));
    }
    this.#waiting.clear();
  }

  #lost() {
    this.#drop();
    if (this.#closed) return;
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#tries);
    this.#tries += 1;
    this.#tell('lost', { wait });
    this.#retry = setTimeout(() => this.connect(), wait);
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

/**
 * One WebSocket that keeps its own time: it pings, measures how long the bridge takes to answer, and notices silence.
 *
 * It lives in a worker (wire_worker.js), so that what it measures is the link, and not how long the page takes to draw.
 */

const PING_EVERY = 1000; // [ms]
const SILENCE = 6000; // [ms] without a word the connection is taken for lost

export class Wire {
  #socket;
  #timer;
  #heard = performance.now();
  #beats = false;

  /** `on` is told: open(), message(text), latency(ms) and, once, close(). */
  constructor(address, on) {
    this.on = on;
    this.#socket = new WebSocket(address);
    this.#socket.onopen = () => this.#hear(() => on.open());
    this.#socket.onmessage = ({ data }) => this.#hear(() => this.#receive(data));
    this.#socket.onclose = () => this.#over();
    this.#timer = setInterval(() => this.#tick(), PING_EVERY);
  }

  /** Begin to ping: the bridge answers from its welcome on. */
  beat() {
    this.#beats = true;
    this.#ping();
  }

  send(text) {
    if (this.#socket?.readyState === 1) this.#socket.send(text);
  }

  /** Close without telling. */
  close() {
    const socket = this.#socket;
    this.#socket = null;
    clearInterval(this.#timer);
    socket?.close();
  }

  #hear(then) {
    if (!this.#socket) return;
    this.#heard = performance.now();
    then();
  }

  #receive(text) {
    const pong = text.length < 200 && text.includes('"pong"') ? JSON.parse(text) : null;
    if (pong?.type === 'pong') this.on.latency(performance.now() - pong.t);
    else this.on.message(text);
  }

  #tick() {
    if (performance.now() - this.#heard > SILENCE) this.#over();
    else if (this.#beats) this.#ping();
  }

  #ping() {
    this.send(JSON.stringify({ type: 'ping', t: performance.now() }));
  }

  #over() {
    if (!this.#socket) return;
    this.close();
    this.on.close();
  }
}

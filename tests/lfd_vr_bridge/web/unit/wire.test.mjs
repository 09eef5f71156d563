import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Wire } from '../../../../lfd_vr_bridge/web/js/wire.js';

/** A socket that the test plays the bridge of, and a clock that it turns. */
class Socket {
  static newest = null;
  readyState = 1;
  sent = [];

  constructor() {
    Socket.newest = this;
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.closed = true;
  }
}
globalThis.WebSocket = Socket;

function wire() {
  let now = 1000;
  mock.method(performance, 'now', () => now);
  mock.timers.enable({ apis: ['setInterval'] });
  const told = [];
  const tell = (what) => (value) => told.push([what, value]);
  const made = new Wire('ws://bridge/ws', { open: tell('open'), message: tell('message'), latency: tell('latency'), close: tell('close') });
  const pass = (ms) => {
    now += ms;
    mock.timers.tick(ms);
  };
  return { made, socket: Socket.newest, told, pass };
}

test('latency is the time between ping and pong', () => {
  const { made, socket, told, pass } = wire();
  socket.onopen();
  made.beat();
  pass(7);
  socket.onmessage({ data: JSON.stringify({ type: 'pong', t: socket.sent[0].t, now: 0 }) });
  assert.deepEqual(told.at(-1), ['latency', 7]);
  socket.onmessage({ data: '{"type": "notice", "text": "pong"}' });
  assert.equal(told.at(-1)[0], 'message');
  made.close();
  mock.reset();
});

test('a link that is silent is lost, before and after the welcome, and that is told once', () => {
  for (const greeted of [false, true]) {
    const { made, socket, told, pass } = wire();
    if (greeted) {
      socket.onopen();
      made.beat();
    }
    for (let second = 0; second < 9; second += 1) pass(1000);
    socket.onclose();
    assert.equal(told.filter(([what]) => what === 'close').length, 1);
    assert.ok(socket.closed);
    mock.reset();
  }
});

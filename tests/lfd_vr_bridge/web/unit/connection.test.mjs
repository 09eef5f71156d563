import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Connection, deviceName } from '../../../../lfd_vr_bridge/web/js/connection.js';

/** A socket that the test plays the bridge of. */
class Socket {
  static made = [];
  sent = [];

  constructor() {
    Socket.made.push(this);
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.closed = true;
  }

  say(frame) {
    this.onmessage({ data: JSON.stringify(frame) });
  }
}
globalThis.WebSocket = Socket;

function storage(token = null) {
  const kept = new Map(token ? [['lfd.token', token]] : []);
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value), removeItem: (key) => kept.delete(key) };
}

function connected(code) {
  const connection = new Connection({ address: 'ws://bridge/ws', name: 'test', storage: storage() });
  const told = [];
  for (const type of ['open', 'pairing', 'lost', 'news', 'connecting']) connection.addEventListener(type, ({ detail }) => told.push([type, detail]));
  connection.connect(code);
  const socket = Socket.made.at(-1);
  socket?.onopen?.();
  return { connection, socket, told };
}

test('pairs with a code, keeps the token, and pairs the form without one', () => {
  const { connection, socket } = connected('123456');
  assert.equal(socket.sent[0].code, '123456');
  socket.say({ type: 'welcome', client: 'c1', token: 'secret' });
  assert.equal(connection.token, 'secret');
  connection.close();
  const alone = connected(null);
  assert.equal(alone.told[0][0], 'pairing');
  alone.connection.close();
});

test('a wrong code asks again, and a request before the welcome fails', async () => {
  const { connection, socket, told } = connected('000000');
  await assert.rejects(connection.request('plan'), { code: 'offline' });
  socket.say({ type: 'refused', code: 'wrong_code', message: 'This code is wrong.' });
  assert.deepEqual(told.at(-1), ['pairing', { message: 'This code is wrong.', code: 'wrong_code' }]);
  connection.close();
});

test('answers go to who asked, and what is open fails when the connection is lost', async () => {
  const { connection, socket, told } = connected('123456');
  socket.say({ type: 'welcome', client: 'c1', token: 'secret' });
  const first = connection.request('undo');
  const second = connection.request('save', { name: 'x' });
  const third = connection.request('run');
  const ids = socket.sent.filter((frame) => frame.id).map((frame) => frame.id);
  socket.say({ type: 'done', id: ids[1], version: 3 });
  socket.say({ type: 'refused', id: ids[0], code: 'nothing', message: 'Nothing to undo.' });
  assert.equal((await second).version, 3);
  await assert.rejects(first, { code: 'nothing', message: 'Nothing to undo.' });
  socket.onclose();
  await assert.rejects(third, { code: 'offline' });
  assert.equal(told.at(-1)[0], 'lost');
  connection.close();
});

test('devices have names', () => {
  assert.equal(deviceName('Mozilla/5.0 (X11; Linux x86_64; Quest 3) OculusBrowser'), 'Quest 3');
  assert.equal(deviceName('something'), 'Browser');
});

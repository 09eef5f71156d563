import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Connection, deviceName } from '../../../../lfd_vr_bridge/web/js/connection.js';

function storage(token = null) {
  const kept = new Map(token ? [['lfd.token', token]] : []);
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value), removeItem: (key) => kept.delete(key) };
}

/** A connection whose bridge is played by the test: `bridge.say(frame)`, `bridge.heard`, `bridge.hang()`; `bridges` are all. */
function connected({ code = null, token = null } = {}) {
  const bridges = [];
  const wires = (address, on) => {
    const heard = [];
    bridges.push({ heard, say: (frame) => on.message(JSON.stringify(frame)), hang: () => on.close() });
    queueMicrotask(() => on.open());
    return { send: (text) => heard.push(JSON.parse(text)), beat() {}, close() {} };
  };
  const connection = new Connection({ address: 'ws://bridge/ws', name: 'test', storage: storage(token), wires });
  const told = [];
  for (const type of ['open', 'pairing', 'lost', 'news', 'connecting']) connection.addEventListener(type, ({ detail }) => told.push([type, detail]));
  connection.connect(code);
  return { connection, bridges, bridge: bridges[0], told };
}
const soon = () => new Promise((resolve) => setTimeout(resolve));

test('pairs with a code, keeps the token, and asks for a code without one', async () => {
  const { connection, bridge } = connected({ code: '123456' });
  await soon();
  assert.equal(bridge.heard[0].code, '123456');
  assert.match(bridge.heard[0].page, /^[A-Za-z0-9_-]{8,64}$/);
  bridge.say({ type: 'welcome', client: 'c1', token: 'secret' });
  assert.equal(connection.token, 'secret');
  connection.close();
  const alone = connected();
  assert.equal(alone.told[0][0], 'pairing');
  alone.connection.close();
});

test('a page has one name of itself for as long as it is loaded', async () => {
  const { connection, bridges } = connected({ token: 'secret' });
  await soon();
  connection.connect();
  await soon();
  assert.equal(bridges[0].heard[0].page, bridges[1].heard[0].page);
  connection.close();
});

test('an old link on a paired device comes in with the token, and a forgotten one pairs with the code', async () => {
  const { connection, bridges, told } = connected({ code: '123456', token: 'secret' });
  await soon();
  assert.deepEqual([bridges[0].heard[0].token, bridges[0].heard[0].code], ['secret', undefined]);
  bridges[0].say({ type: 'refused', code: 'unknown_token', message: 'Not paired any more.' });
  await soon();
  assert.deepEqual([bridges[1].heard[0].token, bridges[1].heard[0].code], [undefined, '123456']);
  assert.ok(told.every(([type]) => type !== 'pairing'), 'nobody is asked');
  connection.close();
});

test('a wrong code asks again, and a request before the welcome fails', async () => {
  const { connection, bridge, told } = connected({ code: '000000' });
  await soon();
  await assert.rejects(connection.request('plan'), { code: 'offline' });
  bridge.say({ type: 'refused', code: 'wrong_code', message: 'This code is wrong.' });
  assert.deepEqual(told.at(-1), ['pairing', { message: 'This code is wrong.', code: 'wrong_code' }]);
  connection.close();
});

test('what passes by itself is tried again, and keeps the pairing', async () => {
  for (const code of ['full', 'pause', 'ending']) {
    const { connection, bridges, told } = connected({ token: 'secret' });
    await soon();
    bridges[0].say({ type: 'refused', code, message: 'Later.' });
    assert.deepEqual([told.at(-1)[0], told.at(-1)[1].message], ['lost', 'Later.'], code);
    assert.equal(connection.token, 'secret');
    await new Promise((resolve) => { connection.addEventListener('connecting', resolve); });
    await soon();
    assert.equal(bridges[1].heard[0].token, 'secret');
    connection.close();
  }
});

test('answers go to who asked, and what is open fails when the connection is lost', async () => {
  const { connection, bridge, told } = connected({ code: '123456' });
  await soon();
  bridge.say({ type: 'welcome', client: 'c1', token: 'secret' });
  const first = connection.request('undo');
  const second = connection.request('save', { name: 'x' });
  const third = connection.request('run');
  const ids = bridge.heard.filter((frame) => frame.id).map((frame) => frame.id);
  bridge.say({ type: 'done', id: ids[1], version: 3 });
  bridge.say({ type: 'refused', id: ids[0], code: 'nothing', message: 'Nothing to undo.' });
  assert.equal((await second).version, 3);
  await assert.rejects(first, { code: 'nothing', message: 'Nothing to undo.' });
  bridge.hang();
  await assert.rejects(third, { code: 'offline' });
  assert.equal(told.at(-1)[0], 'lost');
  connection.close();
});

test('devices have names', () => {
  assert.equal(deviceName('Mozilla/5.0 (X11; Linux x86_64; Quest 3) OculusBrowser'), 'Quest 3');
  assert.equal(deviceName('something'), 'Browser');
});

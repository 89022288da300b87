/** Peers that mean harm or are broken, on a real socket: refused or bounded, with no side effect (I1, I5, I11, I12). */
import { chmod, lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startIpcServer } from '../../src/ipc/index.ts';
import { IPC_LIMITS } from '../../src/ipc/limits.ts';
import { openWorld, type Peer, RUN, type World } from '../support/wire/world.ts';

let world: World;

beforeEach(async () => {
  world = await openWorld();
});
afterEach(async () => {
  vi.useRealTimers();
  await world.end();
});

/** A good client is served, whatever the others do. */
async function expectServing(): Promise<void> {
  const good = await world.greeted();
  good.send({ id: 1, method: 'runs.list' });
  expect((await good.answer(1)).result).toEqual([]);
  good.socket.destroy();
}

const STOP = '{"jsonrpc":"2.0","id":1,"method":"run.stop","params":{"now":true,"by":"user"}}\n';

describe.each(['socket', 'tcp'] as const)('what a browser can send (%s)', (kind) => {
  let own: World;
  beforeEach(async () => {
    own = await openWorld(kind === 'tcp' ? { socketPath: 'tcp' } : {});
  });
  afterEach(() => own.end());

  test.each([
    ['a request', `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n${STOP}`],
    ['one with an Origin', `POST / HTTP/1.1\r\nOrigin: http://evil.example\r\n\r\n${STOP}`],
    ['a rebound name', `GET /${STOP} HTTP/1.1\r\nHost: evil.example\r\n\r\n${STOP}`],
    ['a WebSocket', `GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n${STOP}`],
    ['HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${STOP}`],
    ['a method nobody knows', `{ / HTTP/1.1\r\n\r\n${STOP}`],
    ['TLS', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])],
    ['a body with the first line left out', STOP],
  ])('%s: the connection ends, nothing is done', async (_name, bytes) => {
    const peer = await own.socket();
    peer.send(bytes);
    await peer.closed;
    expect(own.called).toEqual([]);
    expect(peer.messages.every((one) => one.error !== undefined)).toBe(true);
  });

  test('one letter at a time', async () => {
    const peer = await own.socket();
    for (const letter of 'GET ') peer.send(letter);
    await peer.closed;
    expect(own.called).toEqual([]);
  });
});

test('loopback TCP wants the token too, and serves who has it', async () => {
  const own = await openWorld({ socketPath: 'tcp' });
  expect(own.server.file.socket).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/);
  const peer = await own.socket();
  peer.send({ id: 1, method: 'hello', params: { token: 'x', protocol: 1 } });
  await peer.closed;
  expect(peer.messages[0].error.data.code).toBe('ipc/token');
  const client = await own.client();
  expect(await client.call('runs.list', {})).toEqual([]);
  await own.end();
});

test('a gibibyte in one line is counted, not kept; before hello 4 KiB are enough', async () => {
  const piece = Buffer.alloc(1_048_576, 0x78);
  for (const peer of [await world.socket(), await world.greeted()]) {
    const before = process.memoryUsage();
    peer.send('{');
    let sent = 0;
    while (!peer.socket.destroyed && sent < 1_024) {
      sent += 1;
      if (!peer.socket.write(piece)) {
        await Promise.race([
          peer.closed,
          new Promise((resolve) => {
            peer.socket.once('drain', resolve);
          }),
        ]);
      }
    }
    await peer.closed;
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(64 * 1_048_576);
  }
  await expectServing();
});

test('one byte a second: whoever has not said hello in time is dropped', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const peer = await world.socket();
  peer.send('{');
  // It is there on the other side when a later connection is.
  const later = await world.socket();
  later.socket.destroy();
  for (let second = 0; second < 6; second += 1) {
    peer.send('"');
    await vi.advanceTimersByTimeAsync(1_000);
  }
  await peer.closed;
  expect(world.called).toEqual([]);
  vi.useRealTimers();
  await expectServing();
});

test('I12: any number of half-open connections keeps no client out', async () => {
  const strangers: Peer[] = [];
  for (let count = 0; count < 200; count += 1) strangers.push(await world.socket());
  await expectServing();
  // The oldest are gone, the newest have their time.
  await strangers[0]!.closed;
  const open = strangers.filter((one) => !one.socket.destroyed && one.socket.readable);
  expect(open.length).toBeLessThanOrEqual(IPC_LIMITS.strangersMax + 1);
  await expectServing();
});

test.each([
  ['a million entries', `[${'1,'.repeat(999_999)}1]`, 'ipc/request'],
  ['a million requests', `[${'{},'.repeat(999_999)}{}]`, 'ipc/request'],
  [
    'deep arrays',
    `{"jsonrpc":"2.0","id":1,"method":"status","params":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    'ipc/request',
  ],
  ['deep objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`, 'ipc/request'],
  [
    '__proto__',
    '{"jsonrpc":"2.0","id":1,"method":"status","__proto__":{"role":"person"}}',
    'ipc/request',
  ],
  [
    'an escaped __proto__',
    '{"jsonrpc":"2.0","id":1,"method":"policy.explain","params":{"tool":"bash","input":{"\\u005f_proto__":{}}}}',
    'ipc/request',
  ],
  [
    'constructor',
    '{"jsonrpc":"2.0","id":1,"method":"policy.explain","params":{"tool":"bash","input":{"constructor":{"prototype":{}}}}}',
    'ipc/request',
  ],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xc3, 0x28, 0x7d]), 'ipc/parse'],
  ['an overlong form', Buffer.from([0x7b, 0xc0, 0xaf, 0x7d]), 'ipc/parse'],
  ['half a surrogate', Buffer.from([0x7b, 0xed, 0xa0, 0x80, 0x7d]), 'ipc/parse'],
])('%s: refused, and the connection lives on', async (_name, line, code) => {
  const peer = await world.greeted();
  peer.send(line);
  peer.send('\n');
  await expect.poll(() => peer.messages.length).toBe(2);
  expect(peer.messages[1].error.data.code).toBe(code);
  expect(world.called).toEqual([]);
  expect(({} as { role?: string }).role).toBeUndefined();
  peer.send({ id: 9, method: 'runs.list' });
  expect((await peer.answer(9)).result).toEqual([]);
});

test('a batch before hello is refused', async () => {
  const peer = await world.socket();
  peer.send(`[${STOP.trim()}]\n`);
  await peer.closed;
  expect(world.called).toEqual([]);
});

test('a stranger has no long line, and no second try', async () => {
  const peer = await world.socket();
  const params = { token: 'x'.repeat(200), protocol: 1 };
  peer.send(
    `{"jsonrpc":"2.0","id":1,"method":"hello","params":${JSON.stringify(params)}}\n${STOP}`,
  );
  await peer.closed;
  expect(peer.messages).toHaveLength(1);
  expect(world.called).toEqual([]);
});

test('a client that asks and does not read is not answered without end', async () => {
  const peer = await world.greeted();
  peer.socket.pause();
  const one = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'nobody.knows.it' })}\n`;
  let refused = false;
  for (let count = 0; count < 400 && !refused; count += 1) {
    // Once nothing is taken any more, it stays on this side.
    refused = !peer.socket.write(one.repeat(1_000)) && peer.socket.writableLength > 4_194_304;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(refused).toBe(true);
  await expectServing();
});

test('thousands of subscriptions: each connection has its bound, and so have all', async () => {
  const peer = await world.greeted();
  for (let id = 1; id <= 100; id += 1) peer.send({ id, method: 'events.subscribe', params: {} });
  const last = await peer.answer(100);
  expect(last.error.data.code).toBe('ipc/subscriptions');
  const made = peer.messages.filter((one) => one.result?.subscription !== undefined);
  expect(made).toHaveLength(IPC_LIMITS.subscriptionsMax);
  const most = Math.ceil(IPC_LIMITS.subscriptionsInAllMax / IPC_LIMITS.subscriptionsMax);
  const many: Peer[] = [];
  for (let count = 0; count < most; count += 1) {
    const other = await world.greeted();
    for (let id = 1; id <= 32; id += 1) other.send({ id, method: 'events.subscribe', params: {} });
    many.push(other);
  }
  const answers = await Promise.all(many.map((one) => one.answer(32)));
  expect(answers.at(-1).error.data.code).toBe('ipc/subscriptions');
  // Who goes makes room.
  peer.socket.destroy();
  await expect
    .poll(async () => {
      const next = await world.greeted();
      next.send({ id: 1, method: 'events.subscribe', params: {} });
      const { error } = await next.answer(1);
      return error;
    })
    .toBeUndefined();
});

test('an id is answered once at a time, and a cancelled request at once', async () => {
  const peer = await world.greeted();
  peer.send({ id: 5, method: 'doctor.examine' });
  peer.send({ id: 5, method: 'runs.list' });
  await expect.poll(() => peer.messages.length).toBe(2);
  expect(peer.messages[1].error.data.code).toBe('ipc/id-in-use');
  peer.send({ method: '$/cancel', params: { id: 5 } });
  await expect.poll(() => peer.messages.length).toBe(3);
  expect(peer.messages[2]).toMatchObject({
    id: 5,
    error: { code: -32_800, data: { code: 'ipc/cancelled' } },
  });
  world.release();
  peer.send({ id: 6, method: 'runs.list' });
  await peer.answer(6);
  expect(peer.messages.filter((one) => one.id === 5)).toHaveLength(2);
});

describe('planted in its place (I11)', () => {
  const start = (directory: string): Promise<unknown> =>
    startIpcServer({
      directory,
      socketPath: join(directory, 's.sock'),
      pid: 1,
      startedAt: '',
      control: {} as never,
      logger: { log: () => undefined },
    });

  beforeEach(() => world.stop());

  test('a link where the socket should be is not followed and not removed', async () => {
    const target = join(world.directory, 'precious');
    await writeFile(target, 'mine');
    await symlink(target, join(world.directory, 's.sock'));
    await expect(start(world.directory)).rejects.toMatchObject({ code: 'ipc/socket-path' });
    expect(await readFile(target, 'utf8')).toBe('mine');
    await rm(join(world.directory, 's.sock'));
  });

  test('a folder', async () => {
    await mkdir(join(world.directory, 's.sock'));
    await expect(start(world.directory)).rejects.toMatchObject({ code: 'ipc/socket-path' });
    await rm(join(world.directory, 's.sock'), { recursive: true });
  });

  test('a link where the token should be is replaced, its target untouched', async () => {
    const target = join(world.directory, 'precious');
    await writeFile(target, 'mine');
    await symlink(target, join(world.directory, 'token'));
    await world.start();
    expect(await readFile(target, 'utf8')).toBe('mine');
    expect((await lstat(join(world.directory, 'token'))).isFile()).toBe(true);
    await expectServing();
  });

  test('a socket of somebody who died is replaced, and who listened there gets no client', async () => {
    const other = createServer(() => undefined);
    await new Promise<void>((resolve) => {
      other.listen(join(world.directory, 's.sock'), resolve);
    });
    await world.start();
    await expectServing();
    await new Promise((resolve) => {
      other.close(resolve);
    });
    await world.stop();
    await world.start();
  });

  test('a state folder that is a link is refused, one that is open to others is closed', async () => {
    const link = `${world.directory}-link`;
    await symlink(world.directory, link);
    await expect(start(link)).rejects.toMatchObject({ code: 'ipc/folder' });
    await rm(link);
    const inner = join(world.directory, 'state');
    await mkdir(inner);
    await chmod(inner, 0o755);
    const server = await startIpcServer({
      directory: inner,
      socketPath: join(world.directory, 'i.sock'),
      pid: 1,
      startedAt: '',
      control: { desk: {} } as never,
      logger: { log: () => undefined },
    });
    expect((await lstat(inner)).mode & 0o777).toBe(0o700);
    expect((await lstat(join(inner, 'token'))).mode & 0o777).toBe(0o600);
    expect((await lstat(join(inner, 'token.viewer'))).mode & 0o777).toBe(0o600);
    await server.close();
  });

  test('a folder of the socket that others may write is refused', async () => {
    const open = join(world.directory, 'open');
    await mkdir(open);
    await chmod(open, 0o777);
    const at = { directory: world.directory, socketPath: join(open, 's.sock') };
    await expect(
      startIpcServer({
        ...at,
        pid: 1,
        startedAt: '',
        control: { desk: {} } as never,
        logger: { log: () => undefined },
      }),
    ).rejects.toMatchObject({ code: 'ipc/folder' });
  });

  test.skipIf(process.getuid?.() !== 0)('a state folder of another user is refused', async () => {
    const { chown } = await import('node:fs/promises');
    const foreign = join(world.directory, 'foreign');
    await mkdir(foreign);
    await chown(foreign, 65_534, 65_534);
    await expect(start(foreign)).rejects.toMatchObject({ code: 'ipc/folder' });
  });
});

test('subscribers that want the same get every event once, in order, also who stops reading for a while', async () => {
  const peers = await Promise.all(Array.from({ length: 20 }, () => world.greeted()));
  for (const peer of peers) peer.send({ id: 1, method: 'events.subscribe', params: { run: RUN } });
  await Promise.all(peers.map((peer) => peer.answer(1)));
  const [slow] = peers;
  slow!.socket.pause();
  const big = 'x'.repeat(2_000);
  for (let count = 1; count <= 900; count += 1) {
    world.run.happen({ data: { big } });
    if (count % 90 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  slow!.socket.resume();
  const cursors = (peer: Peer): string[] =>
    peer.messages.flatMap((one) => (one.method === 'event' ? [one.params.event.cursor] : []));
  const all = world.run.stored.map((event) => event.cursor);
  for (const peer of peers) {
    await expect.poll(() => cursors(peer).length, { timeout: 10_000 }).toBe(all.length);
    expect(cursors(peer)).toEqual(all);
  }
});

/** The socket with a real listener and real clients; what stands behind it is a small control in memory. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Client } from '../../src/client/index.ts';
import { connectSocket } from '../../src/client/socket.ts';
import type { LiveControl } from '../../src/control/index.ts';
import { EventHub } from '../../src/events/index.ts';
import type { IpcServer } from '../../src/ipc/index.ts';
import { startIpcServer } from '../../src/ipc/index.ts';
import { IPC_LIMITS } from '../../src/ipc/limits.ts';
import { TroupeError } from '../../src/kernel/errors.ts';
import type { TroupeEvent } from '../../src/protocol/event.ts';
import { parseCursor } from '../../src/protocol/event.ts';
import type { RunRow } from '../../src/protocol/shapes.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/shapes.ts';
import { NO_USAGE } from '../../src/protocol/usage.ts';

const ROW: RunRow = {
  id: 'r1',
  name: 'team',
  state: 'running',
  reason: null,
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: null,
  base: 'a'.repeat(40),
  branch: 'troupe/r1/main',
  usage: NO_USAGE,
};

function eventAt(seq: number): TroupeEvent {
  const cursor = `${seq}.0`;
  return { cursor, id: `evt_${seq}`, at: ROW.startedAt, run: 'r1', type: 'x.y', data: { seq } };
}

/** A run whose journal is an array. */
function makeFakeControl(): LiveControl & { happen(event: TroupeEvent): void; release(): void } {
  const stored: TroupeEvent[] = [];
  const hub = new EventHub(async function* replay(_run, from) {
    for (let index = 0; index < stored.length; index += 1) {
      const event = stored[index]!;
      await Promise.resolve();
      if ((parseCursor(event.cursor)?.seq ?? 0) > from.seq) yield event;
    }
  });
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    happen(event) {
      stored.push(event);
      hub.publish(event);
    },
    release: () => release(),
    editCron: (edit) => Promise.resolve({ name: edit.type, armed: false, state: null, run: null }),
    status: () => ({
      pid: 1,
      startedAt: ROW.startedAt,
      socket: 's',
      protocol: 1,
      sandbox: 'none',
      runs: [ROW],
      actors: [],
      mode: 'run',
      parent: null,
      log: null,
      left: [],
    }),
    runs: () => Promise.resolve([ROW]),
    tasks: () => Promise.reject(new Error('a bug')),
    actors: () => held.then(() => []),
    why: () => Promise.resolve([]),
    plans: () => Promise.resolve([]),
    decidePlan: () => Promise.reject(new Error('not asked here')),
    send: ({ to }) =>
      Promise.reject(
        new TroupeError({
          code: 'mailbox/unknown',
          message: `nobody is called ${to}`,
          hint: 'Did you mean ada?',
          exit: 5,
          data: { near: ['ada'] },
        }),
      ),
    trust: () => Promise.resolve(),
    approvals: async () => [],
    answerAsk: async () => {
      throw new Error('nothing is asked');
    },
    grants: async () => [],
    revokeGrant: async ({ id }) => ({ id }),
    stopRun: () => Promise.resolve(ROW),
    run: () => Promise.resolve({ run: ROW, tasks: [], actors: [] }),
    startRun: () => Promise.reject(new Error('not asked here')),
    resumeRun: () => Promise.reject(new Error('not asked here')),
    waitRun: () => held.then(() => ROW),
    down: () => Promise.resolve({ runs: [ROW] }),
    compact: () => Promise.reject(new Error('unused')),
    stopActor: () => Promise.reject(new Error('unused')),
    settleDead: () => Promise.reject(new Error('unused')),
    desk: new Proxy({} as LiveControl['desk'], {
      get: () => () => Promise.reject(new Error('unused')),
    }),
    subscribe: ({ run, from }, first = []) => ({
      run: run ?? 'r1',
      cursor: from ?? stored.at(-1)?.cursor ?? '0',
      events: hub.subscribe({ run: run ?? 'r1', first, ...(from === undefined ? {} : { from }) }),
    }),
    tap: ({ run }, take) => hub.tap({ run: run ?? 'r1' }, take),
  };
}

let directory: string;
let control: ReturnType<typeof makeFakeControl>;
let server: IpcServer;
let clients: Client[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'troupe-ipc-'));
  control = makeFakeControl();
  clients = [];
  server = await start();
});

afterEach(async () => {
  for (const client of clients) client.close();
  control.release();
  await server.close();
  await rm(directory, { recursive: true });
});

function start(): Promise<IpcServer> {
  return startIpcServer({
    directory,
    socketPath: join(directory, 's.sock'),
    pid: process.pid,
    startedAt: ROW.startedAt,
    control,
    logger: { log: () => undefined },
  });
}

async function client(): Promise<Client> {
  const made = await connectSocket({
    socketPath: server.file.socket,
    token: await readFile(join(directory, 'token'), 'utf8'),
    timeoutMs: 2_000,
    client: 'test',
  });
  clients.push(made);
  return made;
}

/** Sends bytes as they are; resolves with all that comes back (but the answer to `hello`, id 0) until the far side ends or 300 ms pass. */
function raw(bytes: string | Buffer): Promise<{ messages: any[]; ended: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(server.file.socket);
    let text = '';
    let ended = false;
    const done = (): void => {
      socket.destroy();
      const messages = text
        .split('\n')
        .filter((line) => line !== '' && !line.includes('"id":0'))
        .map((line): unknown => JSON.parse(line));
      resolve({ messages, ended });
    };
    const timer = setTimeout(done, 300);
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      ended = true;
      clearTimeout(timer);
      done();
    });
    socket.write(bytes);
  });
}

async function hello(): Promise<string> {
  const token = await readFile(join(directory, 'token'), 'utf8');
  const params = { token, protocol: PROTOCOL_VERSION };
  return `${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'hello', params })}\n`;
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

test('token and socket are 0600, supervisor.json names the socket, and all go at close', async () => {
  const modeOf = async (name: string): Promise<number> =>
    (await stat(join(directory, name))).mode & 0o777;
  expect(await modeOf('token')).toBe(0o600);
  expect(await modeOf('s.sock')).toBe(0o600);
  const file: unknown = JSON.parse(await readFile(join(directory, 'supervisor.json'), 'utf8'));
  expect(file).toEqual({
    pid: process.pid,
    startedAt: ROW.startedAt,
    socket: join(directory, 's.sock'),
    protocol: PROTOCOL_VERSION,
  });
  await server.close();
  for (const name of ['token', 's.sock', 'supervisor.json']) {
    await expect(stat(join(directory, name))).rejects.toThrow('ENOENT');
  }
});

test('a dead socket is replaced, a file in its place is not', async () => {
  await server.close();
  await rm(join(directory, 's.sock'), { force: true });
  await writeFile(join(directory, 's.sock'), 'mine');
  await expect(start()).rejects.toMatchObject({ code: 'ipc/socket-path' });
  await rm(join(directory, 's.sock'));
  server = await start();
  expect((await client()).supervisor.pid).toBe(process.pid);
});

test('I1: nothing is answered before hello, and a wrong token ends the connection', async () => {
  const early = await raw(line({ id: 1, method: 'status' }));
  expect(early.messages[0].error).toMatchObject({ code: -32001, data: { code: 'ipc/no-hello' } });
  expect(early.ended).toBe(true);
  const params = { token: 'x', protocol: PROTOCOL_VERSION };
  const wrong = await raw(
    line({ id: 1, method: 'hello', params }) + line({ id: 2, method: 'status' }),
  );
  expect(wrong.messages).toHaveLength(1);
  expect(wrong.messages[0].error).toMatchObject({ code: -32001, data: { code: 'ipc/token' } });
  expect(wrong.ended).toBe(true);
});

test('another protocol version is refused with both numbers', async () => {
  const token = await readFile(join(directory, 'token'), 'utf8');
  const answer = await raw(line({ id: 1, method: 'hello', params: { token, protocol: 99 } }));
  expect(answer.messages[0].error.message).toBe('this supervisor speaks protocol 1, not 99');
});

test('what looks like HTTP is dropped without a word', async () => {
  expect(await raw('POST / HTTP/1.1\r\nHost: x\r\n\r\n{"jsonrpc":"2.0"}\n')).toEqual({
    messages: [],
    ended: true,
  });
});

test('bad JSON, bad requests, unknown methods and bad parameters have their codes', async () => {
  const answers = await raw(
    (await hello()) +
      '{"jsonrpc":\n' +
      '{"id":1,"method":"status"}\n' +
      line({ id: 2, method: 'mail.sned', params: {} }) +
      line({ id: 3, method: 'mail.send', params: { to: 'ada', text: 7, interrupt: false } }) +
      line({ id: 4, method: 'status', params: { what: 1 } }) +
      '[]\n',
  );
  const errors = answers.messages.map((message) => [message.id, message.error.code]);
  expect(errors).toHaveLength(6);
  expect(errors).toEqual(
    expect.arrayContaining([
      [null, -32700],
      [1, -32600],
      [2, -32601],
      [3, -32602],
      [4, -32602],
      [null, -32600],
    ]),
  );
  const byId = (id: number): any => answers.messages.find((message) => message.id === id);
  expect(byId(2).error.data.hint).toBe('Did you mean mail.send?');
  expect(byId(3).error.message).toContain('mail.send (text)');
  expect(answers.ended).toBe(false);
});

test('a batch is answered as a batch, notifications are not answered', async () => {
  const batch = [
    { jsonrpc: '2.0', id: 1, method: 'status' },
    { jsonrpc: '2.0', method: 'status' },
    { jsonrpc: '2.0', id: 2, method: 'runs.list' },
  ];
  const { messages } = await raw(`${(await hello()) + JSON.stringify(batch)}\n`);
  expect(messages).toHaveLength(1);
  expect(messages[0].map((one: any) => one.id)).toEqual([1, 2]);
});

test('I5: a line that is too long is refused and ends the connection', async () => {
  const answer = await raw((await hello()) + 'x'.repeat(IPC_LIMITS.lineMax + 1));
  expect(answer.messages[0].error.data.code).toBe('ipc/line-too-long');
  expect(answer.ended).toBe(true);
});

test('a character that is split over two writes stays whole, bytes that are not UTF-8 are refused', async () => {
  const answer = await raw(
    Buffer.concat([Buffer.from(await hello()), Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a])]),
  );
  expect(answer.messages[0].error.code).toBe(-32700);
});

test('I2: an operating failure arrives as the error it was; a bug tells no stack', async () => {
  const connection = await client();
  await expect(
    connection.call('mail.send', { to: 'adda', text: 'hi', interrupt: false }),
  ).rejects.toMatchObject({ code: 'mailbox/unknown', exit: 5, hint: 'Did you mean ada?' });
  await expect(connection.call('tasks.list', {})).rejects.toMatchObject({
    code: 'internal',
    message: 'a bug',
  });
  expect((await connection.call('run.stop', { now: false, by: 'user' })).id).toBe('r1');
});

test('I8: a request has a deadline, and all that wait reject when the server closes', async () => {
  const connection = await client();
  await expect(connection.call('actors.list', {}, { timeoutMs: 50 })).rejects.toMatchObject({
    code: 'client/timeout',
  });
  const waiting = connection.call('actors.list', {});
  connection.close();
  await expect(waiting).rejects.toMatchObject({ code: 'client/closed' });
  await expect(connection.call('status', {})).rejects.toMatchObject({ code: 'client/closed' });
});

test('more requests than may run at once are all answered', async () => {
  const connection = await client();
  const waiting = Array.from({ length: 200 }, () => connection.call('actors.list', {}));
  setTimeout(() => control.release(), 50);
  expect(await Promise.all(waiting)).toHaveLength(200);
});

async function take(items: AsyncIterable<TroupeEvent>, count: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const item of items) {
    seen.push(item.type === 'gap' ? 'gap' : item.cursor);
    if (seen.length === count) break;
  }
  return seen;
}

test('E3: a subscription replays from its cursor and goes on live, without gap or repeat', async () => {
  for (let seq = 1; seq <= 50; seq += 1) control.happen(eventAt(seq));
  const connection = await client();
  const stop = new AbortController();
  const seen = take(connection.subscribe({ from: '10.0' }, stop.signal), 60);
  for (let seq = 51; seq <= 70; seq += 1) {
    control.happen(eventAt(seq));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await seen).toEqual(Array.from({ length: 60 }, (_, index) => `${index + 11}.0`));
});

test('E4: a client that does not read gets a gap marker and loses nothing but its own events', async () => {
  const slow = connect(server.file.socket);
  slow.write((await hello()) + line({ id: 1, method: 'events.subscribe', params: {} }));
  await new Promise((resolve) => {
    slow.once('readable', resolve);
  });
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  const quick = await client();
  const stop = new AbortController();
  const seen = take(quick.subscribe({}, stop.signal), 6_000);
  await quick.call('status', {});
  const big = 'x'.repeat(1_000);
  for (let seq = 1; seq <= 6_000; seq += 1) {
    control.happen({ ...eventAt(seq), data: { big } });
    if (seq % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await seen).filter((one) => one === 'gap')).toEqual([]);

  let text = '';
  slow.on('data', (chunk) => {
    text += chunk.toString();
  });
  await expect.poll(() => text.includes('"6000.0"'), { timeout: 5_000 }).toBe(true);
  slow.destroy();
  const notices = text
    .split('\n')
    .filter((one) => one.startsWith('{"jsonrpc":"2.0","method"'))
    .map((one) => JSON.parse(one));
  const gaps = notices.filter((one) => one.params.event.type === 'gap');
  expect(gaps.length).toBeGreaterThan(0);
  const events = notices.length - gaps.length;
  const dropped = gaps.reduce((sum: number, one) => sum + one.params.event.data.dropped, 0);
  expect(events + dropped).toBe(6_000);
});

test('nobody there: the client says where it looked and exits 4', async () => {
  await expect(
    connectSocket({
      socketPath: join(directory, 'nothing.sock'),
      token: '',
      timeoutMs: 500,
      client: 'test',
    }),
  ).rejects.toMatchObject({ code: 'client/unreachable', exit: 4 });
});

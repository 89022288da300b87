/** A supervisor's wire on a real socket, with a run whose journal is an array behind it; and what speaks to it in bytes. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../../src/client/index.ts';
import { connectSocket } from '../../../src/client/socket.ts';
import type { LiveControl } from '../../../src/control/index.ts';
import { EventHub } from '../../../src/events/index.ts';
import { type IpcServer, startIpcServer } from '../../../src/ipc/index.ts';
import { parseCursor, type TroupeEvent } from '../../../src/protocol/event.ts';
import { PROTOCOL_VERSION } from '../../../src/protocol/shapes.ts';

export const RUN = 'r1';
const AT = '2026-01-01T00:00:00.000Z';

/** The facts of a run: they outlive the supervisors that tell them. */
export class FakeRun {
  readonly stored: TroupeEvent[] = [];
  #hub = new EventHub();

  /** Of a new supervisor. */
  hub(): EventHub {
    const { stored } = this;
    this.#hub = new EventHub(async function* replay(_run, from) {
      for (const event of stored) {
        await Promise.resolve();
        const at = parseCursor(event.cursor);
        const isAfter =
          at !== null && (at.seq > from.seq || (at.seq === from.seq && at.index > from.index));
        if (isAfter) yield event;
      }
    });
    return this.#hub;
  }

  happen(more: Partial<TroupeEvent> = {}): TroupeEvent {
    const seq = this.stored.length + 1;
    const cursor = `${seq}.0`;
    const event = { cursor, id: `e${seq}`, at: AT, run: RUN, type: 'x.y', data: { seq }, ...more };
    this.stored.push(event);
    this.#hub.publish(event);
    return event;
  }
}

export interface Called {
  readonly method: string;
  readonly params: unknown;
}

export interface World {
  readonly run: FakeRun;
  readonly directory: string;
  /** What reached the supervisor, in order. */
  readonly called: Called[];
  readonly server: IpcServer;
  /** Requests of `doctor.examine` wait for it. */
  release(): void;
  token(name?: 'token' | 'token.viewer'): Promise<string>;
  client(token?: string): Promise<Client>;
  /** A socket on which nothing was said yet. */
  socket(): Promise<Peer>;
  /** One that has said hello. */
  greeted(token?: string): Promise<Peer>;
  /** Ends the supervisor; `start` makes the next one at the same place. */
  stop(): Promise<void>;
  start(): Promise<void>;
  end(): Promise<void>;
}

export interface Peer {
  readonly socket: Socket;
  /** Whole lines that came, parsed. */
  readonly messages: any[];
  readonly closed: Promise<void>;
  send(message: object | string | Buffer): void;
  /** The answer to this id. */
  answer(id: number): Promise<any>;
}

export async function openWorld(
  options: { readonly socketPath?: 'tcp'; readonly run?: FakeRun } = {},
): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'troupe-wire-'));
  const run = options.run ?? new FakeRun();
  const called: Called[] = [];
  const open: { close(): void }[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const start = (): Promise<IpcServer> =>
    startIpcServer({
      directory,
      socketPath: options.socketPath === 'tcp' ? null : join(directory, 's.sock'),
      pid: process.pid,
      startedAt: AT,
      control: makeControl(run.hub(), run, { called, held }),
      logger: { log: () => undefined },
    });
  let server = await start();
  const token: World['token'] = (name = 'token') => readFile(join(directory, name), 'utf8');
  const socket = async (): Promise<Peer> => {
    const made = await dial(server.file.socket);
    open.push({ close: () => made.socket.destroy() });
    return made;
  };
  return {
    run,
    directory,
    called,
    get server() {
      return server;
    },
    release,
    token,
    async client(given) {
      const made = await connectSocket({
        socketPath: server.file.socket,
        token: given ?? (await token()),
        timeoutMs: 5_000,
        client: 'test',
      });
      open.push(made);
      return made;
    },
    socket,
    async greeted(given) {
      const peer = await socket();
      const params = { token: given ?? (await token()), protocol: PROTOCOL_VERSION };
      peer.send({ id: 0, method: 'hello', params });
      await peer.answer(0);
      return peer;
    },
    stop: () => server.close(),
    async start() {
      server = await start();
    },
    async end() {
      release();
      for (const one of open) one.close();
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

function makeControl(
  hub: EventHub,
  run: FakeRun,
  seen: { readonly called: Called[]; readonly held: Promise<void> },
): LiveControl {
  const record =
    (method: string) =>
    (params: unknown): Promise<unknown> => {
      seen.called.push({ method, params });
      return method === 'doctor.examine' ? seen.held.then(() => []) : Promise.resolve([]);
    };
  const desk = new Proxy(
    {},
    {
      ownKeys: () => DESK,
      getOwnPropertyDescriptor: (_target, name) => ({
        value: record(String(name)),
        enumerable: true,
        configurable: true,
      }),
      get: (_target, name) => record(String(name)),
    },
  );
  const own: Partial<LiveControl> = {
    desk: desk as LiveControl['desk'],
    status: () => {
      seen.called.push({ method: 'status', params: {} });
      return {} as ReturnType<LiveControl['status']>;
    },
    subscribe: ({ run: of, from, types, actors, tasks }, first = []) => ({
      run: of ?? RUN,
      cursor: from ?? run.stored.at(-1)?.cursor ?? '0',
      events: hub.subscribe({
        run: of ?? RUN,
        first,
        ...(from === undefined ? {} : { from }),
        ...(types === undefined ? {} : { types }),
        ...(actors === undefined ? {} : { actors }),
        ...(tasks === undefined ? {} : { tasks }),
      }),
    }),
    tap: ({ run: of, types, actors, tasks }, take) =>
      hub.tap(
        {
          run: of ?? RUN,
          ...(types === undefined ? {} : { types }),
          ...(actors === undefined ? {} : { actors }),
          ...(tasks === undefined ? {} : { tasks }),
        },
        take,
      ),
  };
  return new Proxy(own, {
    get: (target, name) => Reflect.get(target, name) ?? record(String(name)),
  }) as LiveControl;
}

const DESK: string[] = [
  'tasks.get',
  'usage.get',
  'session.get',
  'mail.list',
  'mail.dead',
  'events.list',
  'worktrees.list',
  'worktrees.clean',
  'diff.get',
  'run.merge',
  'audit.list',
  'audit.verify',
  'trust.list',
  'policy.rules',
  'policy.check',
  'policy.explain',
  'skills.list',
  'skills.check',
  'memory.list',
  'cron.list',
  'cron.history',
  'cron.next',
  'doctor.examine',
  'team.check',
  'where',
];

function dial(address: string): Promise<Peer> {
  const tcp = /^tcp:\/\/([\d.]+):(\d+)$/.exec(address);
  const socket = tcp === null ? connect(address) : connect(Number(tcp[2]), tcp[1]);
  const messages: any[] = [];
  let text = '';
  let wake: (() => void)[] = [];
  const changed = (): void => {
    const woken = wake;
    wake = [];
    for (const one of woken) one();
  };
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    const lines = (text + chunk.toString()).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) messages.push(JSON.parse(line));
    changed();
  });
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      changed();
      resolve();
    });
  });
  const peer: Peer = {
    socket,
    messages,
    closed,
    send(message) {
      const isBytes = typeof message === 'string' || Buffer.isBuffer(message);
      socket.write(isBytes ? message : `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    },
    async answer(id) {
      for (;;) {
        const found = messages.find((one) => one.id === id);
        if (found !== undefined) return found;
        if (isClosed) throw new Error(`closed before an answer to ${id}`);
        await new Promise<void>((resolve) => {
          wake.push(resolve);
        });
      }
    },
  };
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(peer));
    socket.once('close', () => resolve(peer));
  });
}

/**
 * The supervisor's wire: tokens, a listener, and `supervisor.json` that tells where it is.
 *
 * Invariants
 * - I6 Called only while the supervisor's lock is held: a socket that lies at the path is then a dead one's and removed.
 * - I7 The order is tokens, socket, `supervisor.json`: who reads the last finds the others. Closing goes the other way.
 * - I12 Strangers have their own few places, the newest the place of the oldest: no number of them keeps a client out.
 */
import { rm } from 'node:fs/promises';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { LiveControl } from '../control/index.ts';
import { type Redactor, SHAPES_ONLY } from '../events/index.ts';
import type { Logger } from '../kernel/ports.ts';
import type { SupervisorFile } from '../protocol/shapes.ts';
import { PROTOCOL_VERSION } from '../protocol/shapes.ts';
import { Connection } from './connection.ts';
import { makeTokenBook } from './identity.ts';
import { IPC_LIMITS } from './limits.ts';
import { makeHandlers } from './methods.ts';
import { listen, requireOwnFolder, writeAtomic } from './place.ts';
import { makeWireLog } from './wire-log.ts';

export interface IpcServerOptions {
  /** `.git/troupe`: tokens and `supervisor.json` lie there. */
  readonly directory: string;
  /** Null: loopback TCP, where there are no sockets. */
  readonly socketPath: string | null;
  readonly pid: number;
  readonly startedAt: string;
  readonly control: LiveControl;
  readonly logger: Logger;
  /** Of what is kept of the traffic; left out: what has the shape of a secret is taken out. */
  readonly redactor?: Redactor;
}

export interface IpcServer {
  readonly file: SupervisorFile;
  /** Takes no more clients, lets running requests end for a moment, removes its files; idempotent. */
  close(): Promise<void>;
}

/** How long running requests may take to end when the server closes. */
const CLOSE_GRACE_MS = 2_000;
/** In `directory`; the second one may read, and decide nothing. */
const TOKENS = { person: 'token', viewer: 'token.viewer' } as const;

export async function startIpcServer(options: IpcServerOptions): Promise<IpcServer> {
  const { directory, socketPath, logger, control } = options;
  await requireOwnFolder(directory);
  const tokens = makeTokenBook();
  await writeAtomic(join(directory, TOKENS.person), tokens.person);
  await writeAtomic(join(directory, TOKENS.viewer), tokens.viewer);

  const wireLog = makeWireLog(options.redactor ?? SHAPES_ONLY);
  const handlers = makeHandlers({ control, tokens, wireLog });
  const hello = {
    protocol: PROTOCOL_VERSION,
    pid: options.pid,
    startedAt: options.startedAt,
  };
  const places = new Places(logger);
  const server = createServer((socket) => {
    places.admit(socket, (connection, seat) => ({
      handlers,
      tokens,
      wireLog,
      hello,
      connection,
      ...seat,
      warn: (message, data) => logger.log('warn', `ipc: ${message}`, data),
    }));
  });
  const address = socketPath === null ? ({ tcp: true } as const) : { path: socketPath };
  const socket = await listen(server, address);
  server.on('error', (error) => logger.log('error', 'ipc', { message: error.message }));
  const file: SupervisorFile = {
    pid: options.pid,
    startedAt: options.startedAt,
    socket,
    protocol: PROTOCOL_VERSION,
  };
  const at = { connections: places.all, directory, socketPath };
  try {
    await writeAtomic(join(directory, 'supervisor.json'), `${JSON.stringify(file)}\n`);
  } catch (thrown) {
    await closeAll(server, at);
    throw thrown;
  }

  let closing: Promise<void> | null = null;
  return {
    file,
    close(): Promise<void> {
      closing ??= closeAll(server, at);
      return closing;
    },
  };
}

type OptionsOf = (
  connection: number,
  seat: Pick<ConstructorParameters<typeof Connection>[1], 'onGreeted' | 'onClose'>,
) => ConstructorParameters<typeof Connection>[1];

/** Who is connected, strangers apart from clients (I12). */
class Places {
  readonly all = new Set<Connection>();
  /** Oldest first. */
  readonly #strangers = new Set<Connection>();
  readonly #logger: Logger;
  #count = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  admit(socket: Socket, optionsOf: OptionsOf): void {
    this.#count += 1;
    const connection: Connection = new Connection(
      socket,
      optionsOf(this.#count, {
        onGreeted: () => this.#greet(connection),
        onClose: () => {
          this.all.delete(connection);
          this.#strangers.delete(connection);
        },
      }),
    );
    this.all.add(connection);
    this.#strangers.add(connection);
    const [oldest] = this.#strangers;
    if (this.#strangers.size > IPC_LIMITS.strangersMax && oldest !== undefined) {
      this.#logger.log('warn', 'ipc: dropped the oldest of too many that said no hello');
      this.#strangers.delete(oldest);
      oldest.destroy();
    }
  }

  #greet(connection: Connection): boolean {
    if (this.all.size - this.#strangers.size >= IPC_LIMITS.clientsMax) return false;
    this.#strangers.delete(connection);
    return true;
  }
}

async function closeAll(
  server: Server,
  at: {
    readonly connections: ReadonlySet<Connection>;
    readonly directory: string;
    readonly socketPath: string | null;
  },
): Promise<void> {
  // A folder in its place is not ours, and no reason to stay.
  await rm(join(at.directory, 'supervisor.json'), { force: true }).catch(() => undefined);
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const { connections } = at;
  for (const connection of connections) connection.giveUpReading();
  for (let waited = 0; waited < CLOSE_GRACE_MS && anyBusy(connections); waited += 20) {
    await pause(20);
  }
  for (const connection of connections) connection.end();
  for (let waited = 0; waited < 200 && connections.size > 0; waited += 10) await pause(10);
  for (const connection of connections) connection.destroy();
  await closed;
  if (at.socketPath !== null) await rm(at.socketPath, { force: true });
  for (const name of Object.values(TOKENS)) await rm(join(at.directory, name), { force: true });
}

function anyBusy(connections: ReadonlySet<Connection>): boolean {
  for (const connection of connections) if (connection.busy) return true;
  return false;
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

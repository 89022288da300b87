/**
 * The supervisor's socket: a token, a listener, and `supervisor.json` that tells where it is.
 *
 * Invariants
 * - I6 Called only while the supervisor's lock is held: a socket that lies at the path is then a dead one's and removed.
 * - I7 The order is token, socket, `supervisor.json`: who reads the last finds the others. Closing goes the other way.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, lstat, open, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { LiveControl } from '../control/index.ts';
import { ensureError, systemCode, TroupeError } from '../kernel/errors.ts';
import type { Logger } from '../kernel/ports.ts';
import type { SupervisorFile } from '../protocol/shapes.ts';
import { PROTOCOL_VERSION } from '../protocol/shapes.ts';
import { Connection } from './connection.ts';
import { IPC_LIMITS } from './limits.ts';
import { makeHandlers } from './methods.ts';

export interface IpcServerOptions {
  /** `.git/troupe`: `token` and `supervisor.json` lie there. */
  readonly directory: string;
  readonly socketPath: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly control: LiveControl;
  readonly logger: Logger;
}

export interface IpcServer {
  readonly file: SupervisorFile;
  /** Takes no more clients, lets running requests end for a moment, removes its files; idempotent. */
  close(): Promise<void>;
}

/** How long running requests may take to end when the server closes. */
const CLOSE_GRACE_MS = 2_000;

export async function startIpcServer(options: IpcServerOptions): Promise<IpcServer> {
  const { directory, socketPath, logger } = options;
  const token = randomBytes(32).toString('hex');
  await writeAtomic(join(directory, 'token'), token);
  await removeDeadSocket(socketPath);

  const file: SupervisorFile = {
    pid: options.pid,
    startedAt: options.startedAt,
    socket: socketPath,
    protocol: PROTOCOL_VERSION,
  };
  const connections = new Set<Connection>();
  const handlers = makeHandlers(options.control);
  const server = createServer((socket) => {
    if (connections.size >= IPC_LIMITS.connectionsMax) {
      logger.log('warn', 'ipc: too many clients', { max: IPC_LIMITS.connectionsMax });
      socket.destroy();
      return;
    }
    const connection: Connection = new Connection(socket, {
      handlers,
      hello: { protocol: file.protocol, pid: file.pid, startedAt: file.startedAt },
      isToken: tokenCheck(token),
      onClose: () => connections.delete(connection),
      warn: (message, data) => logger.log('warn', `ipc: ${message}`, data),
    });
    connections.add(connection);
  });
  await listen(server, socketPath);
  server.on('error', (error) => logger.log('error', 'ipc', { message: error.message }));
  try {
    await writeAtomic(join(directory, 'supervisor.json'), `${JSON.stringify(file)}\n`);
  } catch (thrown) {
    await closeAll(server, { connections, directory, socketPath });
    throw thrown;
  }

  let closing: Promise<void> | null = null;
  return {
    file,
    close(): Promise<void> {
      closing ??= closeAll(server, { connections, directory, socketPath });
      return closing;
    },
  };
}

async function closeAll(
  server: Server,
  at: {
    readonly connections: ReadonlySet<Connection>;
    readonly directory: string;
    readonly socketPath: string;
  },
): Promise<void> {
  // A folder in its place is not ours, and no reason to stay.
  await rm(join(at.directory, 'supervisor.json'), { force: true }).catch(() => undefined);
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const { connections } = at;
  for (let waited = 0; waited < CLOSE_GRACE_MS && anyBusy(connections); waited += 20) {
    await pause(20);
  }
  for (const connection of connections) connection.end();
  for (let waited = 0; waited < 200 && connections.size > 0; waited += 10) await pause(10);
  for (const connection of connections) connection.destroy();
  await closed;
  await rm(at.socketPath, { force: true });
  await rm(join(at.directory, 'token'), { force: true });
}

function anyBusy(connections: ReadonlySet<Connection>): boolean {
  for (const connection of connections) if (connection.busy) return true;
  return false;
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** In constant time, also for tokens of another length. */
function tokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const wanted = digest(token);
  return (given) => timingSafeEqual(digest(given), wanted);
}

async function removeDeadSocket(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return;
  if (!found.isSocket()) {
    throw new TroupeError({
      code: 'ipc/socket-path',
      message: `${path} is in the way: a socket should be there`,
      hint: 'Move it away and start again.',
    });
  }
  await rm(path, { force: true });
}

async function listen(server: Server, path: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    throw new TroupeError({
      code: 'ipc/listen',
      message: `the socket ${path} can't be opened: ${ensureError(error).message}`,
      cause: error,
    });
  }
  // Until here the folder, which is 0700, keeps others out.
  await chmod(path, 0o600);
}

async function writeAtomic(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
}

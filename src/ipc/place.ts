/**
 * The files and the address of a server: written whole or not at all, in folders that are the user's alone.
 *
 * Invariant I11 Nothing is followed or replaced that somebody else may have put there: a link, a file or a folder in the
 * place of the socket, a state folder of another user.
 */
import { randomBytes } from 'node:crypto';
import { chmod, lstat, open, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { ensureError, systemCode, TroupeError } from '../kernel/errors.ts';

/** Where a server listens: the path of a Unix socket, or loopback TCP on a free port. */
export type Address = { readonly path: string } | { readonly tcp: true };

const OTHERS = 0o077;

/** Ours, a folder, and closed to others (closed now, if it was open). Throws `ipc/folder`. */
export async function requireOwnFolder(path: string): Promise<void> {
  const stat = await lstat(path);
  const uid = process.getuid?.();
  const problem = stat.isSymbolicLink()
    ? 'it is a link'
    : !stat.isDirectory()
      ? 'it is no folder'
      : uid !== undefined && stat.uid !== uid
        ? 'it belongs to another user'
        : null;
  if (problem !== null) {
    throw new TroupeError({
      code: 'ipc/folder',
      message: `${path} can't hold what only you may read: ${problem}`,
      hint: 'Move it away and start again.',
    });
  }
  if ((stat.mode & OTHERS) !== 0) await chmod(path, 0o700);
}

/** The address in one word, as `supervisor.json` names it. */
export async function listen(server: Server, address: Address): Promise<string> {
  if ('tcp' in address) {
    await listening(server, { host: '127.0.0.1', port: 0 }, '127.0.0.1');
    const bound = server.address();
    if (typeof bound !== 'object' || bound === null)
      throw cantListen('127.0.0.1', 'it has no port');
    return `tcp://127.0.0.1:${bound.port}`;
  }
  const { path } = address;
  await requireClosedFolder(dirname(path));
  await removeDeadSocket(path);
  await listening(server, { path }, path);
  // Until here the folder, which is 0700, keeps others out.
  await chmod(path, 0o600);
  return path;
}

/** A socket is made before its mode is set: its folder must be closed. It is not ours to change. */
async function requireClosedFolder(path: string): Promise<void> {
  const stat = await lstat(path);
  const uid = process.getuid?.();
  const isOurs = stat.isDirectory() && (uid === undefined || stat.uid === uid);
  if (isOurs && (stat.mode & OTHERS) === 0) return;
  throw new TroupeError({
    code: 'ipc/folder',
    message: `${path} is no place for the socket: it is not a folder of yours alone`,
    hint: `Make it yours with mode 0700, or set XDG_RUNTIME_DIR to a folder that is.`,
  });
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

async function listening(
  server: Server,
  where: { readonly path: string } | { readonly host: string; readonly port: number },
  shown: string,
): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(where, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    throw cantListen(shown, ensureError(error).message, error);
  }
}

function cantListen(where: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError({
    code: 'ipc/listen',
    message: `the supervisor can't listen at ${where}: ${why}`,
    cause,
  });
}

/** 0600, and whole from one rename on; a link in its place is replaced, not followed. */
export async function writeAtomic(path: string, text: string): Promise<void> {
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

/**
 * Where the supervisor of a repository listens. Node 20 cuts socket paths of more than 108 bytes (104 on macOS) without
 * an error, so the socket does not lie in the repository but in the first of a few short folders of the user's own.
 */
import { createHash } from 'node:crypto';
import { lstat, mkdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { ensureError, systemCode } from '../kernel/errors.ts';
import { platformError } from './errors.ts';
import { SOCKET_PATH_BYTES_MAX } from './limits.ts';

/** Lower-case hex. */
export function sha256Hex(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * The socket's path, the same for every process with the same environment; makes the folder (0700) when it is missing.
 * A folder that is a link, somebody else's or open to others is passed over.
 */
export async function socketPathFor(
  commonGitDirRealPath: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const name = `${sha256Hex(commonGitDirRealPath).slice(0, 16)}.sock`;
  const refused: string[] = [];
  for (const folders of candidates(env)) {
    const folder = folders.at(-1) ?? '';
    const path = join(folder, name);
    const reason =
      Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX ? 'too long' : await unusable(folders);
    if (reason === null) return path;
    refused.push(`${folder}: ${reason}`);
  }
  throw platformError({
    code: 'socket/no-place',
    message: `there is no folder for the supervisor's socket (${refused.join('; ')})`,
    hint: 'Set XDG_RUNTIME_DIR or TMPDIR to a short path of a folder that is yours.',
    data: { refused },
  });
}

/** Each a list of folders to make, the outer ones first; only the last holds sockets. */
function candidates(env: Readonly<Record<string, string | undefined>>): string[][] {
  const uid = process.getuid?.() ?? 0;
  const list: string[][] = [];
  const runtime = absolute(env['XDG_RUNTIME_DIR']);
  if (runtime !== null) list.push([join(runtime, 'troupe')]);
  const home = absolute(env['HOME']);
  if (home !== null) list.push([join(home, '.troupe'), join(home, '.troupe', 'run')]);
  list.push([join(absolute(env['TMPDIR']) ?? '/tmp', `troupe-${String(uid)}`)]);
  return list;
}

function absolute(path: string | undefined): string | null {
  return path !== undefined && isAbsolute(path) ? path : null;
}

async function unusable(folders: readonly string[]): Promise<string | null> {
  try {
    for (const folder of folders) await makeFolder(folder);
    const stat = await lstat(folders.at(-1) ?? '');
    if (!stat.isDirectory()) return 'not a directory';
    if (stat.uid !== process.getuid?.()) return 'not yours';
    return (stat.mode & 0o077) === 0 ? null : 'open to others';
  } catch (error) {
    return systemCode(error) || ensureError(error).message;
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

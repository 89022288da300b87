/**
 * The lock of a repository: one supervisor at a time, by generation files `lock.<n>` in one directory.
 *
 * A contender writes a complete temporary file and links it as `lock.<highest + 1>`, so that a lock file is never empty
 * and never overwritten. Then it lists again: it is the owner only if every other lock file belongs to a dead process.
 * Of two contenders who both link, the later one sees the earlier one's file, so at most one becomes the owner, also when
 * numbers start again at 1 after a release. The owner removes the dead ones' files.
 *
 * A holder is dead when its pid is gone, a zombie, or used by another process (start time), or when the machine was
 * started since. A holder in another pid namespace (a container on the same repository) that can't be seen from here is
 * taken for alive, and `certain: false` says so.
 */
import { join } from 'node:path';
import { isTroupeError, systemCode } from '../kernel/errors.ts';
import type { Clock, Files, Random } from '../kernel/ports.ts';
import { isoTime } from '../kernel/time.ts';
import { platformError } from './errors.ts';
import { LOCK_ROUNDS_MAX, UNSETTLED_ROUNDS } from './limits.ts';
import type { Liveness, ProcessIdentity, ProcessTable } from './process-table.ts';

export interface LockDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly random: Random;
  readonly processes: ProcessTable;
}

export interface LockHolder extends ProcessIdentity {
  /** When it took the lock, ISO. */
  readonly acquiredAt: string;
  /** The lock file. */
  readonly path: string;
  /** False: it counts its pid in a namespace that can't be seen from here, and may be dead. */
  readonly certain: boolean;
}

/** A held lock. */
export interface Lock {
  readonly path: string;
  readonly holder: ProcessIdentity;
  /** Idempotent. */
  release(): Promise<void>;
}

interface LockFile extends ProcessIdentity {
  readonly acquiredAt: string;
  /** Tells this attempt from every other one. */
  readonly nonce: string;
}

interface Found {
  readonly generation: number;
  readonly path: string;
  readonly file: LockFile;
  readonly liveness: Liveness;
}

/** Takes the lock, or tells who has it; waits for nobody. Makes the directory when it is missing. */
export async function acquireLock(
  deps: LockDeps,
  directory: string,
): Promise<Lock | { readonly heldBy: LockHolder }> {
  await deps.files.makeDirectory(directory);
  const self = await deps.processes.self();
  for (let round = 0; round < LOCK_ROUNDS_MAX; round += 1) {
    const found = await findLocks(deps, directory);
    const alive = found.filter((entry) => entry.liveness !== 'dead');
    const last = alive.at(-1);
    if (last !== undefined) {
      // Of several all but one are about to step back; then it is known who has it.
      if (alive.length === 1 || round >= UNSETTLED_ROUNDS) return { heldBy: holderOf(last) };
      await deps.clock.sleep(1 + deps.random.next() * 20);
      continue;
    }
    const mine = await place(deps, directory, self, (found.at(-1)?.generation ?? 0) + 1);
    if (mine === null) continue;
    const others = (await findLocks(deps, directory)).filter(({ path }) => path !== mine.path);
    if (others.every((entry) => entry.liveness === 'dead'))
      return own(deps, directory, mine, others);
    // Somebody linked another generation at the same time: both may step back, so not in step.
    await removeOwn(deps, mine);
    await deps.clock.sleep(1 + deps.random.next() * 20);
  }
  throw platformError({
    code: 'lock/contended',
    message: `the lock in ${directory} could not be settled in ${String(LOCK_ROUNDS_MAX)} rounds`,
    retryable: true,
  });
}

/** Who holds the lock now, without taking it; null when nobody does. */
export async function readLockHolder(
  deps: Pick<LockDeps, 'files' | 'processes'>,
  directory: string,
): Promise<LockHolder | null> {
  const found = await findLocks(deps, directory);
  const alive = found.findLast((entry) => entry.liveness !== 'dead');
  return alive === undefined ? null : holderOf(alive);
}

/** A lock file as it lies there; `unreadable`: nobody can tell whose it is. */
export interface LockRow {
  readonly path: string;
  readonly pid: number | null;
  readonly acquiredAt: string | null;
  readonly state: Liveness | 'unreadable';
}

/** All lock files, by rising generation. Looks only. */
export async function listLocks(
  deps: Pick<LockDeps, 'files' | 'processes'>,
  directory: string,
): Promise<LockRow[]> {
  const rows: (LockRow & { readonly generation: number })[] = [];
  for (const name of await listOrNothing(deps.files, directory)) {
    const generation = Number(LOCK_NAME.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(generation)) continue;
    const path = join(directory, name);
    try {
      const file = await readLock(deps.files, path);
      if (file === null) continue;
      const { pid, acquiredAt } = file;
      rows.push({ generation, path, pid, acquiredAt, state: await deps.processes.liveness(file) });
    } catch (error) {
      if (!isTroupeError(error)) throw error;
      rows.push({ generation, path, pid: null, acquiredAt: null, state: 'unreadable' });
    }
  }
  return rows.toSorted((a, b) => a.generation - b.generation);
}

const LOCK_NAME = /^lock\.([1-9]\d*)$/u;
const TEMPORARY_NAME = /^lock\.new-/u;

/** All lock files by rising generation, each with the state of its holder. */
async function findLocks(
  deps: Pick<LockDeps, 'files' | 'processes'>,
  directory: string,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const name of await listOrNothing(deps.files, directory)) {
    const generation = Number(LOCK_NAME.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(generation)) continue;
    const path = join(directory, name);
    const file = await readLock(deps.files, path);
    if (file === null) continue;
    const liveness = await deps.processes.liveness(file);
    found.push({ generation, path, file, liveness });
  }
  return found.toSorted((a, b) => a.generation - b.generation);
}

async function listOrNothing(files: Files, directory: string): Promise<string[]> {
  try {
    return await files.list(directory);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** null when it was removed meanwhile. */
async function readLock(files: Files, path: string): Promise<LockFile | null> {
  let text: string;
  try {
    text = new TextDecoder().decode(await files.readFile(path));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  const file = parseLock(text);
  if (file !== null) return file;
  throw platformError({
    code: 'lock/unreadable',
    message: `${path} is damaged, so nobody can tell whether its holder is alive`,
    hint: 'Make sure that no supervisor runs on this repository, then remove the file.',
    data: { path },
  });
}

function parseLock(text: string): LockFile | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const fields: Record<string, unknown> = { ...value };
    const string = (name: string): string | null => {
      const field = fields[name];
      return typeof field === 'string' ? field : null;
    };
    const pid = fields['pid'];
    const [startTime, boot, namespace] = [
      string('startTime'),
      string('bootId'),
      string('pidNamespace'),
    ];
    const [acquiredAt, nonce] = [string('acquiredAt'), string('nonce')];
    if (typeof pid !== 'number' || startTime === null || boot === null || namespace === null) {
      return null;
    }
    if (acquiredAt === null || nonce === null) return null;
    return { pid, startTime, bootId: boot, pidNamespace: namespace, acquiredAt, nonce };
  } catch {
    return null;
  }
}

interface Placed {
  readonly path: string;
  readonly file: LockFile;
}

/** Links a complete file as that generation; null when somebody else was first. */
async function place(
  deps: LockDeps,
  directory: string,
  self: ProcessIdentity,
  generation: number,
): Promise<Placed | null> {
  const { files, clock, random } = deps;
  const nonce = random.id(16);
  const file: LockFile = { ...self, acquiredAt: isoTime(clock.now()), nonce };
  const temporary = join(directory, `lock.new-${nonce}`);
  const path = join(directory, `lock.${String(generation)}`);
  await writeWhole(files, temporary, `${JSON.stringify(file)}\n`);
  try {
    await files.link(temporary, path);
    return { path, file };
  } catch (error) {
    // ENOENT: the owner of a moment cleared our temporary file away.
    if (systemCode(error) === 'EEXIST' || systemCode(error) === 'ENOENT') return null;
    throw error;
  } finally {
    await files.remove(temporary);
  }
}

async function writeWhole(files: Files, path: string, text: string): Promise<void> {
  const handle = await files.open(path, 'create');
  try {
    const bytes = new TextEncoder().encode(text);
    for (let written = 0; written < bytes.length; ) {
      written += handle.write(bytes.subarray(written));
    }
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function own(
  deps: LockDeps,
  directory: string,
  mine: Placed,
  dead: readonly Found[],
): Promise<Lock> {
  const { files } = deps;
  for (const entry of dead) await files.remove(entry.path);
  for (const name of await files.list(directory)) {
    if (TEMPORARY_NAME.test(name)) await files.remove(join(directory, name));
  }
  await files.syncDirectory(directory);
  let released: Promise<void> | undefined;
  return {
    path: mine.path,
    holder: mine.file,
    release() {
      released ??= removeOwn(deps, mine);
      return released;
    },
  };
}

/** Never removes a successor's file, should ours have been cleared away by hand. */
async function removeOwn(deps: LockDeps, mine: Placed): Promise<void> {
  const now = await readLock(deps.files, mine.path);
  if (now?.nonce === mine.file.nonce) await deps.files.remove(mine.path);
}

function holderOf(found: Found): LockHolder {
  const { file, path, liveness } = found;
  return {
    pid: file.pid,
    startTime: file.startTime,
    bootId: file.bootId,
    pidNamespace: file.pidNamespace,
    acquiredAt: file.acquiredAt,
    path,
    certain: liveness === 'alive',
  };
}

/** A run held by the built command in a process of its own, killed and resumed at will, and clients on its socket. */
import { existsSync, type FSWatcher, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../src/client/index.ts';
import { connectSocket } from '../../src/client/socket.ts';
import { readJournal } from '../../src/journal/index.ts';
import { isTroupeError } from '../../src/kernel/index.ts';
import { NodeFiles } from '../../src/platform/index.ts';
import type { StoredRunRecord } from '../../src/protocol/index.ts';
import type { RunningCommand, World } from '../e2e/cli-world.ts';

/** Resolves when the process has a socket; rejects when it ends before. */
export async function listening(world: World, command: RunningCommand): Promise<void> {
  const state = join(world.repo, '.git', 'troupe');
  const isOurs = (): boolean => supervisorFile(state)?.pid === command.child.pid;
  let watcher: FSWatcher | null = null;
  try {
    await new Promise<void>((resolve, reject) => {
      const check = (): void => {
        if (isOurs()) resolve();
      };
      void command.done.then(({ code, stdout, stderr }) =>
        reject(new Error(`ended with ${code} before it listened:\n${stdout}\n${stderr}`)),
      );
      // The folder is made by `troupe run` itself.
      watcher = watch(
        existsSync(state) ? state : join(world.repo, '.git'),
        { recursive: true },
        check,
      );
      check();
    });
  } finally {
    (watcher as FSWatcher | null)?.close();
  }
}

interface SupervisorFile {
  readonly pid: number;
  readonly socket: string;
}

function supervisorFile(state: string): SupervisorFile | null {
  try {
    return JSON.parse(readFileSync(join(state, 'supervisor.json'), 'utf8')) as SupervisorFile;
  } catch {
    // Not there yet, or just being replaced.
    return null;
  }
}

export async function connectTo(world: World): Promise<Client> {
  const state = join(world.repo, '.git', 'troupe');
  const file = supervisorFile(state);
  if (file === null) throw new Error('there is no supervisor');
  return await connectSocket({
    socketPath: file.socket,
    token: readFileSync(join(state, 'token'), 'utf8').trim(),
    timeoutMs: 20_000,
    client: 'test',
  });
}

export async function recordsOf(world: World, run: string): Promise<StoredRunRecord[]> {
  const directory = join(world.repo, '.git', 'troupe', 'runs', run, 'journal');
  const records: StoredRunRecord[] = [];
  const gaps: unknown[] = [];
  const onGap = (gap: unknown): void => void gaps.push(gap);
  for await (const record of readJournal({ files: new NodeFiles(), directory, onGap })) {
    records.push(record as unknown as StoredRunRecord);
  }
  if (gaps.length > 0) throw new Error(`gaps: ${JSON.stringify(gaps)}`);
  return records;
}

/** The socket is there a moment before the run is. */
export async function whenGoing<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isTroupeError(error) || error.code !== 'control/not-running') throw error;
    }
  }
}

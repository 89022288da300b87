/** Starts the detached parent of a supervisor and waits until the supervisor is ready. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Io } from '../cli/index.ts';
import type { Places } from '../control/index.ts';
import { type ErrorShape, EXIT, fromErrorShape, TroupeError } from '../kernel/index.ts';
import { logFolder } from './keep/keeper.ts';

/** A large run has to be read before its supervisor is ready. */
const READY_MS = 120_000;
const ENTRY = fileURLToPath(new URL('./parent.js', import.meta.url));

type FromParent =
  | { readonly type: 'ready'; readonly pid: number }
  | { readonly type: 'failed'; readonly error: ErrorShape };

/** Resolves when it is ready; rejects with what kept it from that. `adopt`: a supervisor that has lost its parent. */
export async function launchParent(io: Io, places: Places, adopt?: number): Promise<void> {
  const logs = logFolder(places.state);
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const crash = openSync(join(logs, 'crash.log'), 'a', 0o600);
  const args = [ENTRY, places.workspace, ...(adopt === undefined ? [] : [String(adopt)])];
  const child = spawn(process.execPath, args, {
    detached: true,
    cwd: '/',
    env: { ...io.env },
    stdio: ['ignore', crash, crash, 'ipc'],
  });
  closeSync(crash);
  try {
    const message = await new Promise<FromParent>((resolve, reject) => {
      const fail = (what: string): void => reject(notReady(what, logs));
      const timer = setTimeout(() => fail('it took too long'), READY_MS);
      child.once('message', (told) => {
        clearTimeout(timer);
        resolve(told as FromParent);
      });
      child.once('error', (error) => fail(error.message));
      child.once('exit', (code, signal) => fail(`its parent ended (${signal ?? code})`));
    });
    if (message.type === 'failed') throw fromErrorShape(message.error);
  } finally {
    if (child.connected) child.disconnect();
    child.unref();
  }
}

function notReady(what: string, logs: string): TroupeError {
  return new TroupeError({
    code: 'up/not-ready',
    message: `the supervisor did not get ready: ${what}`,
    hint: `See ${logs}.`,
    exit: EXIT.noSupervisor,
  });
}

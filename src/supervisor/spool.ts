/**
 * Mail that was left while no supervisor ran: one file a letter in `spool/`, its name the envelope's id, so that a letter
 * that is taken in twice has one effect (M2).
 */
import { ensureError, type Files, isTroupeError, type Logger } from '../kernel/index.ts';
import type { Lane } from '../protocol/index.ts';
import type { RunLoop } from './loop.ts';

interface Letter {
  readonly run: string;
  readonly to: string;
  readonly lane: Lane;
  readonly text: string;
}

/** Takes in the letters of one run. One that can't be taken in now stays; one that never
 * can is kept under `spool/refused/`. Both are logged, and `troupe doctor` shows them. */
export async function ingestSpool(options: {
  readonly files: Files;
  readonly logger: Logger;
  readonly directory: string;
  readonly run: string;
  readonly loop: RunLoop;
}): Promise<void> {
  const { files, directory } = options;
  if ((await files.stat(directory)) === null) return;
  for (const name of await files.list(directory)) {
    if (!name.endsWith('.json')) continue;
    const path = `${directory}/${name}`;
    const letter = await readLetter(files, path);
    if (letter !== null && letter.run !== options.run) continue;
    const id = name.slice(0, -'.json'.length);
    try {
      if (letter === null) throw new Error('it is not a letter');
      const { to, text, lane } = letter;
      await options.loop.ask((token) => ({ type: 'send', token, to, text, lane, id }));
      await files.remove(path);
      await files.syncDirectory(directory);
    } catch (thrown) {
      const cause = ensureError(thrown).message;
      if (letter !== null && !isFinal(thrown)) {
        options.logger.log('warn', `the spooled letter ${name} waits for the next start`, {
          cause,
        });
        continue;
      }
      options.logger.log('warn', `the spooled letter ${name} was refused`, { cause });
      await files.makeDirectory(`${directory}/refused`);
      await files.rename(path, `${directory}/refused/${name}`);
      await files.syncDirectory(`${directory}/refused`);
      await files.syncDirectory(directory);
    }
  }
}

/** It will never be taken in. A full mailbox, a full disk or a journal that failed say nothing about the letter. */
function isFinal(thrown: unknown): boolean {
  return isTroupeError(thrown) && thrown.code.startsWith('mailbox/') && !thrown.retryable;
}

async function readLetter(files: Files, path: string): Promise<Letter | null> {
  // Anybody of this user may drop something here; reading a FIFO would never end.
  if ((await files.stat(path))?.kind !== 'file') return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(await files.readFile(path)));
    return isLetter(value) ? value : null;
  } catch {
    return null;
  }
}

function isLetter(value: unknown): value is Letter {
  if (typeof value !== 'object' || value === null) return false;
  const { run, to, lane, text } = value as Record<string, unknown>;
  return (
    typeof run === 'string' &&
    typeof to === 'string' &&
    typeof text === 'string' &&
    (lane === 'normal' || lane === 'interrupt')
  );
}

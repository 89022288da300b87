/** Following a journal from another process: what is there, then what comes, without gap or repeat. */
import type { Clock } from '../kernel/index.ts';
import { withDefaults } from './limits.ts';
import type { ReadJournalOptions } from './reader.ts';
import { Cursor } from './reader.ts';
import type { StoredRecord } from './record.ts';

export interface FollowJournalOptions extends ReadJournalOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Ends when the signal aborts. A record may be given before it is durable; when a crash or a full disk takes it away
 * again, its seq is not given a second time.
 */
export async function* followJournal(options: FollowJournalOptions): AsyncGenerator<StoredRecord> {
  const { signal } = options;
  const doorbell = new Doorbell(options);
  let cursor = new Cursor(options);
  let stuckAt = -1;
  try {
    while (!signal.aborted) {
      doorbell.reset();
      for await (const record of cursor.drain()) {
        yield record;
        if (signal.aborted) return;
      }
      if (cursor.lost && (await cursor.size()) !== stuckAt) {
        stuckAt = await cursor.size();
        const from = cursor.next;
        await cursor.close();
        // Once more from the segment's head: what it stood behind may have been cut and written anew.
        cursor = new Cursor({ ...options, from });
        continue;
      }
      if (!cursor.lost) stuckAt = -1;
      await doorbell.rung();
    }
  } finally {
    await cursor.close();
  }
}

/** Rings when the folder changed, and now and then without a reason. */
class Doorbell {
  #options: FollowJournalOptions;
  #changed = false;
  #wake: () => void = () => undefined;

  constructor(options: FollowJournalOptions) {
    this.#options = options;
    const { files, directory, signal } = options;
    const ring = (): void => {
      this.#changed = true;
      this.#wake();
    };
    files.watch(directory, ring, signal);
    signal.addEventListener('abort', ring, { once: true });
  }

  /** Before looking, so that a change while looking is not missed. */
  reset(): void {
    this.#changed = false;
  }

  async rung(): Promise<void> {
    if (this.#changed) return;
    const { clock, limits } = this.#options;
    const sweep = new AbortController();
    const changed = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const slept = clock.sleep(withDefaults(limits).followSweepMs, sweep.signal);
    try {
      await Promise.race([changed, slept.catch(() => undefined)]);
    } finally {
      sweep.abort();
    }
  }
}

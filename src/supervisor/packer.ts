/**
 * Packs the journals of runs that ended long ago, one at a time, in the background: nobody writes to them any more, and
 * readers do not see the difference (J17). Whoever runs it holds the repository's lock.
 */
import { sealJournal } from '../journal/index.ts';
import { type Clock, ensureError, type Files, isName, type Logger } from '../kernel/index.ts';
import { PACK_AFTER_MS, PACK_TAIL_BYTES } from './limits.ts';

export interface PackerDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `runs/`. */
  readonly directory: string;
}

export class Packer {
  private readonly deps: PackerDeps;
  private readonly stopping = new AbortController();
  /** Runs that somebody wants to write to. */
  private readonly left = new Set<string>();
  private now: { readonly run: string; readonly done: Promise<void> } | null = null;
  private all: Promise<void> = Promise.resolve();

  constructor(deps: PackerDeps) {
    this.deps = deps;
  }

  start(): void {
    this.all = this.packAll();
  }

  /** Resolves when nothing is being packed, which is at once or behind one segment. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.all;
  }

  /** Resolves when all that is due is packed. */
  async done(): Promise<void> {
    await this.all;
  }

  /** This run is not touched any more. */
  async leave(run: string): Promise<void> {
    this.left.add(run);
    if (this.now?.run === run) await this.now.done;
  }

  private async packAll(): Promise<void> {
    try {
      for (const run of await this.runs()) {
        if (this.stopping.signal.aborted) return;
        if (this.left.has(run)) continue;
        this.now = { run, done: this.pack(run) };
        await this.now.done;
        this.now = null;
      }
    } catch (thrown) {
      this.tell('the journals of ended runs are not packed', thrown);
    }
  }

  private async runs(): Promise<string[]> {
    const { files, directory } = this.deps;
    if ((await files.stat(directory)) === null) return [];
    return (await files.list(directory)).filter(isName);
  }

  /** A journal that is damaged, or on a full disk, stays as it is. */
  private async pack(run: string): Promise<void> {
    const { files, clock } = this.deps;
    const directory = `${this.deps.directory}/${run}/journal`;
    try {
      const endedAt = await endOf(files, directory);
      if (endedAt === null || clock.now() - endedAt <= PACK_AFTER_MS) return;
      await sealJournal({ files, directory, signal: this.stopping.signal });
    } catch (thrown) {
      this.tell(`the journal of ${run} is not packed`, thrown);
    }
  }

  private tell(what: string, thrown: unknown): void {
    this.deps.logger.log('info', what, { cause: ensureError(thrown).message });
  }
}

/** The time of the last record, when the run has ended and not all is packed; read from the end of the last segment. */
async function endOf(files: Files, directory: string): Promise<number | null> {
  if ((await files.stat(directory)) === null) return null;
  const plain = (await files.list(directory)).filter((name) => /^\d+\.jsonl$/.test(name)).at(-1);
  if (plain === undefined) return null;
  const handle = await files.open(`${directory}/${plain}`, 'read');
  try {
    const size = await handle.size();
    const from = Math.max(0, size - PACK_TAIL_BYTES);
    return endIn(new TextDecoder().decode(await handle.read(from, size - from)));
  } finally {
    await handle.close();
  }
}

function endIn(text: string): number | null {
  let ended = false;
  let lastAt: number | null = null;
  for (const line of text.split('\n')) {
    const record = parsed(line);
    if (record === null) continue;
    const { at, run } = record;
    if (typeof at === 'string') lastAt = Date.parse(at);
    if (Array.isArray(run)) ended = run.some((change) => Object(change).type === 'run.ended');
  }
  return ended && lastAt !== null && !Number.isNaN(lastAt) ? lastAt : null;
}

/** Null for a line that is cut. */
function parsed(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/**
 * What a term begins with: the journal open, the state of the run, its views. With a snapshot that fits, only the records after
 * it are folded; what lies before is checked for damage all the same, the first part of it before the run goes on.
 */
import {
  type BlobStore,
  type Journal,
  type KnownSeq,
  openJournal,
  readJournal,
} from '../journal/index.ts';
import { type Clock, ensureError, type Files, type Logger, type Random } from '../kernel/index.ts';
import type { Envelope, RunFile, StoredRunRecord } from '../protocol/index.ts';
import { describeDamage, describeGap, Fold } from './damage.ts';
import { noteLetter, type ViewFiles } from './effects/views.ts';
import { readKnownSeq } from './known.ts';
import { CHECK_FIRST_RECORDS } from './limits.ts';
import { openSnapshot, type SnapshotFormat } from './snapshot.ts';
import { applyRecord, makeRunState, type RunState } from './state.ts';
import { readTaskTexts } from './task-texts.ts';

export interface TakeUpDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly views: ViewFiles;
  readonly format: SnapshotFormat;
  readonly blobs: Pick<BlobStore, 'get'>;
  /** Of the journal. */
  readonly directory: string;
  /** The run's. */
  readonly folder: string;
}

export interface TakenUp {
  readonly journal: Journal;
  readonly state: RunState;
  readonly damage: Damage;
}

/** What the journal had lost, one sentence each. */
export interface Damage {
  readonly known: readonly string[];
  /** What is found later, of the part that a snapshot spared. Never rejects. */
  readonly more: Promise<readonly string[]>;
}

export async function takeUp(file: RunFile, deps: TakeUpDeps): Promise<TakenUp> {
  const { files, clock, random, logger, views, format, blobs, directory } = deps;
  await views.look();
  const known = await readKnownSeq(files, deps.folder);
  let state = makeRunState(file);
  const fold = new Fold((record) => {
    const letters: Envelope[] = [];
    applyRecord(state, record, (change) => noteLetter(letters, change));
    views.note(record, letters);
  });
  const journal = await openJournal({
    files,
    clock,
    random,
    directory,
    name: file.id,
    onRecord: (stored) => fold.take(stored as unknown as StoredRunRecord),
    snapshots: {
      restore: (bytes) => {
        const opened = openSnapshot(bytes, file, format);
        if (opened === null || !views.keep(opened.views)) return false;
        state = opened.state;
        return true;
      },
    },
  });
  fold.finish(file.id, journal.report);
  const { snapshot, records } = journal.report;
  logger.log('info', 'the journal of a run is open', { run: file.id, records, snapshot });
  await readTaskTexts(state, blobs);
  await views.open();
  return { journal, state, damage: await findDamage(journal, known, deps) };
}

async function findDamage(journal: Journal, knownSeq: KnownSeq, deps: TakeUpDeps): Promise<Damage> {
  const { snapshot } = journal.report;
  const known = describeDamage(journal.report, knownSeq);
  if (snapshot.seq === 0) return { known, more: Promise.resolve([]) };
  const check = new SparedCheck(snapshot.seq, deps);
  const first = await check.first();
  return { known: [...first, ...known], more: check.rest() };
}

/** Reads what a snapshot spared, without parsing it. */
class SparedCheck {
  private readonly seq: number;
  private readonly deps: TakeUpDeps;
  private found: string[] = [];
  private readonly reading: Promise<void>;
  private enough: () => void = () => undefined;

  constructor(seq: number, deps: TakeUpDeps) {
    this.seq = seq;
    this.deps = deps;
    this.reading = this.read().catch((thrown: unknown) => {
      const cause = ensureError(thrown).message;
      deps.logger.log('warn', 'the journal could not be checked as a whole', { cause });
    });
  }

  /** Of the first `CHECK_FIRST_RECORDS`. */
  async first(): Promise<readonly string[]> {
    const enough = new Promise<void>((resolve) => {
      this.enough = resolve;
    });
    await Promise.race([enough, this.reading]);
    return this.take();
  }

  async rest(): Promise<readonly string[]> {
    await this.reading;
    return this.take();
  }

  private take(): string[] {
    const found = this.found;
    this.found = [];
    return found;
  }

  private async read(): Promise<void> {
    const { files, directory } = this.deps;
    let seen = 0;
    const records = readJournal({
      files,
      directory,
      onGap: (gap) => {
        if (gap.fromSeq <= this.seq) this.found.push(describeGap(gap));
      },
      select: (head) => {
        seen += 1;
        if (seen === CHECK_FIRST_RECORDS) this.enough();
        return head.s > this.seq;
      },
    });
    // The first record that is wanted is behind all that was spared.
    for await (const _ of records) return;
  }
}

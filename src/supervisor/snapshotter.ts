/**
 * Takes snapshots of a run's state beside its loop: when much was recorded since the last one, when it is quiet, and when the
 * run is left. The loop stands still only while the state is serialised; the rest waits for the disk alone.
 *
 * Invariants
 * - S8 A snapshot covers durable records only, and the views that it names hold exactly those.
 */
import type { Journal } from '../journal/index.ts';
import { type Clock, ensureError, type Logger } from '../kernel/index.ts';
import type { ViewFiles } from './effects/views.ts';
import { SNAPSHOT_BYTES, SNAPSHOT_IDLE_MS } from './limits.ts';
import { freezeState, packSnapshot, type SnapshotFormat, type ViewSizes } from './snapshot.ts';
import type { RunState } from './state.ts';

export interface SnapshotterDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly journal: Pick<Journal, 'tailBytes' | 'writeSnapshot' | 'report'>;
  readonly views: Pick<ViewFiles, 'sizes' | 'sync'>;
  readonly format: SnapshotFormat;
}

/** Waits for the state's last record to reach the disk and the views. */
interface Taken {
  readonly seq: number;
  readonly announced: (views: ViewSizes | null) => void;
}

export class Snapshotter {
  private readonly deps: SnapshotterDeps;
  private taken: Taken | null = null;
  private writing: Promise<void> | null = null;
  /** Seq of the newest snapshot, of the last record, and of the last one that the views have. */
  private coveredSeq: number;
  private lastSeq: number;
  private announcedSeq: number;
  /** Monotonic times: of the last record, and before which no other one is tried. */
  private changedMs: number;
  private notBeforeMs = Number.NEGATIVE_INFINITY;

  /** `lastSeq`: of the state that was folded; its records are in the views. */
  constructor(deps: SnapshotterDeps, lastSeq: number) {
    this.deps = deps;
    this.coveredSeq = deps.journal.report.snapshot.seq;
    this.lastSeq = lastSeq;
    this.announcedSeq = lastSeq;
    this.changedMs = deps.clock.monotonicMs();
  }

  /** After each event; starts one when it is time. Never throws. */
  consider(state: RunState, nowMs: number): void {
    if (state.lastSeq !== this.lastSeq) {
      this.lastSeq = state.lastSeq;
      this.changedMs = nowMs;
    }
    if (this.writing !== null || this.lastSeq <= this.coveredSeq) return;
    if (nowMs < this.notBeforeMs) return;
    const isQuiet = nowMs - this.changedMs >= SNAPSHOT_IDLE_MS;
    if (isQuiet || this.deps.journal.tailBytes >= SNAPSHOT_BYTES) this.begin(state);
  }

  /** The record is durable, and the views have it. */
  announced(seq: number): void {
    this.announcedSeq = seq;
    if (this.taken !== null && seq >= this.taken.seq) this.handOver(this.taken);
  }

  /** The run is left, and all its records were announced: resolves when the next term can begin here. Never rejects. */
  async leave(state: RunState): Promise<void> {
    await this.writing;
    if (state.lastSeq > this.coveredSeq) this.begin(state);
    await this.writing;
  }

  private begin(state: RunState): void {
    const seq = state.lastSeq;
    this.writing = this.write(state, seq)
      .catch((thrown: unknown) => {
        this.notBeforeMs = this.deps.clock.monotonicMs() + SNAPSHOT_IDLE_MS;
        const cause = ensureError(thrown).message;
        this.deps.logger.log('warn', 'no snapshot of the run could be taken', { cause });
      })
      .finally(() => {
        this.writing = null;
      });
  }

  private async write(state: RunState, seq: number): Promise<void> {
    const { journal, views, format } = this.deps;
    const frozen = freezeState(state, format);
    const sizes = await new Promise<ViewSizes | null>((announced) => {
      this.taken = { seq, announced };
      if (this.announcedSeq >= seq) this.handOver(this.taken);
    });
    await views.sync();
    await journal.writeSnapshot(packSnapshot(frozen, sizes, format), seq);
    this.coveredSeq = seq;
  }

  private handOver(taken: Taken): void {
    this.taken = null;
    taken.announced(this.deps.views.sizes());
  }
}

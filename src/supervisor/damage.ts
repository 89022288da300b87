/**
 * Damage of a run's journal, as it is met when the run is taken up again: what is lost is named, what is left goes on, and
 * a fold that cannot bridge a gap says so instead of guessing (design §4).
 */

import type { Damage, KnownSeq, RecoveryReport } from '../journal/index.ts';
import { EXIT, ensureError, TroupeError } from '../kernel/index.ts';
import type { StoredRunRecord } from '../protocol/index.ts';
import { describeLostEnd } from './known.ts';

/** One sentence for each thing that the journal reported; none when it is whole. */
export function describeDamage(report: RecoveryReport, known?: KnownSeq): string[] {
  const texts = report.gaps.map(describeGap);
  const { torn, lastSeq } = report;
  const lostEnd = known === undefined ? null : describeLostEnd(lastSeq, known);
  if (torn !== null) {
    const place = `${torn.file}:${torn.line}: `;
    texts.push(
      lostEnd === null
        ? `${place}a torn tail was set aside; nothing in it had been promised`
        : `${place}damaged bytes were set aside as ${torn.kept}`,
    );
  }
  if (lostEnd !== null) texts.push(lostEnd);
  return texts;
}

export function describeGap(gap: Damage): string {
  const where = `${gap.file}:${gap.line}`;
  if (gap.toSeq < gap.fromSeq) return `${where}: damaged bytes (${gap.cause}); no record was lost`;
  const which =
    gap.fromSeq === gap.toSeq ? `record ${gap.fromSeq}` : `records ${gap.fromSeq} to ${gap.toSeq}`;
  return `${where}: ${which} lost (${gap.cause})`;
}

/** Folds records and remembers the first that did not fit, so that the whole journal is read before anything is said. */
export class Fold {
  private readonly apply: (record: StoredRunRecord) => void;
  private misfit: { readonly seq: number; readonly error: Error } | null = null;

  constructor(apply: (record: StoredRunRecord) => void) {
    this.apply = apply;
  }

  take(record: StoredRunRecord): void {
    if (this.misfit !== null) return;
    try {
      this.apply(record);
    } catch (thrown) {
      this.misfit = { seq: record.s, error: ensureError(thrown) };
    }
  }

  /** Throws when a record did not fit: for damage by name, else as the broken invariant that it is. */
  finish(run: string, report: RecoveryReport): void {
    if (this.misfit === null) return;
    const { seq, error } = this.misfit;
    const damage = report.gaps.filter((gap) => gap.toSeq >= gap.fromSeq);
    if (damage.length === 0) throw error;
    throw new TroupeError({
      code: 'supervisor/journal-damaged',
      message: `The journal of run ${run} is damaged, and what is left does not fit together from record ${seq} on. ${describeDamage(report).join('; ')}`,
      hint: `Nothing was changed. What was merged is on the branch troupe/${run}/main; \`troupe doctor\` lists all damage.`,
      exit: EXIT.storage,
      cause: error,
    });
  }
}

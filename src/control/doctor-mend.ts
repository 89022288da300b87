/**
 * What the doctor mends: only what no fact is lost by, and only while it holds the repository's lock, so that no supervisor
 * works or starts meanwhile.
 *
 * Invariant: S17 nothing is mended that a running supervisor may be using, and nothing without having been named.
 */
import { ensureError } from '../kernel/errors.ts';
import type { Finding } from './finding.ts';

/** `dry-run`: says what `repair` would do, and does nothing. */
export type DoctorMode = 'look' | 'dry-run' | 'repair';

/** A finding, and what would end it. */
export interface Look extends Finding {
  readonly mend?: Mend;
}

export interface Mend {
  /** An infinitive: `remove lock.3`. */
  readonly will: string;
  /** Idempotent; resolves with what was done. Rejects with what kept it from that. */
  readonly act: () => Promise<string>;
}

export const fine = (check: string, detail: string, repair = ''): Look => ({
  check,
  ok: true,
  detail,
  repair,
});

export const wrong = (check: string, detail: string, repair: string): Look => ({
  check,
  ok: false,
  detail,
  repair,
});

/** `refused`: why nothing may be mended now; null: it may. */
export async function settleLooks(
  looks: readonly Look[],
  how: { readonly mode: DoctorMode; readonly refused: string | null },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const look of looks) {
    const { mend, ...finding } = look;
    if (mend === undefined) findings.push(finding);
    else findings.push(await settle(finding, mend, how));
  }
  return findings;
}

async function settle(
  finding: Finding,
  { will, act }: Mend,
  { mode, refused }: { readonly mode: DoctorMode; readonly refused: string | null },
): Promise<Finding> {
  const also = finding.repair === '' ? '' : ` ${finding.repair}`;
  if (refused !== null) return { ...finding, repair: `${refused}${also}` };
  if (mode === 'look') {
    return { ...finding, repair: `\`troupe doctor --repair\` would ${will}.${also}` };
  }
  if (mode === 'dry-run') return { ...finding, repair: `Would ${will}.${also}` };
  try {
    const done = await act();
    return { ...finding, ok: true, detail: `${finding.detail}; mended: ${done}`, repair: '' };
  } catch (thrown) {
    const why = `Could not ${will}: ${ensureError(thrown).message}`;
    return { ...finding, ok: false, repair: `${why}${also}` };
  }
}

/** When a supervisor that died is started again, and when not any more. Pure. */
import { KEEP_BACKOFF_MAX_MS, KEEP_BACKOFF_MS, KEEP_INTENSITY, KEEP_PERIOD_MS } from './limits.ts';

export interface Death {
  /** By a clock that never goes back, so that a jump of the wall clock neither hides nor makes deaths. */
  readonly atMs: number;
  readonly reason: string;
}

export type AfterDeath =
  | { readonly kind: 'restart'; readonly delayMs: number }
  | { readonly kind: 'give-up'; readonly text: string };

/** `deaths`: all until now, the last one just now. `chance` in [0, 1). */
export function afterDeath(
  deaths: readonly Death[],
  chance: number,
  backoffMs: number = KEEP_BACKOFF_MS,
): AfterDeath {
  const now = deaths.at(-1)?.atMs ?? 0;
  const recent = deaths.filter(({ atMs }) => now - atMs < KEEP_PERIOD_MS);
  if (recent.length >= KEEP_INTENSITY) {
    const causes = recent.slice(-3).map(({ reason }) => reason);
    const minutes = KEEP_PERIOD_MS / 60_000;
    const text = `the supervisor died ${recent.length} times within ${minutes} minutes; the last times: ${causes.join('; ')}`;
    return { kind: 'give-up', text };
  }
  const whole = Math.min(KEEP_BACKOFF_MAX_MS, backoffMs * 2 ** (recent.length - 1));
  return { kind: 'restart', delayMs: Math.round(whole / 2 + (whole / 2) * chance) };
}

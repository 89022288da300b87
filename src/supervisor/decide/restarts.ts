/**
 * What follows from a death (design §6, mailbox.md §3.12): whether and when an actor is started again, with which heap, and
 * who is told when it is not. The strategy is the profile's: `temporary` is never started again, `transient` when there is
 * work for it, `permanent` in any case.
 *
 * Invariants
 * - A11 No hot loop: restarts of one actor are bounded by intensity and period, and each but the first waits longer, with
 *   jitter. What was not the actor's fault (a letter that is set aside, a task's deadline) is not counted, since it has a bound
 *   of its own. Past the bound lead and user hear of it with the last causes, once.
 */
import { type Actor, endOf, type HostExit } from '../../actors/index.ts';
import { type ActorName, isoTime } from '../../kernel/index.ts';
import type { DeathCause } from '../../protocol/index.ts';
import {
  BACKOFF_BASE_MS,
  BACKOFF_MAX_MS,
  CAUSES_TOLD,
  HEALTHY_MS,
  HEAP_MB,
  MEMORY_DEATHS_MAX,
  RESTART_INTENSITY,
  RESTART_PERIOD_MS,
} from '../limits.ts';
import type { Live, LiveActor } from '../live.ts';
import type { Death, RunState } from '../state.ts';
import { jitterOf } from '../text.ts';

const COUNTED: ReadonlySet<DeathCause> = new Set(['bug', 'memory', 'hang']);

export function causeOf(actor: LiveActor, exit: HostExit): DeathCause {
  if (actor.doom?.cause !== undefined) return actor.doom.cause;
  return exit.kind === 'crashed' && exit.code === 'out-of-memory' ? 'memory' : 'bug';
}

/**
 * Whether an actor may be started or given work: not stopped for good, not past its restart intensity. `nowMs` null
 * leaves the period out: any number of deaths past the intensity counts.
 */
export function mayRun(state: RunState, actor: Actor, nowMs: number | null): boolean {
  // What a newer version recorded of it can't be known: it is left alone (S16).
  if (state.unknown.has(actor.name)) return false;
  const end = endOf(actor);
  if (end !== null && end.kind !== 'crashed') return false;
  if (end?.kind === 'crashed' && actor.profile.restart === 'temporary') return false;
  const deaths = state.deaths.get(actor.name) ?? [];
  return !isOutOfMemory(deaths) && !pastIntensity(state, deaths, nowMs);
}

/** More than the allowed deaths within one period (OTP's intensity). */
function pastIntensity(state: RunState, all: readonly Death[], nowMs: number | null): boolean {
  const { intensity, periodMs } = boundsOf(state);
  const deaths = counted(all);
  if (deaths.length < intensity) return false;
  const newest = deaths.slice(-intensity);
  const first = Date.parse(newest[0]?.at ?? '');
  const last = Date.parse(newest.at(-1)?.at ?? '');
  return last - first <= periodMs || (nowMs !== null && nowMs - first <= periodMs);
}

/** Twice, the second time with twice the heap. */
function isOutOfMemory(deaths: readonly Death[]): boolean {
  const full = newestRow(deaths).filter((one) => one.cause === 'memory');
  return full.length >= MEMORY_DEATHS_MAX;
}

function counted(deaths: readonly Death[]): Death[] {
  return deaths.filter((one) => COUNTED.has(one.cause));
}

function boundsOf({ file }: RunState): { readonly intensity: number; readonly periodMs: number } {
  const { restarts, restartPeriodMs } = file.team.limits;
  return {
    intensity: restarts ?? RESTART_INTENSITY,
    periodMs: restartPeriodMs ?? RESTART_PERIOD_MS,
  };
}

export interface Verdict {
  readonly isLast: boolean;
  /** From now, until it may be started again. */
  readonly waitMs: number;
  /** Of the last deaths with this one, newest last; for people. */
  readonly causes: readonly string[];
}

/** What a death now, not yet on record, leads to. */
export function afterDeath(
  state: RunState,
  actor: Actor,
  death: { readonly nowMs: number; readonly text: string; readonly cause: DeathCause },
): Verdict {
  const { nowMs, text, cause } = death;
  const before = state.deaths.get(actor.name) ?? [];
  const all = [...before, { at: isoTime(nowMs), text, cause, restartAt: null }];
  const isLast =
    actor.profile.restart === 'temporary' || isOutOfMemory(all) || pastIntensity(state, all, null);
  return {
    isLast,
    waitMs: isLast || !COUNTED.has(cause) ? 0 : backoffMs(actor.name, all),
    causes: all.slice(-CAUSES_TOLD).map((one) => `${one.at} (${one.cause}) ${one.text}`),
  };
}

/** Deaths that follow each other within the healthy time: the last such row of them. */
function newestRow(all: readonly Death[]): Death[] {
  const deaths = counted(all);
  let from = Math.max(0, deaths.length - 1);
  while (from > 0) {
    const gap = Date.parse(deaths[from]?.at ?? '') - Date.parse(deaths[from - 1]?.at ?? '');
    if (gap >= HEALTHY_MS) break;
    from -= 1;
  }
  return deaths.slice(from);
}

function backoffMs(name: ActorName, all: readonly Death[]): number {
  const row = newestRow(all);
  if (row.length < 2) return 0;
  const doubled = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** Math.min(row.length - 2, 20));
  return Math.round((doubled / 2) * (1 + jitterOf(`${name} ${row.at(-1)?.at} ${row.length}`)));
}

/** Whether an actor waits to be started again, by its record; a clock that was put back holds it no longer than the most. */
export function isResting(state: RunState, name: ActorName, nowMs: number): boolean {
  const until = Date.parse(state.deaths.get(name)?.at(-1)?.restartAt ?? '');
  return nowMs < until && until - nowMs <= BACKOFF_MAX_MS;
}

/** The same in this term, by the clock that does not jump. */
export function mustRest(live: Live, name: ActorName, monotonicMs: number): boolean {
  return (live.resting.get(name) ?? 0) > monotonicMs;
}

/** Of its next thread. */
export function heapMbOf(state: RunState, name: ActorName): number {
  const isSmall = state.deaths.get(name)?.some((one) => one.cause === 'memory') ?? false;
  return isSmall ? 2 * HEAP_MB : HEAP_MB;
}

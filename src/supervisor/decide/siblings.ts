/**
 * Actors of one profile begin their requests with the same words. When none of those is kept by the provider yet, one
 * request goes ahead and the others follow as soon as its answer has begun: then they read what that one wrote, instead of
 * paying for the same beginning each.
 *
 * Invariant: B6 who waits for another's beginning waits for a bounded time, and for nobody who is gone.
 */
import type { ReserveRequest } from '../../protocol/index.ts';
import type { Happening } from '../inbox.ts';
import { PREFIX_KEPT_MS, PREFIX_WAIT_MS } from '../limits.ts';
import type { HeldRequest, Live } from '../live.ts';

/** How long this request is to wait for another's answer to begin; 0: it may go. */
export function waitForSibling(live: Live, { monotonicMs }: Happening, held: HeldRequest): number {
  const key = keyOf(held.ask);
  const kept = key === null ? undefined : live.outlet.prefixes.get(key);
  if (kept === undefined || kept.ahead === null) return 0;
  const { id, name, incarnation } = kept.ahead;
  if (id === held.ask.id || live.actors.get(name)?.incarnation !== incarnation) return 0;
  return Math.max(0, kept.at + PREFIX_WAIT_MS - monotonicMs);
}

/** It goes out now. True: others may wait for it, so it is to tell when its answer begins. */
export function goesOut(live: Live, { monotonicMs }: Happening, held: HeldRequest): boolean {
  const key = keyOf(held.ask);
  if (key === null) return false;
  const { prefixes } = live.outlet;
  const kept = prefixes.get(key);
  if (kept?.ahead === null && monotonicMs - kept.at < PREFIX_KEPT_MS) {
    prefixes.set(key, { ahead: null, at: monotonicMs });
    return false;
  }
  const { name, incarnation, ask } = held;
  prefixes.set(key, { ahead: { id: ask.id, name, incarnation }, at: monotonicMs });
  return true;
}

/** The answer to this request has begun, or there will be none (`isKept` false): nobody waits for it any longer. */
export function hasBegun(live: Live, happening: Happening, id: string, isKept: boolean): void {
  const { prefixes } = live.outlet;
  for (const [key, { ahead }] of prefixes) {
    if (ahead?.id !== id) continue;
    if (isKept) prefixes.set(key, { ahead: null, at: happening.monotonicMs });
    else prefixes.delete(key);
    live.outlet.dirty = true;
  }
}

function keyOf({ model, prefix }: ReserveRequest): string | null {
  return prefix === undefined ? null : `${model} ${prefix}`;
}

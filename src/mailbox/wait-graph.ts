/**
 * Who waits for whom. An ask that waits carries this chain; one that would close a ring is refused at once, since
 * nobody in a ring can ever answer (mailbox.md, "Deadlock rule").
 *
 * Invariants
 * - M7 A cycle of blocking asks is refused, with the whole ring in words. What was let in never contains one.
 */
import { TroupeError } from '../kernel/errors.ts';

/** `waiter` can't go on before `on` has answered. */
export interface Wait {
  readonly waiter: string;
  readonly on: string;
}

/**
 * The ring that `next` would close, beginning and ending with its waiter; null when there is none. Costs at most one look
 * at each wait.
 */
export function waitCycle(waits: Iterable<Wait>, next: Wait): string[] | null {
  const targets = new Map<string, string[]>();
  for (const { waiter, on } of waits) {
    const known = targets.get(waiter);
    if (known === undefined) targets.set(waiter, [on]);
    else known.push(on);
  }
  const cameFrom = new Map<string, string | null>([[next.on, null]]);
  for (const name of cameFrom.keys()) {
    if (name === next.waiter) return [next.waiter, ...pathTo(cameFrom, name)];
    for (const on of targets.get(name) ?? []) {
      if (!cameFrom.has(on)) cameFrom.set(on, name);
    }
  }
  return null;
}

/** From where the search began to `last`. */
function pathTo(cameFrom: ReadonlyMap<string, string | null>, last: string): string[] {
  const path: string[] = [];
  for (let at: string | null = last; at !== null; at = cameFrom.get(at) ?? null) path.push(at);
  return path.toReversed();
}

/** All who wait, directly or through others, for `name`, nearest first, after `name` itself: what an ask carries. */
export function waitChain(waits: Iterable<Wait>, name: string): string[] {
  const waiters = new Map<string, string[]>();
  for (const { waiter, on } of waits) {
    const known = waiters.get(on);
    if (known === undefined) waiters.set(on, [waiter]);
    else known.push(waiter);
  }
  const chain = new Set([name]);
  for (const one of chain) for (const waiter of waiters.get(one) ?? []) chain.add(waiter);
  return [...chain];
}

/** The refusal of an ask, by the ring of `waitCycle`. */
export function cycleError(ring: readonly string[]): TroupeError {
  const steps = ring.slice(1).map((name, index) => `${ring[index]} waits for ${name}`);
  return new TroupeError({
    code: 'mailbox/ask_cycle',
    message: `Nobody could ever answer: ${steps.join(', ')}`,
    hint: 'Answer what you are asked first, or write a message instead: a message waits for nobody.',
    data: { chain: ring },
  });
}

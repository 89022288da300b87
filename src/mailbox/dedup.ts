/**
 * Which (sender, epoch, counter) were seen, for ever, in memory that grows with senders alone (M2): per epoch the
 * highest counter and a window of the 64 before it; what lies below the window counts as seen.
 *
 * Invariants
 * - M2 A key that was noted is a duplicate for ever after.
 */
import { EPOCHS_KEPT, OUTSIDE_IDS_MAX } from './limits.ts';

export interface MailKey {
  readonly from: string;
  /** The sender's epoch. */
  readonly e: number;
  /** The sender's counter in that epoch. */
  readonly n: number;
}

const WINDOW = 64;
const WINDOW_BITS = (1n << 64n) - 1n;

interface EpochWindow {
  highest: number;
  /** Bit i: `highest - i` was noted. */
  bits: bigint;
}

/** Per sender its newest epochs, oldest first. */
export type SeenKeys = Map<string, Map<number, EpochWindow>>;

export function hasKey(seen: SeenKeys, key: MailKey): boolean {
  const window = seen.get(key.from)?.get(key.e);
  if (window === undefined) return false;
  const back = window.highest - key.n;
  if (back < 0) return false;
  return back >= WINDOW || (window.bits & (1n << BigInt(back))) !== 0n;
}

export function noteKey(seen: SeenKeys, key: MailKey): void {
  const epochs = seen.get(key.from) ?? new Map<number, EpochWindow>();
  seen.set(key.from, epochs);
  const window = epochs.get(key.e);
  if (window === undefined) {
    if (isForgotten(seen, key)) return;
    epochs.set(key.e, { highest: key.n, bits: 1n });
    if (epochs.size > EPOCHS_KEPT) epochs.delete(Math.min(...epochs.keys()));
    return;
  }
  const ahead = key.n - window.highest;
  if (ahead > 0) {
    window.bits = ahead >= WINDOW ? 1n : ((window.bits << BigInt(ahead)) | 1n) & WINDOW_BITS;
    window.highest = key.n;
  } else if (-ahead < WINDOW) {
    window.bits |= 1n << BigInt(-ahead);
  }
}

export function highestOf(seen: SeenKeys, from: string, epoch: number): number {
  return seen.get(from)?.get(epoch)?.highest ?? 0;
}

/** Remembers an id; the oldest one goes when there are too many. */
export function noteId(ids: Set<string>, id: string): void {
  ids.add(id);
  if (ids.size <= OUTSIDE_IDS_MAX) return;
  for (const oldest of ids) {
    ids.delete(oldest);
    return;
  }
}

/** The epoch is older than all that are kept, and as many are kept as may be: its sender is long gone. */
export function isForgotten(seen: SeenKeys, key: MailKey): boolean {
  const epochs = seen.get(key.from);
  if (epochs === undefined || epochs.size < EPOCHS_KEPT) return false;
  return key.e < Math.min(...epochs.keys());
}

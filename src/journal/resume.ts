/** Where recovery begins to replay: behind the newest snapshot that fits the log, or at the start. */
import type { Files } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';
import type { JournalLimits } from './limits.ts';
import { endsThere, readHeadOf } from './place.ts';
import type { HeadExpectation } from './segment.ts';
import { checkHead, isPacked, segmentOf } from './segment.ts';
import type { Snapshot, SnapshotPlace, SnapshotStore } from './snapshot.ts';
import { openSource } from './source.ts';

export interface Resumed {
  /** Seq of the snapshot that was taken; 0: none. */
  readonly seq: number;
  /** Names of those that were passed over, newest first, and why. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

export interface ResumeOptions {
  readonly files: Files;
  readonly directory: string;
  readonly limits: JournalLimits;
  readonly snapshots: SnapshotStore;
  readonly restore: (state: Uint8Array, seq: number) => boolean;
  /** The journal's segment files, in order. */
  readonly names: readonly string[];
  readonly expected: HeadExpectation;
}

/** Restores the newest snapshot that fits (J15). Rejects as a full scan would, for segments that are not ours. */
export async function resume(
  options: ResumeOptions,
): Promise<Resumed & { readonly from: (SnapshotPlace & { readonly file: string }) | null }> {
  const refused: { name: string; reason: string }[] = [];
  for (const name of await options.snapshots.list()) {
    const snapshot = await options.snapshots.read(name);
    if (snapshot === null) {
      refused.push({ name, reason: 'it is not whole' });
      continue;
    }
    const { place, state } = snapshot;
    const file = options.names.find((one) => segmentOf(one) === place.segment);
    const reason =
      file === undefined ? 'its segment is gone' : await misfit(file, snapshot, options);
    if (reason === null && file !== undefined && options.restore(state, place.seq)) {
      return { seq: place.seq, refused, from: { ...place, file } };
    }
    refused.push({ name, reason: reason ?? 'its state was refused' });
  }
  return { seq: 0, refused, from: null };
}

/** Why the snapshot does not fit the log; null when it does. */
async function misfit(
  file: string,
  snapshot: Snapshot,
  options: ResumeOptions,
): Promise<string | null> {
  const { place } = snapshot;
  const { names, expected } = options;
  const log = { ...expected, log: place.log };
  if (expected.name !== null && place.name !== expected.name) return 'it is of another journal';
  for (const name of names.slice(0, names.indexOf(file) + 1)) {
    // A packed one would have to be unpacked for its head; the doctor looks at it.
    if (name !== file && isPacked(name)) continue;
    const found = await look(name, name === file ? place : null, options);
    if (found.head === null) {
      if (name === file) return 'the head of its segment is damaged';
      continue;
    }
    if (checkHead(found.head, name, log) !== null) {
      const error = checkHead(found.head, name, { ...expected });
      if (error !== null) throw error;
      return 'it is of another log';
    }
    if (name === file && !found.fits) return 'its record is not where it says';
  }
  return null;
}

async function look(
  name: string,
  place: SnapshotPlace | null,
  options: ResumeOptions,
): Promise<{ head: Parameters<typeof checkHead>[0] | null; fits: boolean }> {
  try {
    const source = await openSource(options.files, `${options.directory}/${name}`);
    try {
      const found = await readHeadOf(source, options.limits);
      const fits = place !== null && (await endsThere(source, place));
      return { head: found?.head ?? null, fits };
    } finally {
      await source.close();
    }
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return { head: null, fits: false };
  }
}

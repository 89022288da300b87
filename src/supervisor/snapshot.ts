/**
 * The state of a run as bytes and back, so that taking a run up replays the end of its journal only. The whole `RunState` goes
 * through the platform's structured serialisation, so a field that is added to it is in the snapshot without a word here.
 *
 * Invariants
 * - S8 State from a snapshot and the records after it equals the fold of all records. What is volatile is left out, and a
 *   snapshot of another version or shape is not used: then more is replayed, and nobody notices but by the clock.
 */
import type { Codec } from '../kernel/index.ts';
import { forgetVolatile } from '../mailbox/index.ts';
import type { RunFile } from '../protocol/index.ts';
import { makeRunState, type RunState } from './state.ts';

/** Rises when the same records fold to something else, or to a state of another shape. */
const STATE_VERSION = 10;

/** What snapshots are made and read with. */
export interface SnapshotFormat {
  readonly codec: Codec;
  /** Of this Troupe: another one may fold differently. */
  readonly version: string;
}

/** Bytes of each view file, by its name, when all records up to the snapshot's were in it. */
export type ViewSizes = ReadonlyMap<string, number>;

interface Parcel {
  readonly v: number;
  readonly troupe: string;
  /** Null: it was not known, so the views are made anew. */
  readonly views: ViewSizes | null;
  readonly state: Uint8Array;
}

/** The state as it is now, which goes on changing meanwhile. */
export function freezeState(state: RunState, { codec }: SnapshotFormat): Uint8Array {
  // `run.json` has the file.
  return codec.encode({ ...state, file: null });
}

export function packSnapshot(
  state: Uint8Array,
  views: ViewSizes | null,
  format: SnapshotFormat,
): Uint8Array {
  const parcel: Parcel = { v: STATE_VERSION, troupe: format.version, views, state };
  return format.codec.encode(parcel);
}

export interface OpenedSnapshot {
  readonly state: RunState;
  readonly views: ViewSizes | null;
}

/** Null when it can't be used. */
export function openSnapshot(
  bytes: Uint8Array,
  file: RunFile,
  format: SnapshotFormat,
): OpenedSnapshot | null {
  try {
    const parcel = format.codec.decode(bytes) as Parcel;
    if (parcel.v !== STATE_VERSION || parcel.troupe !== format.version) return null;
    const state: RunState = { ...(format.codec.decode(parcel.state) as RunState), file };
    if (!hasShapeOf(state, makeRunState(file))) return null;
    forgetVolatile(state.mail);
    return { state, views: parcel.views };
  } catch {
    // Bytes of another platform: as good as none.
    return null;
  }
}

/** Whether plain objects have the same fields, all the way down; what Maps and arrays hold is not looked at. */
function hasShapeOf(value: unknown, model: unknown): boolean {
  if (!isPlain(model)) return true;
  if (!isPlain(value)) return false;
  const fields = Object.keys(model);
  if (Object.keys(value).length !== fields.length) return false;
  return fields.every((field) => field in value && hasShapeOf(value[field], model[field]));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

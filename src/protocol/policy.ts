/**
 * What calls are judged by, as plain data: made outside of any decision, the same for supervisor and threads.
 * A snapshot is never changed; a new one takes its place.
 */
import type { PolicyFile } from './team.ts';

export type LayerName = 'admin' | 'user' | 'project' | 'team' | 'built-in';

export interface PolicyLayer {
  readonly name: LayerName;
  /** Path of the file, for messages. */
  readonly origin: string;
  readonly file: PolicyFile;
  /** SHA-256 of the file. */
  readonly hash?: string | undefined;
  /** False: only its deny and ask rules count. */
  readonly trusted: boolean;
  /** Of a file that can't be read any more: why. It stands as it was last, and allows nothing. */
  readonly problem?: string | undefined;
}

export interface PolicySnapshot {
  /** Short name of exactly these layers; decisions say it. */
  readonly revision: string;
  readonly layers: readonly PolicyLayer[];
  /** SHA-256 of the files that rules pin, as they are in the base commit of the run; null: not there. */
  readonly pins: Readonly<Record<string, string | null>>;
}

export type PathKind = 'file' | 'directory' | 'special' | 'missing';

/** What a path is on the disk, its links followed. */
export interface PathFact {
  /** Absolute, no link left in it as far as it exists. */
  readonly path: string;
  readonly kind: PathKind;
  /** Hard links of a file; 1 when not known. */
  readonly links: number;
}

/** What the disk says of the paths and the pinned files of one call; looked at before it is judged. */
export interface CallFacts {
  readonly paths: Readonly<Record<string, PathFact>>;
  readonly pins: Readonly<Record<string, string | null>>;
}

/** A word of a person on content of the repository; `k` is `trust`, in the workspace journal. */
export interface TrustRecord {
  readonly at: string;
  readonly what: 'trusted' | 'revoked';
  /** SHA-256 of the content: the trust is in this, wherever it lies. */
  readonly hash: string;
  /** Where it lay, for people. */
  readonly path: string;
}

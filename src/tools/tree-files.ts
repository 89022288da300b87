/**
 * The port that file tools work over: one tree, by paths relative to its root. The production adapter opens race-free
 * (no link is followed that was not resolved and checked before); the memory twin lives in the tests.
 */
import type { FileStat } from '../kernel/index.ts';

export interface TreeEntry {
  readonly name: string;
  readonly kind: FileStat['kind'];
}

export interface TreeRead {
  /** The first `maxBytes` of the file. */
  readonly bytes: Uint8Array;
  /** Of the whole file. */
  readonly size: number;
}

/** Rejections carry a system `code` (`ENOENT`, `EISDIR`, …) or are a `TroupeError` with a reason. Paths are normalised. */
export interface TreeFiles {
  /** Absolute path of the root. */
  readonly root: string;
  /**
   * The path with all links resolved, relative to the root; what does not exist yet is kept as it is. Rejects when it
   * leads out of the root.
   */
  real(path: string): Promise<string>;
  /** A regular file only; never waits on a FIFO or a device. */
  read(path: string, maxBytes: number): Promise<TreeRead>;
  /** Replaces the whole content, keeps the mode of a file that is there, creates parents. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Does not follow a link; null when missing. */
  stat(path: string): Promise<FileStat | null>;
  list(path: string): Promise<TreeEntry[]>;
}

/** What the platform offers: the same operations for any root, each call race-free below it. */
export interface TreeOps {
  real(root: string, path: string): Promise<string>;
  read(root: string, path: string, maxBytes: number): Promise<TreeRead>;
  write(root: string, path: string, bytes: Uint8Array): Promise<void>;
  stat(root: string, path: string): Promise<FileStat | null>;
  list(root: string, path: string): Promise<TreeEntry[]>;
}

export function makeTreeFiles(root: string, ops: TreeOps): TreeFiles {
  return {
    root,
    real: (path) => ops.real(root, path),
    read: (path, maxBytes) => ops.read(root, path, maxBytes),
    write: (path, bytes) => ops.write(root, path, bytes),
    stat: (path) => ops.stat(root, path),
    list: (path) => ops.list(root, path),
  };
}

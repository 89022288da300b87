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
  /** `maxBytes` of the file, from where it was asked for. */
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
  read(path: string, maxBytes: number, offset?: number): Promise<TreeRead>;
  /** Replaces the whole content, keeps the mode of a file that is there, creates parents. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Null when missing. */
  stat(path: string): Promise<FileStat | null>;
  list(path: string): Promise<TreeEntry[]>;
  /** Texts in the form of `.gitignore` that hold for the whole tree, the weakest first: what git has besides. */
  readonly ignores?: readonly string[];
}

/** What the platform offers (`platform/safe-open.ts`, by these names): each call is race-free below the root. */
export interface TreeOps {
  /** See `TreeFiles.real`; rejects `path/outside`. */
  realInside(root: string, relative: string): Promise<string>;
  readInside(
    root: string,
    relative: string,
    options: { readonly offset: number; readonly length: number; readonly sizeMax: number },
  ): Promise<TreeRead>;
  /** Folders on the way must exist. */
  writeInside(root: string, relative: string, bytes: Uint8Array): Promise<unknown>;
  makeDirectoriesInside(root: string, relative: string): Promise<void>;
  statInside(root: string, relative: string): Promise<FileStat | null>;
  listInside(root: string, relative: string): Promise<readonly TreeEntry[]>;
}

export function makeTreeFiles(
  root: string,
  ops: TreeOps,
  ignores: readonly string[] = [],
): TreeFiles {
  return {
    root,
    ignores,
    real: (path) => ops.realInside(root, path),
    read: (path, maxBytes, offset = 0) =>
      ops.readInside(root, path, { offset, length: maxBytes, sizeMax: maxBytes }),
    write: async (path, bytes) => {
      const slash = path.lastIndexOf('/');
      if (slash > 0) await ops.makeDirectoriesInside(root, path.slice(0, slash));
      await ops.writeInside(root, path, bytes);
    },
    stat: (path) => ops.statInside(root, path),
    list: async (path) => [...(await ops.listInside(root, path))],
  };
}

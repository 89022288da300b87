/** Text of a tree that is read for an actor and not by a call of it: under the same guard as its file tools. */
import { ensureError } from '../kernel/index.ts';
import { guardPath, protectedReason } from './path-guard.ts';
import { decodeUtf8, isBinary } from './tree-access.ts';
import type { TreeFiles } from './tree-files.ts';

export interface TreeText {
  /** As named, normalised. */
  readonly path: string;
  /** The beginning of the file, as much as was asked for. */
  readonly text: string;
  /** Bytes of the whole file. */
  readonly size: number;
}

/** Null: it is not there, lies outside, or is no text. Rejects on bugs alone. */
export async function readTreeText(
  tree: TreeFiles,
  path: string,
  bytesMax: number,
): Promise<TreeText | null> {
  const guarded = guardPath(path, { access: 'read', root: tree.root });
  if (!guarded.ok) return null;
  try {
    const real = await tree.real(guarded.path);
    if (protectedReason(real.split('/').filter(Boolean), 'read') !== null) return null;
    const stat = await tree.stat(real);
    if (stat?.kind !== 'file') return null;
    const { bytes, size } = await tree.read(real, bytesMax);
    if (isBinary(bytes)) return null;
    return { path: guarded.path, text: decodeUtf8(bytes, { exact: false }), size };
  } catch (error) {
    if (ensureError(error).name === 'InvariantError') throw error;
    return null;
  }
}

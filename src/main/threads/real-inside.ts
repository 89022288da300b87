/** Where a path inside a tree really leads; part of what the file tools of a thread work over. */
import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { systemCode, TroupeError } from '../../kernel/index.ts';

/**
 * The path with its links resolved, relative to the real root; what does not exist yet is kept as it is. Rejects
 * `path/outside` when it leads out of the root. A judgement, not a lock: the operations themselves open race-free.
 */
export async function realInside(root: string, path: string): Promise<string> {
  const realRoot = realpathSync(root);
  const real = realOf(resolve(realRoot, path), path);
  if (real !== realRoot && !real.startsWith(realRoot + sep)) throw outside(path);
  return relative(realRoot, real).split(sep).join('/');
}

function realOf(absolute: string, given: string): string {
  try {
    return realpathSync(absolute);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  // A link to nothing may lead anywhere once its target is made.
  if (isLink(absolute)) throw outside(given);
  const parent = dirname(absolute);
  return parent === absolute ? absolute : join(realOf(parent, given), basename(absolute));
}

function isLink(absolute: string): boolean {
  return lstatSync(absolute, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function outside(path: string): TroupeError {
  return new TroupeError({
    code: 'path/outside',
    message: `${path} leads out of the tree`,
    data: { path },
  });
}

/** Finds conflict markers that somebody left in: a whole set of three, newly there, in a file that changed. */
import type { Git } from './git-cli.ts';
import { LIMITS } from './limits.ts';
import { splitZ } from './stage.ts';

export interface MarkerPlace {
  readonly path: string;
  /** From 1, of the opening marker. */
  readonly line: number;
}

export async function findMarkers(
  git: Git,
  options: { readonly from: string; readonly to: string },
): Promise<MarkerPlace[]> {
  const { from, to } = options;
  const changed = await git.run({
    args: [
      'diff-tree',
      '-r',
      '-z',
      '--name-only',
      '--no-renames',
      '--diff-filter=AMT',
      '-G^<<<<<<<( |$)',
      from,
      to,
    ],
    timeoutMs: LIMITS.longTimeoutMs,
  });
  const places: MarkerPlace[] = [];
  for (const path of splitZ(changed.stdout)) {
    const now = markerLines((await readBlob(git, to, path)) ?? '');
    const before = markerLines((await readBlob(git, from, path)) ?? '');
    for (const line of now.slice(before.length)) places.push({ path, line });
  }
  return places;
}

/** Content of a path in a tree or commit, or null when there is no such file. */
export async function readBlob(git: Git, tree: string, path: string): Promise<string | null> {
  const result = await git.run({ args: ['cat-file', 'blob', `${tree}:${path}`], codes: [0, 128] });
  return result.code === 0 ? result.stdout : null;
}

/** Lines (from 1) of opening markers that are followed by a separator and a closing marker. */
export function markerLines(text: string): number[] {
  const found: number[] = [];
  let opened = 0;
  let separated = false;
  text.split('\n').forEach((line, index) => {
    if (/^<{7}(?: |\r?$)/.test(line)) {
      opened = index + 1;
      separated = false;
    } else if (/^={7}\r?$/.test(line)) {
      separated = opened > 0;
    } else if (/^>{7}(?: |\r?$)/.test(line) && separated) {
      found.push(opened);
      opened = 0;
      separated = false;
    }
  });
  return found;
}

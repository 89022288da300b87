/**
 * Which paths a model may name. Purely lexical; the tree checks the same again on the path with its links resolved.
 *
 * Invariants
 * - W1 A path lies below the root of the actor's tree, or it is refused with a reason.
 * - W2 Git's own folder is out of reach in every spelling and at every depth; `.troupe` is out of reach but for reading
 *   `.troupe/agents` and `.troupe/skills`. No rule and no grant opens these.
 */

export type Access = 'read' | 'write';

export type GuardedPath =
  /** Relative to the root, normalised, `''` for the root itself. */
  { readonly ok: true; readonly path: string } | { readonly ok: false; readonly reason: string };

export interface GuardOptions {
  readonly access: Access;
  /** An absolute path below it is taken as relative to it. */
  readonly root: string;
}

export function guardPath(given: string, options: GuardOptions): GuardedPath {
  if (given.includes('\0')) return refuse('a path can not contain a NUL character');
  const relative = relativeTo(options.root, given);
  if (relative === null) {
    return refuse(`"${given}" is outside of your tree: paths are relative to its root`);
  }
  const parts: string[] = [];
  for (const part of relative.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return refuse(`"${given}" leads out of your tree`);
  }
  const reason = protectedReason(parts, options.access);
  return reason === null ? { ok: true, path: parts.join('/') } : refuse(reason);
}

/** Why the floor keeps this path shut; null when it does not. */
export function protectedReason(parts: readonly string[], access: Access): string | null {
  if (parts.some(isGitFolder)) return 'git metadata (.git) is protected';
  const [first, second] = parts.map(fold);
  if (first !== '.troupe') return null;
  if (access === 'write') return '.troupe is protected: no tool may write there';
  if (second === 'agents' || second === 'skills') return null;
  return '.troupe is protected: only .troupe/agents and .troupe/skills may be read';
}

function isGitFolder(part: string): boolean {
  const folded = fold(part);
  return folded === '.git' || /^git~\d+$/.test(folded) || folded.startsWith('.git:');
}

/** As file systems that ignore case, invisible characters or trailing dots would read the name. */
function fold(part: string): string {
  return part
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/[. ]+$/, '');
}

function relativeTo(root: string, path: string): string | null {
  if (!path.startsWith('/')) return /^[a-z]:[\\/]/i.test(path) ? null : path;
  if (path === root) return '';
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null;
}

function refuse(reason: string): GuardedPath {
  return { ok: false, reason };
}

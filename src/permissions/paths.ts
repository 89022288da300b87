/**
 * Paths of calls, without a disk: made absolute, with `.` and `..` taken away, aliases of `/proc` undone, compared by whole
 * names. What links lead to is told by an injected `resolve`.
 *
 * Invariants
 * - P6 A path lies inside a folder when its names begin with the folder's names; never by the start of its text.
 * - P7 Both the name and what it resolves to are judged: allow needs both, deny needs either.
 */
import type { PathFact } from '../protocol/policy.ts';

export type Resolved = PathFact;

/** Null: there is no disk to ask, the name stands for itself. */
export type Resolve = (path: string) => Resolved | null;

export type NamedPath =
  | {
      readonly kind: 'path';
      readonly names: readonly string[];
      /** Absolute and with its `..` still in it, since a link before them decides where they lead. */
      readonly raw: string;
    }
  /** An alias that can't be followed, such as `/proc/self/fd/3`. */
  | { readonly kind: 'alias' };

const PROC_ROOT = /^\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/root(?=\/|$)/;
const PROC_CWD = /^\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/cwd(?=\/|$)/;
const PROC_FD = /^\/(?:proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(?:fd|map_files)|dev\/fd)\//;

const PLAIN = /^(?!proc\/)[A-Za-z0-9_-][\w.-]*(\/[A-Za-z0-9_-][\w.-]*)*$/;
let lastFolder: { readonly path: string; readonly names: readonly string[] } | null = null;

/** The same folder, call after call. */
function folderNames(path: string): readonly string[] {
  if (lastFolder?.path !== path) lastFolder = { path, names: namesOf(path) };
  return lastFolder.names;
}

export function namedPath(path: string, cwd: string): NamedPath {
  if (PLAIN.test(path) && !cwd.includes('/proc') && !cwd.startsWith('/dev')) {
    const folder = folderNames(cwd);
    return { kind: 'path', names: [...folder, ...path.split('/')], raw: `${cwd}/${path}` };
  }
  let raw = path.startsWith('/') ? path.replace(/^\/+/, '/') : `${cwd}/${path}`;
  // `/proc//self/root` is `/proc/self/root`, and one alias may lead to the next.
  for (let round = 0; round < 8 && raw.includes('/proc'); round += 1) {
    const flat = `/${namesOf(raw).join('/')}`;
    if (PROC_ROOT.test(flat)) raw = flat.replace(PROC_ROOT, '') || '/';
    else if (PROC_CWD.test(flat)) raw = flat.replace(PROC_CWD, cwd);
    else break;
  }
  if (PROC_FD.test(`/${namesOf(raw).join('/')}`)) return { kind: 'alias' };
  return { kind: 'path', names: namesOf(raw), raw };
}

/** Names of an absolute path, without `.`, `..` and empty ones; in Unicode's composed form. */
export function namesOf(path: string): string[] {
  const names: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') names.pop();
    else names.push(isAscii(part) ? part : part.normalize('NFC'));
  }
  return names;
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 126) return false;
  return true;
}

/** Null when it lies outside; empty for the folder itself. P6. */
export function below(folder: readonly string[], names: readonly string[]): string[] | null {
  if (names.length < folder.length) return null;
  for (let at = folder.length - 1; at >= 0; at -= 1) if (names[at] !== folder[at]) return null;
  return names.slice(folder.length);
}

/** As file systems that ignore case, invisible characters or trailing dots would read the name. */
export function foldName(name: string): string {
  if (isAscii(name)) {
    const lower = name.toLowerCase();
    const last = lower.charCodeAt(lower.length - 1);
    return last === 46 || last === 32 ? lower.replace(/[. ]+$/, '') : lower;
  }
  return name
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/[. ]+$/, '');
}

export const showPath = (names: readonly string[]): string => `/${names.join('/')}`;

/**
 * All files below a folder, as a developer would list them: without git's own folder, installed packages, what
 * `.gitignore` files exclude (nested ones too) and git's own lists, and what the floor keeps shut. Links are not followed.
 */
import ignore, { type Ignore } from 'ignore';
import picomatch from 'picomatch';
import type { Clock } from '../kernel/index.ts';
import { BREATH_MS, WALK_DEPTH_MAX, WALK_ENTRIES_MAX } from './limits.ts';
import { protectedReason } from './path-guard.ts';
import { decodeUtf8 } from './tree-access.ts';
import type { TreeEntry, TreeFiles } from './tree-files.ts';

export interface WalkState {
  /** Set when the walk stopped at its bound. */
  truncated: boolean;
  /** What could not be read on the way: gone meanwhile, or without permission. */
  readonly unread: string[];
}

export function newWalk(): WalkState {
  return { truncated: false, unread: [] };
}

/** What a walk or a search says of what it had to leave out. */
export function unreadNote(unread: readonly string[]): string[] {
  if (unread.length === 0) return [];
  const named = unread.slice(0, UNREAD_NAMED).join(', ');
  const more = unread.length - UNREAD_NAMED;
  return [`[could not be read: ${named}${more > 0 ? ` and ${more} more` : ''}]`];
}

/** Gives the thread's event loop a turn now and then, so that an interrupt is heard during long work. */
export class Breather {
  readonly #clock: Clock;
  #last: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#last = clock.monotonicMs();
  }

  /** Rejects when the signal has aborted. */
  async breathe(signal: AbortSignal): Promise<void> {
    if (this.#clock.monotonicMs() - this.#last >= BREATH_MS) {
      await this.#clock.sleep(0, signal);
      this.#last = this.#clock.monotonicMs();
    }
    signal.throwIfAborted();
  }
}

interface Rules {
  /** Folder that holds the `.gitignore`, with a slash at its end; '' for the root. */
  readonly base: string;
  readonly matcher: Ignore;
}

const UNREAD_NAMED = 5;
const IGNORE_FILE_BYTES_MAX = 256 * 1024;

/** Paths of regular files, relative to the root, in order of their names folder by folder. */
export async function* walkFiles(
  tree: TreeFiles,
  options: {
    readonly from: string;
    readonly state: WalkState;
    readonly breather: Breather;
    readonly signal: AbortSignal;
    /** Globs of what is left out, in any case. */
    readonly without?: readonly string[] | undefined;
  },
): AsyncGenerator<string> {
  const { from, state, breather, signal, without = [] } = options;
  const isShut = shutBy(without);
  const above = await rulesAbove(tree, from);
  const budget = { left: WALK_ENTRIES_MAX };
  const stack: { path: string; rules: readonly Rules[]; depth: number }[] = [
    { path: from, rules: above, depth: 0 },
  ];
  for (let folder = stack.pop(); folder !== undefined; folder = stack.pop()) {
    await breather.breathe(signal);
    const rules = [...folder.rules, ...(await rulesOf(tree, folder.path))];
    const below: typeof stack = [];
    for (const { name, kind } of await entriesOf(tree, folder, state)) {
      budget.left -= 1;
      if (budget.left < 0) {
        state.truncated = true;
        return;
      }
      const path = join(folder.path, name);
      if (kind === 'directory') {
        if (!isOpenFolder(path, name) || isShut(path) || isIgnored(`${path}/`, rules)) continue;
        if (folder.depth >= WALK_DEPTH_MAX) state.truncated = true;
        else below.push({ path, rules, depth: folder.depth + 1 });
      } else if (kind === 'file' && isOpen(path) && !isShut(path) && !isIgnored(path, rules)) {
        yield path;
      }
    }
    stack.push(...below.toReversed());
  }
}

/** None of a folder below that can't be read; where the walk begins that is an error. */
async function entriesOf(
  tree: TreeFiles,
  folder: { readonly path: string; readonly depth: number },
  state: WalkState,
): Promise<readonly TreeEntry[]> {
  try {
    return await tree.list(folder.path);
  } catch (error) {
    if (folder.depth === 0) throw error;
    state.unread.push(folder.path);
    return [];
  }
}

/** As deny rules read a path: in any case. A glob that this matcher does not take shuts nothing here; see `Shut`. */
function shutBy(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.map((glob) => picomatch(glob, { dot: true, nocase: true }));
  return (path) => matchers.some((matches) => matches(path));
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function isOpen(path: string): boolean {
  return protectedReason(path.split('/'), 'read') === null;
}

/** `.troupe` itself is shut, but leads to folders that are open. */
function isOpenFolder(path: string, name: string): boolean {
  return name !== 'node_modules' && (path === '.troupe' || isOpen(path));
}

/** The rules of the folders above; none when they exclude the folder itself: it was asked for by name. */
async function rulesAbove(tree: TreeFiles, from: string): Promise<readonly Rules[]> {
  const rules = rulesOfGit(tree);
  if (from === '') return rules;
  const parts = from.split('/');
  for (let length = 0; length < parts.length; length += 1) {
    rules.push(...(await rulesOf(tree, parts.slice(0, length).join('/'))));
    if (isIgnored(`${parts.slice(0, length + 1).join('/')}/`, rules)) return [];
  }
  return rules;
}

/** `info/exclude` and the person's own file, which any `.gitignore` overrules. */
function rulesOfGit({ ignores = [] }: TreeFiles): Rules[] {
  return ignores.map((text) => rulesIn(text, ''));
}

function rulesIn(text: string, base: string): Rules {
  return { base, matcher: ignore({ allowRelativePaths: true }).add(text) };
}

async function rulesOf(tree: TreeFiles, folder: string): Promise<Rules[]> {
  const path = join(folder, '.gitignore');
  try {
    const stat = await tree.stat(path);
    if (stat?.kind !== 'file') return [];
    const { bytes } = await tree.read(path, IGNORE_FILE_BYTES_MAX);
    return [rulesIn(decodeUtf8(bytes, { exact: false }), folder === '' ? '' : `${folder}/`)];
  } catch {
    // A .gitignore that can't be read excludes nothing; the files below it are still shown.
    return [];
  }
}

/** The innermost file that says something decides. */
function isIgnored(path: string, rules: readonly Rules[]): boolean {
  for (const { base, matcher } of rules.toReversed()) {
    const { ignored, unignored } = matcher.test(path.slice(base.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}

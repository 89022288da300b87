/**
 * Names in a tree that other programs run or obey later, wherever they lie: protected names at any depth, repositories
 * below the root, and folders that git would take for a bare repository, whatever they are called.
 *
 * The walk goes breadth first, follows no link, looks at a bounded number of folders, and not into `node_modules`.
 */
import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { SANDBOX_WALK_FOLDERS, SANDBOX_WALK_TURN } from './limits.ts';

export interface FoundNames {
  /** Paths below the root of the tree of what a command may neither change nor make. */
  readonly guarded: readonly string[];
  /** Besides: what git obeys in repositories that lie in the tree. A command may not change it while it is there. */
  readonly control: readonly string[];
}

/** What git runs or obeys in a repository. The first two are enough to make it run something. */
const CONTROL: readonly string[] = ['hooks', 'config', 'config.worktree', 'info', 'modules'];
const MADE_CONTROL: ReadonlySet<string> = new Set(['hooks', 'config', 'config.worktree']);
const BARE: readonly string[] = ['HEAD', 'objects', 'refs'];

/** `protect`: names in lower case; one with a slash stands for a name in a folder of that name. */
export async function findNames(tree: string, protect: readonly string[]): Promise<FoundNames> {
  const names = new Set(protect);
  const guarded: string[] = [];
  const control: string[] = [];
  const folders: { readonly path: string; readonly name: string }[] = [{ path: '', name: '' }];
  for (let next = 0; next < folders.length && next < SANDBOX_WALK_FOLDERS; next += 1) {
    if (next % SANDBOX_WALK_TURN === SANDBOX_WALK_TURN - 1) await setImmediate();
    const folder = folders[next] ?? { path: '', name: '' };
    const entries = entriesOf(`${tree}/${folder.path}`);
    const isBare = folder.path !== '' && BARE.every((name) => entries.some((e) => e.name === name));
    for (const entry of entries) {
      const path = folder.path === '' ? entry.name : `${folder.path}/${entry.name}`;
      const name = fold(entry.name);
      // The pointer of the tree itself is locked by whoever asks.
      if (path === '.git') continue;
      if (names.has(name) || names.has(`${folder.name}/${name}`)) guarded.push(path);
      if (name === '.git') control.push(...controlOf(tree, path));
      else if (isBare && CONTROL.includes(name)) control.push(path);
      else if (entry.isDirectory() && name !== 'node_modules' && guarded.at(-1) !== path) {
        folders.push({ path, name });
      }
    }
  }
  const made = control.filter((path) => MADE_CONTROL.has(path.slice(path.lastIndexOf('/') + 1)));
  return { guarded: names.has('.git') ? [...guarded, ...made] : guarded, control };
}

function controlOf(tree: string, repository: string): string[] {
  return CONTROL.map((name) => `${repository}/${name}`).filter((path) =>
    existsSync(`${tree}/${path}`),
  );
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** None when the folder can't be read, by the command neither. */
function entriesOf(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

/**
 * A tree is what was made, or it is not used (permissions §2.13): the pointer file, the registered admin folder and the
 * back pointer must agree before each operation. An actor that deletes or swaps `.git` gets its tree named, never another
 * repository written.
 *
 * Invariants: W5 no git call runs in a tree whose pointers disagree with what was registered.
 */
import type { Files } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';
import { errors } from './errors.ts';
import type { Git } from './git-cli.ts';
import { isWithin, join, nameOf, normalize, parentOf } from './paths.ts';
import { isObjectId, type Repository } from './repository.ts';

/** A tree as it was made; plain data that the journal keeps. */
export interface Tree {
  /** Real path. */
  readonly path: string;
  /** Its folder under `<common dir>/worktrees`. */
  readonly adminDir: string;
  /** Null: a view, detached. */
  readonly branch: string | null;
}

export type TreeCheck =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** `branch`: all is in place, but HEAD is not the registered branch. */
      readonly kind: 'missing' | 'pointer' | 'admin' | 'branch';
      readonly reason: string;
    };

export async function verifyTree(repo: Repository, tree: Tree): Promise<TreeCheck> {
  const { files } = repo.deps;
  const place = await checkPlace(files, tree);
  if (place !== null) return place;
  const admin = await checkAdmin(repo, tree);
  if (admin !== null) return admin;
  const head = await readText(files, join(tree.adminDir, 'HEAD'));
  const wanted = tree.branch === null ? null : `ref: refs/heads/${tree.branch}`;
  if (wanted === null ? isObjectId(head ?? '') : head === wanted) return { ok: true };
  const now = head === null ? 'missing' : head.replace(/^ref: refs\/heads\//, '');
  return {
    ok: false,
    kind: 'branch',
    reason: `HEAD is ${now}, not ${tree.branch ?? 'detached'}`,
  };
}

/** Throws `worktree/tainted` unless the tree is what was made; a wrong branch is passed when `anyBranch`. */
export async function requireTree(
  repo: Repository,
  tree: Tree,
  options: { readonly anyBranch?: boolean } = {},
): Promise<Git> {
  const check = await verifyTree(repo, tree);
  if (!check.ok && !(check.kind === 'branch' && options.anyBranch === true)) {
    throw errors.tainted(tree.path, check.reason);
  }
  return treeGit(repo, tree);
}

/** Calls on a tree, by its registered places. */
export function treeGit(repo: Repository, tree: Pick<Tree, 'path' | 'adminDir'>): Git {
  return repo.git.at({ gitDir: tree.adminDir, workTree: tree.path });
}

type Failed = Extract<TreeCheck, { ok: false }>;

async function checkPlace(files: Files, tree: Tree): Promise<Failed | null> {
  const folder = await files.stat(tree.path);
  if (folder?.kind !== 'directory') {
    const reason = folder === null ? 'the folder is gone' : `it is a ${folder.kind}, not a folder`;
    return { ok: false, kind: 'missing', reason };
  }
  const pointerPath = join(tree.path, '.git');
  const pointer = await files.stat(pointerPath);
  if (pointer?.kind !== 'file') {
    const reason = pointer === null ? '.git is gone' : `.git is a ${pointer.kind}, not a file`;
    return { ok: false, kind: 'pointer', reason };
  }
  const target = pointerTarget(await readText(files, pointerPath), tree.path);
  if (target === tree.adminDir) return null;
  return { ok: false, kind: 'pointer', reason: `.git points to ${target ?? 'nothing'}` };
}

async function checkAdmin(repo: Repository, tree: Tree): Promise<Failed | null> {
  const { files } = repo.deps;
  const failed = (reason: string): Failed => ({ ok: false, kind: 'admin', reason });
  if (parentOf(tree.adminDir) !== join(repo.commonDir, 'worktrees')) {
    return failed(`${tree.adminDir} is no admin folder of this repository`);
  }
  if ((await files.stat(tree.adminDir))?.kind !== 'directory') {
    return failed('its admin folder is gone (`git worktree prune`?)');
  }
  const back = await readText(files, join(tree.adminDir, 'gitdir'));
  if (back === null || normalize(tree.adminDir, back) !== join(tree.path, '.git')) {
    return failed(`its admin folder points back to ${back ?? 'nothing'}`);
  }
  const common = await readText(files, join(tree.adminDir, 'commondir'));
  if (common === null || normalize(tree.adminDir, common) !== repo.commonDir) {
    return failed(`its admin folder names the repository ${common ?? 'nowhere'}`);
  }
  return null;
}

/** git's own reason for the lock of a tree that is being made. */
export const INITIALIZING = 'initializing';

/** Sets or takes away the mark of a tree that must not be used yet. Idempotent. */
export async function markUnfinished(
  files: Files,
  tree: Pick<Tree, 'adminDir'>,
  unfinished: boolean,
): Promise<void> {
  const path = join(tree.adminDir, 'locked');
  await files.remove(path);
  if (unfinished) await writeText(files, path, INITIALIZING);
}

/** A new small file; it must not be there. */
export async function writeText(files: Files, path: string, text: string): Promise<void> {
  const handle = await files.open(path, 'create');
  try {
    let rest = new TextEncoder().encode(text);
    while (rest.length > 0) rest = rest.subarray(handle.write(rest));
  } finally {
    await handle.close();
  }
}

/** One admin folder under `<common dir>/worktrees`, as it stands there. */
export interface Registration {
  readonly path: string;
  readonly adminDir: string;
  /** Without `refs/heads/`; null when detached or unreadable. */
  readonly branch: string | null;
  /** `git worktree add` was cut before it finished. */
  readonly unfinished: boolean;
}

/** All registered trees, read from the files, so that broken ones show too. */
export async function readRegistrations(repo: Repository): Promise<Registration[]> {
  const { files } = repo.deps;
  const folder = join(repo.commonDir, 'worktrees');
  const names = await files.list(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  });
  const found: Registration[] = [];
  for (const name of names) {
    const adminDir = join(folder, name);
    const back = await readText(files, join(adminDir, 'gitdir'));
    if (back === null) continue;
    const head = await readText(files, join(adminDir, 'HEAD'));
    const branch = /^ref: refs\/heads\/(.+)$/.exec(head ?? '')?.[1] ?? null;
    const locked = await readText(files, join(adminDir, 'locked'));
    found.push({
      path: parentOf(normalize(adminDir, back)),
      adminDir,
      branch,
      unfinished: locked === INITIALIZING,
    });
  }
  return found;
}

/** Where `<path>/.git` points, or null when it is no pointer of this repository. */
export async function readPointer(repo: Repository, path: string): Promise<string | null> {
  const pointer = join(path, '.git');
  if ((await repo.deps.files.stat(pointer))?.kind !== 'file') return null;
  const target = pointerTarget(await readText(repo.deps.files, pointer), path);
  if (target === null || !isWithin(join(repo.commonDir, 'worktrees'), target)) return null;
  return nameOf(target) === '' ? null : target;
}

function pointerTarget(text: string | null, path: string): string | null {
  const target = /^gitdir: (.+)$/s.exec(text ?? '')?.[1];
  return target === undefined ? null : normalize(path, target);
}

/** A small text file without its last newline; null when it is missing or no file. */
export async function readText(files: Files, path: string): Promise<string | null> {
  try {
    // lstat first: a link or a FIFO put in place of the file must not be read.
    if ((await files.stat(path))?.kind !== 'file') return null;
    return new TextDecoder().decode(await files.readFile(path)).replace(/\n$/, '');
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}

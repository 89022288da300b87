/**
 * Copies (`.env`) and links (`node_modules`) from the user's work tree into a task's tree. What is carried is returned as
 * a list of excluded paths, which commit and save leave out.
 *
 * Invariants: W6 nothing carried is ever committed or saved; W7 a carried path, and what it resolves to, lies inside the
 * user's work tree.
 */
import { errors } from './errors.ts';
import { copyPath, makeLink, realPath } from './host.ts';
import { isWithin, join, parentOf } from './paths.ts';
import type { Repository } from './repository.ts';
import { type Tree, treeGit } from './tree-check.ts';

export interface CarryRequest {
  /** Paths relative to the root; a trailing `?` means it may be missing. */
  readonly copies: readonly string[];
  readonly setupLinks: readonly string[];
}

/** One path that exists and may be carried. */
export interface Carried {
  readonly how: 'copy' | 'link';
  readonly path: string;
  readonly source: string;
}

/** The paths that commit and save leave out, also those that were missing: they may appear later. */
export function carriedPaths(request: CarryRequest): string[] {
  const all = [...request.copies, ...request.setupLinks].map((path) => cleanPath(path).path);
  return [...new Set(all)];
}

/**
 * Checks everything before anything is made. Throws `worktree/bad-carry-path` (absolute, `..`, `.git`, or resolving to
 * a place outside the repository) and `worktree/carry-missing`.
 */
export async function planCarry(repo: Repository, request: CarryRequest): Promise<Carried[]> {
  const plan: Carried[] = [];
  for (const path of request.copies) plan.push(...(await planOne(repo, 'copy', path)));
  for (const path of request.setupLinks) plan.push(...(await planOne(repo, 'link', path)));
  return plan;
}

/** Makes what is not there yet. Throws `worktree/carry-clash`, `worktree/carry-failed`. Idempotent. */
export async function carry(
  repo: Repository,
  tree: Pick<Tree, 'path' | 'adminDir'>,
  plan: readonly Carried[],
): Promise<void> {
  for (const item of plan) {
    await makeParent(repo, tree.path, item);
    await (item.how === 'link' ? linkOne(repo, tree, item) : copyOne(repo, tree, item));
  }
}

async function planOne(repo: Repository, how: Carried['how'], written: string): Promise<Carried[]> {
  const { path, optional } = cleanPath(written);
  if (repo.root === '') {
    if (optional) return [];
    throw errors.badCarryPath(path, 'cannot be taken from a bare repository');
  }
  const source = join(repo.root, path);
  const real = await realPath(repo.deps, source);
  if (real === null || (await repo.deps.files.stat(real)) === null) {
    if (optional) return [];
    throw errors.carryMissing(path, repo.root);
  }
  if (!isWithin(repo.root, real)) throw errors.badCarryPath(path, `leads out to ${real}`);
  if (isWithin(repo.gitDir, real) || isWithin(repo.commonDir, real)) {
    throw errors.badCarryPath(path, 'is inside the git directory');
  }
  // The real place, so that a copy is a file and not a link that means something else from the tree.
  return [{ how, path, source: real }];
}

/** Trailing `?` and `/` taken off. Throws `worktree/bad-carry-path`. */
export function cleanPath(written: string): { path: string; optional: boolean } {
  const optional = written.endsWith('?');
  const path = (optional ? written.slice(0, -1) : written)
    .replace(/^(?:\.\/)+/, '')
    .replace(/\/+$/, '');
  if (path === '' || path === '.') throw errors.badCarryPath(written, 'names nothing');
  if (path.startsWith('/') || path.startsWith('~')) {
    throw errors.badCarryPath(written, 'is not relative to the repository');
  }
  const parts = path.split('/');
  if (parts.includes('..') || parts.includes('.') || parts.includes('')) {
    throw errors.badCarryPath(written, 'leaves the repository or is not in its plain form');
  }
  if (parts.some((part) => part.toLowerCase() === '.git')) {
    throw errors.badCarryPath(written, 'goes through .git');
  }
  return { path, optional };
}

/** A tracked link in the tree must not lead what is carried out of it. */
async function makeParent(repo: Repository, tree: string, item: Carried): Promise<void> {
  const parent = parentOf(join(tree, item.path));
  let existing = parent;
  while ((await repo.deps.files.stat(existing)) === null) existing = parentOf(existing);
  const real = await realPath(repo.deps, existing);
  if (real === null || !isWithin(tree, real)) {
    throw errors.badCarryPath(item.path, `leads out of the tree ${tree}`);
  }
  if (existing !== parent) await repo.deps.files.makeDirectory(parent);
}

type Place = Pick<Tree, 'path' | 'adminDir'>;

async function linkOne(repo: Repository, tree: Place, item: Carried): Promise<void> {
  const path = join(tree.path, item.path);
  const there = await repo.deps.files.stat(path);
  if (there !== null) {
    // Made by an earlier call, unless git brought it.
    if (there.kind === 'link' && !(await isUntouched(repo, tree, item.path))) return;
    throw errors.carryClash(item.path);
  }
  const problem = await makeLink(repo.deps, { target: item.source, path });
  if (problem !== null) throw errors.carryFailed(item.path, problem);
}

async function copyOne(repo: Repository, tree: Place, item: Carried): Promise<void> {
  const { files } = repo.deps;
  const path = join(tree.path, item.path);
  const there = await files.stat(path);
  if (there !== null && !(await isUntouched(repo, tree, item.path))) return;
  // Beside the tree and then renamed, so that a copy that was cut is never taken for a whole one.
  const scratch = `${tree.path}.carry`;
  await files.remove(scratch);
  const problem = await copyPath(repo.deps, { from: item.source, to: scratch });
  if (problem !== null) {
    await files.remove(scratch);
    throw errors.carryFailed(item.path, problem);
  }
  if (there !== null) await files.remove(path);
  await files.rename(scratch, path);
}

/** Tracked, and as git checked it out. */
async function isUntouched(repo: Repository, tree: Place, path: string): Promise<boolean> {
  const git = treeGit(repo, tree);
  const spec = `:(top,literal)${path}`;
  const tracked = await git.run({ args: ['ls-files', '-z', '--', spec] });
  if (tracked.stdout === '') return false;
  const modified = await git.run({ args: ['ls-files', '-z', '-m', '--', spec] });
  return modified.stdout === '';
}

/**
 * The refs that Troupe owns: `refs/heads/troupe/<run>/…` and `refs/troupe/saved/…`. Every move is a compare-and-set.
 *
 * Invariants: W3 a ref outside this namespace is never created, moved or deleted here; W4 a ref moves only from the value
 * that the caller saw.
 */
import { invariant, isName } from '../kernel/index.ts';
import { errors } from './errors.ts';
import { join } from './paths.ts';
import { isObjectId, type Repository, resolveCommit } from './repository.ts';
import { readRegistrations, readText } from './tree-check.ts';

/** W3: both take checked names only, so that no branch can be anything but a file under `troupe/`. */
export function integrationBranch(run: string): string {
  invariant(isName(run), `W3: run ${JSON.stringify(run)} is no name`);
  return `troupe/${run}/main`;
}

export function taskBranch(run: string, task: string): string {
  invariant(isName(run) && isName(task), `W3: ${JSON.stringify([run, task])} are no names`);
  return `troupe/${run}/task/${task}`;
}

export const branchRef = (branch: string): string => `refs/heads/${branch}`;

/** Run of a branch of ours, or null. */
export function runOfBranch(branch: string): string | null {
  return /^troupe\/([^/]+)\/(?:main$|task\/)/.exec(branch)?.[1] ?? null;
}

/**
 * Throws `worktree/branch-taken` when a branch of the user stands where Troupe's branches of `run` must go: one named
 * `troupe`, `troupe/<run>`, `troupe/<run>/task`, or (for a new run) any branch of that run. Names are compared without
 * regard to case, because some file systems do.
 */
export async function checkBranchNamespace(
  repo: Repository,
  run: string,
  options: { readonly resumed?: boolean } = {},
): Promise<void> {
  const listed = await repo.git.run({
    args: ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads/'],
  });
  const blocked = new Set(['troupe', `troupe/${run}`, `troupe/${run}/task`]);
  for (const line of listed.stdout.split('\n')) {
    const space = line.indexOf(' ');
    if (space === -1) continue;
    const branch = line.slice(space + 1).replace(/^refs\/heads\//, '');
    const lower = branch.toLowerCase();
    if (blocked.has(lower)) throw errors.namespaceTaken(branch);
    if (options.resumed !== true && lower.startsWith(`troupe/${run}/`)) {
      throw errors.runBranchTaken(branch, line.slice(0, space));
    }
  }
}

/** All branches under `troupe/`. */
export async function listBranches(repo: Repository): Promise<string[]> {
  const listed = await repo.git.run({
    args: ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/troupe/'],
  });
  return listed.stdout.split('\n').filter((branch) => branch !== '');
}

/** Commit of a full ref name, or null when there is no such ref. */
export async function readRef(repo: Repository, ref: string): Promise<string | null> {
  const found = await repo.git.lineOrNull(['rev-parse', '-q', '--verify', '--end-of-options', ref]);
  return found !== null && isObjectId(found) ? found : null;
}

/** Tip of the integration branch. Throws `worktree/no-integration-branch`. */
export async function readIntegration(repo: Repository, run: string): Promise<string> {
  const branch = integrationBranch(run);
  const tip = await readRef(repo, branchRef(branch));
  if (tip === null) throw errors.noIntegrationBranch(branch);
  return tip;
}

/**
 * Creates `troupe/<run>/main` at `base`. Idempotent: when it is there at `base` already (an earlier call of the same run
 * that was cut), nothing happens; at another commit it is `worktree/branch-taken`.
 */
export async function createIntegrationBranch(
  repo: Repository,
  options: { readonly run: string; readonly base: string },
): Promise<void> {
  const branch = integrationBranch(options.run);
  await repo.lock.run(`create ${branch}`, async () => {
    const moved = await moveRef(repo, { ref: branchRef(branch), to: options.base, from: null });
    if (moved === 'moved') return;
    const now = await readRef(repo, branchRef(branch));
    if (now !== options.base) throw errors.runBranchTaken(branch, now ?? '');
  });
}

export interface RefMove {
  /** Full name. */
  readonly ref: string;
  readonly to: string;
  /** The value it must have; null: it must not exist. */
  readonly from: string | null;
  readonly reason?: string | undefined;
}

/**
 * W4. `stale` when the ref is not at `from` any more (or exists, for null). Throws `worktree/foreign-ref`, and
 * `worktree/checked-out` when somebody looks at that branch in a work tree.
 */
export async function advanceRef(repo: Repository, move: RefMove): Promise<'moved' | 'stale'> {
  return repo.lock.run(`move ${move.ref}`, async () => {
    requireOwn(move.ref);
    await requireNotCheckedOut(repo, move.ref);
    return moveRef(repo, move);
  });
}

/**
 * A branch that moves under somebody's files makes a commit there undo what came. Throws `worktree/checked-out`; asked
 * before a merge is computed, too, so that a merge that cannot land does not begin.
 */
export async function requireNotCheckedOut(repo: Repository, ref: string): Promise<void> {
  for (const place of await checkouts(repo)) {
    if (branchRef(place.branch) === ref) throw errors.checkedOut(place.branch, place.path);
  }
}

/** Branches that are checked out somewhere, the user's main work tree included. */
export async function checkouts(repo: Repository): Promise<{ branch: string; path: string }[]> {
  const places = await readRegistrations(repo);
  const found = places.flatMap(({ branch, path }) => (branch === null ? [] : [{ branch, path }]));
  if (repo.bare) return found;
  const head = await readText(repo.deps.files, join(repo.commonDir, 'HEAD'));
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head ?? '')?.[1];
  const path = repo.gitDir === repo.commonDir ? repo.root : repo.commonDir;
  return branch === undefined ? found : [...found, { branch, path }];
}

/** Like `advanceRef`, for callers that hold the lock. */
export async function moveRef(repo: Repository, move: RefMove): Promise<'moved' | 'stale'> {
  requireOwn(move.ref);
  const from = move.from ?? '0'.repeat(move.to.length);
  const reason = move.reason ?? 'troupe';
  const result = await repo.git.run({
    args: ['update-ref', '--no-deref', '-m', reason, move.ref, move.to, from],
    codes: [0, 1, 128],
  });
  if (result.code === 0) return 'moved';
  // git tells a stale value only in words; asking for the value is surer than matching them.
  if ((await readRef(repo, move.ref)) !== move.from) return 'stale';
  throw errors.gitFailed('update-ref', result.code, result.stderr);
}

function requireOwn(ref: string): void {
  if (!/^refs\/(?:heads\/troupe\/[^/]+\/|troupe\/)/.test(ref)) throw errors.foreignRef(ref);
}

/** All branches of one run; saved work stays. Throws `worktree/checked-out` for one that somebody looks at. */
export async function dropRunBranches(repo: Repository, run: string): Promise<void> {
  const folder = branchRef(integrationBranch(run)).replace(/\/main$/, '/');
  await repo.lock.run(`drop ${folder}`, async () => {
    const args = ['for-each-ref', '--format=%(objectname) %(refname)', folder];
    const listed = await repo.git.run({ args });
    for (const line of listed.stdout.split('\n')) {
      const [commit, ref] = line.split(' ');
      if (commit === undefined || ref === undefined) continue;
      requireOwn(ref);
      await requireNotCheckedOut(repo, ref);
      await repo.git.run({ args: ['update-ref', '--no-deref', '-d', ref, commit] });
    }
  });
}

/** Best common ancestor of two commits, or null when there is none. */
export async function mergeBase(repo: Repository, a: string, b: string): Promise<string | null> {
  return repo.git.lineOrNull(['merge-base', '--end-of-options', a, b]);
}

export async function isAncestor(
  repo: Repository,
  options: { readonly ancestor: string; readonly of: string },
): Promise<boolean> {
  const { ancestor, of } = options;
  const result = await repo.git.run({
    args: ['merge-base', '--is-ancestor', '--end-of-options', ancestor, of],
    codes: [0, 1],
  });
  return result.code === 0;
}

/** Tree of a commit. */
export async function treeOf(repo: Repository, commit: string): Promise<string> {
  return repo.git.line(['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`]);
}

/** The commit a branch of the user is at, or null. */
export function branchTip(repo: Repository, branch: string): Promise<string | null> {
  return resolveCommit(repo.git, branchRef(branch));
}

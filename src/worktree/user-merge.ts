/**
 * `troupe merge`: the only place that writes the user's branch, index and work tree, and only when asked. The result is
 * made as a commit first, by objects alone; then the user's branch goes forward to it in one step, so that nothing is ever
 * half merged. In the user's own tree their own config holds (filters, line ends); hooks stay off.
 *
 * Invariants: W13 a file with uncommitted or untracked content that the merge would touch refuses the whole merge; W14 a
 * branch that is checked out somewhere is moved only together with its files.
 */
import { branchRef, branchTip, isAncestor, treeOf } from './branches.ts';
import { writeCommit } from './commit.ts';
import { type ConflictFile, conflictFiles, mergeCommits } from './conflict.ts';
import { type ChangedPath, changedPaths } from './diff.ts';
import { errors, shownStderr } from './errors.ts';
import { LIMITS } from './limits.ts';
import { join, parentOf } from './paths.ts';
import { parseStatus } from './porcelain.ts';
import { type Repository, readHead, resolveCommit } from './repository.ts';
import { listTrees } from './trees.ts';

export interface UserMergeRequest {
  /** Ref or commit, usually the integration branch. */
  readonly from: string;
  /** Branch of the user; default: the one that is checked out. */
  readonly into?: string | undefined;
  readonly style: 'merge' | 'squash';
  readonly message: string;
  readonly dryRun: boolean;
}

export type UserMergeRefusal =
  | 'dirty'
  | 'detached'
  | 'no-branch'
  | 'checked-out-elsewhere'
  | 'in-progress'
  | 'locked'
  | 'stale';

export type UserMergeOutcome =
  | {
      readonly kind: 'merged' | 'would-merge';
      readonly branch: string;
      /** For `would-merge` of anything but a fast-forward: a commit that no branch has. */
      readonly commit: string;
      readonly fastForward: boolean;
      readonly files: readonly string[];
    }
  | {
      readonly kind: 'refused';
      readonly reason: UserMergeRefusal;
      /** What is in the way and what to do. */
      readonly detail: string;
      readonly files: readonly string[];
    }
  | { readonly kind: 'conflict'; readonly branch: string; readonly files: readonly ConflictFile[] }
  | { readonly kind: 'up-to-date'; readonly branch: string };

/** Throws `worktree/unknown-base` when `from` names no commit. */
export async function mergeIntoUser(
  repo: Repository,
  request: UserMergeRequest,
): Promise<UserMergeOutcome> {
  return repo.lock.run('merge into your branch', () => mergeUnlocked(repo, request));
}

interface Target {
  readonly branch: string;
  readonly tip: string;
  /** Its files are the user's work tree. */
  readonly checkedOut: boolean;
}

async function mergeUnlocked(
  repo: Repository,
  request: UserMergeRequest,
): Promise<UserMergeOutcome> {
  const from = await resolveCommit(repo.git, request.from);
  if (from === null) throw errors.unknownBase(request.from);
  const target = await findTarget(repo, request.into);
  if ('kind' in target) return target;
  const { branch, tip } = target;
  if (await isAncestor(repo, { ancestor: from, of: tip })) return { kind: 'up-to-date', branch };
  const fastForward =
    request.style === 'merge' && (await isAncestor(repo, { ancestor: tip, of: from }));
  const prepared = fastForward
    ? { commit: from }
    : await prepare(repo, { ...request, from, target });
  if ('kind' in prepared) return prepared;
  const { commit } = prepared;
  const changes = await changedPaths(repo.git, { from: tip, to: commit });
  const files = changes.map((change) => change.path);
  const blocked = target.checkedOut ? await findBlocked(repo, changes) : null;
  if (blocked !== null) return blocked;
  if (request.dryRun) return { kind: 'would-merge', branch, commit, fastForward, files };
  const failed = await (target.checkedOut
    ? forwardTree(repo, commit)
    : forwardRef(repo, target, commit));
  return failed ?? { kind: 'merged', branch, commit, fastForward, files };
}

function refused(
  reason: UserMergeRefusal,
  detail: string,
  files: readonly string[] = [],
): Extract<UserMergeOutcome, { kind: 'refused' }> {
  return { kind: 'refused', reason, detail, files };
}

async function findTarget(
  repo: Repository,
  into: string | undefined,
): Promise<Target | Extract<UserMergeOutcome, { kind: 'refused' }>> {
  const head = await readHead(repo);
  const branch = into ?? head.branch;
  if (branch === null) {
    return refused('detached', 'HEAD is detached; name a branch with --into, or check one out');
  }
  const tip = await branchTip(repo, branch);
  if (tip === null) return refused('no-branch', `there is no branch ${branch}; make it first`);
  const checkedOut = !repo.bare && head.branch === branch;
  const elsewhere = (await listTrees(repo)).find(
    (tree) => tree.branch === branch && !tree.bare && tree.path !== repo.root,
  );
  if (!checkedOut && elsewhere !== undefined) {
    const detail = `${branch} is checked out at ${elsewhere.path}; run troupe merge there`;
    return refused('checked-out-elsewhere', detail);
  }
  return { branch, tip, checkedOut };
}

/** The commit to go forward to, as objects only. */
async function prepare(
  repo: Repository,
  request: UserMergeRequest & { readonly from: string; readonly target: Target },
): Promise<{ commit: string } | UserMergeOutcome> {
  const { from, target, message } = request;
  const merged = await mergeCommits(repo.git, target.tip, from);
  if (!merged.clean) {
    const files = await conflictFiles(repo.git, merged);
    return { kind: 'conflict', branch: target.branch, files };
  }
  // What a squash brought before has no commit in common, so only the content tells.
  if (request.style === 'squash' && merged.tree === (await treeOf(repo, target.tip))) {
    return { kind: 'up-to-date', branch: target.branch };
  }
  const parents = request.style === 'squash' ? [target.tip] : [target.tip, from];
  return { commit: await writeCommit(repo.git, { tree: merged.tree, parents, message }) };
}

const IN_PROGRESS: readonly (readonly [file: string, what: string])[] = [
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase or am'],
];

/** W13. */
async function findBlocked(
  repo: Repository,
  changes: readonly ChangedPath[],
): Promise<UserMergeOutcome | null> {
  const { files } = repo.deps;
  for (const [name, what] of IN_PROGRESS) {
    if ((await files.stat(join(repo.gitDir, name))) !== null) {
      return refused(
        'in-progress',
        `${what} is in progress in ${repo.root}; finish or abort it first`,
      );
    }
  }
  const lock = join(repo.gitDir, 'index.lock');
  if ((await files.stat(lock)) !== null) {
    return refused('locked', `${lock} exists: another git process is at work, or crashed`);
  }
  const dirty = await dirtyPaths(repo, changes);
  if (dirty.length === 0) return null;
  const detail = 'files that the merge would change have uncommitted changes; commit or stash them';
  return refused('dirty', detail, dirty);
}

async function dirtyPaths(repo: Repository, changes: readonly ChangedPath[]): Promise<string[]> {
  const status = await repo.git.run({
    args: ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'],
    userConfig: true,
    timeoutMs: LIMITS.longTimeoutMs,
  });
  const touched = new Set(changes.map((change) => change.path));
  const touchedFolders = foldersOf(touched);
  const found = new Set<string>();
  for (const { path } of parseStatus(status.stdout)) {
    const plain = path.replace(/\/$/, '');
    const above = [...foldersOf([plain])].some((folder) => touched.has(folder));
    if (touched.has(plain) || touchedFolders.has(plain) || above) found.add(plain);
  }
  // An ignored file is in no status, and git would write over it.
  for (const change of changes) {
    if (change.added && (await repo.deps.files.stat(join(repo.root, change.path))) !== null) {
      found.add(change.path);
    }
  }
  return [...found].toSorted();
}

function foldersOf(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = parentOf(path); folder !== '/'; folder = parentOf(folder)) {
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

async function forwardTree(repo: Repository, commit: string): Promise<UserMergeOutcome | null> {
  const flags = [
    '--ff-only',
    '--no-squash',
    '--no-autostash',
    '--no-stat',
    '--no-verify-signatures',
    '-q',
  ];
  const result = await repo.git.run({
    args: ['merge', ...flags, '--no-overwrite-ignore', commit],
    userConfig: true,
    codes: [0, 1, 128],
    timeoutMs: LIMITS.longTimeoutMs,
  });
  if (result.code === 0) return null;
  // Something changed since it was looked at; git checks again before it writes anything.
  return refused('stale', `git refused: ${shownStderr(`${result.stderr}\n${result.stdout}`)}`);
}

async function forwardRef(
  repo: Repository,
  target: Target,
  commit: string,
): Promise<UserMergeOutcome | null> {
  const result = await repo.git.run({
    args: ['update-ref', '-m', 'troupe merge', branchRef(target.branch), commit, target.tip],
    codes: [0, 128],
  });
  if (result.code === 0) return null;
  return refused('stale', `${target.branch} moved meanwhile: ${shownStderr(result.stderr)}`);
}

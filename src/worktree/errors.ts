/**
 * Operating failures of the room `worktree`, each with what to do about it. What a caller branches on in ordinary work
 * (a conflict, a dirty tree, a stale ref) is a value and not here.
 */
import { EXIT, TroupeError } from '../kernel/index.ts';
import { LIMITS } from './limits.ts';

export type WorktreeErrorCode =
  | 'git/missing'
  | 'git/too-old'
  | 'git/timeout'
  | 'git/locked'
  | 'git/output-too-large'
  | 'git/failed'
  | 'worktree/no-such-directory'
  | 'worktree/not-a-repository'
  | 'worktree/dubious-ownership'
  | 'worktree/inside-git-directory'
  | 'worktree/no-commit'
  | 'worktree/unknown-base'
  | 'worktree/branch-taken'
  | 'worktree/no-integration-branch'
  | 'worktree/path-taken'
  | 'worktree/tainted'
  | 'worktree/bad-carry-path'
  | 'worktree/carry-missing'
  | 'worktree/carry-clash'
  | 'worktree/carry-failed'
  | 'worktree/no-such-saved'
  | 'worktree/lock-timeout'
  | 'worktree/foreign-ref'
  | 'worktree/checked-out';

interface Failure {
  readonly code: WorktreeErrorCode;
  readonly message: string;
  readonly hint: string;
  readonly exit?: 1 | 2 | 5 | 75;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly retryable?: boolean;
}

function failure(input: Failure): TroupeError {
  return new TroupeError(input);
}

/** git's own words, short enough for one line of an error. */
export function shownStderr(stderr: string): string {
  const text = stderr.trim().replaceAll(/\s*\n\s*/g, '; ');
  return text.length > LIMITS.stderrShown ? `${text.slice(0, LIMITS.stderrShown)}…` : text;
}

export const errors = {
  gitMissing: (path: string): TroupeError =>
    failure({
      code: 'git/missing',
      message: `git was not found (PATH is ${path === '' ? 'empty' : path})`,
      hint: `install git ${LIMITS.gitMajor}.${LIMITS.gitMinor} or newer and put it on PATH`,
      exit: EXIT.usage,
    }),
  gitTooOld: (found: string): TroupeError =>
    failure({
      code: 'git/too-old',
      message: `git is ${found}; Troupe needs ${LIMITS.gitMajor}.${LIMITS.gitMinor} or newer`,
      hint: 'update git (merge-tree --write-tree is needed)',
      exit: EXIT.usage,
    }),
  gitTimeout: (what: string, timeoutMs: number): TroupeError =>
    failure({
      code: 'git/timeout',
      message: `git ${what} did not end within ${Math.round(timeoutMs / 1000)} s and was stopped`,
      hint: 'look for a slow disk, a huge tree or a filter that hangs, then try again',
      retryable: true,
    }),
  gitLocked: (what: string, file: string): TroupeError =>
    failure({
      code: 'git/locked',
      message: `git ${what} found a lock file: ${file}`,
      hint: 'another git process is at work, or one crashed; when none runs, remove that file',
      data: { file },
      retryable: true,
    }),
  gitOutput: (what: string): TroupeError =>
    failure({
      code: 'git/output-too-large',
      message: `git ${what} printed more than ${LIMITS.outputMax >> 20} MiB`,
      hint: 'ask for a smaller part',
    }),
  gitFailed: (what: string, code: number | null, stderr: string): TroupeError =>
    failure({
      code: 'git/failed',
      message: `git ${what} failed (exit ${code ?? 'by signal'}): ${shownStderr(stderr)}`,
      hint: 'the text after the colon is from git itself',
      data: { exitCode: code, stderr: shownStderr(stderr) },
    }),
  noSuchDirectory: (path: string): TroupeError =>
    failure({
      code: 'worktree/no-such-directory',
      message: `no such folder: ${path}`,
      hint: 'name the work tree of a git repository with --workspace',
      exit: EXIT.usage,
    }),
  notARepository: (path: string): TroupeError =>
    failure({
      code: 'worktree/not-a-repository',
      message: `not a git repository (nor inside one): ${path}`,
      hint: 'run `git init` and make a first commit there, or name a repository with --workspace',
      exit: EXIT.usage,
    }),
  dubiousOwnership: (path: string): TroupeError =>
    failure({
      code: 'worktree/dubious-ownership',
      message: `the repository at ${path} belongs to another user, so git refuses to use it`,
      hint: `if you trust it: git config --global --add safe.directory '${path}'`,
      exit: EXIT.usage,
    }),
  insideGitDirectory: (path: string): TroupeError =>
    failure({
      code: 'worktree/inside-git-directory',
      message: `${path} is inside the git directory of a repository`,
      hint: 'go to the work tree, or name it with --workspace',
      exit: EXIT.usage,
    }),
  noCommit: (root: string): TroupeError =>
    failure({
      code: 'worktree/no-commit',
      message: `the repository at ${root} has no commit yet, so there is nothing to start from`,
      hint: 'make a first commit: git add -A && git commit -m "Start"',
      exit: EXIT.usage,
    }),
  unknownBase: (rev: string): TroupeError =>
    failure({
      code: 'worktree/unknown-base',
      message: `base ${JSON.stringify(rev)} names no commit of this repository`,
      hint: 'give a branch, tag or commit that exists here (`git branch -a` lists branches)',
      exit: EXIT.usage,
      data: { rev },
    }),
  namespaceTaken: (branch: string): TroupeError =>
    failure({
      code: 'worktree/branch-taken',
      message: `a branch named \`${branch}\` is in the way: Troupe keeps its branches under troupe/`,
      hint: `rename it: git branch -m ${branch} ${branch.replaceAll('/', '-')}-old`,
      exit: EXIT.usage,
      data: { branch },
    }),
  runBranchTaken: (branch: string, commit: string): TroupeError =>
    failure({
      code: 'worktree/branch-taken',
      message: `the branch \`${branch}\` exists already (at ${commit.slice(0, 12)})`,
      hint: `use another run id, or delete or rename the branch: git branch -m ${branch} ${branch}-old`,
      exit: EXIT.usage,
      data: { branch, commit },
    }),
  noIntegrationBranch: (branch: string): TroupeError =>
    failure({
      code: 'worktree/no-integration-branch',
      message: `the integration branch \`${branch}\` does not exist (any more)`,
      hint: 'bring it back with `git branch` from its last commit (`git reflog`), then resume',
      data: { branch },
    }),
  pathTaken: (path: string, why: string): TroupeError =>
    failure({
      code: 'worktree/path-taken',
      message: `cannot make a tree at ${path}: ${why}`,
      hint: 'move it away, or see `troupe worktrees` and `troupe doctor`',
      data: { path },
    }),
  tainted: (path: string, reason: string): TroupeError =>
    failure({
      code: 'worktree/tainted',
      message: `the tree ${path} is not what was made: ${reason}`,
      hint: 'nothing is run in it any more; `troupe doctor` shows it, `troupe worktrees gc` saves and removes it',
      data: { path, reason },
    }),
  badCarryPath: (path: string, reason: string): TroupeError =>
    failure({
      code: 'worktree/bad-carry-path',
      message: `worktree.copy/link path ${JSON.stringify(path)} ${reason}`,
      hint: 'give a path inside the repository, relative to its root',
      exit: EXIT.usage,
      data: { path },
    }),
  carryMissing: (path: string, root: string): TroupeError =>
    failure({
      code: 'worktree/carry-missing',
      message: `worktree.copy/link names ${JSON.stringify(path)}, which does not exist in ${root}`,
      hint: 'create it, take it out of the team file, or end it with `?` when it may be missing',
      exit: EXIT.usage,
      data: { path },
    }),
  carryClash: (path: string): TroupeError =>
    failure({
      code: 'worktree/carry-clash',
      message: `worktree.link names ${JSON.stringify(path)}, which the tree has already (it is tracked)`,
      hint: 'link only what git does not track; use copy for a tracked file',
      exit: EXIT.usage,
      data: { path },
    }),
  carryFailed: (path: string, detail: string): TroupeError =>
    failure({
      code: 'worktree/carry-failed',
      message: `could not copy or link ${JSON.stringify(path)} into the tree: ${shownStderr(detail)}`,
      hint: 'see the text after the colon',
      data: { path },
    }),
  noSuchSaved: (ref: string): TroupeError =>
    failure({
      code: 'worktree/no-such-saved',
      message: `no saved work by the name ${ref}`,
      hint: '`troupe worktrees` lists saved work',
      exit: EXIT.notFound,
      data: { ref },
    }),
  lockTimeout: (what: string, holder: string): TroupeError =>
    failure({
      code: 'worktree/lock-timeout',
      message: `${what} waited too long for the repository: ${holder} holds it`,
      hint: 'a git call hangs; see `troupe doctor`',
      retryable: true,
    }),
  checkedOut: (branch: string, path: string): TroupeError =>
    failure({
      code: 'worktree/checked-out',
      message: `the branch \`${branch}\` is checked out at ${path}, so it is not moved under those files`,
      hint: `go to another branch there (git -C '${path}' switch --detach), then resume`,
      data: { branch, path },
      retryable: true,
    }),
  foreignRef: (ref: string): TroupeError =>
    failure({
      code: 'worktree/foreign-ref',
      message: `${ref} is not a ref of Troupe, so it is not moved`,
      hint: 'only refs/heads/troupe/… and refs/troupe/… are written; `troupe merge` writes your branch',
      data: { ref },
    }),
} as const;

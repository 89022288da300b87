/**
 * Saved work: before a tree goes, its state is a commit under `refs/troupe/saved/<run>/<task>/<n>`, made without touching
 * the tree, its index or its branch. The commit's content is the files (tracked and untracked, not ignored, not carried
 * in); its first parent is HEAD; a second one holds the index where that differs from both, a further one the other side
 * of a merge in progress.
 *
 * Invariants: W8 work that exists nowhere else is saved before it is removed.
 */

import { systemCode } from '../kernel/index.ts';
import { branchRef, moveRef, readRef, treeOf } from './branches.ts';
import { baseOf, withoutExcluded, writeCommit } from './commit.ts';
import { errors } from './errors.ts';
import type { Git } from './git-cli.ts';
import { readGit } from './git-read.ts';
import { LIMITS } from './limits.ts';
import { join } from './paths.ts';
import { isObjectId, type Repository, resolveCommit } from './repository.ts';
import { restoreExcluded, stageAll } from './stage.ts';
import { readText, type Tree, treeGit } from './tree-check.ts';

export interface SaveRequest {
  readonly run: string;
  readonly task: string;
  readonly tree: Tree;
  readonly exclude: readonly string[];
  readonly reason: string;
}

export interface Saved {
  readonly ref: string;
  readonly commit: string;
  /** Folders with a repository of their own, which could not be saved. */
  readonly nested: readonly string[];
}

/** What the files of a tree are now, as a tree object, without touching the tree. */
export interface Snapshot {
  readonly head: string | null;
  /** Tree object of the files. */
  readonly content: string;
  /** Files differ from HEAD. */
  readonly dirty: boolean;
  readonly nested: readonly string[];
  /** Tree object of the index, where it differs from files and HEAD. */
  readonly indexContent: string | null;
  readonly merging: string | null;
}

/**
 * Null when there is nothing that the branch does not have. Works in a tree whose pointer file is gone, and on any
 * branch: the places are the registered ones.
 */
export async function saveTree(repo: Repository, request: SaveRequest): Promise<Saved | null> {
  const { path } = request.tree;
  return repo.lock.at(path, () => repo.lock.run(`save ${path}`, () => saveUnlocked(repo, request)));
}

export async function saveUnlocked(repo: Repository, request: SaveRequest): Promise<Saved | null> {
  const { tree } = request;
  const snapshot = await takeSnapshot(repo, { tree, exclude: request.exclude });
  if (snapshot === null) return null;
  const unsavedHead = snapshot.head !== null && !(await isReachable(repo, snapshot.head));
  if (
    !snapshot.dirty &&
    snapshot.indexContent === null &&
    snapshot.merging === null &&
    !unsavedHead
  ) {
    return null;
  }
  const commit = await writeSnapshot(repo, request, snapshot);
  const ref = await nextRef(repo, { run: request.run, task: request.task, commit });
  return { ref, commit, nested: snapshot.nested };
}

/** Puts a commit under a saved ref as it is; for a branch that is about to be moved back. */
export async function saveCommit(
  repo: Repository,
  options: { readonly run: string; readonly task: string; readonly commit: string },
): Promise<string> {
  return nextRef(repo, options);
}

/** Null when the folder or its admin folder is gone: then there is nothing to look at. */
export async function takeSnapshot(
  repo: Repository,
  options: { readonly tree: Tree; readonly exclude: readonly string[] },
): Promise<Snapshot | null> {
  const { tree } = options;
  const { files } = repo.deps;
  if ((await files.stat(tree.path))?.kind !== 'directory') return null;
  if ((await files.stat(tree.adminDir))?.kind !== 'directory') return null;
  const git = treeGit(repo, tree);
  const head = (await resolveCommit(git, 'HEAD')) ?? (await branchCommit(repo, tree));
  const scratch = join(tree.adminDir, 'troupe-save-index');
  try {
    await copyIndex(repo, { from: join(tree.adminDir, 'index'), to: scratch });
    return await snapshotWith(repo, { git, tree, head, scratch, exclude: options.exclude });
  } finally {
    await files.remove(scratch);
    await files.remove(`${scratch}.lock`);
  }
}

async function snapshotWith(
  repo: Repository,
  options: {
    readonly git: Git;
    readonly tree: Tree;
    readonly head: string | null;
    readonly scratch: string;
    readonly exclude: readonly string[];
  },
): Promise<Snapshot> {
  const { git, tree, head, scratch, exclude } = options;
  const merging = await readText(repo.deps.files, join(tree.adminDir, 'MERGE_HEAD'));
  const tip = merging ?? head;
  const base = tip === null ? '' : await baseOf(repo, { branch: tree.branch ?? '', commit: tip });
  const stage = { exclude: base === '' ? [] : exclude, base, indexFile: scratch };
  await restoreExcluded(git, stage);
  // An index with conflicts (exit 128) has no tree of its own.
  const written = await git.run({ args: ['write-tree'], indexFile: scratch, codes: [0, 128] });
  const indexTree = written.code === 0 ? written.stdout.trim() : null;
  const staged = await stageAll(git, stage);
  const content = (await git.run({ args: ['write-tree'], indexFile: scratch })).stdout.trim();
  const headTree = head === null ? null : await treeOf(repo, head);
  const ownIndex = indexTree !== null && indexTree !== content && indexTree !== headTree;
  return {
    head,
    content,
    dirty: content !== headTree,
    nested: staged.nested,
    indexContent: ownIndex ? indexTree : null,
    merging: merging !== null && isObjectId(merging) ? merging : null,
  };
}

async function branchCommit(repo: Repository, tree: Tree): Promise<string | null> {
  return tree.branch === null ? null : readRef(repo, branchRef(tree.branch));
}

async function copyIndex(
  repo: Repository,
  options: { readonly from: string; readonly to: string },
): Promise<void> {
  const { files } = repo.deps;
  await files.remove(options.to);
  let bytes: Uint8Array;
  try {
    bytes = await files.readFile(options.from);
  } catch (error) {
    // A tree made with no file in it has no index yet.
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  const handle = await files.open(options.to, 'create');
  try {
    for (let done = 0; done < bytes.length; ) done += handle.write(bytes.subarray(done));
  } finally {
    await handle.close();
  }
}

async function writeSnapshot(
  repo: Repository,
  request: SaveRequest,
  snapshot: Snapshot,
): Promise<string> {
  const { tree } = request;
  const git = treeGit(repo, tree);
  const parents: string[] = [];
  if (snapshot.head !== null) {
    const base = await baseOf(repo, { branch: tree.branch ?? '', commit: snapshot.head });
    parents.push(
      await withoutExcluded(repo, { head: snapshot.head, base, tree, exclude: request.exclude }),
    );
  }
  if (snapshot.indexContent !== null) {
    const message = 'Index of a saved tree';
    parents.push(
      await writeCommit(git, { tree: snapshot.indexContent, parents: [...parents], message }),
    );
  }
  if (snapshot.merging !== null) parents.push(snapshot.merging);
  const message = [
    `Saved work of ${request.task}: ${request.reason}`,
    '',
    `Troupe-Run: ${request.run}`,
    `Troupe-Task: ${request.task}`,
    ...(tree.branch === null ? [] : [`Troupe-Branch: ${tree.branch}`]),
  ].join('\n');
  return writeCommit(git, { tree: snapshot.content, parents: [...new Set(parents)], message });
}

async function nextRef(
  repo: Repository,
  options: { readonly run: string; readonly task: string; readonly commit: string },
): Promise<string> {
  const folder = `refs/troupe/saved/${options.run}/${options.task}`;
  for (let tries = 0; tries < LIMITS.savedTries; tries += 1) {
    const listed = await repo.git.run({
      args: ['for-each-ref', '--format=%(refname)', `${folder}/`],
    });
    const taken = listed.stdout.split('\n').map((ref) => Number(ref.slice(folder.length + 1)) || 0);
    const ref = `${folder}/${Math.max(0, ...taken) + 1}`;
    if ((await moveRef(repo, { ref, to: options.commit, from: null })) === 'moved') return ref;
  }
  throw errors.gitFailed('update-ref', null, `no free name under ${folder}`);
}

/** Some branch, tag or saved ref has the commit. */
export async function isReachable(repo: Repository, commit: string): Promise<boolean> {
  const result = await repo.git.run({
    args: ['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${commit}`],
  });
  return result.stdout.trim() !== '';
}

export interface SavedRef {
  readonly ref: string;
  readonly commit: string;
  readonly run: string;
  readonly task: string;
  readonly subject: string;
  /** ISO-8601 with offset, as git tells it. */
  readonly at: string;
}

/** All saved work of the repository, oldest first by name. */
export async function listSaved(repo: Repository): Promise<SavedRef[]> {
  const format = '%(refname)%00%(objectname)%00%(committerdate:iso-strict)%00%(subject)';
  const text = await readGit(repo.git, [
    'for-each-ref',
    `--format=${format}`,
    'refs/troupe/saved/',
  ]);
  return text.split('\n').flatMap((line) => {
    const [ref = '', commit = '', at = '', subject = ''] = line.split('\0');
    const match = /^refs\/troupe\/saved\/([^/]+)\/([^/]+)\/\d+$/.exec(ref);
    if (match === null) return [];
    return [{ ref, commit, at, subject, run: match[1] ?? '', task: match[2] ?? '' }];
  });
}

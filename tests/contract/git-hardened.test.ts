import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  addTaskTree,
  addViewTree,
  advanceRef,
  clearStaleLocks,
  commitTree,
  createIntegrationBranch,
  diffText,
  discardChanges,
  listSaved,
  listTrees,
  mergeTask,
  type Repository,
  refreshViewTree,
  removeTree,
  resolveBase,
  restoreSaved,
  saveTree,
  startConflictResolution,
  type TaskTree,
} from '../../src/worktree/index.ts';
import { fingerprint, isTroupeOwn, makeRepo, type TempRepo } from '../support/repo.ts';

let temp: TempRepo;
afterEach(() => {
  temp.dispose();
});

const REF = 'refs/heads/troupe/r1/main';

async function addTask(repo: Repository, task: string): Promise<TaskTree> {
  const path = join(temp.trees, task);
  return addTaskTree(repo, { run: 'r1', task, path, setupLinks: ['deps'], copies: ['.env'] });
}

async function land(repo: Repository, tree: TaskTree): Promise<string> {
  const request = { tree, message: 'm', exclude: tree.exclude, actor: 'ada' };
  const done = await commitTree(repo, request);
  const taskCommit = done.kind === 'committed' ? done.commit : tree.head;
  const integration = await resolveBase(repo, REF);
  const merged = await mergeTask(repo, { taskCommit, integration, style: 'merge', message: 'm' });
  if (merged.kind !== 'merged-tree') return merged.kind;
  return advanceRef(repo, { ref: REF, to: merged.newCommit, from: integration });
}

/** Every function of the room, on two tasks that conflict. */
async function wholeRun(repo: Repository): Promise<void> {
  await createIntegrationBranch(repo, { run: 'r1', base: await resolveBase(repo, 'HEAD') });
  const view = await addViewTree(repo, { run: 'r1', name: 'lead', path: join(temp.trees, 'view') });
  const one = await addTask(repo, 'one');
  const two = await addTask(repo, 'two');
  temp.write('a.txt', 'one\n', one.path);
  temp.write('a.txt', 'two\n', two.path);
  expect(await land(repo, one)).toBe('moved');
  expect(await land(repo, two)).toBe('conflict');
  const { head } = await refreshViewTree(repo, { run: 'r1', tree: view });
  const resolution = { tree: two, integration: head, exclude: two.exclude };
  expect((await startConflictResolution(repo, resolution)).kind).toBe('conflicts');
  temp.write('a.txt', 'one and two\n', two.path);
  expect(await land(repo, two)).toBe('moved');
  await discardChanges(repo, { tree: one, commit: `${one.branch}^{commit}`, exclude: one.exclude });
  temp.write('loose', 'x\n', one.path);
  const save = { run: 'r1', task: 'one', tree: one, exclude: one.exclude, reason: 'x' };
  const saved = await saveTree(repo, save);
  await restoreSaved(repo, saved?.ref ?? '');
  await diffText(repo, { from: 'HEAD', to: REF });
  await listTrees(repo);
  await listSaved(repo);
  for (const tree of [one, two, view]) {
    const removed = await removeTree(repo, {
      tree,
      exclude: ['.env', 'deps'],
      saved: saved?.commit,
    });
    expect(removed).toEqual({ kind: 'removed' });
  }
}

function makeUserRepo(): void {
  temp = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'deps/\n' } });
  temp.write('.env', 'SECRET\n');
  temp.write('deps/x', 'x\n');
}

describe('the user', () => {
  test('W1 W3: finds branch, index, stash, config and files byte for byte as they were', async () => {
    makeUserRepo();
    temp.write('a.txt', 'stashed\n');
    temp.git(['stash', '-q']);
    temp.write('a.txt', 'edited\n');
    temp.write('b.txt', 'staged\n');
    temp.git(['add', 'b.txt']);
    temp.write('untracked', 'u\n');
    temp.git(['checkout', '-q', '--detach']);
    temp.git(['pack-refs', '--all']);
    const before = fingerprint(temp.root, isTroupeOwn);
    await wholeRun(await temp.open());
    expect(fingerprint(temp.root, isTroupeOwn)).toEqual(before);
    expect(temp.git(['worktree', 'list']).trim().split('\n')).toHaveLength(1);
    expect(temp.git(['fsck', '--no-dangling', '--no-progress'])).toBe('');
  });

  test('W6: what was carried in is in no object of the repository', async () => {
    makeUserRepo();
    await wholeRun(await temp.open());
    const objects = temp.git(['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']);
    expect(objects).not.toContain(temp.git(['hash-object', '.env']).trim());
  });

  test('W1: hooks, monitors and pagers that are planted never run', async () => {
    makeUserRepo();
    const ran = join(temp.base, 'ran');
    const names = [
      'post-checkout',
      'reference-transaction',
      'pre-commit',
      'commit-msg',
      'prepare-commit-msg',
      'post-commit',
      'post-index-change',
      'post-merge',
      'pre-merge-commit',
      'pre-auto-gc',
      'post-rewrite',
      'update',
      'pre-rebase',
      'fsmonitor-watchman',
    ];
    for (const folder of ['.git/hooks', 'planted']) {
      for (const name of names) {
        temp.script(
          join(temp.root, folder, name),
          `#!/bin/sh\necho ${folder}/${name} >> '${ran}'\n`,
        );
      }
    }
    const monitor = join(temp.root, '.git/hooks/fsmonitor-watchman');
    writeFileSync(
      join(temp.root, '.git/config'),
      `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\thooksPath = ${join(temp.root, 'planted')}\n` +
        `\tfsmonitor = ${monitor}\n\tpager = ${monitor}\n\teditor = ${monitor}\n\tsshCommand = ${monitor}\n` +
        `[diff]\n\texternal = ${monitor}\n[pager]\n\tworktree = ${monitor}\n[gpg]\n\tprogram = ${monitor}\n` +
        `[commit]\n\tgpgSign = true\n[gc]\n\tauto = 1\n[user]\n\tname = U\n\temail = u@example.org\n`,
    );
    await wholeRun(await temp.open());
    expect(existsSync(ran)).toBe(false);
    expect(readdirSync(join(temp.root, '.git')).toSorted()).not.toContain('gc.log');
  });
});

describe('after a crash', () => {
  test('locks of the run are cleared, those that may be the user’s are named', async () => {
    makeUserRepo();
    const repo = await temp.open();
    await createIntegrationBranch(repo, { run: 'r1', base: await resolveBase(repo, 'HEAD') });
    const tree = await addTask(repo, 'one');
    const own = [
      join(tree.adminDir, 'index.lock'),
      join(temp.root, '.git/refs/heads/troupe/r1/main.lock'),
      join(temp.root, '.git/refs/heads/troupe/r1/task/one.lock'),
    ];
    const users = join(temp.root, '.git/index.lock');
    for (const path of [...own, users]) writeFileSync(path, '');
    expect(await clearStaleLocks(repo, { run: 'r1' })).toEqual({ removed: own, left: [users] });
    temp.write('x', 'x\n', tree.path);
    expect(await land(repo, tree)).toBe('moved');
    expect(existsSync(users)).toBe(true);
  });

  test('a lock that stays is named after bounded tries', async () => {
    makeUserRepo();
    const repo = await temp.open();
    await createIntegrationBranch(repo, { run: 'r1', base: await resolveBase(repo, 'HEAD') });
    const tree = await addTask(repo, 'one');
    writeFileSync(join(tree.adminDir, 'index.lock'), '');
    temp.write('x', 'x\n', tree.path);
    await expect(land(repo, tree)).rejects.toMatchObject({
      code: 'git/locked',
      message: expect.stringContaining(join(tree.adminDir, 'index.lock')),
    });
  });

  test('restored work is a branch of its own; what was never saved is told', async () => {
    makeUserRepo();
    const repo = await temp.open();
    await createIntegrationBranch(repo, { run: 'r1', base: await resolveBase(repo, 'HEAD') });
    const tree = await addTask(repo, 'one');
    temp.write('x', 'x\n', tree.path);
    const save = { run: 'r1', task: 'one', tree, exclude: tree.exclude, reason: 'x' };
    const saved = await saveTree(repo, save);
    const restored = await restoreSaved(repo, saved?.ref ?? '');
    expect(restored.branch).toBe('troupe/r1/restored/one-1');
    expect(await restoreSaved(repo, saved?.ref ?? '')).toEqual(restored);
    expect(temp.git(['show', `${restored.branch}:x`])).toBe('x\n');
    await expect(restoreSaved(repo, 'refs/troupe/saved/r1/one/9')).rejects.toMatchObject({
      code: 'worktree/no-such-saved',
      exit: 5,
    });
  });
});

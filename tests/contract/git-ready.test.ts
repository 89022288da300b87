/** Cones, the pool, and trees that are filled side by side, on the git of this machine. */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  addReadyTree,
  addTaskTree,
  commitTree,
  createIntegrationBranch,
  hasWorktreeConfig,
  missingFolders,
  type Repository,
  removeTree,
  resolveBase,
  type TaskTree,
  type TaskTreeRequest,
  type Tree,
  verifyTree,
} from '../../src/worktree/index.ts';
import { fingerprint, isTroupeOwn, makeRepo, type TempRepo } from '../support/repo.ts';

let temp: TempRepo;
afterEach(() => {
  temp.dispose();
});

const FILES = {
  'root.txt': 'root\n',
  'src/a/one.txt': '1\n',
  'src/b/two.txt': '2\n',
  'docs/x.md': 'x\n',
  '.gitignore': '*.log\n',
};

async function start(): Promise<Repository> {
  temp = makeRepo({ files: FILES });
  const repo = await temp.open();
  await createIntegrationBranch(repo, { run: 'r1', base: await resolveBase(repo, 'HEAD') });
  return repo;
}

function add(repo: Repository, more: Partial<TaskTreeRequest> = {}): Promise<TaskTree> {
  const task = more.task ?? 't1';
  const path = join(temp.trees, 'r1', task);
  return addTaskTree(repo, { run: 'r1', task, path, setupLinks: [], copies: [], ...more });
}

/** The user's files, index, refs and config, byte for byte. */
const usersOwn = (): string[] => fingerprint(temp.root, isTroupeOwn);

describe('a cone', () => {
  test('has its folders and what lies right above them; work in and outside of it is committed', async () => {
    const repo = await start();
    const tree = await add(repo, { sparse: ['src/a'] });
    expect(readdirSync(tree.path).toSorted()).toEqual(['.git', '.gitignore', 'root.txt', 'src']);
    expect(readdirSync(join(tree.path, 'src'))).toEqual(['a']);
    temp.write('src/a/new.txt', 'new\n', tree.path);
    temp.write('docs/y.md', 'outside\n', tree.path);
    const request = { tree, message: 'm', exclude: [], actor: null };
    expect(await commitTree(repo, request)).toMatchObject({ kind: 'committed' });
    // What is not in the tree is no deletion.
    expect(temp.git(['diff', '--name-status', 'main', tree.branch])).toBe(
      'A\tdocs/y.md\nA\tsrc/a/new.txt\n',
    );
    expect(await commitTree(repo, request)).toMatchObject({ kind: 'unchanged', changed: true });
    expect(await removeTree(repo, { tree, exclude: [] })).toEqual({ kind: 'removed' });
  });

  test('writes one key into the shared config and nothing else of the user', async () => {
    const repo = await start();
    expect(await hasWorktreeConfig(repo)).toBe(false);
    const before = usersOwn().filter((line) => !line.startsWith('.git/config '));
    const config = temp.git(['config', '--local', '--list']);
    await add(repo, { sparse: ['src/a'] });
    expect(usersOwn().filter((line) => !line.startsWith('.git/config '))).toEqual(before);
    expect(temp.git(['config', '--local', '--list'])).toBe(
      `${config}extensions.worktreeconfig=true\n`,
    );
    expect(await hasWorktreeConfig(repo)).toBe(true);
    // The user's own checkout and a tree without a cone stay whole.
    expect(temp.git(['status', '--porcelain'])).toBe('');
    const whole = await add(repo, { task: 't2' });
    expect(existsSync(join(whole.path, 'docs/x.md'))).toBe(true);
  });

  test('folders with odd names are folders, and those that are missing are told', async () => {
    temp = makeRepo({
      files: { 'a "b"/x': '1\n', 'c\\d/x': '2\n', 'é ü/x': '3\n', 'no/x': '4\n' },
    });
    const repo = await temp.open();
    const base = await resolveBase(repo, 'HEAD');
    await createIntegrationBranch(repo, { run: 'r1', base });
    const tree = await add(repo, { sparse: ['a "b"', 'c\\d', 'é ü'] });
    expect(readdirSync(tree.path).toSorted()).toEqual(['.git', 'a "b"', 'c\\d', 'é ü'].toSorted());
    expect(await missingFolders(repo, base, ['no', 'gone', 'no/x', 'é ü'])).toEqual([
      'gone',
      'no/x',
    ]);
  });
});

describe('the pool', () => {
  const ready = (repo: Repository): Promise<Tree> =>
    addReadyTree(repo, { path: join(temp.trees, '_pool/p1'), commit: repo.head.commit ?? '' });

  test('a ready tree becomes the task’s, on its branch and at the tip of the integration branch', async () => {
    const repo = await start();
    const before = usersOwn();
    const waiting = await ready(repo);
    const next = temp.git(['commit-tree', 'main^{tree}', '-p', 'main', '-m', 'n']).trim();
    temp.git(['update-ref', 'refs/heads/troupe/r1/main', next]);
    const tree = await add(repo, { ready: async () => waiting });
    expect(tree).toMatchObject({
      adminDir: waiting.adminDir,
      head: next,
      branch: 'troupe/r1/task/t1',
    });
    expect(existsSync(waiting.path)).toBe(false);
    expect(await verifyTree(repo, tree)).toEqual({ ok: true });
    expect(temp.git(['status', '--porcelain', '--ignored'], tree.path)).toBe('');
    expect(temp.git(['worktree', 'list', '--porcelain'])).toContain(`worktree ${tree.path}\n`);
    temp.write('new.txt', 'x\n', tree.path);
    const done = await commitTree(repo, { tree, message: 'm', exclude: [], actor: null });
    expect(done.kind).toBe('committed');
    expect(usersOwn()).toEqual(before);
  });

  test('W12: one with a changed, untracked or ignored file is thrown away, and the task’s is made', async () => {
    const repo = await start();
    const spoilt: ((tree: Tree) => void)[] = [
      (tree) => temp.write('root.txt', 'spoilt\n', tree.path),
      (tree) => rmSync(join(tree.path, 'root.txt')),
      (tree) => temp.write('mine.txt', 'x\n', tree.path),
      (tree) => temp.write('mine.log', 'x\n', tree.path),
      (tree) => temp.write('sub/.git/HEAD', 'ref: refs/heads/x\n', tree.path),
      (tree) => temp.git(['rm', '-q', '--cached', 'root.txt'], tree.path),
      (tree) => writeFileSync(join(tree.path, '.git'), 'gitdir: /elsewhere\n'),
      (tree) => writeFileSync(join(tree.adminDir, 'HEAD'), 'ref: refs/heads/gone\n'),
    ];
    for (const [index, spoil] of spoilt.entries()) {
      const waiting = await ready(repo);
      spoil(waiting);
      const tree = await add(repo, { task: `t${index}`, ready: async () => waiting });
      expect(temp.git(['status', '--porcelain', '--ignored'], tree.path), String(index)).toBe('');
      expect(temp.read('root.txt', tree.path)).toBe('root\n');
      rmSync(waiting.path, { recursive: true, force: true });
      rmSync(waiting.adminDir, { recursive: true, force: true });
    }
  });

  test('is not asked when the task’s tree is there, and never gives over a tree with work', async () => {
    const repo = await start();
    const first = await add(repo);
    temp.write('new.txt', 'work\n', first.path);
    const again = await add(repo, { ready: () => Promise.reject(new Error('asked')) });
    expect(again).toEqual(first);
    expect(temp.read('new.txt', again.path)).toBe('work\n');
  });

  test('W11: cut at any point between the pool and the task, the next call makes the tree', async () => {
    const repo = await start();
    const cuts: ((waiting: Tree, path: string) => void)[] = [
      (waiting) => writeFileSync(join(waiting.adminDir, 'locked'), 'initializing'),
      (waiting, path) => {
        writeFileSync(join(waiting.adminDir, 'locked'), 'initializing');
        writeFileSync(join(waiting.adminDir, 'gitdir'), `${path}/.git\n`);
      },
      (waiting, path) => {
        writeFileSync(join(waiting.adminDir, 'locked'), 'initializing');
        writeFileSync(join(waiting.adminDir, 'gitdir'), `${path}/.git\n`);
        temp.git(['worktree', 'list']);
        rmSync(path, { recursive: true, force: true });
        temp.write('half.txt', 'x\n', path);
      },
    ];
    for (const [index, cut] of cuts.entries()) {
      const waiting = await ready(repo);
      cut(waiting, join(temp.trees, 'r1', `c${index}`));
      const tree = await add(repo, { task: `c${index}` });
      expect(temp.git(['status', '--porcelain', '--ignored'], tree.path)).toBe('');
      rmSync(waiting.path, { recursive: true, force: true });
      temp.git(['worktree', 'prune']);
    }
  });
});

test('W2: trees of several tasks are filled side by side, and a second call for one waits for the first', async () => {
  const repo = await start();
  const tasks = ['a', 'b', 'c', 'a', 'b', 'c'];
  const trees = await Promise.all(tasks.map((task) => add(repo, { task })));
  expect(new Set(trees.map((tree) => tree.adminDir)).size).toBe(3);
  for (const tree of trees) {
    expect(await verifyTree(repo, tree)).toEqual({ ok: true });
    expect(temp.git(['status', '--porcelain'], tree.path)).toBe('');
  }
});

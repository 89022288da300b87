import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Git } from '../../src/worktree/git-cli.ts';
import {
  addTaskTree,
  advanceRef,
  commitTree,
  createIntegrationBranch,
  mergeTask,
  type Repository,
  readIntegration,
  removeTree,
  resolveBase,
  saveTree,
  startConflictResolution,
  type TaskTree,
} from '../../src/worktree/index.ts';
import { makeRepo, type TempRepo } from '../support/repo.ts';

let temp: TempRepo;
afterEach(() => {
  temp.dispose();
});

class Killed extends Error {}

/** The same repository, whose programs fail from the nth call on, as when the supervisor is killed there. */
function dieAt(repo: Repository, nth: number): { repo: Repository; calls: () => number } {
  let calls = 0;
  const { exec } = repo.deps;
  const deps = {
    ...repo.deps,
    exec: {
      run: async (...request: Parameters<typeof exec.run>) => {
        calls += 1;
        if (calls >= nth) throw new Killed(`at call ${calls}`);
        return exec.run(...request);
      },
      spawn: exec.spawn.bind(exec),
      sweep: exec.sweep.bind(exec),
    },
  };
  const git = new Git({ ...repo.git.setup, exec: deps.exec }, repo.git.place);
  return { repo: { ...repo, deps, git }, calls: () => calls };
}

/** Runs `work` killed at its first call, at the `stride`th after it …, until it gets through; called again it must finish. */
async function atManyCalls(
  repo: Repository,
  step: {
    /** Makes what one try needs. */
    readonly prepare: (name: string) => Promise<TaskTree>;
    readonly work: (repo: Repository, tree: TaskTree) => Promise<unknown>;
    readonly check: (tree: TaskTree) => void;
    readonly stride: number;
  },
): Promise<number> {
  for (let nth = 1; ; nth += step.stride) {
    const tree = await step.prepare(`t${nth}`);
    const dying = dieAt(repo, nth);
    const got = await step.work(dying.repo, tree).then(
      () => 'through',
      (error: unknown) => {
        if (error instanceof Killed) return 'killed';
        throw error;
      },
    );
    await step.work(repo, tree);
    step.check(tree);
    if (got === 'through') return nth;
  }
}

async function start(): Promise<Repository> {
  temp = makeRepo({ files: { 'a.txt': 'a\nb\nc\n', '.gitignore': 'dep/\n' } });
  temp.write('.env', 'SECRET\n');
  temp.write('dep/x', 'x\n');
  const repo = await temp.open();
  await createIntegrationBranch(repo, { run: 'r1', base: await resolveBase(repo, 'HEAD') });
  return repo;
}

const add = (repo: Repository, task: string): Promise<TaskTree> =>
  addTaskTree(repo, {
    run: 'r1',
    task,
    path: join(temp.trees, task),
    copies: ['.env'],
    setupLinks: ['dep'],
  });

const LONG = 120_000;

test('a tree that was being made is made when it is asked for again', {
  timeout: LONG,
}, async () => {
  const repo = await start();
  let name = '';
  const points = await atManyCalls(repo, {
    stride: 1,
    prepare: (task) => {
      name = task;
      return Promise.resolve({ path: '', adminDir: '', branch: '', start: '' } as TaskTree);
    },
    work: (at) => add(at, name),
    check: () => {
      const path = join(temp.trees, name);
      expect(temp.git(['status', '--porcelain', '--ignored'], path)).toBe('?? .env\n?? dep\n');
      expect(temp.read('.env', path)).toBe('SECRET\n');
    },
  });
  expect(points).toBeGreaterThan(8);
});

test('a merge commit that was being made is there once', { timeout: LONG }, async () => {
  const repo = await start();
  const first = await add(repo, 'first');
  temp.write('a.txt', 'one\n', first.path);
  const request = (tree: TaskTree) => ({ tree, message: 'm', exclude: tree.exclude, actor: 'ada' });
  const done = await commitTree(repo, request(first));
  const base = await readIntegration(repo, 'r1');
  const others: TaskTree[] = [];
  for (let index = 1; index <= 25; index += 2) others.push(await add(repo, `t${index}`));
  const taskCommit = done.kind === 'committed' ? done.commit : '';
  const merged = await mergeTask(repo, {
    taskCommit,
    integration: base,
    style: 'merge',
    message: 'm',
  });
  const to = merged.kind === 'merged-tree' ? merged.newCommit : '';
  await advanceRef(repo, { ref: 'refs/heads/troupe/r1/main', to, from: base });
  await atManyCalls(repo, {
    stride: 2,
    prepare: async (task) => {
      const tree = others.find((other) => other.branch.endsWith(`/${task}`));
      if (tree === undefined) throw new Error(`more calls than trees: ${task}`);
      temp.write('a.txt', 'two\n', tree.path);
      await commitTree(repo, request(tree));
      await startConflictResolution(repo, { tree, integration: to, exclude: tree.exclude });
      temp.write('a.txt', 'one\ntwo\n', tree.path);
      return tree;
    },
    work: async (at, tree) =>
      expect(['committed', 'unchanged']).toContain((await commitTree(at, request(tree))).kind),
    check: (tree) => {
      expect(temp.git(['rev-list', '--count', '--merges', `${to}..${tree.branch}`])).toBe('1\n');
      expect(temp.git(['rev-parse', `${tree.branch}^2`]).trim()).toBe(to);
      expect(temp.git(['show', `${tree.branch}:a.txt`])).toBe('one\ntwo\n');
      expect(existsSync(join(tree.adminDir, 'MERGE_HEAD'))).toBe(false);
      expect(temp.git(['status', '--porcelain'], tree.path)).toBe('?? .env\n?? dep\n');
    },
  });
});

test('W8: a tree that was being saved and removed is gone, its work is saved', {
  timeout: LONG,
}, async () => {
  const repo = await start();
  await atManyCalls(repo, {
    stride: 4,
    prepare: async (task) => {
      const tree = await add(repo, task);
      writeFileSync(join(tree.path, 'work'), task);
      return tree;
    },
    work: async (at, tree) => {
      const task = tree.branch.split('/').at(-1) ?? '';
      const { exclude } = tree;
      const saved = await saveTree(at, { run: 'r1', task, tree, exclude, reason: 'x' });
      const outcome = await removeTree(at, { tree, exclude, saved: saved?.commit });
      expect(['removed', 'absent']).toContain(outcome.kind);
    },
    check: (tree) => {
      const task = tree.branch.split('/').at(-1) ?? '';
      expect(temp.git(['show', `refs/troupe/saved/r1/${task}/1:work`])).toBe(task);
      expect(existsSync(tree.path)).toBe(false);
      expect(existsSync(tree.adminDir)).toBe(false);
    },
  });
});

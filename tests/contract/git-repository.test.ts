import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { isTroupeError } from '../../src/kernel/index.ts';
import {
  addTaskTree,
  checkBranchNamespace,
  commitTree,
  createIntegrationBranch,
  diffSummary,
  diffText,
  mergeTask,
  openRepository,
  type Repository,
  readRef,
  resolveBase,
  type WorktreeDeps,
} from '../../src/worktree/index.ts';
import { makeRepo, type TempRepo } from '../support/repo.ts';

let temp: TempRepo;
afterEach(() => {
  temp.dispose();
});

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'no error';
  } catch (error) {
    return isTroupeError(error) ? `${error.code} (exit ${error.exit})` : String(error);
  }
}

async function wholeWay(repo: Repository): Promise<string> {
  await checkBranchNamespace(repo, 'r1');
  await createIntegrationBranch(repo, { run: 'r1', base: await resolveBase(repo, 'HEAD') });
  const path = join(temp.trees, 'tree with spaces é');
  const tree = await addTaskTree(repo, { run: 'r1', task: 't1', path, setupLinks: [], copies: [] });
  temp.write('new file ü', 'x\n', tree.path);
  const done = await commitTree(repo, { tree, message: 'm', exclude: [], actor: null });
  if (done.kind !== 'committed') return done.kind;
  const merged = await mergeTask(repo, {
    taskCommit: done.commit,
    integration: tree.start,
    style: 'merge',
    message: 'm',
  });
  return merged.kind;
}

describe('openRepository', () => {
  test('finds the places, the head and who commits, also from a folder inside', async () => {
    temp = makeRepo({ files: { 'sub/x': 'x\n' } });
    const repo = await temp.open(join(temp.root, 'sub'));
    expect(repo).toMatchObject({
      root: temp.root,
      gitDir: join(temp.root, '.git'),
      commonDir: join(temp.root, '.git'),
      bare: false,
      head: { branch: 'main', commit: temp.git(['rev-parse', 'HEAD']).trim() },
      identity: { name: 'Uma User', email: 'uma@example.org', fallback: false },
      hash: temp.deps.sha256(join(temp.root, '.git')).slice(0, 16),
    });
  });

  test('says clearly what cannot be opened', async () => {
    temp = makeRepo();
    const open = (dir: string, more: Partial<WorktreeDeps> = {}): Promise<string> =>
      codeOf(openRepository({ ...temp.deps, ...more }, dir));
    writeFileSync(join(temp.base, 'old-git'), '#!/bin/sh\necho git version 2.25.1\n', {
      mode: 0o755,
    });
    expect([
      await open(temp.home),
      await open(join(temp.base, 'nowhere')),
      await open(join(temp.root, 'a.txt')),
      await open(join(temp.root, '.git')),
      await open(join(temp.root, '.git/refs')),
      await open(temp.root, { env: { PATH: temp.home } }),
      await open(temp.root, { env: {} }),
      await open(temp.root, { gitPath: join(temp.base, 'old-git') }),
    ]).toEqual([
      'worktree/not-a-repository (exit 2)',
      'worktree/no-such-directory (exit 2)',
      'worktree/no-such-directory (exit 2)',
      'worktree/inside-git-directory (exit 2)',
      'worktree/inside-git-directory (exit 2)',
      'git/missing (exit 2)',
      'git/missing (exit 2)',
      'git/too-old (exit 2)',
    ]);
  });

  test("a repository of somebody else is named as such, unless the user's config trusts it", async () => {
    temp = makeRepo();
    const env = { ...temp.deps.env, GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' };
    const exec: WorktreeDeps['exec'] = Object.create(temp.deps.exec, {
      run: {
        value: (request: Parameters<WorktreeDeps['exec']['run']>[0]) =>
          temp.deps.exec.run({
            ...request,
            env: { ...request.env, GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' },
          }),
      },
    });
    const open = (): Promise<string> =>
      codeOf(openRepository({ ...temp.deps, env, exec }, temp.root));
    expect(await open()).toBe('worktree/dubious-ownership (exit 2)');
    writeFileSync(join(temp.home, '.gitconfig'), '[safe]\n\tdirectory = *\n');
    expect(await open()).toBe('no error');
  });

  test('without a commit it opens, and a base is what is missing', async () => {
    temp = makeRepo({ empty: true });
    const repo = await temp.open();
    expect(repo.head).toEqual({ branch: 'main', commit: null });
    expect(await codeOf(resolveBase(repo, 'HEAD'))).toBe('worktree/no-commit (exit 2)');
  });

  test('the environment of a git hook does not lead it elsewhere', async () => {
    temp = makeRepo();
    const env = { ...temp.deps.env, GIT_DIR: '/nowhere', GIT_INDEX_FILE: '/nowhere/index' };
    const repo = await openRepository({ ...temp.deps, env }, temp.root);
    expect(repo.root).toBe(temp.root);
  });

  test('without an identity commits carry a name of their own', async () => {
    temp = makeRepo();
    temp.git(['config', '--unset', 'user.email']);
    const repo = await temp.open();
    expect(repo.identity.fallback).toBe(true);
    expect(await wholeWay(repo)).toBe('merged-tree');
  });
});

describe('odd places work the whole way', () => {
  test('spaces and letters that are not ASCII', async () => {
    temp = makeRepo({ name: "my répo's ☃ (1)" });
    expect(await wholeWay(await temp.open())).toBe('merged-tree');
  });

  test('a workspace that is a link', async () => {
    temp = makeRepo();
    symlinkSync(temp.root, join(temp.base, 'link'));
    const repo = await temp.open(join(temp.base, 'link'));
    expect(repo.root).toBe(temp.root);
    expect(await wholeWay(repo)).toBe('merged-tree');
  });

  test('a bare repository', async () => {
    temp = makeRepo();
    temp.git(['clone', '-q', '--bare', temp.root, join(temp.base, 'bare.git')]);
    const repo = await temp.open(join(temp.base, 'bare.git'));
    expect(repo).toMatchObject({ bare: true, root: '', gitDir: join(temp.base, 'bare.git') });
    expect(await wholeWay(repo)).toBe('merged-tree');
  });

  test("a submodule's work tree, and a repository that has submodules", async () => {
    temp = makeRepo();
    const inner = join(temp.base, 'inner');
    mkdirSync(inner);
    temp.git(['init', '-q', '-b', 'main'], inner);
    temp.git(['config', 'user.name', 'Uma User'], inner);
    temp.git(['config', 'user.email', 'uma@example.org'], inner);
    temp.commit('inner', { x: '1\n' }, inner);
    temp.git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'mod']);
    temp.git(['commit', '-q', '-m', 'with a submodule']);
    const module = await temp.open(join(temp.root, 'mod'));
    expect(module.root).toBe(join(temp.root, 'mod'));
    expect(await wholeWay(module)).toBe('merged-tree');
    rmSync(join(temp.trees, 'tree with spaces é'), { recursive: true });
    expect(await wholeWay(await temp.open())).toBe('merged-tree');
    expect(temp.git(['status', '--porcelain'])).toBe('');
  });

  test("a linked work tree of the user's", async () => {
    temp = makeRepo();
    temp.git(['worktree', 'add', '-q', '-b', 'side', join(temp.base, 'side')]);
    const repo = await temp.open(join(temp.base, 'side'));
    expect(repo).toMatchObject({
      root: join(temp.base, 'side'),
      commonDir: join(temp.root, '.git'),
      head: { branch: 'side' },
    });
    expect(await wholeWay(repo)).toBe('merged-tree');
  });

  test('a detached HEAD, and a repository with SHA-256 objects', async () => {
    temp = makeRepo();
    temp.git(['checkout', '-q', '--detach']);
    expect(await wholeWay(await temp.open())).toBe('merged-tree');
    const other = join(temp.base, 'sha256');
    mkdirSync(other);
    temp.git(['init', '-q', '--object-format=sha256', '-b', 'main'], other);
    temp.git(['config', 'user.name', 'Uma User'], other);
    temp.git(['config', 'user.email', 'uma@example.org'], other);
    temp.commit('x', { x: '1\n' }, other);
    rmSync(join(temp.trees, 'tree with spaces é'), { recursive: true });
    expect(await wholeWay(await temp.open(other))).toBe('merged-tree');
  });
});

describe('bases and branches', () => {
  test('a base is any name of a commit; what names none is told', async () => {
    temp = makeRepo();
    temp.git(['tag', '-a', 'v1', '-m', 'v1']);
    const repo = await temp.open();
    const head = repo.head.commit;
    for (const rev of ['HEAD', 'main', 'v1', 'main~0', head ?? '']) {
      expect(await resolveBase(repo, rev)).toBe(head);
    }
    for (const rev of ['nope', '--all', '-h', '', 'main:a.txt', 'main..HEAD', 'HEAD~9', '@{u}']) {
      expect(await codeOf(resolveBase(repo, rev)), rev).toBe('worktree/unknown-base (exit 2)');
    }
  });

  test.each([
    'troupe',
    'Troupe',
    'troupe/r1',
    'troupe/r1/main',
    'troupe/r1/task/x',
    'troupe/r1/task',
  ])('a branch `%s` of the user is in the way and is named', async (branch) => {
    temp = makeRepo();
    temp.git(['branch', branch]);
    const repo = await temp.open();
    await expect(checkBranchNamespace(repo, 'r1')).rejects.toMatchObject({
      code: 'worktree/branch-taken',
      message: expect.stringContaining(branch),
    });
  });

  test('branches of other runs are not in the way, nor are those of a run that goes on', async () => {
    temp = makeRepo();
    temp.git(['branch', 'troupe/r0/main']);
    const repo = await temp.open();
    await checkBranchNamespace(repo, 'r1');
    await checkBranchNamespace(repo, 'r0', { resumed: true });
    expect(await codeOf(checkBranchNamespace(repo, 'r0'))).toBe('worktree/branch-taken (exit 2)');
  });

  test('W4: the integration branch is made once', async () => {
    temp = makeRepo();
    const repo = await temp.open();
    const base = await resolveBase(repo, 'HEAD');
    await createIntegrationBranch(repo, { run: 'r1', base });
    await createIntegrationBranch(repo, { run: 'r1', base });
    const other = temp.commit('next', { x: '1\n' });
    expect(await codeOf(createIntegrationBranch(repo, { run: 'r1', base: other }))).toBe(
      'worktree/branch-taken (exit 2)',
    );
    expect(await readRef(repo, 'refs/heads/troupe/r1/main')).toBe(base);
  });
});

describe('diffs', () => {
  test('tell what changed by file, and as text without running a program of the config', async () => {
    temp = makeRepo({
      files: { 'a.txt': '1\n2\n3\n4\n5\n', gone: 'x\n', 'old name': 'a\nb\nc\nd\n' },
    });
    const from = await resolveBase(await temp.open(), 'HEAD');
    temp.git(['mv', 'old name', 'new\tname']);
    temp.git(['rm', '-q', 'gone']);
    const to = temp.commit('x', {
      'a.txt': '1\n2\n3\n4\nfive\nsix\n',
      'b.bin': '\0\x01',
      ü: 'u\n',
    });
    temp.git(['config', 'diff.external', `touch ${join(temp.base, 'ran')}; false`]);
    const repo = await temp.open();
    expect(await diffSummary(repo, { from, to })).toEqual([
      { path: 'a.txt', oldPath: null, status: 'modified', added: 2, removed: 1 },
      { path: 'b.bin', oldPath: null, status: 'added', added: null, removed: null },
      { path: 'gone', oldPath: null, status: 'deleted', added: 0, removed: 1 },
      { path: 'new\tname', oldPath: 'old name', status: 'renamed', added: 0, removed: 0 },
      { path: 'ü', oldPath: null, status: 'added', added: 1, removed: 0 },
    ]);
    expect(await diffText(repo, { from, to })).toContain('-5\n+five\n+six\n');
    expect(await diffText(repo, { from, to, stat: true })).toContain('5 files changed');
    expect(temp.git(['ls-files', '-o'])).toBe('');
  });
});

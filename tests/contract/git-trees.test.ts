import {
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  addScratchTree,
  addTaskTree,
  addViewTree,
  commitTree,
  createIntegrationBranch,
  listTrees,
  type Repository,
  refreshViewTree,
  resolveBase,
  type TaskTree,
  type TaskTreeRequest,
  verifyTree,
} from '../../src/worktree/index.ts';
import { makeRepo, type TempRepo, type TempRepoOptions } from '../support/repo.ts';

let temp: TempRepo;
afterEach(() => {
  temp.dispose();
});

async function start(options: TempRepoOptions = {}): Promise<Repository> {
  temp = makeRepo(options);
  const repo = await temp.open();
  await createIntegrationBranch(repo, { run: 'r1', base: await resolveBase(repo, 'HEAD') });
  return repo;
}

function add(repo: Repository, more: Partial<TaskTreeRequest> = {}): Promise<TaskTree> {
  const task = more.task ?? 't1';
  const path = join(temp.trees, 'r1', task);
  return addTaskTree(repo, { run: 'r1', task, path, setupLinks: [], copies: [], ...more });
}

describe('addTaskTree', () => {
  test('makes a tree on a branch of its own from the integration branch', async () => {
    const repo = await start();
    const tree = await add(repo);
    expect(tree).toMatchObject({
      branch: 'troupe/r1/task/t1',
      path: join(temp.trees, 'r1/t1'),
      continued: false,
      exclude: [],
    });
    expect(tree.start).toBe(repo.head.commit);
    expect(temp.read('a.txt', tree.path)).toBe('one\ntwo\nthree\n');
    expect(temp.git(['status', '--porcelain'])).toBe('');
    expect(await verifyTree(repo, tree)).toEqual({ ok: true });
    expect((await listTrees(repo)).map((info) => info.branch)).toEqual([
      'main',
      'troupe/r1/task/t1',
    ]);
  });

  test('asked again it hands back the same tree with the work in it', async () => {
    const repo = await start();
    const first = await add(repo);
    temp.write('new.txt', 'work\n', first.path);
    expect(await add(repo)).toEqual(first);
    expect(temp.read('new.txt', first.path)).toBe('work\n');
  });

  test('continues on the branch of an earlier attempt whose tree is gone', async () => {
    const repo = await start();
    const first = await add(repo);
    temp.write('new.txt', 'work\n', first.path);
    const done = await commitTree(repo, { tree: first, message: 'x', exclude: [], actor: null });
    rmSync(first.path, { recursive: true });
    const second = await add(repo);
    expect(second).toMatchObject({ continued: true, start: repo.head.commit });
    expect(done).toMatchObject({ kind: 'committed', commit: second.head });
    expect(temp.read('new.txt', second.path)).toBe('work\n');
  });

  test('W8: fresh saves the earlier attempt, then starts again from the integration branch', async () => {
    const repo = await start();
    const first = await add(repo);
    temp.write('kept.txt', 'committed\n', first.path);
    await commitTree(repo, { tree: first, message: 'x', exclude: [], actor: null });
    temp.write('loose.txt', 'uncommitted\n', first.path);
    const second = await add(repo, { fresh: true });
    expect(second).toMatchObject({ continued: false, head: repo.head.commit });
    expect(existsSync(join(second.path, 'kept.txt'))).toBe(false);
    const saved = second.saved[0] ?? '';
    expect(temp.git(['show', `${saved}:loose.txt`])).toBe('uncommitted\n');
    expect(temp.git(['show', `${saved}:kept.txt`])).toBe('committed\n');
  });

  test('a tree that was cut while git made it is made anew', async () => {
    const repo = await start();
    const tree = await add(repo);
    rmSync(join(tree.path, 'a.txt'));
    writeFileSync(join(tree.adminDir, 'locked'), 'initializing');
    const again = await add(repo);
    expect(temp.read('a.txt', again.path)).toBe('one\ntwo\nthree\n');
  });

  test('refuses a folder that holds something else, and leaves it alone', async () => {
    const repo = await start();
    mkdirSync(join(temp.trees, 'r1/t1'), { recursive: true });
    writeFileSync(join(temp.trees, 'r1/t1/mine'), 'x');
    await expect(add(repo)).rejects.toMatchObject({ code: 'worktree/path-taken' });
    expect(temp.read('mine', join(temp.trees, 'r1/t1'))).toBe('x');
  });

  test('resolves a link above the tree, so that git and the registry agree', async () => {
    const repo = await start();
    symlinkSync(temp.trees, join(temp.base, 'link'));
    const tree = await add(repo, { path: join(temp.base, 'link/r1/t1') });
    expect(tree.path).toBe(join(temp.trees, 'r1/t1'));
    expect(await verifyTree(repo, tree)).toEqual({ ok: true });
  });

  test('many at once are made one after the other', async () => {
    const repo = await start();
    const tasks = ['a', 'b', 'c', 'd', 'e', 'f'];
    const trees = await Promise.all(tasks.map((task) => add(repo, { task })));
    expect(new Set(trees.map((tree) => tree.adminDir)).size).toBe(tasks.length);
  });

  test('the integration branch must be there', async () => {
    temp = makeRepo();
    const repo = await temp.open();
    await expect(add(repo)).rejects.toMatchObject({ code: 'worktree/no-integration-branch' });
  });
});

describe('places', () => {
  test('W10: the checkout itself and the git directory are no place for a tree', async () => {
    const repo = await start();
    for (const path of [temp.root, join(temp.root, '.git/x'), temp.base]) {
      await expect(add(repo, { path }), path).rejects.toMatchObject({
        code: 'worktree/path-taken',
      });
    }
    expect(temp.git(['status', '--porcelain'])).toBe('');
  });

  test("a task's branch that the user has checked out is named", async () => {
    const repo = await start();
    temp.git(['checkout', '-q', '-b', 'troupe/r1/task/t1']);
    await expect(add(repo)).rejects.toMatchObject({
      code: 'worktree/checked-out',
      data: { path: temp.root },
    });
  });

  test('W3: a run or task that is no name makes no branch', async () => {
    const repo = await start();
    for (const task of ['../x', 'a.lock', 'A', '', 'a/b', '-x']) {
      await expect(add(repo, { task, path: join(temp.trees, 'x') })).rejects.toThrow('W3');
    }
  });

  test('a scratch tree is at its commit, with what is carried in, each time anew', async () => {
    const repo = await start();
    temp.write('.env', 'SECRET\n');
    const commit = repo.head.commit ?? '';
    const request = {
      name: 's',
      path: join(temp.trees, 's'),
      commit,
      copies: ['.env'],
      setupLinks: [],
    };
    const first = await addScratchTree(repo, request);
    temp.write('junk', 'x\n', first.path);
    const second = await addScratchTree(repo, request);
    expect(second).toEqual(first);
    expect(existsSync(join(first.path, 'junk'))).toBe(false);
    expect(temp.read('.env', first.path)).toBe('SECRET\n');
    expect(second).toMatchObject({ branch: null, exclude: ['.env'] });
  });
});

describe('copies and links', () => {
  const files = { 'a.txt': 'x\n', '.gitignore': 'node_modules/\n', 'conf.json': '{}\n' };

  async function startWithExtras(): Promise<Repository> {
    const repo = await start({ files });
    temp.write('.env', 'SECRET=1\n');
    temp.write('node_modules/dep/index.js', 'x\n');
    temp.write('conf.json', '{"mine": 1}\n');
    return repo;
  }

  test('W6: are there, and are never committed', async () => {
    const repo = await startWithExtras();
    const tree = await add(repo, {
      copies: ['.env', 'conf.json', 'gone.txt?'],
      setupLinks: ['node_modules'],
    });
    expect(temp.read('.env', tree.path)).toBe('SECRET=1\n');
    expect(temp.read('conf.json', tree.path)).toBe('{"mine": 1}\n');
    expect(readlinkSync(join(tree.path, 'node_modules'))).toBe(join(temp.root, 'node_modules'));
    expect(tree.exclude).toEqual(['.env', 'conf.json', 'gone.txt', 'node_modules']);
    const request = { tree, message: 'm', exclude: tree.exclude, actor: null };
    expect(await commitTree(repo, request)).toMatchObject({ kind: 'unchanged', changed: false });
    temp.write('b.txt', 'work\n', tree.path);
    await commitTree(repo, request);
    expect(temp.git(['diff', '--name-only', 'main', tree.branch])).toBe('b.txt\n');
  });

  test('W6: what an actor staged or committed itself of them is taken out again', async () => {
    const repo = await startWithExtras();
    const tree = await add(repo, { copies: ['.env', 'conf.json'], setupLinks: ['node_modules'] });
    temp.write('b.txt', 'work\n', tree.path);
    temp.git(['add', '-A', '-f', '.'], tree.path);
    temp.git(['commit', '-q', '-m', 'all of it'], tree.path);
    const done = await commitTree(repo, {
      tree,
      message: 'm',
      exclude: tree.exclude,
      actor: 'ada',
    });
    expect(done.kind).toBe('committed');
    expect(temp.git(['diff', '--name-only', 'main', tree.branch])).toBe('b.txt\n');
    expect(temp.git(['log', '--format=%s', '--', '.env'], tree.path)).toBe('');
    expect(temp.read('.env', tree.path)).toBe('SECRET=1\n');
    expect(lstatSync(join(tree.path, 'node_modules')).isSymbolicLink()).toBe(true);
  });

  test('a second call does not write over what an actor changed', async () => {
    const repo = await startWithExtras();
    const tree = await add(repo, { copies: ['.env'] });
    temp.write('.env', 'CHANGED=1\n', tree.path);
    await add(repo, { copies: ['.env'] });
    expect(temp.read('.env', tree.path)).toBe('CHANGED=1\n');
  });

  test('W7: a path that is missing, leaves the repository or is tracked is refused before anything is made', async () => {
    const repo = await startWithExtras();
    symlinkSync(temp.home, join(temp.root, 'out'));
    const refusals: [Partial<TaskTreeRequest>, string][] = [
      [{ copies: ['nope'] }, 'worktree/carry-missing'],
      [{ copies: ['../home'] }, 'worktree/bad-carry-path'],
      [{ copies: ['/etc/passwd'] }, 'worktree/bad-carry-path'],
      [{ copies: ['out'] }, 'worktree/bad-carry-path'],
      [{ setupLinks: ['out/x?', 'out'] }, 'worktree/bad-carry-path'],
      [{ copies: ['.git/config'] }, 'worktree/bad-carry-path'],
      [{ setupLinks: ['.GIT'] }, 'worktree/bad-carry-path'],
    ];
    for (const [request, code] of refusals) {
      await expect(add(repo, request), JSON.stringify(request)).rejects.toMatchObject({ code });
    }
    expect(existsSync(join(temp.trees, 'r1/t1'))).toBe(false);
    await expect(add(repo, { setupLinks: ['a.txt'] })).rejects.toMatchObject({
      code: 'worktree/carry-clash',
    });
  });
});

describe('views', () => {
  test('are detached, follow the integration branch, and keep nothing', async () => {
    const repo = await start({ files: { 'a.txt': '1\n', '.gitignore': '*.log\n' } });
    const view = await addViewTree(repo, { run: 'r1', name: 'lead', path: join(temp.trees, 'v') });
    expect(view.branch).toBeNull();
    temp.write('a.txt', 'spoilt\n', view.path);
    temp.write('x.log', 'x\n', view.path);
    temp.write('sub/.git/HEAD', 'ref: refs/heads/x\n', view.path);
    temp.git(['checkout', '-q', '-b', 'astray'], view.path);
    const next = temp.git(['commit-tree', 'main^{tree}', '-p', 'main', '-m', 'n']).trim();
    temp.git(['update-ref', 'refs/heads/troupe/r1/main', next]);
    const before = temp.git(['rev-parse', 'astray']);
    expect(await refreshViewTree(repo, { run: 'r1', tree: view })).toEqual({ head: next });
    expect(temp.git(['status', '--porcelain', '--ignored'], view.path)).toBe('');
    expect(temp.git(['rev-parse', 'astray'])).toBe(before);
    expect(temp.read('a.txt', view.path)).toBe('1\n');
    expect(await verifyTree(repo, view)).toEqual({ ok: true });
  });
});

describe('verifyTree', () => {
  test('W5: names what is wrong with a tree', async () => {
    const repo = await start();
    const reasons: string[] = [];
    const spoil = async (task: string, how: (tree: TaskTree) => void): Promise<void> => {
      const tree = await add(repo, { task });
      how(tree);
      const check = await verifyTree(repo, tree);
      reasons.push(check.ok ? 'ok' : `${check.kind}: ${check.reason.replaceAll(temp.base, '')}`);
    };
    await spoil('v1', (tree) => rmSync(join(tree.path, '.git')));
    await spoil('v2', (tree) => writeFileSync(join(tree.path, '.git'), 'gitdir: /elsewhere\n'));
    await spoil('v3', (tree) => {
      rmSync(join(tree.path, '.git'));
      mkdirSync(join(tree.path, '.git'));
    });
    await spoil('v4', (tree) => {
      rmSync(join(tree.path, '.git'));
      symlinkSync(join(temp.root, '.git'), join(tree.path, '.git'));
    });
    await spoil('v5', (tree) => writeFileSync(join(tree.adminDir, 'commondir'), '/tmp/evil\n'));
    await spoil('v6', (tree) => writeFileSync(join(tree.adminDir, 'gitdir'), '/tmp/evil/.git\n'));
    await spoil('v7', (tree) => temp.git(['checkout', '-q', '-b', 'other'], tree.path));
    await spoil('v8', (tree) => temp.git(['checkout', '-q', '--detach'], tree.path));
    await spoil('v9', (tree) => rmSync(tree.path, { recursive: true }));
    await spoil('v10', (tree) => rmSync(tree.adminDir, { recursive: true }));
    expect(
      reasons.map((reason) => reason.replace(/[0-9a-f]{40}/, '<commit>')),
    ).toMatchInlineSnapshot(`
      [
        "pointer: .git is gone",
        "pointer: .git points to /elsewhere",
        "pointer: .git is a directory, not a file",
        "pointer: .git is a link, not a file",
        "admin: its admin folder names the repository /tmp/evil",
        "admin: its admin folder points back to /tmp/evil/.git",
        "branch: HEAD is other, not troupe/r1/task/v7",
        "branch: HEAD is <commit>, not troupe/r1/task/v8",
        "missing: the folder is gone",
        "admin: its admin folder is gone (\`git worktree prune\`?)",
      ]
    `);
  });

  test('W5: commit refuses a tainted tree and says a wrong branch', async () => {
    const repo = await start();
    const tree = await add(repo);
    const request = { tree, message: 'm', exclude: [], actor: null };
    temp.git(['checkout', '-q', '-b', 'other'], tree.path);
    expect(await commitTree(repo, request)).toMatchObject({ kind: 'wrong-branch' });
    writeFileSync(join(tree.path, '.git'), `gitdir: ${join(temp.root, '.git')}\n`);
    await expect(commitTree(repo, request)).rejects.toMatchObject({ code: 'worktree/tainted' });
  });
});

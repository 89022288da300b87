import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  addTaskTree,
  commitTree,
  createIntegrationBranch,
  discardChanges,
  listSaved,
  type RemoveRequest,
  type Repository,
  removeTree,
  resolveBase,
  saveTree,
  type TaskTree,
} from '../../src/worktree/index.ts';
import { fingerprint, makeRepo, type TempRepo, type TempRepoOptions } from '../support/repo.ts';

let temp: TempRepo;
let repo: Repository;
let tree: TaskTree;
afterEach(() => {
  temp.dispose();
});

async function start(options: TempRepoOptions & { copies?: string[] } = {}): Promise<void> {
  temp = makeRepo(options);
  repo = await temp.open();
  for (const path of options.copies ?? []) temp.write(path, 'SECRET\n');
  await createIntegrationBranch(repo, { run: 'r1', base: await resolveBase(repo, 'HEAD') });
  const path = join(temp.trees, 't1');
  const copies = options.copies ?? [];
  tree = await addTaskTree(repo, { run: 'r1', task: 't1', path, setupLinks: [], copies });
}

const commit = (message = 'Do it'): ReturnType<typeof commitTree> =>
  commitTree(repo, { tree, message, exclude: tree.exclude, actor: 'ada' });
const show = (format: string): string =>
  temp.git(['log', '-1', `--format=${format}`, tree.branch]).trim();

const ODD = [
  'with space',
  'new\nline',
  'ünï ☃',
  '-dash',
  '"quoted"',
  "it's",
  ':(top)magic',
  '*glob?',
  'a/b c/-d',
];

describe('commitTree', () => {
  test('W6: what a kill left of a write of a file tool is in no commit', async () => {
    await start({ files: { 'src/a.txt': 'x\n' } });
    temp.write('src/.troupe-71e0b3cf6ca9063f.tmp', '', tree.path);
    expect(await commit()).toMatchObject({ kind: 'unchanged' });
    temp.write('src/a.txt', 'y\n', tree.path);
    expect(await commit()).toMatchObject({ kind: 'committed' });
    expect(temp.git(['ls-tree', '-r', '--name-only', tree.branch]).trim()).toBe('src/a.txt');
  });

  test('commits tracked and untracked changes as the user, with a trailer for the actor', async () => {
    await start({ files: { 'a.txt': 'x\n', 'gone.txt': 'x\n', '.gitignore': '*.log\n' } });
    temp.write('a.txt', 'changed\n', tree.path);
    temp.write('new/b.txt', 'new\n', tree.path);
    temp.write('x.log', 'ignored\n', tree.path);
    rmSync(join(tree.path, 'gone.txt'));
    expect((await commit('Do it\n\nBecause.')).kind).toBe('committed');
    expect(temp.git(['diff', '--name-status', 'main', tree.branch])).toBe(
      'M\ta.txt\nD\tgone.txt\nA\tnew/b.txt\n',
    );
    expect(show('%an <%ae>|%cn|%B')).toBe(
      'Uma User <uma@example.org>|Uma User|Do it\n\nBecause.\n\nCo-authored-by: ada (Troupe) <ada@troupe.local>',
    );
    expect(temp.git(['status', '--porcelain'], tree.path)).toBe('');
    expect(await commit()).toMatchObject({ kind: 'unchanged', changed: true });
  });

  test('takes any file name', async () => {
    await start();
    for (const name of ODD) temp.write(name, `${name}\n`, tree.path);
    await commit();
    const names = temp.git(['ls-tree', '-r', '-z', '--name-only', tree.branch]).split('\0');
    expect(names.filter((name) => name !== '' && name !== 'a.txt').toSorted()).toEqual(
      ODD.toSorted(),
    );
    for (const name of ODD) rmSync(join(tree.path, name));
    await commit();
    expect(temp.git(['diff', '--name-only', 'main', tree.branch])).toBe('');
  });

  test('takes files for folders, folders for files, and links for both', async () => {
    await start({ files: { 'd/x': '1\n', f: '1\n', 'l/y': '1\n' } });
    rmSync(join(tree.path, 'd'), { recursive: true });
    rmSync(join(tree.path, 'f'));
    rmSync(join(tree.path, 'l'), { recursive: true });
    temp.write('d', 'now a file\n', tree.path);
    temp.write('f/z', 'now a folder\n', tree.path);
    symlinkSync('f', join(tree.path, 'l'));
    await commit();
    expect(temp.git(['ls-tree', '-r', '--name-only', tree.branch])).toBe('d\nf/z\nl\n');
    expect(temp.git(['status', '--porcelain'], tree.path)).toBe('');
  });

  test("an actor's own commits count", async () => {
    await start();
    const own = temp.commit('by myself', { 'b.txt': 'x\n' }, tree.path);
    expect(await commit()).toEqual({ kind: 'unchanged', head: own, changed: true });
  });

  test('names left-over conflict markers and commits nothing', async () => {
    await start();
    const text = 'a\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other\nb\n';
    temp.write('m.txt', text, tree.path);
    temp.write('heading.md', 'Title\n=======\n', tree.path);
    expect(await commit()).toEqual({
      kind: 'conflict-markers',
      files: [{ path: 'm.txt', line: 2 }],
    });
    expect(show('%H')).toBe(tree.head);
  });

  test('names a folder that is a repository of its own', async () => {
    await start();
    mkdirSync(join(tree.path, 'inner'));
    temp.git(['init', '-q'], join(tree.path, 'inner'));
    temp.write('inner/x', 'x\n', tree.path);
    expect(await commit()).toEqual({ kind: 'nested-repository', paths: ['inner'] });
  });

  test('line ends as the user configured them give no changes of their own', async () => {
    temp = makeRepo({
      files: { 'crlf.txt': 'a\r\nb\r\n', '.gitattributes': '*.bat eol=crlf\n', 'x.bat': 'a\n' },
    });
    writeFileSync(join(temp.home, '.gitconfig'), '[core]\n\tautocrlf = true\n');
    repo = await temp.open();
    await createIntegrationBranch(repo, { run: 'r1', base: await resolveBase(repo, 'HEAD') });
    const path = join(temp.trees, 't1');
    tree = await addTaskTree(repo, { run: 'r1', task: 't1', path, setupLinks: [], copies: [] });
    expect(await commit()).toMatchObject({ kind: 'unchanged', changed: false });
    expect(temp.read('x.bat', tree.path)).toBe('a\r\n');
    expect(temp.git(['status', '--porcelain'], tree.path)).toBe('');
  });
});

describe('discardChanges', () => {
  test('drops what gates changed, keeps what is ignored or carried in', async () => {
    await start({
      files: { 'a.txt': 'x\n', 'b.txt': 'x\n', '.gitignore': '*.log\n' },
      copies: ['.env'],
    });
    temp.write('a.txt', 'work\n', tree.path);
    const done = await commit();
    const at = done.kind === 'committed' ? done.commit : '';
    temp.write('a.txt', 'spoilt\n', tree.path);
    rmSync(join(tree.path, 'b.txt'));
    temp.write('junk/deep/x', 'x\n', tree.path);
    temp.write('x.log', 'x\n', tree.path);
    temp.write('staged', 'x\n', tree.path);
    temp.git(['add', 'staged'], tree.path);
    temp.git(['commit', '-q', '-m', 'by a gate'], tree.path);
    temp.git(['checkout', '-q', '-b', 'astray'], tree.path);
    await discardChanges(repo, { tree, commit: at, exclude: tree.exclude });
    expect(temp.git(['status', '--porcelain', '--ignored'], tree.path)).toBe('?? .env\n!! x.log\n');
    expect(show('%H')).toBe(at);
    expect(temp.read('a.txt', tree.path)).toBe('work\n');
    expect(temp.read('.env', tree.path)).toBe('SECRET\n');
    expect(existsSync(join(tree.path, 'junk'))).toBe(false);
  });

  test('works when the commit holds no file', async () => {
    await start({ files: {} });
    temp.write('x', 'x\n', tree.path);
    await discardChanges(repo, { tree, commit: tree.head, exclude: [] });
    expect(existsSync(join(tree.path, 'x'))).toBe(false);
  });
});

describe('saveTree', () => {
  const save = (): ReturnType<typeof saveTree> =>
    saveTree(repo, { run: 'r1', task: 't1', tree, exclude: tree.exclude, reason: 'a test' });

  test('W8: keeps files and index under a ref of its own and touches nothing', async () => {
    await start({ files: { 'a.txt': '1\n', '.gitignore': '*.log\n' }, copies: ['.env'] });
    expect(await save()).toBeNull();
    temp.write('a.txt', '2\n', tree.path);
    temp.git(['add', '-f', 'a.txt', '.env'], tree.path);
    temp.write('a.txt', '3\n', tree.path);
    temp.write('new.txt', 'n\n', tree.path);
    temp.write('x.log', 'ignored\n', tree.path);
    const before = [...fingerprint(tree.path), ...fingerprint(tree.adminDir)];
    const saved = await save();
    expect([...fingerprint(tree.path), ...fingerprint(tree.adminDir)]).toEqual(before);
    expect(saved?.ref).toBe('refs/troupe/saved/r1/t1/1');
    const ref = saved?.ref ?? '';
    expect(temp.git(['ls-tree', '-r', '--name-only', ref])).toBe('.gitignore\na.txt\nnew.txt\n');
    expect(temp.git(['show', `${ref}:a.txt`])).toBe('3\n');
    expect(temp.git(['show', `${ref}^2:a.txt`])).toBe('2\n');
    expect(temp.git(['ls-tree', '-r', '--name-only', `${ref}^2`])).not.toContain('.env');
    expect(temp.git(['rev-parse', `${ref}^1`]).trim()).toBe(tree.head);
    expect((await save())?.ref).toBe('refs/troupe/saved/r1/t1/2');
    expect((await listSaved(repo)).map((entry) => [entry.ref, entry.task, entry.subject])).toEqual([
      ['refs/troupe/saved/r1/t1/1', 't1', 'Saved work of t1: a test'],
      ['refs/troupe/saved/r1/t1/2', 't1', 'Saved work of t1: a test'],
    ]);
  });

  test('works without the pointer file, on another branch, and in the middle of a conflict', async () => {
    await start();
    temp.git(['checkout', '-q', '-b', 'side'], tree.path);
    temp.commit('side', { 'a.txt': 'side\n' }, tree.path);
    temp.git(['checkout', '-q', tree.branch], tree.path);
    temp.commit('mine', { 'a.txt': 'mine\n' }, tree.path);
    expect(() => temp.git(['merge', 'side'], tree.path)).toThrow();
    rmSync(join(tree.path, '.git'));
    const saved = await save();
    expect(temp.git(['show', `${saved?.ref ?? ''}:a.txt`])).toContain('<<<<<<<');
    expect(temp.git(['rev-parse', `${saved?.ref ?? ''}^2`])).toBe(temp.git(['rev-parse', 'side']));
  });

  test('keeps commits that no branch has', async () => {
    await start();
    temp.git(['checkout', '-q', '--detach'], tree.path);
    const lost = temp.commit('nowhere', { 'b.txt': 'x\n' }, tree.path);
    const saved = await save();
    expect(temp.git(['rev-parse', `${saved?.ref ?? ''}^1`]).trim()).toBe(lost);
  });
});

describe('removeTree', () => {
  const remove = (more: Partial<RemoveRequest> = {}): ReturnType<typeof removeTree> =>
    removeTree(repo, { tree, exclude: tree.exclude, ...more });
  const save = async (): Promise<string> =>
    (await saveTree(repo, { run: 'r1', task: 't1', tree, exclude: tree.exclude, reason: 'x' }))
      ?.commit ?? '';

  test('a clean tree goes, with its admin folder; its branch stays', async () => {
    await start({ copies: ['.env'] });
    temp.git(['worktree', 'add', '-q', '-b', 'users-own', join(temp.base, 'users')]);
    rmSync(join(temp.base, 'users'), { recursive: true });
    expect(await remove()).toEqual({ kind: 'removed' });
    expect(existsSync(tree.path)).toBe(false);
    expect(existsSync(tree.adminDir)).toBe(false);
    expect(show('%H')).toBe(tree.head);
    expect(temp.git(['worktree', 'list'])).toContain('users-own');
    expect(await remove()).toEqual({ kind: 'absent' });
  });

  test.each<[string, (path: string) => void]>([
    ['changed', (path) => temp.write('a.txt', 'x\n', path)],
    ['untracked', (path) => temp.write('new', 'x\n', path)],
    ['deleted', (path) => rmSync(join(path, 'a.txt'))],
    [
      'staged only',
      (path) => {
        temp.write('a.txt', 'staged\n', path);
        temp.git(['add', 'a.txt'], path);
        temp.write('a.txt', 'one\ntwo\nthree\n', path);
      },
    ],
    [
      'committed nowhere',
      (path) => {
        temp.git(['checkout', '-q', '--detach'], path);
        temp.commit('n', { new: 'x\n' }, path);
      },
    ],
  ])('W8: a tree with work (%s) stays until exactly that is saved', async (_, change) => {
    await start();
    change(tree.path);
    expect(await remove()).toMatchObject({ kind: 'refused', reason: 'unsaved' });
    const saved = await save();
    temp.write('later', 'x\n', tree.path);
    expect(await remove({ saved })).toMatchObject({ kind: 'refused', reason: 'unsaved' });
    rmSync(join(tree.path, 'later'));
    expect(await remove({ saved })).toEqual({ kind: 'removed' });
    expect(existsSync(tree.path)).toBe(false);
  });

  test('a tree with a repository inside stays unless a person says so', async () => {
    await start();
    temp.git(['init', '-q', 'inner'], tree.path);
    expect(await remove()).toMatchObject({
      kind: 'refused',
      reason: 'nested-repository',
      files: ['inner'],
    });
    expect(await remove({ discard: true })).toEqual({ kind: 'removed' });
  });

  test('W9: only what is registered goes', async () => {
    await start();
    const elsewhere = join(temp.base, 'precious');
    temp.write('x', 'x\n', elsewhere);
    const asked = [
      { ...tree, path: elsewhere },
      { ...tree, path: temp.root, adminDir: join(temp.root, '.git') },
      { ...tree, path: temp.base },
    ];
    for (const wrong of asked) {
      expect(await remove({ tree: wrong, discard: true })).toMatchObject({
        reason: 'not-registered',
      });
    }
    expect(existsSync(join(elsewhere, 'x'))).toBe(true);
    expect(existsSync(join(temp.root, 'a.txt'))).toBe(true);
  });

  test('a folder that is busy is named after bounded tries, and can be removed later', async () => {
    await start();
    const { files } = temp.deps;
    let busy = true;
    const stubborn = {
      ...temp.deps,
      files: new Proxy(files, {
        get: (target, key) => {
          if (key !== 'remove' || !busy) return Reflect.get(target, key).bind(target);
          return (path: string) =>
            path === tree.path
              ? Promise.reject(Object.assign(new Error('EBUSY: held'), { code: 'EBUSY' }))
              : target.remove(path);
        },
      }),
    };
    const held: Repository = { ...repo, deps: stubborn };
    expect(await removeTree(held, { tree, exclude: [] })).toEqual({
      kind: 'busy',
      path: tree.path,
      detail: 'EBUSY: held',
    });
    busy = false;
    expect(await removeTree(held, { tree, exclude: [] })).toEqual({ kind: 'removed' });
  });
});

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  mergeIntoUser,
  type Repository,
  type UserMergeOutcome,
  type UserMergeRequest,
} from '../../src/worktree/index.ts';
import { fingerprint, makeRepo, type TempRepo } from '../support/repo.ts';

let temp: TempRepo;
let repo: Repository;
afterEach(() => {
  temp.dispose();
});

const FROM = 'refs/heads/troupe/r1/main';

/** A repository whose integration branch has one commit more, with `files`. */
async function start(files: Readonly<Record<string, string>>): Promise<void> {
  temp = makeRepo({ files: { 'a.txt': '1\n2\n3\n', 'b.txt': 'b\n', '.gitignore': '*.log\n' } });
  temp.git(['checkout', '-q', '-b', 'troupe/r1/main']);
  for (const [path, content] of Object.entries(files)) temp.write(path, content);
  temp.git(['add', '-A', '-f']);
  temp.git(['commit', '-q', '-m', 'work']);
  temp.git(['checkout', '-q', 'main']);
  repo = await temp.open();
}

const merge = (more: Partial<UserMergeRequest> = {}): Promise<UserMergeOutcome> =>
  mergeIntoUser(repo, { from: FROM, style: 'merge', message: 'Merge r1', dryRun: false, ...more });

const everything = (): string[] =>
  fingerprint(temp.root, (path) => path.startsWith('.git/objects'));

describe('mergeIntoUser', () => {
  test('goes forward when it can', async () => {
    await start({ 'a.txt': '1\n2\n3\n4\n', 'new.txt': 'n\n' });
    const outcome = await merge();
    expect(outcome).toMatchObject({
      kind: 'merged',
      fastForward: true,
      files: ['a.txt', 'new.txt'],
    });
    expect(temp.git(['rev-parse', 'main'])).toBe(temp.git(['rev-parse', FROM]));
    expect(temp.git(['status', '--porcelain'])).toBe('');
    expect(temp.read('new.txt')).toBe('n\n');
    expect(await merge()).toEqual({ kind: 'up-to-date', branch: 'main' });
  });

  test('merges with what the user committed, and leaves other edits as they are', async () => {
    await start({ 'a.txt': '1\n2\n3\n4\n' });
    const mine = temp.commit('mine', { 'mine.txt': 'm\n' });
    temp.write('b.txt', 'edited\n');
    temp.write('mine.txt', 'staged\n');
    temp.git(['add', 'mine.txt']);
    temp.write('loose.txt', 'l\n');
    const outcome = await merge();
    expect(outcome).toMatchObject({ kind: 'merged', fastForward: false, files: ['a.txt'] });
    expect(temp.git(['log', '-1', '--format=%s|%an|%P'])).toBe(
      `Merge r1|Uma User|${mine} ${temp.git(['rev-parse', FROM])}`,
    );
    expect(temp.git(['status', '--porcelain'])).toBe(' M b.txt\nM  mine.txt\n?? loose.txt\n');
    expect(temp.read('a.txt')).toBe('1\n2\n3\n4\n');
  });

  test('squash makes one commit, once', async () => {
    await start({ 'a.txt': '1\n2\n3\n4\n' });
    temp.commit('mine', { 'mine.txt': 'm\n' });
    expect(await merge({ style: 'squash' })).toMatchObject({ kind: 'merged', fastForward: false });
    expect(temp.git(['log', '-1', '--format=%s|%p'])).toMatch(/^Merge r1\|\w+\n$/);
    expect(temp.git(['status', '--porcelain'])).toBe('');
    expect(await merge({ style: 'squash' })).toEqual({ kind: 'up-to-date', branch: 'main' });
  });

  test('a dry run and a conflict write nothing', async () => {
    await start({ 'a.txt': '1\ntheirs\n3\n' });
    temp.commit('mine', { 'c.txt': 'c\n' });
    let before = everything();
    expect(await merge({ dryRun: true })).toMatchObject({ kind: 'would-merge', files: ['a.txt'] });
    expect(everything()).toEqual(before);
    temp.commit('clash', { 'a.txt': '1\nmine\n3\n' });
    before = everything();
    expect(await merge()).toMatchObject({
      kind: 'conflict',
      files: [{ path: 'a.txt', hunks: [{ ours: ['mine'], base: ['2'], theirs: ['theirs'] }] }],
    });
    expect(everything()).toEqual(before);
  });

  test.each<[string, Record<string, string>, () => void, string[]]>([
    ['a changed file', { 'a.txt': 'x\n' }, () => temp.write('a.txt', 'mine\n'), ['a.txt']],
    [
      'a staged file',
      { 'a.txt': 'x\n' },
      () => {
        temp.write('a.txt', 'mine\n');
        temp.git(['add', 'a.txt']);
      },
      ['a.txt'],
    ],
    ['a deleted file', { 'a.txt': 'x\n' }, () => temp.git(['rm', '-q', 'a.txt']), ['a.txt']],
    ['an untracked file', { 'ü new': 'x\n' }, () => temp.write('ü new', 'mine\n'), ['ü new']],
    ['an ignored file', { 'x.log': 'x\n' }, () => temp.write('x.log', 'mine\n'), ['x.log']],
    ['a file where a folder comes', { 'd/x': 'x\n' }, () => temp.write('d', 'mine\n'), ['d']],
    ['a folder where a file comes', { d: 'x\n' }, () => temp.write('d/x', 'mine\n'), ['d', 'd/x']],
  ])('W13: refuses on %s and changes nothing', async (_, files, spoil, named) => {
    await start(files);
    spoil();
    temp.write('b.txt', 'unrelated edit\n');
    const before = everything();
    const refused = await merge();
    expect(refused).toMatchObject({ kind: 'refused', reason: 'dirty', files: named });
    expect(await merge({ dryRun: true })).toEqual(refused);
    expect(everything()).toEqual(before);
  });

  test('refuses while something is in progress or locked', async () => {
    await start({ 'a.txt': 'x\n' });
    writeFileSync(join(temp.root, '.git/index.lock'), '');
    expect(await merge()).toMatchObject({ kind: 'refused', reason: 'locked' });
    rmSync(join(temp.root, '.git/index.lock'));
    writeFileSync(join(temp.root, '.git/CHERRY_PICK_HEAD'), temp.git(['rev-parse', 'HEAD']));
    expect(await merge()).toMatchObject({ kind: 'refused', reason: 'in-progress' });
  });

  test('a detached HEAD needs a branch; a branch that is nowhere checked out moves alone', async () => {
    await start({ 'a.txt': 'x\n' });
    temp.git(['branch', 'side']);
    temp.git(['checkout', '-q', '--detach']);
    temp.write('a.txt', 'edited\n');
    expect(await merge()).toMatchObject({ kind: 'refused', reason: 'detached' });
    expect(await merge({ into: 'nope' })).toMatchObject({ kind: 'refused', reason: 'no-branch' });
    expect(await merge({ into: 'side' })).toMatchObject({ kind: 'merged', branch: 'side' });
    expect(temp.git(['rev-parse', 'side'])).toBe(temp.git(['rev-parse', FROM]));
    expect(temp.git(['status', '--porcelain'])).toBe(' M a.txt\n');
  });

  test('W14: a branch that is checked out in another tree is refused', async () => {
    await start({ 'a.txt': 'x\n' });
    temp.git(['worktree', 'add', '-q', '-b', 'side', join(temp.base, 'side')]);
    expect(await merge({ into: 'side' })).toMatchObject({
      kind: 'refused',
      reason: 'checked-out-elsewhere',
    });
    repo = await temp.open(join(temp.base, 'side'));
    expect(await merge()).toMatchObject({ kind: 'merged', branch: 'side' });
    expect(temp.read('a.txt', join(temp.base, 'side'))).toBe('x\n');
  });

  test('hooks of the user do not run, filters of the user do', async () => {
    await start({ 'f.up': 'text\n', '.gitattributes': '*.up filter=up\n' });
    temp.script(join(temp.root, '.git/hooks/post-merge'), `#!/bin/sh\ntouch '${temp.base}/ran'\n`);
    writeFileSync(
      join(temp.home, '.gitconfig'),
      '[filter "up"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n',
    );
    expect(await merge()).toMatchObject({ kind: 'merged' });
    expect(temp.read('f.up')).toBe('TEXT\n');
    expect(() => temp.read('ran', temp.base)).toThrow();
    expect(temp.git(['status', '--porcelain'])).toBe('');
  });
});

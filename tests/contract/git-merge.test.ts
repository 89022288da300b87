import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  addTaskTree,
  advanceRef,
  commitTree,
  createIntegrationBranch,
  type MergeOutcome,
  type MergeStyle,
  mergeTask,
  type Repository,
  readIntegration,
  readRef,
  resolveBase,
  startConflictResolution,
  type TaskTree,
} from '../../src/worktree/index.ts';
import { makeRepo, type TempRepo } from '../support/repo.ts';

let temp: TempRepo;
let repo: Repository;
afterEach(() => {
  temp.dispose();
});

const MAIN = 'refs/heads/troupe/r1/main';
type Edit = Readonly<Record<string, string | null>>;

async function start(files: Readonly<Record<string, string>>): Promise<void> {
  temp = makeRepo({ files });
  repo = await temp.open();
  await createIntegrationBranch(repo, { run: 'r1', base: await resolveBase(repo, 'HEAD') });
}

async function add(task: string): Promise<TaskTree> {
  const path = join(temp.trees, task);
  return addTaskTree(repo, { run: 'r1', task, path, setupLinks: [], copies: [] });
}

async function commit(tree: TaskTree): Promise<string> {
  const done = await commitTree(repo, { tree, message: 'work', exclude: [], actor: null });
  if (done.kind !== 'committed') throw new Error(done.kind);
  return done.commit;
}

function edit(tree: TaskTree, files: Edit): void {
  for (const [path, content] of Object.entries(files)) {
    if (content === null) temp.git(['rm', '-q', '--', path], tree.path);
    else temp.write(path, content, tree.path);
  }
}

async function merge(taskCommit: string, style: MergeStyle = 'merge'): Promise<MergeOutcome> {
  const integration = await readIntegration(repo, 'r1');
  return mergeTask(repo, { taskCommit, integration, style, message: 'Merge it' });
}

async function land(taskCommit: string, style: MergeStyle = 'merge'): Promise<string> {
  const merged = await merge(taskCommit, style);
  if (merged.kind !== 'merged-tree') throw new Error(JSON.stringify(merged));
  const { newCommit: to, oldIntegration: from } = merged;
  expect(await advanceRef(repo, { ref: MAIN, to, from })).toBe('moved');
  return to;
}

/** Two tasks start from the same commit; the first lands, the second is merged. */
async function race(first: Edit, second: Edit): Promise<{ outcome: MergeOutcome; tree: TaskTree }> {
  const one = await add('one');
  const two = await add('two');
  edit(one, first);
  edit(two, second);
  await land(await commit(one));
  return { outcome: await merge(await commit(two)), tree: two };
}

const FILE = 'a\nb\nc\nd\ne\n';

describe('mergeTask', () => {
  test('W12: makes a commit of both sides and moves nothing', async () => {
    await start({ 'f.txt': FILE });
    const before = await readIntegration(repo, 'r1');
    const tree = await add('one');
    edit(tree, { 'g.txt': 'new\n' });
    const task = await commit(tree);
    const merged = await merge(task);
    expect(merged).toMatchObject({
      kind: 'merged-tree',
      oldIntegration: before,
      survival: 'checked',
    });
    expect(await readIntegration(repo, 'r1')).toBe(before);
    const made = merged.kind === 'merged-tree' ? merged.newCommit : '';
    expect(temp.git(['log', '-1', '--format=%P %s', made]).trim()).toBe(
      `${before} ${task} Merge it`,
    );
    await land(task);
    expect(await merge(task)).toEqual({ kind: 'nothing' });
  });

  test('squash gives one commit, rebase gives each commit again with its author', async () => {
    await start({ 'f.txt': FILE });
    const one = await add('one');
    const two = await add('two');
    const three = await add('three');
    edit(one, { 'one.txt': '1\n' });
    await land(await commit(one), 'squash');
    temp.commit('first of two', { 'two.txt': '1\n' }, two.path);
    temp.git(['config', 'user.name', 'Somebody'], two.path);
    const tip = temp.commit('second of two', { 'two.txt': '1\n2\n' }, two.path);
    await land(tip, 'rebase');
    temp.commit('x', { 'three.txt': '1\n' }, three.path);
    await land(temp.commit('y', { 'three.txt': '2\n' }, three.path), 'squash');
    expect(
      temp.git(['log', '--format=%an %s|%p', '--topo-order', MAIN]).replaceAll(/\|\w+/g, '|1'),
    ).toMatchInlineSnapshot(`
        "Uma User Merge it|1
        Somebody second of two|1
        Uma User first of two|1
        Uma User Merge it|1
        Uma User first|
        "
      `);
  });

  test('rebase of what stands on the tip already takes the very commits', async () => {
    await start({ 'f.txt': FILE });
    const tip = temp.commit('x', { x: '1\n' }, (await add('one')).path);
    expect(await land(tip, 'rebase')).toBe(tip);
  });

  test('rebase of commits that conflict one by one lands as one', async () => {
    await start({ 'f.txt': FILE });
    const one = await add('one');
    const two = await add('two');
    edit(one, { 'f.txt': 'a\nB1\nc\nd\ne\n' });
    await land(await commit(one));
    temp.commit('there', { 'f.txt': 'a\nX\nc\nd\ne\n' }, two.path);
    temp.commit('and back', { 'f.txt': FILE, z: '1\n' }, two.path);
    const tip = await land(temp.git(['rev-parse', two.branch]).trim(), 'rebase');
    expect(temp.git(['log', '-1', '--format=%s', tip])).toBe('Merge it\n');
    expect(temp.git(['show', `${tip}:f.txt`])).toBe('a\nB1\nc\nd\ne\n');
  });

  test('tells a content conflict with what both sides and their base say', async () => {
    await start({ 'f.txt': FILE });
    const { outcome } = await race(
      { 'f.txt': 'a\nb\nONE\nd\ne\n' },
      { 'f.txt': 'a\nb\nTWO\nd\ne\n' },
    );
    expect(outcome).toMatchObject({
      kind: 'conflict',
      base: repo.head.commit,
      files: [
        {
          path: 'f.txt',
          kind: 'content',
          hunks: [{ line: 3, ours: ['ONE'], base: ['c'], theirs: ['TWO'] }],
          cut: false,
        },
      ],
    });
  });

  test.each<[string, Edit, Edit, unknown]>([
    ['add/add', { n: '1\n' }, { n: '2\n' }, [{ path: 'n', kind: 'add/add' }]],
    [
      'modify/delete',
      { 'f.txt': null },
      { 'f.txt': `${FILE}x\n` },
      [{ path: 'f.txt', kind: 'modify/delete' }],
    ],
    [
      'delete/modify',
      { 'f.txt': `${FILE}x\n` },
      { 'f.txt': null },
      [{ path: 'f.txt', kind: 'modify/delete' }],
    ],
    [
      'rename/rename',
      { 'f.txt': null, 'one.txt': FILE },
      { 'f.txt': null, 'two.txt': FILE },
      [{ kind: 'rename/rename' }, { kind: 'rename/rename' }, { kind: 'rename/rename' }],
    ],
    [
      'rename/delete',
      { 'f.txt': null, 'one.txt': FILE },
      { 'f.txt': null },
      [{ kind: 'rename/delete' }],
    ],
    ['odd names', { 'ü\n"x': '1\n' }, { 'ü\n"x': '2\n' }, [{ path: 'ü\n"x', kind: 'add/add' }]],
    ['file/folder', { n: '1\n' }, { 'n/x': '1\n' }, [{ kind: 'file/directory' }]],
    ['binary', { 'b.bin': '\0a' }, { 'b.bin': '\0b' }, [{ path: 'b.bin', hunks: [] }]],
  ])('tells a conflict: %s', async (_, first, second, files) => {
    await start({ 'f.txt': FILE });
    const { outcome } = await race(first, second);
    expect(outcome).toMatchObject({ kind: 'conflict', files });
  });

  test('a rename on one side and an edit on the other merge cleanly', async () => {
    await start({ 'f.txt': FILE });
    const { outcome } = await race({ 'f.txt': null, 'g.txt': FILE }, { 'f.txt': `${FILE}mine\n` });
    expect(outcome).toMatchObject({ kind: 'merged-tree', survival: 'checked' });
    const made = outcome.kind === 'merged-tree' ? outcome.newCommit : '';
    expect(temp.git(['show', `${made}:g.txt`])).toBe(`${FILE}mine\n`);
  });

  test('a commit that does not exist is an error, not a conflict', async () => {
    await start({ 'f.txt': FILE });
    await expect(merge('0123456789'.repeat(4))).rejects.toMatchObject({ code: 'git/failed' });
  });
});

describe('advanceRef', () => {
  test('W4: moves only from the value that was seen', async () => {
    await start({ 'f.txt': FILE });
    const base = await readIntegration(repo, 'r1');
    const one = temp.git(['commit-tree', 'main^{tree}', '-p', 'main', '-m', '1']).trim();
    const two = temp.git(['commit-tree', 'main^{tree}', '-p', 'main', '-m', '2']).trim();
    expect(await advanceRef(repo, { ref: MAIN, to: one, from: base })).toBe('moved');
    expect(await advanceRef(repo, { ref: MAIN, to: two, from: base })).toBe('stale');
    expect(await advanceRef(repo, { ref: MAIN, to: two, from: null })).toBe('stale');
    expect(await readRef(repo, MAIN)).toBe(one);
  });

  test('a branch that somebody has checked out is not moved under them', async () => {
    await start({ 'f.txt': FILE });
    const tree = await add('one');
    edit(tree, { 'g.txt': 'new\n' });
    const task = await commit(tree);
    temp.git(['checkout', '-q', 'troupe/r1/main']);
    const told = { code: 'worktree/checked-out', retryable: true, data: { path: temp.root } };
    await expect(merge(task)).rejects.toMatchObject(told);
    const move = { ref: MAIN, to: task, from: tree.start };
    await expect(advanceRef(repo, move)).rejects.toMatchObject(told);
    temp.git(['checkout', '-q', 'main']);
    await land(task);
  });

  test("W3: never moves a ref of the user's", async () => {
    await start({ 'f.txt': FILE });
    for (const ref of [
      'refs/heads/main',
      'HEAD',
      'refs/tags/x',
      'refs/heads/troupe',
      'refs/heads/troupe/x',
    ]) {
      const move = { ref, to: await resolveBase(repo, 'HEAD'), from: null };
      await expect(advanceRef(repo, move)).rejects.toMatchObject({ code: 'worktree/foreign-ref' });
    }
  });
});

describe('conflict resolution', () => {
  async function conflicted(first: Edit, second: Edit): Promise<TaskTree> {
    await start({ 'f.txt': FILE, 'other.txt': 'x\n' });
    const { outcome, tree } = await race(first, second);
    expect(outcome.kind).toBe('conflict');
    return tree;
  }
  const resolve = async (tree: TaskTree): ReturnType<typeof startConflictResolution> =>
    startConflictResolution(repo, {
      tree,
      integration: await readIntegration(repo, 'r1'),
      exclude: [],
    });

  test('the owner resolves in its own tree and the runtime makes the merge commit', async () => {
    const tree = await conflicted(
      { 'f.txt': 'a\nb\nONE\nd\ne\n' },
      { 'f.txt': 'a\nb\nTWO\nd\ne\n' },
    );
    const integration = await readIntegration(repo, 'r1');
    const started = await resolve(tree);
    expect(started).toMatchObject({
      kind: 'conflicts',
      mergeHead: integration,
      files: [{ path: 'f.txt' }],
    });
    expect(await resolve(tree)).toEqual(started);
    expect(temp.read('f.txt', tree.path)).toContain('|||||||');
    const request = { tree, message: 'Resolve', exclude: [], actor: 'ada' };
    expect(await commitTree(repo, request)).toEqual({
      kind: 'conflict-markers',
      files: [{ path: 'f.txt', line: 3 }],
    });
    temp.write('f.txt', 'a\nb\nONE and TWO\nd\ne\n', tree.path);
    const done = await commitTree(repo, request);
    const at = done.kind === 'committed' ? done.commit : '';
    expect(temp.git(['log', '-1', '--format=%P', at]).trim()).toBe(
      `${temp.git(['rev-parse', `${at}^1`]).trim()} ${integration}`,
    );
    expect(temp.git(['status'], tree.path)).toContain('nothing to commit');
    await land(at);
    expect(temp.git(['show', `${MAIN}:f.txt`])).toBe('a\nb\nONE and TWO\nd\ne\n');
  });

  test('uncommitted work is named first, and a clean merge says so', async () => {
    await start({ 'f.txt': FILE });
    const { tree } = await race({ one: '1\n' }, { two: '2\n' });
    temp.write('loose', 'x\n', tree.path);
    expect(await resolve(tree)).toEqual({ kind: 'dirty', files: ['loose'] });
    await commit(tree);
    expect(await resolve(tree)).toMatchObject({ kind: 'clean' });
    expect((await commitTree(repo, { tree, message: 'm', exclude: [], actor: null })).kind).toBe(
      'committed',
    );
    expect(await resolve(tree)).toEqual({ kind: 'up-to-date' });
  });

  test("W11: a resolution that takes one's own file whole loses the others' lines and is reported", async () => {
    const tree = await conflicted(
      { 'f.txt': 'first\na\nb\nONE\nd\ne\n', 'other.txt': 'x\nby one\n' },
      { 'f.txt': 'a\nb\nTWO\nd\ne\n' },
    );
    await resolve(tree);
    temp.git(['checkout', '--ours', 'f.txt'], tree.path);
    const done = await commit(tree);
    expect(await merge(done)).toEqual({
      kind: 'lost-lines',
      files: [{ path: 'f.txt', side: 'ours', lines: ['first'] }],
    });
    temp.write('f.txt', 'first\na\nb\nTWO\nd\ne\n', tree.path);
    await land(await commit(tree));
  });

  test('W11: what others took away themselves since is not lost by an earlier careless resolution', async () => {
    const tree = await conflicted(
      { 'f.txt': 'first\na\nb\nONE\nd\ne\nadded\n' },
      { 'f.txt': 'a\nb\nTWO\nd\ne\nboth\n' },
    );
    await resolve(tree);
    temp.git(['checkout', '--ours', 'f.txt'], tree.path);
    expect(await merge(await commit(tree))).toMatchObject({ kind: 'lost-lines' });
    const three = await add('three');
    edit(three, { 'f.txt': 'a\nb\nONE\nd\ne\n' });
    await land(await commit(three));
    await resolve(tree);
    temp.write('f.txt', 'a\nb\nTWO\nd\ne\nboth\n', tree.path);
    await land(await commit(tree));
  });

  test('W11: where both only added, something of each must stay', async () => {
    const tree = await conflicted({ 'f.txt': `${FILE}by one\n` }, { 'f.txt': `${FILE}by two\n` });
    await resolve(tree);
    temp.write('f.txt', `${FILE}by two\n`, tree.path);
    const dropped = await commit(tree);
    expect(await merge(dropped)).toEqual({
      kind: 'lost-lines',
      files: [{ path: 'f.txt', side: 'ours', lines: ['by one'] }],
    });
    temp.write('f.txt', `${FILE}by one\nby two\n`, tree.path);
    await land(await commit(tree));
  });

  test("W11: others' lines may be changed on purpose, in a commit after a faithful merge", async () => {
    const tree = await conflicted({ 'f.txt': `${FILE}by one\n` }, { 'f.txt': `${FILE}by two\n` });
    await resolve(tree);
    temp.write('f.txt', `${FILE}by one\nby two\n`, tree.path);
    await commit(tree);
    temp.write('f.txt', `${FILE}by both\n`, tree.path);
    await land(await commit(tree));
  });
});

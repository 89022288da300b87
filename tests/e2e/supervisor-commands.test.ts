/** A run of command tasks alone: real git, real processes, real journal; no actors. */
import { afterEach, describe, expect, it } from 'vitest';
import { NOT_ALIVE, taskRows } from '../../src/supervisor/index.ts';
import { inlineSupervisor } from '../support/inline-supervisor.ts';
import { makeRepo, type TempRepo } from '../support/repo.ts';
import { runFile, task, team } from '../support/team.ts';

const repos: TempRepo[] = [];
afterEach(() => {
  for (const repo of repos.splice(0)) repo.dispose();
});

async function runTeam(
  parts: Parameters<typeof team>[0],
  files: Record<string, string> = { 'a.txt': 'one\n' },
) {
  const repo = makeRepo({ files });
  repos.push(repo);
  const inline = await inlineSupervisor(repo);
  const file = runFile({
    id: 'r1',
    team: team(parts),
    baseCommit: repo.git(['rev-parse', 'HEAD']).trim(),
    workspace: repo.root,
    treesRoot: `${repo.trees}/r1`,
  });
  inline.prepare(file);
  await inline.supervisor.startRun(file);
  const row = await inline.supervisor.finished('r1');
  const state = inline.supervisor.state('r1');
  const tasks = state === null ? [] : taskRows(state, NOT_ALIVE);
  await inline.supervisor.close();
  return { repo, row, tasks, ...inline };
}

describe('a graph of commands', () => {
  it('W1: merges each task into the integration branch, in order of needs, and leaves the user alone', async () => {
    const { repo, row, tasks } = await runTeam({
      tasks: [
        task({ id: 'one', run: 'echo two >> a.txt' }),
        task({ id: 'two', run: 'grep -q two a.txt && echo three > b.txt', needs: ['one'] }),
        task({ id: 'check', run: 'test -f b.txt', needs: ['two'] }),
      ],
    });
    expect(row).toMatchObject({ state: 'done', reason: null, branch: 'troupe/r1/main' });
    expect(tasks.map((one) => [one.id, one.state])).toEqual([
      ['one', 'done'],
      ['two', 'done'],
      ['check', 'done'],
    ]);
    expect(tasks[2]?.commit).toBeNull();
    expect(repo.git(['show', 'troupe/r1/main:a.txt'])).toBe('one\ntwo\n');
    expect(repo.git(['show', 'troupe/r1/main:b.txt'])).toBe('three\n');
    expect(repo.git(['status', '--porcelain'])).toBe('');
    expect(repo.git(['worktree', 'list']).trim().split('\n')).toHaveLength(1);
  });

  it('T4: a gate that fails every time fails the task, and cancels what needs it', async () => {
    const { row, tasks } = await runTeam({
      tasks: [
        task({ id: 'bad', run: 'echo x > x.txt', verify: ['exit 3'] }),
        task({ id: 'after', run: 'true', needs: ['bad'] }),
      ],
    });
    expect(row.state).toBe('failed');
    expect(tasks.map((one) => [one.id, one.state])).toEqual([
      ['bad', 'failed'],
      ['after', 'cancelled'],
    ]);
    expect(tasks[0]?.reason?.text).toContain('exit status 3');
  });

  it('W6: what setup makes is there for the work and in no commit, unless somebody changes it', async () => {
    const { repo, row } = await runTeam(
      {
        worktree: {
          setup: [
            'mkdir -p deps && echo made > deps/lib.txt && echo set >> a.txt && echo set >> b.txt',
          ],
          copy: [],
          link: [],
          root: null,
        },
        tasks: [
          task({ id: 'idle', run: 'grep -q made deps/lib.txt && grep -q set a.txt' }),
          task({
            id: 'edit',
            run: 'echo work >> b.txt && echo new > c.txt',
            verify: ['grep -q set a.txt'],
          }),
        ],
      },
      { 'a.txt': 'one\n', 'b.txt': 'two\n' },
    );
    expect(row.state).toBe('done');
    expect(repo.git(['ls-tree', '-r', '--name-only', 'troupe/r1/main']).trim().split('\n')).toEqual(
      ['a.txt', 'b.txt', 'c.txt'],
    );
    expect(repo.git(['show', 'troupe/r1/main:a.txt'])).toBe('one\n');
    expect(repo.git(['show', 'troupe/r1/main:b.txt'])).toBe('two\nset\nwork\n');
  });

  it('S4: a stop lets a running command end, and the next term goes on behind it', async () => {
    const repo = makeRepo({ files: { 'a.txt': 'one\n' } });
    repos.push(repo);
    const inline = await inlineSupervisor(repo);
    const file = runFile({
      id: 'r1',
      team: team({
        tasks: [
          task({
            id: 'slow',
            run: 'echo begun >> ../begun; while [ ! -e ../go ]; do sleep 0.05; done; echo whole > p.txt',
          }),
        ],
      }),
      baseCommit: repo.git(['rev-parse', 'HEAD']).trim(),
      workspace: repo.root,
      treesRoot: `${repo.trees}/r1`,
    });
    inline.prepare(file);
    const started = new Promise<void>((resolve) => {
      inline.supervisor.onRecord((_run, record) => {
        if (record.procs?.some((one) => one.type === 'proc.started') === true) resolve();
      });
    });
    await inline.supervisor.startRun(file);
    await started;
    const stopped = inline.supervisor.stop({ run: 'r1', now: false, by: 'the test' });
    repo.write('r1/go', '', repo.trees);
    expect((await stopped).state).toBe('interrupted');
    const ends = inline.records.flatMap((record) => record.procs ?? []);
    expect(ends).toMatchObject([
      { type: 'proc.started' },
      { type: 'proc.ended', why: 'exit', code: 0 },
    ]);
    await inline.supervisor.close();
    const next = await inlineSupervisor(repo);
    await next.supervisor.resumeRun('r1');
    expect((await next.supervisor.finished('r1')).state).toBe('done');
    await next.supervisor.close();
    expect(repo.git(['show', 'troupe/r1/main:p.txt'])).toBe('whole\n');
    expect(repo.read('r1/begun', repo.trees).trim()).toBe('begun');
  });

  it('S4: the end of a run ends no command of a run with the same name in another repository', async () => {
    const open = async () => {
      const repo = makeRepo({ files: { 'a.txt': 'one\n' } });
      repos.push(repo);
      const inline = await inlineSupervisor(repo);
      const begin = async (command: string) => {
        const file = runFile({
          id: 'same',
          team: team({ tasks: [task({ id: 'only', run: command, attempts: 1 })] }),
          baseCommit: repo.git(['rev-parse', 'HEAD']).trim(),
          workspace: repo.root,
          treesRoot: `${repo.trees}/same`,
        });
        inline.prepare(file);
        const started = new Promise<void>((resolve) => {
          inline.supervisor.onRecord((_run, record) => {
            if (record.procs?.some((one) => one.type === 'proc.started') === true) resolve();
          });
        });
        await inline.supervisor.startRun(file);
        await started;
      };
      return { repo, inline, begin };
    };
    const [slow, quick] = [await open(), await open()];
    await slow.begin(
      'touch ../begun; while [ ! -e ../go ]; do sleep 0.05; done; echo done > b.txt',
    );
    await quick.begin('true');
    expect((await quick.inline.supervisor.finished('same')).state).toBe('done');
    await quick.inline.supervisor.close();
    slow.repo.write('same/go', '', slow.repo.trees);
    expect((await slow.inline.supervisor.finished('same')).state).toBe('done');
    await slow.inline.supervisor.close();
    expect(slow.repo.git(['show', 'troupe/same/main:b.txt'])).toBe('done\n');
  });
});

import { expect, test } from 'vitest';
import {
  actorsOf,
  createRun,
  listRuns,
  readRunFile,
  tasksOf,
  viewRun,
} from '../../../src/control/index.ts';
import { livenessOf } from '../../../src/control/queries.ts';
import { asActorName, asTaskId } from '../../../src/kernel/ids.ts';
import type { RunRecord } from '../../../src/protocol/record.ts';
import { NO_USAGE } from '../../../src/protocol/usage.ts';
import { task } from '../../support/team.ts';
import { makeControlWorld, makeRun, makeRunFile } from './control-world.ts';

const AT = '2026-01-01T00:00:00.000Z';
const DAY = '2026-01-02T00:00:00.000Z';

const started = (run: string, at = AT): RunRecord => ({
  k: 'run',
  at,
  run: [{ type: 'run.started', run, baseCommit: 'b'.repeat(40), term: 1 }],
  tasks: [
    { type: 'task.added', task: task({ id: 'one', run: 'true' }), by: asActorName('user') },
    {
      type: 'task.added',
      task: task({ id: 'two', run: 'true', needs: ['one'] }),
      by: asActorName('user'),
    },
  ],
});

const ended = (state: 'done' | 'failed'): RunRecord => ({
  k: 'run',
  at: DAY,
  run: [{ type: 'run.ended', state, reason: null, commit: 'c'.repeat(40) }],
});

test('runs are listed newest first, each with the state that its journal and liveness give', async () => {
  const world = makeControlWorld();
  await makeRun(world, makeRunFile('old', AT, []), [started('old'), ended('done')]);
  await makeRun(world, makeRunFile('new', DAY, []), [started('new')]);
  const states = async (): Promise<string[]> =>
    (await listRuns(world.workspace)).rows.map((row) => `${row.id} ${row.state}`);

  expect(await states()).toEqual(['new interrupted', 'old done']);
  world.live.holder = { pid: 7, startedAt: AT };
  expect(await states()).toEqual(['new running', 'old done']);
  world.live.status = {
    pid: 7,
    startedAt: AT,
    socket: 's',
    protocol: 1,
    sandbox: 'none',
    runs: [],
    actors: [],
    mode: 'run',
    parent: null,
    log: null,
    left: [],
  };
  expect(await states()).toEqual(['new interrupted', 'old done']);
});

test('a damaged run.json hides no other run and is told', async () => {
  const world = makeControlWorld();
  await makeRun(world, makeRunFile('good', AT, []), [started('good')]);
  await makeRun(world, makeRunFile('bad', DAY, []), []);
  const path = '/repo/.git/troupe/runs/bad/run.json';
  await world.files.remove(path);
  const handle = await world.files.open(path, 'create');
  handle.write(new TextEncoder().encode('{"version":1,"id":"b'));
  await handle.close();
  const { rows, damaged } = await listRuns(world.workspace);
  expect(rows.map((row) => row.id)).toEqual(['good']);
  expect(damaged.map((error) => error.code)).toEqual(['control/damaged-run']);
  await expect(readRunFile(world.workspace, 'bad')).rejects.toMatchObject({
    code: 'control/damaged-run',
    exit: 2,
  });
});

test('a run of a newer Troupe is named as that', async () => {
  const world = makeControlWorld();
  await createRun(world.workspace, { ...makeRunFile('next', AT, []), version: 2 as 1 });
  await expect(readRunFile(world.workspace, 'next')).rejects.toMatchObject({
    code: 'control/newer-version',
  });
});

test('an unknown run has near matches and is exit 5', async () => {
  const world = makeControlWorld();
  await makeRun(world, makeRunFile('docs-1', AT, []), []);
  await expect(viewRun(world.workspace, 'docs-2', 'tasks')).rejects.toMatchObject({
    code: 'control/unknown-run',
    exit: 5,
    hint: 'Did you mean docs-1?',
  });
  const empty = makeControlWorld();
  await expect(viewRun(empty.workspace, undefined, 'tasks')).rejects.toMatchObject({
    code: 'control/no-run',
    exit: 5,
  });
});

test('a run is made whole or not at all, whatever operation fails', async () => {
  for (const kind of ['write', 'datasync', 'rename', 'syncDirectory'] as const) {
    const world = makeControlWorld();
    world.files.fail({ kind, code: 'EIO' });
    await createRun(world.workspace, makeRunFile('r1', AT, [])).catch(() => undefined);
    const { rows, damaged } = await listRuns(world.workspace);
    expect({ kind, damaged }).toEqual({ kind, damaged: [] });
    expect(rows.length).toBeLessThanOrEqual(1);
  }
});

test('a run id is used once', async () => {
  const world = makeControlWorld();
  await createRun(world.workspace, makeRunFile('r1', AT, []));
  await expect(createRun(world.workspace, makeRunFile('r1', DAY, []))).rejects.toMatchObject({
    code: 'control/run-exists',
  });
  const names = await world.files.list('/repo/.git/troupe/runs');
  expect(names).toEqual(['r1']);
});

test('what actors are doing comes from the supervisor, everything else from the journal', async () => {
  const world = makeControlWorld();
  const file = makeRunFile('r1', AT, ['ada']);
  const ada = asActorName('ada');
  const profile = file.team.agents['implementer']!;
  await makeRun(world, file, [
    started('r1'),
    {
      k: 'sup',
      at: AT,
      actors: [
        { type: 'actor.added', name: ada, kind: 'teammate', profile, parent: null, depth: 0 },
        { type: 'actor.started', name: ada, incarnation: 1, epoch: 1 },
      ],
      tasks: [
        {
          type: 'task.claimed',
          id: asTaskId('one'),
          by: ada,
          incarnation: 1,
          attempt: 1,
          leaseUntil: DAY,
        },
      ],
    },
  ]);
  const stopped = await viewRun(world.workspace, 'r1', 'ps');
  expect(actorsOf(stopped)).toMatchObject([{ name: 'ada', task: 'one', state: 'stopped' }]);
  const row = {
    run: 'r1',
    name: 'ada',
    kind: 'teammate',
    incarnation: 1,
    state: 'tooling' as const,
    reason: null,
    task: 'one',
    since: DAY,
    usage: NO_USAGE,
  };
  const run = { id: 'r1' } as any;
  const status = { runs: [run], actors: [row] } as any;
  world.live.holder = { pid: 7, startedAt: AT };
  world.live.status = status;
  const view = await viewRun(world.workspace, 'r1', 'ps');
  expect(actorsOf(view)).toMatchObject([{ name: 'ada', state: 'tooling', since: DAY }]);
  expect(tasksOf(view).map((one) => [one.id, one.state, one.owner])).toEqual([
    ['one', 'running', 'ada'],
    ['two', 'blocked', null],
  ]);
});

test('a supervisor that does not answer is taken to hold the newest run', () => {
  const report = { holder: { pid: 1, startedAt: null }, status: null };
  expect(livenessOf(report, 'r', true).alive).toBe(true);
  expect(livenessOf(report, 'r', false).alive).toBe(false);
  expect(livenessOf({ holder: null, status: null }, 'r', true).alive).toBe(false);
});

test('actors of a run that is over stand since its end', async () => {
  const world = makeControlWorld();
  const file = makeRunFile('r1', AT, ['ada']);
  const ada = asActorName('ada');
  const profile = file.team.agents['implementer']!;
  await makeRun(world, file, [
    started('r1'),
    {
      k: 'sup',
      at: AT,
      actors: [
        { type: 'actor.added', name: ada, kind: 'teammate', profile, parent: null, depth: 0 },
        { type: 'actor.started', name: ada, incarnation: 1, epoch: 1 },
      ],
    },
    ended('done'),
  ]);
  const view = await viewRun(world.workspace, 'r1', 'ps');
  expect(actorsOf(view)).toMatchObject([{ name: 'ada', state: 'stopped', since: DAY }]);
});

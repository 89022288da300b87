/** A10 with real worker threads: an idle actor has none, and mail makes it another one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ThreadHost } from '../../../src/actors/index.ts';
import { stateOf } from '../../../src/mailbox/index.ts';
import { actorRows } from '../../../src/supervisor/index.ts';
import { inlineSupervisor } from '../../support/inline-supervisor.ts';
import { makeRepo, type TempRepo } from '../../support/repo.ts';
import { runFile, task, team } from '../../support/team.ts';

const ENTRY = new URL('../../support/threads/mortal.mjs', import.meta.url);

let repo: TempRepo | null = null;

afterEach(() => repo?.dispose());

test('A10: the thread of an idle actor ends, its state is passivated, and mail wakes it in the same incarnation', async () => {
  repo = makeRepo();
  const commit = repo.commit('Start', { 'a.txt': 'a\n' });
  const go = join(repo.base, 'go');
  const host = new ThreadHost({ entry: ENTRY, env: {} });
  const { supervisor, records, prepare } = await inlineSupervisor(repo, undefined, host, 1);
  const hold = task({ id: 'hold', run: `until test -e '${go}'; do sleep 0.05; done` });
  const file = runFile({
    id: 'nap',
    team: team({ lead: true, teammates: ['ada'], tasks: [hold] }),
    baseCommit: commit,
    workspace: repo.root,
    treesRoot: repo.trees,
  });
  prepare(file);
  await supervisor.startRun(file);
  const changes = () =>
    records.flatMap(({ actors }) => actors ?? []).filter(({ name }) => name === 'ada');
  const naps = () => changes().filter(({ type }) => type === 'actor.passivated').length;
  const send = (text: string) => supervisor.send({ run: 'nap', to: 'ada', text, interrupt: false });
  await send('one');
  const state = supervisor.state('nap');
  if (state === null) throw new Error('the run is not there');
  await expect.poll(naps, { timeout: 30_000 }).toBe(1);
  const row = actorRows(state, supervisor.liveness('nap')).find(({ name }) => name === 'ada');
  expect(row).toMatchObject({ state: 'passivated', incarnation: 1 });
  await send('two');
  await expect.poll(() => stateOf(state.mail, 'ada', 2), { timeout: 30_000 }).toBe('seen');
  expect(stateOf(state.mail, 'ada', 1)).toBe('seen');
  const starts = changes().filter(({ type }) => type === 'actor.started');
  expect(starts).toMatchObject([
    { incarnation: 1, epoch: 1 },
    { incarnation: 1, epoch: 2 },
  ]);
  expect(changes().some(({ type }) => type === 'actor.ended')).toBe(false);
  writeFileSync(go, '');
  expect((await supervisor.finished('nap')).state).toBe('done');
  await supervisor.close();
});

/** A letter that ends the real worker thread which it is given to: found, set aside alone, while its neighbours live. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ThreadHost } from '../../../src/actors/index.ts';
import { deadLetters, stateOf } from '../../../src/mailbox/index.ts';
import { inlineSupervisor } from '../../support/inline-supervisor.ts';
import { makeRepo, type TempRepo } from '../../support/repo.ts';
import { runFile, task, team } from '../../support/team.ts';

const ENTRY = new URL('../../support/threads/mortal.mjs', import.meta.url);

let repo: TempRepo | null = null;

afterEach(() => repo?.dispose());

test('M9: a letter that kills its thread twice is a dead letter; the mail beside it and the others are read', async () => {
  repo = makeRepo();
  const commit = repo.commit('Start', { 'a.txt': 'a\n' });
  const go = join(repo.base, 'go');
  const host = new ThreadHost({ entry: ENTRY, env: {} });
  const { supervisor, records, prepare } = await inlineSupervisor(repo, undefined, host);
  const hold = task({ id: 'hold', run: `until test -e '${go}'; do sleep 0.05; done` });
  const file = runFile({
    id: 'poison',
    team: team({ lead: true, teammates: ['ada', 'bo'], tasks: [hold] }),
    baseCommit: commit,
    workspace: repo.root,
    treesRoot: repo.trees,
  });
  prepare(file);
  await supervisor.startRun(file);
  const send = async (to: string, text: string): Promise<void> => {
    await supervisor.send({ run: 'poison', to, text, interrupt: false });
  };
  await Promise.all([
    send('ada', 'one'),
    send('ada', 'two is poison'),
    send('ada', 'three'),
    send('bo', 'to a neighbour'),
  ]);
  const mail = supervisor.state('poison')?.mail;
  if (mail === undefined) throw new Error('the run is not there');
  await expect.poll(() => stateOf(mail, 'ada', 3), { timeout: 25_000 }).toBe('seen');
  expect([1, 2, 3].map((n) => stateOf(mail, 'ada', n))).toEqual(['seen', 'dead', 'seen']);
  expect(stateOf(mail, 'bo', 1)).toBe('seen');
  expect(deadLetters(mail)).toMatchObject([
    { envelope: { body: { text: 'two is poison' } }, reason: 'ada died 2 times with it in hand' },
  ]);
  const deaths = records
    .flatMap(({ actors }) => actors ?? [])
    .filter(({ type }) => type === 'actor.ended');
  expect(deaths.map(({ name }) => name)).toEqual(['ada', 'ada']);
  const told = records
    .flatMap((record) => record.mail ?? [])
    .filter(({ type }) => type === 'mail.dead');
  expect(told.map(({ to }) => to).toSorted()).toEqual(['lead', 'user']);
  expect(existsSync(go)).toBe(false);
  writeFileSync(go, '');
  const row = await supervisor.finished('poison');
  expect(row.state).toBe('done');
  await supervisor.close();
});

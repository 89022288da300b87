/** Jobs that actors make: their slots over restarts, whom they come to, and that none has more rights than its author. */
import { expect, test } from 'vitest';
import { asCallId } from '../../../../src/kernel/index.ts';
import type { CronJob, TeamPermissions } from '../../../../src/protocol/index.ts';
import { runFile, team } from '../../../support/team.ts';
import { TeamWorld, TIP } from '../../../support/team-world.ts';

const MINUTE = 60_000;

function world(
  given: { permissions?: TeamPermissions; headless?: boolean; usd?: number } = {},
): TeamWorld {
  const made = team({ lead: true, teammates: ['ada', 'bo'] });
  const { permissions = made.permissions, headless, usd = null } = given;
  const budget = { ...made.budget, usd };
  const file = runFile({
    id: 'r1',
    team: { ...made, permissions, budget },
    baseCommit: TIP,
    workspace: '/w',
    treesRoot: '/t',
  });
  const w = new TeamWorld({ ...file, attended: headless !== true });
  w.step({ type: 'send', token: 1, to: 'ada', text: 'go', lane: 'normal', id: null });
  w.answer('ada', ['schedule_cron']);
  return w;
}

/** Time goes on, and the timer of the jobs, when there is one, has run. */
function later(w: TeamWorld, ms: number): void {
  w.now += ms;
  w.monotonicMs += ms;
  w.step({ type: 'jobs.due' });
}

const facts = (w: TeamWorld): string[] =>
  w.records.flatMap(({ cron = [] }) =>
    cron.map((change) => {
      if (change.type === 'cron.skipped') return `skipped ${change.count}: ${change.reason}`;
      return change.type === 'cron.fired' ? `fired ${change.slot.slice(11, 19)}` : change.type;
    }),
  );

test('C11 a job comes to who made it, once a slot, also over a restart; what was missed is named', () => {
  const w = world();
  const made = w.act('ada', 'schedule_cron', {
    name: 'deploy',
    schedule: 'every 20m',
    prompt: 'Check that deploy.',
  });
  expect(made).toMatchObject({ ok: true, text: expect.stringContaining('12:20:00') });
  expect(w.effects).toContainEqual({ type: 'jobs.later', ms: 30_000 });
  later(w, 19 * MINUTE);
  expect(w.letters('cron.fired')).toEqual([]);
  later(w, MINUTE);
  expect(w.letters('cron.fired')).toEqual(['ada: Your job deploy is due: Check that deploy.']);
  // Not taken in yet: the next one does not pile up behind it.
  later(w, 20 * MINUTE);
  w.rest('ada');
  w.restart(1);
  later(w, 0);
  later(w, 0);
  expect(facts(w)).toEqual([
    'cron.added',
    'fired 12:20:00',
    'skipped 1: overlap: the one before is not taken in yet',
    expect.stringMatching(/^skipped 2: missed: /),
    'fired 13:40:00',
  ]);
  expect(w.replayed().jobs).toEqual(w.state.jobs);
  const mail = w.records.flatMap((record) => record.mail ?? []);
  expect(mail.filter(({ type }) => type === 'cron.fired').map(({ from }) => from)).toEqual([
    'ada',
    'ada',
  ]);
});

test('once is once; a job is listed and cancelled by its run, and ends with its actor', () => {
  const w = world();
  const soon = { name: 'soon', schedule: 'in 5m', prompt: 'Look.' };
  expect(w.act('ada', 'schedule_cron', soon).ok).toBe(true);
  expect(w.act('ada', 'schedule_cron', soon).text).toContain('there is a job "soon" already');
  expect(w.act('ada', 'list_crons', {}).text).toContain(
    'soon: next at 2026-11-30T12:05:00.000Z; to ada',
  );
  later(w, 5 * MINUTE);
  later(w, 5 * MINUTE);
  expect(facts(w)).toEqual(['cron.added', 'fired 12:05:00']);
  expect(w.act('ada', 'list_crons', {}).text).toBe('this run has made no jobs');
  const often = { name: 'often', schedule: '@hourly', prompt: 'Look.' };
  expect(w.act('ada', 'schedule_cron', often).ok).toBe(true);
  expect(w.act('ada', 'cancel_cron', { name: 'often' })).toEqual({
    ok: true,
    text: 'cancelled often',
  });
  expect(w.act('ada', 'cancel_cron', { name: 'often' }).ok).toBe(false);
  w.act('ada', 'schedule_cron', often);
  w.step({ type: 'stop.actor', token: 2, name: 'ada', now: true, by: 'user' });
  later(w, 61 * MINUTE);
  expect(facts(w).slice(2)).toEqual(['cron.added', 'cron.ended', 'cron.added', 'cron.ended']);
  expect(w.letters('cron.fired')).toHaveLength(1);
});

test.each([
  ['0 0 31 2 *', /never|no such/i],
  ['every 10ms', /at least 1s/],
  ['61 * * * *', /not usable/],
  ['2020-01-01', /would never be due/],
])('a schedule that can not be is refused with the reason: %s', (schedule, why) => {
  const refused = world().act('ada', 'schedule_cron', { name: 'bad', schedule, prompt: 'Look.' });
  expect(refused.ok).toBe(false);
  expect(refused.text).toMatch(why);
});

const LASTING = { name: 'nightly', schedule: '@daily', prompt: 'Triage.', agent: 'implementer' };

test('C12 what outlives the run is a person’s to allow, though all is allowed for want of a rule', () => {
  const w = world({ permissions: { default: 'allow', rules: [] }, usd: 2 });
  const call = w.begin('ada', 'schedule_cron', LASTING);
  expect(w.letters('permission.ask')).toEqual([
    expect.stringMatching(/job nightly: a run for implementer at "@daily" in UTC: Triage\./),
  ]);
  expect(w.state.jobs.size).toBe(0);
  const [ask] = [...w.state.asks.asks.values()];
  const answer = {
    type: 'ask.answer',
    token: 3 as never,
    id: ask?.id ?? '',
    digest: null,
  } as const;
  const effects = w.step({
    ...answer,
    effect: 'allow',
    scope: 'once',
    days: 7,
    reason: null,
    by: 'user',
  });
  const edit = effects.find((effect) => effect.type === 'cron.edit');
  const job = edit?.edit.type === 'add' ? edit.edit.job : ({} as CronJob);
  expect(job).toMatchObject({
    author: { run: 'r1', actor: 'ada', profile: 'implementer' },
    budgetUsd: 2,
    attended: false,
    by: 'ada of run r1',
    work: { kind: 'prompt', text: 'Triage.', agent: 'implementer' },
  });
  const text = 'scheduled nightly';
  const told = w.step({
    type: 'cron.edited',
    call: asCallId(call),
    removed: false,
    ok: true,
    text,
  });
  expect(told).toContainEqual(
    expect.objectContaining({ reply: expect.objectContaining({ type: 'acted' }) }),
  );
  expect(w.state.jobs.get('nightly')).toMatchObject({ durable: true });
  // The run itself never fires it.
  later(w, 48 * 60 * MINUTE);
  expect(w.letters('cron.fired')).toEqual([]);
});

test('C12 nobody to ask, a rule against it, a profile that is not there: refused', () => {
  const headless = world({ headless: true }).act('ada', 'schedule_cron', LASTING);
  expect(headless).toMatchObject({ ok: false, text: expect.stringContaining('headless') });
  const own = { ...LASTING, agent: undefined };
  const unnamed = world({ headless: true }).act('ada', 'schedule_cron', { ...own, durable: true });
  expect(unnamed.ok).toBe(false);
  expect(world({ headless: true }).act('ada', 'schedule_cron', own).ok).toBe(true);
  const root = world().act('ada', 'schedule_cron', { ...LASTING, agent: 'root' });
  expect(root.text).toContain('there is no agent profile "root"');
  const both = world().act('ada', 'schedule_cron', { ...LASTING, durable: false });
  expect(both.text).toContain('so it is durable');
});

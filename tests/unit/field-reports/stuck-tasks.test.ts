/**
 * Part B of the field reports: stuck tasks, bad claims, ghosts in the graph; and of part C what a decision alone shows. Covered
 * elsewhere: late results (`supervisor/fences.test.ts`), alarms, unknown states, clock jumps and breakers
 * (`supervisor/restarts.test.ts`), stops (`supervisor/stops.test.ts`).
 */
import { expect, test } from 'vitest';
import { asActorName, asTaskId } from '../../../src/kernel/index.ts';
import { LEASE_MS, RESTART_INTENSITY } from '../../../src/supervisor/limits.ts';
import { runFile, type TaskParts, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

const ADA = asActorName('ada');
const HOUR = 3_600_000;

function world(...tasks: TaskParts[]): TeamWorld {
  const file = runFile({
    id: 'r1',
    team: team({ lead: true, teammates: ['ada', 'bo'], tasks: tasks.map(task) }),
    baseCommit: TIP,
    workspace: '/w',
    treesRoot: '/t',
  });
  return new TeamWorld(file);
}

const node = (w: TeamWorld, id = 'a') => {
  const found = w.state.graph.nodes.get(asTaskId(id));
  if (found === undefined) throw new Error(`there is no task ${id}`);
  return found;
};
const starts = (w: TeamWorld, name: string): number =>
  w.records
    .flatMap(({ actors }) => actors ?? [])
    .filter((one) => one.type === 'actor.started' && one.name === name).length;

test('CC#29163: who goes idle without a word is asked once; then it is a failure with a reason, and the task goes back', () => {
  const w = world({ id: 'a', attempts: 2 });
  w.rest('ada');
  expect(w.letters('task.nudge')).toHaveLength(1);
  expect(node(w).attemptsUsed).toBe(0);
  w.rest('ada');
  expect(node(w).attemptsUsed).toBe(1);
  const released = w.records
    .flatMap(({ tasks }) => tasks ?? [])
    .flatMap((one) => (one.type === 'task.released' ? [one.reason] : []));
  expect(released).toMatchObject([{ kind: 'agent', ref: 'ada' }]);
});

test('gastownhall/beads#3575: of two who claim one gets it, and the other is told who has it', () => {
  const w = world({ id: 'a' });
  expect(node(w).owner).toBe('ada');
  w.step({ type: 'send', token: 1, to: 'bo', text: 'Take a.', lane: 'normal', id: null });
  const { ok, text } = w.act('bo', 'claim_task', { id: 'a' });
  expect(ok).toBe(false);
  expect(text).toContain('ada');
  expect([...w.state.claims]).toEqual([['ada', 'a']]);
});

test.each([
  ['NousResearch/hermes-agent#22926', 'a death', (w: TeamWorld): void => w.die('ada')],
  [
    'nielsgl/symphony#545',
    'giving up',
    (w: TeamWorld): void => void w.act('ada', 'fail_task', { reason: 'it cannot be done' }),
  ],
  [
    'nielsgl/symphony#545',
    'being stuck',
    (w: TeamWorld): void =>
      void w.request('ada', { type: 'stuck', code: 'x/y', message: 'no way on' }),
  ],
  [
    'nielsgl/symphony#545',
    'a stop',
    (w: TeamWorld): void =>
      void w.step({ type: 'stop.actor', token: 1, name: 'ada', now: true, by: 'user' }),
  ],
  [
    'NousResearch/hermes-agent#21141',
    'a deadline',
    (w: TeamWorld): void => {
      w.pass(HOUR + 1);
      expect(w.live.actors.get(ADA)?.incarnation).not.toBe(1);
    },
  ],
] as const)('%s: the claim of %s ends with it, in one record', (_report, _how, end) => {
  const w = world({ id: 'a', attempts: 9, timeoutMs: HOUR });
  const { fence } = node(w);
  end(w);
  const released = w.records.filter(({ tasks }) =>
    tasks?.some((one) => one.type === 'task.released'),
  );
  expect(released).toHaveLength(1);
  // It was given out again, under another fence.
  expect(node(w).fence).toBeGreaterThan(fence);
  expect(node(w).owner).not.toBeNull();
});

test('NousResearch/hermes-agent#23025: who shows signs of life keeps its task, without saying a word', () => {
  const w = world({ id: 'a', timeoutMs: 100 * HOUR });
  const { fence } = node(w);
  for (let times = 0; times < 100; times += 1) w.pass(LEASE_MS - 1);
  expect(node(w)).toMatchObject({ fence, owner: 'ada', state: 'running' });
});

test('CC#73332: who waits for a long command is not taken for dead', () => {
  const w = world({ id: 'a', timeoutMs: 100 * HOUR });
  w.begin('ada', 'bash', { command: 'make everything' });
  for (let times = 0; times < 100; times += 1) {
    w.monotonicMs += LEASE_MS;
    // Its counter does not move.
    w.step({ type: 'sweep', beats: { ada: 1 } });
  }
  expect(w.live.actors.get(ADA)).toMatchObject({ incarnation: 1, doom: null });
});

test('gastownhall/gastown#3584, CC#79569: of each death somebody hears, once, with its cause', () => {
  const w = world({ id: 'a', attempts: 9 });
  w.die('ada');
  const told = w.letters('actor.died');
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/^lead: ada died: uncaught: broken/);
});

test.each(['paperclipai/paperclip#2912', 'paperclipai/paperclip#5771'])(
  '%s: the record that ends a task ends its claim',
  () => {
    const w = world({ id: 'a' });
    w.act('ada', 'complete_task', { summary: 'ok' });
    const { fence } = node(w);
    w.step({ type: 'tree.committed', task: asTaskId('a'), fence, outcome: { kind: 'unchanged' } });
    expect(node(w).state).toBe('done');
    expect(w.state.claims.size).toBe(0);
    expect(w.replayed().claims.size).toBe(0);
  },
);

test('AO#2080: what was reported done stays so, whatever its worker comes to afterwards', () => {
  const w = world({ id: 'a' });
  w.act('ada', 'complete_task', { summary: 'ok' });
  const { fence } = node(w);
  w.die('ada');
  expect(node(w)).toMatchObject({ state: 'verifying', fence, attemptsUsed: 0 });
});

test('Jamie-BitFlight/claude_skills#3314: a word of the model finishes nothing', () => {
  const w = world({ id: 'a' });
  expect(w.act('ada', 'complete_task', { summary: 'all is done' }).ok).toBe(true);
  expect(node(w).state).toBe('verifying');
  const outcome = { kind: 'unfinished-merge', text: 'markers are left' } as const;
  w.step({ type: 'tree.committed', task: asTaskId('a'), fence: node(w).fence, outcome });
  expect(node(w).state).not.toBe('done');
});

test('tomMoulard/atteler#84, hojinzs/github-symphony#517: claims and attempts outlive the process, and are taken up once', () => {
  const w = world({ id: 'a', attempts: 9 });
  w.act('ada', 'fail_task', { reason: 'not like this' });
  const { attemptsUsed, owner, fence } = node(w);
  expect(attemptsUsed).toBe(1);
  const before = starts(w, owner ?? '');
  w.restart();
  w.restart();
  expect(node(w)).toMatchObject({ attemptsUsed, owner, fence, state: 'running' });
  // One more thread for each process that took it up, never two.
  expect(starts(w, owner ?? '') - before).toBeLessThanOrEqual(2);
  expect(w.live.actors.size).toBe(new Set(w.live.actors.keys()).size);
});

test('CC#30081: mail to who is there starts nobody else', () => {
  const w = world({ id: 'a' });
  for (let n = 0; n < 20; n += 1) {
    w.step({ type: 'send', token: n, to: 'ada', text: `${n}`, lane: 'normal', id: null });
  }
  expect(starts(w, 'ada')).toBe(1);
});

test('AO#1342: a member that dies each time is started a bounded number of times', () => {
  const w = world({ id: 'a', attempts: 99 });
  for (let times = 0; times < 20 && w.live.actors.has(ADA); times += 1) {
    w.die('ada');
    w.monotonicMs += 10_000;
    w.now += 10_000;
    w.step({ type: 'mail.due', name: ADA });
  }
  expect(starts(w, 'ada')).toBeLessThanOrEqual(RESTART_INTENSITY);
  expect(w.live.actors.has(ADA)).toBe(false);
});

import { expect, test } from 'vitest';
import { CronWorld } from '../../support/cron-world.ts';

const START = Date.parse('2026-03-29T00:00:00Z');
const MINUTE = 60_000;

const slotsOf = (world: CronWorld, name: string): string[] =>
  world
    .history(name)
    .map(({ slot, state, until, count }) =>
      until === null
        ? `${slot.slice(11, 19)} ${state}`
        : `${slot.slice(11, 19)}-${until.slice(11, 19)} ${state} ${count}`,
    );

test('a job fires at each slot once, and a restart fires nothing again', async () => {
  const world = new CronWorld(START);
  await world.open();
  await world.add({ name: 'tick', everyMs: MINUTE });
  await world.clock.advance(2 * MINUTE + 500);
  await world.scheduler?.close();
  await world.kill();
  await world.open();
  await world.clock.advance(MINUTE);
  expect(slotsOf(world, 'tick')).toEqual(['00:01:00 done', '00:02:00 done', '00:03:00 done']);
  expect(world.deeds('command')).toHaveLength(3);
});

test.for([
  ['skip', ['00:05:00-00:25:00 skipped 5', '00:30:00 done']],
  ['one', ['00:05:00-00:20:00 skipped 4', '00:25:00 done', '00:30:00 done']],
  [
    'all',
    [
      '00:05:00-00:10:00 skipped 2',
      '00:15:00 done',
      '00:20:00 done',
      '00:25:00 done',
      '00:30:00 done',
    ],
  ],
] as const)('C8 what was missed while nobody was up: %s', async ([catchUp, expected]) => {
  const world = new CronWorld(START);
  await world.open();
  const policy = catchUp === 'all' ? { kind: catchUp, max: 3 } : { kind: catchUp };
  await world.add({ name: 'tick', everyMs: 5 * MINUTE, catchUp: policy });
  await world.kill();
  await world.clock.advance(27 * MINUTE);
  await world.open();
  await world.clock.advance(5 * MINUTE);
  expect(slotsOf(world, 'tick')).toEqual(expected);
  expect(world.history('tick')[0]?.reason).toMatch(/^missed: /);
});

test('C8 a machine that slept over several slots starts the newest, and names the others', async () => {
  const world = new CronWorld(START);
  await world.open();
  await world.add({ name: 'tick', everyMs: 5 * MINUTE });
  await world.clock.advance(5 * MINUTE + 1_000);
  // Wall clocks go on in sleep, timers do not.
  world.clock.jump(22 * MINUTE);
  await world.clock.advance(30_000);
  expect(slotsOf(world, 'tick')).toEqual([
    '00:05:00 done',
    '00:10:00-00:20:00 skipped 3',
    '00:25:00 done',
  ]);
});

test('a clock that is set back fires no slot again, and one that was far ahead is believed when it is mended', async () => {
  const world = new CronWorld(START);
  await world.open();
  await world.add({ name: 'tick', everyMs: 5 * MINUTE });
  await world.clock.advance(11 * MINUTE);
  world.clock.jump(-8 * MINUTE);
  await world.clock.advance(8 * MINUTE);
  expect(world.deeds('command')).toHaveLength(2);
  await world.clock.advance(5 * MINUTE);
  expect(world.deeds('command')).toHaveLength(3);
  // A year ahead for a minute.
  world.clock.jump(365 * 24 * 60 * MINUTE);
  await world.clock.advance(MINUTE);
  world.clock.jump(-365 * 24 * 60 * MINUTE);
  await world.clock.advance(6 * MINUTE);
  const now = new Date(world.clock.now()).toISOString().slice(0, 10);
  expect(world.history('tick').at(-1)).toMatchObject({ state: 'done' });
  expect(world.history('tick').at(-1)?.slot.slice(0, 10)).toBe(now);
});

test.for([
  ['skip', ['00:01:00 done', '00:02:00 skipped', '00:03:00 done', '00:04:00 skipped']],
  ['queue', ['00:01:00 done', '00:02:00 done', '00:03:00 running', '00:04:00 queued']],
  ['replace', ['00:01:00 replaced', '00:02:00 replaced', '00:03:00 replaced', '00:04:00 running']],
] as const)('C7 a slot while the one before runs: %s', async ([overlap, expected]) => {
  const world = new CronWorld(START);
  world.workMs = 90_000;
  await world.open();
  await world.add({ name: 'slow', everyMs: MINUTE, overlap });
  await world.clock.advance((overlap === 'skip' ? 4.75 : 4.25) * MINUTE);
  expect(slotsOf(world, 'slow')).toEqual(expected);
});

/** Death before and after every single step around two slots, and a start right after, later, and much later. */
test.for(['command', 'run', 'mail'] as const)(
  'C9 restart at every instant around a slot: %s',
  async (kind) => {
    const work =
      kind === 'command'
        ? ({ kind, command: 'true' } as const)
        : kind === 'run'
          ? ({ kind: 'team', file: '/team.yaml' } as const)
          : ({ kind, to: 'lead', text: 'hello', run: null } as const);
    for (const [index, down] of [0, 400, 90_000].entries()) {
      for (let dieAt = 3 + index; dieAt < 24; dieAt += 3) {
        const world = new CronWorld(START);
        world.workMs = 300;
        await world.open();
        await world.add({ name: 'job', everyMs: 2_000, work });
        world.dieAt = dieAt;
        await world.clock.advance(5_000);
        world.dieAt = Number.POSITIVE_INFINITY;
        if (world.alive) await world.kill();
        await world.clock.advance(down);
        await world.open();
        await world.clock.advance(6_000);
        const entries = world.history('job');
        // Every slot up to now is named once: on its own, or in a stretch of skipped ones.
        let next = START + 2_000;
        for (const { slot, until, count } of entries) {
          expect(Date.parse(slot), `${kind} ${down} ${dieAt} ${slotsOf(world, 'job').join()}`).toBe(
            next,
          );
          next = Date.parse(until ?? slot) + 2_000;
          if (until !== null)
            expect(count).toBe((Date.parse(until) - Date.parse(slot)) / 2_000 + 1);
        }
        expect(next).toBeGreaterThan(world.clock.now() - 2_000);
        // Nothing is done twice: mail carries an id, a run has one.
        if (kind === 'mail') continue;
        const deeds = world.deeds(kind);
        expect(new Set(deeds).size, `${kind} ${down} ${dieAt} ${deeds.join()}`).toBe(deeds.length);
        const open = entries.filter(({ state }) => state === 'running' || state === 'queued');
        expect(open.length).toBeLessThanOrEqual(1);
      }
    }
  },
);

test('a run that was cut off is gone on with, or only recorded', async () => {
  for (const onCrash of ['resume', 'record'] as const) {
    const world = new CronWorld(START);
    world.workMs = 10_000;
    await world.open();
    await world.add({
      name: 'nightly',
      everyMs: MINUTE,
      onCrash,
      work: { kind: 'team', file: '/t' },
    });
    await world.clock.advance(MINUTE + 1_000);
    await world.kill();
    await world.open();
    await world.clock.advance(20_000);
    expect(world.deeds('run')).toHaveLength(1);
    expect(world.deeds('resume')).toHaveLength(onCrash === 'resume' ? 1 : 0);
    expect(world.history('nightly')[0]?.state).toBe(onCrash === 'resume' ? 'done' : 'interrupted');
  }
});

test('what a person triggers leaves the schedule as it was', async () => {
  const world = new CronWorld(START);
  await world.open();
  await world.add({ name: 'tick', everyMs: MINUTE, maxRuns: 2 });
  await world.clock.advance(30_000);
  const { state } = (await world.scheduler?.edit({ type: 'trigger', name: 'tick' }, 'user')) ?? {};
  await world.clock.advance(5 * MINUTE);
  expect(state).toBe('running');
  expect(slotsOf(world, 'tick')).toEqual(['00:00:30 done', '00:01:00 done', '00:02:00 done']);
});

test('while a job is paused its slots are skipped, and named', async () => {
  const world = new CronWorld(START);
  await world.open();
  await world.add({ name: 'tick', everyMs: MINUTE });
  await world.clock.advance(MINUTE + 1);
  await world.scheduler?.edit({ type: 'pause', name: 'tick' }, 'user');
  await world.clock.advance(3 * MINUTE);
  await world.scheduler?.edit({ type: 'resume', name: 'tick' }, 'user');
  await world.clock.advance(MINUTE);
  expect(slotsOf(world, 'tick')).toEqual([
    '00:01:00 done',
    '00:02:00-00:04:00 skipped 3',
    '00:05:00 done',
  ]);
  expect(world.history('tick')[1]?.reason).toBe('paused');
});

test('C5 a record that is no job is set aside with the reason; the others run, and it can be removed', async () => {
  const world = new CronWorld(START);
  await world.open();
  await world.add({ name: 'good', everyMs: MINUTE });
  world.scheduler?.take({ k: 'cron', what: 'job', name: 'bad', body: { name: 'bad' } });
  const { job } = world.scheduler?.book.jobs.get('good') ?? {};
  const odd = {
    ...job,
    name: 'odd',
    timing: { kind: 'schedule', expression: '0 0 31 2 *', tz: 'UTC' },
  };
  world.scheduler?.take({ k: 'cron', what: 'job', name: 'odd', body: odd });
  await world.clock.advance(MINUTE + 1);
  expect(slotsOf(world, 'good')).toEqual(['00:01:00 done']);
  expect([...(world.scheduler?.book.broken.keys() ?? [])]).toEqual(['bad', 'odd']);
  expect(world.scheduler?.book.broken.get('odd')?.why).toContain('never comes in its month');
  await world.scheduler?.edit({ type: 'remove', name: 'bad' }, 'user');
  expect(world.scheduler?.book.broken.has('bad')).toBe(false);
});

test('a notice tells of a slot that failed', async () => {
  const world = new CronWorld(START);
  world.commandFails = 'the command ended with exit status 1';
  await world.open();
  const notify = { kind: 'webhook', url: 'http://127.0.0.1:9/x', hosts: [] } as const;
  await world.add({ name: 'tick', everyMs: MINUTE, notify });
  await world.clock.advance(MINUTE + 1);
  expect(world.deeds('post')).toEqual(['http://127.0.0.1:9/x']);
  expect(world.history('tick')[0]?.reason).toBe('the command ended with exit status 1');
});

test('a history of any length is compacted to the newest entries, and nothing is fired again', async () => {
  const world = new CronWorld(START);
  await world.open();
  await world.add({ name: 'tick', everyMs: 1_000 });
  await world.clock.advance(450_500);
  for (let term = 0; term < 3; term += 1) {
    await world.kill();
    await world.open();
  }
  await world.clock.advance(1_000);
  expect(world.history('tick')).toHaveLength(200);
  expect(world.history('tick').at(-1)?.n).toBe(451);
  expect(world.deeds('command')).toHaveLength(451);
});

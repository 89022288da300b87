/**
 * Random mail, rests, ends of threads and kills of the supervisor around passivation (A10): no letter is handed to a thread
 * that is being given back, none is lost or taken in twice, and epochs only rise. `TROUPE_SEED=N` repeats a failure.
 */
import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { asActorName } from '../../../src/kernel/index.ts';
import { deadLetters, hasUnread } from '../../../src/mailbox/index.ts';
import { PASSIVATE_MS } from '../../../src/supervisor/limits.ts';
import { SeededRandom } from '../../../src/testing/index.ts';
import { runFile, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

const SEED = Number(process.env['TROUPE_SEED'] ?? randomInt(2 ** 31));
const RUNS = 60;
const STEPS = 80;
const NAMES = ['lead', 'ada', 'bo'] as const;

function makeWorld(): TeamWorld {
  // A task that nobody has begun to end holds the run open.
  const tasks = [task({ id: 'a', timeoutMs: 1_000 * PASSIVATE_MS, attempts: 100 })];
  const world = new TeamWorld(
    runFile({
      id: 'r1',
      team: team({ lead: true, teammates: ['ada', 'bo'], tasks }),
      baseCommit: TIP,
      workspace: '/w',
      treesRoot: '/t',
    }),
  );
  world.endsWait = true;
  return world;
}

function play(random: SeededRandom): { passivated: number; woken: number } {
  const world = makeWorld();
  const sent = new Set<string>();
  const epochs = new Map<string, number>();
  const there = (name: string) => world.live.actors.get(name as never);
  const isEnding = (name: string): boolean => there(name)?.doom?.kind === 'passivated';
  const write = (to: string): void => {
    const text = `letter ${sent.size}`;
    sent.add(text);
    const before = world.inboxes.get(to)?.length ?? 0;
    const ending = isEnding(to);
    world.step({ type: 'send', token: sent.size, to, text, lane: 'normal', id: null });
    if (ending) expect(world.inboxes.get(to)?.length ?? 0).toBe(before);
  };
  const rest = (name: string): void => {
    if (there(name) !== undefined && !isEnding(name)) world.rest(name);
  };
  for (let step = 0; step < STEPS && world.state.run.ended === null; step += 1) {
    const name = NAMES[random.below(NAMES.length)] ?? 'lead';
    const what = random.below(9);
    if (what < 3) write(name);
    else if (what < 5) rest(name);
    else if (what < 7) world.pass(random.below(2) === 0 ? PASSIVATE_MS : 5_000);
    else if (what === 7 && isEnding(name)) {
      if (random.below(2) === 0) world.gone(name);
      else world.die(name);
    } else if (what === 8 && random.below(6) === 0) world.restart();
    for (const actor of world.state.actors.byName.values()) {
      expect(actor.epoch).toBeGreaterThanOrEqual(epochs.get(actor.name) ?? 0);
      epochs.set(actor.name, actor.epoch);
    }
  }
  // All threads that end do end, and who has mail takes it in; what was in hand at kills waits a while (M10).
  for (let round = 0; round < STEPS; round += 1) {
    world.pass(60_000);
    for (const name of NAMES) {
      if (isEnding(name)) world.gone(name);
      if (world.state.run.ended === null) world.step({ type: 'mail.due', name: asActorName(name) });
      // Without resting, which would bring more mail.
      const waits = hasUnread(world.state.mail, name) && there(name) !== undefined;
      if (waits && !isEnding(name)) world.answer(name);
    }
  }
  expect(world.replayed().actors).toEqual(world.state.actors);
  const taken = new Map<string, number>();
  for (const record of world.records) {
    for (const n of record.took ?? []) {
      const key = `${record.a} ${n}`;
      taken.set(key, (taken.get(key) ?? 0) + 1);
    }
  }
  expect([...taken.values()].every((times) => times === 1)).toBe(true);
  if (world.state.run.ended === null) {
    for (const name of NAMES) {
      const all = world.state.mail.boxes.get(name)?.last ?? 0;
      const seen = [...taken.keys()].filter((key) => key.startsWith(`${name} `)).length;
      const dead = deadLetters(world.state.mail).filter(({ envelope }) => envelope.to === name);
      expect([name, all]).toEqual([name, seen + dead.length]);
    }
  }
  const changes = world.records.flatMap((record) => record.actors ?? []);
  const passivated = changes.filter((one) => one.type === 'actor.passivated').length;
  const woken = changes.filter(
    (one) => one.type === 'actor.started' && one.epoch > one.incarnation,
  ).length;
  return { passivated, woken };
}

test(`A10: mail and passivation, at any order of events (seed ${SEED})`, () => {
  let passivated = 0;
  let woken = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const seen = play(new SeededRandom(SEED + run));
    passivated += seen.passivated;
    woken += seen.woken;
  }
  // The world does what it is for.
  expect(passivated).toBeGreaterThan(RUNS);
  expect(woken).toBeGreaterThan(RUNS / 2);
});

/** Part A of the field reports: messages that were lost, late, doubled or misrouted in other systems. */
import { describe, expect, test } from 'vitest';
import type { ActorRun } from '../../../src/actors/index.ts';
import { wholeText } from '../../../src/journal/index.ts';
import { deadLetters, projectMail, stateOf } from '../../../src/mailbox/index.ts';
import type { Envelope } from '../../../src/protocol/index.ts';
import { World } from '../agent/world.ts';
import { reader, Scene } from './scene.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test('CC#53896: senders at once lose nothing; each receipt names a place, and the letter is in it', async () => {
  const scene = await Scene.open();
  await Promise.all(
    numbers(200).map((n) => scene.send('ada', `keep ${n}`, { id: `at-once-${n}` })),
  );
  const accepted = scene.of('accepted');
  expect(accepted).toHaveLength(200);
  const box = await scene.box('ada');
  expect(box).toHaveLength(200);
  for (const { id, n } of accepted) expect(box[n - 1]?.id).toBe(id);
  expect(new Set(accepted.map(({ n }) => n)).size).toBe(200);
});

test('CC#57487: a letter that meets the notice that its reader is idle is still read', async () => {
  const scene: Scene = await Scene.open({
    run: async (start, port, signal) => {
      // It says that it is idle and is written to in the same moment.
      if (start.name === 'ada')
        void port.request({ type: 'idle', why: 'end' }).catch(() => undefined);
      await reader((name, mail) => got.push(...mail.map(({ body }) => `${name} ${body.text}`)))(
        start,
        port,
        signal,
      );
    },
  });
  const got: string[] = [];
  await scene.send('ada', 'one');
  scene.world.post({ type: 'sweep', beats: {} });
  await scene.send('ada', 'two');
  await scene.world.settle();
  expect(got.filter((text) => text.startsWith('ada'))).toEqual(['ada one', 'ada two']);
  expect(numbers(2).map((n) => stateOf(scene.world.state.mail, 'ada', n + 1))).toEqual([
    'seen',
    'seen',
  ]);
});

test('CC#57487: taken into a request is not read; a reader that dies before its answer is given it again', async () => {
  const scene = await Scene.open();
  await scene.send('ada', 'die x', { id: 'x' });
  await scene.world.settle();
  const given = scene.of('given').filter(({ id }) => id === 'x');
  expect(given.map(({ incarnation }) => incarnation)).toEqual([1, 2]);
  const took = (await scene.records()).filter((one) => one.a === 'ada' && one.took !== undefined);
  expect(took.map(({ i, took }) => ({ i, took }))).toEqual([{ i: 2, took: [1] }]);
});

test('CC#76500: mail is in the next request of a running turn, after the results of its calls', async () => {
  const world = new World({
    model: `
  - actor: ada
    turns:
      - calls: [{ bash: { command: long } }]
      - any:
          - when: { mail: { contains: look here } }
            text: seen within the turn
      - text: too late
`,
  });
  world.onBash = () => {
    world.send('look here');
    return Promise.resolve({ ok: true, text: 'exit 0' });
  };
  world.assign('t');
  await world.settle();
  const second = JSON.stringify(world.requests[1]?.messages.at(-1));
  expect(second).toContain('look here');
  expect(second).toContain('exit 0');
});

describe('CC#43706: the same promise in both directions, for every pair of kinds', () => {
  const pairs = [
    ['user', 'lead'],
    ['user', 'ada'],
    ['lead', 'ada'],
    ['ada', 'lead'],
    ['ada', 'bo'],
    ['lead', 'user'],
    ['ada', 'user'],
  ] as const;
  test.each(pairs)('%s to %s', async (from, to) => {
    const scene = await Scene.open();
    if (from === 'user') await scene.send(to, 'keep it', { id: 'it' });
    else await scene.send(from, `forward ${to} it`, { id: 'it' });
    const box = await scene.box(to);
    const letter = box.find((one) => one.from === from && one.text.endsWith('it'));
    expect(letter).toBeDefined();
    const n = box.findIndex((one) => one.id === letter?.id) + 1;
    expect(stateOf(scene.world.state.mail, to, n)).toBe('seen');
  });
});

test('CC#70087: the whole body arrives, however long, and anybody can look it up by its id', async () => {
  const bodies: string[] = [];
  const run = reader((_name, mail) => bodies.push(...mail.map(({ body }) => body.text)));
  const scene = await Scene.open({ run });
  const long = `${'ä\u2028"\n'.repeat(20_000)}end`;
  await scene.send('bo', long, { id: 'long' });
  await scene.world.settle();
  expect(bodies).toContain(long);
  const projection = projectMail();
  for (const record of await scene.records()) projection.apply(record);
  const body = projection.rows().find(({ id }) => id === 'long')?.body;
  expect(await wholeText(scene.world.blobs, body ?? { text: '' })).toBe(long);
});

test('CC#92244: a letter that is offered four times has one effect, and what waits costs one turn', async () => {
  const turns: number[] = [];
  let busy: (() => void) | null = null;
  const run: ActorRun = async (start, port, signal) => {
    if (start.name === 'ada') {
      await port.waitForMail(signal);
      await new Promise<void>((resolve) => {
        busy = resolve;
      });
    }
    await reader((name, mail) => name === 'ada' && turns.push(mail.length))(start, port, signal);
  };
  const scene = await Scene.open({ run });
  for (let again = 0; again < 4; again += 1) await scene.send('ada', 'once', { id: 'same' });
  for (let other = 0; other < 5; other += 1) await scene.send('ada', 'more');
  await scene.world.settle();
  (busy as (() => void) | null)?.();
  await scene.world.settle();
  expect((await scene.box('ada')).filter(({ id }) => id === 'same')).toHaveLength(1);
  expect(scene.of('duplicate')).toHaveLength(3);
  expect(turns).toEqual([6]);
});

test.each([
  ['CC#46691', 'mail starts who has no thread, though no client listens and no time passes'],
  ['awslabs/cli-agent-orchestrator#80', 'a letter to an actor that is already idle is read'],
  ['awslabs/cli-agent-orchestrator#131', 'the second letter to an idle actor is read as well'],
  ['chaitanyagiri/munder-difflin#151', 'no window and no renderer has a part in it'],
  ['anomalyco/opencode#33878', 'whoever shows the session is not needed for its wake-up'],
])('%s: %s', async () => {
  const scene = await Scene.open();
  expect(scene.world.clock.now()).toBe(new Date('2026-01-01T00:00:00Z').getTime());
  for (const id of ['first', 'second']) {
    await scene.send('bo', `keep ${id}`, { id });
    await scene.world.settle();
    expect(scene.of('given').filter((fact) => fact.id === id)).toHaveLength(1);
  }
  expect(scene.world.clock.now()).toBe(new Date('2026-01-01T00:00:00Z').getTime());
  expect(stateOf(scene.world.state.mail, 'bo', 2)).toBe('seen');
});

test('AO#3634: accepted, delivered and seen are three things, and an interrupt reaches a running tool', async () => {
  const states: unknown[] = [];
  const seenBy: Envelope[] = [];
  const look = (): void => void states.push(stateOf(scene.world.state.mail, 'ada', 1));
  const run: ActorRun = async (start, port, signal) => {
    if (start.name !== 'ada') return await reader(() => undefined)(start, port, signal);
    const cut = new Promise<void>((resolve) => {
      port.onInterrupt(resolve);
    });
    await port.waitForMail(signal);
    const first = port.takeMail();
    await port.request({ type: 'delivered', n: first.map(({ n }) => n) });
    look();
    // A tool that would run for ever.
    await cut;
    seenBy.push(...port.takeMail());
    return await new Promise<undefined>(() => undefined);
  };
  const scene: Scene = await Scene.open({ run });
  await scene.send('ada', 'work');
  look();
  await scene.world.settle();
  await scene.send('ada', 'stop that', { lane: 'interrupt' });
  await scene.world.settle();
  expect(states).toEqual(['accepted', 'delivered']);
  expect(seenBy.map(({ body }) => body.text)).toEqual(['stop that']);
  expect(stateOf(scene.world.state.mail, 'ada', 1)).toBe('delivered');
});

test('awslabs/cli-agent-orchestrator#708: nothing removes a live address; mail that has no reader is a dead letter that is shown', async () => {
  const scene = await Scene.open();
  await scene.send('bo', 'keep a');
  // It has taken that in before it is stopped.
  await scene.world.settle();
  await scene.world.stopActor('bo');
  await scene.send('bo', 'keep b', { id: 'b' });
  expect(scene.of('dead').map(({ id }) => id)).toEqual(['b']);
  const dead = deadLetters(scene.world.state.mail);
  expect(dead.map(({ envelope, reason }) => [envelope.id, reason])).toEqual([
    ['b', 'bo is stopped'],
  ]);
  expect((await scene.box('lead')).filter(({ type }) => type === 'mail.dead')).toHaveLength(1);
  const next = await scene.killed();
  expect(deadLetters(next.world.state.mail)).toHaveLength(1);
  await next.send('ada', 'keep c', { id: 'c' });
  expect(next.of('accepted').map(({ id }) => id)).toEqual(['c']);
});

test('phnx-labs/agi-cli PR 877: writer, reader, journal and view know a mailbox by one name, for every kind of actor', async () => {
  const readers = new Set<string>();
  const run = reader((name, mail) => mail.length > 0 && readers.add(name));
  const scene = await Scene.open({ run });
  for (const name of ['lead', 'ada', 'bo']) await scene.send(name, 'to you');
  await scene.world.settle();
  const projection = projectMail();
  for (const record of await scene.records()) projection.apply(record);
  const shown = new Set<string>(projection.rows().map(({ to }) => to));
  expect(readers).toEqual(new Set(['lead', 'ada', 'bo']));
  expect(shown).toEqual(readers);
  expect(new Set(scene.world.state.mail.boxes.keys())).toEqual(readers);
});

test('cooneycw/claude-power-pack#971: who takes mail and gives no sign of life is ended, told of, and its mail given to its successor', async () => {
  const given: string[] = [];
  const run: ActorRun = async (start, port, signal) => {
    if (start.name !== 'ada' || start.incarnation > 1) {
      return await reader((name, mail) => {
        given.push(...mail.map(({ body }) => `${name} ${start.incarnation} ${body.text}`));
      })(start, port, signal);
    }
    await port.waitForMail(signal);
    port.takeMail();
    return await new Promise<undefined>(() => undefined);
  };
  const scene = await Scene.open({ run });
  await scene.send('ada', 'do it');
  await scene.world.clock.advance(80_000);
  await scene.world.settle();
  expect(given).toContain('ada 2 do it');
  const told = (await scene.box('lead')).filter(({ type }) => type === 'actor.died');
  expect(told).toHaveLength(1);
  expect(told[0]?.text).toContain('no sign of life');
});

test('microsoft/autogen#3628: an incarnation that is over commits nothing when it speaks again', async () => {
  const scene = await Scene.open();
  await scene.send('ada', 'die x', { id: 'x' });
  await scene.world.settle();
  expect(scene.of('late')).toHaveLength(1);
  const answers = (await scene.records()).filter(
    ({ a, took }) => a === 'ada' && took !== undefined,
  );
  expect(answers).toHaveLength(1);
  expect(JSON.stringify(answers[0]?.entries)).toContain('sim-2');
});

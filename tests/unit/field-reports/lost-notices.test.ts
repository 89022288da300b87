/** Part A of the field reports, of what tells that work is done. */
import { expect, test } from 'vitest';
import type { ActorRun } from '../../../src/actors/index.ts';
import { followJournal } from '../../../src/journal/index.ts';
import { asCallId, asProcId } from '../../../src/kernel/index.ts';
import { DIRECTORY } from '../../sim/journal/explorer.ts';
import { simRun } from '../../sim/journal/mail-world.ts';
import { task } from '../../support/team.ts';
import { ended, HeldCommands, reader, Scene } from './scene.ts';

const two = simRun({ tasks: [task({ id: 'one', run: 'one' }), task({ id: 'two', run: 'two' })] });

/** Helpers are numbered over all depths; here each has one. */
const depthOf = (name: string): number => Number(name.split('-sub-')[1] ?? 0);

const finished = async (scene: Scene): Promise<string[]> =>
  (await scene.box('lead'))
    .filter(({ type }) => type === 'task.finished')
    .map(({ text }) => /^Task (\w+)/.exec(text)?.[1] ?? '')
    .toSorted();

test.each([
  ['code-yeongyu/oh-my-openagent#2627', 'an end and its notice are one record'],
  [
    'code-yeongyu/oh-my-openagent#5804',
    'a notice that nobody got in one life is given in the next',
  ],
])('%s: %s', async () => {
  const commands = new HeldCommands();
  // The lead is deaf in this life.
  const deaf: ActorRun = async (start, port, signal) => {
    if (start.name === 'lead') return await new Promise<undefined>(() => undefined);
    return await reader(() => undefined)(start, port, signal);
  };
  const hold = task({ id: 'hold', run: 'hold', needs: ['one', 'two'] });
  const file = simRun({ tasks: [...two.team.tasks, hold] });
  const scene = await Scene.open({ file, commands, run: deaf });
  commands.letGo();
  await scene.world.settle();
  const ends = (await scene.records()).filter(({ tasks }) =>
    (tasks ?? []).some(({ type }) => type === 'task.done'),
  );
  expect(ends).toHaveLength(2);
  for (const { mail } of ends) expect(mail?.map(({ type }) => type)).toEqual(['task.finished']);
  const read: string[] = [];
  const run = reader((name, mail) => {
    if (name === 'lead') read.push(...mail.map(({ type }) => type));
  });
  const next = await scene.killed({ file, commands: new HeldCommands(), run });
  await next.world.settle();
  expect(read.filter((type) => type === 'task.finished')).toHaveLength(2);
});

test('code-yeongyu/oh-my-openagent#6546: two ends while the lead is busy are both told, and the run ends by what is, not by a count', async () => {
  const commands = new HeldCommands();
  const read: string[] = [];
  let free: () => void = () => undefined;
  const busy = new Promise<void>((resolve) => {
    free = resolve;
  });
  const run: ActorRun = async (start, port, signal) => {
    if (start.name === 'lead') await busy;
    await reader((_name, mail) => read.push(...mail.map(({ type }) => type)))(start, port, signal);
  };
  const scene = await Scene.open({ file: two, commands, run });
  await scene.world.settle();
  expect(commands.started).toHaveLength(2);
  commands.letGo();
  await scene.world.settle();
  expect(scene.world.state.run.ended).toBeNull();
  free();
  await scene.world.settle();
  await scene.world.settle();
  expect(read.filter((type) => type === 'task.finished')).toHaveLength(2);
  await scene.world.clock.advance(6000);
  await scene.world.finished;
  expect(scene.world.state.run.ended?.state).toBe('done');
});

test.each([
  ['code-yeongyu/oh-my-openagent#644', 'the end of a command that is told again is told to nobody'],
  ['code-yeongyu/oh-my-openagent#5155', 'a task that has ended is never begun again'],
])('%s: %s', async () => {
  const commands = new HeldCommands();
  const hold = task({ id: 'hold', run: 'hold', needs: ['one', 'two'] });
  const file = simRun({ tasks: [...two.team.tasks, hold] });
  const scene = await Scene.open({ file, commands });
  commands.letGo();
  await scene.world.settle();
  const procs = (await scene.records()).flatMap(({ procs }) => procs ?? []);
  for (const { id } of procs) {
    if (procs.filter((one) => one.id === id).length < 2) continue;
    scene.world.post({ type: 'command.ended', id: asProcId(id), outcome: ended });
  }
  scene.world.post({ type: 'sweep', beats: {} });
  await scene.world.settle();
  expect(await finished(scene)).toEqual(['one', 'two']);
  expect(commands.started.toSorted()).toEqual(['hold', 'one', 'two']);
  const next = await scene.killed({ file, commands: new HeldCommands() });
  await next.world.settle();
  const claims = (await next.records()).flatMap(({ tasks }) =>
    (tasks ?? []).flatMap((change) => (change.type === 'task.claimed' ? [change.id] : [])),
  );
  expect(claims.filter((id) => id !== 'hold').toSorted()).toEqual(['one', 'two']);
});

test('openclaw/openclaw PR 87279: what a nested helper found goes to the call that asked for it, through every hop', async () => {
  const results: string[] = [];
  const run: ActorRun = async (start, port, signal) => {
    if (depthOf(start.name) === 2) return { kind: 'finished', text: 'deep' };
    if (start.kind !== 'subagent' && start.name !== 'ada') {
      return await reader(() => undefined)(start, port, signal);
    }
    if (start.kind !== 'subagent') {
      await port.waitForMail(signal);
      port.takeMail();
    }
    const call = asCallId(`call-${start.name}`);
    const reply = await port.request({ type: 'act', call, tool: 'task', input: { prompt: 'ask' } });
    const text = reply.type === 'acted' ? reply.result.text : reply.type;
    results.push(`${start.name} ${text}`);
    if (start.kind === 'subagent') return { kind: 'finished', text: `${text} through one hop` };
    return await new Promise<undefined>(() => undefined);
  };
  const scene = await Scene.open({ run });
  await scene.send('ada', 'begin');
  await scene.world.settle();
  await scene.world.settle();
  expect(results).toEqual(['ada-sub-1 deep', 'ada deep through one hop']);
});

test('microsoft/agent-framework PR 4955: whoever comes late gets what was before, and then what comes, each once', async () => {
  const scene = await Scene.open();
  await scene.send('ada', 'keep before', { id: 'before' });
  await scene.world.settle();
  const stop = new AbortController();
  const seen: string[] = [];
  const { clock } = scene.world;
  const following = followJournal({
    files: scene.disk,
    directory: DIRECTORY,
    clock,
    signal: stop.signal,
  });
  const done = (async () => {
    for await (const { mail } of following) {
      for (const { id } of (mail ?? []) as { id: string }[]) seen.push(id);
    }
  })();
  await scene.world.settle();
  await scene.send('ada', 'keep after', { id: 'after' });
  await clock.advance(2000);
  stop.abort();
  await clock.advance(2000);
  await done;
  expect(seen.filter((id) => id === 'before' || id === 'after')).toEqual(['before', 'after']);
});

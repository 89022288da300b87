/** Kinds of faults that the simulation of the whole system found (`npm run simulate`), each by itself. */
import { expect, test } from 'vitest';
import { asActorName } from '../../../src/kernel/index.ts';
import { hasUnread } from '../../../src/mailbox/index.ts';
import { runFile, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

const HOUR = 3_600_000;

function worldOf(permissions: 'allow' | 'ask' = 'allow'): TeamWorld {
  const tasks = [task({ id: 'a', timeoutMs: HOUR, attempts: 9 })];
  const rules = { default: permissions, rules: [] };
  return new TeamWorld({
    ...runFile({
      id: 'r1',
      team: team({ teammates: ['ada', 'bo'], tasks, permissions: rules }),
      baseCommit: TIP,
      workspace: '/w',
      treesRoot: '/t',
    }),
    attended: true,
  });
}

const subagents = (world: TeamWorld): string[] =>
  [...world.live.actors.keys()].filter((name) => name.includes('-sub-'));

test('M3: what an actor could not answer is not its any more, and is given to it again when it is retried', () => {
  const world = worldOf();
  world.answer('ada');
  world.step({ type: 'send', token: 1, to: 'ada', text: 'hear me', lane: 'normal', id: 'l1' });
  const letter = world.inboxes.get('ada')?.[0];
  const reply = world.request('ada', { type: 'stuck', code: 'x', message: 'no model' });
  expect(reply).toEqual({ type: 'noted', gaveUp: [letter?.n] });
  world.inboxes.set('ada', []);
  const id = letter?.id ?? '';
  world.step({ type: 'mail.settle', token: 2, id, what: 'retried' });
  expect(world.inboxes.get('ada')?.map((one) => one.id)).toContain(id);
});

test('A13: a subagent whose task is over is ended, and nothing is done for it meanwhile', () => {
  const world = worldOf();
  world.answer('ada', ['task']);
  world.act('ada', 'task', { prompt: 'look', background: true });
  const [child = ''] = subagents(world);
  expect(world.permit(child)).toBe('permitted');
  world.endsWait = true;
  world.act('ada', 'complete_task', { summary: 'done' });
  expect(world.effects.some((one) => one.type === 'actor.stop' && one.name === child)).toBe(true);
  expect(world.permit(child)).toMatch(/not yours any more/);
  world.gone(child);
  expect(subagents(world)).toEqual([]);
});

test('S: a subagent that ended in the middle of its turn is not started by the next term, nor is its ask renewed', () => {
  const world = worldOf('ask');
  world.answer('ada', ['task']);
  world.act('ada', 'task', { prompt: 'look', background: true });
  const [child = ''] = subagents(world);
  world.answer(child, ['bash']);
  world.begin(child, 'bash', { command: 'alpha' });
  world.restart();
  expect(subagents(world)).toEqual([]);
  const changes = world.records.flatMap(({ asks }) => asks ?? []);
  expect(changes.map(({ type }) => type)).toEqual(['ask.put', 'ask.withdrawn']);
  world.pass(HOUR);
  world.restart();
  expect(subagents(world)).toEqual([]);
});

test('T7: what comes back of an older claim lets the claim of now go on', () => {
  const world = worldOf();
  const node = world.state.graph.nodes.get('a' as never);
  const name = asActorName('ada');
  // Its worker dies while its tree is committed, and the commit is late.
  world.act('ada', 'complete_task', { summary: 'done' });
  const old = node?.fence ?? 0;
  expect(world.live.taskOps.get('a' as never)).toBe('commit');
  const outcome = { kind: 'failed', text: 'late' } as const;
  world.step({ type: 'tree.committed', task: 'a' as never, fence: old - 1, outcome });
  expect(world.live.taskOps.get('a' as never)).toBe('commit');
  expect(world.effects.some(({ type }) => type === 'tree.commit')).toBe(true);
  expect(hasUnread(world.state.mail, name)).toBe(true);
});

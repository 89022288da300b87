/** S4: a stop in every state of a life ends, says so only when all is gone, and is durable. */
import { describe, expect, it } from 'vitest';
import { asActorName, asProcId } from '../../../src/kernel/index.ts';
import type { AgentProfile } from '../../../src/protocol/index.ts';
import type { CommandOutcome } from '../../../src/supervisor/inbox.ts';
import { BACKOFF_MAX_MS, PASSIVATE_MS } from '../../../src/supervisor/limits.ts';
import { runFile, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

const ADA = asActorName('ada');

function world(permissions: 'allow' | 'ask' = 'allow'): TeamWorld {
  const made = team({
    lead: true,
    teammates: ['ada', 'bo'],
    tasks: [task({ id: 'a', attempts: 99, timeoutMs: 1_000 * PASSIVATE_MS })],
    permissions: { default: permissions, rules: [] },
  });
  const implementer = {
    ...(made.agents['implementer'] as AgentProfile),
    restart: 'permanent',
  } as const;
  const file = runFile({
    id: 'r1',
    team: { ...made, agents: { ...made.agents, implementer } },
    baseCommit: TIP,
    workspace: '/w',
    treesRoot: '/t',
  });
  const w = new TeamWorld({ ...file, attended: true });
  w.endsWait = true;
  return w;
}

const state = (w: TeamWorld): string => {
  const live = w.live.actors.get(ADA);
  if (live !== undefined) return live.doom?.kind === 'passivated' ? 'passivating' : live.phase;
  const phase = w.state.actors.byName.get(ADA)?.phase;
  return phase?.kind === 'ended' ? phase.end.kind : (phase?.kind ?? 'nobody');
};

/** Without its task: that is done, or somebody else's. */
function free(): TeamWorld {
  const w = world();
  w.act('ada', 'complete_task', { summary: 'ok' });
  w.rest('ada');
  return w;
}

/** How each state is come to; the key is what `state` says of it. */
const STATES: { readonly [state: string]: () => TeamWorld } = {
  starting: () => world(),
  thinking: () => {
    const w = world();
    w.request('ada', { type: 'live', event: 'thinking', data: '' });
    return w;
  },
  tooling: () => {
    const w = world();
    w.begin('ada', 'bash', { command: 'sleep 600' });
    return w;
  },
  waiting: () => {
    const w = world('ask');
    w.begin('ada', 'bash', { command: 'make it so' });
    return w;
  },
  idle: () => free(),
  passivating: () => {
    const w = free();
    w.pass(PASSIVATE_MS);
    return w;
  },
  passivated: () => {
    const w = free();
    w.pass(PASSIVATE_MS);
    w.gone('ada');
    return w;
  },
  stopping: () => {
    const w = world();
    w.step({ type: 'stop.actor', token: 1, name: 'ada', now: false, by: 'user' });
    return w;
  },
  crashed: () => {
    const w = world();
    w.die('ada');
    w.die('ada');
    return w;
  },
  added: () => {
    const w = world();
    // Its name in the table of members, never started.
    w.live.actors.delete(ADA);
    const facts = w.state.actors.byName.get(ADA);
    if (facts !== undefined) w.state.actors.byName.set(ADA, { ...facts, phase: { kind: 'added' } });
    return w;
  },
};

const killed: CommandOutcome = {
  code: null,
  signal: 'SIGKILL',
  why: 'killed',
  left: [],
  text: '',
  cut: false,
  durationMs: 1,
};
const answered = (w: TeamWorld): number[] =>
  w.effects.flatMap((one) => (one.type === 'answer' ? [one.token] : []));

/** Threads and processes end as they are told to; what was answered on the way, in order. */
function letEnd(w: TeamWorld): number[] {
  const tokens = answered(w);
  if (w.live.actors.has(ADA)) {
    w.gone('ada');
    tokens.push(...answered(w));
  }
  for (const id of w.live.commands.keys()) {
    expect(tokens).toEqual([]);
    w.step({ type: 'command.ended', id, outcome: killed });
    tokens.push(...answered(w));
  }
  return tokens;
}

describe('S4: a stop', () => {
  it.each(Object.entries(STATES))('of who is %s ends, and is durable', (name, make) => {
    const w = make();
    expect(state(w)).toBe(name);
    w.step({ type: 'stop.actor', token: 7, name: 'ada', now: true, by: 'user' });
    const tokens = letEnd(w);
    expect(tokens.filter((token) => token === 7)).toEqual([7]);
    // Whoever asked before is answered as well.
    if (name === 'stopping') expect(tokens).toEqual([1, 7]);
    expect(state(w)).toBe('stopped');
    expect(w.live.stops.size).toBe(0);
    expect([...w.state.claims.keys()]).not.toContain(ADA);

    // Once more is no more.
    const before = w.records.length;
    w.step({ type: 'stop.actor', token: 8, name: 'ada', now: true, by: 'user' });
    expect(answered(w)).toEqual([8]);
    expect(w.records).toHaveLength(before);

    // Neither time, mail, a pause that is over nor another supervisor brings it back.
    w.pass(2 * BACKOFF_MAX_MS);
    w.step({ type: 'mail.due', name: ADA });
    if (name !== 'added') {
      w.restart();
      w.pass(2 * BACKOFF_MAX_MS);
    }
    w.step({ type: 'send', token: 9, to: 'ada', text: 'Hi', lane: 'normal', id: null });
    expect(w.live.actors.has(ADA)).toBe(false);
    expect(state(w)).toBe('stopped');
  });

  it('dudarenok-maker/Castwright#2891: says stopped only when the last process is gone', () => {
    const w = STATES['tooling']?.() as TeamWorld;
    const [id] = [...w.live.commands.keys()];
    w.step({ type: 'stop.actor', token: 7, name: 'ada', now: true, by: 'user' });
    w.gone('ada');
    expect(w.effects.filter((one) => one.type === 'command.kill')).toEqual([
      { type: 'command.kill', id },
    ]);
    expect(answered(w)).toEqual([]);
    w.step({
      type: 'command.ended',
      id: id ?? asProcId('none'),
      outcome: { ...killed, left: [42] },
    });
    expect(answered(w)).toEqual([7]);
    // What even force did not end is named.
    expect(w.letters('command.finished').at(-1)).toContain('42');
  });

  it('of a subagent is answered when its thread is gone', () => {
    const w = world();
    w.act('ada', 'task', { prompt: 'look', background: true });
    const sub = 'ada-sub-1';
    w.step({ type: 'stop.actor', token: 7, name: sub, now: true, by: 'user' });
    expect(answered(w)).toEqual([]);
    w.gone(sub);
    expect(answered(w)).toEqual([7]);
  });

  it('of a member ends who works for it first', () => {
    const w = world();
    w.act('ada', 'task', { prompt: 'look', background: true });
    w.step({ type: 'stop.actor', token: 7, name: 'ada', now: true, by: 'user' });
    w.gone('ada');
    expect(answered(w)).toEqual([]);
    w.gone('ada-sub-1');
    expect(answered(w)).toEqual([7]);
  });

  it('is durable also when the run stops in the same moment', () => {
    const w = world();
    w.step({ type: 'stop.actor', token: 7, name: 'ada', now: true, by: 'user' });
    w.step({ type: 'stop', now: true, by: 'user' });
    w.gone('ada');
    w.step({ type: 'stopped', left: [] });
    w.restart();
    expect(state(w)).toBe('stopped');
    expect(w.live.actors.has(ADA)).toBe(false);
  });
});

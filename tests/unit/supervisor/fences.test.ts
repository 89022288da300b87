/** A4: every event and every request of an older life or claim is refused, logged, and changes nothing. */
import { describe, expect, it } from 'vitest';
import { asActorName, asCallId, asProcId, asTaskId } from '../../../src/kernel/index.ts';
import { type ActorRequest, NO_USAGE } from '../../../src/protocol/index.ts';
import type { CommandOutcome, RunEvent } from '../../../src/supervisor/inbox.ts';
import { PASSIVATE_MS } from '../../../src/supervisor/limits.ts';
import { runFile, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

const ADA = asActorName('ada');
const A = asTaskId('a');
const CALL = asCallId('cal_late');
type Type = ActorRequest['type'];
const USAGE = { ...NO_USAGE, outputTokens: 5, costUsd: 1 };

/** One of each, as it could mean most. */
const REQUESTS: { readonly [T in Type]: Extract<ActorRequest, { type: T }> } = {
  answer: {
    type: 'answer',
    took: [1],
    entries: [
      {
        type: 'answer',
        task: A,
        model: 'm',
        stop: 'end',
        usage: USAGE,
        content: [{ type: 'text', text: 'late' }],
      },
    ],
    usage: USAGE,
  },
  result: { type: 'result', entries: [] },
  reserve: {
    type: 'reserve',
    id: 'ada-1-1-9',
    model: 'x/y',
    task: A,
    input: 10,
    maxTokens: 10,
    rate: null,
    turn: 1,
    patient: true,
  },
  settle: {
    type: 'settle',
    id: 'ada-1-1-9',
    model: 'x/y',
    task: A,
    usage: USAGE,
    limited: { kind: 'quota', resetAt: null, text: 'late' },
  },
  begun: { type: 'begun', id: 'ada-1-1-9' },
  permit: { type: 'permit', call: CALL, tool: 'write_file', input: { path: 'a', content: '' } },
  act: { type: 'act', call: CALL, tool: 'complete_task', input: { summary: 'late' } },
  team: { type: 'team' },
  delivered: { type: 'delivered', n: [1] },
  idle: { type: 'idle', why: 'end' },
  stuck: { type: 'stuck', code: 'x/late', message: 'late' },
  live: { type: 'live', event: 'thinking', data: '' },
};

function world(): TeamWorld {
  const file = runFile({
    id: 'r1',
    team: team({ lead: true, teammates: ['ada'], tasks: [task({ id: 'a', attempts: 9 })] }),
    baseCommit: TIP,
    workspace: '/w',
    treesRoot: '/t',
  });
  return new TeamWorld(file);
}

/** Its first life is over, the second holds the task. */
function reborn(): TeamWorld {
  const w = world();
  w.die('ada');
  expect(w.live.actors.get(ADA)).toMatchObject({ incarnation: 2, epoch: 2 });
  return w;
}

/** The same incarnation, passivated and awake again. */
function woken(): TeamWorld {
  const w = world();
  w.rest('lead');
  w.act('ada', 'fail_task', { reason: 'cannot be done' });
  for (let n = 0; n < 8; n += 1) w.act('ada', 'fail_task', { reason: 'cannot be done' });
  w.live.finishBusy = true;
  w.rest('ada');
  w.pass(PASSIVATE_MS);
  expect(w.live.actors.has(ADA)).toBe(false);
  w.step({ type: 'send', token: 1, to: 'ada', text: 'Hi', lane: 'normal', id: null });
  expect(w.live.actors.get(ADA)).toMatchObject({ incarnation: 1, epoch: 2 });
  return w;
}

/** What it leads to besides a line in the log and a refusal: nothing, on record or in memory. */
function refuses(w: TeamWorld, event: RunEvent, what: string): void {
  const before = structuredClone(w.state);
  const live = JSON.stringify([...w.live.actors]);
  const count = w.records.length;
  const effects = w.step(event);
  expect(w.records).toHaveLength(count);
  expect(w.state).toEqual(before);
  expect(JSON.stringify([...w.live.actors])).toBe(live);
  expect(effects.filter((one) => one.type === 'refused')).toMatchObject([{ what }]);
  for (const one of effects) {
    if (one.type === 'refused') continue;
    // To a thread that is not there any more.
    expect(one).toMatchObject({ type: 'reply', reply: { type: 'failed' } });
    if (one.type === 'reply') expect(w.live.actors.get(ADA)?.incarnation).not.toBe(one.incarnation);
  }
}

describe('A4: of a life that is over', () => {
  it.each(Object.keys(REQUESTS) as Type[])('a request %s is refused', (type) => {
    const upward = { id: 1, request: REQUESTS[type] };
    const late = { type: 'request', name: ADA, incarnation: 1, epoch: 1, upward } as const;
    refuses(reborn(), late, `request ${type}`);
    refuses(woken(), late, `request ${type}`);
    // Of who is not there at all.
    const dead = reborn();
    dead.die('ada');
    refuses(dead, { ...late, incarnation: 2, epoch: 2 } as const, `request ${type}`);
  });

  it('the end of a thread ends nobody else', () => {
    const exit = { kind: 'crashed', code: 'uncaught', message: 'late' } as const;
    const late = { type: 'actor.exited', name: ADA, incarnation: 1, epoch: 1, exit } as const;
    for (const w of [reborn(), woken()]) {
      refuses(w, late, 'actor.exited');
      expect(w.live.actors.has(ADA)).toBe(true);
    }
  });

  it('gastownhall/gastown#1071: a stop that was meant for it names it, so that the next one lives', () => {
    const w = world();
    w.endsWait = true;
    w.step({ type: 'stop.actor', token: 1, name: 'ada', now: true, by: 'user' });
    expect(w.effects.find((one) => one.type === 'actor.stop')).toMatchObject({ incarnation: 1 });
  });
});

const done: CommandOutcome = {
  code: 0,
  signal: null,
  why: 'exit',
  left: [],
  text: '',
  cut: false,
  durationMs: 1,
};

describe('A4, T3: of a claim that is over', () => {
  const place = { path: '/late', branch: 'late', start: TIP, note: null };
  const late = (fence: number): readonly RunEvent[] => [
    { type: 'tree.prepared', task: A, fence, outcome: { kind: 'ready', ...place } },
    { type: 'tree.prepared', task: A, fence, outcome: { kind: 'failed', text: 'late' } },
    { type: 'tree.committed', task: A, fence, outcome: { kind: 'committed', commit: TIP } },
    { type: 'tree.committed', task: A, fence, outcome: { kind: 'failed', text: 'late' } },
    { type: 'merge.computed', task: A, fence, outcome: { kind: 'merged', from: TIP, to: TIP } },
    { type: 'merge.computed', task: A, fence, outcome: { kind: 'conflict', text: 'late' } },
    { type: 'ref.advanced', task: A, to: 'late', outcome: { kind: 'moved' } },
  ];

  it.each(late(0).map((event, index) => [`${event.type} ${index}`, index] as const))(
    '%s changes nothing',
    (_name, index) => {
      const w = world();
      const fence = w.state.graph.nodes.get(A)?.fence ?? 0;
      w.die('ada');
      expect(w.state.graph.nodes.get(A)?.fence).toBeGreaterThan(fence);
      const event = late(fence)[index] as RunEvent;
      refuses(w, event, event.type);
    },
  );

  it('the end of a command is on record and means nothing for the task', () => {
    const w = world();
    const id = asProcId('prc_late');
    w.live.commands.set(id, { kind: 'task', task: A, fence: 1 });
    refuses(w, { type: 'command.ended', id, outcome: done }, 'command.ended');
    // Nor does one of a stage that the same claim has left.
    const fence = w.state.graph.nodes.get(A)?.fence ?? 0;
    w.act('ada', 'complete_task', { summary: 'ok' });
    w.live.commands.set(id, { kind: 'task', task: A, fence });
    const before = w.records.length;
    w.step({ type: 'command.ended', id, outcome: { ...done, code: 1 } });
    expect(w.records).toHaveLength(before);
    expect(w.state.graph.nodes.get(A)).toMatchObject({ state: 'verifying', attemptsUsed: 0 });
  });

  it('a merge that another intent has taken the place of does not finish its task', () => {
    const w = world();
    w.act('ada', 'complete_task', { summary: 'ok' });
    const fence = w.state.graph.nodes.get(A)?.fence ?? 0;
    const outcome = { kind: 'committed', commit: TIP } as const;
    w.step({ type: 'tree.committed', task: A, fence, outcome });
    const to = 'b'.repeat(40);
    w.step({ type: 'merge.computed', task: A, fence, outcome: { kind: 'merged', from: TIP, to } });
    refuses(
      w,
      { type: 'ref.advanced', task: A, to: TIP, outcome: { kind: 'moved' } },
      'ref.advanced',
    );
    w.step({ type: 'ref.advanced', task: A, to, outcome: { kind: 'moved' } });
    expect(w.state.graph.nodes.get(A)?.state).toBe('done');
  });
});

describe('A4: of a call that is over', () => {
  it('looks at the disk, pages of output and ends of waits change nothing', () => {
    for (const w of [reborn(), woken()]) {
      const before = w.records.length;
      const page = { text: '', from: 0, next: 0, size: 0 };
      for (const event of [
        { type: 'call.looked', name: ADA, call: CALL },
        { type: 'output.read', call: CALL, page },
        { type: 'wait.over', call: CALL },
      ] as const) {
        expect(w.step(event)).toEqual([]);
      }
      expect(w.records).toHaveLength(before);
    }
  });
});

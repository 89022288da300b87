import { describe, expect, test } from 'vitest';
import {
  type ActorLive,
  type ActorTable,
  actorOf,
  actorRow,
  applyActor,
  endOf,
  lifecycleOf,
  makeActorTable,
  nextIncarnation,
} from '../../../src/actors/index.ts';
import { asActorName } from '../../../src/kernel/index.ts';
import { type ActorChange, NO_USAGE } from '../../../src/protocol/index.ts';

const ada = asActorName('ada');
const added: ActorChange = {
  type: 'actor.added',
  name: ada,
  kind: 'teammate',
  profile: {
    name: 'implementer',
    description: '',
    prompt: '',
    model: null,
    tools: null,
    restart: 'transient',
  },
  parent: null,
  depth: 0,
};
const started = (incarnation: number, epoch: number): ActorChange => ({
  type: 'actor.started',
  name: ada,
  incarnation,
  epoch,
});
const ended = (incarnation: number, kind: 'finished' | 'stopped' | 'crashed'): ActorChange => ({
  type: 'actor.ended',
  name: ada,
  incarnation,
  end: { kind, text: `it ${kind}` },
});

function fold(...changes: readonly ActorChange[]): ActorTable {
  const table = makeActorTable();
  for (const [index, change] of changes.entries()) {
    applyActor(table, change, { seq: index + 1, at: `t${index + 1}` });
  }
  return table;
}

describe('A4: one live incarnation per name', () => {
  test('a start is a new incarnation, a wake-up keeps it; the epoch rises with both', () => {
    const table = fold(added);
    expect(nextIncarnation(table, 'ada')).toEqual({ incarnation: 1, epoch: 1 });
    applyActor(table, started(1, 1), { seq: 2, at: 't2' });
    applyActor(table, { type: 'actor.passivated', name: ada, epoch: 1 }, { seq: 3, at: 't3' });
    expect(nextIncarnation(table, 'ada')).toEqual({ incarnation: 1, epoch: 2 });
    applyActor(table, started(1, 2), { seq: 4, at: 't4' });
    applyActor(table, ended(1, 'crashed'), { seq: 5, at: 't5' });
    expect(nextIncarnation(table, 'ada')).toEqual({ incarnation: 2, epoch: 3 });
    expect(actorOf(table, 'ada')).toMatchObject({ since: 't5', sinceSeq: 5 });
    expect(nextIncarnation(table, 'bo')).toEqual({ incarnation: 1, epoch: 1 });
  });

  test('after a resume, one that was started is started anew', () => {
    expect(nextIncarnation(fold(added, started(1, 1)), 'ada')).toEqual({
      incarnation: 2,
      epoch: 2,
    });
  });

  test('the end and the passivation of an old one are void', () => {
    const table = fold(added, started(1, 1), started(2, 2), ended(1, 'crashed'), {
      type: 'actor.passivated',
      name: ada,
      epoch: 1,
    });
    expect(actorOf(table, 'ada')?.phase).toEqual({ kind: 'started' });
    applyActor(table, ended(2, 'finished'), { seq: 9, at: 't9' });
    applyActor(table, ended(2, 'crashed'), { seq: 10, at: 't10' });
    const actor = actorOf(table, 'ada');
    expect(actor === null ? null : endOf(actor)).toEqual({ kind: 'finished', text: 'it finished' });
  });

  test('a start that does not rise, and a change of one who was never added, are bugs', () => {
    expect(() => fold(added, started(1, 1), started(1, 1))).toThrow('A4');
    expect(() => fold(added, started(2, 1), started(1, 2))).toThrow('A4');
    expect(() => fold(started(1, 1))).toThrow('A4');
  });

  test('a name that is used again goes on counting', () => {
    const table = fold(added, started(1, 1), ended(1, 'stopped'), added);
    expect(actorOf(table, 'ada')?.phase).toEqual({ kind: 'added' });
    expect(nextIncarnation(table, 'ada')).toEqual({ incarnation: 2, epoch: 2 });
  });
});

describe('A5: the state is made of facts and liveness', () => {
  const running = (kind: 'idle' | 'thinking' | 'tooling'): ActorLive => ({
    kind: 'running',
    activity: { kind },
  });
  const waiting: ActorLive = {
    kind: 'running',
    activity: { kind: 'waiting', reason: { kind: 'approval', text: 'bash' } },
  };
  const absent: ActorLive = { kind: 'absent' };
  const states: readonly (readonly [string, ActorTable, ActorLive, string])[] = [
    ['added', fold(added), absent, 'passivated'],
    ['added', fold(added), { kind: 'starting' }, 'starting'],
    ['started', fold(added, started(1, 1)), { kind: 'starting' }, 'starting'],
    ['started', fold(added, started(1, 1)), running('idle'), 'idle'],
    ['started', fold(added, started(1, 1)), running('thinking'), 'thinking'],
    ['started', fold(added, started(1, 1)), running('tooling'), 'tooling'],
    ['started', fold(added, started(1, 1)), waiting, 'waiting'],
    ['started', fold(added, started(1, 1)), { kind: 'stopping' }, 'stopping'],
    ['started', fold(added, started(1, 1)), absent, 'passivated'],
    ['finished', fold(added, started(1, 1), ended(1, 'finished')), absent, 'stopped'],
    ['stopped', fold(added, started(1, 1), ended(1, 'stopped')), running('idle'), 'stopped'],
    ['crashed', fold(added, started(1, 1), ended(1, 'crashed')), absent, 'crashed'],
  ];
  test.each(states)('%s with %o', (_facts, table, live, expected) => {
    const actor = actorOf(table, 'ada');
    expect(actor === null ? null : lifecycleOf(actor, live).kind).toBe(expected);
  });

  test('a row has the reason, and the moment when the activity began', () => {
    const actor = actorOf(fold(added, started(1, 1)), 'ada');
    if (actor === null) throw new Error('no actor');
    const parts = { live: waiting, task: 'parser', usage: NO_USAGE };
    expect(actorRow(actor, parts)).toEqual({
      name: 'ada',
      kind: 'teammate',
      incarnation: 1,
      state: 'waiting',
      reason: { kind: 'approval', text: 'bash' },
      task: 'parser',
      since: 't2',
      usage: NO_USAGE,
    });
    expect(actorRow(actor, { ...parts, activeSince: 't9' }).since).toBe('t9');
  });
});

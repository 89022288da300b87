/** S13: whatever does not move has a typed reason and one command; each kind comes from a real state. */
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/command-table.ts';
import { asTaskId } from '../../../src/kernel/index.ts';
import {
  NO_USAGE,
  type ReasonKind,
  type SettleRequest,
  type WhyRow,
} from '../../../src/protocol/index.ts';
import type { CommandOutcome, MergeOutcome } from '../../../src/supervisor/inbox.ts';
import { NOT_ALIVE, whyRows } from '../../../src/supervisor/index.ts';
import { livenessIn } from '../../../src/supervisor/rows.ts';
import { applyRecord } from '../../../src/supervisor/state.ts';
import { runFile, type TaskParts, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

function world(tasks: readonly TaskParts[], parts: Parameters<typeof team>[0] = {}): TeamWorld {
  const file = runFile({
    id: 'r1',
    team: team({ teammates: ['ada'], tasks: tasks.map(task), ...parts }),
    baseCommit: TIP,
    workspace: '/w',
    treesRoot: '/t',
  });
  return new TeamWorld({ ...file, attended: true });
}

/** As `troupe why` sees it beside the running supervisor. */
function why(w: TeamWorld, about?: string): WhyRow[] {
  return whyRows(w.state, livenessIn(w.state, w.live), about);
}

/** Two tasks whose work is committed; the first is being merged. */
function merging(): { readonly w: TeamWorld; merge(outcome: MergeOutcome): void } {
  const w = world([{ id: 'a' }, { id: 'b' }], { teammates: ['ada', 'bo'] });
  for (const [name, id] of [
    ['ada', 'a'],
    ['bo', 'b'],
  ] as const) {
    w.act(name, 'complete_task', { summary: 'ok' });
    const fence = fenceOf(w, id);
    const outcome = { kind: 'committed', commit: TIP } as const;
    w.step({ type: 'tree.committed', task: asTaskId(id), fence, outcome });
  }
  const merge = (outcome: MergeOutcome): void => {
    w.step({ type: 'merge.computed', task: asTaskId('a'), fence: fenceOf(w, 'a'), outcome });
  };
  return { w, merge };
}

const fenceOf = (w: TeamWorld, id: string): number =>
  w.state.graph.nodes.get(asTaskId(id))?.fence ?? 0;

function settled(w: TeamWorld, limited: SettleRequest['limited']): void {
  const request = { type: 'settle', id: 'r', model: 'scripted/s', task: null } as const;
  w.request('ada', { ...request, usage: NO_USAGE, ...(limited === undefined ? {} : { limited }) });
}

const ended = (code: number): CommandOutcome => ({
  code,
  signal: null,
  why: 'exit',
  left: [],
  text: 'the output',
  cut: false,
  durationMs: 1,
});

/** Each a state that the run can come into, and who waits in it. */
const STATES: { readonly [K in ReasonKind]?: () => readonly [WhyRow[], about: string] } = {
  task: () => {
    const w = world([{ id: 'a' }, { id: 'b', needs: ['a'] }]);
    return [why(w), 'b'];
  },
  touches: () => {
    const w = world(
      [
        { id: 'a', touches: ['src/**'] },
        { id: 'b', touches: ['src/x'] },
      ],
      { teammates: ['ada', 'bo'] },
    );
    return [why(w), 'b'];
  },
  parallel: () => {
    const w = world([{ id: 'a' }, { id: 'b' }], {
      teammates: ['ada', 'bo'],
      limits: { parallel: 1, turns: 60, depth: 2, fanout: 4 },
    });
    return [why(w), 'b'];
  },
  member: () => [why(world([{ id: 'a' }, { id: 'b' }])), 'b'],
  idle: () => [why(world([{ id: 'a' }], { teammates: ['ada', 'bo'] })), 'bo'],
  approval: () => {
    const w = world([{ id: 'a', plan: 'required' }]);
    w.act('ada', 'submit_plan', { plan: 'First this, then that.' });
    return [why(w), 'a'];
  },
  stopped: () => {
    const w = world([{ id: 'a' }]);
    w.step({ type: 'stop', now: true, by: 'user' });
    w.step({ type: 'stopped', left: [] });
    return [whyRows(w.state, NOT_ALIVE), 'a'];
  },
  budget: () => {
    const w = world([{ id: 'a', timeoutMs: 900_000 }], {
      budget: { usd: null, tokens: null, wallMs: 60_000 },
    });
    w.pass(60_000);
    w.step({ type: 'stopped', left: [] });
    return [whyRows(w.state, NOT_ALIVE), 'a'];
  },
  attempts: () => {
    const w = world(
      [
        { id: 'a', attempts: 1 },
        { id: 'b', agent: 'lead' },
      ],
      { lead: true },
    );
    w.die('ada');
    return [why(w), 'a'];
  },
  merge: () => {
    const { w } = merging();
    return [why(w), 'b'];
  },
  quota: () => {
    const w = world([{ id: 'a' }]);
    settled(w, { kind: 'quota', resetAt: null, text: 'used up' });
    return [why(w), 'a'];
  },
  conflict: () => {
    const { w, merge } = merging();
    const node = w.state.graph.nodes.get(asTaskId('a'));
    if (node !== undefined) Object.assign(node, { conflicts: 99 });
    merge({ kind: 'conflict', text: 'both have changed a.txt' });
    return [why(w), 'a'];
  },
  cancelled: () => {
    const w = world([{ id: 'a' }, { id: 'b' }], { teammates: ['ada', 'bo'] });
    const reason = { kind: 'cancelled', text: 'the user has taken it back' } as const;
    const s = w.records.length + 1;
    const at = '2026-11-30T12:00:00.000Z';
    applyRecord(w.state, {
      k: 'task',
      at,
      s,
      d: s,
      tasks: [{ type: 'task.cancelled', id: asTaskId('b'), reason }],
    });
    return [why(w), 'b'];
  },
  backoff: () => {
    const w = world([{ id: 'a', attempts: 9 }], { lead: true });
    w.die('ada');
    w.die('ada');
    return [why(w), 'ada'];
  },
  unknown: () => {
    const w = world([{ id: 'a' }]);
    w.state.unknown.set('a', 'a newer version has recorded something of it');
    return [why(w), 'a'];
  },
  stalled: () => {
    const w = world([{ id: 'a' }]);
    w.act('ada', 'fail_task', { reason: 'again', retry: true });
    const node = w.state.graph.nodes.get(asTaskId('a'));
    if (node !== undefined) Object.assign(node, { state: 'ready' });
    w.state.claims.clear();
    w.state.alarms.set(asTaskId('a'), 'nothing was begun');
    return [why(w), 'a'];
  },
  died: () => {
    const limits = { parallel: 4, turns: 60, depth: 2, fanout: 4, restarts: 1 };
    const w = world([{ id: 'a', attempts: 9 }], { lead: true, limits });
    w.die('ada');
    return [why(w), 'ada'];
  },
};

const KINDS: ReadonlySet<ReasonKind> = new Set<ReasonKind>([
  'task',
  'member',
  'approval',
  'merge',
  'budget',
  'quota',
  'touches',
  'parallel',
  'backoff',
  'conflict',
  'gate',
  'attempts',
  'agent',
  'worktree',
  'stopped',
  'cancelled',
  'idle',
  'died',
  'stalled',
  'unknown',
]);

/** The command line as it reads an action: name, arguments and options; null when it does not. */
function parse(action: string): readonly string[] | null {
  const [first, ...argv] = (action.match(/'[^']*'|\S+/g) ?? []).map((word) =>
    word.replaceAll("'", ''),
  );
  if (first !== 'troupe') return null;
  let read: readonly string[] | null = null;
  const program = new Command('troupe').exitOverride().configureOutput({ writeErr: () => {} });
  for (const spec of COMMANDS) {
    const command = program.command(spec.name).allowExcessArguments(false);
    for (const [flags, description] of spec.args) command.argument(flags, description);
    for (const { flags, description } of spec.options) command.option(flags, description);
    command.action(() => {
      read = [spec.name, ...command.args];
    });
  }
  program.parse(argv, { from: 'user' });
  return read;
}

describe('S13: a wait', () => {
  it.each(Object.entries(STATES))('of kind %s has a command that exists', (kind, make) => {
    const [rows, about] = make();
    const row = rows.find((one) => one.about === about);
    expect(row?.reason.kind).toBe(kind);
    expect(row?.reason.text).not.toBe('');
    for (const { action } of rows) expect(parse(action)).not.toBeNull();
  });

  it('has a test for each kind that a row can have', () => {
    const untested = [...KINDS].filter((kind) => STATES[kind] === undefined);
    // These are told of tasks that are tried again or are over, as the cause within `attempts`.
    expect(untested).toEqual(['gate', 'agent', 'worktree']);
  });

  it('of a merge that something outside stands in the way of says what', () => {
    const { w, merge } = merging();
    merge({ kind: 'blocked', text: 'a.lock is held by another git' });
    const [row] = why(w, 'a');
    expect(row?.reason).toMatchObject({ kind: 'merge' });
    expect(row?.reason.text).toContain('a.lock');
    // And who waits behind it is told the same action.
    expect(why(w, 'b')[0]?.action).toBe(row?.action);
  });

  it('of a gate that failed and of a tree that could not be made names them', () => {
    const w = world([{ id: 'a', run: 'exit 3', attempts: 1 }]);
    for (const id of w.live.commands.keys()) {
      w.step({ type: 'command.ended', id, outcome: ended(3) });
    }
    expect(why(w, 'a')[0]?.reason).toMatchObject({ kind: 'attempts' });
    expect(why(w, 'a')[0]?.reason.text).toContain('exit 3');
    const failing = world([{ id: 'a', attempts: 1 }]);
    failing.live.prepared.clear();
    const outcome = { kind: 'failed', text: 'no space for the tree' } as const;
    const fence = fenceOf(failing, 'a');
    failing.step({ type: 'tree.prepared', task: asTaskId('a'), fence, outcome });
    expect(why(failing, 'a')[0]?.reason.text).toContain('no space for the tree');
  });

  it('tells the action of what it waits for in the end', () => {
    const w = world([
      { id: 'a', plan: 'required' },
      { id: 'b', needs: ['a'] },
      { id: 'c', needs: ['b'] },
    ]);
    w.act('ada', 'submit_plan', { plan: 'First this, then that.' });
    const actions = why(w).map(({ about, action }) => [about, action]);
    expect(actions).toEqual([
      ['a', 'troupe plan approve plan-1'],
      ['b', 'troupe plan approve plan-1'],
      ['c', 'troupe plan approve plan-1'],
    ]);
  });

  it('of a member with work in hand is none', () => {
    const w = world([{ id: 'a' }]);
    expect(why(w)).toEqual([]);
    expect(why(w, 'a')).toEqual([]);
    expect(why(w, 'ada')).toEqual([]);
  });

  it('in a run that is over is looked up as what it is', () => {
    const w = world([{ id: 'a' }]);
    const at = new Date(0).toISOString();
    w.state.run.ended = { state: 'failed', reason: null, commit: TIP, at };
    const actions = whyRows(w.state, NOT_ALIVE).map(({ about, action }) => [about, action]);
    expect(actions).toContainEqual(['a', 'troupe tasks a']);
  });

  it('is the same from the journal alone', () => {
    const w = world([{ id: 'a' }, { id: 'b', needs: ['a'] }]);
    const before = whyRows(w.state, NOT_ALIVE);
    expect(before.map((row) => row.about)).toEqual(['a', 'b', 'ada']);
    expect(before.every((row) => row.action === 'troupe resume r1')).toBe(true);
    expect(whyRows(w.replayed(), NOT_ALIVE)).toEqual(before);
  });
});

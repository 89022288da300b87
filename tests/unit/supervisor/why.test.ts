/** S13: whatever does not move has a typed reason and one command; each kind comes from a real state. */
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/command-table.ts';
import type { ReasonKind, WhyRow } from '../../../src/protocol/index.ts';
import { NOT_ALIVE, whyRows } from '../../../src/supervisor/index.ts';
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
  const phases = Object.fromEntries(
    [...w.live.actors.values()].map((one) => [
      one.name,
      { state: one.phase, since: one.since, reason: null },
    ]),
  );
  return whyRows(w.state, { alive: true, phases }, about);
}

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
  died: () => {
    const limits = { parallel: 4, turns: 60, depth: 2, fanout: 4, restarts: 1 };
    const w = world([{ id: 'a', attempts: 9 }], { lead: true, limits });
    w.die('ada');
    return [why(w), 'ada'];
  },
};

describe('S13: a wait', () => {
  it.each(Object.entries(STATES))('of kind %s has a command that exists', (kind, make) => {
    const [rows, about] = make();
    const row = rows.find((one) => one.about === about);
    expect(row?.reason.kind).toBe(kind);
    expect(row?.reason.text).not.toBe('');
    for (const { action } of rows) {
      const [program, name] = action.split(' ');
      expect(program).toBe('troupe');
      expect(COMMANDS.map((command) => command.name)).toContain(name);
    }
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

  it('is the same from the journal alone', () => {
    const w = world([{ id: 'a' }, { id: 'b', needs: ['a'] }]);
    const before = whyRows(w.state, NOT_ALIVE);
    expect(before.map((row) => row.about)).toEqual(['a', 'b', 'ada']);
    expect(before.every((row) => row.action === 'troupe resume r1')).toBe(true);
    expect(whyRows(w.replayed(), NOT_ALIVE)).toEqual(before);
  });
});

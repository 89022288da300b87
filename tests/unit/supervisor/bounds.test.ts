/** Waits of the supervisor have an end: what stands in the way is tried again, and then something fails by name. */
import { describe, expect, it } from 'vitest';
import { LEAD, USER } from '../../../src/kernel/index.ts';
import { decide, settle } from '../../../src/supervisor/decide/index.ts';
import type { Effect } from '../../../src/supervisor/effect.ts';
import type { RunEvent } from '../../../src/supervisor/inbox.ts';
import { MERGE_HOLDS_MAX, VIEW_TRIES } from '../../../src/supervisor/limits.ts';
import { makeLive } from '../../../src/supervisor/live.ts';
import { applyRecord, makeRunState } from '../../../src/supervisor/state.ts';
import { runFile, task, team } from '../../support/team.ts';

const COMMIT = 'a'.repeat(40);

function world(parts: Parameters<typeof team>[0]) {
  const state = makeRunState(
    runFile({ id: 'r1', team: team(parts), baseCommit: COMMIT, workspace: '/w', treesRoot: '/t' }),
  );
  const live = makeLive({ startedMonotonic: 0, wallUsedMs: 0, tip: COMMIT });
  let seq = 0;
  /** The effects of an event and of all that follows from it. */
  const post = (event: RunEvent): Effect[] => {
    const happening = { event, now: Date.parse('2026-11-30T12:00:00Z'), monotonicMs: 0 };
    const effects: Effect[] = [];
    for (
      let draft: ReturnType<typeof settle> = decide(state, live, happening);
      draft !== null;
      draft = settle(state, live, happening)
    ) {
      const record = draft.record();
      if (record !== null) {
        seq += 1;
        applyRecord(state, { ...record, s: seq, d: seq });
      }
      effects.push(...draft.effects);
    }
    return effects;
  };
  return { state, live, post };
}

const types = (effects: readonly Effect[]) => effects.map((effect) => effect.type);

describe('bounded waits', () => {
  it('S3: a view that cannot be made is tried again, then its lead ends by name and the run with it', () => {
    const { state, post } = world({ lead: true, goal: 'g' });
    const failed: RunEvent = { type: 'view.ready', outcome: { kind: 'failed', text: 'no git' } };
    expect(types(post({ type: 'started' }))).toContain('view.prepare');
    for (let tries = 1; tries < VIEW_TRIES; tries += 1) {
      expect(types(post(failed))).toEqual(['view.prepare']);
    }
    post(failed);
    expect(state.actors.byName.get(LEAD)?.phase).toMatchObject({ kind: 'ended' });
    expect(state.run.ended).toMatchObject({ state: 'failed', reason: { kind: 'agent' } });
  });

  it('S3: a teammate whose turn a kill cut gets the view, when its own tree is gone', () => {
    const { state, live, post } = world({ teammates: ['ada'], tasks: [task({ id: 'a' })] });
    post({ type: 'started' });
    live.wake.add('ada' as never);
    state.claims.clear();
    expect(types(post({ type: 'sweep', beats: {} }))).toContain('view.prepare');
  });

  it('W6: a merge that something outside blocks waits with the sweeps, tells the user once, and fails in the end', () => {
    const { state, post } = world({ tasks: [task({ id: 'a', run: 'true' })] });
    post({ type: 'started' });
    const node = () => state.graph.nodes.get('a' as never);
    const fence = () => node()?.fence ?? 0;
    const ready = { kind: 'ready', path: '/t/a', branch: 'b', start: COMMIT, note: null } as const;
    const [start] = post({
      type: 'tree.prepared',
      task: 'a' as never,
      fence: fence(),
      outcome: ready,
    }).filter((effect) => effect.type === 'command.start');
    if (start?.type !== 'command.start') throw new Error('the command was not started');
    const ended = {
      code: 0,
      signal: null,
      why: 'exit',
      left: [],
      text: '',
      cut: false,
      durationMs: 1,
    } as const;
    post({ type: 'command.ended', id: start.id, outcome: ended });
    const done = { kind: 'committed', commit: 'b'.repeat(40) } as const;
    const effects = post({
      type: 'tree.committed',
      task: 'a' as never,
      fence: fence(),
      outcome: done,
    });
    expect(types(effects)).toEqual(['merge.compute']);
    const blocked = { kind: 'blocked', text: 'somebody looks at it' } as const;
    for (let times = 1; times <= MERGE_HOLDS_MAX; times += 1) {
      expect(
        post({ type: 'merge.computed', task: 'a' as never, fence: fence(), outcome: blocked }),
      ).toEqual([]);
      expect(types(post({ type: 'sweep', beats: {} }))).toContain('merge.compute');
    }
    post({ type: 'merge.computed', task: 'a' as never, fence: fence(), outcome: blocked });
    expect(node()).toMatchObject({ state: 'failed', lastReason: { kind: 'merge' } });
    expect(state.mail.boxes.get(USER)?.last).toBe(2);
  });
});

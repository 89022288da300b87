/** A11, A12, S14–S16: restarts are bounded and told, nothing wakes for who sleeps, faults of ours and of many are named. */
import { describe, expect, it } from 'vitest';
import { asActorName, asTaskId } from '../../../src/kernel/index.ts';
import type { AgentProfile, StoredRunRecord } from '../../../src/protocol/index.ts';
import { sweep } from '../../../src/supervisor/decide/sweep.ts';
import { whyRows } from '../../../src/supervisor/index.ts';
import {
  BACKOFF_BASE_MS,
  BACKOFF_MAX_MS,
  BREAKER_AFTER,
  BREAKER_MS,
  HEALTHY_MS,
  HEAP_MB,
  LEASE_MS,
  PASSIVATE_MS,
  SWEEP_MS,
} from '../../../src/supervisor/limits.ts';
import { applyRecord, makeRunState } from '../../../src/supervisor/state.ts';
import { runFile, type TaskParts, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

const ADA = asActorName('ada');

function world(parts: Parameters<typeof team>[0], restart?: AgentProfile['restart']): TeamWorld {
  const made = team(parts);
  const own = made.agents['implementer'] as AgentProfile;
  const agents =
    restart === undefined ? made.agents : { ...made.agents, implementer: { ...own, restart } };
  const file = {
    id: 'r1',
    team: { ...made, agents },
    baseCommit: TIP,
    workspace: '/w',
    treesRoot: '/t',
  };
  return new TeamWorld(runFile(file));
}

const tasks = (...parts: TaskParts[]) => parts.map(task);
const one = (attempts = 50) => tasks({ id: 'a', attempts, timeoutMs: 3_600_000 });
const lives = (w: TeamWorld, name = 'ada') => w.live.actors.has(asActorName(name));
const waits = (w: TeamWorld) => w.effects.flatMap((e) => (e.type === 'mail.later' ? [e.ms] : []));
const why = (w: TeamWorld, about?: string) => whyRows(w.state, { alive: true, phases: {} }, about);

/** The wait is over, as the timer says. */
function rested(w: TeamWorld, ms: number): void {
  w.now += ms;
  w.monotonicMs += ms;
  w.step({ type: 'mail.due', name: ADA });
}

function crash(w: TeamWorld, code: string): void {
  const { incarnation = 0, epoch = 0 } = w.live.actors.get(ADA) ?? {};
  w.step({
    type: 'actor.exited',
    name: ADA,
    incarnation,
    epoch,
    exit: { kind: 'crashed', code, message: 'broken' },
  });
}

describe('A11: who dies', () => {
  it('starts again at once, then after longer and longer, and never past its intensity', () => {
    const w = world({ lead: true, teammates: ['ada'], tasks: one() });
    w.die('ada');
    expect(lives(w)).toBe(true);
    w.die('ada');
    expect(lives(w)).toBe(false);
    const [ms = 0] = waits(w);
    expect(ms).toBeGreaterThanOrEqual(BACKOFF_BASE_MS / 2);
    expect(ms).toBeLessThanOrEqual(BACKOFF_BASE_MS);
    // Not before, whatever else happens.
    w.step({ type: 'send', token: 1, to: 'ada', text: 'Hi', lane: 'normal', id: null });
    expect(lives(w)).toBe(false);
    expect(why(w, 'ada')[0]?.reason.kind).toBe('backoff');
    rested(w, ms);
    expect(lives(w)).toBe(true);
    w.die('ada');
    expect(lives(w)).toBe(false);
    rested(w, 2 * BACKOFF_MAX_MS);
    expect(lives(w)).toBe(false);
    for (const who of ['lead', 'user']) {
      const told = w
        .letters('actor.died')
        .filter((text) => text.startsWith(`${who}:`) && text.includes('not started again'));
      expect(told).toHaveLength(1);
      expect(told[0]?.match(/\(bug\) uncaught: broken/g)).toHaveLength(3);
    }
    expect(why(w, 'ada')[0]?.reason.kind).toBe('died');
    expect(w.replayed().deaths).toEqual(w.state.deaths);
  });

  it('waits up to the most while it goes on, and begins anew once it was well', () => {
    const w = world({
      lead: true,
      teammates: ['ada'],
      tasks: one(),
      limits: { parallel: 4, turns: 60, depth: 2, fanout: 4, restarts: 40, restartPeriodMs: 1_000 },
    });
    const seen: number[] = [];
    for (let times = 0; times < 14; times += 1) {
      w.die('ada');
      const [ms = 0] = waits(w);
      seen.push(ms);
      rested(w, ms);
      expect(lives(w)).toBe(true);
    }
    expect(seen[0]).toBe(0);
    expect(Math.max(...seen)).toBeLessThanOrEqual(BACKOFF_MAX_MS);
    expect(seen.at(-1)).toBeGreaterThanOrEqual(BACKOFF_MAX_MS / 2);
    rested(w, HEALTHY_MS + 1);
    w.die('ada');
    expect(lives(w)).toBe(true);
  });

  it('is bounded as the team says', () => {
    const limits = { parallel: 4, turns: 60, depth: 2, fanout: 4, restarts: 1 };
    const w = world({ lead: true, teammates: ['ada'], tasks: one(), limits });
    w.die('ada');
    expect(lives(w)).toBe(false);
    expect(w.letters('actor.died')[0]).toContain('not started again');
  });

  it('is started again by its strategy: never, for work, or in any case', () => {
    const idle = (restart: AgentProfile['restart']): boolean => {
      const w = world({ lead: true, teammates: ['ada'], tasks: [] }, restart);
      w.step({ type: 'send', token: 1, to: 'ada', text: 'Hi', lane: 'normal', id: null });
      w.rest('ada');
      w.die('ada');
      return lives(w);
    };
    expect(idle('temporary')).toBe(false);
    expect(idle('transient')).toBe(false);
    expect(idle('permanent')).toBe(true);
  });

  it('for want of memory has twice the heap once, and that is all', () => {
    const w = world({ lead: true, teammates: ['ada'], tasks: one() });
    crash(w, 'out-of-memory');
    const heap = w.effects.flatMap((e) => (e.type === 'actor.start' ? [e.start.heapMb] : []));
    expect(heap).toEqual([2 * HEAP_MB]);
    crash(w, 'out-of-memory');
    rested(w, BACKOFF_MAX_MS);
    expect(lives(w)).toBe(false);
    expect(w.letters('actor.died').at(-1)).toContain('(memory) out-of-memory');
  });

  it('of a hang is ended by the supervisor; a machine that slept is no hang', () => {
    const w = world({ lead: true, teammates: ['ada'], tasks: one() });
    const beats = () => Object.fromEntries([...w.live.actors].map(([name, a]) => [name, a.beat]));
    w.step({ type: 'sweep', beats: beats() });
    // The wall clock jumps both ways, the other one does not.
    for (const jump of [12 * 3_600_000, -24 * 3_600_000]) {
      w.now += jump;
      w.step({ type: 'sweep', beats: beats() });
      expect(lives(w)).toBe(true);
    }
    w.endsWait = true;
    w.monotonicMs += LEASE_MS + 1;
    w.step({ type: 'sweep', beats: beats() });
    w.gone('ada');
    const causes = w.state.deaths.get(ADA)?.map((death) => death.cause);
    expect(causes).toEqual(['hang']);
  });

  it('by its task’s deadline is not charged with it', () => {
    const w = world({
      lead: true,
      teammates: ['ada'],
      tasks: tasks({ id: 'a', attempts: 9, timeoutMs: 1_000 }),
    });
    for (let times = 0; times < 5; times += 1) {
      w.pass(1_001);
      expect(lives(w)).toBe(true);
    }
    expect(w.state.deaths.get(ADA)?.every((death) => death.cause === 'deadline')).toBe(true);
  });
});

describe('A12: sweeps', () => {
  const sweeps = (w: TeamWorld) => w.effects.filter((effect) => effect.type === 'sweep.later');

  it('end when everybody sleeps: 10 000 passivated members cost no timer', () => {
    const names = Array.from({ length: 10_000 }, (_, n) => `m${n}`);
    const w = world({ lead: true, teammates: names, tasks: [] });
    w.rest('lead');
    expect(w.state.actors.byName.size).toBe(10_001);
    // The run is not over: a last gate is at work, which has a deadline of its own.
    w.live.finishBusy = true;
    w.pass(PASSIVATE_MS);
    w.pass(SWEEP_MS);
    expect(w.live.actors.size).toBe(0);
    expect(w.live.sweepAt).toBeNull();
    expect(w.effects.filter((effect) => effect.type.endsWith('.later'))).toEqual([]);
    // Mail wakes one, and with it the looks at deadlines.
    w.step({ type: 'send', token: 1, to: 'm9', text: 'Hi', lane: 'normal', id: null });
    expect(lives(w, 'm9')).toBe(true);
    expect(sweeps(w)).toEqual([{ type: 'sweep.later', ms: SWEEP_MS }]);
    expect(w.live.sweepAt).toBe(w.monotonicMs + SWEEP_MS);
  });

  it('come once at the end of a budget of time that nobody uses', () => {
    const w = world({
      lead: true,
      teammates: ['ada'],
      tasks: [],
      budget: { usd: null, tokens: null, wallMs: 1_000_000 },
    });
    w.rest('lead');
    w.live.finishBusy = true;
    w.pass(PASSIVATE_MS);
    w.pass(SWEEP_MS);
    expect(sweeps(w)).toEqual([{ type: 'sweep.later', ms: 900_000 - PASSIVATE_MS - SWEEP_MS }]);
  });
});

describe('S14: the self-check', () => {
  it('tells once of work that could be begun and was not', () => {
    const w = world({ lead: true, teammates: ['ada'], tasks: one() });
    const behind = makeRunState(w.file);
    for (const record of w.records.filter(
      (each) => !each.tasks?.some((c) => c.type !== 'task.added'),
    )) {
      applyRecord(behind, record);
    }
    const happening = { event: { type: 'sweep', beats: {} }, now: w.now, monotonicMs: 0 } as const;
    const alarms = [1, 2, 3].map(() => sweep(behind, w.live, happening, {}).record()?.run ?? []);
    expect(alarms.map((changes) => changes.length)).toEqual([0, 1, 0]);
    expect(alarms[1]?.[0]).toMatchObject({ type: 'run.alarm', what: 'stalled', task: 'a' });
    const record = { k: 'run', s: behind.lastSeq + 1, d: 0, at: behind.lastAt, run: alarms[1] };
    applyRecord(behind, record as unknown as StoredRunRecord);
    expect(whyRows(behind, { alive: true, phases: {} }, 'a')).toMatchObject([
      { about: 'a', reason: { kind: 'stalled' }, action: 'troupe doctor' },
    ]);
  });

  it('is silent while all is begun that can be', () => {
    const w = world({ lead: true, teammates: ['ada'], tasks: tasks({ id: 'a' }, { id: 'b' }) });
    for (let times = 0; times < 4; times += 1) w.pass(SWEEP_MS);
    expect(w.state.alarms.size).toBe(0);
  });
});

describe('S15: failures alike', () => {
  const many = Array.from({ length: 12 }, (_, n) => ({ id: `t${n}`, attempts: 1 }));
  const stuck = (w: TeamWorld) =>
    w.request('ada', {
      type: 'stuck',
      code: 'providers/auth',
      message: 'the key is refused (401)',
    });

  it('park the tasks that are left, which are tried one by one after a pause', () => {
    const w = world({ lead: true, teammates: ['ada'], tasks: tasks(...many) });
    for (let times = 0; times < BREAKER_AFTER; times += 1) stuck(w);
    const failed = () =>
      [...w.state.graph.nodes.values()].filter((n) => n.state === 'failed').length;
    expect(failed()).toBe(BREAKER_AFTER);
    expect(w.state.claims.size).toBe(0);
    // Nobody takes one by himself either.
    w.act('ada', 'claim_task', { id: 't11' });
    expect(w.state.claims.size).toBe(0);
    expect(why(w, 't11')).toMatchObject([
      { reason: { kind: 'backoff' }, action: 'troupe tasks t0' },
    ]);
    w.pass(BREAKER_MS);
    expect([...w.state.claims.values()]).toEqual(['t5']);
    stuck(w);
    w.pass(BREAKER_MS);
    expect(w.state.claims.size).toBe(0);
    // Twice as long, and by a clock that was put back not longer.
    w.pass(BREAKER_MS);
    expect([...w.state.claims.values()]).toEqual(['t6']);
    w.act('ada', 'complete_task', { summary: 'done' });
    expect(w.state.breaker.count).toBe(0);
    expect(w.replayed().breaker).toEqual(w.state.breaker);
  });

  it('that differ, or of one task alone, park nothing', () => {
    const w = world({ lead: true, teammates: ['ada'], tasks: tasks({ id: 'a', attempts: 20 }) });
    for (let times = 0; times < BREAKER_AFTER + 2; times += 1) stuck(w);
    expect(w.state.claims.get(ADA)).toBe('a');
  });
});

describe('S16: a record of a newer version', () => {
  it('puts aside the one that it is about, and the others go on', () => {
    const w = world({
      lead: true,
      teammates: ['ada', 'bo'],
      tasks: tasks({ id: 'a', needs: ['b'] }, { id: 'b' }, { id: 'c' }),
    });
    const state = w.replayed();
    const s = state.lastSeq + 1;
    const newer = {
      k: 'task',
      s,
      d: s,
      at: state.lastAt,
      tasks: [{ type: 'task.frozen', id: 'b' }],
      actors: [{ type: 'actor.cloned', name: 'bo' }],
      later: [{ type: 'x' }],
    };
    applyRecord(state, newer as unknown as StoredRunRecord);
    const rows = whyRows(state, { alive: true, phases: {} });
    const kinds = Object.fromEntries(rows.map((row) => [row.about, row.reason.kind]));
    expect(kinds).toMatchObject({ b: 'unknown', bo: 'unknown', a: 'task' });
    expect(rows.find((row) => row.about === 'a')?.action).toBe('troupe doctor');
    expect(state.graph.nodes.get(asTaskId('c'))?.state).not.toBe('failed');
  });
});

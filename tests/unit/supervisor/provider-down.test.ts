/** B5: a provider that answers nobody is waited for by all who use it, and costs no attempt. */
import { describe, expect, it } from 'vitest';
import type { ActorReply } from '../../../src/protocol/index.ts';
import { NO_USAGE } from '../../../src/protocol/index.ts';
import { NOT_ALIVE, whyRows } from '../../../src/supervisor/index.ts';
import { DOWN_MAX_MS, DOWN_MS } from '../../../src/supervisor/limits.ts';
import { runFile, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

const MODEL = 'acme/large';
let ids = 0;

function world(): TeamWorld {
  const tasks = [task({ id: 'a', timeoutMs: 3_600_000 }), task({ id: 'b' })];
  const parts = team({ teammates: ['ada', 'bo'], tasks, model: MODEL });
  const places = { baseCommit: TIP, workspace: '/w', treesRoot: '/t' };
  return new TeamWorld(runFile({ id: 'r1', team: parts, ...places }));
}

function reserve(w: TeamWorld, name: string): ActorReply | null {
  ids += 1;
  return w.request(name, {
    type: 'reserve',
    id: `r${ids}`,
    model: MODEL,
    task: null,
    input: 10,
    maxTokens: 100,
    rate: null,
    turn: 1,
    patient: true,
  });
}

/** All its tries of the last three minutes have failed. */
function down(w: TeamWorld, name: string): void {
  const limited = { kind: 'down', forMs: 180_000, text: 'overloaded' } as const;
  w.request(name, {
    type: 'settle',
    id: `r${ids}`,
    model: MODEL,
    task: null,
    usage: NO_USAGE,
    limited,
  });
}

const holds = (w: TeamWorld): number[] =>
  w.records.flatMap((record) =>
    (record.run ?? []).flatMap((one) =>
      one.type === 'quota.hit' ? [Date.parse(one.until) - Date.parse(record.at)] : [],
    ),
  );
const answer = (w: TeamWorld, name: string): void => {
  const entry = { type: 'answer', task: null, model: MODEL, stop: 'end', usage: NO_USAGE } as const;
  w.request(name, {
    type: 'answer',
    took: [],
    entries: [{ ...entry, content: [] }],
    usage: NO_USAGE,
  });
};

describe('B5: a provider that does not answer', () => {
  it('is left alone by all, longer each time, told once, and no attempt is charged', () => {
    const w = world();
    for (let times = 0; times < 7; times += 1) {
      down(w, 'ada');
      down(w, 'bo');
      expect(reserve(w, 'bo')).toBeNull();
      const [row] = whyRows(w.state, { ...NOT_ALIVE, alive: true }, 'a');
      expect(row?.reason).toMatchObject({ kind: 'quota', ref: 'acme' });
      expect(row?.reason.text).toContain('does not answer');
      w.now += DOWN_MAX_MS;
      w.monotonicMs += DOWN_MAX_MS;
      w.step({ type: 'outlet.due' });
      // Who waited goes out, and knows that it was held with the others.
      const reply = w.effects.find((effect) => effect.type === 'reply');
      expect(reply).toMatchObject({ reply: { type: 'granted', spreadMs: expect.any(Number) } });
    }
    expect(holds(w)).toEqual([1, 2, 4, 8, 15, 15, 15].map((times) => times * DOWN_MS));
    expect(
      w.letters('chat.message').filter((text) => text.includes('does not answer')),
    ).toHaveLength(1);
    for (const node of w.state.graph.nodes.values()) {
      expect(node).toMatchObject({ state: 'running', attemptsUsed: 0 });
    }
    expect(w.replayed().spending.quotas).toEqual(w.state.spending.quotas);
  });

  it('is not down when it answers others: one bad request parks nobody', () => {
    const w = world();
    answer(w, 'bo');
    w.pass(60_000);
    down(w, 'ada');
    expect(holds(w)).toEqual([]);
    expect(reserve(w, 'ada')?.type).toBe('granted');
    // Nobody was answered since.
    w.pass(180_001);
    down(w, 'ada');
    expect(holds(w)).toEqual([DOWN_MS]);
  });

  it('that answers again is down anew only after the first pause', () => {
    const w = world();
    down(w, 'ada');
    w.pass(DOWN_MS);
    down(w, 'ada');
    w.pass(2 * DOWN_MS);
    answer(w, 'ada');
    w.pass(180_001);
    down(w, 'ada');
    expect(holds(w)).toEqual([DOWN_MS, 2 * DOWN_MS, DOWN_MS]);
  });
});

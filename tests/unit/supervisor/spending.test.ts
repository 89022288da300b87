/** What is put aside is charged exactly once, over all ways in which a request can end (B1, B2). */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { asActorName } from '../../../src/kernel/index.ts';
import { NO_USAGE, type RunRecord, totalTokens, type Usage } from '../../../src/protocol/index.ts';
import { applyRecord, makeRunState, type RunState } from '../../../src/supervisor/state.ts';
import { runFile, team } from '../../support/team.ts';

const MODEL = 'anthropic/some';
const NAMES = ['ada', 'bo'].map(asActorName);
const cost = (tokens: number): Usage => ({
  ...NO_USAGE,
  inputTokens: tokens,
  costUsd: tokens / 1000,
  estimated: true,
});

class Journal {
  readonly state: RunState = makeRunState(
    runFile({ id: 'r', team: team({}), baseCommit: 'c', workspace: '/w', treesRoot: '/t' }),
  );
  #seq = 0;

  add(record: Partial<RunRecord>): void {
    this.#seq += 1;
    const at = new Date(this.#seq * 1000).toISOString();
    applyRecord(this.state, { k: 'run', at, ...record, s: this.#seq, d: 0 });
  }
}

type Step =
  | { readonly kind: 'reserve'; readonly actor: number; readonly input: number }
  | { readonly kind: 'answer' | 'settle'; readonly which: number; readonly share: number }
  | { readonly kind: 'death'; readonly actor: number }
  | { readonly kind: 'term' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('reserve' as const),
    actor: fc.nat(1),
    input: fc.integer({ min: 1, max: 100 }),
  }),
  fc.record({
    kind: fc.constantFrom('answer' as const, 'settle' as const),
    which: fc.nat(5),
    share: fc.integer({ min: 0, max: 100 }),
  }),
  fc.record({ kind: fc.constant('death' as const), actor: fc.nat(1) }),
  fc.record({ kind: fc.constant('term' as const) }),
);

test('B1 B2: each reservation is charged once, at most as a whole, and spending never falls', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const journal = new Journal();
      const { state } = journal;
      const { implementer: profile } = state.file.team.agents;
      for (const name of NAMES) {
        if (profile === undefined) continue;
        const added = { name, kind: 'teammate' as const, profile, parent: null, depth: 0 };
        journal.add({ k: 'sup', actors: [{ type: 'actor.added', ...added }] });
      }
      const open = new Map<string, { readonly actor: number; readonly input: number }>();
      let expected = 0;
      let last = 0;
      const lose = (actor: number | null): void => {
        for (const [id, one] of open) {
          if (actor !== null && one.actor !== actor) continue;
          open.delete(id);
          expected += one.input + 10;
        }
      };
      for (const [index, one] of steps.entries()) {
        if (one.kind === 'reserve') {
          const id = `r${index}`;
          const { actor, input } = one;
          open.set(id, { actor, input });
          const a = NAMES[actor] ?? NAMES[0];
          const change = { id, model: MODEL, task: null, input, output: 10, usd: input };
          journal.add({
            ...(a === undefined ? {} : { a }),
            spend: [{ type: 'spend.reserved', ...change }],
          });
        } else if (one.kind === 'term') {
          lose(null);
          journal.add({ run: [{ type: 'run.resumed', term: index }] });
        } else if (one.kind === 'death') {
          lose(one.actor);
          const name = NAMES[one.actor] ?? asActorName('ada');
          const end = { kind: 'crashed' as const, text: 'gone' };
          const life = { name, incarnation: index + 2, epoch: index + 2 };
          journal.add({
            k: 'sup',
            actors: [
              { type: 'actor.started', ...life },
              { type: 'actor.ended', name, incarnation: index + 2, end },
            ],
          });
        } else {
          const [id, held] = [...open][one.which] ?? [];
          if (id === undefined || held === undefined) continue;
          open.delete(id);
          const used = Math.floor((held.input * one.share) / 100);
          expected += used;
          const usage = cost(used);
          const a = NAMES[held.actor] ?? asActorName('ada');
          const more = { model: MODEL, task: null, usage };
          journal.add(
            one.kind === 'settle'
              ? { a, spend: [{ type: 'spend.settled', id, ...more }] }
              : {
                  k: 'step',
                  a,
                  entries: [{ type: 'answer', content: [], stop: 'end', ...more }],
                  spend: [{ type: 'spend.answered', id }],
                },
          );
        }
        const now = totalTokens(state.usage.total);
        expect(now).toBe(expected);
        expect(now).toBeGreaterThanOrEqual(last);
        last = now;
        expect(new Set(state.spending.open.keys())).toEqual(new Set(open.keys()));
        expect(totalTokens(state.usage.byModel.get(MODEL) ?? NO_USAGE)).toBe(expected);
      }
    }),
  );
});

test('what a run that ended by its budget is given more, it goes on with', () => {
  const journal = new Journal();
  const reason = { kind: 'budget' as const, text: 'used up' };
  journal.add({ run: [{ type: 'run.started', run: 'r', baseCommit: 'c', term: 1 }] });
  journal.add({ run: [{ type: 'run.warned', text: 'nearly' }] });
  journal.add({ run: [{ type: 'run.ended', state: 'budget', reason, commit: 'c' }] });
  expect(journal.state.run.ended?.state).toBe('budget');
  journal.add({ run: [{ type: 'run.resumed', term: 2, budget: { usd: 7 } }] });
  expect(journal.state.run.ended).toBeNull();
  expect(journal.state.spending.budget.usd).toBe(7);
  expect(journal.state.spending.warned.size).toBe(0);
});

/** S13, S14: which runs a supervisor takes up again, which one at a time, and which are left alone. */
import { expect, test } from 'vitest';
import { planTakeUp } from '../../../src/control/take-up.ts';

const AT = '2026-01-01T00:00:00.000Z';
const soon = Date.parse(AT) + 1_000;
const ids = (runs: readonly { readonly run: string; readonly tries: number }[]): string[] =>
  runs.map(({ run, tries }) => `${run} ${tries}`);

test('S14: a run is taken up at once, then alone, then not any more; a while of health clears it', () => {
  const held = (tries: number) => [{ run: 'r', at: AT, tries }];
  expect(ids(planTakeUp(held(0), soon).now)).toEqual(['r 1']);
  expect(ids(planTakeUp(held(1), soon).now)).toEqual(['r 2']);
  expect(ids(planTakeUp(held(2), soon).oneByOne)).toEqual(['r 3']);
  expect(ids(planTakeUp(held(4), soon).oneByOne)).toEqual(['r 5']);
  expect(ids(planTakeUp(held(5), soon).left)).toEqual(['r 6']);
  expect(ids(planTakeUp(held(5), soon + 11 * 60_000).now)).toEqual(['r 1']);
});

test('S14: whatever the order, the run that kills its supervisor is found out and the other goes on', () => {
  for (const names of [
    ['bad', 'good'],
    ['good', 'bad'],
  ]) {
    let words = names.map((run) => ({ run, at: AT, tries: 0 }));
    let deaths = 0;
    for (; deaths < 20; deaths += 1) {
      const plan = planTakeUp(words, soon);
      if (plan.left.length > 0) {
        expect(plan.left.map(({ run }) => run)).toEqual(['bad']);
        expect([...plan.now, ...plan.oneByOne].map(({ run }) => run)).toEqual(['good']);
        break;
      }
      const say = (run: string, tries: number): void => {
        words = words.map((word) => (word.run === run ? { ...word, tries } : word));
      };
      // As a supervisor does: what is not suspected at once, so that both are there when it dies.
      for (const { run, tries } of plan.now) say(run, tries);
      if (plan.now.some(({ run }) => run === 'bad')) continue;
      for (const { run, tries } of plan.oneByOne) {
        say(run, tries);
        if (run === 'bad') break;
        say(run, 0);
      }
    }
    expect(deaths).toBeLessThan(9);
  }
});

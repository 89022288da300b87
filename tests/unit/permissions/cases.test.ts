/** The table of cases, gathered from public reports: each decision that can be made from the call alone. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bash, CORPUS, stricter } from './world.ts';

interface Case {
  readonly id: string;
  readonly kind: string;
  readonly input: string;
  readonly decision: string;
  readonly why: string;
}

const cases = JSON.parse(readFileSync(`${CORPUS}cases.json`, 'utf8')) as readonly Case[];
const commands = cases.filter((one) => ['bash', 'bash-raw', 'bash-bad'].includes(one.kind));

test.each(commands)('$id: $why ($decision)', ({ input, decision: wanted }) => {
  const { action, rule, reason } = bash(input);
  const right =
    action === wanted || (wanted !== 'allow' && stricter(action, wanted as 'ask' | 'deny'));
  expect(right, `${action} by ${rule}: ${reason}`).toBe(true);
  expect(reason).toMatch(/\S/);
});

test('A43: substitutions nested 3000 deep get an answer in under a second, and it is no allow', () => {
  const started = performance.now();
  const { action } = bash(`echo ${'$('.repeat(3000)}ls${')'.repeat(3000)}`);
  expect(action).not.toBe('allow');
  expect(performance.now() - started).toBeLessThan(1_000);
});

test('there are cases', () => expect(commands.length).toBeGreaterThan(90));

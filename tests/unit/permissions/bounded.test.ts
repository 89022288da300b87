/** P13 as a search: whatever is repeated in a call, the work for it has one bound. Steps are counted, not time. */
import { array, assert, constantFrom, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { factsOf } from '../../../src/permissions/facts.ts';
import { makePolicy } from '../../../src/permissions/index.ts';
import { STEPS_MAX } from '../../../src/permissions/limits.ts';
import { compilePattern, mayMeet } from '../../../src/permissions/wildcard.ts';
import { bash, layerFrom, policyFrom, REFERENCE, referencePolicy, tool } from './world.ts';

const PIECES =
  'cd a; |cd ../b; |env |timeout 5 |cat x |git status; |> f |A=1 |$( |a/b/c/d/e/f |../ |* |{a,b} |"d$x" |&& || |( |) |xargs |sudo |find . -exec |bash -c |if x; then |<<E\n|` |${x:- |} |rm -rf |git |[a-z]*/ |~/ |eval |; |a*/b |grep -r |cp |tee |x*y '
    .split('|')
    .filter((piece) => piece !== '');

/** A policy with many rules that no name keeps apart. */
const MANY = makePolicy(
  [
    layerFrom(
      `version: 1\nrules:\n${Array.from({ length: 600 }, (_, at) =>
        at % 2 === 0
          ? `  - { id: r${at}, effect: deny, tool: bash, argv: ['x*y${at}', '-f'] }`
          : `  - { id: r${at}, effect: deny, tool: read_file, path: { under: worktree, glob: '**/a*b${at}/**/c' } }`,
      ).join('\n')}\n`,
    ),
  ],
  'many',
);

test('P13: no call takes more than its share of steps, and one that does is never allowed', () => {
  assert(
    property(
      array(constantFrom(...PIECES), { minLength: 1, maxLength: 3 }),
      array(constantFrom(...PIECES), { maxLength: 2 }),
      integer({ min: 1, max: 70 }),
      constantFrom(400, 4_000, 16_000),
      constantFrom(MANY, referencePolicy),
      (unit, head, times, size, policy) => {
        const body = unit.join('');
        const start = head.map((one) => one.repeat(times)).join('');
        const text = (start + body.repeat(Math.ceil(size / body.length))).slice(0, 16_384);
        const decision = bash(text, policy);
        const { reading } = factsOf('bash', { command: text }, REFERENCE);
        expect(reading.execs.length).toBeLessThanOrEqual(20_000);
        expect(reading.uses.length).toBeLessThanOrEqual(20_000);
        expect(decision.obligations().length).toBeLessThanOrEqual(40_000);
        expect(decision.steps).toBeLessThanOrEqual(STEPS_MAX);
        if (decision.steps === STEPS_MAX) expect(decision.action).not.toBe('allow');
      },
    ),
    { numRuns: 40 },
  );
});

describe('P13: what was found to be slow', () => {
  test.each([
    ['folders that grow', 'cd ../b; '.repeat(450)],
    ['folders', 'cd a; '.repeat(450)],
    ['wrappers', `${'env '.repeat(900)}ls`],
    ['git behind wrappers', `${'env '.repeat(60)}${'git '.repeat(500)}`],
    ['globs', `cat ${`${'a*b*/'.repeat(60)} `.repeat(40)}`],
    ['deep globs', 'find a*/b -exec ( '.repeat(120)],
  ])('%s: asked about or denied, in bounded work', (_, text) => {
    for (const policy of [referencePolicy, MANY]) {
      const decision = bash(text, policy);
      expect(decision.action).not.toBe('allow');
      expect(decision.steps).toBeLessThanOrEqual(STEPS_MAX);
    }
  });

  test.each(['allow', 'ask', 'deny'])('P13: default %s', (fallback) => {
    const rules = `version: 1
defaults: { interactive: ${fallback} }
rules:
  - { id: no-push, effect: deny, tool: bash, argv: [git, push] }
  - { id: ask-fetch, effect: ask, tool: bash, argv: [git, fetch] }
`;
    const policy = policyFrom(rules);
    const locked = policyFrom(`mode: locked\n${rules}`);
    const reads = policyFrom(`mode: read-only\n${rules}`);
    for (const [long, hidden] of [
      ['cd ../b; '.repeat(450), 'bash -c "gi""t pu""sh"'],
      ['env '.repeat(900), 'ls'],
      ['true;'.repeat(4_000), 'echo'],
    ] as const) {
      const text = `${long}${hidden}`;
      // A deny or an ask rule may be about what was left over, so that no allow and no default counts.
      expect(bash(text, policy).action, text.slice(0, 20)).toBe(
        fallback === 'deny' ? 'deny' : 'ask',
      );
      expect(bash(text, policy, { attended: false }).action).toBe('deny');
      expect(bash(text, policy, { sandboxed: true }).action).not.toBe('allow');
      expect(bash(text, locked).action).toBe('deny');
      expect(bash(text, reads).action).toBe('deny');
      expect(bash(`${text}; git push`, policy).action).toBe('deny');
    }
  });

  test('P13: what was left over is not allowed by a sandbox or a grant', () => {
    const auto = policyFrom('version: 1\nmode: auto-in-sandbox\n');
    const text = `${'cd ../b; '.repeat(450)}ls`;
    expect(bash('cd ../b; ls', auto, { sandboxed: true }).action).toBe('allow');
    const decision = bash(text, auto, { sandboxed: true });
    expect([decision.action, decision.grantable]).toEqual(['ask', false]);
  });

  test('what people write stays far below the bound', () => {
    for (const text of [
      'git status; '.repeat(100),
      'grep -r --include=*.ts foo src tests && cat src/*.ts | head -50',
      'cd packages/app && npm test -- --run src/a.test.ts && cd .. && git diff --stat',
      `cat ${Array.from({ length: 60 }, (_, at) => `src/room/file-${at}.ts`).join(' ')}`,
    ]) {
      expect(bash(text).steps, text).toBeLessThan(STEPS_MAX / 3);
    }
  });

  test('objects of 10 000 keys', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [`k${at}`, `a/${at}`]),
    );
    for (const name of ['read_file', 'mcp__x__y', 'bash', 'grep']) {
      expect(tool(name, wide).steps, name).toBeLessThanOrEqual(STEPS_MAX);
    }
  });
});

test('two patterns that could take for ever are taken to meet', () => {
  let left = 1_000;
  const work = { spend: (steps: number): boolean => (left -= steps) > 0 };
  const wild = compilePattern(`${'a*'.repeat(200)}b`, { shell: false });
  const text = compilePattern(`${'a?'.repeat(200)}c`, { shell: false });
  expect(mayMeet(wild, text, work)).toBe(true);
  expect(left).toBeGreaterThan(-100);
});

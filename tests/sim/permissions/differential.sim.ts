/**
 * Soundness against the real bash: a program that rules allow tries to start only what they allow, as it was written and as
 * it would be run. `npm run fuzz:permissions -- --programs N` runs it for long; a seed gives the same programs again.
 */
import { afterAll, expect, test } from 'vitest';
import {
  type Decision,
  type DecisionContext,
  evaluate,
  makePolicy,
} from '../../../src/permissions/index.ts';
import type { PermissionRule } from '../../../src/protocol/team.ts';
import { hasBash, namesTried } from './bash-runs.ts';
import { ALLOWED, DENIED, program, seededDice } from './programs.ts';

const seed = Number(process.env['TROUPE_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const programs = Number(process.env['TROUPE_PROGRAMS'] ?? 2_000);
const BATCH = 400;

const rule = (id: string, effect: 'allow' | 'deny', names: readonly string[]): PermissionRule => ({
  id,
  effect,
  tool: 'bash',
  argv: [{ in: names }],
  reason: null,
});

const BUILTINS = ['echo', 'true', 'printf', 'test', 'cd'];
const policy = makePolicy(
  [
    {
      name: 'user',
      origin: 'fuzz',
      trusted: true,
      file: {
        version: 1,
        defaults: {},
        actors: {},
        profiles: {},
        lift: ['env-files'],
        rules: [
          rule('ok', 'allow', [...ALLOWED, ...BUILTINS]),
          rule('no', 'deny', [DENIED[0] ?? '']),
          {
            id: 'files',
            effect: 'allow',
            tool: 'write_file',
            path: { under: 'worktree' },
            reason: null,
          },
        ],
      },
    },
  ],
  'fuzz',
);
const context: DecisionContext = { actor: 'a', root: '/work', home: '/work', attended: true };
const decide = (command: string): Decision =>
  evaluate({ tool: 'bash', input: { command } }, policy, context);

const counts = { programs: 0, allow: 0, ask: 0, deny: 0 };
afterAll(() => {
  console.log(`TROUPE_SEED=${seed}: ${JSON.stringify(counts)}`);
});

/** A `timeout` that is looked through is started itself. */
const MAY: ReadonlySet<string> = new Set([...ALLOWED, 'timeout', 'nice', 'env']);

test.runIf(hasBash)(
  'P14 P19: what rules allow starts only what they allow, and runs the same when it is rebuilt',
  async () => {
    const dice = seededDice(seed);
    let open: { readonly text: string; readonly canonical: string }[] = [];
    const check = (): void => {
      const logs = namesTried(open.flatMap(({ text, canonical }) => [text, canonical]));
      for (const [index, { text, canonical }] of open.entries()) {
        const [given, built] = [logs[index * 2] ?? [], logs[index * 2 + 1] ?? []];
        const where = `seed ${seed}: ${JSON.stringify(text)} rebuilt as ${JSON.stringify(canonical)}`;
        expect(
          given.filter((name) => !MAY.has(name)),
          `as written, ${where}`,
        ).toEqual([]);
        expect(built.toSorted(), `rebuilt, ${where}`).toEqual(given.toSorted());
      }
      open = [];
    };
    for (counts.programs = 0; counts.programs < programs; counts.programs += 1) {
      const text = program(dice);
      if (counts.programs % 20_000 === 19_999)
        console.log(`TROUPE_SEED=${seed}: ${JSON.stringify(counts)}`);
      const decision = decide(text);
      counts[decision.action] += 1;
      if (decision.action !== 'allow') continue;
      const canonical = decision.canonical();
      if (canonical === null) throw new Error(`allowed and not rebuilt: ${JSON.stringify(text)}`);
      const again = decide(canonical);
      expect({ text, canonical, action: again.action }).toEqual({
        text,
        canonical,
        action: 'allow',
      });
      expect(again.obligations(), JSON.stringify(text)).toEqual(decision.obligations());
      expect(again.canonical(), JSON.stringify(text)).toBe(canonical);
      open.push({ text, canonical });
      if (open.length < BATCH) continue;
      check();
      // Lets what was printed out, and a signal in.
      await new Promise((resolve) => setImmediate(resolve));
    }
    check();
    expect(counts.allow).toBeGreaterThan(programs / 200);
  },
  3_600_000 * 6,
);

/** Teams, rules and troubles of simulated runs, drawn from a seed. */
import { asActorName } from '../../../src/kernel/index.ts';
import type { RunFile } from '../../../src/protocol/index.ts';
import type { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { runFile, task, team } from '../../support/team.ts';
import type { SimPolicy } from '../permissions/queue-facts.ts';
import { ASK_MS } from '../permissions/queue-world.ts';
import type { Trouble } from './life.ts';
import { OF_TEAM } from './sim-commands.ts';
import { BASE } from './sim-repo.ts';

export interface Profile {
  readonly teammates: readonly [number, number];
  readonly tasks: readonly [number, number];
  readonly steps: readonly [number, number];
  readonly lives: readonly [number, number];
}

export const PROFILES: Readonly<Record<string, Profile>> = {
  small: { teammates: [1, 2], tasks: [1, 2], steps: [3, 9], lives: [1, 3] },
  medium: { teammates: [2, 4], tasks: [2, 7], steps: [10, 30], lives: [2, 4] },
  large: { teammates: [4, 8], tasks: [8, 20], steps: [40, 90], lives: [3, 6] },
};

export const between = (random: SeededRandom, [from, to]: readonly [number, number]): number =>
  from + random.below(to - from + 1);

const PROGRAMS = ['alpha', 'beta', 'gamma', 'delta'];

export function drawPolicy(random: SeededRandom, revision: string): SimPolicy {
  const some = (share: number): string[] => PROGRAMS.filter(() => random.next() < share);
  return { revision, allow: some(0.4), deny: some(0.15) };
}

export function drawTrouble(random: SeededRandom): Trouble {
  const share = (most: number): number => (random.next() < 0.4 ? 0 : random.next() * most);
  return {
    git: share(0.1),
    slow: share(0.5),
    intruder: share(0.3),
    fails: share(0.3),
    model: share(0.12),
  };
}

export function drawFile(random: SeededRandom, profile: Profile): RunFile {
  const names = Array.from({ length: between(random, profile.teammates) }, (_one, at) => `a${at}`);
  const parallel = 1 + random.below(3);
  const tasks = Array.from({ length: between(random, profile.tasks) }, (_one, at) => {
    const before = Array.from({ length: at }, (_need, need) => `t${need}`);
    return task({
      id: `t${at}`,
      ...(random.next() < 0.25 ? { run: `${OF_TEAM}job` } : {}),
      needs: before.filter(() => random.next() < 0.2),
      touches: random.next() < 0.3 ? [`src/${random.below(2)}/**`] : [],
      verify: random.next() < 0.4 ? [`${OF_TEAM}gate`] : [],
      attempts: 1 + random.below(3),
      timeoutMs: random.next() < 0.2 ? 60_000 : 3_600_000,
    });
  });
  const gates = (share: number) =>
    random.next() < share ? task({ id: 'x', verify: [`${OF_TEAM}check`] }).verify : [];
  const whole = team({
    lead: random.next() < 0.6,
    tasks,
    limits: { parallel, turns: 60, depth: 2, fanout: 2 },
    budget: { usd: null, tokens: random.next() < 0.5 ? 2_000_000 : null, wallMs: null },
    merge: { style: 'merge', verify: gates(0.3), touches: 'warn' },
    finish: { verify: gates(0.2) },
    permissions: {
      default: 'ask',
      rules: [{ id: 'src', effect: 'allow', tool: 'write_file', path: 'src/**', reason: null }],
      askTimeoutMs: random.next() < 0.2 ? null : ASK_MS,
    },
  });
  const teammates = names.map((name) => ({ name: asActorName(name), agent: 'implementer' }));
  const file = runFile({
    id: 'sim',
    team: { ...whole, teammates },
    baseCommit: BASE,
    workspace: '/w',
    treesRoot: '/t',
  });
  return { ...file, attended: true };
}

/** Four actors of one profile begin at the same time, over the Messages API with a cache as the real one has it. */
import { afterEach, expect, test } from 'vitest';
import { answersIn, openModelRun } from '../support/model-run.ts';
import type { ModelAnswer } from '../support/model-server/answer.ts';
import type { Seen } from '../support/model-server/server.ts';
import { makeWorld } from './cli-world.ts';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const NAMES = ['ada', 'bo', 'cy', 'di'];
const TEAM = `version: 1
name: siblings
goal: Everybody does a part.
model: anthropic/claude-sonnet-5-5
limits: { parallel: 4 }
members: { teammates: [${NAMES.map((name) => `{ name: ${name}, agent: implementer }`).join(', ')}] }
permissions: { default: allow }
tasks:
${NAMES.map((_, n) => `  - { id: t${n + 1}, prompt: 'Part ${n + 1}.', attempts: 1 }`).join('\n')}
`;

interface Usage {
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

test('L34, B6: one goes ahead, and the others read what it wrote', async () => {
  const world = makeWorld();
  const waiting: string[] = [];
  const line = await openModelRun(world, (seen: Seen): ModelAnswer => {
    if (answersIn(seen) === 0) waiting.push(seen.actor);
    const calls = [{ tool: 'complete_task', input: { summary: 'done' } }];
    // So slow that all of them have asked meanwhile.
    return { text: 'I do it.', calls, delayMs: 400 };
  });
  cleanups.push(
    () => world.remove(),
    () => line.close(),
  );
  world.write('AGENTS.md', `${'Indent with tabs. '.repeat(200)}\n`);
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'Conventions');
  world.write('team.yaml', TEAM);
  const ran = await line.troupe('run', 'team.yaml', '--json');
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  expect(line.server.rejections).toEqual([]);
  expect(new Set(waiting)).toEqual(new Set(NAMES));
  const head = (actor: string): string | undefined => {
    const system = line.of(actor)[0]?.body['system'] as { readonly text: string }[];
    return system
      .slice(0, -1)
      .map(({ text }) => text)
      .join('');
  };
  for (const name of NAMES) {
    expect(head(name)).toBe(head('ada'));
    expect(head(name)).toContain('Indent with tabs.');
    expect(line.of(name)[0]?.system).toContain(`You are ${name}, a teammate`);
  }
  const usages = NAMES.map((name): Usage => {
    const shown = world.troupe('session', name, '--json').stdout;
    const { entries } = JSON.parse(shown) as { readonly entries: { readonly usage?: Usage }[] };
    const first = entries.find(({ usage }) => usage !== undefined)?.usage;
    if (first === undefined) throw new Error(`${name} has said nothing`);
    return first;
  });
  const cold = usages.filter(({ cacheReadTokens }) => cacheReadTokens === 0);
  expect(cold).toHaveLength(1);
  for (const usage of usages.filter(({ cacheReadTokens }) => cacheReadTokens > 0)) {
    expect(usage.cacheReadTokens).toBeGreaterThan(0.6 * (cold[0]?.cacheWriteTokens ?? 0));
    expect(usage.cacheReadTokens).toBeGreaterThan(usage.cacheWriteTokens + usage.inputTokens);
  }
}, 60_000);

/** `sandbox` of a team file and of the config: who may open it, and who only closes it. */
import { expect, test } from 'vitest';
import { formatProblem, parseConfig, parseTeam } from '../../../src/config/index.ts';

function team(sandbox: string, defaults?: 'required'): unknown {
  const parsed = parseTeam(`version: 1\nname: x\ngoal: g\nsandbox: ${sandbox}\n`, {
    checkTasks: () => [],
    ...(defaults === undefined
      ? {}
      : {
          defaults: {
            model: null,
            limits: { parallel: 1, turns: 1, depth: 1, fanout: 1 },
            treesRoot: null,
            sandbox: { mode: defaults, read: ['/opt/x'], write: [] },
          },
        }),
  });
  return parsed.kind === 'ok'
    ? parsed.team.sandbox
    : parsed.problems.map((problem) => formatProblem('t', problem)).join('\n');
}

test('a mode alone, or with folders that are opened', () => {
  expect(team('off')).toEqual({ mode: 'off', read: [], write: [] });
  expect(team('{ read: [~/sdk], write: [/data/cache] }')).toEqual({
    mode: 'auto',
    read: ['~/sdk'],
    write: ['/data/cache'],
  });
});

test('who requires a sandbox in the config gets one, whatever the team file says', () => {
  expect(team('off', 'required')).toEqual({ mode: 'required', read: ['/opt/x'], write: [] });
});

test.each([
  ['maybe', 't:4:10: sandbox: expected auto or required or off, found "maybe"'],
  ['{ mode: no }', 't:4:18: sandbox.mode: expected auto or required or off, found "no"'],
  ['{ read: [../up] }', 'expected a folder as ~/… or absolute'],
  ['{ read: [/] }', 'expected a folder as ~/… or absolute'],
  ['{ read: ["~"] }', 'expected a folder as ~/… or absolute'],
  ['{ write: [/a/../b] }', 'expected a folder as ~/… or absolute'],
  ['{ hosts: [a] }', 'unknown key "hosts"'],
])('%s is refused with its place', (given, said) => {
  expect(team(given)).toContain(said);
});

test('the config in a repository may ask for a sandbox and open nothing', () => {
  const inRepository = (text: string): string => {
    const parsed = parseConfig(text, { inRepository: true });
    return parsed.kind === 'ok' ? 'ok' : parsed.problems.map(({ message }) => message).join();
  };
  expect(inRepository('sandbox: required')).toBe('ok');
  for (const opening of [
    'off',
    '{ read: [~/x] }',
    '{ mode: auto, write: [/x] }',
    '{ mode: off }',
  ]) {
    expect(inRepository(`sandbox: ${opening}`)).toMatch(/may not open the sandbox/);
    expect(parseConfig(`sandbox: ${opening}`).kind).toBe('ok');
  }
});

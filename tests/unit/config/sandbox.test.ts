/** `sandbox` of a team file and of the config: who may open it, and who only closes it. */
import { describe, expect, test } from 'vitest';
import { formatProblem, parseConfig, parseTeam } from '../../../src/config/index.ts';
import { type ConfigSource, resolveConfig } from '../../../src/config/resolve-config.ts';
import { resolveSandbox } from '../../../src/config/sandbox.ts';
import type { SandboxSettings } from '../../../src/protocol/team.ts';

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
  ['{ network: { allow: ["*"] } }', 'expected a host: example.com, *.example.com'],
  ['{ network: { allow: ["*.com"] } }', 'expected a host'],
  ['{ network: { allow: ["http://example.com"] } }', 'expected a host'],
  ['{ network: { allow: ["127.1"] } }', 'expected a host'],
  ['{ network: { allow: [a..b] } }', 'expected a host'],
  ['{ network: { allow: [a.test:0] } }', 'expected a host'],
  ['{ network: { deny: [a.test] } }', 'unknown key "deny"'],
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

describe('hosts', () => {
  const settings = (user: string, repository?: string): SandboxSettings => {
    const file = (text: string, inRepository: boolean): ConfigSource => {
      const parsed = parseConfig(text, { inRepository });
      if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed));
      return { path: 'x', config: parsed.config, placeOf: parsed.placeOf };
    };
    const resolved = resolveConfig({
      env: {},
      userFile: file(user, false),
      ...(repository === undefined ? {} : { workspaceFile: file(repository, true) }),
    });
    if (resolved.kind !== 'ok') throw new Error(JSON.stringify(resolved));
    return resolved.config.sandbox.value;
  };
  const own = 'sandbox: { network: { allow: [a.test, "*.b.test", c.test:22] } }';

  test('those of the config and of the team file are opened', () => {
    expect(team('{ network: { allow: [d.test] } }')).toMatchObject({
      network: { allow: ['d.test'] },
    });
    const under = settings(own);
    const both = resolveSandbox({ network: { allow: ['d.test', 'a.test'] } }, under);
    expect(both.network).toEqual({ allow: ['a.test', '*.b.test', 'c.test:22', 'd.test'] });
  });

  test.each([
    ['[a.test]', ['a.test']],
    ['[]', []],
    ['["*.test"]', undefined],
    ['[x.b.test, a.test:443]', []],
    ['["*.b.test", evil.test, c.test]', ['*.b.test']],
    ['[c.test:22, a.test]', ['a.test', 'c.test:22']],
  ])('a repository that names %s leaves of them %j', (names, left) => {
    const text = `sandbox: { network: { allow: ${names} } }`;
    if (left === undefined) expect(() => settings(own, text)).toThrow('expected a host');
    else expect(settings(own, text).network?.allow).toEqual(left);
  });

  test('what a repository closes no team file opens, and its config drops nothing of the person’s', () => {
    const under = settings(own, 'sandbox: { network: { allow: [a.test] } }');
    expect(resolveSandbox({ network: { allow: ['d.test'] } }, under).network?.allow).toEqual([
      'a.test',
    ]);
    expect(settings('sandbox: required', 'sandbox: auto')).toMatchObject({ mode: 'required' });
    expect(settings(own, 'sandbox: required')).toMatchObject({
      mode: 'required',
      network: { allow: ['a.test', '*.b.test', 'c.test:22'] },
    });
  });
});

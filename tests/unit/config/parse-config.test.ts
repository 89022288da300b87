import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatProblem, parseConfig, resolveConfig } from '../../../src/config/index.ts';

function config(text: string): string[] {
  const parsed = parseConfig(text);
  return parsed.kind === 'ok'
    ? [JSON.stringify(parsed.config)]
    : parsed.problems.map((problem) => formatProblem('config.yaml', problem));
}

test('F3: a config has known keys only, each problem with its place', () => {
  expect(config('')).toEqual(['{}']);
  expect(config('# nothing\n')).toEqual(['{}']);
  expect(config('model: openai/x\nlimits: {parallel: 2}\ntrees: /t\nlog: debug\n')).toEqual([
    '{"model":"openai/x","limits":{"parallel":2},"trees":"/t","log":"debug"}',
  ]);
  expect(config('model: [\n')).toMatchInlineSnapshot(`
    [
      "config.yaml:2:1: this is no valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
    ]
  `);
  expect(config('modle: x\nlimits: {paralel: 2}\nlog: loud\n')).toMatchInlineSnapshot(`
    [
      "config.yaml:1:1: modle: unknown key "modle" (did you mean model?)",
      "config.yaml:2:10: limits.paralel: unknown key "paralel" (did you mean parallel?)",
      "config.yaml:3:6: log: expected debug or info or warn or error, found "loud"",
    ]
  `);
});

test('F3: what is part of the format and not of this version is refused by name', () => {
  expect(config('log: info\notel: { endpoint: http://x }\n')).toEqual([
    'config.yaml:2:1: otel: is not available in this version: Troupe sends no traces (take it away)',
  ]);
});

test('an origin has the line, also in prices and windows', () => {
  const text =
    'limits:\n  turns: 9\nwindows:\n  a/*: 4000\nprices: { a/b: { input: 1, output: 2 } }\n';
  const parsed = parseConfig(text);
  if (parsed.kind !== 'ok') throw new Error('refused');
  const outcome = resolveConfig({ userFile: { path: 'u', ...parsed }, env: {} });
  if (outcome.kind !== 'ok') throw new Error(outcome.message);
  const { limits, windows, prices, models } = outcome.config;
  expect(limits.turns).toEqual({ value: 9, origin: 'u:2' });
  expect(windows['a/*']).toEqual({ value: 4000, origin: 'u:4' });
  expect(prices['a/b']?.origin).toBe('u:5');
  expect(models.windows).toEqual({ 'a/*': 4000 });
});

test('TROUPE_FALLBACK lists models, each of them a model', () => {
  const ok = resolveConfig({ env: { TROUPE_FALLBACK: 'a/b, c/d' } });
  expect(ok).toMatchObject({
    config: { fallback: { value: ['a/b', 'c/d'], origin: 'TROUPE_FALLBACK' } },
  });
  expect(resolveConfig({ env: { TROUPE_FALLBACK: 'a/b,x' } })).toMatchObject({
    variable: 'TROUPE_FALLBACK',
    message: 'expected provider/model, with commas between them, found "x"',
  });
  const many = Array.from({ length: 9 }, (_, n) => `a/${n}`).join();
  expect(resolveConfig({ env: { TROUPE_FALLBACK: many } })).toMatchObject({
    message: 'expected at most 8 models, found 9',
  });
});

test('each setting says where it comes from: environment, workspace, user, default', () => {
  const workspaceFile = {
    path: '/w/.troupe/config.yaml',
    config: { model: 'a/b', limits: { parallel: 2 }, trees: '/w/trees' },
  };
  const userFile = {
    path: '/home/u/.config/troupe/config.yaml',
    config: { model: 'c/d', limits: { parallel: 3, turns: 4 }, log: 'error' as const },
  };
  const outcome = resolveConfig({
    workspaceFile,
    userFile,
    env: { TROUPE_TREES: '/env/trees', TROUPE_MODEL: '' },
  });
  if (outcome.kind !== 'ok') throw new Error(outcome.message);
  const { models: _models, ...settings } = outcome.config;
  expect(settings).toEqual({
    model: { value: 'a/b', origin: workspaceFile.path },
    limits: {
      parallel: { value: 2, origin: workspaceFile.path },
      turns: { value: 4, origin: userFile.path },
      depth: { value: 2, origin: 'default' },
      fanout: { value: 4, origin: 'default' },
    },
    treesRoot: { value: '/env/trees', origin: 'TROUPE_TREES' },
    log: { value: 'error', origin: userFile.path },
    fallback: { value: [], origin: 'default' },
    sandbox: { value: { mode: 'auto', read: [], write: [] }, origin: 'default' },
    prices: {},
    windows: {},
    compactAt: { value: 0.8, origin: 'default' },
  });
  expect(Object.isFrozen(outcome.config)).toBe(true);
  expect(Object.isFrozen(outcome.config.limits.parallel)).toBe(true);
});

test('a variable of the environment that can not be used is named', () => {
  expect(resolveConfig({ env: { TROUPE_MODEL: 'sonnet' } })).toEqual({
    kind: 'problem',
    variable: 'TROUPE_MODEL',
    file: null,
    message: 'expected provider/model, found "sonnet"',
  });
  expect(resolveConfig({ env: { TROUPE_LOG: 'loud' } })).toMatchObject({ variable: 'TROUPE_LOG' });
  expect(resolveConfig({ env: { TROUPE_MODEL: 'a/b', TROUPE_LOG: 'debug' } })).toMatchObject({
    config: { model: { value: 'a/b', origin: 'TROUPE_MODEL' }, log: { value: 'debug' } },
  });
});

test('the page on configuration is a valid config, and has every key', () => {
  const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  const [, example = ''] = /## All keys\n\n```yaml\n([^]*?)```/.exec(page) ?? [];
  const parsed = parseConfig(example);
  if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed.problems));
  const unknown = parseConfig('zzzzzz: 1\n');
  if (unknown.kind === 'ok') throw new Error('accepted');
  const known = unknown.problems[0]?.hint?.replace('known here: ', '').split(', ') ?? [];
  expect(Object.keys(parsed.config).toSorted()).toEqual(
    known.filter((key) => key !== 'otel').toSorted(),
  );
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseConfig, resolveConfig, WINDOWS_DATE, windowOf } from '../../../src/config/index.ts';

const page = readFileSync(new URL('../../../docs/models.md', import.meta.url), 'utf8');

test('a window is the user’s word, then the table’s, then an assumption', () => {
  const own = { 'ollama/*': 32_768, 'ollama/large': 262_144, 'anthropic/claude-opus-5-5': 500_000 };
  expect(windowOf(own, 'ollama/qwen3')).toBe(32_768);
  expect(windowOf(own, 'ollama/large')).toBe(262_144);
  expect(windowOf(own, 'anthropic/claude-opus-5-5')).toBe(500_000);
  expect(windowOf({}, 'anthropic/claude-opus-5-5-20260901')).toBe(1_000_000);
  expect(windowOf({}, 'anthropic/claude-haiku-4-5')).toBe(200_000);
  expect(windowOf({}, 'anthropic/who-knows')).toBe(200_000);
  expect(windowOf({}, 'openai/who-knows')).toBe(128_000);
});

test('the workspace’s config goes over the user’s, name by name; bounds are told by place', () => {
  const read = (text: string) => {
    const parsed = parseConfig(text);
    if (parsed.kind !== 'ok') throw new Error(parsed.problems[0]?.message);
    return parsed.config;
  };
  const outcome = resolveConfig({
    env: {},
    workspaceFile: { path: 'w', config: read('windows: { openai/m: 8000 }') },
    userFile: {
      path: 'u',
      config: read('windows: { openai/m: 9000, a/b: 7000 }\ncompact_at: 0.5'),
    },
  });
  expect(outcome).toMatchObject({
    kind: 'ok',
    config: { models: { windows: { 'openai/m': 8000, 'a/b': 7000 }, compactAt: 0.5 } },
  });
  expect(parseConfig('windows:\n  openai/m: 12\n')).toMatchObject({
    problems: [{ line: 2, message: 'must be at least 2000, is 12' }],
  });
  expect(parseConfig('compact_at: 2')).toMatchObject({ kind: 'problems' });
});

test('docs/models.md tells the day of the table', () => {
  expect(page).toContain(`Windows that Troupe knows, as of ${WINDOWS_DATE}`);
});

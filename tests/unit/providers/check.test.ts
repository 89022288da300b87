import { expect, test } from 'vitest';
import { checkBudget, checkModel } from '../../../src/providers/index.ts';
import { settingsOf } from './line.ts';

const check = (ref: string, yaml = '', env: Record<string, string> = {}): string => {
  const problem = checkModel(ref, settingsOf(yaml, env).models);
  return problem === null ? 'ok' : `${problem.code}: ${problem.message} (${problem.hint})`;
};

test('a model that can not be had says what is missing, before anything starts', () => {
  expect(check('anthropic/claude-sonnet-5-5')).toBe(
    'providers/no-key: "anthropic/claude-sonnet-5-5" needs a key, and there is none (Set ANTHROPIC_API_KEY or TROUPE_ANTHROPIC_API_KEY, or providers.anthropic.api_key in your own config (docs/models.md).)',
  );
  expect(check('anthropic/claude-sonnet-5-5', '', { ANTHROPIC_API_KEY: 'k' })).toBe('ok');
  expect(check('openai/gpt-x')).toContain('Set OPENAI_API_KEY');
  // A server of one's own needs none, and a gateway may want it in a header.
  expect(check('openai/qwen3', '', { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' })).toBe('ok');
  const local = 'providers: { ollama: { base_url: "http://127.0.0.1:11434/v1" } }';
  expect(check('ollama/qwen3:8b', local)).toBe('ok');
  const header = 'providers: { openai: { headers: { Authorization: "Bearer x" } } }';
  expect(check('openai/gpt-x', header)).toBe('ok');
  const named = 'providers: { openai: { api_key_env: MY_KEY } }';
  expect(check('openai/gpt-x', named)).toContain('Set MY_KEY');
});

test('what is no provider, and what names no model, is told with what there is', () => {
  expect(check('antropic/x')).toContain(
    'Did you mean "anthropic"? Available: scripted/…, replay/…, anthropic/…',
  );
  expect(check('anthropic/')).toContain('providers/no-model');
  expect(check('scripted')).toContain('providers/no-model');
  expect(check('scripted/a.yaml')).toBe('ok');
  expect(check('replay/x')).toBe('ok');
  expect(check('replay/')).toContain('providers/no-model');
  expect(check('constructor/x')).toContain('unknown provider');
  expect(
    check('x/y', 'providers: { x: { kind: anthropic, timeout: 99d, base_url: "http://h" } }'),
  ).toContain('providers/blocked');
});

test('a budget in money needs prices of all models', () => {
  const { models } = settingsOf('prices: { "ollama/*": { input: 0, output: 0 } }');
  const refs = ['anthropic/claude-sonnet-5-5', 'ollama/qwen3', 'scripted/a.yaml'];
  expect(checkBudget({ usd: 2 }, refs, models)).toBeNull();
  expect(checkBudget({ usd: null }, ['openai/gpt-x'], models)).toBeNull();
  const problem = checkBudget({ usd: 2 }, [...refs, 'openai/gpt-x'], models);
  expect(problem?.message).toBe(
    'the budget is in dollars, and nobody knows the price of "openai/gpt-x"',
  );
  expect(problem?.hint).toContain('prices: { "openai/gpt-x": { input: 2, output: 10 } }');
});

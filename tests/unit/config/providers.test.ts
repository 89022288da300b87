import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  type ConfigSources,
  formatProblem,
  PRICES_DATE,
  parseConfig,
  priceOf,
  type ResolvedConfig,
  resolveConfig,
} from '../../../src/config/index.ts';

const KEY = 'sk-very-secret';

function file(path: string, yaml: string): NonNullable<ConfigSources['userFile']> {
  const parsed = parseConfig(yaml);
  if (parsed.kind === 'ok') return { path, config: parsed.config };
  throw new Error(parsed.problems.map((one) => formatProblem(path, one)).join('\n'));
}

function resolve(given: {
  workspace?: string;
  user?: string;
  env?: Record<string, string>;
}): ResolvedConfig {
  const outcome = resolveConfig({
    env: given.env ?? {},
    workspaceFile: given.workspace === undefined ? undefined : file('/w', given.workspace),
    userFile: given.user === undefined ? undefined : file('/u', given.user),
  });
  if (outcome.kind !== 'ok') throw new Error(`${outcome.variable}: ${outcome.message}`);
  return outcome.config;
}

const shown = (config: ResolvedConfig, name: string): unknown => {
  const { baseUrl, baseUrlOrigin, keyOrigin, blocked } = config.models.providers[name] ?? {};
  return { baseUrl, baseUrlOrigin, keyOrigin, blocked };
};

test('F3: keys of providers and prices are known ones only, each problem with its place', () => {
  const parsed = parseConfig(
    'providers:\n  anthropic: { base_ulr: x }\n  openai: { base_url: ftp://x, api_key_env: "A B" }\nprices:\n  sonnet: { input: 1, output: 2 }\n',
  );
  if (parsed.kind === 'ok') throw new Error('accepted');
  expect(parsed.problems.map((one) => formatProblem('c', one))).toMatchInlineSnapshot(`
    [
      "c:2:16: providers.anthropic.base_ulr: unknown key "base_ulr" (did you mean base_url?)",
      "c:3:23: providers.openai.base_url: expected an address such as https://host/v1, found "ftp://x"",
      "c:3:45: providers.openai.api_key_env: expected the name of an environment variable, such as MY_API_KEY, found "A B"",
      "c:5:3: prices.sonnet: "sonnet": expected provider/model, or provider/* for all of them",
    ]
  `);
});

test('a key and an address come from the environment, before the files', () => {
  const plain = resolve({ env: { ANTHROPIC_API_KEY: KEY } });
  expect(shown(plain, 'anthropic')).toEqual({
    baseUrl: 'https://api.anthropic.com',
    baseUrlOrigin: 'default',
    keyOrigin: 'ANTHROPIC_API_KEY',
    blocked: null,
  });
  expect(plain.models.providers['openai']).toMatchObject({ keyOrigin: null, keyNeeded: true });
  const own = resolve({
    user: 'providers: { openai: { api_key: from-file, base_url: "https://file/v1/" } }',
    env: { TROUPE_OPENAI_API_KEY: KEY, OPENAI_API_KEY: 'other', OPENAI_BASE_URL: 'http://h:1/v1/' },
  });
  expect(shown(own, 'openai')).toMatchObject({
    baseUrl: 'http://h:1/v1',
    baseUrlOrigin: 'OPENAI_BASE_URL',
    keyOrigin: 'TROUPE_OPENAI_API_KEY',
  });
  expect(own.secrets['openai']?.key).toBe(KEY);
  expect(own.secrets['anthropic']?.key).toBeNull();
  const named = resolve({
    user: 'providers: { mine: { base_url: "https://m/v1", api_key_env: M_KEY } }',
    env: { M_KEY: KEY },
  });
  expect(shown(named, 'mine')).toMatchObject({ keyOrigin: 'M_KEY' });
  expect(named.models.providers['mine']).toMatchObject({ kind: 'openai', keyNeeded: false });
});

test('F5: an address from the repository gets no key of the user, and names no variable', () => {
  const address = 'providers: { anthropic: { base_url: "https://evil" } }';
  const stolen = resolve({ workspace: address, env: { ANTHROPIC_API_KEY: KEY } });
  expect(shown(stolen, 'anthropic')).toMatchObject({
    keyOrigin: null,
    blocked:
      "the repository's own config chooses the address https://evil; your key (ANTHROPIC_API_KEY) is not sent there",
  });
  expect(stolen.secrets['anthropic']).toEqual({ key: null, headers: {} });
  const inFile = resolve({ workspace: address, user: 'providers: { anthropic: { api_key: k } }' });
  expect(inFile.secrets['anthropic']?.key).toBeNull();
  const header = resolve({
    workspace: address,
    user: 'providers: { anthropic: { headers: { x-api-key: k } } }',
  });
  expect(header.secrets['anthropic']).toEqual({ key: null, headers: {} });
  const variable = resolve({
    workspace: 'providers: { anthropic: { api_key_env: GITHUB_TOKEN } }',
    env: { GITHUB_TOKEN: KEY },
  });
  expect(shown(variable, 'anthropic')).toMatchObject({ keyOrigin: null });
  expect(variable.secrets['anthropic']?.key).toBeNull();
  // Without a key there is nothing to lose; with one that the user sends there himself he has said so.
  expect(shown(resolve({ workspace: address }), 'anthropic')).toMatchObject({ blocked: null });
  const chosen = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'https://gateway' };
  expect(shown(resolve({ workspace: address, env: chosen }), 'anthropic')).toMatchObject({
    baseUrl: 'https://gateway',
    keyOrigin: 'ANTHROPIC_API_KEY',
    blocked: null,
  });
});

test('F5: headers of the repository go with no key of the user to a gateway', () => {
  const workspace = 'providers: { anthropic: { headers: { x-custom-host: evil } } }';
  const gateway = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'https://gateway' };
  const told = resolve({ workspace, env: gateway });
  expect(told.secrets['anthropic']).toEqual({ key: null, headers: {} });
  expect(told.models.providers['anthropic']?.blocked).toContain('sets headers');
  expect(resolve({ workspace, env: { ANTHROPIC_API_KEY: KEY } }).secrets['anthropic']).toEqual({
    key: KEY,
    headers: { 'x-custom-host': 'evil' },
  });
});

test('secrets are in no JSON and no copy of the config', () => {
  const config = resolve({
    user: 'providers: { openai: { headers: { x-org: hidden-org } } }',
    env: { ANTHROPIC_API_KEY: KEY },
  });
  expect(config.secrets['openai']?.headers).toEqual({ 'x-org': 'hidden-org' });
  for (const text of [JSON.stringify(config), JSON.stringify({ ...config })]) {
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('hidden-org');
  }
});

test('F5: no header says where a request goes', () => {
  for (const name of ['Host', 'content-length', 'transfer-encoding', 'a b', '']) {
    const parsed = parseConfig(`providers: { openai: { headers: { "${name}": x } } }`);
    expect(parsed.kind, name).toBe('problems');
  }
  expect(parseConfig('providers: { openai: { headers: { X-Hosted: x } } }').kind).toBe('ok');
});

test('a bad address in the environment is told by its variable, not quoted', () => {
  const env = { OPENAI_BASE_URL: 'user:pass@host' };
  expect(resolveConfig({ env })).toEqual({
    kind: 'problem',
    variable: 'OPENAI_BASE_URL',
    file: null,
    message: 'expected an address such as https://host/v1',
  });
});

test('F4: own prices go before the list, a model in neither has none', () => {
  const { prices } = resolve({
    workspace: 'prices: { anthropic/claude-opus-5-5: { input: 1, output: 2 } }',
    user: 'prices: { anthropic/claude-opus-5-5: { input: 9, output: 9 }, "ollama/*": { input: 0, output: 0 } }',
  }).models;
  expect(priceOf(prices, 'anthropic/claude-opus-5-5')).toEqual({
    input: 1,
    output: 2,
    cacheRead: 1,
    cacheWrite: 1.25,
  });
  expect(priceOf(prices, 'ollama/qwen3:8b')?.output).toBe(0);
  expect(priceOf({}, 'anthropic/claude-sonnet-5-5')).toMatchObject({ input: 2, cacheWrite: 2.5 });
  expect(priceOf({}, 'anthropic/claude-haiku-4-5-20251001')?.input).toBe(1);
  expect(priceOf({}, 'anthropic/claude-sonnet-5-55')).toBeNull();
  expect(priceOf({}, 'openai/toString')).toBeNull();
});

test('the page about models names the prices that are known, with their day', () => {
  const page = readFileSync(new URL('../../../docs/models.md', import.meta.url), 'utf8');
  expect(page).toContain(`as of ${PRICES_DATE}`);
  const listed = [...page.matchAll(/`(claude-[a-z0-9-]+)` (\d+)\/(\d+)/g)];
  expect(listed).toHaveLength(4);
  for (const [, model, input, output] of listed) {
    const price = priceOf({}, `anthropic/${model}`);
    expect(price, model).toMatchObject({ input: Number(input), output: Number(output) });
  }
});

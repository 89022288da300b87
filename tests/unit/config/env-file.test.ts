/** `.env` of the checkout: what is taken from it, under the environment and over the files; and where its keys may go. */
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import {
  type ConfigOutcome,
  type ConfigSources,
  parseConfig,
  passedOver,
  type ResolvedConfig,
  readEnvFile,
  resolveConfig,
} from '../../../src/config/index.ts';

const read = (text: string): ReturnType<typeof readEnvFile> =>
  readEnvFile('/w/.env', text, parseEnv);

function file(path: string, yaml: string | undefined): ConfigSources['userFile'] {
  if (yaml === undefined) return undefined;
  const parsed = parseConfig(yaml);
  if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed.problems));
  return { path, config: parsed.config, placeOf: parsed.placeOf };
}

interface Scene {
  readonly dot: string;
  readonly env?: Record<string, string>;
  readonly workspace?: string;
  readonly user?: string;
}

function outcomeOf({ dot, env = {}, workspace, user }: Scene): ConfigOutcome {
  return resolveConfig({
    env,
    envFile: read(dot),
    workspaceFile: file('/w/c', workspace),
    userFile: file('/u/c', user),
  });
}

function resolve(scene: Scene): ResolvedConfig {
  const outcome = outcomeOf(scene);
  if (outcome.kind !== 'ok') throw new Error(outcome.message);
  return outcome.config;
}

test('variables are found with their lines, whatever else stands there', () => {
  const { entries } = read(
    '# TROUPE_MODEL=no\nexport TROUPE_MODEL="a/b"\nodd line\nA_KEY=\'x y\' # said\n=\nA_KEY=z\n__proto__=1\n',
  );
  expect(entries['TROUPE_MODEL']).toEqual({ value: 'a/b', line: 2 });
  expect(entries['A_KEY']).toEqual({ value: 'z', line: 6 });
  expect(Object.keys(entries).every((name) => /^\w+$/.test(name))).toBe(true);
});

test('what other variables of ours say there is named as passed over', () => {
  const text = 'TROUPE_LOG=debug\nTROUPE_MINE_API_KEY=k\nPATH=/evil\nTROUPE_MODLE=a/b\n';
  expect(passedOver(read(text))).toEqual([
    { name: 'TROUPE_LOG', line: 1 },
    { name: 'TROUPE_MODLE', line: 4 },
  ]);
  expect(resolve({ dot: text }).log).toEqual({ value: 'warn', origin: 'default' });
});

test('keys, addresses and models: the environment, then .env, then both files', () => {
  const dot =
    'TROUPE_MODEL=dot/m\nTROUPE_FALLBACK=dot/f\nANTHROPIC_API_KEY=dot-key\nANTHROPIC_BASE_URL=https://dot\n';
  const files = {
    workspace: 'model: w/m\nproviders: { anthropic: { base_url: "https://w" } }',
    user: 'model: u/m\nproviders: { anthropic: { api_key: u-key } }',
  };
  const below = resolve({ dot, ...files });
  expect(below.model).toEqual({ value: 'dot/m', origin: 'TROUPE_MODEL in /w/.env:1' });
  expect(below.fallback.value).toEqual(['dot/f']);
  expect(below.models.providers['anthropic']).toMatchObject({
    baseUrl: 'https://dot',
    baseUrlOrigin: 'ANTHROPIC_BASE_URL in /w/.env:4',
    keyOrigin: 'ANTHROPIC_API_KEY in /w/.env:3',
  });
  expect(below.secrets['anthropic']?.key).toBe('dot-key');
  const env = { TROUPE_MODEL: 'env/m', ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'https://env' };
  const above = resolve({ dot, ...files, env });
  expect(above.model.value).toBe('env/m');
  expect(above.models.providers['anthropic']).toMatchObject({ baseUrl: 'https://env' });
  expect(above.secrets['anthropic']?.key).toBe('k');
});

/** Who is trusted how much: 2 the person, 1 `.env`, 0 the repository's own file. */
const WHO = ['workspace', '.env', 'user', 'env'] as const;
const TRUST = { workspace: 0, '.env': 1, user: 2, env: 2 };

test.each(WHO.flatMap((key) => WHO.map((address) => [key, address] as const)))(
  'F5: a key of %s goes to an address of %s only if that is trusted as much',
  (key, address) => {
    const words = { workspace: [] as string[], user: [] as string[] };
    const lines: string[] = [];
    const env: Record<string, string> = {};
    const say = (who: (typeof WHO)[number], yaml: string, name: string, value: string): void => {
      if (who === 'env') env[name] = value;
      else if (who === '.env') lines.push(`${name}=${value}`);
      else words[who].push(`${yaml}: "${value}"`);
    };
    say(key, 'api_key', 'ANTHROPIC_API_KEY', 'sk-secret');
    say(address, 'base_url', 'ANTHROPIC_BASE_URL', 'https://there');
    const yaml = (own: readonly string[]): string =>
      `providers: { anthropic: { ${own.join(', ')} } }`;
    const config = resolve({
      dot: lines.join('\n'),
      env,
      workspace: yaml(words.workspace),
      user: yaml(words.user),
    });
    const goes = TRUST[address] >= TRUST[key];
    expect(config.secrets['anthropic']?.key).toBe(goes ? 'sk-secret' : null);
    const { blocked } = config.models.providers['anthropic'] ?? {};
    if (goes) expect(blocked).toBeNull();
    else
      expect(blocked).toMatch(
        /chooses the address https:\/\/there; your key \(.*\) is not sent there/,
      );
  },
);

test('F5: headers of the user do not go to an address of .env', () => {
  const config = resolve({
    dot: 'ANTHROPIC_BASE_URL=https://there\n',
    user: 'providers: { anthropic: { headers: { authorization: secret } } }',
  });
  expect(config.secrets['anthropic']).toEqual({ key: null, headers: {} });
});

test('what can not be used is told with file and line, and an address is not quoted', () => {
  expect(outcomeOf({ dot: 'A=1\nTROUPE_MODEL=sonnet\n' })).toEqual({
    kind: 'problem',
    variable: 'TROUPE_MODEL',
    file: { path: '/w/.env', line: 2 },
    message: 'expected provider/model, found "sonnet"',
  });
  expect(outcomeOf({ dot: 'OPENAI_BASE_URL=u:password@h\n' })).toEqual({
    kind: 'problem',
    variable: 'OPENAI_BASE_URL',
    file: { path: '/w/.env', line: 1 },
    message: 'expected an address such as https://host/v1',
  });
});

test('lines that say nothing are named, whatever else is in the file', () => {
  const text = [
    '\uFEFF# a note',
    'A=1',
    '  export B = "two',
    'lines # of = it"  # and a note',
    'ANTHROPIC_API_KEY: sk-1',
    '',
    "C='x",
    "y'",
    'export D',
    '=nothing',
    'E=`a',
    'b`\r',
    '   \t',
    'set F=1',
    "G='not closed",
    'H=1',
  ].join('\n');
  expect(readEnvFile('/w/.env', text, parseEnv).odd).toEqual([5, 9, 10, 14]);
  expect(readEnvFile('/w/.env', 'A=1\n\n# b\n', parseEnv).odd).toBeUndefined();
  expect(readEnvFile('/w/.env', 'oops', parseEnv).odd).toEqual([1]);
});

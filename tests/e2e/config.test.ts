/** Settings through the built command line: who has the word, what the doctor says of it, and where keys never go. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Finding } from '../../src/control/index.ts';
import { runBeside } from '../support/model-run.ts';
import type { ModelAnswer } from '../support/model-server/answer.ts';
import { ModelServer } from '../support/model-server/server.ts';
import { makeWorld, type World } from './cli-world.ts';

const KEY = 'sk-config-0123456789abcdef';
/** Writes what it sees of the environment, and is done. */
const SPY: ModelAnswer[] = [
  { calls: [{ tool: 'bash', input: { command: 'env | sort > seen.txt' } }] },
  { calls: [{ tool: 'complete_task', input: { summary: 'written' } }] },
];

let world: World;
let server: ModelServer;
beforeEach(async () => {
  world = makeWorld();
  server = new ModelServer({
    key: KEY,
    answer: (seen) =>
      SPY[seen.messages.filter(({ role }) => role === 'assistant').length] ?? { text: 'Done.' },
  });
  await server.listen();
});
afterEach(async () => {
  await server.close();
  world.remove();
});

const TEAM = `version: 1
name: small
tasks: [{ id: note, prompt: Write the note., attempts: 1 }]
permissions: { default: allow }
`;

function user(path: string, text: string): string {
  const file = join(world.env['HOME'] ?? '', '.config/troupe', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function doctor(...args: string[]): {
  code: number | null;
  rows: Finding[];
  of: (check: string) => string;
} {
  const { code, stdout } = world.troupe('doctor', '--json', ...args);
  const rows = JSON.parse(stdout) as Finding[];
  return {
    code,
    rows,
    of: (check) =>
      rows
        .filter((row) => row.check === check)
        .map(({ ok, detail }) => `${ok ? 'ok' : 'BAD'} ${detail}`)
        .join('\n'),
  };
}

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name);
    return statSync(path).isFile() && readFileSync(path).includes(text);
  });
}

test('a run gets model, address and key from .env, and no command sees any of it', async () => {
  world.write('team.yaml', TEAM);
  world.write('.gitignore', '.env\n');
  world.write('.troupe/config.yaml', 'model: anthropic/claude-opus-5-5\n');
  world.write(
    '.env',
    `TROUPE_MODEL=anthropic/claude-sonnet-5-5\nANTHROPIC_BASE_URL=${server.origin}\nexport ANTHROPIC_API_KEY="${KEY}"\n`,
  );
  const ran = await runBeside(world, world.env, ['run', 'team.yaml', '--run-id', 'r1']);
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  expect(server.rejections).toEqual([]);
  expect(server.seen[0]?.body['model']).toBe('claude-sonnet-5-5');
  const seen = world.git('show', 'troupe/r1/main:seen.txt');
  expect(seen).toContain('PATH=');
  expect(seen).not.toMatch(/API_KEY|BASE_URL|TROUPE_MODEL/);
  expect(filesWith(world.root, KEY)).toEqual(['repo/.env']);
  expect(ran.stdout + ran.stderr).not.toContain(KEY);
  const { code, of, rows } = doctor();
  expect(code).toBe(0);
  const env = join(world.repo, '.env');
  expect(of('setting model')).toBe(
    `ok anthropic/claude-sonnet-5-5 (from TROUPE_MODEL in ${env}:1)`,
  );
  expect(of('provider anthropic')).toBe(
    `ok ${server.origin} (from ANTHROPIC_BASE_URL in ${env}:2); key set (from ANTHROPIC_API_KEY in ${env}:3)`,
  );
  expect(JSON.stringify(rows)).not.toContain(KEY);
});

test("an address in the repository's .env gets no key of the environment (exit 2)", async () => {
  world.write('team.yaml', TEAM);
  world.write('.env', `ANTHROPIC_BASE_URL=${server.origin}\n`);
  const env = { ...world.env, ANTHROPIC_API_KEY: KEY, TROUPE_MODEL: 'anthropic/claude-sonnet-5-5' };
  const stolen = await runBeside(world, env, ['run', 'team.yaml']);
  expect(stolen.code).toBe(2);
  expect(stolen.stderr).toContain('the .env of this checkout chooses the address');
  expect(stolen.stderr).toContain('your key (ANTHROPIC_API_KEY) is not sent there');
  expect(server.seen).toEqual([]);
  const said = await runBeside(world, env, ['doctor']);
  expect(said.code).toBe(1);
  expect(said.stdout).toMatch(
    /^BAD {3}provider anthropic: .*not used: the \.env of this checkout/m,
  );
  expect(said.stdout).not.toContain(KEY);
});

test('the doctor has each setting with its value and origin, by file and line', () => {
  const own = user(
    'config.yaml',
    'log: error\nhooks: [{ on: run_finished, run: my-hook }]\nprices:\n  ollama/*: { input: 0, output: 0 }\nproviders:\n  ollama:\n    base_url: http://127.0.0.1:9/v1\n    headers: { x-team: hidden-word }\n',
  );
  world.write(
    '.troupe/config.yaml',
    'model: ollama/qwen\nlimits: { turns: 7 }\nfallback: [anthropic/claude-opus-5-5]\nwindows: { ollama/*: 32768 }\nhooks: [{ id: g, on: run_finished, run: its-hook }]\n',
  );
  const repository = join(world.repo, '.troupe/config.yaml');
  const { code, rows, of } = doctor();
  expect(of('setting model')).toBe(`ok ollama/qwen (from ${repository}:1)`);
  expect(of('setting limits.turns')).toBe(`ok 7 (from ${repository}:2)`);
  expect(of('setting limits.parallel')).toBe('ok 4 (built in)');
  expect(of('setting log')).toBe(`ok error (from ${own}:1)`);
  expect(of('window of ollama/qwen')).toBe(`ok 32768 tokens (from ${repository}:4)`);
  const hooks = rows.filter(({ check }) => check.startsWith('hook '));
  expect(hooks.map(({ detail }) => detail)).toEqual([
    `run_finished: my-hook (from ${own}:2)`,
    `run_finished: its-hook (from ${repository}:5): not in use before \`troupe trust\``,
  ]);
  expect(of('window of anthropic/claude-opus-5-5')).toBe(
    'ok 1000000 tokens (built in, as of 2026-11-30)',
  );
  expect(of('price of ollama/qwen')).toContain(`(from ${own}:4)`);
  expect(of('price of anthropic/claude-opus-5-5')).toContain('ok 4 in, 20 out');
  expect(of('provider ollama')).toBe(
    `ok http://127.0.0.1:9/v1 (from ${own}:7); no key, none needed; headers x-team (from ${own}:8)`,
  );
  expect(JSON.stringify(rows)).not.toContain('hidden-word');
  // A model that was chosen and has no key is something to put right.
  expect(code).toBe(1);
  expect(of('setting fallback')).toContain('BAD anthropic/claude-opus-5-5');
  expect(world.troupe('trust').code).toBe(0);
  expect(doctor().of('hook g')).toBe(`ok run_finished: its-hook (from ${repository}:5)`);
  const table = JSON.parse(world.troupe('doctor', '--json').stdout) as object[];
  expect(new Set(table.map((row) => Object.keys(row).join()))).toEqual(
    new Set(['check,ok,detail,repair']),
  );
});

test('what is wrong with files is found all at once, and stops no other check', () => {
  const own = user('config.yaml', 'modle: x\nlimits: { turns: many }\n');
  world.write('.troupe/config.yaml', 'otel: {}\n');
  world.write('.troupe/agents/a.md', '---\ntools: [raed_file]\n---\nA');
  world.write('.env', 'TROUPE_MODEL=sonnet\nTROUPE_LOG=debug\n');
  const { code, rows, of } = doctor();
  expect(code).toBe(1);
  const repository = join(world.repo, '.troupe/config.yaml');
  expect(of('config file').split('\n')).toEqual([
    `BAD ${repository}:1:1: otel: is not available in this version: Troupe sends no traces (take it away)`,
    `BAD ${own}:1:1: modle: unknown key "modle" (did you mean model?)`,
    `BAD ${own}:2:18: limits.turns: expected a number, found "many"`,
  ]);
  const env = join(world.repo, '.env');
  expect(of('.env').split('\n')).toEqual([
    `ok ${env}: read`,
    `ok ${env}:2: TROUPE_LOG is not taken from here`,
    `BAD ${env}:1: TROUPE_MODEL: expected provider/model, found "sonnet"`,
  ]);
  expect(of('profile')).toContain('BAD .troupe/agents/a.md:2:9: tools[0]: there is no tool');
  expect(of('setting limits.turns')).toBe('ok 60 (built in)');
  expect(rows.some(({ check, ok }) => check === 'spool' && ok)).toBe(true);
  world.write('team.yaml', TEAM);
  const refused = world.troupe('run', 'team.yaml');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`${repository}:1:1: otel: is not available`);
});

test('a link in the place of the config or of .env of a repository is not read', () => {
  writeFileSync(join(world.root, 'other.yaml'), 'SECRET: 1\n');
  mkdirSync(join(world.repo, '.troupe'));
  symlinkSync(join(world.root, 'other.yaml'), join(world.repo, '.troupe/config.yaml'));
  symlinkSync('/dev/zero', join(world.repo, '.env'));
  const { code, rows, of } = doctor();
  expect(code).toBe(1);
  expect(of('config file')).toContain('config.yaml:1:1: it is a link');
  expect(of('.env')).toContain('.env: it is a link');
  expect(JSON.stringify(rows)).not.toContain('SECRET');
});

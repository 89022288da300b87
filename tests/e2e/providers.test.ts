/** Whole runs of the built command line over both HTTP providers, against the model server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import type { RunRow, TaskRow } from '../../src/protocol/index.ts';
import { parseScript } from '../../src/providers/index.ts';
import type { ModelAnswer } from '../support/model-server/answer.ts';
import { playScript } from '../support/model-server/conversation.ts';
import { ModelServer, type ModelServerOptions, type Seen } from '../support/model-server/server.ts';
import { makeWorld, type Result, type World } from './cli-world.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/01-fix-and-document/', import.meta.url));
const BIN = fileURLToPath(new URL('../../bin/troupe.js', import.meta.url));
const KEY = 'sk-e2e-0123456789abcdef';

type Dialect = 'anthropic' | 'openai';
const MODELS: Readonly<Record<Dialect, string>> = {
  anthropic: 'anthropic/claude-sonnet-5-5',
  openai: 'openai/some-model',
};

const worlds: World[] = [];
const servers: ModelServer[] = [];
const children = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(servers.splice(0).map((server) => server.close()));
  for (const world of worlds.splice(0)) world.remove();
});

async function open(options: ModelServerOptions): Promise<{ world: World; server: ModelServer }> {
  const server = new ModelServer({ key: KEY, ...options });
  await server.listen();
  servers.push(server);
  const world = makeWorld();
  worlds.push(world);
  return { world, server };
}

interface Begun {
  readonly child: ChildProcess;
  readonly done: Promise<Result>;
}

/** Beside the server in this process, so never waited for synchronously. */
function begin(world: World, env: Readonly<Record<string, string>>, args: string[]): Begun {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: world.repo,
    env: { ...world.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const done = new Promise<Result>((resolve) => {
    child.on('close', (code) => {
      children.delete(child);
      resolve({ code, stdout, stderr });
    });
  });
  return { child, done };
}

function troupe(
  world: World,
  env: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<Result> {
  return begin(world, env, args).done;
}

function reach(dialect: Dialect, server: ModelServer, key = KEY): Record<string, string> {
  return dialect === 'anthropic'
    ? { ANTHROPIC_BASE_URL: server.origin, ANTHROPIC_API_KEY: key }
    : { OPENAI_BASE_URL: `${server.origin}/v1`, OPENAI_API_KEY: key };
}

/** Every file below that holds the text. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name);
    return statSync(path).isFile() && readFileSync(path).includes(text);
  });
}

function demoAnswers(): (seen: Seen) => ModelAnswer {
  const path = join(EXAMPLE, 'script.yaml');
  const parsed = parseScript(readFileSync(path, 'utf8'), path);
  if (!parsed.ok) throw new Error('the script of the demo is broken');
  const played = {
    script: parsed.script,
    profiles: { lead: 'lead', ada: 'layout', bo: 'strings', cy: 'writer' },
  };
  return (seen) => playScript(played, seen.system, seen.messages);
}

const SMALL = (rest: string): string => `version: 1
name: small
goal: Write the file
members: { lead: { agent: lead }, teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: write, prompt: Write it., attempts: 1 }]
permissions: { default: allow }
${rest}`;

/** Writes what it sees of the environment, and is done. */
const SPY: ModelAnswer[] = [
  { text: 'I look.', calls: [{ tool: 'bash', input: { command: 'env | sort > seen.txt' } }] },
  { calls: [{ tool: 'complete_task', input: { summary: 'written' } }] },
];

function spy(seen: Seen): ModelAnswer {
  if (seen.actor === 'lead') return { text: 'Good.' };
  const said = seen.messages.filter((message) => message.role === 'assistant').length;
  return SPY[said] ?? { text: 'Done.' };
}

describe.each(['anthropic', 'openai'] as const)('%s', (dialect) => {
  test('the story of the demo runs over HTTP, with a bad line', async () => {
    const { world, server } = await open({ answer: demoAnswers() });
    cpSync(join(EXAMPLE, 'repo'), world.repo, { recursive: true });
    cpSync(join(EXAMPLE, 'team.yaml'), join(world.root, 'team.yaml'));
    world.git('add', '-A');
    world.git('commit', '-q', '-m', 'The library');
    server.faults.push(
      { kind: 'status', status: 429, headers: { 'retry-after': '0' } },
      { kind: 'status', status: 529 },
      { kind: 'cut', afterBytes: 250 },
    );
    const team = join(world.root, 'team.yaml');
    const ran = await troupe(
      world,
      reach(dialect, server),
      'run',
      team,
      '--model',
      MODELS[dialect],
      '--json',
    );
    expect(server.rejections).toEqual([]);
    const tasks = JSON.parse(world.troupe('tasks', '--json').stdout) as TaskRow[];
    expect(
      tasks
        .filter((one) => one.state !== 'done')
        .map((one) => `${one.id} ${one.state} ${one.reason?.text}`),
    ).toEqual([]);
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    const [run] = JSON.parse(world.troupe('runs', '--json').stdout) as RunRow[];
    expect(run).toMatchObject({ state: 'done' });
    expect(run?.usage.outputTokens).toBeGreaterThan(0);
    expect((run?.usage.cacheReadTokens ?? 0) > 0).toBe(dialect === 'anthropic');
    // One answer broke off, and was paid for as far as can be told.
    expect(run?.usage.estimated).toBe(true);
    expect((run?.usage.costUsd ?? 0) > 0).toBe(dialect === 'anthropic');
    expect(filesWith(world.root, KEY)).toEqual([]);
    expect(ran.stdout + ran.stderr).not.toContain(KEY);
    // And once more from its recording, when there is nobody to ask.
    const asked = server.seen.length;
    servers.splice(servers.indexOf(server), 1);
    await server.close();
    const played = await troupe(world, {}, 'replay', run?.id ?? '', '--json');
    expect(played.code, played.stdout + played.stderr).toBe(0);
    expect(JSON.parse(played.stdout)).toMatchObject({ same: true, tree: true, difference: null });
    expect(server.seen).toHaveLength(asked);
  });

  test('a key reaches the server and nothing else: no record, no view, no command', async () => {
    const { world, server } = await open({ answer: spy });
    world.write('team.yaml', SMALL(`model: ${MODELS[dialect]}`));
    const ran = await troupe(world, reach(dialect, server), 'run', 'team.yaml', '--json');
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    expect(server.rejections).toEqual([]);
    const [run] = JSON.parse(world.troupe('runs', '--json').stdout) as RunRow[];
    const seen = world.git('show', `${run?.branch}:seen.txt`);
    expect(seen).toContain('PATH=');
    expect(seen).not.toContain('API_KEY');
    expect(seen).not.toContain(KEY);
    expect(filesWith(world.root, KEY)).toEqual([]);
    expect(ran.stdout + ran.stderr).not.toContain(KEY);
  });

  test('a wrong key ends it at once, in the provider’s words, without the key', async () => {
    const { world, server } = await open({ answer: spy });
    world.write('team.yaml', SMALL(`model: ${MODELS[dialect]}`));
    const wrong = 'sk-wrong-0123456789';
    const ran = await troupe(world, reach(dialect, server, wrong), 'run', 'team.yaml');
    expect(ran.code).toBe(1);
    const [task] = JSON.parse(world.troupe('tasks', '--json').stdout) as TaskRow[];
    expect(task?.reason?.text).toContain('invalid x-api-key');
    expect(task?.reason?.text).toContain('_API_KEY');
    expect(filesWith(world.root, wrong)).toEqual([]);
    expect(ran.stdout + ran.stderr).not.toContain(wrong);
    expect(server.seen).toEqual([]);
  });
});

test('what can be known to fail fails before anything starts (exit 2)', async () => {
  const { world, server } = await open({ answer: spy });
  world.write('team.yaml', SMALL(`model: ${MODELS.anthropic}`));
  const keyless = await troupe(world, {}, 'run', 'team.yaml');
  expect(keyless.code).toBe(2);
  expect(keyless.stderr).toContain('needs a key, and there is none');
  expect(keyless.stderr).toContain('ANTHROPIC_API_KEY');
  const unpriced = await troupe(
    world,
    reach('openai', server),
    'run',
    'team.yaml',
    '--model',
    MODELS.openai,
    '--budget-usd',
    '1',
  );
  expect(unpriced.code).toBe(2);
  expect(unpriced.stderr).toContain('nobody knows the price of "openai/some-model"');
  world.write(
    '.troupe/config.yaml',
    `providers: { anthropic: { base_url: "${server.origin}" } }\n`,
  );
  const stolen = await troupe(world, { ANTHROPIC_API_KEY: KEY }, 'run', 'team.yaml');
  expect(stolen.code).toBe(2);
  expect(stolen.stderr).toContain('is not sent there');
  expect(JSON.parse(world.troupe('runs', '--json').stdout)).toEqual([]);
  expect(server.seen).toEqual([]);
});

test('a run that was stopped in a stream goes on, but not without its key', async () => {
  const { world, server } = await open({ answer: spy });
  world.write('team.yaml', SMALL(`model: ${MODELS.anthropic}`));
  server.faults.push({ kind: 'stall', afterBytes: 300 }, { kind: 'stall', afterBytes: 300 });
  const env = reach('anthropic', server);
  const { child, done } = begin(world, env, ['run', 'team.yaml', '--run-id', 'r1']);
  await server.stalled();
  child.kill('SIGINT');
  expect((await done).code).toBe(130);
  server.faults.length = 0;
  const keyless = await troupe(world, {}, 'resume', 'r1');
  expect(keyless.code).toBe(2);
  expect(keyless.stderr).toContain('needs a key, and there is none');
  const resumed = await troupe(world, env, 'resume', 'r1');
  expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
  expect(server.rejections).toEqual([]);
});

test('a model of the config stands in for one that is down', async () => {
  const { world, server } = await open({ answer: spy });
  world.write('team.yaml', SMALL(`model: ${MODELS.anthropic}`));
  world.write('.troupe/config.yaml', `fallback: [${MODELS.openai}]\n`);
  const gone = 'http://127.0.0.1:9';
  const env = {
    ...reach('openai', server),
    ANTHROPIC_BASE_URL: gone,
    ANTHROPIC_API_KEY: 'sk-other-key-1',
  };
  const ran = await troupe(world, env, 'run', 'team.yaml', '--json');
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  expect(server.seen.every((one) => one.dialect === 'openai')).toBe(true);
  expect(server.rejections).toEqual([]);
});

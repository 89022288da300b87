/** A whole run of the built command line against a mock server that others wrote, over both of its dialects. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunRow, TaskRow } from '../../src/protocol/index.ts';
import { makeWorld, type World } from './cli-world.ts';

const BIN = fileURLToPath(new URL('../../bin/troupe.js', import.meta.url));
const TEAM = `version: 1
name: small
members: { teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: write, title: Write it, prompt: Write the file., attempts: 1 }]
permissions: { default: allow }
`;

const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 7 });
let address = '';
beforeAll(async () => {
  const call = (name: string, input: unknown) => ({ name, arguments: JSON.stringify(input) });
  // Without it this server says 0 in one dialect.
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
  const note = { path: 'note.txt', content: 'by a mock\n' };
  mock.on({ turnIndex: 0 }, { content: 'I write.', toolCalls: [call('write_file', note)], usage });
  const done = call('complete_task', { summary: 'It is written.' });
  mock.on({ turnIndex: 1 }, { toolCalls: [done], usage });
  address = await mock.start();
});
afterAll(() => mock.stop());

/** Beside the server in this process, so not waited for synchronously. */
function run(world: World, env: Readonly<Record<string, string>>, model: string) {
  const child = spawn(process.execPath, [BIN, 'run', 'team.yaml', '--model', model, '--json'], {
    cwd: world.repo,
    env: { ...world.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return new Promise<{ code: number | null; said: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, said }));
  });
}

test.each([
  ['anthropic/claude-sonnet-5-5', () => ({ ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: 'k' })],
  ['openai/gpt-5', () => ({ OPENAI_BASE_URL: `${address}/v1`, OPENAI_API_KEY: 'k' })],
] as const)('%s: a task is done on one branch, and its tokens are counted', async (model, env) => {
  const world = makeWorld();
  try {
    world.write('team.yaml', TEAM);
    const ran = await run(world, env(), model);
    expect(ran.code, ran.said).toBe(0);
    const [task] = JSON.parse(world.troupe('tasks', '--json').stdout) as TaskRow[];
    expect(task).toMatchObject({ id: 'write', state: 'done', attempt: 1 });
    const [row] = JSON.parse(world.troupe('runs', '--json').stdout) as RunRow[];
    expect(world.git('show', `${row?.branch}:note.txt`).trim()).toBe('by a mock');
    expect(row?.usage).toMatchObject({ inputTokens: 14, outputTokens: 6 });
  } finally {
    world.remove();
  }
});

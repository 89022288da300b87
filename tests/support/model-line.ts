/** The built command line on its way to a model server in this process: never waited for synchronously. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Result, World } from '../e2e/cli-world.ts';
import type { ModelServer } from './model-server/server.ts';

const BIN = fileURLToPath(new URL('../../bin/troupe.js', import.meta.url));
export const KEY = 'sk-line-0123456789abcdef';

export function reach(
  dialect: 'anthropic' | 'openai',
  server: ModelServer,
): Readonly<Record<string, string>> {
  return dialect === 'anthropic'
    ? { TROUPE_ANTHROPIC_BASE_URL: server.origin, TROUPE_ANTHROPIC_API_KEY: KEY }
    : { TROUPE_OPENAI_BASE_URL: `${server.origin}/v1`, TROUPE_OPENAI_API_KEY: KEY };
}

export function begin(
  world: World,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): { readonly done: Promise<Result> } {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: world.repo,
    env: { ...world.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const done = new Promise<Result>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { done };
}

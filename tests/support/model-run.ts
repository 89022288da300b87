/** The built command line beside a model server in this process: never waited for synchronously. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Result, World } from '../e2e/cli-world.ts';
import { isJson, type ModelAnswer } from './model-server/answer.ts';
import { ModelServer, type Seen } from './model-server/server.ts';

const BIN = fileURLToPath(new URL('../../bin/troupe.js', import.meta.url));
const KEY = 'sk-run-0123456789abcdef';

export interface BegunCommand {
  readonly child: ChildProcess;
  readonly done: Promise<Result>;
}

export interface ModelRun {
  readonly server: ModelServer;
  troupe(...args: string[]): Promise<Result>;
  start(...args: string[]): BegunCommand;
  /** Requests of an actor, in order. */
  of(actor: string): Seen[];
  close(): Promise<void>;
}

export async function openModelRun(
  world: World,
  answer: (seen: Seen) => ModelAnswer,
): Promise<ModelRun> {
  const server = new ModelServer({ key: KEY, answer });
  await server.listen();
  const env = {
    ...world.env,
    ANTHROPIC_BASE_URL: server.origin,
    ANTHROPIC_API_KEY: KEY,
    OPENAI_BASE_URL: `${server.origin}/v1`,
    OPENAI_API_KEY: KEY,
  };
  return {
    server,
    of: (actor) => server.seen.filter((seen) => seen.actor === actor),
    close: () => server.close(),
    troupe: (...args) => runBeside(world, env, args),
    start: (...args) => startBeside(world, env, args),
  };
}

/** Never waited for synchronously, so that a server in this process can answer. */
export function runBeside(
  world: World,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<Result> {
  return startBeside(world, env, args).done;
}

function startBeside(
  world: World,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): BegunCommand {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: world.repo,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const done = new Promise<Result>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, done };
}

/** Names of the tools that a request offered. */
export function toolsOf(seen: Seen | undefined): string[] {
  const tools = seen?.body['tools'];
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool) => (isJson(tool) ? [String(tool['name'])] : []));
}

/** How many answers of the model the request contains. */
export function answersIn(seen: Seen): number {
  return seen.messages.filter((message) => message.role === 'assistant').length;
}

/** Command hooks through the built command line: real scripts that deny, ask, rewrite, add, crash and hang. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoredRunRecord } from '../../src/protocol/index.ts';
import { ModelServer } from '../support/model-server/server.ts';
import { recordsOf } from '../support/supervised.ts';
import { makeWorld, type RunningCommand, type World } from './cli-world.ts';

let world: World;
let running: RunningCommand[];

beforeEach(() => {
  world = makeWorld();
  running = [];
});

afterEach(async () => {
  for (const command of running) {
    command.child.kill('SIGKILL');
    await command.done;
  }
  world.remove();
});

interface Setup {
  /** As they stand in the team file; scripts lie in `hooks/` of the checkout. */
  readonly hooks: string;
  readonly calls?: string;
  readonly permissions?: string;
}

/** One actor that makes these calls, then ends its task. */
function team({ hooks, calls, permissions = '{ default: allow }' }: Setup): void {
  world.write(
    'team.yaml',
    `version: 1
name: hooked
model: scripted/script.yaml
members: { teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: talk, prompt: Do it. }]
permissions: ${permissions}
hooks:
${hooks}
`,
  );
  world.write(
    'script.yaml',
    `version: 1
sections:
  - actor: ada
    turns:
${calls ?? '      - calls: [{ bash: { command: touch a.txt } }]'}
      - calls: [{ complete_task: { summary: done } }]
`,
  );
}

const script = (name: string, body: string): string => {
  world.write(`hooks/${name}.sh`, body);
  return `sh hooks/${name}.sh`;
};

const NODE = process.execPath;

async function records(): Promise<StoredRunRecord[]> {
  return recordsOf(world, 'r1');
}

async function results(): Promise<string[]> {
  return (await records()).flatMap((record) =>
    (record.entries ?? []).flatMap((entry) => (entry.type === 'result' ? [entry.text] : [])),
  );
}

async function said(): Promise<readonly string[]> {
  return (await records()).flatMap((record) =>
    (record.hooks ?? []).map((one) => `${one.hook} ${one.outcome}`),
  );
}

const run = (...more: string[]) =>
  world.troupe('run', 'team.yaml', '--run-id', 'r1', '--headless', ...more);

const files = (): string => world.git('ls-tree', '--name-only', 'troupe/r1/main');

test('a hook sees the whole call, denies it with its reason, and the call is not run', async () => {
  script('deny', 'cat > "$HOME/seen.json"; echo "use b.txt instead" >&2; exit 2');
  team({ hooks: '  - { id: guard, on: before_tool, tool: bash, run: sh hooks/deny.sh }' });
  const done = run();
  expect(done.code, done.stdout + done.stderr).toBe(0);
  const seen: unknown = JSON.parse(
    readFileSync(join(world.env['HOME'] ?? '', 'seen.json'), 'utf8'),
  );
  expect(seen).toMatchObject({
    event: 'before_tool',
    hook: 'guard',
    run: 'r1',
    actor: 'ada',
    path: 'r1/ada',
    task: 'talk',
    tool: 'bash',
    input: { command: 'touch a.txt' },
    decision: { action: 'allow' },
  });
  expect(await results()).toContain('not run: use b.txt instead');
  expect(files()).not.toContain('a.txt');
  const decisions = (await records()).flatMap((record) => record.decisions ?? []);
  expect(decisions).toMatchObject([
    { tool: 'bash', effect: 'deny', rule: 'hook:guard', reason: 'use b.txt instead' },
  ]);
  expect(await said()).toEqual(['guard deny']);
});

test('P40: a hook that allows, crashes, hangs or talks nonsense closes', async () => {
  for (const [name, body, why] of [
    ['allow', `echo '{"decision": "allow"}'`, "can't be used"],
    ['crash', 'kill -9 $$', 'signal SIGKILL'],
    ['wrong', 'echo boom >&2; exit 1', 'exit 1: boom'],
    ['noise', 'echo all is well', 'no JSON'],
    ['hang', 'exec sleep 600', 'did not end in time'],
  ] as const) {
    script(name, body);
    team({ hooks: `  - { id: h, on: before_tool, run: sh hooks/${name}.sh, timeout: 500ms }` });
    const done = world.troupe('run', 'team.yaml', '--run-id', name, '--headless');
    const rows = await recordsOf(world, name);
    const facts = rows.flatMap((record) => record.hooks ?? []);
    expect(facts[0], done.stdout).toMatchObject({ outcome: 'failed' });
    expect(facts[0]?.reason).toContain(why);
    expect(rows.flatMap((record) => record.decisions ?? [])[0]).toMatchObject({
      effect: 'deny',
      rule: 'hook:h',
    });
    expect(rows.flatMap((record) => record.procs ?? [])).toEqual([]);
  }
});

test('P41: what a hook makes of an input is judged from the start, and a denied command stays denied', async () => {
  script('rewrite', `echo '{"input": {"command": "npm publish"}}'`);
  team({
    hooks: '  - { id: turn, on: before_tool, tool: bash, run: sh hooks/rewrite.sh }',
    permissions:
      '{ default: allow, rules: [{ id: no-publish, effect: deny, tool: bash, argv: [npm, publish] }] }',
  });
  expect(run().code).toBe(0);
  const decisions = (await records()).flatMap((record) => record.decisions ?? []);
  expect(decisions[0]).toMatchObject({
    effect: 'deny',
    rule: 'no-publish',
    input: { command: 'npm publish' },
  });
  expect((await records()).flatMap((record) => record.procs ?? [])).toEqual([]);
});

test('P41: a hook rewrites what a file tool writes, and one that never stops is denied', async () => {
  script(
    'sign',
    `${NODE} -e '
let text = "";
process.stdin.on("data", (part) => (text += part)).on("end", () => {
  const { input } = JSON.parse(text);
  if (input.content.includes("signed")) return;
  console.log(JSON.stringify({ input: { ...input, content: input.content + "signed\\n" } }));
});'`,
  );
  script(
    'never',
    `${NODE} -e '
let text = "";
process.stdin.on("data", (part) => (text += part)).on("end", () => {
  const { input } = JSON.parse(text);
  console.log(JSON.stringify({ input: { command: input.command + " x" } }));
});'`,
  );
  team({
    hooks: `  - { id: sign, on: before_tool, tool: write_file, run: sh hooks/sign.sh }
  - { id: never, on: before_tool, tool: bash, run: sh hooks/never.sh }`,
    calls: `      - calls: [{ write_file: { path: a.txt, content: "hello\\n" } }]
      - calls: [{ bash: { command: touch b.txt } }]`,
  });
  const done = run();
  expect(done.code, done.stdout).toBe(0);
  expect(world.git('show', 'troupe/r1/main:a.txt')).toBe('hello\nsigned\n');
  expect((await results()).join('\n')).toContain('hooks have rewritten it');
  expect(files()).not.toContain('b.txt');
});

test('reads are for hooks that name them', async () => {
  script('shut', 'echo "not that file" >&2; exit 2');
  team({
    hooks: '  - { id: shut, on: before_tool, tool: read_file, run: sh hooks/shut.sh }',
    calls: '      - calls: [{ read_file: { path: README.md } }, { list_dir: {} }]',
  });
  expect(run().code).toBe(0);
  const [list, read] = await results();
  expect(read).toBe('refused: not that file');
  expect(list).toContain('README.md');
});

test('P40: a hook asks, and a yes of a person counts for exactly that call', async () => {
  script('ask', `echo '{"decision": "ask", "reason": "look at it"}'`);
  team({ hooks: '  - { id: careful, on: before_tool, tool: bash, run: sh hooks/ask.sh }' });
  const started = world.start('run', 'team.yaml', '--run-id', 'r1');
  running.push(started);
  await started.saw('ada asks to use bash');
  const [row] = JSON.parse(world.troupe('approvals', '--json').stdout) as Record<string, unknown>[];
  expect(row).toMatchObject({ rule: 'hook:careful', reason: 'look at it', offer: null });
  expect(world.troupe('approve', String(row?.['id'])).code).toBe(0);
  expect((await started.done).code).toBe(0);
  expect(files()).toContain('a.txt');
});

test('hooks of what has happened: told once each, and a failure of one is shown', async () => {
  script('note', 'cat >> "$HOME/notes"');
  script('bad', 'exit 7');
  team({
    hooks: ['task_ready', 'task_finished', 'run_finished', 'actor_idle']
      .map((on) => `  - { on: ${on}, run: sh hooks/note.sh }`)
      .concat('  - { id: bad, on: task_ready, run: sh hooks/bad.sh }')
      .join('\n'),
  });
  expect(run().code).toBe(0);
  const notes = readFileSync(join(world.env['HOME'] ?? '', 'notes'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(notes.filter((one) => one['event'] === 'task_ready')).toMatchObject([{ task: 'talk' }]);
  expect(notes.filter((one) => one['event'] === 'task_finished')).toMatchObject([
    { task: 'talk', state: 'done' },
  ]);
  expect(notes.filter((one) => one['event'] === 'run_finished')).toMatchObject([{ state: 'done' }]);
  const mail = world.troupe('tail', 'user', '--json').stdout;
  expect(mail).toContain('The hook bad (task_ready) failed: it ended with exit 7');
});

test('a repository’s own hooks are not run before a person has trusted the file', async () => {
  world.write('.troupe/config.yaml', 'hooks: [{ on: before_tool, run: touch ran }]\n');
  team({ hooks: '  []' });
  expect(run().code).toBe(0);
  expect(existsSync(join(world.repo, 'ran'))).toBe(false);
  expect(world.troupe('trust', '--list').stdout).toContain('runs touch ran (hook, before_tool)');
  expect(world.troupe('trust', '.troupe/config.yaml').code).toBe(0);
  expect(world.troupe('run', 'team.yaml', '--run-id', 'r2', '--headless').code).toBe(0);
  expect(existsSync(join(world.repo, 'ran'))).toBe(true);
});

test('a hook for a tool that does not exist is refused before anything starts', () => {
  team({ hooks: '  - { on: before_tool, tool: bsh, run: "true" }' });
  const done = run();
  expect(done.code).toBe(2);
  expect(done.stderr).toContain('there is no tool "bsh"; did you mean bash?');
  expect(world.troupe('runs', '--json').stdout).toBe('[]\n');
});

test('P40: what hooks add reaches the model, marked, with the next request', async () => {
  const server = new ModelServer({
    answer: (seen) => {
      const said = seen.messages.filter((message) => message.role === 'assistant').length;
      if (said === 0) return { calls: [{ tool: 'bash', input: { command: 'touch a.txt' } }] };
      if (said === 1) return { calls: [{ tool: 'complete_task', input: { summary: 'done' } }] };
      return { text: 'Done.' };
    },
  });
  await server.listen();
  try {
    script('before', `echo '{"context": "this folder is frozen on Fridays"}'`);
    script('after', `echo '{"context": "the build was 3 s slower"}'`);
    team({
      hooks: `  - { id: one, on: before_tool, tool: bash, run: sh hooks/before.sh }
  - { id: two, on: after_tool, tool: bash, run: sh hooks/after.sh }`,
    });
    const env = {
      OPENAI_BASE_URL: `${server.origin}/v1`,
      OPENAI_API_KEY: 'sk-hooks-0123456789abcdef',
    };
    const done = world.startWith(
      env,
      'run',
      'team.yaml',
      '--run-id',
      'r1',
      '--headless',
      '--model',
      'openai/some-model',
    );
    running.push(done);
    const { code, stdout, stderr } = await done.done;
    expect(code, stdout + stderr).toBe(0);
    expect(server.rejections).toEqual([]);
    const second = JSON.stringify(server.seen[1]?.messages);
    expect(second).toContain('[hook one] this folder is frozen on Fridays');
    expect(second).toContain('[hook two] the build was 3 s slower');
  } finally {
    await server.close();
  }
});

/** E2: secrets that lie in mail, output, files, asks, tasks and settings are shown by no command that reads, and told on no socket. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectSocket } from '../../src/client/socket.ts';
import { mixed, privateKey } from '../support/secret-corpus.ts';
import { makeWorld, type RunningCommand, type World } from './cli-world.ts';

/** Put together here, so that no scanner finds one in this file. */
const planted = {
  mail: ['gh', 'p_', mixed(36)].join(''),
  output: ['sk-', 'ant-', 'api03-', mixed(60)].join(''),
  file: ['AK', 'IA', mixed(16, 'ABCDEFGHIJKLMNOP234567')].join(''),
  ask: ['np', 'm_', mixed(36)].join(''),
  title: ['gl', 'pat-', mixed(20)].join(''),
  prompt: ['gs', 'k_', mixed(52)].join(''),
  note: ['xo', 'xb-', '1234567890-', mixed(24)].join(''),
  summary: ['hf', '_', mixed(34)].join(''),
  answer: ['S', 'G.', mixed(22), '.', mixed(43)].join(''),
  password: ['pl', 'um', '-', mixed(9)].join(''),
  /** Of no shape: known by the environment alone. */
  known: 'orchid lantern 42 & more',
} as const;
const key = privateKey();
const encoded = Buffer.from(`service:${planted.known}`).toString('base64');
const hidden = [...Object.values(planted), ...key.body, encoded.slice(14, -6)];

const halves = (text: string): string =>
  `printf %s ${text.slice(0, 9)}; printf '%s\\n' ${text.slice(9)}`;

let world: World;
let run: RunningCommand;

beforeAll(async () => {
  world = makeWorld();
  world.write('notes.txt', `id ${planted.file}\n${key.text}\n`);
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'Notes');
  const quoted = JSON.stringify;
  world.write(
    'team.yaml',
    `version: 1
name: secrets
model: scripted/script.yaml
members: { teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: talk, title: ${quoted(`Use ${planted.title}`)}, prompt: ${quoted(`Log in with ${planted.prompt}`)} }]
permissions: { default: allow, rules: [{ id: publish, effect: ask, tool: bash, argv: [npm] }] }
`,
  );
  world.write(
    'script.yaml',
    `version: 1
sections:
  - actor: ada
    turns:
      - text: ${quoted(`I have ${planted.answer} now.`)}
        calls:
          - send_message: { to: user, text: ${quoted(`It is ${planted.mail}, or ${encoded}, or "${planted.known}"`)} }
          - note_save: { text: ${quoted(`keep ${planted.note}`)} }
          - bash: { command: ${quoted(halves(planted.output))} }
          - read_file: { path: notes.txt }
      - calls: [{ bash: { command: ${quoted(`npm publish --password ${planted.password} --token ${planted.ask}`)} } }]
      - calls: [{ complete_task: { summary: ${quoted(`done with ${planted.summary}`)} } }]
`,
  );
  (world.env as Record<string, string>)['MY_SERVICE_TOKEN'] = planted.known;
  run = world.start('run', 'team.yaml', '--run-id', 'r1');
  await run.saw('ada asks to use bash');
});

afterAll(async () => {
  run.child.kill('SIGKILL');
  await run.done;
  world.remove();
});

const READING = [
  ['tail'],
  ['tail', 'user'],
  ['events'],
  ['session', 'ada'],
  ['audit'],
  ['approvals'],
  ['rules'],
  ['tasks'],
  ['tasks', 'talk'],
  ['ps'],
  ['runs'],
  ['mail', 'dead'],
  ['plans'],
  ['memory'],
  ['worktrees', 'list'],
  ['doctor'],
] as const;

let token = '';

function expectHidden(shown: string, where: string): void {
  token ||= readFileSync(join(world.repo, '.git', 'troupe', 'token'), 'utf8').trim();
  const seen = [...hidden, token].flatMap((secret) => {
    const at = shown.indexOf(secret);
    return at < 0 ? [] : [shown.slice(Math.max(0, at - 80), at + 20)];
  });
  expect(seen, where).toEqual([]);
}

function readAll(commands: readonly (readonly string[])[] = READING): Map<string, string> {
  const shown = new Map<string, string>();
  for (const words of commands) {
    for (const json of [false, true]) {
      const done = world.troupe(...words, ...(json ? ['--json'] : []));
      shown.set(`${words.join(' ')}${json ? ' --json' : ''}`, `${done.stdout}\n${done.stderr}`);
    }
  }
  return shown;
}

test('E2: while it runs, in every reading command and on the socket', async () => {
  const shown = readAll();
  for (const [where, text] of shown) expectHidden(text, where);
  // They were there to be found.
  for (const where of [
    'tail',
    'events',
    'session ada',
    'audit',
    'approvals',
    'tasks',
    'tasks talk',
  ]) {
    expect(shown.get(where), where).toContain('[redacted]');
    expect(shown.get(`${where} --json`), where).toContain('[redacted]');
  }
  const state = (name: string): string =>
    readFileSync(join(world.repo, '.git', 'troupe', name), 'utf8');
  const { socket } = JSON.parse(state('supervisor.json')) as { socket: string };
  const client = await connectSocket({
    socketPath: socket,
    token: state('token').trim(),
    timeoutMs: 10_000,
    client: 'test',
  });
  const answers = [
    await client.call('approvals.list', {}),
    await client.call('tasks.list', {}),
    await client.call('actors.list', {}),
    await client.call('status', {}),
    await client.call('rules.list', {}),
    await client.call('runs.list', {}),
  ];
  client.close();
  expectHidden(JSON.stringify(answers), 'the socket');
  expect(JSON.stringify(answers[0])).toContain('[redacted]');
});

test('E2: after its end, and in what the run itself has printed', async () => {
  deny();
  const done = await run.done;
  expectHidden(`${done.stdout}\n${done.stderr}`, 'run');
  expect(done.stdout).toContain('[redacted]');
  for (const [where, text] of readAll([['tasks', 'talk'], ['tail'], ['session', 'ada']])) {
    expectHidden(text, `${where}, afterwards`);
  }
  expect(world.troupe('tasks', 'talk').stdout).toContain('done with [redacted]');
});

function deny(): void {
  const [row] = JSON.parse(world.troupe('approvals', '--json').stdout) as { id: string }[];
  expect(world.troupe('deny', row?.id ?? '').code).toBe(0);
}

/** Recurring jobs in one supervisor that is up, through the built command line: what they start, and how it ends. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../src/client/index.ts';
import { followJournal } from '../../src/journal/index.ts';
import { NodeFiles, SystemClock } from '../../src/platform/index.ts';
import type { CronEditResult, CronRow, CronSlot } from '../../src/protocol/cron.ts';
import { connectTo } from '../support/supervised.ts';
import { makeWorld, type World } from './cli-world.ts';
import { isThere, json, noteOf, statusOf } from './up-world.ts';

let world: World;
let client: Client;
let posts: Server;
const posted: any[] = [];
let wake: () => void = () => undefined;

const SCRIPT = `version: 1
sections:
  - task: job
    turns:
      - calls: [{ write_file: { path: notes.txt, content: "by a job\\n" } }]
      - calls: [{ complete_task: { summary: noted } }]
  - actor: ada
    turns:
      - calls: [{ bash: { command: "until test -e GO; do sleep 0.1; done" } }]
      - calls: [{ complete_task: { summary: done } }]
`;

beforeAll(async () => {
  world = makeWorld();
  world.write('s.yaml', SCRIPT.replace('GO', join(world.repo, '.git/go')));
  world.write('ok.yaml', 'version: 1\nname: ok\ntasks: [{ id: ok, run: echo 1 > a.txt }]\n');
  posts = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      posted.push(JSON.parse(text));
      response.end();
      wake();
    });
  });
  await new Promise<void>((resolve) => posts.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  client.close();
  const note = noteOf(world);
  world.troupe('down', '--now');
  for (const pid of [note?.pid, note?.supervisor])
    if (typeof pid === 'number' && isThere(pid)) process.kill(pid, 'SIGKILL');
  posts.close();
  world.remove();
});

function cron(...args: string[]): string {
  const done = world.troupe('cron', ...args);
  expect(done.code, done.stdout + done.stderr).toBe(0);
  return done.stdout;
}

/** Over the wire: a process each would take most of the time of this file. */
async function trigger(name: string): Promise<CronEditResult> {
  return client.call('cron.edit', { type: 'trigger', name });
}

async function listed(name: string): Promise<CronRow | undefined> {
  return (await client.call('cron.list', {})).find((row) => row.name === name);
}

/** The first entry of this job, from its journal as it grows, of which `is` is true. */
async function entry(name: string, is: (slot: CronSlot) => boolean): Promise<CronSlot> {
  const stop = new AbortController();
  const directory = join(world.repo, '.git/troupe/workspace/journal');
  const deps = { files: new NodeFiles(), clock: new SystemClock(), directory };
  for await (const record of followJournal({ ...deps, signal: stop.signal })) {
    const { what, body } = record as { what?: unknown; body?: unknown };
    const slot = body as CronSlot;
    if (record.k === 'cron' && what === 'slot' && slot.name === name && is(slot)) {
      stop.abort();
      return slot;
    }
  }
  throw new Error('the journal ended');
}

const over = ({ state }: CronSlot): boolean => state !== 'running' && state !== 'queued';

test('C8 nobody is up: it is said, jobs are kept, and what was missed follows its policy at the next start', async () => {
  const log = join(world.repo, '.git/missed.log');
  const said = cron(
    'add',
    'missed',
    '--every',
    '1s',
    '--catch-up',
    'all:2',
    '--command',
    `echo x >> '${log}'`,
  );
  expect(said).toContain('Nobody is up to run it: start troupe up');
  cron('add', 'edited', '--every', '1h', '--command', 'echo was edited');
  expect(world.troupe('cron', 'trigger', 'missed')).toMatchObject({ code: 4 });
  expect(cron('list')).toContain('Nobody is up to run it');
  expect(world.troupe('doctor').stdout).toContain('2 recurring jobs, and nobody is up to run them');
  // An editor was at the journal of the workspace.
  const folder = join(world.repo, '.git/troupe/workspace/journal');
  const file = join(folder, readdirSync(folder).findLast((name) => name.endsWith('.jsonl')) ?? '');
  writeFileSync(file, readFileSync(file, 'utf8').replace('echo was edited', 'echo is edited!'));

  const started = world.troupe('up');
  expect(started.code, started.stderr).toBe(0);
  client = await connectTo(world);
  expect(await entry('missed', (slot) => slot.state === 'done')).toMatchObject({
    trigger: 'catch-up',
  });
  const [first] = (json(world, 'cron', 'history', 'missed') as CronSlot[]).toReversed();
  expect(first).toMatchObject({ state: 'skipped', reason: expect.stringMatching(/^missed: /) });
  expect(cron('rm', 'missed')).toContain('Removed missed');
  // C5: the others run.
  expect(await listed('edited')).toMatchObject({
    nextAt: null,
    broken: expect.stringContaining('damaged'),
  });
  expect(world.troupe('doctor').stdout).toContain('BAD   job edited');
  cron('rm', 'edited');
  expect(await listed('edited')).toBeUndefined();
});

test('a team file, a prompt and mail to a live actor; a trigger leaves the schedule as it was', async () => {
  cron('add', 'nightly', '--schedule', '0 3 * * *', '--tz', 'Europe/Berlin', '--team', 'ok.yaml');
  const before = (await listed('nightly'))?.nextAt;
  const { state, run } = json(world, 'cron', 'trigger', 'nightly');
  expect([state, run]).toEqual(['running', expect.stringMatching(/^cron-nightly-/)]);
  expect(await entry('nightly', over)).toMatchObject({ state: 'done', run, trigger: 'person' });
  expect(await listed('nightly')).toMatchObject({ nextAt: before, tz: 'Europe/Berlin' });

  const prompt = [
    '--prompt',
    'Write a note',
    '--agent',
    'implementer',
    '--model',
    'scripted/s.yaml',
  ];
  cron(
    'add',
    'note',
    '--at',
    '2099-01-01T00:00',
    ...prompt,
    '--budget-usd',
    '1',
    '--mode',
    'accept-edits',
  );
  await trigger('note');
  const noted = await entry('note', over);
  expect(noted).toMatchObject({ state: 'done', costUsd: expect.any(Number) });
  expect(world.git('show', `troupe/${noted.run}/main:notes.txt`)).toBe('by a job\n');

  world.write(
    'live.yaml',
    `version: 1\nname: live\nmodel: scripted/s.yaml\nmembers: { teammates: [{ name: ada, agent: implementer }] }
permissions: { default: allow }\ntasks: [{ id: talk, prompt: Wait. }]\n`,
  );
  cron('add', 'check', '--every', '1h', '--to', 'ada', '--text', 'Check that deploy');
  await trigger('check');
  expect(await entry('check', over)).toMatchObject({
    state: 'failed',
    reason: 'no run that goes on has a live actor ada',
  });
  const live = world.start('run', 'live.yaml', '--run-id', 'live');
  await live.saw('task talk started');
  await trigger('check');
  await entry('check', (slot) => slot.state === 'done');
  writeFileSync(join(world.repo, '.git/go'), '');
  expect((await live.done).code).toBe(0);
  const mail = world.troupe('tail', 'ada', '--run', 'live', '--json').stdout;
  const fired = mail
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(fired.filter(({ type }) => type === 'cron.fired')).toMatchObject([
    { from: 'user', state: 'seen', body: { text: 'Check that deploy', job: 'check' } },
  ]);
  // Runs that are over are let go of.
  expect(statusOf(world).runs).toEqual([]);
});

test('C7 overlap replace; the time limit; notices by command and webhook', async () => {
  const url = `http://127.0.0.1:${(posts.address() as AddressInfo).port}/hook`;
  const told = join(world.repo, '.git/told');
  cron('add', 'long', '--every', '1h', '--overlap', 'replace', '--command', 'exec sleep 900.25');
  expect(cron('trigger', 'long')).toContain('long runs now');
  expect(await trigger('long')).toMatchObject({ state: 'queued' });
  expect(await entry('long', over)).toMatchObject({ n: 1, state: 'replaced' });
  await entry('long', ({ n, state }) => n === 2 && state === 'running');
  cron('rm', 'long');

  const notice = `printf '%s %s' "$TROUPE_CRON_JOB" "$TROUPE_CRON_STATE" > '${told}.new' && mv '${told}.new' '${told}'`;
  cron(
    'add',
    'bad',
    '--every',
    '1h',
    '--command',
    'echo no >&2; exit 3',
    '--notify-command',
    notice,
  );
  cron(
    'add',
    'slow',
    '--every',
    '1h',
    '--time-limit',
    '300ms',
    '--command',
    'exec sleep 900.25',
    '--notify-webhook',
    url,
  );
  const hooked = new Promise<void>((resolve) => {
    wake = resolve;
  });
  await trigger('bad');
  await trigger('slow');
  expect(await entry('bad', over)).toMatchObject({
    state: 'failed',
    reason: expect.stringMatching(/exit.* 3[^]*no/),
  });
  expect(await entry('slow', over)).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('ended at its deadline'),
  });
  await hooked;
  expect(posted).toMatchObject([{ job: 'slow', state: 'failed', run: null }]);
  expect(await readSoon(told)).toBe('bad failed');
  expect(json(world, 'cron', 'show', 'slow').job.notify).toMatchObject({ kind: 'webhook', url });
  const outside = world.troupe(
    'cron',
    'add',
    'w',
    '--every',
    '1h',
    '--command',
    'true',
    '--notify-webhook',
    'https://example.org/x',
  );
  expect(outside.code).toBe(2);
  expect(outside.stderr).toContain('--notify-host');
});

test('--max-runs, --end and a budget end what they bound', async () => {
  const end = new Date(Date.now() + 6_000).toISOString();
  cron('add', 'until', '--every', '1s', '--end', end, '--command', 'true');
  cron('add', 'twice', '--every', '1s', '--max-runs', '2', '--command', 'true');
  await entry('twice', ({ n, state }) => n === 2 && state === 'done');
  expect(await listed('twice')).toMatchObject({ nextAt: null });
  expect(cron('list')).toMatch(/twice.*never again/);
  world.write(
    'dear.yaml',
    `version: 1\nname: dear\nmodel: scripted/s.yaml\nbudget: { tokens: 1 }\ntasks: [{ id: job, prompt: Do it., agent: implementer }]\n`,
  );
  cron('add', 'dear', '--every', '1h', '--team', 'dear.yaml');
  await trigger('dear');
  expect(await entry('dear', over)).toMatchObject({ state: 'budget' });
  const until = await client.call('cron.history', { name: 'until' });
  expect(until.every(({ slot }) => slot <= end)).toBe(true);
  expect(await client.call('cron.history', { name: 'twice' })).toHaveLength(2);
});

/** Its command ends at once after its entry. */
async function readSoon(file: string): Promise<string> {
  const stop = new AbortController();
  const files = new NodeFiles();
  return new Promise((resolve) => {
    const look = (): void => {
      files.readFile(file).then(
        (bytes) => {
          stop.abort();
          resolve(new TextDecoder().decode(bytes));
        },
        () => undefined,
      );
    };
    files.watch(join(world.repo, '.git'), look, stop.signal);
    look();
  });
}

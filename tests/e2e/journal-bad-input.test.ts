/**
 * Journals that this Troupe must not touch, and folders that it can't write, through the built command line: what is wrong,
 * where, what to do, the right exit code, and not one byte changed.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { crc32, crcText } from '../../src/journal/crc32.ts';
import { makeWorld, type Result, type World } from './cli-world.ts';

const BIN = fileURLToPath(new URL('../../bin/troupe.js', import.meta.url));
const FIRST = '000000000001.jsonl';
const NOBODY = 65_534;

let world: World;

beforeEach(() => {
  world = makeWorld();
  world.write(
    'team.yaml',
    `version: 1
name: two
sandbox: off
tasks:
  - { id: one, run: echo 1 > one.txt }
  - { id: two, run: 'test -e ${world.root}/go || sleep 600', needs: [one] }
`,
  );
});

afterEach(() => world.remove());

const state = (...parts: string[]): string => join(world.repo, '.git/troupe', ...parts);
const journal = (): string => state('runs/r1/journal', FIRST);

/** A run that was killed while its second task was at work. */
async function killed(): Promise<void> {
  const run = world.start('run', 'team.yaml', '--run-id', 'r1');
  await run.saw('task two started');
  run.child.kill('SIGKILL');
  await run.done;
}

/** Every file below, as it is. */
function picture(path: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(path)) {
    const child = join(path, name);
    const stat = lstatSync(child);
    if (stat.isDirectory()) Object.assign(found, picture(child));
    else if (stat.isFile()) found[child] = readFileSync(child).toString('base64');
  }
  return found;
}

/** The lines of a journal with sums that fit, as who wrote it so would have left it. */
function rechain(text: string): string {
  let seed = 0;
  const lines = text.split('\n').map((line) => {
    const end = line.lastIndexOf(',"c":"');
    if (end < 0) return line;
    const bytes = new TextEncoder().encode(line.slice(0, end));
    seed = crc32(bytes, 0, bytes.length, seed);
    return `${line.slice(0, end)},"c":"${crcText(seed)}"}`;
  });
  return lines.join('\n');
}

function change(file: string, with_: (text: string) => string): void {
  writeFileSync(file, rechain(with_(readFileSync(file, 'utf8'))));
}

function expectRefused({ code, stderr, stdout }: Result, words: readonly string[]): void {
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  for (const word of words) expect(stderr).toContain(word);
  expect(stderr).toContain('Nothing was changed');
}

const REFUSED = [
  {
    what: 'a journal of a newer version',
    make: () => change(journal(), (text) => text.replace('"v":1', '"v":2')),
    words: () => [journal(), 'newer Troupe (journal format 2', 'Use the newer Troupe'],
    doctor: `${FIRST}:1: The file was written by a newer Troupe`,
  },
  {
    what: 'a journal of another run in its place',
    make: () => change(journal(), (text) => text.replace('"name":"r1"', '"name":"r9"')),
    words: () => ['runs/r1 belongs to the run r9', 'put the right folder back'],
    doctor: `${FIRST}:1: The file belongs to another journal (name "r9", expected "r1")`,
  },
  {
    what: 'a segment of another run beside its own',
    make: () => {
      const other = readFileSync(journal(), 'utf8').replace(/"log":"\w+"/, '"log":"log_of_r9"');
      writeFileSync(state('runs/r1/journal/000000000002.jsonl'), rechain(other));
    },
    words: () => [
      state('runs/r1/journal/000000000002.jsonl'),
      'belongs to another journal',
      'move the foreign ones out',
    ],
    doctor: '000000000002.jsonl:1: The file belongs to another journal (log "log_of_r9"',
  },
];

test.each(REFUSED)('$what: refused by name, by every command, unchanged', async (bad) => {
  await killed();
  bad.make();
  const before = picture(state());
  for (const args of [['resume', 'r1'], ['tail'], ['tasks']]) {
    expectRefused(world.troupe(...args), bad.words());
  }
  const doctor = world.troupe('doctor');
  expect(doctor.code).toBe(1);
  // What a killed supervisor leaves (its lock, its socket) is told as well.
  const told = doctor.stdout.split('\n').filter((line) => /^BAD +journal/.test(line));
  expect(told).toEqual([expect.stringContaining(`journal of r1: ${bad.doctor}`)]);
  const list = world.troupe('runs');
  expect({ code: list.code, stdout: list.stdout }).toEqual({ code: 0, stdout: '' });
  for (const word of bad.words()) expect(list.stderr).toContain(word);
  expect(picture(state())).toEqual(before);
});

test('a run that cannot be read hides nothing of the others', async () => {
  await killed();
  writeFileSync(`${world.root}/go`, '');
  expect(world.troupe('run', 'team.yaml', '--run-id', 'r2').code).toBe(0);
  REFUSED[0]?.make();
  const { code, stdout, stderr } = world.troupe('runs', '--json');
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual(['r2']);
  expect(stderr).toContain(journal());
});

test('J9: a folder that vanishes while a run goes on ends the run with exit code 75, by name', async () => {
  const run = world.start('run', 'team.yaml', '--run-id', 'r1');
  await run.saw('task two started');
  renameSync(state('runs/r1'), state('runs/away'));
  const before = picture(state('runs/away/journal'));
  world.troupe('mail', 'send', 'user', 'a word', '--run', 'r1');
  world.troupe('stop', 'r1', '--now');
  const { code, stderr } = await run.done;
  expect(code, stderr).toBe(75);
  expect(stderr).toContain(state('runs/r1/journal'));
  expect(stderr).toContain('Check the disk');
  for (const [path, bytes] of Object.entries(before)) {
    // What was written before the loss was noticed went to the same file, behind what was there.
    if (path.endsWith('.jsonl')) {
      const now = readFileSync(path).subarray(0, Buffer.from(bytes, 'base64').length);
      expect(now.toString('base64')).toBe(bytes);
    }
  }
  rmSync(state('runs/r1'), { recursive: true, force: true });
  renameSync(state('runs/away'), state('runs/r1'));
  writeFileSync(`${world.root}/go`, '');
  const again = world.troupe('resume', 'r1');
  expect(again.code, again.stderr).toBe(0);
});

test('records whose dates jump back: the run goes on, nothing is lost, the doctor is content', async () => {
  await killed();
  let seen = 0;
  change(journal(), (text) =>
    text.replaceAll(/"at":"(\d{4})/g, (all: string, year: string) => {
      seen += 1;
      return seen % 2 === 0 ? all : `"at":"${Number(year) + 20}`;
    }),
  );
  const before = readFileSync(journal());
  expect(world.troupe('doctor').stdout).not.toMatch(/^BAD +(workspace|journal|mail)/m);
  writeFileSync(`${world.root}/go`, '');
  const run = world.troupe('resume', 'r1');
  expect(run.code, run.stderr).toBe(0);
  expect(readFileSync(journal()).subarray(0, before.length).equals(before)).toBe(true);
  const tasks = JSON.parse(world.troupe('tasks', '--json').stdout) as { state: string }[];
  expect(tasks.map(({ state: of }) => of)).toEqual(['done', 'done']);
  expect(world.troupe('doctor').code).toBe(0);
});

/** Root may write everywhere: then another uid does the work. */
const asRoot = process.getuid?.() === 0;
const other = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
const canRun =
  spawnSync(process.execPath, [BIN, '--version'], { ...other, cwd: '/', env: {} }).status === 0;

function everything(path: string, act: (path: string, isFolder: boolean) => void): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  if (stat.isDirectory()) for (const name of readdirSync(path)) everything(join(path, name), act);
  act(path, stat.isDirectory());
}

test.skipIf(!canRun)(
  `a folder that may only be read${canRun ? '' : ' (skipped: another uid cannot start troupe here)'}`,
  async () => {
    await killed();
    if (asRoot) everything(world.root, (path) => chownSync(path, NOBODY, NOBODY));
    everything(state(), (path, isFolder) => chmodSync(path, isFolder ? 0o555 : 0o444));
    const before = picture(state());
    const call = (...args: string[]): Result => {
      const all = { ...other, cwd: world.repo, env: world.env, encoding: 'utf8' as const };
      const done = spawnSync(process.execPath, [BIN, ...args], { ...all, timeout: 60_000 });
      return { code: done.status, stdout: done.stdout, stderr: done.stderr };
    };
    const resumed = call('resume', 'r1');
    expect(resumed.code, resumed.stderr).toBe(2);
    expect(resumed.stderr).toContain(`open '${state()}`);
    expect(resumed.stderr).toContain('who may read or write it');
    expect(call('tail')).toMatchObject({ code: 0, stderr: '' });
    expect(call('tasks').code).toBe(0);
    const doctor = call('doctor');
    expect(doctor).toMatchObject({ code: 1, stderr: '' });
    expect(doctor.stdout).toMatch(/^BAD +state folder/m);
    expect(picture(state())).toEqual(before);
    expect(existsSync(state('runs/r1/journal/reserve'))).toBe(true);

    everything(state(), (path, isFolder) => chmodSync(path, isFolder ? 0o755 : 0o644));
    const folder = state('runs/r1/journal');
    everything(folder, (path, isFolder) => chmodSync(path, isFolder ? 0o555 : 0o444));
    const inner = picture(folder);
    const again = call('resume', 'r1');
    expect(again.code, again.stderr).toBe(75);
    expect(again.stderr).toContain(folder);
    expect(again.stderr).toContain('read-only');
    expect(picture(folder)).toEqual(inner);
    chmodSync(folder, 0o755);
  },
);

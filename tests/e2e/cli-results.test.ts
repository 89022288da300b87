/** What a person does with a run that is over: saved work comes back, and its branch becomes a pull request. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeWorld, type World } from './cli-world.ts';

let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.remove());

const json = (...args: string[]) => JSON.parse(world.troupe(...args, '--json').stdout);

const BAD = `version: 1\nname: bad\ntasks:\n  - { id: bad, run: echo oops > oops.txt; exit 3, attempts: 1 }\n`;
const GOOD = `version: 1
name: fix-things
goal: Make it's greeting friendlier.
tasks: [{ id: hi, title: Say hello, run: 'echo hello > hi.txt', verify: ['grep -q hello hi.txt'] }]
finish: { verify: ['test -f hi.txt'] }
`;

test('W8 saved work is listed and comes back as a branch of its own, however it is named', () => {
  expect(world.troupe('restore')).toMatchObject({ code: 0, stdout: 'No work is saved.\n' });
  expect(json('restore')).toEqual([]);
  world.write('team.yaml', BAD);
  for (const run of ['b1', 'b2']) {
    expect(world.troupe('run', 'team.yaml', '--run-id', run).code).toBe(1);
  }
  world.troupe('worktrees', 'gc');
  expect(json('restore')).toMatchObject([
    { run: 'b1', task: 'bad', n: 1, ref: 'refs/troupe/saved/b1/bad/1' },
    { run: 'b2', task: 'bad', n: 1 },
  ]);
  expect(world.troupe('restore').stdout).toContain('b1/bad/1');

  const which = world.troupe('restore', 'bad');
  expect(which).toMatchObject({ code: 2 });
  expect(which.stderr).toContain('troupe restore b1/bad or troupe restore b2/bad');
  const head = world.git('rev-parse', 'HEAD');
  const back = json('restore', 'bad', '--run', 'b2');
  expect(back).toMatchObject({ branch: 'troupe/b2/restored/bad-1' });
  expect(world.git('show', `${back.branch}:oops.txt`)).toBe('oops\n');
  expect(json('restore', 'refs/troupe/saved/b1/bad/1').branch).toBe('troupe/b1/restored/bad-1');
  expect(json('restore', 'b2/bad/1')).toEqual(back);
  expect(world.git('rev-parse', 'HEAD')).toBe(head);

  const wrong = world.troupe('restore', 'b1/bat/1');
  expect(wrong).toMatchObject({ code: 5 });
  expect(wrong.stderr).toContain('Did you mean b1/bad/1');
});

/** A remote that is a folder, whose address names a forge, and a tool of that forge that only writes down what it got. */
function makeForge(name: 'github' | 'gitlab', tool: string): { bin: string; log: string } {
  const remote = join(world.root, name, 'team.git');
  mkdirSync(remote, { recursive: true });
  world.git('init', '-q', '--bare', remote);
  world.git('config', `url.${remote}.insteadOf`, `https://${name}.example/team.git`);
  world.git('remote', 'add', 'origin', `https://${name}.example/team.git`);
  const bin = join(world.root, 'bin');
  const log = join(world.root, 'forge.log');
  mkdirSync(bin);
  const script = `#!/bin/sh\n[ "$1" = --version ] && exit 0\n{ printf '%s|' "$@"; echo; cat; } >> ${log}\necho https://${name}.example/1\n`;
  writeFileSync(join(bin, tool), script);
  chmodSync(join(bin, tool), 0o755);
  return { bin, log };
}

test('pr prints what to type and sends nothing; with --create it pushes and opens', async () => {
  world.write('team.yaml', GOOD);
  expect(world.troupe('run', 'team.yaml', '--run-id', 'g1').code).toBe(0);
  const lonely = world.troupe('pr', 'g1');
  expect(lonely).toMatchObject({ code: 0 });
  expect(lonely.stdout).toContain('no remote');
  expect(world.troupe('pr', 'g1', '--create').code).toBe(1);
  expect(world.troupe('pr', 'g2').code).toBe(5);

  const { bin, log } = makeForge('github', 'gh');
  const made = json('pr', 'g1');
  expect(made).toMatchObject({
    run: 'g1',
    title: "Make it's greeting friendlier",
    head: 'troupe/g1/main',
    base: 'main',
    remote: 'origin',
    opened: null,
    warning: null,
  });
  expect(made.body).toContain('- **Say hello** (`hi`)');
  expect(made.body).toMatch(/`grep -q hello hi.txt` passed for `hi` on [0-9a-f]{12}/);
  expect(made.body).toMatch(/`test -f hi.txt` passed on [0-9a-f]{12}/);
  expect(world.troupe('pr', 'g1', '--body').stdout).toBe(made.body);
  expect(world.git('ls-remote', 'origin')).toBe('');

  const env = { PATH: `${bin}:${world.env['PATH']}` };
  const opened = await world.startWith(env, 'pr', 'g1', '--create').done;
  expect(opened).toMatchObject({ code: 0, stdout: 'https://github.example/1\n' });
  expect(world.git('ls-remote', 'origin')).toContain('refs/heads/troupe/g1/main');
  const told = readFileSync(log, 'utf8');
  expect(told).toContain(
    "pr|create|--head|troupe/g1/main|--base|main|--title|Make it's greeting friendlier|--body-file|-|",
  );
  expect(told).toContain(made.body);
});

test('pr without the tool of the forge pushes nothing, and says what is missing', () => {
  world.write('team.yaml', GOOD);
  expect(world.troupe('run', 'team.yaml', '--run-id', 'g1').code).toBe(0);
  makeForge('gitlab', 'other');
  const made = json('pr', 'g1', '--base', 'next');
  expect(made.forge).toBe('gitlab');
  expect(made.commands[1]).toContain('--target-branch next');
  expect(made.commands[1]).toContain(`--title 'Make it'\\''s greeting friendlier'`);
  const refused = world.troupe('pr', 'g1', '--create');
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain('`glab` does not run here');
  expect(world.git('ls-remote', 'origin')).toBe('');
});

test('export makes one file of a run, whole and without secrets', () => {
  const secret = `ghp_${'a1B2c3D4'.repeat(5)}`.slice(0, 40);
  world.write(
    'team.yaml',
    `version: 1\nname: t\ntasks: [{ id: a, title: Print, run: 'echo token ${secret}; seq 1 200000' }]\n`,
  );
  expect(world.troupe('run', 'team.yaml', '--run-id', 'r1').code).toBe(0);
  const made = world.troupe('export', 'r1');
  expect(made).toMatchObject({ code: 0 });
  expect(made.stdout).toMatch(/^Wrote r1\.zip \(\d+\.\d KiB\): the run r1\.\n/);

  const files = unzip(join(world.repo, 'r1.zip'));
  const output = [...files.keys()].find((name) => name.startsWith('outputs/')) ?? '';
  expect(files.get(output)).toBe(`token [redacted]\n${seq(200_000)}`);
  const journal = (files.get('journal.jsonl') ?? '').trim().split('\n');
  const sequences = journal.map((line) => JSON.parse(line).s);
  expect(sequences.length).toBeGreaterThan(4);
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  expect(files.get('summary.json')).toContain('"state": "done"');
  expect([...files.values()].some((text) => text.includes(secret))).toBe(false);

  expect(world.troupe('export', 'r1')).toMatchObject({ code: 2 });
  expect(json('export', 'r1', '--force')).toMatchObject({ path: join(world.repo, 'r1.zip') });
  expect(world.troupe('export', 'r2')).toMatchObject({ code: 5 });
});

const seq = (to: number): string =>
  Array.from({ length: to }, (_, index) => `${index + 1}\n`).join('');

/** By the central directory at the end of the file (APPNOTE 4.3.12), which says where each entry begins. */
function unzip(path: string): Map<string, string> {
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const files = new Map<string, string>();
  let at = bytes.readUInt32LE(end + 16);
  for (let count = bytes.readUInt16LE(end + 10); count > 0; count -= 1) {
    const [size, names, extra, comment] = [20, 28, 30, 32].map((offset) =>
      offset === 20 ? bytes.readUInt32LE(at + offset) : bytes.readUInt16LE(at + offset),
    ) as [number, number, number, number];
    const local = bytes.readUInt32LE(at + 42);
    const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const name = bytes.toString('utf8', at + 46, at + 46 + names);
    files.set(name, inflateRawSync(bytes.subarray(from, from + size)).toString());
    at += 46 + names + extra + comment;
  }
  return files;
}

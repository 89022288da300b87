/** What can't be used is told before anything rests on it: memory, hooks, policies, `.env`, and a state that can't be written. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { makeWorld, type World } from './cli-world.ts';

const BIN = fileURLToPath(new URL('../../bin/troupe.js', import.meta.url));

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

/** A run of commands alone. */
function made(): World {
  const world = makeWorld();
  worlds.push(world);
  world.write(
    'team.yaml',
    `version: 1
name: told
model: scripted/script.yaml
tasks: [{ id: go, title: Go, run: 'true' }]
permissions: { default: allow }
`,
  );
  world.write('script.yaml', 'version: 1\nsections: []\n');
  return world;
}

test('memory that agents are not told is named by `troupe memory` and by the run', () => {
  const world = made();
  world.write('.troupe/memory/notes.md', '- be kind\n');
  symlinkSync('notes.md', join(world.repo, '.troupe/memory/MEMORY.md'));
  const shown = world.troupe('memory', '--json');
  expect(JSON.parse(shown.stdout)).toEqual([]);
  expect(shown.stderr).toMatch(/MEMORY\.md: .*link.*not told/);
  const ran = world.troupe('run', 'team.yaml', '--run-id', 'r1');
  expect(ran.code, ran.stderr).toBe(0);
  expect(ran.stdout + ran.stderr).toMatch(/memory: .*MEMORY\.md: .*not told/);
});

test('hooks that can’t be read are said before a run is made', () => {
  const world = made();
  world.write('../home/.config/troupe/config.yaml', 'version: 1\nhooks: [{ on: never, run: x }]\n');
  const ran = world.troupe('run', 'team.yaml', '--run-id', 'r1');
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain('config.yaml');
  expect(ran.stdout).not.toContain('r1');
  expect(existsSync(join(world.repo, '.git/troupe/runs/r1'))).toBe(false);
});

test('a run is not resumed under a policy that can’t be read, and goes on when it is mended', async () => {
  const world = made();
  world.write('team.yaml', TEAM_THAT_ASKS);
  world.write('script.yaml', SCRIPT_THAT_ASKS);
  const run = world.start('run', 'team.yaml', '--run-id', 'r1');
  await run.saw('lead asks to use bash');
  run.child.kill('SIGKILL');
  await run.done;
  world.write('../home/.config/troupe/policy.yaml', 'version: 1\nruls: []\n');
  const broken = world.troupe('resume', 'r1');
  expect(broken.code).toBe(2);
  expect(broken.stderr).toMatch(/policy\.yaml:2:1: /);
  world.write(
    '../home/.config/troupe/policy.yaml',
    'version: 1\nrules: [{ id: ls, effect: allow, tool: bash, argv: [ls] }]\n',
  );
  const mended = world.troupe('resume', 'r1');
  expect(mended.code, mended.stdout + mended.stderr).toBe(0);
});

const TEAM_THAT_ASKS = `version: 1
name: asks
goal: Look
model: scripted/script.yaml
`;

const SCRIPT_THAT_ASKS = `version: 1
sections:
  - actor: lead
    turns: [{ calls: [{ bash: { command: ls } }] }]
    otherwise: { text: Done. }
`;

test('lines of .env that say nothing are named by doctor', () => {
  const world = made();
  world.write('.env', 'A=1\nANTHROPIC_API_KEY: sk-1\n');
  const { stdout } = world.troupe('doctor');
  expect(stdout).toContain('.env: line 2: no NAME=value');
  expect(stdout).not.toContain('sk-1');
});

/** In a namespace where the state lies on a file system of its own; null: none can be made here. */
function doctorOn(world: World, mount: string): string | null {
  const state = join(world.repo, '.git/troupe');
  mkdirSync(state, { recursive: true });
  const script = `${mount} || exit 99; exec "$2" "$3" doctor`;
  const done = spawnSync(
    'unshare',
    [
      '--user',
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      script,
      'sh',
      state,
      process.execPath,
      BIN,
    ],
    { cwd: world.repo, env: { ...world.env }, encoding: 'utf8', timeout: 60_000 },
  );
  return done.error !== undefined || done.status === 99 || done.stdout === '' ? null : done.stdout;
}

test('doctor tells of a state folder that is read-only or full', ({ skip }) => {
  const world = made();
  const readOnly = doctorOn(world, 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"');
  if (readOnly === null) return skip('no mounts can be made here');
  expect(readOnly).toMatch(/state folder.*read-only file system/);
  const full = doctorOn(
    world,
    'mount -t tmpfs -o size=32k none "$1" && { dd if=/dev/zero of="$1/fill" bs=4k 2>/dev/null; true; }',
  );
  expect(full).toMatch(/state folder.*the disk is full/);
});

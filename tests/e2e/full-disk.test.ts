/**
 * A file system that fills under a run of the built command (mailbox.md §3.2, line 8). Needs to mount a small tmpfs, which
 * takes root; where that can't be done the test says so and is skipped.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { recordsOf } from '../support/supervised.ts';
import { makeWorld, type World } from './cli-world.ts';

const SIZE_MIB = 96;

/** Programs of the system, not of the project. */
const call = (file: string, ...args: string[]) => spawnSync(file, args, { encoding: 'utf8' });

function mount(): { readonly place: string } | { readonly why: string } {
  const place = mkdtempSync(join(tmpdir(), 'troupe-full-'));
  const done = call('mount', '-t', 'tmpfs', '-o', `size=${SIZE_MIB}m`, 'tmpfs', place);
  if (done.status === 0) return { place };
  rmSync(place, { recursive: true, force: true });
  return { why: done.error?.message ?? done.stderr.trim() };
}

const mounted = mount();
if ('why' in mounted) process.stderr.write(`skipped: no small tmpfs here: ${mounted.why}\n`);

afterAll(() => {
  if ('why' in mounted) return;
  call('umount', '-l', mounted.place);
  rmSync(mounted.place, { recursive: true, force: true });
});

function worldOn(place: string): World {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = place;
  try {
    return makeWorld();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

/** It fills the disk to the last byte, once. */
const script = (filler: string): string => `version: 1
sections:
  - actor: ada
    turns:
      - calls: [{ bash: { command: "test -e '${filler}' || cat /dev/zero > '${filler}'; echo filled" } }]
      - calls: [{ send_message: { to: lead, text: The disk is full. } }]
    otherwise: { calls: [{ complete_task: { summary: Filled it. } }] }
  - actor: lead
    turns: []
    otherwise: { text: Heard. }
`;

const TEAM = `version: 1
name: full
goal: Fill the disk.
model: scripted/script.yaml
members: { lead: { agent: lead }, teammates: [{ name: ada, agent: implementer }] }
tasks:
  - { id: fill, prompt: Fill the disk., agent: implementer }
  - { id: after, run: "true", needs: [fill] }
permissions: { default: allow }
sandbox: off
`;

test.skipIf('why' in mounted)(
  'C8 S7: the run stops with 75, keeps what was done, refuses mail with the folder and what to do, and is resumed',
  async () => {
    const world = worldOn('why' in mounted ? '' : mounted.place);
    const filler = join(world.root, 'filler');
    world.write('team.yaml', TEAM);
    world.write('script.yaml', script(filler));
    const stopped = await world.start('run', 'team.yaml', '--run-id', 'f1').done;
    expect(stopped.code, stopped.stderr).toBe(75);
    // Once, with what to do.
    expect(stopped.stderr.match(/No space is left/g)).toHaveLength(1);
    expect(stopped.stderr).toContain('No space is left on the disk (ENOSPC)');
    expect(stopped.stderr).toContain(join(world.repo, '.git', 'troupe', 'runs', 'f1'));
    expect(stopped.stderr).toContain('troupe resume f1');
    const [row] = JSON.parse(world.troupe('runs', '--json').stdout);
    expect(row).toMatchObject({ id: 'f1', state: 'interrupted' });
    const records = await recordsOf(world, 'f1');
    // The command's result was under way when the disk filled.
    expect(JSON.stringify(records)).toContain('filled');
    expect(records.flatMap(({ run }) => run ?? []).at(-1)).toMatchObject({
      type: 'run.interrupted',
      text: 'stopped: no space is left on the disk',
    });

    // What was kept for the last records is free again: others fill that as well.
    const more = join(world.root, 'more');
    call('sh', '-c', `cat /dev/zero > '${more}'`);
    const refused = world.troupe('send', 'lead', 'Are you there?');
    expect(refused.code, refused.stderr).toBe(75);
    expect(refused.stderr).toMatch(/full|No space/);
    const tooEarly = world.troupe('resume', 'f1');
    expect(tooEarly.code, tooEarly.stderr).toBe(75);
    expect(tooEarly.stderr).toMatch(/full|No space/);

    rmSync(filler);
    rmSync(more);
    const resumed = await world.start('resume', 'f1').done;
    expect(resumed.code, resumed.stderr).toBe(0);
    const tasks = JSON.parse(world.troupe('tasks', '--json').stdout);
    expect(tasks.map((task: { state: string }) => task.state)).toEqual(['done', 'done']);
    expect(world.troupe('doctor').code).toBe(0);
    // P50: what the journal had no room for is no gap in the chain.
    const verified = world.troupe('audit', 'verify');
    expect(verified.code, verified.stdout).toBe(0);
    world.remove();
  },
);

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findWrappers, NodeExec } from '../../../src/platform/index.ts';
import {
  makeProcessReader,
  type ProcessEntry,
  psReader,
} from '../../../src/platform/process-table.ts';
import { coversMarker, descendants } from '../../../src/platform/strays.ts';

const readers = { 'the way of this platform': makeProcessReader(), ps: psReader };

describe.each(Object.entries(readers))('process reader: %s', (_name, reader) => {
  it('knows this process, and that there is no other of its pid', async () => {
    const own = await reader.read(process.pid);
    expect(own).toMatchObject({ pid: process.pid, ppid: process.ppid, zombie: false });
    expect(own?.startTime).toMatch(/\d/u);
    const listed = (await reader.list()).find((entry) => entry.pid === process.pid);
    expect(listed?.startTime).toBe(own?.startTime);
    expect(await reader.read(2 ** 22 + 1)).toBeNull();
  });

  it('finds processes by the marker in their environment, not in their arguments', async () => {
    const marker = `reader-${String(process.pid)}`;
    const marked = spawn('sleep', ['60'], { env: { PATH: '/usr/bin:/bin', TROUPE_PROC: marker } });
    const other = spawn('sleep', ['60'], { env: { PATH: '/usr/bin:/bin', OTHER: marker } });
    await Promise.all([marked, other].map((child) => new Promise((go) => child.once('spawn', go))));
    expect(await reader.marked((found) => found === marker)).toEqual([marked.pid]);
    marked.kill();
    other.kill();
  });
});

it('ends a tree by what ps tells, where there is nothing better', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-ps-'));
  const exec = new NodeExec({
    wrappers: findWrappers({ rungs: ['none'] }),
    reader: psReader,
    onWorkerThread: true,
  });
  const marker = `ps-${String(process.pid)}`;
  const spawned = await exec.spawn({
    file: 'sh',
    args: ['-c', 'setsid sleep 60 & (setsid nohup sleep 60 &) ; wait'],
    cwd: folder,
    env: { PATH: '/usr/bin:/bin' },
    outputPath: join(folder, 'log'),
    outputMax: 1000,
    marker,
  });
  spawned.kill(0);
  expect(await spawned.exited).toMatchObject({ code: 137, signal: 'SIGKILL', left: [] });
  expect(await psReader.marked((found) => found === marker)).toEqual([]);
  await rm(folder, { recursive: true });
});

it('covers markers by whole parts', () => {
  expect(coversMarker('run', 'run')).toBe(true);
  expect(coversMarker('run', 'run/a')).toBe(true);
  expect(coversMarker('run/', 'run/a')).toBe(true);
  expect(coversMarker('run', 'run2/a')).toBe(false);
  expect(coversMarker('run/a', 'run')).toBe(false);
});

it('gathers a tree by parents', () => {
  const entry = (pid: number, ppid: number): ProcessEntry => {
    return { pid, ppid, pgid: pid, sid: pid, zombie: false, asleep: true, startTime: '1' };
  };
  const all = [entry(1, 0), entry(2, 1), entry(3, 2), entry(4, 3), entry(5, 1)];
  expect(new Set(descendants(all, 2).map(({ pid }) => pid))).toEqual(new Set([3, 4]));
});

/** The tools that read, over real files: sizes that no memory holds, and links that leave the tree. */
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realInside } from '../../src/main/threads/real-inside.ts';
import {
  listInside,
  makeDirectoriesInside,
  readInside,
  statInside,
  writeInside,
} from '../../src/platform/index.ts';
import { makeTreeFiles } from '../../src/tools/index.ts';
import { call, contextOf } from '../unit/tools/call.ts';

const GIGABYTE = 1024 ** 3;
let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'troupe-read-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function tree(): ReturnType<typeof makeTreeFiles> {
  const ops = {
    realInside,
    readInside,
    writeInside,
    makeDirectoriesInside,
    statInside,
    listInside,
  };
  return makeTreeFiles(root, ops);
}

test('the first lines of a sparse file of 5 GB are there at once, with its size, in bounded memory', async () => {
  const file = openSync(join(root, 'huge.txt'), 'w');
  writeSync(file, Array.from({ length: 5000 }, (_, index) => `line ${index + 1}\n`).join(''));
  ftruncateSync(file, 5 * GIGABYTE);
  closeSync(file);
  const before = process.memoryUsage.rss();
  const text = await call('read_file', { path: 'huge.txt', limit: 3 }, contextOf(tree()));
  expect(text).toBe(
    `    1\tline 1\n    2\tline 2\n    3\tline 3\n[lines 1 to 3; the file has ${5 * GIGABYTE} bytes; go on with offset 4]`,
  );
  // The hole is one line without an end; it is not read through.
  const hole = await call('read_file', { path: 'huge.txt', offset: 4999 }, contextOf(tree()));
  expect(hole).toContain(' 4999\tline 4999\n 5000\tline 5000\n 5001\t');
  expect(hole).toContain('line 5001 goes on for more than');
  expect(process.memoryUsage.rss() - before).toBeLessThan(256 * 1024 * 1024);
});

test('links that leave the tree are refused by name and are not walked into', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'troupe-outside-'));
  writeFileSync(join(outside, 'secret'), 'hit');
  mkdirSync(join(root, 'in'));
  writeFileSync(join(root, 'in', 'a'), 'hit');
  symlinkSync(outside, join(root, 'in', 'away'));
  symlinkSync(join(outside, 'secret'), join(root, 'in', 'file'));
  try {
    const context = contextOf(tree());
    expect(await call('grep', { pattern: 'hit', path: 'in' }, context)).toBe('in/a:1: hit');
    expect(await call('glob', { pattern: '**', path: 'in' }, context)).toBe('in/a');
    for (const path of ['in/away', 'in/away/secret', 'in/file']) {
      expect(await call('grep', { pattern: 'hit', path }, context)).toMatch(/^! /);
      expect(await call('read_file', { path }, context)).toMatch(/^! .*out/);
    }
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});

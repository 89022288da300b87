/** What the disk says of a path, when it does not say: never that the name is free. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lookAt, markOf } from '../../../src/platform/index.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-facts-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('P7: a name that is not there is free, below a folder, a file and a link that leads nowhere', () => {
  mkdirSync(join(folder, 'd'));
  writeFileSync(join(folder, 'f'), '');
  symlinkSync('gone', join(folder, 'l'));
  expect(lookAt(join(folder, 'd/x')).kind).toBe('missing');
  expect(lookAt(join(folder, 'f/x')).kind).toBe('missing');
  expect(lookAt(join(folder, 'l'))).toMatchObject({
    path: expect.stringMatching(/gone$/),
    kind: 'missing',
  });
});

test('P7: a path that the system does not look at is no file of anybody, and its mark is not that of nothing', () => {
  // Longer than a name may be: the system answers neither that it is there nor that it is not.
  const long = join(folder, 'x'.repeat(300));
  expect(lookAt(long).kind).toBe('special');
  expect(lookAt(join(long, 'y')).kind).toBe('special');
  expect(markOf(join(folder, 'x'))).toBe('');
  expect(markOf(long)).not.toBe('');
});

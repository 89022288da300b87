import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { BlobStore, INLINE_BYTES_MAX } from '../../../src/journal/index.ts';
import { CRASH_MODES } from '../../../src/testing/memory-disk.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { putFile } from './support.ts';

const DIRECTORY = '/runs/r1/blobs';
const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const storeOn = (files: MemoryFiles): BlobStore =>
  new BlobStore({ files, directory: DIRECTORY, hash });
const payload = (text: string): Uint8Array =>
  new TextEncoder().encode(text.padEnd(INLINE_BYTES_MAX + 1, '.é'));

test('J19: a payload is whole, durable with its entry, and stored once under its sha256', async () => {
  const files = new MemoryFiles();
  const bytes = payload('hello');
  const store = storeOn(files);
  const [one, two] = await Promise.all([store.put(bytes), store.put(bytes)]);
  expect(one).toEqual({ blob: hash(bytes), bytes: bytes.length });
  expect(two).toEqual(one);
  const after = files.crash('none');
  expect(await after.list(DIRECTORY)).toEqual([one.blob]);
  expect(await storeOn(after).get(one.blob)).toEqual(bytes);
});

test('J19: what was put is there after any crash behind `put`, and nothing half before', async () => {
  const bytes = new TextEncoder().encode('small, so that the test is quick');
  for (let at = 1; ; at += 1) {
    const files = new MemoryFiles();
    let crashed = false;
    const died = new Promise<string>((resolve) => {
      files.before = ({ number }) => {
        if (number !== at) return;
        crashed = true;
        files.crash('none');
        resolve('dead');
      };
    });
    const ended = await Promise.race([
      storeOn(files)
        .put(bytes)
        .then(() => 'put'),
      died,
    ]);
    files.before = null;
    for (const mode of CRASH_MODES) {
      const left = files.crash(mode);
      const store = storeOn(left);
      const got = await store.get(hash(bytes)).catch(() => null);
      if (ended === 'put') expect(got, `${at}/${mode}`).toEqual(bytes);
      else if (got !== null) expect(got, `${at}/${mode}`).toEqual(bytes);
      await store.put(bytes);
      expect(await storeOn(left.crash('none')).get(hash(bytes))).toEqual(bytes);
    }
    if (!crashed) return;
  }
});

test('J20: missing, damaged, cut and illegal ones are errors with the name, never other bytes', async () => {
  const files = new MemoryFiles();
  const store = storeOn(files);
  const { blob } = await store.put(payload('x'));
  const path = `${DIRECTORY}/${blob}`;
  for (const damaged of [payload('y'), payload('x').subarray(0, 100), new Uint8Array(0)]) {
    await files.remove(path);
    await putFile(files, path, damaged);
    await expect(store.get(blob)).rejects.toMatchObject({
      code: 'journal/blob',
      message: expect.stringContaining('is damaged'),
    });
  }
  await store.put(payload('x'));
  expect(await store.get(blob)).toEqual(payload('x'));
  await files.remove(path);
  await expect(store.get(blob)).rejects.toThrow(/is missing/);
  await expect(store.get('../../../etc/passwd')).rejects.toThrow(/no legal name/);
});

test('J19: a full disk and a read-only folder reject, and leave nothing', async () => {
  const files = new MemoryFiles();
  files.spaceLeft = 1000;
  await expect(storeOn(files).put(payload('x'))).rejects.toMatchObject({ code: 'journal/full' });
  expect(await files.list(DIRECTORY)).toEqual([]);
  files.spaceLeft = null;
  files.fail({ kind: 'open', code: 'EROFS' });
  await expect(storeOn(files).put(payload('x'))).rejects.toMatchObject({ code: 'journal/failed' });
});

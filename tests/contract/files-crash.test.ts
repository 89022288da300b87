/** What `MemoryFiles` adds to the port: crashes and faults, on which the proofs of the journal stand. */
import { expect, test } from 'vitest';
import { type Files, systemCode } from '../../src/kernel/index.ts';
import type { CrashMode } from '../../src/testing/memory-disk.ts';
import { MemoryFiles } from '../../src/testing/memory-files.ts';

const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);

async function textOf(files: Files, path: string): Promise<string | null> {
  if ((await files.stat(path)) === null) return null;
  return new TextDecoder().decode(await files.readFile(path));
}

/** /d/f holds `kept` for sure, `lost` only perhaps; /d/g was made without a sync of the folder. */
async function disk(): Promise<MemoryFiles> {
  const files = new MemoryFiles();
  await files.makeDirectory('/d');
  const f = await files.open('/d/f', 'append');
  f.write(bytes('kept'));
  await f.datasync();
  await files.syncDirectory('/d');
  await files.syncDirectory('/');
  f.write(bytes('lost'));
  const g = await files.open('/d/g', 'append');
  g.write(bytes('synced'));
  await g.datasync();
  return files;
}

test('a power cut may lose whatever was not synced: content, and entries of folders', async () => {
  const after = (await disk()).crash('none');
  expect(await textOf(after, '/d/f')).toBe('kept');
  expect(await textOf(after, '/d/g')).toBeNull();
});

test('or keep all of it', async () => {
  const after = (await disk()).crash('all');
  expect(await textOf(after, '/d/f')).toBe('keptlost');
  expect(await textOf(after, '/d/g')).toBe('synced');
});

test('or keep a part, never less than what was synced', async () => {
  const before = await disk();
  const seen = new Set<string>();
  for (let round = 0; round < 200; round += 1) {
    const mode: CrashMode = round % 2 === 0 ? 'prefix' : 'sectors';
    const content = (await textOf(before.crash(mode), '/d/f')) ?? '';
    expect(content.startsWith('kept')).toBe(true);
    seen.add(content);
  }
  expect([...seen]).toContain('keptlo');
  expect([...seen]).toContain('kept\0\0\0\0');
});

test('a killed process leaves all in the page cache, which a later power cut may still take', async () => {
  const killed = (await disk()).crash('kill');
  expect(await textOf(killed, '/d/f')).toBe('keptlost');
  expect(await textOf(killed, '/d/g')).toBe('synced');
  expect(await textOf(killed.crash('none'), '/d/f')).toBe('kept');
  expect(await textOf(killed.crash('none'), '/d/g')).toBeNull();
  const again = killed.crash('kill');
  await again.syncDirectory('/d');
  expect(await textOf(again.crash('none'), '/d/g')).toBe('synced');
});

test('a sync covers what was written before it began, not what came while it ran', async () => {
  const files = new MemoryFiles();
  const handle = await files.open('/f', 'append');
  await files.syncDirectory('/');
  handle.write(bytes('before'));
  const synced = handle.datasync();
  handle.write(bytes('meanwhile'));
  await synced;
  expect(await textOf(files.crash('none'), '/f')).toBe('before');
});

test('an un-synced truncation may come undone', async () => {
  const files = new MemoryFiles();
  const handle = await files.open('/f', 'append');
  handle.write(bytes('0123456789'));
  await handle.datasync();
  await files.syncDirectory('/');
  await handle.truncate(3);
  expect(await textOf(files.crash('none'), '/f')).toBe('0123456789');
  expect(await textOf(files.crash('all'), '/f')).toBe('012');
});

test('operations of the process that died never settle', async () => {
  const files = new MemoryFiles();
  const handle = await files.open('/f', 'append');
  files.crash('all');
  let settled = false;
  const note = (): void => {
    settled = true;
  };
  handle.datasync().then(note, note);
  files.list('/').then(note, note);
  await new MemoryFiles().list('/');
  expect(settled).toBe(false);
  expect(() => handle.write(bytes('x'))).toThrow('EPOWER');
});

test('a hook before each operation may crash the disk at that point', async () => {
  const files = new MemoryFiles();
  let after: MemoryFiles | null = null;
  files.before = (operation) => {
    if (operation.kind === 'datasync') after = files.crash('none');
  };
  const handle = await files.open('/f', 'append');
  await files.syncDirectory('/');
  handle.write(bytes('x'));
  void handle.datasync();
  expect(after === null ? null : await textOf(after, '/f')).toBe('');
});

test('faults: the n-th sync fails, writes are short, space runs out in the middle of a write', async () => {
  const files = new MemoryFiles();
  const handle = await files.open('/f', 'append');
  files.fail({ kind: 'datasync', code: 'EIO', after: 1 });
  await handle.datasync();
  await expect(handle.datasync()).rejects.toMatchObject({ code: 'EIO' });
  await handle.datasync();
  files.writeBytesMax = 3;
  expect(handle.write(bytes('abcdef'))).toBe(3);
  files.writeBytesMax = null;
  files.spaceLeft = 5;
  expect(handle.write(bytes('12345678'))).toBe(5);
  let code = '';
  try {
    handle.write(bytes('9'));
  } catch (error) {
    code = systemCode(error);
  }
  expect(code).toBe('ENOSPC');
  await handle.truncate(3);
  expect(handle.write(bytes('9'))).toBe(1);
  await files.remove('/f');
  expect(files.spaceLeft).toBe(8);
});

test('the same seed gives the same crash', async () => {
  const contents: (string | null)[] = [];
  for (let round = 0; round < 2; round += 1) {
    contents.push(await textOf((await disk()).crash('prefix'), '/d/f'));
  }
  expect(contents[0]).toBe(contents[1]);
});

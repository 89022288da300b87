/** One suite for the `Files` port, run against the disk and against its twin in memory. */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Files, systemCode } from '../../src/kernel/index.ts';
import { NodeFiles } from '../../src/platform/node-files.ts';
import { MemoryFiles } from '../../src/testing/memory-files.ts';

interface Subject {
  readonly files: Files;
  readonly root: string;
  end(): Promise<void>;
}

const subjects: Record<string, () => Promise<Subject>> = {
  MemoryFiles: async () => {
    const files = new MemoryFiles();
    await files.makeDirectory('/root');
    return { files, root: '/root', end: async () => undefined };
  },
  NodeFiles: async () => {
    const root = await fs.mkdtemp(path.join(os.tmpdir(), 'troupe-files-'));
    return { files: new NodeFiles(), root, end: () => fs.rm(root, { recursive: true }) };
  },
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (content: Uint8Array): string => new TextDecoder().decode(content);

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return systemCode(error);
  }
  return 'none';
}

describe.each(Object.keys(subjects))('%s', (name) => {
  let subject: Subject;
  let files: Files;
  let at: (file: string) => string;

  beforeEach(async () => {
    const make = subjects[name];
    if (make === undefined) throw new Error(name);
    subject = await make();
    files = subject.files;
    at = (file) => `${subject.root}/${file}`;
  });

  afterEach(() => subject.end());

  async function put(file: string, content: string): Promise<void> {
    const handle = await files.open(at(file), 'append');
    handle.write(bytes(content));
    await handle.close();
  }

  test('append creates a file and writes at its end, whoever else writes', async () => {
    const one = await files.open(at('a'), 'append');
    const two = await files.open(at('a'), 'append');
    expect(one.write(bytes('one '))).toBe(4);
    expect(two.write(bytes('two '))).toBe(4);
    expect(one.write(bytes('three'))).toBe(5);
    await one.datasync();
    await one.close();
    await two.close();
    expect(text(await files.readFile(at('a')))).toBe('one two three');
  });

  test('create refuses a file that is there, read one that is not', async () => {
    await put('a', 'x');
    expect(await codeOf(files.open(at('a'), 'create'))).toBe('EEXIST');
    expect(await codeOf(files.open(at('b'), 'read'))).toBe('ENOENT');
    expect(await codeOf(files.open(at('no/b'), 'append'))).toBe('ENOENT');
    expect(await codeOf(files.readFile(at('b')))).toBe('ENOENT');
    expect(await codeOf(files.readFile(subject.root))).toBe('EISDIR');
  });

  test('read gives a range, shorter at the end of the file', async () => {
    await put('a', '0123456789');
    const handle = await files.open(at('a'), 'read');
    expect(text(await handle.read(2, 3))).toBe('234');
    expect(text(await handle.read(8, 100))).toBe('89');
    expect(text(await handle.read(20, 5))).toBe('');
    expect(await handle.size()).toBe(10);
    expect(() => handle.write(bytes('x'))).toThrow(expect.objectContaining({ code: 'EBADF' }));
    await handle.close();
  });

  test('a file opened for append can be read too', async () => {
    const handle = await files.open(at('a'), 'append');
    handle.write(bytes('abc'));
    expect(text(await handle.read(0, 10))).toBe('abc');
    await handle.close();
  });

  test('truncate cuts, and the next write goes to the new end', async () => {
    const handle = await files.open(at('a'), 'append');
    handle.write(bytes('0123456789'));
    await handle.truncate(4);
    handle.write(bytes('x'));
    expect(await handle.size()).toBe(5);
    await handle.close();
    expect(text(await files.readFile(at('a')))).toBe('0123x');
  });

  test('a closed handle refuses everything but another close', async () => {
    const handle = await files.open(at('a'), 'append');
    await handle.close();
    await handle.close();
    expect(() => handle.write(bytes('x'))).toThrow(expect.objectContaining({ code: 'EBADF' }));
    expect(await codeOf(handle.datasync())).toBe('EBADF');
    expect(await codeOf(handle.read(0, 1))).toBe('EBADF');
  });

  test('stat tells kind and size, null for what is missing', async () => {
    await put('a', 'abc');
    expect(await files.stat(at('a'))).toMatchObject({ kind: 'file', size: 3 });
    expect(await files.stat(subject.root)).toMatchObject({ kind: 'directory' });
    expect(await files.stat(at('b'))).toBeNull();
    expect(await files.stat(at('a/b'))).toBeNull();
  });

  test('list is sorted; a missing folder is ENOENT, a file ENOTDIR', async () => {
    for (const file of ['b', 'a', 'C', '10', '9']) await put(file, '');
    expect(await files.list(subject.root)).toEqual(['10', '9', 'C', 'a', 'b']);
    expect(await codeOf(files.list(at('no')))).toBe('ENOENT');
    expect(await codeOf(files.list(at('a')))).toBe('ENOTDIR');
  });

  test('makeDirectory makes parents and accepts what is there', async () => {
    await files.makeDirectory(at('x/y/z'));
    await files.makeDirectory(at('x/y/z'));
    expect(await files.list(at('x/y'))).toEqual(['z']);
    await put('f', '');
    expect(await codeOf(files.makeDirectory(at('f')))).toBe('EEXIST');
    await files.syncDirectory(at('x'));
    expect(await codeOf(files.syncDirectory(at('no')))).toBe('ENOENT');
  });

  test('rename replaces a file and moves a folder', async () => {
    await put('a', 'new');
    await put('b', 'old');
    await files.rename(at('a'), at('b'));
    expect(text(await files.readFile(at('b')))).toBe('new');
    await files.makeDirectory(at('d/e'));
    await files.rename(at('d'), at('f'));
    expect(await files.list(subject.root)).toEqual(['b', 'f']);
    expect(await files.list(at('f'))).toEqual(['e']);
    expect(await codeOf(files.rename(at('no'), at('x')))).toBe('ENOENT');
  });

  test('link gives a file a second name and never replaces one', async () => {
    await put('a', 'abc');
    await put('b', '');
    await files.link(at('a'), at('c'));
    expect(await codeOf(files.link(at('a'), at('b')))).toBe('EEXIST');
    expect(await codeOf(files.link(at('no'), at('d')))).toBe('ENOENT');
    await files.remove(at('a'));
    expect(text(await files.readFile(at('c')))).toBe('abc');
  });

  test('remove takes files and whole folders, and accepts what is missing', async () => {
    await files.makeDirectory(at('d/e'));
    await put('d/e/f', 'x');
    await files.remove(at('d'));
    await files.remove(at('d'));
    expect(await files.stat(at('d'))).toBeNull();
  });

  test('watch calls for an append, a new file and a removal, until its signal ends', async () => {
    await put('a', 'x');
    const stop = new AbortController();
    let calls = 0;
    let heard: () => void = () => undefined;
    files.watch(
      subject.root,
      () => {
        calls += 1;
        heard();
      },
      stop.signal,
    );
    const changes = [() => put('a', 'y'), () => put('b', ''), () => files.remove(at('b'))];
    for (const change of changes) {
      const called = new Promise<void>((resolve) => {
        heard = resolve;
      });
      await change();
      await called;
    }
    expect(calls).toBeGreaterThanOrEqual(3);
    stop.abort();
    const before = calls;
    await put('c', '');
    await files.stat(at('c'));
    expect(calls).toBe(before);
  });
});

describe('NodeFiles', () => {
  test('files are created 0600 and folders 0700', async () => {
    const root = await fs.mkdtemp(path.join(os.tmpdir(), 'troupe-files-'));
    try {
      const files = new NodeFiles();
      await files.makeDirectory(`${root}/a/b`);
      const handle = await files.open(`${root}/a/f`, 'create');
      await handle.close();
      expect((await fs.stat(`${root}/a/b`)).mode & 0o777).toBe(0o700);
      expect((await fs.stat(`${root}/a/f`)).mode & 0o777).toBe(0o600);
    } finally {
      await fs.rm(root, { recursive: true });
    }
  });
});

describe.each(Object.keys(subjects))('reading whole files: %s', (name) => {
  test('what is longer than asked for is refused, up to it all is read', async () => {
    const subject = await subjects[name]?.();
    if (subject === undefined) throw new Error(name);
    const file = `${subject.root}/a`;
    const handle = await subject.files.open(file, 'create');
    handle.write(bytes('x'.repeat(9000)));
    await handle.close();
    expect(await subject.files.readFile(file, 9000)).toHaveLength(9000);
    expect(await codeOf(subject.files.readFile(file, 8999))).toBe('EFBIG');
    expect(await codeOf(subject.files.readFile(subject.root, 10))).toBe('EISDIR');
    await subject.end();
  });
});

test('a pipe, a device and a link to one are refused without waiting; files that say they are empty are read', async () => {
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'troupe-files-'));
  const files = new NodeFiles();
  execFileSync('mkfifo', [`${root}/pipe`]);
  await fs.symlink(`${root}/pipe`, `${root}/to-pipe`);
  await fs.symlink('/dev/zero', `${root}/to-zero`);
  for (const one of ['pipe', 'to-pipe', 'to-zero']) {
    expect(await codeOf(files.readFile(`${root}/${one}`))).toBe('ENXIO');
  }
  await fs.symlink(`${root}/b`, `${root}/a`);
  await fs.symlink(`${root}/a`, `${root}/b`);
  expect(await codeOf(files.readFile(`${root}/a`, 10))).toBe('ELOOP');
  if (process.platform === 'linux') {
    expect((await files.readFile('/proc/self/stat', 4000)).length).toBeGreaterThan(50);
  }
  await fs.rm(root, { recursive: true });
});

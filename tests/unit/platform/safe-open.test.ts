import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isTroupeError, systemCode } from '../../../src/kernel/index.ts';
import type * as SafeOpenModule from '../../../src/platform/safe-open.ts';

type SafeOpen = typeof SafeOpenModule;

/** The way through descriptors, and the one of platforms that have none. */
async function load(platform: NodeJS.Platform): Promise<SafeOpen> {
  vi.resetModules();
  const real = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
  Object.defineProperty(process, 'platform', { value: platform });
  try {
    return await import('../../../src/platform/safe-open.ts');
  } finally {
    Object.defineProperty(process, 'platform', real);
  }
}

const ways = [
  { way: process.platform, safe: await load(process.platform) },
  { way: 'no descriptors as paths', safe: await load('freebsd') },
];

let base: string;
let root: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'troupe-safe-')));
  root = join(base, 'root');
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  mkdirSync(join(base, 'outside'));
  await writeFile(join(root, 'src/deep/a.txt'), 'hello');
  await writeFile(join(base, 'outside/secret'), 'secret');
});
afterEach(async () => {
  await rm(base, { recursive: true });
});
afterAll(() => {
  vi.resetModules();
});

describe.each(ways)('files inside a root ($way)', ({ safe }) => {
  const { listInside, makeDirectoriesInside, openInside, readInside, statInside, writeInside } =
    safe;
  const text = async (path: string): Promise<string> =>
    new TextDecoder().decode((await readInside(root, path)).bytes);
  const write = (path: string, content: string): Promise<unknown> =>
    writeInside(root, path, new TextEncoder().encode(content));
  const code = (promise: Promise<unknown>): Promise<string> =>
    promise.then(() => 'fine', systemCode);

  it('reads a file by its relative or its absolute path, whole or in part', async () => {
    expect(await text('src/deep/a.txt')).toBe('hello');
    expect(await text('./src//deep/./a.txt')).toBe('hello');
    expect(await text(join(root, 'src/deep/a.txt'))).toBe('hello');
    const part = await readInside(root, 'src/deep/a.txt', { offset: 1, length: 3 });
    expect([new TextDecoder().decode(part.bytes), part.size]).toEqual(['ell', 5]);
    const past = await readInside(root, 'src/deep/a.txt', { offset: 9, length: 3 });
    expect(past.bytes.length).toBe(0);
    expect(await code(readInside(root, 'src/deep/a.txt', { sizeMax: 4 }))).toBe('path/too-large');
  });

  it('refuses every spelling of a way out', async () => {
    symlinkSync(join(base, 'outside'), join(root, 'absolute'));
    symlinkSync('../../outside', join(root, 'src/relative'));
    symlinkSync('../../../outside/secret', join(root, 'src/deep/file'));
    symlinkSync('absolute', join(root, 'twice'));
    for (const path of [
      '../outside/secret',
      'src/../../outside/secret',
      'src/../src/deep/a.txt',
      join(base, 'outside/secret'),
      `${root}/../outside/secret`,
      `${root}x/secret`,
      '/etc/passwd',
      'absolute/secret',
      'src/relative/secret',
      'src/deep/file',
      'twice/secret',
      'twice/new/file',
    ]) {
      expect([path, await code(readInside(root, path))]).toEqual([path, 'path/outside']);
      expect([path, await code(write(path, 'x'))]).toEqual([path, 'path/outside']);
      expect([path, await code(statInside(root, path))]).toEqual([path, 'path/outside']);
      expect([path, await code(listInside(root, path))]).toEqual([path, 'path/outside']);
      expect([path, await code(makeDirectoriesInside(root, path))]).toEqual([path, 'path/outside']);
    }
    expect(await code(readInside(root, 'a\0b'))).toBe('path/invalid');
    expect(await readFile(join(base, 'outside/secret'), 'utf8')).toBe('secret');
    expect(readdirSync(join(base, 'outside'))).toEqual(['secret']);
  });

  it('follows links that stay inside', async () => {
    symlinkSync('deep', join(root, 'src/near'));
    symlinkSync(join(root, 'src/near/a.txt'), join(root, 'far'));
    symlinkSync('../../src/deep/../deep/a.txt', join(root, 'src/deep/round'));
    symlinkSync('.', join(root, 'self'));
    for (const path of ['src/near/a.txt', 'far', 'src/deep/round', 'self/self/far']) {
      expect([path, await text(path)]).toEqual([path, 'hello']);
    }
    await write('far', 'changed');
    expect(await text('src/deep/a.txt')).toBe('changed');
    expect(await listInside(root, 'self')).toContainEqual({ name: 'far', kind: 'link' });
    symlinkSync('loop', join(root, 'loop'));
    expect(await code(readInside(root, 'loop'))).toBe('path/too-many-links');
    symlinkSync('nowhere', join(root, 'dangling'));
    expect(await statInside(root, 'dangling')).toBeNull();
  });

  it('names what is wrong with a path, as it was given', async () => {
    expect(await code(readInside(root, 'absent'))).toBe('path/not-found');
    expect(await code(readInside(root, 'absent/b'))).toBe('path/not-found');
    expect(await code(readInside(root, 'src'))).toBe('path/not-a-file');
    expect(await code(readInside(root, ''))).toBe('path/not-a-file');
    expect(await code(readInside(root, 'src/deep/a.txt/b'))).toBe('path/not-a-directory');
    expect(await code(listInside(root, 'src/deep/a.txt'))).toBe('path/not-a-directory');
    expect(await code(readInside(root, 'x'.repeat(300)))).toBe('path/invalid');
    expect(await code(readInside(join(base, 'no-root'), 'a'))).toBe('path/not-found');
    const error: unknown = await readInside(root, './absent').catch((cause: unknown) => cause);
    expect(isTroupeError(error) && [error.message, error.data['path']]).toEqual([
      './absent does not exist',
      './absent',
    ]);
  });

  it('never opens what is no regular file', async () => {
    execFileSync('mkfifo', [join(root, 'fifo')]);
    const server = createServer();
    await new Promise<void>((done) => server.listen(join(root, 'socket'), done));
    symlinkSync('fifo', join(root, 'link'));
    for (const path of ['fifo', 'socket', 'link']) {
      expect([path, await code(readInside(root, path))]).toEqual([path, 'path/not-a-file']);
      expect([path, await code(write(path, 'x'))]).toEqual([path, 'path/not-a-file']);
      expect([path, await code(openInside(root, path, 'write'))]).toEqual([
        path,
        'path/not-a-file',
      ]);
      expect((await statInside(root, path))?.kind).toBe('other');
    }
    await new Promise((done) => server.close(done));
    expect(await code(safe.readInside('/dev', 'null'))).toBe('path/not-a-file');
  });

  it('writes a whole file at once and keeps the mode of an old one', async () => {
    await chmod(join(root, 'src/deep/a.txt'), 0o755);
    await write('src/deep/a.txt', 'new');
    expect(await text('src/deep/a.txt')).toBe('new');
    expect(statSync(join(root, 'src/deep/a.txt')).mode & 0o777).toBe(0o755);
    const made = await writeInside(root, 'src/b.txt', new Uint8Array(3), { sync: true });
    expect([made.kind, made.size, made.mode & 0o111]).toEqual(['file', 3, 0]);
    expect(readdirSync(join(root, 'src')).toSorted()).toEqual(['b.txt', 'deep']);
    const absent = writeInside(root, 'c.txt', new Uint8Array(), { mustExist: true });
    expect(await code(absent)).toBe('path/not-found');
    const exists = writeInside(root, 'src/b.txt', new Uint8Array(), { mustNotExist: true });
    expect(await code(exists)).toBe('path/exists');
    expect(await code(write('absent/c.txt', 'x'))).toBe('path/not-found');
    expect(await code(write('src', 'x'))).toBe('path/not-a-file');
  });

  it('does not write to a file that has another name', async () => {
    linkSync(join(base, 'outside/secret'), join(root, 'hard'));
    expect(await code(write('hard', 'x'))).toBe('path/hard-linked');
    expect(await code(openInside(root, 'hard', 'write'))).toBe('path/hard-linked');
    expect(await readFile(join(base, 'outside/secret'), 'utf8')).toBe('secret');
  });

  it('makes folders, lists them and tells what lies there', async () => {
    await makeDirectoriesInside(root, 'x/y/z');
    await makeDirectoriesInside(root, 'x/y/z');
    await write('x/file', 'f');
    expect(await listInside(root, 'x')).toEqual([
      { name: 'file', kind: 'file' },
      { name: 'y', kind: 'directory' },
    ]);
    expect((await listInside(root, '')).map((entry) => entry.name)).toEqual(['src', 'x']);
    expect(await statInside(root, 'x/file')).toMatchObject({ kind: 'file', size: 1 });
    expect(await statInside(root, '')).toMatchObject({ kind: 'directory' });
    expect(await statInside(root, 'absent/b')).toBeNull();
    expect(await code(makeDirectoriesInside(root, 'x/file/z'))).toBe('path/not-a-directory');
  });

  it('opens no more than it closes', async () => {
    const before = readdirSync('/dev/fd').length;
    for (let index = 0; index < 50; index += 1) {
      await text('src/deep/a.txt');
      await write('src/deep/a.txt', 'again');
      await listInside(root, 'src');
      await code(readInside(root, 'absent/b'));
      await code(readInside(root, '../x'));
      const file = await openInside(root, 'src/deep/a.txt', 'read');
      file.close();
      file.close();
    }
    expect(readdirSync('/dev/fd').length).toBe(before);
  });
});

it.skipIf(process.platform !== 'linux')(
  'stays inside while a folder is exchanged for a link again and again',
  async () => {
    const [descriptors] = ways;
    mkdirSync(join(root, 'swap'));
    await writeFile(join(root, 'swap/secret'), 'inside');
    symlinkSync(join(base, 'outside'), join(root, 'evil'));
    const swapper = await startSwapper(
      join(root, 'swap'),
      join(root, 'evil'),
      join(root, 'parked'),
    );
    const seen = new Set<string>();
    for (let index = 0; index < 3000; index += 1) {
      const result = descriptors?.safe.readInside(root, 'swap/secret');
      seen.add(
        (await result?.then(({ bytes }) => new TextDecoder().decode(bytes), systemCode)) ?? '',
      );
    }
    const ended = new Promise((resolve) => swapper.once('exit', resolve));
    swapper.kill('SIGKILL');
    await ended;
    expect(seen).not.toContain('secret');
    expect(seen).toContain('inside');
    expect(seen).toContain('path/outside');
  },
);

/** Exchanges the two names as fast as it can until it is killed. */
const SWAPPER = `
const { renameSync } = require('node:fs');
const [folder, link, parked] = process.argv.slice(1);
console.log('ready');
for (;;) {
  renameSync(folder, parked);
  renameSync(link, folder);
  renameSync(folder, link);
  renameSync(parked, folder);
}
`;

async function startSwapper(folder: string, link: string, parked: string): Promise<ChildProcess> {
  const args = ['-e', SWAPPER, folder, link, parked];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
}

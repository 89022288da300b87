import { chmod, lstat, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemCode } from '../../src/kernel/index.ts';
import { sha256Hex, socketPathFor } from '../../src/platform/index.ts';

let base: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'tr-')));
});
afterEach(async () => {
  await rm(base, { recursive: true });
});

const repository = '/home/ada/project/.git';
const name = `${sha256Hex(repository).slice(0, 16)}.sock`;
const uid = String(process.getuid?.());

it('hashes as everybody does', () => {
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  expect(sha256Hex('')).toBe(empty);
  expect(sha256Hex(new Uint8Array())).toBe(empty);
});

it('prefers the runtime folder, then the home, then the temporary folder', async () => {
  const env = { XDG_RUNTIME_DIR: join(base, 'xdg'), HOME: join(base, 'home'), TMPDIR: base };
  await mkdir(env.XDG_RUNTIME_DIR);
  await mkdir(env.HOME);
  expect(await socketPathFor(repository, env)).toBe(join(base, 'xdg/troupe', name));
  const home = await socketPathFor(repository, { ...env, XDG_RUNTIME_DIR: undefined });
  expect(home).toBe(join(base, 'home/.troupe/run', name));
  expect(await socketPathFor(repository, { TMPDIR: base })).toBe(join(base, `troupe-${uid}`, name));
  for (const folder of ['xdg/troupe', 'home/.troupe/run', `troupe-${uid}`]) {
    expect((await lstat(join(base, folder))).mode & 0o777).toBe(0o700);
  }
});

it('passes over a folder that is missing, a link, open to others, or makes the path too long', async () => {
  const env = { XDG_RUNTIME_DIR: join(base, 'absent'), TMPDIR: base };
  const fallback = join(base, `troupe-${uid}`, name);
  expect(await socketPathFor(repository, env)).toBe(fallback);
  await mkdir(env.XDG_RUNTIME_DIR);
  await mkdir(join(base, 'elsewhere'), { mode: 0o700 });
  await symlink(join(base, 'elsewhere'), join(env.XDG_RUNTIME_DIR, 'troupe'));
  expect(await socketPathFor(repository, env)).toBe(fallback);
  await rm(join(env.XDG_RUNTIME_DIR, 'troupe'));
  await mkdir(join(env.XDG_RUNTIME_DIR, 'troupe'));
  await chmod(join(env.XDG_RUNTIME_DIR, 'troupe'), 0o750);
  expect(await socketPathFor(repository, env)).toBe(fallback);
  const long = join(base, 'ü'.repeat(40));
  await mkdir(long);
  const path = await socketPathFor(repository, { XDG_RUNTIME_DIR: long, TMPDIR: base });
  expect(path).toBe(fallback);
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100);
});

it('says which folders it tried when none will do', async () => {
  const nowhere = socketPathFor(repository, { TMPDIR: join(base, 'absent') });
  await expect(nowhere).rejects.toThrow(/absent.*ENOENT/u);
  expect(await nowhere.catch(systemCode)).toBe('socket/no-place');
});

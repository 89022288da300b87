import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TroupeError } from '../../../src/kernel/index.ts';
import { JsonLogger } from '../../../src/platform/index.ts';
import { VirtualClock } from '../../../src/testing/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-log-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

function lines(text: string): Record<string, unknown>[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

it('appends one JSON object a line to a file of its owner, from its level on', async () => {
  const file = join(folder, 'log');
  const logger = new JsonLogger({ clock: new VirtualClock(0), file, fields: { pid: 7 } });
  logger.log('debug', 'dropped');
  logger.log('info', 'two\nlines', { run: 'r' });
  const again = new JsonLogger({ clock: new VirtualClock(0), file, level: 'debug' });
  again.log('debug', 'kept');
  logger.close();
  again.close();
  expect(lines(await readFile(file, 'utf8'))).toEqual([
    { at: '1970-01-01T00:00:00.000Z', level: 'info', message: 'two\nlines', pid: 7, run: 'r' },
    { at: '1970-01-01T00:00:00.000Z', level: 'debug', message: 'kept' },
  ]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('writes whatever it is given and never throws', async () => {
  const file = join(folder, 'odd');
  const logger = new JsonLogger({ clock: new VirtualClock(0), file });
  const loop: Record<string, unknown> = { big: 10n };
  loop['self'] = loop;
  const error = new TroupeError({ code: 'a/b', message: 'why', cause: new Error('root') });
  logger.log('error', 'odd', { loop, error });
  logger.log('warn', 'huge', { text: 'x'.repeat(100_000) });
  logger.close();
  logger.log('warn', 'after the end');
  const [odd, huge] = lines(await readFile(file, 'utf8'));
  expect(odd).toMatchObject({
    loop: { big: '10', self: '[seen]' },
    error: { code: 'a/b', message: 'why', cause: { message: 'root' } },
  });
  expect(huge).toMatchObject({ message: 'huge', cut: expect.any(Number) });
});

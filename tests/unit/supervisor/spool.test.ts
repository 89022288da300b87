import { expect, test } from 'vitest';
import { TroupeError } from '../../../src/kernel/index.ts';
import type { RunLoop } from '../../../src/supervisor/loop.ts';
import { ingestSpool } from '../../../src/supervisor/spool.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { putFile } from '../journal/support.ts';

const SPOOL = '/s';
const LETTER = { run: 'r1', to: 'ada', lane: 'normal', text: 'hello' };

async function spoolWith(content: string, refusal: Error | null): Promise<MemoryFiles> {
  const files = new MemoryFiles();
  await files.makeDirectory(SPOOL);
  await putFile(files, `${SPOOL}/env_1.json`, content);
  const ask = (): Promise<unknown> =>
    refusal === null ? Promise.resolve({}) : Promise.reject(refusal);
  const loop = { ask } as unknown as RunLoop;
  const logger = { log: () => undefined };
  await ingestSpool({ files, logger, directory: SPOOL, run: 'r1', loop });
  return files;
}

const failure = (code: string, retryable = false): TroupeError =>
  new TroupeError({ code, message: code, retryable });

test('M1: a letter that is taken in leaves the spool', async () => {
  const files = await spoolWith(JSON.stringify(LETTER), null);
  expect(await files.list(SPOOL)).toEqual([]);
});

test.each([
  ['a full mailbox', failure('mailbox/full', true)],
  ['a full disk', failure('journal/full', true)],
  ['a failed journal', failure('journal/failed')],
  ['a run that ended meanwhile', new Error('the run has ended')],
])('M4: after %s it stays for the next start', async (_why, refusal) => {
  const files = await spoolWith(JSON.stringify(LETTER), refusal);
  expect(await files.list(SPOOL)).toEqual(['env_1.json']);
});

test.each([
  ['nobody has that name', JSON.stringify(LETTER), failure('mailbox/unknown')],
  ['it is no letter', '{"run":', null],
])('M6: when %s it is kept aside, where the doctor shows it', async (_why, content, refusal) => {
  const files = await spoolWith(content, refusal);
  expect(await files.list(SPOOL)).toEqual(['refused']);
  expect(await files.list(`${SPOOL}/refused`)).toEqual(['env_1.json']);
});

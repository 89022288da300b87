import { expect, test } from 'vitest';
import { openJournal, readJournal } from '../../../src/journal/index.ts';
import { isoTime } from '../../../src/kernel/index.ts';
import { PACK_AFTER_MS } from '../../../src/supervisor/limits.ts';
import { Packer } from '../../../src/supervisor/packer.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';

const RUNS = '/troupe/runs';
const folder = (run: string): string => `${RUNS}/${run}/journal`;

function world() {
  const files = new MemoryFiles();
  const clock = new VirtualClock();
  const logged: string[] = [];
  const logger = { log: (_level: string, message: string) => void logged.push(message) };
  const write = async (run: string, parts: { ageMs: number; ended: boolean }): Promise<void> => {
    const at = isoTime(clock.now() - parts.ageMs);
    const journal = await openJournal({
      files,
      clock,
      random: new SeededRandom(run),
      directory: folder(run),
      name: run,
    });
    journal.append({ k: 'run', at, run: [{ type: 'run.started' }] });
    if (parts.ended) journal.append({ k: 'run', at, run: [{ type: 'run.ended', state: 'done' }] });
    journal.append({ k: 'git', at, trees: [] });
    await journal.close();
  };
  const packer = (): Packer => new Packer({ files, clock, logger, directory: RUNS });
  const isPacked = async (run: string): Promise<boolean> =>
    (await files.list(folder(run))).includes('000000000001.jsonl.gz');
  return { files, logged, write, packer, isPacked };
}

test('journals of runs that ended long ago are packed, and read as before; others are left', async () => {
  const { files, logged, write, packer, isPacked } = world();
  const old = PACK_AFTER_MS + 1;
  await write('old', { ageMs: old, ended: true });
  await write('older', { ageMs: 2 * old, ended: true });
  await write('young', { ageMs: PACK_AFTER_MS - 1, ended: true });
  await write('open', { ageMs: old, ended: false });
  await files.makeDirectory(`${RUNS}/empty`);
  const kinds = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { k } of readJournal({ files, directory: folder('old') })) found.push(k);
    return found;
  };
  const before = await kinds();
  const one = packer();
  one.start();
  await one.done();
  expect(await isPacked('old')).toBe(true);
  expect(await isPacked('older')).toBe(true);
  expect(await isPacked('young')).toBe(false);
  expect(await isPacked('open')).toBe(false);
  expect(await kinds()).toEqual(before);
  const again = packer();
  again.start();
  await again.done();
  expect(logged).toEqual([]);
});

test('it stops when it is told to, and leaves what somebody wants to write to, or what is damaged', async () => {
  const { files, logged, write, packer, isPacked } = world();
  const old = PACK_AFTER_MS + 1;
  for (const run of ['a', 'b', 'c']) await write(run, { ageMs: old, ended: true });
  const stopped = packer();
  stopped.start();
  await stopped.stop();
  expect(await isPacked('c')).toBe(false);
  const path = `${folder('c')}/000000000001.jsonl`;
  const text = new TextDecoder().decode(await files.readFile(path));
  await files.remove(path);
  const handle = await files.open(path, 'create');
  handle.write(new TextEncoder().encode(text.replace('run.started', 'run.starteX')));
  await handle.close();
  const next = packer();
  next.start();
  await next.leave('b');
  await next.done();
  expect(await isPacked('b')).toBe(false);
  expect(await isPacked('c')).toBe(false);
  expect(logged).toEqual(['the journal of c is not packed']);
});

/** A bounded slice of what rot does to a journal, and the shapes of it that people met. */
import { describe, expect, test } from 'vitest';
import { openJournal, readJournal, verifyJournal } from '../../../src/journal/index.ts';
import { isTroupeError } from '../../../src/kernel/index.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { DIRECTORY } from './explorer.ts';
import { closedJournal, diskOf, exploreRot } from './rot.ts';

const ROTS = 2000;
const MIB = 1024 * 1024;
const seed = process.env['TROUPE_SEED'] ?? String(process.hrtime.bigint());

test.each(['1', seed])(
  'J4 J5: rot is found, named by file and line, and costs only what stands on it (seed %s)',
  async (seed) => {
    const { violation } = await exploreRot(seed, ROTS);
    expect(violation, `TROUPE_SEED=${seed}`).toBeNull();
  },
);

async function textsIn(files: MemoryFiles): Promise<string[]> {
  const texts: string[] = [];
  for await (const { k, text } of readJournal({ files, directory: DIRECTORY })) {
    if (k === 'msg') texts.push(String(text));
  }
  return texts;
}

async function written(texts: readonly string[]): Promise<MemoryFiles> {
  const files = new MemoryFiles();
  const journal = await openJournal({
    files,
    clock: new VirtualClock(),
    random: new SeededRandom('shapes'),
    directory: DIRECTORY,
    name: 'sim',
    limits: { reserveBytes: 0 },
  });
  for (const text of texts) await journal.append({ k: 'msg', to: 'ada', text }).durable;
  await journal.close();
  return files;
}

describe('shapes', () => {
  test('J4: CR LF at every line is read, and told', async () => {
    const copies = (await closedJournal('this')).map(({ name, bytes }) => ({
      name,
      bytes: new TextEncoder().encode(new TextDecoder().decode(bytes).replaceAll('\n', '\r\n')),
    }));
    const files = await diskOf(copies);
    expect(await textsIn(files)).toHaveLength(30);
    const { ok, problems } = await verifyJournal({ files, directory: DIRECTORY });
    expect(ok).toBe(true);
    expect(problems.map(({ kind }) => kind)).toEqual(copies.map(() => 'line-endings'));
  });

  test('J4: U+2028, U+2029, U+0085, lone surrogates and line feeds in a text stay one line', async () => {
    const texts = ['a\u2028b', 'a\u2029b', 'a\u0085b', 'a\n\r\nb', '\ud800 alone', '"},{"s":1'];
    const files = await written(texts);
    expect(await textsIn(files)).toEqual(texts);
    expect((await verifyJournal({ files, directory: DIRECTORY })).problems).toEqual([]);
  });

  test('J4: a line of 16 MiB less its frame is read back; a longer one is refused and harms nothing', async () => {
    const long = 'x'.repeat(16 * MIB - 200);
    const files = await written(['before', long, 'behind']);
    expect((await textsIn(files)).map(({ length }) => length)).toEqual([6, long.length, 6]);
    let refused = '';
    try {
      await written(['x'.repeat(16 * MIB)]);
    } catch (error) {
      refused = isTroupeError(error) ? error.code : String(error);
    }
    expect(refused).toBe('journal/record-too-large');
  });

  test('J5: a foreign line that is longer than any record is named, and what follows it is kept', async () => {
    const files = await written(['one', 'two', 'three']);
    const path = `${DIRECTORY}/000000000001.jsonl`;
    const lines = new TextDecoder().decode(await files.readFile(path)).split('\n');
    await files.remove(path);
    const handle = await files.open(path, 'create');
    const rotten = lines.toSpliced(2, 0, 'y'.repeat(17 * MIB));
    handle.write(new TextEncoder().encode(rotten.join('\n')));
    await handle.close();
    expect(await textsIn(files)).toEqual(['one', 'two', 'three']);
    const { problems } = await verifyJournal({ files, directory: DIRECTORY });
    expect(problems).toMatchObject([{ kind: 'junk', file: '000000000001.jsonl', line: 3 }]);
  });
});

import { expect, test } from 'vitest';
import { BlobStore, blobsBeside, openJournal } from '../../../src/journal/index.ts';
import { asActorName } from '../../../src/kernel/index.ts';
import { readSession } from '../../../src/sessions/index.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';

const result = (call: string): object => ({
  type: 'result',
  call,
  tool: 'bash',
  ok: true,
  text: '',
});
const directory = '/run/journal';

async function filled(): Promise<MemoryFiles> {
  const files = new MemoryFiles();
  const journal = await openJournal({
    files,
    clock: new VirtualClock(),
    random: new SeededRandom(1),
    directory,
    name: 'r',
  });
  journal.append({ k: 'step', a: 'ada', at: 't1', entries: [result('c1'), result('c2')] });
  journal.append({ k: 'step', a: 'bo', at: 't2', entries: [result('c3')] });
  journal.append({ k: 'msg', to: 'ada', at: 't3' });
  journal.append({ k: 'sup', a: 'ada', at: 't4' });
  journal.append({ k: 'step', a: 'ada', at: 't5', entries: [{ type: 'dream' }, result('c4')] });
  await journal.close();
  return files;
}

test('the steps of one actor, in order, with their places; unknown entries are passed over', async () => {
  const files = await filled();
  const placed = await readSession({ files, directory, actor: asActorName('ada'), upTo: 1000 });
  const calls = placed.map(({ entry, at }) => [at, entry.type === 'result' ? entry.call : '']);
  expect(calls).toEqual([
    ['t1', 'c1'],
    ['t1', 'c2'],
    ['t5', 'c4'],
  ]);
  const upTo = placed[1]!.seq;
  const early = await readSession({ files, directory, actor: asActorName('ada'), upTo });
  expect(early).toEqual(placed.slice(0, 2));
});

test('M8: large parts are whole again where their store is given', async () => {
  const files = new MemoryFiles();
  const blobs = new BlobStore({
    files,
    directory: blobsBeside(directory),
    hash: () => 'a'.repeat(64),
  });
  const ref = await blobs.put(new TextEncoder().encode('the whole text'));
  const journal = await openJournal({
    files,
    clock: new VirtualClock(),
    random: new SeededRandom(1),
    directory,
    name: 'r',
  });
  const item = { n: 1, id: 'env_1', from: 'user', type: 'chat.message', text: 'the', ...ref };
  journal.append({ k: 'step', a: 'ada', at: 't1', entries: [{ type: 'mail', items: [item] }] });
  await journal.close();
  const textsOf = async (options: object): Promise<unknown[]> => {
    const asked = { files, directory, actor: asActorName('ada'), upTo: 99, ...options };
    const placed = await readSession(asked);
    return placed.map(({ entry }) => entry.type === 'mail' && entry.items[0]?.text);
  };
  expect(await textsOf({ blobs })).toEqual(['the whole text']);
  expect(await textsOf({})).toEqual(['the']);
});

test('no journal, no entries', async () => {
  const files = new MemoryFiles();
  expect(
    await readSession({ files, directory: '/none', actor: asActorName('ada'), upTo: 9 }),
  ).toEqual([]);
});

/** Part H of the field reports: files that were torn, spliced, zeroed or overwritten in other systems. */
import { describe, expect, test } from 'vitest';
import type { ActorRun } from '../../../src/actors/index.ts';
import { writeWhole } from '../../../src/control/files.ts';
import { listRuns } from '../../../src/control/index.ts';
import { openJournal, readJournal, verifyJournal } from '../../../src/journal/index.ts';
import type { FileHandle, Files } from '../../../src/kernel/index.ts';
import { deadLetters } from '../../../src/mailbox/index.ts';
import { CRASH_MODES } from '../../../src/testing/memory-disk.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { makeControlWorld, makeRun, makeRunFile } from '../control/control-world.ts';
import { DIRECTORY, FIRST, putFile, range, World } from '../journal/support.ts';
import { Scene } from './scene.ts';

describe('a stub at the end', () => {
  test.each([
    ['CC#52387', '{"s":9,"d":8,"k":"msg","to":"ad'],
    ['github/copilot-cli#4098', '{'],
  ])(
    '%s: a stub of a killed write (%s) is set aside, and nothing is glued to it',
    async (_id, stub) => {
      const world = new World();
      await world.filled(3);
      await world.put(`${await world.text()}${stub}`);
      const { journal } = await world.recovered();
      expect(journal.report.torn?.bytes).toBe(stub.length);
      const { seq, durable } = journal.append({ k: 'msg', to: 'ada', n: 'next' });
      await durable;
      await journal.close();
      const read = await world.read();
      expect(read.find(({ s }) => s === seq)?.['n']).toBe('next');
      expect(read.map(({ s }) => s)).toEqual(range(1, read.length));
      expect((await world.verify()).problems).toEqual([]);
      const kept = (await world.files.list(DIRECTORY)).filter((name) => name.startsWith('torn-'));
      expect(kept).toHaveLength(1);
    },
  );
});

test('CC#81843: however many write at once, there is one writer, and a write call holds whole lines', async () => {
  const world = new World();
  const writes: Uint8Array[] = [];
  const files = watched(world.files, (bytes) => writes.push(bytes.slice()));
  const journal = await world.open({ files });
  const senders = range(1, 40).map(async (sender) => {
    for (let index = 0; index < 25; index += 1) {
      await journal.append({ k: 'msg', to: `to-${sender}`, text: `${sender}-${index}` }).durable;
    }
  });
  await Promise.all(senders);
  await journal.close();
  for (const bytes of writes) {
    const text = new TextDecoder().decode(bytes);
    expect(text.endsWith('\n')).toBe(true);
    for (const line of text.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
  }
  expect(writes.length).toBeLessThan(200);
  expect((await world.read()).filter(({ k }) => k === 'msg')).toHaveLength(1000);
});

function watched(files: Files, onWrite: (bytes: Uint8Array) => void): Files {
  const bound: Files = {
    open: async (path, mode) => {
      const handle = await files.open(path, mode);
      const watching: FileHandle = {
        write: (bytes) => {
          onWrite(bytes);
          return handle.write(bytes);
        },
        read: (position, length) => handle.read(position, length),
        datasync: () => handle.datasync(),
        truncate: (size) => handle.truncate(size),
        size: () => handle.size(),
        close: () => handle.close(),
      };
      return watching;
    },
    readFile: (path) => files.readFile(path),
    stat: (path) => files.stat(path),
    list: (path) => files.list(path),
    makeDirectory: (path) => files.makeDirectory(path),
    rename: (from, to) => files.rename(from, to),
    link: (from, to) => files.link(from, to),
    remove: (path) => files.remove(path),
    syncDirectory: (path) => files.syncDirectory(path),
    watch: (path, onChange, signal) => files.watch(path, onChange, signal),
  };
  return bound;
}

test('CC#49876: a run of nulls costs what stands on it, is named, and reading goes on behind it', async () => {
  const world = new World();
  await world.filled(30);
  const bytes = await world.bytes();
  const lines = await world.lines();
  const from = new TextEncoder().encode(lines.slice(0, 9).join('\n')).length;
  await world.put(bytes.slice().fill(0, from + 5, from + 150));
  const gaps: { fromSeq: number; toSeq: number; line: number }[] = [];
  const read = await world.read({ onGap: (gap) => gaps.push(gap) });
  expect(gaps).toHaveLength(1);
  const [gap] = gaps;
  expect(gap?.line).toBe(10);
  const lost = range(gap?.fromSeq ?? 0, gap?.toSeq ?? 0);
  expect(lost.length).toBeLessThanOrEqual(4);
  const all = range(1, lines.length);
  expect(read.map(({ s }) => s)).toEqual(all.filter((s) => !lost.includes(s)));
  const { problems } = await world.verify();
  expect(problems).toMatchObject([{ kind: 'gap', file: FIRST, line: 10 }]);
});

test('CC#20992: a run whose files are damaged is told of, and stops nobody from seeing the others', async () => {
  const world = makeControlWorld();
  const { files, workspace } = world;
  for (const id of ['good', 'bad', 'worse']) {
    const made = await makeRun(world, makeRunFile(id, '2026-01-01T00:00:00.000Z', ['ada']), []);
    await made.close();
  }
  const path = (id: string, name: string): string => `/repo/.git/troupe/runs/${id}/${name}`;
  await files.remove(path('bad', 'run.json'));
  await putFile(files, path('bad', 'run.json'), '{"version":1,');
  const journal = path('worse', `journal/${FIRST}`);
  await files.remove(journal);
  await putFile(files, journal, new Uint8Array(3000));
  const { rows, damaged } = await listRuns(workspace);
  expect(rows.map(({ id }) => id).toSorted()).toEqual(['good', 'worse']);
  expect(damaged.map(({ message }) => message).join()).toContain('bad');
});

describe('a file that is replaced', () => {
  test.each([
    ['CC#29127', 'old or new after any crash, never half of one'],
    ['CC#29143', 'what a crash left does not pile up'],
  ])('%s: %s', async () => {
    const files = new MemoryFiles();
    await files.makeDirectory('/f');
    await files.syncDirectory('/');
    const path = '/f/config.json';
    const texts = ['{"old":1}', `{"new":"${'x'.repeat(2000)}"}`];
    await putFile(files, path, texts[0] ?? '');
    await files.syncDirectory('/f');
    const left: MemoryFiles[] = [];
    files.before = () => left.push(...CRASH_MODES.map((mode) => files.fork(mode)));
    await writeWhole(files, path, { text: texts[1] ?? '', temporary: '/f/.config.tmp' });
    expect(left.length).toBeGreaterThan(15);
    for (const disk of left) {
      const text = new TextDecoder().decode(await disk.readFile(path));
      expect(texts).toContain(text);
      expect((await disk.list('/f')).length).toBeLessThanOrEqual(2);
    }
  });
});

test('a journal is contained in its folder: rot of one leaves the next one whole', async () => {
  const world = new World();
  await world.filled(5);
  const other = await openJournal({
    files: world.files,
    clock: world.clock,
    random: world.random,
    directory: '/runs/r2/journal',
    name: 'r2',
    limits: { reserveBytes: 0 },
  });
  await other.append({ k: 'msg', to: 'bo', n: 1 }).durable;
  await other.close();
  await world.put(new Uint8Array(500));
  const read: string[] = [];
  for await (const { k } of readJournal({ files: world.files, directory: '/runs/r2/journal' })) {
    read.push(k);
  }
  expect(read).toEqual(['seg', 'msg', 'seal']);
  const { ok } = await verifyJournal({ files: world.files, directory: '/runs/r2/journal' });
  expect(ok).toBe(true);
});

describe('a start that fails', () => {
  const broken: ActorRun = () => Promise.reject(new Error('no such file'));
  test.each([
    ['nikrich/hungry-ghost-hive#633', 'is an end with a reason, not a crash of the supervisor'],
    ['nikrich/hungry-ghost-hive#639', 'leaves no actor behind that seems to live'],
    ['nikrich/hungry-ghost-hive#630', 'is tried a bounded number of times'],
  ])('%s: %s', async () => {
    const scene = await Scene.open({ run: broken });
    await scene.send('ada', 'do it', { id: 'it' });
    // Also past every pause that there could be between two tries.
    for (let again = 0; again < 6; again += 1) {
      await scene.world.settle();
      await scene.world.clock.advance(10_000);
    }
    const changes = (await scene.records()).flatMap(({ actors }) => actors ?? []);
    const of = (type: string): unknown[] =>
      changes.filter((one) => one.type === type && one.name === 'ada');
    expect(of('actor.started')).toHaveLength(3);
    expect(of('actor.ended')).toHaveLength(3);
    expect(JSON.stringify(of('actor.ended'))).toContain('no such file');
    // M6: what it can't read any more is shown, and somebody is told; the run goes on for the others.
    const dead = deadLetters(scene.world.state.mail).filter(
      ({ envelope }) => envelope.to === 'ada',
    );
    expect(dead.map(({ envelope }) => envelope.id)).toEqual(['it']);
    const told = await scene.box('user');
    expect(told.map(({ text }) => text).join()).toContain(
      'It is not started again; 1 letter to it was not read',
    );
    expect(scene.world.state.run.ended).toBeNull();
  });
});

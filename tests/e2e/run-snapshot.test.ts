/** Snapshots of a run's state: taken when a run is left, used by the next term, and never missed when they are no good. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoredRunRecord } from '../../src/protocol/index.ts';
import { type Inline, inlineSupervisor } from '../support/inline-supervisor.ts';
import { makeRepo, type TempRepo } from '../support/repo.ts';
import { runFile, task, team } from '../support/team.ts';

let repo: TempRepo;
let folder: string;

/** A run of two tasks, the first done, that was stopped while the second one ran. */
beforeEach(async () => {
  repo = makeRepo({ files: { 'a.txt': 'one\n' } });
  const inline = await inlineSupervisor(repo);
  folder = join(inline.directory, 'runs/r1');
  const file = runFile({
    id: 'r1',
    team: team({
      tasks: [
        task({ id: 'first', run: 'echo two >> a.txt' }),
        task({ id: 'second', run: 'test -e ../go || sleep 600', needs: ['first'] }),
      ],
    }),
    baseCommit: repo.git(['rev-parse', 'HEAD']).trim(),
    workspace: repo.root,
    treesRoot: `${repo.trees}/r1`,
  });
  inline.prepare(file);
  const begun = started(inline, 'second');
  await inline.supervisor.startRun(file);
  await begun;
  await inline.supervisor.send({ run: 'r1', to: 'supervisor', text: 'one', interrupt: false });
  await inline.supervisor.stop({ run: 'r1', now: true, by: 'the test' });
  await inline.supervisor.close();
});

afterEach(() => repo.dispose());

function started(inline: Inline, name: string): Promise<void> {
  return new Promise((resolve) => {
    inline.supervisor.onRecord((_run, record: StoredRunRecord) => {
      const procs = record.procs ?? [];
      if (procs.some((one) => one.type === 'proc.started' && one.task === name)) resolve();
    });
  });
}

interface Opened {
  readonly records: number;
  readonly snapshot: { readonly seq: number; readonly refused: readonly { reason: string }[] };
}

/** Resumes it, lets it come to its end, and says how its journal was opened. */
async function resume(): Promise<Opened> {
  repo.write('r1/go', '', repo.trees);
  const next = await inlineSupervisor(repo);
  await next.supervisor.resumeRun('r1');
  const opened = next.logs.find(({ message }) => message === 'the journal of a run is open');
  expect((await next.supervisor.finished('r1')).state).toBe('done');
  await next.supervisor.close();
  return opened?.data as Opened;
}

const snapshots = (): string[] => readdirSync(join(folder, 'snapshots')).toSorted();
const mailView = (): string =>
  readFileSync(join(folder, 'views/mailboxes/supervisor.jsonl'), 'utf8');

describe('a run that was left', () => {
  it('S8: is taken up from its snapshot: only what came after is folded, and its views go on', async () => {
    expect(snapshots()).toHaveLength(1);
    // What the views would hold in vain: written after the snapshot by a process that died.
    writeFileSync(join(folder, 'views/mailboxes/supervisor.jsonl'), `${mailView()}{"cut`);
    const opened = await resume();
    expect(opened.snapshot.seq).toBeGreaterThan(5);
    expect(opened.records).toBeLessThan(3);
    expect(snapshots()).toHaveLength(2);
    expect(mailView().trimEnd().split('\n')).toHaveLength(1);
    expect(mailView()).toContain('"text":"one"');
    expect(existsSync(join(folder, 'views/tasks.json'))).toBe(true);
  });

  it.each(['cut', 'flipped', 'of another run', 'ahead of the journal'] as const)(
    'S8, J15: with a snapshot that is %s the whole journal is folded, and nobody is told',
    async (how) => {
      const path = join(folder, 'snapshots', snapshots()[0] ?? '');
      const bytes = readFileSync(path);
      if (how === 'cut') writeFileSync(path, bytes.subarray(0, bytes.length / 2));
      if (how === 'flipped') {
        bytes[300] = (bytes[300] ?? 0) ^ 1;
        writeFileSync(path, bytes);
      }
      if (how === 'of another run') {
        writeFileSync(path, bytes.toString('latin1').replaceAll('r1', 'r2'), 'latin1');
      }
      if (how === 'ahead of the journal') {
        const journal = join(folder, 'journal/000000000001.jsonl');
        const lines = readFileSync(journal, 'utf8').split('\n');
        writeFileSync(journal, `${lines.slice(0, -4).join('\n')}\n`);
      }
      const opened = await resume();
      expect(opened.snapshot.seq).toBe(0);
      expect(opened.snapshot.refused).toHaveLength(1);
      expect(opened.records).toBeGreaterThan(5);
      expect(mailView()).toContain('"text":"one"');
    },
  );

  it('S8: without its views it is folded as a whole, which makes them anew', async () => {
    rmSync(join(folder, 'views'), { recursive: true });
    const opened = await resume();
    expect(opened.snapshot.refused).toMatchObject([{ reason: 'its state was refused' }]);
    expect(mailView()).toContain('"text":"one"');
  });
});

/** Damage below the watermark of a run's journal: named when the run is taken up again, never passed over in silence. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { StoredRunRecord } from '../../src/protocol/index.ts';
import { type Inline, inlineSupervisor } from '../support/inline-supervisor.ts';
import { makeRepo, type TempRepo } from '../support/repo.ts';
import { runFile, task, team } from '../support/team.ts';

const repos: TempRepo[] = [];
afterEach(() => {
  for (const repo of repos.splice(0)) repo.dispose();
});

/** A run of two tasks that was stopped while the second one ran. */
async function stoppedRun(): Promise<{ repo: TempRepo; journal: string }> {
  const repo = makeRepo({ files: { 'a.txt': 'one\n' } });
  repos.push(repo);
  const inline = await inlineSupervisor(repo);
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
  await inline.supervisor.stop({ run: 'r1', now: true, by: 'the test' });
  await inline.supervisor.close();
  repo.write('r1/go', '', repo.trees);
  return { repo, journal: join(inline.directory, 'runs/r1/journal/000000000001.jsonl') };
}

function started(inline: Inline, name: string): Promise<void> {
  return new Promise((resolve) => {
    inline.supervisor.onRecord((_run, record: StoredRunRecord) => {
      const procs = record.procs ?? [];
      if (procs.some((one) => one.type === 'proc.started' && one.task === name)) resolve();
    });
  });
}

/** Flips one byte in the middle of the first line that `find` picks. */
function flip(journal: string, find: (line: string) => boolean): number {
  const lines = readFileSync(journal, 'utf8').split('\n');
  const at = lines.findIndex(find);
  const line = lines[at] ?? '';
  const middle = Math.floor(line.length / 2);
  const other = line[middle] === 'x' ? 'y' : 'x';
  lines[at] = `${line.slice(0, middle)}${other}${line.slice(middle + 1)}`;
  writeFileSync(journal, lines.join('\n'));
  return at + 1;
}

describe('a damaged journal', () => {
  it('J6: a lost record that the rest can do without is named in mail to the user, and the run goes on', async () => {
    const { repo, journal } = await stoppedRun();
    const line = flip(
      journal,
      (text) => text.includes('"proc.ended"') && !text.includes('"tasks"'),
    );
    const next = await inlineSupervisor(repo);
    await next.supervisor.resumeRun('r1');
    expect((await next.supervisor.finished('r1')).state).toBe('done');
    await next.supervisor.close();
    const mail = next.records.flatMap((record) => record.mail ?? []);
    const told = mail.find((one) => one.to === 'user' && one.body.text.includes('damaged'));
    expect(told?.body.text).toContain(`000000000001.jsonl:${line}`);
  });

  it('S8: a run with a snapshot goes on past damage before it, which is named all the same', async () => {
    const { repo, journal } = await stoppedRun();
    const line = flip(journal, (text) => text.includes('"task.finished"'));
    const next = await inlineSupervisor(repo);
    await next.supervisor.resumeRun('r1');
    expect((await next.supervisor.finished('r1')).state).toBe('done');
    await next.supervisor.close();
    const told = next.records.flatMap((record) => record.mail ?? []).map((one) => one.body.text);
    expect(told.join()).toContain(`000000000001.jsonl:${line}`);
  });

  it('J6: acknowledged records that are gone from the very end are named in mail to the user, not called a torn tail', async () => {
    const { repo, journal } = await stoppedRun();
    const lines = readFileSync(journal, 'utf8').split('\n');
    const kept = lines.findLastIndex((line) => line.includes('"proc.started"')) + 1;
    writeFileSync(journal, `${lines.slice(0, kept).join('\n')}\n${'\0'.repeat(300)}`);
    const next = await inlineSupervisor(repo);
    await next.supervisor.resumeRun('r1');
    expect((await next.supervisor.finished('r1')).state).toBe('done');
    await next.supervisor.close();
    const told = next.records.flatMap((record) => record.mail ?? []).map((one) => one.body.text);
    expect(told.join()).toContain(`records ${kept + 1} to `);
    expect(told.join()).toContain('damaged bytes were set aside as torn-');
    expect(told.join()).not.toContain('nothing in it had been promised');
  });

  it('J6: without a snapshot, where the rest does not fit together any more, the resume says which records are lost, and changes nothing', async () => {
    const { repo, journal } = await stoppedRun();
    flip(journal, (text) => text.includes('"task.finished"'));
    rmSync(join(journal, '../../snapshots'), { recursive: true });
    const before = readFileSync(journal, 'utf8');
    const next = await inlineSupervisor(repo);
    await expect(next.supervisor.resumeRun('r1')).rejects.toMatchObject({
      code: 'supervisor/journal-damaged',
      exit: 75,
    });
    await next.supervisor.close();
    expect(readFileSync(journal, 'utf8').startsWith(before.slice(0, before.length - 1))).toBe(true);
  });
});

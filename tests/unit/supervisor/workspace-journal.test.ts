import { expect, test } from 'vitest';
import { readJournal } from '../../../src/journal/index.ts';
import { openWorkspaceJournal } from '../../../src/supervisor/workspace-journal.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';

const directory = '/troupe/workspace/journal';

test('of the workspace journal the newest word on each run and of the supervisor is kept, and what is unknown', async () => {
  const files = new MemoryFiles();
  const deps = { files, clock: new VirtualClock(), random: new SeededRandom(1) };
  const open = () => openWorkspaceJournal(deps, { directory, slackBytes: 0 });
  for (let term = 1; term <= 20; term += 1) {
    const journal = await open();
    journal.append({ k: 'sup', at: `t${term}`, what: 'supervisor.started', pid: term });
    journal.append({
      k: 'run',
      at: `t${term}`,
      what: 'run.started',
      run: `r${term % 2}`,
      trees: '',
    });
    if (term === 3) journal.append({ k: 'cron', at: 't3', job: 'nightly' });
    journal.append({ k: 'sup', at: `t${term}`, what: 'supervisor.ended', pid: term });
    await journal.close();
  }
  const last = await open();
  expect(last.report.compaction?.kept).toBe(5);
  await last.close();
  const kept: string[] = [];
  for await (const record of readJournal({ files, directory })) {
    if (record.k !== 'seg' && record.k !== 'seal') kept.push(`${record.k} ${String(record['at'])}`);
  }
  expect(kept).toEqual(['cron t3', 'run t19', 'sup t20', 'run t20', 'sup t20']);
});

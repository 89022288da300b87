/** The workspace journal: what outlives a run. Of it only what is live is kept (design §4). */

import { cronKey } from '../cron/index.ts';
import {
  type CompactOptions,
  type Journal,
  openJournal,
  type StoredRecord,
  type Worth,
} from '../journal/index.ts';
import type { Clock, Files, Random } from '../kernel/index.ts';

/** The newest start and end of a supervisor, and the newest word on each run and on each trusted content; what is unknown is kept. */
const worthOf: CompactOptions['worthOf'] = (record): Worth => {
  const { k, what, run, hash } = record;
  // In the audit chain: for good.
  if (record['audit'] !== undefined) return { kind: 'keep' };
  if (k === 'sup' && typeof what === 'string') return { kind: 'last', key: `sup ${what}` };
  if (k === 'run' && typeof run === 'string') return { kind: 'last', key: `run ${run}` };
  if (k === 'trust' && typeof hash === 'string') return { kind: 'last', key: `trust ${hash}` };
  if (k === 'grant' && typeof record['grant'] === 'string') {
    const key = `grant ${record['grant']}`;
    return what === 'grant.revoked' ? { kind: 'end', key } : { kind: 'last', key };
  }
  if (k === 'tree' && typeof record['path'] === 'string') {
    const key = `tree ${record['path']}`;
    return what === 'tree.gone' ? { kind: 'end', key } : { kind: 'last', key };
  }
  const cron = cronKey(record);
  if (cron !== null) return { kind: cron.end ? 'end' : 'last', key: cron.key };
  return { kind: 'keep' };
};

export async function openWorkspaceJournal(
  deps: { readonly files: Files; readonly clock: Clock; readonly random: Random },
  options: {
    readonly directory: string;
    readonly slackBytes: number;
    readonly onRecord?: (record: StoredRecord) => void;
  },
): Promise<Journal> {
  const { files, clock, random } = deps;
  const { directory, slackBytes, onRecord } = options;
  await files.makeDirectory(directory);
  const compact = { worthOf, slackBytes };
  return openJournal({ files, clock, random, directory, name: 'workspace', compact, onRecord });
}

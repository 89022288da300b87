/**
 * The audit of runs: a view of what their journals say of who decided what, and the check that nobody has changed that.
 * Both read beside the writer and change nothing.
 */
import type { Redactor } from '../events/index.ts';
import { readJournal } from '../journal/index.ts';
import {
  type AuditHead,
  breakOf,
  CHAIN_START,
  type ChainTip,
  macOf,
} from '../permissions/index.ts';
import type { StoredRunRecord } from '../protocol/record.ts';
import type { AuditBreak, AuditReport, AuditRow } from '../protocol/views.ts';
import { readHeads } from '../supervisor/index.ts';
import { listFolder, readText } from './files.ts';
import { recordsOf } from './mail.ts';
import { journalFolder } from './places.ts';
import type { Workspace } from './workspace.ts';

export type { AuditBreak, AuditReport, AuditRow } from '../protocol/views.ts';

export async function* auditOf(workspace: Workspace, run: string): AsyncGenerator<AuditRow> {
  const redactor = await workspace.redactor();
  for await (const record of recordsOf(workspace, run)) yield* rowsOf(record, { run, redactor });
}

const POLICY: ReadonlySet<string> = new Set([
  'run.started',
  'run.resumed',
  'policy.loaded',
  'policy.alert',
]);

function rowsOf(
  record: StoredRunRecord,
  { run, redactor }: { readonly run: string; readonly redactor: Redactor },
): AuditRow[] {
  const head = { run, seq: record.s, at: record.at };
  const place = { n: record.audit?.n ?? null, hash: record.audit?.hash ?? null };
  const row = (what: string, part: object): AuditRow => {
    const data = redactor.data(part) as Readonly<Record<string, unknown>>;
    const text = (key: string): string | null => {
      const value = data[key];
      return typeof value === 'string' ? value : null;
    };
    return {
      ...head,
      what,
      actor: text('actor') ?? record.a ?? null,
      tool: text('tool'),
      effect: text('effect') ?? text('outcome'),
      rule: text('rule'),
      by: text('by'),
      reason: text('reason'),
      data,
      ...place,
    };
  };
  return [
    ...(record.run ?? []).filter(({ type }) => POLICY.has(type)).map((one) => row(one.type, one)),
    ...(record.decisions ?? []).map((one) => row('decision', one)),
    ...(record.asks ?? []).map((one) =>
      row(one.type, one.type === 'ask.put' ? { ...one, ...one.ask, actor: one.waiter.actor } : one),
    ),
    ...(record.hooks ?? []).map((one) => row('hook', one)),
  ];
}

/** Makes the chain of every run anew and holds it against what was kept of it apart; the first break of each is named. */
export async function verifyAudit(workspace: Workspace): Promise<AuditReport> {
  const { files } = workspace.deps;
  const { state } = workspace.places;
  const key = ((await readText(files, `${state}/audit/key`)) ?? '').trim() || null;
  const heads = readHeads((await readText(files, `${state}/audit/heads.jsonl`)) ?? '');
  const runs = await listFolder(files, `${state}/runs`);
  const breaks: AuditBreak[] = headBreaks(workspace, heads, key);
  let records = 0;
  for (const run of runs) {
    const own = heads.filter((head) => head.log === run);
    const checked = await checkRun(workspace, { run, key, heads: own });
    records += checked.records;
    if (checked.found !== null) breaks.push(checked.found);
    else if (checked.records > 0 && own.length === 0) {
      breaks.push({
        run,
        seq: null,
        what: 'no head of its chain was kept: audit/heads.jsonl is gone',
      });
    }
  }
  const lost = [...new Set([...heads.map((head) => head.log), ...(await startedRuns(workspace))])];
  for (const run of lost) {
    if (!runs.includes(run)) breaks.push({ run, seq: null, what: 'the run was removed' });
  }
  return { ok: breaks.length === 0, runs: runs.length, records, heads: heads.length, breaks };
}

function headBreaks(
  { deps }: Workspace,
  heads: readonly AuditHead[],
  key: string | null,
): AuditBreak[] {
  if (key === null) {
    return heads.length === 0
      ? []
      : [{ run: '*', seq: null, what: 'audit/key is gone: digests of inputs can not be checked' }];
  }
  let before = '';
  for (const head of heads) {
    if (macOf(head, before, { sha256: deps.sha256, key }) !== head.mac) {
      return [{ run: head.log, seq: null, what: `head ${head.n} was changed, or one before it` }];
    }
    before = head.mac;
  }
  return [];
}

async function startedRuns({ deps, places }: Workspace): Promise<string[]> {
  const found: string[] = [];
  const directory = `${places.state}/workspace/journal`;
  const select = (head: { readonly k: string }): boolean => head.k === 'run';
  for await (const record of readJournal({ files: deps.files, directory, select })) {
    if (typeof record['run'] === 'string') found.push(record['run']);
  }
  return found;
}

async function checkRun(
  { deps, places }: Workspace,
  what: { readonly run: string; readonly key: string | null; readonly heads: readonly AuditHead[] },
): Promise<{ readonly records: number; readonly found: AuditBreak | null }> {
  const { run, key, heads } = what;
  const { sha256, files } = deps;
  const byNumber = new Map(heads.map((head) => [head.n, head]));
  const forks = heads.find((head) => byNumber.get(head.n)?.hash !== head.hash);
  let tip: ChainTip = CHAIN_START;
  let gap: string | null = null;
  const onGap = (): void => {
    gap ??= 'records of its journal are damaged or gone: see `troupe doctor`';
  };
  for await (const record of readJournal({ files, directory: journalFolder(places, run), onGap })) {
    const why = breakOf({ ...record }, tip, { sha256, log: run, key });
    const at = (text: string) => ({
      records: tip.n,
      found: { run, seq: record.s, what: gap === null ? text : `${text} (${gap})` },
    });
    if (why !== null) return at(why);
    const mark = (record as unknown as StoredRunRecord).audit;
    if (mark === undefined) continue;
    tip = { n: mark.n, hash: mark.hash };
    const head = byNumber.get(mark.n);
    if (head !== undefined && head.hash !== mark.hash) {
      return at('it is another one than when its head was kept');
    }
  }
  const whole = (text: string) => ({ records: tip.n, found: { run, seq: null, what: text } });
  const last = heads.at(-1);
  if (last !== undefined && last.n > tip.n) {
    return whole(`its end is cut off: ${last.n} records were decided, ${tip.n} are left`);
  }
  if (forks !== undefined)
    return whole(`its end was cut off and written anew at record ${forks.n}`);
  if (gap !== null) return whole(gap);
  return { records: tip.n, found: null };
}

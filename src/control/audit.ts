/**
 * The audit of runs: a view of what their journals say of who decided what, and the check that nobody has changed that.
 * Both read beside the writer and change nothing.
 */

import type { Redactor } from '../events/index.ts';
import { readJournal } from '../journal/index.ts';
import { counted } from '../kernel/counted.ts';
import {
  type AuditHead,
  breakOf,
  CHAIN_START,
  type ChainTip,
  macOf,
  WORKSPACE_LOG,
} from '../permissions/index.ts';
import type { AuditMark } from '../protocol/audit.ts';
import type { StoredRunRecord } from '../protocol/record.ts';
import type { AuditBreak, AuditReport, AuditRow } from '../protocol/views.ts';
import { readHeads } from '../supervisor/index.ts';
import { listFolder, readText } from './files.ts';
import { recordsOf } from './mail.ts';
import { journalFolder } from './places.ts';
import type { Workspace } from './workspace.ts';

export type { AuditBreak, AuditReport, AuditRow } from '../protocol/views.ts';

/**
 * Of a run, with the words on trust and on grants that hold in every run, by time. `within`: only those that were said
 * while it went on. Without a run: of the repository alone.
 */
export async function* auditOf(
  workspace: Workspace,
  run: string | null,
  { within = false }: { readonly within?: boolean } = {},
): AsyncGenerator<AuditRow> {
  const redactor = await workspace.redactor();
  const words = (await wordsOf(workspace)).map((record) => wordRow(record, redactor));
  let last = '';
  let sandbox: number | null = null;
  if (run !== null) {
    for await (const record of recordsOf(workspace, run)) {
      if (last === '' && within) while ((words[0]?.at ?? '~') < record.at) words.shift();
      last = record.at;
      while ((words[0]?.at ?? '~') < record.at) yield words.shift() as AuditRow;
      for (const change of record.run ?? []) {
        if (change.type === 'run.started' || change.type === 'run.resumed') {
          sandbox = change.sandbox ?? 0;
        }
      }
      yield* rowsOf(record, { run, redactor, sandbox });
    }
  }
  if (run === null || !within) yield* words;
}

type Word = Readonly<Record<string, unknown>> & { readonly s: number; readonly k: string };

async function wordsOf({ deps, places }: Workspace): Promise<Word[]> {
  const found: Word[] = [];
  const directory = `${places.state}/workspace/journal`;
  if ((await deps.files.stat(directory)) === null) return found;
  const select = (head: { readonly k: string }): boolean =>
    head.k === 'trust' || head.k === 'grant';
  const onGap = (): void => undefined;
  for await (const record of readJournal({ files: deps.files, directory, select, onGap })) {
    found.push(record);
  }
  return found;
}

function wordRow(record: Word, redactor: Redactor): AuditRow {
  const { s, k, c: _c, d: _d, audit, ...rest } = record;
  const mark = audit as AuditMark | undefined;
  const given =
    rest['what'] === 'grant.given' || k === 'trust'
      ? (rest['body'] as object | undefined)
      : { ...(rest['body'] as object | undefined), by: null };
  // When, and by whom, is what the record says: the grant in it says when and by whom it was given.
  const body = redactor.data({ ...given, ...rest });
  const text = (key: string): string | null => textIn(body, key);
  const isGrant = k === 'grant';
  return {
    run: null,
    seq: s,
    at: text('at') ?? '',
    ...NOTHING,
    what: isGrant ? (text('what') ?? k) : `trust.${text('what') ?? ''}`,
    id: isGrant ? text('grant') : text('hash'),
    rule: isGrant ? text('pattern') : text('path'),
    by: text('by'),
    data: body,
    n: mark?.n ?? null,
    hash: mark?.hash ?? null,
  };
}

const NOTHING = {
  actor: null,
  tool: null,
  effect: null,
  layer: null,
  sandbox: null,
  reason: null,
} as const;

function textIn(data: Readonly<Record<string, unknown>>, key: string): string | null {
  const value = data[key];
  return typeof value === 'string' ? value : null;
}

const POLICY: ReadonlySet<string> = new Set([
  'run.started',
  'run.resumed',
  'policy.loaded',
  'policy.alert',
]);

function rowsOf(
  record: StoredRunRecord,
  of: { readonly run: string; readonly redactor: Redactor; readonly sandbox: number | null },
): AuditRow[] {
  const { run, redactor, sandbox } = of;
  const head = { run, seq: record.s, at: record.at };
  const place = { n: record.audit?.n ?? null, hash: record.audit?.hash ?? null };
  const row = (what: string, part: object): AuditRow => {
    const data = redactor.data(part) as Readonly<Record<string, unknown>>;
    const text = (key: string): string | null => textIn(data, key);
    const grant = data['grant'] as Readonly<Record<string, unknown>> | undefined;
    return {
      ...head,
      what,
      actor: text('actor') ?? record.a ?? null,
      tool: text('tool'),
      effect: text('effect') ?? text('outcome'),
      rule: text('rule'),
      layer: text('layer'),
      id: text('id') ?? (grant === undefined ? text('call') : textIn(grant, 'id')),
      sandbox,
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
  const { places } = workspace;
  const { state } = places;
  const key = ((await readText(files, `${state}/audit/key`)) ?? '').trim() || null;
  const heads = readHeads((await readText(files, `${state}/audit/heads.jsonl`)) ?? '');
  const runs = await listFolder(files, `${state}/runs`);
  const breaks: AuditBreak[] = headBreaks(workspace, heads, key);
  let records = 0;
  const logs =
    (await files.stat(directoryOf(places, WORKSPACE_LOG))) === null ? [] : [WORKSPACE_LOG];
  for (const log of [...logs, ...runs]) {
    const own = heads.filter((head) => head.log === log);
    const checked = await checkLog(workspace, { log, key, heads: own });
    records += checked.records;
    if (checked.found !== null) breaks.push(checked.found);
    else if (checked.records > 0 && own.length === 0) {
      breaks.push({
        run: log,
        seq: null,
        what: 'no head of its chain was kept: audit/heads.jsonl is gone',
      });
    }
  }
  const known = new Set([...heads.map((head) => head.log), ...(await startedRuns(workspace))]);
  for (const run of known) {
    if (runs.includes(run) || logs.includes(run)) continue;
    const what = run === WORKSPACE_LOG ? 'the workspace journal is gone' : 'the run was removed';
    breaks.push({ run, seq: null, what });
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

const directoryOf = (places: Workspace['places'], log: string): string =>
  log === WORKSPACE_LOG ? `${places.state}/workspace/journal` : journalFolder(places, log);

async function checkLog(
  { deps, places }: Workspace,
  what: { readonly log: string; readonly key: string | null; readonly heads: readonly AuditHead[] },
): Promise<{ readonly records: number; readonly found: AuditBreak | null }> {
  const { log, key, heads } = what;
  const { sha256, files } = deps;
  const byNumber = new Map(heads.map((head) => [head.n, head]));
  const forks = heads.find((head) => byNumber.get(head.n)?.hash !== head.hash);
  let tip: ChainTip = CHAIN_START;
  let gap: string | null = null;
  const onGap = (): void => {
    gap ??= 'records of its journal are damaged or gone: see `troupe doctor`';
  };
  for await (const record of readJournal({ files, directory: directoryOf(places, log), onGap })) {
    const why = breakOf({ ...record }, tip, { sha256, log, key });
    const at = (text: string) => ({
      records: tip.n,
      found: { run: log, seq: record.s, what: gap === null ? text : `${text} (${gap})` },
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
  const whole = (text: string) => ({ records: tip.n, found: { run: log, seq: null, what: text } });
  const last = heads.at(-1);
  if (last !== undefined && last.n > tip.n) {
    return whole(
      `its end is cut off: ${counted(last.n, 'record')} had been written, ${tip.n} ${tip.n === 1 ? 'is' : 'are'} left`,
    );
  }
  if (forks !== undefined)
    return whole(`its end was cut off and written anew at record ${forks.n}`);
  if (gap !== null) return whole(gap);
  return { records: tip.n, found: null };
}

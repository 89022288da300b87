/** The mail of a run, read from its journal, once or as it comes. */
import { followJournal, readJournal, wholeText } from '../journal/index.ts';
import { RESERVED_NAMES } from '../kernel/ids.ts';
import {
  deadLetters,
  type MailChange,
  type MailProjection,
  projectMail,
} from '../mailbox/index.ts';
import type { StoredRunRecord } from '../protocol/record.ts';
import type { MailRow } from '../protocol/shapes.ts';
import { errors } from './errors.ts';
import { blobsOf } from './payloads.ts';
import { journalFolder } from './places.ts';
import { isRunRecord, type RunView } from './queries.ts';
import type { Workspace } from './workspace.ts';

export interface MailQuery {
  /** Only these mailboxes; empty: all. */
  readonly actors: readonly string[];
  /** First sequence number wanted. */
  readonly from: number;
}

/** Throws `control/unknown-actor`. */
export function checkActors(view: RunView, actors: readonly string[]): void {
  const known = [...actorNames(view), ...RESERVED_NAMES];
  for (const actor of actors) {
    if (!known.includes(actor)) throw errors.unknownActor(actor, actorNames(view));
  }
}

/** The team's members, and whoever joined while the run went on. */
export function actorNames(view: RunView): string[] {
  const { lead, teammates } = view.file.team;
  const members = [...(lead === null ? [] : [lead]), ...teammates].map((member) => member.name);
  const joined = [...view.state.actors.byName.keys()];
  return [...new Set<string>([...members, ...joined])];
}

/** By sequence, each whole, with its state now. `delivered` is volatile and known to the supervisor alone. */
export async function readMail(
  workspace: Workspace,
  view: RunView,
  query: MailQuery,
): Promise<MailRow[]> {
  const projection = projectMail();
  for await (const record of recordsOf(workspace, view.run)) projection.apply(record);
  return wholeRows(workspace, view.run, rowsOf(projection, query));
}

/** Mail that could not be delivered and was neither delivered again nor dropped, oldest first, with the reason. */
export async function deadMail(
  workspace: Workspace,
  view: RunView,
): Promise<(MailRow & { readonly reason: string })[]> {
  const rows = deadLetters(view.state.mail).map(({ envelope, reason }) => ({
    ...envelope,
    state: 'dead' as const,
    reason,
  }));
  return wholeRows(workspace, view.run, rows);
}

/** As they are shown (E2). Large texts are read from where the record says that they lie; what can't be read is named in their place (M8). */
async function wholeRows<R extends MailRow>(
  workspace: Workspace,
  run: string,
  rows: readonly R[],
): Promise<R[]> {
  const blobs = blobsOf(workspace, run);
  const redactor = await workspace.redactor();
  const whole: R[] = [];
  for (const row of rows) {
    const { body } = row;
    const text = await wholeText(blobs, body);
    whole.push(redactor.data({ ...row, body: { ...body, text } }));
  }
  return whole;
}

/**
 * What is there, then each envelope as it is recorded; ends with the run, or when the signal aborts. An envelope is
 * given once, with its state after the record that brought it.
 */
export async function* followMail(
  workspace: Workspace,
  view: RunView,
  query: MailQuery & { readonly signal: AbortSignal },
): AsyncGenerator<MailRow> {
  const projection = projectMail();
  const backlogEnd = view.state.lastSeq;
  let backlog = true;
  for await (const record of followRun(workspace, view.run, query.signal)) {
    const changes = projection.apply(record);
    if (backlog && record.s >= backlogEnd) {
      backlog = false;
      yield* await wholeRows(workspace, view.run, rowsOf(projection, query));
      continue;
    }
    if (backlog) continue;
    const fresh = newRows(projection, changes).filter((row) => matches(row, query));
    yield* await wholeRows(workspace, view.run, fresh);
  }
}

/** What one record brought, each as it is after the whole record: mail to who is stopped is dead in the same one. */
function newRows(projection: MailProjection, changes: readonly MailChange[]): MailRow[] {
  const fresh = changes.flatMap((change) => (change.kind === 'accepted' ? [change] : []));
  return fresh.map(({ envelope, state }) => {
    const { to, n } = envelope;
    const changed = changes.some((one) => one.kind !== 'accepted' && one.to === to && one.n === n);
    const now = changed ? projection.rows([to]).find((row) => row.n === n) : undefined;
    return now ?? { ...envelope, state };
  });
}

/** Records of a run as they come, up to and with the one that ends it. */
export async function* followRun(
  workspace: Workspace,
  run: string,
  signal: AbortSignal,
): AsyncGenerator<StoredRunRecord> {
  const { files, clock } = workspace.deps;
  const directory = journalFolder(workspace.places, run);
  for await (const record of followJournal({ files, clock, directory, signal })) {
    if (!isRunRecord(record)) continue;
    yield record;
    if (record.run?.some((change) => change.type === 'run.ended') === true) return;
  }
}

/** Records of a run as they are now. */
export async function* recordsOf(
  workspace: Workspace,
  run: string,
  from?: number,
): AsyncGenerator<StoredRunRecord> {
  const directory = journalFolder(workspace.places, run);
  for await (const record of readJournal({ files: workspace.deps.files, directory, from })) {
    if (isRunRecord(record)) yield record;
  }
}

function rowsOf(projection: MailProjection, query: MailQuery): MailRow[] {
  const names = query.actors.length === 0 ? undefined : query.actors;
  return projection.rows(names).filter((row) => matches(row, query));
}

function matches(row: MailRow, query: MailQuery): boolean {
  if (row.seq < query.from) return false;
  return query.actors.length === 0 || query.actors.includes(row.to);
}

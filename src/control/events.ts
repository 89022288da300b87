/** The events of a run, derived from its records, once or as they come. */
import { eventsOf, matchesTopic, type Redactor } from '../events/index.ts';
import { type Cursor, parseCursor, type TroupeEvent } from '../protocol/event.ts';
import type { StoredRunRecord } from '../protocol/record.ts';
import { followRun, recordsOf } from './mail.ts';
import type { Workspace } from './workspace.ts';

export interface EventQuery {
  /** Events after this one. */
  readonly from: Cursor | null;
  /** A glob over types. */
  readonly type?: string | undefined;
}

/** What there is now, in order. */
export async function* eventsOfRun(
  workspace: Workspace,
  run: string,
  query: EventQuery,
): AsyncGenerator<TroupeEvent> {
  const redactor = await workspace.redactor();
  yield* select(recordsOf(workspace, run, query.from?.seq), { run, redactor }, query);
}

/** What is there, then what comes; ends with the run or when the signal aborts. */
export async function* followEvents(
  workspace: Workspace,
  run: string,
  query: EventQuery & { readonly signal: AbortSignal },
): AsyncGenerator<TroupeEvent> {
  const redactor = await workspace.redactor();
  yield* select(followRun(workspace, run, query.signal), { run, redactor }, query);
}

async function* select(
  records: AsyncIterable<StoredRunRecord>,
  { run, redactor }: { readonly run: string; readonly redactor: Redactor },
  query: EventQuery,
): AsyncGenerator<TroupeEvent> {
  for await (const record of records) {
    for (const event of eventsOf(record, run, { redactor })) {
      if (isWanted(event, query)) yield event;
    }
  }
}

function isWanted(event: TroupeEvent, query: EventQuery): boolean {
  if (query.type !== undefined && !matchesTopic(query.type, event.type)) return false;
  if (query.from === null) return true;
  const cursor = parseCursor(event.cursor);
  return cursor !== null && isAfter(cursor, query.from);
}

function isAfter(cursor: Cursor, from: Cursor): boolean {
  return cursor.seq > from.seq || (cursor.seq === from.seq && cursor.index > from.index);
}

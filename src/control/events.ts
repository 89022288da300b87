/** The events of a run, derived from its records. */
import { type Cursor, parseCursor, type TroupeEvent } from '../protocol/event.ts';
import type { StoredRunRecord } from '../protocol/record.ts';
import { followRun, recordsOf } from './mail.ts';
import type { Workspace } from './workspace.ts';

export interface EventReader {
  take(record: StoredRunRecord): TroupeEvent[];
  live(event: {
    readonly actor: string;
    readonly type: string;
    readonly data: string;
  }): TroupeEvent;
}

export function makeEventReader(run: string): EventReader {
  let last = '0.0';
  return {
    take(record) {
      last = `${record.s}.0`;
      return [{ cursor: last, id: `evt_${last}`, at: record.at, run, type: record.k, data: {} }];
    },
    live: (event) => ({
      cursor: last,
      id: 'live',
      at: '',
      run,
      actor: event.actor,
      type: event.type,
      data: { text: event.data },
    }),
  };
}

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
  yield* select(recordsOf(workspace, run), run, query);
}

/** What is there, then what comes; ends with the run or when the signal aborts. */
export async function* followEvents(
  workspace: Workspace,
  run: string,
  query: EventQuery & { readonly signal: AbortSignal },
): AsyncGenerator<TroupeEvent> {
  yield* select(followRun(workspace, run, query.signal), run, query);
}

async function* select(
  records: AsyncIterable<StoredRunRecord>,
  run: string,
  query: EventQuery,
): AsyncGenerator<TroupeEvent> {
  const reader = makeEventReader(run);
  for await (const record of records) {
    for (const event of reader.take(record)) if (isWanted(event, query)) yield event;
  }
}

function isWanted(event: TroupeEvent, query: EventQuery): boolean {
  if (query.type !== undefined && event.type !== query.type) return false;
  if (query.from === null) return true;
  const cursor = parseCursor(event.cursor);
  return cursor !== null && isAfter(cursor, query.from);
}

export function isAfter(cursor: Cursor, from: Cursor): boolean {
  return cursor.seq > from.seq || (cursor.seq === from.seq && cursor.index > from.index);
}

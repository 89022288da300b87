/** What a run did, layer by layer, from its journal: events, and calls of models. Secrets are taken out (E2), also when raw. */
import { eventsOf, type Redactor } from '../events/index.ts';
import type { StoredRunRecord } from '../protocol/record.ts';
import { followRun, recordsOf } from './mail.ts';
import type { Workspace } from './workspace.ts';

export type TraceLayer = 'wire' | 'events' | 'model';

/** One line of `troupe trace`. */
export interface TraceRow {
  readonly layer: TraceLayer;
  readonly at: string;
  readonly run: string | null;
  readonly actor: string | null;
  readonly task: string | null;
  /** Type of the event, method of the wire, `answer` or `unanswered` of a model. */
  readonly what: string;
  /** Cursor of an event, sequence of a model's answer, number of a message on the wire. */
  readonly place: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface TraceQuery {
  readonly layers: ReadonlySet<TraceLayer>;
  readonly actor: string | undefined;
  /** Whole answers and the words round them, and not their figures alone. */
  readonly raw: boolean;
  /** Goes on with what comes, until the run ends or it aborts; null: what there is. */
  readonly follow: AbortSignal | null;
}

/** In the order of recording. The wire is known to the supervisor alone. */
export async function* traceOf(
  workspace: Workspace,
  run: string,
  query: TraceQuery,
): AsyncGenerator<TraceRow> {
  const redactor = await workspace.redactor();
  const { follow } = query;
  const records = follow === null ? recordsOf(workspace, run) : followRun(workspace, run, follow);
  for await (const record of records) {
    const rows = [
      ...(query.layers.has('events') ? ofEvents(record, run, redactor) : []),
      ...(query.layers.has('model') ? ofModels(record, run, { redactor, raw: query.raw }) : []),
    ];
    for (const row of rows) {
      if (query.actor === undefined || row.actor === query.actor) yield row;
    }
  }
}

function ofEvents(record: StoredRunRecord, run: string, redactor: Redactor): TraceRow[] {
  return eventsOf(record, run, { redactor }).map(({ at, actor, task, type, cursor, data }) => ({
    layer: 'events',
    at,
    run,
    actor: actor ?? null,
    task: task ?? null,
    what: type,
    place: cursor,
    detail: data,
  }));
}

function ofModels(
  record: StoredRunRecord,
  run: string,
  how: { readonly redactor: Redactor; readonly raw: boolean },
): TraceRow[] {
  const { at, s } = record;
  const row = (what: string, task: string | null, detail: object): TraceRow => ({
    layer: 'model',
    at,
    run,
    actor: record.a ?? null,
    task,
    what,
    place: String(s),
    detail: how.redactor.data(detail) as Readonly<Record<string, unknown>>,
  });
  const answers = (record.entries ?? []).flatMap((entry) => {
    if (entry.type !== 'answer') return [];
    const { model, stop, usage, content, request, task } = entry;
    const calls = content.flatMap((block) => (block.type === 'call' ? [block.name] : []));
    const figures = { model, stop, usage, calls, request: request?.digest ?? null };
    return [row('answer', task, how.raw ? { ...figures, content, request } : figures)];
  });
  const unanswered = (record.spend ?? []).flatMap((change) => {
    if (change.type !== 'spend.settled') return [];
    const { type: _type, task, ...cost } = change;
    return [row('unanswered', task, cost)];
  });
  return [...answers, ...unanswered];
}

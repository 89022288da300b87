/**
 * Mailboxes as people see them: fed with records in order it tells which envelopes are new and which changed their
 * state, for `troupe tail`, which reads a journal without a supervisor (and so never
 * sees `delivered`, which is volatile).
 */
import type { Envelope } from '../protocol/envelope.ts';
import type { StoredRunRecord } from '../protocol/record.ts';
import type { MailRow } from '../protocol/shapes.ts';
import type { MailChange } from './apply.ts';
import { applyMailRecord } from './apply.ts';
import { makeMailState } from './state.ts';

export interface MailProjection {
  /** What the record changed, in order. */
  apply(record: StoredRunRecord): MailChange[];
  /** The rows of these mailboxes (default all), by sequence; only what was fed so far. */
  rows(names?: readonly string[]): MailRow[];
}

export function projectMail(): MailProjection {
  const state = makeMailState();
  const rows = new Map<string, MailRow[]>();
  return {
    apply(record) {
      const changes: MailChange[] = [];
      applyMailRecord(state, record, (change) => changes.push(change));
      for (const change of changes) changeRows(rows, change);
      return changes;
    },
    rows(names) {
      const wanted = names ?? [...rows.keys()];
      const found = wanted.flatMap((name) => rows.get(name) ?? []);
      return found.toSorted((a, b) => a.seq - b.seq || a.to.localeCompare(b.to) || a.n - b.n);
    },
  };
}

function changeRows(rows: Map<string, MailRow[]>, change: MailChange): void {
  if (change.kind === 'accepted') {
    const { envelope } = change;
    const box = rows.get(envelope.to) ?? [];
    rows.set(envelope.to, box);
    box[envelope.n - 1] = { ...envelope, state: change.state };
    return;
  }
  const box = rows.get(change.to);
  const row = box?.[change.n - 1];
  if (box === undefined || row === undefined) return;
  box[change.n - 1] = withState(row, change);
}

function withState(row: MailRow, change: Exclude<MailChange, { kind: 'accepted' }>): MailRow {
  const { state: _state, reason: _reason, ...rest } = row;
  const envelope: Envelope = rest;
  switch (change.kind) {
    case 'seen':
      return { ...envelope, state: 'seen' };
    case 'retried':
      return { ...envelope, state: 'accepted' };
    case 'dead':
      return { ...envelope, state: 'dead', reason: change.reason };
    case 'dropped':
      return { ...envelope, state: 'dead', reason: `dropped: ${change.reason}` };
  }
}

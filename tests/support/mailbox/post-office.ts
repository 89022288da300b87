/** Mail records for tests: keeps the journal that it writes, so that a fold can be compared with a fold anew. */
import { asActorName, asEnvelopeId, isoTime } from '../../../src/kernel/index.ts';
import {
  applyMailRecord,
  type Directory,
  type MailLimits,
  type MailState,
  makeMailState,
  stampMail,
} from '../../../src/mailbox/index.ts';
import type { MailDraft, RunRecord, StoredRunRecord } from '../../../src/protocol/index.ts';

export const everybody: Directory = { known: ['lead', 'ada', 'bo'], live: () => 'live' };

export function draft(to: string, text: string, more: Partial<MailDraft> = {}): MailDraft {
  return { to, lane: 'normal', type: 'chat.message', body: { text }, ...more };
}

export class PostOffice {
  readonly journal: StoredRunRecord[] = [];
  state: MailState;
  nowMs: number = Date.parse('2026-01-01T00:00:00.000Z');
  readonly #limits: Partial<MailLimits>;

  constructor(limits: Partial<MailLimits> = {}) {
    this.#limits = limits;
    this.state = makeMailState(limits);
  }

  append(part: Partial<RunRecord>): StoredRunRecord {
    const s = this.journal.length + 1;
    const record: StoredRunRecord = { s, d: s - 1, k: 'step', at: isoTime(this.nowMs), ...part };
    this.journal.push(record);
    applyMailRecord(this.state, record);
    return record;
  }

  /** One record with these letters of one sender; returns it. */
  send(from: string, drafts: readonly MailDraft[], epoch = 1): StoredRunRecord {
    const sender = { name: asActorName(from), incarnation: 1, epoch };
    const mail = drafts.map((one, index) =>
      stampMail(this.state, one, sender, asEnvelopeId(`env_${this.journal.length}_${index}`)),
    );
    return this.append({ mail });
  }

  take(actor: string, ns: readonly number[]): void {
    this.append({ a: asActorName(actor), took: ns });
  }

  dead(to: string, n: number, what: 'dead' | 'retried' | 'dropped', reason = 'stopped'): void {
    const dead = [{ n, id: asEnvelopeId(`env_${n}`), what, reason }];
    this.append({ k: 'dead', to: asActorName(to), dead });
  }

  /** As after a crash: all that is volatile is gone. */
  refold(): MailState {
    const state = makeMailState(this.#limits);
    for (const record of this.journal) applyMailRecord(state, record);
    return state;
  }
}

/** What must be the same after a fold anew: all but the volatile marks. */
export function durablePart(state: MailState): unknown {
  const boxes = [...state.boxes].map(([name, { delivered: _delivered, ...box }]) => [name, box]);
  return { ...state, boxes, stamped: null };
}

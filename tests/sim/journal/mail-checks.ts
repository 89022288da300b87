/**
 * The contract of mailbox.md §3.2, line by line, over the records that a start finds and what was seen before it. Each
 * check returns the broken promise, by the number of its line, or null.
 */
import type { StoredRecord } from '../../../src/journal/index.ts';
import { SUPERVISOR, USER } from '../../../src/kernel/index.ts';
import {
  applyMailRecord,
  deadLetters,
  makeMailState,
  stateOf,
} from '../../../src/mailbox/index.ts';
import type { StoredRunRecord } from '../../../src/protocol/index.ts';
import type { RunState } from '../../../src/supervisor/state.ts';
import { modelOf } from './mail-actors.ts';
import type { Fact, FactOf } from './mail-facts.ts';

interface Boxed {
  readonly id: string;
  readonly text: string;
  readonly from: string;
  readonly s: number;
}

/** The records as the test itself reads them: no code of the product is asked. */
export interface Reading {
  readonly boxes: Map<string, Boxed[]>;
  readonly byId: Map<string, { to: string; n: number }>;
  /** `ACTOR N` of every position taken in, and by which record. */
  readonly took: Map<string, number>;
  /** Results by call, ok or not. */
  readonly results: Map<string, boolean>;
  readonly dead: Set<string>;
  /** Mailboxes of which something was said twice or out of order. */
  readonly problem: string | null;
}

export function readRecords(stored: readonly StoredRecord[]): Reading {
  const reading = {
    boxes: new Map<string, Boxed[]>(),
    byId: new Map<string, { to: string; n: number }>(),
    took: new Map<string, number>(),
    results: new Map<string, boolean>(),
    dead: new Set<string>(),
    problem: null as string | null,
  };
  const counters = new Map<string, number>();
  const incarnations = new Map<string, number>();
  const broken = (what: string): void => {
    reading.problem ??= what;
  };
  for (const one of stored) {
    const record = one as unknown as StoredRunRecord;
    for (const change of record.actors ?? []) {
      if (change.type === 'actor.started') incarnations.set(change.name, change.incarnation);
    }
    for (const mail of record.mail ?? []) {
      if (reading.byId.has(mail.id)) broken(`C2: ${mail.id} is recorded twice`);
      const key = `${mail.from} ${mail.e}`;
      if (mail.n <= (counters.get(key) ?? 0)) broken(`C5: ${key} counts ${mail.n} again`);
      counters.set(key, mail.n);
      const box = reading.boxes.get(mail.to) ?? [];
      reading.boxes.set(mail.to, box);
      box.push({ id: mail.id, text: mail.body.text, from: mail.from, s: record.s });
      reading.byId.set(mail.id, { to: mail.to, n: box.length });
    }
    if (record.a !== undefined) readStep(record, { reading, incarnations, broken });
    for (const entry of record.dead ?? []) {
      if (entry.what === 'dead') reading.dead.add(`${entry.to ?? record.to} ${entry.n}`);
    }
  }
  return reading;
}

function readStep(
  record: StoredRunRecord,
  at: {
    reading: Reading;
    incarnations: ReadonlyMap<string, number>;
    broken: (what: string) => void;
  },
): void {
  const { reading, incarnations, broken } = at;
  const actor = record.a ?? '';
  const took = record.took ?? [];
  let answered = false;
  for (const n of took) {
    const at = `${actor} ${n}`;
    if (reading.took.has(at)) broken(`C4: ${at} was taken in twice`);
    reading.took.set(at, record.s);
  }
  for (const entry of record.entries ?? []) {
    if (entry.type === 'answer') {
      answered = true;
      const incarnation = incarnations.get(actor) ?? 0;
      if (entry.model !== modelOf(incarnation) || record.i !== incarnation) {
        broken(`C4: ${actor} ${incarnation} lives, but ${entry.model} was recorded`);
      }
    }
    if (entry.type !== 'result') continue;
    if (reading.results.has(entry.call)) broken(`C4: the call ${entry.call} ended twice`);
    reading.results.set(entry.call, entry.ok);
    const sent = (record.mail ?? []).some(({ from }) => from === actor);
    // To someone who is stopped the letter is kept dead, and the call says so.
    const parked = (record.dead ?? []).length > 0;
    if (sent !== (entry.ok || parked))
      broken(`C4: the call ${entry.call} and its letter are not one record`);
  }
  if (took.length > 0 && !answered) broken(`C4: ${actor} ${took.join()} is seen without an answer`);
}

/** What holds at once after any crash. */
export function judgeStart(
  found: { records: readonly StoredRecord[]; gaps: number; state: RunState },
  facts: readonly Fact[],
): string | null {
  if (found.gaps > 0) return `C1: ${found.gaps} gaps`;
  for (const [index, { s, d }] of found.records.entries()) {
    if (s !== index + 1) return `C5: seq ${s} at position ${index + 1}`;
    if (d >= s) return `C1: record ${s} calls ${d} durable`;
  }
  const reading = readRecords(found.records);
  return reading.problem ?? judgeFacts(reading, facts) ?? judgeStates(reading, found.state);
}

function judgeFacts(reading: Reading, facts: readonly Fact[]): string | null {
  const order = new Map<string, number>();
  let failed = false;
  for (const fact of facts) {
    const broken = judgeFact(reading, fact, { order, failed });
    if (broken !== null) return broken;
    if (fact.type === 'failed') failed = true;
    if (fact.type === 'life') {
      failed = false;
      order.clear();
    }
  }
  return null;
}

function judgeFact(
  reading: Reading,
  fact: Fact,
  so: { readonly order: Map<string, number>; readonly failed: boolean },
): string | null {
  switch (fact.type) {
    case 'accepted':
    case 'dead': {
      if (so.failed) return `C7: ${fact.id} was accepted after a failed sync`;
      const place = reading.byId.get(fact.id);
      if (place === undefined) return `C1: the accepted letter ${fact.id} is lost`;
      if (place.to !== fact.to || place.n !== fact.n) return `C1: ${fact.id} is somewhere else`;
      const dead = reading.dead.has(`${fact.to} ${fact.n}`);
      return fact.type === 'dead' && !dead ? `C6: ${fact.id} is no dead letter` : null;
    }
    case 'duplicate':
      return reading.byId.has(fact.id) ? null : `C2: ${fact.id} was called a duplicate`;
    case 'refused': {
      const refused = fact.code === 'mailbox/unknown';
      return refused && reading.byId.has(fact.id) ? `C6: ${fact.id} was refused and sent` : null;
    }
    case 'given': {
      if (!reading.byId.has(fact.id)) return `C3: ${fact.id} was given before it was durable`;
      if (!fact.whole) return `M8: ${fact.id} was given without its end`;
      const lane = `${fact.to} ${fact.incarnation} ${fact.from} ${fact.lane}`;
      if (fact.n <= (so.order.get(lane) ?? 0)) return `C5: ${fact.id} was given out of order`;
      so.order.set(lane, fact.n);
      return null;
    }
    case 'committed':
      return judgeCommitted(reading, fact);
    case 'acted':
      return fact.ok && reading.results.get(fact.call) !== true
        ? `C4: the call ${fact.call} was answered and is lost`
        : null;
    case 'retried':
      return `C7: ${fact.path} was touched after its sync had failed`;
    case 'offered':
    case 'late':
    case 'failed':
    case 'life':
      return null;
  }
}

function judgeCommitted(reading: Reading, fact: FactOf<'committed'>): string | null {
  for (const n of fact.took) {
    const seq = reading.took.get(`${fact.actor} ${n}`);
    if (seq !== fact.seq) return `C4: the step of ${fact.actor} over ${n} is lost`;
  }
  return null;
}

/** The product's states are those of the records. */
function judgeStates(reading: Reading, state: RunState): string | null {
  const dead = new Set<string>(deadLetters(state.mail).map(({ envelope }) => envelope.id));
  for (const [to, box] of reading.boxes) {
    const last = state.mail.boxes.get(to)?.last ?? 0;
    if (last !== box.length) return `C5: the mailbox of ${to} ends at ${last}, not ${box.length}`;
    for (const [index, { id }] of box.entries()) {
      const at = `${to} ${index + 1}`;
      const atOnce = to === USER || to === SUPERVISOR;
      const wanted = reading.dead.has(at)
        ? 'dead'
        : reading.took.has(at) || atOnce
          ? 'seen'
          : 'accepted';
      const shown = stateOf(state.mail, to, index + 1);
      if (shown !== wanted) return `C4: ${at} is ${shown}, the records say ${wanted}`;
      if (wanted === 'dead' && !dead.has(id)) return `C6: the dead letter ${id} is not shown`;
    }
  }
  return null;
}

/** What holds when a start had all the time it wanted, and every letter was offered once more. */
export function judgeEnd(
  records: readonly StoredRecord[],
  offered: ReadonlySet<string>,
): string | null {
  const reading = readRecords(records);
  if (reading.problem !== null) return reading.problem;
  for (const [to, box] of reading.boxes) {
    if (to === USER || to === SUPERVISOR) continue;
    for (const [index, { id, text }] of box.entries()) {
      const at = `${to} ${index + 1}`;
      if (reading.dead.has(at)) continue;
      if (!reading.took.has(at)) return `C4: ${id} to ${to} was never taken in`;
      const [verb, next] = text.split(' ');
      if (verb !== 'forward') continue;
      if (!reading.results.has(`${id}>${next}`)) return `C4: ${id} was never forwarded`;
    }
  }
  for (const id of offered) {
    if (!reading.byId.has(id)) return `C2: ${id} was offered again and is not there`;
  }
  return null;
}

/** C2: a letter of the same sender, epoch and counter has no second effect, however late it comes. */
export function judgeRepetition(stored: readonly StoredRecord[]): string | null {
  const state = makeMailState();
  const records = stored.map((record) => record as unknown as StoredRunRecord);
  for (const record of records) applyMailRecord(state, record);
  const sizes = (): string =>
    JSON.stringify([...state.boxes].map(([name, box]) => [name, box.last]));
  const before = sizes();
  for (const { s, d, at, mail } of records) {
    if (mail === undefined) continue;
    applyMailRecord(state, { s, d, at, k: 'msg', mail });
    if (sizes() !== before) return `C2: ${mail.map(({ id }) => id).join()} had a second effect`;
  }
  return null;
}

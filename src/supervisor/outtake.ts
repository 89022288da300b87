/**
 * The step after a decision: what is too large in its record goes by reference (M8). Heads stand in the record, the whole
 * lies in `blobs/`, durable before the record is (J21). Whatever makes a record need not think of its size.
 *
 * Invariants
 * - S10 Nothing that steers the run is cut: commands, rules and offers stay whole in the record; the texts of tasks are
 *   whole in the state, live and on replay, since letters are made of them.
 */
import {
  type Decision,
  type Mail,
  type PayloadRef,
  payloadHead,
  type RunRecord,
  type SessionEntry,
  type TextRef,
} from '../protocol/index.ts';
import { inputByReference, isLarge } from '../sessions/index.ts';

export interface Outgoing {
  readonly record: RunRecord;
  /** By name. */
  readonly payloads: ReadonlyMap<string, Uint8Array>;
}

/** Sections whose texts are for people to read: heads will do in the state. */
const TOLD = ['mail', 'actors', 'run', 'procs', 'team', 'asks', 'dead', 'tasks'] as const;
/** What is used as it stands, by key. */
const USED: ReadonlySet<string> = new Set([
  'run',
  'verify',
  'offer',
  'grant',
  'profile',
  'command',
]);

const encoder = new TextEncoder();

/** The record as it is to be written; the same one when nothing in it is large. */
export function byReference(record: RunRecord, hash: (text: string) => string): Outgoing {
  const payloads = new Map<string, Uint8Array>();
  const store = (text: string): PayloadRef => {
    const bytes = encoder.encode(text);
    const blob = hash(text);
    payloads.set(blob, bytes);
    return { blob, bytes: bytes.length };
  };
  const texts: TextRef[] = [];
  const out: { -readonly [K in keyof RunRecord]: RunRecord[K] } = { ...record };
  if (record.mail !== undefined) out.mail = record.mail.map((mail) => shortMail(mail, store));
  if (record.entries !== undefined) {
    out.entries = record.entries.map((entry) => shortEntry(entry, store));
  }
  if (record.decisions !== undefined) {
    out.decisions = record.decisions.map((decision) => shortDecision(decision, store));
  }
  for (const section of TOLD) {
    const given = out[section];
    if (given === undefined) continue;
    const cut = shortTexts(given, section, (text, at) => {
      const ref = store(text);
      texts.push({ at, ...ref });
      return payloadHead(text, ref.bytes);
    });
    if (cut !== given) Object.assign(out, { [section]: cut });
  }
  if (payloads.size === 0) return { record, payloads };
  return { record: texts.length === 0 ? out : { ...out, texts }, payloads };
}

/** One of its payloads as text. */
export function textOf({ payloads }: Outgoing, { blob }: PayloadRef): string | null {
  const bytes = payloads.get(blob);
  return bytes === undefined ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

type Store = (text: string) => PayloadRef;

function shortMail(mail: Mail, store: Store): Mail {
  const body = shortText(mail.body, store);
  return body === mail.body ? mail : { ...mail, body };
}

function shortEntry(entry: SessionEntry, store: Store): SessionEntry {
  if (entry.type === 'result') return shortText(entry, store);
  if (entry.type !== 'mail' || !entry.items.some(({ text }) => isLarge(text))) return entry;
  return { ...entry, items: entry.items.map((item) => shortText(item, store)) };
}

function shortText<T extends { readonly text: string } & Partial<PayloadRef>>(
  part: T,
  store: Store,
): T {
  if (part.blob !== undefined || !isLarge(part.text)) return part;
  const ref = store(part.text);
  return { ...part, text: payloadHead(part.text, ref.bytes), ...ref };
}

function shortDecision(decision: Decision, store: Store): Decision {
  if (decision.blob !== undefined || weight(decision.input) < 1) return decision;
  const json = JSON.stringify(decision.input) ?? '';
  if (!isLarge(json)) return decision;
  const ref = store(json);
  return { ...decision, input: inputByReference(decision.input, ref.bytes), ...ref };
}

/** 1 and more: what is in it may be large. Spares small inputs the way through JSON. */
function weight(value: unknown): number {
  if (typeof value === 'string') return value.length / SMALL;
  if (typeof value !== 'object' || value === null) return 1 / SMALL;
  let sum = 0;
  for (const [key, part] of Object.entries(value)) sum += key.length / SMALL + weight(part);
  return sum;
}

const SMALL = 8 * 1024;

/** The same value when nothing in it is large. */
function shortTexts(
  value: unknown,
  at: string,
  cut: (text: string, at: string) => string,
): unknown {
  if (typeof value === 'string') return isLarge(value) ? cut(value, at) : value;
  if (typeof value !== 'object' || value === null) return value;
  let changed = false;
  const parts = Object.entries(value).map(([key, part]) => {
    const short = USED.has(key) ? part : shortTexts(part, `${at}.${key}`, cut);
    if (short !== part) changed = true;
    return [key, short] as const;
  });
  if (!changed) return value;
  return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

/**
 * One record, one line: how it is written, and how its first fields are read without parsing the rest.
 *
 *   {"s":1042,"d":1040,"k":"msg","to":"dev-3",…body…,"c":"9f3a77c1"}\n
 *
 * Invariants:
 *   J1  `s` is dense from 1 over all segments; `d` is the highest seq known durable when the batch was formed.
 *   J2  `c` is the crc32 of all bytes before `,"c":"`, seeded with the crc of the record before.
 *   J3  `s d k` and the address (`to` or `a`) come first, `c` last and of fixed width: neither needs JSON.parse.
 */
import { invariant } from '../kernel/index.ts';

/** What a caller appends. `to` or `a`, when a string, is the record's address. `s`, `d`, `l` and `c` are the journal's. */
export interface RecordBody {
  readonly k: string;
  readonly [field: string]: unknown;
}

/**
 * What a record is safe from once it is acknowledged: `durable` a power cut · `os` the end of this process (written, not
 * synced: for what only watchers want) · `memory` nothing (never written, given to live subscribers only).
 */
export type Level = 'durable' | 'os' | 'memory';

export interface StoredRecord extends RecordBody {
  readonly s: number;
  readonly d: number;
}

export interface RecordHead {
  readonly s: number;
  readonly d: number;
  readonly k: string;
  readonly address: string | null;
}

/** Where a verified record lies; the bytes are valid until the next read. */
export interface RecordView {
  readonly s: number;
  readonly d: number;
  readonly bytes: Uint8Array;
  readonly start: number;
  /** Before `,"c":"`. */
  readonly end: number;
}

/** `,"c":"xxxxxxxx"}` */
export const TRAILER_BYTES = 16;
/** Most that the journal adds around a body: `{"s":…,"d":…,` and the trailer with its line feed. */
export const FRAME_BYTES_MAX: number = 44 + TRAILER_BYTES + 1;

/** Kind of a record that compaction carried forward. */
const FORWARDED = 'fwd';
const OWN_FIELDS = new Set(['s', 'd', 'l', 'c']);
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The body as `"k":"…",…` without braces, in the order of J3, with its level when that is not `durable`. Throws when it
 * uses one of the journal's own fields.
 */
export function encodeBody(body: RecordBody, level: Level = 'durable'): string {
  const text = orderedBody(body);
  return level === 'durable' ? text : `${text},"l":"${level}"`;
}

function orderedBody(body: RecordBody): string {
  let ordered = true;
  let index = 0;
  for (const key of Object.keys(body)) {
    invariant(!OWN_FIELDS.has(key), `J3: the field "${key}" of a record belongs to the journal`);
    if (key === 'k' && index !== 0) ordered = false;
    if ((key === 'to' || key === 'a') && index !== 1) ordered = false;
    index += 1;
  }
  if (ordered) return JSON.stringify(body).slice(1, -1);
  const { k, to, a, ...others } = body;
  const rest: Record<string, unknown> = { ...others };
  const first: Record<string, unknown> = { k };
  if (typeof to === 'string') first['to'] = to;
  if (typeof a === 'string') first['a'] = a;
  if (typeof to !== 'string' && to !== undefined) rest['to'] = to;
  if (typeof a !== 'string' && a !== undefined) rest['a'] = a;
  // Two texts, since a numeric key would jump ahead inside one object.
  const tail = JSON.stringify(rest).slice(1, -1);
  const lead = JSON.stringify(first).slice(1, -1);
  return tail === '' ? lead : `${lead},${tail}`;
}

/** Everything before `,"c":"`. */
export function frame(numbers: { seq: number; durable: number }, bodyText: string): string {
  return `{"s":${numbers.seq},"d":${numbers.durable},${bodyText}`;
}

/** `,"c":"xxxxxxxx"}\n` at `at`. */
export function writeTrailer(bytes: Uint8Array, at: number, crc: number): void {
  for (let index = 0; index < TRAILER_START.length; index += 1) {
    bytes[at + index] = TRAILER_START[index] ?? 0;
  }
  for (let digit = 0; digit < 8; digit += 1) {
    const nibble = (crc >>> (28 - 4 * digit)) & 15;
    bytes[at + 6 + digit] = nibble < 10 ? 48 + nibble : 87 + nibble;
  }
  bytes[at + 14] = QUOTE;
  bytes[at + 15] = BRACE_CLOSE;
  bytes[at + 16] = LF;
}

export const LF = 10;
export const CR = 13;
const QUOTE = 34;
const BACKSLASH = 92;
const BRACE_CLOSE = 125;
const TRAILER_START = ascii(',"c":"');
const PREFIX_S = ascii('{"s":');
const PREFIX_D = ascii(',"d":');
const PREFIX_K = ascii(',"k":"');
const PREFIX_TO = ascii(',"to":"');
const PREFIX_A = ascii(',"a":"');

/** The numbers at the start of a record and where its kind begins; null when the bytes are no record. */
export interface Prefix {
  readonly s: number;
  readonly d: number;
  readonly kindAt: number;
}

export function readPrefix(bytes: Uint8Array, start: number, end: number): Prefix | null {
  if (!matches(bytes, start, PREFIX_S)) return null;
  let at = start + PREFIX_S.length;
  const seqEnd = digitsEnd(bytes, at, end);
  if (seqEnd === at || !matches(bytes, seqEnd, PREFIX_D)) return null;
  const s = readNumber(bytes, at, seqEnd);
  at = seqEnd + PREFIX_D.length;
  const durableEnd = digitsEnd(bytes, at, end);
  if (durableEnd === at || !matches(bytes, durableEnd, PREFIX_K)) return null;
  const d = readNumber(bytes, at, durableEnd);
  const kindAt = durableEnd + PREFIX_K.length;
  return kindAt < end ? { s, d, kindAt } : null;
}

/** The crc in the trailer that ends at `end`, or -1. */
export function readTrailer(bytes: Uint8Array, end: number): number {
  const at = end - TRAILER_BYTES;
  if (at < 0 || bytes[end - 1] !== BRACE_CLOSE || bytes[end - 2] !== QUOTE) return -1;
  if (!matches(bytes, at, TRAILER_START)) return -1;
  let crc = 0;
  for (let index = at + 6; index < at + 14; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte >= 48 && byte <= 57) crc = crc * 16 + (byte - 48);
    else if (byte >= 97 && byte <= 102) crc = crc * 16 + (byte - 87);
    else return -1;
  }
  return crc;
}

/** The first `{"s":` in `[from, to)`, or -1. */
export function findStart(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; ; at += 1) {
    at = bytes.indexOf(123, at);
    if (at < 0 || at >= to) return -1;
    if (matches(bytes, at, PREFIX_S)) return at;
  }
}

/** The end of the first trailer that ends after `from` and not after `to`, or -1. */
export function findTrailerEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; ; at += 1) {
    at = bytes.indexOf(BRACE_CLOSE, at);
    if (at < 0 || at >= to) return -1;
    if (at + 1 - TRAILER_BYTES > from && readTrailer(bytes, at + 1) >= 0) return at + 1;
  }
}

/** Kind and address by position (J3). */
export function readHead(view: RecordView): RecordHead {
  const { s, d, bytes, start, end } = view;
  const prefix = readPrefix(bytes, start, end);
  invariant(prefix !== null, 'J3: a verified record has its prefix');
  const kind = readPlainString(bytes, prefix.kindAt, end);
  if (kind === null || kind === FORWARDED) return parsedHead(view);
  const after = prefix.kindAt + kind.length + 1;
  let addressAt = -1;
  if (matches(bytes, after, PREFIX_TO)) addressAt = after + PREFIX_TO.length;
  else if (matches(bytes, after, PREFIX_A)) addressAt = after + PREFIX_A.length;
  if (addressAt < 0) return { s, d, k: kind, address: null };
  const address = readPlainString(bytes, addressAt, end);
  return address === null ? parsedHead(view) : { s, d, k: kind, address };
}

/** The whole record, without its crc; one that was carried forward as it was. Throws a SyntaxError when the body is no JSON although its crc fits. */
export function readRecord(view: RecordView): StoredRecord {
  const text = decoder.decode(view.bytes.subarray(view.start, view.end));
  const value: unknown = JSON.parse(`${text}}`);
  if (!isStoredRecord(value)) throw new SyntaxError('not a journal record');
  return value.k === FORWARDED ? unwrapForwarded(value) : value;
}

/** The body with which a record is carried forward: as it was, with the seq it had. */
export function forwardedBody(record: StoredRecord): RecordBody {
  const { s, d: _d, ...was } = record;
  return { k: FORWARDED, of: s, was };
}

function unwrapForwarded(value: StoredRecord): StoredRecord {
  const { of, was } = value;
  const record = { s: of, d: value.d, ...(typeof was === 'object' ? was : {}) };
  if (!isStoredRecord(record)) throw new SyntaxError('not a record carried forward');
  return record;
}

/** Null for a body that is no JSON although its crc fits: no writer of ours made it. */
export function tryReadRecord(view: RecordView): StoredRecord | null {
  try {
    return readRecord(view);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

function isStoredRecord(value: unknown): value is StoredRecord {
  return (
    typeof value === 'object' &&
    value !== null &&
    's' in value &&
    typeof value.s === 'number' &&
    'd' in value &&
    typeof value.d === 'number' &&
    'k' in value &&
    typeof value.k === 'string'
  );
}

function parsedHead(view: RecordView): RecordHead {
  const record = tryReadRecord(view);
  if (record === null) return { s: view.s, d: view.d, k: '', address: null };
  const to = record['to'];
  const a = record['a'];
  const address = typeof to === 'string' ? to : typeof a === 'string' ? a : null;
  return { s: record.s, d: record.d, k: record.k, address };
}

/** Kinds and addresses that were read before: there are few, and to make them anew each time is what a scan would wait for. */
const known: Map<number, string> = new Map();
const KNOWN_MAX = 4096;

/** ASCII without escapes up to the closing quote; null when it has others. */
function readPlainString(bytes: Uint8Array, start: number, end: number): string | null {
  let hash = 0;
  let at = start;
  for (; ; at += 1) {
    const byte = at < end ? (bytes[at] ?? 0) : 0;
    if (byte === QUOTE) break;
    if (byte === BACKSLASH || byte > 126 || byte < 32) return null;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  const before = known.get(hash);
  if (before !== undefined && isText(before, bytes, { start, end: at })) return before;
  let text = '';
  for (let index = start; index < at; index += 1) text += String.fromCharCode(bytes[index] ?? 0);
  if (known.size < KNOWN_MAX) known.set(hash, text);
  return text;
}

function isText(text: string, bytes: Uint8Array, range: { start: number; end: number }): boolean {
  const { start, end } = range;
  if (text.length !== end - start) return false;
  for (let index = start; index < end; index += 1) {
    if (text.charCodeAt(index - start) !== bytes[index]) return false;
  }
  return true;
}

function matches(bytes: Uint8Array, at: number, pattern: Uint8Array): boolean {
  for (let index = 0; index < pattern.length; index += 1) {
    if (bytes[at + index] !== pattern[index]) return false;
  }
  return true;
}

/** At most 15 digits, so that every number is exact. */
function digitsEnd(bytes: Uint8Array, from: number, end: number): number {
  const most = Math.min(end, from + 15);
  let at = from;
  while (at < most) {
    const byte = bytes[at] ?? 0;
    if (byte < 48 || byte > 57) break;
    at += 1;
  }
  return at;
}

function readNumber(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) value = value * 10 + ((bytes[at] ?? 48) - 48);
  return value;
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

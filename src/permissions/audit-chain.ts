/**
 * The audit chain of a log: each record that says who decided what carries the hash of the one before it and its own, over
 * everything in it. A call's input is in it as a keyed digest too, so that equal inputs are told without their value.
 * Pure: what hashes is passed in. (Permissions §2.15.)
 *
 * Invariants
 * - P50 A record of a decision, an ask, an answer, a grant, a hook, a process or the run itself that is changed, dropped, put in
 *   or moved breaks the chain there. A cut tail does not: heads, kept apart, tell it.
 */
import type { AuditMark } from '../protocol/audit.ts';

export type Sha256 = (bytes: Uint8Array) => string;

type Body = Readonly<Record<string, unknown>>;

export interface ChainTip {
  readonly n: number;
  readonly hash: string;
}

export const CHAIN_START: ChainTip = { n: 0, hash: '0'.repeat(64) };

/** What only the journal says of a record, and the mark itself. */
const APART: ReadonlySet<string> = new Set(['s', 'd', 'c', 'l', 'audit']);

/** Sections by which a record belongs to the chain. */
const SECTIONS = ['decisions', 'asks', 'hooks', 'procs', 'run'] as const;

const encoder = new TextEncoder();

/** Name of the workspace journal's chain; no run can have it. */
export const WORKSPACE_LOG = '@workspace';

export function isAudited(body: Body): boolean {
  if (body['k'] === 'trust' || body['k'] === 'grant') return true;
  // The workspace journal's own note that a run began.
  if (typeof body['run'] === 'string') return false;
  return SECTIONS.some((section) => body[section] !== undefined);
}

/** The mark of the next record of the log. */
export function markFor(body: Body, tip: ChainTip, by: ChainKeys): AuditMark {
  const n = tip.n + 1;
  const inputs = inputsOf(body).map((input) => hmac(by, canonical(input)));
  return { n, prev: tip.hash, hash: hashOf(body, { n, prev: tip.hash, inputs }, by), inputs };
}

export interface ChainKeys {
  readonly sha256: Sha256;
  /** Name of the log. */
  readonly log: string;
  /** Hex, kept apart from the log; null: it is gone, so digests of inputs can't be checked. */
  readonly key: string | null;
}

/** Why a record does not follow `tip`; null: it does. */
export function breakOf(body: Body, tip: ChainTip, by: ChainKeys): string | null {
  const mark = body['audit'] as AuditMark | undefined;
  if (mark === undefined) {
    return tip.n > 0 && isAudited(body) ? 'it is not part of the chain' : null;
  }
  if (mark.n !== tip.n + 1) return `it is number ${mark.n} of the chain, and ${tip.n + 1} was due`;
  if (mark.prev !== tip.hash) return 'it does not follow the record before it';
  const inputs = inputsOf(body).map((input) => hmac(by, canonical(input)));
  const told = JSON.stringify(mark.inputs);
  if (by.key !== null && JSON.stringify(inputs) !== told) return 'an input is not the one recorded';
  return hashOf(body, mark, by) === mark.hash ? null : 'its content is not the one recorded';
}

function hashOf(body: Body, mark: Omit<AuditMark, 'hash'>, { sha256, log }: ChainKeys): string {
  const own = Object.fromEntries(Object.entries(body).filter(([key]) => !APART.has(key)));
  const { n, prev, inputs } = mark;
  return sha256(encoder.encode(canonical([log, n, prev, inputs, own])));
}

/** Of decisions, asks and hooks, in order. */
function inputsOf(body: Body): unknown[] {
  const found: unknown[] = [];
  const list = (section: string): readonly Record<string, unknown>[] =>
    (body[section] ?? []) as readonly Record<string, unknown>[];
  for (const one of list('decisions')) found.push(one['input']);
  for (const one of list('asks')) {
    if (one['type'] === 'ask.put') found.push((one['ask'] as Record<string, unknown>)['input']);
  }
  for (const one of list('hooks')) if (one['input'] !== undefined) found.push(one['input']);
  return found;
}

/** JSON with sorted keys, as it reads back. */
function canonical(value: unknown): string {
  return JSON.stringify(sorted(JSON.parse(JSON.stringify(value) ?? 'null')));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}

const BLOCK = 64;

/** HMAC-SHA-256, hex. */
function hmac({ sha256, key }: Pick<ChainKeys, 'sha256' | 'key'>, text: string): string {
  const secret = bytesOf(key ?? '');
  const pad = (byte: number): Uint8Array =>
    Uint8Array.from({ length: BLOCK }, (_, index) => (secret[index] ?? 0) ^ byte);
  const inner = bytesOf(sha256(joined(pad(0x36), encoder.encode(text))));
  return sha256(joined(pad(0x5c), inner));
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** A head: how far the chain of a log had come. Lines of one file, each bound to the one before it by the key. */
export interface AuditHead extends ChainTip {
  readonly log: string;
  readonly at: string;
  readonly mac: string;
}

export function macOf(
  head: Omit<AuditHead, 'mac'>,
  before: string,
  by: Pick<ChainKeys, 'sha256' | 'key'>,
): string {
  return hmac(by, canonical([before, head.log, head.n, head.hash, head.at]));
}

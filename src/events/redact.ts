/**
 * Secrets out of what is shown, exported or put into an event: by known values, by their shape, by the name that they have,
 * and private keys over lines.
 *
 * Invariants
 * - E2 No string of an event's data, nor of what a reading command prints of a run, is shown before it went through here.
 * - E5 It takes time in proportion to the text, whatever the text is.
 */
import { beginsAt, knownSecrets } from './known-secrets.ts';
import { ECHOES_MAX } from './limits.ts';
import { pemBlocks } from './pem-blocks.ts';
import {
  assignedSecrets,
  entropyOf,
  isPlaceholder,
  isSecretName,
  isSecretOption,
  type Span,
} from './secret-names.ts';
import { SECRET_SHAPES, type SecretShape } from './secret-table.ts';

/** What stands where a secret was. */
export const REDACTED = '[redacted]';

export interface Redactor {
  text(text: string): string;
  /** Every string in plain data, at any depth; `after` is done to each afterwards. What is under the name of a secret goes whole. */
  data<T>(value: T, after?: (text: string) => string): T;
  /** Places of secrets, in order, none touching another. */
  spans(text: string): Span[];
  /** From where on, at `from` or later, a text that goes on may hold a known value of several words; its length: nowhere. */
  begins(text: string, from: number): number;
}

/** Knows `secrets` besides what has the shape of one. */
export function makeRedactor(secrets: Iterable<string> = []): Redactor {
  const known = knownSecrets(secrets);
  const spans = (text: string): Span[] => merged(found(text, known?.pattern ?? null));
  const text = (shown: string): string => without(shown, spans(shown));
  return {
    spans,
    text,
    begins: (shown, from) => (known === null ? shown.length : beginsAt(known.spaced, shown, from)),
    data(value, after = same) {
      const told = new Set<string>();
      const shown = redactData(value, (one) => {
        for (const secret of toldBy(one)) told.add(secret);
        return after(text(one));
      });
      // What one string tells to be a secret may stand in another without its name.
      const echoes = knownSecrets([...told].slice(0, ECHOES_MAX))?.pattern ?? null;
      if (echoes === null) return shown as typeof value;
      return redactData(shown, (one) => one.replaceAll(echoes, REDACTED)) as typeof value;
    },
  };
}

/** Values that are secrets by the name before them. */
function toldBy(text: string): string[] {
  if (text.length < 12) return [];
  const spans = assignedSecrets(text, text.toLowerCase());
  return spans
    .slice(0, ECHOES_MAX)
    .flatMap(([start, end]) => (end - start < 8 ? [] : [text.slice(start, end)]));
}

const same = (text: string): string => text;

/** Without known values: by shapes alone. */
export const SHAPES_ONLY: Redactor = makeRedactor();

/** `text` with a mark in each place. */
export function without(
  text: string,
  spans: readonly Span[],
  from: number = 0,
  to: number = text.length,
): string {
  let shown = '';
  let at = from;
  for (const [start, end] of spans) {
    if (end <= at || start >= to) continue;
    shown += `${text.slice(at, Math.max(at, start))}${REDACTED}`;
    at = Math.min(end, to);
  }
  return shown + text.slice(at, to);
}

function found(text: string, known: RegExp | null): Span[] {
  const spans: Span[] = [];
  if (known !== null) {
    for (const match of text.matchAll(known)) {
      spans.push([match.index, match.index + match[0].length]);
    }
  }
  if (text.length < 8) return spans;
  const lower = text.toLowerCase();
  for (const shape of SECRET_SHAPES) {
    if (shape.keywords.some((word) => lower.includes(word))) spans.push(...ofShape(text, shape));
  }
  const assigned = assignedSecrets(text, lower);
  spans.push(...assigned, ...echoesOf(text, assigned));
  if (lower.includes('-----begin ')) spans.push(...pemBlocks(text).map((block) => block.span));
  return spans;
}

/** The same values at other places. */
function echoesOf(text: string, assigned: readonly Span[]): Span[] {
  const values = assigned.map(([start, end]) => text.slice(start, end));
  const long = values.filter((value) => value.length >= 8).slice(0, ECHOES_MAX);
  const pattern = knownSecrets(long)?.pattern ?? null;
  if (pattern === null) return [];
  return [...text.matchAll(pattern)].map(
    ({ index, 0: { length } }): Span => [index, index + length],
  );
}

function ofShape(text: string, { find, entropy, words }: SecretShape): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(find)) {
    const span = match.indices?.[2];
    const value = match[2] ?? '';
    if (span === undefined || (words === true && isPlaceholder(value))) continue;
    if (entropy !== undefined && !(/\d|[=+/]$/.test(value) && entropyOf(value) >= entropy))
      continue;
    spans.push(span);
  }
  return spans;
}

function merged(spans: readonly Span[]): Span[] {
  if (spans.length < 2) return [...spans];
  const all: [number, number][] = [];
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    const last = all.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else all.push([start, end]);
  }
  return all;
}

function redactData(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return redactList(value, change);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      change(key),
      isSecretName(key) ? hidden(item, change) : redactData(item, change),
    ]),
  );
}

function redactList(list: readonly unknown[], change: (text: string) => string): unknown[] {
  return list.map((item, index) => {
    const before = list[index - 1];
    const follows = typeof before === 'string' && isSecretOption(before);
    return follows ? hidden(item, change) : redactData(item, change);
  });
}

/** Of a value under the name of a secret: texts, also in a list. */
function hidden(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return value === '' ? '' : REDACTED;
  return Array.isArray(value)
    ? value.map((item) => hidden(item, change))
    : redactData(value, change);
}

/** Every string in plain data, at any depth, changed; names of keys say nothing here, and stay. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]);
  return Object.fromEntries(entries);
}

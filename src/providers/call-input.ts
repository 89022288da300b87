/**
 * Arguments of calls as models write them. What is no JSON object stays text: no tool takes a text as its parameters, so
 * such a call is answered with what is wrong and never run.
 *
 * Invariant: L15 a repair never adds meaning: it only takes off a wrapping or a repetition.
 */

import { NAME_CHARS_MAX } from './limits.ts';

/** An object, or the text as it came. `truncated`: the answer was cut, so nothing is filled in. */
export function readInput(text: string, truncated: boolean): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return truncated ? '' : {};
  const parsed = parse(trimmed) ?? parse(half(trimmed));
  const value = typeof parsed === 'string' ? parse(parsed) : parsed;
  return isObject(value) ? value : text;
}

/** As APIs take it: an object always. */
export function wireInput(input: unknown): Readonly<Record<string, unknown>> {
  if (isObject(input)) return input;
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? null);
  return { invalid_arguments: text };
}

/** As APIs take it: models also make up names that no API lets pass. */
export function wireName(name: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, NAME_CHARS_MAX);
  return plain === '' ? '_' : plain;
}

/** `read_fileread_file`, which some servers make of a name that came twice. */
export function readName(name: string, known: readonly string[]): string {
  const trimmed = name.trim();
  if (known.includes(trimmed)) return trimmed;
  const once = half(trimmed);
  return known.includes(once) ? once : trimmed;
}

function half(text: string): string {
  const middle = text.length / 2;
  return text.slice(0, middle) === text.slice(middle) ? text.slice(0, middle) : text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

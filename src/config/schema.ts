/**
 * Building blocks of the schemas: strict objects that know their keys, and what a broken rule says to people. Schemas here
 * have no transforms, so that a JSON Schema can be made of them.
 */
import * as z from 'zod';
import { NAME, nearMatches } from '../kernel/ids.ts';
import { DURATION, DURATION_RULE } from './duration.ts';
import { FINDINGS_MAX } from './limits.ts';
import { didYouMean, type Finding, type Path } from './problem.ts';

const NAME_RULE =
  'a name is made of a-z, 0-9, - and _, starts with a letter or digit, and has at most 48';

/** A strict object; the issue of an unknown key carries the known ones. */
export function object<T extends z.ZodRawShape>(shape: T): z.ZodObject<T, z.core.$strict> {
  const known = Object.keys(shape).join(' ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? known : undefined),
  });
}

export const name: z.ZodString = z.string().regex(NAME, NAME_RULE);
/** Text with something in it. */
export const text: z.ZodString = z.string().regex(/\S/, 'expected text');
export const duration: z.ZodString = z
  .string({ error: DURATION_RULE })
  .regex(DURATION, DURATION_RULE);
export const model: z.ZodString = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]*\/\S.*$/,
    'expected provider/model, such as anthropic/claude-sonnet-5-5',
  );
/** A path inside the workspace. */
export const innerPath: z.ZodString = z
  .string()
  .regex(
    /^(?![/~\\])(?!(.*[/\\])?\.\.([/\\]|$)).*\S/,
    'expected a path inside the workspace, without ..',
  );

/** Of a sparse cone: git takes folders there, and no patterns. */
export const innerFolder: z.ZodString = innerPath.regex(
  /^[^*?[\]!\n]+$/,
  'expected a folder, without wildcards',
);

/** A whole number between two bounds, both included. */
export function whole(min: number, max: number): z.ZodInt {
  return z.int().min(min).max(max);
}

/** Accepts anything for now: the key is known, its meaning belongs to a later version. */
export const later: z.ZodOptional<z.ZodUnknown> = z.unknown().optional();

/** What the issues of a schema say about `value`, one finding for each mistake. */
export function findingsOf(issues: readonly z.core.$ZodIssue[], value: unknown): Finding[] {
  return issues.slice(0, FINDINGS_MAX).flatMap((issue) => sayIssue(issue, value));
}

function sayIssue(issue: z.core.$ZodIssue, value: unknown): Finding[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const found = valueAt(value, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.slice(0, FINDINGS_MAX).map((key) => unknownKey(path, key, issue.message));
    case 'invalid_key':
      return [
        {
          path,
          message: `${quote(path.at(-1))}: ${issue.issues[0]?.message ?? 'is no name'}`,
          at: 'key',
        },
      ];
    case 'invalid_union':
      return sayUnion(issue, value, path);
    case 'invalid_type': {
      if (found === undefined) return [{ path, message: 'is missing' }];
      const own = issue.message.startsWith('Invalid input') ? null : issue.message;
      const message = `${own ?? `expected ${KINDS[issue.expected] ?? issue.expected}`}, found ${describe(found)}`;
      return [{ path, message }];
    }
    case 'invalid_value': {
      const choices = issue.values.map(String);
      if (found === undefined)
        return [{ path, message: `is missing; it is ${choices.join(' or ')}` }];
      const near = typeof found === 'string' ? nearMatches(found, choices) : [];
      const message = `expected ${choices.join(' or ')}, found ${describe(found)}`;
      return [{ path, message, hint: didYouMean(near) }];
    }
    case 'too_small': {
      const bound = `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
      return [{ path, message: `must be ${bound}, is ${size(found)}` }];
    }
    case 'too_big':
      return [{ path, message: `must be at most ${issue.maximum}, is ${size(found)}` }];
    case 'invalid_format':
      return [
        { path, message: found === '' ? 'is empty' : `${issue.message}, found ${describe(found)}` },
      ];
    case 'invalid_element':
    case 'not_multiple_of':
    case 'custom':
      return [{ path, message: issue.message }];
  }
}

function unknownKey(path: Path, key: string, known: string): Finding {
  const keys = known.split(' ');
  const near = nearMatches(key, keys);
  const hint = near.length > 0 ? didYouMean(near) : `known here: ${keys.join(', ')}`;
  return { path: [...path, key], message: `unknown key ${quote(key)}`, hint, at: 'key' };
}

/** The issues of the form that was meant: the one whose own kind fits. */
function sayUnion(
  issue: Extract<z.core.$ZodIssue, { code: 'invalid_union' }>,
  value: unknown,
  path: Path,
): Finding[] {
  const isWrongKind = (one: z.core.$ZodIssue): boolean =>
    one.path.length === 0 &&
    (one.code === 'invalid_type' ||
      (one.code === 'invalid_value' && typeof valueAt(value, path) === 'object'));
  const meant = issue.errors.find((form) => !form.some(isWrongKind));
  if (meant === undefined) {
    if (valueAt(value, path) === undefined) return [{ path, message: 'is missing' }];
    const kinds = issue.errors.flat().filter((one) => one.code === 'invalid_type');
    const names = kinds.map((one) => KINDS[one.expected] ?? one.expected);
    return [
      { path, message: `expected ${names.join(' or ')}, found ${describe(valueAt(value, path))}` },
    ];
  }
  const absolute = meant.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
  return absolute.flatMap((one) => sayIssue(one, value));
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
  boolean: 'true or false',
};

function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return `the number ${value}`;
  return typeof value === 'boolean' ? String(value) : typeof value;
}

function size(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return Array.isArray(value) || typeof value === 'string' ? String(value.length) : describe(value);
}

/** Quoted, and short enough for one line. */
export function quote(value: string | number | undefined): string {
  const line = JSON.stringify(String(value));
  return line.length > 60 ? `${line.slice(0, 57)}…"` : line;
}

function valueAt(value: unknown, path: Path): unknown {
  let here: unknown = value;
  for (const part of path) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = Object.getOwnPropertyDescriptor(here, part)?.value;
  }
  return here;
}

/**
 * A script file read, with each problem at its place. A section keeps its line, because the messages about turns that
 * nobody wrote name it.
 */
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { ensureError } from '../kernel/index.ts';
import { PROBLEMS_MAX } from './limits.ts';
import { type ScriptBody, scriptSchema } from './script.ts';

export interface ScriptProblem {
  readonly line: number;
  readonly column: number;
  /** Path in the document (`sections[0].turns[2].calls`); empty for the whole. */
  readonly where: string;
  readonly message: string;
}

export interface Script extends ScriptBody {
  /** As the user named it, for messages. */
  readonly path: string;
  /** Line on which each section begins. */
  readonly lines: readonly number[];
}

export type ParsedScript =
  | { readonly ok: true; readonly script: Script }
  | { readonly ok: false; readonly problems: readonly ScriptProblem[] };

/** Never throws. */
export function parseScript(text: string, path: string): ParsedScript {
  const counter = new LineCounter();
  const place = (offset: number): { line: number; column: number } => {
    const { line, col } = counter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problem = (offset: number, where: string, message: string): ScriptProblem => ({
    ...place(offset),
    where,
    message,
  });
  if (text.includes('\0')) {
    return { ok: false, problems: [problem(0, '', 'this is a binary file, not a script')] };
  }
  const document = readYaml(text, counter);
  if (document === null) {
    return { ok: false, problems: [problem(0, '', 'the script is nested too deep')] };
  }
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => problem(error.pos[0], '', error.message));
    return { ok: false, problems: problems.slice(0, PROBLEMS_MAX) };
  }
  if (document.contents === null) {
    return { ok: false, problems: [problem(0, '', 'the script is empty')] };
  }
  const value = plainValue(document);
  if (!value.ok) return { ok: false, problems: [problem(0, '', value.message)] };
  const parsed = scriptSchema.safeParse(value.value);
  if (!parsed.success) {
    const problems = parsed.error.issues.flatMap((issue) =>
      explain(issue).map(({ keys, message }) =>
        problem(offsetOf(document, keys), formatPath(keys), message),
      ),
    );
    problems.sort((a, b) => a.line - b.line || a.column - b.column);
    return { ok: false, problems: problems.slice(0, PROBLEMS_MAX) };
  }
  const lines = parsed.data.sections.map(
    (_, index) => place(offsetOf(document, ['sections', index])).line,
  );
  return { ok: true, script: { ...parsed.data, path, lines } };
}

/** One line for people, in the form of team files: `s.yaml:12:7: sections[0].tunrs: unknown key "tunrs"`. */
export function formatScriptProblem(path: string, problem: ScriptProblem): string {
  const where = problem.where === '' ? '' : `${problem.where}: `;
  return `${path}:${problem.line}:${problem.column}: ${where}${problem.message}`;
}

type Keys = readonly (string | number)[];

/** Null: too deep for the parser's stack. */
function readYaml(text: string, lineCounter: LineCounter): Document.Parsed | null {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'silent' });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function plainValue(
  document: Document,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; message: string } {
  try {
    return { ok: true, value: document.toJS() };
  } catch (error) {
    return { ok: false, message: ensureError(error).message };
  }
}

function explain(issue: z.core.$ZodIssue): { keys: Keys; message: string }[] {
  const keys = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ keys: [...keys, key], message: `unknown key "${key}"` }));
  }
  if (issue.code === 'invalid_value' && keys[0] === 'version') {
    return [{ keys, message: 'this version of Troupe reads scripts of version 1' }];
  }
  const last = keys.at(-1);
  if (typeof last === 'string' && issue.message.endsWith('received undefined')) {
    return [{ keys, message: `"${last}" is missing` }];
  }
  return [{ keys, message: issue.message }];
}

function formatPath(keys: Keys): string {
  return keys
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join('');
}

/** Where the key of the last step stands, or else the innermost thing there is. */
function offsetOf(document: Document, keys: Keys): number {
  let offset = isNode(document.contents) ? (document.contents.range?.[0] ?? 0) : 0;
  for (let length = 1; length <= keys.length; length += 1) {
    const last = keys[length - 1];
    const parent =
      length === 1 ? document.contents : document.getIn(keys.slice(0, length - 1), true);
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === last);
      if (!isScalar(pair?.key) || !pair.key.range) return offset;
      offset = pair.key.range[0];
    } else {
      const node = document.getIn(keys.slice(0, length), true);
      if (!isNode(node) || !node.range) return offset;
      offset = node.range[0];
    }
  }
  return offset;
}

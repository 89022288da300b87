/**
 * YAML with places. Owns everything between the bytes of a file and a plain value whose parts can be found again in the
 * file; what the value means is for the schemas. Never throws for what a file contains.
 */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import {
  ALIASES_MAX,
  FILE_BYTES_MAX,
  FINDINGS_MAX,
  FLOW_DEPTH_MAX,
  INDENT_MAX,
  PROBLEMS_MAX,
} from './limits.ts';
import { type Finding, formatPath, type Path, type Problem } from './problem.ts';

export type ReadDocument =
  /** `value` is undefined when the file says nothing (empty, or only comments). */
  | {
      readonly kind: 'ok';
      readonly value: unknown;
      readonly locate: (finding: Finding) => Problem;
      /** In the order of the file, and no more than are good to read. */
      readonly locateAll: (findings: readonly Finding[]) => readonly Problem[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

export function readDocument(source: string | Uint8Array): ReadDocument {
  const text = plainText(source);
  if (typeof text !== 'string') return { kind: 'problems', problems: [text] };
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
    version: '1.2',
    // Checked below: here it would cost the square of the keys.
    uniqueKeys: false,
  });
  const place = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problems: Problem[] = [...document.errors, ...document.warnings]
    .slice(0, PROBLEMS_MAX)
    .map((error) => ({ path: '', ...place(error.pos[0]), ...sayError(error) }));
  if (problems.length === 0) {
    for (const [node, message] of oddities(document).slice(0, PROBLEMS_MAX)) {
      problems.push({ path: '', ...place(node.range?.[0] ?? 0), message });
    }
  }
  if (problems.length > 0) return { kind: 'problems', problems };
  const value = toValue(document);
  if (value.kind === 'problems') return value;
  const locate = ({ path, message, hint, at = 'value' }: Finding): Problem => ({
    message,
    path: formatPath(path),
    ...place(offsetOf(document, path, at)),
    ...(hint === undefined ? {} : { hint }),
  });
  const locateAll = (findings: readonly Finding[]): readonly Problem[] =>
    findings
      .slice(0, FINDINGS_MAX)
      .map(locate)
      .toSorted((a, b) => a.line - b.line || a.column - b.column)
      .slice(0, PROBLEMS_MAX);
  return { kind: 'ok', value: value.value, locate, locateAll };
}

const start = (message: string): Problem => ({ message, path: '', line: 1, column: 1 });

/** The text of a file, or why it is none that people write. */
export function plainText(source: string | Uint8Array): string | Problem {
  if (source.length > FILE_BYTES_MAX) {
    return start(`the file is larger than ${FILE_BYTES_MAX} bytes`);
  }
  const text = typeof source === 'string' ? source : new TextDecoder('utf-8').decode(source);
  const odd = firstOdd(text);
  if (odd >= 0) {
    const before = text.slice(0, odd).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    return { message: 'this is no text file in UTF-8', path: '', line: before.length, column };
  }
  const deep = depthProblem(text);
  return deep ?? text.replace(/^\uFEFF/, '');
}

const TOO_MANY_OPEN = new RegExp(`(?:[[{]\\s*){${FLOW_DEPTH_MAX}}`);

/** The YAML parser's cost grows with depth much faster than with size, up to the end of the process. */
function depthProblem(text: string): Problem | null {
  const opening = TOO_MANY_OPEN.exec(text);
  const line =
    opening === null
      ? text.split('\n').findIndex((one) => (/^[\s?:-]*/.exec(one)?.[0].length ?? 0) > INDENT_MAX)
      : text.slice(0, opening.index).split('\n').length - 1;
  return line < 0
    ? null
    : { message: 'this is nested too deep', path: '', line: line + 1, column: 1 };
}

/** The first character that no text has: a control character, or what bytes that are not UTF-8 were decoded to. */
function firstOdd(text: string): number {
  // oxlint-disable-next-line no-control-regex -- finding control characters is its purpose
  return text.search(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F\uFFFD\uFFFE\uFFFF]/);
}

function sayError(error: { readonly code: string; readonly message: string }): {
  readonly message: string;
  readonly hint?: string;
} {
  switch (error.code) {
    case 'MULTIPLE_DOCS':
      return { message: 'the file has more than one document', hint: 'remove the line `---`' };
    case 'TAB_AS_INDENT':
      return { message: 'a tab is used to indent', hint: 'YAML takes spaces only' };
    case 'TAG_RESOLVE_FAILED':
      return { message: `${error.message}; tags are not used here` };
    case 'RESOURCE_EXHAUSTION':
      return { message: 'this is nested too deep' };
    default:
      return { message: `this is no valid YAML: ${error.message}` };
  }
}

/** What YAML allows and a file of this kind never means. */
function oddities(document: Document.Parsed): [Node, string][] {
  const found: [Node, string][] = [];
  visit(document, {
    Alias(_, node) {
      if (node.resolve(document) === undefined) {
        found.push([node, `alias *${node.source} has no anchor before it`]);
      }
    },
    Map(_, map) {
      const keys = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const text = String(key.value);
        if (keys.has(text)) found.push([key, `key "${text}" is given twice`]);
        keys.add(text);
      }
    },
    Pair(_, pair) {
      if (isCollection(pair.key) || isAlias(pair.key)) {
        found.push([pair.key, 'a key must be plain text']);
      }
    },
  });
  return found;
}

function toValue(document: Document.Parsed): ReadDocument | { kind: 'value'; value: unknown } {
  if (document.contents === null) return { kind: 'value', value: undefined };
  try {
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    return { kind: 'value', value: value ?? undefined };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { kind: 'problems', problems: [start('aliases of this file expand to too much')] };
  }
}

/** Where `path` begins; of what is not there, where its nearest parent begins. */
function offsetOf(document: Document.Parsed, path: Path, at: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const [index, part] of path.entries()) {
    const holder = isAlias(node) ? node.resolve(document) : node;
    let key: unknown = null;
    if (isSeq(holder) && typeof part === 'number') node = holder.items[part];
    else if (isMap(holder)) {
      const pair = holder.items.find((one) => isScalar(one.key) && String(one.key.value) === part);
      if (!isPair(pair)) return offset;
      key = pair.key;
      node = pair.value;
    } else return offset;
    const wanted = at === 'key' && index === path.length - 1 && key !== null ? key : (node ?? key);
    offset = rangeOf(wanted) ?? rangeOf(key) ?? offset;
  }
  return offset;
}

function rangeOf(node: unknown): number | undefined {
  if (!isScalar(node) && !isCollection(node) && !isAlias(node)) return undefined;
  return node.range?.[0];
}

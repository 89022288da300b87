/**
 * `.env` of the checkout: variables that Troupe takes from it, by name. It is never made part of an environment; what it
 * says is looked up here and goes nowhere else.
 */

/** A variable with the line on which it stands. */
export interface EnvEntry {
  readonly value: string;
  readonly line: number;
}

export interface EnvFile {
  readonly path: string;
  readonly entries: Readonly<Record<string, EnvEntry>>;
  /** Lines that say nothing that can be read. */
  readonly odd?: readonly number[];
}

/** Names with our prefix that are taken from it: keys, addresses, models. */
const TAKEN = /^TROUPE_(?:MODEL|FALLBACK|\w+_API_KEY|\w+_BASE_URL)$/;

/** `parse` knows the syntax; a line that is no assignment is somebody else's and passed over. */
export function readEnvFile(
  path: string,
  text: string,
  parse: (text: string) => Readonly<Record<string, string | undefined>>,
): EnvFile {
  const entries: Record<string, EnvEntry> = {};
  // Node's parser ends at a line that begins with `=`, and takes one without it for the beginning of the next one's name.
  const readable = text.replaceAll(/^[ \t]*=.*$/gm, '');
  for (const [key, value = ''] of Object.entries(parse(readable))) {
    const name = key
      .slice(key.lastIndexOf('\n') + 1)
      .trim()
      .replace(/^export\s+/, '');
    const isLess = name !== key && entries[name] !== undefined;
    if (isLess || !/^[A-Za-z_]\w*$/.test(name)) continue;
    entries[name] = { value: value.trim(), line: lineOf(name, text) };
  }
  const odd = oddLines(text);
  return { path, entries, ...(odd.length === 0 ? {} : { odd }) };
}

/** The last word on it stands. */
function lineOf(name: string, text: string): number {
  const begins = new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`);
  return text.split('\n').findLastIndex((line) => begins.test(line)) + 1;
}

/** Name, `=`, and a value that may stand in quotes over several lines. */
const ASSIGNMENT =
  /[ \t]*(?:export[ \t]+)?[A-Za-z_][\w.-]*[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)?[^\n]*(?:\n|$)/y;

/** Lines, from 1, that are no assignment, no comment and not empty: perhaps a key that is written in another way. */
function oddLines(text: string): number[] {
  const odd: number[] = [];
  for (let at = 0, line = 1; at < text.length; ) {
    ASSIGNMENT.lastIndex = at;
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline + 1;
    const taken = ASSIGNMENT.exec(text)?.[0];
    const next = taken === undefined ? end : at + taken.length;
    if (taken === undefined && !/^[ \t\r\uFEFF]*(?:#|$)/.test(text.slice(at, end).trimEnd()))
      odd.push(line);
    for (; at < next; at += 1) if (text[at] === '\n') line += 1;
  }
  return odd;
}

/** `TROUPE_…` in it that Troupe does not take from there. */
export function passedOver({
  entries,
}: EnvFile): { readonly name: string; readonly line: number }[] {
  return Object.entries(entries)
    .filter(([name]) => name.startsWith('TROUPE_') && !TAKEN.test(name))
    .map(([name, { line }]) => ({ name, line }))
    .toSorted((a, b) => a.line - b.line);
}

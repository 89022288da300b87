/**
 * One word of a command as far as it is known before it runs: its text, whether that is all of it, and how to spell it so
 * that a shell can't read it in another way.
 *
 * Invariants
 * - P9 A word is plain only when it is made of what the plain subset names: literal and quoted text, known variables, a
 *   leading `~`, and globs.
 */
import type { DoubleQuotedChild, Word, WordPart } from 'unbash';
import { shellQuoted } from '../../kernel/shell-word.ts';
import { BRACES_MAX } from '../limits.ts';

export interface Arg {
  /** What the program gets; of a word that is not known, the parts that are. A glob stands as it was written. */
  readonly text: string;
  /** Nothing is missing from the text (a glob counts as known). */
  readonly known: boolean;
  /** May be part of a command that a rule allows. */
  readonly plain: boolean;
  /** A glob, in the writing of `compilePattern`; null when it is none. */
  readonly glob: string | null;
  /** The word for the canonical text; '' when it is not plain. */
  readonly shell: string;
  /** Made from something other than the letters that stand there: a name of that kind is never allowed. */
  readonly derived: boolean;
}

/** What words mean in the place where they stand. */
export interface WordScope {
  readonly home: string | null;
  /** Values of variables that are known; null: known to be something else. */
  readonly variables: ReadonlyMap<string, string | null>;
  /** The one folder the command runs in; null when there may be several. */
  readonly cwd: string | null;
}

export const literal = (text: string): Arg => ({
  text,
  known: true,
  plain: true,
  glob: null,
  shell: shellQuoted(text),
  derived: false,
});

const BARE = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Keeps globs apart from the same characters as text. */
const escapeGlob = (text: string): string => text.replaceAll(/[\\*?[\]]/g, '\\$&');

interface Builder {
  text: string;
  glob: string;
  shell: string;
  /** Text that is not in `shell` yet, so that it is quoted in one piece. */
  run: string;
  known: boolean;
  plain: boolean;
  globbed: boolean;
  derived: boolean;
}

/** A word of plain letters, the most common kind; null for every other. */
export function bareArg(word: Word): Arg | null {
  const { text } = word;
  if (!BARE.test(text)) return null;
  return { text, known: true, plain: true, glob: null, shell: `'${text}'`, derived: false };
}

export function argOf(word: Word, scope: WordScope): Arg {
  const { parts } = word;
  const building: Builder = {
    text: '',
    glob: '',
    shell: '',
    run: '',
    known: true,
    plain: true,
    globbed: false,
    derived: false,
  };
  if (parts === undefined) addUnquoted(building, word.text, word.value, scope);
  else {
    for (const [index, part] of parts.entries()) {
      if (index === 0 && part.type === 'Literal') {
        addUnquoted(building, part.text, part.value, scope);
        // `~"x"` is no home: a quoted letter in the name of the user keeps the shell from looking.
        if (part.text.startsWith('~') && !part.text.includes('/')) building.plain = false;
      } else addPart(building, part, scope);
    }
  }
  flush(building);
  const { text, known, derived } = building;
  const plain = building.plain && !text.includes('\0');
  return {
    text,
    known,
    plain,
    glob: building.globbed ? building.glob : null,
    shell: plain ? building.shell || "''" : '',
    derived,
  };
}

function add(building: Builder, text: string): void {
  building.text += text;
  building.glob += escapeGlob(text);
  building.run += text;
}

/** The start of a word: a `~` there is the home. */
function addUnquoted(building: Builder, raw: string, value: string, scope: WordScope): void {
  if (!raw.startsWith('~')) {
    add(building, value);
    return;
  }
  building.derived = true;
  const user = /^~([^/]*)/.exec(raw)?.[1] ?? '';
  const rest = value.slice(1 + user.length);
  if (user === '' && scope.home !== null) add(building, scope.home + rest);
  else {
    // Whose home it is, is not known: for deny rules and the floor it is somebody's.
    const somebody = user === '+' ? (scope.cwd ?? '') : `/home/${user === '' ? '~' : user}`;
    unknown(building);
    building.text += somebody + rest;
    building.glob += escapeGlob(somebody + rest);
  }
}

function unknown(building: Builder): void {
  building.known = false;
  building.plain = false;
  building.derived = true;
}

function addPart(building: Builder, part: WordPart, scope: WordScope): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      add(building, part.value);
      return;
    case 'AnsiCQuoted':
      // Bash cuts the text at a NUL; nobody writes one for a good reason.
      if (/\\(0+(?![0-7])|x0+(?![\da-f])|u0|U0|c@)/i.test(part.text)) building.plain = false;
      if (part.value.includes('\uFFFD') || /[^\t\n -~]/.test(part.value)) building.plain = false;
      add(building, part.value);
      return;
    case 'DoubleQuoted':
      for (const child of part.parts) addQuoted(building, child, scope);
      return;
    case 'LocaleString':
      building.plain = false;
      for (const child of part.parts) addQuoted(building, child, scope);
      return;
    case 'Glob':
      building.globbed = true;
      building.text += part.text;
      addGlob(building, part.text, part.kind);
      return;
    case 'SimpleExpansion':
      addVariable(building, part.text.slice(1), scope, false);
      return;
    case 'ParameterExpansion': {
      const simple =
        part.operation === undefined && part.prefix === undefined && part.index === undefined;
      if (simple) addVariable(building, part.parameter, scope, false);
      else unknown(building);
      building.plain = false;
      return;
    }
    case 'BraceExpansion':
      building.text += part.text;
      building.plain = false;
      building.derived = true;
      return;
    case 'CommandExpansion':
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
    case 'ExtendedGlob':
      unknown(building);
      return;
  }
}

function addGlob(building: Builder, text: string, kind: 'star' | 'question' | 'bracket'): void {
  building.glob += kind === 'bracket' ? '?' : text;
  // A class is copied as it stands when there is nothing but plain characters in it.
  if (kind === 'bracket' && !/^\[[!^]?[A-Za-z0-9_.-]+\]$/.test(text)) building.plain = false;
  flush(building);
  building.shell += text;
}

function flush(building: Builder): void {
  if (building.run !== '') building.shell += shellQuoted(building.run);
  building.run = '';
}

function addQuoted(building: Builder, part: DoubleQuotedChild, scope: WordScope): void {
  switch (part.type) {
    case 'Literal':
      add(building, part.value);
      return;
    case 'SimpleExpansion':
      addVariable(building, part.text.slice(1), scope, true);
      return;
    case 'ParameterExpansion': {
      const simple =
        part.operation === undefined && part.prefix === undefined && part.index === undefined;
      if (simple) addVariable(building, part.parameter, scope, true);
      else unknown(building);
      building.plain = false;
      return;
    }
    case 'CommandExpansion':
    case 'ArithmeticExpansion':
      unknown(building);
      return;
  }
}

/** `$HOME` and `$PWD` are known; of what the text itself sets, the value is known but may be another by then. */
function addVariable(building: Builder, name: string, scope: WordScope, quoted: boolean): void {
  building.derived = true;
  const set = scope.variables.get(name);
  if (set !== undefined) {
    building.plain = false;
    if (set === null) unknown(building);
    else add(building, set);
    return;
  }
  const value = name === 'HOME' ? scope.home : name === 'PWD' ? scope.cwd : null;
  if (value === null) {
    unknown(building);
    return;
  }
  // Unquoted it is split and expanded: the same only when there is nothing to split or expand in it.
  if (!quoted && !BARE.test(value)) unknown(building);
  else add(building, value);
}

/** The words a brace expansion stands for; null when there is none, or it can't be spelled out. */
export function bracesOf(text: string): readonly string[] | null {
  const all = expand(text, 0);
  return all === null || all.length < 2 ? null : all;
}

function expand(text: string, depth: number): string[] | null {
  if (depth > 8) return null;
  const open = text.indexOf('{');
  if (open < 0) return [text];
  const parts: string[] = [];
  let level = 0;
  let from = open + 1;
  for (let at = open; at < text.length; at += 1) {
    const char = text[at];
    if (char === '{') level += 1;
    else if (char === ',' && level === 1) {
      parts.push(text.slice(from, at));
      from = at + 1;
    } else if (char === '}') {
      level -= 1;
      if (level > 0) continue;
      parts.push(text.slice(from, at));
      const heads = parts.length < 2 ? [`{${parts[0] ?? ''}}`] : expandAll(parts, depth + 1);
      const tails = expand(text.slice(at + 1), depth + 1);
      if (heads === null || tails === null || heads.length * tails.length > BRACES_MAX) return null;
      const before = text.slice(0, open);
      return heads.flatMap((head) => tails.map((tail) => before + head + tail));
    }
  }
  return [text];
}

function expandAll(parts: readonly string[], depth: number): string[] | null {
  const all: string[] = [];
  for (const part of parts) {
    const some = expand(part, depth);
    if (some === null || all.length + some.length > BRACES_MAX) return null;
    all.push(...some);
  }
  return all;
}

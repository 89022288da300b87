/**
 * A rough reader of shell text: which simple commands does it run, with which words? Made to miss nothing rather than to
 * be right: separators, groups, substitutions and quotes are followed, keywords are left as words, anything that can't be
 * read is `null`. Not a parser; the broker brings one.
 */
import { SHELL_DEPTH_MAX } from './limits.ts';

export interface Word {
  /** Without quotes; expansions stay as written. */
  readonly text: string;
  /** Whether a part of it is known only when it runs. */
  readonly dynamic: boolean;
}

export interface SimpleCommand {
  readonly words: readonly Word[];
  /** Files it writes to or reads from by redirection. */
  readonly redirects: readonly Word[];
  readonly heredocs: readonly string[];
  /** Whether its input comes from a pipe. */
  readonly piped: boolean;
}

/** All commands of the text, also those inside substitutions, groups and heredocs that expand. Null: unreadable. */
export function readCommands(text: string): readonly SimpleCommand[] | null {
  const reader: Reader = { text, at: 0, commands: [], depth: 0, pending: [] };
  return readList(reader, null) ? reader.commands : null;
}

interface Reader {
  readonly text: string;
  at: number;
  readonly commands: SimpleCommand[];
  depth: number;
  /** Heredocs whose bodies begin after this line. */
  pending: {
    readonly end: string;
    readonly tabs: boolean;
    readonly expands: boolean;
    readonly into: string[];
  }[];
}

interface Draft {
  words: Word[];
  redirects: Word[];
  heredocs: string[];
  piped: boolean;
  /** The next word is a redirection's target. */
  target: 'none' | 'file' | 'heredoc' | 'heredoc-tabs';
}

const newDraft = (piped: boolean): Draft => ({
  words: [],
  redirects: [],
  heredocs: [],
  piped,
  target: 'none',
});

/** Reads up to `until` (consumed) or the end. False: unreadable. */
function readList(reader: Reader, until: ')' | '`' | null): boolean {
  reader.depth += 1;
  if (reader.depth > SHELL_DEPTH_MAX) return false;
  let draft = newDraft(false);
  const flush = (piped: boolean): void => {
    const { words, redirects, heredocs } = draft;
    if (words.length + redirects.length + heredocs.length > 0) reader.commands.push(draft);
    draft = newDraft(piped);
  };
  while (reader.at < reader.text.length) {
    const letter = reader.text[reader.at] ?? '';
    if (letter === until) {
      reader.at += 1;
      reader.depth -= 1;
      flush(false);
      return true;
    }
    if (letter === '\n') {
      reader.at += 1;
      flush(draft.piped && draft.words.length === 0);
      if (!readHeredocs(reader)) return false;
    } else if (letter === ' ' || letter === '\t' || letter === '\r') reader.at += 1;
    else if (letter === '#') skipLine(reader);
    else if (reader.text.startsWith('\\\n', reader.at)) reader.at += 2;
    else if (letter === '<' || letter === '>') {
      if (!readRedirect(reader, draft)) return false;
    } else if (reader.text.startsWith('&>', reader.at)) {
      reader.at += reader.text[reader.at + 2] === '>' ? 3 : 2;
      draft.target = 'file';
    } else if (';&|()'.includes(letter)) {
      const pipe = letter === '|' && reader.text[reader.at + 1] !== '|';
      reader.at +=
        letter !== '(' && letter !== ')' && reader.text[reader.at + 1] === letter ? 2 : 1;
      if (pipe && reader.text[reader.at] === '&') reader.at += 1;
      flush(pipe || (letter === '(' && draft.piped));
    } else {
      const word = readWord(reader, until);
      if (word === null) return false;
      place(reader, draft, word);
    }
  }
  flush(false);
  reader.depth -= 1;
  return until === null;
}

function place(reader: Reader, draft: Draft, word: Word & { readonly quoted: boolean }): void {
  const { target } = draft;
  draft.target = 'none';
  if (target === 'none') draft.words.push(word);
  else if (target === 'file') draft.redirects.push(word);
  else {
    const tabs = target === 'heredoc-tabs';
    reader.pending.push({ end: word.text, tabs, expands: !word.quoted, into: draft.heredocs });
    // The text is filled in when the line ends; the place is kept so that the command counts.
    draft.heredocs.push('');
  }
}

function skipLine(reader: Reader): void {
  const end = reader.text.indexOf('\n', reader.at);
  reader.at = end < 0 ? reader.text.length : end;
}

/** `<<`, `<<-`, `<<<`, `<(`, `>(`, `>&2`, `>|` and the plain ones; a file number before them is a word of its own. */
function readRedirect(reader: Reader, draft: Draft): boolean {
  const rest = reader.text.slice(reader.at, reader.at + 3);
  if (rest[1] === '(') {
    reader.at += 2;
    draft.words.push({ text: '<(…)', dynamic: true });
    return readList(reader, ')');
  }
  if (rest === '<<<') {
    reader.at += 3;
    return true;
  }
  if (rest.startsWith('<<')) {
    draft.target = rest[2] === '-' ? 'heredoc-tabs' : 'heredoc';
    reader.at += rest[2] === '-' ? 3 : 2;
    return true;
  }
  const length = /^(>>|>\||<>|[<>]&|[<>])/.exec(rest)?.[0].length ?? 1;
  reader.at += length;
  draft.target = 'file';
  return true;
}

function readHeredocs(reader: Reader): boolean {
  const pending = reader.pending;
  reader.pending = [];
  for (const { end, tabs, expands, into } of pending) {
    const lines: string[] = [];
    for (;;) {
      if (reader.at >= reader.text.length) break;
      const start = reader.at;
      skipLine(reader);
      const raw = reader.text.slice(start, reader.at);
      reader.at += 1;
      const line = tabs ? raw.replace(/^\t+/, '') : raw;
      if (line === end) break;
      lines.push(line);
    }
    const body = lines.join('\n');
    into.push(body);
    if (expands && !readExpansions(reader, body)) return false;
  }
  return true;
}

/** Commands that run while a text expands, as in double quotes. */
function readExpansions(reader: Reader, text: string): boolean {
  const inner: Reader = { ...reader, text, at: 0, pending: [] };
  while (inner.at < text.length) {
    if (readExpansion(inner, '') === null) return false;
  }
  return true;
}

/** One word, from its first character. Null: unreadable. */
function readWord(reader: Reader, until: string | null): (Word & { quoted: boolean }) | null {
  let text = '';
  let dynamic = false;
  let quoted = false;
  while (reader.at < reader.text.length) {
    const letter = reader.text[reader.at] ?? '';
    if (/[\s;&|()<>]/.test(letter) || letter === until) break;
    const part = readPart(reader, letter);
    if (part === null) return null;
    text += part.text;
    dynamic ||= part.dynamic;
    quoted ||= letter === "'" || letter === '"' || letter === '\\';
  }
  return { text, dynamic, quoted };
}

function readPart(reader: Reader, letter: string): Word | null {
  if (letter === "'") return readSingle(reader);
  if (letter === '"') return readDouble(reader);
  if (letter === '$' && reader.text[reader.at + 1] === "'") {
    reader.at += 1;
    const part = readSingle(reader, true);
    return part === null ? null : { text: part.text, dynamic: part.text.includes('\\') };
  }
  if (letter === '$' && reader.text[reader.at + 1] === '"') reader.at += 1;
  return readExpansion(reader, '');
}

function readSingle(reader: Reader, escapes = false): Word | null {
  const start = reader.at + 1;
  for (let end = start; end < reader.text.length; end += 1) {
    if (escapes && reader.text[end] === '\\') end += 1;
    else if (reader.text[end] === "'") {
      reader.at = end + 1;
      return { text: reader.text.slice(start, end), dynamic: false };
    }
  }
  return null;
}

function readDouble(reader: Reader): Word | null {
  let text = '';
  let dynamic = false;
  reader.at += 1;
  while (reader.at < reader.text.length) {
    if (reader.text[reader.at] === '"') {
      reader.at += 1;
      return { text, dynamic };
    }
    const part = readExpansion(reader, '$`"\\\n');
    if (part === null) return null;
    text += part.text;
    dynamic ||= part.dynamic;
  }
  return null;
}

/** One character, escape or expansion. `escapable`: what a backslash escapes; '' stands for everything. */
function readExpansion(reader: Reader, escapable: string): Word | null {
  const { text } = reader;
  const start = reader.at;
  const letter = text[start] ?? '';
  reader.at += 1;
  if (letter === '\\') {
    const next = text[reader.at] ?? '';
    reader.at += 1;
    if (next === '\n') return { text: '', dynamic: false };
    return {
      text: escapable === '' || escapable.includes(next) ? next : letter + next,
      dynamic: false,
    };
  }
  if (letter === '`') {
    if (!readList(reader, '`')) return null;
    return { text: text.slice(start, reader.at), dynamic: true };
  }
  if (letter !== '$') return { text: letter, dynamic: false };
  if (text[reader.at] === '(') {
    reader.at += 1;
    if (!readList(reader, ')')) return null;
  } else if (text[reader.at] === '{') {
    if (!readBraces(reader)) return null;
  } else return { text: letter, dynamic: /[A-Za-z0-9_@*#?$!-]/.test(text[reader.at] ?? '') };
  return { text: text.slice(start, reader.at), dynamic: true };
}

/** `${…}` with whatever runs inside it. */
function readBraces(reader: Reader): boolean {
  reader.depth += 1;
  if (reader.depth > SHELL_DEPTH_MAX) return false;
  reader.at += 1;
  while (reader.at < reader.text.length) {
    const letter = reader.text[reader.at] ?? '';
    if (letter === '}') {
      reader.at += 1;
      reader.depth -= 1;
      return true;
    }
    if (readPart(reader, letter) === null) return false;
  }
  return false;
}

/**
 * The parts of a command: words with what they expand, assignments, redirects with the files they open. Scripts inside of
 * words go back to `walk`.
 *
 * Invariants
 * - P12 What is not in the plain subset leaves a doubt.
 * - P13 Whatever the text, reading ends in bounded time.
 */
import {
  type Assignment,
  forEachChild,
  type HereDoc,
  type ParsedScript,
  type Redirect,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { COMMANDS_MAX, NODES_MAX, SEARCHED_MAX, SHELL_DEPTH_MAX } from '../limits.ts';
import { type Arg, argOf, bareArg, literal, type WordScope } from './arg.ts';
import { assigned } from './commands.ts';
import type { Place } from './place.ts';
import type { Reading } from './reading.ts';
import { roughCommands, roughFloor } from './rough.ts';

export interface Walk {
  readonly reading: Reading;
  readonly variables: Map<string, string | null>;
  commands: number;
  nodes: number;
  /** Characters that were searched as text. */
  searched: number;
  seen: Set<string> | null;
  /** Reads a script within a word. */
  readonly readTree: (script: ParsedScript, place: Place) => void;
}

/** For text that does not parse: whatever looks like a command. */
export function roughly(walk: Walk, text: string, place: Place): void {
  if (place.depth === 0) walk.reading.doubt('it does not parse as a shell command');
  walk.seen ??= new Set();
  if (walk.seen.has(text)) return;
  walk.seen.add(text);
  walk.searched += text.length;
  if (walk.searched > SEARCHED_MAX) {
    walk.reading.cut('it is nested too deep to be read');
    return;
  }
  const denied = roughFloor(text);
  if (denied !== null) walk.reading.deny(denied);
  for (const words of roughCommands(text, COMMANDS_MAX)) {
    walk.reading.execs.push({
      argv: words.map((word) => ({ ...literal(word), plain: false, derived: true })),
      opaque: 'the text does not parse',
      covered: false,
      guess: true,
    });
  }
}

function scopeOf(walk: Walk, place: Place): WordScope {
  const { folders } = place;
  const cwd = folders.unknown || folders.all.length !== 1 ? null : (folders.all[0] ?? null);
  return { home: walk.reading.home, variables: walk.variables, cwd };
}

export function wordOf(walk: Walk, word: Word, place: Place): Arg {
  const simple = bareArg(word);
  if (simple !== null) return simple;
  const arg = argOf(word, scopeOf(walk, place));
  walk.reading.keep(word, arg);
  if (!arg.plain) {
    walk.reading.doubt(`\`${word.text.slice(0, 40)}\` is more than plain text`);
    if (word.parts !== undefined) {
      for (const part of word.parts) visitParts(walk, part, place);
      hidden(walk, word.text, place);
    }
  }
  return arg;
}

/** The parser is known to lose a command in `${x:-$((…) # )…)}`: such text is also searched. */
function hidden(walk: Walk, text: string, place: Place): void {
  if (text.includes('${') && /\$\(\(|`/.test(text))
    roughly(walk, text, { ...place, depth: place.depth + 1 });
}

/** Scripts inside of words; of everything else the words. */
export function visitParts(walk: Walk, node: SyntaxNode, place: Place): void {
  walk.nodes += 1;
  if (walk.nodes > NODES_MAX || place.depth > SHELL_DEPTH_MAX) {
    walk.reading.cut('it is nested too deep to be read');
    if (place.depth > SHELL_DEPTH_MAX) roughly(walk, place.text, place);
    return;
  }
  const inner: Place = { ...place, depth: place.depth + 1, piped: false, heredocs: [] };
  if (node.type === 'Script') {
    walk.readTree(node, inner);
    return;
  }
  // In arithmetic and subscripts even quoted text is read again.
  if (node.type === 'SingleQuoted' && /\$\(|`/.test(node.value)) roughly(walk, node.value, inner);
  forEachChild(node, (child) => visitParts(walk, child, inner));
}

export function setting(walk: Walk, part: Assignment, place: Place): Arg {
  const value = assignmentValue(walk, part, place);
  const text = `${part.name}${part.append === true ? '+' : ''}=${value.text}`;
  return { ...literal(text), known: value.known, plain: false, shell: '' };
}

function assignmentValue(walk: Walk, part: Assignment, place: Place): Arg {
  if (part.index !== undefined) {
    walk.reading.doubt('an assignment has a subscript');
    visitParts(walk, part.index, place);
    if (/\$\(|`/.test(part.text)) roughly(walk, part.text, { ...place, depth: place.depth + 1 });
  }
  if (part.value.type === 'Word') return wordOf(walk, part.value, place);
  walk.reading.doubt('it sets an array');
  visitParts(walk, part.value, place);
  return { ...literal(''), known: false, plain: false, shell: '' };
}

export function walkAssignment(
  walk: Walk,
  part: Assignment,
  o: { readonly place: Place; readonly alone: boolean },
): void {
  const value = assignmentValue(walk, part, o.place);
  assigned(walk.reading, { ...value, text: `${part.name}=${value.text}` });
  if (!o.alone) return;
  const before = part.append === true ? (walk.variables.get(part.name) ?? null) : '';
  walk.variables.set(
    part.name,
    value.known && value.glob === null && before !== null ? before + value.text : null,
  );
}

export function heredocsOf(redirects: readonly Redirection[]): string[] {
  return redirects.flatMap((one) => (one.type === 'HereDoc' ? [one.body.text] : []));
}

/** Gives the text that the command reads, when the redirect brings it. */
export function walkRedirect(
  walk: Walk,
  redirect: Redirection,
  place: Place,
): readonly string[] | null {
  const { reading } = walk;
  if (redirect.type !== 'HereDoc' && redirect.descriptor?.type === 'FileDescriptorVariable') {
    reading.doubt('a redirect sets a variable');
  }
  if (redirect.type === 'HereDoc') return walkHereDoc(walk, redirect, place);
  if (redirect.type === 'HereString') {
    reading.doubt('it has a here-string in it');
    return redirect.target === undefined ? null : [wordOf(walk, redirect.target, place).text];
  }
  walkFile(walk, redirect, place);
  return null;
}

function walkHereDoc(walk: Walk, redirect: HereDoc, place: Place): readonly string[] {
  const { reading } = walk;
  const { body, delimiter, closing } = redirect;
  if (closing === undefined || delimiter === undefined)
    reading.doubt('a here-document is not closed');
  if (delimiter?.quoted !== true && /[$`\\]/.test(body.text)) {
    reading.doubt('a here-document is expanded');
    for (const part of body.parts ?? []) visitParts(walk, part, place);
    hidden(walk, body.text, place);
  }
  if (redirect.descriptor !== undefined && redirect.descriptor.type !== 'FileDescriptor') {
    reading.doubt('a redirect sets a variable');
  }
  return [body.text];
}

/** Devices that anybody may read and write, and what only looks like a file. */
const FREE_DEVICE = /^\/dev\/(null|zero|stdin|stdout|stderr|tty|full|random|urandom|fd\/[012])$/;

function walkFile(walk: Walk, redirect: Redirect, place: Place): void {
  const { reading } = walk;
  const { operator, target } = redirect;
  if (target === undefined) {
    reading.doubt('a redirect has no target');
    return;
  }
  const path = wordOf(walk, target, place);
  const copies = operator === '>&' || operator === '<&';
  if (copies && path.known && /^(\d{1,3}|-|\d{1,3}-)$/.test(path.text)) return;
  if (operator === '<&') reading.doubt('a redirect copies a descriptor that is not known');
  if (path.known && FREE_DEVICE.test(path.text)) return;
  if (!path.known || path.glob !== null)
    reading.doubt('the file of a redirect is not known before it runs');
  if (/^\/dev\/(tcp|udp)\//.test(path.text)) reading.doubt('a redirect opens a connection');
  const { folders } = place;
  const use = (access: 'read' | 'write'): void => {
    reading.uses.push({ access, path, folders, sure: true, deep: 'no', by: operator });
  };
  if (operator === '<' || operator === '<>' || operator === '<&') use('read');
  if (operator !== '<' && operator !== '<&') use('write');
}

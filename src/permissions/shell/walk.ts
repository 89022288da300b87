/**
 * A command text from its syntax tree to a `Reading`: every command that may run, in whatever it is wrapped, with the
 * folder it runs in, and every file that a redirect opens.
 *
 * Invariants
 * - P12 Only the plain subset leaves no doubt: lists of `;`, newline, `&&`, `||`, `|`, `|&`, subshells, simple commands,
 *   plain words, file redirects, copies of descriptors, closed here-documents without expansion, comments.
 * - P13 Whatever the text, reading ends in bounded time and does not throw; what is not read leaves a doubt.
 */
import {
  type Command,
  type CommandArgument,
  type CommandNode,
  type CompoundCommand,
  forEachChild,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
} from 'unbash';
import {
  COMMAND_MAX,
  COMMANDS_MAX,
  OPENERS_MAX,
  PATH_MAX,
  SCRIPT_DEPTH_MAX,
  SHELL_DEPTH_MAX,
  WORDS_MAX,
} from '../limits.ts';
import { type Arg, literal } from './arg.ts';
import { judgeCommand } from './commands.ts';
import {
  heredocsOf,
  roughly,
  setting,
  visitParts,
  type Walk,
  walkAssignment,
  walkRedirect,
  wordOf,
} from './parts.ts';
import type { Place } from './place.ts';
import { type Folders, joinFolders, Reading } from './reading.ts';

export interface ShellRead {
  readonly reading: Reading;
  /** Null when the text does not parse as a whole. */
  readonly script: ParsedScript | null;
}

/** Where the shell is after a command, by how it ended. */
interface Flow {
  readonly ok: Folders;
  readonly fail: Folders;
}

const stay = (folders: Folders): Flow => ({ ok: folders, fail: folders });
const either = (flow: Flow): Folders => joinFolders(flow.ok, flow.fail);

export function readShell(
  text: string,
  at: { readonly cwd: string; readonly home: string | null },
): ShellRead {
  const reading = new Reading(at.home);
  const walk: Walk = {
    reading,
    variables: new Map(),
    commands: 0,
    nodes: 0,
    searched: 0,
    seen: null,
    readTree: (script, place) => {
      walkScript(walk, script, place);
    },
  };
  const folders: Folders = { all: [at.cwd], unknown: false };
  const script = readText(walk, text, topPlace(walk, text, folders));
  return { reading, script };
}

function topPlace(walk: Walk, text: string, folders: Folders): Place {
  return {
    reading: walk.reading,
    folders,
    depth: 0,
    scripts: 0,
    piped: false,
    heredocs: [],
    text,
    readScript: (inner, place) => {
      walk.reading.doubt('it has a script in a word');
      if (place.scripts >= SCRIPT_DEPTH_MAX)
        walk.reading.cut('scripts are nested too deep to be read');
      else
        readText(walk, inner, {
          ...place,
          text: inner,
          scripts: place.scripts + 1,
          piped: false,
          heredocs: [],
        });
    },
    readCommand: judgeCommand,
  };
}

function readText(walk: Walk, text: string, place: Place): ParsedScript | null {
  const { reading } = walk;
  if (text.length > COMMAND_MAX) {
    reading.cut('it is too long to be read');
    return null;
  }
  if (text.length > OPENERS_MAX && countOpeners(text) > OPENERS_MAX) {
    reading.cut('it has more brackets in it than can be followed');
    return null;
  }
  let script: ParsedScript | null = null;
  try {
    script = parse(text);
    walkScript(walk, script, place);
  } catch (error) {
    // A stack that ends: the text is nested deeper than anything a person writes.
    if (!(error instanceof RangeError)) throw error;
    reading.cut('it is nested too deep to be read');
    roughly(walk, text, place);
    return null;
  }
  return script;
}

function countOpeners(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // ( [ { `
    if (code === 40 || code === 91 || code === 123 || code === 96) count += 1;
  }
  return count;
}

function walkScript(walk: Walk, script: ParsedScript, place: Place): Folders {
  const { errors } = script;
  if (errors !== undefined && errors.length > 0) {
    walk.reading.doubt(`it does not parse as a shell command: ${errors[0]?.message ?? ''}`);
    roughly(walk, place.text, { ...place, depth: place.depth + 1 });
  }
  return walkList(walk, script.commands, place);
}

function walkList(walk: Walk, list: readonly Statement[], place: Place): Folders {
  let { folders } = place;
  for (const statement of list) {
    const here = folders === place.folders ? place : { ...place, folders };
    if (statement.background === true) walk.reading.doubt('it leaves a command running behind it');
    const flow = walkNode(walk, statement.command, here);
    if (statement.background !== true) folders = either(flow);
  }
  return folders;
}

function walkNode(walk: Walk, node: PipelineNode | Statement['command'], place: Place): Flow {
  if (place.depth > SHELL_DEPTH_MAX) {
    walk.reading.cut('it is nested too deep to be read');
    roughly(walk, place.text, place);
    return stay(place.folders);
  }
  if (isCompound(node)) return walkCompound(walk, node, place);
  switch (node.type) {
    case 'AndOr':
      return walkAndOr(walk, node.commands, { operators: node.operators, place });
    case 'Pipeline': {
      const single = node.commands.length === 1;
      for (const prefix of node.prefixes) {
        walk.reading.doubt(prefix.type === 'Time' ? 'it has `time` in it' : 'it has `!` in it');
      }
      let flow = stay(place.folders);
      for (const [index, command] of node.commands.entries()) {
        flow = walkNode(walk, command, index === 0 ? place : { ...place, piped: true });
      }
      return single ? stay(either(flow)) : stay(place.folders);
    }
    case 'Command':
      return walkCommand(walk, node, place);
    case 'Redirected': {
      for (const redirect of node.redirects) walkRedirect(walk, redirect, place);
      const heredocs = heredocsOf(node.redirects);
      return walkNode(walk, node.command, heredocs.length === 0 ? place : { ...place, heredocs });
    }
    case 'Function':
    case 'Coproc':
      walk.reading.doubt(
        node.type === 'Function' ? 'it defines a function' : 'it has a coproc in it',
      );
      walkBody(walk, node.body, place);
      return stay(place.folders);
  }
}

function walkAndOr(
  walk: Walk,
  commands: readonly PipelineNode[],
  o: { readonly operators: readonly ('&&' | '||')[]; readonly place: Place },
): Flow {
  const { place } = o;
  let flow: Flow | null = null;
  for (const [index, command] of commands.entries()) {
    if (flow === null) {
      flow = walkNode(walk, command, place);
      continue;
    }
    const and = o.operators[index - 1] === '&&';
    const folders: Folders = and ? flow.ok : flow.fail;
    const next: Flow = walkNode(walk, command, { ...place, folders });
    flow = and
      ? { ok: next.ok, fail: joinFolders(flow.fail, next.fail) }
      : { ok: joinFolders(flow.ok, next.ok), fail: next.fail };
  }
  return flow ?? stay(place.folders);
}

function walkBody(
  walk: Walk,
  body: CommandNode | { type: 'CompoundList'; commands: readonly Statement[] },
  place: Place,
): Folders {
  const inner: Place = { ...place, depth: place.depth + 1 };
  if (body.type === 'CompoundList') return walkList(walk, body.commands, inner);
  return either(walkNode(walk, body, inner));
}

const NAMES: Readonly<Record<CompoundCommand['type'], string>> = {
  If: 'if',
  For: 'for',
  ArithmeticFor: 'for ((',
  Select: 'select',
  While: 'while',
  Subshell: '(',
  BraceGroup: '{',
  Case: 'case',
  TestCommand: '[[',
  ArithmeticCommand: '((',
};

function isCompound(node: PipelineNode | Statement['command']): node is CompoundCommand {
  return Object.hasOwn(NAMES, node.type);
}

function walkCompound(walk: Walk, node: CompoundCommand, place: Place): Flow {
  if (node.type === 'Subshell') {
    walkBody(walk, node.body, place);
    return stay(place.folders);
  }
  walk.reading.doubt(`it has \`${NAMES[node.type]}\` in it`);
  if (node.type === 'BraceGroup') return stay(walkBody(walk, node.body, place));
  if (node.type === 'For' || node.type === 'Select') walk.variables.set(node.name.text, null);
  // A loop may start again where its last round ended; so anything may be the folder once one has moved.
  const inner: Place = { ...place, depth: place.depth + 1 };
  let after = place.folders;
  const visit = (child: SyntaxNode): void => {
    if (child.type === 'CompoundList')
      after = joinFolders(after, walkList(walk, child.commands, { ...inner, folders: after }));
    else if (child.type === 'Elif' || child.type === 'CaseItem') forEachChild(child, visit);
    else if (child.type === 'Word') wordOf(walk, child, inner);
    else visitParts(walk, child, inner);
  };
  forEachChild(node, visit);
  if (after === place.folders) return stay(after);
  const loops =
    node.type === 'For' ||
    node.type === 'While' ||
    node.type === 'Select' ||
    node.type === 'ArithmeticFor';
  return stay(loops ? { all: after.all, unknown: true } : after);
}

function walkCommand(walk: Walk, node: Command, place: Place): Flow {
  walk.commands += 1;
  if (walk.commands > COMMANDS_MAX) {
    walk.reading.cut('it has too many commands to look at each');
    return stay(place.folders);
  }
  const { prefix, name, suffix } = node;
  if (prefix.length + suffix.length > WORDS_MAX) {
    walk.reading.cut('a command in it has too many words to look at each');
    return stay(place.folders);
  }
  const argv: Arg[] = [];
  let heredocs = place.heredocs;
  for (const part of prefix) {
    if (part.type === 'Assignment')
      walkAssignment(walk, part, { place, alone: name === undefined });
    else heredocs = walkRedirect(walk, part, place) ?? heredocs;
  }
  if (name === undefined) {
    // What stands behind without a name can only be redirects.
    for (const part of suffix) if (isRedirection(part)) walkRedirect(walk, part, place);
    return stay(place.folders);
  }
  argv.push(wordOf(walk, name, place));
  for (const part of suffix) {
    if (isRedirection(part)) heredocs = walkRedirect(walk, part, place) ?? heredocs;
    else argv.push(part.type === 'Word' ? wordOf(walk, part, place) : setting(walk, part, place));
  }
  const here = heredocs === place.heredocs ? place : { ...place, heredocs };
  judgeCommand(argv, here);
  return folderAfter(walk, argv, place.folders);
}

function isRedirection(part: CommandArgument | Redirection): part is Redirection {
  return part.type === 'Redirect' || part.type === 'HereString' || part.type === 'HereDoc';
}

/** `cd` and its kin. */
function folderAfter(walk: Walk, argv: readonly Arg[], folders: Folders): Flow {
  const [name, ...rest] = argv;
  const known = name?.known === true;
  const which = name?.text ?? '';
  if (known && !MOVES.has(which)) return stay(folders);
  const anywhere: Flow = { ok: { all: folders.all, unknown: true }, fail: folders };
  if (!known) return anywhere;
  if (which !== 'cd' && which !== 'chdir') {
    if (which === 'builtin' || which === 'command') {
      const behind = rest.findIndex((arg) => !arg.known || !arg.text.startsWith('-'));
      return behind < 0 ? stay(folders) : folderAfter(walk, rest.slice(behind), folders);
    }
    if (which !== 'eval' && which !== 'source' && which !== '.')
      walk.reading.doubt(`${which} changes the folder`);
    return anywhere;
  }
  const targets = rest.filter((arg) => !/^-[LPe@]+$/.test(arg.text) && arg.text !== '--');
  const target =
    targets.length === 0 && walk.reading.home !== null ? literal(walk.reading.home) : targets[0];
  if (
    target === undefined ||
    targets.length > 1 ||
    !target.known ||
    target.glob !== null ||
    target.text === '-'
  ) {
    walk.reading.doubt('which folder `cd` goes to is not known');
    return anywhere;
  }
  const { text } = target;
  if (targets.length === 0) {
    const use = {
      access: 'list',
      path: target,
      folders,
      sure: true,
      deep: 'no',
      by: which,
    } as const;
    walk.reading.uses.push(use);
  }
  let chars = 0;
  for (const one of folders.all) chars += one.length + text.length;
  if (!walk.reading.spend(chars)) return anywhere;
  if (text.length > PATH_MAX || folders.all.some((one) => one.length > PATH_MAX)) {
    walk.reading.cut('the folder that `cd` goes to has too long a path');
    return anywhere;
  }
  if (text.startsWith('/')) return { ok: { all: [text], unknown: false }, fail: folders };
  return {
    ok: { all: folders.all.map((one) => `${one}/${text}`), unknown: folders.unknown },
    fail: folders,
  };
}

const MOVES: ReadonlySet<string> = new Set([
  'cd',
  'chdir',
  'pushd',
  'popd',
  'builtin',
  'command',
  'eval',
  'source',
  '.',
]);

/**
 * A call taken apart: its tool by its one name, and the small facts it stands for. Whatever is wrong with the call is a
 * fact too; nothing here throws.
 *
 * Invariants
 * - P13 Whatever the call contains, it is taken apart in bounded time.
 * - P17 A field of a call that asks for a limit of its own (folder, mode, sandbox) is a request, never a fact.
 */
import type { DecisionContext } from './decision.ts';
import { COMMAND_MAX, PATH_MAX } from './limits.ts';
import { type Target, targetOf } from './net.ts';
import { type Arg, literal } from './shell/arg.ts';
import { Reading } from './shell/reading.ts';
import { readShell, type ShellRead } from './shell/walk.ts';
import { type ToolName, toolNameOf } from './tool-names.ts';

export interface Facts {
  readonly tool: ToolName | null;
  /** The tool's name as given. */
  readonly given: string;
  /** Why the call is no call at all. */
  readonly malformed: string | null;
  readonly reading: Reading;
  readonly shell: ShellRead | null;
  readonly net: readonly Target[];
  readonly mcp: { readonly server: string; readonly name: string } | null;
  readonly spawn: string | null;
  readonly escalations: readonly string[];
  /** Text that shows people something other than what it is. */
  readonly odd: boolean;
  /** The whole command; searched for denied names as it stands when it was too long to be read. */
  readonly text: string | null;
}

type Input = Readonly<Record<string, unknown>>;

export function factsOf(tool: unknown, input: unknown, context: DecisionContext): Facts {
  const given = typeof tool === 'string' ? tool : '';
  const base: Draft = {
    tool: given === '' ? null : toolNameOf(given),
    given,
    malformed: given === '' ? 'a call names its tool' : null,
    reading: new Reading(context.home),
    shell: null,
    net: NONE,
    mcp: null,
    spawn: null,
    escalations: NONE,
    odd: false,
    text: null,
  };
  if (base.tool === null) return base;
  if (!isInput(input)) {
    base.malformed = 'the input of a call is an object';
    return base;
  }
  if (base.tool.kind === 'bash') bashFacts(base, input, context);
  const facts = base.tool.kind === 'bash' ? base : { ...ofTool(base, input, context) };
  facts.escalations = escalationsOf(base.tool, input);
  return facts;
}

type Draft = { -readonly [K in keyof Facts]: Facts[K] };
const NONE: readonly never[] = [];

function isInput(value: unknown): value is Input {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function ofTool(base: Facts, input: Input, context: DecisionContext): Facts {
  switch (base.tool?.kind) {
    case 'read':
      return fileFacts(base, input, context, { access: 'read', needed: true });
    case 'search':
      return fileFacts(base, input, context, {
        access: base.tool.name === 'grep' ? 'read' : 'list',
        needed: false,
      });
    case 'write':
      return fileFacts(base, input, context, { access: 'write', needed: true });
    case 'net': {
      const url = pick(input, ['url', 'uri', 'href']);
      return typeof url === 'string'
        ? { ...base, net: [targetOf(url)] }
        : base.tool.name === 'web_search'
          ? base
          : { ...base, malformed: `${base.given} needs a url` };
    }
    case 'mcp':
      return serverFacts(base, input, context);
    case 'spawn': {
      const profile = pick(input, ['profile', 'agent', 'name']);
      return { ...base, spawn: typeof profile === 'string' ? profile : '' };
    }
    case 'bash':
    case 'team':
    case undefined:
      return base;
  }
}

function pick(input: Input, keys: readonly string[]): unknown {
  for (const key of keys) if (Object.hasOwn(input, key)) return input[key];
  return undefined;
}

/** What no shell and no file system takes as it was written. */
function badText(text: string): string | null {
  if (text.includes('\0')) return 'it has a NUL character in it';
  return /\p{Surrogate}/u.test(text) ? 'it is no valid Unicode' : null;
}

/** Characters that are not printable ASCII, tab or newline; what bytes that are no UTF-8 were read as is one of them. */
function isOdd(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 126 || (code < 32 && code !== 9 && code !== 10)) return true;
  }
  return false;
}

function bashFacts(facts: Draft, input: Input, context: DecisionContext): void {
  const command = pick(input, ['command', 'cmd', 'script']);
  if (typeof command !== 'string') {
    facts.malformed = 'bash needs a command';
    return;
  }
  facts.odd = isOdd(command);
  if (facts.odd) facts.malformed = badText(command);
  else if (/^\s*$/.test(command)) facts.malformed = 'the command is empty';
  if (facts.malformed !== null) return;
  facts.text = command;
  if (command.length > COMMAND_MAX) {
    facts.reading.cut(`it is longer than ${COMMAND_MAX} characters`);
    return;
  }
  facts.shell = readShell(command, { cwd: context.cwd ?? context.root, home: context.home });
  facts.reading = facts.shell.reading;
}

function fileFacts(
  base: Facts,
  input: Input,
  context: DecisionContext,
  o: { readonly access: 'read' | 'write' | 'list'; readonly needed: boolean },
): Facts {
  const given = pick(input, [
    'path',
    'file_path',
    'filePath',
    'file',
    'filename',
    'directory',
    'dir',
  ]);
  if (given === undefined && o.needed) return { ...base, malformed: `${base.given} needs a path` };
  const path = given ?? '.';
  if (typeof path !== 'string') return { ...base, malformed: 'a path is text' };
  const malformed =
    badText(path) ??
    (path.length > PATH_MAX ? 'the path is too long' : path === '' ? 'the path is empty' : null);
  if (malformed !== null) return { ...base, malformed };
  const { reading } = base;
  const arg = pathArg(path, context.home);
  if (!arg.known) reading.doubt('whose home that is, is not known');
  const by = base.tool?.name ?? base.given;
  const add = (folder: string): void => {
    const folders = { all: [folder], unknown: false };
    reading.uses.push({ access: o.access, path: arg, folders, sure: true, deep: 'no', by });
  };
  add(context.cwd ?? context.root);
  // P17: a folder that the call names is not where it runs; where it would lead counts as well, for deny.
  const asked = pick(input, ['cwd', 'root', 'workdir', 'working_directory']);
  if (typeof asked === 'string' && asked.startsWith('/') && badText(asked) === null) add(asked);
  return base;
}

/** File tools know `~` as shells do, so that nobody means one thing and gets another. */
function pathArg(path: string, home: string | null): Arg {
  if (path !== '~' && !path.startsWith('~/')) return literal(path);
  return home === null ? { ...literal(path), known: false } : literal(home + path.slice(1));
}

const LIMITS =
  /^(mode|permission_?mode|sandbox\w*|no_?sandbox|unsandboxed|bypass\w*|dangerous\w*|dangerously\w*|escalate\w*|with_escalated\w*|privileged|sudo|as_?root|auto_?approve\w*|approved|yes|force_?allow|actor|as|user|cwd|root|workdir|working_directory|env|environment)$/i;
const FREE_LIMITS: Readonly<Record<string, ReadonlySet<string>>> = {
  task: new Set(['mode']),
  grep: new Set(['mode']),
};

function escalationsOf(tool: ToolName, input: Input): readonly string[] {
  if (tool.kind === 'mcp' || tool.kind === 'team') return NONE;
  const free = Object.hasOwn(FREE_LIMITS, tool.name) ? FREE_LIMITS[tool.name] : undefined;
  const keys = Object.keys(input);
  if (keys.length === 1 && keys[0] === 'command') return NONE;
  return keys.slice(0, 64).filter((key) => LIMITS.test(key) && free?.has(key) !== true);
}

const ARGUMENTS_MAX = 1_000;

function serverFacts(base: Facts, input: Input, context: DecisionContext): Facts {
  const wire = base.tool?.server;
  const server = wire ?? pick(input, ['server']);
  const name = wire === undefined ? pick(input, ['name', 'tool']) : base.tool?.name;
  if (typeof server !== 'string' || typeof name !== 'string' || server === '' || name === '') {
    return { ...base, malformed: 'a call of a tool server names the server and the tool' };
  }
  const open: unknown[] = [
    wire === undefined ? pick(input, ['arguments', 'args', 'input']) : input,
  ];
  for (let count = 0; open.length > 0 && count < ARGUMENTS_MAX; count += 1) {
    const value = open.pop();
    if (typeof value === 'string') addPath(base.reading, value, context);
    else if (Array.isArray(value)) open.push(...value.slice(0, ARGUMENTS_MAX));
    else if (isInput(value)) open.push(...Object.values(value).slice(0, ARGUMENTS_MAX));
  }
  if (open.length > 0) base.reading.doubt('it has too many arguments to look at each');
  return { ...base, mcp: { server, name } };
}

/** An argument that can only be a path is judged as one. */
function addPath(reading: Reading, value: string, context: DecisionContext): void {
  if (value.length > PATH_MAX) return;
  const text = value.startsWith('file://') ? value.slice(7) : value;
  const looks =
    /^(\/|~\/|\.\.?\/)/.test(text) ||
    /(^|\/)\.\.(\/|$)/.test(text) ||
    /^[\w.-]+(\/[\w.-]+)*$/.test(text);
  if (!looks || text.includes('\0')) return;
  const folders = { all: [context.cwd ?? context.root], unknown: false };
  reading.uses.push({
    access: 'read',
    path: pathArg(text, context.home),
    folders,
    sure: false,
    deep: 'no',
    by: 'mcp',
  });
}

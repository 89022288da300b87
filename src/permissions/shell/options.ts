/** How a program reads its words: which are options, which are values of options, which are operands. */
import type { Arg } from './arg.ts';

export interface Option {
  /** Without dashes; a long one as written, perhaps shortened. */
  readonly name: string;
  readonly long: boolean;
  readonly value: Arg | null;
}

export interface Options {
  readonly options: readonly Option[];
  readonly operands: readonly Arg[];
  /** A glob that may turn into an option, when a file has such a name. */
  readonly wild: boolean;
}

export interface OptionGrammar {
  /** Letters of short options that take a value. */
  readonly short: string;
  /** Names of long options that take a value. */
  readonly long: ReadonlySet<string>;
  /** Whether the first operand ends the options (`timeout 5 ls -l`). */
  readonly stops?: boolean;
  /** Long options have one dash (`find`, `java`): each word with a dash is one option without a value. */
  readonly single?: boolean;
}

export const NO_OPTIONS: OptionGrammar = { short: '', long: new Set() };

/** An argument with other text, for the part of a word after `=` or after a letter. */
export function partOf(arg: Arg, from: number): Arg {
  const glob = arg.glob === null ? null : arg.glob.slice(arg.glob.indexOf('=') + 1);
  return { ...arg, text: arg.text.slice(from), glob, shell: '' };
}

export function readOptions(args: readonly Arg[], grammar: OptionGrammar): Options {
  const options: Option[] = [];
  const operands: Arg[] = [];
  let wild = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at];
    if (arg === undefined) break;
    const { text } = arg;
    if (text === '--') {
      operands.push(...args.slice(at + 1));
      break;
    }
    if (arg.glob !== null && /^[*?[]/.test(text)) wild = true;
    if (text.length < 2 || !text.startsWith('-')) {
      if (grammar.stops === true) {
        operands.push(...args.slice(at));
        break;
      }
      operands.push(arg);
    } else if (text.startsWith('--')) {
      at += readLong(options, arg, args[at + 1], grammar);
    } else if (grammar.single === true) {
      options.push({ name: text.slice(1), long: true, value: null });
    } else at += readCluster(options, arg, args[at + 1], grammar);
  }
  return { options, operands, wild };
}

/** Both return how many further words were used up. */
function readLong(
  options: Option[],
  arg: Arg,
  next: Arg | undefined,
  grammar: OptionGrammar,
): number {
  const equals = arg.text.indexOf('=');
  if (equals > 0) {
    const name = arg.text.slice(2, equals);
    options.push({ name, long: true, value: partOf(arg, equals + 1) });
    return 0;
  }
  const name = arg.text.slice(2);
  const takes = next !== undefined && takesValue(name, grammar.long);
  options.push({ name, long: true, value: takes ? next : null });
  return takes ? 1 : 0;
}

function takesValue(name: string, long: ReadonlySet<string>): boolean {
  if (long.has(name)) return true;
  if (name.length < 2) return false;
  for (const one of long) if (one.startsWith(name)) return true;
  return false;
}

function readCluster(
  options: Option[],
  arg: Arg,
  next: Arg | undefined,
  grammar: OptionGrammar,
): number {
  for (let at = 1; at < arg.text.length; at += 1) {
    const name = arg.text[at] ?? '';
    if (!grammar.short.includes(name)) {
      options.push({ name, long: false, value: null });
      continue;
    }
    const rest = arg.text.slice(at + 1);
    if (rest === '') {
      options.push({ name, long: false, value: next ?? null });
      return next === undefined ? 0 : 1;
    }
    options.push({ name, long: false, value: partOf(arg, at + 1) });
    return 0;
  }
  return 0;
}

/** Whether `option` is, or may be short for, one of `names` (letters are short options, words long ones). */
export function isOption(option: Option, names: ReadonlySet<string>): boolean {
  if (names.has(option.name) && option.long === option.name.length > 1) return true;
  if (!option.long || option.name.length < 1) return false;
  for (const one of names) if (one.length > 1 && one.startsWith(option.name)) return true;
  return false;
}

/**
 * Which git commands stay what their name says. For allow rules: global options and options that run programs or write
 * files are hazards. For deny and ask rules: global options are skipped to find the subcommand.
 */
import type { Arg } from './arg.ts';
import { isOption, type Options, readOptions } from './options.ts';

const GLOBAL_VALUES = new Set([
  'C',
  'c',
  'git-dir',
  'work-tree',
  'namespace',
  'super-prefix',
  'config-env',
  'exec-path',
  'attr-source',
  'list-cmds',
]);
/** Do nothing but change how it looks. */
const GLOBAL_FREE: ReadonlySet<string> = new Set([
  'no-pager',
  'no-optional-locks',
  'literal-pathspecs',
  'P',
]);

export interface GitWords {
  /** Where the subcommand stands in the words after `git`; their number when there is none. */
  readonly at: number;
  /** A global option that is not free. */
  readonly global: string | null;
}

export function gitWords(args: readonly Arg[]): GitWords {
  let global: string | null = null;
  let at = 0;
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    if (!text.startsWith('-')) break;
    const name = text.replace(/^--?/, '').split('=')[0] ?? '';
    if (!GLOBAL_FREE.has(name)) global ??= text;
    // `-C dir`, `--git-dir dir`; `--exec-path` alone only prints.
    if (!text.includes('=') && GLOBAL_VALUES.has(name) && name !== 'exec-path') at += 1;
    else if (/^-[Cc]$/.test(text)) at += 1;
  }
  return { at, global };
}

export const HAZARDS: ReadonlySet<string> = new Set(
  `upload-pack receive-pack exec open-files-in-pager ext-diff textconv template extcmd tool x O output-directory
  show-signature gpg-sign S recurse-submodules edit-description
  pathspec-from-file config-env no-index trailer`.split(/\s+/),
);
const FREE_SPELLINGS: ReadonlySet<string> = new Set([
  'text',
  'ext',
  'no-ext-diff',
  'no-textconv',
  'no-gpg-sign',
]);

/** Without the global options that only change how it looks: `git --no-pager log` is `git log`. */
export function withoutFree(argv: readonly Arg[]): readonly Arg[] {
  let from = 1;
  while (
    GLOBAL_FREE.has(argv[from]?.text.replace(/^--?/, '') ?? '') &&
    argv[from]?.text.startsWith('-') === true
  )
    from += 1;
  const [name] = argv;
  return from === 1 || name === undefined ? argv : [name, ...argv.slice(from)];
}

/** Why this git command is more than its name says; null when it is not. `args`: after the subcommand. */
export function gitHazard(command: string, args: readonly Arg[]): string | null {
  const read = gitOptions(command, args);
  for (const option of read.options) {
    if (FREE_SPELLINGS.has(option.name)) continue;
    if (command === 'commit' && option.name === 'S') return 'git commit -S runs a program to sign';
    if (!option.long && !RUNS_SHORT(command).has(option.name)) continue;
    if (isOption(option, HAZARDS))
      return `git ${command} --${option.name} may run a program or leave the tree`;
  }
  if (read.wild) return 'a glob may turn into an option of git';
  const remote = read.operands.find((arg) => /^[A-Za-z][\w+.-]*::/.test(arg.text));
  if (remote !== undefined) return 'a transport helper of git runs a program';
  const first = read.operands[0]?.text;
  if (
    command === 'config' ||
    command === 'difftool' ||
    command === 'mergetool' ||
    command === 'interpret-trailers'
  ) {
    return `git ${command} may run or set programs`;
  }
  if (command === 'bisect' && first === 'run') return 'git bisect run runs a program';
  if (command === 'submodule' && first === 'foreach') return 'git submodule foreach runs a program';
  return null;
}

/** Short options that are hazards, by command: `-O` of grep opens a pager, `-x` of rebase runs a command. */
function RUNS_SHORT(command: string): ReadonlySet<string> {
  if (command === 'grep') return new Set(['O']);
  if (command === 'rebase' || command === 'difftool') return new Set(['x']);
  if (command === 'commit' || command === 'tag' || command === 'merge') return new Set(['S']);
  return new Set(['O']);
}

const VALUES: Readonly<Record<string, string>> = {
  commit:
    'm F C c t author date message file template reuse-message reedit-message fixup squash cleanup',
  log: 'n L G S max-count skip since after until before author committer grep format pretty date diff-filter output word-diff-regex',
  diff: 'U G S l output diff-filter unified word-diff-regex',
  show: 'n U format pretty output date diff-filter',
};

export function gitOptions(command: string, args: readonly Arg[]): Options {
  const values = (Object.hasOwn(VALUES, command) ? VALUES[command] : 'output')?.split(' ') ?? [];
  return readOptions(args, {
    short: values.filter((one) => one.length === 1).join(''),
    long: new Set(values.filter((one) => one.length > 1)),
  });
}

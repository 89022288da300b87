/**
 * What common programs do with their words: which are files they read, write or remove, and which options make them run
 * something or write somewhere. A program that is not listed may do anything with each of its words.
 *
 * Invariants
 * - P10 An option that runs a program, or writes a file that is not named as one, is a hazard: no prefix rule allows it.
 */
import type { OptionGrammar } from './options.ts';

export type Role = 'data' | 'read' | 'list' | 'write' | 'delete' | 'maybe';

export interface Program extends OptionGrammar {
  readonly operands: Role;
  /** The first operand, unless one of `firstGiven` stands there (the pattern of grep, the script of sed). */
  readonly first: Role | null;
  readonly firstGiven: ReadonlySet<string>;
  /** The last operand when there are two or more (the target of cp). */
  readonly last: Role | null;
  /** Options whose value is a file that is read, or written. */
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
  readonly hazards: ReadonlySet<string>;
  /** Options that make it go into folders; `always`: it does anyway, but for hidden names. */
  readonly recursive: ReadonlySet<string>;
  readonly always: boolean;
}

type Lists = Partial<
  Record<'values' | 'firstGiven' | 'reads' | 'writes' | 'hazards' | 'recursive', string>
>;
interface Short extends Lists {
  readonly first?: Role;
  readonly last?: Role;
  readonly always?: boolean;
}

const words = (text: string | undefined): string[] =>
  text?.split(/\s+/).filter((one) => one !== '') ?? [];
/** By name. */
export const PROGRAMS: Map<string, Program> = new Map();

function add(names: string, operands: Role, o: Short = {}): void {
  const values = [...words(o.values), ...words(o.reads), ...words(o.writes)];
  const program: Program = {
    operands,
    first: o.first ?? null,
    firstGiven: new Set(words(o.firstGiven)),
    last: o.last ?? null,
    reads: new Set(words(o.reads)),
    writes: new Set(words(o.writes)),
    hazards: new Set(words(o.hazards)),
    recursive: new Set(words(o.recursive)),
    always: o.always ?? false,
    short: values.filter((one) => one.length === 1).join(''),
    long: new Set(values.filter((one) => one.length > 1)),
  };
  for (const name of words(names)) PROGRAMS.set(name, program);
}

export const programNamed = (name: string): Program | undefined => PROGRAMS.get(name);

add(
  'echo true false : sleep seq pwd which basename dirname whoami id uname nproc tty arch uptime expr yes printenv factor numfmt tput clear groups logname hostid getconf',
  'data',
);
add('printf', 'data');
add('ping ping6', 'data', { values: 'c i I l m M n p Q s S t T w W' });
add('date', 'data', { values: 'd date I rfc-3339', reads: 'f file r reference', hazards: 's set' });
add('tr', 'data');
add('cat tac rev', 'read');
add('head', 'read', { values: 'n c lines bytes' });
add('tail', 'read', { values: 'n c s lines bytes sleep-interval pid max-unchanged-stats' });
add('wc', 'read', { reads: 'files0-from', values: 'total' });
add('nl', 'read', { values: 'b d f h i l n s v w' });
add('fold fmt expand unexpand', 'read', { values: 'w t g p width tabs goal prefix' });
add('cut', 'read', { values: 'b c d f bytes characters delimiter fields output-delimiter' });
add('paste', 'read', { values: 'd delimiters' });
add('column', 'read', { values: 'c s o N l' });
add('join', 'read', { values: 'a e i j 1 2 o t v' });
add('comm', 'read', { values: 'output-delimiter' });
add('cmp', 'read', { values: 'i n ignore-initial bytes' });
add('diff', 'read', {
  values:
    'C U I F W x X label horizon-lines width exclude ignore-matching-lines show-function-line tabsize line-format old-line-format new-line-format unchanged-line-format context unified color palette',
  reads: 'from-file to-file exclude-from',
  hazards: 'l paginate D ifdef',
  recursive: 'r recursive',
});
add('md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum', 'read', {
  values: 'a algorithm l length',
});
add('base64 base32 basenc', 'read', { values: 'w wrap' });
add('od', 'read', { values: 'A j N S t w' });
add('hexdump hd', 'read', { values: 'n s e', reads: 'f' });
add('strings', 'read', { values: 'n e t' });
add('file', 'list', {
  values: 'F P e',
  reads: 'f files-from m magic-file',
  hazards: 'C compile z',
});
add('sort', 'read', {
  values: 'k t S key field-separator buffer-size batch-size parallel sort',
  reads: 'files0-from random-source',
  writes: 'o output T temporary-directory',
  hazards: 'compress-program',
});
add('uniq', 'read', {
  values: 'f s w skip-fields skip-chars check-chars all-repeated group',
  last: 'write',
});
add('xxd', 'read', { values: 'c g l n o s R cols len offset seek', last: 'write' });
add('ls dir vdir', 'list', { values: 'I w T ignore hide width tabsize' });
add('stat readlink realpath namei', 'list', {
  values: 'c format printf relative-to relative-base',
});
add('test [', 'list');
add('du df', 'list', {
  values: 'd B t max-depth block-size exclude type',
  reads: 'X exclude-from files0-from',
});
add('tree', 'list', { values: 'L P I H T', writes: 'o' });
add('grep egrep fgrep zgrep', 'read', {
  values:
    'e m A B C D d regexp max-count after-context before-context context label include exclude exclude-dir binary-files color colour directories devices',
  reads: 'f file exclude-from',
  first: 'data',
  firstGiven: 'e f regexp file',
  recursive: 'r R recursive dereference-recursive d directories',
});
add('rg', 'read', {
  values:
    'e m A B C g t T j M r E regexp max-count after-context before-context context glob iglob type type-not max-depth max-filesize replace encoding engine sort sortr color colors threads max-columns',
  reads: 'f file ignore-file',
  first: 'data',
  firstGiven: 'e f regexp file files type-list',
  hazards: 'pre hostname-bin z search-zip',
  always: true,
});
add('ag ack', 'read', { first: 'data', hazards: 'pager output ackrc', always: true });
add('jq', 'read', {
  values: 'indent tab',
  reads: 'f from-file L',
  first: 'data',
  firstGiven: 'f from-file',
  hazards: 'argfile slurpfile rawfile argjson jsonargs',
});
add('sed', 'read', {
  values: 'e l expression line-length',
  first: 'data',
  firstGiven: 'e f expression file',
  reads: 'f file',
});
add('cd chdir', 'list');
add('touch', 'write', { values: 'd t date time', reads: 'r reference' });
add('tee', 'write', { values: 'output-error' });
add('mkdir', 'write', { values: 'm mode Z context' });
add('truncate', 'write', { values: 's size', reads: 'r reference' });
add('mkfifo mknod', 'write', { values: 'm mode' });
add('chmod chown chgrp', 'write', {
  first: 'data',
  firstGiven: 'reference',
  reads: 'reference',
  recursive: 'R recursive',
});
add('rm rmdir unlink shred', 'delete', { recursive: 'r R recursive' });
add('cp install', 'read', {
  values: 'm S g o mode suffix owner group',
  writes: 't target-directory',
  last: 'write',
  recursive: 'r R a recursive archive',
});
add('mv', 'delete', { values: 'S suffix', writes: 't target-directory', last: 'write' });
add('ln', 'read', { values: 'S suffix', writes: 't target-directory', last: 'write' });
add('split csplit', 'read', { values: 'a b C l n t', hazards: 'filter', last: 'write' });
add('patch', 'write', { values: 'p F d', reads: 'i input', writes: 'o r output reject-file' });
add('gzip gunzip bzip2 bunzip2 xz unxz zstd', 'write');
add('zcat bzcat xzcat zstdcat', 'read');
add('unzip', 'read', { writes: 'd', last: 'maybe' });
add('zip', 'read', { first: 'write', hazards: 'TT unzip-command T', recursive: 'r' });
add('wget', 'maybe', {
  writes: 'O o a P output-document output-file directory-prefix',
  hazards: 'use-askpass e execute config i input-file',
});
add('curl', 'maybe', {
  values: 'X H d u A e b m',
  writes: 'o output c cookie-jar D dump-header trace trace-ascii output-dir stderr',
  reads: 'K config T upload-file',
});
add('man', 'data', { hazards: 'P H pager html' });
add('ps pgrep lsof top free vmstat', 'data', { hazards: 'o' });

/** Read no file and run nothing, whatever their words are: what gives them words unseen does no harm. */
export const INERT: ReadonlySet<string> = new Set([
  'echo',
  'true',
  'false',
  ':',
  'basename',
  'dirname',
]);

/** Run code that no rule can read: their text, or a file that an actor can write. */
export const INTERPRETERS: ReadonlySet<string> = new Set(
  words(`python pypy pypy3 ipython node nodejs deno bun tsx ts-node perl ruby irb php lua luajit tclsh
    expect wish rscript r julia ghci runghc scala groovy awk gawk mawk nawk bc dc make gmake ninja just ed ex vi vim
    nvim view emacs nano gdb lldb sqlite3 psql mysql m4 osascript pwsh powershell sh bash dash zsh ksh mksh ash fish rbash
    csh tcsh source . trap alias hash enable mapfile readarray compgen complete bind history fc let eval
    ssh scp sftp rsync socat nc ncat netcat telnet docker podman kubectl at batch crontab less more
    gpg openssl java jshell swift elixir iex erl ocaml racket guile sbcl clisp octave`),
);
/** Whether a program of this name runs code that no rule can read; `python3.12` is python. */
export function isInterpreter(name: string): boolean {
  return INTERPRETERS.has(name) || /^python\d/.test(name);
}

export const SHELLS: ReadonlySet<string> = new Set(
  words('bash sh dash zsh ksh mksh ash fish rbash csh tcsh'),
);
/** First words that stand for whatever comes after them: no allow rule may begin with one and end there. */
export const RUNNERS: ReadonlySet<string> = new Set(
  words(`env sudo doas su timeout nice nohup command exec builtin time xargs setsid stdbuf ionice chrt taskset flock
    watch script chroot unshare nsenter parallel strace ltrace npx pnpx bunx busybox toybox pkexec runuser systemd-run
    setpriv eval source . find`),
);

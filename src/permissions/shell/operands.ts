/**
 * The words of one program as files and hazards. What is not known of a program is taken for the worst that its words may
 * be: each may be a path.
 */
import { type Arg, literal } from './arg.ts';
import { gitHazard, gitOptions, gitWords } from './git-options.ts';
import { isOption, type Option, type Options, partOf, readOptions } from './options.ts';
import { baseName, type Place } from './place.ts';
import { type Program, programNamed, type Role } from './programs.ts';
import { sedFiles, sedHazard } from './sed.ts';

export interface Judged {
  /** Base name of the program. */
  readonly name: string;
  /** The words after it. */
  readonly args: readonly Arg[];
  readonly place: Place;
}

export function judgeOperands(one: Judged): void {
  if (one.name === 'git') {
    judgeGit(one);
    return;
  }
  if (one.name === 'find') {
    judgeFind(one);
    return;
  }
  const special = SPECIAL[one.name];
  if (special !== undefined && Object.hasOwn(SPECIAL, one.name)) special(one);
  const program = programNamed(one.name);
  if (program === undefined) {
    for (const arg of one.args) maybe(one, arg);
    return;
  }
  const read = readOptions(one.args, program);
  judgeOptions(one, program, read);
  const deep = isDeep(program, read);
  const { operands } = read;
  const skipsFirst =
    program.first !== null && !read.options.some((o) => isOption(o, program.firstGiven));
  for (const [index, arg] of operands.entries()) {
    let role: Role = program.operands;
    if (index === 0 && skipsFirst && program.first !== null) role = program.first;
    else if (program.last !== null && index === operands.length - 1 && operands.length > 1)
      role = program.last;
    use(one, arg, { role, deep });
  }
  // Without operands they read the folder they are in.
  const given = operands.length - (skipsFirst ? 1 : 0);
  if (
    deep !== 'no' &&
    given <= 0 &&
    program.operands === 'read' &&
    (program.always || !one.place.piped)
  ) {
    use(one, literal('.'), { role: 'read', deep });
  }
  if (operands.length === 0 && LISTS_HERE.has(one.name)) {
    use(one, literal('.'), { role: 'list', deep: 'no' });
  }
  if (program.last === 'write' && operands.length > 1) intoFolder(one, operands);
}

const LISTS_HERE: ReadonlySet<string> = new Set(['ls', 'dir', 'vdir', 'du', 'tree']);

type Deep = 'no' | 'all' | 'visible';

function isDeep(program: Program, read: Options): Deep {
  if (program.always) {
    const hidden = read.options.some(
      (o) =>
        o.name === 'hidden' ||
        o.name === '.' ||
        o.name === 'u' ||
        o.name.startsWith('unr') ||
        o.name.startsWith('no-ig'),
    );
    return hidden ? 'all' : 'visible';
  }
  return read.options.some((option) => isOption(option, program.recursive)) ? 'all' : 'no';
}

function judgeOptions(one: Judged, program: Program, read: Options): void {
  const { reading } = one.place;
  const risky = program.hazards.size + program.writes.size > 0;
  if (read.wild && risky) reading.doubt(`a glob may turn into an option of ${one.name}`);
  for (const option of read.options) {
    const shown = `${option.long ? '--' : '-'}${option.name}`;
    if (isOption(option, program.hazards))
      reading.doubt(`${one.name} ${shown} may run or write something`);
    if (option.value === null) continue;
    if (isOption(option, program.writes)) use(one, option.value, { role: 'write', deep: 'no' });
    else if (isOption(option, program.reads)) use(one, option.value, { role: 'read', deep: 'no' });
    else if (option.long && !program.long.has(option.name)) maybe(one, option.value);
  }
}

function use(one: Judged, arg: Arg, o: { readonly role: Role; readonly deep: Deep }): void {
  if (o.role === 'data') return;
  if (o.role === 'maybe') {
    maybe(one, arg);
    return;
  }
  // `-` is the standard input or output.
  if (arg.known && (arg.text === '-' || arg.text === '/dev/null')) return;
  const { reading, folders } = one.place;
  if (o.role === 'delete' && one.name === 'mv') {
    reading.uses.push({ access: 'read', path: arg, folders, sure: true, deep: 'no', by: one.name });
  }
  reading.uses.push({ access: o.role, path: arg, folders, sure: true, deep: o.deep, by: one.name });
}

/** A word of which nobody says what it is: `of=FILE`, `--to=FILE` and `rev:FILE` may name files as well. */
function maybe(one: Judged, arg: Arg): void {
  // Names what is left out, not what is used.
  if (/^--?(exclude|ignore|glob|iglob|not|include|filter)/.test(arg.text)) return;
  const { reading, folders } = one.place;
  const add = (path: Arg): void => {
    if (path.text === '' || path.text === '-' || path.text === '/dev/null') return;
    reading.uses.push({ access: 'read', path, folders, sure: false, deep: 'no', by: one.name });
  };
  const equals = arg.text.indexOf('=');
  if (!arg.text.startsWith('-')) add(arg);
  if (equals > 0) add(partOf(arg, equals + 1));
  else if (/^-[A-Za-z]./.test(arg.text)) add(partOf(arg, 2));
  const colon = arg.text.indexOf(':');
  if (colon > 0 && !arg.text.includes('://')) add(partOf(arg, colon + 1));
}

/** `cp a dir` writes `dir/a`; nobody knows here whether it is a folder. */
function intoFolder(one: Judged, operands: readonly Arg[]): void {
  const target = operands.at(-1);
  if (target === undefined || target.glob !== null) return;
  for (const source of operands.slice(0, -1)) {
    const name = baseName(source.text.replace(/\/+$/, ''));
    if (name === '' || name === '.' || name === '..') continue;
    const path = { ...target, text: `${target.text}/${name}`, shell: '' };
    const { reading, folders } = one.place;
    reading.uses.push({ access: 'write', path, folders, sure: true, deep: 'no', by: one.name });
  }
}

function judgeGit(one: Judged): void {
  const { reading } = one.place;
  const { at, global } = gitWords(one.args);
  if (global !== null) reading.doubt(`git ${global} changes where or how git works`);
  const command = one.args[at];
  const args = one.args.slice(at + 1);
  if (command === undefined) return;
  const hazard = gitHazard(command.text, args);
  if (hazard !== null) reading.doubt(hazard);
  const read = gitOptions(command.text, args);
  for (const option of read.options) gitOption(one, command.text, option);
  const reads: ReadonlySet<string> = new Set([
    'log',
    'status',
    'commit',
    'push',
    'fetch',
    'pull',
    'branch',
    'tag',
  ]);
  for (const arg of read.operands) {
    // A path that git is told of is looked up in the repository: only one that leads out of it is read from the disk.
    if (!reads.has(command.text) || /^(\/|~|\.\.)|:/.test(arg.text)) maybe(one, arg);
  }
}

function gitOption(one: Judged, command: string, option: Option): void {
  const { value } = option;
  if (value === null) return;
  const { reading, folders } = one.place;
  const writes = option.long && 'output'.startsWith(option.name) && option.name.length > 1;
  if (writes || (command === 'archive' && option.name === 'o')) {
    reading.uses.push({ access: 'write', path: value, folders, sure: true, deep: 'no', by: 'git' });
    return;
  }
  const reads =
    (command === 'commit' || command === 'tag') &&
    ['F', 'file', 't', 'template'].includes(option.name);
  if (reads)
    reading.uses.push({ access: 'read', path: value, folders, sure: true, deep: 'no', by: 'git' });
  else if (
    option.long &&
    !['message', 'author', 'format', 'pretty', 'grep', 'date'].includes(option.name)
  )
    maybe(one, value);
}

const FIND_FREE: ReadonlySet<string> = new Set(
  `name iname path ipath wholename iwholename regex iregex regextype lname ilname type xtype size mtime mmin ctime cmin
  atime amin newer anewer cnewer maxdepth mindepth depth d print print0 printf ls prune quit not a o and or empty perm user
  group uid gid nouser nogroup readable writable executable links inum samefile true false follow xdev mount daystart
  noleaf warn nowarn H L P used`.split(/\s+/),
);

function judgeFind(one: Judged): void {
  const { reading } = one.place;
  const start = one.args.findIndex((arg) => /^[-(!]/.test(arg.text) && !/^-[HLP]$/.test(arg.text));
  const paths = (start < 0 ? one.args : one.args.slice(0, start)).filter(
    (arg) => !arg.text.startsWith('-'),
  );
  const where = paths.length === 0 ? [literal('.')] : paths;
  for (const arg of where) use(one, arg, { role: 'list', deep: 'no' });
  const rest = start < 0 ? [] : one.args.slice(start);
  for (const [index, arg] of rest.entries()) {
    const name = /^-([a-zA-Z]\w*)/.exec(arg.text)?.[1];
    if (name === undefined || FIND_FREE.has(name)) continue;
    reading.doubt(`find -${name} may run, write or delete something`);
    const value = rest[index + 1];
    if (/^f(print|ls)/.test(name) && value !== undefined)
      use(one, value, { role: 'write', deep: 'no' });
    if (name === 'delete') for (const path of where) use(one, path, { role: 'delete', deep: 'no' });
  }
  for (const argv of commandsOfFind(rest)) {
    one.place.readCommand(argv, { ...one.place, depth: one.place.depth + 1 });
    for (const path of where) use(one, path, { role: 'read', deep: 'all' });
  }
}

/** `find … -exec COMMAND ;`: the commands in the words of find. */
function commandsOfFind(args: readonly Arg[]): (readonly Arg[])[] {
  const found: (readonly Arg[])[] = [];
  for (const [index, arg] of args.entries()) {
    if (!/^-(exec|execdir|ok|okdir)$/.test(arg.text)) continue;
    const rest = args.slice(index + 1);
    const end = rest.findIndex((one) => one.text === ';' || one.text === '+');
    found.push(end < 0 ? rest : rest.slice(0, end));
  }
  return found;
}

/** Programs whose words need more than a table. */
const SPECIAL: Readonly<Record<string, (one: Judged) => void>> = {
  sed: judgeSed,
  test: judgeTest,
  '[': judgeTest,
  npm: judgePackages,
  yarn: judgePackages,
  pnpm: judgePackages,
  dd: (one) => {
    for (const arg of one.args) {
      const part = /^(if|of)=/.exec(arg.text)?.[1];
      if (part !== undefined)
        use(one, partOf(arg, 3), { role: part === 'of' ? 'write' : 'read', deep: 'no' });
    }
  },
  tar: (one) => {
    one.place.reading.doubt('tar may run programs and write anywhere');
    for (const arg of one.args) maybe(one, arg);
  },
  rm: (one) => {
    const recursive = one.args.some((arg) => /^-[a-zA-Z]*[rR]|^--r/.test(arg.text));
    if (recursive && one.args.some((arg) => arg.text === '/' || arg.text === '/*')) {
      one.place.reading.deny('the root of the file system is protected');
    }
  },
  ln: judgeLink,
};

function judgeSed(one: Judged): void {
  const { reading } = one.place;
  const program = programNamed('sed');
  if (program === undefined) return;
  const read = readOptions(one.args, program);
  const scripts: Arg[] = [];
  for (const option of read.options) {
    const { name } = option;
    if (name === 'e' || (option.long && 'expression'.startsWith(name))) {
      if (option.value !== null) scripts.push(option.value);
    } else if (
      ![
        'n',
        'E',
        'r',
        'u',
        'z',
        's',
        'quiet',
        'silent',
        'regexp-extended',
        'null-data',
        'l',
        'sandbox',
        'posix',
        'debug',
        'unbuffered',
        'separate',
      ].includes(name)
    ) {
      reading.doubt(`sed ${option.long ? '--' : '-'}${name} may write something`);
      // In place: what it reads it writes.
      for (const arg of read.operands.slice(1)) use(one, arg, { role: 'write', deep: 'no' });
    }
  }
  if (scripts.length === 0 && read.operands[0] !== undefined) scripts.push(read.operands[0]);
  for (const script of scripts) {
    const hazard = script.known ? sedHazard(script.text) : 'the sed script is not known';
    if (hazard === null) continue;
    reading.doubt(hazard);
    for (const file of sedFiles(script.text))
      use(one, literal(file), { role: 'write', deep: 'no' });
  }
}

/** `test -v 'a[$(id)]'` runs what stands in the subscript. */
function judgeTest(one: Judged): void {
  if (one.args.some((arg) => arg.text === '-v' || arg.text === '-R')) {
    one.place.reading.doubt('test looks at a variable, whose subscript is run');
  }
}

/** Options of a package manager choose shells, folders and settings of the scripts it runs. */
function judgePackages(one: Judged): void {
  const end = one.args.findIndex((arg) => arg.text === '--');
  const own = end < 0 ? one.args : one.args.slice(0, end);
  const odd = own.find(
    (arg) => arg.text.startsWith('-') && !/^(--silent|-s|--if-present)$/.test(arg.text),
  );
  if (odd !== undefined)
    one.place.reading.doubt(`${one.name} ${odd.text} changes how scripts are run`);
}

/** A link that leads out of the tree prepares a later write: its target counts like a file that is written. */
function judgeLink(one: Judged): void {
  const program = programNamed('ln');
  if (program === undefined) return;
  const { operands } = readOptions(one.args, program);
  const targets = operands.length > 1 ? operands.slice(0, -1) : operands;
  const { reading, folders } = one.place;
  for (const path of targets) {
    // Where a link leads depends on where it lies.
    if (/(^|\/)\.\.(\/|$)/.test(path.text)) reading.doubt('ln makes a link that climbs');
    reading.uses.push({ access: 'link', path, folders, sure: true, deep: 'no', by: 'ln' });
  }
}

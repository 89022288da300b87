/**
 * One simple command: wrappers peeled, scripts in its words read again, its words sorted into files and data, what makes
 * it more than its name says. Everything found goes into the `Reading`.
 *
 * Invariants
 * - P4 Denied to actors in every spelling: the stash, writes of git's configuration, `worktree`, `gc`, `prune`,
 *   `update-ref`, branches that are not their own, `push`, files inside `.git`, and any `troupe` command.
 * - P11 A command behind wrappers is judged like one without.
 */
import { gitFloor } from '../git-floor.ts';
import { SHELL_DEPTH_MAX, STEPS_A_BRACE, STEPS_A_WORD } from '../limits.ts';
import { type Arg, bracesOf, literal } from './arg.ts';
import { judgeOperands } from './operands.ts';
import { baseName, type Place } from './place.ts';
import { INERT, isInterpreter, programNamed, SHELLS } from './programs.ts';
import type { Folders, Reading } from './reading.ts';
import { roughFloor, TROUPE_DENIED } from './rough.ts';
import { isWrapper, peel } from './wrappers.ts';

const TROUPE = /^troupe(\.(js|cjs|mjs|cmd|exe))?(@.*)?$/;

export function judgeCommand(argv: readonly Arg[], place: Place): void {
  const spelled = spellBraces(argv, place.reading);
  const [first] = spelled;
  if (first === undefined) return;
  const { reading } = place;
  if (place.depth > SHELL_DEPTH_MAX) {
    reading.cut('it is nested too deep to be read');
    return;
  }
  // Each wrapper reads the words of all those inside it again.
  if (!reading.spend(spelled.length * STEPS_A_WORD)) return;
  if (!first.known || first.glob !== null) dynamicName(spelled, place);
  const name = baseName(first.text);
  floorOfPrograms(name, spelled, place);
  const git = name === 'git' ? spelled.slice(1) : gitDash(name, spelled);
  if (git !== null) {
    exec(place, name === 'git' ? spelled : [NOT_BARE_GIT, ...git], {});
    judgeOperands({ name: 'git', args: git, place });
    return;
  }
  const peeled = peel(name, spelled);
  if (peeled.kind === 'peeled') {
    judgeWrapper(name, spelled, { peeled, place });
    return;
  }
  const opaque = isInterpreter(name);
  exec(place, spelled, { opaque: opaque ? `${name} runs code that rules can not read` : null });
  if (opaque || !isListed(name)) judgeScripts(name, spelled, place);
  if (SETTING.has(name)) judgeSettings(name, spelled.slice(1), reading);
  judgeOperands({ name, args: spelled.slice(1), place });
}

const NOT_BARE_GIT: Arg = { ...literal('git'), plain: false, derived: true, shell: '' };

/** Builtins that set variables: a subscript in their words is run. */
const SETTING: ReadonlySet<string> = new Set(
  'export declare typeset local readonly read unset printf getopts wait'.split(' '),
);

function judgeSettings(name: string, args: readonly Arg[], reading: Reading): void {
  if (name === 'printf') {
    if (args[0]?.text.startsWith('-v') === true) reading.doubt('printf -v sets a variable');
    return;
  }
  reading.doubt(`${name} changes variables of the shell`);
  for (const arg of args) if (/^[A-Za-z_]\w*(\[.*\])?\+?=/s.test(arg.text)) assigned(reading, arg);
}

function isListed(name: string): boolean {
  return programNamed(name) !== undefined;
}

interface ExecOptions {
  readonly opaque?: string | null;
  readonly covered?: boolean;
  readonly guess?: boolean;
}

function exec(place: Place, argv: readonly Arg[], o: ExecOptions): void {
  const { reading } = place;
  reading.execs.push({
    argv,
    opaque: o.opaque ?? null,
    covered: o.covered ?? false,
    guess: o.guess ?? false,
  });
}

/** `{git,push}` is two words. */
function spellBraces(argv: readonly Arg[], reading: Reading): readonly Arg[] {
  if (!argv.some((arg) => !arg.plain && arg.text.includes('{'))) return argv;
  return argv.flatMap((arg) => {
    if (arg.plain || !arg.text.includes('{')) return [arg];
    if (!reading.spend(STEPS_A_BRACE * (STEPS_A_WORD + arg.text.length))) return [arg];
    const all = bracesOf(arg.text);
    return all === null ? [arg] : all.map((text) => ({ ...arg, text, glob: null }));
  });
}

/** `git-stash`, as it lies in git's own folder. */
function gitDash(name: string, argv: readonly Arg[]): readonly Arg[] | null {
  if (!name.startsWith('git-') || name.length < 5) return null;
  return [{ ...literal(name.slice(4)), derived: true, plain: false, shell: '' }, ...argv.slice(1)];
}

function dynamicName(argv: readonly Arg[], place: Place): void {
  const { reading } = place;
  reading.doubt('which program runs is not known before it runs');
  const rest = argv.slice(1);
  if (
    rest.some(
      (arg) =>
        gitFloor([{ text: arg.text, dynamic: false }], false) !== null && DENIED.has(arg.text),
    )
  ) {
    reading.deny('which program runs is not to be seen, and it looks like git');
  }
  if (rest.some((arg) => TROUPE.test(baseName(arg.text)))) reading.deny(TROUPE_DENIED);
  // A process substitution may be nothing: then the next word is the program.
  if (argv[0]?.text === '' && rest.length > 0) {
    judgeCommand(rest, { ...place, depth: place.depth + 1 });
  }
}

const DENIED: ReadonlySet<string> = new Set([
  'push',
  'stash',
  'worktree',
  'gc',
  'prune',
  'update-ref',
]);

/** P4: each word that may be the program `git` or `troupe`, with what follows it. */
function floorOfPrograms(head: string, argv: readonly Arg[], place: Place): void {
  const { reading } = place;
  const wrapped = isWrapper(head) || isInterpreter(head) || head === 'npm' || head === 'find';
  const data = !wrapped && isListed(head);
  const open = head === 'xargs' || head === 'parallel' || head === 'find';
  for (let index = 0; index < argv.length; index += 1) {
    const arg = argv[index];
    if (arg === undefined) break;
    if (index > 0 && (data || head === 'git' || head.startsWith('git-'))) break;
    // Behind a wrapper a program may be named by a path; elsewhere a path is a path.
    if (index > 0 && !wrapped && arg.text.includes('/')) continue;
    const name = index === 0 ? head : baseName(arg.text);
    if (name.startsWith('troupe') && TROUPE.test(name)) reading.deny(TROUPE_DENIED);
    if (!name.startsWith('git')) continue;
    if (!reading.spend((argv.length - index) * STEPS_A_WORD)) return;
    const rest = argv.slice(index + 1).map(({ text, known }) => ({ text, dynamic: !known }));
    let denied: string | null = null;
    if (name === 'git') denied = gitFloor(rest, open);
    else if (name.startsWith('git-') && (index === 0 || wrapped)) {
      denied = gitFloor([{ text: name.slice(4), dynamic: !arg.known }, ...rest], open);
    }
    if (denied !== null) reading.deny(denied);
  }
}

type Peeled = Extract<ReturnType<typeof peel>, { kind: 'peeled' }>;

const AS_ANOTHER: ReadonlySet<string> = new Set(['sudo', 'doas', 'su', 'pkexec', 'runuser']);
/** Say where a program is and run nothing. */
const ASKING = /^-[pvV]*[vV]/;

function judgeWrapper(
  name: string,
  argv: readonly Arg[],
  o: { readonly peeled: Peeled; readonly place: Place },
): void {
  const { peeled, place } = o;
  const { reading } = place;
  const inner: Place = { ...place, depth: place.depth + 1 };
  const bare = argv[0]?.text === name && argv[0].plain && !argv[0].derived;
  const covered = peeled.plain && bare && peeled.argv.length > 0;
  exec(place, argv, {
    covered,
    opaque:
      covered || name === 'xargs' || name === 'command' ? null : `${name} runs what follows it`,
  });
  if (AS_ANOTHER.has(name)) reading.doubt(`${name} runs a command as another user`);
  if (name === 'command' && ASKING.test(argv[1]?.text ?? '')) return;
  for (const arg of peeled.assigned) assigned(reading, arg);
  for (const option of peeled.own.options) {
    const value = option.value;
    if (value === null) continue;
    const script = {
      env: 'S split-string',
      script: 'c command',
      su: 'c command',
      runuser: 'c command',
      flock: 'c command',
      npx: 'c call',
    }[name];
    if (script?.split(' ').includes(option.name) === true) place.readScript(value.text, inner);
  }
  if (!peeled.plain && !(name === 'xargs' && argv[0]?.plain === true))
    reading.doubt(`${name} runs what follows it`);
  for (const option of name === 'xargs' ? peeled.own.options : []) {
    if (option.value === null || (option.name !== 'a' && !option.name.startsWith('arg'))) continue;
    const { folders } = place;
    reading.uses.push({
      access: 'read',
      path: option.value,
      folders,
      sure: true,
      deep: 'no',
      by: name,
    });
  }
  if (name === 'xargs') judgeXargs(peeled, inner);
  else if (peeled.argv.length > 0)
    judgeCommand(peeled.argv, { ...inner, folders: foldersBehind(name, peeled, inner) });
  // An option that is not known may have taken the program for its value, or the other way round.
  if (!peeled.plain) guessPrograms(argv, place);
  judgeScripts(name, argv, place);
}

function foldersBehind(name: string, peeled: Peeled, place: Place): Folders {
  const moves = peeled.own.options.some(
    (option) => ['C', 'D', 'chdir'].includes(option.name) && (name === 'env' || name === 'sudo'),
  );
  return moves || name === 'chroot' ? { all: place.folders.all, unknown: true } : place.folders;
}

/** Every later word may be a program too. */
function guessPrograms(argv: readonly Arg[], place: Place): void {
  for (const [index, arg] of argv.slice(0, 16).entries()) {
    if (index === 0 || arg.text.startsWith('-')) continue;
    place.reading.execs.push({ argv: argv.slice(index), opaque: null, covered: true, guess: true });
  }
}

const HARMLESS_ENV = /^(LC_[A-Z]+|LANG|TZ|NO_COLOR|FORCE_COLOR|CI|DEBUG|NODE_ENV)$/;
const HARMLESS_GIT_ENV =
  /^GIT_(EDITOR|SEQUENCE_EDITOR|PAGER|TERMINAL_PROMPT|MERGE_AUTOEDIT|OPTIONAL_LOCKS|(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE))$/;

/** A word that sets a variable of the environment. */
export function assigned(reading: Reading, arg: Arg): void {
  const name = /^([A-Za-z_]\w*)\+?=/.exec(arg.text)?.[1] ?? arg.text;
  if (/^GIT_[A-Z_]+$/.test(name) && !HARMLESS_GIT_ENV.test(name)) {
    reading.deny(`${name} changes what git does; set no such variable`);
  }
  if (!HARMLESS_ENV.test(name) || !arg.known) reading.env.push(name);
}

/** Words come from what nobody sees: only a program that does nothing with them is certain. */
function judgeXargs(peeled: Peeled, place: Place): void {
  const { reading } = place;
  const argv = peeled.argv.length > 0 ? peeled.argv : [literal('echo')];
  judgeCommand(argv, place);
  const harmless = new Set([
    'a',
    '0',
    'null',
    'd',
    'n',
    'L',
    'P',
    'r',
    'no-run-if-empty',
    't',
    'verbose',
    'max-args',
    'max-lines',
    'max-procs',
    'delimiter',
  ]);
  if (
    !INERT.has(argv[0]?.text ?? '') ||
    peeled.own.options.some((option) => !harmless.has(option.name))
  ) {
    reading.doubt('xargs gives the program words that are not known before it runs');
  }
}

/** Text that is run as commands: of shells, `eval`, and of programs that are given a program. */
function judgeScripts(name: string, argv: readonly Arg[], place: Place): void {
  const { reading } = place;
  const inner: Place = { ...place, depth: place.depth + 1 };
  const rest = argv.slice(1);
  if (name === 'eval' || name === 'trap' || name === 'alias') {
    const script = rest.map((arg) =>
      name === 'alias' ? arg.text.replace(/^[\w-]+=/, '') : arg.text,
    );
    place.readScript((name === 'trap' ? script.slice(0, 1) : script).join(' '), inner);
    if (rest.some((arg) => !arg.known)) rough(reading, place.text);
  }
  const shell = argv.findIndex((arg) => SHELLS.has(baseName(arg.text)));
  if (shell >= 0) judgeShell(argv.slice(shell + 1), inner);
  for (const arg of rest) {
    // A program in another language, or a command line as one word.
    if (!/[\s(]/.test(arg.text)) continue;
    rough(reading, arg.text);
    if (name === 'watch' || name === 'parallel' || name === 'entr' || name === 'ssh')
      place.readScript(arg.text, inner);
  }
  for (const heredoc of place.heredocs) rough(reading, heredoc);
}

function rough(reading: Reading, text: string): void {
  const denied = roughFloor(text);
  if (denied !== null) reading.deny(denied);
}

function judgeShell(args: readonly Arg[], place: Place): void {
  const { reading } = place;
  const option = args.findIndex((arg) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(arg.text));
  const script =
    option < 0 ? undefined : args.slice(option + 1).find((arg) => !/^[-+]/.test(arg.text));
  if (script !== undefined) {
    place.readScript(script.text, place);
    if (!script.known) rough(reading, place.text);
    return;
  }
  if (args.some((arg) => !/^[-+]/.test(arg.text))) return;
  if (place.piped) {
    reading.deny('a shell that reads its commands from a pipe is denied: write them out');
  }
  for (const heredoc of place.heredocs) place.readScript(heredoc, place);
  rough(reading, place.text);
}

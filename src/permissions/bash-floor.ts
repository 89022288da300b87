/**
 * The floor for commands (design §8): what an actor may never do in a shell, in any spelling. A first check on the text
 * of a command that errs on the side of deny; the broker will judge the syntax tree instead.
 *
 * Invariants
 * - P4 Denied to actors in every spelling: the stash, writes of git's configuration, `worktree`, `gc`, `prune`,
 *   `update-ref`, branches that are not their own, `push`, files inside `.git`, and any `troupe` command.
 */
import { DENIED_WORDS, gitFloor } from './git-floor.ts';
import { COMMAND_MAX, SHELL_DEPTH_MAX } from './limits.ts';
import { readCommands, type SimpleCommand, type Word } from './shell-words.ts';

/** Why the command is denied, for the model and for people; null: the floor has nothing against it. */
export function bashFloor(command: string): { readonly denied: string } | null {
  const denied = floorOf(command, 0);
  return denied === null ? null : { denied };
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const SHELLS = words('bash sh dash zsh ksh mksh ash fish rbash');
/** Their arguments are data: a word `git` among them starts nothing. */
const DATA = words(
  `echo printf cat ls cd pushd head tail wc grep egrep fgrep rg ag mkdir rmdir rm cp mv touch test [ [[ stat file
  diff cmp sort uniq cut tr tee basename dirname realpath readlink du df tree chmod which type jq true false export
  local declare read set unset pwd sleep seq date`,
);
const SETTING = words('export local declare read set');
/** May look into `.git`; `find` only when it does nothing with what it finds. */
const LOOKING = words(
  'cat ls head tail wc grep egrep fgrep rg ag test [ [[ stat file diff cmp tree du',
);
/** Run what follows them, perhaps by a path. */
const WRAPPERS = words(
  `env sudo doas timeout nice nohup command exec builtin time xargs find setsid stdbuf ionice chrt taskset flock watch
  script chroot unshare nsenter parallel npx npm pnpm pnpx yarn bunx bun node deno tsx su ssh strace ltrace faketime
  busybox entr coproc setpriv runuser systemd-run`,
);
const KEYWORDS = words(
  'if then else elif do while until ! { } time fi done esac function in case select for coproc',
);
const HARMLESS_GIT_ENV =
  /^GIT_(EDITOR|SEQUENCE_EDITOR|PAGER|TERMINAL_PROMPT|MERGE_AUTOEDIT|OPTIONAL_LOCKS|(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE))=/;

const TROUPE = /^troupe(\.(js|cjs|mjs|cmd|exe))?(@.*)?$/;
const ROUGH_GIT = new RegExp(`\\bgit\\b[\\s\\S]{0,200}?\\b(${DENIED_WORDS.join('|')})\\b`, 'i');
const ROUGH_TROUPE = /(^|[\s;&|('"`/\\])troupe(\.js)?['"]?[\s,]+['"]?[a-z-]/i;

function floorOf(command: string, depth: number): string | null {
  if (command.length > COMMAND_MAX || depth > SHELL_DEPTH_MAX) {
    return 'the command is too long or too deep to be checked';
  }
  const commands = readCommands(command);
  if (commands === null) return roughFloor(command);
  for (const one of commands) {
    const denied = judge(one, { text: command, depth });
    if (denied !== null) return denied;
  }
  return null;
}

/** For text that can't be read as commands: any mention will do. */
function roughFloor(text: string): string | null {
  const git = ROUGH_GIT.exec(text);
  if (git !== null) return `it seems to run git ${git[1] ?? ''}, which is denied`;
  return ROUGH_TROUPE.test(text) ? TROUPE_DENIED : null;
}

const TROUPE_DENIED = 'actors do not run troupe; use the team tools';

interface Place {
  /** The whole command that this one is a part of. */
  readonly text: string;
  readonly depth: number;
}

function judge(one: SimpleCommand, place: Place): string | null {
  const body = withoutPrefix(one.words);
  const head = baseName(body[0]?.text ?? '');
  const settings =
    DATA.has(head) && !SETTING.has(head) ? one.words.slice(0, -body.length) : one.words;
  const variable = settings.find(
    (word) => /^GIT_[A-Z_]+\+?=/.test(word.text) && !HARMLESS_GIT_ENV.test(word.text),
  );
  if (variable !== undefined) {
    return `${variable.text.split('=')[0] ?? ''} changes what git does; set no such variable`;
  }
  const [first] = body;
  if (touchesGit(one, head)) return GIT_FILES;
  if (first === undefined) return null;
  if (first.dynamic && body.some((word) => DENIED_WORDS.includes(word.text))) {
    return 'which program runs is not to be seen, and it looks like git';
  }
  if (first.dynamic && body.some((word) => TROUPE.test(baseName(word.text)))) return TROUPE_DENIED;
  return judgeScripts(one, { head, body, place }) ?? judgePrograms(head, body);
}

const GIT_FILES = 'files inside .git are changed by git and Troupe only';

interface Headed {
  readonly head: string;
  readonly body: readonly Word[];
  readonly place: Place;
}

/** Text that is run as commands: of shells, `eval`, and of programs that are given a program. */
function judgeScripts(one: SimpleCommand, { head, body, place }: Headed): string | null {
  if (DATA.has(head) || head === 'git') return null;
  if (head === 'eval' || head === 'alias' || head === 'trap') {
    const script = body.slice(1).map((word) => word.text.replace(/^[\w-]+=/, ''));
    return judgeText(script.join(' '), body, place);
  }
  const shell = body.findIndex((word) => SHELLS.has(baseName(word.text)));
  if (shell >= 0) {
    const denied = judgeShell(one, body.slice(shell + 1), place);
    if (denied !== null) return denied;
  }
  for (const word of body.slice(1)) {
    // A program in another language, or a command line as one word (env -S, xargs sh -c, ssh, npm exec -c).
    if (!/[\s(]/.test(word.text)) continue;
    const denied = roughFloor(word.text);
    if (denied !== null) return denied;
  }
  for (const heredoc of one.heredocs) {
    const denied = roughFloor(heredoc);
    if (denied !== null) return denied;
  }
  return null;
}

function judgeShell(one: SimpleCommand, args: readonly Word[], place: Place): string | null {
  const option = args.findIndex((word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word.text));
  const script = option < 0 ? undefined : args.slice(option + 1).find((w) => !/^[-+]/.test(w.text));
  if (script !== undefined) return judgeText(script.text, [script], place);
  const file = args.find((word) => !/^[-+]/.test(word.text));
  if (file !== undefined) return null;
  if (one.piped) return 'a shell that reads its commands from a pipe is denied: write them out';
  for (const heredoc of one.heredocs) {
    const denied = floorOf(heredoc, place.depth + 1);
    if (denied !== null) return denied;
  }
  return roughFloor(place.text);
}

/** A script that is given as text; when a part of it is not known, the whole command is searched for its parts. */
function judgeText(script: string, from: readonly Word[], place: Place): string | null {
  const denied = floorOf(script, place.depth + 1);
  if (denied !== null) return denied;
  return from.some((word) => word.dynamic) ? roughFloor(place.text) : null;
}

/** Each word that may be the program `git` or `troupe`, with what follows it. */
function judgePrograms(head: string, body: readonly Word[]): string | null {
  const wrapped = WRAPPERS.has(head);
  const open = head === 'xargs' || head === 'parallel' || head === 'find';
  for (const [index, word] of body.entries()) {
    if (index > 0 && (DATA.has(head) || head === 'git' || head.startsWith('git-'))) break;
    // Behind a wrapper a program may be named by a path; elsewhere a path is a path.
    if (index > 0 && !wrapped && word.text.includes('/')) continue;
    const name = baseName(word.text);
    if (TROUPE.test(name)) return TROUPE_DENIED;
    const rest = body.slice(index + 1);
    const denied =
      name === 'git' || name === 'git.exe'
        ? gitFloor(rest, open)
        : name.startsWith('git-') && !word.text.startsWith('-') && (index === 0 || wrapped)
          ? gitFloor([{ text: name.slice(4), dynamic: word.dynamic }, ...rest], open)
          : null;
    if (denied !== null) return denied;
    const spelled = /\{[^}]*,[^}]*\}/.test(word.text)
      ? roughFloor(word.text.replaceAll(/[{},]/g, ' '))
      : null;
    if (spelled !== null) return spelled;
  }
  return null;
}

/** Without keywords and assignments before the program. */
function withoutPrefix(all: readonly Word[]): readonly Word[] {
  const start = all.findIndex(
    (word) => !KEYWORDS.has(word.text) && !/^[A-Za-z_]\w*(\[[^\]]*\])?\+?=/.test(word.text),
  );
  return start < 0 ? [] : all.slice(start);
}

/** Whether it may change something inside `.git`. */
function touchesGit(one: SimpleCommand, head: string): boolean {
  const inside = (word: Word): boolean =>
    !/^--?(exclude|ignore|glob|iglob|not)/.test(word.text) &&
    /(^|[/=:'"(\s])\.git([/\\]|$)/i.test(word.text);
  if (one.redirects.some(inside)) return true;
  if (LOOKING.has(head) || head === 'git' || head === 'echo' || head === 'printf') return false;
  const acts = (word: Word): boolean => /^-(exec|ok|delete|fprint|fls)/.test(word.text);
  if (head === 'find' && !one.words.some(acts)) return false;
  return one.words.some(inside);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

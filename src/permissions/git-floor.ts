/**
 * Which git commands an actor may give (design §8). A list of those that stay within the actor's own tree and branch; all
 * others are denied, so that an alias or a command that git learns later is not a way around it.
 */

/** A word of a command; dynamic: its text is not known before it runs. */
export interface Word {
  readonly text: string;
  readonly dynamic: boolean;
}

/** Stay within the tree, the index and the branch, whatever their arguments are. */
const FREE: ReadonlySet<string> = new Set(
  `add annotate apply archive blame cat-file check-attr check-ignore check-mailmap cherry cherry-pick
  clean commit commit-tree count-objects describe diff diff-files diff-index diff-tree diff-pairs
  for-each-ref format-patch fsck grep hash-object help log ls-files ls-tree merge-base merge-file
  merge-tree mktree mv name-rev patch-id range-diff read-tree rerere reset restore rev-list rev-parse
  revert rm shortlog show show-branch show-ref status stripspace update-index var verify-commit version
  whatchanged write-tree am merge`.split(/\s+/),
);

/** Read only, so that they may look at another folder with `-C`. */
const READING: ReadonlySet<string> = new Set(
  `blame cat-file describe diff for-each-ref grep log ls-files ls-tree merge-base name-rev rev-list
  rev-parse shortlog show show-ref status version`.split(/\s+/),
);

/** What each denied command would do, for those that people reach for. */
const WHY: Readonly<Record<string, string>> = {
  stash: 'the stash belongs to the user and is shared by all trees',
  worktree: 'trees are made and removed by Troupe',
  push: 'Troupe merges the work; nothing is pushed from a tree',
  gc: 'the repository is shared by all trees',
  prune: 'the repository is shared by all trees',
  maintenance: 'the repository is shared by all trees',
  repack: 'the repository is shared by all trees',
  'update-ref': 'refs are moved by Troupe',
  fetch: 'it moves refs of the shared repository',
  pull: 'it moves refs of the shared repository',
  switch: 'an actor stays on the branch of its task',
  config: 'the configuration belongs to the user and is shared by all trees',
};

/** Words that make a git command dangerous wherever they stand; for text that can't be read. */
export const DENIED_WORDS: readonly string[] = [
  ...Object.keys(WHY),
  'filter-branch',
  'pack-refs',
  'replace',
  'send-pack',
  'symbolic-ref',
];

const VALUE_OPTIONS: ReadonlySet<string> = new Set(['-C', '-c', '--namespace', '--super-prefix']);
const HARMLESS_SETTING =
  /^(user\.(name|email)|core\.(pager=cat|editor=(true|:)|quotepath)|color\.|advice\.|commit\.gpgsign|merge\.conflictstyle|init\.defaultbranch)/i;
const RUNS_MORE =
  /^--(autostash|update-refs|exec|template|upload-pack|receive-pack|ext-diff|textconv|open-files-in-pager)(=|$)/;
const FORBIDDEN_OPTIONS =
  /^--(git-dir|work-tree|config-env|exec-path|namespace|super-prefix|bare|attr-source)(=|$)/;

/**
 * Why the words after `git` are denied, or null. `open`: more words may follow that nobody can see (`xargs git …`).
 */
export function gitFloor(args: readonly Word[], open: boolean): string | null {
  let outside = false;
  let index = 0;
  for (; index < args.length; index += 1) {
    const text = args[index]?.text ?? '';
    if (!text.startsWith('-')) break;
    if (FORBIDDEN_OPTIONS.test(text)) return `git ${text} points git somewhere else`;
    const setting = args[index + 1]?.text ?? '';
    if (text === '-c' && !HARMLESS_SETTING.test(setting)) {
      return `git -c ${setting} is denied: settings change what git runs`;
    }
    if (text === '-C') outside ||= leavesTree(args[index + 1]);
    if (VALUE_OPTIONS.has(text)) index += 1;
  }
  const command = args[index];
  if (command === undefined) return open ? 'which git command runs is not to be seen' : null;
  if (command.dynamic) return 'which git command runs is not to be seen';
  return judge(command.text, args.slice(index + 1), { open, outside });
}

function leavesTree(word: Word | undefined): boolean {
  return word === undefined || word.dynamic || /^[/~]|(^|\/)\.\.(\/|$)/.test(word.text);
}

function judge(
  command: string,
  args: readonly Word[],
  o: { readonly open: boolean; readonly outside: boolean },
): string | null {
  if (o.outside && !READING.has(command)) return `git ${command} in another folder is denied`;
  const option = args.find((word) => RUNS_MORE.test(word.text));
  if (option !== undefined) {
    return `git ${command} ${option.text} is denied: it runs programs or uses the stash`;
  }
  if (FREE.has(command)) return null;
  const special = Object.hasOwn(SPECIAL, command) ? SPECIAL[command] : undefined;
  if (special === undefined) {
    const known = Object.hasOwn(WHY, command) ? WHY[command] : undefined;
    const why = known ?? 'it is not one of the git commands that stay within a tree';
    return `git ${command} is denied: ${why}`;
  }
  if (!o.open && special.allows(args.map((word) => word.text))) return null;
  return `this form of git ${command} is denied: ${special.hint}`;
}

interface Special {
  readonly allows: (args: readonly string[]) => boolean;
  readonly hint: string;
}

const positional = (args: readonly string[]): string[] =>
  args.filter((arg) => arg === '-' || !arg.startsWith('-'));
const LISTING =
  /^(-a|-r|-v|-vv|-l|-n\d*|--(list|all|remotes|verbose|show-current|column|color|no-color|no-column|ignore-case|contains|no-contains|merged|no-merged|points-at|format|sort)(=.*)?)$/;
/** Make git list, so that a word after them is a value or a pattern. */
const SELECTING = /^--(contains|no-contains|merged|no-merged|points-at|list)$|^-l$/;

/** Only lists: each argument is a listing option, or the value of one. */
function listsOnly(args: readonly string[]): boolean {
  const listing = args.some((arg) => SELECTING.test(arg.split('=')[0] ?? ''));
  return args.every((arg) => (arg.startsWith('-') ? LISTING.test(arg) : listing));
}

const CONFIG_WRITES = /^(-f|--file|--blob|--replace-all|--add|--unset|--edit|-e|--rename|--remove)/;
const CONFIG_READS = /^(-l|--list|--get(-all|-regexp|-urlmatch|-color|-colorbool)?)$/;

function readsConfig(args: readonly string[]): boolean {
  if (args.some((arg) => CONFIG_WRITES.test(arg))) return false;
  if (args.some((arg) => CONFIG_READS.test(arg))) return true;
  const [first = '', ...more] = positional(args);
  return first === 'get' || first === 'list' || (more.length === 0 && first.includes('.'));
}

const SPECIAL: Readonly<Record<string, Special>> = {
  branch: { allows: listsOnly, hint: 'branches are made and moved by Troupe; listing is fine' },
  tag: { allows: listsOnly, hint: 'tags are shared by all trees; listing is fine' },
  checkout: {
    allows: (args) => {
      if (args.some((arg) => /^(-b|-B|-t|-d|--orphan|--track|--detach)/.test(arg))) return false;
      const end = args.indexOf('--');
      // Without a path after it, `--` only says that what stands before is a branch.
      if (end >= 0) return end < args.length - 1;
      return positional(args).every((arg) => arg === '.');
    },
    hint: 'an actor stays on its branch; for files write `git checkout -- PATH` or `git restore PATH`',
  },
  config: { allows: readsConfig, hint: WHY['config'] ?? '' },
  remote: {
    allows: (args) => [undefined, 'get-url'].includes(positional(args)[0]),
    hint: 'remotes belong to the user',
  },
  reflog: {
    allows: (args) => !/^(expire|delete|drop|write)$/.test(positional(args)[0] ?? ''),
    hint: 'the reflog belongs to the user',
  },
  'symbolic-ref': {
    allows: (args) =>
      positional(args).length === 1 && !args.some((arg) => /^(-d|--delete|-m)/.test(arg)),
    hint: 'refs are moved by Troupe',
  },
  submodule: {
    allows: (args) => args.length === 0 || args[0] === 'status' || args[0] === 'summary',
    hint: 'submodules are set up by Troupe',
  },
  rebase: {
    allows: (args) =>
      positional(args).length <= 1 &&
      !args.some((arg) => /^(-x|--onto|--root|-i$|--interactive)/.test(arg)),
    hint: 'an actor rebases its own branch only, without -i, -x, --root and --onto',
  },
  init: {
    allows: (args) => {
      const [folder, ...more] = positional(args);
      return folder !== undefined && folder !== '.' && more.length === 0;
    },
    hint: 'name the folder to make it in, and no more',
  },
};

/**
 * Protected paths: what no rule, grant or mode opens (permissions §2.8, design §8). Inside of the actor's tree only the
 * path below its root counts, because trees may lie in folders that are protected themselves.
 *
 * Invariants
 * - P2 The floor is below all rules.
 * - P8 A protected name is protected in every case and Unicode form, whether it exists or not.
 */
import { below, foldName } from './paths.ts';

/** `link`: a link to it is made, by which it can be read and written later. */
export type Access = 'read' | 'write' | 'delete' | 'list' | 'link';

export interface Places {
  /** Names of the root of the actor's tree. */
  readonly root: readonly string[];
  /** Names of the person's home; null when it is not known. */
  readonly home: readonly string[] | null;
}

export interface FloorVerdict {
  readonly effect: 'deny' | 'ask';
  readonly reason: string;
}

export function pathFloor(
  names: readonly string[],
  access: Access,
  places: Places,
): FloorVerdict | null {
  const inside = below(places.root, names);
  const writes = access === 'write' || access === 'delete' || access === 'link';
  if (inside !== null) {
    if (access === 'delete' && inside.length === 0) return deny('the root of a tree stays');
    return repositoryFloor(inside.map(foldName), writes);
  }
  const folded = names.map(foldName);
  const trouble = writes ? systemFloor(folded, access) : null;
  if (trouble !== null) return trouble;
  const home = homePart(names, folded, places.home);
  if (home !== null) {
    if (access === 'delete' && home.length === 0) return deny('a home folder is never removed');
    const verdict = homeFloor(home, writes);
    if (verdict !== null) return verdict;
  }
  // The tree of an actor lies somewhere; a folder above it holds it and others like it.
  if (access === 'delete' && below(names, places.root) !== null) {
    return deny('a folder that holds the tree is never removed');
  }
  return repositoryFloor(folded, writes);
}

const deny = (reason: string): FloorVerdict => ({ effect: 'deny', reason });
const ask = (reason: string): FloorVerdict => ({ effect: 'ask', reason });

export const RUNS_LATER_FOLDERS: ReadonlySet<string> = new Set([
  '.vscode',
  '.idea',
  '.husky',
  '.claude',
  '.codex',
  '.gemini',
  '.cursor',
  '.agents',
  '.devcontainer',
  '.circleci',
  '.buildkite',
]);
export const RUNS_LATER_FILES: ReadonlySet<string> = new Set([
  '.envrc',
  '.mcp.json',
  '.gitmodules',
  '.gitlab-ci.yml',
  'azure-pipelines.yml',
  'jenkinsfile',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
]);

/**
 * Names in a tree that a command of an actor makes or changes on no account, at any depth; in lower case. `a/b` is `b` in
 * a folder `a`. Of a repository that is there already only what git obeys is meant.
 */
export const PROTECTED_IN_TREE: readonly string[] = [
  '.troupe',
  '.git',
  '.github/workflows',
  '.github/actions',
  ...RUNS_LATER_FOLDERS,
  ...RUNS_LATER_FILES,
];

/** Names in a repository, or anywhere else. */
function repositoryFloor(names: readonly string[], writes: boolean): FloorVerdict | null {
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? '';
    if (!name.startsWith('.') && !name.startsWith('git~')) continue;
    if (isGit(name)) {
      if (names[index + 1] === 'troupe') return deny('Troupe’s own state is closed to actors');
      if (writes) return deny('files inside .git are changed by git and Troupe only');
    } else if (name === '.troupe') {
      const next = names[index + 1];
      if (writes) return deny('.troupe is protected: no tool may write there');
      if (index !== 0 || (next !== 'agents' && next !== 'skills')) {
        return deny('.troupe is protected: only .troupe/agents and .troupe/skills may be read');
      }
    }
  }
  if (!writes) return null;
  if (isBareControl(names)) return deny('hooks and configuration of a repository are protected');
  const later = names.find((name) => RUNS_LATER_FOLDERS.has(name));
  if (later !== undefined) return ask(`other programs run what is in ${later} later`);
  const last = names.at(-1) ?? '';
  if (RUNS_LATER_FILES.has(last)) return ask(`other programs run what ${last} says later`);
  const github = names.indexOf('.github');
  const what = github < 0 ? undefined : names[github + 1];
  if (what === 'workflows' || what === 'actions') return ask('continuous integration runs it');
  return null;
}

/** `.git` and what file systems take for it (the short name of DOS, an alternate stream). */
function isGit(name: string): boolean {
  return (
    name === '.git' ||
    (name.startsWith('git~') && /^git~\d+$/.test(name)) ||
    name.startsWith('.git:')
  );
}

/** A nested bare repository: `sub.git/hooks/…`. */
function isBareControl(names: readonly string[]): boolean {
  const at = names.findIndex((name) => name.endsWith('.git') && name !== '.git');
  return at >= 0 && ['hooks', 'config', 'info', 'objects', 'refs'].includes(names[at + 1] ?? '');
}

export const SYSTEM: ReadonlySet<string> = new Set(
  'etc usr bin sbin lib lib32 lib64 libx32 boot proc sys dev run opt system library applications'.split(
    ' ',
  ),
);
const SYSTEM_OF_VAR: ReadonlySet<string> = new Set([
  'spool',
  'lib',
  'run',
  'log',
  'backups',
  'cache',
]);

function systemFloor(names: readonly string[], access: Access): FloorVerdict | null {
  const [first, second, third] = names;
  if (first === undefined) return deny('the root of the file system is protected');
  if (first === 'root')
    return access === 'delete' && names.length === 1
      ? deny('a home folder is never removed')
      : null;
  if (SYSTEM.has(first)) return deny(`/${first} belongs to the system`);
  if (first === 'var' && (second === undefined || SYSTEM_OF_VAR.has(second))) {
    return deny(`/var/${second ?? ''} belongs to the system`);
  }
  if (first === 'private' && (second === 'etc' || second === 'var')) {
    return second === 'var' && third === 'folders' ? null : deny('/private belongs to the system');
  }
  if (access === 'delete' && names.length === 1) return deny(`/${first} is never removed`);
  return null;
}

/** Below the person's home, or below what looks like anybody's. */
function homePart(
  names: readonly string[],
  folded: readonly string[],
  home: readonly string[] | null,
): readonly string[] | null {
  const own = home === null ? null : below(home, names);
  if (own !== null) return own.map(foldName);
  const [first] = folded;
  if ((first === 'home' || first === 'users') && folded.length > 1) return folded.slice(2);
  return first === 'root' ? folded.slice(1) : null;
}

export const SECRET: ReadonlySet<string> = new Set<string>(
  `.ssh .aws .gnupg .netrc _netrc .kube .azure .docker .password-store .pgpass .my.cnf .vault-token .git-credentials
  .boto .config/gh .config/hub .config/gcloud .config/op .config/sops .config/age .config/rclone .config/google-chrome
  .config/chromium .config/bravesoftware .config/gh-copilot .config/github-copilot .config/troupe .local/share/keyrings
  .local/share/kwalletd .mozilla .cargo/credentials .cargo/credentials.toml .gem/credentials .pypirc
  .config/pypoetry .terraform.d .config/doctl .config/netlify .config/configstore .claude .codex .config/anthropic
  library/keychains library/cookies`.split(/\s+/),
).add('library/application support');
export const STARTS: ReadonlySet<string> = new Set(
  `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc
  .cshrc .tcshrc .login .inputrc .xprofile .xinitrc .xsession .xsessionrc .pam_environment .npmrc .yarnrc .yarnrc.yml
  .gitconfig .gitattributes .ripgreprc .wgetrc .curlrc .vimrc .exrc .nanorc .emacs .emacs.d .vim .gdbinit .lldbinit
  .screenrc .tmux.conf .pythonrc .irbrc .psqlrc .sqliterc .lesskey .mailcap .forward .env .envrc .condarc .bunfig.toml
  .oh-my-zsh .config/git .config/autostart .config/systemd .config/fish .config/nvim .config/environment.d
  .config/plasma-workspace .config/zsh .config/starship.toml .config/pip .config/npm .config/direnv .local/bin .local/lib
  .local/share/applications .local/share/systemd .nvm .asdf .rbenv .pyenv .cargo/bin .cargo/config .cargo/config.toml
  .deno .bun .volta .fnm .npm-global bin go/bin library/launchagents library/launchdaemons .vscode .vscode-server`.split(
    /\s+/,
  ),
);

function homeFloor(home: readonly string[], writes: boolean): FloorVerdict | null {
  for (let length = 1; length <= 3 && length <= home.length; length += 1) {
    const part = home.slice(0, length).join('/');
    if (SECRET.has(part)) return deny(`~/${part} holds keys or logins`);
    if (part === '.troupe') return deny('Troupe’s own state is closed to actors');
    if (STARTS.has(part)) {
      return writes
        ? deny(`~/${part} is run by shells and tools`)
        : ask(`~/${part} may hold secrets`);
    }
  }
  return null;
}

/**
 * Finds a repository and what the user's config says about it, once. Everything later is called with the places found
 * here, never discovered again. Neighbours: `git-cli.ts` makes the calls, `branches.ts` owns the refs.
 *
 * Invariants: W2 metadata operations of one repository run one at a time (`lock`).
 */
import type { Clock, Exec, ExecResult, Files } from '../kernel/index.ts';
import { errors } from './errors.ts';
import {
  baseEnvironment,
  Git,
  type GitSetup,
  type Identity,
  userConfigEnvironment,
} from './git-cli.ts';
import { LIMITS } from './limits.ts';
import { GitLock } from './lock.ts';

export interface WorktreeDeps {
  readonly exec: Exec;
  readonly files: Files;
  readonly clock: Clock;
  /** The user's environment: PATH, HOME and where their git config lies. */
  readonly env: Readonly<Record<string, string>>;
  /** Lower-case hex of the SHA-256 of a text. */
  readonly sha256: (text: string) => string;
  /** Absolute path of git; default: the first on PATH. */
  readonly gitPath?: string | undefined;
  /** Share it when one process opens a repository twice. */
  readonly lock?: GitLock | undefined;
}

export interface Head {
  /** Without `refs/heads/`; null when detached. */
  readonly branch: string | null;
  /** Null when there is no commit yet. */
  readonly commit: string | null;
}

export interface Repository {
  /** The user's work tree, or '' when bare. */
  readonly root: string;
  readonly gitDir: string;
  /** Shared by all work trees; the state of Troupe lies under it. */
  readonly commonDir: string;
  readonly gitPath: string;
  readonly gitVersion: string;
  readonly bare: boolean;
  /** 16 hex digits of the SHA-256 of the real path of `commonDir`. */
  readonly hash: string;
  /** As it was when the repository was opened; `readHead` asks again. */
  readonly head: Head;
  readonly identity: Identity;
  readonly excludesFile: string | null;
  readonly deps: WorktreeDeps;
  readonly lock: GitLock;
  /** Calls on the user's own place. */
  readonly git: Git;
}

const FALLBACK_IDENTITY: Identity = {
  name: 'Troupe',
  email: 'troupe@troupe.local',
  fallback: true,
};

/**
 * The repository around `dir`. Throws `git/missing`, `git/too-old`, `worktree/no-such-directory`,
 * `worktree/not-a-repository`, `worktree/dubious-ownership`, `worktree/inside-git-directory`. A repository without a
 * commit opens (`head.commit` is null); a bare one opens with `root` ''. A submodule's work tree is a repository of its
 * own.
 */
export async function openRepository(deps: WorktreeDeps, dir: string): Promise<Repository> {
  await requireDirectory(deps, dir);
  const gitPath = deps.gitPath ?? (await findGit(deps));
  const probe = makeProbe(deps, { gitPath, dir });
  const gitVersion = await requireVersion(probe);
  const places = await findPlaces(probe, dir);
  const user = await readUserConfig(probe, deps.env);
  const setup: GitSetup = {
    exec: deps.exec,
    clock: deps.clock,
    gitPath,
    env: deps.env,
    identity: user.identity,
    carriedConfig: user.carried,
  };
  const workTree = places.bare ? undefined : places.root;
  const git = new Git(setup, { gitDir: places.gitDir, workTree });
  return {
    ...places,
    gitPath,
    gitVersion,
    hash: deps.sha256(places.commonDir).slice(0, 16),
    head: await headOf(git),
    identity: user.identity,
    excludesFile: user.excludesFile,
    deps,
    lock: deps.lock ?? new GitLock({ clock: deps.clock }),
    git,
  };
}

/** Files outside of any tree that say what git leaves out, the weakest first; they need not be there. */
export function ignoreFiles({ excludesFile, commonDir, deps }: Repository): string[] {
  const { HOME, XDG_CONFIG_HOME } = deps.env;
  const config = XDG_CONFIG_HOME || (HOME === undefined ? null : `${HOME}/.config`);
  const own = excludesFile ?? (config === null ? null : `${config}/git/ignore`);
  return [...(own === null ? [] : [own]), `${commonDir}/info/exclude`];
}

/** HEAD of the user's work tree, now. */
export function readHead(repo: Repository): Promise<Head> {
  return headOf(repo.git);
}

/** The full object id of the commit that `rev` names. Throws `worktree/no-commit`, `worktree/unknown-base`. */
export async function resolveBase(repo: Repository, rev: string): Promise<string> {
  const commit = await resolveCommit(repo.git, rev);
  if (commit !== null) return commit;
  if (rev === 'HEAD') throw errors.noCommit(placeName(repo));
  throw errors.unknownBase(rev);
}

/** The full id of a commit by any name, or null. */
export async function resolveCommit(git: Git, rev: string): Promise<string | null> {
  if (rev === '' || rev.includes('\0')) return null;
  // A name that git cannot parse at all (`a..b`, a tree) exits 128.
  const result = await git.run({
    args: ['rev-parse', '-q', '--verify', '--end-of-options', `${rev}^{commit}`],
    codes: [0, 1, 128],
  });
  const text = result.stdout.trim();
  return result.code === 0 && isObjectId(text) ? text : null;
}

export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

function placeName(repo: Pick<Repository, 'root' | 'commonDir'>): string {
  return repo.root === '' ? repo.commonDir : repo.root;
}

async function headOf(git: Git): Promise<Head> {
  const branch = await git.lineOrNull(['symbolic-ref', '-q', 'HEAD']);
  return {
    branch: branch === null ? null : branch.replace(/^refs\/heads\//, ''),
    commit: await resolveCommit(git, 'HEAD'),
  };
}

// Discovery: the only calls that let git look for itself and read the user's own config.

type Probe = (args: readonly string[]) => Promise<ExecResult>;

function makeProbe(deps: WorktreeDeps, at: { gitPath: string; dir: string }): Probe {
  return async (args) => {
    const result = await deps.exec.run({
      file: at.gitPath,
      // Discovery runs no hook and no monitor either.
      args: ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', ...args],
      cwd: at.dir,
      env: { ...baseEnvironment(deps.env), ...userConfigEnvironment(deps.env) },
      stdin: '',
      timeoutMs: LIMITS.shortTimeoutMs,
      outputMax: LIMITS.shortOutputMax,
    });
    if (result.timedOut) throw errors.gitTimeout(args.join(' '), LIMITS.shortTimeoutMs);
    return result;
  };
}

async function requireDirectory(deps: WorktreeDeps, dir: string): Promise<void> {
  // A link to a folder is a fine workspace; git resolves it.
  const stat = await deps.files.stat(dir);
  if (stat === null || stat.kind === 'file' || stat.kind === 'other') {
    throw errors.noSuchDirectory(dir);
  }
}

async function findGit(deps: WorktreeDeps): Promise<string> {
  const path = deps.env['PATH'] ?? '';
  for (const folder of path.split(':')) {
    if (!folder.startsWith('/')) continue;
    const candidate = `${folder}/git`;
    const stat = await deps.files.stat(candidate).catch(() => null);
    if (stat?.kind === 'file' || stat?.kind === 'link') return candidate;
  }
  throw errors.gitMissing(path);
}

async function requireVersion(probe: Probe): Promise<string> {
  const result = await probe(['--version']);
  const match = /(\d+)\.(\d+)(?:\.\d+)*/.exec(result.stdout);
  const version = match?.[0] ?? '';
  if (!isSupportedVersion(version)) throw errors.gitTooOld(version || result.stdout.trim());
  return version;
}

export function isSupportedVersion(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > LIMITS.gitMajor || (major === LIMITS.gitMajor && minor >= LIMITS.gitMinor);
}

type Places = Pick<Repository, 'root' | 'gitDir' | 'commonDir' | 'bare'>;

async function findPlaces(probe: Probe, dir: string): Promise<Places> {
  const flags = await probe(['rev-parse', '--is-bare-repository', '--is-inside-work-tree']);
  if (flags.code !== 0) throw discoveryError(dir, flags);
  const [isBare, isInside] = flags.stdout.trim().split('\n');
  const bare = isBare === 'true';
  if (!bare && isInside !== 'true') throw errors.insideGitDirectory(dir);
  return {
    bare,
    // One call for each, because a path may contain a newline.
    gitDir: await askPath(probe, ['--absolute-git-dir']),
    commonDir: await askPath(probe, ['--path-format=absolute', '--git-common-dir']),
    root: bare ? '' : await askPath(probe, ['--path-format=absolute', '--show-toplevel']),
  };
}

async function askPath(probe: Probe, args: readonly string[]): Promise<string> {
  const result = await probe(['rev-parse', ...args]);
  if (result.code !== 0) throw errors.gitFailed(args.join(' '), result.code, result.stderr);
  return result.stdout.replace(/\n$/, '');
}

function discoveryError(dir: string, result: ExecResult): Error {
  const { stderr } = result;
  if (stderr.includes('dubious ownership')) {
    return errors.dubiousOwnership(/repository at '(.+?)'/.exec(stderr)?.[1] ?? dir);
  }
  if (stderr.includes('not a git repository')) return errors.notARepository(dir);
  return errors.gitFailed('rev-parse', result.code, stderr);
}

// The user's config: what decides about who commits, what is ignored and how lines end.

interface UserConfig {
  readonly identity: Identity;
  readonly excludesFile: string | null;
  readonly carried: readonly string[];
}

const CARRIED_KEYS = ['core.autocrlf', 'core.eol', 'core.safecrlf', 'core.attributesfile'];

async function readUserConfig(
  probe: Probe,
  env: Readonly<Record<string, string>>,
): Promise<UserConfig> {
  const pattern =
    '^(user\\.(name|email)|core\\.(autocrlf|eol|safecrlf|excludesfile|attributesfile))$';
  const result = await probe(['config', '-z', '--includes', '--get-regexp', pattern]);
  // Exit 1: none of them is set.
  if (result.code !== 0 && result.code !== 1) {
    throw errors.gitFailed('config', result.code, result.stderr);
  }
  const values = parseConfig(result.stdout);
  const excludesFile = expandHome(values.get('core.excludesfile'), env);
  const carried = CARRIED_KEYS.flatMap((key) => {
    const value =
      key === 'core.attributesfile' ? expandHome(values.get(key), env) : values.get(key);
    return value === null || value === undefined ? [] : [`${key}=${value}`];
  });
  return {
    identity: identityOf(values, env),
    excludesFile,
    carried: excludesFile === null ? carried : [...carried, `core.excludesfile=${excludesFile}`],
  };
}

/** `key\nvalue\0…`; the last value of a key holds. A key without value is true. */
export function parseConfig(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const entry of text.split('\0')) {
    if (entry === '') continue;
    const end = entry.indexOf('\n');
    if (end === -1) values.set(entry, 'true');
    else values.set(entry.slice(0, end), entry.slice(end + 1));
  }
  return values;
}

function expandHome(
  path: string | undefined,
  env: Readonly<Record<string, string>>,
): string | null {
  if (path === undefined || path === '') return null;
  const home = env['HOME'];
  return path.startsWith('~/') && home !== undefined ? `${home}${path.slice(1)}` : path;
}

function identityOf(
  values: ReadonlyMap<string, string>,
  env: Readonly<Record<string, string>>,
): Identity {
  const name = env['GIT_AUTHOR_NAME'] || values.get('user.name') || '';
  const email = env['GIT_AUTHOR_EMAIL'] || values.get('user.email') || '';
  if (name === '' || email === '') return FALLBACK_IDENTITY;
  return { name, email, fallback: false };
}

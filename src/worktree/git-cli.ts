/**
 * The only place where a git call is put together (permissions §2.13). A call has an absolute program path, a git
 * directory and work tree taken from the registry and never discovered, an environment made from nothing, and pins that
 * no repository config can undo: no hooks, no fsmonitor, no pager, no signing, no gc, no rerere.
 *
 * What the repository's own `.git/config` defines as filters and merge drivers is the user's and may run.
 *
 * Invariants: W1 a call never runs a hook, a pager, an fsmonitor or a credential helper.
 */
import type { Clock, Exec, ExecResult } from '../kernel/index.ts';
import { errors } from './errors.ts';
import { LIMITS } from './limits.ts';

/** Who commits: the user, as their config says. */
export interface Identity {
  readonly name: string;
  readonly email: string;
  /** The user's config names nobody; commits carry Troupe's own name. */
  readonly fallback: boolean;
}

/** What stays the same for all calls on one repository. */
export interface GitSetup {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly gitPath: string;
  /** The user's environment; only a few names of it reach git. */
  readonly env: Readonly<Record<string, string>>;
  readonly identity: Identity;
  /** `key=value` of the user's own config that decides about content: excludes, attributes, line ends. */
  readonly carriedConfig: readonly string[];
}

/** Which index, HEAD and files a call works on. */
export interface GitPlace {
  readonly gitDir: string;
  /** Absent: the call needs no files (bare). */
  readonly workTree?: string | undefined;
}

export interface GitCall {
  readonly args: readonly string[];
  readonly stdin?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly outputMax?: number | undefined;
  /** Exit codes that are answers; others are thrown as `git/failed`. Default: 0 only. */
  readonly codes?: readonly number[] | undefined;
  /** Another index file than the tree's own, so that nobody's index changes. */
  readonly indexFile?: string | undefined;
  /** Author as in the commit that is replayed. */
  readonly authorEnv?: Readonly<Record<string, string>> | undefined;
  /** In the user's own tree, the user's global config (filters, line ends) holds too; the pins still win. */
  readonly userConfig?: boolean | undefined;
  /** Further `-c` settings. */
  readonly config?: readonly string[] | undefined;
}

/** Settings that hold whatever the repository's config says. */
const PINS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.sshCommand=',
  'core.quotePath=false',
  'core.fsync=committed,loose-object,reference',
  'core.filesRefLockTimeout=3000',
  'core.packedRefsTimeout=3000',
  'credential.helper=',
  'protocol.ext.allow=never',
  'safe.bareRepository=explicit',
  'gc.auto=0',
  'maintenance.auto=false',
  'commit.gpgSign=false',
  'rerere.enabled=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'advice.detachedHead=false',
];

/** Names of the user's environment that git, its filters and merge drivers need. */
const PASSED = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'TMPDIR', 'USER', 'LOGNAME', 'SystemRoot'];

export function gitArguments(
  setup: Pick<GitSetup, 'carriedConfig'>,
  place: GitPlace,
  call: Pick<GitCall, 'args' | 'config'>,
): string[] {
  const settings = [...setup.carriedConfig, ...PINS, ...(call.config ?? [])];
  return [
    ...settings.flatMap((setting) => ['-c', setting]),
    '--no-pager',
    `--git-dir=${place.gitDir}`,
    ...(place.workTree === undefined ? [] : [`--work-tree=${place.workTree}`]),
    ...call.args,
  ];
}

/** The passed names of `env` and nothing of `GIT_*`. */
export function baseEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of PASSED) {
    const value = env[name];
    if (value !== undefined && value !== '') kept[name] = value;
  }
  return { ...kept, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
}

export function gitEnvironment(
  setup: Pick<GitSetup, 'env' | 'identity'>,
  call: Pick<GitCall, 'indexFile' | 'authorEnv' | 'userConfig'> = {},
): Record<string, string> {
  const { name, email } = setup.identity;
  return {
    ...baseEnvironment(setup.env),
    ...(call.userConfig === true
      ? userConfigEnvironment(setup.env)
      : { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }),
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    ...(call.indexFile === undefined ? {} : { GIT_INDEX_FILE: call.indexFile }),
    ...call.authorEnv,
  };
}

/** Where the user says that their config lies; for reading it and for work in their own tree. */
export function userConfigEnvironment(
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM']) {
    const value = env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** Calls on one place of one repository. Immutable; cheap to make. */
export class Git {
  readonly setup: GitSetup;
  readonly place: GitPlace;

  constructor(setup: GitSetup, place: GitPlace) {
    this.setup = setup;
    this.place = place;
  }

  /** The same repository seen from another place, for example a task's tree. */
  at(place: GitPlace): Git {
    return new Git(this.setup, place);
  }

  /**
   * One call. Throws `git/timeout`, `git/locked` (after bounded tries), `git/output-too-large` and, for an exit code
   * that is not in `codes`, `git/failed`.
   */
  async run(call: GitCall): Promise<ExecResult> {
    const what = call.args.slice(0, 2).join(' ');
    for (let tries = 1; ; tries += 1) {
      const result = await this.#once(call);
      if (result.timedOut) throw errors.gitTimeout(what, timeoutOf(call));
      const lockFile = lockedBy(result);
      if (lockFile === null) return checked(what, call, result);
      if (tries >= LIMITS.gitLockTries) throw errors.gitLocked(what, lockFile);
      await this.setup.clock.sleep(LIMITS.gitLockPauseMs);
    }
  }

  /** Output of a call that answers one line. */
  async line(args: readonly string[]): Promise<string> {
    const result = await this.run({ args });
    return result.stdout.replace(/\n$/, '');
  }

  /** Output of a call that answers one line, or null when it exits 1. */
  async lineOrNull(args: readonly string[]): Promise<string | null> {
    const result = await this.run({ args, codes: [0, 1] });
    return result.code === 0 ? result.stdout.replace(/\n$/, '') : null;
  }

  async #once(call: GitCall): Promise<ExecResult> {
    return this.setup.exec.run({
      file: this.setup.gitPath,
      args: gitArguments(this.setup, this.place, call),
      cwd: this.place.workTree ?? this.place.gitDir,
      env: gitEnvironment(this.setup, call),
      stdin: call.stdin,
      timeoutMs: timeoutOf(call),
      outputMax: call.outputMax ?? LIMITS.outputMax,
    });
  }
}

function timeoutOf(call: GitCall): number {
  return call.timeoutMs ?? LIMITS.shortTimeoutMs;
}

function checked(what: string, call: GitCall, result: ExecResult): ExecResult {
  const codes = call.codes ?? [0];
  if (result.code === null || !codes.includes(result.code)) {
    throw errors.gitFailed(what, result.code, result.stderr);
  }
  if (result.truncated) throw errors.gitOutput(what);
  return result;
}

/** The lock file that made a call fail, or null. */
export function lockedBy(result: Pick<ExecResult, 'code' | 'stderr'>): string | null {
  if (result.code === 0) return null;
  const match = /Unable to create '(.+\.lock)': File exists/.exec(result.stderr);
  return match?.[1] ?? null;
}

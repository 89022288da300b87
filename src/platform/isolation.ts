/**
 * How a command is wrapped so that its whole tree dies with it and with us: a pid namespace whose first process is
 * killed by the kernel when the wrapper dies, and a wrapper that is killed by the kernel when the thread that started
 * it dies. Nothing in such a namespace can leave it, by `setsid`, double fork or otherwise.
 *
 * Rungs, best first; each is probed once by running it:
 * - `unshare`: util-linux, with a shell as the namespace's first process, which reaps orphans.
 * - `bwrap`: bubblewrap, for machines where only it may make namespaces. It sets `no_new_privs`, so `sudo` does not work
 *   inside. It comes second because a death of ours amid its start may leave a blocked `bwrap` (which runs nothing) for
 *   recovery to sweep.
 * - `none`: no namespace (other platforms, containers without the right to make one). `exec-tree.ts` then follows
 *   groups, sessions, parents and the environment marker.
 *
 * The tools are looked for in the system's folders only: PATH may hold folders of the workspace. In a namespace the
 * command is started by a shell, which does not pass on variables whose names are no identifiers (`a-b`).
 */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { launch, type Rung } from './exec-launch.ts';
import { SANDBOX_FILE_BLOCKS, SANDBOX_OOM_SCORE, SANDBOX_PROCESSES } from './limits.ts';

export interface Isolation {
  readonly isolation: Rung;
  /** For people: how, or why not. */
  readonly detail: string;
}

/** A rung that works here, with the words to put before a command. */
export interface Wrapper extends Isolation {
  prefix(env: Readonly<Record<string, string>>): readonly string[];
  /** Where a namespace can wait for a command that is not known yet (`exec-standby.ts`): the words that make it. */
  readonly standby?: readonly string[];
}

export const SYSTEM_FOLDERS: readonly string[] = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/usr/local/bin',
  '/run/current-system/sw/bin',
];

export interface ProbeOptions {
  /** Folders that hold bwrap and util-linux; default: the system's. */
  readonly folders?: readonly string[];
  /** Rungs that may be used; default: all. */
  readonly rungs?: readonly Rung[];
}

/** The rungs that work here, best first; the last is always `none`. */
export async function findWrappers(options: ProbeOptions = {}): Promise<readonly Wrapper[]> {
  const allowed = options.rungs ?? ['unshare', 'bwrap', 'none'];
  const found: Wrapper[] = [];
  const refused: string[] = [];
  for (const candidate of candidates(options.folders ?? SYSTEM_FOLDERS)) {
    if (!allowed.includes(candidate.isolation)) continue;
    if (found.some((wrapper) => wrapper.isolation === candidate.isolation)) continue;
    const failure = await tryOut(candidate);
    if (failure === null) found.push(candidate);
    else refused.push(`${candidate.detail}: ${failure}`);
  }
  const why = refused.length === 0 ? 'no bwrap, no unshare with setpriv' : refused.join('; ');
  found.push({ isolation: 'none', detail: `process groups and marker (${why})`, prefix: () => [] });
  return found;
}

let probed: Promise<readonly Wrapper[]> | undefined;

/** `findWrappers()` of this machine, probed once. */
export function systemWrappers(): Promise<readonly Wrapper[]> {
  probed ??= findWrappers();
  return probed;
}

function candidates(folders: readonly string[]): Wrapper[] {
  if (process.platform !== 'linux') return [];
  const tool = (name: string): string | null => findProgram(name, folders);
  const setpriv = tool('setpriv');
  const [bwrap, unshare, setsid] = [tool('bwrap'), tool('unshare'), tool('setsid')];
  const [env, sh] = [tool('env'), tool('sh')];
  if (env === null || sh === null || setsid === null) return [];
  const list: Wrapper[] = [];
  const add = (isolation: Rung, words: readonly string[], script: string): void => {
    list.push({
      isolation,
      detail: words.join(' '),
      prefix: (given) => [
        ...words,
        '--',
        sh,
        '-c',
        script,
        'troupe',
        ...cleaning({ sh, setsid, env }, given),
      ],
      // Another shell leaves traces in the environment.
      ...(isolation === 'unshare' && isDash(sh) ? { standby: [...words, '--', sh] } : {}),
    });
  };
  // `unshare` does not bind its life to ours by itself.
  if (unshare !== null && setpriv !== null) {
    const before = [setpriv, '--pdeathsig', 'KILL', '--', unshare];
    for (const users of [[], ['--user', '--map-current-user']]) {
      const words = [...before, ...users, ...UNSHARE_FLAGS, '--', setsid];
      add('unshare', words, INIT_SCRIPT);
    }
  }
  // `bwrap` does, and later is better: killed amid its start, it leaves a process that waits for it for ever.
  if (bwrap !== null) add('bwrap', [bwrap, ...BWRAP_FLAGS], START_SCRIPT);
  return list;
}

const BWRAP_FLAGS: readonly string[] =
  '--dev-bind / / --proc /proc --unshare-pid --die-with-parent --new-session'.split(' ');

/**
 * Behind them the first process is made the leader of a session: it shares its group with the command, whose `kill 0` it
 * does not hear, as no first process does. The wrapper outside would.
 */
const UNSHARE_FLAGS: readonly string[] = ['--pid', '--fork', '--kill-child', '--mount-proc'];

/**
 * Says on descriptor 3 that the namespace is set up, and waits for our word. Should we die while the wrapper is still
 * arming its own death, nobody would kill this namespace any more; but then no word comes, and nothing is started. Our
 * silence alone proves it: a descriptor may outlive the thread that the deaths are bound to.
 */
const HANDSHAKE = 'exec 4>&2 2>/dev/null; printf s >&3 || exit 125; read -r go <&3 || exit 125; ';

/**
 * The first process of the namespace. It stays, reaps orphans, keeps its own words out of the command's output, and ends
 * with the command's code, 128+n when a signal ended it.
 */
const INIT_SCRIPT: string = `${HANDSHAKE}exec 3>&-; (exec "$@" 2>&4 4>&-); exit $?`;

/** Under bwrap, which has a first process of its own. */
const START_SCRIPT: string = `${HANDSHAKE}exec 3>&- 2>&4 4>&-; exec "$@"`;

/**
 * Bounds that need no rights: processes (not for root, whom the kernel exempts), size of a file in blocks of 512 bytes, no
 * core dumps. When memory ends, the kernel takes the command and not the supervisor.
 */
const BOUNDS = `echo ${SANDBOX_OOM_SCORE} >/proc/self/oom_score_adj; ulimit -c 0; ulimit -f ${SANDBOX_FILE_BLOCKS}; ulimit -u ${SANDBOX_PROCESSES} || ulimit -p ${SANDBOX_PROCESSES}; `;

const sandboxScript = (bridge: string): string =>
  `${bridge}${HANDSHAKE}${BOUNDS}exec 3>&- 2>&4 4>&-; exec "$@"`;

/** Before a command that runs under `words`, a bubblewrap of the sandbox. */
export function sandboxPrefix(
  words: readonly string[],
  tools: {
    readonly sh: string;
    readonly setsid: string;
    readonly env: Readonly<Record<string, string>>;
    /** Shell text that is done before all else; it ends with 125 when the command may not start. */
    readonly bridge: string;
  },
): readonly string[] {
  const { sh, setsid, env, bridge } = tools;
  const before = [...words, '--', sh, '-c', sandboxScript(bridge), 'troupe'];
  return [...before, ...cleaning({ sh, setsid, env: '/usr/bin/env' }, env)];
}

/** A shell sets these for its children; the command gets what the caller gave, or nothing. */
const SHELL_TRACES: readonly string[] = ['OLDPWD', 'SHLVL', '_'];

/**
 * `env`, with its arguments, between a shell that leaves traces and the command. dash leaves none, which spares a program
 * at each start. `env` would take a program with `=` in its path for a variable; behind `setsid` it doesn't look.
 */
function cleaning(
  tools: { readonly sh: string; readonly setsid: string; readonly env: string },
  given: Readonly<Record<string, string>>,
): string[] {
  if (isDash(tools.sh)) return [];
  const unset = SHELL_TRACES.filter((name) => given[name] === undefined);
  const kept = SHELL_TRACES.filter((name) => given[name] !== undefined);
  return [
    tools.env,
    ...unset.flatMap((name) => ['-u', name]),
    ...kept.map((name) => `${name}=${given[name] ?? ''}`),
    tools.setsid,
  ];
}

const dashes = new Map<string, boolean>();

function isDash(sh: string): boolean {
  const known = dashes.get(sh);
  if (known !== undefined) return known;
  const found = basename(realpathSync(sh)) === 'dash';
  dashes.set(sh, found);
  return found;
}

/** null when the rung runs a command and passes its exit code on; else what went wrong. */
async function tryOut(wrapper: Wrapper): Promise<string | null> {
  const shell = findProgram('sh', SYSTEM_FOLDERS);
  if (shell === null) return 'no sh';
  const env = { PATH: '/usr/bin:/bin' };
  const argv = [...wrapper.prefix(env), shell, '-c', 'exit 7'];
  const launched = await launch({ argv, cwd: '/', env, output: 'ignore', rung: wrapper.isolation });
  if (launched.kind === 'failed') return launched.reason;
  const end = await launched.ended;
  return end.code === 7 ? null : `exit ${String(end.code ?? end.signal)} instead of 7`;
}

/** An executable file by name in the folders, or by path; null when there is none. */
export function findProgram(name: string, folders: readonly string[]): string | null {
  const paths = name.includes('/') ? [name] : folders.map((folder) => join(folder, name));
  return paths.find((path) => programState(path) === 'ok') ?? null;
}

export function programState(path: string): 'ok' | 'ENOENT' | 'EACCES' {
  try {
    if (!statSync(path).isFile()) return 'EACCES';
  } catch {
    return 'ENOENT';
  }
  try {
    accessSync(path, constants.X_OK);
    return 'ok';
  } catch {
    return 'EACCES';
  }
}

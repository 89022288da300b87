/**
 * The sandbox of one command (permissions §2.14): bubblewrap with the profile of `sandbox-profile.ts`, started as the
 * rung `bwrap` of `isolation.ts`, so that its processes end as all others do.
 *
 * Invariants
 * - P20, P21 see there.
 * - P22 What a command asked the sandbox for it gets or it does not run: nothing here falls back to fewer walls.
 * - P24 (`egress-guard.ts`) With hosts named, the only way out is the proxy's socket: the network namespace stays empty, and a
 *   bridge from its loopback to the socket must stand before the command starts.
 * - P23 A name that other programs run later, or that is Troupe's, and that a command made anywhere in its tree (as far as
 *   `sandbox-names.ts` looks) is moved out of the tree before anybody else sees it. It is not covered beforehand:
 *   bubblewrap would leave a file on the disk for each. One that was there is read-only.
 */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RefusedHost, SandboxReport, SandboxRequest } from '../kernel/ports.ts';
import { type EgressProxy, openEgressProxy } from './egress-proxy.ts';
import { platformError } from './errors.ts';
import { runCaptured } from './exec-run.ts';
import { findProgram, SYSTEM_FOLDERS, sandboxPrefix, type Wrapper } from './isolation.ts';
import { SANDBOX_PROBE_BYTES, SANDBOX_PROBE_MS } from './limits.ts';
import { BRIDGE_PORT, bridgeScript } from './sandbox-bridge.ts';
import { type FoundNames, findNames } from './sandbox-names.ts';
import { emptiedFolders, realPath, shownFolders } from './sandbox-places.ts';
import { isWithin, type SandboxFacts, sandboxArguments } from './sandbox-profile.ts';

type Env = Readonly<Record<string, string>>;
type Resolve = (host: string) => Promise<readonly string[]>;

export interface Sandboxed {
  readonly wrapper: Wrapper;
  /** Instead of the environment that was asked for. */
  readonly env: Env;
  /** To be called when the command and all its processes are gone; tells the names that were moved away. */
  settle(): Promise<readonly string[]>;
  /** Hosts that the command was refused. */
  refused(): readonly RefusedHost[];
  /** To be called once, whatever becomes of the command. */
  close(): Promise<void>;
}

/** Throws `exec/no-sandbox`. */
export async function sandboxed(
  request: SandboxRequest,
  command: { readonly env: Env; readonly cwd: string; readonly resolve?: Resolve | undefined },
): Promise<Sandboxed> {
  const bwrap = findProgram('bwrap', SYSTEM_FOLDERS);
  const [sh, setsid] = [findProgram('sh', SYSTEM_FOLDERS), findProgram('setsid', SYSTEM_FOLDERS)];
  if (bwrap === null || sh === null || setsid === null) {
    throw noSandbox('bubblewrap is not there any more');
  }
  const before = request.writable ? await findNames(request.tree, request.protect) : NO_NAMES;
  const proxy = await proxyFor(request, command.resolve);
  const facts = sandboxFacts(request, { ...command, names: before, proxy: proxy?.path ?? null });
  const words = [bwrap, ...sandboxArguments(facts)];
  return {
    wrapper: {
      isolation: 'bwrap',
      detail: 'bubblewrap',
      prefix: (given) =>
        sandboxPrefix(words, { sh, setsid, env: given, bridge: bridgeScript(facts.proxy) }),
    },
    env: environmentInside(command.env, facts),
    settle: () => settle(request, before),
    refused: () => proxy?.refused() ?? [],
    close: () => proxy?.close() ?? Promise.resolve(),
  };
}

/** For commands of agents alone: those of people have the network. */
async function proxyFor(
  { profile, hosts = [] }: SandboxRequest,
  resolve: Resolve | undefined,
): Promise<EgressProxy | null> {
  if (profile !== 'actor' || hosts.length === 0) return null;
  return openEgressProxy({ allow: hosts, resolve });
}

export function noSandbox(why: string): Error {
  return platformError({
    code: 'exec/no-sandbox',
    message: `The command was not run, because its sandbox cannot be made: ${why}`,
    hint: '`troupe doctor` tells what this machine has.',
  });
}

/** What is true of this machine and this tree now. */
function sandboxFacts(
  request: SandboxRequest,
  command: {
    readonly env: Env;
    readonly cwd: string;
    readonly names: FoundNames;
    readonly proxy: string | null;
  },
): SandboxFacts {
  const tree = realpathSync(request.tree);
  const { readable, writable } = shownFolders(command.env, request);
  const workspace = realPath(request.workspace);
  const closed = request.closed.flatMap((path) => realPath(path) ?? []);
  return {
    emptied: emptiedFolders(command.env),
    readable: [...readable, ...(workspace === null ? [] : [workspace]), request.gitDirectory],
    writable,
    closed,
    blanked: workspace === null || isWithin(workspace, tree) ? [] : secretsOf(workspace),
    tree,
    treeWritable: request.writable,
    locked: request.writable ? lockedIn(tree, command.names) : [],
    network: request.profile !== 'actor',
    proxy: command.proxy,
    cwd: realpathSync(command.cwd),
  };
}

/** `.env` and its like in the root of the checkout: a tree gets them by `worktree.copy`, when a person says so. */
function secretsOf(workspace: string): string[] {
  const isSecret = (name: string): boolean =>
    /^\.env(?:\..+)?$/.test(name) && !/\.(?:example|sample|template|dist)$/.test(name);
  try {
    return readdirSync(workspace)
      .filter(isSecret)
      .map((name) => join(workspace, name));
  } catch {
    return [];
  }
}

const NO_NAMES: FoundNames = { guarded: [], control: [] };

/** The pointer file, protected names, and what git runs or obeys in repositories below the root. */
function lockedIn(tree: string, { guarded, control }: FoundNames): string[] {
  // A repository that was there is worked in; what is locked of it is among its control files.
  const names = guarded.filter((path) => basename(path).toLowerCase() !== '.git');
  return ['.git', ...new Set([...names, ...control])]
    .map((path) => join(tree, path))
    .filter(existsSync);
}

const PROXIES = /^(?:https?|no|all|ftp)_proxy$/i;

const WAY_OUT: Env = Object.fromEntries([
  ...['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) =>
    [name, name.toUpperCase()].map((one) => [one, `http://127.0.0.1:${BRIDGE_PORT}`]),
  ),
  ...['no_proxy', 'NO_PROXY'].map((name) => [name, 'localhost,127.0.0.1,::1']),
  // Node looks at the proxies of its environment from 22.21 and 24.5 on, when it is told to.
  ['NODE_USE_ENV_PROXY', '1'],
]);

/** The temporary folder is one of its own; what names a place that is not there is left out. */
function environmentInside(env: Env, facts: SandboxFacts): Env {
  const entries = Object.entries(env).filter(
    ([name]) => name !== 'XDG_RUNTIME_DIR' && (facts.network || !PROXIES.test(name)),
  );
  return {
    ...Object.fromEntries(entries),
    ...(facts.proxy === null ? {} : WAY_OUT),
    TMPDIR: '/tmp',
  };
}

/** P23 */
async function settle(request: SandboxRequest, before: FoundNames): Promise<readonly string[]> {
  if (!request.writable) return [];
  const known = new Set([...before.guarded, ...before.control]);
  const { guarded } = await findNames(request.tree, request.protect);
  const fresh = guarded.filter((path) => !known.has(path));
  const made = fresh.filter((path) => !fresh.some((o) => o !== path && isWithin(o, path)));
  for (const path of made) {
    const from = join(request.tree, path);
    const to = join(request.setAside, path);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    // Links are kept as links: nothing outside of the tree is read.
    await cp(from, to, { recursive: true, verbatimSymlinks: true });
    await rm(from, { recursive: true, force: true });
  }
  return made;
}

const INSTALL = 'sudo apt-get install bubblewrap';

/** Runs the very layout that commands will get, once (some ten milliseconds). Never throws. */
export async function probeSandbox(request: SandboxRequest, env: Env): Promise<SandboxReport> {
  const none = (detail: string, install: string | null): SandboxReport => ({
    level: 0,
    detail,
    install,
  });
  if (process.platform !== 'linux') return none('bubblewrap is for Linux only', null);
  const [bwrap, sh] = ['bwrap', 'sh'].map((name) => findProgram(name, SYSTEM_FOLDERS));
  if (typeof bwrap !== 'string' || typeof sh !== 'string') {
    return none('bubblewrap is not installed', INSTALL);
  }
  try {
    const facts = sandboxFacts(request, {
      env,
      cwd: request.tree,
      names: NO_NAMES,
      proxy: null,
    });
    const done = await runCaptured({
      file: bwrap,
      args: [...sandboxArguments(facts), '--', sh, '-c', 'exit 7'],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      timeoutMs: SANDBOX_PROBE_MS,
      outputMax: SANDBOX_PROBE_BYTES,
    });
    if (done.code === 7) {
      return { level: 3, detail: 'bubblewrap, no network for agents', install: null };
    }
    const said = done.stderr.trim().split('\n').at(-1) ?? '';
    const isForbidden = /namespace|uid map|not permitted|permission denied/i.test(said);
    return none(`bubblewrap does not work here: ${said}`, isForbidden ? USER_NAMESPACES : null);
  } catch (error) {
    return none(`bubblewrap does not work here: ${String(error)}`, null);
  }
}

const USER_NAMESPACES =
  'sudo sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0';

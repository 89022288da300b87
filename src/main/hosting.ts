/**
 * A supervisor in this process: the repository's lock, the hosts of the actors, the socket.
 *
 * Invariant: the lock is taken first and given back last, whatever fails in between.
 */
import { accessSync, constants } from 'node:fs';
import { PoolHost, ThreadHost } from '../actors/index.ts';
import type { HostedSupervisor, Io } from '../cli/index.ts';
import type { Client } from '../client/index.ts';
import {
  controlErrors,
  hooksOfRun,
  makeCronHost,
  makeJudge,
  makeLiveControl,
  makePolicySource,
  openWorkspace,
  policyPlaces,
  readSettings,
  type UpService,
  userConfigFolder,
  type Workspace,
} from '../control/index.ts';
import type { Redactor } from '../events/index.ts';
import { type IpcServer, startIpcServer } from '../ipc/index.ts';
import { isoTime, type Logger } from '../kernel/index.ts';
import {
  acquireLock,
  hashOfFile,
  lookAt,
  markOf,
  NodeProcessTable,
  ownedByAdmin,
  sha256Hex,
} from '../platform/index.ts';
import { PROTOCOL_VERSION } from '../protocol/index.ts';
import { type MachineSandbox, openSupervisor, type Supervisor } from '../supervisor/index.ts';
import { commandEnvironment } from './environment.ts';
import { localClient } from './local-client.ts';
import { postJson } from './post.ts';
import { sandboxName, sandboxOf, sandboxText } from './sandbox.ts';
import type { GivenToThreads } from './threads/given.ts';

/** Of a process that is up: what only that process knows. */
export type UpProcess = Omit<UpService, 'refresh' | 'sandboxText'> & {
  /** Before clients are let in: takes up what was going on. */
  begin(supervisor: Supervisor, workspace: Workspace): Promise<void>;
};

export async function openHosted(
  io: Io,
  given: Workspace,
  logger: Logger,
  up: UpProcess | null = null,
): Promise<HostedSupervisor> {
  const { deps, places } = given;
  const { files, clock, random } = deps;
  const processes = new NodeProcessTable();
  const lock = await acquireLock({ files, clock, random, processes }, places.state);
  if ('heldBy' in lock) {
    const { pid, acquiredAt } = lock.heldBy;
    throw controlErrors.held({ pid, startedAt: acquiredAt });
  }
  try {
    const settings = await renewableSettings(given);
    const { workspace } = settings;
    const sandbox = await sandboxOf(io, places);
    const what = { workspace, logger, sandbox, settings, isUp: up !== null };
    const supervisor = await openOwn(io, what);
    const service = upServiceOf(up, settings, sandbox);
    const { server, client } = await serve(io, { ...what, supervisor, up, service });
    await supervisor.cron.start();
    let closing: Promise<void> | null = null;
    return {
      supervisor,
      client,
      sandboxText: (file) => sandboxText(sandbox.report, file),
      close() {
        closing ??= closeInOrder([
          () => supervisor.close(),
          () => server.close(),
          () => lock.release(),
        ]);
        return closing;
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function upServiceOf(
  up: UpProcess | null,
  settings: RenewableSettings,
  sandbox: MachineSandbox,
): UpService | null {
  if (up === null) return null;
  return {
    ...up,
    refresh: () => settings.refresh(),
    sandboxText: (file) => sandboxText(sandbox.report, file),
  };
}

/** Settings and keys as they were read last, and a workspace whose redactor knows the keys of that reading. */
interface RenewableSettings {
  readonly workspace: Workspace;
  /** Keys reach the threads that talk to models, and nothing else: no record, no event, no environment. */
  readonly given: GivenToThreads;
  refresh(): Promise<void>;
}

async function renewableSettings(opened: Workspace): Promise<RenewableSettings> {
  const { deps, places } = opened;
  const read = async (): Promise<{ given: GivenToThreads; redactor: Redactor }> => {
    const { models, secrets } = await readSettings(deps, {
      workspace: places.workspace,
      userConfig: places.userConfig,
    });
    const fresh = await openWorkspace(deps, places.workspace);
    return { given: { models, secrets }, redactor: await fresh.redactor() };
  };
  let current = await read();
  const redactor: Redactor = {
    text: (text) => current.redactor.text(text),
    data: (value, after) => current.redactor.data(value, after),
    spans: (text) => current.redactor.spans(text),
    begins: (text, from) => current.redactor.begins(text, from),
  };
  return {
    workspace: { ...opened, redactor: () => Promise.resolve(redactor) },
    get given(): GivenToThreads {
      return current.given;
    },
    async refresh() {
      current = await read();
    },
  };
}

/** Each step is tried, whatever the ones before it did; the first failure is told. */
async function closeInOrder(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

interface ToOpen {
  readonly workspace: Workspace;
  readonly logger: Logger;
  readonly sandbox: MachineSandbox;
  readonly settings: RenewableSettings;
  readonly isUp: boolean;
}

/** Where policies are read from, and what is asked of the disk for them. */
function policyWorld(io: Io, workspace: Workspace) {
  return {
    workspace,
    places: policyPlaces({
      userConfig: userConfigFolder(io.env),
      root: workspace.places.workspace,
      ownedByAdmin,
    }),
    disk: { look: lookAt, hash: hashOfFile },
  };
}

async function openOwn(io: Io, what: ToOpen): Promise<Supervisor> {
  const { workspace, logger, sandbox, settings } = what;
  const { deps, places, repository } = workspace;
  const environment = commandEnvironment(io.env);
  const entry = (name: string): URL => new URL(`../threads/${name}.js`, import.meta.url);
  const policy = makePolicySource({ ...policyWorld(io, workspace), markOf });
  return openSupervisor({
    policy,
    cron: makeCronHost(workspace, { armed: what.isUp, post: postJson }),
    hooks: (file) => hooksOfRun(workspace, userConfigFolder(io.env), file),
    files: deps.files,
    clock: deps.clock,
    random: deps.random,
    exec: deps.exec,
    logger,
    repository,
    directory: places.state,
    hosts: {
      // Each thread gets what is known of settings and keys when it starts.
      thread: new ThreadHost({
        entry: entry('actor'),
        env: environment,
        get given() {
          return settings.given;
        },
      }),
      pool: new PoolHost({
        entry: entry('subagent'),
        env: environment,
        get given() {
          return settings.given;
        },
      }),
    },
    up: what.isUp,
    environment,
    shell: findShell(),
    sandbox,
    pid: io.pid,
    sha256: sha256Hex,
    codec: deps.codec,
    version: deps.version,
  });
}

async function serve(
  io: Io,
  what: ToOpen & {
    readonly supervisor: Supervisor;
    readonly up: UpProcess | null;
    readonly service: UpService | null;
  },
): Promise<{ readonly server: IpcServer; readonly client: Client }> {
  const { workspace, supervisor, logger } = what;
  const { deps, places } = workspace;
  const socketPath = await deps.live.socketPath(places);
  let listening: string | null = null;
  const identity = {
    pid: io.pid,
    startedAt: isoTime(deps.clock.now()),
    // With loopback TCP the port is known when it listens.
    get socket(): string {
      return listening ?? socketPath;
    },
    protocol: PROTOCOL_VERSION,
    sandbox: sandboxName(what.sandbox.report),
  };
  try {
    const redactor = await workspace.redactor();
    const control = makeLiveControl({
      workspace,
      supervisor,
      identity,
      redactor,
      judgeOf: makeJudge(policyWorld(io, workspace)),
      up: what.service,
    });
    await what.up?.begin(supervisor, workspace);
    const server = await startIpcServer({
      directory: places.state,
      socketPath: io.env['TROUPE_WIRE'] === 'tcp' ? null : socketPath,
      pid: identity.pid,
      startedAt: identity.startedAt,
      control,
      logger,
    });
    listening = server.file.socket;
    return { server, client: localClient(control, { ...identity, role: 'person' }) };
  } catch (error) {
    await supervisor.close();
    throw error;
  }
}

/** bash without start files, where there is one; else the POSIX shell. */
function findShell(): { readonly file: string; readonly args: readonly string[] } {
  for (const file of ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash']) {
    if (isExecutable(file)) return { file, args: ['--noprofile', '--norc', '-c'] };
  }
  return { file: '/bin/sh', args: ['-c'] };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

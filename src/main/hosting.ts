/**
 * A supervisor in this process: the repository's lock, the hosts of the actors, the socket.
 *
 * Invariant: the lock is taken first and given back last, whatever fails in between.
 */
import { accessSync, constants } from 'node:fs';
import { PoolHost, ThreadHost } from '../actors/index.ts';
import type { HostedSupervisor, Io } from '../cli/index.ts';
import {
  controlErrors,
  hooksOfRun,
  makeCronHost,
  makeJudge,
  makeLiveControl,
  makePolicySource,
  policyPlaces,
  readSettings,
  userConfigFolder,
  type Workspace,
} from '../control/index.ts';
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
import { postJson } from './post.ts';
import { sandboxName, sandboxOf } from './sandbox.ts';
import type { GivenToThreads } from './threads/given.ts';

export async function openHosted(
  io: Io,
  workspace: Workspace,
  logger: Logger,
): Promise<HostedSupervisor> {
  const { deps, places } = workspace;
  const { files, clock, random } = deps;
  const processes = new NodeProcessTable();
  const lock = await acquireLock({ files, clock, random, processes }, places.state);
  if ('heldBy' in lock) {
    const { pid, acquiredAt } = lock.heldBy;
    throw controlErrors.held({ pid, startedAt: acquiredAt });
  }
  try {
    const sandbox = await sandboxOf(io, workspace.places);
    const supervisor = await openOwn(io, { workspace, logger, sandbox });
    const server = await serve(io, { workspace, supervisor, logger, sandbox });
    await supervisor.cron.start();
    let closing: Promise<void> | null = null;
    return {
      supervisor,
      sandbox: sandbox.report,
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

/** Each step is tried, whatever the ones before it did; the first failure is told. */
async function closeInOrder(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function openOwn(
  io: Io,
  what: {
    readonly workspace: Workspace;
    readonly logger: Logger;
    readonly sandbox: MachineSandbox;
  },
): Promise<Supervisor> {
  const { workspace, logger, sandbox } = what;
  const { deps, places, repository } = workspace;
  const { models, secrets } = await readSettings(deps, {
    workspace: places.workspace,
    userConfig: userConfigFolder(io.env),
  });
  // Keys reach the threads that talk to models, and nothing else: no record, no event, no environment.
  const given: GivenToThreads = { models, secrets };
  const environment = commandEnvironment(io.env);
  const entry = (name: string): URL => new URL(`../threads/${name}.js`, import.meta.url);
  const policy = makePolicySource({
    workspace,
    places: policyPlaces({
      userConfig: userConfigFolder(io.env),
      root: places.workspace,
      ownedByAdmin,
    }),
    disk: { look: lookAt, hash: hashOfFile },
    markOf,
  });
  return openSupervisor({
    policy,
    cron: makeCronHost(workspace, { armed: false, post: postJson }),
    hooks: (file) => hooksOfRun(workspace, userConfigFolder(io.env), file),
    files: deps.files,
    clock: deps.clock,
    random: deps.random,
    exec: deps.exec,
    logger,
    repository,
    directory: places.state,
    hosts: {
      thread: new ThreadHost({ entry: entry('actor'), env: environment, given }),
      pool: new PoolHost({ entry: entry('subagent'), env: environment, given }),
    },
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
  what: {
    readonly workspace: Workspace;
    readonly supervisor: Supervisor;
    readonly logger: Logger;
    readonly sandbox: MachineSandbox;
  },
): Promise<IpcServer> {
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
    const server = await startIpcServer({
      directory: places.state,
      socketPath: io.env['TROUPE_WIRE'] === 'tcp' ? null : socketPath,
      pid: identity.pid,
      startedAt: identity.startedAt,
      control: makeLiveControl({
        workspace,
        supervisor,
        identity,
        redactor: await workspace.redactor(),
        judgeOf: makeJudge({
          workspace,
          places: policyPlaces({
            userConfig: userConfigFolder(io.env),
            root: places.workspace,
            ownedByAdmin,
          }),
          disk: { look: lookAt, hash: hashOfFile },
        }),
      }),
      logger,
    });
    listening = server.file.socket;
    return server;
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

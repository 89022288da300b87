/** Where ports meet the adapters of this machine. What hosts a supervisor comes with `hosting.ts`, only when one is opened. */
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { connectAt, type Io, type Machine } from '../cli/index.ts';
import {
  type ControlDeps,
  type LiveSource,
  type MachineLook,
  openWorkspace,
  userConfigFolder,
  type Workspace,
} from '../control/index.ts';
import type { Files } from '../kernel/index.ts';
import {
  acquireLock,
  CryptoRandom,
  findMarked,
  listLocks,
  makeProcessReader,
  NodeExec,
  NodeFiles,
  NodeProcessTable,
  ownedByAdmin,
  readLockHolder,
  StructuredCodec,
  SystemClock,
  sha256Hex,
  socketPathFor,
} from '../platform/index.ts';

import { isThere, readNote, removeNote } from './keep/note.ts';

/** How long a reading command waits for the supervisor to tell what its actors are doing. */
const STATUS_MS = 1_500;

export function makeMachine(io: Io, version: string): Machine {
  const files = new NodeFiles();
  const look = makeMachineLook(files);
  const deps: ControlDeps = {
    files,
    exec: new NodeExec(),
    clock: new SystemClock(),
    random: new CryptoRandom(),
    env: io.env,
    sha256: sha256Hex,
    codec: new StructuredCodec(),
    version,
    live: makeLiveSource(io, files),
    machine: look,
    parseEnv,
    ownedByAdmin,
    shippedSkills: fileURLToPath(new URL('../../skills', import.meta.url)),
    async sandbox(places) {
      const { sandboxOf } = await import('./sandbox.ts');
      return (await sandboxOf(io, places)).report;
    },
  };
  const open = (directory: string): Promise<Workspace> =>
    openWorkspace(deps, absolutePath(io.cwd, directory));
  return {
    deps,
    openWorkspace: open,
    async settingsPlaces(directory) {
      const userConfig = userConfigFolder(io.env);
      try {
        const { workspace, state } = (await open(directory ?? '.')).places;
        return { userConfig, workspace, state };
      } catch (error) {
        if (directory !== undefined) throw error;
        return { userConfig, workspace: null };
      }
    },
    async proveSandbox({ places }) {
      const { sandboxOf } = await import('./sandbox.ts');
      const { proveSandbox } = await import('./sandbox-proof.ts');
      const { report } = await sandboxOf(io, places);
      return proveSandbox({ exec: deps.exec, path: io.env['PATH'] ?? '', report });
    },
    async launch({ places }, adopt) {
      const { launchParent } = await import('./launch.ts');
      await launchParent(io, places, adopt);
    },
    parent: ({ places }) => look.parent(places),
    forgetParent: ({ places }) => removeNote(places.state),
    hosting: {
      async open(workspace, logger) {
        const { openHosted } = await import('./hosting.ts');
        return openHosted(io, workspace, logger);
      },
    },
  };
}

function makeMachineLook(files: Files): MachineLook {
  const [clock, random, processes] = [
    new SystemClock(),
    new CryptoRandom(),
    new NodeProcessTable(),
  ];
  const reader = makeProcessReader();
  return {
    locks: (places) => listLocks({ files, processes }, places.state),
    async hold(places) {
      const lock = await acquireLock({ files, clock, random, processes }, places.state);
      return 'heldBy' in lock ? null : lock;
    },
    async marked(marker) {
      return (await findMarked(reader, marker)).map(({ pid }) => pid);
    },
    parent({ state }) {
      const note = readNote(state);
      return note === null ? null : { ...note, alive: isThere(note) };
    },
  };
}

function absolutePath(cwd: string, path: string): string {
  if (path === '.') return cwd;
  return path.startsWith('/') ? path : `${cwd}/${path}`;
}

function makeLiveSource(io: Io, files: Files): LiveSource {
  const processes = new NodeProcessTable();
  return {
    async holder(places) {
      const holder = await readLockHolder({ files, processes }, places.state);
      return holder === null ? null : { pid: holder.pid, startedAt: holder.acquiredAt };
    },
    async status(places) {
      const client = await connectAt(places, STATUS_MS);
      if (client === null) return null;
      try {
        return await client.call('status', {});
      } catch {
        // It is there but busy or just ending: what it would tell is not known.
        return null;
      } finally {
        client.close();
      }
    },
    socketPath: (places) => socketPathFor(places.gitDir, io.env),
  };
}

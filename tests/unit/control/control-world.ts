/** A workspace in memory: files, clock and chance from `testing`, and a supervisor that is what the test says it is. */
import { createHash } from 'node:crypto';
import type { ControlDeps, Holder, Workspace } from '../../../src/control/index.ts';
import { placesOf } from '../../../src/control/places.ts';
import { lazyRedactor } from '../../../src/control/redaction.ts';
import { createRun } from '../../../src/control/run-store.ts';
import { openJournal } from '../../../src/journal/index.ts';
import { StructuredCodec } from '../../../src/platform/index.ts';
import type { RunRecord } from '../../../src/protocol/record.ts';
import type { RunFile } from '../../../src/protocol/team.ts';
import type { StatusResult } from '../../../src/protocol/wire.ts';
import {
  MemoryFiles,
  ScriptedExec,
  SeededRandom,
  VirtualClock,
} from '../../../src/testing/index.ts';
import { runFile, team } from '../../support/team.ts';

export interface ControlWorld {
  readonly workspace: Workspace;
  readonly files: MemoryFiles;
  readonly clock: VirtualClock;
  /** What the lock and the socket tell. */
  live: { holder: Holder | null; status: StatusResult | null };
}

export function makeControlWorld(): ControlWorld {
  const files = new MemoryFiles();
  const clock = new VirtualClock();
  const live: ControlWorld['live'] = { holder: null, status: null };
  const repository: any = { root: '/repo', commonDir: '/repo/.git', hash: 'abcdef0123456789' };
  const env = { HOME: '/home/u' };
  const world: ControlWorld = { workspace: null as any, files, clock, live };
  const deps: ControlDeps = {
    files,
    exec: new ScriptedExec({ files, clock }),
    clock,
    random: new SeededRandom(1),
    env,
    sha256: (content) => createHash('sha256').update(content).digest('hex'),
    codec: new StructuredCodec(),
    version: '0.0.0',
    live: {
      holder: () => Promise.resolve(world.live.holder),
      status: () => Promise.resolve(world.live.status),
      socketPath: () => Promise.resolve('/run/s.sock'),
    },
  };
  const places = placesOf(repository, env);
  const workspace: Workspace = {
    deps,
    repository,
    places,
    redactor: lazyRedactor(deps, places),
  };
  return Object.assign(world, { workspace });
}

export function makeRunFile(id: string, createdAt: string, teammates: readonly string[]): RunFile {
  const made = runFile({
    id,
    team: team({ teammates }),
    baseCommit: 'b'.repeat(40),
    workspace: '/repo',
    treesRoot: `/trees/${id}`,
  });
  return { ...made, createdAt };
}

/** A run with these records in its journal. */
export async function makeRun(
  { workspace, files, clock }: ControlWorld,
  file: RunFile,
  records: readonly RunRecord[],
): Promise<{ append(record: RunRecord): Promise<void>; close(): Promise<void> }> {
  await createRun(workspace, file);
  const journal = await openJournal({
    files,
    clock,
    random: new SeededRandom(2),
    directory: `${workspace.places.runs}/${file.id}/journal`,
    name: file.id,
  });
  const append = async (record: RunRecord): Promise<void> => {
    await journal.append({ ...record }).durable;
  };
  for (const record of records) await append(record);
  return { append, close: () => journal.close() };
}

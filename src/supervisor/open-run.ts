/**
 * A term of a run begins: policy, journal, state, git and processes come together in the loop that decides from here on.
 *
 * Invariant: whatever fails on the way, the journal is closed again: the next try finds it as it was.
 */
import { BlobStore } from '../journal/index.ts';
import type { MemoryStore } from '../memory/index.ts';
import type { Grant, RunFile, StoredRunRecord } from '../protocol/index.ts';
import type { AuditBook } from './audit-book.ts';
import type { LiveEvent, SupervisorDeps } from './contract.ts';
import type { JobsOfRun } from './cron/author.ts';
import { ProcessHost } from './effects/commands.ts';
import { HookRunner } from './effects/hooks.ts';
import { ViewFiles } from './effects/views.ts';
import type { GrantBook } from './grants.ts';
import { makeLive } from './live.ts';
import { RunLoop } from './loop.ts';
import { makeBranch } from './make-branch.ts';
import { keeperOf } from './memory.ts';
import { foldersOf } from './run-files.ts';
import { sandboxOf } from './run-sandbox.ts';
import { takeUp } from './take-up.ts';
import { lookAfterTrees } from './tree-folder.ts';
import type { TreeKeeper } from './trees/keeper.ts';

export interface OpenRunOptions {
  readonly deps: SupervisorDeps;
  readonly audit: AuditBook;
  readonly book: GrantBook;
  readonly memory: MemoryStore;
  readonly trees: TreeKeeper;
  readonly jobs: JobsOfRun;
  /** Keeps a grant for the workspace and tells the runs. */
  readonly keepGrant: (grant: Grant) => Promise<void>;
  readonly onRecord: (record: StoredRunRecord) => void;
  readonly onLive: (event: LiveEvent) => void;
}

export async function openRun(file: RunFile, options: OpenRunOptions): Promise<RunLoop> {
  const { deps, memory } = options;
  const { files, clock, logger } = deps;
  const folder = `${deps.directory}/runs/${file.id}`;
  // First of all: without a policy that can be read nothing of the run is touched.
  const source = deps.policy;
  const mark = source?.mark(file) ?? '';
  const policy = (await source?.load(file)) ?? null;
  const hooks = (await deps.hooks?.(file)) ?? file.team.hooks ?? [];
  const directories = await foldersOf(deps, folder, memory.path);
  const shared = {
    clock,
    logger,
    views: new ViewFiles({ files, clock, logger, directory: `${folder}/views` }),
    format: { codec: deps.codec, version: deps.version },
    blobs: new BlobStore({ files, directory: `${folder}/blobs`, hash: deps.sha256 }),
  };
  const taken = await takeUp(file, {
    ...deps,
    ...shared,
    directory: `${folder}/journal`,
    folder,
  });
  const { journal, state, damage } = taken;
  try {
    const processes = new ProcessHost({
      ...deps,
      scope: deps.repository.hash,
      run: file.id,
      outputsDirectory: directories.outputs,
      sandbox: sandboxOf(file, deps).commands,
    });
    // Before anything is put in order there.
    const trees = await lookAfterTrees(deps.repository, state);
    const git = await options.trees.workFor(file, processes);
    if (state.run.startedAt === null) await makeBranch(deps.repository, file);
    const live = makeLive({
      startedMonotonic: clock.monotonicMs(),
      wallUsedMs: state.wallMs,
      tip: await git.tip(),
      policy,
      hash: (text) => deps.sha256(new TextEncoder().encode(text)),
      grants: options.book.grants,
      sandbox: sandboxOf(file, deps).level,
      hooks,
      ...(deps.passivateMs === undefined ? {} : { passivateMs: deps.passivateMs }),
    });
    return new RunLoop(state, live, {
      ...shared,
      ...ofWorkspace(file, options),
      journal,
      ...(source === undefined ? {} : { policy: { source, mark } }),
      git,
      processes,
      ...(hooks.length === 0 ? {} : { hooks: new HookRunner(deps, file) }),
      damage,
      trees,
      hosts: deps.hosts,
      directories,
    });
  } catch (thrown) {
    await journal.close().catch(() => undefined);
    throw thrown;
  }
}

/** What outlives the run, and who listens. */
function ofWorkspace(
  file: RunFile,
  { audit, book, memory, jobs, keepGrant, onRecord, onLive }: OpenRunOptions,
): Pick<
  ConstructorParameters<typeof RunLoop>[2],
  'audit' | 'grants' | 'memory' | 'jobs' | 'onRecord' | 'onLive'
> {
  return {
    audit: { keys: audit.keysOf(file.id), head: (tip) => audit.head(file.id, tip) },
    grants: { give: keepGrant, used: (id, at) => book.used(id, at) },
    memory: keeperOf(memory, file.id),
    jobs,
    onRecord,
    onLive,
  };
}

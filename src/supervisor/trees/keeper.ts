/** The leases of the repository and its pools, one for each folder of trees. */
import type { Clock, Logger, Random } from '../../kernel/index.ts';
import type { RunFile } from '../../protocol/index.ts';
import type { Repository } from '../../worktree/index.ts';
import type { ProcessHost } from '../effects/commands.ts';
import { GitWork } from '../effects/git.ts';
import { SETUP_TIMEOUT_MS } from '../limits.ts';
import { TreeLeases } from './leases.ts';
import { TreePool } from './pool.ts';

export class TreeKeeper {
  readonly leases: TreeLeases;
  private readonly deps: {
    readonly repository: Repository;
    readonly logger: Logger;
    readonly random: Random;
  };
  private readonly pools = new Map<string, Promise<TreePool>>();

  constructor(deps: TreeKeeper['deps'] & { readonly clock: Clock }) {
    this.deps = deps;
    this.leases = new TreeLeases(deps.clock);
  }

  /** The git of one run, with what a killed supervisor left of it cleared away. */
  async workFor(file: RunFile, processes: ProcessHost): Promise<GitWork> {
    const { setup } = file.team.worktree;
    const git = new GitWork({
      repo: this.deps.repository,
      file,
      leases: this.leases,
      pool: await this.poolFor(file),
      setup: (tree) => processes.setup(setup, { ...tree, timeoutMs: SETUP_TIMEOUT_MS }),
    });
    await git.recover();
    return git;
  }

  /** The pool of the folder that a run's trees lie in; null when it asked for none. */
  private async poolFor(file: RunFile): Promise<TreePool | null> {
    const { pool: size = 0, sparse = [] } = file.team.worktree;
    if (size === 0 || sparse.length > 0) return null;
    const folder = file.treesRoot.slice(0, file.treesRoot.lastIndexOf('/'));
    const opened = this.pools.get(folder) ?? this.openPool(folder);
    this.pools.set(folder, opened);
    return opened;
  }

  /** Resolves when no tree is being made ready any more. */
  async stop(): Promise<void> {
    for (const pool of this.pools.values()) await (await pool).stop();
  }

  private async openPool(folder: string): Promise<TreePool> {
    const { repository: repo, logger, random } = this.deps;
    const pool = new TreePool(folder, {
      repo,
      logger,
      leases: this.leases,
      name: () => random.id(8),
    });
    await pool.recover();
    return pool;
  }
}

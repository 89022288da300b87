/**
 * Trees that are kept ready (`worktree.pool` of the team file), in a folder `_pool` beside those of the runs. It is filled
 * while no task waits for a tree of its own, stays over runs, and its trees go to one task each, once.
 *
 * Invariants: W12, W13 (`leases.ts`). A failure here is never a task's: it gets a tree of its own instead.
 */
import { ensureError, type Logger } from '../../kernel/index.ts';
import {
  addReadyTree,
  type Repository,
  readRegistrations,
  type Tree,
} from '../../worktree/index.ts';
import type { TreeLeases } from './leases.ts';

/** No run can be called so. */
const POOL = '_pool';

export interface PoolDeps {
  readonly repo: Repository;
  readonly leases: TreeLeases;
  readonly logger: Logger;
  readonly name: () => string;
}

export class TreePool {
  private readonly deps: PoolDeps;
  private readonly folder: string;
  private filling: Promise<void> = Promise.resolve();
  private busy = 0;
  private idle: (() => void)[] = [];
  private wanted: { readonly size: number; readonly commit: () => Promise<string> } | null = null;
  private isFilling = false;

  /** `trees`: the folder that holds those of all runs. */
  constructor(trees: string, deps: PoolDeps) {
    this.deps = deps;
    this.folder = `${trees}/${POOL}`;
  }

  /** To be called before the pool is used: what an earlier supervisor left there half made goes. */
  async recover(): Promise<void> {
    const { repo, leases } = this.deps;
    const { files } = repo.deps;
    if ((await files.stat(this.folder)) === null) return;
    const registered = await readRegistrations(repo);
    const known = new Map(leases.waiting(this.folder).map((lease) => [lease.path, lease]));
    for (const name of await files.list(this.folder)) {
      const path = `${this.folder}/${name}`;
      const there = registered.find((tree) => tree.path === path);
      const lease = known.get(path);
      if (lease !== undefined && there?.unfinished === false) continue;
      // Nobody has worked here: only whole trees are told of, and nobody is given one where it is.
      await files.remove(path);
      if (there !== undefined) await files.remove(there.adminDir);
    }
    for (const lease of known.values()) {
      if ((await files.stat(lease.path)) === null) await leases.end(lease.path);
    }
  }

  /** A tree that is the task's from now on, or null. */
  async give(to: {
    readonly path: string;
    readonly run: string;
    readonly task: string;
  }): Promise<Tree | null> {
    const { leases } = this.deps;
    const [lease] = leases.waiting(this.folder);
    if (lease === undefined || lease.admin === null) return null;
    const tree: Tree = { path: lease.path, adminDir: lease.admin, branch: null };
    await leases.lease(to.path, { run: to.run, task: to.task }, tree);
    return tree;
  }

  /** While it runs nothing is made ready, so that tasks have the disk for themselves. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.busy += 1;
    try {
      return await work();
    } finally {
      this.busy -= 1;
      if (this.busy === 0) for (const go of this.idle.splice(0)) go();
      this.fill();
    }
  }

  /** How many are to wait, and of what commit. */
  want(size: number, commit: () => Promise<string>): void {
    this.wanted = { size, commit };
  }

  /** Nothing more is begun; resolves when nothing is being made. */
  async stop(): Promise<void> {
    this.wanted = null;
    for (const go of this.idle.splice(0)) go();
    await this.filling;
  }

  private fill(): void {
    if (this.isFilling || this.wanted === null) return;
    this.isFilling = true;
    this.filling = this.makeReady().finally(() => {
      this.isFilling = false;
    });
  }

  private async makeReady(): Promise<void> {
    const { repo, leases, logger, name } = this.deps;
    try {
      while (this.wanted !== null && leases.waiting(this.folder).length < this.wanted.size) {
        if (this.busy > 0) {
          await new Promise<void>((resolve) => this.idle.push(resolve));
          continue;
        }
        const commit = await this.wanted.commit();
        const tree = await addReadyTree(repo, { path: `${this.folder}/${name()}`, commit });
        await leases.ready(tree);
      }
    } catch (thrown) {
      // Tasks go on without it; what is half made is cleared with the next start.
      this.wanted = null;
      logger.log('warn', 'no tree could be made ready', { error: ensureError(thrown).message });
    }
  }
}

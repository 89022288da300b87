/**
 * Whose each tree is: a fold over the workspace journal, since trees outlive runs. A lease is on the disk before its tree is
 * made or given out, and goes with the tree.
 *
 * Invariants
 * - W13 A tree has one holder at a time: a task of a run, or nobody (it waits in the pool). A second one is refused.
 */
import type { Journal } from '../../journal/index.ts';
import { type Clock, EXIT, isoTime, TroupeError } from '../../kernel/index.ts';
import type { Tree } from '../../worktree/index.ts';

/** One tree of the pool, or of a task. */
export interface TreeLease {
  readonly path: string;
  /** Of a tree of the pool that waits; then it has no holder. */
  readonly admin: string | null;
  readonly run: string | null;
  readonly task: string | null;
  readonly since: string;
}

interface Holder {
  readonly run: string;
  readonly task: string;
}

export class TreeLeases {
  private readonly clock: Clock;
  private readonly leases = new Map<string, TreeLease>();
  private journal: Journal | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  open(journal: Journal): void {
    this.journal = journal;
  }

  /** One record of the workspace journal. */
  take(record: { readonly k: string; readonly [field: string]: unknown }): void {
    if (record.k !== 'tree') return;
    const text = (name: string): string | null => {
      const value = record[name];
      return typeof value === 'string' ? value : null;
    };
    const path = text('path');
    if (path === null) return;
    if (record['what'] === 'tree.gone') this.leases.delete(path);
    else {
      const since = text('at') ?? '';
      const [admin, run, task] = [text('admin'), text('run'), text('task')];
      this.leases.set(path, { path, admin, run, task, since });
    }
    // A tree of the pool that was given out has a new place.
    const from = text('from');
    if (from !== null) this.leases.delete(from);
  }

  /** Throws `worktree/leased` when it is another's. `from`: the tree of the pool that becomes this one. */
  async lease(path: string, holder: Holder, from?: Tree): Promise<void> {
    const now = this.leases.get(path);
    if (now !== undefined && now.run !== null) {
      if (now.run !== holder.run || now.task !== holder.task) throw leased(now);
      if (from === undefined) return;
    }
    if (from !== undefined && this.leases.get(from.path)?.run !== null) throw leased(null);
    const more = from === undefined ? {} : { from: from.path };
    await this.write('tree.leased', path, { ...holder, ...more });
    // So that a compaction knows of no tree at the place in the pool.
    if (from !== undefined) await this.write('tree.gone', from.path, {});
  }

  /** Its holder has done with it and the tree is gone. */
  async end(path: string): Promise<void> {
    if (this.leases.has(path)) await this.write('tree.gone', path, {});
  }

  async ready(tree: Tree): Promise<void> {
    await this.write('tree.ready', tree.path, { admin: tree.adminDir });
  }

  /** Trees that wait under a folder, oldest first. */
  waiting(folder: string): TreeLease[] {
    return [...this.leases.values()].filter(
      (lease) => lease.run === null && lease.path.startsWith(`${folder}/`),
    );
  }

  private async write(
    what: 'tree.leased' | 'tree.ready' | 'tree.gone',
    path: string,
    more: Readonly<Record<string, string>>,
  ): Promise<void> {
    const record = { k: 'tree', at: isoTime(this.clock.now()), what, path, ...more };
    const before = this.leases.get(path);
    // Taken at once, so that of two who ask together one is refused.
    this.take(record);
    try {
      await this.journal?.append(record).durable;
    } catch (thrown) {
      if (before === undefined) this.leases.delete(path);
      else this.leases.set(path, before);
      throw thrown;
    }
  }
}

function leased(lease: TreeLease | null): TroupeError {
  const who = lease === null ? 'another task' : `task ${lease.task} of run ${lease.run}`;
  return new TroupeError({
    code: 'worktree/leased',
    message: `The tree ${lease?.path ?? 'of the pool'} belongs to ${who}`,
    hint: 'See `troupe worktrees`.',
    exit: EXIT.unfinished,
  });
}

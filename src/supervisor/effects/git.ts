/**
 * Effects on trees and refs, over room `worktree`. What can go wrong with a tree is an outcome with a text for people;
 * nothing here throws. The trees of a run are found again by their paths (adding is idempotent), so a new term needs no
 * memory of them.
 */
import { isTroupeError, type TaskId } from '../../kernel/index.ts';
import type { RunFile } from '../../protocol/index.ts';
import {
  addScratchTree,
  addTaskTree,
  addViewTree,
  advanceRef,
  branchRef,
  clearStaleLocks,
  commitTree,
  createIntegrationBranch,
  diffText,
  discardChanges,
  integrationBranch,
  isAncestor,
  type Landed,
  landedSince,
  mergeBase,
  mergeTask,
  noteSetup,
  type Repository,
  readIntegration,
  readRef,
  readRegistrations,
  removeTree,
  saveTree,
  setupExcludes,
  startConflictResolution,
  type TaskTree,
  type Tree,
} from '../../worktree/index.ts';
import type { Effect } from '../effect.ts';
import type { AdvanceOutcome, CommitOutcome, MergeOutcome, TreeOutcome } from '../inbox.ts';
import { REVIEW_DIFF_CHARS } from '../limits.ts';
import type { TreeLeases } from '../trees/leases.ts';
import type { TreePool } from '../trees/pool.ts';
import { conflictNote, lostText, namesOf } from './conflict-note.ts';
import { messageOf, requireStorage } from './failures.ts';
import { undeclaredIn } from './undeclared.ts';

type Of<T extends Effect['type']> = Extract<Effect, { type: T }>;

/** Names of scratch trees begin so; no task can be called so. */
const SCRATCH = '_check-';

/** Runs the setup commands of a new tree; null when all went well, else what to tell. */
export type Setup = (tree: {
  readonly path: string;
  readonly owner: string;
}) => Promise<string | null>;

export interface GitWorkDeps {
  readonly repo: Repository;
  readonly file: RunFile;
  readonly setup: Setup;
  /** W13. */
  readonly leases: TreeLeases;
  readonly pool: TreePool | null;
}

export class GitWork {
  private readonly repo: Repository;
  private readonly file: RunFile;
  private readonly setup: Setup;
  private readonly leases: TreeLeases;
  private readonly pool: TreePool | null;
  private readonly trees = new Map<string, TaskTree>();
  private readonly views = new Map<string, Tree>();
  private scratchCount = 0;
  /** Where the integration branch was when it was last seen. */
  private lastTip: string | null = null;

  constructor(options: GitWorkDeps) {
    this.repo = options.repo;
    this.file = options.file;
    this.setup = options.setup;
    this.leases = options.leases;
    this.pool = options.pool;
    const { pool: size = 0 } = this.file.team.worktree;
    this.pool?.want(size, () => this.tip());
  }

  async tip(): Promise<string> {
    await this.keepIntegration();
    const tip = await readIntegration(this.repo, this.file.id);
    this.lastTip = tip;
    return tip;
  }

  async prepare(effect: Of<'tree.prepare'>): Promise<TreeOutcome> {
    const work = (): Promise<TreeOutcome> => this.prepareNow(effect);
    return this.pool === null ? work() : this.pool.during(work);
  }

  private async prepareNow(effect: Of<'tree.prepare'>): Promise<TreeOutcome> {
    try {
      await this.keepIntegration();
      const there = (await this.repo.deps.files.stat(effect.path)) !== null;
      const tree = await this.taskTree(effect.task, {
        path: effect.path,
        fresh: effect.mode === 'fresh',
      });
      // Where somebody has worked already, setup is not run again: what it makes could not be told from the work.
      const isNew = effect.mode === 'new' || effect.mode === 'fresh' || !there;
      if (isNew) {
        const wrong = await this.setup({ path: tree.path, owner: effect.task });
        if (wrong !== null) return { kind: 'failed', text: wrong };
        if (this.file.team.worktree.setup.length > 0) await noteSetup(this.repo, tree);
      }
      const told = effect.mode === 'resolve' ? await this.resolve(tree) : { note: null };
      return { kind: 'ready', path: tree.path, branch: tree.branch, start: tree.start, ...told };
    } catch (thrown) {
      requireStorage(thrown);
      return { kind: 'failed', text: messageOf(thrown) };
    }
  }

  /** Leaves the integration branch merged into the tree, conflicts marked, so that its owner can resolve them. */
  private async resolve(
    tree: TaskTree,
  ): Promise<{ note: string | null; landed?: readonly Landed[] }> {
    const integration = await this.tip();
    const options = { tree, integration, exclude: await this.excludes(tree) };
    const outcome = await startConflictResolution(this.repo, options);
    switch (outcome.kind) {
      case 'conflicts': {
        const note = conflictNote(outcome);
        const { base, mergeHead: to } = outcome;
        if (base === null) return { note };
        const paths = outcome.files.map((file) => file.path);
        return { note, landed: await landedSince(this.repo, { from: base, to, paths }) };
      }
      case 'clean':
        return {
          note: 'The integration branch is merged into your tree without a conflict now; check that all works, then call complete_task.',
        };
      case 'up-to-date':
        return { note: null };
      case 'dirty':
        return {
          note: `Your tree has uncommitted changes in ${outcome.files.slice(0, 10).join(', ')}.`,
        };
    }
  }

  async commit(effect: Of<'tree.commit'>): Promise<CommitOutcome> {
    try {
      const tree = await this.taskTree(effect.task, { path: effect.path });
      const outcome = await commitTree(this.repo, {
        tree,
        message: effect.message,
        exclude: await this.excludes(tree),
        actor: effect.author === 'supervisor' ? null : effect.author,
      });
      switch (outcome.kind) {
        case 'committed':
          return await this.committed(outcome.commit, effect);
        case 'unchanged':
          if (!outcome.changed) return { kind: 'unchanged' };
          return await this.committed(outcome.head, effect);
        case 'conflict-markers': {
          const places = outcome.files.map((one) => `${one.path}:${one.line}`).join(', ');
          return { kind: 'unfinished-merge', text: `Conflict markers are still in ${places}.` };
        }
        case 'nested-repository':
          return {
            kind: 'failed',
            text: `These folders have a repository of their own, so their files cannot be committed: ${outcome.paths.join(', ')}. Remove their .git.`,
          };
        case 'wrong-branch':
          return { kind: 'failed', text: `The tree is not on its branch: ${outcome.reason}.` };
      }
    } catch (thrown) {
      requireStorage(thrown);
      return { kind: 'failed', text: messageOf(thrown) };
    }
  }

  /** The diff of a task's commit since it left the integration branch, for a reviewer. */
  async diff(effect: Of<'diff.read'>): Promise<{ ok: boolean; text: string }> {
    try {
      const tip = await this.tip();
      const from = (await mergeBase(this.repo, tip, effect.commit)) ?? tip;
      const range = { from, to: effect.commit };
      const stat = await diffText(this.repo, { ...range, stat: true });
      const patch = await diffText(this.repo, range);
      const whole = patch.length <= REVIEW_DIFF_CHARS;
      const rest = `\n… the diff goes on; all of it: git diff ${from} ${effect.commit}`;
      const shown = whole ? patch : `${patch.slice(0, REVIEW_DIFF_CHARS)}${rest}`;
      return { ok: true, text: `${stat}\n${shown}` };
    } catch (thrown) {
      requireStorage(thrown);
      return { ok: false, text: messageOf(thrown) };
    }
  }

  private async committed(commit: string, { touches }: Of<'tree.commit'>): Promise<CommitOutcome> {
    const undeclared = await undeclaredIn(this.repo, this.file, { commit, touches });
    return { kind: 'committed', commit, ...(undeclared.length === 0 ? {} : { undeclared }) };
  }

  /** After a gate: what it changed is dropped (design §7). */
  async restore(task: TaskId, options: { path: string; commit: string }): Promise<void> {
    const tree = await this.taskTree(task, { path: options.path });
    const exclude = await this.excludes(tree);
    await discardChanges(this.repo, { tree, commit: options.commit, exclude });
  }

  async merge(effect: Of<'merge.compute'>): Promise<MergeOutcome> {
    try {
      const integration = effect.onto ?? (await this.tip());
      const outcome = await mergeTask(this.repo, {
        taskCommit: effect.commit,
        integration,
        style: this.file.team.merge.style,
        message: effect.message,
      });
      switch (outcome.kind) {
        case 'merged-tree':
          return { kind: 'merged', from: outcome.oldIntegration, to: outcome.newCommit };
        case 'nothing':
          return { kind: 'nothing', at: integration };
        case 'conflict':
          return {
            kind: 'conflict',
            text: `Merging the work into the integration branch is in conflict in ${namesOf(outcome.files)}.`,
          };
        case 'lost-lines':
          return { kind: 'conflict', text: lostText(outcome.files) };
      }
    } catch (thrown) {
      requireStorage(thrown);
      const text = messageOf(thrown);
      return isTroupeError(thrown) && thrown.retryable
        ? { kind: 'blocked', text }
        : { kind: 'failed', text };
    }
  }

  /** Idempotent (W5): a ref that holds `to` already has moved. Rejects only when git itself fails. */
  async advance(effect: Of<'ref.advance'>): Promise<AdvanceOutcome> {
    await this.keepIntegration();
    const ref = branchRef(integrationBranch(this.file.id));
    const { to, from } = effect;
    const reason = `troupe: merge ${effect.task}`;
    try {
      const now = await readRef(this.repo, ref);
      // Moved in an earlier term, and perhaps further since.
      if (
        now !== null &&
        now !== from &&
        (await isAncestor(this.repo, { ancestor: to, of: now }))
      ) {
        this.lastTip = now;
        return { kind: 'moved' };
      }
      const moved = (await advanceRef(this.repo, { ref, to, from, reason })) === 'moved';
      if (moved) this.lastTip = to;
      return { kind: moved ? 'moved' : 'stale' };
    } catch (thrown) {
      requireStorage(thrown);
      if (!isTroupeError(thrown) || !thrown.retryable) throw thrown;
      // No git of ours runs now: a lock file on the run's refs is what a killed one left.
      if (thrown.code === 'git/locked') await clearStaleLocks(this.repo, { run: this.file.id });
      return { kind: 'blocked', text: messageOf(thrown) };
    }
  }

  /** The run's branch is Troupe's: when somebody deleted it, it is made again where it was, and nothing is lost. */
  private async keepIntegration(): Promise<void> {
    if (this.lastTip === null) return;
    const ref = branchRef(integrationBranch(this.file.id));
    if ((await readRef(this.repo, ref)) !== null) return;
    await createIntegrationBranch(this.repo, { run: this.file.id, base: this.lastTip });
  }

  async view(effect: Of<'view.prepare'>): Promise<TreeOutcome> {
    try {
      await this.keepIntegration();
      const tree = await addViewTree(this.repo, {
        run: this.file.id,
        name: 'view',
        path: effect.path,
        sparse: this.file.team.worktree.sparse,
      });
      this.views.set(effect.path, tree);
      return { kind: 'ready', path: tree.path, branch: '', start: tree.head, note: null };
    } catch (thrown) {
      requireStorage(thrown);
      return { kind: 'failed', text: messageOf(thrown) };
    }
  }

  /** A tree at a commit for one command, with the setup that the team file asks for; `drop` removes it again. */
  async scratch(commit: string): Promise<{ path: string; drop: () => Promise<void> }> {
    this.scratchCount += 1;
    const name = `${SCRATCH}${this.scratchCount}`;
    const path = `${this.file.treesRoot}/${name}`;
    const tree = await addScratchTree(this.repo, {
      name,
      path,
      commit,
      sparse: this.file.team.worktree.sparse,
      ...this.carried(),
    });
    const drop = async (): Promise<void> => {
      await removeTree(this.repo, { tree, exclude: tree.exclude, discard: true });
    };
    const wrong = await this.setup({ path: tree.path, owner: name });
    if (wrong === null) return { path: tree.path, drop };
    await drop();
    throw new Error(wrong);
  }

  /**
   * Clears away what a killed supervisor left in git: lock files of the run's refs and trees, scratch trees. To be called
   * when no process of the run is left, before anything else.
   */
  async recover(): Promise<void> {
    const run = this.file.id;
    await clearStaleLocks(this.repo, { run });
    for (const info of await readRegistrations(this.repo)) {
      if (!info.path.startsWith(`${this.file.treesRoot}/`)) continue;
      await clearStaleLocks(this.repo, { run, tree: info });
      if (!info.path.startsWith(`${this.file.treesRoot}/${SCRATCH}`)) continue;
      const tree = await addScratchTree(this.repo, {
        name: info.path,
        path: info.path,
        commit: this.file.baseCommit,
        copies: [],
        setupLinks: [],
      });
      await removeTree(this.repo, { tree, exclude: [], discard: true });
    }
  }

  async drop(
    effect: Of<'tree.drop'>,
  ): Promise<{ removed: boolean; saved: { ref: string; commit: string } | null; text: string }> {
    try {
      const { tree, exclude } = await this.droppedTree(effect);
      const saved =
        effect.branch === null
          ? null
          : await saveTree(this.repo, {
              run: this.file.id,
              task: effect.owner,
              tree,
              exclude,
              reason: 'before the tree is removed',
            });
      const outcome = await removeTree(this.repo, {
        tree,
        exclude,
        saved: saved?.commit,
        discard: effect.branch === null,
      });
      this.trees.delete(effect.owner);
      const kept = saved === null ? null : { ref: saved.ref, commit: saved.commit };
      if (outcome.kind === 'removed' || outcome.kind === 'absent') {
        await this.leases.end(effect.path);
        return { removed: true, saved: kept, text: '' };
      }
      return { removed: false, saved: kept, text: outcome.detail };
    } catch (thrown) {
      requireStorage(thrown);
      return { removed: false, saved: null, text: messageOf(thrown) };
    }
  }

  private async droppedTree(
    effect: Of<'tree.drop'>,
  ): Promise<{ tree: Tree; exclude: readonly string[] }> {
    const { owner, path, branch } = effect;
    if (branch !== null) {
      const tree = await this.taskTree(owner, { path });
      return { tree, exclude: await this.excludes(tree) };
    }
    const run = this.file.id;
    const view = this.views.get(path) ?? (await addViewTree(this.repo, { run, name: owner, path }));
    return { tree: view, exclude: [] };
  }

  private async taskTree(
    task: string,
    options: { path: string; fresh?: boolean },
  ): Promise<TaskTree> {
    const known = this.trees.get(task);
    if (known !== undefined && options.fresh !== true) return known;
    const { path } = options;
    const run = this.file.id;
    await this.leases.lease(path, { run, task });
    const tree = await addTaskTree(this.repo, {
      run,
      task,
      path,
      fresh: options.fresh,
      sparse: this.file.team.worktree.sparse,
      ready: async () => (await this.pool?.give({ path, run, task })) ?? null,
      ...this.carried(),
    });
    this.trees.set(task, tree);
    return tree;
  }

  /** What is in a tree without being its work: carried in, or made by setup. */
  private async excludes(tree: TaskTree): Promise<string[]> {
    return [...tree.exclude, ...(await setupExcludes(this.repo, tree))];
  }

  private carried(): { copies: readonly string[]; setupLinks: readonly string[] } {
    const { copy, link } = this.file.team.worktree;
    return { copies: copy, setupLinks: link };
  }
}

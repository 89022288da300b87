/**
 * Git of one process's life: trees and merges over `SimRepo`, each after a while, and never after the process's death. The
 * integration branch is moved by the production code (`GitWork.advance`), over a git that knows the two calls it needs.
 */

import type { RunFile } from '../../../src/protocol/index.ts';
import { GitWork } from '../../../src/supervisor/effects/git.ts';
import type { TreeWork } from '../../../src/supervisor/effects/git-effects.ts';
import type {
  AdvanceOutcome,
  CommitOutcome,
  MergeOutcome,
  TreeOutcome,
} from '../../../src/supervisor/inbox.ts';
import type { TreeLeases } from '../../../src/supervisor/trees/leases.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import type { SeededRandom } from '../../../src/testing/seeded-random.ts';
import type { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { GitLock, type Repository } from '../../../src/worktree/index.ts';
import type { Life } from './life.ts';
import { MAIN, type SimTree, sameFiles } from './sim-repo.ts';

type Of<K extends keyof TreeWork> = Parameters<TreeWork[K]>[0];

export class SimGit implements TreeWork {
  readonly #life: Life;
  readonly #clock: VirtualClock;
  readonly #random: SeededRandom;
  readonly #work: GitWork;

  constructor(
    life: Life,
    options: {
      readonly clock: VirtualClock;
      readonly random: SeededRandom;
      readonly file: RunFile;
    },
  ) {
    this.#life = life;
    this.#clock = options.clock;
    this.#random = options.random;
    const { file } = options;
    // Of trees nothing is asked of it.
    const leases = {} as TreeLeases;
    const setup = async () => null;
    this.#work = new GitWork({ repo: this.#repository(), file, setup, leases, pool: null });
  }

  async prepare({ task, fence, path, mode }: Of<'prepare'>): Promise<TreeOutcome> {
    await this.#takesTime();
    const { repo } = this.#life.outside;
    if (this.#random.next() < this.#life.trouble.git)
      return { kind: 'failed', text: 'no space for a tree' };
    const branch = `refs/heads/troupe/sim/task/${task}`;
    const known = repo.trees.get(path);
    let tree = known;
    if (tree === undefined || mode === 'fresh') {
      const at = mode === 'fresh' ? repo.main : (repo.refs.get(branch) ?? repo.main);
      tree = repo.openTree({ path, task, branch, at });
      repo.refs.set(branch, at);
    }
    if (mode === 'resolve') this.#beginResolution(tree);
    this.#life.checks.prepared(task, fence);
    return { kind: 'ready', path, branch, start: tree.start, note: null };
  }

  #beginResolution(tree: SimTree): void {
    const { repo } = this.#life.outside;
    const { files } = repo.merge(repo.refs.get(tree.branch) ?? tree.start, repo.main);
    for (const [path, text] of files) tree.disk.files.set(path, new TextEncoder().encode(text));
    tree.merging = repo.main;
  }

  /** The simulated teams have no reviewers. */
  diff(): Promise<{ ok: boolean; text: string }> {
    return Promise.resolve({ ok: false, text: 'no diff is read here' });
  }

  async commit({ task, path }: Of<'commit'>): Promise<CommitOutcome> {
    await this.#takesTime();
    if (this.#random.next() < this.#life.trouble.git) return { kind: 'failed', text: 'git failed' };
    const { repo } = this.#life.outside;
    const tree = repo.trees.get(path);
    if (tree === undefined) return { kind: 'failed', text: `the tree of ${task} is gone` };
    const head = repo.refs.get(tree.branch) ?? tree.start;
    const files = repo.contentOf(tree);
    if (sameFiles(files, repo.filesOf(head)) && tree.merging === null) {
      return head === tree.start ? { kind: 'unchanged' } : { kind: 'committed', commit: head };
    }
    const commit = repo.commit(tree.merging === null ? [head] : [head, tree.merging], files);
    tree.merging = null;
    repo.refs.set(tree.branch, commit);
    return { kind: 'committed', commit };
  }

  async restore(
    task: Of<'restore'>,
    { path, commit }: { path: string; commit: string },
  ): Promise<void> {
    await this.#life.alive();
    const { repo } = this.#life.outside;
    const tree = repo.trees.get(path);
    if (tree === undefined) throw new Error(`the tree of ${task} is gone`);
    tree.disk.files.clear();
    for (const [name, text] of repo.filesOf(commit))
      tree.disk.files.set(name, new TextEncoder().encode(text));
  }

  async merge({ task, commit, onto }: Of<'merge'>): Promise<MergeOutcome> {
    await this.#takesTime();
    if (this.#random.next() < this.#life.trouble.git)
      return { kind: 'blocked', text: 'refs are locked' };
    const { repo } = this.#life.outside;
    const from = onto ?? repo.main;
    if (repo.contains(from, commit)) return { kind: 'nothing', at: from };
    const { files, conflict } = repo.merge(from, commit);
    if (conflict !== null)
      return { kind: 'conflict', text: `${task} is in conflict in ${conflict}` };
    return { kind: 'merged', from, to: repo.commit([from, commit], files) };
  }

  async advance(effect: Of<'advance'>): Promise<AdvanceOutcome> {
    await this.#takesTime();
    return this.#work.advance(effect);
  }

  async view({ path }: Of<'view'>): Promise<TreeOutcome> {
    await this.#takesTime();
    const { repo } = this.#life.outside;
    repo.openTree({ path, task: '_view', branch: '', at: repo.main });
    return { kind: 'ready', path, branch: '', start: repo.main, note: null };
  }

  async scratch(commit: string): Promise<{ path: string; drop: () => Promise<void> }> {
    await this.#takesTime();
    const { repo } = this.#life.outside;
    if (!repo.commits.has(commit))
      repo.broken.push(`W: a gate runs on ${commit}, which is no commit`);
    const path = `/t/_check-${repo.scratch.size}`;
    repo.scratch.add(path);
    return { path, drop: async () => void repo.scratch.delete(path) };
  }

  async drop({
    owner,
    path,
  }: Of<'drop'>): Promise<{ removed: boolean; saved: null; text: string }> {
    await this.#takesTime();
    this.#life.checks.dropped(owner);
    this.#life.outside.repo.trees.delete(path);
    return { removed: true, saved: null, text: '' };
  }

  /** Some of it takes seconds; a process that has died does nothing more. */
  async #takesTime(): Promise<void> {
    if (this.#random.next() < this.#life.trouble.slow)
      await this.#clock.sleep(1 + this.#random.below(20_000));
    await this.#life.alive();
  }

  /** All that moving a ref needs of a repository. */
  #repository(): Repository {
    const { outside } = this.#life;
    const { repo } = outside;
    const answer = (args: readonly string[]): { code: number; stdout: string; stderr: string } => {
      const [command = '', ...rest] = args;
      if (command === 'merge-base' && rest[0] === '--is-ancestor') {
        const [old = '', now = ''] = rest.slice(-2);
        return { code: repo.contains(now, old) ? 0 : 1, stdout: '', stderr: '' };
      }
      if (command !== 'update-ref') throw new Error(`no git ${args.join(' ')} here`);
      const [ref = '', to = '', from] = rest.slice(rest.indexOf('-m') + 2);
      // Somebody else may be faster, in the last moment.
      if (this.#random.next() < this.#life.trouble.intruder) repo.intrude();
      if (from !== undefined && (repo.refs.get(ref) ?? '') !== from)
        return { code: 1, stdout: '', stderr: 'is at another value' };
      if (ref === MAIN) this.#life.checks.moved(to);
      repo.move(ref, to, 'a merge');
      return { code: 0, stdout: '', stderr: '' };
    };
    const git = {
      lineOrNull: async (args: readonly string[]) => repo.refs.get(args.at(-1) ?? '') ?? null,
      run: async ({ args }: { args: readonly string[] }) => {
        await this.#life.alive();
        return answer(args);
      },
    };
    const parts = { root: '', gitDir: '/repo.git', commonDir: '/repo.git', bare: true, git };
    const deps = { files: new MemoryFiles(), clock: this.#clock };
    return { ...parts, deps, lock: new GitLock({ clock: this.#clock }) } as unknown as Repository;
  }
}

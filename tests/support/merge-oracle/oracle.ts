/**
 * Eight writers with a tree each, on real git, and an oracle that knows every line that each of them added and removed.
 * After each merge the integration branch holds exactly the lines that landed, or the task is in a named state and its own
 * branch has its lines. Merges are alone or on each other (W15), and now and then the branch moves in between (W6).
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import {
  addTaskTree,
  advanceRef,
  type ConflictFile,
  commitTree,
  createIntegrationBranch,
  type MergeOutcome,
  mergeTask,
  type Repository,
  readIntegration,
  removeTree,
  resolveBase,
  startConflictResolution,
  type TaskTree,
} from '../../../src/worktree/index.ts';
import { makeRepo, type TempRepo } from '../repo.ts';
import {
  afterChange,
  countLines,
  difference,
  editTree,
  firstFiles,
  type Lines,
  linesIn,
  makeHold,
  readFiles,
  split,
  writeLines,
} from './edits.ts';

const REF = 'refs/heads/troupe/r1/main';
const WRITERS = 8;
/** As in `tasks/limits.ts`: how often a conflict goes back before the task has failed. */
const REWORKS = 3;

interface Work {
  readonly writer: number;
  readonly task: string;
  readonly tree: TaskTree;
  /** What the task is about, and what must land: they differ when a resolver decided otherwise. */
  readonly meant: Lines;
  change: Lines;
  commit: string;
  reworks: number;
  /** The resolution drops lines that nobody decided to drop: it must not land. */
  careless: boolean;
  /** A later resolution took out again what an earlier one had brought back: to the check that is a lost line, rightly. */
  withdrew: boolean;
}

type Mode = 'faithful' | 'own' | 'others' | 'markers';

export interface Tally {
  landed: number;
  conflicts: number;
  refused: number;
  failed: number;
  stale: number;
  together: number;
  /** Lines of another inside a conflict hunk that a resolver decided against. */
  decided: number;
}

export class MergeOracle {
  readonly tally: Tally = {
    landed: 0,
    conflicts: 0,
    refused: 0,
    failed: 0,
    stale: 0,
    together: 0,
    decided: 0,
  };
  private readonly random: SeededRandom;
  private readonly works = new Map<number, Work>();
  private lineCount = 0;
  private taskCount = 0;
  private temp!: TempRepo;
  private repo!: Repository;
  /** What the integration branch must hold. */
  private holds: Lines = new Map();
  /** Lines that a resolver put elsewhere or brought back: git may keep them where others took them away. */
  private readonly moved = new Set<string>();

  constructor(seed: number | string) {
    this.random = new SeededRandom(seed);
  }

  async run(merges: number): Promise<Tally> {
    this.temp = makeRepo({ files: firstFiles((count) => this.fresh('base', count)) });
    try {
      this.repo = await this.temp.open();
      const base = await resolveBase(this.repo, 'HEAD');
      await createIntegrationBranch(this.repo, { run: 'r1', base });
      this.holds = linesIn(this.temp.root);
      while (this.tally.landed < merges) await this.step();
      return this.tally;
    } finally {
      this.temp.dispose();
    }
  }

  private async step(): Promise<void> {
    for (let writer = 0; writer < WRITERS; writer += 1) {
      if (!this.works.has(writer)) await this.begin(writer);
    }
    const queue = this.draw();
    const [first, second] = queue;
    if (first === undefined) return;
    const kind = this.random.below(10);
    if (kind === 0 && second !== undefined) await this.overtaken(first, second);
    else await this.mergeAll(kind < 4 ? queue.slice(0, 2 + this.random.below(3)) : [first]);
  }

  private draw(): Work[] {
    const left = [...this.works.values()];
    const drawn: Work[] = [];
    while (left.length > 0) drawn.push(...left.splice(this.random.below(left.length), 1));
    return drawn;
  }

  private fresh(who: string, count: number): string[] {
    return Array.from({ length: count }, () => {
      this.lineCount += 1;
      return `${who} line ${this.lineCount} ${this.random.id(12)}`;
    });
  }

  private async begin(writer: number): Promise<void> {
    this.taskCount += 1;
    const task = `t${this.taskCount}`;
    const path = join(this.temp.trees, task);
    const request = { run: 'r1', task, path, setupLinks: [], copies: [] };
    const tree = await addTaskTree(this.repo, request);
    const before = linesIn(path);
    check(difference(before, this.holds).size === 0, `the new tree of ${task} has other lines`);
    editTree(path, this.random, (count) => this.fresh(`writer ${writer} ${task}`, count));
    const meant = difference(before, linesIn(path));
    const work = { writer, task, tree, meant, change: meant, commit: '', reworks: 0 };
    this.works.set(writer, { ...work, careless: false, withdrew: false });
    if (meant.size === 0) await this.end(this.workOf(writer));
    else await this.commit(this.workOf(writer));
  }

  private workOf(writer: number): Work {
    const work = this.works.get(writer);
    if (work === undefined) throw new Error(`writer ${writer} has no task`);
    return work;
  }

  private async commit(work: Work): Promise<string> {
    const request = { tree: work.tree, message: work.task, exclude: [], actor: null };
    const done = await commitTree(this.repo, request);
    if (done.kind === 'committed') work.commit = done.commit;
    return done.kind;
  }

  private async end(work: Work): Promise<void> {
    const done = await removeTree(this.repo, { tree: work.tree, exclude: [], discard: true });
    check(done.kind === 'removed', `the tree of ${work.task} was ${done.kind}`);
    this.works.delete(work.writer);
  }

  private async compute(work: Work, integration: string): Promise<MergeOutcome> {
    const style = this.random.pick(['merge', 'squash', 'rebase'] as const) ?? 'merge';
    const request = { taskCommit: work.commit, integration, style, message: work.task };
    return mergeTask(this.repo, request);
  }

  /** Merged on each other, and landed with one move; who is in conflict waits for the others, then has it alone. */
  private async mergeAll(works: readonly Work[]): Promise<void> {
    const from = await readIntegration(this.repo, 'r1');
    let to = from;
    const landed: Work[] = [];
    for (const work of works) {
      const outcome = await this.compute(work, to);
      if (outcome.kind === 'merged-tree') {
        this.take(work, outcome.newCommit);
        to = outcome.newCommit;
        landed.push(work);
      } else if (to === from) {
        await this.sendBack(work, outcome);
        return;
      } else break;
    }
    check((await this.advance(to, from)) === 'moved', 'the branch did not move');
    this.tally.landed += landed.length;
    if (landed.length > 1) this.tally.together += landed.length;
    for (const work of landed) await this.end(work);
  }

  private advance(to: string, from: string): Promise<string> {
    return advanceRef(this.repo, { ref: REF, to, from });
  }

  /** W6: another lands between the merge and its move, which then does nothing. */
  private async overtaken(late: Work, early: Work): Promise<void> {
    const from = await readIntegration(this.repo, 'r1');
    const outcome = await this.compute(late, from);
    if (outcome.kind !== 'merged-tree') return this.mergeAll([early]);
    await this.mergeAll([early]);
    const now = await readIntegration(this.repo, 'r1');
    if (now === from) return;
    check((await this.advance(outcome.newCommit, from)) === 'stale', 'a stale move moved');
    check(difference(this.linesAt(now), this.holds).size === 0, 'a stale move changed the branch');
    this.tally.stale += 1;
  }

  /** The oracle's word: the lines that were there, less what the task took away, and all that it added. */
  private take(work: Work, commit: string): void {
    check(!work.careless, `${work.task} landed with lines of others dropped`);
    const wanted = afterChange(this.holds, work.change);
    const found = this.linesAt(commit);
    const lost = [...wanted].filter((line) => !found.has(line));
    const more = [...found.keys()].filter((line) => !wanted.has(line) && !this.moved.has(line));
    const what = `${work.task} as ${commit}`;
    check(lost.length === 0, `${what} lost ${lost.join('; ')}`);
    check(more.length === 0, `${what} has what nobody put there: ${more.join('; ')}`);
    this.holds = found;
  }

  private linesAt(commit: string): Lines {
    const args = ['grep', '-h', '--no-color', '-e', '', commit];
    const options = { cwd: this.temp.root, env: this.temp.deps.env, maxBuffer: 2 ** 28 };
    const lines = countLines(split(execFileSync('git', args, { ...options, encoding: 'utf8' })));
    for (const [line, count] of lines) {
      check(count === 1 || this.moved.has(line), `a line is twice in ${commit}: ${line}`);
    }
    return lines;
  }

  private async sendBack(work: Work, outcome: MergeOutcome): Promise<void> {
    if (outcome.kind === 'nothing') {
      check(!work.careless, `${work.task} has nothing to merge, and its own lines were dropped`);
      const wanted = [...afterChange(this.holds, work.change)];
      check(
        wanted.every((line) => this.holds.has(line)),
        `${work.task} has something to merge`,
      );
      return this.end(work);
    }
    if (outcome.kind === 'lost-lines') {
      check(
        work.careless || work.withdrew,
        `${work.task} was refused: ${JSON.stringify(outcome.files)}`,
      );
      this.tally.refused += 1;
    } else {
      check(outcome.kind === 'conflict', `${work.task} came to ${outcome.kind}`);
      this.tally.conflicts += 1;
    }
    work.reworks += 1;
    if (work.reworks <= REWORKS) return this.rework(work);
    // The named state: not landed, and its lines are on its own branch.
    this.tally.failed += 1;
    const kept = this.linesAt(`refs/heads/${work.tree.branch}`);
    const added = [...work.change].filter(([, count]) => count > 0);
    const lost = added.map(([line]) => line).filter((line) => !kept.has(line));
    check(lost.length === 0, `${work.task} failed and its branch lost ${lost.join('; ')}`);
    return this.end(work);
  }

  private async rework(work: Work): Promise<void> {
    const integration = await readIntegration(this.repo, 'r1');
    const started = await startConflictResolution(this.repo, {
      tree: work.tree,
      integration,
      exclude: [],
    });
    const files = started.kind === 'conflicts' ? started.files : [];
    const mode = this.modeFor(work, files);
    if (mode === 'markers') {
      const kind = await this.commit(work);
      check(kind === 'conflict-markers', `markers were committed: ${kind}`);
    }
    const wanted = afterChange(this.holds, work.meant);
    const brought = [...work.change].filter(([, count]) => count > 0).map(([line]) => line);
    work.withdrew ||= brought.some((line) => !wanted.has(line));
    this.resolve(work, { mode, integration, files, wanted });
    const after = linesIn(work.tree.path);
    const lost = [...wanted].filter((line) => !after.has(line));
    const decided = decidedIn(files);
    work.careless = lost.some((line) => !decided.has(line));
    if (!work.careless) this.tally.decided += lost.length;
    work.change = difference(this.holds, after);
    await this.commit(work);
  }

  private modeFor(work: Work, files: readonly ConflictFile[]): Mode {
    const isPlain = files.every((file) => file.kind === 'content' && !file.cut);
    const hasHunks = files.some((file) => file.hunks.length > 0);
    if (files.length === 0 || !isPlain || !hasHunks) return 'faithful';
    // One of the writers never learns.
    if (work.writer === 0) return 'own';
    const kind = this.random.below(10);
    if (kind < 2) return 'own';
    if (kind < 3) return 'others';
    return kind < 4 ? 'markers' : 'faithful';
  }

  private resolve(
    work: Work,
    how: {
      readonly mode: Mode;
      readonly integration: string;
      readonly files: readonly ConflictFile[];
      readonly wanted: ReadonlySet<string>;
    },
  ): void {
    const { mode, files, wanted, integration } = how;
    const { path } = work.tree;
    let moved: readonly string[];
    if (mode === 'own' || mode === 'others') {
      this.takeWhole(work, { from: mode === 'own' ? work.commit : integration, files });
      moved = [...linesIn(path).keys()].filter((line) => !wanted.has(line));
    } else moved = makeHold(path, wanted, files[0]?.path ?? 'rest.txt');
    for (const line of moved) this.moved.add(line);
  }

  /** How work is lost in practice: a whole file of one side. */
  private takeWhole(work: Work, how: { from: string; files: readonly ConflictFile[] }): void {
    const { from } = how;
    const known = readFiles(work.tree.path);
    for (const { path } of how.files) {
      const isThere = this.temp.git(['ls-tree', '--name-only', '-z', from, '--', path]) !== '';
      if (isThere)
        writeLines(work.tree.path, path, split(this.temp.git(['show', `${from}:${path}`])));
      // Renamed on the other side: what a resolver sees is the merged file.
      else
        writeLines(
          work.tree.path,
          path,
          (known.get(path) ?? []).filter((line) => !/^[<|=>]{7}/.test(line)),
        );
    }
  }
}

/** What a resolver may decide: lines inside hunks in which something stood before. */
function decidedIn(files: readonly ConflictFile[]): Set<string> {
  const hunks = files.flatMap((file) => file.hunks).filter((hunk) => (hunk.base ?? []).length > 0);
  return new Set(hunks.flatMap((hunk) => [...hunk.ours, ...hunk.theirs]));
}

function check(holds: boolean, text: string): asserts holds {
  if (!holds) throw new Error(text);
}

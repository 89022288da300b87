/**
 * A git repository as the simulation has it: commits with whole contents, refs, trees on a disk that outlives processes, and
 * other people who commit on the integration branch now and then. It notes every move of that branch, and who lost something.
 */
import { MemoryTree } from '../../unit/tools/memory-tree.ts';

export interface SimCommit {
  readonly id: string;
  readonly age: number;
  readonly parents: readonly string[];
  readonly files: ReadonlyMap<string, string>;
}

export interface SimTree {
  readonly task: string;
  readonly branch: string;
  readonly start: string;
  readonly disk: MemoryTree;
  /** Tip of what is being merged into it. */
  merging: string | null;
}

export const MAIN = 'refs/heads/troupe/sim/main';
export const BASE: string = 'b'.repeat(40);

export class SimRepo {
  readonly commits: Map<string, SimCommit> = new Map();
  readonly refs: Map<string, string> = new Map();
  readonly trees: Map<string, SimTree> = new Map();
  /** Trees that are made and dropped at once: by their paths. */
  readonly scratch: Set<string> = new Set();
  /** What was broken, first first. */
  readonly broken: string[] = [];

  constructor() {
    const files = new Map([['src/shared.txt', 'base']]);
    this.commits.set(BASE, { id: BASE, age: 0, parents: [], files });
    this.refs.set(MAIN, BASE);
  }

  get main(): string {
    return this.refs.get(MAIN) ?? BASE;
  }

  commit(parents: readonly string[], files: ReadonlyMap<string, string>): string {
    const age = this.commits.size;
    const id = age.toString(16).padStart(40, 'c');
    this.commits.set(id, { id, age, parents, files });
    return id;
  }

  filesOf(id: string): ReadonlyMap<string, string> {
    return this.commits.get(id)?.files ?? new Map<string, string>();
  }

  /** Whether `old` is `id` or one of its ancestors. */
  contains(id: string, old: string): boolean {
    return this.#ancestors(id).has(old);
  }

  #ancestors(id: string): Set<string> {
    const seen = new Set<string>();
    for (const left = [id]; left.length > 0; ) {
      const next = left.pop() ?? '';
      if (seen.has(next)) continue;
      seen.add(next);
      left.push(...(this.commits.get(next)?.parents ?? []));
    }
    return seen;
  }

  /** Moves a ref; W4: nothing that was on the integration branch leaves it. */
  move(ref: string, to: string, by: string): void {
    const from = this.refs.get(ref);
    this.refs.set(ref, to);
    if (ref === MAIN && from !== undefined && !this.contains(to, from)) {
      this.broken.push(
        `W4: ${by} moved the integration branch to ${short(to)}, without ${short(from)}`,
      );
    }
  }

  /** Somebody else commits on the integration branch. */
  intrude(): void {
    const files = new Map(this.filesOf(this.main));
    files.set(`else-${this.commits.size}.txt`, 'by somebody else');
    this.move(MAIN, this.commit([this.main], files), 'somebody');
  }

  /** The merge of two commits; the path that is in conflict instead. */
  merge(
    ours: string,
    theirs: string,
  ): { readonly files: Map<string, string>; readonly conflict: string | null } {
    const there = this.#ancestors(ours);
    const shared = [...this.#ancestors(theirs)].filter((id) => there.has(id));
    const age = (id: string): number => this.commits.get(id)?.age ?? 0;
    const base = this.filesOf(shared.toSorted((a, b) => age(b) - age(a))[0] ?? BASE);
    const left = this.filesOf(ours);
    const files = new Map(left);
    let conflict: string | null = null;
    for (const [path, text] of this.filesOf(theirs)) {
      if (text === base.get(path)) continue;
      if (left.get(path) !== base.get(path) && left.get(path) !== text) conflict ??= path;
      files.set(path, text);
    }
    return { files, conflict };
  }

  openTree(parts: {
    readonly path: string;
    readonly task: string;
    readonly branch: string;
    readonly at: string;
  }): SimTree {
    const { path, task, branch, at } = parts;
    const disk = new MemoryTree(Object.fromEntries(this.filesOf(at)), path);
    const tree = { task, branch, start: at, disk, merging: null };
    this.trees.set(path, tree);
    return tree;
  }

  /** What lies in a tree. */
  contentOf(tree: SimTree): Map<string, string> {
    return new Map([...tree.disk.files.keys()].map((path) => [path, tree.disk.text(path) ?? '']));
  }
}

const short = (id: string): string => id.replace(/^[bc]+/, '') || 'base';

export function sameFiles(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}

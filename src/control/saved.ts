/**
 * Work that was saved when its tree went (`refs/troupe/saved/<run>/<task>/<n>`), and bringing it back.
 *
 * Invariant: bringing back makes a new branch; nothing that exists is changed.
 */
import { isoTime } from '../kernel/time.ts';
import { listSaved, type Restored, restoreSaved } from '../worktree/index.ts';
import { errors } from './errors.ts';
import type { Workspace } from './workspace.ts';

export interface SavedRow {
  readonly run: string;
  /** `view` is the tree of actors without a task. */
  readonly task: string;
  /** Rises with each save of one task. */
  readonly n: number;
  readonly ref: string;
  readonly commit: string;
  readonly at: string;
  /** Why it was saved, as its commit tells. */
  readonly subject: string;
}

/** By run, then task, oldest first. */
export async function savedWork(
  workspace: Workspace,
  run: string | undefined,
): Promise<SavedRow[]> {
  const refs = await listSaved(workspace.repository);
  const rows = refs.map(({ ref, commit, at, subject, ...of }) => {
    const n = Number(ref.slice(ref.lastIndexOf('/') + 1));
    return { run: of.run, task: of.task, n, ref, commit, at: isoTime(Date.parse(at)), subject };
  });
  const wanted = run === undefined ? rows : rows.filter((row) => row.run === run);
  const byName = (a: SavedRow, b: SavedRow): number =>
    a.run < b.run || (a.run === b.run && a.task < b.task) ? -1 : 1;
  return wanted.toSorted((a, b) =>
    a.run === b.run && a.task === b.task ? a.n - b.n : byName(a, b),
  );
}

export interface RestoredWork extends Restored {
  readonly ref: string;
}

/**
 * `what`: a task, `RUN/TASK`, `RUN/TASK/N` or a whole ref; without a number the newest. Throws `control/unknown-saved`
 * and, for a task that several runs have saved, `control/which-saved`.
 */
export async function restoreWork(
  workspace: Workspace,
  query: { readonly what: string; readonly run: string | undefined },
): Promise<RestoredWork> {
  const rows = await savedWork(workspace, query.run);
  const found = rows.filter((row) => namesOf(row).includes(query.what));
  const newest = found.at(-1);
  if (newest === undefined) {
    throw errors.unknownSaved(
      query.what,
      rows.map((row) => `${row.run}/${row.task}/${row.n}`),
    );
  }
  const runs = [...new Set(found.map((row) => row.run))];
  if (runs.length > 1) throw errors.whichSaved(query.what, runs);
  return { ref: newest.ref, ...(await restoreSaved(workspace.repository, newest.ref)) };
}

function namesOf({ run, task, n, ref }: SavedRow): string[] {
  return [task, `${run}/${task}`, `${run}/${task}/${n}`, ref];
}

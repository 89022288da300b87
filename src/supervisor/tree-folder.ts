/** The folder of a run's trees, in which nobody else works: it goes with the last tree. */
import type { Files } from '../kernel/index.ts';
import { findTreeTroubles, type Repository } from '../worktree/index.ts';
import type { RunState } from './state.ts';

export async function removeEmpty(files: Files, folder: string): Promise<void> {
  if ((await files.stat(folder)) === null) return;
  if ((await files.list(folder)).length > 0) return;
  await files.remove(folder);
  const parent = folder.slice(0, folder.lastIndexOf('/'));
  if ((await files.list(parent)).length === 0) await files.remove(parent);
}

/** Trees that are not as the last term left them, one sentence each. Views are made anew whatever became of them. */
export async function lookAfterTrees(repo: Repository, state: RunState): Promise<string[]> {
  const made = [...state.trees.values()].filter(({ branch }) => branch !== null && branch !== '');
  const troubles = made.length === 0 ? [] : await findTreeTroubles(repo, made);
  return troubles.map(({ path, kind, reason, at }) => {
    const { owner, branch } = made.find((tree) => tree.path === path) ?? { owner: '', branch: '' };
    const what = `the tree of ${owner}, ${path}: ${reason}`;
    if (kind === 'missing') return `${what}; it is made anew from ${branch}`;
    if (kind === 'moved') return `${what}. What was not committed in it is there alone: ${at}`;
    return `${what}. Nothing works in it as it is; \`troupe doctor\` says what to do`;
  });
}

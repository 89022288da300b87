/** Effects that are git's work, each with the event that tells what came of it. */
import type { Effect } from '../effect.ts';
import type { RunEvent } from '../inbox.ts';
import type { ProcessHost } from './commands.ts';
import type { GitWork } from './git.ts';

/** What is asked of git; a bench or a simulation brings its own. */
export type TreeWork = Pick<
  GitWork,
  'prepare' | 'commit' | 'restore' | 'diff' | 'merge' | 'advance' | 'view' | 'scratch' | 'drop'
>;

type Of<T extends Effect['type']> = Extract<Effect, { type: T }>;
type TreeEffect = Of<'tree.prepare' | 'tree.commit' | 'tree.drop'>;
type GitEffect = TreeEffect | Of<'view.prepare' | 'diff.read' | 'merge.compute' | 'ref.advance'>;

export async function carryOutGit(
  effect: GitEffect,
  {
    git,
    post,
    processes,
  }: {
    readonly git: TreeWork;
    readonly post: (event: RunEvent) => void;
    readonly processes: Pick<ProcessHost, 'clear'>;
  },
): Promise<void> {
  // S10: nothing of the last claim is in a tree that is used again.
  if (effect.type.startsWith('tree.')) await processes.clear((effect as TreeEffect).path);
  switch (effect.type) {
    case 'tree.prepare': {
      const { task, fence } = effect;
      post({ type: 'tree.prepared', task, fence, outcome: await git.prepare(effect) });
      return;
    }
    case 'tree.commit': {
      const { task, fence } = effect;
      post({ type: 'tree.committed', task, fence, outcome: await git.commit(effect) });
      return;
    }
    case 'tree.drop':
      post({ type: 'tree.dropped', owner: effect.owner, ...(await git.drop(effect)) });
      return;
    case 'view.prepare':
      post({ type: 'view.ready', outcome: await git.view(effect) });
      return;
    case 'diff.read': {
      const { task, fence } = effect;
      post({ type: 'diff.ready', task, fence, ...(await git.diff(effect)) });
      return;
    }
    case 'merge.compute': {
      const { task, fence } = effect;
      post({ type: 'merge.computed', task, fence, outcome: await git.merge(effect) });
      return;
    }
    case 'ref.advance': {
      const { task, to } = effect;
      post({ type: 'ref.advanced', task, to, outcome: await git.advance(effect) });
    }
  }
}

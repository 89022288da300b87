/** `troupe merge`: a run's integration branch into a branch of the user, who asked for it. */
import { EXIT, TroupeError } from '../kernel/errors.ts';
import {
  branchRef,
  integrationBranch,
  mergeIntoUser,
  readIntegration,
  type UserMergeOutcome,
} from '../worktree/index.ts';
import { errors } from './errors.ts';
import { viewRun } from './queries.ts';
import type { Workspace } from './workspace.ts';

export interface MergeQuery {
  readonly run: string;
  readonly into: string | undefined;
  readonly squash: boolean;
  readonly dryRun: boolean;
}

export interface MergeAnswer {
  readonly run: string;
  readonly state: 'merged' | 'would-merge' | 'up-to-date';
  readonly branch: string;
  readonly commit: string | null;
  readonly fastForward: boolean;
  readonly files: readonly string[];
}

/** Throws `control/merge-refused` and `control/merge-conflict` (exit 1, with the files), and then nothing was changed. */
export async function mergeRun(workspace: Workspace, query: MergeQuery): Promise<MergeAnswer> {
  const { repository } = workspace;
  const view = await viewRun(workspace, query.run, 'merge');
  if (view.liveness.alive) throw errors.running(view.run);
  await readIntegration(repository, view.run);
  const { name } = view.file.team;
  const outcome = await mergeIntoUser(repository, {
    from: branchRef(integrationBranch(view.run)),
    into: query.into,
    style: query.squash ? 'squash' : 'merge',
    message: `Merge the work of team ${name}\n\nTroupe-Run: ${view.run}`,
    dryRun: query.dryRun,
  });
  return answerOf(view.run, outcome);
}

function answerOf(run: string, outcome: UserMergeOutcome): MergeAnswer {
  switch (outcome.kind) {
    case 'merged':
    case 'would-merge': {
      const { kind: state, branch, commit, fastForward, files } = outcome;
      return { run, state, branch, commit, fastForward, files };
    }
    case 'up-to-date': {
      const { branch } = outcome;
      return { run, state: 'up-to-date', branch, commit: null, fastForward: false, files: [] };
    }
    case 'refused':
      throw new TroupeError({
        code: 'control/merge-refused',
        message: `nothing was merged: ${outcome.detail}`,
        hint: outcome.files.length === 0 ? undefined : listed(outcome.files),
        exit: EXIT.unfinished,
        data: { run, reason: outcome.reason, files: outcome.files },
      });
    case 'conflict': {
      const files = outcome.files.map((file) => file.path);
      throw new TroupeError({
        code: 'control/merge-conflict',
        message: `nothing was merged: ${outcome.branch} and the run changed the same places`,
        hint: `${listed(files)}\nMerge by hand: git merge ${integrationBranch(run)}`,
        exit: EXIT.unfinished,
        data: { run, files },
      });
    }
  }
}

const LISTED_MAX = 20;

function listed(files: readonly string[]): string {
  const more = files.length > LISTED_MAX ? [`and ${files.length - LISTED_MAX} more`] : [];
  return [...files.slice(0, LISTED_MAX), ...more].join('\n');
}

/** `troupe merge`: a run's integration branch into a branch of the user, who asked for it. */
import { EXIT, TroupeError } from '../kernel/errors.ts';
import type { Team } from '../protocol/team.ts';
import type { MergeAnswer } from '../protocol/views.ts';
import {
  branchRef,
  integrationBranch,
  mergeIntoUser,
  type Repository,
  readIntegration,
  type UserMergeOutcome,
} from '../worktree/index.ts';
import { errors } from './errors.ts';
import { failedFinalGate, type RunView, rowOf, tasksOf, viewRun } from './queries.ts';
import type { Workspace } from './workspace.ts';

export type { MergeAnswer } from '../protocol/views.ts';

export interface MergeQuery {
  readonly run: string;
  readonly into: string | undefined;
  readonly squash: boolean;
  readonly dryRun: boolean;
}

/** Throws `control/merge-refused` and `control/merge-conflict` (exit 1, with the files), and then nothing was changed. */
export async function mergeRun(workspace: Workspace, query: MergeQuery): Promise<MergeAnswer> {
  const { repository } = workspace;
  const view = await viewRun(workspace, query.run, 'merge');
  if (view.liveness.alive) throw errors.running(view.run);
  await readIntegration(repository, view.run);
  const { name } = view.file.team;
  const title = query.squash ? titleOf(view.file.team) : `Merge the work of team ${name}`;
  const outcome = await mergeIntoUser(repository, {
    from: branchRef(integrationBranch(view.run)),
    into: query.into,
    style: query.squash ? 'squash' : 'merge',
    message: `${title}\n\n${query.squash ? doneText(view) : ''}Troupe-Run: ${view.run}`,
    dryRun: query.dryRun,
  });
  if (outcome.kind === 'refused' && outcome.reason === 'no-branch') {
    throw errors.unknownBranch(query.into ?? '', await userBranches(repository));
  }
  return { ...answerOf(view.run, outcome), warning: warningOf(view) };
}

const TITLE_MAX = 72;

/** What the team was for, as the first line of one commit. */
export function titleOf(team: Team): string {
  const goal = (team.goal ?? '').trim().split('\n')[0]?.replace(/\.$/, '') ?? '';
  const name = team.name.replaceAll(/[-_]+/g, ' ');
  const title = goal === '' ? `${name.charAt(0).toUpperCase()}${name.slice(1)}` : goal;
  if (title.length <= TITLE_MAX) return title;
  return `${title.slice(0, TITLE_MAX - 1).replace(/\s+\S*$/, '')}…`;
}

function doneText(view: RunView): string {
  const done = [...view.state.graph.nodes.values()].filter((node) => node.mergedCommit !== null);
  if (done.length === 0) return '';
  return `${done.map(({ spec }) => `- ${spec.title}`).join('\n')}\n\n`;
}

/** A run may be merged before it ended well; whoever does it should know. */
export function warningOf(view: RunView): string | null {
  const { state, reason } = rowOf(view);
  if (state === 'done') return null;
  const tasks = tasksOf(view);
  const failed = tasks.filter((task) => task.state === 'failed').map((task) => task.id);
  const open = tasks.filter((task) => task.state !== 'done' && task.state !== 'failed').length;
  const gate = failedFinalGate(view.state);
  const facts = [
    ...(gate === null ? [] : [`its final gate \`${gate.gate}\` failed`]),
    ...(failed.length === 0 ? [] : [`failed: ${failed.join(', ')}`]),
    ...(open === 0 ? [] : [`tasks not done: ${open} of ${tasks.length}`]),
  ];
  const why = facts.length > 0 ? facts.join('; ') : (reason?.text ?? '');
  return `the run ${view.run} did not end well, it is ${state}${why === '' ? '' : ` (${why})`}`;
}

async function userBranches(repository: Repository): Promise<string[]> {
  const args = ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/'];
  const { stdout } = await repository.git.run({ args });
  return stdout.split('\n').filter((name) => name !== '' && !name.startsWith('troupe/'));
}

function answerOf(run: string, outcome: UserMergeOutcome): Omit<MergeAnswer, 'warning'> {
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

/** Starting a run that was prepared and going on with one, in a supervisor, wherever that is. */
import type { Budget, RunFile } from '../protocol/team.ts';
import type { Begun, Supervisor } from '../supervisor/index.ts';
import { budgetToResume, type MoreBudget } from './budget.ts';
import { requirePolicy } from './doctor-policy.ts';
import { errors } from './errors.ts';
import { userConfigFolder } from './places.ts';
import { type RunView, viewRun } from './queries.ts';
import { createRun, forgetRun } from './run-store.ts';
import { checkRunModels } from './team-file.ts';
import type { Workspace } from './workspace.ts';

export interface RunToBegin {
  readonly file: RunFile;
  readonly mode: 'start' | 'resume';
  /** More files of a new run's folder, by name. */
  readonly beside?: Readonly<Record<string, string>> | undefined;
  /** Of a run that is resumed: what it may spend from now on. */
  readonly budget?: Partial<Budget> | undefined;
  /** Of a run that is resumed: a failed task that a person has put in order. */
  readonly reopen?: string | undefined;
}

export async function beginRun(
  workspace: Workspace,
  supervisor: Supervisor,
  { file, mode, beside, budget, reopen }: RunToBegin,
): Promise<Begun> {
  if (mode === 'resume') return supervisor.resumeRun(file.id, budget, 0, reopen);
  await createRun(workspace, file, beside);
  try {
    return await supervisor.startRun(file);
  } catch (error) {
    // Before its first record nothing of a run has happened; a run that never was is not left behind.
    if ((supervisor.state(file.id)?.run.startedAt ?? null) === null) {
      await forgetRun(workspace, file.id);
    }
    throw error;
  }
}

export interface PreparedResume {
  readonly view: RunView;
  readonly budget: Partial<Budget> | undefined;
}

/** Throws for a run that can't go on, and for a budget that is too small; nothing is written. */
export async function prepareResume(
  workspace: Workspace,
  run: string,
  more: MoreBudget,
): Promise<PreparedResume> {
  const view = await viewRun(workspace, run, 'resume');
  const { file, state } = view;
  const { ended } = state.run;
  if (ended !== null && ended.state !== 'budget') throw errors.ended(file.id, ended.state);
  const budget = budgetToResume(view, more);
  await requireSettings(workspace, view, budget);
  return { view, budget };
}

/** The models that the run asks can be asked, and its policy can be read. */
export async function requireSettings(
  workspace: Workspace,
  { file, state }: RunView,
  budget?: Partial<Budget>,
): Promise<void> {
  // A replay asks no model.
  if (file.replay !== undefined) return;
  const { workspace: folder } = workspace.places;
  const userConfig = userConfigFolder(workspace.deps.env);
  const team = { ...file.team, budget: { ...state.spending.budget, ...budget } };
  await checkRunModels(workspace.deps, { workspace: folder, userConfig }, team);
  await requirePolicy(workspace.deps, workspace.places);
}

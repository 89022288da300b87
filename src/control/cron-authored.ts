/** Runs of jobs that actors made, with the rights of the run they were made in. */
import { EXIT, TroupeError } from '../kernel/errors.ts';
import { asActorName, asTaskId, isoTime } from '../kernel/index.ts';
import type { AgentProfile, CronJob, RunFile, TaskSpec, Team } from '../protocol/index.ts';
import { checkBranchNamespace, resolveBase } from '../worktree/index.ts';
import { createRun, readRunFile } from './run-store.ts';
import type { Workspace } from './workspace.ts';

/**
 * A run of a job that an actor made (C12): of what its author's run was made of, with one task. So rules, hooks, sandbox
 * and limits are that run's; its profile has no tool that the author had not; and nobody answers what it would ask.
 */
export async function authoredRun(
  workspace: Workspace,
  job: CronJob,
  run: string,
): Promise<RunFile> {
  const { repository, places, deps } = workspace;
  const { author, work } = job;
  if (author === undefined || work.kind !== 'prompt') throw new Error('a job of a person');
  const of = await readRunFile(workspace, author.run).catch(() => {
    throw authorGone(job.name, author.run);
  });
  const { text, agent } = work;
  const wanted = of.team.agents[agent];
  const own = of.team.agents[author.profile];
  if (wanted === undefined || own === undefined) throw authorGone(job.name, author.run);
  const { budget } = of.team;
  const worker = asActorName('worker');
  const team: Team = {
    ...of.team,
    name: job.name.slice(0, 28),
    goal: null,
    budget: { ...budget, usd: job.budgetUsd ?? budget.usd },
    agents: { ...of.team.agents, [agent]: { ...wanted, tools: toolsOfBoth(wanted, own) } },
    lead: null,
    teammates: [{ name: worker, agent }],
    tasks: [taskOf(text, agent)],
  };
  const trees = of.treesRoot.slice(0, of.treesRoot.lastIndexOf('/'));
  const { replay: _replay, cassettes: _cassettes, ...same } = of;
  const file: RunFile = {
    ...same,
    id: run,
    team,
    baseCommit: await resolveBase(repository, 'HEAD'),
    workspace: places.workspace,
    treesRoot: `${trees}/${run}`,
    attended: false,
    createdAt: isoTime(deps.clock.now()),
    troupe: deps.version,
  };
  await checkBranchNamespace(repository, run);
  await createRun(workspace, file);
  return file;
}

function toolsOfBoth(wanted: AgentProfile, own: AgentProfile): readonly string[] | null {
  if (own.tools === null) return wanted.tools;
  const { tools } = own;
  return wanted.tools === null ? tools : wanted.tools.filter((tool) => tools.includes(tool));
}

function authorGone(name: string, run: string): TroupeError {
  return new TroupeError({
    code: 'cron/author',
    message: `the job ${name} was made in run ${run}, which is not there any more`,
    hint: `Remove it with \`troupe cron rm ${name}\`.`,
    exit: EXIT.notFound,
  });
}

function taskOf(text: string, agent: string): TaskSpec {
  return {
    id: asTaskId('job'),
    title: titleOf(text),
    prompt: text,
    run: null,
    needs: [],
    agent,
    touches: [],
    verify: [],
    attempts: ATTEMPTS,
    timeoutMs: TIMEOUT_MS,
  };
}

const ATTEMPTS = 2;
const TIMEOUT_MS = 30 * 60_000;
const TITLE_MAX = 60;

/** The first line of a prompt, as far as a list shows it. */
export function titleOf(text: string): string {
  const [first = ''] = text.split('\n');
  return first.length > TITLE_MAX ? `${first.slice(0, TITLE_MAX - 1)}…` : first;
}

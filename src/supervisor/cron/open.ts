/** The scheduler of a supervisor: how it starts runs, sends mail and runs commands. */
import { endOf } from '../../actors/index.ts';
import { damagedLines, type Journal } from '../../journal/index.ts';
import { isTroupeError } from '../../kernel/index.ts';
import type { CronJob, CronSlot } from '../../protocol/index.ts';
import type { Supervisor, SupervisorDeps } from '../contract.ts';
import { cronCommands } from './commands.ts';
import type { CronRuns } from './contract.ts';
import { CronScheduler } from './scheduler.ts';

type Runs = Pick<
  Supervisor,
  'startRun' | 'resumeRun' | 'finished' | 'release' | 'stop' | 'send' | 'runs' | 'state'
>;

/** `supervisor` is asked for when something fires, never before. */
export function makeScheduler(deps: SupervisorDeps, supervisor: () => Runs): CronScheduler {
  const { clock, logger, repository } = deps;
  const runs: CronRuns = {
    start: async (file) => {
      await supervisor().startRun(file);
    },
    resume: async (run) => {
      await supervisor().resumeRun(run);
    },
    // Over, it is let go of: a job a minute must not fill a supervisor that is up for months.
    finished: async (run) => {
      try {
        return await supervisor().finished(run);
      } finally {
        supervisor().release(run);
      }
    },
    stop: async (run, by) => {
      await supervisor().stop({ run, now: true, by });
    },
    mail: (job, slot) => mail(supervisor(), job, slot),
  };
  const commands = cronCommands({
    ...deps,
    scope: repository.hash,
    root: repository.root === '' ? repository.commonDir : repository.root,
  });
  return new CronScheduler({ clock, logger, host: deps.cron ?? null, runs, commands });
}

/** Jobs whose newest word in the journal is damaged are set aside. After all records, before anything is fired. */
export async function setAsideDamaged(
  { files }: Pick<SupervisorDeps, 'files'>,
  from: { readonly journal: Journal; readonly directory: string },
  cron: CronScheduler,
): Promise<void> {
  for (const gap of from.journal.report.gaps) {
    const lines = await damagedLines(files, from.directory, gap);
    for (const line of lines) cron.takeDamaged(line, gap.toSeq);
  }
}

async function mail(
  supervisor: Runs,
  job: CronJob,
  slot: CronSlot,
): Promise<{ readonly refused: string | null }> {
  if (job.work.kind !== 'mail') return { refused: null };
  const { to, text } = job.work;
  const wanted = job.work.run;
  const goingOn = supervisor.runs().filter((run) => isLive(supervisor, run, to));
  const run = wanted === null ? goingOn.at(-1) : goingOn.find((one) => one === wanted);
  if (run === undefined) {
    const where = wanted === null ? 'no run that goes on' : `run ${wanted}`;
    return { refused: `${where} has a live actor ${to}` };
  }
  // By its id the mail is sent once, also when this is tried again after a crash (M2).
  const id = `env_cron_${job.id}_${slot.slot.toLowerCase().replaceAll(/[^0-9a-z]/g, '')}`;
  try {
    const about = { job: job.name, slot: slot.slot };
    const sent = await supervisor.send({ run, to, text, interrupt: false, id, cron: about });
    return { refused: sent.state === 'dead' ? `${to} is stopped` : null };
  } catch (error) {
    if (isTroupeError(error)) return { refused: error.message };
    throw error;
  }
}

function isLive(supervisor: Runs, run: string, name: string): boolean {
  const state = supervisor.state(run);
  if (state === null || state.run.ended !== null || state.run.interrupted !== null) return false;
  const actor = [...state.actors.byName.values()].find((one) => one.name === name);
  return actor !== undefined && endOf(actor)?.kind !== 'stopped';
}

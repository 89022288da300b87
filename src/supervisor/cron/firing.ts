/** What a slot does and how it ends. Nothing is recorded here. */

import { ensureError, isTroupeError, systemCode } from '../../kernel/index.ts';
import type { CronJob, CronSlot, CronSlotState, RunRow } from '../../protocol/index.ts';
import { CRON_COMMAND_TIMEOUT_MS } from '../limits.ts';
import type { CronCommands, SchedulerDeps } from './contract.ts';

export interface SlotEnd {
  readonly state: CronSlotState;
  readonly reason: string | null;
  readonly costUsd: number | null;
}

/** Never rejects: what could not be started has failed. */
export async function fire(deps: SchedulerDeps, job: CronJob, slot: CronSlot): Promise<SlotEnd> {
  try {
    return await start(deps, job, slot);
  } catch (error) {
    return failed(told(error));
  }
}

async function start(deps: SchedulerDeps, job: CronJob, slot: CronSlot): Promise<SlotEnd> {
  const { runs, commands, host } = deps;
  if (job.work.kind === 'command') return command(commands, job, slot);
  if (job.work.kind === 'mail') {
    const { refused } = await runs.mail(job, slot);
    return refused === null ? DONE : failed(refused);
  }
  const run = slot.run ?? '';
  if (host === null) return failed('nobody here can start runs');
  const file = await host.prepare(job, run);
  await runs.start(file);
  return runEnd(deps, job, run);
}

/** A run that was cut off: gone on with, if it is there and has not ended. Never rejects. */
export async function takeUp(deps: SchedulerDeps, job: CronJob, slot: CronSlot): Promise<SlotEnd> {
  const { runs, host } = deps;
  try {
    const row = slot.run === null ? null : ((await host?.row(slot.run)) ?? null);
    // Between the record of the slot and the run: nothing of it is there yet, and its id is the same as before.
    if (row === null || slot.run === null) return await start(deps, job, slot);
    if (row.state !== 'running' && row.state !== 'interrupted') return endOf(row);
    await runs.resume(slot.run);
    return await runEnd(deps, job, slot.run);
  } catch (error) {
    return failed(told(error));
  }
}

async function runEnd({ clock, runs }: SchedulerDeps, job: CronJob, run: string): Promise<SlotEnd> {
  const over = new AbortController();
  let late = false;
  const limit = job.timeLimitMs;
  if (limit !== null) {
    clock.sleep(limit, over.signal).then(
      () => {
        late = true;
        return runs.stop(run, `the time limit of the job ${job.name}`);
      },
      () => undefined,
    );
  }
  const row = await runs.finished(run);
  over.abort();
  const end = endOf(row);
  return late && end.state === 'interrupted'
    ? { ...end, state: 'failed', reason: 'stopped at its time limit' }
    : end;
}

function endOf({ state, reason, usage }: RunRow): SlotEnd {
  const said = reason === null ? null : reason.text;
  const costUsd = usage.costUsd;
  return { state: state === 'running' ? 'interrupted' : state, reason: said, costUsd };
}

async function command(commands: CronCommands, job: CronJob, slot: CronSlot): Promise<SlotEnd> {
  if (job.work.kind !== 'command') return DONE;
  const { failed: why, killed } = await commands.run({
    id: outputOf(slot),
    command: job.work.command,
    timeoutMs: job.timeLimitMs ?? CRON_COMMAND_TIMEOUT_MS,
    env: { TROUPE_CRON_JOB: job.name, TROUPE_CRON_SLOT: slot.slot },
  });
  if (killed) return { state: 'interrupted', reason: 'stopped', costUsd: null };
  return why === null ? DONE : failed(why);
}

/** Of the command of a slot; of the newest entries of a job each has its own. */
export function outputOf({ name, n }: Pick<CronSlot, 'name' | 'n'>): string {
  return `${name}-${n}`;
}

const DONE: SlotEnd = { state: 'done', reason: null, costUsd: null };

function failed(reason: string): SlotEnd {
  return { state: 'failed', reason, costUsd: null };
}

function told(error: unknown): string {
  const { message } = ensureError(error);
  if (isTroupeError(error) && error.hint !== undefined) return `${message}. ${error.hint}`;
  return systemCode(error) === '' ? message : `${systemCode(error)}: ${message}`;
}

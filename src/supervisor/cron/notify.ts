/** A person is told of a slot that did not end well. A notice that fails is logged, and fails nothing else (C10). */
import { webhookRefusal } from '../../cron/index.ts';
import { ensureError } from '../../kernel/index.ts';
import type { CronJob, CronSlot } from '../../protocol/index.ts';
import { CRON_NOTICE_TIMEOUT_MS } from '../limits.ts';
import type { SchedulerDeps } from './contract.ts';
import { outputOf } from './firing.ts';

const UNHAPPY: ReadonlySet<string> = new Set(['failed', 'cancelled', 'budget', 'interrupted']);

export function notify(deps: SchedulerDeps, job: CronJob, slot: CronSlot): void {
  if (job.notify === null || !UNHAPPY.has(slot.state)) return;
  send(deps, job, slot).catch((error: unknown) => {
    const why = ensureError(error).message;
    deps.logger.log('warn', `the notice of the job ${job.name} was not delivered: ${why}`);
  });
}

async function send(
  { commands, host }: SchedulerDeps,
  job: CronJob,
  slot: CronSlot,
): Promise<void> {
  const { notify: way } = job;
  const { name, slot: at, state, reason, run } = slot;
  if (way?.kind === 'webhook') {
    const { startedAt, endedAt } = slot;
    const refused = webhookRefusal(way.url, way.hosts);
    if (refused !== null) throw new Error(refused);
    await host?.post(way.url, { job: name, slot: at, state, reason, run, startedAt, endedAt });
  } else if (way?.kind === 'command') {
    const { failed } = await commands.run({
      id: `${outputOf(slot)}-notice`,
      command: way.command,
      timeoutMs: CRON_NOTICE_TIMEOUT_MS,
      env: {
        TROUPE_CRON_JOB: name,
        TROUPE_CRON_SLOT: at,
        TROUPE_CRON_STATE: state,
        TROUPE_CRON_REASON: reason ?? '',
        TROUPE_CRON_RUN: run ?? '',
      },
    });
    if (failed !== null) throw new Error(failed);
  }
}

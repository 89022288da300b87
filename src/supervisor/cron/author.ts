/** Jobs that an actor of a run makes for good, or ends: its own, and no others (C12). */
import { ensureError, isTroupeError } from '../../kernel/index.ts';
import type { ActorCronEdit, CronJob } from '../../protocol/index.ts';
import type { CronScheduler } from './scheduler.ts';

export interface JobsOfRun {
  /** Never rejects; the text is for the model. */
  readonly edit: (edit: ActorCronEdit) => Promise<{ readonly ok: boolean; readonly text: string }>;
}

export function jobsOfRun(cron: CronScheduler, run: string): JobsOfRun {
  return {
    edit: async (edit) => {
      try {
        if (edit.type === 'remove') {
          const job = cron.book.jobs.get(edit.name)?.job;
          // A person may have removed it, and made another of this name.
          if (job?.author?.run !== run) return { ok: true, text: `${edit.name} is gone already` };
        }
        if (edit.type === 'add') {
          // Written down before a crash, and not told.
          const job = cron.book.jobs.get(edit.job.name)?.job;
          if (job?.author?.run === run && isSame(job, edit.job)) {
            return { ok: true, text: `${job.name} is scheduled already` };
          }
        }
        const by = edit.type === 'add' ? edit.job.by : `an actor of run ${run}`;
        const { armed, name } = await cron.edit(edit, by);
        if (edit.type === 'remove') return { ok: true, text: `cancelled ${name}` };
        const up = armed ? '' : ' Nobody is up to run it yet: it waits for `troupe up`.';
        return { ok: true, text: `scheduled ${name}: each time a run of its own.${up}` };
      } catch (error) {
        const { message } = ensureError(error);
        if (!isTroupeError(error)) return { ok: false, text: message };
        return { ok: false, text: `${message}. Choose another name, or ask the user.` };
      }
    },
  };
}

function isSame(a: CronJob, b: CronJob): boolean {
  return JSON.stringify([a.work, a.timing]) === JSON.stringify([b.work, b.timing]);
}

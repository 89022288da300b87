/** Jobs that actors of a run have made and that are not over: a fold over the section `cron` of its records. */
import type { RunJob, StoredRunRecord } from '../protocol/index.ts';

export interface RunJobFact extends RunJob {
  /** Every slot up to here, in ms, was fired or skipped. */
  cursor: number;
  fired: number;
  /** The newest slot that was fired. */
  last: string | null;
}

export function applyRunJobs(jobs: Map<string, RunJobFact>, record: StoredRunRecord): void {
  for (const change of record.cron ?? []) {
    if (change.type === 'cron.added') {
      const fact = { ...change.job, cursor: Date.parse(record.at), fired: 0, last: null };
      jobs.set(change.job.name, fact);
      continue;
    }
    const job = jobs.get(change.name);
    if (job === undefined) continue;
    if (change.type === 'cron.ended') jobs.delete(change.name);
    else if (change.type === 'cron.skipped') {
      job.cursor = Math.max(job.cursor, Date.parse(change.until));
    } else {
      job.cursor = Math.max(job.cursor, Date.parse(change.slot));
      job.fired += 1;
      job.last = change.slot;
      if (job.once) jobs.delete(change.name);
    }
  }
}

/** What can be wrong with a job that a person wrote: all exit 2, nothing was changed. */
import { EXIT, TroupeError } from '../kernel/index.ts';

export function badExpression(expression: string, why: string, hint: string): TroupeError {
  return new TroupeError({
    code: 'cron/expression',
    message: `the schedule ${JSON.stringify(expression)} is not usable: ${why}`,
    hint,
    data: { expression, why },
    exit: EXIT.usage,
  });
}

export function badZone(zone: string, hint: string): TroupeError {
  return new TroupeError({
    code: 'cron/zone',
    message: `there is no time zone ${JSON.stringify(zone)}`,
    hint,
    data: { zone },
    exit: EXIT.usage,
  });
}

export function badMoment(shown: string, text: string): TroupeError {
  return new TroupeError({
    code: 'cron/moment',
    message: `${shown} ${JSON.stringify(text)} is no date or time`,
    hint: 'For example 2026-03-29, 2026-03-29T07:30 (in the zone of the job) or 2026-03-29T05:30:00Z.',
    exit: EXIT.usage,
  });
}

/** What can be wrong with an edit of jobs; nothing was changed. */
import { EXIT, nearMatches, TroupeError } from '../../kernel/index.ts';

export const cronErrors = {
  exists: (name: string): TroupeError =>
    new TroupeError({
      code: 'cron/exists',
      message: `there is a job "${name}" already`,
      hint: `See it with \`troupe cron show ${name}\`, or remove it with \`troupe cron rm ${name}\`.`,
      exit: EXIT.usage,
    }),
  unknown: (name: string, known: readonly string[]): TroupeError => {
    const near = nearMatches(name, known);
    return new TroupeError({
      code: 'cron/unknown',
      message: `there is no job "${name}"`,
      hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'See `troupe cron list`.',
      exit: EXIT.notFound,
    });
  },
  broken: (name: string, why: string): TroupeError =>
    new TroupeError({
      code: 'cron/broken',
      message: `the record of the job "${name}" is not usable: ${why}`,
      hint: `Remove it with \`troupe cron rm ${name}\` and add it again.`,
      exit: EXIT.usage,
    }),
  full: (max: number): TroupeError =>
    new TroupeError({
      code: 'cron/full',
      message: `there are ${max} jobs already, as many as there may be`,
      hint: 'Remove some with `troupe cron rm`.',
      exit: EXIT.unfinished,
    }),
  notUp: (name: string): TroupeError =>
    new TroupeError({
      code: 'cron/not-up',
      message: `nobody is there to run "${name}": jobs are run by \`troupe up\` alone`,
      hint: 'Start it with `troupe up`.',
      exit: EXIT.noSupervisor,
    }),
};

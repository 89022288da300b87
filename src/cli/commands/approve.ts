/** `troupe approve ID`: allows what waits, once or from now on. */
import type { ExitCode } from '../../kernel/errors.ts';
import { nearMatches } from '../../kernel/ids.ts';
import { answer, GRANT_DAYS, GRANT_DAYS_MAX } from '../answer.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { text } from '../options.ts';

const SCOPES = ['once', 'run', 'workspace'] as const;

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const wanted = text(options, 'scope') ?? 'once';
  const scope = SCOPES.find((one) => one === wanted);
  if (scope === undefined) {
    const near = nearMatches(wanted, [...SCOPES]);
    const hint =
      near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `There is ${SCOPES.join(', ')}.`;
    throw usageError(`there is no scope ${JSON.stringify(wanted)}`, hint);
  }
  const days = daysOf(text(options, 'days'));
  if (days !== undefined && scope !== 'workspace') {
    throw usageError('--days is for --scope workspace', 'The other scopes end by themselves.');
  }
  return answer(context, args[0] ?? '', {
    run: text(options, 'run'),
    effect: 'allow',
    scope,
    days: days ?? GRANT_DAYS,
    digest: text(options, 'digest'),
  });
}

function daysOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const days = Number(given);
  if (/^\d{1,3}$/.test(given) && days >= 1 && days <= GRANT_DAYS_MAX) return days;
  throw usageError(
    `--days ${JSON.stringify(given)} is no number of days`,
    `From 1 to ${GRANT_DAYS_MAX}; what is to be allowed for ever is a rule of your policy.`,
  );
}

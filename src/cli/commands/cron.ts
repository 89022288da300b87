/** `troupe cron ACTION`: recurring jobs. */
import type { ExitCode } from '../../kernel/errors.ts';
import { nearMatches } from '../../kernel/ids.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { add } from '../cron/add.ts';
import { pause, remove, resume, trigger } from '../cron/edit.ts';
import { history, list, show } from '../cron/list.ts';
import { next } from '../cron/next.ts';
import { usageError } from '../failure.ts';

type Action = (
  context: Context,
  words: readonly string[],
  options: OptionValues,
) => Promise<ExitCode>;

const ACTIONS: Readonly<Record<string, Action>> = {
  add,
  list,
  show,
  rm: remove,
  pause,
  resume,
  trigger,
  history,
  next,
};

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const [name = '', ...words] = args;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action !== undefined) return action(context, words, options);
  const near = nearMatches(name, Object.keys(ACTIONS));
  throw usageError(
    `cron knows no ${JSON.stringify(name)}`,
    near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'See `troupe cron --help`.',
  );
}

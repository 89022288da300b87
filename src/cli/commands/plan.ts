/** `troupe plan approve|reject`: a person's word on a plan that an actor submitted. */
import { controlErrors, viewRun } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import { nearMatches } from '../../kernel/ids.ts';
import type { OptionValues } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { text } from '../options.ts';

const ACTIONS = ['approve', 'reject'];

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const [action = '', id] = args;
  if (!ACTIONS.includes(action)) {
    const near = nearMatches(action, ACTIONS);
    const hint =
      near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'There is `approve` and `reject`.';
    throw usageError(`plan knows no ${JSON.stringify(action)}`, hint);
  }
  if (id === undefined) throw usageError('which plan?', 'See `troupe plans` for their ids.');
  const workspace = await context.workspace();
  const view = await viewRun(workspace, text(options, 'run'), 'plan');
  const client = await connectTo(workspace);
  if (client === null) throw controlErrors.notHeld(view.run);
  try {
    const approve = action === 'approve';
    const feedback = text(options, 'feedback') ?? '';
    const decided = await client.call('plans.decide', { run: view.run, id, approve, feedback });
    if (context.json) context.printJson(decided);
    else
      context.print(`${decided.id} of ${decided.by} is ${decided.state}; ${decided.by} is told.\n`);
  } finally {
    client.close();
  }
  return EXIT.ok;
}

/** An answer of a person to the supervisor that holds the run. */

import { lateAnswer } from '../control/index.ts';
import { counted } from '../kernel/counted.ts';
import { EXIT, type ExitCode } from '../kernel/errors.ts';
import { GRANT_DAYS } from '../permissions/index.ts';
import type { AnswerAskParams, AnswerAskResult } from '../protocol/wire.ts';
import { connectTo } from './connect.ts';
import type { Context } from './context.ts';
import { usageError } from './failure.ts';
import { shortId } from './text/ask.ts';

export { GRANT_DAYS, GRANT_DAYS_MAX } from '../permissions/index.ts';

type Given = Omit<AnswerAskParams, 'id' | 'by'>;

export async function answer(context: Context, id: string, given: Given): Promise<ExitCode> {
  if (id === '') throw usageError('which ask?', 'See `troupe approvals` for their ids.');
  const workspace = await context.workspace();
  const client = await connectTo(workspace);
  if (client === null) throw await lateAnswer(workspace, { run: given.run, id });
  try {
    const result = await client.call('approvals.answer', { ...defined(given), id, by: 'user' });
    if (context.json) context.printJson(result);
    else context.print(`${told(result, given.days ?? GRANT_DAYS)}\n`);
    return EXIT.ok;
  } finally {
    client.close();
  }
}

/** Parameters are strict: what is not given is not sent. */
function defined(given: Given): Given {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as unknown as Given;
}

function told(result: AnswerAskResult, days: number): string {
  const id = shortId(result.id);
  if (result.effect === 'deny') return `Denied ${id}; the agent is told, and goes on.`;
  if (result.grant === null) return `Allowed ${id}, this once.`;
  const until =
    result.scope === 'run'
      ? 'in this run, for this profile'
      : `in this repository, for ${counted(days, 'day')}`;
  return `Allowed ${id}, and from now on ${until} (take it back with \`troupe rules revoke ${result.grant}\`).`;
}

/** `troupe resume RUN`: goes on with an interrupted run from its journal, here or in the supervisor that is up. */
import { controlErrors, prepareResume, recordingBeside } from '../../control/index.ts';
import type { ExitCode } from '../../kernel/errors.ts';
import { isTroupeError } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { handOver } from '../hand-over.ts';
import { hostRun } from '../host-run.ts';
import { amount, flag, positive, time } from '../options.ts';
import { tidyUp } from '../tidy.ts';
import { ensureUp, findUp } from '../up.ts';
import { attendance } from './replay.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const more = {
    usd: amount(options, 'budgetUsd', '--budget-usd'),
    tokens: positive(options, 'budgetTokens', '--budget-tokens'),
    wallMs: time(options, 'budgetWall', '--budget-wall'),
    turns: positive(options, 'budgetTurns', '--budget-turns'),
  };
  const detach = flag(options, 'detach');
  const workspace = await context.workspace();
  const prepared = await prepareResume(workspace, args[0] ?? '', more).catch(
    async (thrown: unknown) => {
      if (isTroupeError(thrown) && thrown.code === controlErrors.ended('', '').code) {
        await tidyUp(context, workspace);
      }
      throw thrown;
    },
  );
  const { budget } = prepared;
  const { file } = prepared.view;
  const up = detach ? await ensureUp(context, workspace) : await findUp(workspace);
  if (up !== null) {
    const given = Object.entries(more).filter(([, value]) => value !== undefined);
    const params = { run: file.id, ...(given.length === 0 ? {} : { budget: more }) };
    const what = { method: 'run.resume' as const, params };
    return handOver(context, { workspace, up, what, detach });
  }
  const host = { workspace, file, notes: [], mode: 'resume' as const };
  if (file.replay === undefined) return hostRun(context, { ...host, budget });
  const header = await recordingBeside(workspace, file);
  const attend = await attendance(context, { workspace, file, header, keep: false }, 'resume');
  return hostRun(context, { ...host, attend });
}

/** `troupe stop [RUN]`: asks the supervisor; returns when every process of it is gone. */
import { newestRun, readRunFile } from '../../control/index.ts';
import { EXIT, type ExitCode, TroupeError } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Context } from '../context.ts';
import { flag, text } from '../options.ts';

/** Graceful stops wait for running work; the supervisor has its own deadline and then forces. */
const STOP_MS = 10 * 60_000;

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const [wanted] = args;
  const workspace = await context.workspace();
  if (wanted !== undefined) await readRunFile(workspace, wanted);
  const client = await connectTo(workspace);
  if (client === null) throw nothingRuns(await newestRun(workspace));
  try {
    const now = flag(options, 'now');
    const params = { ...(wanted === undefined ? {} : { run: wanted }), now, by: 'user' };
    const name = text(options, 'actor');
    if (name !== undefined) {
      const row = await client.call('actor.stop', { ...params, name }, { timeoutMs: STOP_MS });
      if (context.json) context.printJson(row);
      else
        context.print(`Stopped ${row.name}. Its mail is kept; its task goes to somebody else.\n`);
      return EXIT.ok;
    }
    const row = await client.call('run.stop', params, { timeoutMs: STOP_MS });
    if (context.json) context.printJson(row);
    else
      context.print(
        `Stopped ${row.id} (${row.state}). Go on with: ${context.command(`troupe resume ${row.id}`)}\n`,
      );
    return EXIT.ok;
  } finally {
    client.close();
  }
}

function nothingRuns(newest: string | null): TroupeError {
  return new TroupeError({
    code: 'cli/no-supervisor',
    message: 'nothing runs in this repository, so there is nothing to stop',
    hint: newest === null ? undefined : `The newest run is ${newest}; see \`troupe runs\`.`,
    exit: EXIT.noSupervisor,
  });
}

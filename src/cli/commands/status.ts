/** `troupe status`: the supervisor that works here, what it holds, and whether anything starts it again. */
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { StatusResult } from '../../protocol/wire.ts';
import { connectTo } from '../connect.ts';
import type { Context } from '../context.ts';
import { safeLine } from '../text/safe.ts';
import { renderPairs } from '../text/table.ts';
import { noneUp } from '../up.ts';

export async function run(context: Context): Promise<ExitCode> {
  const workspace = await context.workspace();
  const client = await connectTo(workspace);
  if (client === null) throw noneUp((await context.machine()).parent(workspace));
  try {
    const status = await client.call('status', {});
    if (context.json) context.printJson(status);
    else context.print(shown(context, status));
    return EXIT.ok;
  } finally {
    client.close();
  }
}

function shown(context: Context, status: StatusResult): string {
  const { pid, startedAt, socket, sandbox, runs, actors, mode, log, left } = status;
  const going = runs.filter(({ state }) => state === 'running').map(({ id }) => id);
  const busy = actors.filter(({ state }) => !['idle', 'passivated', 'stopped'].includes(state));
  const pairs: [string, string][] = [
    [
      'supervisor',
      `process ${pid}, ${mode === 'up' ? 'up' : 'for the run in its foreground'}, since ${startedAt}`,
    ],
    ...(mode === 'up' ? [['kept by', keptBy(context, status)] as [string, string]] : []),
    ['runs', going.length === 0 ? 'none goes on' : going.join(', ')],
    ['actors', `${actors.length}, of which ${busy.length} at work`],
    ['sandbox', sandbox],
    ['socket', socket],
    ...(log === null ? [] : [['log', log] as [string, string]]),
    ...left.map(({ run, reason, at }): [string, string] => [
      'left alone',
      safeLine(
        `${run}, at ${at}: ${reason}; go on with: ${context.command(`troupe resume ${run}`)}`,
      ),
    ]),
  ];
  return renderPairs(pairs);
}

function keptBy(context: Context, { parent }: StatusResult): string {
  if (parent !== null) return `process ${parent}, which starts it again when it dies`;
  return `nobody: it is not started again when it dies (mend that with \`${context.command('troupe up')}\`)`;
}

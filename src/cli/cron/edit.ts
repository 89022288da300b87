/** `troupe cron rm|pause|resume|trigger NAME`, and how any edit reaches the workspace journal. */
import type { Workspace } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { CronEdit, CronEditResult } from '../../protocol/cron.ts';
import { connectTo } from '../connect.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';

/** By the supervisor that holds the repository, else by one that is opened for it. */
export async function edit(
  context: Context,
  workspace: Workspace,
  change: CronEdit,
): Promise<CronEditResult> {
  const client = await connectTo(workspace);
  if (client !== null) {
    try {
      return await client.call('cron.edit', change);
    } finally {
      client.close();
    }
  }
  const { hosting } = await context.machine();
  const host = await hosting.open(workspace, { log: () => undefined });
  try {
    return await host.supervisor.cron.edit(change, 'user');
  } finally {
    await host.close();
  }
}

export function nameIn(words: readonly string[], action: string): string {
  const [name, more] = words;
  if (name === undefined) throw usageError('which job?', 'See `troupe cron list`.');
  if (more !== undefined) {
    throw usageError(`cron ${action} takes one name`, 'Put what has spaces in quotes.');
  }
  return name;
}

type Plain = Extract<CronEdit, { readonly name: string }>['type'];

async function plain(
  context: Context,
  words: readonly string[],
  what: { readonly type: Plain; readonly action: string },
): Promise<CronEditResult> {
  const name = nameIn(words, what.action);
  const result = await edit(context, await context.workspace(), { type: what.type, name });
  if (context.json) context.printJson(result);
  return result;
}

export async function remove(context: Context, words: readonly string[]): Promise<ExitCode> {
  const { name } = await plain(context, words, { type: 'remove', action: 'rm' });
  if (!context.json) context.print(`Removed ${name} and its history; what ran of it is stopped.\n`);
  return EXIT.ok;
}

export async function pause(context: Context, words: readonly string[]): Promise<ExitCode> {
  const { name } = await plain(context, words, { type: 'pause', action: 'pause' });
  if (!context.json) context.print(`${name} is paused; what runs of it goes on.\n`);
  return EXIT.ok;
}

export async function resume(context: Context, words: readonly string[]): Promise<ExitCode> {
  const { name, armed } = await plain(context, words, { type: 'resume', action: 'resume' });
  if (!context.json) context.print(`${name} goes on.${armed ? '' : ` ${nobody(context)}`}\n`);
  return EXIT.ok;
}

export async function trigger(context: Context, words: readonly string[]): Promise<ExitCode> {
  const result = await plain(context, words, { type: 'trigger', action: 'trigger' });
  const { name, state, run } = result;
  if (!context.json) {
    const of = run === null ? '' : ` as run ${run}`;
    const text =
      state === 'running'
        ? `${name} runs now${of}; its schedule goes on as it was.`
        : state === 'queued'
          ? `${name} waits for the one that runs.`
          : `${name} was not started: see ${context.command(`troupe cron history ${name}`)}`;
    context.print(`${text}\n`);
  }
  return state === 'skipped' ? EXIT.unfinished : EXIT.ok;
}

/** Jobs are written down all the same. */
export function nobody(context: Context): string {
  return `Nobody is up to run it: start ${context.command('troupe up')}`;
}

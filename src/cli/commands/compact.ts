/** `troupe compact ACTOR`: has a live actor sum up the older part of its conversation. */
import { compactActor } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Context } from '../context.ts';
import { text } from '../options.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const [name = ''] = args;
  const workspace = await context.workspace();
  const wish = { run: text(options, 'run'), name, focus: text(options, 'focus') };
  const done = await compactActor(workspace, wish, async (params) => {
    const client = await connectTo(workspace);
    if (client === null) return null;
    try {
      return await client.call('actor.compact', params);
    } finally {
      client.close();
    }
  });
  if (context.json) context.printJson(done);
  else {
    const when = done.woken
      ? `${name} sleeps; it is woken to compact its conversation, if there is anything older than its last turn.\n`
      : `${name} compacts its conversation before its next answer, if there is anything older than its last turn.\n`;
    context.print(when + `  See what came of it: ${context.command(`troupe session ${name}`)}\n`);
  }
  return EXIT.ok;
}

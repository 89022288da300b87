/** `troupe send ACTOR TEXT`: to the supervisor when one runs, else into the spool, and says which. */
import { sendMail } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { flag, text } from '../options.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const [to = '', body = ''] = args;
  if (body.trim() === '') throw usageError('the text is empty', 'Say something.');
  const workspace = await context.workspace();
  const mail = { run: text(options, 'run'), to, text: body, interrupt: flag(options, 'interrupt') };
  const sent = await sendMail(workspace, mail, async (params) => {
    const client = await connectTo(workspace);
    if (client === null) return null;
    try {
      return await client.call('mail.send', params);
    } finally {
      client.close();
    }
  });
  if (context.json) {
    context.printJson(sent);
  } else if (sent.state === 'accepted') {
    context.print(`Sent to ${to} as ${sent.id} (number ${sent.n} in its mailbox).\n`);
  } else {
    context.print(
      `No supervisor runs, so the mail for ${to} is spooled as ${sent.id}.\n` +
        `It is delivered by: troupe resume ${sent.run}\n`,
    );
  }
  return EXIT.ok;
}

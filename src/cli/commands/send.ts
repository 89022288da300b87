/** `troupe send ACTOR TEXT`: to the supervisor when one runs, else into the spool, and says which. */
import { type Sent, sendMail } from '../../control/index.ts';
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
  const arrived = !isLost(sent);
  if (context.json) context.printJson(sent);
  else if (arrived) context.print(told(context, to, sent));
  else context.io.err.write(`troupe: ${told(context, to, sent)}`);
  return arrived ? EXIT.ok : EXIT.unfinished;
}

/** Nobody will read it as things are. */
function isLost(sent: Sent): boolean {
  return sent.state === 'dead' || (sent.state === 'accepted' && sent.to?.length === 0);
}

function told(context: Context, to: string, sent: Sent): string {
  switch (sent.state) {
    case 'accepted':
      if (sent.to === undefined) {
        return `Sent to ${to} as ${sent.id} (number ${sent.n} in its mailbox).\n`;
      }
      if (sent.to.length === 0) return 'nobody is there to read it: no member runs\n';
      return `Sent to ${sent.to.join(', ')}.\n`;
    case 'dead':
      return (
        `${to} is stopped, so nobody reads the mail; it is kept as the dead letter ${sent.id}.\n` +
        `  See ${context.command('troupe mail dead')}; write to somebody else, or drop it with: ` +
        `${context.command(`troupe mail drop ${sent.id}`)}\n`
      );
    case 'spooled':
      return (
        `No supervisor runs, so the mail for ${to} is spooled as ${sent.id}.\n` +
        `It is delivered by: ${context.command(`troupe resume ${sent.run}`)}\n`
      );
  }
}

/** `troupe pr RUN`. */
import { type PullRequest, pullRequest } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { flag, text } from '../options.ts';
import { safeLine, safeText } from '../text/safe.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const made = await pullRequest(await context.workspace(), {
    run: args[0] ?? '',
    base: text(options, 'base'),
    remote: text(options, 'remote'),
    open: flag(options, 'create'),
  });
  if (made.warning !== null) {
    context.io.err.write(`troupe: warning: ${safeLine(made.warning)}\n`);
  }
  if (context.json) context.printJson(made);
  else if (flag(options, 'body')) context.print(safeText(made.body));
  else context.print(tell(made));
  return EXIT.ok;
}

function tell(made: PullRequest): string {
  const { title, body, head, base, opened } = made;
  if (opened !== null) return `${safeText(opened)}\n`;
  const what = `${safeLine(title)}\n\n${safeText(body)}\n`;
  return `${what}Into ${safeLine(base)}, from ${safeLine(head)}. ${howTo(made)}`;
}

function howTo({ remote, commands, forge, head }: PullRequest): string {
  if (remote === null) {
    return 'This repository has no remote: add one (git remote add origin URL), or merge it here with `troupe merge`.\n';
  }
  const lines = commands.map((line) => `  ${safeLine(line)}\n`).join('');
  const rest =
    forge === null ? `Then open it where ${safeLine(remote)} is, from the branch ${head}.\n` : '';
  return `To open it:\n${lines}${rest}`;
}

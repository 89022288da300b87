/** `troupe diff TASK|RUN`. */
import { type DiffAnswer, diffOf } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { flag, text } from '../options.ts';
import { safeText } from '../text/safe.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const stat = flag(options, 'stat');
  const answer = await diffOf(await context.workspace(), {
    of: args[0] ?? '',
    run: text(options, 'run'),
    stat,
  });
  if (context.json) {
    const { text: patch, ...rest } = answer;
    context.printJson({ ...rest, patch: stat ? null : patch });
    return EXIT.ok;
  }
  if (answer.files.length === 0) {
    context.io.err.write(nothing(answer));
    return EXIT.ok;
  }
  // To a file or a pipe the patch goes as it is, so that `git apply` takes it.
  if (!context.io.out.isTerminal) context.print(answer.text);
  else context.print(colored(answer.text, context));
  return EXIT.ok;
}

function nothing({ task, run, from, to }: DiffAnswer): string {
  const what = task ?? run;
  if (from === to) return `No changes in ${what} (at ${to.slice(0, 12)}).\n`;
  return `No changes in ${what}, between ${from.slice(0, 12)} and ${to.slice(0, 12)}.\n`;
}

function colored(patch: string, { styles }: Context): string {
  return safeText(patch)
    .split('\n')
    .map((line) => {
      if (line.startsWith('diff ') || /^(?:---|\+\+\+) /.test(line)) return styles.bold(line);
      if (line.startsWith('@@')) return styles.cyan(line);
      if (line.startsWith('+')) return styles.green(line);
      return line.startsWith('-') ? styles.red(line) : line;
    })
    .join('\n');
}

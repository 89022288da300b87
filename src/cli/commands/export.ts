/** `troupe export RUN [FILE]`. */
import { stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { exportRun } from '../../control/index.ts';
import { EXIT, type ExitCode, systemCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { existsError } from '../failure.ts';
import { flag } from '../options.ts';
import { bytesText } from '../text/time.ts';
import { writeZip } from '../zip.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const all = await exportRun(await context.workspace(), args[0] ?? '');
  const path = resolve(context.io.cwd, args[1] ?? `${all.run}.zip`);
  const shown = relative(context.io.cwd, path) || path;
  try {
    await writeZip(path, all.entries, { force: flag(options, 'force') });
  } catch (thrown) {
    if (systemCode(thrown) === 'EEXIST') throw existsError(shown);
    throw thrown;
  }
  const { size: bytes } = await stat(path);
  if (context.json) context.printJson({ run: all.run, path, bytes });
  else {
    const so = all.alive ? ', as far as it has come' : '';
    context.print(`Wrote ${shown} (${bytesText(bytes)}): the run ${all.run}${so}.\n`);
    context.print(
      'Secrets are taken out as far as they are known; look it through before you give it away.\n',
    );
  }
  return EXIT.ok;
}

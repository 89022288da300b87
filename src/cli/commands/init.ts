/** `troupe init [FILE]`: a commented team file. */
import { mkdir, open } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { teamTemplate } from '../../config/index.ts';
import { EXIT, type ExitCode, systemCode } from '../../kernel/errors.ts';
import { shellWord } from '../../kernel/shell-word.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { existsError } from '../failure.ts';
import { flag, text } from '../options.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const name = args[0] ?? 'team.yaml';
  const base = resolve(context.io.cwd, text(options, 'workspace') ?? '.');
  const path = resolve(base, name);
  await mkdir(dirname(path), { recursive: true });
  await write(path, { shown: name, force: flag(options, 'force') });
  if (context.json) context.printJson({ path });
  else context.print(nextText(context, shellWord(relative(context.io.cwd, path) || name)));
  return EXIT.ok;
}

function nextText(context: Context, file: string): string {
  const next = [`troupe check ${file}`, `troupe run ${file}`].map((line) => context.command(line));
  return `Wrote ${file}. Next: ${next.join(', then ')}\n`;
}

async function write(
  path: string,
  how: { readonly shown: string; readonly force: boolean },
): Promise<void> {
  try {
    const handle = await open(path, how.force ? 'w' : 'wx', 0o644);
    try {
      await handle.writeFile(teamTemplate());
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    throw existsError(how.shown);
  }
}

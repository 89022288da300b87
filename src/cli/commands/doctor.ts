/** `troupe doctor`: what is wrong with what Troupe keeps and with settings, what to do about it, and doing it. */
import { type DoctorMode, examineAndMend, type Finding } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { flag } from '../options.ts';
import { safeLine } from '../text/safe.ts';

export async function run(
  context: Context,
  _args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const workspace = await context.workspace();
  const findings = flag(options, 'probeSandbox')
    ? await (await context.machine()).proveSandbox(workspace)
    : await examineAndMend(workspace, modeOf(options));
  if (context.json) context.printJson(findings);
  else for (const finding of findings) context.print(linesOf(finding, context));
  return findings.every(({ ok }) => ok) ? EXIT.ok : EXIT.unfinished;
}

function modeOf(options: OptionValues): DoctorMode {
  if (flag(options, 'dryRun')) return 'dry-run';
  return flag(options, 'repair') ? 'repair' : 'look';
}

function linesOf({ check, ok, detail, repair }: Finding, { styles }: Context): string {
  const mark = ok ? styles.green('ok  ') : styles.red('BAD ');
  const hint = repair === '' ? '' : `      ${safeLine(repair)}\n`;
  return `${mark}  ${safeLine(`${check}: ${detail}`)}\n${hint}`;
}

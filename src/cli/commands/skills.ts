/** `troupe skills list` and `troupe skills check [DIR]`. */
import { checkSkills, listSkills, type SkillCheck, type SkillRow } from '../../control/index.ts';
import { counted } from '../../kernel/counted.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { text } from '../options.ts';
import { safeLine } from '../text/safe.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const [action, folder] = args;
  const machine = await context.machine();
  const places = await machine.settingsPlaces(text(options, 'workspace'));
  if (action === 'list') {
    if (folder !== undefined)
      throw usageError('`skills list` takes no folder', 'Try `skills check DIR`.');
    const rows = await listSkills(machine.deps, places);
    if (context.json) context.printJson(rows);
    else context.print(renderList(rows, context));
    return EXIT.ok;
  }
  if (action !== 'check') {
    const message = `there is no \`skills ${action ?? ''}\``;
    throw usageError(message, 'It is `skills list` or `skills check`.');
  }
  const { cwd } = context.io;
  const absolute = folder?.startsWith('/') === true ? folder : `${cwd}/${folder ?? ''}`;
  const checks = await checkSkills(
    machine.deps,
    places,
    folder === undefined ? null : { path: plain(absolute), shown: folder },
  );
  if (context.json) context.printJson(checks);
  else context.print(renderChecks(checks));
  return checks.every(({ ok }) => ok) ? EXIT.ok : EXIT.usage;
}

/** `.` and `..` taken out, so that the last part is the name of the folder. */
function plain(path: string): string {
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') kept.pop();
    else if (part !== '' && part !== '.') kept.push(part);
  }
  return `/${kept.join('/')}`;
}

function renderList(rows: readonly SkillRow[], { styles }: Context): string {
  if (rows.length === 0) return 'There are no skills.\n';
  const lines = rows.map((row) => {
    const { name, description, from, path, reason } = row;
    const head = `${styles.bold(safeLine(name))} (${from})${reason === null ? '' : ' not in use'}`;
    const why = reason === null ? '' : `    ${safeLine(reason)}\n`;
    return `${head}\n    ${safeLine(description)}\n    ${safeLine(path)}\n${why}`;
  });
  return lines.join('');
}

function renderChecks(checks: readonly SkillCheck[]): string {
  if (checks.length === 0) return 'There are no skills of yours or of the repository to check.\n';
  const lines = checks.flatMap(({ problems, warnings }) => [
    ...problems,
    ...warnings.map((warning) => `warning: ${warning}`),
  ]);
  const bad = checks.filter(({ ok }) => !ok).length;
  const end =
    bad === 0
      ? `${counted(checks.length, 'skill')}: all as the specification says.`
      : `${counted(checks.length, 'skill')}, ${bad} of them not as the specification says.`;
  return `${[...lines.map(safeLine), end].join('\n')}\n`;
}

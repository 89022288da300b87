/** `troupe cron next EXPR`: when a schedule is due. */
import { localZone, nextSlots } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { CronMoment } from '../../protocol/cron.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { positive, text } from '../options.ts';
import { type Column, renderTable } from '../text/table.ts';
import { countdown } from '../text/time.ts';

const COUNT = 5;
const COUNT_MAX = 10_000;

const COLUMNS: readonly Column<CronMoment>[] = [
  { head: 'LOCAL TIME', cell: (row) => row.local },
  { head: 'UTC', cell: (row) => row.at },
  { head: '', cell: (row) => countdown(row.inMs) },
];

export async function next(
  context: Context,
  words: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  if (words.length === 0) {
    throw usageError('which schedule?', "For example: troupe cron next '30 7 * * mon-fri'.");
  }
  const count = positive(options, 'count', '-n') ?? COUNT;
  if (count > COUNT_MAX) throw usageError(`-n ${count} is too many`, `At most ${COUNT_MAX}.`);
  const { clock } = (await context.machine()).deps;
  const expression = words.join(' ');
  const tz = text(options, 'tz') ?? localZone();
  const rows = nextSlots({ expression, tz, from: text(options, 'from'), count }, clock.now());
  if (context.json) context.printJson(rows.map((row) => row.at));
  else if (rows.length === 0) context.print('It is never due again.\n');
  else context.print(`${expression} in ${tz}\n${renderTable(COLUMNS, rows, context)}`);
  return EXIT.ok;
}

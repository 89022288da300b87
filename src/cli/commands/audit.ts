/** `troupe audit [verify]`: who decided what in a run, and whether nobody has changed that since. */
import { type AuditRow, auditOf, verifyAudit, viewNewest, viewRun } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { tellNoRun } from '../no-run.ts';
import { text } from '../options.ts';
import { safeLine } from '../text/safe.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const [action] = args;
  if (action === 'verify') return verify(context);
  if (action !== undefined) {
    throw usageError(`audit knows no ${JSON.stringify(action)}`, 'There is `troupe audit verify`.');
  }
  const workspace = await context.workspace();
  const wanted = text(options, 'run');
  const view =
    wanted === undefined ? await viewNewest(workspace) : await viewRun(workspace, wanted, 'audit');
  if (view === null) return tellNoRun(context);
  const rows: AuditRow[] = [];
  for await (const row of auditOf(workspace, view.run)) {
    if (context.json) rows.push(row);
    else context.print(`${lineOf(row)}\n`);
  }
  if (context.json) context.printJson(rows);
  return EXIT.ok;
}

const INPUT_MAX = 120;

function lineOf({ seq, at, what, actor, tool, effect, rule, by, reason, data }: AuditRow): string {
  const { input } = data as { readonly input?: unknown };
  const shown = input === undefined ? '' : JSON.stringify(input).slice(0, INPUT_MAX);
  const parts = [
    at,
    String(seq),
    what,
    actor,
    effect,
    tool,
    shown,
    rule === null ? null : `rule ${rule}`,
    by === null ? null : `by ${by}`,
    reason === null ? null : `(${reason})`,
  ];
  return safeLine(parts.filter((part) => part !== null && part !== '').join(' '));
}

async function verify(context: Context): Promise<ExitCode> {
  const report = await verifyAudit(await context.workspace());
  if (context.json) context.printJson(report);
  else if (report.ok) {
    const { runs, records, heads } = report;
    context.print(`Nothing was changed: ${records} records of ${runs} runs, ${heads} heads.\n`);
  } else {
    for (const { run: name, seq, what } of report.breaks) {
      const where = seq === null ? '' : `, record ${seq}`;
      context.print(safeLine(`run ${name}${where}: ${what}`));
      context.print('\n');
    }
  }
  return report.ok ? EXIT.ok : EXIT.unfinished;
}

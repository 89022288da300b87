/** `troupe audit [verify]`: who decided what in a run, and whether nobody has changed that since. */

import { type AuditRow, auditOf, verifyAudit, viewAsked } from '../../control/index.ts';
import { counted } from '../../kernel/counted.ts';
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
  const view = await viewAsked(workspace, wanted, 'audit');
  const within = wanted !== undefined;
  const rows: AuditRow[] = [];
  let lines = 0;
  for await (const row of auditOf(workspace, view?.run ?? null, { within })) {
    lines += 1;
    if (context.json) rows.push(row);
    else context.print(`${lineOf(row)}\n`);
  }
  if (view === null && lines === 0) return tellNoRun(context);
  if (context.json) context.printJson(rows);
  return EXIT.ok;
}

const INPUT_MAX = 120;

function lineOf(row: AuditRow): string {
  const { seq, at, what, id, actor, tool, effect, rule, layer, sandbox, by, reason, data } = row;
  const { input } = data as { readonly input?: unknown };
  const shown = input === undefined ? '' : JSON.stringify(input).slice(0, INPUT_MAX);
  const parts = [
    at,
    String(seq),
    what,
    id,
    actor,
    effect,
    tool,
    shown,
    rule === null ? null : ruleText(what, rule),
    layer === null || layer === rule ? null : `of ${layer}`,
    by === null ? null : `by ${by}`,
    sandbox === null ? null : `sandbox ${sandbox}`,
    reason === null ? null : `(${reason})`,
  ];
  return safeLine(parts.filter((part) => part !== null && part !== '').join(' '));
}

const ruleText = (what: string, rule: string): string =>
  what.startsWith('trust.') || what.startsWith('grant.') ? rule : `rule ${rule}`;

async function verify(context: Context): Promise<ExitCode> {
  const report = await verifyAudit(await context.workspace());
  if (context.json) context.printJson(report);
  else if (report.ok) {
    const { runs, records, heads } = report;
    context.print(
      `Nothing was changed: ${counted(records, 'record')} of ${counted(runs, 'run')} and the repository, ${counted(heads, 'head')}.\n`,
    );
  } else {
    for (const { run: name, seq, what } of report.breaks) {
      const where = seq === null ? '' : `, record ${seq}`;
      const log = name.startsWith('@') ? 'the workspace journal' : `run ${name}`;
      context.print(safeLine(`${log}${where}: ${what}`));
      context.print('\n');
    }
  }
  return report.ok ? EXIT.ok : EXIT.unfinished;
}

/** `troupe tail`: the mail of a run. */
import {
  checkActors,
  followMail,
  lossesOf,
  readMail,
  viewAsked,
  waitForRun,
} from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { MailRow } from '../../protocol/shapes.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { tellWarning } from '../failure.ts';
import { tellNoRun } from '../no-run.ts';
import { count, flag, text } from '../options.ts';
import { safeText } from '../text/safe.ts';
import { stateStyle } from '../text/states.ts';
import type { Styles } from '../text/style.ts';
import { untilStopped } from '../until-stopped.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const from = count(options, 'from', '--from') ?? 0;
  const workspace = await context.workspace();
  const query = { actors: args, from };
  const show = (row: MailRow): void => {
    if (context.json) context.printJson(row);
    else context.print(renderMail(row, context.styles));
  };
  const wanted = text(options, 'run');
  const known = await viewAsked(workspace, wanted, 'tail');
  if (known !== null) {
    checkActors(known, args);
    for (const loss of await lossesOf(workspace, known)) {
      tellWarning(context.io, loss);
    }
  }
  if (!flag(options, 'follow')) {
    if (known === null) return tellNoRun(context);
    for (const row of await readMail(workspace, known, query)) show(row);
    return EXIT.ok;
  }
  return untilStopped(context.io, async (signal) => {
    const view = known ?? (await waitForRun(workspace, signal));
    if (view === null) return;
    if (known === null) checkActors(view, args);
    for await (const row of followMail(workspace, view, { ...query, signal })) show(row);
  });
}

/** A head line, then the text, indented. */
export function renderMail(row: MailRow, styles: Styles): string {
  const lane = row.lane === 'normal' ? '' : ` [${row.lane}]`;
  const task = row.task === undefined ? '' : ` (${row.task})`;
  const reason = row.reason === undefined ? '' : `: ${safeText(row.reason)}`;
  const state = stateStyle(row.state, styles)(`${row.state}${reason}`);
  const head = `${styles.dim(row.at)} ${styles.bold(`${row.from} → ${row.to}`)} ${row.type}${task}${lane} `;
  const body = safeText(row.body.text).trimEnd().replaceAll('\n', '\n    ');
  return `${head}${state}\n${body === '' ? '' : `    ${body}\n`}`;
}

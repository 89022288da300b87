/** `troupe events`: what happened in a run, one event a line. */
import { eventsOfRun, followEvents, viewAsked, waitForRun } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { Cursor, TroupeEvent } from '../../protocol/event.ts';
import { parseCursor } from '../../protocol/event.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { tellNoRun } from '../no-run.ts';
import { flag, text } from '../options.ts';
import { safeLine } from '../text/safe.ts';
import type { Styles } from '../text/style.ts';
import { untilStopped } from '../until-stopped.ts';

export async function run(
  context: Context,
  _args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const query = { from: cursorOf(text(options, 'from')), type: text(options, 'type') };
  const workspace = await context.workspace();
  const wanted = text(options, 'run');
  const known = await viewAsked(workspace, wanted, 'events');
  const show = (event: TroupeEvent): void => {
    if (context.json) context.printJson(event);
    else context.print(renderEvent(event, context.styles));
  };
  if (!flag(options, 'follow')) {
    if (known === null) return tellNoRun(context);
    for await (const event of eventsOfRun(workspace, known.run, query)) {
      show(event);
      if (context.io.gone.aborted) break;
    }
    return EXIT.ok;
  }
  return untilStopped(context.io, async (signal) => {
    const view = known ?? (await waitForRun(workspace, signal));
    if (view === null) return;
    for await (const event of followEvents(workspace, view.run, { ...query, signal })) show(event);
  });
}

function cursorOf(value: string | undefined): Cursor | null {
  if (value === undefined) return null;
  const cursor = parseCursor(value);
  if (cursor !== null) return cursor;
  throw usageError(`--from ${JSON.stringify(value)} is no cursor`, 'For example 120 or 120.0.');
}

const DATA_MAX = 160;

function renderEvent(event: TroupeEvent, styles: Styles): string {
  const who = [event.actor, event.task].filter((one) => one !== undefined).join(' ');
  const data = safeLine(JSON.stringify(event.data));
  const shown = data.length > DATA_MAX ? `${data.slice(0, DATA_MAX)}…` : data;
  const parts = [
    styles.dim(event.at),
    event.cursor,
    styles.bold(event.type),
    who,
    styles.dim(shown),
  ];
  return `${parts.filter((part) => part !== '').join(' ')}\n`;
}

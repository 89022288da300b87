/** `troupe trace [RUN]`: all layers in one: what the wire carried, what happened, what models were asked and said. */
import {
  checkActors,
  type TraceLayer,
  type TraceRow,
  traceOf,
  viewAsked,
  type Workspace,
} from '../../control/index.ts';
import { EXIT, type ExitCode, isTroupeError } from '../../kernel/errors.ts';
import { nearMatches } from '../../kernel/ids.ts';
import type { WireTraceRow } from '../../protocol/wire-reads.ts';
import type { OptionValues } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { tellNoRun } from '../no-run.ts';
import { flag, text } from '../options.ts';
import { safeLine } from '../text/safe.ts';
import { untilStopped } from '../until-stopped.ts';

const LAYERS: readonly TraceLayer[] = ['wire', 'events', 'model'];
/** Of a row's details on a line of a terminal. */
const DETAIL_MAX = 200;

interface Query {
  readonly layers: ReadonlySet<TraceLayer>;
  readonly actor: string | undefined;
  readonly raw: boolean;
}

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const query: Query = {
    layers: layersOf(text(options, 'layer')),
    actor: text(options, 'actor'),
    raw: flag(options, 'raw'),
  };
  const workspace = await context.workspace();
  const [wanted] = args;
  const view = await viewAsked(workspace, wanted, 'trace');
  if (view === null) return tellNoRun(context);
  if (query.actor !== undefined) checkActors(view, [query.actor]);
  const show = (row: TraceRow): void => {
    if (context.json) context.printJson(row);
    else context.print(render(row, context, query.raw));
  };
  if (flag(options, 'follow')) {
    return untilStopped(context.io, async (signal) => {
      const done = new AbortController();
      const both = AbortSignal.any([signal, done.signal]);
      const wire = followWire(workspace, query, { signal: both, show });
      for await (const row of traceOf(workspace, view.run, { ...query, follow: signal })) show(row);
      done.abort();
      await wire;
    });
  }
  const wire = await wireRows(workspace, query);
  for await (const row of traceOf(workspace, view.run, { ...query, follow: null })) {
    while (wire.length > 0 && (wire[0]?.at ?? '') < row.at) show(wire.shift() as TraceRow);
    show(row);
    if (context.io.gone.aborted) return EXIT.ok;
  }
  for (const row of wire) show(row);
  return EXIT.ok;
}

function layersOf(named: string | undefined): ReadonlySet<TraceLayer> {
  if (named === undefined) return new Set(LAYERS);
  const chosen = named.split(',').map((name) => {
    const layer = LAYERS.find((one) => one === name.trim());
    if (layer !== undefined) return layer;
    const near = nearMatches(name, [...LAYERS]);
    const hint =
      near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'There is wire, events and model.';
    throw usageError(`there is no layer ${JSON.stringify(name)}`, hint);
  });
  return new Set(chosen);
}

/** What the supervisor still has of it, which is nothing of earlier ones; without one, none. */
async function wireRows(workspace: Workspace, query: Query): Promise<TraceRow[]> {
  if (!query.layers.has('wire') || query.actor !== undefined) return [];
  const client = await connectTo(workspace);
  if (client === null) return [];
  try {
    return (await client.call('trace.wire', {})).map(wireRow);
  } finally {
    client.close();
  }
}

async function followWire(
  workspace: Workspace,
  query: Query,
  on: { readonly signal: AbortSignal; readonly show: (row: TraceRow) => void },
): Promise<void> {
  if (!query.layers.has('wire') || query.actor !== undefined) return;
  const client = await connectTo(workspace);
  if (client === null) return;
  let after = 0;
  try {
    while (!on.signal.aborted) {
      const wish = { after, wait: true };
      const rows = await client.call('trace.wire', wish, { timeoutMs: 0, signal: on.signal });
      for (const row of rows) on.show(wireRow(row));
      after = rows.at(-1)?.n ?? after;
    }
  } catch (error) {
    // It was given up, or the supervisor has gone; what is durable goes on.
    if (!isTroupeError(error) || !/^(client|ipc)\//.test(error.code)) throw error;
  } finally {
    client.close();
  }
}

function wireRow(row: WireTraceRow): TraceRow {
  const { at, n, method, ...detail } = row;
  const place = String(n);
  return { layer: 'wire', at, run: null, actor: null, task: null, what: method, place, detail };
}

function render(row: TraceRow, { styles }: Context, raw: boolean): string {
  const who = [row.actor, row.task].filter((one) => one !== null).join(' ');
  const head = [styles.dim(row.at), row.layer.padEnd(6), row.place, styles.bold(row.what), who];
  if (raw) {
    const whole = JSON.stringify(row.detail, null, 2).split('\n').map(safeLineKept).join('\n    ');
    return `${head.filter((part) => part !== '').join(' ')}\n    ${whole}\n`;
  }
  const detail = safeLine(JSON.stringify(row.detail));
  const shown = detail.length > DETAIL_MAX ? `${detail.slice(0, DETAIL_MAX)}…` : detail;
  return `${[...head, styles.dim(shown)].filter((part) => part !== '').join(' ')}\n`;
}

/** JSON has no other characters than those in its strings to fear; its indentation stays. */
function safeLineKept(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  return indent + safeLine(line);
}

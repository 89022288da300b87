/**
 * A run in the supervisor that is up, started and watched from here. Ctrl-C asks to stop it, as in the foreground; when the
 * terminal is closed, or this process is asked to end, the run goes on without it.
 */
import { readSettings, type Workspace } from '../control/index.ts';
import { EXIT, type ExitCode } from '../kernel/errors.ts';
import type { ResumeRunParams, StartRunParams, StartRunResult } from '../protocol/wire.ts';
import { connectTo } from './connect.ts';
import type { Context } from './context.ts';
import { START_MS } from './limits.ts';
import { makeRunLink } from './run-link.ts';
import { listenForStop } from './stop-requests.ts';
import { safeText } from './text/safe.ts';
import type { Up } from './up.ts';
import { openRunWatch, tellEnd } from './watch-run.ts';

export type ToHandOver =
  | { readonly method: 'run.start'; readonly params: Omit<StartRunParams, 'keys'> }
  | { readonly method: 'run.resume'; readonly params: Omit<ResumeRunParams, 'keys'> };

export interface HandOver {
  readonly workspace: Workspace;
  readonly up: Up;
  readonly what: ToHandOver;
  /** Returns when the run goes on. */
  readonly detach: boolean;
}

export async function handOver(context: Context, given: HandOver): Promise<ExitCode> {
  const { workspace, up, what, detach } = given;
  const stop = listenForStop(context.io);
  try {
    const keys = await keysHere(workspace);
    const begun = await begin(up, what, keys);
    for (const note of begun.notes) context.io.err.write(`troupe: ${safeText(note)}\n`);
    if (detach) return tellDetached(context, up, begun);
    return await watch(context, { ...given, begun, stop });
  } finally {
    up.client.close();
  }
}

function begin({ client }: Up, what: ToHandOver, keys: string[]): Promise<StartRunResult> {
  const options = { timeoutMs: START_MS };
  return what.method === 'run.start'
    ? client.call('run.start', defined({ ...what.params, keys }), options)
    : client.call('run.resume', defined({ ...what.params, keys }), options);
}

/** Parameters are strict: what is not given is not sent. */
function defined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}

/** Names of the variables here that hold keys of providers. */
async function keysHere({ deps, places }: Workspace): Promise<string[]> {
  const { models } = await readSettings(deps, places);
  const names = Object.values(models.providers).flatMap(({ keyVariables }) => keyVariables);
  return [...new Set(names)].filter((name) => (deps.env[name] ?? '') !== '');
}

function tellDetached(context: Context, { status }: Up, { run }: StartRunResult): ExitCode {
  if (context.json) context.printJson({ run, pid: status.pid });
  else {
    context.print(`${run}\n`);
    const line = (command: string): string => context.command(command);
    context.io.err.write(
      `The run goes on in the supervisor (process ${status.pid}). Watch it with: ${line(`troupe tail --follow --run ${run}`)}\n` +
        `Stop it with: ${line(`troupe stop ${run}`)}\n`,
    );
  }
  return EXIT.ok;
}

async function watch(
  context: Context,
  on: HandOver & {
    readonly begun: StartRunResult;
    readonly stop: ReturnType<typeof listenForStop>;
  },
): Promise<ExitCode> {
  const { workspace, up, begun, stop } = on;
  const link = makeRunLink({
    run: begun.run,
    from: begun.from,
    client: up.client,
    clock: workspace.deps.clock,
    again: () => connectTo(workspace),
    onBreak: (broken) => shown.say(broken ? GONE : BACK),
  });
  const redactor = await workspace.redactor();
  const shown = openRunWatch(context, { workspace, link, redactor, sandbox: begun.sandbox });
  try {
    const left = new Promise<null>((resolve) => {
      stop.onAsk((now, signal) => {
        // Only who types Ctrl-C means the run.
        if (signal === 'SIGINT') shown.askToStop(now, signal);
        else resolve(null);
      });
    });
    const row = await Promise.race([link.finished(), left]);
    shown.close();
    return row === null ? tellLeft(context, begun.run) : await tellEnd(context, workspace, row);
  } finally {
    shown.close();
  }
}

const GONE = 'troupe: the supervisor went away; waiting for it to be back\n';
const BACK = 'troupe: the supervisor is back\n';

function tellLeft(context: Context, run: string): ExitCode {
  const message = `the run ${run} goes on in the supervisor`;
  if (context.json)
    context.printJson({ error: { code: 'cli/left', message, hint: `troupe stop ${run}` } });
  else
    context.io.err.write(
      `troupe: ${message}; stop it with: ${context.command(`troupe stop ${run}`)}\n`,
    );
  return EXIT.interrupted;
}
